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
//! bandwidth          quotas                            wakeup           where, and whose place
//! domains, balance   moving tasks                      yielding         to a sibling
//! ```
//!
//! Typical use: KVM hosts; processes in control groups. Rules are those of Linux 6.18 (EEVDF) and
//! 6.5 (CFS). Left out: real-time and deadline classes, core scheduling, asymmetric and energy
//! aware placement, utilisation clamps, `sched_ext`, autogroups.

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
mod mask;
mod migrate;
mod moves;
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

use crate::hypervisor::{CoreId, HostCount, HostScheduler, State, VpId};
use crate::spec::Spec;
use balance::Idleness;
use domains::{Domains, Rhythm};
pub use due::due;
use moves::Leaving;
use params::SOFT_INTERRUPT;
use queue::NONE;
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
            tree: Tree::new(spec, state.tree.active_cores, replication),
            domains: Domains::new(&state.tree, hypervisor.siblings, rhythm),
            idle_balance_at: 0,
        }
    }

    /// Chooses the next task of a processor, from other processors' if it has none.
    fn schedule(&mut self, cpu: u16) {
        let it = &mut self.tree.cpus[usize::from(cpu)];
        it.resched = false;
        let (before, passed) = (it.curr, it.passed.len());
        let mut next = self.tree.pick_task(cpu);
        if next == NONE {
            // It leaves its last task before it looks around.
            self.tree.switch(cpu, NONE);
            if self.tree.balance_newly_idle(&mut self.domains, cpu) {
                next = self.tree.pick_task(cpu);
            }
            if next == NONE {
                self.tree.cpus[usize::from(cpu)].idle_from = self.tree.now;
            }
        }
        self.tree.switch(cpu, next);
        let it = &mut self.tree.cpus[usize::from(cpu)];
        it.resched = false;
        if next == before && next != NONE && it.passed.len() > passed {
            it.passed.push(before); // It made way and is back.
        }
    }

    /// A clock tick on a busy processor.
    fn tick(&mut self, cpu: u16) {
        let curr = self.tree.cpus[usize::from(cpu)].curr;
        let mut id = curr;
        while id != NONE {
            let queue = self.tree.entity(id).queue;
            self.tree.book(queue);
            self.tree.update_load(id);
            self.tree.update_group_weight(id);
            if !self.tree.params.is_eevdf() && self.tree.is_over_cfs(queue) {
                self.tree.resched(cpu);
            }
            id = self.tree.above(id);
        }
        if !self.tree.params.balance.enabled {
            return;
        }
        if self.tree.now >= self.domains.balance_at(cpu, true) {
            self.tree.cpus[usize::from(cpu)].soft_at = self.tree.now + SOFT_INTERRUPT;
        }
        let crowded = self.tree.runnable(cpu) > 1 || self.tree.is_in_company(&self.domains, cpu);
        if crowded && self.tree.now >= self.idle_balance_at {
            self.balance_idle();
        }
    }

    /// A busy processor with too much to do, or that shares its cache with another busy one, has
    /// the idle ones balance.
    fn balance_idle(&mut self) {
        let mut next = u64::MAX;
        let (mut from, end) = (0, self.tree.cpus.len() as u16);
        while let Some(cpu) = self.tree.idle.first(from..end) {
            from = cpu + 1;
            if self.tree.now >= self.domains.balance_at(cpu, false) {
                self.tree.balance(&mut self.domains, cpu, Idleness::Idle);
            }
            next = next.min(self.domains.balance_at(cpu, false));
        }
        self.idle_balance_at = next.max(self.tree.now + self.tree.params.tick);
        if next == u64::MAX {
            self.idle_balance_at = self.tree.now + self.tree.params.tick;
        }
    }

    /// Whether anything can be decided on a processor at its next tick.
    fn needs_ticks(&self, cpu: u16) -> bool {
        let mut id = self.tree.cpus[usize::from(cpu)].curr;
        while id != NONE {
            let queue = self.tree.queue(self.tree.entity(id).queue);
            if queue.count > 1 || queue.limited {
                return true;
            }
            id = queue.entity;
        }
        false
    }
}

