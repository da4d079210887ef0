//! Daemons of guests wake at random, each machine by itself: a virtual processor that waits is
//! interrupted for it, else one does it when it is through with what it has in hand.

use super::state::{Cp, Mode, Task, Vcpu};
use super::Alarm;
use crate::guest::zvm::ids::{VcpuId, VmId};
use crate::ids::PartitionId;
use crate::sim::windows::Partitions;
use crate::sim::world::World;
use crate::spec::Role;

impl World<Partitions> {
    /// Asks for the next wake-up of a machine's daemons. An endless loop has none: it would never
    /// come to them.
    pub fn await_daemon(&mut self, partition: PartitionId, vm: VmId) {
        let cp = self.sys.cp(partition);
        let loops = cp.spec.machines[vm.index()].role == Role::Loop;
        if let Some(gap_ns) = cp.daemons.gap_ns.filter(|_| !loops) {
            let at = self.now + cp.daemons.chance.exponential(gap_ns) as u64;
            self.cp_asks(partition, at, Alarm::Daemon(vm));
        }
    }

    /// A daemon of a machine wakes.
    pub fn wake_guest_daemon(&mut self, partition: PartitionId, vm: VmId) {
        let cp = self.sys.cp(partition);
        let (vcpu, waits) = cp.who_takes_a_daemon(vm);
        let v = &mut cp.vcpus[vcpu];
        v.daemons = v.daemons.saturating_add(1);
        if waits {
            self.wake_vcpu(partition, vcpu);
        }
        self.await_daemon(partition, vm);
    }

    /// A virtual processor has done a daemon's work; whether it goes on.
    pub fn end_daemon(&mut self, partition: PartitionId, vcpu: VcpuId) -> bool {
        let goes_on = self.sys.cp(partition).takes_next(vcpu);
        self.meter_now(partition).runnable -= u32::from(!goes_on);
        goes_on
    }
}

impl Cp {
    /// A virtual processor takes the next transaction that waits, if there is one; whether it has
    /// anything to do now. It idles else.
    pub fn takes_next(&mut self, vcpu: VcpuId) -> bool {
        let served = self.vm_of(vcpu).served.as_deref_mut();
        let next = served.and_then(|served| served.waiting.pop_front());
        let v = &mut self.vcpus[vcpu];
        v.task = next.map_or(Task::None, Task::Transaction);
        let goes_on = next.is_some() || v.has_more();
        if !goes_on {
            v.mode = Mode::Idle;
        }
        goes_on
    }

    /// The virtual processor of a machine that does a daemon's work, and whether it waits: one that
    /// does, else any.
    fn who_takes_a_daemon(&mut self, vm: VmId) -> (VcpuId, bool) {
        let cpus = self.vms[vm].cpus;
        let waits = |vcpu: &VcpuId| self.vcpus[*vcpu].mode == Mode::Idle;
        match cpus.into_iter().find(waits) {
            Some(vcpu) => (vcpu, true),
            None => {
                let turn = self.daemons.chance.below(cpus.len() as u64) as usize;
                (cpus.at(turn), false)
            }
        }
    }
}

impl Vcpu {
    /// Whether it becomes ready after it waited for something, and not for a processor.
    #[inline]
    pub fn wakes(&self) -> bool {
        matches!(self.mode, Mode::Idle | Mode::PageWait)
    }

    /// Whether it is preferred where it waits for a processor: it has woken up, or had and waited
    /// for one that is parked now.
    #[inline]
    pub fn is_preferred(&self) -> bool {
        self.wakes() || self.mode == Mode::Ready && self.woken
    }

    /// Whether there is more to do for it: messages, or its guest's daemons.
    #[inline]
    pub fn has_more(&self) -> bool {
        !self.inbox.is_empty() || self.daemons > 0
    }
}
