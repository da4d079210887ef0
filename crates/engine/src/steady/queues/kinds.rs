//! Virtual processors of a partition by how much of the time they have work.
//!
//! A thread goes back to the virtual processor it was on, or takes the first that is idle, so some
//! have work for much of the time and others hardly ever (`queues/halts.rs`). In the order in which
//! they are filled those come first that have most; they are cut into kinds that have the same
//! shares of the work at any load, so that nothing jumps while it changes.

use crate::steady::queues::filling::{Busy, Filled};
use crate::steady::queues::halts::{adding_up, by_taken};

/// How many there are.
pub(in crate::steady) const KINDS: usize = 3;
/// Share of the work of each kind.
pub(in crate::steady) const SHARES: [f64; KINDS] = [0.6, 0.3, 0.1];
/// Logarithms of what finds its own virtual processor taken, at which they are told, from the least
/// on.
const LEAST: f64 = -14.0;
const STEP: f64 = 1.5;
const STEPS: usize = 17;
/// Part of the virtual processors of a guest that loads two threads before the next that lie as if
/// any of them may end, and how much more where threads come back. Assumed, within a tenth: met are
/// played guests of 8 to 30 of them.
const EVEN: [f64; 2] = [0.55, 0.25];
/// Logarithm of the most that finds its own taken: of dozens, all are busy by chance alone.
const MOST_TAKEN: f64 = 60.0;

/// How many virtual processors are of each kind.
#[derive(Clone, Debug, Default)]
pub(in crate::steady) struct Kinds {
    /// By how many are busy, from few to many.
    by_busy: Vec<(f64, [f64; KINDS])>,
    vps: f64,
}

impl Kinds {
    /// Of so many, with the share of the bursts whose thread has run before.
    pub fn of(vps: usize, again: f64) -> Self {
        let at = |step: usize| {
            let each = by_taken((LEAST + STEP * step as f64).exp(), vps, again, 0.0);
            (each.iter().sum(), cut(&each))
        };
        let several = vps > 1;
        Self {
            by_busy: (0..STEPS).filter(|_| several).map(at).collect(),
            vps: vps as f64,
        }
    }

    /// Of so many of which each has work as often as any: threads that never leave theirs.
    pub fn alike(vps: f64) -> Self {
        Self {
            by_busy: Vec::new(),
            vps,
        }
    }

    /// The same of a guest that loads several threads of one before the next. Threads as many as by
    /// chance would keep those busy in order but for holes; but who finds no one to join goes back
    /// to the virtual processor it was on, so those of which any may end lie as of other guests,
    /// each busy by itself. The more threads are loaded, the more are the last ones those that end.
    pub fn packed(filled: Filled) -> Self {
        let vps = filled.vps() as usize;
        let by_threads: Vec<f64> = (0..=filled.threads())
            .map(|n| Busy::of(filled, n).vps)
            .collect();
        let part = (EVEN[0] + EVEN[1] * filled.again()) / f64::from(filled.first() - 1);
        let at = |step: usize| {
            let mean = f64::from(filled.threads()) * (LEAST + STEP * step as f64).exp();
            let mut each = in_order(&by_threads, mean, vps);
            let busy = each.iter().sum();
            for (own, even) in each.iter_mut().zip(by_themselves(busy, vps)) {
                *own += part.min(1.0) * (even - *own);
            }
            (each.iter().sum(), cut(&each))
        };
        Self {
            by_busy: (0..STEPS).filter(|_| vps > 1).map(at).collect(),
            vps: vps as f64,
        }
    }

