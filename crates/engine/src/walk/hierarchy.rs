//! The machine as the walk sees it: where a buffer lives in it, and what a line from there must
//! pass.

use serde::{Deserialize, Serialize};

use crate::spec::MemoryLoad;

/// A machine as the walk sees it: one core and the levels it reaches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hierarchy {
    /// Core clock [Hz].
    pub clock_hz: f64,
    /// Length of a cache line [bytes].
    pub line_bytes: u32,
    /// Levels from the core outwards; of a split level the part for data.
    pub caches: Vec<Level>,
    /// Latency of memory without queueing, load to use [ns].
    pub memory_latency_ns: f64,
    /// What memory delivers [bytes/s].
    pub memory_bytes_per_s: f64,
    /// How memory serves what is asked of it; none = nobody waits.
    #[serde(default)]
    pub memory_load: Option<MemoryLoad>,
    /// What levels deliver to the core; a level without an entry is not limited.
    pub links: Vec<Link>,
    /// How the core streams.
    pub streams: Streams,
}

/// A level of cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// As in the machine's description, such as `L2`.
    pub name: String,
    /// Data it holds [bytes].
    pub bytes: u64,
    /// Latency, load to use [ns].
    pub latency_ns: f64,
}

/// Bandwidth between a level and those inside it, for one core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The level's name.
    pub name: String,
    /// Bandwidth [bytes/s].
    pub bytes_per_s: f64,
}

/// How a core streams through memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Streams {
    /// Instructions decoded and completed in a cycle.
    pub instructions: f64,
    /// Loads in a cycle.
    pub loads: f64,
    /// Stores in a cycle.
    pub stores: f64,
    /// Time after which a sum can be added to again [cycles].
    pub sum_cycles: f64,
    /// Bytes that a storage-to-storage instruction moves or clears in a cycle.
    pub move_bytes: f64,
    /// Start of such an instruction, of at most 256 bytes [cycles].
    pub move_start_cycles: f64,
    /// Lines on their way while the core works on another; 0 = it waits for each.
    pub lines: f64,
    /// First level that keeps what is stored; those inside it pass every store on.
    pub store_in: String,
    /// Most bytes of a store, or of a step of a gathered one, on its way there.
    pub store_width_bytes: f64,
    /// Least time between two stores on their way there [cycles].
    pub store_interval_cycles: f64,
    /// Bytes of neighbouring stores that are gathered before they are passed on; none = each store
    /// goes by itself.
    pub gather_bytes: Option<f64>,
}

/// A level, counted from the core; the one after the last cache is memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(pub usize);

/// The innermost level that holds `bytes`, or memory. A level holds exactly its size.
pub fn level_of(machine: &Hierarchy, bytes: u64) -> Place {
    let inside = machine.caches.iter().position(|level| bytes <= level.bytes);
    Place(inside.unwrap_or(machine.caches.len()))
}

impl Place {
    /// Name of the level.
    pub fn name(self, machine: &Hierarchy) -> &str {
        match machine.caches.get(self.0) {
            Some(level) => &level.name,
            None => "memory",
        }
    }

    /// Latency of the level, load to use [ns].
    pub fn latency_ns(self, machine: &Hierarchy) -> f64 {
        match machine.caches.get(self.0) {
            Some(level) => level.latency_ns,
            None => machine.memory_latency_ns,
        }
    }

    /// Cycles until a line from there comes; none where it need not come.
    pub fn fetch_cycles(self, machine: &Hierarchy) -> f64 {
        if self.0 == 0 {
            return 0.0;
        }
        self.latency_ns(machine) * machine.clock_hz / 1e9
    }

    /// Cycles for which a line occupies the narrowest link between the level and the core.
    pub fn link_cycles(self, machine: &Hierarchy) -> f64 {
        self.link_cycles_beyond(Place(0), machine)
    }

    /// Cycles for which a line occupies the narrowest link between the level and one inside it.
    pub fn link_cycles_beyond(self, inner: Self, machine: &Hierarchy) -> f64 {
        (inner.0 + 1..=self.0)
            .map(|outer| Place(outer).own_link_cycles(machine))
            .fold(0.0, f64::max)
    }

    fn own_link_cycles(self, machine: &Hierarchy) -> f64 {
        let bandwidth = match machine.caches.get(self.0) {
            Some(level) => machine.links.iter().find(|link| link.name == level.name),
            None => {
                return f64::from(machine.line_bytes) * machine.clock_hz
                    / machine.memory_bytes_per_s
            }
        };
        bandwidth.map_or(0.0, |link| {
            f64::from(machine.line_bytes) * machine.clock_hz / link.bytes_per_s
        })
    }
}
