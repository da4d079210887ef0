//! Loops that rest: for how much of the time they have work.
//!
//! Phases begin at the same times for all of a workload: work for `busy`, then rest until the next
//! begins. A loop goes on to its end in whichever phase it is, and only one that ends in a phase of
//! rest waits for the next period. So how long a thread works hangs on how long its loops last,
//! which are as long as their processor lets them. The loops of one processor take turns; all of
//! them begin anew as soon as all rest, so what follows repeats itself, and is played once:
//!
//! ```text
//! loop of 9 ms, busy 2 ms, rest 10 ms: 9 ms of 12       two of them: one after the other, always
//! loop of .5 ms, the same:             2 ms of 12
//! ```

use std::collections::VecDeque;

/// Turns of one processor after which it counts as never without work.
const MOST_TURNS: usize = 2_048;
/// Turns of a loop that are told apart.
const MOST_SLICES: f64 = 16.0;
/// Part by which loops last longer or less long than on the mean, and lengths within that. Whether
/// a loop ends in a phase of rest or just before would be a jump else. Assumed, 0.001 to 0.01.
const SPREAD: f64 = 0.002;
const LENGTHS: u8 = 8;

/// Phases in turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::steady) struct Phases {
    pub busy_ns: f64,
    pub rest_ns: f64,
    /// How long one thread runs while others wait [ns].
    pub slice_ns: f64,
}

impl Phases {
    /// Share of the time in which a processor has work that has so many threads on the mean, whose
    /// loops each take so long alone there [ns].
    pub fn duty(self, loop_ns: f64, threads: f64) -> f64 {
        if !loop_ns.is_finite() {
            return 1.0;
        }
        let (few, more) = (threads.floor(), threads.fract());
        let of = |threads: f64| {
            let each = (0..LENGTHS).map(|at| {
                let off = (2.0 * f64::from(at) + 1.0) / f64::from(LENGTHS) - 1.0;
                self.used((1.0 + SPREAD * off) * loop_ns, threads)
            });
            each.sum::<f64>() / f64::from(LENGTHS)
        };
        let least = if few < 1.0 { 0.0 } else { of(few) };
        let most = if more > 0.0 { of(few + 1.0) } else { 0.0 };
        (1.0 - more) * least + more * most
    }

    /// The same of so many threads and loops of this length.
    fn used(self, loop_ns: f64, threads: f64) -> f64 {
        let period = self.busy_ns + self.rest_ns;
        let slice = self.slice_ns.max(loop_ns / MOST_SLICES);
        // Rounds that end while all are to work change nothing.
        let round = threads * loop_ns;
        let mut now = ((self.busy_ns / round).ceil() - 1.0).max(0.0) * round;
        let (count, mut resting, mut wakes) = (threads as usize, 0, period);
        let mut queue = VecDeque::from(vec![loop_ns; count]);
        for _ in 0..MOST_TURNS.max(4 * count) {
            let Some(left) = queue.pop_front() else {
                return now / wakes;
            };
            let runs = left.min(slice);
            now += runs;
            if now >= wakes {
                queue.extend(std::iter::repeat_n(loop_ns, std::mem::take(&mut resting)));
                wakes = ((now / period).floor() + 1.0) * period;
            }
            if left > runs {
                queue.push_back(left - runs);
            } else if now % period < self.busy_ns {
                queue.push_back(loop_ns);
            } else {
                resting += 1;
            }
        }
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn duty(loop_ms: f64, threads: f64) -> f64 {
        let (busy_ns, rest_ns, slice_ns) = (2e6, 10e6, 1e9);
        let phases = Phases {
            busy_ns,
            rest_ns,
            slice_ns,
        };
        phases.duty(1e6 * loop_ms, threads)
    }

    #[test]
    fn a_loop_is_finished_before_its_thread_rests() {
        // 9 ms of each 12; three loops of .8 ms; at 13.2 ms it goes on, and rests from 26.4 on.
        assert!((duty(9.0, 1.0) - 9.0 / 12.0).abs() < 1e-9);
        assert!((duty(0.8, 1.0) - 2.4 / 12.0).abs() < 1e-9);
        assert!((duty(13.2, 1.0) - 26.4 / 36.0).abs() < 1e-9);
        // Short ones are hardly longer than the phase.
        assert!((duty(1e-3, 1.0) - 2.0 / 12.0).abs() < 1e-3);
        assert_eq!(duty(f64::INFINITY, 1.0), 1.0);
    }

    #[test]
    fn loops_of_one_processor_come_one_after_the_other() {
        // The second of two begins in a phase of rest and ends when the first has work again.
        assert!(duty(9.0, 2.0) > 0.995);
        assert!((duty(3.0, 3.0) - 9.0 / 12.0).abs() < 1e-9);
        let mixed = 0.5 * (duty(3.0, 1.0) + duty(3.0, 2.0));
        assert!((duty(3.0, 1.5) - mixed).abs() < 1e-12);
    }

    #[test]
    fn those_that_take_turns_end_together() {
        let phases = |slice_ns| Phases {
            busy_ns: 2e6,
            rest_ns: 10e6,
            slice_ns,
        };
        // At 18 ms of 24 both rest.
        let by_turns = phases(1e5).duty(9e6, 2.0);
        assert!((by_turns - 18.0 / 24.0).abs() < 0.03, "{by_turns}");
    }

    #[test]
    fn where_a_jump_would_be_it_is_spread() {
        let steps: Vec<f64> = (0..200)
            .map(|at| duty(1.9 + 1e-3 * f64::from(at), 1.0))
            .collect();
        let most = steps.windows(2).map(|two| (two[1] - two[0]).abs());
        assert!(most.fold(0.0, f64::max) < 0.3 * 2.0 / 12.0);
    }
}
