//! A virtual partition as `vparstatus -v` and `vparstatus -M` tell it.

use serde::{Deserialize, Serialize};

/// Processors, memory and I/O of one virtual partition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VirtualPartition {
    /// Under which the monitor knows the partition.
    pub name: String,
    /// Its state: Up, Down, ...
    pub state: String,
    /// Dynamic or Static, Autoboot or Manual, Autosearch or Nosearch.
    pub attributes: Vec<String>,
    /// Path of the kernel that it boots.
    pub kernel: String,
    /// What is handed to that kernel.
    pub boot_options: String,
    /// How many it may have, and those bound to it by path.
    pub processors: Processors,
    /// Its I/O, in the order of the listing.
    pub io: Vec<IoPath>,
    /// Interleaved and local parts.
    pub memory: Memory,
    /// The last online operation on memory or processors, from vPars A.05 on: sequence, operation,
    /// status.
    pub online: Option<Vec<String>>,
    /// Whether the hard partition waits for a reboot for reconfiguration; `-M` only.
    pub reconfiguration: Option<String>,
}

/// Processors by path and by count. A path that is not yet decided, because the partition is down,
/// is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Processors {
    /// Least number it may have.
    pub minimum: u32,
    /// Most it may have.
    pub maximum: u32,
    /// Paths that were asked for.
    pub user: Vec<Option<String>>,
    /// The processor it was booted on; in none of the other lists.
    pub boot: Option<String>,
    /// Paths that the monitor chose.
    pub monitor: Vec<Option<String>>,
    /// Paths that are on the move; `-M` only.
    pub pending: Vec<Option<String>>,
    /// How many were asked for by path.
    pub user_count: u32,
    /// How many were asked for by number.
    pub monitor_count: u32,
    /// How many were asked for by cell.
    pub by_cell: Vec<CellCount>,
}

/// A number of processors of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellCount {
    /// Number of the cell.
    pub cell: u32,
    /// Number of processors.
    pub count: u32,
}

/// A piece of I/O.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IoPath {
    /// Hardware path; its first number is the cell.
    pub path: String,
    /// BOOT, ALTBOOT or nothing.
    pub role: String,
}

/// Memory by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// ILM.
    pub interleaved: Interleaved,
    /// CLM.
    pub local: Local,
}

/// Memory whose lines lie on all cells in turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interleaved {
    /// Ranges that were asked for.
    pub user: Vec<Range>,
    /// Ranges that the monitor chose.
    pub monitor: Vec<Range>,
    /// All of it, base and floating [MB].
    pub megabytes: u64,
    /// The floating part of it [MB].
    pub floating: u64,
    /// Size of a granule [MB].
    pub granule: Option<u64>,
}

/// Memory that lies on one cell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Local {
    /// Ranges that were asked for.
    pub user: Vec<Range>,
    /// Ranges that the monitor chose.
    pub monitor: Vec<Range>,
    /// Sizes by cell.
    pub by_cell: Vec<CellMemory>,
    /// Size of a granule [MB].
    pub granule: Option<u64>,
}

/// A stretch of physical memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The cell, of cell-local memory.
    pub cell: Option<u32>,
    /// Address of its first byte.
    pub base: u64,
    /// Its length [MB].
    pub megabytes: u64,
    /// Whether it can be taken away while the partition runs.
    pub floating: bool,
}

/// What a partition has on a cell [MB].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellMemory {
    /// Number of the cell.
    pub cell: u32,
    /// All of it, base and floating [MB].
    pub megabytes: u64,
    /// The floating part of it [MB].
    pub floating: u64,
}
