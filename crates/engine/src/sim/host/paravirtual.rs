//! Paravirtual queue locks: a waiter spins a bounded while, then halts; a release wakes the first.
//!
//! ```text
//! comes to a lock whose holder is away     spins; it halts after `spin_ns`, or in a queue after
//!                                          `early_ns` if whoever is before it in line has halted
//! the holder is back                       those that spin on a processor have the lock in turn,
//!                                          the first that halted is kicked, it wakes
//! that one runs                            it has the lock, and kicks the next
//! comes to a lock that is held while the   stands in line behind that one, and halts in its turn;
//! first in line is off                     who finds it free takes it
//! comes to a ticket lock whose next owner  stands in line, as do all who come until that one has
//! is off                                   had it
//! ```
//! The last is what makes lines last ("cascading", says the commit of 2019 named below): each
//! hand-over waits for a wake-up, in which others come to a held lock and halt. It begins when one
//! that waits halts or loses its processor, and ends when wake-ups are quicker than arrivals.
//!
//! A queue lock whose first waiter is off is taken by whoever runs and comes to it
//! ("locking/pvqspinlock: Implement hybrid PV queued/unfair locks", 2015), so that it waits for its
//! holder alone. A kick
//! may lend the kicker's processor ("KVM: X86: Boost queue head vCPU to mitigate lock waiter
//! preemption", 2019). Kernels from 4.12 to 5.3 halted early behind a waiter that had merely lost
//! its processor, too ("Revert locking/pvqspinlock: Don't wait if vCPU is preempted", 2019).

use super::state::Host;
use super::Alarm;
use crate::hypervisor::Mode;
use crate::ids::{PartitionId, VpId};
use crate::kernel::{Key, When};
use crate::sim::system::System;
use crate::sim::world::World;
use crate::spec::{LockKind, ParavirtualLocks};

impl World<Host> {
    fn locks_of(&self, vp: VpId) -> Option<ParavirtualLocks> {
        let partition = self.vp(vp).partition;
        let locks = self.sys.guests[partition].as_ref()?.kvm.paravirtual_locks;
        locks.filter(|_| self.stands_in_line(partition))
    }

    /// Whether a waiter looks at the one before it and halts early: in a queue, where each has its
    /// predecessor's line at hand. With tickets all watch the lock's and know nobody.
    fn looks_ahead(&self, partition: PartitionId) -> bool {
        let in_queue =
            |load| self.spins_for(load) && self.profile(load).lock_kind == LockKind::Queue;
        self.loads_of(partition).any(in_queue)
    }

    /// A runner spins: from when on will it halt? It goes on counting through its exits. Who waits
    /// for answers of siblings stands in no line, and never halts.
    pub(super) fn will_halt(&mut self, vp: VpId, from: When) {
        let Some(locks) = self.locks_of(vp).filter(|_| !self.awaits_answers(vp)) else {
            return;
        };
        let partition = self.vp(vp).partition;
        let line = &self.guests[partition].spinning;
        let at = line.iter().position(|&one| one == vp).unwrap_or(0);
        let before = match at.checked_sub(1) {
            Some(at) => Some(line[at]),
            None => self.guests[partition].first_off,
        };
        let looks = self.looks_ahead(partition);
        let early = before.filter(|_| looks).is_some_and(|one| {
            let vcpu = &self.sys.vcpus[one];
            let away = locks.early_if_preempted || vcpu.kicked;
            vcpu.halted_in_line || away && self.vp(one).mode != Mode::Running
        });
        // Whoever comes looks at the one before it in its first turn, then every so many.
        let vcpu = &mut self.sys.vcpus[vp];
        let left = vcpu.spin_left_ns.unwrap_or(locks.spin_ns);
        let next = vcpu.spin_left_ns.map_or(0, |_| locks.early_ns);
        if !vcpu.halts_at.is_set() {
            vcpu.halts_at = from + if early { left.min(next) } else { left };
        }
        vcpu.spin_left_ns = Some(left);
    }

    /// A virtual processor comes to a lock.
    pub(super) fn comes_to_lock(&mut self, vp: VpId, key: Key) {
        if !self.awaits_answers(vp) {
            self.sys.vcpus[vp].spin_left_ns = None;
            self.reach_lock(vp, key);
        }
    }

    /// One that spins leaves its core: it has so much of its turns left.
    pub(super) fn stops_counting(&mut self, vp: VpId) {
        let vcpu = &mut self.sys.vcpus[vp];
        if let Some(at) = vcpu.halts_at.take() {
            vcpu.spin_left_ns = Some(at.saturating_sub(self.now));
        }
    }

    /// It has spun long enough: it halts, and its host polls for it as after any halt.
    pub(super) fn halt_in_line(&mut self, vp: VpId) {
        let (now, core) = (self.now, self.core_of(vp));
        let sleeps = self.sys.room.has_waiting(core) || self.polls_in_guest(vp);
        let vcpu = &mut self.sys.vcpus[vp];
        (vcpu.halts_at, vcpu.caught_at) = (When::NEVER, When::NEVER);
        (vcpu.halted_in_line, vcpu.halted_at) = (true, When::at(now));
        if vcpu.poll_ns == 0 || sleeps {
            self.block(vp);
        } else {
            vcpu.polls_until = When::at(now + vcpu.poll_ns);
            self.settle(core);
            self.grant(vp);
            self.plan(core);
        }
        self.behind_halts(vp);
    }