    /// How many are of each kind while so many are busy.
    pub fn counts(&self, busy: f64) -> [f64; KINDS] {
        let above = self.by_busy.partition_point(|(of, _)| *of < busy);
        let all = SHARES.map(|share| share * self.vps);
        let [low, high] = match above {
            _ if self.by_busy.is_empty() => return all,
            0 => return self.by_busy[0].1,
            STEPS => [self.by_busy[STEPS - 1], (self.vps, all)],
            _ => [self.by_busy[above - 1], self.by_busy[above]],
        };
        let along = ((busy - low.0) / (high.0 - low.0).max(1e-9)).clamp(0.0, 1.0);
        std::array::from_fn(|kind| low.1[kind] + along * (high.1[kind] - low.1[kind]))
    }

    /// The same where only so many of all ever run.
    pub fn counts_within(&self, busy: f64, most: f64) -> [f64; KINDS] {
        let counts = self.counts(busy);
        let all: f64 = counts.iter().sum();
        let part = ((most - busy) / (all - busy).max(1e-12)).clamp(0.0, 1.0);
        let work = SHARES.map(|share| share * busy);
        std::array::from_fn(|kind| work[kind] + part * (counts[kind] - work[kind]))
    }

    /// Chance that another one of the partition is not the same.
    pub fn others(&self) -> f64 {
        1.0 - 1.0 / self.vps.max(1.0)
    }
}

/// How much of the time each has work, if of so many threads on the mean as many are about as by
/// chance, and the first so many have work while so many are.
fn in_order(by_threads: &[f64], mean: f64, vps: usize) -> Vec<f64> {
    let mut each = vec![0.0; vps];
    // Logarithms: none of a thousand threads is about with a chance that no number holds.
    let (mut log, mut all) = (-mean, 0.0);
    for (n, busy) in by_threads.iter().enumerate() {
        let chance = log.exp();
        // More threads than there is room for are as good as just as many.
        let part = if n + 1 == by_threads.len() {
            1.0 - all
        } else {
            chance
        };
        for (place, own) in each.iter_mut().enumerate() {
            *own += part * (busy - place as f64).clamp(0.0, 1.0);
        }
        all += chance;
        log += (mean / (n + 1) as f64).ln();
    }
    each
}

/// The same of so many in all, if who finds its own taken goes to the first idle, and each has work
/// whatever the others have: threads that join leave their number to chance. As many leave as come,
/// `u^2 = taken before (1 - u)` of one before which all have work for `before` of the time.
fn by_themselves(busy: f64, vps: usize) -> Vec<f64> {
    let of = |taken: f64| -> Vec<f64> {
        let mut come = taken;
        let each = (0..vps).map(|_| {
            let root = (come * (come + 4.0)).sqrt();
            let own = 2.0 * come / (come + root).max(1e-300);
            come *= own;
            own
        });
        each.collect()
    };
    adding_up(busy, MOST_TAKEN, of)
}

