//! Transactions that come to a virtual machine from outside, at random: the first of its virtual
//! processors that waits takes one, else it waits in line. How a request gets in is not modelled
//! but for the interruption of a processor that waited.

use super::state::{Mode, Task};
use super::Alarm;
use crate::guest::zvm::ids::{VcpuId, VmId};
use crate::ids::PartitionId;
use crate::kernel::Time;
use crate::sim::windows::Partitions;
use crate::sim::world::World;

impl World<Partitions> {
    /// Asks for the next transaction of a machine, if any come to it.
    pub fn await_work(&mut self, partition: PartitionId, vm: VmId) {
        let served = self.cp(partition).vms[vm].served.as_deref();
        let Some(rate) = served.map(|served| served.work.rate_per_s) else {
            return;
        };
        let gap = self.guests[partition].waits.exponential(1e9 / rate) as u64;
        self.cp_asks(partition, self.now + gap, Alarm::Arrive(vm));
    }

    /// A transaction comes to a machine: one of its virtual processors that waits takes it, or it
    /// waits for one.
    pub fn take_work(&mut self, partition: PartitionId, vm: VmId) {
        let now = self.now;
        let meter = self.meter_now(partition);
        meter.tx_arrived += 1;
        meter.inside += 1;
        let cp = self.cp(partition);
        let idle = |vcpu: &VcpuId| cp.vcpus[*vcpu].mode == Mode::Idle;
        if let Some(vcpu) = cp.vms[vm].cpus.into_iter().find(idle) {
            cp.vcpus[vcpu].task = Task::Transaction(now);
            self.wake_vcpu(partition, vcpu);
        } else if let Some(served) = cp.vms[vm].served.as_deref_mut() {
            served.waiting.push_back(now);
        }
        self.await_work(partition, vm);
    }

    /// A virtual processor has done a transaction; whether it goes on with one that waits.
    pub fn end_served(&mut self, partition: PartitionId, vcpu: VcpuId, since: u64) -> bool {
        let response = self.now - since;
        let cp = self.sys.cp(partition);
        let vm = cp.vm_of(vcpu);
        vm.tx_done += 1;
        vm.response_ns += response;
        let served = vm.served.as_deref_mut();
        let next = served.and_then(|served| served.waiting.pop_front());
        let v = &mut cp.vcpus[vcpu];
        v.task = next.map_or(Task::None, Task::Transaction);
        if next.is_none() {
            v.mode = Mode::Idle;
        }
        let meter = self.meter_now(partition);
        meter.tx_done += 1;
        meter.response_ns += response;
        meter.inside -= 1;
        meter.runnable -= u32::from(next.is_none());
        self.meters.responses[partition].record(Time::from_ns(response));
        next.is_some()
    }
}
