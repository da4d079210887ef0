//! The Linux scheduler as the hypervisor of a host: KVM's virtual processors, or plain processes.
//!
//! Overview. Each processor has a queue for each control group; a group stands in its parent's
//! queue like a task. From the root down, the fair class chooses: EEVDF the earliest virtual
//! deadline among those that owe nothing, CFS the least virtual runtime. The choice is made
//! when a runner sleeps, when somebody wakes that may take its place, and at ticks; so a slice
//! ends at a tick, not before. Quotas freeze a group until its period ends. Processors take work
//! from each other at intervals that grow with the domain, and at once when they run dry.
//!
//! ```text
//! params, average    constants; load averages          tree, queue      groups x processors
//! eevdf, cfs         who comes next                    moves, pick      in, out, down the tree
//! bandwidth          quotas                            wakeup, lazy     where, whose place, when
//! interrupts         what they take                    migrate, numa    who may go where
//! domains, balance   moving tasks                      yielding         to a sibling
//! ```
//!
//! Typical use: KVM hosts; processes in control groups. Rules are those of Linux 6.18 (EEVDF) and
//! 6.5 (CFS). Left out: real-time and deadline classes, core scheduling, asymmetric and energy
//! aware placement, utilisation clamps, `sched_ext`, autogroups.

mod attempt;
mod average;
mod balance;
mod bandwidth;
mod busiest;
mod cfs;
mod domains;
#[cfg(test)]
mod driver;
mod due;
mod eevdf;
mod halving;
mod ids;
mod interrupts;
mod lazy;
mod mask;
mod migrate;
mod moves;
mod newcomer;
mod numa;
mod params;
mod pick;
#[cfg(test)]
mod properties;
mod queue;
mod quota;
#[cfg(test)]
mod tests;
mod tree;
#[cfg(test)]
mod twin;
mod wakeup;
mod yielding;

use crate::hypervisor::{HostCount, HostScheduler, State};
use crate::kernel::When;
use crate::spec::Spec;
use attempt::Idleness;
pub use domains::{lax, PAIR};
use domains::{Domains, Rhythm};
pub use due::{due, group_weight, quota, share_out, Member};
use ids::{between, CgroupId, CoreId, PartitionId, Span, TaskId, ROOT};
pub use params::{turn_ns, turns, Turns};

use crate::ids::VpId;
use moves::Leaving;
use params::SOFT_INTERRUPT;
use tree::{Arrival, Tree};

/// The scheduler of a Linux host.
#[derive(Clone, Debug)]
pub struct Linux {
    tree: Tree,
    domains: Domains,
    /// When idle processors are balanced again, if somebody is overloaded.
    idle_balance_at: u64,
}

impl Linux {
    /// Everybody asleep.
    pub fn new(spec: &Spec, state: &State, replication: u64) -> Self {
        let hypervisor = &spec.machine.hypervisor;
        let balance = &hypervisor.linux.balance;
        let rhythm = Rhythm {
            enabled: balance.enabled,
            tick: hypervisor.linux.tick_ns,
            unit: balance.interval_ns,
            busy_factor: u64::from(balance.busy_factor),
        };
        Self {
            tree: Tree::new(spec, usize::from(state.tree.active_cores), replication),
            domains: Domains::new(&state.tree, hypervisor.siblings, rhythm),
            idle_balance_at: 0,
        }
    }

    /// Chooses the next task of a processor, from other processors' if it has none.
    fn schedule(&mut self, cpu: CoreId) {
        let it = &mut self.tree.cpus[cpu];
        it.resched = false;
        let (before, passed) = (it.curr, it.passed.len());
        let mut next = self.tree.pick_task(cpu);
        if next.is_none() {
            // It leaves its last task before it looks around.
            self.tree.switch(cpu, None);
            if self.tree.balance_newly_idle(&mut self.domains, cpu) {
                next = self.tree.pick_task(cpu);
            }
            if next.is_none() {
                self.tree.cpus[cpu].idle_from = self.tree.now;
            }
        }
        self.tree.switch(cpu, next);
        let it = &mut self.tree.cpus[cpu];
        it.resched = false;
        if let Some(back) = next.filter(|_| next == before && it.passed.len() > passed) {
            it.passed.push(back); // It made way and is back.
        }
    }

