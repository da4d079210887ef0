//! What stands between cores and memory: memory controllers, both directions of a chip's and of a
//! node's links, and a shared cache that states a bandwidth; and which of them a line passes.

use super::port::{with_bandwidth, Port, Toll, Wants, AT_RANDOM};
use super::spread::Spread;
use crate::ids::{ById, ChipId, MemoryId, NodeId, PortId, Span};
use crate::machine::{Distance, Topology};
use crate::spec::{CacheScope, Machine, MemoryBeside};

/// Ports that a line passes one after the other.
type Way = [Option<PortId>; 5];

/// What stands between cores and memory.
#[derive(Clone, Debug)]
pub struct Fabric {
    ports: ById<PortId, Port>,
    chips: usize,
    nodes: usize,
    domains: usize,
    beside_nodes: bool,
    /// Of lines from memory, by chip and domain.
    ways: Vec<Way>,
    /// Scope of the caches with a port, if there are any, and index of their level.
    cache: Option<(CacheScope, usize)>,
}

impl Fabric {
    /// Of a machine on which nothing runs.
    pub fn new(machine: &Machine, tree: &Topology) -> Self {
        let (chips, nodes, domains) = (tree.chips(), tree.nodes(), tree.domains());
        let per_ns = 1e-9 / f64::from(machine.line_bytes);
        let bytes_per_s = machine.memory_bytes_per_s;
        let memory = Port::of_memory(bytes_per_s, machine.line_bytes, &machine.memory_load);
        let link = |bytes_per_s: f64, links: u16| {
            Port::new(bytes_per_s * per_ns, AT_RANDOM * f64::from(links))
        };
        let mut ports = vec![memory; domains.len()];
        let mut add = |port, count| ports.extend(std::iter::repeat_n(port, count));
        let chip = link(machine.chip_link_bytes_per_s, machine.chip_links);
        let node = link(machine.node_link_bytes_per_s, machine.node_links);
        add(chip, 2 * chips.len());
        add(node, 2 * nodes.len());
        let cache = with_bandwidth(machine);
        if let Some((scope, level)) = cache {
            let of_nodes = scope == CacheScope::Node;
            let count = if of_nodes { nodes.len() } else { chips.len() };
            let bytes_per_s = machine.caches[level].bytes_per_s.unwrap_or_default();
            add(link(bytes_per_s, 1), count);
        }
        let mut fabric = Self {
            ports: ports.into(),
            chips: chips.len(),
            nodes: nodes.len(),
            domains: domains.len(),
            beside_nodes: machine.memory_beside == MemoryBeside::Node,
            ways: Vec::new(),
            cache,
        };
        for chip in chips {
            let ways = domains.into_iter();
            let ways = ways.map(|domain| fabric.find_way(tree, chip, domain));
            let ways: Vec<Way> = ways.collect();
            fabric.ways.extend(ways);
        }
        fabric
    }

    /// Controllers of a memory domain.
    pub fn memory(&self, domain: MemoryId) -> PortId {
        PortId::new(domain.index())
    }

    /// Way into a chip from the rest of its node.
    pub fn into_chip(&self, chip: ChipId) -> PortId {
        PortId::new(self.domains + chip.index())
    }

    /// Way out of a chip.
    pub fn out_of_chip(&self, chip: ChipId) -> PortId {
        PortId::new(self.domains + self.chips + chip.index())
    }

    /// Way into a node from the others.
    pub fn into_node(&self, node: NodeId) -> PortId {
        PortId::new(self.domains + 2 * self.chips + node.index())
    }

    /// Way out of a node.
    pub fn out_of_node(&self, node: NodeId) -> PortId {
        PortId::new(self.domains + 2 * self.chips + self.nodes + node.index())
    }

    /// The cache with a bandwidth that a chip's cores read, and the index of its level.
    fn cache(&self, tree: &Topology, chip: ChipId) -> Option<(PortId, usize)> {
        let (scope, level) = self.cache?;
        let instance = match scope {
            CacheScope::Node => tree.node_of(chip).index(),
            _ => chip.index(),
        };
        let first = self.domains + 2 * (self.chips + self.nodes);
        Some((PortId::new(first + instance), level))
    }

    /// Way of a line from memory to a chip.
    #[inline]
    fn memory_way(&self, chip: ChipId, domain: MemoryId) -> &Way {
        &self.ways[chip.index() * self.domains + domain.index()]
    }

