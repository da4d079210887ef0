//! Where a world goes that has become ready.

use super::{Doing, Esxi, Processor};
use crate::ids::{CoreId, VpId};
use crate::kernel::When;

impl Esxi {
    /// A world waits from now on, and a processor for it is looked for.
    pub(super) fn line_up(&mut self, vp: VpId, now: u64) {
        self.set(vp, Doing::Ready, now);
        let alone = self.ready.is_empty();
        self.ready.push(vp);
        let vm = self.worlds[vp].vm;
        if self.vms[vm].is_held() {
            return;
        }
        if let Some(core) = self.free_for(vp) {
            self.ask(core);
            return;
        }
        if alone {
            self.begin_contest();
        }
        let owed = self.vms[vm].lead_of(self.rules.lag_ns);
        let vm = &mut self.vms[vm];
        vm.clock = vm.clock.max(self.level - owed);
        if vm.is_wide() {
            self.poll_at = self.poll_at.min(When::at(now + self.rules.poll_ns));
        }
        if let Some(core) = self.ahead_for(vp, now) {
            self.ask(core);
        }
    }

    /// As long as nobody waits all get what they want, whatever their clocks say. The first one
    /// that waits finds them where the foremost has come.
    fn begin_contest(&mut self) {
        let running = self.cores.iter().filter_map(|processor| processor.runner);
        let clocks = running.map(|vp| self.vms[self.worlds[vp].vm].clock);
        self.level = clocks.fold(self.level, f64::max);
    }

    /// A processor that idles for a world: one of a core that idles as a whole, then where it ran
    /// last, then beside that.
    fn free_for(&self, vp: VpId) -> Option<CoreId> {
        let last = self.worlds[vp].core;
        let rank = |core: CoreId| {
            let threads = self.threads_of(core);
            let busy = threads.into_iter().any(|at| !self.cores[at].is_free());
            let away = last.map_or(0, |last| last.index().abs_diff(core.index()));
            (busy, away, core.index())
        };
        let all = self.reach(vp).into_iter();
        let free = all.filter(|core| self.cores[*core].is_free());
        free.min_by_key(|core| rank(*core))
    }

    /// A processor of a core that idles as a whole, if there is one for a world.
    pub(super) fn whole_core_for(&self, vp: VpId) -> Option<CoreId> {
        let idles = |core: &CoreId| {
            let mut threads = self.threads_of(*core).into_iter();
            threads.all(|at| self.cores[at].is_free())
        };
        self.free_for(vp).filter(idles)
    }

    /// The processor whose runner is furthest ahead of a world that waits.
    pub(super) fn ahead_for(&mut self, vp: VpId, now: u64) -> Option<CoreId> {
        let all = self.reach(vp);
        for core in &all {
            self.book(*core, now);
        }
        let mut best: Option<(f64, CoreId)> = None;
        for core in all {
            let processor = &self.cores[core];
            let Some(runner) = processor.runner.filter(|_| !processor.is_pending) else {
                continue;
            };
            let clock = self.vms[self.worlds[runner].vm].clock;
            if self.is_due_before(vp, runner) && best.is_none_or(|(most, _)| clock > most) {
                best = Some((clock, core));
            }
        }
        best.map(|(_, core)| core)
    }

    /// Processors on which a world may run.
    fn reach(&self, vp: VpId) -> Vec<CoreId> {
        let world = &self.worlds[vp];
        if world.pins.is_empty() {
            let home = self.clients[world.client].home;
            self.nodes[home].into_iter().collect()
        } else {
            world.pins.clone()
        }
    }

    /// Others that wait go where it idles: two may have been sent to one processor.
    pub(super) fn spread(&mut self, taken: CoreId) {
        if self.ready.is_empty() || !self.cores.iter().any(Processor::is_free) {
            return;
        }
        for vp in self.ready.clone() {
            if !self.could(vp, taken) {
                continue;
            }
            if let Some(core) = self.free_for(vp) {
                self.ask(core);
            }
        }
    }
}
