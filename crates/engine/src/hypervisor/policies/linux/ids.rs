//! How entities, queues, groups and domains are numbered. Processors are cores, and threads virtual
//! processors, as everywhere.

use std::num::{NonZeroU16, NonZeroU32};

pub use crate::ids::{ById, CoreId, MemoryId, PartitionId, Span};

crate::ids::ids! {
    /// What competes in a queue: the virtual processors first, each as a task under its own number,
    /// then groups on processors.
    EntityId: u32, NonZeroU32;
    /// A group's queue on a processor.
    QueueId: u32, NonZeroU32;
    /// A control group; 0 is the root.
    CgroupId: u16, NonZeroU16;
    /// A scheduling domain.
    DomainId: u16, NonZeroU16;
}

/// A task is an entity that is no group.
pub type TaskId = EntityId;

/// The control group above all others.
pub const ROOT: CgroupId = CgroupId::new(0);

/// Processors from one number up to, but not including, another.
#[inline]
pub fn between(first: usize, end: usize) -> Span<CoreId> {
    Span::new(first, end - first)
}
