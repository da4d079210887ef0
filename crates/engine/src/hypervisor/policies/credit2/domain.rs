//! Domains: what the scheduler is told of them, and what it keeps of each.

use super::budget::Budget;
use super::cpus::CpuSet;
use super::groups::groups;
use super::processor::{Pending, Processor, NEVER};
use super::queue::RunQueue;
use super::unit::{Aside, Unit};
use super::Credit2;
use crate::hypervisor::{CoreId, HostCount, VpId};
use crate::machine::Topology;
use crate::spec::{self, Processors};

/// What the scheduler is told of a domain.
pub(super) struct Domain<'a> {
    pub units: u16,
    pub weight: u16,
    pub cap: Option<f64>,
    pub pins: &'a [Vec<CoreId>],
}

/// What it keeps of one.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    /// Budget of one with a cap.
    pub budget: Option<Budget>,
    /// Whether a unit of it was parked in this period.
    pub was_parked: bool,
    pub count: HostCount,
}

impl<'a> Domain<'a> {
    pub fn of(processors: &'a Processors) -> Self {
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

    /// Processors that one of its units may use; none = all.
    fn pins_of(&self, unit: usize, cpus: u16) -> Option<CpuSet> {
        let pins = self.pins.get(unit).filter(|pins| !pins.is_empty())?;
        Some(CpuSet::of(cpus, pins.iter().copied()))
    }
}

impl Credit2 {
    /// No units yet.
    pub(super) fn on(tree: &Topology, rules: spec::Credit2, siblings: u8) -> Self {
        let siblings = u16::from(siblings.max(1));
        let cpus = tree.active_cores;
        let groups = groups(tree, siblings, rules.runqueue, rules.max_per_queue);
        let of_a_group = |(at, group): (usize, &super::cpus::CpuRange)| {
            vec![Processor::new(at as u16); usize::from(group.count())]
        };
        Self {
            rules,
            siblings,
            units: Vec::new(),
            asides: Vec::new(),
            cpus: groups.iter().enumerate().flat_map(of_a_group).collect(),
            since: vec![0; usize::from(cpus)],
            queues: groups.into_iter().map(RunQueue::new).collect(),
            idle: CpuSet::of(cpus, 0..cpus),
            pending: Pending::new(cpus),
            domains: Vec::new(),
            timer_at: NEVER,
        }
    }

    pub(super) fn add_domain(&mut self, domain: &Domain) {
        let (cpus, rules) = (self.cpus.len() as u16, self.rules);
        let budget = domain
            .cap
            .map(|cap| Budget::new(cap, rules.cap_period_ns, domain.units, rules.min_timer_ns));
        let index = self.domains.len() as u16;
        for at in 0..usize::from(domain.units) {
            let credit = rules.credit_init_ns as i64;
            let mut unit = Unit::new(index, u32::from(domain.weight.max(1)), credit);
            if budget.is_some() {
                unit.budget = 0;
            }
            self.add_unit(unit, Aside::new(domain.pins_of(at, cpus)));
        }
        self.domains.push(Kept {
            budget,
            was_parked: false,
            count: HostCount::default(),
        });
        self.set_timer();
    }

    /// A unit comes to the run queue that is least loaded of those that it may use.
    fn add_unit(&mut self, mut unit: Unit, aside: Aside) {
        let usable = |at: &usize| self.queues[*at].suits(&aside);
        let least = (0..self.queues.len())
            .filter(usable)
            .min_by_key(|at| self.queues[*at].load.average)
            .expect("an affinity with a processor of the machine");
        let queue = &mut self.queues[least];
        unit.queue = least as u16;
        unit.cpu = queue.turn(&aside).expect("a queue that it may use");
        queue.join(self.units.len() as VpId, unit.weight, &aside.load);
        self.units.push(unit);
        self.asides.push(aside);
    }
}