    /// A clock tick on a busy processor.
    fn tick(&mut self, cpu: CoreId) {
        let mut next = self.tree.cpus[cpu].curr;
        while let Some(id) = next {
            let queue = self.tree.entity(id).queue;
            self.tree.book(queue);
            self.tree.update_load(id);
            self.tree.update_group_weight(id);
            if !self.tree.params.is_eevdf() && self.tree.is_over_cfs(queue) {
                self.tree.resched(cpu);
            }
            next = self.tree.above(id);
        }
        if !self.tree.params.balance.enabled {
            return;
        }
        let now = self.tree.now;
        if self.domains.balance_at(cpu, true).has_come(now) {
            self.tree.cpus[cpu].soft_at = When::at(now + SOFT_INTERRUPT);
        }
        let crowded = self.tree.runnable(cpu) > 1 || self.tree.is_in_company(&self.domains, cpu);
        if (crowded || self.tree.is_held_up(cpu)) && now >= self.idle_balance_at {
            self.balance_idle();
        }
    }

    /// A busy processor with too much to do, or that shares its cache with another busy one, has
    /// the idle ones balance.
    fn balance_idle(&mut self) {
        let mut next = When::NEVER;
        let (mut from, end) = (0, self.tree.cpus.len());
        while let Some(cpu) = self.tree.idle.first(between(from, end)) {
            from = cpu.index() + 1;
            if self.domains.balance_at(cpu, false).has_come(self.tree.now) {
                self.tree.balance(&mut self.domains, cpu, Idleness::Idle);
            }
            next = next.min(self.domains.balance_at(cpu, false));
        }
        let soonest = self.tree.now + self.tree.params.tick;
        self.idle_balance_at = next.ns().map_or(soonest, |at| at.max(soonest));
    }

    /// Whether anything can be decided on a processor at its next tick.
    fn needs_ticks(&self, cpu: CoreId) -> bool {
        if self.tree.is_held_up(cpu) || self.tree.makes_way_soon(cpu) {
            return true;
        }
        let mut next = self.tree.cpus[cpu].curr;
        while let Some(id) = next {
            let queue = self.tree.queue(self.tree.entity(id).queue);
            if queue.count > 1 || queue.limited {
                return true;
            }
            next = queue.entity;
        }
        false
    }
}

/// Number of a thread, as the scheduler has it.
fn task(vp: VpId) -> TaskId {
    TaskId::new(vp.index())
}

/// The thread that a task is.
fn thread(task: TaskId) -> VpId {
    VpId::new(task.index())
}

impl HostScheduler for Linux {
    fn wake(&mut self, vp: VpId, waker: Option<CoreId>, now: u64) {
        self.tree.set_now(now);
        let t = &self.tree.tasks[task(vp)];
        let inside = waker.or(t.placed.then_some(t.cpu));
        self.tree.is_inside(inside);
        self.wake_task(task(vp), waker);
    }

    fn sleep(&mut self, vp: VpId, now: u64) {
        self.tree.set_now(now);
        self.tree.is_inside(Some(self.tree.tasks[task(vp)].cpu));
        self.put_to_sleep(task(vp));
    }

    fn look(&mut self, core: CoreId, now: u64) {
        self.tree.set_now(now);
        self.tree.is_inside(Some(core));
        self.look_after(core);
    }

    fn look_at(&self, core: CoreId, now: u64) -> When {
        self.next_look(core, now)
    }

    fn timer(&mut self, now: u64) {
        self.tree.set_now(now);
        self.tree.is_inside(None);
        self.tree.quota_timers();
    }

    fn timer_at(&self) -> When {
        self.tree.quota_at
    }

    fn take_pending(&mut self) -> Option<CoreId> {
        let core = self.tree.pending.pop_front()?;
        self.tree.cpus[core].pending = false;
        Some(core)
    }

    fn pick(&mut self, core: CoreId, now: u64) -> Option<VpId> {
        self.tree.set_now(now);
        if self.tree.cpus[core].resched {
            self.tree.is_inside(Some(core));
            self.schedule(core);
        }
        self.tree.cpus[core].curr.map(thread)
    }

    fn yield_to(&mut self, vp: VpId, sibling: VpId, now: u64) -> bool {
        self.tree.set_now(now);
        self.tree.is_inside(None);
        self.tree.hand_over(task(vp), task(sibling))
    }

    fn prefer(&mut self, vp: VpId, cores: Span<CoreId>) {
        self.tree.tasks[task(vp)].preferred = Some(cores);
    }

    fn draw_home(&mut self, vp: VpId, now: u64) {
        self.tree.set_now(now);
        self.tree.is_inside(None);
        self.tree.draw_home(&self.domains, task(vp));
    }

    fn counted(&self, partition: PartitionId, now: u64) -> HostCount {
        self.count(partition, now)
    }

