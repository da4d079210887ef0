//! Where memory lies.

use serde::{Deserialize, Serialize};

/// Part of a partition's memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryPart {
    /// Its domain, or the domains over which its lines are interleaved, without repetition.
    pub domains: Vec<u16>,
    /// Size [bytes].
    pub bytes: u64,
}
