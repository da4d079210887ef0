//! Choosing: the way down the tree to the next task, and the change from one runner to another.

use super::ids::{CoreId, EntityId, QueueId, TaskId};
use super::moves::Leaving;
use super::queue::Entity;
use super::tree::Tree;

impl Tree {
    /// The next task of a processor; none if there is none. Sleepers on the way that owe
    /// nothing any more leave; groups whose quota is used up are throttled.
    pub fn pick_task(&mut self, cpu: CoreId) -> Option<TaskId> {
        loop {
            let task = self.descend(cpu)?;
            if self.queue(self.entity(task).queue).throttles == 0 {
                return Some(task);
            }
            // The throttled one gets the processor, only to be taken off on its way out of the
            // kernel.
            self.pass(cpu, task);
        }
    }

    fn descend(&mut self, cpu: CoreId) -> Option<TaskId> {
        let root = self.root_of(cpu);
        let mut queue = root;
        loop {
            if self.queue(queue).count == 0 {
                return None;
            }
            let limited = self.queue(queue).limited;
            if self.runner(queue).is_some() {
                self.book(queue);
            }
            if limited {
                self.check_quota(queue);
            }
            let next = self.pick_entity(queue)?;
            if self.entity(next).delayed {
                self.release(next);
                queue = root;
                continue;
            }
            match self.entity(next).own {
                Some(own) => queue = own,
                None => return Some(next),
            }
        }
    }

    fn pick_entity(&mut self, queue: QueueId) -> Option<EntityId> {
        if self.params.is_eevdf() {
            let buddy = self.buddy(queue);
            return buddy.or_else(|| self.pick_eevdf(queue, true));
        }
        let first = self.pick_cfs(queue)?;
        let next = self.instead_cfs(queue, first);
        self.forget_buddy(next);
        Some(next)
    }

    /// A sleeper that stayed queued for what it owed leaves.
    fn release(&mut self, id: EntityId) {
        if self.entity(id).is_task() {
            self.dequeue(id, Leaving::Released);
        } else {
            self.leave(id, Leaving::Released);
        }
    }

    /// A task of a throttled group goes into limbo. Since 6.18 it gets there by itself, so that the
    /// runner makes way for it; before, the group was taken off as a whole.
    fn pass(&mut self, cpu: CoreId, task: TaskId) {
        if self.cpus[cpu].curr != Some(task) && self.params.is_eevdf() {
            self.switch(cpu, Some(task));
            self.cpus[cpu].passed.push(task);
        }
        self.dequeue(task, Leaving::Throttled);
        self.enter_limbo(task);
    }

    /// From one task to another: runners change from the task up to where both have a group in
    /// common.
    pub fn switch(&mut self, cpu: CoreId, next: Option<TaskId>) {
        let prev = self.cpus[cpu].curr;
        if prev == next {
            return;
        }
        let now = self.now;
        let old = if prev.is_none() { 0.0 } else { 1024.0 };
        let it = &mut self.cpus[cpu];
        it.busy.update(old, now);
        it.curr = next;
        self.note_idle(cpu);
        let is_here = |task: &TaskId| self.tasks[*task].cpu == cpu;
        let (old, new) = (prev.filter(is_here), next.filter(is_here));
        let common = self.common(old, new);
        let (mut out, mut into) = (old, new);
        while let Some(id) = out.filter(|_| out != common) {
            out = self.put_back(id);
        }
        while let Some(id) = into.filter(|_| into != common) {
            into = self.take_out(id);
        }
        if let Some(next) = next {
            self.turn += 1;
            self.tasks[next].turn = self.turn;
        }
    }

    /// The nearest entity that is above both, or is both.
    fn common(&self, a: Option<EntityId>, b: Option<EntityId>) -> Option<EntityId> {
        let (mut a, mut b) = self.side_by_side(a?, b?);
        while a != b {
            (a, b) = (self.above(a)?, self.above(b)?);
        }
        Some(a)
    }

    /// Two entities, or the one above one of them that is as far from the root as the other.
    pub fn side_by_side(&self, a: EntityId, b: EntityId) -> (EntityId, EntityId) {
        let depth = |id: EntityId| self.queue(self.entity(id).queue).depth;
        let climb = |mut id: EntityId, to: u16| {
            (to..depth(id)).for_each(|_| id = self.above(id).unwrap_or(id));
            id
        };
        (climb(a, depth(b)), climb(b, depth(a)))
    }

    /// A runner goes back among those that wait in its queue; the entity above.
    fn put_back(&mut self, id: EntityId) -> Option<EntityId> {
        let queue = self.entity(id).queue;
        let of = self.queue(queue);
        let above = of.entity;
        if of.curr != Some(id) {
            return above;
        }
        if self.entity(id).queued {
            let limited = of.limited;
            self.book(queue);
            if limited {
                self.check_quota(queue);
            }
        }
        let (entity, of) = (&mut self.entities[id], &mut self.queues[queue]);
        if entity.queued {
            of.insert(self.params.key(entity), id, entity);
        }
        let change = of.update_loads(entity, self.now);
        of.curr = None;
        self.groups.tell(of.group, change);
        above
    }

    /// One that waits becomes the runner of its queue; the entity above.
    fn take_out(&mut self, id: EntityId) -> Option<EntityId> {
        let (now, params) = (self.now, &self.params);
        let entity = &mut self.entities[id];
        let of = &mut self.queues[entity.queue];
        if entity.queued {
            of.remove(params.key(entity), id, entity);
        }
        let change = of.update_loads(entity, now);
        entity.booked_to = now.max(self.cpus[of.cpu].handles_until);
        entity.stint = 0;
        of.curr = Some(id);
        if params.is_eevdf() {
            entity.protect(of.least_slice(), params.slice);
        }
        self.groups.tell(of.group, change);
        let above = of.entity;
        self.forget_buddy(id);
        above
    }
}

impl Entity {
    /// One that has just been chosen is left alone until the shortest slice around is used up:
    /// that of those that wait, or its own, if it is queued itself.
    fn protect(&mut self, waiting: u64, base: u64) {
        let own = if self.queued { self.slice } else { u64::MAX };
        let shortest = match waiting.min(own) {
            u64::MAX => base,
            least => least,
        };
        let slice = shortest.min(self.slice);
        self.protected = self.deadline;
        if slice != self.slice {
            let early = self.vruntime + self.virtual_ns(slice);
            self.protected = self.protected.min(early);
        }
    }
}
