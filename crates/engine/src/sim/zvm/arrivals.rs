//! Transactions that come to a virtual machine from outside, at random or from users who think:
//! the first of its virtual processors that waits takes one, else it waits in line. How a request
//! gets in is not modelled but for the interruption of a processor that waited.

use super::state::{Mode, Task};
use super::Alarm;
use crate::guest::zvm::ids::{VcpuId, VmId};
use crate::guest::Playback;
use crate::ids::PartitionId;
use crate::kernel::Time;
use crate::sim::windows::Partitions;
use crate::sim::world::World;

impl World<Partitions> {
    /// What comes to a machine first: the first transaction, or that of each user.
    pub fn begin_work(&mut self, partition: PartitionId, vm: VmId) {
        let served = self.cp(partition).vms[vm].served.as_deref();
        let users = served.map_or(0, |served| served.work.users);
        (0..users.max(1)).for_each(|_| self.await_work(partition, vm));
    }

    /// Asks for the next transaction of a machine, if any come to it: after a gap between arrivals,
    /// or when a user has thought.
    fn await_work(&mut self, partition: PartitionId, vm: VmId) {
        let (cp, chance) = (
            self.sys.cp(partition),
            &mut self.loads[partition.into()].waits,
        );
        let Some(served) = cp.vms[vm].served.as_deref_mut() else {
            return;
        };
        let at = match &mut served.playback {
            Some(playback) => playback.draw(chance),
            None => Some(self.now + chance.exponential(served.gap_ns()) as u64),
        };
        if let Some(at) = at {
            self.cp_asks(partition, at, Alarm::Arrive(vm));
        }
    }

    /// A transaction comes to a machine: one of its virtual processors that waits takes it, or it
    /// waits for one.
    pub fn take_work(&mut self, partition: PartitionId, vm: VmId) {
        let now = self.now;
        let meter = self.meter_now(partition);
        meter.tx_arrived += 1;
        meter.inside += 1;
        let cp = self.cp(partition);
        let is_open = cp.vms[vm].served.as_deref_mut().is_some_and(|served| {
            let amount = served.playback.as_ref().map(Playback::instructions);
            served.amounts.extend(amount);
            served.work.users == 0
        });
        let idle = |vcpu: &VcpuId| cp.vcpus[*vcpu].mode == Mode::Idle;
        if let Some(vcpu) = cp.vms[vm].cpus.into_iter().find(idle) {
            cp.vcpus[vcpu].task = Task::Transaction(now);
            self.wake_vcpu(partition, vcpu);
        } else if let Some(served) = cp.vms[vm].served.as_deref_mut() {
            served.waiting.push_back(now);
        }
        if is_open {
            self.await_work(partition, vm);
        }
    }

    /// A virtual processor has done a transaction; whether it goes on with one that waits.
    pub fn end_served(&mut self, partition: PartitionId, vcpu: VcpuId, since: u64) -> bool {
        let response = self.now - since;
        let cp = self.sys.cp(partition);
        let id = cp.vcpus[vcpu].vm;
        let vm = cp.vm_of(vcpu);
        vm.tx_done += 1;
        vm.response_ns += response;
        let served = vm.served.as_deref();
        let thinks = served.is_some_and(|served| served.work.users > 0);
        let goes_on = cp.takes_next(vcpu);
        let meter = self.meter_now(partition);
        meter.tx_done += 1;
        meter.response_ns += response;
        meter.inside -= 1;
        meter.runnable -= u32::from(!goes_on);
        self.meters.responses[partition].record(Time::from_ns(response));
        if thinks {
            self.await_work(partition, id);
        }
        goes_on
    }
}
