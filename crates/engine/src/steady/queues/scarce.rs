//! How many of a partition's virtual processors run, by how many of them have work, where cores are
//! scarce.
//!
//! Those of all partitions want so many cores together, a number with a mean and a variance. The
//! more of one's own have work the more are beyond the cores, so its bursts take longest just while
//! there are most of them: with `w` of its own that many are without a core as are beyond it of the
//! others' number and `w`, and a part of these are its own.
//!
//! ```text
//! runs(w) / w = 1 - size E[(others + w - cores)+] / (w + beside)
//! ```
//! Its shape is told here. The size is such that it loses on the mean what sharing says
//! (`windows/share.rs`).

use crate::steady::queues::chances::mean_beyond;

/// The least part that runs: who finds no core at one time does at another.
const LEAST: f64 = 0.05;
/// How far one step goes in finding the size.
const MOST_TURN: f64 = 2.0;

/// Cores that a partition finds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::steady) struct Scarce {
    /// Mean number of virtual processors of others that want a core, and its variance.
    pub others: f64,
    pub variance: f64,
    pub cores: f64,
    /// Those of others that give way as its own do.
    pub beside: f64,
    /// What is lost, by what the shape says.
    pub size: f64,
}

impl Scarce {
    /// The part of so many with work that runs.
    pub fn part(&self, vps: f64) -> f64 {
        let beyond = mean_beyond(self.others + vps, self.variance, self.cores);
        (1.0 - self.size * beyond / (vps + self.beside).max(1e-9)).clamp(LEAST, 1.0)
    }

    /// With the size at which, of those that have work, such a share is `wanted` to be without a
    /// core for which such a share was.
    pub fn sized(self, wanted: f64, was: f64) -> Self {
        let turn = if was > 0.0 { wanted / was } else { 1.0 };
        let size = self.size * turn.clamp(1.0 / MOST_TURN, MOST_TURN);
        Self {
            size: size.clamp(1e-3, 1e3),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_have_work_the_less_of_them_runs() {
        let scarce = Scarce {
            others: 4.0,
            variance: 2.0,
            cores: 8.0,
            beside: 4.0,
            size: 1.0,
        };
        let parts = [1.0, 2.0, 4.0, 6.0, 12.0].map(|vps| scarce.part(vps));
        assert!(parts.windows(2).all(|two| two[1] < two[0]), "{parts:?}");
        // With twelve and four there are eight too many, of whom three quarters are its own.
        assert!((parts[4] - 0.5).abs() < 1e-3 && parts[0] > 0.99);
    }
}
