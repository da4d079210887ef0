//! Scheduling domains: the sets of processors among which load is balanced, from the threads of
//! a core out to the machine.

use super::ids::{ById, CoreId, DomainId, MemoryId, Span};
use crate::kernel::When;
use crate::machine::Topology;

/// Longest interval for each processor, as the tenth of a second for one [ns].
const LONGEST_NS: u64 = 100_000_000;

/// Most domains around a processor.
pub const LEVELS: usize = 4;

/// What the processors of a domain have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// A core's pipelines.
    Smt,
    /// The last cache level.
    Cache,
    /// A memory node.
    Package,
    /// Several memory nodes.
    Numa,
}

/// Processors among which load is balanced, in groups.
#[derive(Clone, Debug)]
pub struct Domain {
    /// What they have in common.
    pub level: Level,
    /// The sets between which it balances: the domains beneath, or single processors.
    pub groups: Vec<Span<CoreId>>,
    /// Processors in all.
    pub weight: usize,
    /// Whether tasks are spread over the domains beneath even if these have room
    /// (`SD_PREFER_SIBLING` of the domain beneath, which sets of memory nodes don't have).
    pub spreads: bool,
    /// Most tasks of a memory node among which it lets a small difference be; see
    /// [`Domain::counts`].
    pub lax: u32,
    /// Processors that could not move tasks within their group at the last look, as these may not
    /// run where there is room (`sgc->imbalance`). Each takes back its own note only: in the kernel
    /// any look does that finds nothing to move, but there these don't come in step.
    pub imbalanced: Vec<CoreId>,
}

/// A difference that is let be as long as few run (`NUMA_IMBALANCE_MIN`): two that talk to each
/// other.
pub const PAIR: u32 = 2;

impl Domain {
    /// What of a difference in tasks or in idle processors between two memory nodes is to be evened
    /// out, where `running` will run on the one that gets a task (`adjust_numa_imbalance`).
    pub fn counts(&self, difference: u32, running: u32) -> u32 {
        if self.level == Level::Numa && running <= self.lax && difference <= PAIR {
            0
        } else {
            difference
        }
    }
}

/// What one processor keeps of a domain.
#[derive(Clone, Copy, Debug)]
pub struct Seat {
    /// Index of the domain.
    pub domain: DomainId,
    /// Index of the processor's own group in it.
    pub own: usize,
    /// When it balanced last [ns].
    last: u64,
    /// Time to the next attempt, for an idle processor [ns].
    pub interval: u64,
    /// Attempts in a row that moved nothing.
    pub failed: u32,
    /// When it balances next, if it idles and if it has work [ns].
    due: [u64; 2],
}

/// When processors balance.
#[derive(Clone, Copy, Debug)]
pub struct Rhythm {
    /// Whether they do at all.
    pub enabled: bool,
    /// Clock tick [ns].
    pub tick: u64,
    /// Shortest interval for each processor of a domain [ns].
    pub unit: u64,
    /// Factor on the interval while a processor has work.
    pub busy_factor: u64,
}

/// Domains of a host, and each processor's way from the innermost out.
#[derive(Clone, Debug)]
pub struct Domains {
    /// All of them.
    pub all: ById<DomainId, Domain>,
    /// By processor.
    pub seats: ById<CoreId, Vec<Seat>>,
    /// The processors that share the last cache level, by processor.
    cache: ById<CoreId, Span<CoreId>>,
    /// Processors around each with the same sets around them, itself among them.
    near: ById<CoreId, Span<CoreId>>,
    /// The processors beside the same memory, by processor.
    nodes: ById<CoreId, Span<CoreId>>,
    /// Threads of a core.
    pub siblings: usize,
    /// First time at which a processor balances in any domain, if it idles and if it has work.
    due: ById<CoreId, [When; 2]>,
    rhythm: Rhythm,
}

