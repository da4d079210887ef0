//! Parking: how many logical cores of a partition stay unparked.
//!
//! In vertical polarization CP decides every two seconds. It forecasts a ceiling on what the
//! partition will use and a floor on the power beyond its entitlement that the hypervisor will have
//! for it, both from the last observations of two seconds each, at some level of confidence.
//!
//! ```text
//! powered   entitlement + floor on excess power, rounded up, but no entitled core less
//! needed    ceiling + CPUPAD, rounded up
//! LARGE     powered
//! MEDIUM    needed, but no entitled core is parked
//! SMALL     needed
//! ```
//!
//! none of them above `powered` nor below 1. Vertical-low cores are parked first, the highest
//! number before others. There is no hysteresis: each decision is made from the observations alone.
//!
//! Published: that CP decides every two seconds and in vertical polarization only, and parks what
//! it believes it will not need (monitor record MRPRCPUP); the settings UNPARKING, CPUPAD and
//! EXCESSUSE and their values (SET SRM; STHYI). Assumed: what the settings do to the forecasts, as
//! above, the forecasts' form, memory and levels, and that power which is no whole core is used:
//! with one core less a partition could never have all that its cap allows. The next observation of
//! a load that does not drift lies below
//!
//! ```text
//! mean + t s sqrt(1 + 1/n)
//! ```
//!
//! with the chance for which `t` is Student's quantile of n - 1 degrees of freedom, `s` being the
//! standard deviation of `n` observations: five of them, ten seconds (3 to 30 observations), and
//! 99 % (90 % to 99.9 %) for the ceiling, which is never below the highest of the five. The floor
//! is the same with a minus sign, at 50 %, 90 % and 99 % for HIGH, MEDIUM and LOW. With less than
//! two observations any need is possible, and there is beyond the entitlement what was there last.

use std::collections::VecDeque;

use crate::spec::{ExcessUse, Unparking};

/// Observations that a forecast looks at.
const MEMORY: usize = 5;

/// Student's quantiles at 99 % and at 90 % for 1 to 4 degrees of freedom.
const T_99: [f64; MEMORY - 1] = [31.821, 6.965, 4.541, 3.747];
const T_90: [f64; MEMORY - 1] = [3.078, 1.886, 1.638, 1.533];

/// What was seen in one interval between two decisions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// Cores that the partition kept busy.
    pub used_cores: f64,
    /// Cores beyond its entitlement that it had, or could have had.
    pub excess_cores: f64,
}

/// The last observations.
#[derive(Clone, Debug, Default)]
pub struct History {
    last: VecDeque<Observation>,
    /// Cores beyond the entitlement that were there when it was looked at last.
    beyond: f64,
}

/// Mean and spread of some observations.
struct Seen {
    mean: f64,
    /// Standard deviation of an observation to come, `s sqrt(1 + 1/n)`.
    ahead: f64,
    /// Degrees of freedom, less one.
    quantile: usize,
}

impl History {
    /// No observation yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes what there is beyond the entitlement, too briefly for an observation.
    pub fn glimpse(&mut self, observation: Observation) {
        self.beyond = observation.excess_cores;
    }

    /// Adds the newest observation.
    pub fn push(&mut self, observation: Observation) {
        self.glimpse(observation);
        if self.last.len() == MEMORY {
            self.last.pop_front();
        }
        self.last.push_back(observation);
    }

    /// Cores that the next interval will very likely not go beyond; any before two observations.
    pub fn ceiling(&self) -> f64 {
        let Some(seen) = self.seen(|observation| observation.used_cores) else {
            return f64::INFINITY;
        };
        let highest = self.last.iter().fold(0.0, |most: f64, observation| {
            most.max(observation.used_cores)
        });
        (seen.mean + T_99[seen.quantile] * seen.ahead).max(highest)
    }

