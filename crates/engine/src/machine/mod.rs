//! The machine: a tree of nodes, chips, cores and hardware threads, with memory beside each chip.
//!
//! ```text
//! machine > node (book, drawer) > chip > core > hardware thread
//!                   |              |
//!                   memory (one NUMA domain a node) or memory (one a chip)
//! ```
//! Chips and cores are numbered over the whole machine, from the first node on; a distance is how
//! far up the tree one must go. Latencies hang on distances; a far latency may further depend on
//! the pair of nodes.

mod check;
mod short;

pub use check::{check, MachineFault, MAX_CACHES};
pub use short::{parse_short, ShortFormError};

use crate::spec::{CacheScope, Machine, MemoryBeside};

/// How far two places of the machine lie apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Distance {
    /// Same chip.
    Local = 0,
    /// Another chip of the same node.
    Near = 1,
    /// Another node.
    Far = 2,
}

/// Index arithmetic on the tree; everything a dispatcher needs to know of the hardware.
#[derive(Clone, Debug)]
pub struct Topology {
    /// Nodes in the machine.
    pub nodes: u16,
    /// Chips in each node.
    pub chips_per_node: u16,
    /// Cores in each chip; on a host that puts threads on hardware threads, its logical processors.
    pub cores_per_chip: u16,
    /// Activated cores, from the first on; logical processors likewise.
    pub active_cores: u16,
    /// Logical processors of a core that are counted one by one, neighbours in the numbering; 1
    /// where cores are.
    pub siblings: u16,
    node_of_chip: Vec<u16>,
    chip_of_core: Vec<u16>,
    memory_beside: MemoryBeside,
}

impl Topology {
    /// Reads the tree out of a machine description.
    pub fn new(machine: &Machine) -> Self {
        let chips = machine.nodes * machine.chips_per_node;
        let siblings = u16::from(machine.hypervisor.siblings.max(1));
        let cores_per_chip = machine.cores_per_chip * siblings;
        let cores = chips * cores_per_chip;
        Self {
            nodes: machine.nodes,
            chips_per_node: machine.chips_per_node,
            cores_per_chip,
            active_cores: (machine.active_cores * siblings).min(cores),
            siblings,
            node_of_chip: (0..chips).map(|c| c / machine.chips_per_node).collect(),
            chip_of_core: (0..cores).map(|c| c / cores_per_chip).collect(),
            memory_beside: machine.memory_beside,
        }
    }

    /// Chips in the machine.
    pub fn chips(&self) -> u16 {
        self.node_of_chip.len() as u16
    }

    /// Node of a chip.
    pub fn node_of(&self, chip: u16) -> u16 {
        self.node_of_chip[chip as usize]
    }

    /// Chip of a core.
    pub fn chip_of(&self, core: u16) -> u16 {
        self.chip_of_core[core as usize]
    }

    /// Chips of a node.
    pub fn chips_of(&self, node: u16) -> std::ops::Range<u16> {
        node * self.chips_per_node..(node + 1) * self.chips_per_node
    }

    /// Memory domains in the machine.
    pub fn domains(&self) -> u16 {
        match self.memory_beside {
            MemoryBeside::Chip => self.chips(),
            MemoryBeside::Node => self.nodes,
        }
    }

    /// Memory domain beside a chip.
    pub fn domain_of(&self, chip: u16) -> u16 {
        match self.memory_beside {
            MemoryBeside::Chip => chip,
            MemoryBeside::Node => self.node_of(chip),
        }
    }

    /// Node of a memory domain.
    pub fn node_of_domain(&self, domain: u16) -> u16 {
        match self.memory_beside {
            MemoryBeside::Chip => self.node_of(domain),
            MemoryBeside::Node => domain,
        }
    }

    /// First of the chips that a memory domain is beside.
    pub fn chip_beside(&self, domain: u16) -> u16 {
        match self.memory_beside {
            MemoryBeside::Chip => domain,
            MemoryBeside::Node => domain * self.chips_per_node,
        }
    }

