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
mod parts;
mod short;

pub use check::{check, MachineFault, MAX_CACHES};
pub use parts::{crowd, together};
pub use short::{parse_short, ShortFormError};

use crate::ids::{ById, ChipId, CoreId, Id, MemoryId, NodeId, Span};
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
    /// Chips in each node.
    pub chips_per_node: u16,
    /// Cores in each chip; on a host that puts threads on hardware threads, its logical processors.
    pub cores_per_chip: u16,
    /// Activated cores, from the first on; logical processors likewise.
    pub active_cores: u16,
    /// Logical processors of a core that are counted one by one, neighbours in the numbering; 1
    /// where cores are.
    pub siblings: u16,
    /// Chips of a socket: of a package that is bought and plugged in as one.
    chips_per_socket: u16,
    chips_of_node: ById<NodeId, Span<ChipId>>,
    node_of_chip: ById<ChipId, NodeId>,
    chip_of_core: ById<CoreId, ChipId>,
    chips_beside: ById<MemoryId, Span<ChipId>>,
    node_of_domain: ById<MemoryId, NodeId>,
    domain_of_chip: ById<ChipId, MemoryId>,
}

impl Topology {
    /// Reads the tree out of a machine description.
    pub fn new(machine: &Machine) -> Self {
        let chips = machine.nodes * machine.chips_per_node;
        let siblings = u16::from(machine.hypervisor.siblings.max(1));
        let cores_per_chip = machine.cores_per_chip * siblings;
        let cores = chips * cores_per_chip;
        let alike = |count: u16, chips: u16| -> Vec<Span<ChipId>> {
            let (count, chips) = (usize::from(count), usize::from(chips));
            (0..count).map(|at| Span::new(at * chips, chips)).collect()
        };
        let chips_of_node = ById::from(alike(machine.nodes, machine.chips_per_node));
        let chips_beside = ById::from(match machine.memory_beside {
            MemoryBeside::Chip => alike(chips, 1),
            MemoryBeside::Node => alike(machine.nodes, machine.chips_per_node),
        });
        let node_of_chip = owners(&chips_of_node);
        let chips_per_socket = match machine.memory_beside {
            MemoryBeside::Chip => 1,
            MemoryBeside::Node => machine.chips_per_node * machine.nodes_per_socket.max(1),
        };
        Self {
            chips_per_socket,
            chips_per_node: machine.chips_per_node,
            cores_per_chip,
            active_cores: (machine.active_cores * siblings).min(cores),
            siblings,
            chip_of_core: (0..cores).map(|at| (at / cores_per_chip).into()).collect(),
            domain_of_chip: owners(&chips_beside),
            node_of_domain: chips_beside
                .iter()
                .map(|chips| node_of_chip[chips.at(0)])
                .collect(),
            chips_beside,
            chips_of_node,
            node_of_chip,
        }
    }

    /// Chips of the machine.
    pub fn chips(&self) -> Span<ChipId> {
        self.node_of_chip.span()
    }

    /// Nodes of the machine.
    pub fn nodes(&self) -> Span<NodeId> {
        self.chips_of_node.span()
    }

    /// Cores of the machine, inactive ones included.
    pub fn cores(&self) -> Span<CoreId> {
        self.chip_of_core.span()
    }

    /// Memory domains of the machine.
    pub fn domains(&self) -> Span<MemoryId> {
        self.node_of_domain.span()
    }

    /// Node of a chip.
    #[inline]
    pub fn node_of(&self, chip: ChipId) -> NodeId {
        self.node_of_chip[chip]
    }

    /// Socket of a chip: a chip with memory of its own is one, chips beside a common memory are
    /// parts of one.
    pub fn socket_of(&self, chip: ChipId) -> u16 {
        u16::from(chip) / self.chips_per_socket
    }

    /// Chip of a core.
    #[inline]
    pub fn chip_of(&self, core: CoreId) -> ChipId {
        self.chip_of_core[core]
    }

    /// Chips of a node.
    #[inline]
    pub fn chips_of(&self, node: NodeId) -> Span<ChipId> {
        self.chips_of_node[node]
    }

    /// Memory domain beside a chip.
    #[inline]
    pub fn domain_of(&self, chip: ChipId) -> MemoryId {
        self.domain_of_chip[chip]
    }

