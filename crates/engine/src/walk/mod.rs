//! What walking through a buffer costs: an analytic memory-hierarchy walk.
//!
//! One core goes through a buffer again and again, line by line, in one of the [`Pattern`]s. The
//! buffer lives in the innermost level that holds all its bytes ([`level_of`]). A line costs the
//! largest of what runs beside each other:
//!
//! ```text
//! line = max(core, way, lines)
//! core   instructions of the line at the core's rate
//! way    stores on their way to the first level that keeps what is stored, lines from there and
//!        beyond, and lines it gives back for them: one after the other
//! lines  latency and bytes of the lines the core needs, one after the other
//! ```
//!
//! and the sum of all where the core works on nothing while it waits (`lines` = 0).
//!
//! Pure functions over a plain input; it knows no other folder. Derived, with an example computed
//! by hand, in `docs/background/memory-walk.md`.

mod check;
mod hierarchy;
mod line;
mod pattern;

use serde::{Deserialize, Serialize};

pub use check::{check, WalkFault};
pub use hierarchy::{level_of, Place};
pub use line::{Cost, Part};
pub use pattern::{Pattern, FILE_READ_BYTES};

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
    /// What levels deliver to the core; a level without an entry is not limited.
    pub links: Vec<Link>,
    /// How the core streams.
    pub streams: Streams,
}

/// A level of cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// Its name.
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

/// A question: this buffer, walked through this way, on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Walk {
    /// The machine.
    pub machine: Hierarchy,
    /// How the buffer is gone through.
    pub pattern: Pattern,
    /// Length of a buffer [bytes]; a copy has two of this length.
    pub bytes: u64,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Walked {
    /// Where the buffers live: a cache's name, or `memory`.
    pub level: String,
    /// Bytes of all its buffers.
    pub footprint_bytes: u64,
    /// Latency of that level, load to use [ns].
    pub latency_ns: f64,
    /// Time of a line of the buffer [ns].
    pub line_ns: f64,
    /// Buffer length by the time to go through it [bytes/s]; of a copy the bytes of one buffer.
    pub bytes_per_s: f64,
    /// What the time of a line is made of; adds up to it.
    pub parts: Vec<Part>,
}

/// Answers a question.
///
/// # Errors
/// [`WalkFault`] names the first figure that cannot be.
pub fn walk(question: &Walk) -> Result<Walked, WalkFault> {
    check(question)?;
    let machine = &question.machine;
    let footprint_bytes = question.pattern.footprint(question.bytes);
    let place = level_of(machine, footprint_bytes);
    let mut cost = Cost::default();
    for step in question.pattern.steps(machine, question.bytes) {
        cost.add(&line::cost(machine, &step));
    }
    let per_ns = 1e9 / machine.clock_hz;
    let parts: Vec<Part> = cost.parts(per_ns);
    let line_ns = parts.iter().map(|part| part.ns).sum::<f64>();
    Ok(Walked {
        level: place.name(machine).to_string(),
        footprint_bytes,
        latency_ns: place.latency_ns(machine),
        line_ns,
        bytes_per_s: f64::from(machine.line_bytes) * 1e9 / line_ns,
        parts,
    })
}

#[cfg(test)]
mod tests;
