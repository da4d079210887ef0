//! The events of a simulation, and their order at equal times.

use crate::kernel::Priority;

/// The time of what does not happen: no event is ever scheduled for it.
pub const NEVER: u64 = u64::MAX;

/// Something that happens at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A dispatch window begins.
    Window,
    /// The next thing on a core: a burst or a grant ends, a time slice is over, a sibling leaves
    /// SMT.
    Core(u16),
    /// A job's wait or think time is over.
    Wake(u32),
    /// A transaction arrives at a partition.
    Arrival(u16),
    /// A burst of a partition's recorded demand arrives.
    Recorded(u16),
    /// A guest's daemon wakes.
    Daemon(u16),
    /// A guest balances its run queues.
    Balance(u16),
    /// Partitions wait for excess capacity: who is ahead of its share?
    ShareCheck,
    /// A connection's think time in a partition of z/VM is over.
    Think(u16, u32),
    /// A partition's paging volumes have something to do.
    Paging(u16),
    /// A partition of z/VM decides which logical cores to park.
    Park(u16),
    /// A virtual machine that has used up its limit may run again.
    Limit(u16, u32),
    /// The scheduler of a host has something to do.
    HostTimer,
    /// Part of a partition's memory is made to fault.
    Numa(u16),
    /// A virtual processor of KVM comes to a lock.
    Lock(u32),
    /// An entitled virtual processor that still waits must run from now on to get its slice.
    LastChance(u32),
}

impl Event {
    /// Windows come before everything else at the same time, so that nobody runs on the old
    /// window's capacity.
    #[inline]
    pub const fn priority(self) -> Priority {
        match self {
            Event::Window => Priority::new(0),
            Event::Core(_) => Priority::new(1),
            _ => Priority::new(2),
        }
    }
}
