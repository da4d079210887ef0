//! A window ends: where partitions stand that compete, and who has fallen behind.
//!
//! Ages are compared with their weighted mean, where each would be had it what its weight says.
//!
//! - Who does not compete has nothing to catch up with: it starts from the mean.
//! - Who competes and gets less than its weight says, since its virtual processors allow no more,
//!   falls behind by [`MOST_BEHIND_WINDOWS`] at most, so that others do not starve when it can use
//!   more again. Those that one limit holds (a pool's maximum, a group's cap) fall behind together.

use super::{contender, Contest};
use crate::hypervisor::pool::PoolBudget;
use crate::hypervisor::share::Share;
use crate::hypervisor::windows::Windows;
use crate::kernel::real;

/// Windows of all its virtual processors with work by which a partition can be behind its weight.
/// Assumed, 2 to 100.
const MOST_BEHIND_WINDOWS: f64 = 5.0;

/// Where one stands, or some under a limit together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stand {
    /// Sum of their ages, by weight [ns].
    ages: f64,
    weight: f64,
    /// Virtual processors with work.
    vps: f64,
    /// Whether they are behind by as much as they may be, or a limit keeps them from more.
    last: bool,
}

impl Stand {
    fn and(self, other: Self) -> Self {
        Self {
            ages: self.ages + other.ages,
            weight: self.weight + other.weight,
            vps: self.vps + other.vps,
            last: false,
        }
    }

    /// Where they stand on average [ns].
    fn age(&self) -> f64 {
        self.ages / self.weight
    }

    /// By how much they may be behind others, by weight [ns].
    fn most_behind(&self, window_ns: u64) -> f64 {
        self.vps * real(window_ns) * MOST_BEHIND_WINDOWS / self.weight.max(1.0)
    }
}

/// Where they stand on average, when each is behind by what it may be at most; nobody stands
/// anywhere. Who is kept from more by a limit of its own does not count [ns].
fn mean_of(stands: &mut [Stand], window_ns: u64) -> Option<f64> {
    let mut drag = 0.0;
    loop {
        let free = stands.iter().filter(|one| !one.last).copied();
        let free = free.fold(Stand::default(), Stand::and);
        if free.weight == 0.0 {
            return None;
        }
        let (mean, mut some) = ((free.ages - drag) / free.weight, false);
        for one in stands.iter_mut().filter(|one| !one.last) {
            one.last = one.age() <= mean - one.most_behind(window_ns);
            if one.last {
                drag += one.weight * one.most_behind(window_ns);
                some = true;
            }
        }
        if !some {
            return Some(mean);
        }
    }
}

impl Contest {
    /// By how much a partition may be behind others, by weight: not at all if it does not compete
    /// [ns].
    pub(super) fn most_behind(&self, share: &Share, window_ns: u64) -> f64 {
        match stand(share).filter(|_| self.competes) {
            Some(own) => own.most_behind(window_ns),
            None => 0.0,
        }
    }
}

/// Counts as used what a partition may not make up for, if that is anything [ns].
fn bring_forward(share: &mut Share, by: f64) {
    if let Some(claim) = share.claim_mut().filter(|_| by > 0.0) {
        claim.excess_age += by;
    }
}

/// Where one that may use excess stands.
fn stand(share: &Share) -> Option<Stand> {
    let claim = contender(share)?;
    let (weight, vps) = (claim.weight.max(1.0), f64::from(share.active_vps));
    let ages = weight * claim.excess_age;
    let last = false;
    Some(Stand {
        ages,
        weight,
        vps,
        last,
    })
}

impl Windows {
    /// Brings those of a field forward that are too far behind: under each limit, then all.
    pub(super) fn level_ages(&mut self, field: usize) {
        let (window_ns, mut stands) = (self.capacity_ns, std::mem::take(&mut self.stands));
        for limit in self.limits() {
            stands.clear();
            stands.extend(self.stands_of(field, Some(limit)));
            if let Some(mean) = mean_of(&mut stands, window_ns) {
                self.level(field, Some(limit), mean);
            }
        }
        stands.clear();
        stands.extend(self.stands_of(field, None));
        let together = self.limits().map(|limit| Stand {
            last: self.is_bound(limit),
            ..self.stand_of(field, limit)
        });
        stands.extend(together.filter(|those| those.weight > 0.0));
        if let Some(mean) = mean_of(&mut stands, window_ns) {
            self.level(field, None, mean);
            for limit in self.limits() {
                self.level_together(field, limit, mean);
            }
        }
        self.stands = stands;
    }

    fn limits(&self) -> std::ops::Range<usize> {
        0..self.pools.len().max(self.groups.len())
    }

    /// Where those of a field that compete under a limit, or under none, stand.
    fn stands_of(&self, field: usize, limit: Option<usize>) -> impl Iterator<Item = Stand> + '_ {
        let each = self.shares.iter().zip(&self.contests);
        let those = each.filter(move |(_, contest)| {
            (contest.field, contest.limit) == (field, limit) && contest.competes
        });
        those.filter_map(|(share, _)| stand(share))
    }

    /// The same together.
    fn stand_of(&self, field: usize, limit: usize) -> Stand {
        let those = self.stands_of(field, Some(limit));
        those.fold(Stand::default(), Stand::and)
    }

    /// Brings each of those forward that is too far behind this mean, and extends the slices of
    /// those that are behind it.
    fn level(&mut self, field: usize, limit: Option<usize>, mean: f64) {
        let window_ns = self.capacity_ns;
        self.each_of(field, limit, |share, contest| {
            let least = mean - contest.most_behind(share, window_ns);
            bring_forward(share, least - share.excess_age());
            contest.extend(share, mean, window_ns);
        });
    }

    /// Brings those under a limit forward by the same, so that together they are not too far behind
    /// this mean. As long as the limit does not bind them, each is behind what all have.
    fn level_together(&mut self, field: usize, limit: usize, mean: f64) {
        let (those, window_ns) = (self.stand_of(field, limit), self.capacity_ns);
        let bound = self.is_bound(limit);
        if those.weight == 0.0 {
            return self.level(field, Some(limit), mean);
        }
        let by = mean - those.most_behind(window_ns) - those.age();
        self.each_of(field, Some(limit), |share, contest| {
            bring_forward(share, by);
            if !bound {
                contest.extend(share, mean, window_ns);
            }
        });
    }

    fn each_of(
        &mut self,
        field: usize,
        limit: Option<usize>,
        mut change: impl FnMut(&mut Share, &mut Contest),
    ) {
        for (share, contest) in self.shares.iter_mut().zip(&mut self.contests) {
            if (contest.field, contest.limit) == (field, limit) {
                change(share, contest);
            }
        }
    }

    /// Whether a limit kept some from more in the window that ends.
    fn is_bound(&self, limit: usize) -> bool {
        let budget = if self.masks.is_empty() {
            self.pools.iter().nth(limit)
        } else {
            self.groups.iter().nth(limit)
        };
        budget.is_some_and(PoolBudget::is_used_up)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of one with this age, weight and so many virtual processors; a window is 10 ns.
    fn one(age: f64, weight: f64, vps: f64) -> Stand {
        let ages = age * weight;
        let last = false;
        Stand {
            ages,
            weight,
            vps,
            last,
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
        let limited = Stand {
            last: true,
            ..small
        };
        assert_eq!(mean(&[one(1000.0, 1.0, 9.0), limited]), Some(1000.0));
    }
}
