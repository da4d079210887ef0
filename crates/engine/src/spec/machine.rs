//! The machine: its tree, its caches and memory, and its hypervisor.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::linux::{Credit2, Linux};
use super::policy::Policy;
use super::profile::Profile;
use super::prsm::PrSm;
use super::virtualized::Walks;

/// Hardware description: a tree machine > node > chip > core > hardware thread, with memory at each
/// chip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Model name, such as `ibm-power-795`.
    pub name: String,
    /// Processor generation as printed, such as `POWER7`.
    pub generation: String,
    /// Core clock [Hz].
    pub clock_hz: f64,
    /// Highest clock of a core with one, two, ... busy cores on its chip, with more the last one
    /// [Hz]; empty = `clock_hz`, however many.
    #[serde(default)]
    pub turbo_hz: Vec<f64>,
    /// Rate of the core part of instructions relative to the core for which profiles state `eicpi`,
    /// at equal clock.
    pub core_rate: f64,
    /// What empties its pipelines; none = the core rate tells of that, too.
    #[serde(default)]
    pub pipeline: Option<Pipeline>,
    /// Nodes (books, drawers) in the machine.
    pub nodes: u16,
    /// Nodes that are parts of one socket; 1 where each is a socket or more.
    #[serde(default = "one_node")]
    pub nodes_per_socket: u16,
    /// Chips in each node.
    pub chips_per_node: u16,
    /// Cores in each chip.
    pub cores_per_chip: u16,
    /// Hardware threads in each core.
    pub threads_per_core: u8,
    /// Activated cores, taken from the first chip on; the rest is dark.
    pub active_cores: u16,
    /// Length of a cache line [bytes].
    pub line_bytes: u32,
    /// Cache levels from the core outwards.
    pub caches: Vec<Cache>,
    /// Latency of a line that another core's cache holds [ns], by distance.
    pub cache_to_cache_ns: ByDistance,
    /// Who is asked for a line that another core wrote last.
    pub coherence: Coherence,
    /// Where memory hangs in the tree: its NUMA domains are the chips or the nodes.
    pub memory_beside: MemoryBeside,
    /// Latency of memory without queueing [ns], by distance (local = same domain's place, near =
    /// another chip of the node, far = other node).
    pub memory_ns: ByDistance,
    /// Factor on every far latency for each pair of nodes (row-major, `nodes * nodes`); empty = 1
    /// for all.
    pub node_distance: Vec<f64>,
    /// Bandwidth at which a domain's controllers are read [bytes/s].
    pub memory_bytes_per_s: f64,
    /// How a domain's controllers serve what is asked of them.
    #[serde(default)]
    pub memory_load: MemoryLoad,
    /// Bandwidth between a chip and the rest of its node, in each direction [bytes/s].
    pub chip_link_bytes_per_s: f64,
    /// Bandwidth between a node and all others, in each direction [bytes/s].
    pub node_link_bytes_per_s: f64,
    /// Links that make up a chip's bandwidth; a line takes one of them.
    #[serde(default = "one_link")]
    pub chip_links: u16,
    /// Links that make up a node's bandwidth; a line takes one of them.
    #[serde(default = "one_link")]
    pub node_links: u16,
    /// Address translation; none = its cost is within the caches' and the core's.
    pub translation: Option<Translation>,
    /// How tables of translations are walked; none = unknown, and virtual machines pay nothing.
    #[serde(default)]
    pub walks: Option<Walks>,
    /// How a core's stores reach the cache that keeps them; none = the caches next to it keep them.
    pub stores: Option<StorePath>,
    /// How processors that are slowed pause; none = they never do.
    #[serde(default)]
    pub throttle: Option<Throttle>,
    /// How a core gets through data in order; none = unknown, and no work may stream.
    #[serde(default)]
    pub streams: Option<StreamPath>,
    /// Simultaneous multithreading.
    pub smt: Smt,
    /// Rule by which a thread's processor time is charged.
    pub accounting: Accounting,
    /// Constants of the hypervisor on this machine.
    pub hypervisor: Hypervisor,
}

