//! The completely fair scheduler, up to 6.5: the one with the least virtual runtime runs, for
//! a part of the latency period by weight; sleepers come back with some credit.

use super::ids::{EntityId, QueueId};
use super::queue::{virtual_ns, Entity};
use super::tree::{Arrival, Tree};

/// Runners that the latency period is for; beyond, it gets longer.
const LATENCY_RUNNERS: u32 = 8;

impl Tree {
    /// The next one of a queue, its runner included, before anybody is named or has yielded.
    pub fn pick_cfs(&self, queue: QueueId) -> Option<EntityId> {
        self.earlier(queue, self.queue(queue).first())
    }

    /// One of those that wait, or the runner if it has had less.
    fn earlier(&self, queue: QueueId, waits: Option<EntityId>) -> Option<EntityId> {
        let is_before =
            |curr: &Entity| waits.is_none_or(|id| curr.vruntime < self.entity(id).vruntime);
        match self.runner(queue) {
            Some(curr) if is_before(curr) => self.queue(queue).curr,
            Some(_) | None => waits,
        }
    }

    /// Who comes in place of the first one: who was named, else who comes after one that yielded;
    /// neither if it has had so much more that the first one would preempt it by waking
    /// (`pick_next_entity`).
    pub fn instead_cfs(&self, queue: QueueId, first: EntityId) -> EntityId {
        let of = self.queue(queue);
        let is_fair = |id: &EntityId| !self.preempts_cfs(first, *id);
        if let Some(buddy) = of.buddy.filter(is_fair) {
            return buddy;
        }
        if of.skip != Some(first) {
            return first;
        }
        let after = if of.curr == Some(first) {
            of.first()
        } else {
            self.earlier(queue, of.second())
        };
        after.filter(is_fair).unwrap_or(first)
    }

    /// Places one that comes: a new one at the end of a period, a sleeper with credit.
    pub fn place_cfs(&mut self, id: EntityId, arrival: Arrival) {
        let queue = self.entity(id).queue;
        let runner = self.runner(queue).map(|e| e.vruntime);
        let of = &mut self.queues[queue];
        of.raise_floor(runner);
        let floor = of.floor;
        let credit = if self.params.gentle {
            self.params.latency / 2
        } else {
            self.params.latency
        };
        let slice = self.cfs_slice(id);
        let entity = &mut self.entities[id];
        match arrival {
            Arrival::New => entity.vruntime = floor + entity.virtual_ns(slice),
            Arrival::Woken => entity.vruntime = entity.vruntime.max(floor - credit as i64),
            Arrival::Moved => entity.vruntime += floor,
        }
    }

    /// Part of the period that an entity gets [ns].
    fn cfs_slice(&self, id: EntityId) -> u64 {
        let entity = self.entity(id);
        let mut count = self.queue(entity.queue).count;
        count += u32::from(!entity.queued);
        let mut slice = if count > LATENCY_RUNNERS {
            u64::from(count) * self.params.granularity
        } else {
            self.params.latency
        } as f64;
        let mut next = Some(id);
        while let Some(at) = next {
            let entity = self.entity(at);
            let own = entity.weight as f64;
            let mut all = self.queue(entity.queue).weight as f64;
            if !entity.queued {
                all += own;
            }
            slice *= own / all;
            next = self.above(at);
        }
        slice as u64
    }

    /// At a tick: whether a queue's runner has had its part, or is too far ahead.
    pub fn is_over_cfs(&self, queue: QueueId) -> bool {
        let of = self.queue(queue);
        let Some(id) = of.curr.filter(|_| of.count > 1) else {
            return false;
        };
        let curr = self.entity(id);
        let slice = self.cfs_slice(id).min(self.params.latency);
        if curr.stint > slice {
            return true;
        }
        let first = of.first_vruntime();
        curr.stint >= self.params.granularity
            && first.is_some_and(|first| curr.vruntime - first > slice as i64)
    }

    /// Whether a woken one is far enough behind the runner to take its place.
    pub fn preempts_cfs(&self, woken: EntityId, runner: EntityId) -> bool {
        let woken = self.entity(woken);
        let lead = self.entity(runner).vruntime - woken.vruntime;
        lead > virtual_ns(self.params.wakeup_granularity, woken.weight)
    }
}
