//! Where a partition's data lie, and so from where each of its cores reads.
//!
//! The guest on each domain (node of its processors) allocates for the threads there; all of them
//! at the same rate for each core, until the data that the work touches are placed. The policy says
//! which part of the partition's memory an allocator takes next. Of the data some are a thread's
//! own, some are the kernel's I/O structures and the rest is common to all threads:
//!
//! ```text
//! reads of a core = private x what its allocator placed + io x where the I/O structures lie
//!                 + (1 - private - io) x what all allocators placed
//! ```

use crate::ids::{ById, ChipId, CoreId, MemoryId};
use crate::machine::{memory_ns, Topology};
use crate::spec::{Machine, MemoryPart, MemoryPolicy, Partition, Processors};

/// Shares by the domain where they lie.
pub type Shares = ById<MemoryId, f64>;

/// For every chip, the domains that a core there reads from, with their shares of its lines from
/// memory; they add up to 1.
pub fn place(
    machine: &Machine,
    tree: &Topology,
    partition: &Partition,
) -> ById<ChipId, Vec<(MemoryId, f64)>> {
    Placed::of(machine, tree, partition).reads(tree)
}

/// Where a partition's data lie, as shares by domain.
#[derive(Clone, Debug)]
pub struct Placed {
    /// Data of the threads' own, by the domain on which these run; none where none ran so far, who
    /// would find them where the common data were at first.
    own: ById<MemoryId, Option<Shares>>,
    elsewhere: Shares,
    /// Data common to all threads.
    pub common: Shares,
    structures: Shares,
    private: f64,
    io: f64,
}

impl Placed {
    /// Where the allocators have put it.
    pub fn of(machine: &Machine, tree: &Topology, partition: &Partition) -> Self {
        let placement = Placement::of(machine, tree, partition);
        let common = placement.common();
        Self {
            own: placement.own,
            elsewhere: common.clone(),
            common,
            structures: io_structures(tree, partition),
            private: partition.profile.private_data,
            io: partition.profile.io_data,
        }
    }

    /// For every chip, the domains that a core there reads from.
    pub fn reads(&self, tree: &Topology) -> ById<ChipId, Vec<(MemoryId, f64)>> {
        let elsewhere = self.reads_of(&self.elsewhere);
        let by_domain: ById<MemoryId, Option<Vec<(MemoryId, f64)>>> = self
            .own
            .iter()
            .map(|own| own.as_ref().map(|own| self.reads_of(own)))
            .collect();
        let reads = |chip: ChipId| {
            let own = &by_domain[tree.domain_of(chip)];
            own.as_ref().unwrap_or(&elsewhere).clone()
        };
        tree.chips().into_iter().map(reads).collect()
    }

    /// The domains that a thread reads from whose own data lie there.
    fn reads_of(&self, own: &Shares) -> Vec<(MemoryId, f64)> {
        let (private, io) = (self.private, self.io);
        let share = |at: MemoryId| {
            private * own[at] + io * self.structures[at] + (1.0 - private - io) * self.common[at]
        };
        let shares = own.ids().map(|at| (at, share(at)));
        shares.filter(|(_, share)| *share > 0.0).collect()
    }

    /// On which domains all of it lies, given the share of the threads that run beside each.
    pub fn shares(&self, weight: &Shares) -> Shares {
        let (private, io) = (self.private, self.io);
        let share = |at: MemoryId| {
            let of = |(own, weight): (&Option<Shares>, &f64)| {
                weight * own.as_ref().unwrap_or(&self.elsewhere)[at]
            };
            let own: f64 = self.own.iter().zip(weight).map(of).sum();
            private * own + io * self.structures[at] + (1.0 - private - io) * self.common[at]
        };
        self.common.ids().map(share).collect()
    }

    /// Where the threads of a domain have their own data, to change.
    pub fn own_on(&mut self, domain: MemoryId) -> &mut Shares {
        self.own[domain].get_or_insert_with(|| self.elsewhere.clone())
    }
}

/// An allocator with the strict policy that does not get its data into its own domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoRoom {
    /// Memory domain of the allocator.
    pub domain: MemoryId,
    /// What it must hold [bytes].
    pub asked: f64,
    /// Parts of the partition's memory that lie there alone [bytes].
    pub there: f64,
}