    /// The same from the tree: worked out once, for lines pass the same ways again and again.
    fn find_way(&self, tree: &Topology, chip: ChipId, domain: MemoryId) -> Way {
        let mut way = [Some(self.memory(domain)), None, None, None, None];
        let distance = tree.memory_distance(chip, domain);
        if self.beside_nodes || distance != Distance::Local {
            way[1] = Some(self.into_chip(chip));
        }
        if !self.beside_nodes && distance != Distance::Local {
            way[2] = Some(self.out_of_chip(ChipId::new(domain.index())));
        }
        if distance == Distance::Far {
            way[3] = Some(self.into_node(tree.node_of(chip)));
            way[4] = Some(self.out_of_node(tree.node_of_domain(domain)));
        }
        way
    }

    /// What a line from memory waits on its way to a chip; it takes the channels for `work` times
    /// as long as one that is only read.
    pub(super) fn memory_toll(&self, chip: ChipId, domain: MemoryId, work: f64) -> Toll {
        let mut toll = self.toll(self.memory_way(chip, domain));
        toll.wait_ns += (work - 1.0) * self.ports[self.memory(domain)].toll.wait_ns;
        toll
    }

    /// What a line of a cache in the node, but not on the chip, waits on its way there.
    pub fn near_toll(&self, chip: ChipId) -> Toll {
        self.ports[self.into_chip(chip)].toll
    }

    /// What a line of a cache on another node waits on its way to a chip.
    pub fn far_toll(&self, tree: &Topology, chip: ChipId) -> Toll {
        let node = self.into_node(tree.node_of(chip));
        let mut toll = self.near_toll(chip);
        toll += self.ports[node].toll;
        toll
    }

    /// What a line of a chip's or node's cache waits there.
    pub(super) fn cache_toll(&self, tree: &Topology, chip: ChipId, level: usize) -> Toll {
        match self.cache(tree, chip) {
            Some((port, with_port)) if with_port == level => self.ports[port].toll,
            _ => Toll::default(),
        }
    }

    fn toll(&self, way: &Way) -> Toll {
        let mut toll = Toll::default();
        for port in way.iter().flatten() {
            toll += self.ports[*port].toll;
        }
        toll
    }

    /// Goes through the ports that an instruction on a chip wants lines of. Which of a partition's
    /// other chips a line comes from is not kept, so of caches only the way in is counted.
    pub(super) fn each_want(
        &self,
        tree: &Topology,
        (chip, spread): (ChipId, &Spread),
        wants: &Wants,
        mut each: impl FnMut(PortId, f64),
    ) {
        let (mut into_chip, mut into_node) = (wants.outside, wants.far);
        for &(domain, share) in spread.memory_of(chip) {
            let lines = wants.memory * share;
            let [memory, in_chip, out_of_chip, in_node, out_of_node] =
                *self.memory_way(chip, domain);
            memory
                .into_iter()
                .for_each(|port| each(port, lines * wants.memory_work));
            let out = out_of_chip.into_iter().chain(out_of_node);
            out.for_each(|port| each(port, lines));
            into_chip += in_chip.map_or(0.0, |_| lines);
            into_node += in_node.map_or(0.0, |_| lines);
        }
        if into_chip > 0.0 {
            each(self.into_chip(chip), into_chip);
        }
        if into_node > 0.0 {
            each(self.into_node(tree.node_of(chip)), into_node);
        }
        if let Some((port, _)) = self.cache(tree, chip) {
            each(port, wants.cache);
        }
    }

    /// Counts what so many instructions on a chip asked for; `unhindered` is how many they were if
    /// none had waited, in proportion.
    pub(super) fn carry(
        &mut self,
        tree: &Topology,
        at: (ChipId, &Spread),
        wants: &Wants,
        (instructions, unhindered): (f64, f64),
    ) {
        let mut ports = std::mem::take(&mut self.ports);
        self.each_want(tree, at, wants, |port, lines| {
            let lines = instructions * lines;
            ports[port].lines += lines;
            ports[port].asked += lines * unhindered;
        });
        self.ports = ports;
    }

    /// Counts lines from other nodes' caches.
    pub(super) fn carry_far(&mut self, tree: &Topology, chip: ChipId, lines: f64) {
        for port in [self.into_chip(chip), self.into_node(tree.node_of(chip))] {
            self.ports[port].lines += lines;
            self.ports[port].asked += lines;
        }
    }

