//! Charging of processor time to threads.
//!
//! A core's cycles are shared out among its threads, so that their charges add up to the time the
//! virtual processor was on the core. POWER5 charges by decode slots: two threads at equal priority
//! half each; an idle thread, lowered to priority 1 beside one at 4, keeps 1 of `2^(|4-1|+1) = 16`.
//! POWER7 and later charge by a calibrated split: `k` busy of `T` threads are charged
//! `gain(k)/gain(T)` of the core, the idle ones the rest. With the gains 1, 1.4, 1.6 for 1, 2 and 4
//! threads this is the published 0.62 / 0.88 / 1.00. Where there is no PURR, the busy threads
//! share the core's elapsed time evenly.

use crate::spec::Accounting;

/// Priority-1 thread's decode slots beside one at priority 4.
const IDLE_SLOTS: f64 = 1.0 / 16.0;

/// Shares of a core's time charged to each thread; they add up to 1.
pub type Charge = [f64; 8];

/// Shares for the busy threads in `mask` of `smt` threads. `single` says that a POWER5 core has
/// left SMT for its only busy thread. Whether a share counts as busy or idle time is the mask's
/// affair.
pub fn charge(rule: Accounting, gain: &[f64], smt: u8, mask: u8, single: bool) -> Charge {
    let busy = mask.count_ones();
    let idle = u32::from(smt) - busy;
    let taken = match (busy, idle) {
        (0, _) => 0.0,
        (_, 0) => 1.0,
        _ => match rule {
            Accounting::DecodeSlots if single => 1.0,
            Accounting::DecodeSlots => 1.0 - IDLE_SLOTS,
            Accounting::Elapsed => 1.0,
            Accounting::Calibrated => gain[busy as usize - 1] / gain[usize::from(smt) - 1],
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

    const POWER7: [f64; 4] = [1.0, 1.4, 1.52, 1.6];

    #[test]
    fn power5_charges_by_decode_slots() {
        let of = |mask, single| charge(Accounting::DecodeSlots, &[1.0, 1.4], 2, mask, single);
        assert_eq!(of(0b01, false)[..2], [0.9375, 0.0625]);
        assert_eq!(of(0b10, false)[..2], [0.0625, 0.9375]);
        assert_eq!(of(0b11, false)[..2], [0.5, 0.5]);
        assert_eq!(of(0b01, true)[..2], [1.0, 0.0]);
        assert_eq!(of(0b00, false)[..2], [0.5, 0.5]);
    }

    #[test]
    fn power7_charges_by_the_published_split() {
        let busy = |mask: u8| -> f64 {
            let shares = charge(Accounting::Calibrated, &POWER7, 4, mask, false);
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
    fn elapsed_time_is_shared_by_the_busy_threads_alone() {
        let of = |mask| charge(Accounting::Elapsed, &[1.0, 1.4], 2, mask, false);
        assert_eq!(of(0b01)[..2], [1.0, 0.0]);
        assert_eq!(of(0b11)[..2], [0.5, 0.5]);
        assert_eq!(of(0b00)[..2], [0.5, 0.5]);
    }

    #[test]
    fn charges_add_up_to_the_time_on_the_core() {
        for rule in [Accounting::Calibrated, Accounting::Elapsed] {
            for smt in [1u8, 2, 4] {
                for mask in 0..(1u16 << smt) {
                    let shares = charge(rule, &POWER7, smt, mask as u8, false);
                    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                }
            }
        }
    }
}