/// The first domain that has not enough memory for the strict policy, if that is the partition's.
pub fn no_room(tree: &Topology, partition: &Partition) -> Option<NoRoom> {
    if partition.memory_policy != MemoryPolicy::Strict {
        return None;
    }
    let lacks = |(domain, weight): (MemoryId, &f64)| {
        let number = u16::from(domain);
        let own = partition.memory.iter().filter(|p| p.domains == [number]);
        let there = own.map(|part| part.bytes as f64).sum();
        let asked = weight * partition.data_bytes as f64;
        (asked > there * (1.0 + 1e-12)).then_some(NoRoom {
            domain,
            asked,
            there,
        })
    };
    allocators(tree, partition).entries().find_map(lacks)
}

/// What each allocator placed where, as shares by domain.
struct Placement {
    /// Share of the partition's cores on each domain.
    weight: Shares,
    /// By domain of the allocator; none where the partition has no cores.
    own: ById<MemoryId, Option<Shares>>,
}

impl Placement {
    fn of(machine: &Machine, tree: &Topology, partition: &Partition) -> Self {
        let (weight, parts) = (allocators(tree, partition), &partition.memory);
        let data = partition.data_bytes as f64;
        let domains = tree.domains();
        let alike = |taken: Vec<f64>| {
            let shares = by_domain(parts, &taken, domains.len());
            weight
                .iter()
                .map(|w| (*w > 0.0).then(|| shares.clone()))
                .collect()
        };
        let own = match partition.memory_policy {
            MemoryPolicy::Proportional => alike(proportional(parts)),
            MemoryPolicy::Interleaved => alike(interleaved(parts, data)),
            MemoryPolicy::InOrder => alike(in_order(parts, data)),
            MemoryPolicy::LocalFirst => {
                let order = |domain| nearest_first(machine, tree, parts, domain);
                let order = domains.into_iter().map(order).collect();
                let taken = local_first(parts, &weight, &order, data);
                let own = taken.iter().zip(&weight);
                own.map(|(taken, w)| (*w > 0.0).then(|| by_domain(parts, taken, domains.len())))
                    .collect()
            }
            MemoryPolicy::Strict => {
                let all_in = |domain| {
                    let mut shares = Shares::of(0.0, domains.len());
                    shares[domain] = 1.0;
                    shares
                };
                let own = weight.entries();
                own.map(|(domain, w)| (*w > 0.0).then(|| all_in(domain)))
                    .collect()
            }
        };
        Self { weight, own }
    }

    /// What all allocators together placed.
    fn common(&self) -> Shares {
        let mut sum = Shares::of(0.0, self.weight.len());
        for (weight, own) in self.weight.iter().zip(&self.own) {
            for (sum, share) in sum.iter_mut().zip(own.iter().flatten()) {
                *sum += weight * share;
            }
        }
        sum
    }
}

