//! What z/VM numbers, partition by partition.

use std::num::{NonZeroU16, NonZeroU32};

use crate::ids::ids;

ids! {
    /// A virtual processor of a virtual machine, over all machines.
    VcpuId: u32, NonZeroU32;
    /// A virtual machine.
    VmId: u32, NonZeroU32;
    /// A logical processor.
    LpId: u16, NonZeroU16;
    /// A dispatch vector.
    VectorId: u16, NonZeroU16;
    /// A connection of a client's virtual processor with a server's.
    ConnectionId: u32, NonZeroU32;
    /// A virtual switch.
    SwitchId: u16, NonZeroU16;
    /// A CPU pool.
    PoolId: u16, NonZeroU16;
}
