//! Under PowerVM: who is without a core while more want one than there are.
//!
//! How many want one is a number with a mean and a variance. For a part of the time it is above the
//! cores, and then each partition wants more than on the mean, the more the more its own number
//! varies:
//!
//! ```text
//! wants while short = mean + variance (all while short - all on the mean) / variance of all
//! ```
//! What there is goes to those that are entitled to it, the rest by weight; those that are entitled
//! to more than there is get as large a part each. So cores are idle in the rest of the time
//! however much is wanted on the mean, and those that come and go lose more than those that stay.
//!
//! Where there are several pools, what one is entitled to and its members leave, its reserve with
//! it, is for these first. A soft cap is last of all: the others lose what they would if those with
//! one wanted no more than they are entitled to, and these lose the rest of what is lacking.

use crate::hypervisor::grants::{grants, grants_by_level, Claim};
use crate::steady::layout::form::Form;
use crate::steady::layout::state::{Doing, State};
use crate::steady::queues::capped::varies_over;
use crate::steady::queues::chances::{above, mean_beyond};
use crate::steady::windows::share::{claim, left_beyond, serve, whole};

/// Chance that more want a core than there are below which it never comes about.
pub(in crate::steady) const NEVER: f64 = 1e-6;

/// What a partition wants: on the mean, its variance, and at most.
#[derive(Clone, Copy, Debug)]
struct Wants {
    mean: f64,
    variance: f64,
    most: f64,
    /// What of it is there all of the time.
    stays: f64,
}

impl Wants {
    /// Such a part of what it wants at any time.
    fn part(self, part: f64) -> Self {
        Self {
            mean: part * self.mean,
            variance: part * part * self.variance,
            stays: part * self.stays,
            ..self
        }
    }
}

/// How much more all want than there is.
#[derive(Clone, Copy, Debug)]
struct Short {
    /// Share of the time.
    time: f64,
    /// Cores that are lacking, over all of the time.
    lacking: f64,
    /// What each wants more in that time, by its variance.
    tilt: f64,
}

impl Short {
    /// Nothing where all that may run at once do.
    fn of(all: Wants, cores: f64) -> Option<Self> {
        if all.most <= cores {
            return None;
        }
        let missing = all.mean - cores;
        let deviation = all.variance.sqrt();
        let (time, idle) = if deviation < 1e-9 {
            (f64::from(u8::from(missing > 0.0)), (-missing).max(0.0))
        } else {
            let lacking = mean_beyond(all.mean, all.variance, cores);
            (above(-missing / deviation), lacking - missing)
        };
        // What those take that always want a core is never idle.
        let may_idle = idle.min((cores - all.stays).max(0.0));
        let time = if idle > 0.0 {
            1.0 - (1.0 - time) * may_idle / idle
        } else {
            time
        };
        let lacking = missing + may_idle;
        let beyond = lacking / time.max(NEVER) - missing;
        (time > NEVER && lacking > 0.0).then_some(Self {
            time,
            lacking,
            tilt: beyond / all.variance.max(1e-9),
        })
    }
}

