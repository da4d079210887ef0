//! Limits on a virtual machine's processor time, hard and soft.

use super::state::{Cp, Mode, Vm};
use super::Alarm;
use crate::guest::zvm::ids::{VcpuId, VmId};
use crate::guest::zvm::vectors::Waiting;
use crate::ids::PartitionId;
use crate::sim::windows::Partitions;
use crate::sim::world::World;

/// Minor time slices for which a limited virtual machine can save up what its limit is worth:
/// assumed, between 1 and 100.
const SAVED_SLICES: f64 = 10.0;

/// Minor time slices that are saved when one that has used up its limit may run again: assumed, 0.1
/// to 1.
const LET_GO_SLICES: f64 = 0.5;

/// Minor time slices that who comes back from a limit can claim for the time before: assumed,
/// between 0 and 10.
const CLAIMED_SLICES: f64 = 3.0;

impl World<Partitions> {
    /// A virtual machine has used up its hard limit: it waits until there is half a slice of it.
    pub fn hold_back(&mut self, partition: PartitionId, vcpu: VcpuId) {
        let cp = self.cp(partition);
        cp.forgo(vcpu);
        cp.vcpus[vcpu].mode = Mode::Limited;
        self.meter_now(partition).runnable -= 1;
        self.schedule_lift(partition, vcpu);
    }

    /// Looks at a virtual machine that is over its limit again when there is half a slice of it.
    pub fn schedule_lift(&mut self, partition: PartitionId, vcpu: VcpuId) {
        let cp = self.sys.cp(partition);
        let half = LET_GO_SLICES * cp.spec.minor_slice_ns as f64;
        let id = cp.vcpus[vcpu].vm;
        let vm = &mut cp.vms[id];
        if std::mem::replace(&mut vm.lifting, true) {
            return;
        }
        let wait = ((half - vm.free_ns()) / vm.limit).clamp(1.0, 1e15) as u64;
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
        let (all, still_over) = (vm.cpus, vm.is_over(self.now));
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
        let worth = (cp.vms[vm].free_ns() / cp.spec.minor_slice_ns as f64).max(1.0) as usize;
        let all = cp.vms[vm].cpus.into_iter();
        let mut held: Vec<_> = all
            .filter(|vcpu| cp.vcpus[*vcpu].mode == Mode::Limited)
            .collect();
        held.sort_by(|a, b| cp.vcpus[*a].deadline.total_cmp(&cp.vcpus[*b].deadline));
        for vcpu in held.iter().take(worth) {
            self.let_go(partition, *vcpu);
        }
        if let Some(next) = held.get(worth) {
            self.schedule_lift(partition, *next);
        }
    }

    fn let_go(&mut self, partition: PartitionId, vcpu: VcpuId) {
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
        if vm.limit.is_finite() {
            // The least that lets one go is saved in any case, or a small limit never has it.
            let slices = (SAVED_SLICES * vm.limit).max(LET_GO_SLICES);
            let saved = slices * self.spec.minor_slice_ns as f64;
            vm.spend(now, used, saved);
            let paid = used.min(v.pledged_ns);
            v.pledged_ns -= paid;
            vm.pledged_ns -= paid;
        }
    }

    /// Whoever begins a further slice of a hard limit has the time of it set aside. Otherwise all
    /// processors of a machine begin one before the first is charged, and are then held together.
    pub fn pledge(&mut self, vcpu: VcpuId) {
        let v = &mut self.vcpus[vcpu];
        let vm = &mut self.vms[v.vm];
        if vm.hard && vm.limit.is_finite() {
            let slice = self.spec.minor_slice_ns as f64;
            vm.pledged_ns += slice - std::mem::replace(&mut v.pledged_ns, slice);
        }
    }

    /// What was set aside and is not used is anybody's.
    pub fn forgo(&mut self, vcpu: VcpuId) {
        let v = &mut self.vcpus[vcpu];
        self.vms[v.vm].pledged_ns -= std::mem::take(&mut v.pledged_ns);
    }

    /// Deadline with which a virtual processor comes back from a limit at the earliest: it claims
    /// little of the time that it was not to have.
    fn least_claim(&self, vcpu: VcpuId) -> f64 {
        let slice = self.spec.minor_slice_ns as f64 / self.vcpus[vcpu].weight;
        self.clock - CLAIMED_SLICES * slice
    }

    /// Whether the machine of a virtual processor has used up its hard limit, what is set aside for
    /// others counted.
    #[inline]
    pub fn is_limited(&mut self, vcpu: VcpuId, now: u64) -> bool {
        let own = self.vcpus[vcpu].pledged_ns;
        self.hard_limits && self.vm_of(vcpu).is_over_hard(now, own)
    }
}

impl Vm {
    /// Brings the budget up to date: it fills at the rate of the limit, up to what can be saved.
    fn spend(&mut self, now: u64, used_ns: f64, saved_ns: f64) {
        self.refill(now, saved_ns);
        self.budget_ns -= used_ns;
    }

    fn refill(&mut self, now: u64, saved_ns: f64) {
        let earned = (now - self.budget_at) as f64 * self.limit;
        self.budget_at = now;
        self.budget_ns = (self.budget_ns + earned).min(saved_ns);
    }

    fn is_over(&mut self, now: u64) -> bool {
        if self.limit.is_infinite() {
            return false;
        }
        self.refill(now, f64::INFINITY);
        self.free_ns() <= 0.0
    }

    /// What the limit leaves for whom nothing is set aside [ns].
    fn free_ns(&self) -> f64 {
        self.budget_ns - self.pledged_ns
    }

    #[inline]
    fn is_over_hard(&mut self, now: u64, own_ns: f64) -> bool {
        self.hard && self.is_over(now) && self.free_ns() + own_ns <= 0.0
    }

    /// Whether it has used up a limit that holds only while others want the time.
    #[inline]
    pub fn is_over_soft(&mut self, now: u64) -> bool {
        !self.hard && self.is_over(now)
    }
}
