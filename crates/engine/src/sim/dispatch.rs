//! Carrying out the policy's decisions: putting virtual processors on cores and taking them off.

use super::event::{Event, NEVER};
use super::meters::Reason;
use super::world::World;
use crate::hypervisor::policies::slice_is_over;
use crate::hypervisor::{Capacity, CoreId, Mode, Placement, Policy, Renewal, VpId, NO_CORE, NO_VP};
use crate::kernel::Key;

impl World {
    /// A virtual processor has work again: it claims capacity and asks for a core.
    pub fn wake_vp(&mut self, vp: VpId) {
        if self.is_host() {
            return self.host_wake(vp);
        }
        let partition = usize::from(self.hv.vps[vp as usize].partition);
        self.hv.count_active(partition);
        let v = &mut self.hv.vps[vp as usize];
        debug_assert_eq!(v.mode, Mode::Inactive);
        v.late = true;
        let left = self.window_end - self.now;
        v.slice_ns = self.hv.shares[partition].reclaim(v.index, left);
        let away = self.now - self.runs[vp as usize].ceded_at;
        self.meters.partitions[partition].ceded(away);
        self.make_ready(vp);
    }

    /// Asks for a core for a virtual processor that has work and is on none.
    pub fn make_ready(&mut self, vp: VpId) {
        let now = self.now;
        let v = &mut self.hv.vps[vp as usize];
        v.mode = Mode::Ready;
        v.ready_at = now;
        self.seek_core(vp);
    }

    /// Looks for a core for a ready virtual processor, whose wait goes on if there is none.
    pub fn seek_core(&mut self, vp: VpId) {
        if !self.claim(vp) {
            self.hv.vps[vp as usize].mode = Mode::Exhausted;
            return;
        }
        match self.policy.place(&self.hv, vp) {
            Placement::Run(core) => self.take_and_dispatch(vp, core),
            Placement::Evict(core) => {
                let victim = self.hv.cores[usize::from(core)].running;
                let own = self.hv.cores[usize::from(core)].owner == vp;
                self.preempt(
                    victim,
                    if own {
                        Reason::Reclaimed
                    } else {
                        Reason::Evicted
                    },
                );
                self.dispatch(vp, core);
                self.make_ready(victim);
                self.lost_core(victim);
            }
            Placement::Wait => self.enqueue(vp),
        }
    }

    /// Decides on whose account a virtual processor would run; `false` if it must wait for the next
    /// window.
    pub fn claim(&mut self, vp: VpId) -> bool {
        let v = &mut self.hv.vps[vp as usize];
        let share = &mut self.hv.shares[usize::from(v.partition)];
        if share.is_dedicated() {
            v.capacity = Capacity::Entitled;
            return true;
        }
        if v.slice_ns == 0 && share.lends() {
            v.slice_ns = share.lend();
        }
        v.capacity = if v.slice_ns > 0 {
            Capacity::Entitled
        } else {
            Capacity::Excess
        };
        let (partition, capacity) = (usize::from(v.partition), v.capacity);
        let forbidden = capacity == Capacity::Excess && share.capped;
        !forbidden && self.hv.left_ns(partition, capacity) > 0
    }

    /// Queues a virtual processor that has claimed capacity and waits for a core.
    pub fn enqueue(&mut self, vp: VpId) {
        let v = &self.hv.vps[vp as usize];
        let share = &mut self.hv.shares[usize::from(v.partition)];
        share.waited = !share.lends();
        match v.capacity {
            Capacity::Entitled => {
                self.hv.queues.entitled.push_back(vp);
                let latest = self.window_end - v.slice_ns.min(self.window_end);
                if latest >= self.now {
                    self.schedule(latest, Event::LastChance(vp));
                }
            }
            Capacity::Excess => {
                self.hv.queues.push_excess(v.partition, vp);
                if !self.share_check {
                    self.share_check = true;
                    let at = self.now + self.spec.machine.hypervisor.excess_quantum_ns;
                    self.schedule(at, Event::ShareCheck);
                }
            }
        }
    }

