//! Where a partition's data lie and where its virtual processors ran.

use crate::machine::{far_factor, Topology};
use crate::spec::Machine;

/// Share of the newest window in the running average. A cache of some megabytes takes a few windows
/// to change hands: assumed, between 0.1 and 1.
pub(super) const NEWEST: f64 = 0.25;

/// Where a partition's data lie and where its virtual processors ran.
#[derive(Clone, Debug)]
pub struct Spread {
    /// Domains that a core of each chip reads from, with their shares of its lines from memory.
    memory: Vec<Vec<(u16, f64)>>,
    cores: Vec<f64>,
    node_cores: Vec<f64>,
    busy_ns: Vec<f64>,
}

/// Who wrote a shared line last, as a core of one chip sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sharers {
    /// Chance that it was another core.
    pub elsewhere: f64,
    /// Shares of the other cores by their distance; they add up to 1 if there are any.
    pub by: [f64; 3],
    /// Factor on the far latency, the mean over the cores on other nodes.
    pub far_factor: f64,
}

impl Spread {
    /// A partition that has not run yet; `memory` has, for every chip, the domains that its cores
    /// read from and their shares, which add up to 1.
    pub fn new(tree: &Topology, memory: Vec<Vec<(u16, f64)>>) -> Self {
        debug_assert_eq!(memory.len(), usize::from(tree.chips()));
        let chips = memory.len();
        Self {
            memory,
            cores: vec![0.0; chips],
            node_cores: vec![0.0; usize::from(tree.nodes)],
            busy_ns: vec![0.0; chips],
        }
    }

    /// Domains that a core of `chip` reads from, with their shares of its lines from memory.
    pub fn memory_of(&self, chip: u16) -> &[(u16, f64)] {
        &self.memory[usize::from(chip)]
    }

    /// Its data lie elsewhere from now on; `memory` as at the start.
    pub fn set_memory(&mut self, memory: Vec<Vec<(u16, f64)>>) {
        debug_assert_eq!(memory.len(), self.memory.len());
        self.memory = memory;
    }

    /// Cores that it kept busy on each chip, running average.
    pub fn cores(&self) -> &[f64] {
        &self.cores
    }

    /// Cores that it kept busy in all, running average.
    pub fn busy_cores(&self) -> f64 {
        self.node_cores.iter().sum()
    }

    /// Sets the cores that it keeps busy on each chip.
    pub fn set_cores(&mut self, tree: &Topology, cores: &[f64]) {
        self.cores.copy_from_slice(cores);
        self.add_up(tree);
    }

    /// Adds core time on a chip.
    pub fn add(&mut self, chip: u16, busy_ns: f64) {
        self.busy_ns[usize::from(chip)] += busy_ns;
    }

    /// Ends a window.
    pub fn close_window(&mut self, tree: &Topology, window_ns: f64) {
        for (cores, busy) in self.cores.iter_mut().zip(&mut self.busy_ns) {
            *cores += NEWEST * (*busy / window_ns - *cores);
            *busy = 0.0;
        }
        self.add_up(tree);
    }

    fn add_up(&mut self, tree: &Topology) {
        let of_a_node = self.cores.chunks(usize::from(tree.chips_per_node));
        for (sum, cores) in self.node_cores.iter_mut().zip(of_a_node) {
            *sum = cores.iter().sum();
        }
    }

    /// Who wrote a shared line last, as seen from a core of `chip`.
    ///
    /// The partition's other cores are equally likely to have written it, so a partition that keeps
    /// `n` cores busy finds `(n - 1) / n` of its shared lines elsewhere.
    pub fn sharers(&self, machine: &Machine, tree: &Topology, chip: u16) -> Sharers {
        let node = tree.node_of(chip);
        let mut cores = [self.cores[usize::from(chip)], 0.0, 0.0];
        for other in tree.chips_of(node).filter(|other| *other != chip) {
            cores[1] += self.cores[usize::from(other)];
        }
        let mut far = 0.0;
        for (other, n) in self.node_cores.iter().enumerate() {
            if other != usize::from(node) {
                cores[2] += n;
                far += n * far_factor(machine, node, other as u16);
            }
        }
        let total: f64 = cores.iter().sum();
        let far_factor = if cores[2] > 0.0 { far / cores[2] } else { 1.0 };
        cores[0] = (cores[0] - 1.0).max(0.0);
        let others: f64 = cores.iter().sum();
        if others <= 0.0 {
            return Sharers {
                far_factor,
                ..Sharers::default()
            };
        }
        Sharers {
            elsewhere: (others / total.max(1.0)).min(1.0),
            by: cores.map(|n| n / others),
            far_factor,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::parse_short;

    #[test]
    fn one_core_alone_has_no_sharers() {
        let machine = parse_short("node:2 chip:1 core:4").unwrap();
        let tree = Topology::new(&machine);
        let mut spread = Spread::new(&tree, vec![vec![]; 2]);
        spread.set_cores(&tree, &[1.0, 0.0]);
        assert_eq!(spread.sharers(&machine, &tree, 0).elsewhere, 0.0);
        spread.set_cores(&tree, &[2.0, 2.0]);
        let sharers = spread.sharers(&machine, &tree, 0);
        assert_eq!(sharers.elsewhere, 0.75);
        assert!((sharers.by[0] - 1.0 / 3.0).abs() < 1e-12);
        assert!((sharers.by[2] - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn far_sharers_are_as_far_as_their_nodes() {
        let mut machine = parse_short("node:3 chip:2 core:4").unwrap();
        machine.node_distance = vec![1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0];
        let tree = Topology::new(&machine);
        let mut spread = Spread::new(&tree, vec![vec![]; 6]);
        spread.set_cores(&tree, &[1.0, 1.0, 1.0, 0.0, 0.0, 3.0]);
        // Of four far cores one is on node 1 at 1, three are on node 2 at 2: 7/4.
        let sharers = spread.sharers(&machine, &tree, 0);
        assert_eq!(sharers.far_factor, 1.75);
        assert_eq!(sharers.by, [0.0, 0.2, 0.8]);
    }
}