    /// Cores beyond the entitlement that the next interval will have; before two observations
    /// those that were there last.
    pub fn floor(&self, excessuse: ExcessUse) -> f64 {
        let seen = self.seen(|observation| observation.excess_cores);
        let seen = seen.unwrap_or(Seen::once(self.beyond));
        let quantile = match excessuse {
            ExcessUse::High => 0.0,
            ExcessUse::Medium => T_90[seen.quantile],
            ExcessUse::Low => T_99[seen.quantile],
            ExcessUse::None => return 0.0,
        };
        (seen.mean - quantile * seen.ahead).max(0.0)
    }

    fn seen(&self, of: impl Fn(&Observation) -> f64) -> Option<Seen> {
        let count = self.last.len();
        if count < 2 {
            return None;
        }
        let n = count as f64;
        let mean = self.last.iter().map(&of).sum::<f64>() / n;
        let squares: f64 = self.last.iter().map(|o| (of(o) - mean).powi(2)).sum();
        Some(Seen {
            mean,
            ahead: (squares / (n - 1.0) * (1.0 + 1.0 / n)).sqrt(),
            quantile: count - 2,
        })
    }
}

impl Seen {
    /// What was seen once, of whose spread nothing is known.
    fn once(mean: f64) -> Self {
        Self {
            mean,
            ahead: 0.0,
            quantile: 0,
        }
    }
}

/// Power that is no part of a core: PR/SM tells caps in hundredths of one [cores].
const NO_POWER: f64 = 0.01;

/// Logical cores of a partition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cores {
    /// Those that the partition has, parked or not.
    pub online: u16,
    /// Those with an entitlement, vertical-high and vertical-medium; all of a dedicated partition.
    pub entitled: u16,
    /// What these are entitled to together [cores].
    pub entitlement: f64,
}

/// How a partition parks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parking {
    /// Which cores stay unparked (`UNPARKING`).
    pub unparking: Unparking,
    /// Room above the forecast ceiling [cores] (`CPUPAD`).
    pub cpupad: f64,
    /// How boldly excess power is counted on (`EXCESSUSE`).
    pub excessuse: ExcessUse,
}

