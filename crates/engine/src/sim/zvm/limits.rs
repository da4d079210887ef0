//! Limits on a virtual machine's processor time, hard and soft.

use super::budget::CLAIMED_SLICES;
use super::state::{Cp, Mode, Vm};
use super::Alarm;
use crate::guest::zvm::ids::{VcpuId, VmId};
use crate::guest::zvm::vectors::Waiting;
use crate::ids::PartitionId;
use crate::sim::windows::Partitions;
use crate::sim::world::World;

impl World<Partitions> {
    /// A virtual machine, or its pool, has used up its hard limit: it waits until there is half a
    /// slice of it.
    pub fn hold_back(&mut self, partition: PartitionId, vcpu: VcpuId) {
        let now = self.now;
        let cp = self.cp(partition);
        let own = cp.is_over_own(vcpu, now);
        cp.forgo(vcpu);
        cp.vcpus[vcpu].mode = Mode::Limited;
        self.meter_now(partition).runnable -= 1;
        if own {
            self.schedule_lift(partition, vcpu);
            self.leave_to_pool(partition, vcpu);
        } else {
            self.hold_in_pool(partition, vcpu);
        }
    }

    /// Looks at a virtual machine that is over its limit again when there is half a slice of it.
    pub fn schedule_lift(&mut self, partition: PartitionId, vcpu: VcpuId) {
        let cp = self.sys.cp(partition);
        let slice = cp.spec.minor_slice_ns as f64;
        let id = cp.vcpus[vcpu].vm;
        let vm = &mut cp.vms[id];
        if std::mem::replace(&mut vm.lifting, true) {
            return;
        }
        let wait = vm.limit.wait_ns(slice);
        self.cp_asks(partition, self.now + wait, Alarm::Limit(id));
    }

    /// Whether a virtual processor that comes from a vector may run. Others of its machine may have
    /// used up its limit while it waited: a hard one holds it back, a soft one puts it last.
    pub fn may_run(&mut self, partition: PartitionId, found: Waiting) -> bool {
        let cp = self.sys.cp(partition);
        if cp.is_limited(found.vcpu, self.now) {
            self.hold_back(partition, found.vcpu);
            return false;
        }
        if found.over || !cp.vm_of(found.vcpu).is_over_soft(self.now) {
            return true;
        }
        let (vector, by) = (cp.vcpus[found.vcpu].vector, cp.vcpus[found.vcpu].left.lp);
        cp.vectors.push(
            vector,
            by,
            Waiting {
                over: true,
                ..found
            },
        );
        self.schedule_lift(partition, found.vcpu);
        false
    }

    /// A limited virtual machine may run again, unless its processors used the time up meanwhile.
    pub fn lift_limit(&mut self, partition: PartitionId, id: VmId) {
        let vm = &mut self.sys.cp(partition).vms[id];
        vm.lifting = false;
        let (all, still_over) = (vm.cpus, vm.limit.is_over(self.now));
        if still_over {
            self.schedule_lift(partition, all.at(0));
            return;
        }
        for vcpu in all {
            let cp = self.cp(partition);
            if cp.vcpus[vcpu].mode == Mode::Ready {
                let least = cp.least_claim(vcpu);
                if let Some(deadline) = cp.vectors.forgive(vcpu, least) {
                    cp.vcpus[vcpu].deadline = deadline;
                }
            }
        }
        self.release_held(partition, id);
    }

    /// Lets go as many held processors of a machine as there are slices of its limit, one at least,
    /// who has had least first. The others are looked at again when there is more.
    fn release_held(&mut self, partition: PartitionId, vm: VmId) {
        let cp = self.sys.cp(partition);
        let worth = (cp.vms[vm].limit.free_ns() / cp.spec.minor_slice_ns as f64).max(1.0) as usize;
        let all = cp.vms[vm].cpus.into_iter();
        let mut held: Vec<_> = all
            .filter(|vcpu| cp.vcpus[*vcpu].mode == Mode::Limited)
            .collect();
        held.sort_by(|a, b| cp.vcpus[*a].deadline.total_cmp(&cp.vcpus[*b].deadline));
        for vcpu in held.iter().take(worth) {
            self.cp(partition).catch_up_in_pool(*vcpu);
            self.let_go(partition, *vcpu);
        }
        if let Some(next) = held.get(worth) {
            self.schedule_lift(partition, *next);
        }
    }

