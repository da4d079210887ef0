//! Balancing between run queues: push one, pull one, or swap two, whichever evens out most.

use super::ids::{QueueId, VpId};
use super::load::ONE;
use super::{Credit2, Doing};

/// Difference of load from which on queues are evened out, none of them being overloaded
/// (`credit2_balance_under`, 2^0).
const UNDERLOADED: i64 = ONE;
/// The same when one is (`credit2_balance_over`, 2^-3).
const OVERLOADED: i64 = ONE / 8;

impl Credit2 {
    /// Evens a run queue out with the one that differs most from it.
    pub(super) fn balance(&mut self, own: QueueId, now: u64) {
        if self.queues.len() == 1 {
            return;
        }
        let window = self.rules.load_window_shift;
        for queue in &mut self.queues {
            queue.load.update(queue.runnable, now, window);
        }
        let load = |at: QueueId| self.queues[at].load.average;
        let apart = |at: QueueId| (load(own) - load(at)).abs();
        let others = self.queues.ids().filter(|at| *at != own);
        let Some(other) = others.reduce(|a, b| if apart(b) > apart(a) { b } else { a }) else {
            return;
        };
        let cpus = |at: QueueId| self.queues[at].cpus.count();
        let cpus = cpus(own).max(cpus(other));
        let overloaded = load(own).max(load(other)) >= cpus as i64 * ONE;
        let least = if overloaded { OVERLOADED } else { UNDERLOADED };
        if apart(other) < least {
            return;
        }
        let (push, pull) = self.best_swap(own, other, now);
        if let Some(vp) = push {
            self.move_to(vp, other, now);
        }
        if let Some(vp) = pull {
            self.move_to(vp, own, now);
        }
    }

    /// Units to push and pull so that the loads differ least.
    fn best_swap(
        &mut self,
        own: QueueId,
        other: QueueId,
        now: u64,
    ) -> (Option<VpId>, Option<VpId>) {
        let pushed = self.movable(own, other, now);
        let pulled = self.movable(other, own, now);
        let difference = self.queues[own].load.average - self.queues[other].load.average;
        let mut best = (difference.abs(), (None, None));
        let mut consider = |left: i64, push: Option<VpId>, pull: Option<VpId>| {
            if left.abs() < best.0 {
                best = (left.abs(), (push, pull));
            }
        };
        for (push, less) in pushed {
            for (pull, more) in &pulled {
                consider(difference - 2 * less + 2 * more, Some(push), Some(*pull));
            }
            consider(difference - 2 * less, Some(push), None);
        }
        for (pull, more) in pulled {
            consider(difference + 2 * more, None, Some(pull));
        }
        best.1
    }

    /// Units of a queue that may move to another, with their loads, brought up to date.
    fn movable(&mut self, from: QueueId, to: QueueId, now: u64) -> Vec<(VpId, i64)> {
        let window = self.rules.load_window_shift;
        let (from, to) = (&self.queues[from], &self.queues[to]);
        let mut movable = Vec::with_capacity(from.members.len());
        for vp in &from.members {
            let unit = &self.units[*vp];
            let aside = &mut self.asides[*vp];
            let runnable = matches!(unit.doing, Doing::Running | Doing::Waiting);
            aside.load.update(i64::from(runnable), now, window);
            if unit.moves_to.is_none() && to.suits(aside) {
                movable.push((*vp, aside.load.average));
            }
        }
        movable
    }

    /// Moves a unit to another run queue, a runner as soon as it is off its processor.
    fn move_to(&mut self, vp: VpId, to: QueueId, now: u64) {
        let unit = &mut self.units[vp];
        let (cpu, doing) = (unit.cpu, unit.doing);
        if self.cpus[cpu].current == Some(vp) || doing == Doing::Running {
            unit.moves_to = Some(to);
            self.pending.push(cpu);
            return;
        }
        let waits = doing == Doing::Waiting;
        if waits {
            self.dequeue(vp);
            self.queue_of(vp).runnable -= 1;
        }
        self.change_queue(vp, to);
        if waits {
            self.queue_of(vp).runnable += 1;
            self.queue_up(vp, now);
        }
    }

    /// Makes a unit that neither runs nor waits belong to another run queue.
    pub(super) fn change_queue(&mut self, vp: VpId, to: QueueId) {
        let aside = &self.asides[vp];
        let from = self.units[vp].queue;
        self.queues[from].leave(vp, &self.units, &aside.load);
        let target = &mut self.queues[to];
        let unit = &mut self.units[vp];
        unit.queue = to;
        let cpu = target.turn(|word| aside.usable(word));
        unit.cpu = cpu.expect("it may use a processor there");
        target.join(vp, unit.weight, &aside.load);
        self.domains[unit.domain].count.migrations += 1;
    }
}
