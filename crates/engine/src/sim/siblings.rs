//! Hardware threads of a core, where a host puts its threads on them one by one.
//!
//! Each counts as a core of its own in the hypervisor's state. What runs on one of them is as fast
//! as the number of busy siblings lets it be, so that all of them are settled before one starts or
//! stops, and planned anew after it. A thread of another partition beside one's own costs what one
//! of one's own would.

use super::world::World;
use crate::hypervisor::{CoreId, VpId, NO_VP};

impl World {
    /// Threads that share a core with a virtual processor on it, itself included.
    pub fn threads_together(&self, vp: VpId, core: CoreId) -> u8 {
        if self.hv.tree.siblings == 1 {
            return self.mask(vp).count_ones() as u8;
        }
        let busy =
            |other: &CoreId| *other == core || self.hv.cores[usize::from(*other)].running != NO_VP;
        self.siblings(core).filter(busy).count() as u8
    }

    /// Whether two are the same core, or hardware threads of one.
    pub fn same_core(&self, a: CoreId, b: CoreId) -> bool {
        a / self.hv.tree.siblings == b / self.hv.tree.siblings
    }

    /// Time for which a core was used, all its threads together [ns].
    pub fn core_clock(&self, core: CoreId) -> u64 {
        self.siblings(core)
            .map(|thread| self.slots[usize::from(thread)].clock)
            .sum()
    }

    /// Books what a core's other threads did so far, before one of them starts or stops.
    #[inline]
    pub fn settle_siblings(&mut self, core: CoreId) {
        if self.hv.tree.siblings > 1 {
            for other in self.siblings(core).filter(|other| *other != core) {
                self.settle(other);
            }
        }
    }

    /// Plans a core's other threads anew, after one of them has started or stopped.
    #[inline]
    pub fn plan_siblings(&mut self, core: CoreId) {
        if self.hv.tree.siblings > 1 {
            let others = self.siblings(core).filter(|other| *other != core);
            for other in others {
                if self.hv.cores[usize::from(other)].running != NO_VP {
                    self.plan(other);
                }
            }
        }
    }

    #[inline]
    fn siblings(&self, core: CoreId) -> std::ops::Range<CoreId> {
        let count = self.hv.tree.siblings;
        let first = core / count * count;
        first..first + count
    }
}