impl Parking {
    /// Cores that stay unparked until the next decision, 1 to all.
    pub fn unparked(&self, history: &History, cores: Cores) -> u16 {
        let (ceiling, floor) = (history.ceiling(), history.floor(self.excessuse));
        let entitled = cores.entitled.min(cores.online);
        let power = (cores.entitlement + floor - NO_POWER).ceil().max(1.0) as u16;
        let powered = power.max(entitled).min(cores.online.max(1));
        let needed = (ceiling + self.cpupad).ceil().max(1.0) as u16;
        match self.unparking {
            Unparking::Large => powered,
            Unparking::Medium => needed.max(entitled).min(powered),
            Unparking::Small => needed.min(powered),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEDICATED: Cores = Cores {
        online: 80,
        entitled: 80,
        entitlement: 80.0,
    };

    fn history(used: &[f64], excess: &[f64]) -> History {
        let mut history = History::new();
        for (&used_cores, &excess_cores) in used.iter().zip(excess) {
            history.push(Observation {
                used_cores,
                excess_cores,
            });
        }
        history
    }

    fn steady(used: f64) -> History {
        history(&[used; MEMORY], &[0.0; MEMORY])
    }

    fn parking(unparking: Unparking) -> Parking {
        Parking {
            unparking,
            cpupad: 1.0,
            excessuse: ExcessUse::Medium,
        }
    }

    #[test]
    fn a_dedicated_partition_unparks_all_or_what_it_needs() {
        let of = |unparking| parking(unparking).unparked(&steady(14.3), DEDICATED);
        assert_eq!(of(Unparking::Large), 80);
        assert_eq!(of(Unparking::Medium), 80);
        // 14.3 + 1, rounded up.
        assert_eq!(of(Unparking::Small), 16);
    }

    #[test]
    fn a_varying_load_gets_more_room() {
        // Mean 10, s^2 = 10/4, sqrt(2.5 x 1.2) = 1.732; 10 + 3.747 x 1.732 = 16.49.
        let varying = history(&[8.0, 9.0, 10.0, 11.0, 12.0], &[0.0; 5]);
        assert!((varying.ceiling() - 16.49).abs() < 0.005);
        let small = parking(Unparking::Small);
        assert_eq!(small.unparked(&varying, DEDICATED), 18);
        assert_eq!(small.unparked(&steady(10.0), DEDICATED), 11);
    }

    #[test]
    fn only_the_last_five_count() {
        let mut late = history(&[40.0], &[0.0]);
        for _ in 0..MEMORY {
            late.push(Observation {
                used_cores: 3.0,
                excess_cores: 0.0,
            });
        }
        assert_eq!(late.ceiling(), 3.0);
    }

    #[test]
    fn without_a_forecast_all_stay_unparked() {
        let small = parking(Unparking::Small);
        assert_eq!(small.unparked(&History::new(), DEDICATED), 80);
        let once = history(&[3.0], &[0.0]);
        assert_eq!(small.unparked(&once, DEDICATED), 80);
    }

    #[test]
    fn vertical_lows_are_unparked_as_far_as_excess_power_goes() {
        let cores = Cores {
            online: 20,
            entitled: 9,
            entitlement: 8.6,
        };
        // Mean 6, s sqrt(1.2) = 1.732: 6 - 1.533 x 1.732 = 3.34; 6 - 3.747 x 1.732 < 0. With 8.6
        // that is power for 14.6 and 11.94 cores.
        let seen = history(&[16.0; 5], &[4.0, 5.0, 6.0, 7.0, 8.0]);
        let unparked = |excessuse| {
            Parking {
                excessuse,
                ..parking(Unparking::Large)
            }
            .unparked(&seen, cores)
        };
        assert_eq!(unparked(ExcessUse::High), 15);
        assert_eq!(unparked(ExcessUse::Medium), 12);
        assert_eq!(unparked(ExcessUse::Low), 9);
        assert_eq!(unparked(ExcessUse::None), 9);
        let medium = parking(Unparking::Medium);
        assert_eq!(medium.unparked(&seen, cores), 12);
        let idle = history(&[0.5; 5], &[6.0; 5]);
        assert_eq!(medium.unparked(&idle, cores), 9);
        assert_eq!(parking(Unparking::Small).unparked(&idle, cores), 2);
    }

    #[test]
    fn power_that_is_no_whole_core_is_used() {
        let large = |entitlement: f64, beyond: f64| {
            let cores = Cores {
                online: 16,
                entitled: entitlement.ceil() as u16,
                entitlement,
            };
            parking(Unparking::Large).unparked(&history(&[16.0; 5], &[beyond; 5]), cores)
        };
        // A cap of 6.5 cores, and one that is whole, whatever the entitlement.
        for entitlement in [3.2, 4.0, 4.5, 5.0, 6.0] {
            assert_eq!(large(entitlement, 6.5 - entitlement), 7, "{entitlement}");
            assert_eq!(large(entitlement, 7.0 - entitlement), 7, "{entitlement}");
        }
        // The fraction of a core that is entitled to part of one needs no other.
        assert_eq!((large(4.5, 0.5), large(4.5, 0.6)), (5, 6));
    }

    #[test]
    fn more_load_and_more_room_never_park_more() {
        for unparking in [Unparking::Large, Unparking::Medium, Unparking::Small] {
            let mut last = 0;
            for used in 0..100 {
                let now = parking(unparking).unparked(&steady(f64::from(used)), DEDICATED);
                assert!(now >= last && (1..=80).contains(&now));
                last = now;
            }
            let mut last = 0;
            for tenths in 0..200 {
                let padded = Parking {
                    cpupad: f64::from(tenths) / 10.0,
                    ..parking(unparking)
                };
                let now = padded.unparked(&steady(7.0), DEDICATED);
                assert!(now >= last);
                last = now;
            }
        }
    }
}
