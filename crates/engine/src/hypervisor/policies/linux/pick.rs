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
        let root = self.queue_of(0, cpu);
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
        let (old, new) = (self.path(cpu, prev), self.path(cpu, next));
        let common = old.iter().rev().zip(new.iter().rev());
        let common = common.take_while(|(a, b)| a == b).count();
        for id in &old[..old.len() - common] {
            self.put_back(*id);
        }
        for id in &new[..new.len() - common] {
            self.take_out(*id);
        }
        if next != NONE {
            self.turn += 1;
            self.tasks[next as usize].turn = self.turn;
        }
    }

    /// A task's entity and those of its groups, up to the root, as runners stand in the queues.
    fn path(&self, cpu: u16, task: TaskId) -> Vec<EntityId> {
        let mut path = Vec::with_capacity(4);
        if task == NONE {
            return path;
        }
        let mut id = if self.tasks[task as usize].cpu == cpu {
            task
        } else {
            return path;
        };
        while id != NONE {
            path.push(id);
            id = self.above(id);
        }
        path
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