    /// Distance of a memory domain from a chip; memory beside a node is local to all its chips.
    pub fn memory_distance(&self, chip: u16, domain: u16) -> Distance {
        if self.domain_of(chip) == domain {
            Distance::Local
        } else if self.node_of(chip) == self.node_of_domain(domain) {
            Distance::Near
        } else {
            Distance::Far
        }
    }

    /// Distance between two chips.
    pub fn distance(&self, a: u16, b: u16) -> Distance {
        if a == b {
            Distance::Local
        } else if self.node_of(a) == self.node_of(b) {
            Distance::Near
        } else {
            Distance::Far
        }
    }
}

/// Factor on a far latency between two nodes; 1 where no matrix is given.
pub fn far_factor(machine: &Machine, from: u16, to: u16) -> f64 {
    if machine.node_distance.is_empty() {
        1.0
    } else {
        machine.node_distance[from as usize * machine.nodes as usize + to as usize]
    }
}

/// Latency of a line in the memory of a domain for a core of `chip`, nothing else going on [ns].
pub fn memory_ns(machine: &Machine, tree: &Topology, chip: u16, domain: u16) -> f64 {
    let ns = machine.memory_ns;
    match tree.memory_distance(chip, domain) {
        Distance::Local => ns.local,
        Distance::Near => ns.near,
        Distance::Far => {
            ns.far * far_factor(machine, tree.node_of(chip), tree.node_of_domain(domain))
        }
    }
}

/// Cores that share one instance of a cache.
pub fn sharers(machine: &Machine, scope: CacheScope) -> u32 {
    match scope {
        CacheScope::Part | CacheScope::Core => 1,
        CacheScope::Chip => u32::from(machine.cores_per_chip),
        CacheScope::Node => u32::from(machine.cores_per_chip) * u32::from(machine.chips_per_node),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_chips_and_cores_over_the_whole_machine() {
        let machine = parse_short("node:8 chip:4 core:8 pu:4").unwrap();
        let tree = Topology::new(&machine);
        assert_eq!(tree.chips(), 32);
        assert_eq!(tree.chip_of(255), 31);
        assert_eq!(tree.node_of(31), 7);
        assert_eq!(tree.chips_of(5), 20..24);
    }

    #[test]
    fn threads_that_count_as_processors_stay_on_their_core() {
        let mut machine = parse_short("chip:2 core:3 pu:2").unwrap();
        machine.active_cores = 5;
        machine.hypervisor.siblings = 2;
        let tree = Topology::new(&machine);
        assert_eq!((tree.cores_per_chip, tree.active_cores), (6, 10));
        assert_eq!((tree.chip_of(5), tree.chip_of(6)), (0, 1));
    }

    #[test]
    fn memory_beside_a_node_is_local_to_all_its_chips() {
        let mut machine = parse_short("node:2 chip:2 core:1").unwrap();
        machine.node_distance = vec![1.0, 1.5, 1.5, 1.0];
        let tree = Topology::new(&machine);
        assert_eq!((tree.domains(), tree.chip_beside(3)), (4, 3));
        assert_eq!(tree.memory_distance(0, 1), Distance::Near);
        machine.memory_beside = MemoryBeside::Node;
        let tree = Topology::new(&machine);
        assert_eq!((tree.domains(), tree.chip_beside(1)), (2, 2));
        assert_eq!(tree.memory_distance(1, 0), Distance::Local);
        assert_eq!(tree.memory_distance(1, 1), Distance::Far);
        assert_eq!(memory_ns(&machine, &tree, 1, 1), 450.0);
    }

    #[test]
    fn distance_is_how_far_up_the_tree_one_must_go() {
        let tree = Topology::new(&parse_short("node:2 chip:2 core:4 pu:2").unwrap());
        assert_eq!(tree.distance(0, 0), Distance::Local);
        assert_eq!(tree.distance(0, 1), Distance::Near);
        assert_eq!(tree.distance(1, 2), Distance::Far);
    }
}
