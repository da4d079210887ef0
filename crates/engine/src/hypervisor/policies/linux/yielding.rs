//! Yielding: a runner makes way, and may name the one that comes next (its buddy).
//!
//! The buddy is noted in its queue and in those of its groups up to the root. A choice takes it
//! before all others, a protected runner included, as long as it owes nothing (CFS: as long as it
//! is not too far ahead); once it runs, or leaves its queue, the note is gone.

use super::ids::{EntityId, QueueId, TaskId};
use super::queue::Queue;
use super::tree::Tree;

impl Tree {
    /// A runner leaves its processor to a sibling that waits, here or on another processor, and
    /// that comes next there if it owes nothing. Whether it does: not if it does not run, or if the
    /// sibling runs, sleeps or is throttled.
    pub fn hand_over(&mut self, task: TaskId, sibling: TaskId) -> bool {
        let cpu = self.tasks[task].cpu;
        let to = self.tasks[sibling].cpu;
        let waits = self.entity(sibling).queued && !self.entity(sibling).delayed;
        if self.cpus[cpu].curr != Some(task) || !waits || self.cpus[to].curr == Some(sibling) {
            return false;
        }
        self.note_buddy(sibling);
        self.step_back(task);
        self.resched(cpu);
        if to != cpu {
            self.resched(to);
        }
        true
    }

    /// Notes who is to come next, in all queues from its own up to the root.
    pub fn note_buddy(&mut self, id: EntityId) {
        let mut next = Some(id);
        while let Some(id) = next.filter(|id| self.entity(*id).queued) {
            let queue = self.entity(id).queue;
            if self.is_idle_group(id) {
                return;
            }
            self.queues[queue].buddy = Some(id);
            next = self.above(id);
        }
    }

    /// Whether it is a group that runs only where nobody else wants to.
    pub fn is_idle_group(&self, id: EntityId) -> bool {
        let own = self.entity(id).own;
        own.is_some_and(|own| self.groups[self.queue(own).group].idle)
    }

    /// A runner that yields gives up the rest of its slice, unless it owes already: it stands as if
    /// it had run to its deadline (6.18 and the stable kernels of late 2025). CFS has no deadlines:
    /// its runner stays where it is, and is noted as one that is to come after the next one, in all
    /// queues up to the root (`set_skip_buddy`).
    fn step_back(&mut self, task: TaskId) {
        let queue = self.entity(task).queue;
        self.forget_buddy(task);
        self.book(queue);
        if !self.params.is_eevdf() {
            let mut next = Some(task);
            while let Some(id) = next {
                let queue = self.entity(id).queue;
                self.queues[queue].skip = Some(id);
                next = self.above(id);
            }
            return;
        }
        let owes = !self.is_eligible(task);
        let entity = &mut self.entities[task];
        if !owes {
            entity.vruntime = entity.deadline;
            entity.deadline += entity.virtual_ns(entity.slice);
        }
        entity.protected = entity.vruntime;
    }

    /// One that runs now, or leaves its queue, is nobody's buddy any more, nor are its groups that
    /// were named for its sake; nor has it yielded.
    pub fn forget_buddy(&mut self, id: EntityId) {
        self.forget(id, |of| &mut of.buddy);
        self.forget(id, |of| &mut of.skip);
    }

    fn forget(&mut self, id: EntityId, note: impl Fn(&mut Queue) -> &mut Option<EntityId>) {
        let mut next = Some(id);
        while let Some(at) = next {
            let queue = self.entity(at).queue;
            let of = &mut self.queues[queue];
            let noted = note(of);
            if *noted != Some(at) {
                return;
            }
            *noted = None;
            next = of.entity;
        }
    }

    /// The one that was named to come next, if it owes nothing.
    pub fn buddy(&self, queue: QueueId) -> Option<EntityId> {
        let buddy = self.queue(queue).buddy;
        buddy.filter(|buddy| self.is_eligible(*buddy))
    }
}
