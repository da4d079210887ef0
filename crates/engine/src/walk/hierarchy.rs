//! Where a buffer lives, and what a line from there must pass.

use super::Hierarchy;

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
