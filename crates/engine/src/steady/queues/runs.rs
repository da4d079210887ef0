//! How long virtual processors run on a core at a time, and how much of it with cold caches.
//!
//! A run ends when nothing more is to do, or when the virtual processor is thrown off. While lines
//! are refilled an instruction takes `f` times as long as on the mean, so `f` times as many bursts
//! come meanwhile that are done in the same run, and as many more throw it off. With the share `j`
//! of the bursts that find their virtual processor at work, and the share `t` of the runs that end
//! since it was thrown off, a run of `x` instructions on the mean would have while it is cold
//!
//! ```text
//! x / (t f + (1 - t) (1 - j f) / (1 - j))
//! ```
//! and one whose work comes faster than it is done goes on until its caches are warm. Where bursts
//! run beside what is there, on the other threads of the core, they queue for nothing: a run is
//! then a busy period of as many servers as come, with `exp(f u)` bursts where the mean number of
//! them at once is `u`, so that `j = 1 - exp(-u)` of the bursts join, and it has `x / (1 - j)^(f -
//! 1)`.

/// Runs on a core from a dispatch to the next, of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::steady) struct Runs {
    /// Part of all runs that are of this kind, and instructions of each.
    part: f64,
    instructions: f64,
    /// Share of them that end since somebody was thrown off.
    thrown: f64,
    /// Share of the bursts that find their virtual processor at work, and whether they run beside
    /// what is there.
    joins: f64,
    beside: bool,
}

/// Nearly all: nothing is divided by what is left.
const NEARLY: f64 = 1.0 - 1e-6;

impl Runs {
    /// All are alike, and end when they have done so many instructions, whatever these take.
    pub fn alike(instructions: f64) -> [Self; 2] {
        [Self::of(1.0, instructions), Self::default()]
    }

    /// Such a part of all, that do so much of what a mean run does.
    pub fn of(part: f64, work: f64) -> Self {
        Self {
            part,
            instructions: work / part.max(1e-12),
            ..Self::default()
        }
    }

    /// Such a share of them ends since somebody was thrown off.
    pub fn thrown(self, thrown: f64) -> Self {
        Self { thrown, ..self }
    }

    /// Such a share of the bursts finds its virtual processor at work.
    pub fn joined(self, joins: f64) -> Self {
        Self {
            joins: joins.clamp(0.0, NEARLY),
            ..self
        }
    }

    /// Whether they run beside what is there.
    pub fn beside(self, beside: bool) -> Self {
        Self { beside, ..self }
    }

    pub fn times(self, by: f64) -> Self {
        Self {
            instructions: self.instructions * by,
            ..self
        }
    }

    /// Instructions that it adds to those of a mean run.
    pub fn mean(&self) -> f64 {
        self.part * self.instructions
    }

    /// Instructions of a mean run while lines are refilled that are missing for so many, each of
    /// which takes so many times as long as one does on the mean.
    pub fn refilled(self, cold: f64, slower: f64) -> f64 {
        if self.instructions <= 0.0 {
            return 0.0;
        }
        let emptied = if self.beside {
            (1.0 - self.joins).powf(slower - 1.0)
        } else {
            (1.0 - self.joins * slower) / (1.0 - self.joins)
        };
        let ends = self.thrown * slower + (1.0 - self.thrown) * emptied.max(0.0);
        let left = ends * cold / self.instructions;
        if left < 1e-9 {
            return self.part * cold;
        }
        self.part * cold * -(-left).exp_m1() / left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(instructions: f64) -> Runs {
        Runs::of(1.0, instructions)
    }

    #[test]
    fn a_short_run_is_cold_for_all_of_it_and_a_long_one_until_it_is_warm() {
        assert!((run(1.0).refilled(1e6, 1.0) - 1.0).abs() < 1e-5);
        assert!((run(1e9).refilled(1e3, 1.0) - 1e3).abs() < 1e-2);
        assert_eq!(Runs::default().refilled(1e3, 2.0), 0.0);
    }

    #[test]
    fn work_that_comes_meanwhile_keeps_a_run_cold_for_longer() {
        let at = |joins: f64, slower: f64| run(1e3).joined(joins).refilled(1e4, slower);
        let each = [0.0, 0.2, 0.4, 0.49].map(|joins| at(joins, 2.0));
        assert!(each.windows(2).all(|pair| pair[0] < pair[1]), "{each:?}");
        // More comes than is done: cold until it is warm.
        assert_eq!(at(0.6, 2.0), 1e4);
        // As long as on the mean, nothing is changed by it.
        assert!((at(0.4, 1.0) - at(0.0, 1.0)).abs() < 1e-9);
    }

    #[test]
    fn work_that_runs_beside_keeps_it_cold_for_less_than_work_that_queues() {
        let at = |joins: f64, slower: f64| {
            let run = run(1e3).joined(joins);
            [run, run.beside(true)].map(|of| of.refilled(1e4, slower))
        };
        for joins in [0.1, 0.3, 0.49] {
            let [queued, beside] = at(joins, 2.0);
            assert!(beside < queued && beside > at(0.0, 2.0)[1], "{joins}");
            // Nothing runs beside for ever.
            assert!(at(0.6, 3.0)[1] < 1e4 && at(0.6, 3.0)[0] == 1e4);
            let [queued, beside] = at(joins, 1.0);
            assert!((queued - beside).abs() < 1e-9);
        }
    }

    #[test]
    fn who_is_thrown_off_by_time_does_less_the_slower_it_is() {
        let at = |slower: f64| run(1e3).thrown(1.0).refilled(1e5, slower);
        assert!((at(2.0) / at(1.0) - 0.5).abs() < 1e-2, "{}", at(2.0));
    }
}
