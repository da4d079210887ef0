//! z/VM's Control Program (CP) in a partition: virtual processors of virtual machines on the
//! partition's logical processors.
//!
//! ```text
//! PR/SM    puts logical cores (virtual processors of the partition) on cores         sim::windows
//! CP       puts virtual processors of virtual machines on logical processors         here
//! guests   take messages, work, send messages over virtual switches, read pages       here
//! ```
//! What a virtual processor does between two looks of CP is a segment, one event long. The time
//! that goes by while a segment runs is put down to guest, chargeable and system time by the
//! segment's own shares, so that the three add up to the busy time.

mod arrivals;
mod budget;
pub(super) mod check;
mod costs;
mod daemons;
mod dispatch;
mod inbox;
mod limits;
mod locking;
mod locks;
mod message;
mod paging;
mod parking;
mod pool;
mod pools;
mod port;
mod preempt;
mod progress;
mod reload;
mod rows;
mod seek;
mod sending;
mod served;
mod setup;
mod shuffle;
pub(super) mod state;
mod waking;
mod web;

use self::state::Cp;
use super::meters::PartitionMeter;
use super::windows::{self, Partitions};
use super::world::World;
use crate::guest::zvm::ids::{ConnectionId, PoolId, VmId};
use crate::ids::{PartitionId, VpId};
use crate::kernel::Key;

/// What a partition's z/VM waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alarm {
    /// A connection's think time is over.
    Think(ConnectionId),
    /// A transaction comes to a virtual machine from outside.
    Arrive(VmId),
    /// A transaction of a virtual machine has waited between two bursts.
    Return(VmId),
    /// A daemon of a virtual machine's guest wakes.
    Daemon(VmId),
    /// The paging volumes have something to do.
    Paging,
    /// It decides which logical cores to park.
    Park,
    /// It deals out its dispatch list.
    Shuffle,
    /// A virtual machine that has used up its limit may run again.
    Limit(VmId),
    /// A CPU pool in which somebody is held may have time again.
    Pool(PoolId),
}

impl Partitions {
    /// The Control Program of a partition. Whoever needs more of it than one thing borrows it once.
    #[inline]
    fn cp(&mut self, partition: PartitionId) -> &mut Cp {
        self.cps[partition].as_deref_mut().expect("z/VM")
    }
}

impl World<Partitions> {
    /// Whether a virtual processor is z/VM's.
    #[inline]
    pub fn is_zvm(&self, vp: VpId) -> bool {
        self.sys.cps[self.vp(vp).partition].is_some()
    }

    /// Something that a partition's z/VM asked for is due.
    pub fn cp_alarm(&mut self, partition: PartitionId, alarm: Alarm) {
        match alarm {
            Alarm::Think(connection) => self.end_think(partition, connection),
            Alarm::Arrive(vm) => self.take_work(partition, vm),
            Alarm::Return(vm) => self.return_work(partition, vm),
            Alarm::Daemon(vm) => self.wake_guest_daemon(partition, vm),
            Alarm::Paging => self.page_event(partition),
            Alarm::Park => self.park(partition),
            Alarm::Shuffle => self.shuffle(partition),
            Alarm::Limit(vm) => self.lift_limit(partition, vm),
            Alarm::Pool(pool) => self.lift_pool(partition, pool),
        }
    }

    /// The Control Program of a partition.
    #[inline]
    fn cp(&mut self, partition: PartitionId) -> &mut Cp {
        self.sys.cp(partition)
    }

    /// Counters of a partition whose integrals go up to now.
    #[inline]
    fn meter_now(&mut self, partition: PartitionId) -> &mut PartitionMeter {
        if self.meters.partitions[partition].integrated_to == self.now {
            &mut self.meters.partitions[partition]
        } else {
            self.meters.integrate(partition, self.now)
        }
    }

    fn cp_asks(&mut self, partition: PartitionId, at: u64, alarm: Alarm) -> Key {
        self.ask_at(at, windows::Alarm::Zvm(partition, alarm))
    }
}
