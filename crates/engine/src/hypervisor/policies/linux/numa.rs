//! NUMA balancing, the tasks' side: a task goes to where its memory is if that leaves no more to be
//! evened out than load balancing would let be, or changes places with one that wants to come here;
//! load balancing leaves it there as it leaves a warm one.
//!
//! After the kernel's `task_numa_find_cpu` and `task_numa_compare`. Left out: a change of places
//! that one loses by as long as the other gains more, and which of several gains most.

use super::busiest::{Fullness, Set};
use super::domains::Domains;
use super::ids::{CoreId, Span, TaskId};
use super::tree::Tree;

/// Where a task goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goal {
    /// It stays.
    Here,
    /// To a processor.
    To(CoreId),
    /// In the place of another task, which comes here.
    Swap(TaskId),
}

impl Tree {
    /// Whether a move takes a task away from its memory, from a processor at which there are others
    /// that it matters less to (`migrate_degrades_locality`).
    pub fn leaves_memory(&self, task: TaskId, to: CoreId) -> bool {
        let t = &self.tasks[task];
        if !t.prefers(t.cpu) || t.prefers(to) {
            return false;
        }
        let beside = self.cpus[t.cpu].tasks.iter();
        beside
            .map(|other| &self.tasks[*other])
            .any(|other| !other.prefers(t.cpu))
    }

    /// A task that runs elsewhere goes now to the processors that it prefers, all those beside some
    /// memory, if it can.
    pub fn draw_home(&mut self, domains: &Domains, task: TaskId) {
        let t = &self.tasks[task];
        let Some(cpus) = t.preferred else { return };
        let from = t.cpu;
        let runs = t.placed && self.cpus[from].curr == Some(task);
        if !runs || cpus.contains(from) {
            return;
        }
        match self.goal(domains, task, cpus) {
            Goal::Here => {}
            Goal::To(to) => self.take_runner(task, from, to),
            Goal::Swap(other) => {
                let to = self.tasks[other].cpu;
                self.switch(to, None);
                self.resched(to);
                self.take_runner(task, from, to);
                self.migrate(other, from);
            }
        }
    }

    /// Where a runner goes that had better be on some other processors.
    fn goal(&self, domains: &Domains, task: TaskId, cpus: Span<CoreId>) -> Goal {
        let here = self.tasks[task].cpu;
        let Some(around) = domains.nodes_around(here) else {
            return Goal::Here;
        };
        // Half of what load balancing lets be.
        let pct = f64::from(100 + (self.params.balance.imbalance_pct - 100) / 2);
        let (from, to) = (self.count(domains.node_of(here)), self.count(cpus));
        let has_room = self.fullness(&to, pct) == Fullness::Spare;
        let may_move = if has_room {
            let (left, there) = (from.runnable.saturating_sub(1), to.runnable + 1);
            around.counts(there.saturating_sub(left), there) == 0
        } else {
            let load = self.task_load(task);
            !self.is_worse(&from, &to, load)
        };
        if has_room && may_move {
            if let Some(to) = self.idle_of(domains, task, cpus) {
                return Goal::To(to);
            }
        }
        let partner = self.partner(task, &from, &to, (cpus, has_room));
        let any = || {
            let others = || {
                cpus.into_iter()
                    .filter(|cpu| self.tasks[task].may_use(*cpu))
            };
            // Where there is room, runners that share its memory are passed over
            // (`task_numa_compare`): its part of it is theirs too.
            let siblings = |cpu: &CoreId| {
                let curr = self.cpus[*cpu].curr;
                curr.is_some_and(|curr| self.are_siblings(task, curr))
            };
            let idle = self.idle_of(domains, task, cpus);
            idle.or_else(|| others().find(|cpu| !(has_room && siblings(cpu))))
        };
        match partner {
            Some(other) => Goal::Swap(other),
            None if may_move => any().map_or(Goal::Here, Goal::To),
            None => Goal::Here,
        }
    }

