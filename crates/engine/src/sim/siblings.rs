//! Hardware threads of a core, where a host puts its threads on them one by one.
//!
//! Each counts as a core of its own in the hypervisor's state. What runs on one of them is as fast
//! as the number of busy siblings lets it be, so that all of them are settled before one starts or
//! stops, and planned anew after it. What they run counts too: beside work that waits much one is
//! faster than beside work that wants the pipelines all the time. Interrupts count as the work of
//! those whose device it is, or of whom they hold up there, and caches are shared evenly, whoever
//! brings more in.

use super::system::System;
use super::world::World;
use crate::cost::Company;
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

    /// What the runner of a core costs beside the others that are busy there, if it has the class
    /// beside as many of its like.
    #[inline(never)]
    pub fn find_company(&mut self, vp: VpId, core: CoreId) {
        let own = self.table.kind(self.at.vps[vp].partition.into());
        let parts = usize::from(self.spec.machine.smt.parts);
        // Another load of a mixed one may be less like them.
        let (mut company, mut alike) = (Company::default(), !self.at.cores[core].mixed);
        for other in self.siblings(core).into_iter().filter(|at| *at != core) {
            if self.is_used(other) {
                let on = &self.at.cores[other];
                alike &= on.kind == own;
                if other.index().abs_diff(core.index()) % parts == 0 {
                    company.add(on.kind);
                }
            }
        }
        if alike {
            return;
        }
        if parts > 1 {
            company.part();
        }
        let on = &mut self.at.cores[core];
        on.class = self.table.beside(on.class, company);
    }

    /// The runner of a core may work for another load now, and whoever is beside it, beside that.
    #[inline(never)]
    pub fn works_for(&mut self, vp: VpId, core: CoreId, mask: u8) {
        let (first, _) = self.threads_of(vp);
        let load = self.load_on(vp, first.plus(mask.trailing_zeros() as usize));
        let kind = self.table.kind(load.into());
        let before = std::mem::replace(&mut self.at.cores[core].kind, kind);
        if before != kind {
            self.settle_siblings(core);
            self.plan_siblings(core);
        }
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
