//! What a simulation asks of the system that shares the cores out.
//!
//! The rest of `sim` knows time, the queue, who runs where, progress, costs and books, and nothing
//! of any vendor. A system is told what happens, and answers with a few verbs of the [`World`]:
//!
//! ```text
//! told:     wake, cede, withdraw, due (what it asked for on a core), alarm, window
//! answers:  put (dispatch), take (undispatch), plan, schedule, settle
//! ```
//! There are two: [`windows::Partitions`](super::windows) hands capacity out by window (PowerVM,
//! PR/SM, dedicated cores, and z/VM in a partition of one of them);
//! [`host::Host`](super::host) asks a scheduler of its own (Linux with KVM, Xen).

use std::fmt::Debug;

use super::interrupting::Handler;
use super::meters::Purr;
use super::rows::Reading;
use super::world::World;
use crate::guest::workload::JobId;
use crate::guest::Cpu;
use crate::hypervisor::State;
use crate::ids::{CoreId, PartitionId, ThreadId, VpId};
use crate::kernel::Key;
use crate::spec::Spec;

/// Columns of the partition table that only z/VM fills.
pub const GUEST_COLUMNS: usize = 18;
/// Columns of the partition table that only hosts fill.
pub const HOST_COLUMNS: usize = 13;

/// A stretch of a runner's time that is to be booked.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// Threads that were busy.
    pub mask: u8,
    /// Core time [ns].
    pub elapsed: u64,
    /// The part of it in which nothing useful happened [ns].
    pub stalled: u64,
}

/// Who shares the cores out.
pub trait System: Sized {
    /// What it may ask to be told at a time of its choice.
    type Alarm: Copy + Debug;

    /// Sets it up at time 0; it may give virtual processors other homes.
    fn new(spec: &Spec, state: &mut State, replication: u64) -> Self;

    /// Before the first window.
    fn start(_world: &mut World<Self>) {}

    /// Once all workloads have begun.
    fn started(_world: &mut World<Self>) {}

    /// A partition's workload begins, besides what every guest does.
    fn start_partition(_world: &mut World<Self>, _partition: PartitionId) {}

    /// A virtual processor without work has some again: it asks for a core.
    fn wake(world: &mut World<Self>, vp: VpId);

    /// A runner has no work left.
    fn cede(world: &mut World<Self>, vp: VpId);

    /// One that waited for a core has no work any more.
    fn withdraw(world: &mut World<Self>, vp: VpId);

    /// The planned event of a core is due, and the bursts that ended on it have been seen to; `vp`
    /// ran there.
    fn due(world: &mut World<Self>, core: CoreId, vp: VpId);

    /// A guest's kernel goes on with another thread on a virtual processor.
    #[inline]
    fn switches_thread(_world: &mut World<Self>, _vp: VpId) {}

    /// A runner got work while others of its threads, or none, were busy.
    fn found_work(_world: &mut World<Self>, _vp: VpId) {}

    /// Something that it asked for is due.
    fn alarm(world: &mut World<Self>, key: Key, alarm: Self::Alarm);

    /// A window is over, and all that happened in it has been booked.
    fn close_window(_world: &mut World<Self>, _window_ns: u64) {}

    /// Books what it has kept back of core time; the counters are about to be read.
    fn settle_costs(_world: &mut World<Self>) {}

    /// The spec of a partition has changed, and a window is about to begin.
    fn reconfigure(_world: &mut World<Self>, _partition: PartitionId) {}

    /// Its virtual processors are those that its spec has; what was taken off is idle.
    fn online(_world: &mut World<Self>, _partition: PartitionId) {}

    /// A window begins.
    fn open_window(world: &mut World<Self>);

    /// A second is over for a partition.
    fn second(_world: &mut World<Self>, _partition: PartitionId) {}

    /// Time that putting a virtual processor on a core takes, beside what it owes; none = it pays
    /// nothing, not even that [ns].
    fn dispatch_ns(&self, spec: &Spec, vp: VpId) -> Option<u64>;

    /// Until when the virtual processor that was just put on a core may stay there (`grant_end`).
    fn grant(world: &mut World<Self>, vp: VpId);

    /// A virtual processor leaves its core.
    fn leave(_world: &mut World<Self>, _vp: VpId, _core: CoreId) {}

    /// A virtual processor was put on a core and is planned there.
    #[inline]
    fn entered(_world: &mut World<Self>, _vp: VpId) {}