    /// Whether two nodes are further from even once some load has gone from one to the other
    /// (`load_too_imbalanced`).
    fn is_worse(&self, from: &Set, to: &Set, load: f64) -> bool {
        let (here, there) = (self.load(from), self.load(to));
        let apart = |here: f64, there: f64| (there * from.capacity() - here * to.capacity()).abs();
        // Roundings are far less, and no kernel sees less.
        apart(here - load, there + load) > apart(here, there) + 1.0
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

    /// A runner there that had better be here. One that shares its memory with the task gains what
    /// the task loses, unless there is no room; and loads must not get further apart.
    fn partner(
        &self,
        task: TaskId,
        from: &Set,
        to: &Set,
        (cpus, has_room): (Span<CoreId>, bool),
    ) -> Option<TaskId> {
        let t = &self.tasks[task];
        let load = self.task_load(task);
        let runners = cpus.into_iter().filter(|cpu| t.may_use(*cpu));
        let mut others = runners.filter_map(|cpu| self.cpus[cpu].curr);
        others.find(|other| {
            let o = &self.tasks[*other];
            let gains = o.may_use(t.cpu) && o.prefers(t.cpu);
            let apart = || {
                let difference = load - self.task_load(*other);
                difference != 0.0 && self.is_worse(from, to, difference)
            };
            gains && !(has_room && self.are_siblings(task, *other)) && !apart()
        })
    }

    /// Whether two are threads of one partition, and so share memory.
    fn are_siblings(&self, a: TaskId, b: TaskId) -> bool {
        let mut all = self.threads.iter();
        all.any(|span| span.contains(a) && span.contains(b))
    }

    fn take_runner(&mut self, task: TaskId, from: CoreId, to: CoreId) {
        self.switch(from, None);
        self.resched(from);
        self.migrate(task, to);
    }
}

#[cfg(test)]
mod tests {
    use super::super::ids::{between, ById, PartitionId};
    use super::super::tests::spec;
    use super::super::Linux;
    use super::*;
    use crate::hypervisor::{HostScheduler, State};
    use crate::ids::VpId;
    use crate::kernel::Stream;
    use crate::machine::parse_short;

    /// Nodes of so many processors, two to a core.
    const NODE: usize = 8;

    /// What the kernel's rules say, told apart case by case and counted task by task.
    struct Naive<'a> {
        tree: &'a Tree,
        now: u64,
    }

    impl Naive<'_> {
        fn tasks(&self, node: Span<CoreId>) -> u32 {
            let all = self.tree.tasks.iter();
            all.filter(|t| t.awake && node.contains(t.cpu)).count() as u32
        }

        fn sum(&self, node: Span<CoreId>, of: impl Fn(CoreId) -> f64) -> f64 {
            node.into_iter().map(of).sum()
        }

        fn load(&self, node: Span<CoreId>) -> f64 {
            self.sum(node, |cpu| self.tree.cpu_load(cpu))
        }

        fn has_room(&self, node: Span<CoreId>) -> bool {
            let busy = self.sum(node, |cpu| {
                let it = &self.tree.cpus[cpu];
                let target = if it.curr.is_some() { 1024.0 } else { 0.0 };
                it.busy.peek(target, self.now)
            });
            let wanted = self.sum(node, |cpu| {
                let target = f64::from(self.tree.runnable(cpu)) * 1024.0;
                self.tree.cpus[cpu].runnable.peek(target, self.now)
            });
            let all = 1024.0 * node.len() as f64;
            let idles = all * 100.0 > busy * 108.0 && all * 108.0 > wanted * 100.0;
            self.tasks(node) < node.len() as u32 || idles
        }

        fn evens(&self, here: Span<CoreId>, there: Span<CoreId>, load: f64) -> bool {
            let (a, b) = (self.load(here), self.load(there));
            (b + load - (a - load)).abs() <= (b - a).abs() + 1.0 / (1024 * NODE) as f64
        }

        fn partition(&self, task: TaskId) -> Option<PartitionId> {
            let mut all = self.tree.threads.entries();
            let found = all.find(|(_, span)| span.contains(task));
            found.map(|(partition, _)| partition)
        }

