//! A window begins: capacity is handed out anew.

use std::cmp::Reverse;

use super::Partitions;
use crate::hypervisor::{Capacity, Mode, Placement, Policy as _, Renewal};
use crate::ids::{CoreId, PartitionId, VpId};
use crate::kernel::When;
use crate::sim::meters::Reason;
use crate::sim::world::World;
use crate::spec::Policy;

impl World<Partitions> {
    /// Every partition gets its entitlement; runners, those that wait and those that had nothing
    /// left go on with it.
    pub(super) fn hand_window_out(&mut self) {
        let mut held = std::mem::take(&mut self.sys.held);
        self.sys.windows.queues.drain_into(&mut held.waiting);
        self.note_exhausted(&mut held.exhausted);
        self.manage();
        self.hand_out();
        self.hand_slices_out();
        self.put_in_order(&mut held.exhausted);
        self.call_home();
        self.renew_running();
        for vp in held.waiting.drain(..) {
            self.seek_core(vp);
        }
        let window = self.spec.machine.hypervisor.window_ns;
        let before = self.now.saturating_sub(window);
        for vp in held.exhausted.drain(..) {
            self.ready_again(vp, before);
        }
        self.sys.held = held;
        self.change_places();
        self.send_home();
    }

    /// PowerVM: who goes on away from home leaves its core to one that waits and is at home there.
    /// Else the same ones would be away for good where all cores are always busy.
    fn change_places(&mut self) {
        let is_phyp = self.spec.machine.hypervisor.policy == Policy::Phyp;
        if !is_phyp || !self.sys.windows.has_entitled_waiting() {
            return;
        }
        for core in self.at.active() {
            let on_entitlement =
                |vp: &VpId| self.sys.windows.slices[*vp].capacity == Capacity::Entitled;
            let Some(vp) = self.at.cores[core].running.filter(on_entitlement) else {
                continue;
            };
            if matches!(self.sys.policy.renew(self.view(), vp), Renewal::Yield) {
                self.renew(vp, Reason::WindowEnd);
            }
        }
    }

    fn note_exhausted(&self, into: &mut Vec<VpId>) {
        let some = |of: &PartitionId| self.sys.windows.shares[*of].exhausted_vps > 0;
        let partitions = self.partitions().filter(some);
        let vps = partitions.flat_map(|of| self.at.vps_of[of]);
        into.extend(vps.filter(|vp| self.vp(*vp).mode == Mode::Exhausted));
    }

    /// All of these are there at once, and among equals no order is published: not that of the
    /// scenario, by which the same ones would have their homes for good under PowerVM, and under
    /// PR/SM what a cap gives would hang on who is listed first. Under PowerVM who has the longest
    /// slice has least time to lose, so it comes first.
    fn put_in_order(&mut self, vps: &mut [VpId]) {
        self.sys.order.shuffle(vps);
        if self.spec.machine.hypervisor.policy == Policy::Phyp {
            let slices = &self.sys.windows.slices;
            vps.sort_unstable_by_key(|vp| Reverse(slices[*vp].slice_ns));
        }
    }

    /// PR/SM's own time on the shared cores: nobody's progress until it is over.
    fn manage(&mut self) {
        let own = self.spec.machine.hypervisor.prsm.physical_ns;
        if own == 0 {
            return;
        }
        for core in self.at.active() {
            if self.sys.windows.lots[core].owner.is_none() {
                let on = &mut self.at.cores[core];
                on.settled_at = self.now + own;
                if !on.spin_from.has_come(self.now) {
                    on.spin_from += own;
                }
                on.stall_until = on.stall_until.max(When::at(self.now)) + own;
            }
        }
    }

