//! Where a world goes that has become ready.

use super::{Doing, Esxi, Processor};
use crate::ids::{CoreId, VpId};
use crate::kernel::When;

impl Esxi {
    /// A world waits from now on, and a processor for it is looked for.
    pub(super) fn line_up(&mut self, vp: VpId, now: u64) {
        let client = self.worlds[vp].client;
        let home = self.clients[client].home;
        let alone = !self.is_contested(home);
        self.set(vp, Doing::Ready, now);
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
            self.begin_contest(home);
        }
        let client = &mut self.clients[client];
        let owed = client.lead_of(self.rules.lag_ns);
        client.clock = client.clock.max(self.levels[home] - owed);
        if self.vms[vm].is_wide() {
            self.poll_at = self.poll_at.min(When::at(now + self.rules.poll_ns));
        }
        if let Some(core) = self.ahead_for(vp, now) {
            self.ask(core);
        }
    }

    /// Whether somebody on a node waits who could run, or was stopped for siblings that wait.
    pub(super) fn is_contested(&self, node: usize) -> bool {
        let waits = |vp: VpId| match self.worlds[vp].doing {
            Doing::Stopped => true,
            Doing::Ready => !self.vms[self.worlds[vp].vm].is_held(),
            Doing::Asleep | Doing::Running => false,
        };
        let mut here = self.clients.iter().filter(|client| client.home == node);
        here.any(|client| client.worlds.into_iter().any(waits))
    }

    /// As long as nobody waits on a node all get what they want there, whatever their clocks say.
    /// The first one that waits finds them where the foremost has come: those that run are no more
    /// behind than one that has waited, and who used much before owes no more than that for it.
    pub(super) fn begin_contest(&mut self, node: usize) {
        let cores = self.nodes[node].into_iter();
        let running = cores.filter_map(|core| self.cores[core].runner);
        let due = running.map(|vp| self.client_of(vp));
        let clocks = due.filter(|one| !one.is_left_out).map(|one| one.clock);
        let level = clocks.fold(self.levels[node], f64::max);
        self.levels[node] = level;
        let here = self.clients.iter_mut().filter(|one| one.home == node);
        here.for_each(|client| client.bound(level, self.rules.lag_ns));
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
            let clock = self.client_of(runner).clock;
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
            self.nodes[self.client_of(vp).home].into_iter().collect()
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
