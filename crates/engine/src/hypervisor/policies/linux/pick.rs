//! Choosing: the way down the tree to the next task, and the change from one runner to another.

use super::moves::Leaving;
use super::queue::{EntityId, QueueId, NONE};
use super::tree::{TaskId, Tree};

impl Tree {
    /// The next task of a processor; [`NONE`] if there is none. Sleepers on the way that owe
    /// nothing any more leave; groups whose quota is used up are throttled.
    pub fn pick_task(&mut self, cpu: u16) -> TaskId {
        loop {
            let task = self.descend(cpu);
            if task == NONE || self.queue(self.entity(task).queue).throttles == 0 {
                return task;
            }
            // The throttled one gets the processor, only to be taken off on its way out of the
            // kernel.
            self.pass(cpu, task);
        }
    }

    fn descend(&mut self, cpu: u16) -> TaskId {
        let root = self.root_of(cpu);
        let mut queue = root;
        loop {
            if self.queue(queue).count == 0 {
                return NONE;
            }
            if self.runner(queue).is_some() {
                self.book(queue);
            }
            self.check_quota(queue);
            let next = self.pick_entity(queue);
            if self.entity(next).delayed {
                self.release(next);
                queue = root;
                continue;
            }
            if self.entity(next).is_task() {
                return next;
            }
            queue = self.entity(next).own;
        }
    }

    fn pick_entity(&self, queue: QueueId) -> EntityId {
        if self.params.is_eevdf() {
            let buddy = self.buddy(queue);
            buddy.unwrap_or_else(|| self.pick_eevdf(queue, true))
        } else {
            let first = self.pick_cfs(queue);
            self.buddy_cfs(queue, first).unwrap_or(first)
        }
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
    fn pass(&mut self, cpu: u16, task: TaskId) {
        if self.cpus[usize::from(cpu)].curr != task && self.params.is_eevdf() {
            self.switch(cpu, task);
            self.cpus[usize::from(cpu)].passed.push(task);
        }
        self.dequeue(task, Leaving::Throttled);
        self.enter_limbo(task);
    }

    /// From one task to another: runners change from the task up to where both have a group in
    /// common.
    pub fn switch(&mut self, cpu: u16, next: TaskId) {
        let prev = self.cpus[usize::from(cpu)].curr;
        if prev == next {
            return;
        }
        let now = self.now;
        let old = if prev == NONE { 0.0 } else { 1024.0 };
        let it = &mut self.cpus[usize::from(cpu)];
        it.busy.update(old, now);
        it.curr = next;
        self.note_idle(cpu);
        let here = |tree: &Self, task: TaskId| match task {
            NONE => NONE,
            _ if tree.tasks[task as usize].cpu == cpu => task,
            _ => NONE,
        };
        let (old, new) = (here(self, prev), here(self, next));
        let common = self.common(old, new);
        let (mut out, mut into) = (old, new);
        while out != common {
            self.put_back(out);
            out = self.above(out);
        }
        while into != common {
            self.take_out(into);
            into = self.above(into);
        }
        if next != NONE {
            self.turn += 1;
            self.tasks[next as usize].turn = self.turn;
        }
    }

    /// The nearest entity that is above both, or is both.
    fn common(&self, a: EntityId, b: EntityId) -> EntityId {
        if a == NONE || b == NONE {
            return NONE;
        }
        let (mut a, mut b) = self.side_by_side(a, b);
        while a != b && a != NONE {
            (a, b) = (self.above(a), self.above(b));
        }
        a
    }

    /// Two entities, or the one above one of them that is as far from the root as the other.
    pub fn side_by_side(&self, a: EntityId, b: EntityId) -> (EntityId, EntityId) {
        let depth = |id: EntityId| self.queue(self.entity(id).queue).depth;
        let climb = |mut id: EntityId, to: u16| {
            (to..depth(id)).for_each(|_| id = self.above(id));
            id
        };
        (climb(a, depth(b)), climb(b, depth(a)))
    }

    fn put_back(&mut self, id: EntityId) {
        let queue = self.entity(id).queue;
        if self.queue(queue).curr != id {
            return;
        }
        if self.entity(id).queued {
            self.book(queue);
            self.check_quota(queue);
            self.insert(id);
        }
        self.update_load(id);
        self.queues[queue as usize].curr = NONE;
    }

    fn take_out(&mut self, id: EntityId) {
        let queue = self.entity(id).queue;
        if self.entity(id).queued {
            self.remove(id);
        }
        self.update_load(id);
        let now = self.now;
        let entity = &mut self.entities[id as usize];
        entity.booked_to = now;
        entity.stint = 0;
        self.queues[queue as usize].curr = id;
        self.forget_buddy(id);
        if self.params.is_eevdf() {
            self.protect(id);
        }
    }
}
