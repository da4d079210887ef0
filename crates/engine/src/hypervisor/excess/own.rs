//! Level 0: what a pool is entitled to goes to its own partitions first.

use crate::hypervisor::pool::PoolBudget;
use crate::hypervisor::share::Claim;
use crate::hypervisor::windows::Windows;
use crate::ids::{PartitionId, PoolId, VpId};
use crate::kernel::real;

impl Windows {
    /// A window begins: what each pool's own partitions come first for.
    pub fn open_levels(&mut self) {
        if self.has_levels {
            let open = |pool: &mut PoolBudget| {
                pool.own_ns = pool.entitled_ns.saturating_sub(pool.promised_ns);
            };
            self.pools.iter_mut().for_each(open);
        }
    }

    /// Reserves a piece of what the pool itself is entitled to, where there is such a thing; else
    /// all that is wanted is at level 1.
    #[inline]
    pub fn reserve_own(&mut self, vp: VpId, partition: PartitionId, wanted_ns: u64) -> u64 {
        if !self.has_levels || self.claim(partition).soft_cap {
            return wanted_ns;
        }
        let pool = self.claim(partition).pool;
        self.slices[vp].own_ns = self.pools[pool].reserve_own(wanted_ns);
        match self.slices[vp].own_ns {
            0 => wanted_ns,
            own => own,
        }
    }

    /// Returns what was reserved of that and not used.
    #[inline]
    pub fn give_own_back(&mut self, vp: VpId, partition: PartitionId, unused_ns: u64) {
        if std::mem::take(&mut self.slices[vp].own_ns) > 0 {
            let pool = self.claim(partition).pool;
            self.pools[pool].own_ns += unused_ns;
        }
    }

    /// Takes what a pool's partitions had of what it is entitled to itself off their ages: from
    /// none more than it used, and so that over time each has had of it what its weight says.
    pub(super) fn give_own_excess_back(&mut self, pool: PoolId) {
        let all = real(self.pools[pool].own_excess_ns());
        let members = self.shares.iter().zip(&self.contests);
        let members = members.filter_map(|(share, contest)| {
            let claim = share.claim().filter(|claim| is_own(claim, pool))?;
            let aged = claim.excess_age - contest.began_at;
            (aged > 0.0).then_some((contest.own_age, aged, claim.weight.max(1.0)))
        });
        let Some(level) = level_of(all, members) else {
            return;
        };
        for (share, contest) in self.shares.iter_mut().zip(&mut self.contests) {
            if let Some(claim) = share.claim_mut().filter(|claim| is_own(claim, pool)) {
                let aged = claim.excess_age - contest.began_at;
                let back = (level - contest.own_age).clamp(0.0, aged.max(0.0));
                claim.excess_age = (claim.excess_age - back).max(0.0);
                contest.own_age += back;
            }
        }
        self.level_own_ages(pool);
    }

    /// Who is too far behind the mean of its pool in that is brought forward.
    fn level_own_ages(&mut self, pool: PoolId) {
        let members = self.shares.iter().zip(&self.contests);
        let competing = members.filter_map(|(share, contest)| {
            let claim = share.claim().filter(|claim| is_own(claim, pool))?;
            contest.competes.then_some((claim.weight.max(1.0), contest))
        });
        let (mut ages, mut weights) = (0.0, 0.0);
        for (weight, contest) in competing {
            (ages, weights) = (ages + weight * contest.own_age, weights + weight);
        }
        if weights == 0.0 {
            return;
        }
        let (mean, window_ns) = (ages / weights, self.capacity_ns);
        for (share, contest) in self.shares.iter().zip(&mut self.contests) {
            if let Some(claim) = share.claim().filter(|claim| is_own(claim, pool)) {
                let least = mean - contest.most_behind(share, window_ns);
                contest.own_age = contest.own_age.max(least);
                contest.own_behind_ns = claim.weight.max(1.0) * (mean - contest.own_age);
            }
        }
    }
}

/// Whether somebody's excess is the pool's own first: that of a soft cap comes last of all.
fn is_own(claim: &Claim, pool: PoolId) -> bool {
    claim.pool == pool && !claim.soft_cap
}

/// To which age so much brings those with an age, by which each can be raised at most and whose
/// weight stand beside it; nobody is brought anywhere [ns].
fn level_of(all: f64, members: impl Iterator<Item = (f64, f64, f64)> + Clone) -> Option<f64> {
    let ages = members.clone().map(|(age, most, _)| (age, age + most));
    let (mut low, mut high) = ages.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
    let taken = |level: f64| {
        let each = members.clone();
        each.map(|(age, most, weight)| weight * (level - age).clamp(0.0, most))
            .sum::<f64>()
    };
    for _ in 0..f64::MANTISSA_DIGITS {
        let middle = 0.5 * (low + high);
        if taken(middle) > all {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pool_is_entitled_to_brings_its_partitions_level() {
        let level = |all: f64, some: &[(f64, f64, f64)]| {
            let level = level_of(all, some.iter().copied());
            level.map(|it| (it * 1e6).round() / 1e6)
        };
        assert_eq!(level(6.0, &[(0.0, 9.0, 1.0), (0.0, 9.0, 2.0)]), Some(2.0));
        // Who had more so far waits until the other has caught up.
        assert_eq!(level(6.0, &[(0.0, 9.0, 1.0), (4.0, 9.0, 1.0)]), Some(5.0));
        // Nobody gets back more than he used, and what is more than all used brings nobody farther.
        assert_eq!(level(6.0, &[(0.0, 1.0, 1.0), (0.0, 9.0, 1.0)]), Some(5.0));
        assert_eq!(level(60.0, &[(0.0, 1.0, 1.0), (0.0, 9.0, 1.0)]), Some(9.0));
        assert_eq!(level(6.0, &[]), None);
    }
}