    /// Node of a memory domain.
    #[inline]
    pub fn node_of_domain(&self, domain: MemoryId) -> NodeId {
        self.node_of_domain[domain]
    }

    /// The chips that a memory domain is beside.
    pub fn chips_beside(&self, domain: MemoryId) -> Span<ChipId> {
        self.chips_beside[domain]
    }

    /// Distance of a memory domain from a chip; memory beside a node is local to all its chips.
    #[inline]
    pub fn memory_distance(&self, chip: ChipId, domain: MemoryId) -> Distance {
        if self.domain_of(chip) == domain {
            Distance::Local
        } else if self.node_of(chip) == self.node_of_domain(domain) {
            Distance::Near
        } else {
            Distance::Far
        }
    }

    /// Distance between two chips.
    #[inline]
    pub fn distance(&self, a: ChipId, b: ChipId) -> Distance {
        if a == b {
            Distance::Local
        } else if self.node_of(a) == self.node_of(b) {
            Distance::Near
        } else {
            Distance::Far
        }
    }
}

/// Whose each chip is, as far as they share the chips out among them.
fn owners<I: Id>(chips: &ById<I, Span<ChipId>>) -> ById<ChipId, I> {
    let each = chips.entries();
    each.flat_map(|(owner, chips)| chips.into_iter().map(move |_| owner))
        .collect()
}

/// Factor on a far latency between two nodes; 1 where no matrix is given.
pub fn far_factor(machine: &Machine, from: NodeId, to: NodeId) -> f64 {
    if machine.node_distance.is_empty() {
        1.0
    } else {
        machine.node_distance[from.index() * usize::from(machine.nodes) + to.index()]
    }
}

/// Latency of a line in the memory of a domain for a core of `chip`, nothing else going on [ns].
pub fn memory_ns(machine: &Machine, tree: &Topology, chip: ChipId, domain: MemoryId) -> f64 {
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
        assert_eq!((tree.chips().len(), tree.nodes().len()), (32, 8));
        assert_eq!(tree.chip_of(CoreId::new(255)), ChipId::new(31));
        assert_eq!(tree.node_of(ChipId::new(31)), NodeId::new(7));
        assert_eq!(tree.chips_of(NodeId::new(5)), Span::new(20, 4));
    }

    #[test]
    fn threads_that_count_as_processors_stay_on_their_core() {
        let mut machine = parse_short("chip:2 core:3 pu:2").unwrap();
        machine.active_cores = 5;
        machine.hypervisor.siblings = 2;
        let tree = Topology::new(&machine);
        assert_eq!((tree.cores_per_chip, tree.active_cores), (6, 10));
        let chips = [5, 6].map(|core| tree.chip_of(CoreId::new(core)));
        assert_eq!(chips, [0, 1].map(ChipId::new));
    }

    #[test]
    fn memory_beside_a_node_is_local_to_all_its_chips() {
        let mut machine = parse_short("node:2 chip:2 core:1").unwrap();
        machine.node_distance = vec![1.0, 1.5, 1.5, 1.0];
        let tree = Topology::new(&machine);
        let (chip, domain) = (ChipId::new, MemoryId::new);
        assert_eq!(tree.domains().len(), 4);
        assert_eq!(tree.chips_beside(domain(3)), Span::new(3, 1));
        assert_eq!(tree.memory_distance(chip(0), domain(1)), Distance::Near);
        machine.memory_beside = MemoryBeside::Node;
        let tree = Topology::new(&machine);
        assert_eq!(tree.domains().len(), 2);
        assert_eq!(tree.chips_beside(domain(1)), Span::new(2, 2));
        assert_eq!(tree.memory_distance(chip(1), domain(0)), Distance::Local);
        assert_eq!(tree.memory_distance(chip(1), domain(1)), Distance::Far);
        assert_eq!(memory_ns(&machine, &tree, chip(1), domain(1)), 450.0);
    }

    #[test]
    fn distance_is_how_far_up_the_tree_one_must_go() {
        let tree = Topology::new(&parse_short("node:2 chip:2 core:4 pu:2").unwrap());
        let distance = |a, b| tree.distance(ChipId::new(a), ChipId::new(b));
        assert_eq!(distance(0, 0), Distance::Local);
        assert_eq!(distance(0, 1), Distance::Near);
        assert_eq!(distance(1, 2), Distance::Far);
    }
}
