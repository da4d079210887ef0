//! Where and how a thread runs, and how far away everything is from there.

use super::occupancy::Occupancy;
use super::smt::Contention;
use super::spread::{Sharers, Spread};
use crate::ids::{ChipId, MemoryId};
use crate::machine::{memory_ns, Distance, Topology};
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

/// Latency of a domain's memory, load included [ns].
#[inline]
pub(super) fn memory_latency(place: &Place, domain: MemoryId) -> f64 {
    let distance = place.tree.memory_distance(place.chip, domain);
    memory_ns(place.machine, place.tree, place.chip, domain) * queueing(place, domain, distance)
}

/// Factor by which load stretches the latency of memory: that of the controllers, or of the link if
/// the line crosses one that is busier.
#[inline]
fn queueing(place: &Place, domain: MemoryId, distance: Distance) -> f64 {
    let controllers = place.occupancy.memory_stretch[domain];
    if distance == Distance::Far {
        let node = place.tree.node_of(place.chip);
        controllers.max(place.occupancy.node_link_stretch[node])
    } else {
        controllers
    }
}