    /// One that is polled for in line was kicked: it goes back into the guest. Who kicks it cannot
    /// know that its host polls, and leaves its own guest to ask for it (KVM_HC_KICK_CPU).
    fn goes_on_in_line(&mut self, vp: VpId) {
        let core = self.core_of(vp);
        self.signalled(vp);
        self.settle(core);
        self.stop_polling(vp);
        self.end_halt(vp);
        let path = self.path_ns(vp);
        let on = &mut self.at.cores[core];
        on.spin_from = When::at(self.now + path);
        on.stall_until = on.spin_from;
        self.kvm_has_spun(vp);
        self.plan(core);
        self.will_have_lock(vp);
    }

    /// Whoever spins behind one that has halted sees it.
    fn behind_halts(&mut self, vp: VpId) {
        let partition = self.vp(vp).partition;
        let looks = self.looks_ahead(partition);
        let Some(locks) = self.locks_of(vp).filter(|_| looks) else {
            return;
        };
        let line = &self.guests[partition].spinning;
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
        let guest = &self.guests[partition];
        if guest.holder.is_some() || guest.first_off.is_some() {
            return; // Whoever comes with the lock, or is before it in line, kicks it.
        }
        while let Some(&first) = self.guests[partition].spinning.first() {
            if !self.sys.vcpus[first].halted_in_line {
                return self.serve_line(partition, by);
            }
            self.guests[partition].spinning.remove(0);
            let halted = std::mem::take(&mut self.sys.vcpus[first].halted_in_line);
            self.at.vps[first].spins = false;
            if halted && self.mask(first) != 0 {
                self.sys.vcpus[first].kicked = true;
                self.is_first_off(first);
                return self.wake_in_line(first, by);
            }
        }
    }

    fn wake_in_line(&mut self, first: VpId, by: Option<VpId>) {
        self.sys.signals_of(by);
        match self.vp(first).mode {
            Mode::Inactive => self.wake(first),
            Mode::Running => self.goes_on_in_line(first),
            _ => {}
        }
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

    /// One is first in line and off its core: whoever comes to a held lock stands behind it.
    fn is_first_off(&mut self, vp: VpId) {
        let partition = self.vp(vp).partition;
        self.guests[partition].first_off = Some(vp);
        self.is_held_up(partition);
        self.line_stands(partition);
    }

    /// A virtual processor has lost its core: did it wait in line for a lock whose holder runs?
    /// That is as often as it spends time so (`cost::lock`); of guests with one workload.
    pub(super) fn lost_in_line(&mut self, vp: VpId) {
        let v = self.vp(vp);
        let (partition, last) = (v.partition, v.last_core);
        let guest = &self.guests[partition];
        let stands = guest.holder.is_some() || guest.first_off.is_some();
        let several = !guest.beside.is_empty();
        let lines = self.looks_ahead(partition) && self.sys.steals(partition);
        if stands || several || v.spins || !lines {
            return;
        }
        let class = self.at.cores[last.expect("it ran")].class;
        let (own, all) = self.own_ns(class);
        if all > own && self.guests[partition].locks.chance(1.0 - own / all) {
            self.is_first_off(vp);
        }
    }

    /// A virtual processor was put on a core: if it is first in line, it has the lock as soon as it
    /// is in its guest, for as long as one has it.
    pub(super) fn will_have_lock(&mut self, vp: VpId) {
        let partition = self.vp(vp).partition;
        if self.guests[partition].first_off == Some(vp) {
            let core = self.core_of(vp);
            let from = self.at.cores[core].stall_until.max(When::at(self.now));
            let (held, _) = self.lock_times(vp, core);
            let until = (from + held as u64).ns().unwrap_or(self.now);
            self.sys.vcpus[vp].hands_on = self.ask_at(until, Alarm::HandsOn(vp));
        }
    }

    /// The first in line has had the lock, or finds that its holder is away.
    pub(super) fn has_had_lock(&mut self, vp: VpId, key: Key) {
        if self.sys.vcpus[vp].hands_on != key {
            return;
        }
        self.sys.vcpus[vp].hands_on = Key::NONE;
        let v = self.vp(vp);
        let (partition, mode) = (v.partition, v.mode);
        match mode {
            Mode::Ready => {} // It lost its core before; it goes on when it has one again.
            Mode::Running if self.guests[partition].holder.is_some() => self.waits_on(vp),
            _ => self.is_first_no_more(vp),
        }
    }

    /// The first in line runs, and the lock's holder is away.
    fn waits_on(&mut self, vp: VpId) {
        let (partition, core) = (self.vp(vp).partition, self.core_of(vp));
        self.sys.vcpus[vp].kicked = false;
        self.guests[partition].first_off = None;
        self.is_held_up(partition);
        if self.mask(vp) != 0 {
            self.guests[partition].spinning.insert(0, vp);
            self.at.vps[vp].spins = true;
            self.settle(core);
            self.spin(vp);
        }
    }

    /// One is first in line no more: those behind have their turn.
    pub(super) fn is_first_no_more(&mut self, vp: VpId) {
        let partition = self.vp(vp).partition;
        if self.guests[partition].first_off == Some(vp) {
            self.sys.vcpus[vp].kicked = false;
            self.guests[partition].first_off = None;
            self.is_held_up(partition);
            if self.guests[partition].holder.is_none() {
                self.serve_line(partition, Some(vp));
            }
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