    /// Every partition gets its entitlement, every pool its limit.
    fn hand_out(&mut self) {
        let windows = &mut self.sys.windows;
        windows.close_excess(&self.at);
        if self.spec.machine.hypervisor.policy == Policy::Prsm {
            let (window, capacity) = (self.spec.machine.hypervisor.window_ns, windows.capacity_ns);
            windows.hand_out_by_weight(&self.at, window, capacity);
        }
        for pool in &mut windows.pools {
            (pool.promised_ns, pool.active_vps) = (0, 0);
        }
        for share in windows.shares.iter().filter(|share| share.active_vps > 0) {
            if let Some(claim) = share.claim() {
                let pool = &mut windows.pools[claim.pool];
                pool.promised_ns += share.entitled_ns;
                pool.active_vps += share.active_vps;
            }
        }
        for pool in &mut windows.pools {
            pool.open_window(pool.promised_ns, pool.active_vps);
        }
        windows.open_levels();
        for share in &mut windows.shares {
            share.open_window();
        }
    }

    /// Every virtual processor with work has its slice.
    fn hand_slices_out(&mut self) {
        let windows = &mut self.sys.windows;
        windows.guests = 0;
        for (vp, slice) in self.at.vps.iter().zip(&mut windows.slices) {
            (slice.late, slice.gift_ns, slice.giver) = (false, 0, None);
            slice.grant_ns = 0;
            if vp.mode != Mode::Inactive {
                slice.slice_ns = windows.shares[vp.partition].slice_ns(vp.index);
            }
        }
        windows.keep_for_those_behind(&self.at, windows.capacity_ns);
    }

    /// PowerVM: for one that ran on entitlement up to the window's end that is a dispatch anew (it
    /// counts as one on POWER7 and later), by the rules for one that becomes ready. Else it stayed
    /// away for as long as it has work, as it is never without a core. Who is on excess at the end
    /// may be thrown off for it: what all are entitled to has not begun yet.
    fn call_home(&mut self) {
        if self.spec.machine.hypervisor.policy != Policy::Phyp {
            return;
        }
        for core in self.at.active() {
            let entitled = |vp: &VpId| {
                let slice = &self.sys.windows.slices[*vp];
                slice.capacity == Capacity::Entitled && slice.own_core.is_none()
            };
            let Some(vp) = self.at.cores[core].running.filter(entitled) else {
                continue;
            };
            let home = self.vp(vp).home_node;
            let away = self.at.cores[core].node != home && self.vp(vp).dispatched_at < self.now;
            let taken = away.then(|| self.sys.policy.place(self.view(), vp));
            if matches!(taken, Some(Placement::Evict(at)) if self.at.cores[at].node == home) {
                self.preempt(vp, Reason::WindowEnd);
                self.hand_on(core);
                self.make_ready(vp);
            }
        }
    }

    /// Runners start the window on entitlement; those away from home go home where a core is idle.
    fn renew_running(&mut self) {
        for core in self.at.active() {
            // One that has just moved to a higher core had its turn.
            let first = self.now == 0;
            let turn = |vp: &VpId| first || self.vp(*vp).dispatched_at < self.now;
            if let Some(vp) = self.at.cores[core].running.filter(turn) {
                self.renew_runner(vp, core);
            }
        }
    }

    fn renew_runner(&mut self, vp: VpId, core: CoreId) {
        let v = &mut self.sys.windows.slices[vp];
        if v.slice_ns == 0 {
            self.end_grant(vp); // Entitled to nothing: it goes on if it may use excess.
        } else {
            v.capacity = Capacity::Entitled;
            if v.own_core.is_some() {
                self.grant(vp);
            } else {
                self.renew(vp, Reason::WindowEnd);
            }
        }
        if self.at.cores[core].running == Some(vp) {
            self.plan(core);
        }
    }

    /// Vertical-high logical cores that went elsewhere when they were beyond their share take their
    /// homes back.
    fn send_home(&mut self) {
        for core in self.at.active() {
            let Some(vp) = self.at.cores[core].running else {
                continue;
            };
            let v = &self.sys.windows.slices[vp];
            let strays = v.home_core.is_some_and(|home| home != core);
            if strays && v.capacity == Capacity::Entitled {
                self.preempt(vp, Reason::WindowEnd);
                self.hand_on(core);
                self.make_ready(vp);
            }
        }
    }
}
