//! Where partitions stand that compete for what others leave: their ages by weight, and the mean.

use super::share::Claim;
use crate::kernel::real;

/// Windows of all its virtual processors with work by which a partition can be behind its weight.
/// Assumed, 2 to 100.
const MOST_BEHIND_WINDOWS: f64 = 5.0;

/// Where one stands, or some under a limit together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stand {
    /// Sum of their ages, by weight [ns].
    pub(super) ages: f64,
    pub(super) weight: f64,
    /// Virtual processors with work.
    pub(super) vps: f64,
    /// Whether a limit keeps them from more.
    pub(super) bound: bool,
    /// Whether they are behind by as much as they may be, or behind at their limit.
    pub(super) last: bool,
}

impl Stand {
    /// Of one with this claim and so many virtual processors with work.
    pub(super) fn of(claim: &Claim, vps: u32) -> Self {
        let weight = claim.weight.max(1.0);
        Self {
            ages: weight * claim.excess_age,
            weight,
            vps: f64::from(vps),
            ..Self::default()
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            ages: self.ages + other.ages,
            weight: self.weight + other.weight,
            vps: self.vps + other.vps,
            ..Self::default()
        }
    }

    /// Where they stand on average [ns].
    pub(super) fn age(&self) -> f64 {
        self.ages / self.weight
    }

    /// By how much they may be behind others, by weight [ns].
    pub(super) fn most_behind(&self, window_ns: u64) -> f64 {
        self.vps * real(window_ns) * MOST_BEHIND_WINDOWS / self.weight.max(1.0)
    }
}

/// Where they stand on average, when each is behind by what it may be at most; nobody stands
/// anywhere. Who is kept from more by a limit of its own and has less than the others does not
/// count; one that had more before its limit was reached does [ns].
pub(super) fn mean_of(stands: &mut [Stand], window_ns: u64) -> Option<f64> {
    let mut drag = 0.0;
    loop {
        let free = stands.iter().filter(|one| !one.last).copied();
        let free = free.fold(Stand::default(), Stand::and);
        if free.weight == 0.0 {
            return None;
        }
        let (mean, mut some) = ((free.ages - drag) / free.weight, false);
        for one in stands.iter_mut().filter(|one| !one.last) {
            let most = if one.bound {
                0.0
            } else {
                one.most_behind(window_ns)
            };
            one.last = one.age() <= mean - most;
            if one.last {
                drag += one.weight * most;
                some = true;
            }
        }
        if !some {
            return Some(mean);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of one with this age, weight and so many virtual processors; a window is 10 ns.
    fn one(age: f64, weight: f64, vps: f64) -> Stand {
        Stand {
            ages: age * weight,
            weight,
            vps,
            ..Stand::default()
        }
    }

    #[test]
    fn nobody_drags_the_mean_back_by_more_than_it_may_be_behind() {
        let mean = |stands: &[Stand]| mean_of(&mut stands.to_vec(), 10);
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[one(10.0, 1.0, 9.0), one(2.0, 3.0, 9.0)]), Some(4.0));
        // One virtual processor may be behind by five windows, 50 of the 900 that it is.
        let small = one(100.0, 1.0, 1.0);
        assert_eq!(mean(&[one(1000.0, 1.0, 9.0), small]), Some(950.0));
        let bound = |small| Stand {
            bound: true,
            ..small
        };
        let large = one(1000.0, 1.0, 9.0);
        assert_eq!(mean(&[large, bound(small)]), Some(1000.0));
        // Who had more up to its limit than the others is what they are behind.
        assert_eq!(mean(&[large, bound(one(1200.0, 1.0, 1.0))]), Some(1100.0));
    }
}
