//! Waking: which processor a task goes to, and whether it takes its runner's place.

use super::domains::Domains;
use super::ids::{between, CoreId, EntityId, QueueId, TaskId};
use super::tree::Tree;

impl Tree {
    /// Processor for a task that wakes: the one it was on or its waker's, or an idle one that
    /// shares the last cache level with it.
    pub fn choose_cpu(&self, domains: &Domains, task: TaskId, waker: Option<CoreId>) -> CoreId {
        let t = &self.tasks[task];
        let prev = t.cpu;
        if !t.may_use(prev) {
            return self.idlest(domains, task);
        }
        let target = match waker {
            Some(waker) if waker != prev && self.params.wake_affine && t.may_use(waker) => {
                self.drawn_to(task, waker)
            }
            _ => prev,
        };
        self.idle_near(domains, task, target)
    }

    /// Whether a task is drawn from where it was to its waker, which says by the wake-up that it
    /// will sleep soon (`WF_SYNC`), as all who send a message and wait for the answer do.
    fn drawn_to(&self, task: TaskId, waker: CoreId) -> CoreId {
        let prev = self.tasks[task].cpu;
        if self.runnable(waker) <= 1 {
            return waker;
        }
        if self.is_idle(prev) {
            return prev;
        }
        let own = self.task_load(task);
        let curr = self.cpus[waker].curr;
        let leaves = curr.map_or(0.0, |curr| self.task_load(curr));
        let there = self.cpu_load(waker) - leaves;
        if there < 0.0 {
            return waker;
        }
        // A lead of half the imbalance at which work would be moved (`WA_BIAS`).
        let bias = 1.0 + f64::from(self.params.balance.imbalance_pct - 100) / 200.0;
        let here = (self.cpu_load(prev) - own) * bias;
        // At equal loads to the waker, for it sleeps soon.
        if there + own <= here {
            waker
        } else {
            prev
        }
    }

    /// An idle processor that shares the last cache level with `target`: that one itself, then
    /// one of an idle core, then any.
    fn idle_near(&self, domains: &Domains, task: TaskId, target: CoreId) -> CoreId {
        let t = &self.tasks[task];
        if self.is_idle(target) {
            return target;
        }
        let prev = t.cpu;
        let cache = domains.cache_of(target);
        if cache.contains(prev) && self.is_idle(prev) {
            return prev;
        }
        let (at, all) = (target.index(), cache.numbers());
        let after = self.idle.each(between(at + 1, all.end));
        let around = after.chain(self.idle.each(between(all.start, at)));
        let mut found = target;
        for cpu in around.filter(|cpu| t.may_use(*cpu)) {
            if domains.siblings == 1 || self.idle.holds(domains.core_of(cpu)) {
                return cpu;
            }
            if found == target {
                found = cpu;
            }
        }
        found
    }

    /// Whether a woken task takes its processor from the runner.
    pub fn check_preempt(&mut self, task: TaskId) {
        let cpu = self.tasks[task].cpu;
        let it = &self.cpus[cpu];
        let Some(curr) = it.curr else {
            self.resched(cpu);
            return;
        };
        if curr == task || it.resched || self.goes_to_limbo(task) {
            self.look_again(cpu);
            return;
        }
        self.look_again(cpu);
        let Some((runner, woken)) = self.in_one_queue(curr, task) else {
            return;
        };
        let queue = self.entity(woken).queue;
        match (self.is_idle_group(runner), self.is_idle_group(woken)) {
            (true, false) => return self.preempt(cpu),
            (false, true) => return,
            _ => {}
        }
        self.book(queue);
        if !self.params.is_eevdf() {
            if self.preempts_cfs(woken, runner) {
                // Who preempts comes next, though another one that waits may have had less.
                self.note_buddy(woken);
                self.preempt(cpu);
            }
            return;
        }
        let shorter = self.entity(woken).slice < self.entity(runner).slice;
        if self.pick_eevdf(queue, !shorter) == Some(woken) {
            if shorter {
                let vruntime = self.entity(runner).vruntime;
                self.entities[runner].protected = vruntime;
            }
            self.preempt(cpu);
        } else if shorter && self.params.run_to_parity {
            let slice = self.shortest_slice(queue);
            let entity = &mut self.entities[runner];
            let early = entity.vruntime + entity.virtual_ns(slice);
            entity.protected = entity.protected.min(early);
        }
    }

