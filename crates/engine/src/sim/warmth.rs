//! What a virtual processor finds cold on a core.
//!
//! On the core it left, it finds what others have not displaced since; on any other core all of its
//! own lines are missing. What its partition has in common is there already on a core where a
//! sibling ran last. From where it is refilled, a [`Refill`] says.

use super::system::System;
use super::world::World;
use crate::cost::Refill;
use crate::ids::{CoreId, VpId};
use crate::machine::Distance;

impl<S: System> World<S> {
    /// Sets what a virtual processor that was just put on `core` must refill: its busy threads now,
    /// the others when they begin.
    pub fn chill(&mut self, vp: VpId, core: CoreId) {
        let threads = self.threads_together(vp, core).max(1);
        let id = self.at.cores[core].first_class + u32::from(threads);
        let refill = *self.table.refill(&self.spec.partitions, id);
        let (lost, own_from) = self.lost(vp, core, &refill, threads);
        let v = &mut self.at.vps[vp];
        let on = &mut self.at.cores[core];
        let lines = lost * refill.lines;
        let shares_core = on.warm_for == Some(v.partition);
        let own = lines * (1.0 - refill.common);
        let common = if shares_core {
            0.0
        } else {
            lines * refill.common
        };
        let lines = own + common;
        on.warm_for = Some(v.partition);
        (on.cold_ns, on.cold_instructions) = if lines > 0.0 && refill.lines_per_instruction > 0.0 {
            let ns = own * refill.own_ns[own_from as usize] + common * refill.common_ns;
            (ns / lines, lines / refill.lines_per_instruction)
        } else {
            (0.0, 0.0)
        };
        v.last_core = Some(core);
        v.warm = v.mask;
        let (cold, first) = (on.cold_instructions, v.first_thread);
        let mut bits = v.mask;
        while bits != 0 {
            self.threads[first.plus(bits.trailing_zeros() as usize)].cold_instructions = cold;
            bits &= bits - 1;
        }
    }

    /// Share of its own lines that a virtual processor does not find on a core, and where they lie.
    fn lost(&self, vp: VpId, core: CoreId, refill: &Refill, threads: u8) -> (f64, Distance) {
        let v = self.vp(vp);
        match v.last_core {
            None => (1.0, Distance::Near),
            Some(last) if self.same_core(last, core) => {
                let others = self.core_clock(core) - v.left_clock;
                (refill.displaced(others as f64, threads), Distance::Local)
            }
            Some(last) => {
                let from = self.at.cores[last].chip;
                (1.0, self.at.tree.distance(from, self.at.cores[core].chip))
            }
        }
    }
}
