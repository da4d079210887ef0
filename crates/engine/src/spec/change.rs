//! What an operator changes while the partitions run.

use serde::{Deserialize, Serialize};

use super::memory::MemoryPart;

/// A partition's configuration from a time on; what is left out stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Change {
    /// When, from the end of the warm-up; the first dispatch window then or later begins with it
    /// [ns].
    pub at_ns: u64,
    /// Index of the partition.
    pub partition: u16,
    /// Entitled capacity [cores].
    pub entitlement: Option<f64>,
    /// Online virtual processors.
    pub r#virtual: Option<u16>,
    /// Whether use beyond the entitlement is forbidden.
    pub capped: Option<bool>,
    /// Weight for excess capacity; with PR/SM for all capacity.
    pub weight: Option<u16>,
    /// Whether excess is used only while nobody else wants it.
    pub soft_cap: Option<bool>,
    /// Hardware threads used of each core.
    pub smt: Option<u8>,
    /// Dedicated cores, those kept first and in their order.
    pub cores: Option<Vec<u16>>,
    /// Where its memory lies; how long it takes to copy it is not told.
    pub memory: Option<Vec<MemoryPart>>,
    /// How much of it its data are [bytes].
    pub data_bytes: Option<u64>,
    /// Whether it runs from now on; one that stops loses what it had in hand. Where the first such
    /// change of a partition starts it, it did not run before.
    pub running: Option<bool>,
}
