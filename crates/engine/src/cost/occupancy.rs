//! Who uses which cache and how loaded each controller and link is, refreshed once a dispatch
//! window.

use super::class::Class;
use super::lines::Source;
use super::spread::Spread;
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
    pub busy_cores: Vec<f64>,
    /// Latency factor of each memory domain's controllers.
    pub memory_stretch: Vec<f64>,
    /// Latency factor of each node's links to the others.
    pub node_link_stretch: Vec<f64>,
    memory_lines: Vec<f64>,
    node_link_lines: Vec<f64>,
    busy_ns: Vec<f64>,
}

impl Occupancy {
    /// An idle machine.
    pub fn new(tree: &Topology) -> Self {
        let (chips, nodes) = (usize::from(tree.chips()), usize::from(tree.nodes));
        Self {
            busy_cores: vec![0.0; chips],
            memory_stretch: vec![1.0; usize::from(tree.domains())],
            node_link_stretch: vec![1.0; nodes],
            memory_lines: vec![0.0; usize::from(tree.domains())],
            node_link_lines: vec![0.0; nodes],
            busy_ns: vec![0.0; chips],
        }
    }

    /// Adds what one cost class did in the window: core time on a chip and instructions.
    pub fn add(
        &mut self,
        tree: &Topology,
        chip: u16,
        busy_ns: f64,
        spread: &Spread,
        class: &Class,
        instructions: f64,
    ) {
        self.busy_ns[usize::from(chip)] += busy_ns;
        let node = tree.node_of(chip);
        for &(domain, share) in spread.memory_of(chip) {
            let lines = instructions * class.memory_lines * share;
            self.memory_lines[usize::from(domain)] += lines;
            let home = tree.node_of_domain(domain);
            if home != node {
                self.node_link_lines[usize::from(node)] += lines;
                self.node_link_lines[usize::from(home)] += lines;
            }
        }
        let far = instructions * class.lines.of(Source::CacheFar);
        self.node_link_lines[usize::from(node)] += far;
    }

    /// Adds core time on a chip in which so many lines came from other nodes' caches.
    pub fn hold(&mut self, tree: &Topology, chip: u16, busy_ns: f64, far_lines: f64) {
        self.busy_ns[usize::from(chip)] += busy_ns;
        self.node_link_lines[usize::from(tree.node_of(chip))] += far_lines;
    }

    /// Ends a window of `window_ns`: loads become latency factors, which enter the running averages
    /// with `weight`; counts start anew.
    pub fn close_window(&mut self, machine: &Machine, window_ns: f64, weight: f64) {
        let line = f64::from(machine.line_bytes);
        let per_second = 1e9 / window_ns;
        for chip in 0..self.busy_ns.len() {
            let busy = self.busy_ns[chip] / window_ns;
            self.busy_cores[chip] += weight * (busy - self.busy_cores[chip]);
            self.busy_ns[chip] = 0.0;
        }
        for (lines, queue) in self.memory_lines.iter_mut().zip(&mut self.memory_stretch) {
            let load = *lines * line * per_second / machine.memory_bytes_per_s;
            *queue += weight * (stretch(load) - *queue);
            *lines = 0.0;
        }
        for node in 0..self.node_link_lines.len() {
            let load =
                self.node_link_lines[node] * line * per_second / machine.node_link_bytes_per_s;
            self.node_link_stretch[node] += weight * (stretch(load) - self.node_link_stretch[node]);
            self.node_link_lines[node] = 0.0;
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