    /// Waiting any longer would cost a virtual processor part of its entitlement of this window.
    pub fn last_chance(&mut self, vp: VpId) {
        let v = self.vp(vp);
        let (partition, left) = (v.partition, self.window_end - self.now);
        if v.mode != Mode::Ready || v.capacity != Capacity::Entitled || v.slice_ns != left {
            return;
        }
        self.settle_all();
        let Some(core) = self.policy.spare(&self.hv, vp, left) else {
            return;
        };
        self.hv.queues.remove(partition, vp);
        if !self.claim(vp) {
            self.hv.vps[vp as usize].mode = Mode::Exhausted;
            return;
        }
        let victim = self.hv.cores[usize::from(core)].running;
        self.preempt(victim, Reason::Preempted);
        self.dispatch(vp, core);
        self.make_ready(victim);
    }

    fn take_and_dispatch(&mut self, vp: VpId, core: CoreId) {
        let c = &self.hv.cores[usize::from(core)];
        if self.hv.sets.is_idle(c.chip, core) {
            self.hv.sets.take_idle(c.chip, core);
        }
        self.dispatch(vp, core);
    }

    /// Puts a ready virtual processor on a core that nobody runs on.
    pub fn dispatch(&mut self, vp: VpId, core: CoreId) {
        let debt = std::mem::take(&mut self.runs[vp as usize].debt_ns);
        let overhead = if self.hv.dispatches_free(vp) {
            0
        } else {
            self.spec.machine.hypervisor.dispatch_ns + debt
        };
        let distance = self.hv.distance_from_home(vp, core);
        let v = &mut self.hv.vps[vp as usize];
        debug_assert_eq!(v.mode, Mode::Ready);
        debug_assert_eq!(self.hv.cores[usize::from(core)].running, NO_VP);
        v.mode = Mode::Running;
        v.core = core;
        v.dispatched_at = self.now;
        let (partition, waited) = (v.partition, self.now - v.ready_at);
        self.settle_siblings(core);
        self.hv.cores[usize::from(core)].running = vp;
        self.start_record(vp);
        self.meters.dispatched(partition, waited, distance);
        let slot = &mut self.slots[usize::from(core)];
        slot.settled_at = slot.settled_at.max(self.now);
        slot.spin_from = slot.settled_at + overhead;
        slot.stall_until = slot.spin_from + std::mem::take(&mut self.runs[vp as usize].spin_ns);
        slot.single = false;
        slot.single_at = NEVER;
        self.grant(vp);
        self.chill(vp, core);
        self.count_thread_dispatches(vp, distance);
        self.plan(core);
        self.plan_siblings(core);
    }

    /// Starts a stretch on the claimed account: until when may it run?
    pub fn grant(&mut self, vp: VpId) {
        if self.is_host() {
            return self.host_grant(vp);
        }
        let v = &mut self.hv.vps[vp as usize];
        let share = &self.hv.shares[usize::from(v.partition)];
        let start = self.slots[usize::from(v.core)].settled_at.max(self.now);
        let left = self.window_end - start;
        let excess = v.capacity == Capacity::Excess;
        let wanted = if excess || share.is_dedicated() {
            left
        } else {
            v.slice_ns.min(left)
        };
        let (partition, capacity) = (usize::from(v.partition), v.capacity);
        let granted = if share.is_dedicated() {
            wanted
        } else {
            self.hv.reserve(partition, wanted, capacity)
        };
        let v = &mut self.hv.vps[vp as usize];
        v.grant_ns = granted;
        let core = &self.hv.cores[usize::from(v.core)];
        self.slots[usize::from(v.core)].grant_end = start + granted;
        self.hv.sets.set_excess(core.chip, v.core, excess);
    }

    /// Ends a stretch: what was reserved and not used goes back.
    fn return_grant(&mut self, vp: VpId) {
        if self.is_host() {
            return;
        }
        let v = &mut self.hv.vps[vp as usize];
        let share = &self.hv.shares[usize::from(v.partition)];
        if !share.is_dedicated() {
            let (partition, unused, capacity) = (usize::from(v.partition), v.grant_ns, v.capacity);
            self.hv.give_back(partition, unused, capacity);
        }
        self.hv.vps[vp as usize].grant_ns = 0;
    }

