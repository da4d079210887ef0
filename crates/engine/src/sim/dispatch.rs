//! Putting virtual processors on cores and taking them off, whoever decided it.

use super::meters::Reason;
use super::system::System;
use super::world::World;
use crate::hypervisor::Mode;
use crate::ids::{CoreId, PartitionId, VpId};
use crate::kernel::{Key, When};

impl<S: System> World<S> {
    /// Puts a ready virtual processor on a core that nobody runs on.
    pub fn dispatch(&mut self, vp: VpId, core: CoreId) {
        let own = self.sys.dispatch_ns(&self.spec, vp);
        let distance = self.at.distance_from_home(vp, core);
        let v = &mut self.at.vps[vp];
        debug_assert_eq!(v.mode, Mode::Ready);
        debug_assert_eq!(self.at.cores[core].running, None);
        v.mode = Mode::Running;
        v.core = Some(core);
        v.dispatched_at = self.now;
        let debt = std::mem::take(&mut v.debt_ns);
        let (partition, waited) = (v.partition, self.now - v.ready_at);
        self.settle_siblings(core);
        let on = &mut self.at.cores[core];
        on.running = Some(vp);
        on.distance = distance;
        self.start_record(vp);
        self.meters.dispatched(partition, waited, distance);
        self.begin_stretch(vp, core, own.map_or(0, |own| own + debt));
        S::grant(self, vp);
        if self.at.vps[vp].waits != 0 {
            self.try_again(vp);
        }
        self.chill(vp, core);
        self.count_thread_dispatches(vp, distance);
        self.plan(core);
        self.plan_siblings(core);
        S::entered(self, vp);
    }

    /// Nothing useful happens on a core until the dispatch is over.
    fn begin_stretch(&mut self, vp: VpId, core: CoreId, overhead: u64) {
        let on = &mut self.at.cores[core];
        let partition = self.at.vps[vp].partition;
        on.first_class = self.table.id(partition.into(), on.chip, 0);
        on.settled_at = on.settled_at.max(self.now);
        on.spin_from = When::at(on.settled_at + overhead);
        on.stall_until = on.spin_from;
        on.single = false;
        on.mixed = !self.guests[partition].beside.is_empty();
        on.kind = self.table.kind(partition.into());
    }

    /// Takes a virtual processor off its core, which the caller must hand on.
    ///
    /// # Panics
    /// If it is on none.
    pub fn undispatch(&mut self, vp: VpId, reason: Reason) -> CoreId {
        let core = self.at.vps[vp].core.expect("only runners are taken off");
        self.settle(core);
        self.settle_siblings(core);
        S::leave(self, vp, core);
        self.record_dispatch(vp, core, reason);
        let on = &mut self.at.cores[core];
        on.running = None;
        on.key = Key::NONE;
        if !self.unfetched.is_empty() {
            let first = self.vp(vp).first_thread;
            self.unfetched[first].1 = self.now;
        }
        let left_clock = self.core_clock(core);
        let v = &mut self.at.vps[vp];
        v.left_clock = left_clock;
        v.core = None;
        let partition = v.partition;
        self.count_at_work(vp);
        self.plan_siblings(core);
        self.meters.partitions[partition].vcsw += 1;
        core
    }

    /// A virtual processor may have begun or ceased to compute on a core. Where threads spin for a
    /// lock those that do are counted, of each load of its partition: who idles on its core, or
    /// spins until one that is off its core comes back, is met by nobody.
    #[inline]
    pub fn count_at_work(&mut self, vp: VpId) {
        if self.has_crowds {
            self.recount(vp);
        }
    }

    #[inline(never)]
    fn recount(&mut self, vp: VpId) {
        let v = &mut self.at.vps[vp];
        let computes = v.core.is_some() && v.mask != 0 && !v.spins;
        let (partition, before) = (v.partition, std::mem::replace(&mut v.computes, computes));
        if before == computes {
            return;
        }
        let now = self.now;
        for load in self.loads_of(partition) {
            let crowd = self.table.spreads[load.index()].crowd();
            if computes {
                crowd.come(now);
            } else {
                crowd.go(now);
            }
        }
    }

    /// Who comes to a partition's lock may be held up by one that is off its core, or no longer.
    pub fn is_held_up(&mut self, partition: PartitionId) {
        if !self.has_crowds {
            return;
        }
        let (now, guest) = (self.now, &self.guests[partition]);
        let held_up = guest.holder.is_some() || guest.first_off.is_some();
        for load in self.loads_of(partition) {
            self.table.spreads[load.index()]
                .crowd()
                .hold_up(now, held_up);
        }
    }

    /// A record of a dispatch begins now, or when the core is out of idling.
    pub fn start_record(&mut self, vp: VpId) {
        let excess = self.sys.is_on_excess(vp);
        let from = self.vp(vp).core.map(|core| self.at.cores[core].settled_at);
        let v = &mut self.at.vps[vp];
        v.record_from = from.unwrap_or_default().max(self.now);
        v.record_excess = excess;
    }
}