impl State {
    /// Who gets how many of the cores; by how much that changed.
    pub(in crate::steady) fn share_short(
        &mut self,
        (sharing, cores): (&[usize], f64),
        forms: &[&Form],
    ) -> f64 {
        let claims = sharing
            .iter()
            .map(|at| claim(&self.doing[*at], forms[*at], 0.0));
        let claims: Vec<Claim> = claims.collect();
        // Within caps and pools, as if there were cores for all.
        let within = grants(&as_they_run(&claims, cores), f64::INFINITY, &self.limits);
        let wants: Vec<Wants> = (0..sharing.len())
            .map(|index| {
                let at = sharing[index];
                wants(&self.doing[at], forms[at], (&claims[index], within[index]))
            })
            .collect();
        let all = together(&wants);
        let short = Short::of(all, cores);
        let lost = match short {
            Some(short) => self.lost_by_level((sharing, forms), (&claims, &wants), short, cores),
            None => vec![0.0; sharing.len()],
        };
        let granted: Vec<f64> = within
            .iter()
            .zip(&lost)
            .map(|(all, own)| all - own)
            .collect();
        let left = left_beyond(&claims, &granted, cores);
        let mut change = 0.0_f64;
        for (index, at) in sharing.iter().enumerate() {
            let pace = self.pace;
            let doing = &mut self.doing[*at];
            let room = whole(doing, forms[*at]);
            doing.starve(left, cores);
            change = change.max(serve(
                doing,
                (&claims[index], room),
                (granted[index], 0.0),
                pace,
            ));
            let within = wants[index].mean / claims[index].wants.max(1e-12);
            doing.limited = within.min(1.0);
        }
        self.waiting_while_short = short.map_or(0.0, |short| short.lacking / short.time);
        let full: Vec<f64> = wants.iter().map(|own| full(all, own, cores)).collect();
        self.evict(&full, sharing, forms);
        self.leave_room(sharing, cores);
        change
    }

    /// Cores that each is without, over all of the time: those with a soft cap after all others.
    fn lost_by_level(
        &self,
        (sharing, forms): (&[usize], &[&Form]),
        (claims, wants): (&[Claim], &[Wants]),
        short: Short,
        cores: f64,
    ) -> Vec<f64> {
        let those = (sharing, forms);
        let mut lost = self.lost_while_short(those, (claims, wants), short, cores);
        let soft = |at: &usize| claims[*at].soft;
        let last: f64 = (0..lost.len()).filter(soft).map(|at| lost[at]).sum();
        if last <= 0.0 {
            return lost;
        }
        let lacking: f64 = lost.iter().sum();
        let entitled = |(own, claim): (&Wants, &Claim)| match claim.soft {
            true => own.part((claim.entitled / own.mean.max(1e-12)).min(1.0)),
            false => *own,
        };
        let first: Vec<Wants> = wants.iter().zip(claims).map(entitled).collect();
        let of_first = match Short::of(together(&first), cores) {
            Some(short) => self.lost_while_short(those, (claims, &first), short, cores),
            None => vec![0.0; lost.len()],
        };
        let others = (0..lost.len()).filter(|at| !soft(at));
        let rest = lacking - others.map(|at| of_first[at]).sum::<f64>();
        for (at, lost) in lost.iter_mut().enumerate() {
            *lost = if claims[at].soft {
                (*lost * rest.max(0.0) / last).clamp(of_first[at], wants[at].mean)
            } else {
                of_first[at]
            };
        }
        lost
    }

    /// Cores that each is without, over all of the time.
    fn lost_while_short(
        &self,
        (sharing, forms): (&[usize], &[&Form]),
        (claims, wants): (&[Claim], &[Wants]),
        short: Short,
        cores: f64,
    ) -> Vec<f64> {
        let claims = sharing.iter().zip(claims).zip(wants);
        let mut claims: Vec<Claim> = claims
            .map(|((at, claim), own)| {
                let wants = (own.mean + short.tilt * own.variance).min(own.most);
                let due = self.doing[*at].due;
                let part = own.mean / self.doing[*at].load.vps.max(1e-12);
                let varies = part * part * self.varies_in_windows(*at, forms[*at]);
                // In some windows it wants more than on the mean, but no more than its limits.
                let limit = if own.mean < claim.wants - 1e-9 {
                    own.mean
                } else {
                    claim.limit
                };
                let beyond = mean_beyond(own.mean, varies, due).min((limit - due).max(0.0));
                let entitled = 1.0 - (beyond / own.mean.max(1e-12)).min(1.0);
                Claim {
                    wants,
                    entitled: wants * entitled,
                    // What they want on the mean is within their limits, which are for a window.
                    limit: own.most,
                    group: None,
                    ..*claim
                }
            })
            .collect();
        let entitled: f64 = claims.iter().map(|claim| claim.entitled).sum();
        for claim in &mut claims {
            claim.entitled *= (cores / entitled.max(1e-12)).min(1.0);
        }
        let own = self.own_excess(sharing, &claims);
        let got = grants_by_level(&claims, cores, &[], &own);
        let lost = claims
            .iter()
            .zip(&got)
            .map(|(claim, got)| claim.wants - got);
        let lost: Vec<f64> = lost.map(|cores| cores.max(0.0)).collect();
        let size = short.lacking / lost.iter().sum::<f64>().max(1e-12);
        let each = lost.iter().zip(wants);
        each.map(|(lost, own)| (size * lost).min(own.mean))
            .collect()
    }

