//! Into queues and out of them: booking runtime, enqueueing and dequeueing up the tree, and new
//! weights.

use super::ids::{EntityId, QueueId, TaskId};
use super::params::Params;
use super::queue::Entity;
use super::tree::{Arrival, Tree};
use crate::kernel::real;

/// Why an entity leaves its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving {
    /// It sleeps, and may have to stay queued for a while.
    Sleeping,
    /// It slept, stayed queued, and owes nothing any more.
    Released,
    /// Its group's quota is used up.
    Throttled,
    /// It goes to another processor.
    Moving,
}

impl Entity {
    /// Ticks at which nothing was to be decided were left out, the last one among them; a runner's
    /// deadline was renewed at them all the same.
    fn catch_up(&mut self, params: &Params, (last, now): (u64, u64)) {
        let tick = params.tick;
        // Where each tick renews it, the last one is enough.
        let mut at = if self.slice <= tick {
            last
        } else {
            params.tick_after(self.booked_to)
        };
        while at < now {
            self.age(at);
            self.renew_deadline(params.slice);
            at += tick;
        }
    }
}

impl Tree {
    /// Books the runtime of a queue's runner, and what follows from it: deadline, quota, whether
    /// another is to be chosen.
    #[inline]
    pub fn book(&mut self, queue: QueueId) {
        let curr = self.queue(queue).curr;
        if let Some(curr) = curr.filter(|curr| self.entity(*curr).booked_to < self.now) {
            self.book_runner(queue, curr);
        }
    }

    fn book_runner(&mut self, queue: QueueId, curr: EntityId) {
        let (now, params) = (self.now, &self.params);
        let (of, entity) = (&mut self.queues[queue], &mut self.entities[curr]);
        let ran = now - entity.booked_to;
        entity.stint += ran;
        let mut anew = false;
        if params.is_eevdf() {
            if self.last_tick > entity.booked_to {
                entity.catch_up(params, (self.last_tick, now));
            }
            entity.age(now);
            let over = entity.renew_deadline(params.slice);
            anew = of.count > 1 && (over || !params.protects(entity));
        } else {
            entity.age(now);
            of.raise_floor(entity.queued.then_some(entity.vruntime));
        }
        let (cpu, limited) = (of.cpu, of.limited);
        if limited {
            self.use_quota(queue, ran);
        }
        if anew {
            self.preempt(cpu);
        }
    }

    /// Puts a task with work into its group's queue on its processor.
    pub fn enqueue(&mut self, task: TaskId, arrival: Arrival) {
        let (cpu, queue) = (self.tasks[task].cpu, self.entity(task).queue);
        self.turn += 1;
        self.tasks[task].turn = self.turn;
        self.cpus[cpu].tasks.push(task);
        self.count_tasks(queue, 1, 1);
        self.join(task, arrival);
    }

    /// An entity joins its queue, and the groups above theirs as far as they don't stand there.
    fn join(&mut self, from: EntityId, arrival: Arrival) {
        let mut next = Some(from);
        let mut slice = None;
        let mut arrival = arrival;
        while let Some(id) = next {
            if self.entity(id).queued {
                if self.entity(id).delayed {
                    self.requeue(id);
                }
                break;
            }
            self.take_slice(id, slice);
            self.enqueue_entity(id, arrival);
            slice = Some(self.shortest_slice(self.entity(id).queue));
            next = self.above(id);
            arrival = Arrival::Woken;
        }
        self.refresh_above(next, slice);
    }

    /// Loads, weights and slices of the groups above that stay where they are.
    fn refresh_above(&mut self, from: Option<EntityId>, slice: Option<u64>) {
        let (mut next, mut slice) = (from, slice);
        while let Some(id) = next {
            self.update_load(id);
            self.update_group_weight(id);
            self.take_slice(id, slice);
            slice = Some(self.shortest_slice(self.entity(id).queue));
            next = self.above(id);
        }
    }

    /// A group asks for the shortest slice of its members.
    fn take_slice(&mut self, id: EntityId, slice: Option<u64>) {
        if let Some(slice) = slice {
            let entity = &mut self.entities[id];
            let old = std::mem::replace(&mut entity.slice, slice);
            entity.own_slice = true;
            if old != slice && entity.queued {
                self.queues[entity.queue].reslice(id, slice);
            }
        }
    }

    fn enqueue_entity(&mut self, id: EntityId, arrival: Arrival) {
        let queue = self.entity(id).queue;
        let is_runner = self.queue(queue).curr == Some(id);
        self.book(queue);
        self.update_load(id);
        self.update_group_weight(id);
        self.place(id, arrival);
        let entity = &mut self.entities[id];
        entity.queued = true;
        let weight = entity.weight;
        let of = &mut self.queues[queue];
        of.count += 1;
        of.weight += weight;
        let first = of.count == 1;
        if !is_runner {
            self.insert(id);
        }
        if first {
            self.note_fading(queue);
            self.check_quota_on_arrival(queue);
        }
    }

    fn place(&mut self, id: EntityId, arrival: Arrival) {
        if self.params.is_eevdf() {
            self.place_eevdf(id, arrival);
        } else {
            self.place_cfs(id, arrival);
        }
    }

    /// A sleeper that stayed queued wakes: it stays where it is, but not with more than its due.
    pub fn requeue(&mut self, id: EntityId) {
        let queue = self.entity(id).queue;
        self.note_lag(id);
        if self.entity(id).lag > 0 {
            let is_runner = self.queue(queue).curr == Some(id);
            if !is_runner {
                self.remove(id);
            }
            self.entities[id].lag = 0;
            self.queues[queue].count -= 1;
            let was = std::mem::replace(&mut self.entities[id].queued, false);
            self.place_eevdf(id, Arrival::Woken);
            self.entities[id].queued = was;
            self.queues[queue].count += 1;
            if !is_runner {
                self.insert(id);
            }
        }
        self.update_load(id);
        self.entities[id].delayed = false;
    }

