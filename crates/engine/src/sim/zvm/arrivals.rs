//! Transactions that come to a virtual machine from outside, at random or from users who think:
//! the first of its virtual processors that waits takes one, else it waits in line. How a request
//! gets in is not modelled but for the interruption of a processor that waited.

use super::served::Request;
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
        let (cp, chance) = (
            self.sys.cp(partition),
            &mut self.loads[partition.into()].work,
        );
        let Some(served) = cp.vms[vm].served.as_deref_mut() else {
            return;
        };
        let amount = served.playback.as_ref().map(Playback::instructions);
        served.amounts.extend(amount);
        let (request, is_open) = (served.comes(now, chance), served.work.users == 0);
        self.take_burst(partition, vm, request);
        if is_open {
            self.await_work(partition, vm);
        }
    }

    /// A burst of a transaction comes to a machine: one of its virtual processors that waits takes
    /// it, or it waits for one.
    fn take_burst(&mut self, partition: PartitionId, vm: VmId, request: Request) {
        let cp = self.sys.cp(partition);
        let idle = |vcpu: &VcpuId| cp.vcpus[*vcpu].mode == Mode::Idle;
        if let Some(vcpu) = cp.vms[vm].cpus.into_iter().find(idle) {
            cp.vcpus[vcpu].task = Task::Transaction(request);
            self.wake_vcpu(partition, vcpu);
        } else if let Some(served) = cp.vms[vm].served.as_deref_mut() {
            served.waiting.push_back(request);
        }
    }

    /// What a transaction of a machine waited for between two bursts has come.
    pub fn return_work(&mut self, partition: PartitionId, vm: VmId) {
        self.meter_now(partition).blocked -= 1;
        let (cp, chance) = (
            self.sys.cp(partition),
            &mut self.loads[partition.into()].waits,
        );
        let served = cp.vms[vm].served.as_deref_mut();
        let request = served.expect("it has work").goes_on(chance);
        self.take_burst(partition, vm, request);
    }

    /// A virtual processor has done a burst of a transaction; whether it goes on with another that
    /// waits for it.
    pub fn end_work(&mut self, partition: PartitionId, vcpu: VcpuId, request: Request) -> bool {
        if request.left == 0 {
            return self.end_served(partition, vcpu, request.since);
        }
        let (cp, chance) = (
            self.sys.cp(partition),
            &mut self.loads[partition.into()].waits,
        );
        let vm = cp.vcpus[vcpu].vm;
        let served = cp.vms[vm].served.as_deref_mut().expect("it has work");
        served.away.push(request);
        let wait_ns = served.work.wait_ns;
        let waits = if wait_ns > 0 {
            chance.exponential(wait_ns as f64) as u64
        } else {
            0
        };
        let goes_on = cp.takes_next(vcpu);
        let at = self.now + waits;
        let meter = self.meter_now(partition);
        meter.blocked += 1;
        meter.runnable -= u32::from(!goes_on);
        self.cp_asks(partition, at, Alarm::Return(vm));
        goes_on
    }

    /// A virtual processor has done a transaction; whether it goes on with one that waits.
    fn end_served(&mut self, partition: PartitionId, vcpu: VcpuId, since: u64) -> bool {
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
