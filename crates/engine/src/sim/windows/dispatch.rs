//! Carrying out the policy's decisions: who goes where, and what becomes of who must leave.

use super::{Alarm, Partitions};
use crate::hypervisor::policies::slice_is_over;
use crate::hypervisor::{Capacity, Mode, Placement, Policy, Renewal, Rule, Share};
use crate::ids::{CoreId, PartitionId, VpId};
use crate::kernel::When;
use crate::sim::meters::Reason;
use crate::sim::world::World;

impl World<Partitions> {
    /// A virtual processor has work again: it claims capacity and asks for a core.
    pub(super) fn wake_vp(&mut self, vp: VpId) {
        let v = &self.at.vps[vp];
        debug_assert_eq!(v.mode, Mode::Inactive);
        let (partition, index, away) = (v.partition, v.index, self.now - v.ceded_at);
        let windows = &mut self.sys.windows;
        windows.count_active(partition);
        let left = self.window_end - self.now;
        let (of_slice, unused) = windows.shares[partition].reclaim(index, left);
        windows.release(partition, unused);
        let slice = &mut windows.slices[vp];
        (slice.late, slice.slice_ns) = (true, of_slice);
        self.meters.partitions[partition].ceded(away);
        self.make_ready(vp);
    }

    /// Asks for a core for a virtual processor that has work and is on none.
    pub(super) fn make_ready(&mut self, vp: VpId) {
        self.wait_from_now(vp, Mode::Ready);
        self.seek_core(vp);
    }

    /// Asks for a core for one that had nothing left, in a window that began then: its wait goes
    /// on, at a cap as elsewhere.
    pub(super) fn ready_again(&mut self, vp: VpId, begun: u64) {
        let v = &mut self.at.vps[vp];
        let since = v.ready_at.max(begun).max(v.booked_at);
        v.booked_at = self.now;
        self.meters.partitions[v.partition].exhausted_ns += self.now - since;
        self.set_mode(vp, Mode::Ready);
        self.seek_core(vp);
    }

    /// A virtual processor with work is on no core from now on.
    pub(super) fn wait_from_now(&mut self, vp: VpId, mode: Mode) {
        self.set_mode(vp, mode);
        self.at.vps[vp].ready_at = self.now;
    }

    /// Changes what a virtual processor is at; how many of a partition are exhausted is counted, so
    /// that nobody looks for one in vain.
    pub(super) fn set_mode(&mut self, vp: VpId, mode: Mode) {
        let v = &mut self.at.vps[vp];
        let was = std::mem::replace(&mut v.mode, mode);
        let (partition, index) = (v.partition, v.index);
        let exhausted = &mut self.sys.windows.shares[partition].exhausted_vps;
        *exhausted += u16::from(mode == Mode::Exhausted);
        *exhausted -= u16::from(was == Mode::Exhausted);
        if mode == Mode::Exhausted {
            self.sys.windows.hold_back(partition, index);
            if self.sys.windows.is_limited(partition) {
                self.ask_for_limits();
            }
        }
    }

    /// Looks for a core for a ready virtual processor, whose wait goes on if there is none.
    pub(super) fn seek_core(&mut self, vp: VpId) {
        if !self.claim(vp) {
            self.set_mode(vp, Mode::Exhausted);
            return;
        }
        match self.sys.policy.place(self.view(), vp) {
            Placement::Run(core) => self.take_and_dispatch(vp, core),
            Placement::Evict(core) => self.evict(vp, core),
            Placement::Wait => self.enqueue(vp),
        }
    }

    /// Throws the runner off a core for a virtual processor that has the better right.
    fn evict(&mut self, vp: VpId, core: CoreId) {
        let Some(victim) = self.at.cores[core].running else {
            return self.take_and_dispatch(vp, core);
        };
        let own = self.sys.windows.lots[core].owner == Some(vp);
        let reason = if own {
            Reason::Reclaimed
        } else {
            Reason::Evicted
        };
        self.preempt(victim, reason);
        self.dispatch(vp, core);
        self.make_ready(victim);
        self.lost_core(victim);
    }

    /// Queues a virtual processor that has claimed capacity and waits for a core.
    pub(super) fn enqueue(&mut self, vp: VpId) {
        let partition = self.at.vps[vp].partition;
        let windows = &mut self.sys.windows;
        let slice = windows.slices[vp];
        let by_slices = matches!(windows.shares[partition].rule, Rule::Slices(_));
        let contest = &mut windows.contests[partition];
        contest.waited |= by_slices || slice.capacity == Capacity::Excess;
        contest.delayed |= slice.capacity == Capacity::Entitled;
        match slice.capacity {
            Capacity::Entitled => {
                windows.queues.entitled.push_back(vp);
                let latest = self.window_end - slice.slice_ns.min(self.window_end);
                if latest >= self.now {
                    self.ask_at(latest, Alarm::LastChance(vp));
                }
            }
            Capacity::Excess => {
                let age = windows.shares[partition].excess_age();
                windows.queues.push_excess(partition, age, vp);
                self.ask_for_check();
            }
        }
    }

