//! Xen's scheduler credit2: processors share run queues; units (virtual processors) burn credit
//! while they run, light ones faster, and who has most credit runs.
//!
//! ```text
//! wake    joins its run queue and tickles the best processor of it            tickle
//! pick    the runner goes on, or the first of the queue takes its place       pick
//!         top of the queue out of credit: all get credit anew, queues balance balance
//! cap     a domain's budget a period; units without any are parked            budget
//! ```
//! Rules as in Xen 4.19, `xen/common/sched/credit2.c`, after its comments; constants there too.
//! Not modelled: the time between a tickle and the look at the queue. Where the
//! first of the queue has to be parked, the next is looked at; Xen leaves that to the next tickle.

mod balance;
mod budget;
mod cpus;
mod domain;
mod groups;
mod ids;
mod load;
mod pick;
mod processor;
mod queue;
mod setup;
mod tickle;
mod unit;

use super::super::host::{HostCount, HostScheduler};
use super::super::State;
use crate::kernel::{Stream, When};
use crate::machine::Topology;
use crate::spec::{self, Spec};
use cpus::CpuSet;
use domain::{Domain, Kept};
use ids::{ById, CoreId, PartitionId, QueueId, VpId};
use processor::{Pending, Processor};
use queue::RunQueue;
use unit::{Aside, Doing, Unit};

/// The scheduler.
#[derive(Clone, Debug)]
pub struct Credit2 {
    rules: spec::Credit2,
    siblings: usize,
    units: ById<VpId, Unit>,
    asides: ById<VpId, Aside>,
    cpus: ById<CoreId, Processor>,
    /// Since when the runner of each processor is there [ns].
    since: ById<CoreId, u64>,
    queues: ById<QueueId, RunQueue>,
    /// Processors that idle.
    idle: CpuSet,
    pending: Pending,
    domains: ById<PartitionId, Kept>,
    /// When the first of the budgets is due.
    timer_at: When,
    /// By how much timers come late.
    late: Stream,
}

/// Number of the run queue of each processor of a machine.
pub fn queue_of(machine: &spec::Machine, tree: &Topology) -> Vec<usize> {
    let (rules, siblings) = (machine.hypervisor.credit2, machine.hypervisor.siblings);
    let groups = groups::groups(
        tree,
        siblings.max(1).into(),
        rules.runqueue,
        rules.max_per_queue,
    );
    let each = groups.into_iter().enumerate();
    each.flat_map(|(at, group)| group.into_iter().map(move |_| at))
        .collect()
}

impl Credit2 {
    /// All units blocked, each in the run queue that was least loaded when it came.
    pub fn new(spec: &Spec, state: &State, replication: u64) -> Self {
        let hypervisor = &spec.machine.hypervisor;
        let late = Stream::new(spec.seed, replication, "timers");
        let mut credit2 = Self::on(&state.tree, hypervisor.credit2, hypervisor.siblings, late);
        for partition in &spec.partitions {
            credit2.add_domain(&Domain::of(&partition.processors));
        }
        credit2
    }

    fn set_timer(&mut self) {
        let budgets = self.domains.iter().filter_map(|kept| kept.budget.as_ref());
        self.timer_at = budgets.map(|budget| budget.next_at).min().into();
    }

    #[inline]
    fn unit(&mut self, vp: VpId) -> &mut Unit {
        &mut self.units[vp]
    }

    #[inline]
    fn queue_of(&mut self, vp: VpId) -> &mut RunQueue {
        &mut self.queues[self.units[vp].queue]
    }

    /// A unit becomes runnable (1) or is so no longer (-1).
    fn count(&mut self, vp: VpId, change: i64, now: u64) {
        let window = self.rules.load_window_shift;
        let queue = self.queue_of(vp);
        queue.load.update(queue.runnable, now, window);
        queue.runnable += change;
        let was = i64::from(change < 0);
        self.asides[vp].load.update(was, now, window);
    }

    /// Takes time off the credit and the budget of a processor's runner.
    #[inline(always)]
    fn burn(&mut self, cpu: CoreId, vp: VpId, now: u64) {
        let at = &mut self.cpus[cpu];
        let heaviest = self.queues[at.queue].max_weight;
        let least = -(self.rules.credit_init_ns as i64);
        let elapsed = now - std::mem::replace(&mut at.burnt_to, now);
        self.units[vp].burn(heaviest, elapsed, least);
    }

    /// A runnable unit waits in its run queue, and a processor that should run it is looked for.
    fn queue_up(&mut self, vp: VpId, now: u64) {
        let unit = &mut self.units[vp];
        unit.doing = Doing::Waiting;
        self.queues[unit.queue].insert(vp, unit);
        self.tickle(vp, now);
    }