    /// What it asks for to be told that a virtual processor comes to a lock.
    fn at_lock(vp: VpId) -> Self::Alarm;

    /// A runner spins from now on for a lock whose holder is off its core.
    fn spins(world: &mut World<Self>, vp: VpId, core: CoreId);

    /// It need not spin any longer.
    fn has_spun(_world: &mut World<Self>, _vp: VpId) {}

    /// Whether a virtual processor is on excess capacity.
    fn is_on_excess(&self, _vp: VpId) -> bool {
        false
    }

    /// Charges core time to the accounts that it keeps.
    fn charge(world: &mut World<Self>, vp: VpId, core: CoreId, elapsed: u64);

    /// Moves the threads of a guest on whose work it schedules by itself; `false` if it is none.
    #[inline]
    fn advance(_world: &mut World<Self>, _vp: VpId, _core: CoreId, _stretch: Stretch) -> bool {
        false
    }

    /// What a thread of such a guest was at is done; `false` if it is none.
    #[inline]
    fn end_burst(_world: &mut World<Self>, _vp: VpId, _at: ThreadId, _thread: u8) -> bool {
        false
    }

    /// A time slice of such a guest is over; `false` if it is none.
    #[inline]
    fn end_slice(_world: &mut World<Self>, _vp: VpId, _at: ThreadId, _thread: u8) -> bool {
        false
    }

    /// A thread hands its work to another one of its partition, and wakes it.
    fn pass_on(world: &mut World<Self>, job: JobId, _by: VpId, to: Cpu) {
        world.run_on(job, to);
    }

    /// A process has woken others and has work of its own.
    fn has_woken(_world: &mut World<Self>, _vp: VpId) {}

    /// Whether a queue lock whose next owner is off its core goes to whoever comes to it.
    fn steals(&self, _partition: PartitionId) -> bool {
        false
    }

    /// Whether the time until a runner comes to a lock counts from the end of its dispatch. On
    /// hosts it counts from when it is put on its processor: whether lines of waiters last there
    /// hangs on it, and no figure tells which is nearer.
    fn computes_after_dispatch() -> bool {
        false
    }

    /// Whether one that waits for a lock sleeps until it is kicked.
    fn stays_in_line(&self, _vp: VpId) -> bool {
        false
    }

    /// The lock is free: the first that sleeps for it is to wake.
    fn kick(_world: &mut World<Self>, _partition: PartitionId, _by: Option<VpId>) {}

    /// Whom a virtual processor wakes from now on it wakes by an interrupt; none = nobody does.
    fn signals(&mut self, _by: Option<VpId>) {}

    /// Processors of its own that devices interrupt; none = those of the guests.
    fn host_cpus(_spec: &Spec) -> Option<u16> {
        None
    }

    /// Whether devices interrupt the guests' own processors.
    fn handles_in_guest() -> bool {
        true
    }

    /// A processor is to do the work of a device's interrupt.
    fn handle(world: &mut World<Self>, handler: Handler) {
        world.handle_in_guest(handler);
    }

    /// Whether a partition is plain processes, not a guest with run queues of its own.
    fn is_processes(&self, _spec: &Spec, _partition: PartitionId) -> bool {
        false
    }

    /// Whether who sends a message in a guest still runs while it wakes its reader, which goes to
    /// another logical processor if one is idle.
    fn sender_runs_on() -> bool {
        false
    }

    /// Rows of the table of pools.
    fn read_pools(world: &World<Self>) -> Vec<Vec<i64>>;

    /// What it counts of a guest on whose work it schedules.
    fn read_guest(_world: &World<Self>, _partition: PartitionId) -> [i64; GUEST_COLUMNS] {
        [0; GUEST_COLUMNS]
    }

    /// What a host's scheduler counts of a partition.
    fn read_host(_world: &World<Self>, _partition: PartitionId) -> [i64; HOST_COLUMNS] {
        [0; HOST_COLUMNS]
    }

    /// User and kernel time of a logical processor [ns].
    fn user_and_sys(
        _world: &World<Self>,
        _of: PartitionId,
        _cpu: usize,
        purr: &Purr,
    ) -> (f64, f64) {
        (purr.user, purr.sys)
    }

    /// Tables that only such guests have.
    fn read_tables(_world: &World<Self>, _into: &mut Reading) {}
}
