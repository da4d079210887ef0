//! Moving tasks from one processor to another: which of them, and the load that goes with them.

use super::attempt::{Attempt, Idleness};
use super::busiest::Amount;
use super::domains::Level;
use super::ids::{CoreId, TaskId};
use super::moves::Leaving;
use super::queue::load_of;
use super::tree::{Arrival, Tree};

impl Tree {
    /// Moves waiting tasks of a processor, as much as is asked for; how many.
    pub fn move_tasks(&mut self, attempt: &mut Attempt, from: CoreId, amount: Amount) -> usize {
        let failed = attempt.seat().failed;
        let newly = attempt.idleness == Idleness::NewlyIdle;
        let mut left = amount;
        let (mut moved, mut pinned, mut done) = (0, false, false);
        let mut tasks = std::mem::take(&mut self.spare_tasks);
        self.candidates(from, &mut tasks);
        for task in tasks.drain(..) {
            if attempt.idleness != Idleness::Busy && self.runnable(from) <= 1 {
                break;
            }
            pinned |= !self.tasks[task].may_use(attempt.to);
            let to = self.place_for(task, attempt);
            let to = to.filter(|to| self.may_move(attempt, task, *to));
            let Some(to) = to.filter(|_| self.fits(task, &mut left, failed)) else {
                continue;
            };
            self.migrate(task, to);
            moved += 1;
            done = match left {
                Amount::Load(left) | Amount::Busy(left) => left <= 0.0,
                Amount::Tasks(left) => left == 0,
            };
            if newly || done {
                break;
            }
        }
        self.spare_tasks = tasks;
        attempt.pinned |= pinned && !done;
        moved
    }

    /// Tasks of a processor, least recently run first, as many as are looked at in one go.
    fn candidates(&self, cpu: CoreId, tasks: &mut Vec<TaskId>) {
        let it = &self.cpus[cpu];
        tasks.extend(&it.tasks);
        tasks.sort_unstable_by_key(|task| self.tasks[*task].turn);
        tasks.truncate(self.params.migrate_most);
        tasks.retain(|task| Some(*task) != it.curr);
    }

    /// Where a task goes that is moved: to the processor that looks around or, if it must not run
    /// there, to the first one of its set that it may use (`LBF_DST_PINNED`), for that one
    /// looks around for all of them. Who is about to idle looks for himself.
    pub fn place_for(&self, task: TaskId, attempt: &Attempt) -> Option<CoreId> {
        let Some(allowed) = &self.tasks[task].allowed else {
            return Some(attempt.to);
        };
        if allowed.has(attempt.to) {
            return Some(attempt.to);
        }
        let for_all = attempt.idleness != Idleness::NewlyIdle;
        allowed.first(attempt.own_group()).filter(|_| for_all)
    }

    fn may_move(&self, attempt: &Attempt, task: TaskId, to: CoreId) -> bool {
        let t = &self.tasks[task];
        let from = self.cpus[t.cpu].curr;
        let there = self.find_queue(t.group, to);
        let there = there.map(|queue| self.queue(queue));
        if from == Some(task)
            || self.entity(task).delayed
            || self.goes_to_limbo(task)
            || self.is_throttled(t.group, to)
        {
            return false;
        }
        // Since 6.14 one that owes stays, unless nobody else would move.
        if self.params.is_eevdf()
            && self.params.place_lag
            && attempt.seat().failed == 0
            && there.is_some_and(|queue| queue.count > 0)
            && !self.is_eligible(task)
        {
            return false;
        }
        let warm_for = self.now.saturating_sub(self.entity(task).booked_to);
        let warm = attempt.level() != Level::Smt && warm_for < self.params.migration_cost;
        let warm = warm || self.leaves_memory(task, to);
        let tries = attempt.nice_tries();
        !warm || attempt.seat().failed > tries
    }

    /// Whether a task is no more than what is left to move; takes it off that.
    fn fits(&self, task: TaskId, left: &mut Amount, failed: u32) -> bool {
        let halved = |n: f64| n / f64::from(1u32 << failed.min(20));
        match left {
            Amount::Load(left) => {
                let load = self.task_load(task).max(1.0).floor();
                if halved(load).floor() > *left {
                    return false;
                }
                *left -= load;
            }
            Amount::Busy(left) => {
                let entity = self.entity(task);
                let part = entity.load.peek(entity.load_now(), self.now);
                let busy = part * 1024.0 / load_of(entity.weight);
                let share = busy / f64::from(self.runnable(self.tasks[task].cpu).max(1));
                if halved(share) > *left {
                    return false;
                }
                *left -= share;
            }
            Amount::Tasks(left) => *left -= 1,
        }
        true
    }

    /// Load of a task as seen from the root.
    pub fn task_load(&self, task: TaskId) -> f64 {
        let now = self.now;
        let entity = self.entity(task);
        let mut load = entity.load.peek(entity.load_now(), now);
        let mut id = task;
        loop {
            let queue = self.queue(self.entity(id).queue);
            let Some(above) = queue.entity else {
                return load;
            };
            id = above;
            let all = queue.load.peek(queue.load_now(), now);
            let entity = self.entity(id);
            load *= entity.load.peek(entity.load_now(), now) / (all + 1.0);
        }
    }

    /// Moves a waiting task to another processor.
    pub fn migrate(&mut self, task: TaskId, to: CoreId) {
        self.detach_load(task);
        self.dequeue(task, Leaving::Moving);
        let t = &mut self.tasks[task];
        let from = std::mem::replace(&mut t.cpu, to);
        t.migrations += 1;
        let group = t.group;
        let queue = self.queue_of(group, to);
        self.entities[task].queue = queue;
        self.attach_load(task);
        self.enqueue(task, Arrival::Moved);
        self.look_again(from);
        self.check_preempt(task);
    }

    /// Stops a runner to move it: the last resort where waiting tasks would not move.
    pub fn move_runner(&mut self, from: CoreId, to: CoreId) -> bool {
        let curr = self.cpus[from].curr;
        let Some(curr) = curr.filter(|curr| self.tasks[*curr].may_use(to)) else {
            return false;
        };
        self.switch(from, None);
        self.resched(from);
        self.migrate(curr, to);
        true
    }

    /// A task's load leaves its queue and those above.
    pub fn detach_load(&mut self, task: TaskId) {
        self.shift_load(task, -1.0);
    }

    /// A task's load comes to its queue and those above.
    pub fn attach_load(&mut self, task: TaskId) {
        self.shift_load(task, 1.0);
    }

    fn shift_load(&mut self, task: TaskId, sign: f64) {
        let now = self.now;
        self.update_load(task);
        let mut change = sign * self.entity(task).load.value();
        let mut id = task;
        loop {
            let queue = self.entity(id).queue;
            let of = &mut self.queues[queue];
            if of.throttles > 0 {
                of.load.skip(now); // Time stands still for it.
            }
            let before = of.load.update(of.load_now(), now);
            self.add_load(queue, change);
            match self.queue(queue).entity {
                Some(above) => id = above,
                None => return,
            }
            let target = self.entity(id).load_now();
            let of = self.entities[id].load.update(target, now);
            let weight = load_of(self.entity(id).weight);
            let ratio = if before > 1.0 {
                of / before
            } else {
                weight / 1024.0
            };
            change *= ratio.min(weight / before.max(1.0)).max(0.0);
            self.entities[id].load.add(change);
        }
    }
}