    /// What each pool is entitled to beside what its members use as entitled: its reserve and what
    /// they leave. Nothing where one pool has all.
    fn own_excess(&self, sharing: &[usize], claims: &[Claim]) -> Vec<f64> {
        if self.reserves.len() < 2 {
            return Vec::new();
        }
        let mut own = self.reserves.clone();
        for (at, claim) in sharing.iter().zip(claims) {
            own[claim.pool] += (self.doing[*at].due - claim.entitled).max(0.0);
        }
        own
    }

    /// Variance of what a partition wants in a window.
    pub(in crate::steady) fn varies_in_windows(&self, at: usize, form: &Form) -> f64 {
        if form.stays {
            return 0.0;
        }
        let doing = &self.doing[at];
        let burst_ns = form.demand.burst * doing.ns[1] + doing.reload_ns;
        let window_ns = self.machine.hypervisor.window_ns as f64;
        varies_over(burst_ns / window_ns) * doing.load.vps_variance
    }
}

/// Claims on what pools may use at most: while cores are left nobody waits for one, and who has a
/// soft cap takes of a pool's maximum as it comes. So the excess goes to those with one and to all
/// others as they run, the others first; each of the two shares its own by weight.
fn as_they_run(claims: &[Claim], cores: f64) -> Vec<Claim> {
    let mut run = claims.to_vec();
    for (at, claim) in claims.iter().enumerate() {
        let Some(pool) = claim.group.filter(|_| claim.soft) else {
            continue;
        };
        let sum = |what: fn(&Claim) -> f64, those: &dyn Fn(&Claim) -> bool| -> f64 {
            claims.iter().filter(|of| those(of)).map(what).sum()
        };
        let wants = |of: &Claim| of.wants.min(of.limit);
        let others = sum(wants, &|of| of.group != Some(pool));
        let (soft, hard) = (
            |of: &Claim| of.group == Some(pool) && of.soft,
            |of: &Claim| of.group == Some(pool) && !of.soft,
        );
        let room = (cores - others).max(0.0);
        let first = sum(wants, &hard).min(room);
        let last = sum(wants, &soft).min(room - first);
        if first > 0.0 && last > 0.0 {
            let weights = sum(|of| of.weight, &hard) / sum(|of| of.weight, &soft);
            run[at].weight *= weights * last / first;
            run[at].soft = false;
        }
    }
    run
}

/// What all want.
fn together(wants: &[Wants]) -> Wants {
    let sum = |of: fn(&Wants) -> f64| wants.iter().map(of).sum();
    Wants {
        mean: sum(|one| one.mean),
        variance: sum(|one| one.variance),
        most: sum(|one| one.most),
        stays: sum(|one| one.stays),
    }
}

/// Chance that all cores are taken when one of a partition comes: by all but itself, which had no
/// work before.
fn full(all: Wants, own: &Wants, cores: f64) -> f64 {
    if all.most - 1.0 < cores {
        return 0.0;
    }
    let one = 1.0 / own.most.max(1.0);
    let mean = all.mean - one * own.mean;
    let variance = (all.variance - one * own.variance).max(0.0);
    above((cores - 0.5 - mean) / variance.sqrt().max(1e-9))
}

