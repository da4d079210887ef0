//! Hardware threads of a core, where a host puts its threads on them one by one.
//!
//! Each counts as a core of its own in the hypervisor's state. What runs on one of them is as fast
//! as the number of busy siblings lets it be, so that all of them are settled before one starts or
//! stops, and planned anew after it. A thread of another partition beside one's own costs what one
//! of one's own would.

use super::system::System;
use super::world::World;
use crate::ids::{CoreId, Span, VpId};

impl<S: System> World<S> {
    /// Threads that share a core with a virtual processor on it, itself included.
    pub fn threads_together(&self, vp: VpId, core: CoreId) -> u8 {
        if self.at.tree.siblings == 1 {
            return self.mask(vp).count_ones() as u8;
        }
        let busy = |other: &CoreId| *other == core || self.at.cores[*other].running.is_some();
        self.siblings(core).into_iter().filter(busy).count() as u8
    }

    /// Whether two are the same core, or hardware threads of one.
    pub fn same_core(&self, a: CoreId, b: CoreId) -> bool {
        let siblings = usize::from(self.at.tree.siblings);
        a.index() / siblings == b.index() / siblings
    }

    /// Time for which a core was used, all its threads together [ns].
    pub fn core_clock(&self, core: CoreId) -> u64 {
        self.siblings(core)
            .into_iter()
            .map(|thread| self.at.cores[thread].clock)
            .sum()
    }

    /// Books what a core's other threads did so far, before one of them starts or stops.
    #[inline]
    pub fn settle_siblings(&mut self, core: CoreId) {
        if self.at.tree.siblings > 1 {
            for other in self
                .siblings(core)
                .into_iter()
                .filter(|other| *other != core)
            {
                self.settle(other);
            }
        }
    }

    /// Plans a core's other threads anew, after one of them has started or stopped.
    #[inline]
    pub fn plan_siblings(&mut self, core: CoreId) {
        if self.at.tree.siblings > 1 {
            let others = self
                .siblings(core)
                .into_iter()
                .filter(|other| *other != core);
            for other in others {
                if self.at.cores[other].running.is_some() {
                    self.plan(other);
                }
            }
        }
    }

    #[inline]
    fn siblings(&self, core: CoreId) -> Span<CoreId> {
        let count = usize::from(self.at.tree.siblings);
        Span::new(core.index() / count * count, count)
    }
}
