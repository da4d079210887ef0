//! NUMA balancing, the tasks' side: a task goes to where its memory is, if there is room or one to
//! change places with, and load balancing leaves it there as it leaves a warm one.

use super::domains::Domains;
use super::queue::NONE;
use super::tree::{TaskId, Tree};

impl Tree {
    /// Whether a move takes a task away from its memory.
    pub fn leaves_memory(&self, task: TaskId, to: u16) -> bool {
        let t = &self.tasks[task as usize];
        let beside = |cpu: u16| t.preferred.is_some_and(|range| holds(range, cpu));
        beside(t.cpu) && !beside(to)
    }

    /// A task prefers these processors; one that runs elsewhere goes there now if it can.
    pub fn draw_to(&mut self, domains: &Domains, task: TaskId, cpus: (u16, u16)) {
        let t = &mut self.tasks[task as usize];
        t.preferred = Some(cpus);
        let from = t.cpu;
        let runs = from != u16::MAX && self.cpus[usize::from(from)].curr == task;
        if !runs || holds(cpus, from) {
            return;
        }
        if let Some(to) = self.idle_of(domains, task, cpus) {
            self.take_runner(task, from, to);
        } else if let Some(other) = self.partner(task, from, cpus) {
            let to = self.tasks[other as usize].cpu;
            self.switch(to, NONE);
            self.resched(to);
            self.take_runner(task, from, to);
            self.migrate(other, from);
        }
    }

    /// An idle processor that a task may use, on an idle core if there is one.
    fn idle_of(&self, domains: &Domains, task: TaskId, cpus: (u16, u16)) -> Option<u16> {
        let t = &self.tasks[task as usize];
        let idle = || {
            let idle = self.idle.each(cpus.0..cpus.0 + cpus.1);
            idle.filter(|cpu| t.may_use(*cpu))
        };
        let whole = |cpu: &u16| self.idle.holds(domains.core_of(*cpu));
        idle().find(whole).or_else(|| idle().next())
    }

    /// A runner there that had better be here.
    fn partner(&self, task: TaskId, here: u16, cpus: (u16, u16)) -> Option<TaskId> {
        let t = &self.tasks[task as usize];
        let runners = (cpus.0..cpus.0 + cpus.1).filter(|cpu| t.may_use(*cpu));
        let mut others = runners.map(|cpu| self.cpus[usize::from(cpu)].curr);
        others.find(|other| {
            *other != NONE && {
                let o = &self.tasks[*other as usize];
                o.may_use(here) && o.preferred.is_some_and(|range| holds(range, here))
            }
        })
    }

    fn take_runner(&mut self, task: TaskId, from: u16, to: u16) {
        self.switch(from, NONE);
        self.resched(from);
        self.migrate(task, to);
    }
}

fn holds((first, count): (u16, u16), cpu: u16) -> bool {
    (first..first + count).contains(&cpu)
}
