//! Folding: once a second AIX works out how many virtual processors its work needs and changes at
//! most one.

use crate::spec::Aix;

/// What folding does in one second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldStep {
    /// Nothing.
    Keep,
    /// Takes work off one virtual processor.
    Fold,
    /// Gives work to one more.
    Unfold,
}

/// How a partition folds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Folding {
    threads_before_next: u8,
    extra_vps: f64,
    threshold_pct: f64,
}

impl Folding {
    /// Reads the tunables of a guest whose virtual processors have `smt` threads; none where
    /// folding is off.
    pub fn of(aix: &Aix, smt: u8) -> Option<Self> {
        (aix.xvcpus >= 0).then(|| Self {
            threads_before_next: aix.throughput_mode.clamp(1, smt),
            extra_vps: f64::from(aix.xvcpus),
            threshold_pct: aix.fold_threshold_pct,
        })
    }

    /// Virtual processors needed for `busy_threads` busy threads: so many that each of the threads
    /// to be loaded on one stays under the fold threshold, plus `vpm_xvcpus`.
    pub fn needed(&self, busy_threads: f64, vps: u16) -> u16 {
        let room = f64::from(self.threads_before_next) * self.threshold_pct / 100.0;
        let needed = (busy_threads / room).ceil() + self.extra_vps;
        needed.clamp(1.0, f64::from(vps)) as u16
    }
}

impl FoldStep {
    /// The step from `unfolded` towards `needed`.
    pub fn towards(needed: u16, unfolded: u16) -> Self {
        match needed.cmp(&unfolded) {
            std::cmp::Ordering::Less => Self::Fold,
            std::cmp::Ordering::Equal => Self::Keep,
            std::cmp::Ordering::Greater => Self::Unfold,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needed(xvcpus: i32, busy_threads: f64, throughput_mode: u8, vps: u16) -> Option<u16> {
        let aix = Aix {
            throughput_mode,
            xvcpus,
            fold_threshold_pct: 49.0,
            snooze_delay_ns: Some(0),
            tick_ns: 10_000_000,
            tick_cost_ns: 0,
            timeslice_ns: 10_000_000,
            rebalance_ns: None,
            daemon_rate_per_s: 0.0,
            daemon_ns: 0,
        };
        Folding::of(&aix, 4).map(|folding| folding.needed(busy_threads, vps))
    }

    #[test]
    fn needs_follow_the_threshold() {
        // 35 busy threads, two to a virtual processor, 49 %: 35 / 0.98 = 35.7.
        assert_eq!(needed(0, 35.0, 2, 30), Some(30));
        assert_eq!(needed(0, 9.0, 2, 30), Some(10));
        assert_eq!(needed(3, 9.0, 2, 30), Some(13));
        assert_eq!(needed(0, 0.0, 0, 30), Some(1));
        assert_eq!(needed(-1, 0.0, 1, 30), None);
    }

    #[test]
    fn one_step_at_a_time() {
        assert_eq!(FoldStep::towards(10, 30), FoldStep::Fold);
        assert_eq!(FoldStep::towards(30, 29), FoldStep::Unfold);
        assert_eq!(FoldStep::towards(5, 5), FoldStep::Keep);
    }
}
