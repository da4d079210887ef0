//! What surrounds a core: where the lines lie that other cores of its partition wrote, and how far
//! away everything is. It is what a single line costs, as against the average instruction's
//! [`Class`].

use super::class::Class;
use super::lines::Source;
use super::place::{mean_memory_latency, sharer_latencies, Place};
use crate::spec::{CacheScope, Coherence};

/// What a line costs at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// Time of an instruction with one thread busy [ns].
    pub instruction_ns: f64,
    /// Chance that another core of the partition wrote a shared line last.
    pub elsewhere: f64,
    /// Shares of the other cores by their distance.
    pub by: [f64; 3],
    /// Latency of a line in another core's cache, by its distance [ns].
    pub cache_ns: [f64; 3],
    /// Latency of a line in memory [ns].
    pub memory_ns: f64,
    /// Latency of the last level private to a core [ns].
    pub private_ns: f64,
    /// Share of a latency that an instruction stream waits for.
    pub exposed: f64,
    /// Lines that one instruction fetches beyond its private caches while they are cold.
    pub reload_lines: f64,
    /// Lines a core's private caches hold.
    pub private_lines: f64,
    /// Core time that displaces them all [ns]; infinite if nothing does.
    pub private_turnover_ns: f64,
    /// Core time that displaces all lines of the chip's cache [ns].
    pub chip_turnover_ns: f64,
    /// Core time that displaces all lines of the node's cache [ns].
    pub node_turnover_ns: f64,
}

impl Surroundings {
    /// Works them out; `class` is the class of one busy thread at `place`.
    pub fn of(place: &Place, class: &Class) -> Self {
        let machine = place.machine;
        let sharers = place.spread.sharers(machine, place.tree, place.chip);
        let memory_ns = mean_memory_latency(place);
        let private = machine
            .caches
            .iter()
            .rfind(|cache| cache.scope <= CacheScope::Core)
            .unwrap_or(&machine.caches[0]);
        let beyond_node = class.memory_lines + class.lines.of(Source::CacheFar);
        let near = class.lines.of(Source::L4) + class.lines.of(Source::CacheNear);
        Self {
            instruction_ns: class.ns,
            elsewhere: sharers.elsewhere,
            by: sharers.by,
            cache_ns: match machine.coherence {
                Coherence::Owner | Coherence::Directory => sharer_latencies(place, &sharers),
                Coherence::Home => [memory_ns; 3],
            },
            memory_ns,
            private_ns: private.latency_ns,
            exposed: 1.0 - place.partition.profile.overlap,
            reload_lines: class.reload_lines,
            private_lines: class.private_lines,
            private_turnover_ns: turnover(class.private_lines, class.ns, class.fill_lines),
            chip_turnover_ns: turnover(
                lines_of(place, CacheScope::Chip),
                class.ns,
                beyond_node + near,
            ),
            node_turnover_ns: turnover(lines_of(place, CacheScope::Node), class.ns, beyond_node),
        }
    }

    /// Latencies of a line that any of the partition's cores may have written last, weighted by how
    /// often it is somewhere else: its mean is what a line of a lock costs [ns].
    pub fn transfer_ns(&self) -> f64 {
        let pairs = self.by.iter().zip(self.cache_ns);
        self.elsewhere * pairs.map(|(share, ns)| share * ns).sum::<f64>()
    }
}

/// Lines in all caches of a scope.
fn lines_of(place: &Place, scope: CacheScope) -> f64 {
    let caches = place.machine.caches.iter().filter(|c| c.scope == scope);
    let bytes: u64 = caches.map(|cache| cache.bytes).sum();
    bytes as f64 / f64::from(place.machine.line_bytes)
}

/// Time in which a core brings in so many lines [ns].
fn turnover(lines: f64, instruction_ns: f64, per_instruction: f64) -> f64 {
    if per_instruction > 0.0 {
        lines * instruction_ns / per_instruction
    } else {
        f64::INFINITY
    }
}