    /// Takes a virtual processor off its core, which the caller must hand on.
    pub fn undispatch(&mut self, vp: VpId, reason: Reason) -> CoreId {
        let core = self.hv.vps[vp as usize].core;
        self.settle(core);
        self.settle_siblings(core);
        self.return_grant(vp);
        self.record_dispatch(vp, core, reason);
        let c = &mut self.hv.cores[usize::from(core)];
        c.running = NO_VP;
        self.hv.sets.set_excess(c.chip, core, false);
        self.slots[usize::from(core)].key = Key::NONE;
        self.runs[vp as usize].left_clock = self.core_clock(core);
        self.hv.vps[vp as usize].core = NO_CORE;
        self.plan_siblings(core);
        self.meters.partitions[usize::from(self.hv.vps[vp as usize].partition)].vcsw += 1;
        core
    }

    /// Takes a virtual processor with work off its core against its will.
    fn preempt(&mut self, vp: VpId, reason: Reason) -> CoreId {
        let core = self.undispatch(vp, reason);
        self.count_involuntary(vp);
        if matches!(reason, Reason::Evicted | Reason::Reclaimed) {
            let partition = self.hv.vps[vp as usize].partition;
            self.meters.partitions[usize::from(partition)].evictions += 1;
        }
        core
    }

    /// Takes a guest of a lent core off it, because its owner lends no longer.
    pub fn expel(&mut self, vp: VpId) {
        let core = self.preempt(vp, Reason::Reclaimed);
        self.hand_on(core);
        self.make_ready(vp);
    }

    /// All threads of a virtual processor are idle: it gives its core and the rest of its slice
    /// back.
    pub fn cede(&mut self, vp: VpId) {
        if self.is_host() {
            return self.host_cede(vp);
        }
        self.count_voluntary(vp);
        let core = self.undispatch(vp, Reason::Cede);
        let v = &mut self.hv.vps[vp as usize];
        v.mode = Mode::Inactive;
        let partition = usize::from(v.partition);
        self.hv.shares[partition].cede(v.index, std::mem::take(&mut v.slice_ns));
        self.hv.count_inactive(partition);
        let run = &mut self.runs[vp as usize];
        run.ceded_at = self.now;
        run.debt_ns = self.spec.machine.hypervisor.cede_ns;
        self.hand_on(core);
        self.relieve(partition);
    }

    /// What a sibling cedes comes first to one that has used up its slice and may not use excess.
    fn relieve(&mut self, partition: usize) {
        let share = &self.hv.shares[partition];
        if !share.capped || share.is_dedicated() || !share.lends() || share.ceded_ns == 0 {
            return;
        }
        let mut siblings = share.first_vp..share.first_vp + u32::from(share.vps);
        if let Some(vp) = siblings.find(|vp| self.vp(*vp).mode == Mode::Exhausted) {
            let since = self.vp(vp).ready_at;
            self.meters.partitions[partition].exhausted_ns += self.now - since;
            self.make_ready(vp);
        }
    }

    /// Gives a free core to whoever should have it, or to the idle set.
    pub fn hand_on(&mut self, core: CoreId) {
        let owner = self.hv.cores[usize::from(core)].owner;
        if owner != NO_VP {
            let partition = usize::from(self.hv.vps[owner as usize].partition);
            self.hv.cores[usize::from(core)].pooled = self.hv.shares[partition].donating;
            if !self.hv.shares[partition].donating {
                return;
            }
        }
        while let Some(vp) = self.policy.next(&self.hv, core) {
            let partition = self.hv.vps[vp as usize].partition;
            self.hv.queues.remove(partition, vp);
            if self.claim(vp) {
                self.dispatch(vp, core);
                return;
            }
            self.hv.vps[vp as usize].mode = Mode::Exhausted;
        }
        self.hv
            .sets
            .set_idle(self.hv.cores[usize::from(core)].chip, core);
    }

    /// A grant has run out before the window: another loan, excess capacity, or off the core.
    pub fn end_grant(&mut self, vp: VpId) {
        self.return_grant(vp);
        let was = self.hv.vps[vp as usize].capacity;
        let on_entitlement =
            |world: &World| world.hv.vps[vp as usize].capacity == Capacity::Entitled;
        if !self.claim(vp) {
            let core = self.preempt(vp, Reason::SliceEnd);
            let v = &mut self.hv.vps[vp as usize];
            v.mode = Mode::Exhausted;
            v.ready_at = self.now;
            self.hand_on(core);
            self.lost_core(vp);
        } else if was == Capacity::Entitled && on_entitlement(self) {
            // Siblings' ceded time lengthens the slice; nothing is switched.
            self.grant(vp);
        } else {
            self.renew(vp, Reason::SliceEnd);
        }
    }

