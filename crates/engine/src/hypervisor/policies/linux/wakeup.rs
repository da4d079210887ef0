//! Waking: which processor a task goes to, and whether it takes its runner's place.

use std::cmp::Reverse;

use super::domains::{Domains, LEVELS};
use super::queue::NONE;
use super::tree::{TaskId, Tree};

/// Idle processors in the sets around one, from the machine in.
type Room = [u32; LEVELS];

impl Tree {
    /// Processor for a task that wakes: the one it was on or its waker's, or an idle one that
    /// shares the last cache level with it.
    pub fn choose_cpu(&self, domains: &Domains, task: TaskId, waker: Option<u16>) -> u16 {
        let t = &self.tasks[task as usize];
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
    fn drawn_to(&self, task: TaskId, waker: u16) -> u16 {
        let prev = self.tasks[task as usize].cpu;
        if self.runnable(waker) <= 1 {
            return waker;
        }
        if self.is_idle(prev) {
            return prev;
        }
        let own = self.task_load(task);
        let curr = self.cpus[usize::from(waker)].curr;
        let leaves = if curr == NONE {
            0.0
        } else {
            self.task_load(curr)
        };
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
    fn idle_near(&self, domains: &Domains, task: TaskId, target: u16) -> u16 {
        let t = &self.tasks[task as usize];
        if self.is_idle(target) {
            return target;
        }
        let prev = t.cpu;
        let cache = domains.cache_of(target);
        if cache.contains(&prev) && self.is_idle(prev) {
            return prev;
        }
        let after = self.idle.each(target + 1..cache.end);
        let around = after.chain(self.idle.each(cache.start..target));
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

    /// Processor for a new task: of the emptiest node, the emptiest cache, an idle core, a thread;
    /// the least loaded where none is idle.
    pub fn idlest(&self, domains: &Domains, task: TaskId) -> u16 {
        let t = &self.tasks[task as usize];
        let (mut best, mut next) = (None, 0);
        while let Some(cpu) = (next..self.cpus.len() as u16).find(|cpu| t.may_use(*cpu)) {
            next = cpu + 1;
            let mut room = Room::default();
            let most = best.map_or(Room::default(), |(_, room, _)| room);
            for (level, group) in domains.groups_of(cpu).enumerate() {
                // One more, so that a level that isn't there comes before an empty one.
                room[level] = 1 + self.idle.count(group.clone());
                if room[..=level] < most[..=level] {
                    next = group.end; // All of the set are behind.
                    break;
                }
            }
            if room < most {
                continue;
            }
            let load = (self.cpu_load(cpu) * 1024.0) as u64;
            let rank = (self.is_idle(cpu), Reverse(load));
            if best.is_none_or(|(_, _, before)| room > most || rank > before) {
                best = Some((cpu, room, rank));
            }
        }
        best.map_or(0, |(cpu, ..)| cpu)
    }

    /// Whether a woken task takes its processor from the runner.
    pub fn check_preempt(&mut self, task: TaskId) {
        let cpu = self.tasks[task as usize].cpu;
        let it = &self.cpus[usize::from(cpu)];
        let curr = it.curr;
        if curr == NONE {
            self.resched(cpu);
            return;
        }
        if curr == task || it.resched || self.goes_to_limbo(task) {
            self.look_again(cpu);
            return;
        }
        self.look_again(cpu);
        let Some((runner, woken)) = self.in_one_queue(curr, task) else {
            return;
        };
        let queue = self.entity(woken).queue;
        let idle = |tree: &Self, id: u32| {
            let entity = tree.entity(id);
            !entity.is_task() && {
                let group = tree.queue(entity.own).group;
                tree.groups[usize::from(group)].idle
            }
        };
        match (idle(self, runner), idle(self, woken)) {
            (true, false) => return self.resched(cpu),
            (false, true) => return,
            _ => {}
        }
        self.book(queue);
        if !self.params.is_eevdf() {
            if self.preempts_cfs(woken, runner) {
                self.resched(cpu);
            }
            return;
        }
        let shorter = self.entity(woken).slice < self.entity(runner).slice;
        if self.pick_eevdf(queue, !shorter) == woken {
            if shorter {
                let vruntime = self.entity(runner).vruntime;
                self.entities[runner as usize].protected = vruntime;
            }
            self.resched(cpu);
        } else if shorter && self.params.run_to_parity {
            let slice = self.shortest_slice(queue);
            let entity = &mut self.entities[runner as usize];
            let early = entity.vruntime + entity.virtual_ns(slice);
            entity.protected = entity.protected.min(early);
        }
    }

    /// The entities of two tasks, or of groups above them, that stand in the same queue.
    fn in_one_queue(&self, a: TaskId, b: TaskId) -> Option<(u32, u32)> {
        let (mut a, mut b) = self.side_by_side(a, b);
        while self.entity(a).queue != self.entity(b).queue && self.above(a) != NONE {
            (a, b) = (self.above(a), self.above(b));
        }
        (a != b).then_some((a, b))
    }
}

impl Tree {
    /// A task that wakes is on this processor from now on.
    pub fn settle_on(&mut self, task: TaskId, cpu: u16, prev: u16) {
        let group = self.tasks[task as usize].group;
        if prev == u16::MAX {
            // A new task counts as one that has always wanted to run.
            self.tasks[task as usize].cpu = cpu;
            let queue = self.queue_of(group, cpu);
            let now = self.now;
            let entity = &mut self.entities[task as usize];
            entity.queue = queue;
            entity.load = super::average::Average::at(entity.weight as f64 / 1024.0, now);
            self.attach_load(task);
        } else if prev != cpu {
            self.detach_load(task);
            let t = &mut self.tasks[task as usize];
            t.cpu = cpu;
            t.migrations += 1;
            let queue = self.queue_of(group, cpu);
            self.entities[task as usize].queue = queue;
            self.attach_load(task);
        }
    }

    /// A processor that idled gets work: its idle times are averaged.
    pub fn note_idle_end(&mut self, cpu: u16) {
        if !self.is_idle(cpu) {
            return;
        }
        let (now, most) = (self.now, 2 * self.params.migration_cost);
        let it = &mut self.cpus[usize::from(cpu)];
        let lasted = now - it.idle_from;
        let mean = it.idle_mean as i64 + (lasted as i64 - it.idle_mean as i64) / 8;
        it.idle_mean = (mean.max(0) as u64).min(most);
    }
}
