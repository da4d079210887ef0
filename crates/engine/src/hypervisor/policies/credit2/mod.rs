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
//! Not modelled: soft affinity, and the time between a tickle and the look at the queue. Where the
//! first of the queue has to be parked, the next is looked at; Xen leaves that to the next tickle.

mod balance;
mod budget;
mod cpus;
mod load;
mod pick;
mod queue;
mod tickle;
mod unit;

use std::collections::VecDeque;

use super::super::host::{HostCount, HostScheduler};
use super::super::{CoreId, State, VpId};
use crate::machine::Topology;
use crate::spec::{self, Processors, Spec};
use budget::Budget;
use cpus::CpuSet;
use queue::{groups, RunQueue};
use unit::{Doing, Unit};

/// Nothing set.
const NEVER: u64 = u64::MAX;

/// The scheduler.
#[derive(Clone, Debug)]
pub struct Credit2 {
    rules: spec::Credit2,
    siblings: u16,
    units: Vec<Unit>,
    queues: Vec<RunQueue>,
    queue_of: Vec<u16>,
    current: Vec<Option<VpId>>,
    look_at: Vec<u64>,
    budgets: Vec<Option<Budget>>,
    counts: Vec<HostCount>,
    /// When the first of the budgets is due.
    timer_at: u64,
    /// Whether a unit of the domain was parked in this period, and since when each is.
    was_parked: Vec<bool>,
    parked_at: Vec<u64>,
    /// Processor that was tickled for a unit and has not looked yet.
    tickled: Vec<Option<CoreId>>,
    pending: VecDeque<CoreId>,
    is_pending: Vec<bool>,
}

/// What the scheduler is told of a domain.
struct Domain<'a> {
    units: u16,
    weight: u16,
    cap: Option<f64>,
    pins: &'a [Vec<CoreId>],
}

impl<'a> Domain<'a> {
    fn of(processors: &'a Processors) -> Self {
        match processors {
            Processors::Shared {
                r#virtual,
                weight,
                host,
                ..
            } => Self {
                units: *r#virtual,
                weight: *weight,
                cap: host.cap,
                pins: &host.pins,
            },
            Processors::Dedicated { cores, .. } => Self {
                units: cores.len() as u16,
                weight: 1,
                cap: None,
                pins: &[],
            },
        }
    }
}

impl Credit2 {
    /// All units blocked, each in the run queue that was least loaded when it came.
    pub fn new(spec: &Spec, state: &State) -> Self {
        let hypervisor = &spec.machine.hypervisor;
        let mut credit2 = Self::on(&state.tree, hypervisor.credit2, hypervisor.siblings);
        for partition in &spec.partitions {
            credit2.add_domain(&Domain::of(&partition.processors));
        }
        credit2
    }

    /// No units yet.
    fn on(tree: &Topology, rules: spec::Credit2, siblings: u8) -> Self {
        let siblings = u16::from(siblings.max(1));
        let cpus = tree.active_cores;
        let groups = groups(tree, siblings, rules.runqueue, rules.max_per_queue);
        let mut queue_of = vec![0; usize::from(cpus)];
        for (at, group) in groups.iter().enumerate() {
            for cpu in group {
                queue_of[usize::from(*cpu)] = at as u16;
            }
        }
        let queue = |group: Vec<CoreId>| RunQueue::new(CpuSet::of(cpus, group));
        Self {
            rules,
            siblings,
            units: Vec::new(),
            queues: groups.into_iter().map(queue).collect(),
            queue_of,
            current: vec![None; usize::from(cpus)],
            look_at: vec![NEVER; usize::from(cpus)],
            budgets: Vec::new(),
            counts: Vec::new(),
            timer_at: NEVER,
            was_parked: Vec::new(),
            parked_at: Vec::new(),
            tickled: Vec::new(),
            pending: VecDeque::new(),
            is_pending: vec![false; usize::from(cpus)],
        }
    }

