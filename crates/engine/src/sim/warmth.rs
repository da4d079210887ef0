//! What a virtual processor finds cold on a core.
//!
//! On the core it left, it finds what others have not displaced since; on any other core all of its
//! own lines are missing. What its partition has in common is there already on a core where a
//! sibling ran last. From where it is refilled, a [`Refill`] says.

use super::load::Cold;
use super::system::System;
use super::world::World;
use crate::cost::{Refill, Unfetched};
use crate::ids::{CoreId, LoadId, ThreadId, VpId};
use crate::machine::Distance;

impl<S: System> World<S> {
    /// Sets what a virtual processor that was just put on `core` must refill: its busy threads now,
    /// the others when they begin.
    pub fn chill(&mut self, vp: VpId, core: CoreId) {
        let threads = self.threads_together(vp, core).max(1);
        let id = self.at.cores[core].first_class + u32::from(threads);
        let refill = *self.table.refill(&self.spec.partitions, id);
        let cold = if self.at.vps[vp].emptied {
            Cold::default()
        } else {
            self.cold(vp, core, &refill, threads)
        };
        if self.at.cores[core].mixed {
            self.chill_loads(vp, core, threads);
        }
        if !self.unfetched.is_empty() {
            self.come_to_chip(vp, core, threads);
        }
        let v = &mut self.at.vps[vp];
        let on = &mut self.at.cores[core];
        on.warm_for = Some(v.partition);
        (on.cold_ns, on.cold_instructions) = (cold.ns, cold.instructions);
        let mixed = on.mixed;
        v.last_core = Some(core);
        v.emptied = false;
        v.warm = v.mask;
        let (cold, first) = (on.cold_instructions, v.first_thread);
        let mut bits = v.mask;
        while bits != 0 {
            let at = first.plus(bits.trailing_zeros() as usize);
            bits &= bits - 1;
            self.threads[at].cold_instructions = cold;
            if mixed {
                self.find_cold(at, self.load_on(vp, at), core);
            }
        }
        if self.has_messages {
            self.read_messages(vp, core);
        }
    }

    /// What a virtual processor that comes to a core must refill there.
    fn cold(&self, vp: VpId, core: CoreId, refill: &Refill, threads: u8) -> Cold {
        let (lost, own_from) = self.lost(vp, core, refill, threads);
        let lines = lost * refill.lines;
        let shares_core = self.at.cores[core].warm_for == Some(self.vp(vp).partition);
        let own = lines * (1.0 - refill.common);
        let common = if shares_core {
            0.0
        } else {
            lines * refill.common
        };
        let lines = own + common;
        if lines > 0.0 && refill.lines_per_instruction > 0.0 {
            let ns = own * refill.own_ns[own_from as usize] + common * refill.common_ns;
            Cold {
                ns: ns / lines,
                instructions: lines / refill.lines_per_instruction,
            }
        } else {
            Cold::default()
        }
    }

    /// The same of each load of its partition.
    fn chill_loads(&mut self, vp: VpId, core: CoreId, threads: u8) {
        let mut colds = std::mem::take(&mut self.colds[core]);
        colds.clear();
        for load in self.loads_of(self.vp(vp).partition) {
            let id = self
                .table
                .id(load.into(), self.at.cores[core].chip, threads);
            let refill = *self.table.refill(&self.spec.partitions, id);
            colds.push(self.cold(vp, core, &refill, threads));
        }
        self.colds[core] = colds;
    }

    /// What the threads of a virtual processor that comes to a core must fetch of what caches that
    /// cores share hold for them. Where it runs first all is taken to be there. Apart, as most have
    /// nothing there.
    #[inline(never)]
    fn come_to_chip(&mut self, vp: VpId, core: CoreId, threads: u8) {
        let v = self.vp(vp);
        let (emptied, first, smt) = (v.emptied, v.first_thread, v.smt);
        let (to, left_at) = (self.at.cores[core].chip, self.unfetched[first].1 as f64);
        let from = v.last_core.map_or(to, |last| self.at.cores[last].chip);
        if from == to && !emptied {
            // What it has not fetched yet, it still has to: nothing else hangs on the core.
            let mut threads = (0..smt).map(|thread| first.plus(thread.into()));
            let fetches = threads.any(|at| self.unfetched[at].0.is_some());
            self.at.cores[core].fetches = fetches;
            return;
        }
        let (tree, now) = (&self.at.tree, self.now as f64);
        let ages = |chip| self.table.occupancy.ages.turnovers(tree, chip);
        // Each line that comes in hits any line with equal chance.
        let kept = |turnover: Option<f64>, since: f64| {
            turnover.map_or(0.0, |turnover| ((since - now) / turnover).exp())
        };
        let (here, distance) = (ages(to), tree.distance(from, to));
        let displaced = ages(from).map(|turnover| 1.0 - kept(turnover, left_at));
        let places = [
            [from.index(), to.index()],
            [from, to].map(|chip| tree.node_of(chip).index()),
        ];
        let mut fetches = false;
        for at in (0..smt).map(|thread| first.plus(thread.into())) {
            let load = self.load_on(vp, at);
            let id = self.table.id(load.into(), to, threads);
            let beyond = self.table.beyond(&self.spec.partitions, id);
            let (unfetched, _) = &mut self.unfetched[at];
            if emptied {
                *unfetched = Unfetched::default();
                continue;
            }
            for (level, gone) in beyond.gone(distance, displaced).into_iter().enumerate() {
                let outer = &beyond.levels[level];
                let [from, to] = places[level];
                let missing = outer.missing_beside_others(gone);
                unfetched.come((level, outer), (from, left_at), to, missing, |since| {
                    kept(here[level], since)
                });
            }
            fetches |= unfetched.is_some();
        }
        self.at.cores[core].fetches = fetches;
    }

    /// A thread's first work on a core that several loads share refills what its load has there.
    pub fn find_cold(&mut self, at: ThreadId, load: LoadId, core: CoreId) {
        let cold = self.colds[core][self.loads[load].place];
        let thread = &mut self.threads[at];
        thread.cold_instructions = cold.instructions;
        thread.own_ns[1] = cold.ns;
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
