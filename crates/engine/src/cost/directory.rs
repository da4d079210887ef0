//! Lines that another core wrote, where a directory beside their memory knows who has them.
//!
//! What the cores of a chip hand each other stays in their cache. Beyond it a request goes to the
//! directory, which sends it on to the core that has the line: as far as the further of the two.
//! So two cores side by side wait for the other socket where the line's memory lies there, as long
//! as for a core there (measured on two EPYC 7742: 132, 265 and 266 ns).

use super::spread::Spread;
use crate::ids::{ChipId, NodeId};
use crate::machine::{far_factor, Topology};
use crate::spec::Machine;

/// The directories of a machine, as a chip on which a partition runs asks them.
pub(super) struct Directory<'a> {
    pub machine: &'a Machine,
    pub tree: &'a Topology,
    pub spread: &'a Spread,
    pub chip: ChipId,
}

impl Directory<'_> {
    /// Latency of a line that another chip of the own node has [ns].
    pub fn near_ns(&self) -> f64 {
        self.line_ns(self.own())
    }

    /// Mean latency of a line that a core of another node has, on which the partition ran [ns].
    pub fn far_ns(&self) -> f64 {
        let mean = self
            .spread
            .mean_beyond(self.own(), |node| self.line_ns(node));
        mean.unwrap_or(self.machine.cache_to_cache_ns.far)
    }

    /// Mean latency of a line that another chip of a node has, over the places of the data [ns].
    fn line_ns(&self, owner: NodeId) -> f64 {
        let there = self.way_ns(owner);
        let homes = self.spread.memory_of(self.chip).iter();
        let by_home = homes.map(|(domain, share)| {
            let home = self.tree.node_of_domain(*domain);
            share * there.max(self.way_ns(home))
        });
        by_home.sum()
    }

    /// Latency of what is asked of a node, the own one included [ns].
    fn way_ns(&self, node: NodeId) -> f64 {
        let (ns, own) = (self.machine.cache_to_cache_ns, self.own());
        if node == own {
            ns.near
        } else {
            ns.far * far_factor(self.machine, own, node)
        }
    }

    fn own(&self) -> NodeId {
        self.tree.node_of(self.chip)
    }
}