    /// Takes a task off its queue; `false` if it stays there for what it owes.
    pub fn dequeue(&mut self, task: TaskId, why: Leaving) -> bool {
        let was_delayed = self.entity(task).delayed;
        if self.leave(task, why) {
            let queue = self.entity(task).queue;
            let runnable = if was_delayed { 0 } else { -1 };
            self.count_tasks(queue, -1, runnable);
            self.unlist(task);
            return true;
        }
        let queue = self.entity(task).queue;
        self.count_tasks(queue, 0, -1);
        false
    }

    fn unlist(&mut self, task: TaskId) {
        let cpu = self.tasks[task].cpu;
        let tasks = &mut self.cpus[cpu].tasks;
        if let Some(at) = tasks.iter().position(|t| *t == task) {
            tasks.swap_remove(at);
        }
    }

    /// An entity leaves its queue, and the groups above theirs where nobody is left.
    pub fn leave(&mut self, from: EntityId, why: Leaving) -> bool {
        let (mut next, mut why) = (Some(from), why);
        let mut slice = None;
        while let Some(id) = next {
            let queue = self.entity(id).queue;
            if !self.dequeue_entity(id, why) {
                if id == from && self.entity(id).is_task() {
                    return false;
                }
                slice = Some(self.shortest_slice(queue));
                break;
            }
            let rest = self.queue(queue).count;
            next = self.above(id);
            if rest > 0 {
                slice = Some(self.shortest_slice(queue));
                break;
            }
            if why != Leaving::Throttled {
                why = Leaving::Sleeping;
            }
        }
        self.refresh_above(next, slice);
        true
    }

    fn dequeue_entity(&mut self, id: EntityId, why: Leaving) -> bool {
        let queue = self.entity(id).queue;
        self.book(queue);
        self.update_load(id);
        let stays = why == Leaving::Sleeping
            && self.params.delay_dequeue
            && !self.entity(id).delayed
            && !self.is_eligible(id);
        let time = self.note_lag(id);
        self.forget_buddy(id);
        if stays {
            self.entities[id].delayed = true;
            return false;
        }
        if self.queue(queue).curr != Some(id) {
            self.remove(id);
        }
        let has_deadlines = self.params.is_eevdf();
        let entity = &mut self.entities[id];
        if why == Leaving::Moving && has_deadlines {
            entity.deadline -= entity.vruntime;
            entity.relative = true;
        }
        if std::mem::take(&mut entity.delayed) && entity.lag > 0 {
            entity.lag = 0;
        }
        entity.queued = false;
        let (weight, at) = (entity.weight, entity.vruntime);
        let of = &mut self.queues[queue];
        of.count -= 1;
        of.weight -= weight;
        let rest = of.count;
        if self.params.is_eevdf() {
            of.floor = if rest == 0 { at.max(of.floor) } else { time };
        } else if why == Leaving::Moving {
            let floor = of.floor;
            self.entities[id].vruntime -= floor;
        }
        if rest == 0 {
            self.note_fading(queue);
        }
        self.give_quota_back(queue);
        self.update_group_weight(id);
        true
    }

    /// An entity gets another weight; what it is owed or owes in real time stays the same.
    pub fn reweigh(&mut self, id: EntityId, weight: u64) {
        let old = self.entity(id).weight;
        if !self.entity(id).queued {
            self.set_weight(id, old, weight);
            return;
        }
        let queue = self.entity(id).queue;
        self.book(queue);
        let is_runner = self.queue(queue).curr == Some(id);
        if !self.params.is_eevdf() {
            if !is_runner {
                self.remove(id);
            }
            self.set_weight(id, old, weight);
        } else {
            self.note_lag(id);
            let vruntime = self.entity(id).vruntime;
            if !is_runner {
                self.remove(id);
            }
            let entity = &mut self.entities[id];
            entity.deadline -= vruntime;
            entity.relative = true;
            // From 6.13 to 6.19 a runner stays in the sums while it is placed by its new weight, so
            // that what it is owed grows each time its group gets lighter.
            entity.queued = is_runner && self.params.reweigh_in_sums;
            self.set_weight(id, old, weight);
            self.queues[queue].count -= 1;
            self.place_eevdf(id, Arrival::Woken);
            self.queues[queue].count += 1;
            self.entities[id].queued = true;
        }
        let of = &mut self.queues[queue];
        of.weight = of.weight - old + weight;
        if !is_runner {
            self.insert(id);
        }
    }

    fn set_weight(&mut self, id: EntityId, old: u64, weight: u64) {
        let scale = |n: i64| match n.checked_mul(old as i64) {
            Some(n) => n / weight as i64,
            None => (i128::from(n) * i128::from(old) / i128::from(weight)) as i64,
        };
        let now = self.now;
        let entity = &mut self.entities[id];
        let target = entity.load_now();
        let load = entity.load.update(target, now);
        let change = load * (real(weight) / real(old) - 1.0);
        entity.load.add(change);
        entity.lag = scale(entity.lag);
        if entity.relative {
            entity.deadline = scale(entity.deadline);
        }
        entity.weight = weight;
        let queue = entity.queue;
        if self.queue(queue).throttles == 0 {
            let target = self.queue(queue).load_now();
            self.queues[queue].load.update(target, now);
            self.add_load(queue, change);
        }
    }
}
