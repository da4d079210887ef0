//! Charging of processor time to threads.
//!
//! A core's cycles are shared out among its threads, so that their charges add up to the time the
//! virtual processor was on the core. POWER5 charges by decode slots: two threads at equal priority
//! half each; an idle thread, lowered to priority 1 beside one at 4, keeps 1 of `2^(|4-1|+1) = 16`.
//! POWER7 and later charge by a calibrated split: `k` busy of `T` threads are charged
//! `gain(k)/gain(T)` of the core, the idle ones the rest. With the gains 1, 1.4, 1.6 for 1, 2 and 4
//! threads this is the published 0.62 / 0.88 / 1.00. On a core of parts gain(k) is the sum of what
//! the threads do in their parts; what they are charged they share evenly. Where there is no PURR,
//! the busy threads share the core's elapsed time evenly.

use crate::machine::together;
use crate::spec::{Accounting, Smt};

/// Priority-1 thread's decode slots beside one at priority 4.
const IDLE_SLOTS: f64 = 1.0 / 16.0;

/// Shares of a core's time charged to each thread; they add up to 1.
pub type Charge = [f64; 8];

/// What the busy threads of a core do together.
#[derive(Clone, Debug)]
pub struct Gain {
    by_number: Vec<f64>,
    parts: u8,
}

impl Gain {
    /// That of a machine's cores.
    pub fn new(smt: &Smt) -> Self {
        Self {
            by_number: smt.gain.clone(),
            parts: smt.parts,
        }
    }

    fn of(&self, mask: u8) -> f64 {
        together(&self.by_number, self.parts, mask)
    }
}

/// Shares for the busy threads in `mask` of `smt` threads. `single` says that a POWER5 core has
/// left SMT for its only busy thread. Whether a share counts as busy or idle time is the mask's
/// affair.
pub fn charge(rule: Accounting, gain: &Gain, smt: u8, mask: u8, single: bool) -> Charge {
    let busy = mask.count_ones();
    let idle = u32::from(smt) - busy;
    let taken = match (busy, idle) {
        (0, _) => 0.0,
        (_, 0) => 1.0,
        _ => match rule {
            Accounting::DecodeSlots if single => 1.0,
            Accounting::DecodeSlots => 1.0 - IDLE_SLOTS,
            Accounting::Elapsed => 1.0,
            Accounting::Calibrated => gain.of(mask) / gain.of(0xff >> (8 - smt)),
        },
    };
    let mut shares = [0.0; 8];
    for (thread, share) in shares.iter_mut().enumerate().take(usize::from(smt)) {
        *share = if mask & (1 << thread) != 0 {
            taken / f64::from(busy)
        } else {
            (1.0 - taken) / f64::from(idle)
        };
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gain(by_number: &[f64], parts: u8) -> Gain {
        Gain {
            by_number: by_number.to_vec(),
            parts,
        }
    }

    fn power7() -> Gain {
        gain(&[1.0, 1.4, 1.52, 1.6], 1)
    }

    #[test]
    fn power5_charges_by_decode_slots() {
        let of = |mask, single| charge(Accounting::DecodeSlots, &power7(), 2, mask, single);
        assert_eq!(of(0b01, false)[..2], [0.9375, 0.0625]);
        assert_eq!(of(0b10, false)[..2], [0.0625, 0.9375]);
        assert_eq!(of(0b11, false)[..2], [0.5, 0.5]);
        assert_eq!(of(0b01, true)[..2], [1.0, 0.0]);
        assert_eq!(of(0b00, false)[..2], [0.5, 0.5]);
    }

    #[test]
    fn power7_charges_by_the_published_split() {
        let busy = |mask: u8| -> f64 {
            let shares = charge(Accounting::Calibrated, &power7(), 4, mask, false);
            (0..4)
                .filter(|t| mask & (1 << t) != 0)
                .map(|t| shares[t])
                .sum()
        };
        assert!((busy(0b0001) - 0.62).abs() < 0.01);
        assert!((busy(0b0011) - 0.88).abs() < 0.01);
        assert_eq!(busy(0b1111), 1.0);
    }

    #[test]
    fn two_threads_in_one_half_are_charged_what_they_do_there() {
        let halves = gain(&[1.0, 2.0, 2.4, 2.8], 2);
        let of = |mask| charge(Accounting::Calibrated, &halves, 4, mask, false);
        assert_eq!(of(0b0011)[0], 0.5 * 2.0 / 2.8);
        assert_eq!(of(0b0101)[0], 0.25);
    }

    #[test]
    fn elapsed_time_is_shared_by_the_busy_threads_alone() {
        let of = |mask| charge(Accounting::Elapsed, &power7(), 2, mask, false);
        assert_eq!(of(0b01)[..2], [1.0, 0.0]);
        assert_eq!(of(0b11)[..2], [0.5, 0.5]);
        assert_eq!(of(0b00)[..2], [0.5, 0.5]);
    }

    #[test]
    fn charges_add_up_to_the_time_on_the_core() {
        for rule in [Accounting::Calibrated, Accounting::Elapsed] {
            for smt in [1u8, 2, 4] {
                for mask in 0..(1u16 << smt) {
                    for parts in [1, 2] {
                        let gain = gain(&[1.0, 1.4, 1.52, 1.6], parts);
                        let shares = charge(rule, &gain, smt, mask as u8, false);
                        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                    }
                }
            }
        }
    }
}
