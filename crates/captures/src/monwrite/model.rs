//! What is read of a MONWRITE file.

use serde::Serialize;

/// What its records tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Recording {
    /// Domain 1, record 4; the last of them.
    pub configuration: Option<Configuration>,
    /// Domain 0, record 2, in the order of the file.
    pub processors: Vec<Processor>,
    /// Intervals that ended (domain 1, record 11).
    pub intervals: u32,
    /// Records of whatever kind.
    pub records: u64,
}

/// Domain 1, record 4: where z/VM runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Configuration {
    /// Frame, from 1.
    pub frame: usize,
    /// Machine type, four digits.
    pub machine: String,
    /// Model of that type, such as N96.
    pub model: String,
    /// Its serial number.
    pub serial: String,
    /// The partition's name; empty if z/VM does not run in one.
    pub partition: String,
    /// Its logical processors that are configured.
    pub logical: u16,
    /// Those of them that are dedicated.
    pub dedicated: u16,
    /// Those of them that are shared.
    pub shared: u16,
}

/// Domain 0, record 2: one processor since the system was started, in 4096ths of a microsecond.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Processor {
    /// Frame, from 1.
    pub frame: usize,
    /// Intervals that had ended before.
    pub interval: u32,
    /// Number by which z/VM calls it.
    pub address: u16,
    /// When the record was built, since 1900.
    pub time_of_day: u64,
    /// Time that it worked for users.
    pub user: u64,
    /// Time that it worked for nobody in particular.
    pub system: u64,
    /// Time that it waited.
    pub wait: u64,
}
