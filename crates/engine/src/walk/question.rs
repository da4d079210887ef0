//! What is asked and what is answered.

use serde::{Deserialize, Serialize};

use super::hierarchy::Hierarchy;
use super::line::Part;
use super::pattern::Pattern;

/// A question: this buffer, walked through this way, on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Walk {
    /// Its clock, caches, memory and how a core streams.
    pub machine: Hierarchy,
    /// How the buffer is gone through.
    pub pattern: Pattern,
    /// Length of a buffer [bytes]; a copy has two of this length.
    pub bytes: u64,
    /// Cores that do so, each with buffers of its own beside one memory.
    #[serde(default = "one_core")]
    pub cores: u16,
}

fn one_core() -> u16 {
    1
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
    /// Time of a line of the buffer, for each core [ns].
    pub line_ns: f64,
    /// Buffer length by the time to go through it, of all cores together [bytes/s]; of a copy the
    /// bytes of one buffer.
    pub bytes_per_s: f64,
    /// What the time of a line is made of; adds up to it.
    pub parts: Vec<Part>,
}
