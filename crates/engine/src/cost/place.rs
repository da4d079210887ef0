//! Where and how a thread runs, and how far away everything is from there.

use super::occupancy::Occupancy;
use super::smt::Contention;
use super::spread::{Sharers, Spread};
use crate::ids::{ChipId, MemoryId};
use crate::machine::{far_factor, Distance, Topology};
use crate::spec::{Machine, Partition};

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

/// Latency of a line in a sharer's cache, by its distance [ns].
#[inline]
pub(super) fn sharer_latencies(place: &Place, sharers: &Sharers) -> [f64; 3] {
    let ns = place.machine.cache_to_cache_ns;
    let node = place.tree.node_of(place.chip);
    let link = place.occupancy.node_link_stretch[node];
    [ns.local, ns.near, ns.far * sharers.far_factor * link]
}

/// Latency of memory at a distance, load included: the controllers stretch it, or the link does if
/// the line crosses one that is busier [ns].
#[inline]
pub(super) fn memory_latency(place: &Place, domain: MemoryId, distance: Distance) -> f64 {
    let ns = place.machine.memory_ns;
    let controllers = place.occupancy.memory_stretch[domain];
    match distance {
        Distance::Local => ns.local * controllers,
        Distance::Near => ns.near * controllers,
        Distance::Far => {
            let node = place.tree.node_of(place.chip);
            let home = place.tree.node_of_domain(domain);
            let link = place.occupancy.node_link_stretch[node];
            ns.far * far_factor(place.machine, node, home) * controllers.max(link)
        }
    }
}

/// Mean latency of the partition's memory as a core there reads it, load included [ns].
pub(super) fn mean_memory_latency(place: &Place) -> f64 {
    let latency = |domain| {
        let distance = place.tree.memory_distance(place.chip, domain);
        memory_latency(place, domain, distance)
    };
    let parts = place.spread.memory_of(place.chip).iter();
    parts.map(|(domain, share)| share * latency(*domain)).sum()
}
