//! Hardware threads of a core, where a host puts its threads on them one by one.
//!
//! Each counts as a core of its own in the hypervisor's state. What runs on one of them is as fast
//! as the number of busy siblings lets it be, so that all of them are settled before one starts or
//! stops, and planned anew after it. A thread of another partition beside one's own costs what one
//! of one's own would.

use super::system::System;
use super::world::World;
use crate::ids::{CoreId, Span, VpId};
use crate::machine::crowd;

impl<S: System> World<S> {
    /// Threads that share a core with a virtual processor on it, itself included, as [`crowd`]
    /// counts them.
    pub fn threads_together(&self, vp: VpId, core: CoreId) -> u8 {
        if self.at.tree.siblings == 1 {
            return self.crowd(vp, self.mask(vp));
        }
        let busy = |other: CoreId| other == core || self.is_used(other);
        let threads = self.siblings(core).into_iter().enumerate();
        let mask = threads.fold(0, |mask, (at, other)| mask | u8::from(busy(other)) << at);
        crowd(
            mask,
            self.spec.machine.smt.parts,
            self.at.tree.siblings as u8,
        )
    }

    /// Whether a hardware thread runs something, if only an interrupt's work.
    #[inline]
    pub fn is_used(&self, core: CoreId) -> bool {
        let on = &self.at.cores[core];
        on.running.is_some() || on.handles_until > self.now
    }

    /// Busy threads of a virtual processor, a core's parts alike.
    #[inline]
    pub fn crowd(&self, vp: VpId, mask: u8) -> u8 {
        let most = self.guests[self.at.vps[vp].partition].queues.threads();
        crowd(mask, self.spec.machine.smt.parts, most)
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