    fn ask_for_check(&mut self) {
        if !std::mem::replace(&mut self.sys.share_check, true) {
            let at = self.now + self.spec.machine.hypervisor.excess_quantum_ns;
            self.ask_at(at, Alarm::ShareCheck);
        }
    }

    /// Waiting any longer would cost a virtual processor part of its entitlement of this window.
    pub(super) fn last_chance(&mut self, vp: VpId) {
        let (v, slice) = (&self.at.vps[vp], &self.sys.windows.slices[vp]);
        let (partition, left) = (v.partition, self.window_end - self.now);
        let waits = v.mode == Mode::Ready && slice.capacity == Capacity::Entitled;
        if !waits || slice.slice_ns != left {
            return;
        }
        self.settle_all();
        let Some(core) = self.sys.policy.spare(self.view(), vp) else {
            return;
        };
        self.sys.windows.queues.remove(partition, vp);
        if !self.claim(vp) {
            self.set_mode(vp, Mode::Exhausted);
            return;
        }
        if let Some(victim) = self.at.cores[core].running {
            self.preempt(victim, Reason::Preempted);
            self.dispatch(vp, core);
            self.make_ready(victim);
            self.lost_core(victim);
        }
    }

    fn take_and_dispatch(&mut self, vp: VpId, core: CoreId) {
        let chip = self.at.cores[core].chip;
        let sets = &mut self.sys.windows.sets;
        if sets.is_idle(chip, core) {
            sets.take_idle(chip, core);
        }
        self.dispatch(vp, core);
    }

    /// All threads of a virtual processor are idle: it gives its core and the rest of its slice
    /// back.
    pub(super) fn cede(&mut self, vp: VpId) {
        self.count_voluntary(vp);
        let core = self.undispatch(vp, Reason::Cede);
        self.at.vps[vp].debt_ns = self.spec.machine.hypervisor.cede_ns;
        let partition = self.fall_idle(vp);
        self.hand_on(core);
        self.relieve(partition);
    }

    /// A virtual processor that waited for a core has no work any more.
    pub(super) fn withdraw(&mut self, vp: VpId) {
        let partition = self.at.vps[vp].partition;
        self.sys.windows.queues.remove(partition, vp);
        self.fall_idle(vp);
    }

    /// A virtual processor has no work: what is left of its slice goes back to its partition.
    fn fall_idle(&mut self, vp: VpId) -> PartitionId {
        self.set_mode(vp, Mode::Inactive);
        self.stop_polling(vp);
        let v = &mut self.at.vps[vp];
        v.ceded_at = self.now;
        let (partition, index) = (v.partition, v.index);
        self.lets_go(vp);
        let rest = self.window_end - self.now;
        let windows = &mut self.sys.windows;
        let left = std::mem::take(&mut windows.slices[vp].slice_ns);
        let unused = windows.shares[partition].cede(index, left, rest);
        windows.release(partition, unused);
        windows.contests[partition].ceded = true;
        windows.count_inactive(partition);
        partition
    }

    /// What a sibling cedes comes first to one that has used up its slice and may not use excess.
    fn relieve(&mut self, partition: PartitionId) {
        let share: &Share = &self.sys.windows.shares[partition];
        let lends = matches!(&share.rule, Rule::Lending(of) if of.claim.capped && of.ceded_ns > 0);
        if !lends || share.exhausted_vps == 0 {
            return;
        }
        let mut siblings = self.at.vps_of[partition].into_iter();
        if let Some(vp) = siblings.find(|vp| self.vp(*vp).mode == Mode::Exhausted) {
            let begun = self.window_end - self.spec.machine.hypervisor.window_ns;
            self.ready_again(vp, begun);
        }
    }

    /// Gives a free core to whoever should have it, or to the idle set.
    pub(super) fn hand_on(&mut self, core: CoreId) {
        let windows = &mut self.sys.windows;
        if let Some(owner) = windows.owner(core) {
            let donates = windows.shares[self.at.vps[owner].partition].donates();
            windows.lots[core].pooled = donates;
            if !donates {
                return;
            }
        }
        self.sys.windows.refresh_turns();
        while let Some(vp) = self.sys.policy.next(self.view(), core) {
            let excess = self.sys.windows.slices[vp].capacity == Capacity::Excess;
            if excess && self.call_guest(core) {
                return;
            }
            let partition = self.at.vps[vp].partition;
            self.sys.windows.queues.remove(partition, vp);
            if self.claim(vp) {
                self.dispatch(vp, core);
                return;
            }
            self.set_mode(vp, Mode::Exhausted);
        }
        if self.call_guest(core) {
            return;
        }
        let chip = self.at.cores[core].chip;
        self.sys.windows.sets.set_idle(chip, core);
    }

