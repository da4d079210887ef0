//! Flushes of translations: who takes a mapping back interrupts all siblings that may hold it, and
//! goes on when each has answered.
//!
//! One that runs answers at once: what that takes is within the work's own numbers. One that waits
//! for a processor answers when it runs again, so that whoever flushes spins until then, is caught
//! by the processor like any that spins, and may yield. Halted ones hold nothing. With
//! paravirtual flushes (`KVM_FEATURE_PV_TLB_FLUSH`) the hypervisor flushes for those that are off
//! before they run again, and nobody waits.
//!
//! A thread comes to a flush after a time that is exponential; of interest is only that while a
//! sibling is off.

use super::state::Host;
use super::Alarm;
use crate::hypervisor::Mode;
use crate::ids::{CoreId, PartitionId, VpId};
use crate::kernel::{Key, When};
use crate::sim::world::World;

impl World<Host> {
    /// Instructions of a thread between two flushes for which it may have to wait; none = never.
    fn flushes(&self, partition: PartitionId) -> Option<f64> {
        let guest = self.sys.guests[partition].as_ref()?;
        let between = self.spec_of(partition).profile.flush_instructions;
        (between > 0.0 && !guest.kvm.paravirtual_flush).then_some(between)
    }

    /// A sibling with work is off its core: whoever runs may have to wait for it.
    pub(super) fn may_be_waited_for(&mut self, partition: PartitionId) {
        if self.flushes(partition).is_some() {
            for sibling in self.at.vps_of[partition] {
                self.will_flush(sibling);
            }
        }
    }

    /// A runner will come to a flush some time.
    fn will_flush(&mut self, vp: VpId) {
        let v = self.vp(vp);
        let (partition, core, busy) = (v.partition, v.core, v.mask != 0);
        let Some(between) = self.flushes(partition) else {
            return;
        };
        let vcpu = &self.sys.vcpus[vp];
        let free = vcpu.awaits.is_empty() && vcpu.flushes == Key::NONE;
        let Some(core) = core.filter(|_| free && busy) else {
            return;
        };
        let (_, ns) = self.own_ns(self.at.cores[core].class);
        let after = self.guests[partition].locks.exponential(between * ns) as u64;
        self.sys.vcpus[vp].flushes = self.ask_at(self.now + after, Alarm::Flush(vp));
    }

    /// A runner comes to a flush.
    pub(super) fn flush(&mut self, vp: VpId, key: Key) {
        if self.sys.vcpus[vp].flushes != key {
            return;
        }
        self.sys.vcpus[vp].flushes = Key::NONE;
        let v = self.vp(vp);
        let (partition, spins) = (v.partition, v.spins);
        let Some(core) = v.core.filter(|_| v.mask != 0) else {
            return;
        };
        if spins {
            return self.will_flush(vp);
        }
        let off = |one: &VpId| self.vp(*one).mode == Mode::Ready && self.mask(*one) != 0;
        let siblings = self.at.vps_of[partition].into_iter();
        self.sys.vcpus[vp].awaits = siblings.filter(off).collect();
        if !self.sys.vcpus[vp].awaits.is_empty() {
            self.wait_for_answers(vp, core);
        }
    }

    fn wait_for_answers(&mut self, vp: VpId, core: CoreId) {
        self.at.vps[vp].reaches = Key::NONE;
        self.settle(core);
        self.spin(vp);
    }

    /// Whether it waits for answers, and comes to no lock.
    pub(super) fn awaits_answers(&self, vp: VpId) -> bool {
        !self.sys.vcpus[vp].awaits.is_empty()
    }

    /// It is off its core.
    pub(super) fn stops_flushing(&mut self, vp: VpId) {
        self.sys.vcpus[vp].flushes = Key::NONE;
    }

    /// It is on a core: it goes on waiting, or comes to a flush if somebody is off.
    pub(super) fn flushes_on(&mut self, vp: VpId) {
        let partition = self.vp(vp).partition;
        if self.flushes(partition).is_none() {
            return;
        }
        self.answers(vp);
        match self.vp(vp).core {
            Some(core) if self.awaits_answers(vp) => self.wait_for_answers(vp, core),
            _ => self.will_flush_if_off(vp, partition),
        }
    }

    fn will_flush_if_off(&mut self, vp: VpId, partition: PartitionId) {
        let mut siblings = self.at.vps_of[partition].into_iter();
        if siblings.any(|one| self.vp(one).mode == Mode::Ready) {
            self.will_flush(vp);
        }
    }

    /// A virtual processor runs, or has nothing left to do: whoever waited for it has its answer.
    pub(super) fn answers(&mut self, vp: VpId) {
        let partition = self.vp(vp).partition;
        if self.flushes(partition).is_none() {
            return;
        }
        for sibling in self.at.vps_of[partition] {
            let awaits = &mut self.sys.vcpus[sibling].awaits;
            if awaits.is_empty() {
                continue;
            }
            awaits.retain(|&one| one != vp);
            if awaits.is_empty() {
                self.has_flushed(sibling, partition);
            }
        }
    }

    fn has_flushed(&mut self, vp: VpId, partition: PartitionId) {
        let Some(core) = self.vp(vp).core.filter(|_| self.mask(vp) != 0) else {
            return;
        };
        self.settle(core);
        let on = &mut self.at.cores[core];
        on.spin_from = on.spin_from.max(When::at(self.now));
        on.stall_until = on.spin_from;
        self.kvm_has_spun(vp);
        self.plan(core);
        self.will_flush_if_off(vp, partition);
    }
}
