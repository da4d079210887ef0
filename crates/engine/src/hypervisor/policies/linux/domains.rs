//! Scheduling domains: the sets of processors among which load is balanced, from the threads of
//! a core out to the machine.

use crate::machine::Topology;

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
    pub groups: Vec<Vec<u16>>,
    /// Processors in all.
    pub weight: u16,
    /// Whether tasks are spread over the domains beneath even if these have room.
    pub spreads: bool,
}

/// What one processor keeps of a domain.
#[derive(Clone, Copy, Debug)]
pub struct Seat {
    /// Index of the domain.
    pub domain: u16,
    /// Index of the processor's own group in it.
    pub own: u16,
    /// When it balanced last [ns].
    pub last: u64,
    /// Time to the next attempt, for an idle processor [ns].
    pub interval: u64,
    /// Attempts in a row that moved nothing.
    pub failed: u32,
}

/// Domains of a host, and each processor's way from the innermost out.
#[derive(Clone, Debug, Default)]
pub struct Domains {
    /// All of them.
    pub all: Vec<Domain>,
    /// By processor.
    pub seats: Vec<Vec<Seat>>,
    /// First processor and number of processors that share the last cache level, by processor.
    pub cache: Vec<(u16, u16)>,
    /// Threads of a core.
    pub siblings: u16,
}

impl Domains {
    /// Reads the machine; `siblings` neighbours in the numbering are threads of a core.
    pub fn new(tree: &Topology, siblings: u8, unit_ns: u64) -> Self {
        let cpus = tree.active_cores;
        let siblings = u16::from(siblings.max(1));
        let chip = tree.cores_per_chip;
        let node = chip * tree.chips_per_node;
        let sizes = [
            (Level::Smt, siblings),
            (Level::Cache, chip),
            (Level::Package, node),
            (Level::Numa, cpus.max(1)),
        ];
        let mut domains = Self {
            all: Vec::new(),
            seats: vec![Vec::new(); usize::from(cpus)],
            cache: (0..cpus).map(|cpu| span(cpu, chip, cpus)).collect(),
            siblings,
        };
        let mut beneath = 1;
        for (level, size) in sizes {
            if size > beneath && cpus > beneath {
                domains.add(level, size, beneath, cpus, unit_ns);
                beneath = size;
            }
        }
        domains
    }

    fn add(&mut self, level: Level, size: u16, beneath: u16, cpus: u16, unit_ns: u64) {
        for first in (0..cpus).step_by(usize::from(size)) {
            let (first, count) = span(first, size, cpus);
            let groups: Vec<Vec<u16>> = (first..first + count)
                .step_by(usize::from(beneath))
                .map(|at| {
                    let (at, count) = span(at, beneath, first + count);
                    (at..at + count).collect()
                })
                .collect();
            if groups.len() < 2 {
                continue;
            }
            let domain = self.all.len() as u16;
            for (own, group) in groups.iter().enumerate() {
                for cpu in group {
                    self.seats[usize::from(*cpu)].push(Seat {
                        domain,
                        own: own as u16,
                        last: 0,
                        interval: u64::from(count) * unit_ns,
                        failed: 0,
                    });
                }
            }
            self.all.push(Domain {
                level,
                groups,
                weight: count,
                spreads: beneath > 1 && level != Level::Numa,
            });
        }
    }

    /// Threads of a processor's core.
    pub fn core_of(&self, cpu: u16) -> std::ops::Range<u16> {
        let first = cpu / self.siblings * self.siblings;
        first..(first + self.siblings).min(self.cache.len() as u16)
    }

    /// Whether two processors share the last cache level.
    pub fn share_cache(&self, a: u16, b: u16) -> bool {
        self.cache[usize::from(a)] == self.cache[usize::from(b)]
    }
}

/// First and number of the `size` neighbours of which `cpu` is one, of `cpus` in all.
fn span(cpu: u16, size: u16, cpus: u16) -> (u16, u16) {
    let first = cpu / size * size;
    (first, size.min(cpus - first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::parse_short;

    fn levels(text: &str, siblings: u8) -> Vec<(Level, usize)> {
        let tree = Topology::new(&parse_short(text).unwrap());
        let domains = Domains::new(&tree, siblings, 1);
        let seats = domains.seats[0].iter();
        seats
            .map(|seat| &domains.all[usize::from(seat.domain)])
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
