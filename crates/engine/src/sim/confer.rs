//! Locks across virtual processors. A virtual processor that loses its core may hold a lock that a
//! sibling wants; the sibling spins for a while (AIX: `slock_spinb4confer` turns), then confers: it
//! gives its core and the rest of its slice to the holder.
//!
//! A vertical-high logical core of PR/SM at home is as good as dedicated: it spins on and keeps its
//! core (assumed: what PR/SM does with a yield of such a core is not published). A gift does not
//! draw one from its home either: it is the time that is given to it, and it uses that at home.

use super::meters::Reason;
use super::world::World;
use crate::hypervisor::{Capacity, CoreId, Mode, VpId, NO_CORE};

/// Time a thread spins before it confers [ns]: a thousand turns (`slock_spinb4confer` is 1K on AIX
/// 7.1) of some ten nanoseconds each. Assumed range 5 to 20 us.
const SPIN_NS: u64 = 10_000;

impl World {
    /// A virtual processor with work has lost its core: if it holds a lock, a running sibling
    /// confers.
    pub fn lost_core(&mut self, holder: VpId) {
        let partition = self.vp(holder).partition;
        let share = self.spec.partitions[usize::from(partition)]
            .profile
            .lock_share;
        if share == 0.0 || !matches!(self.vp(holder).mode, Mode::Ready | Mode::Exhausted) {
            return;
        }
        let threads = i32::from(self.mask(holder).count_ones() as u8);
        let held = 1.0 - (1.0 - share).powi(threads);
        if !self.guests[usize::from(partition)].locks.chance(held) {
            return;
        }
        if let Some(sibling) = self.running_sibling(holder) {
            self.confer(sibling, holder);
        }
    }

    fn running_sibling(&self, holder: VpId) -> Option<VpId> {
        let share = &self.hv.shares[usize::from(self.vp(holder).partition)];
        let siblings = share.first_vp..share.first_vp + u32::from(share.vps);
        let spins = |vp: &VpId| {
            let v = self.vp(*vp);
            *vp != holder && v.mode == Mode::Running && self.mask(*vp) != 0
        };
        let at_home = |vp: &VpId| self.vp(*vp).core == self.vp(*vp).home_core;
        siblings.into_iter().find(|vp| spins(vp) && !at_home(vp))
    }

    /// Whether a core is no place for what a virtual processor is entitled to: it has another home.
    fn belongs_elsewhere(&self, vp: VpId, core: CoreId) -> bool {
        let v = self.vp(vp);
        v.capacity == Capacity::Entitled && v.home_core != NO_CORE && v.home_core != core
    }

    fn confer(&mut self, sibling: VpId, holder: VpId) {
        let cost = self.spec.machine.hypervisor.confer_ns;
        let partition = self.vp(holder).partition;
        let core = self.undispatch(sibling, Reason::Confer);
        self.hv.vps[sibling as usize].mode = Mode::Ready;
        self.count_voluntary(sibling);
        let meter = &mut self.meters.partitions[usize::from(partition)];
        meter.confer_calls += 1;
        meter.confer_ns += cost;
        self.runs[sibling as usize].spin_ns += SPIN_NS;
        self.runs[holder as usize].debt_ns += cost;
        // More than the holder can use in this window would be lost to the partition.
        let start = self.slots[usize::from(core)].settled_at.max(self.now);
        let room = (self.window_end - start).saturating_sub(self.vp(holder).slice_ns);
        let given = self.vp(sibling).slice_ns.min(room);
        self.hv.vps[sibling as usize].slice_ns -= given;
        self.hv.queues.remove(partition, holder);
        let v = &mut self.hv.vps[holder as usize];
        v.slice_ns += given;
        if v.mode == Mode::Exhausted {
            v.mode = Mode::Ready;
        }
        if given > 0 {
            v.capacity = Capacity::Entitled;
        }
        if !self.claim(holder) {
            self.hv.vps[holder as usize].mode = Mode::Exhausted;
            self.hand_on(core);
        } else if self.vp(holder).capacity == Capacity::Excess && self.hv.has_entitled_waiting() {
            // The gift was no time at all: entitlement comes before excess.
            self.enqueue(holder);
            self.hand_on(core);
        } else if self.belongs_elsewhere(holder, core) {
            self.hand_on(core);
            self.seek_core(holder);
        } else {
            self.dispatch(holder, core);
        }
        self.make_ready(sibling);
    }
}
