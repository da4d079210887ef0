//! A run queue: the processors that share it, the units that belong to it, and those that wait,
//! most credit first.

use super::cpus::CpuSet;
use super::load::Load;
use super::unit::Unit;
use crate::hypervisor::{CoreId, VpId};
use crate::machine::Topology;
use crate::spec::RunQueues;

/// Units that wait for the same processors, by credit.
#[derive(Clone, Debug)]
pub struct RunQueue {
    /// Its processors.
    pub cpus: CpuSet,
    /// Idle ones of them.
    pub idle: CpuSet,
    /// Units that belong to it, in the order in which they came.
    pub members: Vec<VpId>,
    /// Greatest weight among them.
    pub max_weight: u32,
    /// Runnable ones among them.
    pub runnable: i64,
    /// Average load, and what is expected of units that have just come or gone.
    pub load: Load,
    /// Processor that was given to a newcomer last.
    pub bias: CoreId,
    waiting: Vec<VpId>,
}

impl RunQueue {
    /// An empty one for these processors.
    pub fn new(cpus: CpuSet) -> Self {
        Self {
            idle: cpus.clone(),
            bias: cpus.iter().last().unwrap_or(0),
            cpus,
            members: Vec::new(),
            max_weight: 1,
            runnable: 0,
            load: Load::default(),
            waiting: Vec::new(),
        }
    }

    /// Units that wait, most credit first, the longer waiting first among equals.
    pub fn waiting(&self) -> &[VpId] {
        &self.waiting
    }

    /// Queues a unit behind all that have as much credit.
    pub fn insert(&mut self, units: &[Unit], vp: VpId) {
        let credit = units[vp as usize].credit;
        let at = self
            .waiting
            .partition_point(|other| units[*other as usize].credit >= credit);
        self.waiting.insert(at, vp);
    }

    /// Takes a unit that waits out.
    pub fn remove(&mut self, vp: VpId) {
        self.waiting.retain(|other| *other != vp);
    }

    /// A unit belongs to it from now on; it is expected to load it as it did elsewhere.
    pub fn join(&mut self, units: &[Unit], vp: VpId) {
        self.members.push(vp);
        let unit = &units[vp as usize];
        self.max_weight = self.max_weight.max(unit.weight);
        self.load.average += unit.load.average;
    }

    /// A unit belongs to it no longer.
    pub fn leave(&mut self, units: &[Unit], vp: VpId) {
        self.members.retain(|other| *other != vp);
        let weights = self.members.iter().map(|m| units[*m as usize].weight);
        self.max_weight = weights.max().unwrap_or(1);
        self.load.average = (self.load.average - units[vp as usize].load.average).max(0);
    }

    /// Next processor in turn for a newcomer with this affinity.
    pub fn turn(&mut self, affinity: &CpuSet) -> Option<CoreId> {
        let cpu = self.cpus.and(affinity).after(self.bias)?;
        self.bias = cpu;
        Some(cpu)
    }
}

/// Sets of processors that share a run queue. Where the rule gives more than `most`, they are
/// spread evenly over as many queues as it takes; siblings of a core stay together.
pub fn groups(tree: &Topology, siblings: u16, by: RunQueues, most: u16) -> Vec<Vec<CoreId>> {
    let of = |cpu: CoreId| match by {
        RunQueues::Cpu => cpu,
        RunQueues::Core => cpu / siblings,
        RunQueues::Socket => tree.chip_of(cpu),
        RunQueues::Node => tree.node_of(tree.chip_of(cpu)),
        RunQueues::All => 0,
    };
    let queues = tree.active_cores.div_ceil(most.max(1));
    let even = usize::from(tree.active_cores / queues.max(1));
    let room = |group: &[CoreId], cpu: CoreId| {
        group.iter().any(|other| other / siblings == cpu / siblings)
            || group.len() + usize::from(siblings) <= even
    };
    let mut groups: Vec<(u16, Vec<CoreId>)> = Vec::new();
    for cpu in 0..tree.active_cores {
        match groups.last_mut() {
            Some((key, group)) if *key == of(cpu) && room(group, cpu) => group.push(cpu),
            _ => groups.push((of(cpu), vec![cpu])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::parse_short;

    fn units(credits: &[i64]) -> Vec<Unit> {
        let unit = |credit: &i64| Unit::new(0, 256, CpuSet::of(4, 0..4), *credit);
        credits.iter().map(unit).collect()
    }

    #[test]
    fn most_credit_first_and_first_come_first_among_equals() {
        let units = units(&[5, 7, 7, -1]);
        let mut queue = RunQueue::new(CpuSet::of(4, 0..4));
        (0..4).for_each(|vp| queue.insert(&units, vp));
        assert_eq!(queue.waiting(), [1, 2, 0, 3]);
        queue.remove(2);
        assert_eq!(queue.waiting(), [1, 0, 3]);
    }

    #[test]
    fn the_greatest_weight_goes_with_its_unit() {
        let mut units = units(&[0, 0]);
        units[1].weight = 512;
        let mut queue = RunQueue::new(CpuSet::of(4, 0..4));
        queue.join(&units, 0);
        queue.join(&units, 1);
        assert_eq!(queue.max_weight, 512);
        queue.leave(&units, 1);
        assert_eq!(queue.max_weight, 256);
    }

    #[test]
    fn newcomers_take_processors_in_turn() {
        let mut queue = RunQueue::new(CpuSet::of(4, 0..4));
        let all = CpuSet::of(4, 0..4);
        let turns: Vec<_> = (0..5).map(|_| queue.turn(&all)).collect();
        assert_eq!(turns, [0, 1, 2, 3, 0].map(Some));
        assert_eq!(queue.turn(&CpuSet::of(4, [0])), Some(0));
    }

    #[test]
    fn queues_beyond_the_most_are_spread_evenly_and_keep_siblings_together() {
        let tree = Topology::new(&parse_short("node:2 chip:1 core:10").unwrap());
        let sizes = |by, most| -> Vec<usize> {
            let groups = groups(&tree, 2, by, most);
            groups.iter().map(Vec::len).collect()
        };
        assert_eq!(sizes(RunQueues::Socket, 16), [10, 10]);
        assert_eq!(sizes(RunQueues::All, 16), [10, 10]);
        assert_eq!(sizes(RunQueues::Socket, 5), [4, 4, 2, 4, 4, 2]);
        assert_eq!(sizes(RunQueues::Core, 16), [2; 10]);
        assert_eq!(sizes(RunQueues::Cpu, 16), [1; 20]);
    }
}