    /// A unit that waits does so no longer.
    fn dequeue(&mut self, vp: VpId) {
        let unit = &self.units[vp];
        self.queues[unit.queue].remove(vp, unit);
    }

    /// Has a capped unit budget left, or can it get some? If not it is parked.
    fn has_budget(&mut self, vp: VpId, now: u64) -> bool {
        let unit = &mut self.units[vp];
        if unit.budget > 0 {
            return true;
        }
        let domain = &mut self.domains[unit.domain];
        let budget = domain.budget.as_mut().expect("a cap has a budget");
        unit.budget = budget.take(unit.budget);
        if unit.budget > 0 {
            return true;
        }
        budget.parked.push(vp);
        domain.was_parked = true;
        self.asides[vp].parked_at = now;
        let waited = std::mem::replace(&mut unit.doing, Doing::Parked) == Doing::Waiting;
        if waited {
            self.dequeue(vp);
            self.count(vp, -1, now);
        }
        false
    }

    /// A domain's parked units may try again.
    fn unpark(&mut self, domain: PartitionId, now: u64) {
        let Some(budget) = &mut self.domains[domain].budget else {
            return;
        };
        let mut parked = std::mem::take(&mut budget.parked);
        for vp in parked.drain(..) {
            let since = self.asides[vp].parked_at;
            self.domains[domain].count.throttled_ns += now - since;
            self.count(vp, 1, now);
            self.queue_up(vp, now);
        }
        // Nobody is parked meanwhile; the room is kept for the next.
        if let Some(budget) = &mut self.domains[domain].budget {
            budget.parked = parked;
        }
    }
}

impl HostScheduler for Credit2 {
    fn wake(&mut self, vp: VpId, _waker: Option<CoreId>, now: u64) {
        let unit = &self.units[vp];
        if unit.doing != Doing::Blocked {
            return;
        }
        let cpu = unit.cpu;
        self.count(vp, 1, now);
        if self.cpus[cpu].current == Some(vp) {
            // Its processor has not looked since it blocked: it goes on as if nothing had been.
            self.unit(vp).doing = Doing::Running;
        } else {
            self.queue_up(vp, now);
        }
    }

    fn sleep(&mut self, vp: VpId, now: u64) {
        let unit = &mut self.units[vp];
        let (cpu, domain) = (unit.cpu, unit.domain);
        match std::mem::replace(&mut unit.doing, Doing::Blocked) {
            Doing::Running => {
                self.count(vp, -1, now);
                self.pending.push(cpu);
            }
            Doing::Waiting => {
                self.dequeue(vp);
                self.count(vp, -1, now);
            }
            Doing::Parked => {
                if let Some(budget) = &mut self.domains[domain].budget {
                    budget.parked.retain(|other| *other != vp);
                }
            }
            Doing::Blocked => {}
        }
    }

    fn look(&mut self, core: CoreId, _now: u64) {
        self.pending.push(core);
    }

    fn look_at(&self, core: CoreId, _now: u64) -> When {
        self.cpus[core].look_at
    }

    fn timer(&mut self, now: u64) {
        for at in self.domains.ids() {
            let domain = &mut self.domains[at];
            let Some(budget) = domain.budget.as_mut().filter(|b| b.next_at <= now) else {
                continue;
            };
            let some_left = budget.replenish(now);
            domain.count.periods += 1;
            domain.count.throttled_periods += u64::from(domain.was_parked);
            domain.was_parked = !some_left && !budget.parked.is_empty();
            if some_left {
                self.unpark(at, now);
            }
        }
        self.set_timer();
    }

    fn timer_at(&self) -> When {
        self.timer_at
    }

    fn take_pending(&mut self) -> Option<CoreId> {
        self.pending.take()
    }

    fn pick(&mut self, core: CoreId, now: u64) -> Option<VpId> {
        self.schedule(core, now)
    }

    fn yield_to(&mut self, vp: VpId, _sibling: VpId, now: u64) -> bool {
        self.gives_way(vp, now)
    }

    /// Xen has no directed yield: the runner gives way to the first of the queue, whoever that is.
    fn gives_way(&mut self, vp: VpId, _now: u64) -> bool {
        let unit = self.unit(vp);
        if unit.doing != Doing::Running {
            return false;
        }
        unit.yields = true;
        let cpu = unit.cpu;
        self.pending.push(cpu);
        true
    }

    fn counted(&self, partition: PartitionId, now: u64) -> HostCount {
        let domain = &self.domains[partition];
        let parked = domain.budget.iter().flat_map(|budget| &budget.parked);
        let waited = parked.map(|vp| now - self.asides[*vp].parked_at);
        HostCount {
            throttled_ns: domain.count.throttled_ns + waited.sum::<u64>(),
            ..domain.count
        }
    }
}

#[cfg(test)]
mod tests;