    /// A grant has run out before the window: another loan, excess capacity, or off the core.
    pub(super) fn end_grant(&mut self, vp: VpId) {
        self.return_grant(vp);
        let was = self.sys.windows.slices[vp].capacity;
        if !self.claim(vp) {
            let core = self.preempt(vp, Reason::SliceEnd);
            self.wait_from_now(vp, Mode::Exhausted);
            self.hand_on(core);
            self.lost_core(vp);
        } else if (was, self.sys.windows.slices[vp].capacity)
            == (Capacity::Entitled, Capacity::Entitled)
        {
            // Siblings' ceded time lengthens the slice; nothing is switched.
            self.grant(vp);
        } else {
            self.renew(vp, Reason::SliceEnd);
        }
    }

    /// A slice or window is over and the virtual processor goes on: here, on another core, or in a
    /// queue.
    pub(super) fn renew(&mut self, vp: VpId, reason: Reason) {
        if self.sys.windows.slices[vp].capacity == Capacity::Excess {
            self.sys.windows.refresh_turns();
            if self.sys.windows.is_behind(self.vp(vp).partition) {
                self.settle_all(); // How much all can still use is asked.
            }
        }
        match self.sys.policy.renew(self.view(), vp) {
            Renewal::Stay => {
                self.go_on(vp, reason);
                self.grant(vp);
            }
            Renewal::Extend(by_ns) => {
                let partition = self.vp(vp).partition;
                if !self.sys.windows.slices[vp].extended {
                    self.go_on(vp, reason);
                }
                self.grant_for(vp, by_ns);
                self.sys.windows.extend(partition, vp);
            }
            Renewal::Move(to) => {
                let core = self.preempt(vp, reason);
                self.wait_from_now(vp, Mode::Ready);
                self.take_and_dispatch(vp, to);
                self.hand_on(core);
            }
            Renewal::Yield => {
                let core = self.preempt(vp, reason);
                self.wait_from_now(vp, Mode::Ready);
                self.enqueue(vp);
                self.hand_on(core);
                self.lost_core(vp);
            }
        }
    }

    /// A slice is over: where that counts, who goes on is dispatched anew.
    fn go_on(&mut self, vp: VpId, reason: Reason) {
        let ran = self.now - self.vp(vp).dispatched_at;
        let counts = self.spec.machine.hypervisor.counts_redispatch;
        if counts && slice_is_over(self.sys.windows.slices[vp].kind, ran) {
            self.redispatch(vp, reason);
        }
    }

    /// The same virtual processor is dispatched anew on the same core: a switch to the hypervisor
    /// and back.
    fn redispatch(&mut self, vp: VpId, reason: Reason) {
        let core = self.at.vps[vp].core.expect("only runners are renewed");
        self.record_dispatch(vp, core, reason);
        self.start_record(vp);
        self.count_involuntary(vp);
        let distance = self.at.distance_from_home(vp, core);
        let v = &mut self.at.vps[vp];
        v.dispatched_at = self.now;
        let partition = v.partition;
        self.meters.partitions[partition].vcsw += 1;
        self.meters.dispatched(partition, 0, distance);
        let overhead = self.spec.machine.hypervisor.dispatch_ns;
        let on = &mut self.at.cores[core];
        on.spin_from = if on.stall_until.is_set() {
            When::NEVER
        } else {
            When::at(self.now + overhead)
        };
        on.stall_until = on.stall_until.max(When::at(self.now)) + overhead;
    }

    /// Partitions wait for excess: those ahead of their share give up cores that they have held for
    /// a quantum.
    pub(super) fn check_shares(&mut self) {
        self.sys.share_check = false;
        let quantum = self.spec.machine.hypervisor.excess_quantum_ns;
        self.settle_excess_runners();
        for _ in 0..self.at.cores.len() {
            self.sys.windows.refresh_turns();
            let Some(core) = self.sys.policy.overdrawn(self.view()) else {
                break;
            };
            let Some(vp) = self.at.cores[core].running else {
                break;
            };
            if self.now - self.at.vps[vp].dispatched_at < quantum {
                break;
            }
            self.preempt(vp, Reason::Quantum);
            self.wait_from_now(vp, Mode::Ready);
            self.enqueue(vp);
            self.hand_on(core);
            self.lost_core(vp);
        }
        if !self.sys.windows.queues.turns.is_empty() {
            self.ask_for_check();
        }
    }

    pub(super) fn settle_excess_runners(&mut self) {
        for chip in self.at.tree.chips() {
            let mut left = self.sys.windows.sets.excess_mask(chip);
            while let Some(core) = self.sys.windows.sets.first_of(chip, left) {
                left &= left - 1;
                self.settle(core);
            }
        }
    }
}