/// What empties a core's pipelines: of its own, and of the core for which profiles state `eicpi`,
/// which holds it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    /// Of this core.
    pub own: Drains,
    /// Of the core for which profiles state `eicpi`.
    pub reference: Drains,
}

/// What a core loses when its pipelines are emptied.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drains {
    /// Of an instruction that changes the state of the processor or is left to millicode [cycles].
    pub control_cycles: f64,
    /// Taken branches whose targets the core knows at a time.
    pub branch_targets: f64,
    /// Of a taken branch whose target it does not know [cycles].
    pub branch_cycles: f64,
}

/// Who is asked for a line that another core wrote last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Coherence {
    /// The core that wrote it: the line comes from there, at that core's distance.
    Owner,
    /// The directory beside the line's memory: it costs what memory costs, at its distance.
    Home,
    /// Within a chip's shared cache the core that wrote it; beyond it the directory beside the
    /// line's memory, which sends for it: the further of the two counts.
    Directory,
}

/// Where memory hangs in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryBeside {
    /// A domain beside each chip.
    Chip,
    /// A domain beside each node (cell, book), at one distance from all its chips.
    Node,
}

fn one_link() -> u16 {
    1
}

/// How a domain's controllers serve what is asked of them: a line waits for its bank, then for its
/// channel. Where nothing is said, they are one channel with random arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryLoad {
    /// Channels, over which the lines are spread.
    pub channels: u16,
    /// What a line waits for its bank at full load; in proportion to the load below [ns].
    pub bank_ns: f64,
    /// What a line waits for its channel, in proportion to the time for which one occupies it and
    /// to load / (1 - load): 0.5 for lines that come at random.
    pub channel_wait: f64,
    /// Time of the channels that a line written takes, in proportion to one read.
    pub write_cost: f64,
}

impl Default for MemoryLoad {
    fn default() -> Self {
        Self {
            channels: 1,
            bank_ns: 0.0,
            channel_wait: 0.5,
            write_cost: 1.0,
        }
    }
}

/// Translation of data addresses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Translation {
    /// Pages whose translations a core holds.
    pub entries: u32,
    /// Time to walk the tables for a page that is not among them [ns].
    pub walk_ns: f64,
}

/// Way of a core's stores to the cache that keeps them, one thing at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StorePath {
    /// Least time between two stores on their way, or between two gathered entries [ns].
    pub interval_ns: f64,
    /// Bytes of a gathered entry that pass in a cycle of the core.
    pub width_bytes: f64,
    /// Bytes of neighbouring stores gathered into an entry; none = each store goes by itself.
    pub gather_bytes: Option<f64>,
}

/// Processors of less than full speed: they work for a while and pause in between.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Throttle {
    /// Share of the time in which they work.
    pub duty: f64,
    /// How long they work at a time [ns].
    pub burst_ns: f64,
}

/// Way of lines that a core asks for one after the other before it needs them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamPath {
    /// Lines that a core has on their way while it works on others; 0 = it waits for each.
    pub lines: f64,
    /// Time of a line on the narrowest link between memory and the core [ns].
    pub transfer_ns: f64,
}

/// One cache level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Name as printed: `L1`, `L2`, `L3`, `L3 chip`.
    pub name: String,
    /// Capacity of one instance [bytes].
    pub bytes: u64,
    /// Who shares an instance.
    pub scope: CacheScope,
    /// Load-to-use latency [ns].
    pub latency_ns: f64,
    /// Whether its capacity adds to that of the levels inside it (victim) or contains them
    /// (inclusive).
    pub victim: bool,
    /// Bandwidth at which an instance of a chip or node is read; none = as much as is asked
    /// [bytes/s].
    #[serde(default)]
    pub bytes_per_s: Option<f64>,
    /// Time of a line on the narrowest link between here and the core, for which work waits that
    /// wants all of the line and the next one after it [ns].
    #[serde(default)]
    pub line_ns: f64,
}