impl Domains {
    /// Reads the machine; `siblings` neighbours in the numbering are threads of a core.
    pub fn new(tree: &Topology, siblings: u8, rhythm: Rhythm) -> Self {
        let cpus = usize::from(tree.active_cores);
        let siblings = usize::from(siblings.max(1));
        let chip = usize::from(tree.cores_per_chip);
        let memory = chip * tree.chips_beside(MemoryId::new(0)).len();
        let sizes = [
            siblings,
            chip,
            chip * usize::from(tree.chips_per_node),
            cpus.max(1),
        ];
        let levels = [Level::Smt, Level::Cache, Level::Package, Level::Numa];
        let mut domains = Self {
            all: ById::new(),
            seats: ById::of(Vec::new(), cpus),
            cache: (0..cpus).map(|cpu| span(cpu, chip, cpus)).collect(),
            near: (0..cpus).map(|cpu| span(cpu, 1, cpus)).collect(),
            nodes: (0..cpus).map(|cpu| span(cpu, memory, cpus)).collect(),
            siblings,
            due: ById::of([When::NEVER; 2], cpus),
            rhythm,
        };
        let lax = lax(tree);
        let mut beneath = 1;
        for (level, size) in levels.into_iter().zip(sizes) {
            if size > beneath && cpus > beneath {
                let level = if size > memory { Level::Numa } else { level };
                domains.add(level, (size, beneath, memory), lax, cpus);
                beneath = size;
            }
        }
        for cpu in domains.seats.ids() {
            (0..domains.seats[cpu].len()).for_each(|seat| domains.plan(cpu, seat));
        }
        domains
    }

    fn add(&mut self, level: Level, sizes: (usize, usize, usize), lax: u32, cpus: usize) {
        let (size, beneath, memory) = sizes;
        for first in (0..cpus).step_by(size) {
            let all = span(first, size, cpus).numbers();
            let groups = all.clone().step_by(beneath);
            let groups: Vec<_> = groups.map(|at| span(at, beneath, all.end)).collect();
            if groups.len() < 2 {
                continue;
            }
            let interval = all.len() as u64 * self.rhythm.unit;
            // As many times more as the domain is larger than the least one of several nodes.
            let times = if beneath > memory { size / beneath } else { 1 };
            let domain = self.all.push(Domain {
                level,
                groups,
                weight: all.len(),
                spreads: beneath > 1 && beneath <= memory,
                lax: lax * times as u32,
                imbalanced: Vec::new(),
            });
            for (own, group) in self.all[domain].groups.iter().enumerate() {
                for cpu in *group {
                    if beneath == 1 {
                        self.near[cpu] = span(first, size, cpus);
                    }
                    self.seats[cpu].push(Seat {
                        domain,
                        own,
                        last: 0,
                        interval,
                        failed: 0,
                        due: [0; 2],
                    });
                }
            }
        }
    }

    /// A processor has balanced in a domain; it does so again an interval from now on.
    pub fn balanced(&mut self, cpu: CoreId, seat: usize, now: u64) {
        let tick = self.rhythm.tick;
        self.seats[cpu][seat].last = now / tick * tick;
        self.plan(cpu, seat);
    }

    /// Works out anew when a processor balances next, because its interval or its last time has
    /// changed: it is asked for far more often.
    pub fn plan(&mut self, cpu: CoreId, seat: usize) {
        let seats = &mut self.seats[cpu];
        let most = (LONGEST_NS / self.rhythm.tick * self.cache.len() as u64).max(1);
        seats[seat].due = self.rhythm.due(&seats[seat], most);
        let first = |busy: usize| seats.iter().map(|seat| seat.due[busy]).min();
        if self.rhythm.enabled {
            self.due[cpu] = [0, 1].map(|busy| first(busy).into());
        }
    }

    /// When a processor balances next in a domain, at a tick.
    #[inline]
    pub fn due_at(&self, cpu: CoreId, seat: usize, busy: bool) -> u64 {
        self.seats[cpu][seat].due[usize::from(busy)]
    }

    /// First time at which a processor balances in any domain.
    #[inline]
    pub fn balance_at(&self, cpu: CoreId, busy: bool) -> When {
        self.due[cpu][usize::from(busy)]
    }

    /// The sets around a processor, from the outermost in.
    pub fn groups_of(&self, cpu: CoreId) -> impl Iterator<Item = Span<CoreId>> + '_ {
        let seats = self.seats[cpu].iter().rev();
        seats.map(|seat| self.all[seat.domain].groups[seat.own])
    }

    /// Neighbours of a processor, itself included, that have the same sets around them but for the
    /// innermost, in which each is alone.
    pub fn near(&self, cpu: CoreId) -> Span<CoreId> {
        self.near[cpu]
    }

    /// Threads of a processor's core.
    pub fn core_of(&self, cpu: CoreId) -> Span<CoreId> {
        span(cpu.index(), self.siblings, self.cache.len())
    }

    /// The processors beside the same memory as one.
    pub fn node_of(&self, cpu: CoreId) -> Span<CoreId> {
        self.nodes[cpu]
    }

    /// The least domain around a processor that has several memory nodes (`sd_numa`).
    pub fn nodes_around(&self, cpu: CoreId) -> Option<&Domain> {
        let mut seats = self.seats[cpu].iter().map(|seat| &self.all[seat.domain]);
        seats.find(|domain| domain.level == Level::Numa)
    }

    /// The processors that share the last cache level with one.
    #[inline]
    pub fn cache_of(&self, cpu: CoreId) -> Span<CoreId> {
        self.cache[cpu]
    }
}

