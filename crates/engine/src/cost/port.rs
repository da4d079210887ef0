//! A port through which lines travel: what it carries and what a line waits there, in two parts.
//!
//! The *delay* is part of its latency, and a thread hides of it what it hides of any latency. In
//! front of memory a line waits for its bank, in proportion to the load, and for its channel:
//!
//! ```text
//! delay = bank ρ + channel_wait (line / bandwidth of a channel) ρ / (1 - ρ)
//! ```
//! Links have no banks; a line takes one of those that make up the bandwidth, to which lines come
//! at random, hence 1/2. Measured latencies end there: from some 97 % of the bandwidth on they grow
//! no more, because the caches in front let no more lines in.
//!
//! The *wait* begins where more is asked for than the port carries, and nothing hides it: it is as
//! long as makes what is asked fit ([`relief`](super::relief)).

use crate::spec::{Cache, CacheScope, Machine, MemoryLoad};

/// Load from which on a delay grows no more: a mesh of 18 cores waits as long at 95 as at 99 % of
/// what it can read (GJBEX-SKYLAKE-MLC). Assumed range 0.95 to 0.99.
const CROWDED: f64 = 0.97;
/// Wait for a channel in proportion to its service and ρ / (1 - ρ), where lines come at random and
/// all take as long (M/D/1).
pub(super) const AT_RANDOM: f64 = 0.5;

/// Kinds of ports, as results have them.
pub const PORT_NAMES: [&str; 6] = [
    "memory",
    "into_chip",
    "out_of_chip",
    "into_node",
    "out_of_node",
    "cache",
];

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
    pub bank_ns: f64,
    /// Wait for a channel where it is used to one half [ns].
    pub channel_ns: f64,
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
    /// What they waited [ns].
    pub waited_ns: f64,
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

impl Wants {
    /// Adds those of so many instructions, which write as much.
    pub fn add_scaled(&mut self, other: &Self, by: f64) {
        self.memory += by * other.memory;
        self.memory_work = other.memory_work;
        self.outside += by * other.outside;
        self.far += by * other.far;
        self.cache += by * other.cache;
    }
}

/// The outermost cache of chips or nodes that states a bandwidth.
pub(super) fn with_bandwidth(machine: &Machine) -> Option<(CacheScope, usize)> {
    let levels = machine.caches.iter().enumerate();
    let shared = |(_, cache): &(usize, &Cache)| {
        cache.scope > CacheScope::Core && cache.bytes_per_s.is_some()
    };
    let last = levels.rev().find(shared);
    last.map(|(level, cache)| (cache.scope, level))
}

/// Delay of a line in front of memory that is read at this bandwidth and used to this share [ns].
pub fn memory_delay_ns(bytes_per_s: f64, line_bytes: u32, how: &MemoryLoad, load: f64) -> f64 {
    Port::of_memory(bytes_per_s, line_bytes, how).delay_ns(load)
}

impl Port {
    /// Controllers of a memory domain, read at this bandwidth.
    pub fn of_memory(bytes_per_s: f64, line_bytes: u32, how: &MemoryLoad) -> Self {
        let per_ns = 1e-9 / f64::from(line_bytes);
        let wait = how.channel_wait * f64::from(how.channels);
        Self {
            bank_ns: how.bank_ns,
            ..Self::new(bytes_per_s * per_ns, wait)
        }
    }

    /// Carries so many lines in a nanosecond; `wait` is for a channel, in proportion to the time in
    /// which the port carries a line and to ρ / (1 - ρ).
    pub fn new(most: f64, wait: f64) -> Self {
        Self {
            most,
            bank_ns: 0.0,
            channel_ns: wait / most,
            toll: Toll::default(),
            lines: 0.0,
            asked: 0.0,
            behind: 0.0,
            carried: 0.0,
            waited_ns: 0.0,
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
        self.waited_ns += self.lines * self.toll.ns();
        let delay = self.delay_ns(self.lines / carries);
        self.toll.delay_ns += weight * (delay - self.toll.delay_ns);
        self.behind = (self.behind + self.lines - carries).max(0.0);
        self.carried += self.lines;
        self.lines = 0.0;
    }
}
