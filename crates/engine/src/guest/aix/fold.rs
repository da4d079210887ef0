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

/// Virtual processors needed for `busy_threads` busy threads: so many that each of the threads to
/// be loaded on one stays under the fold threshold, plus `vpm_xvcpus`; all of them where folding is
/// off.
pub fn needed_vps(aix: &Aix, busy_threads: f64, threads_before_next: u8, vps: u16) -> u16 {
    if aix.xvcpus < 0 {
        return vps;
    }
    let room = f64::from(threads_before_next) * aix.fold_threshold_pct / 100.0;
    let needed = (busy_threads / room).ceil() + f64::from(aix.xvcpus);
    needed.clamp(1.0, f64::from(vps)) as u16
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

    fn aix(xvcpus: i32) -> Aix {
        Aix {
            throughput_mode: 0,
            xvcpus,
            fold_threshold_pct: 49.0,
            snooze_delay_ns: Some(0),
            tick_ns: 10_000_000,
            tick_cost_ns: 0,
            timeslice_ns: 10_000_000,
            rebalance_ns: None,
            daemon_rate_per_s: 0.0,
            daemon_ns: 0,
        }
    }

    #[test]
    fn needs_follow_the_threshold() {
        // 35 busy threads, two to a virtual processor, 49 %: 35 / 0.98 = 35.7.
        assert_eq!(needed_vps(&aix(0), 35.0, 2, 30), 30);
        assert_eq!(needed_vps(&aix(0), 9.0, 2, 30), 10);
        assert_eq!(needed_vps(&aix(3), 9.0, 2, 30), 13);
        assert_eq!(needed_vps(&aix(0), 0.0, 1, 30), 1);
        assert_eq!(needed_vps(&aix(-1), 0.0, 1, 30), 30);
    }

    #[test]
    fn one_step_at_a_time() {
        assert_eq!(FoldStep::towards(10, 30), FoldStep::Fold);
        assert_eq!(FoldStep::towards(30, 29), FoldStep::Unfold);
        assert_eq!(FoldStep::towards(5, 5), FoldStep::Keep);
    }
}
