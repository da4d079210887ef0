//! Who runs on a processor, and for how long.

use super::{Doing, Esxi};
use crate::ids::{CoreId, VpId};
use crate::kernel::When;

impl Esxi {
    /// Chooses a processor's runner.
    pub(super) fn choose(&mut self, core: CoreId, now: u64) -> Option<VpId> {
        self.book(core, now);
        let runner = self.cores[core].runner;
        if let Some(vp) = runner {
            self.hold(self.worlds[vp].vm, now);
        }
        let stays = runner.filter(|vp| self.may_stay(*vp, core));
        let stays = stays.filter(|vp| !self.leaves(*vp, core, now));
        let given = self.given(core);
        let next = given.or_else(|| self.next(core, stays, now));
        if let Some(vp) = next.filter(|vp| given.is_none() && runner != Some(*vp)) {
            // It has used least of those that compete here, which who is due nothing does not.
            let (node, client) = (self.node_of(core), self.client_of(vp));
            if !client.is_left_out {
                self.levels[node] = self.levels[node].max(client.clock);
            }
        }
        if next != runner {
            if let Some(vp) = runner {
                self.put_off(vp, core, now);
            }
            if let Some(vp) = next {
                self.put_on(vp, core, now);
            }
        }
        // A sibling takes over what is left of the quantum.
        let goes_on = next == runner || given.is_some();
        let processor = &mut self.cores[core];
        if !goes_on || processor.turn_ends <= now {
            processor.turn_ends = now + self.rules.quantum_ns;
        }
        self.cores[core].look_at = self.ends(core, now);
        if next.is_some() && next != runner {
            self.spread(core);
        }
        if given.is_some() {
            self.look_elsewhere(core, now);
        }
        next
    }

    /// A sibling got the processor to which one may have been sent that has become ready at this
    /// instant: who is far enough behind looks for another, or would wait for a whole quantum.
    fn look_elsewhere(&mut self, taken: CoreId, now: u64) {
        // They wait in the order in which they came.
        let first = self
            .ready
            .partition_point(|vp| self.worlds[*vp].since < now);
        for at in first..self.ready.len() {
            let vp = self.ready[at];
            if !self.could(vp, taken) {
                continue;
            }
            if let Some(core) = self.ahead_for(vp, now) {
                self.ask(core);
            }
        }
    }

    fn may_stay(&self, vp: VpId, core: CoreId) -> bool {
        self.worlds[vp].doing == Doing::Running && self.could(vp, core)
    }

    /// Whether a runner whose quantum is over goes to a core that idles as a whole, as it is beside
    /// a busy thread of its own.
    fn leaves(&self, vp: VpId, core: CoreId, now: u64) -> bool {
        let is_over = self.cores[core].turn_ends <= now;
        is_over && self.part_of(core) < 1.0 && self.whole_core_for(vp).is_some()
    }

    /// The sibling to which a runner has given its place, if it can use it now.
    fn given(&mut self, core: CoreId) -> Option<VpId> {
        let given = self.cores[core].hand_to.take();
        given.filter(|vp| self.worlds[*vp].doing == Doing::Ready && self.could(*vp, core))
    }

    /// The runner that may stay, or who is due more.
    fn next(&self, core: CoreId, stays: Option<VpId>, now: u64) -> Option<VpId> {
        let Some(first) = self.first_for(core) else {
            return stays;
        };
        let Some(runner) = stays else {
            return Some(first);
        };
        let clock = |vp: VpId| self.client_of(vp).clock;
        let over = now >= self.cores[core].turn_ends && clock(first) <= clock(runner);
        (over || self.is_due_before(first, runner))
            .then_some(first)
            .or(stays)
    }

    /// Whether one that waits is so far behind a runner that it need not wait for its quantum.
    pub(super) fn is_due_before(&self, waits: VpId, runner: VpId) -> bool {
        let (client, other) = (self.client_of(waits), self.client_of(runner));
        client.clock + client.lead_of(self.rules.preempt_ns) < other.clock
    }

    /// Who of those that wait is first on a processor: of the virtual machine that has used least
    /// by its shares, the world that has come least far.
    fn first_for(&self, core: CoreId) -> Option<VpId> {
        let able = self
            .ready
            .iter()
            .copied()
            .filter(|vp| self.could(*vp, core));
        let rank = |vp: VpId| (self.client_of(vp).clock, self.worlds[vp].progress_ns);
        able.reduce(|a, b| {
            let (one, other) = (rank(a), rank(b));
            let before = other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)).is_lt();
            if before {
                b
            } else {
                a
            }
        })
    }

    fn put_on(&mut self, vp: VpId, core: CoreId, now: u64) {
        self.ready.retain(|waits| *waits != vp);
        self.set(vp, Doing::Running, now);
        let world = &mut self.worlds[vp];
        let moved = world.core.replace(core).is_some_and(|last| last != core);
        let vm = &mut self.vms[world.vm];
        vm.count.migrations += u64::from(moved);
        self.cores[core].runner = Some(vp);
    }

    fn put_off(&mut self, vp: VpId, core: CoreId, now: u64) {
        self.cores[core].runner = None;
        if self.worlds[vp].doing == Doing::Running {
            self.line_up(vp, now);
        }
    }

    /// When a processor must be looked at next: at the end of the quantum, or of what a limit
    /// leaves to all that run of a virtual machine.
    fn ends(&self, core: CoreId, now: u64) -> When {
        let processor = &self.cores[core];
        let Some(vp) = processor.runner else {
            return When::NEVER;
        };
        let turn = When::at(processor.turn_ends);
        let left = self.left_ns(self.worlds[vp].vm);
        left.map_or(turn, |left| turn.min(When::at(now + left.max(LEAST_NS))))
    }
}

/// Shortest time to the next look at one with a limit [ns].
const LEAST_NS: u64 = 10_000;