/// Share of the partition's cores on each domain: cores of its own, or the homes of its virtual
/// processors.
fn allocators(tree: &Topology, partition: &Partition) -> Shares {
    let chips: Vec<ChipId> = match &partition.processors {
        Processors::Dedicated { cores, .. } => {
            let cores = cores.iter().copied().map(CoreId::from);
            cores.map(|core| tree.chip_of(core)).collect()
        }
        Processors::Shared { r#virtual, .. } => {
            let homes = partition.home.iter().copied().cycle();
            let homes = homes.take(usize::from(*r#virtual));
            homes.map(ChipId::from).collect()
        }
    };
    let mut weight = Shares::of(0.0, tree.domains().len());
    for chip in &chips {
        weight[tree.domain_of(*chip)] += 1.0;
    }
    let count = chips.len() as f64;
    weight.iter().map(|cores| cores / count).collect()
}

/// Bytes taken from each part as shares by domain; a part's lines alternate over its domains.
fn by_domain(parts: &[MemoryPart], taken: &[f64], domains: usize) -> Shares {
    let total: f64 = taken.iter().sum();
    let mut shares = Shares::of(0.0, domains);
    for (part, taken) in parts.iter().zip(taken) {
        let share = taken / total / part.domains.len() as f64;
        for domain in &part.domains {
            shares[MemoryId::from(*domain)] += share;
        }
    }
    shares
}

fn proportional(parts: &[MemoryPart]) -> Vec<f64> {
    parts.iter().map(|part| part.bytes as f64).collect()
}

/// `data` bytes from the first part, what it has no room for from the next, and so on.
fn in_order(parts: &[MemoryPart], data: f64) -> Vec<f64> {
    let mut left = data;
    let take = |part: &MemoryPart| {
        let taken = left.min(part.bytes as f64);
        left -= taken;
        taken
    };
    parts.iter().map(take).collect()
}

/// `data` bytes from the parts with several domains, then from the others, each time in proportion.
fn interleaved(parts: &[MemoryPart], data: f64) -> Vec<f64> {
    let alternates = |part: &MemoryPart| part.domains.len() > 1;
    let sum = |which: bool| -> f64 {
        let chosen = parts.iter().filter(|part| alternates(part) == which);
        chosen.map(|part| part.bytes as f64).sum()
    };
    let first = data.min(sum(true));
    let (of_first, of_rest) = (first / sum(true), (data - first) / sum(false));
    let taken = |part: &MemoryPart| {
        let share = if alternates(part) { of_first } else { of_rest };
        // With no bytes at all on one side, the share there is 0/0.
        if share.is_finite() {
            part.bytes as f64 * share
        } else {
            0.0
        }
    };
    parts.iter().map(taken).collect()
}

/// Parts as an allocator on `domain` prefers them: by mean latency, the earlier of equals first.
fn nearest_first(
    machine: &Machine,
    tree: &Topology,
    parts: &[MemoryPart],
    domain: MemoryId,
) -> Vec<usize> {
    let chip = tree.chips_beside(domain).at(0);
    let distance = |part: &MemoryPart| {
        let all = part.domains.iter().copied().map(MemoryId::from);
        let sum: f64 = all.map(|d| memory_ns(machine, tree, chip, d)).sum();
        sum / part.domains.len() as f64
    };
    let distances: Vec<f64> = parts.iter().map(distance).collect();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by(|a, b| distances[*a].total_cmp(&distances[*b]));
    order
}

/// Bytes that each allocator takes from each part: all at once, `weight` of `data` each, from its
/// nearest part that has room.
fn local_first(
    parts: &[MemoryPart],
    weight: &Shares,
    order: &ById<MemoryId, Vec<usize>>,
    data: f64,
) -> ById<MemoryId, Vec<f64>> {
    let mut room: Vec<f64> = parts.iter().map(|part| part.bytes as f64).collect();
    let mut taken = ById::of(vec![0.0; parts.len()], weight.len());
    let mut left = data;
    while left > 0.0 {
        let mut rate = vec![0.0; parts.len()];
        let mut from = Vec::new();
        for (allocator, weight) in weight.entries().filter(|(_, w)| **w > 0.0) {
            if let Some(part) = order[allocator].iter().find(|part| room[**part] > 0.0) {
                rate[*part] += weight;
                from.push((allocator, *part));
            }
        }
        // Until the first part is full; with every part full, rounding has left a rest.
        let full = (0..parts.len()).filter(|part| rate[*part] > 0.0);
        let step = full
            .map(|part| room[part] / rate[part])
            .fold(left, f64::min);
        if from.is_empty() {
            break;
        }
        for (allocator, part) in from {
            taken[allocator][part] += weight[allocator] * step;
        }
        for (room, rate) in room.iter_mut().zip(&rate).filter(|(_, rate)| **rate > 0.0) {
            let rest = *room - rate * step;
            *room = if *room / rate <= step { 0.0 } else { rest };
        }
        left -= step;
    }
    taken
}

/// Where the kernel's I/O structures lie: in a part beside the I/O, or interleaved.
fn io_structures(tree: &Topology, partition: &Partition) -> Shares {
    let parts = &partition.memory;
    let beside = |part: &&MemoryPart| {
        part.bytes > 0 && partition.io_domain.is_some_and(|io| part.domains == [io])
    };
    let count = tree.domains().len();
    match parts.iter().find(beside) {
        Some(part) => by_domain(std::slice::from_ref(part), &[1.0], count),
        None => by_domain(
            parts,
            &interleaved(parts, partition.data_bytes as f64),
            count,
        ),
    }
}