/// Level of the tree at which a cache is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub enum CacheScope {
    /// Private to a part of a core, shared by that part's threads; the size is that of one part.
    Part,
    /// Private to a core, shared by its threads.
    Core,
    /// Shared by the cores of a chip.
    Chip,
    /// Shared by the chips of a node.
    Node,
}

/// A quantity by how far up the tree one must go.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByDistance {
    /// On the same chip.
    pub local: f64,
    /// On another chip of the same node.
    pub near: f64,
    /// On another node.
    pub far: f64,
}

/// How a core's throughput grows with its busy threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Smt {
    /// Throughput with 1, 2, ... busy threads relative to one, for the reference work, caches
    /// included.
    pub gain: Vec<f64>,
    /// The work that this gain was published for.
    pub reference: Profile,
    /// Parts of a core that have issue slots of their own, in which its threads are by turns: of
    /// two parts one has threads 0, 2, 4, 6, the other 1, 3, 5, 7.
    #[serde(default = "one_part")]
    pub parts: u8,
}

fn one_part() -> u8 {
    1
}

/// Charging rule of the PURR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Accounting {
    /// POWER5: by decode slots, `R = 2^(|X-Y|+1)`, an idle sibling at priority 1 against 4.
    DecodeSlots,
    /// POWER7 and later: `k` busy of `T` threads are charged `gain(k)/gain(T)` of the core.
    Calibrated,
    /// Elapsed time of the core, shared evenly by its busy threads.
    Elapsed,
}

/// What the hypervisor's actions cost and its fixed rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hypervisor {
    /// Who decides what runs where.
    pub policy: Policy,
    /// Dispatch window [ns]; without a dispatcher, how often the machine's occupancy is refreshed.
    pub window_ns: u64,
    /// Least entitlement for each virtual processor [cores].
    pub min_entitlement_per_vp: f64,
    /// Time to put a virtual processor on a core [ns].
    pub dispatch_ns: u64,
    /// Time of a cede call until the core is free [ns].
    pub cede_ns: u64,
    /// Time of a prod call [ns].
    pub prod_ns: u64,
    /// Time of a confer call [ns].
    pub confer_ns: u64,
    /// Time to pass on an interrupt meant for another partition [ns].
    pub phantom_ns: u64,
    /// Longest time on excess capacity while another partition waits for excess [ns].
    pub excess_quantum_ns: u64,
    /// Whether the end of an entitled slice or of a window counts as an involuntary switch even if
    /// the same virtual processor continues on the same core.
    pub counts_redispatch: bool,
    /// Whom an entitled requester may throw off a core of its home node.
    pub eviction: Eviction,
    /// What PR/SM has besides.
    #[serde(default)]
    pub prsm: PrSm,
    /// Hardware threads of a core that a host uses as logical processors, each by itself: 1 = SMT
    /// is off, at most the machine's `threads_per_core`. Only for a host's policies. Logical
    /// processor `core * siblings + thread` is meant wherever one is named.
    #[serde(default = "one")]
    pub siblings: u8,
    /// The Linux scheduler.
    #[serde(default)]
    pub linux: Linux,
    /// Xen's scheduler credit2.
    #[serde(default)]
    pub credit2: Credit2,
    /// Numbers of any other scheduler of a host, by the names that it gives them; its own where
    /// there is none.
    #[serde(default)]
    pub settings: BTreeMap<String, u64>,
}

fn one() -> u8 {
    1
}

fn one_node() -> u16 {
    1
}

/// Victims of an entitled requester on its home node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Eviction {
    /// Only excess runners whose home is elsewhere.
    HomeElsewhere,
    /// Those first, then any excess runner of another partition.
    OtherPartition,
}