        fn goal(&self, task: TaskId, there: Span<CoreId>) -> Goal {
            let t = &self.tree.tasks[task];
            let first = t.cpu.index() / NODE * NODE;
            let here = between(first, first + NODE);
            let load = self.tree.task_load(task);
            let has_room = self.has_room(there);
            let (left, comes) = (self.tasks(here) - 1, self.tasks(there) + 1);
            let apart = comes.saturating_sub(left);
            // An eighth of a node's processors.
            let few = comes <= (NODE / 8) as u32 && apart <= 2;
            let may_move = match has_room {
                true => apart == 0 || few,
                false => self.evens(here, there, load),
            };
            let idle = |cpu: &CoreId| self.tree.is_idle(*cpu) && t.may_use(*cpu);
            let beside = |cpu: CoreId| CoreId::new(cpu.index() ^ 1);
            let all = || there.into_iter().filter(idle);
            let idle = all().find(|cpu| self.tree.is_idle(beside(*cpu)));
            let idle = idle.or_else(|| all().next());
            if let Some(to) = idle.filter(|_| has_room && may_move) {
                return Goal::To(to);
            }
            for cpu in there.into_iter().filter(|cpu| t.may_use(*cpu)) {
                let Some(other) = self.tree.cpus[cpu].curr else {
                    continue;
                };
                let o = &self.tree.tasks[other];
                let wants = o.preferred == Some(here) && o.may_use(t.cpu);
                let same = self.partition(task) == self.partition(other);
                let own = self.tree.task_load(other);
                let even = own == load || self.evens(here, there, load - own);
                if wants && even && !(same && has_room) {
                    return Goal::Swap(other);
                }
            }
            let same = |cpu: &CoreId| {
                let curr = self.tree.cpus[*cpu].curr;
                curr.is_some_and(|other| self.partition(task) == self.partition(other))
            };
            let mut usable = there.into_iter().filter(|cpu| t.may_use(*cpu));
            let usable = usable.find(|cpu| !has_room || !same(cpu));
            let to = idle.or(usable).filter(|_| may_move);
            to.map_or(Goal::Here, Goal::To)
        }
    }

    fn serve(linux: &mut Linux, runs: &mut ById<CoreId, Option<VpId>>, now: u64) {
        while let Some(core) = linux.take_pending() {
            runs[core] = linux.pick(core, now);
            while linux.take_passed(core).is_some() {}
        }
    }

    #[test]
    fn a_task_goes_where_a_naive_twin_says() {
        let mut counts = [0; 3];
        for seed in 0..60 {
            let mut dice = Stream::new(seed, 0, "numa");
            let nodes = 2 + dice.below(2) as usize;
            let sizes: Vec<u16> = (0..1 + dice.below(4))
                .map(|_| 1 + dice.below(12) as u16)
                .collect();
            let mut spec = spec(1, vec![], &sizes);
            spec.machine = parse_short(&format!("node:{nodes} chip:1 core:4 pu:2")).unwrap();
            spec.machine.hypervisor.policy = crate::spec::Policy::Linux;
            spec.machine.hypervisor.siblings = 2;
            let mut linux = Linux::new(&spec, &State::new(&spec), 0);
            let cpus = nodes * NODE;
            let mut runs = ById::of(None, cpus);
            let node = |at: usize| between(at * NODE, (at + 1) * NODE);
            let count: usize = sizes.iter().map(|n| usize::from(*n)).sum();
            let mut now = 0;
            for _ in 0..400 {
                now += 1 + dice.below(3_000_000);
                let vp = VpId::new(dice.below(count as u64) as usize);
                let task = TaskId::new(vp.index());
                linux.tree.set_now(now);
                if runs.iter().any(|runner| *runner == Some(vp)) {
                    let there = node(dice.below(nodes as u64) as usize);
                    if there.contains(linux.tree.tasks[task].cpu) {
                        linux.sleep(vp, now);
                    } else {
                        let naive = Naive {
                            tree: &linux.tree,
                            now,
                        };
                        let expected = naive.goal(task, there);
                        let goal = linux.tree.goal(&linux.domains, task, there);
                        assert_eq!(goal, expected, "seed {seed} at {now}");
                        counts[match goal {
                            Goal::Here => 0,
                            Goal::To(_) => 1,
                            Goal::Swap(_) => 2,
                        }] += 1;
                        linux.prefer(vp, there);
                        linux.draw_home(vp, now);
                    }
                } else if !linux.tree.tasks[task].awake {
                    linux.wake(vp, None, now);
                }
                serve(&mut linux, &mut runs, now);
            }
        }
        assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
    }
}
