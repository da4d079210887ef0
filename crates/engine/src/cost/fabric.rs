//! Ports through which lines travel: memory controllers, both directions of a chip's and of a
//! node's links, and caches that state a bandwidth. What a line waits there has two parts.
//!
//! The *delay* is part of its latency, and a thread hides of it what it hides of any latency. In
//! front of memory a line waits for its bank, in proportion to the load, and for its channel:
//!
//! ```text
//! delay = bank ρ + channel_wait (line / bandwidth of a channel) ρ / (1 - ρ)
//! ```
//! Elsewhere there are no banks and one channel with lines that come at random, hence 1/2.
//! Measured latencies end there: from some 97 % of the bandwidth on they grow no more, because the
//! caches in front let no more lines in.
//!
//! The *wait* begins where more is asked for than the port carries, and nothing hides it: it is as
//! long as makes what is asked fit ([`relief`](super::relief)).

use super::occupancy::Spent;
use super::spread::Spread;
use crate::ids::{ById, ChipId, MemoryId, NodeId, PortId, Span};
use crate::machine::{Distance, Topology};
use crate::spec::{Cache, CacheScope, Machine, MemoryBeside};

/// Load from which on a delay grows no more: a mesh of 18 cores waits as long at 95 as at 99 % of
/// what it can read (GJBEX-SKYLAKE-MLC). Assumed range 0.95 to 0.99.
const CROWDED: f64 = 0.97;
/// Wait for a channel in proportion to its service and ρ / (1 - ρ), where lines come at random and
/// all take as long (M/D/1).
const AT_RANDOM: f64 = 0.5;

/// What a line waits on its way [ns].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Toll {
    /// As part of its latency.
    pub delay_ns: f64,
    /// Because more is asked for than fits: nothing hides it.
    pub wait_ns: f64,
}

impl Toll {
    /// Both.
    pub fn ns(self) -> f64 {
        self.delay_ns + self.wait_ns
    }
}

impl std::ops::AddAssign for Toll {
    fn add_assign(&mut self, other: Self) {
        self.delay_ns += other.delay_ns;
        self.wait_ns += other.wait_ns;
    }
}

/// A port: what it carries, and how long lines wait for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Port {
    /// Lines that it carries in a nanosecond.
    pub most: f64,
    /// Wait for a bank at full load [ns].
    bank_ns: f64,
    /// Wait for a channel where it is used to one half [ns].
    channel_ns: f64,
    /// What a line waits there, the delay as running average.
    pub toll: Toll,
    /// Lines in this window.
    pub lines: f64,
    /// Lines that this window would have had if none had waited.
    pub asked: f64,
    /// Lines that earlier windows carried beyond their time.
    pub behind: f64,
    /// Lines since the start.
    pub carried: f64,
}

/// What stands between cores and memory.
#[derive(Clone, Debug)]
pub struct Fabric {
    ports: ById<PortId, Port>,
    chips: usize,
    nodes: usize,
    domains: usize,
    beside_nodes: bool,
    /// Scope of the caches with a port, if there are any, and index of their level.
    cache: Option<(CacheScope, usize)>,
}

/// Lines that an instruction brings into a core from beyond its own caches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wants {
    /// From memory.
    pub memory: f64,
    /// Channel time of one of these, what is written included, in that of reading it.
    pub memory_work: f64,
    /// From caches in other chips and nodes, and from the node's own.
    pub outside: f64,
    /// Those of them that are from other nodes.
    pub far: f64,
    /// From the cache that states a bandwidth.
    pub cache: f64,
}

/// Ports that a line passes one after the other.
type Way = [Option<PortId>; 5];

