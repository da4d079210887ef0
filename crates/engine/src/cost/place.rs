//! Where and how a thread runs, and how far away everything is from there.

use super::directory::Directory;
use super::occupancy::Occupancy;
use super::port::Toll;
use super::smt::Contention;
use super::spread::{Sharers, Spread};
use crate::ids::{ChipId, MemoryId};
use crate::machine::{far_factor, Distance, Topology};
use crate::spec::{Coherence, Machine, Partition};

/// Where and how a thread runs.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// What the thread runs on.
    pub machine: &'a Machine,
    /// Where cores, chips and nodes are in it.
    pub tree: &'a Topology,
    /// SMT contention of the machine.
    pub contention: &'a Contention,
    /// Shared resources in the last windows.
    pub occupancy: &'a Occupancy,
    /// The partition with its work.
    pub partition: &'a Partition,
    /// Where the partition's data lie and its cores ran.
    pub spread: &'a Spread,
    /// Chip of the core.
    pub chip: ChipId,
    /// Busy threads on the core.
    pub threads: u8,
    /// Whether an idle sibling keeps its decode slots.
    pub snoozing_sibling: bool,
}

impl<'a> Place<'a> {
    /// Time of a cycle of the core, in proportion to one of the machine's clock.
    #[inline]
    pub(super) fn cycle(&self) -> f64 {
        self.occupancy.clocks.cycle(self.chip)
    }

    /// Who is asked for lines of other chips' caches; none where the chips themselves are.
    #[inline]
    pub(super) fn directory(&self) -> Option<Directory<'a>> {
        (self.machine.coherence == Coherence::Directory).then_some(Directory {
            machine: self.machine,
            tree: self.tree,
            spread: self.spread,
            chip: self.chip,
        })
    }
}

/// Latency of a line in a sharer's cache, by its distance, and what it waits on its way.
#[inline]
pub(super) fn sharer_ways(place: &Place, sharers: &Sharers) -> [(f64, Toll); 3] {
    let ns = place.machine.cache_to_cache_ns;
    let (near, far) = place.directory().map_or_else(
        || (ns.near, ns.far * sharers.far_factor),
        |directory| (directory.near_ns(), directory.far_ns()),
    );
    let fabric = &place.occupancy.fabric;
    [
        (ns.local, Toll::default()),
        (near, fabric.near_toll(place.chip)),
        (far, fabric.far_toll(place.tree, place.chip)),
    ]
}

/// Latency of a line in a sharer's cache with all that it waits, by its distance [ns].
pub(super) fn sharer_latencies(place: &Place, sharers: &Sharers) -> [f64; 3] {
    sharer_ways(place, sharers).map(|(idle, toll)| idle + toll.ns())
}

/// Latency of memory of a domain as a core there reads it, and what its lines wait on their way;
/// each takes `work` times the channel time of one that is only read.
#[inline]
pub(super) fn memory_latency(
    place: &Place,
    domain: MemoryId,
    distance: Distance,
    work: f64,
) -> (f64, Toll) {
    let ns = place.machine.memory_ns;
    let idle = match distance {
        Distance::Local => ns.local,
        Distance::Near => ns.near,
        Distance::Far => {
            let node = place.tree.node_of(place.chip);
            let home = place.tree.node_of_domain(domain);
            ns.far * far_factor(place.machine, node, home)
        }
    };
    let fabric = &place.occupancy.fabric;
    (idle, fabric.memory_toll(place.chip, domain, work))
}

/// Mean latency of the partition's memory as a core there reads it, load included [ns].
pub(super) fn mean_memory_latency(place: &Place) -> f64 {
    let latency = |domain| {
        let distance = place.tree.memory_distance(place.chip, domain);
        let (idle, toll) = memory_latency(place, domain, distance, 1.0);
        idle + toll.ns()
    };
    let parts = place.spread.memory_of(place.chip).iter();
    parts.map(|(domain, share)| share * latency(*domain)).sum()
}
