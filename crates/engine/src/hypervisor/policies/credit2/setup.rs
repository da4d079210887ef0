//! Sets the scheduler up: its run queues first, then unit by unit.

use super::budget::Budget;
use super::cpus::{CpuRange, CpuSet};
use super::domain::{Domain, Kept};
use super::groups::groups;
use super::ids::{ById, CoreId, PartitionId, QueueId, Span};
use super::processor::{Pending, Processor};
use super::queue::RunQueue;
use super::unit::Unit;
use super::Credit2;
use crate::hypervisor::HostCount;
use crate::kernel::{Stream, When};
use crate::machine::Topology;
use crate::spec::{self};

impl Credit2 {
    /// No units yet.
    pub(super) fn on(tree: &Topology, rules: spec::Credit2, siblings: u8, late: Stream) -> Self {
        let siblings = u16::from(siblings.max(1));
        let count = usize::from(tree.active_cores);
        let groups = groups(tree, siblings, rules.runqueue, rules.max_per_queue);
        let mut cpus = ById::new();
        for (at, group) in groups.iter().enumerate() {
            group.into_iter().for_each(|_| {
                cpus.push(Processor::new(QueueId::new(at)));
            });
        }
        let queue = |group: Span<CoreId>| RunQueue::new(CpuRange::of(group));
        Self {
            rules,
            siblings: usize::from(siblings),
            units: ById::new(),
            asides: ById::new(),
            since: ById::of(0, count),
            queues: groups.into_iter().map(queue).collect(),
            idle: CpuSet::of(count, cpus.ids()),
            cpus,
            pending: Pending::new(count),
            domains: ById::new(),
            timer_at: When::NEVER,
            late,
        }
    }

    pub(super) fn add_domain(&mut self, domain: &Domain) {
        let rules = self.rules;
        let budget = domain
            .cap
            .map(|cap| Budget::new(cap, rules.cap_period_ns, domain.units, rules.min_timer_ns));
        let of = PartitionId::new(self.domains.len());
        for at in 0..domain.units {
            self.add_unit(domain, of, at);
        }
        self.domains.push(Kept {
            budget,
            was_parked: false,
            count: HostCount::default(),
        });
        self.set_timer();
    }

    /// A domain's next unit comes to the run queue that is least loaded of those with a processor
    /// that it prefers (`csched2_res_pick`).
    fn add_unit(&mut self, domain: &Domain, of: PartitionId, at: usize) {
        let aside = domain.aside_of(at, self.cpus.len());
        let liked = |at: &QueueId| self.queues[*at].cpus.any(|word| aside.preferred(word));
        let least = self
            .queues
            .ids()
            .filter(|at| liked(at).is_some())
            .min_by_key(|at| self.queues[*at].load.average)
            .expect("an affinity with a processor of the machine");
        let queue = &mut self.queues[least];
        let cpu = queue.turn(|word| aside.preferred(word));
        let cpu = cpu.expect("a queue that it may use");
        let weight = u32::from(domain.weight.max(1));
        let credit = self.rules.credit_init_ns as i64;
        let mut unit = Unit::new(of, weight, credit, (least, cpu));
        if domain.cap.is_some() {
            unit.budget = 0;
        }
        let vp = self.units.push(unit);
        self.queues[least].join(vp, weight, &aside.load);
        self.asides.push(aside);
    }
}
