//! CPU pools: virtual machines that may use so many cores together.
//!
//! A pool's limit is a budget, as a machine's own is, of core time: what threads that share a core
//! have used is that core's time divided between them, in which CP counts for licences. While it is
//! short, who is furthest behind its share in the pool has what there is.

use super::budget::CLAIMED_SLICES;
use super::state::{Cp, Mode, Vcpu};
use super::Alarm;
use crate::guest::zvm::ids::{PoolId, VcpuId};
use crate::ids::PartitionId;
use crate::sim::windows::Partitions;
use crate::sim::world::World;

/// Slices after the last one was held for which a pool counts as short: assumed, 2 to 100. One that
/// runs while nobody happens to be held has what another was held for.
const SHORT_SLICES: f64 = 10.0;

/// Slices of each core of a pool by which those that are furthest behind may overdraw it, until
/// others have paid for it: assumed, 1 to 20.
const OVERDRAWN_SLICES: f64 = 5.0;

impl World<Partitions> {
    /// A virtual processor waits until its pool has time for it.
    pub fn hold_in_pool(&mut self, partition: PartitionId, vcpu: VcpuId) {
        let now = self.now;
        let cp = self.cp(partition);
        let Some(id) = cp.pool_of(vcpu) else { return };
        cp.vcpus[vcpu].mode = Mode::Pooled;
        let claim = cp.vcpus[vcpu].in_pool.claim;
        let slice = cp.spec.minor_slice_ns as f64;
        let pool = &mut cp.pools[id];
        pool.held.push(vcpu);
        pool.least = pool.least.min(claim);
        pool.short_until = now + (SHORT_SLICES * slice) as u64;
        self.schedule_pool(partition, id);
    }

    /// Looks at a pool in which somebody is held when there is half a slice of it.
    fn schedule_pool(&mut self, partition: PartitionId, id: PoolId) {
        let now = self.now;
        let cp = self.cp(partition);
        let pool = &mut cp.pools[id];
        if pool.held.is_empty() {
            return;
        }
        let at = now + pool.budget.wait_ns(cp.spec.minor_slice_ns as f64);
        if at < pool.lift_at {
            pool.lift_at = at;
            self.cp_asks(partition, at, Alarm::Pool(id));
        }
    }

    /// One has left time of its pool, in which others may be held.
    pub fn leave_to_pool(&mut self, partition: PartitionId, vcpu: VcpuId) {
        if let Some(id) = self.cp(partition).pool_of(vcpu) {
            self.schedule_pool(partition, id);
        }
    }

    /// Lets go as many held in a pool as there are slices of it, one at least, who has had least
    /// for its share first. The others are looked at again when there is more.
    pub fn lift_pool(&mut self, partition: PartitionId, id: PoolId) {
        let now = self.now;
        let cp = self.cp(partition);
        let slice = cp.spec.minor_slice_ns as f64;
        let pool = &mut cp.pools[id];
        if pool.lift_at <= now {
            pool.lift_at = u64::MAX;
        }
        if !pool.budget.is_over(now) {
            let mut first = true;
            while first || self.cp(partition).pools[id].budget.free_ns() >= slice {
                first = false;
                let Some(vcpu) = self.cp(partition).furthest_behind(id) else {
                    return;
                };
                self.let_go(partition, vcpu);
            }
        }
        self.schedule_pool(partition, id);
    }
}

impl Cp {
    /// The pool that limits a virtual processor's machine.
    #[inline]
    pub fn pool_of(&self, vcpu: VcpuId) -> Option<PoolId> {
        self.vms[self.vcpus[vcpu].vm].pool
    }

    /// Whether a virtual processor's pool has no time for it: none is left, or one that is held has
    /// had less for its share, by more than a slice's worth of this one. Who is behind all that are
    /// held, or behind another that is not, goes on when none is left, and these have less for it.
    #[inline]
    pub fn is_short(&mut self, vcpu: VcpuId, now: u64) -> bool {
        let Some(id) = self.pool_of(vcpu) else {
            return false;
        };
        let v = &self.vcpus[vcpu];
        let slice_ns = self.spec.minor_slice_ns as f64;
        let (claim, own, slice) = (v.in_pool.claim, v.in_pool.pledged_ns, slice_ns / v.weight);
        let pool = &mut self.pools[id];
        if !pool.budget.is_over_for(now, own) {
            return pool.least + slice < claim;
        }
        let most = OVERDRAWN_SLICES * slice_ns * pool.budget.rate.max(1.0);
        let ahead = |of: &Vcpu| {
            let goes_on = matches!(of.mode, Mode::Running | Mode::Ready);
            goes_on && of.in_pool.claim > claim
        };
        let behind = !pool.held.is_empty() && claim + slice < pool.least
            || pool.members.iter().any(|at| ahead(&self.vcpus[*at]));
        !behind || pool.budget.free_ns() + own <= -most
    }

    /// Books what a virtual processor used against its pool.
    #[inline]
    pub fn charge_pool(&mut self, id: PoolId, vcpu: VcpuId, now: u64) {
        let slice = self.spec.minor_slice_ns as f64;
        let (v, pool) = (&mut self.vcpus[vcpu], &mut self.pools[id]);
        let used = std::mem::take(&mut v.in_pool.used_ns);
        if pool.budget.rate.is_infinite() {
            return;
        }
        let own = &mut v.in_pool.pledged_ns;
        pool.budget.spend(now, used, own, slice);
        if !pool.held.is_empty() || now < pool.short_until {
            v.in_pool.claim += used / v.weight;
        }
    }

    /// The time of a slice is set aside for who begins a further one.
    pub fn pledge_pool(&mut self, id: PoolId, vcpu: VcpuId) {
        let slice = self.spec.minor_slice_ns as f64;
        let pool = &mut self.pools[id];
        if pool.budget.rate.is_finite() {
            let own = &mut self.vcpus[vcpu].in_pool.pledged_ns;
            pool.budget.pledge(own, slice);
        }
    }

    /// What was set aside and is not used is any member's.
    pub fn forgo_pool(&mut self, id: PoolId, vcpu: VcpuId) {
        let own = &mut self.vcpus[vcpu].in_pool.pledged_ns;
        self.pools[id].budget.forgo(own);
    }

    /// Who waited for anything but its pool claims little of that time: it starts from where those
    /// are that were held.
    pub fn catch_up_in_pool(&mut self, vcpu: VcpuId) {
        if let Some(id) = self.pool_of(vcpu) {
            let v = &mut self.vcpus[vcpu];
            let slice = self.spec.minor_slice_ns as f64 / v.weight;
            let least = self.pools[id].clock - CLAIMED_SLICES * slice;
            v.in_pool.claim = v.in_pool.claim.max(least);
        }
    }

    /// Takes who has had least for its share out of those that are held in a pool.
    fn furthest_behind(&mut self, id: PoolId) -> Option<VcpuId> {
        let Self { pools, vcpus, .. } = self;
        let pool = &mut pools[id];
        let claim = |vcpu: VcpuId| vcpus[vcpu].in_pool.claim;
        let all = pool.held.iter().enumerate();
        let (at, _) = all.min_by(|(_, a), (_, b)| claim(**a).total_cmp(&claim(**b)))?;
        let found = pool.held.remove(at);
        pool.clock = pool.clock.max(claim(found));
        let left = pool.held.iter().map(|vcpu| claim(*vcpu));
        pool.least = left.fold(f64::INFINITY, f64::min);
        Some(found)
    }
}
