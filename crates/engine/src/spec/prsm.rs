//! What PR/SM adds: how a partition's logical cores share, limits of several partitions together,
//! and PR/SM's own figures.

use serde::{Deserialize, Serialize};

/// How a partition's logical cores share the physical cores of their type under PR/SM.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogicalCores {
    /// How its entitlement is spread over them.
    pub polarization: Polarization,
    /// Most it may use at any time, whatever its weight (absolute capping) [cores].
    pub cap: Option<f64>,
    /// Index of the group that limits it together with others.
    pub group: Option<u16>,
    /// Most it may use on a long average; none = no such limit.
    pub defined_capacity: Option<DefinedCapacity>,
}

/// Spread of a partition's entitlement over its logical cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Polarization {
    /// Evenly.
    #[default]
    Horizontal,
    /// On as few as can be: vertical-high, vertical-medium, vertical-low.
    Vertical,
}

/// Limit of a rolling average: while the average is at or above it, the partition may use no more
/// than this.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DefinedCapacity {
    /// The limit [cores].
    pub cores: f64,
    /// Time over which the average is taken [ns].
    #[serde(default = "four_hours")]
    pub window_ns: u64,
    /// Average before the simulation starts [cores].
    #[serde(default)]
    pub start_cores: f64,
}

fn four_hours() -> u64 {
    4 * 3_600_000_000_000
}

/// Partitions that are limited together (group capacity).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// By which reports call it.
    pub name: String,
    /// Most they may use together at any time [cores].
    pub cap: f64,
}

/// Figures of PR/SM that other hypervisors do not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PrSm {
    /// Longest stretch of a logical core on a physical one, as an operator has set it [ns]; none =
    /// PR/SM works it out.
    pub run_time_ns: Option<u64>,
    /// PR/SM's own time on each shared physical core and time slice, for no partition [ns].
    pub physical_ns: u64,
}