    /// Lets one that was held go on.
    pub fn let_go(&mut self, partition: PartitionId, vcpu: VcpuId) {
        let cp = self.cp(partition);
        cp.vcpus[vcpu].deadline = cp.vcpus[vcpu].deadline.max(cp.least_claim(vcpu));
        cp.pledge(vcpu);
        self.meter_now(partition).runnable += 1;
        self.make_vcpu_ready(partition, vcpu);
    }
}

impl Cp {
    /// Moves a virtual processor's deadline on by what it has used, and books that against its
    /// limit. What is used while nobody waits was nobody else's: it counts for a slice at most. Nor
    /// can more be saved up than the clock went on in a while.
    #[inline]
    pub fn charge(&mut self, vcpu: VcpuId, now: u64) {
        let v = &mut self.vcpus[vcpu];
        let used = std::mem::take(&mut v.used_ns);
        v.since = now;
        let slice = self.spec.minor_slice_ns as f64 / v.weight;
        v.deadline = (v.deadline + used / v.weight).max(self.floor);
        if self.vectors.queued() == 0 {
            v.deadline = v.deadline.min(self.clock + slice);
        }
        let vm = &mut self.vms[v.vm];
        if vm.limit.rate.is_finite() {
            let slice = self.spec.minor_slice_ns as f64;
            vm.limit.spend(now, used, &mut v.pledged_ns, slice);
        }
        if let Some(pool) = vm.pool {
            self.charge_pool(pool, vcpu, now);
        }
    }

    /// Whoever begins a further slice of a hard limit has the time of it set aside. Otherwise all
    /// processors of a machine begin one before the first is charged, and are then held together.
    pub fn pledge(&mut self, vcpu: VcpuId) {
        let v = &mut self.vcpus[vcpu];
        let vm = &mut self.vms[v.vm];
        if vm.hard && vm.limit.rate.is_finite() {
            let slice = self.spec.minor_slice_ns as f64;
            vm.limit.pledge(&mut v.pledged_ns, slice);
        }
        if let Some(pool) = vm.pool {
            self.pledge_pool(pool, vcpu);
        }
    }

    /// What was set aside and is not used is anybody's.
    pub fn forgo(&mut self, vcpu: VcpuId) {
        let v = &mut self.vcpus[vcpu];
        let vm = &mut self.vms[v.vm];
        vm.limit.forgo(&mut v.pledged_ns);
        if let Some(pool) = vm.pool {
            self.forgo_pool(pool, vcpu);
        }
    }

    /// Deadline with which a virtual processor comes back from a limit at the earliest: it claims
    /// little of the time that it was not to have.
    fn least_claim(&self, vcpu: VcpuId) -> f64 {
        let slice = self.spec.minor_slice_ns as f64 / self.vcpus[vcpu].weight;
        self.clock - CLAIMED_SLICES * slice
    }

    /// Whether a virtual processor's machine has used up its hard limit, or its pool its own, what
    /// is set aside for others counted.
    #[inline]
    pub fn is_limited(&mut self, vcpu: VcpuId, now: u64) -> bool {
        self.is_over_own(vcpu, now) || !self.pools.is_empty() && self.is_short(vcpu, now)
    }

    /// Whether its machine has used up its own hard limit.
    #[inline]
    fn is_over_own(&mut self, vcpu: VcpuId, now: u64) -> bool {
        let own = self.vcpus[vcpu].pledged_ns;
        self.hard_limits && self.vm_of(vcpu).is_over_hard(now, own)
    }
}

impl Vm {
    #[inline]
    fn is_over_hard(&mut self, now: u64, own_ns: f64) -> bool {
        self.hard && self.limit.is_over_for(now, own_ns)
    }

    /// Whether it has used up a limit that holds only while others want the time.
    #[inline]
    pub fn is_over_soft(&mut self, now: u64) -> bool {
        !self.hard && self.limit.is_over(now)
    }
}
