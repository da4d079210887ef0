//! What is read of a MONWRITE file.

use serde::Serialize;

/// What its records tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Recording {
    /// Domain 1, record 4; the last of them.
    pub configuration: Option<Configuration>,
    /// Domain 0, record 2, in the order of the file.
    pub processors: Vec<Processor>,
    /// Domain 0, record 15: processors of the machine; the last of them.
    pub physical: Option<u16>,
    /// Domain 0, record 16, in the order of the file; one partition may have several.
    pub partitions: Vec<Partition>,
    /// Domain 4, record 3, in the order of the file.
    pub users: Vec<User>,
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

/// Domain 0, record 16: a partition of the machine, with all or some of its logical processors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Partition {
    /// Frame, from 1.
    pub frame: usize,
    /// Intervals that had ended before.
    pub interval: u32,
    /// When the record was built, since 1900, in 4096ths of a microsecond.
    pub time_of_day: u64,
    /// Its name in the HMC, at most eight letters.
    pub name: String,
    /// Number by which the machine calls it.
    pub number: u8,
    /// Logical processors that this record tells of.
    pub processors: Vec<Logical>,
}

/// A logical processor of a partition, or a logical core where that has several threads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Logical {
    /// Its number in the partition.
    pub address: u16,
    /// Weight of the partition's processors of this type; 0 or 65535 may stand for dedicated ones.
    pub weight: u16,
    /// Type as it is told: CP, IFL, ...
    pub kind: String,
    /// Time that it had a processor, with what PR/SM did for it, in a unit that is not told.
    pub held: u64,
    /// Time that it had a processor for itself, in the same unit.
    pub used: u64,
}

/// Domain 4, record 3: a virtual processor of a virtual machine since it was logged on, in 4096ths
/// of a microsecond.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct User {
    /// Frame, from 1.
    pub frame: usize,
    /// Intervals that had ended before.
    pub interval: u32,
    /// Name of the virtual machine.
    pub name: String,
    /// Number of the virtual processor.
    pub address: u16,
    /// Time of processors that is charged to it.
    pub charged: u64,
    /// Of that, time that it ran.
    pub ran: u64,
}