    /// The entities of two tasks, or of groups above them, that stand in the same queue.
    fn in_one_queue(&self, a: TaskId, b: TaskId) -> Option<(EntityId, EntityId)> {
        let (mut a, mut b) = self.side_by_side(a, b);
        while self.entity(a).queue != self.entity(b).queue {
            match (self.above(a), self.above(b)) {
                (Some(above), Some(beside)) => (a, b) = (above, beside),
                _ => break,
            }
        }
        (a != b).then_some((a, b))
    }
}

impl Tree {
    /// A task that wakes is on this processor from now on.
    pub fn settle_on(&mut self, task: TaskId, cpu: CoreId, prev: Option<CoreId>) {
        let group = self.tasks[task].group;
        if prev.is_none() {
            // A new task counts as one that has always wanted to run.
            let t = &mut self.tasks[task];
            (t.placed, t.cpu) = (true, cpu);
            let queue = self.queue_of(group, cpu);
            let now = self.now;
            let entity = &mut self.entities[task];
            entity.queue = queue;
            entity.load = super::average::Average::at(super::queue::load_of(entity.weight), now);
            self.attach_load(task);
        } else if prev != Some(cpu) {
            self.detach_load(task);
            let t = &mut self.tasks[task];
            t.cpu = cpu;
            t.migrations += 1;
            let queue = self.queue_of(group, cpu);
            self.carries_over(task, queue);
            self.entities[task].queue = queue;
            self.attach_load(task);
        }
    }

    /// A sleeper wakes on another queue: under CFS it is as far ahead of the new queue's least
    /// virtual runtime as it was of the old one's (`migrate_task_rq_fair`). EEVDF keeps the lag.
    fn carries_over(&mut self, task: TaskId, to: QueueId) {
        if self.params.is_eevdf() {
            return;
        }
        self.book(to);
        let from = self.entity(task).queue;
        let (left, met) = (self.queue(from).floor, self.queue(to).floor);
        self.entities[task].vruntime += met - left;
    }

    /// A processor that idled gets work: its idle times are averaged.
    pub fn note_idle_end(&mut self, cpu: CoreId) {
        if !self.is_idle(cpu) {
            return;
        }
        let (now, most) = (self.now, 2 * self.params.migration_cost);
        let it = &mut self.cpus[cpu];
        let lasted = now - it.idle_from;
        let mean = it.idle_mean as i64 + (lasted as i64 - it.idle_mean as i64) / 8;
        it.idle_mean = (mean.max(0) as u64).min(most);
    }
}

impl Tree {
    /// What comes is told by this processor, which leaves the kernel then; none = by nobody's.
    pub fn is_inside(&mut self, cpu: Option<CoreId>) {
        if !self.params.lazy {
            return;
        }
        self.lazy.inside = cpu;
        if let Some(cpu) = cpu.filter(|cpu| self.lazy.noted[cpu.index()]) {
            self.resched(cpu);
        }
    }

    /// Another thread of the fair class is to have a processor.
    pub fn preempt(&mut self, cpu: CoreId) {
        let at_once = !self.params.lazy || self.lazy.inside == Some(cpu);
        if at_once || self.cpus[cpu].curr.is_none() {
            self.resched(cpu);
        } else {
            self.lazy.noted[cpu.index()] = true;
            self.look_again(cpu);
        }
    }

    /// Whether a runner is to make way at its next tick.
    pub fn makes_way_soon(&self, cpu: CoreId) -> bool {
        self.lazy.noted[cpu.index()]
    }

    /// A processor is to choose anew.
    pub fn resched(&mut self, cpu: CoreId) {
        self.cpus[cpu].resched = true;
        self.lazy.noted[cpu.index()] = false;
        self.look_again(cpu);
    }

    /// A processor is to be looked at.
    pub fn look_again(&mut self, cpu: CoreId) {
        if !std::mem::replace(&mut self.cpus[cpu].pending, true) {
            self.pending.push_back(cpu);
        }
    }
}