impl HostScheduler for Linux {
    fn wake(&mut self, vp: VpId, waker: Option<CoreId>, now: u64) {
        self.tree.set_now(now);
        let task = &mut self.tree.tasks[vp as usize];
        task.awake = true;
        let (prev, is_new) = (task.cpu, task.cpu == u16::MAX);
        if self.tree.entity(vp).queued {
            self.tree.requeue(vp);
            let queue = self.tree.entity(vp).queue;
            self.tree.count_tasks(queue, 0, 1);
            self.tree.check_preempt(vp);
            return;
        }
        let cpu = if is_new {
            self.tree.idlest(&self.domains, vp)
        } else {
            self.tree.choose_cpu(&self.domains, vp, waker)
        };
        self.tree.settle_on(vp, cpu, prev);
        if self.tree.goes_to_limbo(vp) {
            self.tree.enter_limbo(vp);
            return;
        }
        self.tree.note_idle_end(cpu);
        let arrival = if is_new { Arrival::New } else { Arrival::Woken };
        self.tree.enqueue(vp, arrival);
        self.tree.check_preempt(vp);
    }

    fn sleep(&mut self, vp: VpId, now: u64) {
        self.tree.set_now(now);
        let task = &mut self.tree.tasks[vp as usize];
        task.awake = false;
        let cpu = task.cpu;
        if self.tree.leave_limbo(vp) {
            return;
        }
        self.tree.dequeue(vp, Leaving::Sleeping);
        if self.tree.cpus[usize::from(cpu)].curr == vp {
            self.tree.resched(cpu);
        }
    }

    fn look(&mut self, core: CoreId, now: u64) {
        self.tree.set_now(now);
        self.tree.look_again(core);
        if self.tree.cpus[usize::from(core)].soft_at <= now {
            self.tree.cpus[usize::from(core)].soft_at = u64::MAX;
            self.tree.balance(&mut self.domains, core, Idleness::Busy);
            if !self.tree.params.is_tick(core, now) {
                return;
            }
        }
        self.tick(core);
    }

    fn look_at(&self, core: CoreId, now: u64) -> u64 {
        let it = &self.tree.cpus[usize::from(core)];
        let due = if self.needs_ticks(core) {
            0
        } else {
            self.domains.balance_at(core, true)
        };
        if due == u64::MAX {
            return it.soft_at;
        }
        let tick = self.tree.params.next_tick(core, now, due, &it.next_tick);
        tick.min(it.soft_at)
    }

    fn timer(&mut self, now: u64) {
        self.tree.set_now(now);
        self.tree.quota_timers();
    }

    fn timer_at(&self) -> u64 {
        self.tree.quota_at
    }

    fn take_pending(&mut self) -> Option<CoreId> {
        let core = self.tree.pending.pop_front()?;
        self.tree.cpus[usize::from(core)].pending = false;
        Some(core)
    }

    fn pick(&mut self, core: CoreId, now: u64) -> Option<VpId> {
        self.tree.set_now(now);
        if self.tree.cpus[usize::from(core)].resched {
            self.schedule(core);
        }
        let curr = self.tree.cpus[usize::from(core)].curr;
        (curr != NONE).then_some(curr)
    }

    fn yield_to(&mut self, vp: VpId, sibling: VpId, now: u64) -> bool {
        self.tree.set_now(now);
        self.tree.hand_over(vp, sibling)
    }

    fn draw_to(&mut self, vp: VpId, cores: (CoreId, u16), now: u64) {
        self.tree.set_now(now);
        self.tree.draw_to(&self.domains, vp, cores);
    }

    fn counted(&self, partition: u16, now: u64) -> HostCount {
        let all = &self.tree.tasks;
        let first = all.partition_point(|t| t.partition < partition);
        let end = all.partition_point(|t| t.partition <= partition);
        let tasks = &all[first..end];
        let mut count = HostCount {
            migrations: tasks.iter().map(|t| t.migrations).sum(),
            ..HostCount::default()
        };
        let group = tasks.first().map_or(0, |t| t.group);
        if let Some((by, _)) = self.tree.limited_by(group) {
            if let Some(bandwidth) = &self.tree.groups[usize::from(by)].bandwidth {
                count.periods = bandwidth.periods;
                count.throttled_periods = bandwidth.throttled_periods;
                count.throttled_ns = self.tree.stopped_ns(group, now);
            }
        }
        count
    }

    fn has_waiting(&self, core: CoreId) -> bool {
        self.tree.runnable(core) > 1
    }

    fn take_passed(&mut self, core: CoreId) -> Vec<VpId> {
        std::mem::take(&mut self.tree.cpus[usize::from(core)].passed)
    }
}