/// What one wants that gets so much within its own limits. These are for a window, so in a part of
/// it all of its virtual processors may run.
fn wants(doing: &Doing, form: &Form, (claim, within): (&Claim, f64)) -> Wants {
    let part = (within / claim.wants.max(1e-12)).min(1.0);
    Wants {
        mean: within,
        variance: part * part * doing.load.vps_variance,
        most: f64::from(form.filled.vps()),
        stays: if form.stays && form.demand.phases.is_none() {
            within
        } else {
            0.0
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mean: f64, variance: f64) -> Wants {
        Wants {
            mean,
            variance,
            most: 100.0,
            stays: 0.0,
        }
    }

    #[test]
    fn what_is_lacking_is_what_is_beyond_the_cores_however_much_is_wanted() {
        for mean in [4.0, 8.0, 12.0] {
            let short = Short::of(all(mean, 4.0), 8.0).expect("it is short at times");
            assert!((short.lacking - mean_beyond(mean, 4.0, 8.0)).abs() < 1e-12);
            // All that is wanted while there is not enough is more than there is.
            let wanted = mean + 4.0 * short.tilt;
            assert!(wanted > 8.0 && wanted >= mean, "{wanted}");
        }
    }

    #[test]
    fn a_number_that_never_varies_lacks_what_is_above_the_cores() {
        let short = Short::of(all(10.0, 0.0), 8.0).expect("it is always short");
        assert_eq!((short.lacking, short.tilt), (2.0, 0.0));
        assert!(Short::of(all(7.0, 0.0), 8.0).is_none());
        let few = Wants {
            most: 8.0,
            ..all(7.0, 4.0)
        };
        assert!(Short::of(few, 8.0).is_none());
    }

    #[test]
    fn who_comes_finds_all_taken_by_the_others_alone() {
        let own = |mean: f64, variance: f64, most: f64| Wants {
            mean,
            variance,
            most,
            stays: 0.0,
        };
        // Four that are nearly always at work beside six that hardly are, on seven cores.
        let busy = own(3.3, 1.1, 4.0);
        let idle = own(1.1, 0.6, 6.0);
        let all = own(4.4, 1.7, 10.0);
        let [of_busy, of_idle] = [busy, idle].map(|own| full(all, &own, 7.0));
        assert!(of_busy < 0.5 * of_idle && of_idle > 0.02 && of_idle < 0.06);
        // All but one have a core each.
        assert_eq!(full(all, &busy, 10.0), 0.0);
        assert!(full(all, &busy, 9.0) > 0.0);
    }

    #[test]
    fn what_always_is_wanted_is_never_idle() {
        let one = |stays: f64| {
            Short::of(
                Wants {
                    stays,
                    ..all(1.4, 0.6)
                },
                1.0,
            )
        };
        let with = one(1.0).expect("one of two waits");
        assert!((with.lacking - 0.4).abs() < 1e-9 && (with.time - 1.0).abs() < 1e-9);
        let none = one(0.0).expect("it is short at times");
        assert!(none.lacking > 0.4 && none.time < 1.0);
    }

    #[test]
    fn a_pools_maximum_goes_to_a_soft_cap_while_cores_are_left_for_it() {
        let claim = |soft: bool| Claim {
            wants: 8.0,
            entitled: 1.0,
            limit: 8.0,
            weight: 128.0,
            group: Some(0),
            soft,
            ..Claim::default()
        };
        let two = [claim(true), claim(false)];
        let got = |cores: f64| grants(&as_they_run(&two, cores), f64::INFINITY, &[4.0]);
        // On twelve cores four of the one run beside eight of the other: in a run 1.83 and 2.17.
        for (got, told) in got(12.0).iter().zip([5.0 / 3.0, 7.0 / 3.0]) {
            assert!((got - told).abs() < 1e-9);
        }
        assert_eq!(got(8.0), [1.0, 3.0]);
        assert_eq!(as_they_run(&two[1..], 12.0), two[1..]);
    }
}