    fn add_domain(&mut self, domain: &Domain) {
        let (cpus, rules) = (self.current.len() as u16, self.rules);
        let budget = domain
            .cap
            .map(|cap| Budget::new(cap, rules.cap_period_ns, domain.units, rules.min_timer_ns));
        let index = self.budgets.len() as u16;
        for unit in 0..usize::from(domain.units) {
            let affinity = match domain.pins.get(unit) {
                Some(pins) if !pins.is_empty() => CpuSet::of(cpus, pins.iter().copied()),
                _ => CpuSet::of(cpus, 0..cpus),
            };
            let credit = rules.credit_init_ns as i64;
            let mut unit = Unit::new(index, u32::from(domain.weight.max(1)), affinity, credit);
            if budget.is_some() {
                unit.budget = 0;
            }
            self.add_unit(unit);
        }
        self.budgets.push(budget);
        self.set_timer();
        self.counts.push(HostCount::default());
        self.was_parked.push(false);
    }

    fn set_timer(&mut self) {
        let next = self.budgets.iter().flatten().map(|budget| budget.next_at);
        self.timer_at = next.min().unwrap_or(NEVER);
    }

    fn add_unit(&mut self, mut unit: Unit) {
        let usable = |at: &usize| self.queues[*at].cpus.meets(&unit.affinity);
        let least = (0..self.queues.len())
            .filter(usable)
            .min_by_key(|at| self.queues[*at].load.average)
            .expect("an affinity with a processor of the machine");
        unit.queue = least as u16;
        unit.cpu = self.queues[least]
            .turn(&unit.affinity)
            .expect("a queue that it may use");
        let vp = self.units.len() as VpId;
        self.units.push(unit);
        self.parked_at.push(0);
        self.tickled.push(None);
        self.queues[least].join(&self.units, vp);
    }

    fn push(&mut self, cpu: CoreId) {
        if !std::mem::replace(&mut self.is_pending[usize::from(cpu)], true) {
            self.pending.push_back(cpu);
        }
    }

    fn unit(&mut self, vp: VpId) -> &mut Unit {
        &mut self.units[vp as usize]
    }

    fn queue_of(&mut self, vp: VpId) -> &mut RunQueue {
        &mut self.queues[usize::from(self.units[vp as usize].queue)]
    }

    /// A unit becomes runnable (1) or is so no longer (-1).
    fn count(&mut self, vp: VpId, change: i64, now: u64) {
        let window = self.rules.load_window_shift;
        let queue = self.queue_of(vp);
        queue.load.update(queue.runnable, now, window);
        queue.runnable += change;
        let was = i64::from(change < 0);
        self.unit(vp).load.update(was, now, window);
    }

    /// Takes time off a runner's credit and budget.
    fn burn(&mut self, vp: VpId, now: u64) {
        let heaviest = self.queue_of(vp).max_weight;
        let least = -(self.rules.credit_init_ns as i64);
        self.unit(vp).burn(heaviest, now, least);
    }

    /// A runnable unit waits in its run queue, and a processor that should run it is looked for.
    fn queue_up(&mut self, vp: VpId, now: u64) {
        self.unit(vp).doing = Doing::Waiting;
        let queue = usize::from(self.units[vp as usize].queue);
        self.queues[queue].insert(&self.units, vp);
        self.tickle(vp, now);
    }

    /// Has a capped unit budget left, or can it get some? If not it is parked.
    fn has_budget(&mut self, vp: VpId, now: u64) -> bool {
        let unit = &mut self.units[vp as usize];
        if unit.budget > 0 {
            return true;
        }
        let domain = usize::from(unit.domain);
        let budget = self.budgets[domain].as_mut().expect("a cap has a budget");
        unit.budget = budget.take(unit.budget);
        if unit.budget > 0 {
            return true;
        }
        budget.parked.push(vp);
        self.was_parked[domain] = true;
        self.parked_at[vp as usize] = now;
        let waited = std::mem::replace(&mut unit.doing, Doing::Parked) == Doing::Waiting;
        if waited {
            self.queue_of(vp).remove(vp);
            self.count(vp, -1, now);
        }
        false
    }

