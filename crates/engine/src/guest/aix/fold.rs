//! Folding: once a second AIX works out how many virtual processors the physical utilisation of the
//! partition needs. It unfolds at once as many as that, and folds one a second.
//!
//! Source: IBM, "Virtual processor management within a partition" (AIX performance management): the
//! number follows the physical utilisation, with one more where virtual processors are highly
//! used, and `vpm_xvcpus` besides; POWER7 Optimization and Tuning Guide (SG24-8079), page 60: below
//! 49 % of what is unfolded AIX folds, above it unfolds.

use crate::spec::Aix;

/// What a partition's virtual processors used physically in a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Used {
    /// All of them together [cores].
    pub cores: f64,
    /// The one that used most [cores].
    pub most: f64,
}

/// What folding does in one second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldStep {
    /// Nothing.
    Keep,
    /// Takes work off one virtual processor.
    Fold,
    /// Gives work to so many more.
    Unfold(u16),
}

/// How a partition folds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Folding {
    extra_vps: f64,
    threshold: f64,
}

impl Folding {
    /// Reads the tunables of a guest; none where folding is off.
    pub fn of(aix: &Aix) -> Option<Self> {
        (aix.xvcpus >= 0).then(|| Self {
            extra_vps: f64::from(aix.xvcpus),
            threshold: aix.fold_threshold_pct / 100.0,
        })
    }

    /// Virtual processors needed: so many that their mean utilisation stays under the threshold,
    /// one more while one of them is above it, and `vpm_xvcpus`.
    pub fn needed(&self, used: Used, vps: u16) -> u16 {
        let room = f64::from(u8::from(used.most > self.threshold));
        let needed = (used.cores / self.threshold).ceil() + room + self.extra_vps;
        needed.clamp(1.0, f64::from(vps)) as u16
    }
}

impl FoldStep {
    /// The step from `unfolded` towards `needed`.
    pub fn towards(needed: u16, unfolded: u16) -> Self {
        match needed.cmp(&unfolded) {
            std::cmp::Ordering::Less => Self::Fold,
            std::cmp::Ordering::Equal => Self::Keep,
            std::cmp::Ordering::Greater => Self::Unfold(needed - unfolded),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needed(xvcpus: i32, cores: f64, most: f64, vps: u16) -> Option<u16> {
        let aix = Aix {
            throughput_mode: 2,
            xvcpus,
            fold_threshold_pct: 49.0,
            snooze_delay_ns: Some(0),
            tick_ns: 10_000_000,
            tick_cost_ns: 0,
            timeslice_ns: 10_000_000,
            rebalance_ns: None,
            daemon_rate_per_s: 0.0,
            daemon_ns: 0,
            gangs: Vec::new(),
        };
        let used = Used { cores, most };
        Folding::of(&aix).map(|folding| folding.needed(used, vps))
    }

    #[test]
    fn needs_follow_the_threshold() {
        // 2.2 cores at 49 % are 4.5 virtual processors, and one is above it.
        assert_eq!(needed(0, 2.2, 0.9, 6), Some(6));
        assert_eq!(needed(0, 2.2, 0.4, 6), Some(5));
        assert_eq!(needed(3, 2.2, 0.4, 30), Some(8));
        assert_eq!(needed(0, 17.5, 1.0, 30), Some(30));
        assert_eq!(needed(0, 0.0, 0.0, 30), Some(1));
        assert_eq!(needed(-1, 0.0, 0.0, 30), None);
    }

    #[test]
    fn down_by_one_and_up_at_once() {
        assert_eq!(FoldStep::towards(10, 30), FoldStep::Fold);
        assert_eq!(FoldStep::towards(30, 22), FoldStep::Unfold(8));
        assert_eq!(FoldStep::towards(5, 5), FoldStep::Keep);
    }
}
