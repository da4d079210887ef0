//! NUMA balancing, the tasks' side: a task goes to where its memory is, if there is room or one to
//! change places with, and load balancing leaves it there as it leaves a warm one.

use super::domains::Domains;
use super::ids::{CoreId, Span, TaskId};
use super::tree::Tree;

impl Tree {
    /// Whether a move takes a task away from its memory.
    pub fn leaves_memory(&self, task: TaskId, to: CoreId) -> bool {
        let t = &self.tasks[task];
        let beside = |cpu: CoreId| t.preferred.is_some_and(|range| range.contains(cpu));
        beside(t.cpu) && !beside(to)
    }

    /// A task prefers these processors; one that runs elsewhere goes there now if it can.
    pub fn draw_to(&mut self, domains: &Domains, task: TaskId, cpus: Span<CoreId>) {
        let t = &mut self.tasks[task];
        t.preferred = Some(cpus);
        let from = t.cpu;
        let runs = t.placed && self.cpus[from].curr == Some(task);
        if !runs || cpus.contains(from) {
            return;
        }
        if let Some(to) = self.idle_of(domains, task, cpus) {
            self.take_runner(task, from, to);
        } else if let Some(other) = self.partner(task, from, cpus) {
            let to = self.tasks[other].cpu;
            self.switch(to, None);
            self.resched(to);
            self.take_runner(task, from, to);
            self.migrate(other, from);
        }
    }

    /// An idle processor that a task may use, on an idle core if there is one.
    fn idle_of(&self, domains: &Domains, task: TaskId, cpus: Span<CoreId>) -> Option<CoreId> {
        let t = &self.tasks[task];
        let idle = || {
            let idle = self.idle.each(cpus);
            idle.filter(|cpu| t.may_use(*cpu))
        };
        let whole = |cpu: &CoreId| self.idle.holds(domains.core_of(*cpu));
        idle().find(whole).or_else(|| idle().next())
    }

    /// A runner there that had better be here.
    fn partner(&self, task: TaskId, here: CoreId, cpus: Span<CoreId>) -> Option<TaskId> {
        let t = &self.tasks[task];
        let runners = cpus.into_iter().filter(|cpu| t.may_use(*cpu));
        let mut others = runners.filter_map(|cpu| self.cpus[cpu].curr);
        others.find(|other| {
            let o = &self.tasks[*other];
            o.may_use(here) && o.preferred.is_some_and(|range| range.contains(here))
        })
    }

    fn take_runner(&mut self, task: TaskId, from: CoreId, to: CoreId) {
        self.switch(from, None);
        self.resched(from);
        self.migrate(task, to);
    }
}
