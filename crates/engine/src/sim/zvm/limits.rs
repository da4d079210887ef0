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

/// Minor time slices that who comes back from a limit can claim for the time before: assumed,
/// between 0 and 10.
const CLAIMED_SLICES: f64 = 3.0;

impl World<Partitions> {
    /// A virtual machine has used up its hard limit: it waits until there is half a slice of it.
    pub fn hold_back(&mut self, partition: PartitionId, vcpu: VcpuId) {
        self.cp(partition).vcpus[vcpu].mode = Mode::Limited;
        self.meter_now(partition).runnable -= 1;
        self.schedule_lift(partition, vcpu);
    }

    /// Looks at a virtual machine that is over its limit again when there is half a slice of it.
    pub fn schedule_lift(&mut self, partition: PartitionId, vcpu: VcpuId) {
        let cp = self.sys.cp(partition);
        let half = 0.5 * cp.spec.minor_slice_ns as f64;
        let id = cp.vcpus[vcpu].vm;
        let vm = &mut cp.vms[id];
        if std::mem::replace(&mut vm.lifting, true) {
            return;
        }
        let wait = ((half - vm.budget_ns) / vm.limit).clamp(1.0, 1e15) as u64;
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
    pub fn lift_limit(&mut self, partition: PartitionId, vm: VmId) {
        let vm = &mut self.sys.cp(partition).vms[vm];
        vm.lifting = false;
        let (all, still_over) = (vm.cpus, vm.is_over_soft(self.now));
        if still_over {
            self.schedule_lift(partition, all.at(0));
            return;
        }
        for vcpu in all {
            let cp = self.cp(partition);
            match cp.vcpus[vcpu].mode {
                Mode::Limited => {
                    let v = &cp.vcpus[vcpu];
                    let deadline = v.deadline.max(cp.least_claim(vcpu));
                    cp.vcpus[vcpu].deadline = deadline;
                    self.meter_now(partition).runnable += 1;
                    self.make_vcpu_ready(partition, vcpu);
                }
                Mode::Ready => {
                    let least = cp.least_claim(vcpu);
                    if let Some(deadline) = cp.vectors.forgive(vcpu, least) {
                        cp.vcpus[vcpu].deadline = deadline;
                    }
                }
                Mode::Idle | Mode::Running | Mode::PageWait => {}
            }
        }
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
        let slice = self.spec.minor_slice_ns as f64 / v.weight;
        v.deadline = (v.deadline + used / v.weight).max(self.floor);
        if self.vectors.queued() == 0 {
            v.deadline = v.deadline.min(self.clock + slice);
        }
        let vm = &mut self.vms[v.vm];
        if vm.limit.is_finite() {
            let saved = SAVED_SLICES * self.spec.minor_slice_ns as f64;
            vm.spend(now, used, saved);
        }
    }

    /// Deadline with which a virtual processor comes back from a limit at the earliest: it claims
    /// little of the time that it was not to have.
    fn least_claim(&self, vcpu: VcpuId) -> f64 {
        let slice = self.spec.minor_slice_ns as f64 / self.vcpus[vcpu].weight;
        self.clock - CLAIMED_SLICES * slice
    }

    /// Whether the machine of a virtual processor has used up its hard limit.
    #[inline]
    pub fn is_limited(&mut self, vcpu: VcpuId, now: u64) -> bool {
        self.hard_limits && self.vm_of(vcpu).is_over_hard(now)
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
        self.budget_ns = (self.budget_ns + earned).min(saved_ns * self.limit);
    }

    fn is_over(&mut self, now: u64) -> bool {
        if self.limit.is_infinite() {
            return false;
        }
        self.refill(now, f64::INFINITY);
        self.budget_ns <= 0.0
    }

    #[inline]
    fn is_over_hard(&mut self, now: u64) -> bool {
        self.hard && self.is_over(now)
    }

    /// Whether it has used up a limit that holds only while others want the time.
    #[inline]
    pub fn is_over_soft(&mut self, now: u64) -> bool {
        !self.hard && self.is_over(now)
    }
}