    /// Parked units may try again.
    fn unpark(&mut self, units: Vec<VpId>, now: u64) {
        for vp in units {
            let domain = usize::from(self.units[vp as usize].domain);
            self.counts[domain].throttled_ns += now - self.parked_at[vp as usize];
            self.count(vp, 1, now);
            self.queue_up(vp, now);
        }
    }
}

impl HostScheduler for Credit2 {
    fn wake(&mut self, vp: VpId, _waker: Option<CoreId>, now: u64) {
        if self.units[vp as usize].doing != Doing::Blocked {
            return;
        }
        self.count(vp, 1, now);
        let cpu = self.units[vp as usize].cpu;
        if self.current[usize::from(cpu)] == Some(vp) {
            // Its processor has not looked since it blocked: it goes on as if nothing had been.
            self.unit(vp).doing = Doing::Running;
        } else {
            self.queue_up(vp, now);
        }
    }

    fn sleep(&mut self, vp: VpId, now: u64) {
        let unit = &mut self.units[vp as usize];
        let cpu = unit.cpu;
        match std::mem::replace(&mut unit.doing, Doing::Blocked) {
            Doing::Running => {
                self.count(vp, -1, now);
                self.push(cpu);
            }
            Doing::Waiting => {
                self.queue_of(vp).remove(vp);
                self.count(vp, -1, now);
            }
            Doing::Parked => {
                let domain = usize::from(self.units[vp as usize].domain);
                if let Some(budget) = &mut self.budgets[domain] {
                    budget.parked.retain(|other| *other != vp);
                }
            }
            Doing::Blocked => {}
        }
    }

    fn look(&mut self, core: CoreId, _now: u64) {
        self.push(core);
    }

    fn look_at(&self, core: CoreId, _now: u64) -> u64 {
        self.look_at[usize::from(core)]
    }

    fn timer(&mut self, now: u64) {
        for domain in 0..self.budgets.len() {
            let Some(budget) = self.budgets[domain].as_mut().filter(|b| b.next_at <= now) else {
                continue;
            };
            let units = budget.replenish(now);
            self.counts[domain].periods += 1;
            let throttled = std::mem::replace(&mut self.was_parked[domain], false);
            self.counts[domain].throttled_periods += u64::from(throttled);
            self.was_parked[domain] = self.budgets[domain]
                .as_ref()
                .is_some_and(|b| !b.parked.is_empty());
            self.unpark(units, now);
        }
        self.set_timer();
    }

    fn timer_at(&self) -> u64 {
        self.timer_at
    }

    fn take_pending(&mut self) -> Option<CoreId> {
        let cpu = self.pending.pop_front()?;
        self.is_pending[usize::from(cpu)] = false;
        Some(cpu)
    }

    fn pick(&mut self, core: CoreId, now: u64) -> Option<VpId> {
        self.schedule(core, now)
    }

    /// Xen has no directed yield: the runner gives way to the first of the queue, whoever that is.
    fn yield_to(&mut self, vp: VpId, _sibling: VpId, _now: u64) -> bool {
        let unit = self.unit(vp);
        if unit.doing != Doing::Running {
            return false;
        }
        unit.yields = true;
        let cpu = unit.cpu;
        self.push(cpu);
        true
    }

    fn counted(&self, partition: u16, now: u64) -> HostCount {
        let mut count = self.counts[usize::from(partition)];
        let parked = self.budgets[usize::from(partition)].iter();
        let waiting = parked.flat_map(|budget| &budget.parked);
        count.throttled_ns += waiting
            .map(|vp| now - self.parked_at[*vp as usize])
            .sum::<u64>();
        count
    }
}

#[cfg(test)]
mod tests;