    /// Ports of a node: those of its memory, its chips, itself and its caches.
    pub fn ports_on(&self, tree: &Topology, node: NodeId) -> Vec<PortId> {
        let chips = || tree.chips_of(node).into_iter();
        let mut ports: Vec<PortId> = chips()
            .flat_map(|chip| {
                let cache = self.cache(tree, chip).map(|(port, _)| port);
                let own = [
                    self.memory(tree.domain_of(chip)),
                    self.into_chip(chip),
                    self.out_of_chip(chip),
                ];
                own.into_iter().chain(cache)
            })
            .chain([self.into_node(node), self.out_of_node(node)])
            .collect();
        ports.sort_unstable();
        ports.dedup();
        ports
    }

    /// Becomes like that of the same machine.
    pub fn follow(&mut self, other: &Self) {
        self.ports.follow(&other.ports);
    }

    /// Whether somebody waits at one of some ports, or more is asked of it than it carries.
    pub(super) fn waits_on(&self, ports: &[PortId]) -> bool {
        let waits = |port: &Port| port.asked > port.most || port.toll.wait_ns > 0.0;
        ports.iter().any(|port| waits(&self.ports[*port]))
    }

    /// Ends a nanosecond at some ports alone.
    pub(super) fn close_on(&mut self, ports: &[PortId], weight: f64) {
        let each = ports.iter().copied();
        each.for_each(|port| self.ports[port].close_window(1.0, weight));
    }

    /// What was carried and asked lately is forgotten.
    pub(super) fn begin_anew(&mut self) {
        for port in &mut self.ports {
            (port.lines, port.asked, port.behind) = (0.0, 0.0, 0.0);
        }
    }

    /// Ends a window at all ports.
    pub(super) fn close_window(&mut self, window_ns: f64, weight: f64) {
        for port in &mut self.ports {
            port.close_window(window_ns, weight);
        }
    }

    /// What was carried beyond the time there was is not made up for: where one window is repeated
    /// until nothing changes, what came before is no debt.
    pub fn forgive(&mut self) {
        self.ports.iter_mut().for_each(|port| port.behind = 0.0);
    }

    /// Whether some port was asked for more than it carries, or still has to catch up.
    pub(super) fn is_overrun(&self, window_ns: f64) -> bool {
        let over = |port: &Port| port.asked > port.most * window_ns - port.behind;
        self.ports.iter().any(over)
    }

    /// Nobody waits.
    pub(super) fn let_go(&mut self) {
        for port in &mut self.ports {
            port.toll.wait_ns = 0.0;
        }
        self.forget();
    }

    /// What was asked for in the last window is answered.
    pub(super) fn forget(&mut self) {
        self.ports.iter_mut().for_each(|port| port.asked = 0.0);
    }

    /// Sets what a line waits at a port.
    pub fn set_toll(&mut self, port: PortId, toll: Toll) {
        self.ports[port].toll = toll;
    }

    /// What a line waits at a port that is used to this share, as part of its latency [ns].
    pub fn delay_ns(&self, port: PortId, load: f64) -> f64 {
        self.ports[port].delay_ns(load)
    }

    /// All of them, whether anything is behind them or not.
    pub fn ports(&self) -> Span<PortId> {
        self.ports.span()
    }

    /// Ports that there is something behind: a machine of one chip has no links.
    pub fn in_use(&self) -> impl Iterator<Item = PortId> + '_ {
        let (chips, nodes) = (self.domains, self.domains + 2 * self.chips);
        let caches = nodes + 2 * self.nodes;
        let has_links = self.chips > 1 || self.beside_nodes;
        self.ports.ids().filter(move |port| match port.index() {
            at if at < chips || at >= caches => true,
            at if at < nodes => has_links,
            _ => self.nodes > 1,
        })
    }

    /// What kind of port it is, as an index into [`PORT_NAMES`], and of which domain, chip or node.
    pub fn place(&self, port: PortId) -> (usize, usize) {
        let counts = [self.domains, self.chips, self.chips, self.nodes, self.nodes];
        let mut place = port.index();
        for (kind, count) in counts.into_iter().enumerate() {
            if place < count {
                return (kind, place);
            }
            place -= count;
        }
        (counts.len(), place)
    }

    /// Lines that a port has carried since the start, in its time of one that is read, and what
    /// they waited there [ns].
    pub fn carried(&self, port: PortId) -> (f64, f64) {
        let port = &self.ports[port];
        let lines = port.carried + port.lines;
        (lines, port.waited_ns + port.lines * port.toll.ns())
    }

    pub(super) fn all(&mut self) -> &mut ById<PortId, Port> {
        &mut self.ports
    }
}
