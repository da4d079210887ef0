//! On whose account a virtual processor runs, for how long, and what it is charged.

use super::Partitions;
use crate::hypervisor::{Capacity, Rule};
use crate::ids::{CoreId, PartitionId, VpId};
use crate::kernel::{real, When};
use crate::sim::world::World;

impl World<Partitions> {
    /// Decides on whose account a virtual processor would run; `false` if it must wait for the next
    /// window.
    pub(super) fn claim(&mut self, vp: VpId) -> bool {
        let (partition, index) = (self.at.vps[vp].partition, self.at.vps[vp].index);
        let windows = &mut self.sys.windows;
        let (v, share) = (&mut windows.slices[vp], &mut windows.shares[partition]);
        if share.is_dedicated() {
            v.capacity = Capacity::Entitled;
            return true;
        }
        if v.slice_ns == 0 {
            v.slice_ns = share.lend();
        }
        v.capacity = if v.slice_ns > 0 {
            Capacity::Entitled
        } else {
            Capacity::Excess
        };
        let capacity = v.capacity;
        let forbidden = capacity == Capacity::Excess && share.may_use_ns(index) == 0;
        !forbidden
            && (windows.left_ns(partition, capacity) > 0
                || self.look_at_limits(partition)
                    && self.sys.windows.left_ns(partition, capacity) > 0)
    }

    /// Starts a stretch on the claimed account: until when may it run?
    pub(super) fn grant(&mut self, vp: VpId) {
        self.grant_for(vp, u64::MAX);
    }

    /// The same for `most_ns` at most.
    pub(super) fn grant_for(&mut self, vp: VpId, most_ns: u64) {
        let core = self.at.vps[vp].core.expect("only runners are granted time");
        let on = &mut self.at.cores[core];
        let start = on.settled_at.max(self.now);
        let left = most_ns.min(self.window_end - start);
        let windows = &mut self.sys.windows;
        let v = &windows.slices[vp];
        let capacity = v.capacity;
        let excess = capacity == Capacity::Excess;
        let granted = if v.own_core.is_some() {
            left
        } else {
            let partition = self.at.vps[vp].partition;
            let wanted = if excess {
                let most = windows.shares[partition].may_use_ns(self.at.vps[vp].index);
                windows.reserve_own(vp, partition, left.min(most))
            } else {
                windows.slices[vp].slice_ns.min(left)
            };
            windows.reserve(partition, wanted, capacity)
        };
        let v = &mut windows.slices[vp];
        (v.grant_ns, v.extended) = (granted, false);
        on.grant_end = When::at(start + granted);
        windows.sets.set_excess(on.chip, core, excess);
    }

    /// Ends a stretch: what was reserved and not used goes back.
    pub(super) fn return_grant(&mut self, vp: VpId) {
        let v = &mut self.sys.windows.slices[vp];
        let (unused, capacity) = (std::mem::take(&mut v.grant_ns), v.capacity);
        if v.own_core.is_none() {
            let partition = self.at.vps[vp].partition;
            self.sys.windows.give_back(partition, unused, capacity);
            self.sys.windows.give_own_back(vp, partition, unused);
        }
    }

    /// Charges core time to slice, partition, pool and lender.
    #[inline]
    pub(super) fn charge_windows(&mut self, vp: VpId, core: CoreId, elapsed: u64) {
        let (partition, index) = (self.at.vps[vp].partition, self.at.vps[vp].index);
        let windows = &mut self.sys.windows;
        let meter = &mut self.meters.partitions[partition];
        let v = &mut windows.slices[vp];
        v.grant_ns = v.grant_ns.saturating_sub(elapsed);
        let excess = v.capacity == Capacity::Excess;
        if excess {
            meter.excess_ns += elapsed;
        } else {
            v.slice_ns = v.slice_ns.saturating_sub(elapsed);
            v.gift_ns = v.gift_ns.saturating_sub(elapsed); // A gift is used first.
            meter.entitled_ns += elapsed;
        }
        let claim = match &mut windows.shares[partition].rule {
            Rule::Own(_) => None,
            Rule::Lending(of) => Some(&mut of.claim),
            Rule::Slices(of) => {
                of.limit.used_ns += elapsed;
                if excess {
                    let beyond = &mut of.beyond[usize::from(index)];
                    *beyond = beyond.saturating_sub(elapsed);
                }
                Some(&mut of.claim)
            }
        };
        if let Some(claim) = claim {
            let pool = &mut windows.pools[claim.pool];
            if excess {
                claim.excess_age += real(elapsed) / claim.weight.max(1.0);
                pool.excess_ns += elapsed;
            }
            pool.used_ns += elapsed;
        }
        match windows.owner(core) {
            Some(owner) if owner != vp => self.lend_time(owner, elapsed),
            _ => {}
        }
    }

    /// A core of an owner's has worked for somebody else.
    fn lend_time(&mut self, owner: VpId, elapsed: u64) {
        let lender: PartitionId = self.at.vps[owner].partition;
        self.meters.partitions[lender].donated_ns += elapsed;
        self.sys.windows.lent_ns += elapsed;
    }
}
