//! What is numbered here: units are the virtual processors of the spec, domains its partitions.

use std::num::NonZeroU16;

pub use crate::ids::{ById, CoreId, PartitionId, Span, VpId};

crate::ids::ids! {
    /// A run queue.
    QueueId: u16, NonZeroU16;
}
