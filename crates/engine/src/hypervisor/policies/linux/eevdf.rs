//! Earliest eligible virtual deadline first: who comes next, where a comer is placed, and when the
//! runner has had its slice.
//!
//! An entity asks for a slice and gets a deadline a slice of virtual time away. Of those that owe
//! nothing, the one with the earliest deadline runs, and it is not preempted before its slice is
//! used up (run to parity). One that leaves remembers its lag and is placed as far behind or ahead
//! when it comes back, so that sleeping gains and loses nothing; one that owes when it goes to
//! sleep stays queued until it does not (delayed dequeue).

use super::ids::{EntityId, QueueId};
use super::queue::{divide, virtual_ns};
use super::tree::{Arrival, Tree};

impl Tree {
    /// Virtual time of a queue.
    pub fn virtual_time(&self, queue: QueueId) -> i64 {
        let of = self.queue(queue);
        of.virtual_time(self.runner_of(of))
    }

    /// Whether an entity owes nothing.
    pub fn is_eligible(&self, id: EntityId) -> bool {
        let entity = self.entity(id);
        let queue = self.queue(entity.queue);
        queue.is_eligible(entity.vruntime, self.runner_of(queue))
    }

    /// The next one of a queue, its runner included; none if it is empty.
    pub fn pick_eevdf(&self, queue: QueueId, protect: bool) -> Option<EntityId> {
        let of = self.queue(queue);
        let runner = self.runner_of(of);
        let curr = of.curr.filter(|_| runner.is_some());
        if of.count == 1 {
            return curr.or(of.first());
        }
        let is_protected = protect && runner.is_some_and(|curr| self.params.protects(curr));
        let found = of.first_eligible(runner, is_protected);
        found.or(curr).or(of.first())
    }

    /// Shortest slice that anyone in a queue asks for [ns].
    pub fn shortest_slice(&self, queue: QueueId) -> u64 {
        let of = self.queue(queue);
        let waiting = of.least_slice();
        let runner = self.runner_of(of).map_or(u64::MAX, |e| e.slice);
        match waiting.min(runner) {
            u64::MAX => self.params.slice,
            least => least,
        }
    }

    /// Notes how far behind its queue an entity is that leaves it, within bounds; the queue's
    /// virtual time.
    pub fn note_lag(&mut self, id: EntityId) -> i64 {
        let queue = self.entity(id).queue;
        let time = self.virtual_time(queue);
        let tick = self.params.tick;
        let entity = &mut self.entities[id];
        let bound = virtual_ns((2 * entity.slice).max(tick), entity.weight);
        entity.lag = (time - entity.vruntime).clamp(-bound, bound);
        time
    }

    /// Places one that comes: as far from the queue's virtual time as when it left.
    pub fn place_eevdf(&mut self, id: EntityId, arrival: Arrival) {
        let of = self.queue(self.entity(id).queue);
        let runner = self.runner_of(of);
        let time = of.virtual_time(runner);
        let load = of.virtual_weight(runner);
        let (count, base) = (of.count, self.params.slice);
        let keep_lag = self.params.place_lag && count > 0;
        let entity = &mut self.entities[id];
        if !entity.own_slice {
            entity.slice = base;
        }
        let mut lag = 0;
        if keep_lag && entity.lag != 0 && load > 0 {
            let all = i128::from(load + entity.weight);
            lag = divide(i128::from(entity.lag) * all, i128::from(load));
        }
        entity.vruntime = time - lag;
        if std::mem::take(&mut entity.relative) {
            entity.deadline += entity.vruntime;
            return;
        }
        let mut slice = entity.virtual_ns(entity.slice);
        if arrival == Arrival::New {
            slice /= 2;
        }
        entity.deadline = entity.vruntime + slice;
    }
}
