//! Scheduling domains: the sets of processors among which load is balanced, from the threads of
//! a core out to the machine.

use super::ids::{ById, CoreId, DomainId, Span};
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
    /// Nothing but the machine.
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
    /// Whether tasks are spread over the domains beneath even if these have room.
    pub spreads: bool,
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
        let node = chip * usize::from(tree.chips_per_node);
        let sizes = [
            (Level::Smt, siblings),
            (Level::Cache, chip),
            (Level::Package, node),
            (Level::Numa, cpus.max(1)),
        ];
        let mut domains = Self {
            all: ById::new(),
            seats: ById::of(Vec::new(), cpus),
            cache: (0..cpus).map(|cpu| span(cpu, chip, cpus)).collect(),
            near: (0..cpus).map(|cpu| span(cpu, 1, cpus)).collect(),
            siblings,
            due: ById::of([When::NEVER; 2], cpus),
            rhythm,
        };
        let mut beneath = 1;
        for (level, size) in sizes {
            if size > beneath && cpus > beneath {
                domains.add(level, size, beneath, cpus);
                beneath = size;
            }
        }
        for cpu in domains.seats.ids() {
            (0..domains.seats[cpu].len()).for_each(|seat| domains.plan(cpu, seat));
        }
        domains
    }

    fn add(&mut self, level: Level, size: usize, beneath: usize, cpus: usize) {
        for first in (0..cpus).step_by(size) {
            let all = span(first, size, cpus).numbers();
            let groups = all.clone().step_by(beneath);
            let groups: Vec<_> = groups.map(|at| span(at, beneath, all.end)).collect();
            if groups.len() < 2 {
                continue;
            }
            let interval = all.len() as u64 * self.rhythm.unit;
            let domain = self.all.push(Domain {
                level,
                groups,
                weight: all.len(),
                spreads: beneath > 1 && level != Level::Numa,
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

/// The `size` neighbours of which `cpu` is one, of `cpus` in all.
fn span(cpu: usize, size: usize, cpus: usize) -> Span<CoreId> {
    let first = cpu / size * size;
    Span::new(first, size.min(cpus - first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::parse_short;

    fn levels(text: &str, siblings: u8) -> Vec<(Level, usize)> {
        let rhythm = Rhythm {
            enabled: true,
            tick: 1,
            unit: 1,
            busy_factor: 1,
        };
        let tree = Topology::new(&parse_short(text).unwrap());
        let domains = Domains::new(&tree, siblings, rhythm);
        let seats = domains.seats[CoreId::new(0)].iter();
        seats
            .map(|seat| &domains.all[seat.domain])
            .map(|domain| (domain.level, domain.groups.len()))
            .collect()
    }

    #[test]
    fn levels_that_tell_nothing_new_are_left_out() {
        assert_eq!(levels("core:2", 1), vec![(Level::Cache, 2)]);
        assert_eq!(levels("core:1", 1), vec![]);
        let all = levels("node:2 chip:2 core:8", 2);
        let expected = [
            (Level::Smt, 2),
            (Level::Cache, 4),
            (Level::Package, 2),
            (Level::Numa, 2),
        ];
        assert_eq!(all, expected);
    }
}
