//! How many of a partition's virtual processors run, by how many of them have work, where cores are
//! scarce.
//!
//! Those of all partitions want so many cores together, a number with a mean and a variance. The
//! more of one's own have work the more are beyond the cores, so its bursts take longest just while
//! there are most of them. With `w` of its own and `o` of others on `c` cores it is without
//!
//! ```text
//! least(w) = (w - c)+                        if its own come first
//! most(w) = E[(o + w - c)+] - E[(o - c)+]    if the others do
//! ```
//! and between the two in fact: so much of the way that it loses on the mean what sharing says
//! (`windows/shortage.rs`). Whichever it is, no fewer run where more have work.

use crate::steady::queues::chances::mean_beyond;

/// How far one step goes in finding the part of the way, and the least that it is.
const MOST_TURN: f64 = 2.0;
const LEAST_PART: f64 = 1e-3;

/// Cores that a partition finds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::steady) struct Scarce {
    /// Mean number of virtual processors of others that want a core, and its variance.
    pub others: f64,
    pub variance: f64,
    pub cores: f64,
    /// Part of those with work that its own limits leave, and what of that is to be lost.
    pub within: f64,
    pub loses: f64,
    /// How much of the way from losing least to losing most.
    pub way: f64,
}

impl Scarce {
    /// The part of so many with work that runs, of those that its own limits leave.
    pub fn part(&self, vps: f64) -> f64 {
        let wants = self.within * vps;
        if wants <= 0.0 {
            return 1.0;
        }
        let beyond = |own: f64| mean_beyond(self.others + own, self.variance, self.cores);
        let least = (wants - self.cores).max(0.0);
        let most = (beyond(wants) - beyond(0.0)).max(least);
        1.0 - (least + self.way * (most - least)) / wants
    }

    /// Further on the way, or less far, where it lost such a share and not what it is to lose.
    pub fn sized(self, lost: f64) -> Self {
        let turn = (self.loses / lost.max(1e-9)).sqrt();
        let way = self.way * turn.clamp(1.0 / MOST_TURN, MOST_TURN);
        Self {
            way: way.clamp(LEAST_PART, 1.0),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_have_work_the_less_of_them_runs_and_never_fewer() {
        for way in [0.0, 0.5, 1.0] {
            let scarce = Scarce {
                others: 4.0,
                variance: 2.0,
                cores: 8.0,
                within: 1.0,
                loses: 0.0,
                way,
            };
            let own = [1.0, 2.0, 4.0, 6.0, 9.0, 12.0, 30.0];
            let parts = own.map(|vps| scarce.part(vps));
            assert!(parts.windows(2).all(|two| two[1] <= two[0]), "{parts:?}");
            let runs = own.map(|vps| vps * scarce.part(vps));
            assert!(
                runs.windows(2).all(|two| two[0] < two[1] + 1e-9),
                "{runs:?}"
            );
            assert!(runs[6] > 4.0 - 1e-3 && runs[6] < 8.0 + 1e-9, "{runs:?}");
        }
    }

    #[test]
    fn alone_all_cores_are_its_own_wherever_it_stands() {
        for way in [0.1, 1.0] {
            let alone = Scarce {
                cores: 2.0,
                within: 1.0,
                way,
                ..Scarce::default()
            };
            assert!((alone.part(8.0) - 0.25).abs() < 1e-12 && alone.part(2.0) >= 1.0);
        }
    }
}