/// How many of these are of each kind, one that is on the border counting for both: as many as do
/// the work of the kind if each is busy for as much of the time as the one on which a piece of it
/// is done. So those that hardly ever have work hardly count.
fn cut(each: &[f64]) -> [f64; KINDS] {
    let all: f64 = each.iter().sum();
    let mut squares = [0.0; KINDS];
    let (mut kind, mut room) = (0, SHARES[0] * all);
    for busy in each {
        let mut left = *busy;
        while kind + 1 < KINDS && left > room {
            squares[kind] += room * busy;
            left -= room;
            kind += 1;
            room = SHARES[kind] * all;
        }
        squares[kind] += left * busy;
        // Rounding may leave a little less than nothing.
        room = (room - left).max(0.0);
    }
    std::array::from_fn(|kind| (SHARES[kind] * all).powi(2) / squares[kind].max(1e-300))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_with_most_work_are_the_fewest_for_it_and_all_together_no_more_than_there_are() {
        for (vps, again) in [(1, 0.0), (2, 0.9), (8, 0.0), (8, 1.0), (30, 0.95)] {
            let kinds = Kinds::of(vps, again);
            for part in [0.001, 0.1, 0.4, 0.8, 0.99] {
                let counts = kinds.counts(part * vps as f64);
                let sum: f64 = counts.iter().sum();
                assert!(
                    sum <= vps as f64 + 1e-6 && sum >= part * vps as f64,
                    "{counts:?}"
                );
                let each: Vec<f64> = (0..KINDS).map(|at| SHARES[at] / counts[at]).collect();
                assert!(
                    each.windows(2).all(|pair| pair[0] >= pair[1] - 1e-9),
                    "{each:?}"
                );
            }
        }
    }

    #[test]
    fn whoever_is_filled_first_has_most_to_do() {
        // How much more one of the first kind has to do than one of the last.
        let apart = |again: f64, busy: f64| {
            let counts = Kinds::of(8, again).counts(busy);
            SHARES[0] / counts[0] * counts[KINDS - 1] / SHARES[KINDS - 1]
        };
        for again in [0.0, 0.5, 0.9, 1.0] {
            let found = [1.0, 2.5, 5.0, 7.9].map(|busy| apart(again, busy));
            assert!(found[1] > 2.0, "{again} {found:?}");
            // The fuller all are, the more alike.
            assert!(
                found[1] > found[2] && found[2] > found[3],
                "{again} {found:?}"
            );
            assert!(found[3] >= 1.0 - 1e-9, "{again} {found:?}");
        }
    }

    #[test]
    fn a_guest_that_packs_has_fewer_that_do_the_work_and_those_are_busy_for_most_of_the_time() {
        let packed = Kinds::packed(Filled::told(8, 4, 4));
        for busy in [0.5, 1.5, 3.0, 6.0] {
            let counts = |kinds: &Kinds| kinds.counts(busy).iter().sum::<f64>();
            let (some, all) = (counts(&packed), counts(&Kinds::of(8, 0.9)));
            assert!(some < all && some > busy, "{busy} {some} {all}");
        }
        let counts = |step: usize| packed.counts(0.02 * step as f64);
        for step in 1..400 {
            let pair = counts(step - 1).into_iter().zip(counts(step));
            assert!(
                pair.map(|(a, b)| (a - b).abs()).sum::<f64>() < 0.5,
                "{step}"
            );
        }
    }

    /// Against guests of which each coming was played out: 400,000 of them, work that comes back to
    /// where it was so often and is about for a 25th of the time.
    #[test]
    fn those_of_a_guest_that_packs_do_the_work_that_they_do_when_each_coming_is_played() {
        let played = [
            (30, 2, 0.95, [5.15, 3.53, 2.73]),
            (16, 2, 0.75, [7.44, 4.78, 3.17]),
            (16, 2, 0.0, [5.98, 3.89, 3.16]),
            (16, 4, 0.95, [4.16, 2.45, 1.46]),
            (8, 8, 0.75, [1.76, 0.96, 0.37]),
        ];
        let busy = [7.26, 11.17, 9.08, 6.34, 2.75];
        for ((vps, threads, again, wanted), busy) in played.into_iter().zip(busy) {
            let filled = Filled::told(vps, threads, threads).with(again);
            let found = Kinds::packed(filled).counts(busy);
            let off = |kind: usize| (found[kind] / wanted[kind] - 1.0).abs();
            // The last tenth of the work counts for little where more threads share one.
            let last = threads > 2 || off(2) < 0.15;
            assert!(
                off(0) < 0.05 && off(1) < 0.25 && last,
                "{vps} {threads} {again} {found:?} {wanted:?}"
            );
        }
    }

    #[test]
    fn nothing_jumps_while_the_load_changes() {
        let kinds = Kinds::of(16, 0.95);
        // From a thousandth of one on, each time by a hundredth more.
        let counts = |step: i32| kinds.counts(1e-3 * 1.01_f64.powi(step));
        for step in 1..970 {
            let pair = counts(step - 1).into_iter().zip(counts(step));
            assert!(
                pair.map(|(a, b)| (a - b).abs()).sum::<f64>() < 0.2,
                "{step}"
            );
        }
    }
}