    /// A slice or window is over and the virtual processor goes on: here, on another core, or in a
    /// queue.
    pub fn renew(&mut self, vp: VpId, reason: Reason) {
        match self.policy.renew(&self.hv, vp) {
            Renewal::Stay => {
                let ran = self.now - self.vp(vp).dispatched_at;
                if self.spec.machine.hypervisor.counts_redispatch
                    && slice_is_over(self.vp(vp).kind, ran)
                {
                    self.redispatch(vp, reason);
                }
                self.grant(vp);
            }
            Renewal::Move(to) => {
                let core = self.preempt(vp, reason);
                let v = &mut self.hv.vps[vp as usize];
                v.mode = Mode::Ready;
                v.ready_at = self.now;
                self.take_and_dispatch(vp, to);
                self.hand_on(core);
            }
            Renewal::Yield => {
                let core = self.preempt(vp, reason);
                let v = &mut self.hv.vps[vp as usize];
                v.mode = Mode::Ready;
                v.ready_at = self.now;
                self.enqueue(vp);
                self.hand_on(core);
                self.lost_core(vp);
            }
        }
    }

    /// Vertical-high logical cores that went elsewhere when they were beyond their share take their
    /// homes back.
    pub fn send_home(&mut self) {
        for core in 0..self.hv.tree.active_cores {
            let vp = self.hv.cores[usize::from(core)].running;
            if vp == NO_VP {
                continue;
            }
            let v = self.vp(vp);
            let strays = v.home_core != NO_CORE && v.home_core != core;
            if strays && v.capacity == Capacity::Entitled {
                self.preempt(vp, Reason::WindowEnd);
                self.hand_on(core);
                self.make_ready(vp);
            }
        }
    }

    fn start_record(&mut self, vp: VpId) {
        let capacity = self.vp(vp).capacity;
        let run = &mut self.runs[vp as usize];
        run.record_from = self.now;
        run.record_kind = capacity;
    }

    /// The same virtual processor is dispatched anew on the same core: a switch to the hypervisor
    /// and back.
    fn redispatch(&mut self, vp: VpId, reason: Reason) {
        let core = self.hv.vps[vp as usize].core;
        self.record_dispatch(vp, core, reason);
        self.start_record(vp);
        self.count_involuntary(vp);
        let distance = self.hv.distance_from_home(vp, core);
        let v = &mut self.hv.vps[vp as usize];
        v.dispatched_at = self.now;
        let partition = v.partition;
        self.meters.partitions[usize::from(partition)].vcsw += 1;
        self.meters.dispatched(partition, 0, distance);
        let slot = &mut self.slots[usize::from(core)];
        slot.spin_from = NEVER;
        slot.stall_until =
            slot.stall_until.max(self.now) + self.spec.machine.hypervisor.dispatch_ns;
    }

    /// Partitions wait for excess: those ahead of their share give up cores that they have held for
    /// a quantum.
    pub fn check_shares(&mut self) {
        self.share_check = false;
        let quantum = self.spec.machine.hypervisor.excess_quantum_ns;
        self.settle_excess_runners();
        for _ in 0..self.hv.cores.len() {
            let Some(core) = self.policy.overdrawn(&self.hv) else {
                break;
            };
            let vp = self.hv.cores[usize::from(core)].running;
            if self.now - self.hv.vps[vp as usize].dispatched_at < quantum {
                break;
            }
            self.preempt(vp, Reason::Quantum);
            let v = &mut self.hv.vps[vp as usize];
            v.mode = Mode::Ready;
            v.ready_at = self.now;
            self.hand_on(core);
            self.enqueue(vp);
            self.lost_core(vp);
        }
        if !self.hv.queues.waiting.is_empty() && !self.share_check {
            self.share_check = true;
            self.schedule(self.now + quantum, Event::ShareCheck);
        }
    }

    fn settle_excess_runners(&mut self) {
        let cores: Vec<CoreId> = (0..self.hv.tree.chips())
            .flat_map(|chip| self.hv.sets.excess_on(chip).collect::<Vec<_>>())
            .collect();
        for core in cores {
            self.settle(core);
        }
    }
}