    fn interrupted(&mut self, core: CoreId, ns: u64, now: u64) {
        self.tree.set_now(now);
        self.tree.is_inside(Some(core));
        self.tree.interrupted(core, ns);
    }

    fn has_waiting(&self, core: CoreId) -> bool {
        self.tree.runnable(core) > 1
    }

    fn take_passed(&mut self, core: CoreId) -> Option<VpId> {
        self.tree.cpus[core].passed.pop().map(thread)
    }
}

impl Linux {
    fn wake_task(&mut self, id: TaskId, waker: Option<CoreId>) {
        let task = &mut self.tree.tasks[id];
        task.awake = true;
        let prev = task.placed.then_some(task.cpu);
        if self.tree.entity(id).queued {
            self.tree.requeue(id);
            let queue = self.tree.entity(id).queue;
            self.tree.count_tasks(queue, 0, 1);
            self.tree.check_preempt(id);
            return;
        }
        let cpu = if prev.is_none() {
            self.tree.idlest(&self.domains, id)
        } else {
            self.tree.choose_cpu(&self.domains, id, waker)
        };
        self.tree.settle_on(id, cpu, prev);
        if self.tree.goes_to_limbo(id) {
            self.tree.enter_limbo(id);
            return;
        }
        if self.tree.params.lazy && !self.is_near(cpu) {
            self.tree.is_inside(Some(cpu));
        }
        self.tree.note_idle_end(cpu);
        let arrival = prev.map_or(Arrival::New, |_| Arrival::Woken);
        self.tree.enqueue(id, arrival);
        self.tree.check_preempt(id);
    }

    /// Whether the processor that wakes a task on another does so itself: they share a last-level
    /// cache. Beyond that the other is interrupted to do it (`ttwu_queue_cond`).
    fn is_near(&self, cpu: CoreId) -> bool {
        let from = self.tree.lazy.inside;
        from.is_none_or(|from| self.domains.cache_of(from).contains(cpu))
    }

    fn put_to_sleep(&mut self, id: TaskId) {
        let task = &mut self.tree.tasks[id];
        task.awake = false;
        let cpu = task.cpu;
        if self.tree.leave_limbo(id) {
            return;
        }
        self.tree.dequeue(id, Leaving::Sleeping);
        if self.tree.cpus[cpu].curr == Some(id) {
            self.tree.resched(cpu);
        }
    }

    /// A tick, or the balancing that was due at one.
    fn look_after(&mut self, cpu: CoreId) {
        let now = self.tree.now;
        self.tree.look_again(cpu);
        if self.tree.cpus[cpu].soft_at.has_come(now) {
            self.tree.cpus[cpu].soft_at = When::NEVER;
            self.tree.balance(&mut self.domains, cpu, Idleness::Busy);
            if !self.tree.params.is_tick(cpu, now) {
                return;
            }
        }
        self.tick(cpu);
    }

    fn next_look(&self, cpu: CoreId, now: u64) -> When {
        let it = &self.tree.cpus[cpu];
        let due = if self.needs_ticks(cpu) {
            When::at(0)
        } else {
            self.domains.balance_at(cpu, true)
        };
        let Some(due) = due.ns() else {
            return it.soft_at;
        };
        let tick = self.tree.params.next_tick(cpu, now, due, &it.next_tick);
        When::at(tick).min(it.soft_at)
    }

    /// Whether a partition is the first of a group. Threads for a guest's I/O are in the guest's
    /// own, and what is told of that (`cpu.stat`) stands with the guest alone.
    fn leads(&self, partition: PartitionId, group: CgroupId) -> bool {
        let of = |span: &Span<TaskId>| self.tree.tasks.slice(*span).first().map(|t| t.group);
        let mut all = self.tree.threads.entries();
        let first = all.find(|(_, span)| of(span) == Some(group));
        first.is_some_and(|(first, _)| first == partition)
    }

    fn count(&self, partition: PartitionId, now: u64) -> HostCount {
        let tasks = &self.tree.tasks.slice(self.tree.threads[partition]);
        let mut count = HostCount {
            migrations: tasks.iter().map(|t| t.migrations).sum(),
            ..HostCount::default()
        };
        let group = tasks.first().map_or(ROOT, |t| t.group);
        let limited = self.tree.limited_by(group);
        if let Some((by, _)) = limited.filter(|_| self.leads(partition, group)) {
            if let Some(bandwidth) = &self.tree.groups[by].bandwidth {
                count.periods = bandwidth.periods;
                count.throttled_periods = bandwidth.throttled_periods;
                count.throttled_ns = self.tree.stopped_ns(group, now);
            }
        }
        count
    }
}
