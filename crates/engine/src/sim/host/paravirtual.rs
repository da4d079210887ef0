//! Paravirtual queue locks: a waiter spins a bounded while, then halts; a release wakes the first.
//!
//! ```text
//! comes to a lock whose holder is away     spins; it halts after `spin_ns`, or after `early_ns`
//!                                          if whoever is before it in line has halted
//! the holder is back                       those that spin on a processor have the lock in turn,
//!                                          the first that halted is kicked, it wakes
//! that one runs                            it has the lock, and kicks the next
//! ```
//! A lock whose first waiter is off is taken by whoever runs and comes to it ("locking/pvqspinlock:
//! Implement hybrid PV queued/unfair locks", 2015), so that it waits for its holder alone. A kick
//! may lend the kicker's processor ("KVM: X86: Boost queue head vCPU to mitigate lock waiter
//! preemption", 2019). Kernels from 4.12 to 5.3 halted early behind a waiter that had merely lost
//! its processor, too ("Revert locking/pvqspinlock: Don't wait if vCPU is preempted", 2019).

use super::state::Host;
use crate::hypervisor::Mode;
use crate::ids::{PartitionId, VpId};
use crate::kernel::When;
use crate::sim::world::World;
use crate::spec::ParavirtualLocks;

impl World<Host> {
    fn locks_of(&self, vp: VpId) -> Option<ParavirtualLocks> {
        let partition = self.vp(vp).partition;
        self.sys.guests[partition].as_ref()?.kvm.paravirtual_locks
    }

    /// A runner spins: from when on will it halt? It goes on counting through its exits. Who waits
    /// for answers of siblings stands in no line, and never halts.
    pub(super) fn will_halt(&mut self, vp: VpId, from: When) {
        let Some(locks) = self.locks_of(vp).filter(|_| !self.awaits_answers(vp)) else {
            return;
        };
        let partition = self.vp(vp).partition;
        let line = &self.guests[partition].spinning;
        let before = line.iter().position(|&one| one == vp).unwrap_or(0);
        let before = before.checked_sub(1).map(|at| line[at]);
        let early = before.is_some_and(|one| {
            let away = locks.early_if_preempted && self.vp(one).mode != Mode::Running;
            self.sys.vcpus[one].halted_in_line || away
        });
        let after = if early { locks.early_ns } else { locks.spin_ns };
        let halts_at = &mut self.sys.vcpus[vp].halts_at;
        if !halts_at.is_set() {
            *halts_at = from + after;
        }
    }

    /// It has spun long enough.
    pub(super) fn halt_in_line(&mut self, vp: VpId) {
        let vcpu = &mut self.sys.vcpus[vp];
        (vcpu.halts_at, vcpu.caught_at) = (When::NEVER, When::NEVER);
        vcpu.halted_in_line = true;
        self.block(vp);
        self.behind_halts(vp);
    }

    /// Whoever spins behind one that has halted sees it.
    fn behind_halts(&mut self, vp: VpId) {
        let Some(locks) = self.locks_of(vp) else {
            return;
        };
        let line = &self.guests[self.vp(vp).partition].spinning;
        let at = line.iter().position(|&one| one == vp);
        let Some(&next) = at.and_then(|at| line.get(at + 1)) else {
            return;
        };
        let soon = When::at(self.now + locks.early_ns);
        let halts_at = &mut self.sys.vcpus[next].halts_at;
        if !halts_at.is_set() || *halts_at <= soon {
            return;
        }
        *halts_at = soon;
        let core = self.core_of(next);
        self.settle(core);
        self.grant(next);
        self.plan(core);
    }

    /// The first in line that has halted wakes; `by` may lend it its processor.
    pub(super) fn kick(&mut self, partition: PartitionId, by: Option<VpId>) {
        if self.guests[partition].holder.is_some() {
            return; // Whoever comes with the lock kicks it.
        }
        while !self.guests[partition].spinning.is_empty() {
            let first = self.guests[partition].spinning.remove(0);
            let halted = std::mem::take(&mut self.sys.vcpus[first].halted_in_line);
            self.at.vps[first].spins = false;
            if halted && self.mask(first) != 0 {
                self.sys.vcpus[first].kicked = true;
                return self.wake_in_line(first, by);
            }
        }
    }

    fn wake_in_line(&mut self, first: VpId, by: Option<VpId>) {
        self.sys.signals_of(by);
        self.wake(first);
        self.sys.signals_of(None);
        let lends = self.locks_of(first).is_some_and(|locks| locks.kick_yields);
        let by = by.filter(|by| lends && self.vp(*by).mode == Mode::Running);
        if let Some(by) = by.filter(|_| self.vp(first).mode == Mode::Ready) {
            let now = self.now;
            if self.sys.room.yield_to(by, first, now) {
                let partition = self.vp(first).partition;
                self.meters.partitions[partition].directed_yields += 1;
                self.serve();
            }
        }
    }

    /// One that was kicked has its turn, or nothing left to do: the next is kicked.
    pub(super) fn passes_kick(&mut self, vp: VpId) {
        if std::mem::take(&mut self.sys.vcpus[vp].kicked) {
            let by = (self.vp(vp).mode == Mode::Running).then_some(vp);
            self.kick(self.vp(vp).partition, by);
        }
    }

    /// A virtual processor that had halted in line has other work: it is in line no longer.
    pub(super) fn leaves_line(&mut self, vp: VpId) {
        if std::mem::take(&mut self.sys.vcpus[vp].halted_in_line) {
            self.at.vps[vp].spins = false;
            let partition = self.vp(vp).partition;
            self.guests[partition].spinning.retain(|&one| one != vp);
        }
    }
}
