//! How long transactions take, not only on average.
//!
//! A transaction has a geometric number of bursts, with exponential waits between them. A burst
//! finds all logical processors busy with some chance and then waits; for `c` of them that each do
//! exponential bursts at a rate `m`, while `l` come in a nanosecond, that wait is exponential with
//! rate `c m - l` (Erlang's queue). So a transaction goes through three phases, queued, at work and
//! away, each exponential, until its last burst is done: its time has a phase-type distribution
//! (Neuts, Matrix-geometric solutions in stochastic models, 1981), whose percentiles are worked out
//! here.
//!
//! ```text
//! queued ──► at work ──► done         with chance 1 / bursts
//!   ▲          ▲  │
//!   └── away ◄─┴──┘                   else
//! ```
//! What it leaves out: that the bursts of a transaction meet the same crowd, and that a burst takes
//! longer on a busier core. Bursts that are all of one length are not told: what is exponential
//! here would not be.

use crate::steady::queues::chain::Load;
use crate::steady::queues::demand::{Arrivals, Demand};

/// Percentiles that are told.
pub(in crate::steady) const PERCENTILES: [f64; 3] = [0.5, 0.95, 0.99];
/// Part of the mean that is the finest step, as a power of two; and how far it is looked beyond.
const FINEST: i32 = 32;
const BEYOND: i32 = 8;

/// The phases of a transaction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::steady) struct Passage {
    /// Share of bursts that are queued.
    pub queued: f64,
    /// Mean time of those in the queue, of a burst at work, and of a wait after it [ns].
    pub queue_ns: f64,
    pub work_ns: f64,
    pub away_ns: f64,
    /// Mean bursts of a transaction.
    pub bursts: f64,
}

type Matrix = [[f64; 3]; 3];

impl Passage {
    /// Of what a partition does; none where it is not told.
    pub fn of(load: &Load, demand: &Demand) -> Option<Self> {
        let comes = matches!(demand.arrivals, Arrivals::Open(_) | Arrivals::Closed(..));
        let told = comes && demand.scattered && !demand.recorded && !load.overrun;
        if !told || load.bursts_per_ns <= 0.0 {
            return None;
        }
        let all_ns = load.runnable / load.bursts_per_ns;
        let waits_ns = (load.waiting / load.bursts_per_ns).min(all_ns);
        let queued = if waits_ns > 1e-9 * all_ns {
            load.held
        } else {
            0.0
        };
        Some(Self {
            queued,
            queue_ns: if queued > 0.0 { waits_ns / queued } else { 0.0 },
            work_ns: all_ns - waits_ns,
            away_ns: demand.wait_ns / (demand.bursts - 1.0).max(1e-12),
            bursts: demand.bursts,
        })
    }

    /// With so much that each burst waits for before it is at work [ns].
    pub fn later(self, ns: f64) -> Self {
        Self {
            work_ns: self.work_ns + ns,
            ..self
        }
    }

    /// Mean time of a transaction [ns].
    pub fn mean_ns(&self) -> f64 {
        let each = self.queued * self.queue_ns + self.work_ns;
        self.bursts * each + (self.bursts - 1.0) * self.away_ns
    }

    /// The time that this share of all transactions stay under [ns].
    pub fn percentile_ns(&self, share: f64) -> f64 {
        let step = self.mean_ns() * 0.5_f64.powi(FINEST);
        let mut after = Vec::with_capacity((FINEST + BEYOND) as usize);
        after.push(self.first(step));
        for at in 1..(FINEST + BEYOND) as usize {
            after.push(times(&after[at - 1], &after[at - 1]));
        }
        // The time in powers of two, the largest first.
        let (mut there, mut ns) = ([self.queued, 1.0 - self.queued, 0.0], 0.0);
        for (power, after) in after.iter().enumerate().rev() {
            let next = row_times(&there, after);
            if next.iter().sum::<f64>() > 1.0 - share {
                there = next;
                ns += step * 2.0_f64.powi(power as i32);
            }
        }
        ns
    }

    /// From which phase to which in a time that is short beside all of them.
    fn first(&self, ns: f64) -> Matrix {
        let rate = |of: f64| if of > 0.0 { (ns / of).min(1.0) } else { 1.0 };
        let (begins, ends) = (rate(self.queue_ns), rate(self.work_ns));
        let again = ends * (1.0 - 1.0 / self.bursts);
        let mut first = [[1.0 - begins, begins, 0.0], [0.0; 3], [0.0; 3]];
        first[1][1] = 1.0 - ends;
        let (queued, at_once) = (self.queued, 1.0 - self.queued);
        if self.away_ns > 0.0 {
            let back = rate(self.away_ns);
            first[1][2] = again;
            first[2] = [back * queued, back * at_once, 1.0 - back];
        } else {
            first[1][0] = again * queued;
            first[1][1] += again * at_once;
        }
        first
    }
}

fn row_times(row: &[f64; 3], by: &Matrix) -> [f64; 3] {
    let mut product = [0.0; 3];
    for (value, factors) in row.iter().zip(by) {
        for (sum, factor) in product.iter_mut().zip(factors) {
            *sum += value * factor;
        }
    }
    product
}

fn times(one: &Matrix, by: &Matrix) -> Matrix {
    [0, 1, 2].map(|row| row_times(&one[row], by))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, wanted: f64) {
        assert!((found / wanted - 1.0).abs() < 1e-6, "{found}, not {wanted}");
    }

    #[test]
    fn one_processor_has_the_exponential_times_of_textbooks() {
        // M/M/1 at a load of 0.8 and a burst of 1: exponential with mean 5.
        let one = Passage {
            queued: 0.8,
            queue_ns: 5.0,
            work_ns: 1.0,
            away_ns: 0.0,
            bursts: 1.0,
        };
        near(one.mean_ns(), 5.0);
        for share in PERCENTILES {
            near(one.percentile_ns(share), -5.0 * (1.0 - share).ln());
        }
    }

    #[test]
    fn a_geometric_number_of_exponential_bursts_is_exponential() {
        let several = Passage {
            queued: 0.0,
            queue_ns: 0.0,
            work_ns: 2.0,
            away_ns: 0.0,
            bursts: 4.0,
        };
        near(several.percentile_ns(0.95), -8.0 * 0.05_f64.ln());
    }

    #[test]
    fn work_and_one_wait_are_a_sum_of_exponentials() {
        // Half have one burst of 1, half two or more, with waits so long that little else counts.
        let waits = Passage {
            queued: 0.0,
            queue_ns: 0.0,
            work_ns: 1.0,
            away_ns: 1e8,
            bursts: 2.0,
        };
        // The share that waits is one half, and waits for a geometric number of times: 2e8.
        near(waits.percentile_ns(0.95) / 1e8, -2.0 * 0.1_f64.ln());
    }
}
