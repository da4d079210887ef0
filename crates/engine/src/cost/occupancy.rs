//! Who uses which cache and how loaded each controller and link is, refreshed once a dispatch
//! window.

use crate::machine::{Distance, Topology};
use crate::spec::{Machine, MemoryShare};

/// Share of the newest window in the running average. A cache of some megabytes takes a few windows
/// to change hands: assumed, between 0.1 and 1.
const NEWEST: f64 = 0.25;

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
    /// Latency factor of each chip's memory controllers.
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
            memory_stretch: vec![1.0; chips],
            node_link_stretch: vec![1.0; nodes],
            memory_lines: vec![0.0; chips],
            node_link_lines: vec![0.0; nodes],
            busy_ns: vec![0.0; chips],
        }
    }

    /// Adds what one cost class did in the window: core time on a chip, lines from memory and from
    /// sharers.
    pub fn add(
        &mut self,
        tree: &Topology,
        chip: u16,
        busy_ns: f64,
        spread: &Spread,
        memory: f64,
        shared: f64,
    ) {
        self.busy_ns[usize::from(chip)] += busy_ns;
        let node = tree.node_of(chip);
        for part in &spread.memory {
            let lines = memory * part.share;
            self.memory_lines[usize::from(part.chip)] += lines;
            let home = tree.node_of(part.chip);
            if home != node {
                self.node_link_lines[usize::from(node)] += lines;
                self.node_link_lines[usize::from(home)] += lines;
            }
        }
        self.node_link_lines[usize::from(node)] += shared * spread.sharers_beyond(tree, chip);
    }

    /// Ends a window of `window_ns`: loads become latency factors, counts start anew.
    pub fn close_window(&mut self, machine: &Machine, window_ns: f64) {
        let line = f64::from(machine.line_bytes);
        let per_second = 1e9 / window_ns;
        for chip in 0..self.busy_ns.len() {
            let busy = self.busy_ns[chip] / window_ns;
            self.busy_cores[chip] += NEWEST * (busy - self.busy_cores[chip]);
            let load = self.memory_lines[chip] * line * per_second / machine.memory_bytes_per_s;
            self.memory_stretch[chip] += NEWEST * (stretch(load) - self.memory_stretch[chip]);
            self.busy_ns[chip] = 0.0;
            self.memory_lines[chip] = 0.0;
        }
        for node in 0..self.node_link_lines.len() {
            let load =
                self.node_link_lines[node] * line * per_second / machine.node_link_bytes_per_s;
            self.node_link_stretch[node] += NEWEST * (stretch(load) - self.node_link_stretch[node]);
            self.node_link_lines[node] = 0.0;
        }
    }
}

/// Where a partition's memory lies and where its virtual processors ran.
#[derive(Clone, Debug)]
pub struct Spread {
    /// Shares of its memory by chip.
    pub memory: Vec<MemoryShare>,
    /// Cores it kept busy on each chip, running average.
    pub cores: Vec<f64>,
    busy_ns: Vec<f64>,
}

impl Spread {
    /// A partition that has not run yet.
    pub fn new(memory: Vec<MemoryShare>, chips: u16) -> Self {
        Self {
            memory,
            cores: vec![0.0; usize::from(chips)],
            busy_ns: vec![0.0; usize::from(chips)],
        }
    }

    /// Adds core time on a chip.
    pub fn add(&mut self, chip: u16, busy_ns: f64) {
        self.busy_ns[usize::from(chip)] += busy_ns;
    }

    /// Ends a window.
    pub fn close_window(&mut self, window_ns: f64) {
        for (cores, busy) in self.cores.iter_mut().zip(&mut self.busy_ns) {
            *cores += NEWEST * (*busy / window_ns - *cores);
            *busy = 0.0;
        }
    }

    /// Chance that the last writer of a shared line sits on another core, and its distances from a
    /// core of `chip`.
    ///
    /// The partition's other cores are equally likely to have written it, so a partition that keeps
    /// `n` cores busy finds `(n - 1) / n` of its shared lines elsewhere.
    pub fn sharers(&self, tree: &Topology, chip: u16) -> (f64, [f64; 3]) {
        let mut cores = [0.0; 3];
        let node = tree.chips_of(tree.node_of(chip));
        for (other, n) in self.cores.iter().enumerate() {
            let distance = if other == usize::from(chip) {
                Distance::Local
            } else if node.contains(&(other as u16)) {
                Distance::Near
            } else {
                Distance::Far
            };
            cores[distance as usize] += n;
        }
        let total: f64 = cores.iter().sum();
        cores[0] = (cores[0] - 1.0).max(0.0);
        let others: f64 = cores.iter().sum();
        if others <= 0.0 {
            return (0.0, [0.0; 3]);
        }
        (
            (others / total.max(1.0)).min(1.0),
            cores.map(|n| n / others),
        )
    }

    fn sharers_beyond(&self, tree: &Topology, chip: u16) -> f64 {
        self.sharers(tree, chip).1[Distance::Far as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::parse_short;

    #[test]
    fn an_idle_resource_does_not_stretch_and_a_full_one_is_bounded() {
        assert_eq!(stretch(0.0), 1.0);
        assert_eq!(stretch(0.5), 1.5);
        assert!((stretch(7.0) - 10.5).abs() < 1e-9);
    }

    #[test]
    fn one_core_alone_has_no_sharers() {
        let tree = Topology::new(&parse_short("node:2 chip:1 core:4").unwrap());
        let mut spread = Spread::new(vec![], 2);
        spread.cores = vec![1.0, 0.0];
        assert_eq!(spread.sharers(&tree, 0).0, 0.0);
        spread.cores = vec![2.0, 2.0];
        let (chance, by) = spread.sharers(&tree, 0);
        assert_eq!(chance, 0.75);
        assert!((by[0] - 1.0 / 3.0).abs() < 1e-12 && (by[2] - 2.0 / 3.0).abs() < 1e-12);
    }
}