impl Rhythm {
    /// When one balances next, if it idles and if it has work, at most so many ticks from the last
    /// time.
    fn due(&self, seat: &Seat, most: u64) -> [u64; 2] {
        let after = |ticks: u64| seat.last + ticks.clamp(1, most) * self.tick;
        let busy = (seat.interval * self.busy_factor).div_ceil(self.tick);
        [
            after(seat.interval.div_ceil(self.tick)),
            after(busy.saturating_sub(1)),
        ]
    }
}

/// How many may run on a memory node before a small difference to another one counts: one for each
/// last-level cache of it, an eighth of its processors where it has but one (`imb_numa_nr`, from
/// `build_sched_domains`).
pub fn lax(tree: &Topology) -> u32 {
    let caches = tree.chips_beside(MemoryId::new(0)).len();
    let processors = caches * usize::from(tree.cores_per_chip);
    let most = if caches > 1 { caches } else { processors / 8 };
    most.max(1) as u32
}

/// The `size` neighbours of which `cpu` is one, of `cpus` in all.
fn span(cpu: usize, size: usize, cpus: usize) -> Span<CoreId> {
    let first = cpu / size * size;
    Span::new(first, size.min(cpus - first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::parse_short;
    use crate::spec::MemoryBeside;

    fn domains(text: &str, siblings: u8, beside: MemoryBeside) -> Vec<Domain> {
        let rhythm = Rhythm {
            enabled: true,
            tick: 1,
            unit: 1,
            busy_factor: 1,
        };
        let mut machine = parse_short(text).unwrap();
        machine.memory_beside = beside;
        machine.hypervisor.siblings = siblings;
        let domains = Domains::new(&Topology::new(&machine), siblings, rhythm);
        let seats = domains.seats[CoreId::new(0)].iter();
        seats.map(|seat| domains.all[seat.domain].clone()).collect()
    }

    fn levels(text: &str, siblings: u8, beside: MemoryBeside) -> Vec<(Level, usize)> {
        let all = domains(text, siblings, beside).into_iter();
        all.map(|domain| (domain.level, domain.groups.len()))
            .collect()
    }

    #[test]
    fn levels_that_tell_nothing_new_are_left_out() {
        let beside = MemoryBeside::Chip;
        assert_eq!(levels("core:2", 1, beside), vec![(Level::Cache, 2)]);
        assert_eq!(levels("core:1", 1, beside), vec![]);
        let all = levels("node:2 chip:2 core:4", 2, MemoryBeside::Node);
        let expected = [
            (Level::Smt, 2),
            (Level::Cache, 4),
            (Level::Package, 2),
            (Level::Numa, 2),
        ];
        assert_eq!(all, expected);
        // Chips with memory of their own are nodes.
        let all = levels("node:2 chip:2 core:4", 2, beside);
        let nodes = [(Level::Numa, 2); 2];
        assert_eq!(all, [&expected[..2], &nodes[..]].concat());
    }

    #[test]
    fn a_pair_may_stay_on_a_node_as_long_as_few_run_there() {
        // Two sockets of 16 cores in eight core complexes: eight; one complex: an eighth of 32.
        for (text, beside, expected) in [
            ("node:2 chip:8 core:2", MemoryBeside::Node, vec![8]),
            ("node:2 chip:1 core:16", MemoryBeside::Node, vec![4]),
            ("node:1 chip:2 core:16", MemoryBeside::Chip, vec![4]),
            // Four drawers of four chips: four times as many among all.
            ("node:4 chip:4 core:16", MemoryBeside::Chip, vec![4, 16]),
        ] {
            let all = domains(text, 2, beside).into_iter();
            let numa = all.filter(|domain| domain.level == Level::Numa);
            let numa: Vec<Domain> = numa.collect();
            let lax: Vec<u32> = numa.iter().map(|domain| domain.lax).collect();
            assert_eq!(lax, expected, "{text}");
            let (most, counts) = (lax[0], |by, running| numa[0].counts(by, running));
            assert_eq!((counts(2, most), counts(2, most + 1)), (0, 2));
            assert_eq!((counts(3, 1), counts(0, most + 1)), (3, 0));
            // Nodes are filled evenly, sets of nodes by what idles.
            let spreads: Vec<bool> = numa.iter().map(|domain| domain.spreads).collect();
            assert_eq!(
                spreads,
                (0..lax.len()).map(|at| at == 0).collect::<Vec<_>>()
            );
        }
    }
}
