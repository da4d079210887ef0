//! The events of a simulation, and their order at equal times.

use crate::guest::workload::JobId;
use crate::ids::{CoreId, LoadId, PartitionId};
use crate::kernel::Priority;

/// Windows come before everything else at the same time, so that nobody runs on the old window's
/// capacity.
pub const WINDOWS: Priority = Priority::new(0);
/// Then what happens on cores.
pub const CORES: Priority = Priority::new(1);
/// Then the rest.
pub const OTHERS: Priority = Priority::new(2);

/// Something that happens at a time; `A` is what only the system at hand waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<A> {
    /// A dispatch window begins.
    Window,
    /// The next thing on a core: a burst or a grant ends, a time slice is over, a sibling leaves
    /// SMT.
    Core(CoreId),
    /// A job's wait or think time is over.
    Wake(JobId),
    /// A transaction of a load arrives.
    Arrival(LoadId),
    /// A burst of a load's recorded demand arrives.
    Recorded(LoadId),
    /// A guest's daemon wakes.
    Daemon(PartitionId),
    /// A device interrupts for something that nobody waits for.
    Interrupt(PartitionId),
    /// A device has waited for more before it interrupts a processor.
    Gathered(PartitionId, u16),
    /// The threads of one of a guest's gangs wake.
    Gang(PartitionId, u8),
    /// A guest balances its run queues.
    Balance(PartitionId),
    /// The system asked to be told.
    Alarm(A),
}
