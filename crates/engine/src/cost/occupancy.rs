//! Who uses which cache and how loaded each controller and link is, refreshed once a dispatch
//! window.

use super::class::Class;
use super::lines::Source;
use super::spread::Spread;
use crate::ids::{ById, ChipId, MemoryId, NodeId};
use crate::machine::Topology;
use crate::spec::Machine;

/// Latency factor of a resource at utilisation `load`: the wait of an M/D/1 queue, held below
/// saturation.
pub fn stretch(load: f64) -> f64 {
    let load = load.clamp(0.0, 0.95);
    1.0 + 0.5 * load / (1.0 - load)
}

/// State of the machine's shared resources.
#[derive(Clone, Debug)]
pub struct Occupancy {
    /// Busy cores on each chip, running average.
    pub busy_cores: ById<ChipId, f64>,
    /// Latency factor of each memory domain's controllers.
    pub memory_stretch: ById<MemoryId, f64>,
    /// Latency factor of each node's links to the others.
    pub node_link_stretch: ById<NodeId, f64>,
    memory_lines: ById<MemoryId, f64>,
    node_link_lines: ById<NodeId, f64>,
    busy_ns: ById<ChipId, f64>,
}

impl Occupancy {
    /// An idle machine.
    pub fn new(tree: &Topology) -> Self {
        let (chips, nodes) = (tree.chips().len(), tree.nodes().len());
        let domains = tree.domains().len();
        Self {
            busy_cores: ById::of(0.0, chips),
            memory_stretch: ById::of(1.0, domains),
            node_link_stretch: ById::of(1.0, nodes),
            memory_lines: ById::of(0.0, domains),
            node_link_lines: ById::of(0.0, nodes),
            busy_ns: ById::of(0.0, chips),
        }
    }

    /// Adds what one cost class did in the window: core time on a chip and instructions.
    pub fn add(
        &mut self,
        tree: &Topology,
        chip: ChipId,
        busy_ns: f64,
        spread: &Spread,
        class: &Class,
        instructions: f64,
    ) {
        self.busy_ns[chip] += busy_ns;
        let node = tree.node_of(chip);
        for &(domain, share) in spread.memory_of(chip) {
            let lines = instructions * class.memory_lines * share;
            self.memory_lines[domain] += lines;
            let home = tree.node_of_domain(domain);
            if home != node {
                self.node_link_lines[node] += lines;
                self.node_link_lines[home] += lines;
            }
        }
        let far = instructions * class.lines.of(Source::CacheFar);
        self.node_link_lines[node] += far;
    }

    /// Adds core time on a chip in which so many lines came from other nodes' caches.
    pub fn hold(&mut self, tree: &Topology, chip: ChipId, busy_ns: f64, far_lines: f64) {
        self.busy_ns[chip] += busy_ns;
        self.node_link_lines[tree.node_of(chip)] += far_lines;
    }

    /// Ends a window of `window_ns`: loads become latency factors, which enter the running averages
    /// with `weight`; counts start anew.
    pub fn close_window(&mut self, machine: &Machine, window_ns: f64, weight: f64) {
        let line = f64::from(machine.line_bytes);
        let per_second = 1e9 / window_ns;
        for (busy, cores) in self.busy_ns.iter_mut().zip(&mut self.busy_cores) {
            *cores += weight * (*busy / window_ns - *cores);
            *busy = 0.0;
        }
        for (lines, queue) in self.memory_lines.iter_mut().zip(&mut self.memory_stretch) {
            let load = *lines * line * per_second / machine.memory_bytes_per_s;
            *queue += weight * (stretch(load) - *queue);
            *lines = 0.0;
        }
        let links = self.node_link_lines.iter_mut();
        for (lines, queue) in links.zip(&mut self.node_link_stretch) {
            let load = *lines * line * per_second / machine.node_link_bytes_per_s;
            *queue += weight * (stretch(load) - *queue);
            *lines = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_resource_does_not_stretch_and_a_full_one_is_bounded() {
        assert_eq!(stretch(0.0), 1.0);
        assert_eq!(stretch(0.5), 1.5);
        assert!((stretch(7.0) - 10.5).abs() < 1e-9);
    }
}