impl Fabric {
    /// Of a machine on which nothing runs.
    pub fn new(machine: &Machine, tree: &Topology) -> Self {
        let (chips, nodes, domains) = (tree.chips(), tree.nodes(), tree.domains());
        let per_ns = 1e-9 / f64::from(machine.line_bytes);
        let load = &machine.memory_load;
        let memory = Port {
            bank_ns: load.bank_ns,
            ..Port::new(
                machine.memory_bytes_per_s * per_ns,
                load.channel_wait * f64::from(load.channels),
            )
        };
        let link = |bytes_per_s: f64| Port::new(bytes_per_s * per_ns, AT_RANDOM);
        let mut ports = vec![memory; domains.len()];
        let mut add =
            |bytes_per_s, count| ports.extend(std::iter::repeat_n(link(bytes_per_s), count));
        add(machine.chip_link_bytes_per_s, 2 * chips.len());
        add(machine.node_link_bytes_per_s, 2 * nodes.len());
        let cache = with_bandwidth(machine);
        if let Some((scope, level)) = cache {
            let of_nodes = scope == CacheScope::Node;
            let count = if of_nodes { nodes.len() } else { chips.len() };
            add(machine.caches[level].bytes_per_s.unwrap_or_default(), count);
        }
        Self {
            ports: ports.into(),
            chips: chips.len(),
            nodes: nodes.len(),
            domains: domains.len(),
            beside_nodes: machine.memory_beside == MemoryBeside::Node,
            cache,
        }
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
    fn from_memory(&self, tree: &Topology, chip: ChipId, domain: MemoryId) -> Way {
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

    /// What a line from memory waits on its way to a chip.
    pub(super) fn memory_toll(&self, tree: &Topology, chip: ChipId, domain: MemoryId) -> Toll {
        self.toll(self.from_memory(tree, chip, domain))
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

    fn toll(&self, way: Way) -> Toll {
        let mut toll = Toll::default();
        for port in way.into_iter().flatten() {
            toll += self.ports[port].toll;
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
                self.from_memory(tree, chip, domain);
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

    /// Counts what a class asked for.
    pub(super) fn carry(&mut self, tree: &Topology, spread: &Spread, spent: &Spent) {
        let unhindered = spent.ns / (spent.ns - spent.wait_ns);
        let mut ports = std::mem::take(&mut self.ports);
        self.each_want(tree, (spent.chip, spread), &spent.wants, |port, lines| {
            let lines = spent.instructions * lines;
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

    /// Ends a window at all ports.
    pub(super) fn close_window(&mut self, window_ns: f64, weight: f64) {
        for port in &mut self.ports {
            port.close_window(window_ns, weight);
        }
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

    /// Its ports.
    pub fn ports(&self) -> Span<PortId> {
        self.ports.span()
    }

    /// Lines that a port has carried since the start, writing included.
    pub fn carried(&self, port: PortId) -> f64 {
        self.ports[port].carried
    }

    pub(super) fn all(&mut self) -> &mut ById<PortId, Port> {
        &mut self.ports
    }
}

/// The outermost cache of chips or nodes that states a bandwidth.
pub(super) fn with_bandwidth(machine: &Machine) -> Option<(CacheScope, usize)> {
    let levels = machine.caches.iter().enumerate();
    let shared = |(_, cache): &(usize, &Cache)| {
        cache.scope > CacheScope::Core && cache.bytes_per_s.is_some()
    };
    let last = levels.filter(shared).last();
    last.map(|(level, cache)| (cache.scope, level))
}

impl Port {
    /// Carries so many lines in a nanosecond; `wait` is for a channel, in proportion to the time in
    /// which the port carries a line and to ρ / (1 - ρ).
    fn new(most: f64, wait: f64) -> Self {
        Self {
            most,
            bank_ns: 0.0,
            channel_ns: wait / most,
            toll: Toll::default(),
            lines: 0.0,
            asked: 0.0,
            behind: 0.0,
            carried: 0.0,
        }
    }

    /// Delay of a line at a load [ns].
    pub fn delay_ns(&self, load: f64) -> f64 {
        let load = load.clamp(0.0, CROWDED);
        self.bank_ns * load + self.channel_ns * load / (1.0 - load)
    }

    /// Ends a window: its load becomes a delay, which enters the running average with `weight`.
    pub fn close_window(&mut self, window_ns: f64, weight: f64) {
        let carries = self.most * window_ns;
        let delay = self.delay_ns(self.lines / carries);
        self.toll.delay_ns += weight * (delay - self.toll.delay_ns);
        self.behind = (self.behind + self.lines - carries).max(0.0);
        self.carried += self.lines;
        self.lines = 0.0;
    }
}
