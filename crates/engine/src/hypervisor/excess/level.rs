//! A window ends: where partitions stand that compete, and who has fallen behind.
//!
//! Ages are compared with their weighted mean, where each would be had it what its weight says.
//!
//! - Who does not compete has nothing to catch up with: it starts from the mean.
//! - Who competes and gets less than its weight says, since its virtual processors allow no more,
//!   falls behind by some windows at most, so that others do not starve when it can use
//!   more again. Those that one limit holds (a pool's maximum, a group's cap) fall behind together.
//!   Where it holds nobody back each stands for itself: who has less than its weight says, since a
//!   cap of its own or its few virtual processors allow no more, does not hold the others back.

use crate::hypervisor::contest::Contest;
use crate::hypervisor::pool::PoolBudget;
use crate::hypervisor::share::Share;
use crate::hypervisor::stand::{mean_of, Stand};
use crate::hypervisor::windows::Windows;

impl Windows {
    /// Brings those of a field forward that are too far behind: under each limit, then all.
    pub(super) fn level_ages(&mut self, field: usize) {
        let (window_ns, mut stands) = (self.capacity_ns, std::mem::take(&mut self.stands));
        for limit in self.limits() {
            if !self.is_bound(limit) {
                continue;
            }
            stands.clear();
            stands.extend(self.stands_of(field, Some(limit)));
            if let Some(mean) = mean_of(&mut stands, window_ns) {
                self.level(field, Some(limit), mean);
            }
        }
        stands.clear();
        stands.extend(self.stands_of(field, None));
        for limit in self.limits() {
            if !self.is_bound(limit) {
                stands.extend(self.stands_of(field, Some(limit)));
                continue;
            }
            let together = Stand {
                bound: true,
                ..self.stand_of(field, limit)
            };
            stands.extend(Some(together).filter(|those| those.weight > 0.0));
        }
        if let Some(mean) = mean_of(&mut stands, window_ns) {
            self.level(field, None, mean);
            for limit in self.limits() {
                self.level_together(field, limit, mean);
            }
        }
        self.stands = stands;
    }

    pub(super) fn limits(&self) -> std::ops::Range<usize> {
        0..self.pools.len().max(self.groups.len())
    }

    /// Where those of a field that compete under a limit, or under none, stand.
    fn stands_of(&self, field: usize, limit: Option<usize>) -> impl Iterator<Item = Stand> + '_ {
        let each = self.shares.iter().zip(&self.contests);
        let those = each.filter(move |(_, of)| (of.field, of.limit) == (field, limit));
        those.filter_map(|(share, contest)| contest.stand(share))
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

    /// Brings those that a limit binds forward by the same, so that together they are not too far
    /// behind this mean; those that it does not each for itself.
    fn level_together(&mut self, field: usize, limit: usize, mean: f64) {
        let (those, window_ns) = (self.stand_of(field, limit), self.capacity_ns);
        if those.weight == 0.0 || !self.is_bound(limit) {
            return self.level(field, Some(limit), mean);
        }
        let by = mean - those.most_behind(window_ns) - those.age();
        self.each_of(field, Some(limit), |share, _| bring_forward(share, by));
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
        let apart = !self.masks.is_empty();
        let bound = |of: &PoolBudget| if apart { of.held_back } else { of.is_used_up() };
        self.budget(limit).is_some_and(bound)
    }

    /// A limit that partitions share: PowerVM's pools are some, PR/SM's groups.
    pub(super) fn budget(&self, limit: usize) -> Option<&PoolBudget> {
        if self.masks.is_empty() {
            self.pools.iter().nth(limit)
        } else {
            self.groups.iter().nth(limit)
        }
    }
}

/// Counts as used what a partition may not make up for, if that is anything [ns].
fn bring_forward(share: &mut Share, by: f64) {
    if let Some(claim) = share.claim_mut().filter(|_| by > 0.0) {
        claim.excess_age += by;
    }
}
