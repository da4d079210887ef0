//! The dispatch list dealt out over the dispatch vectors anew, while anybody waits in one.

use super::seek::MASTER;
use super::state::{Cp, Mode};
use super::Alarm;
use crate::guest::zvm::ids::VectorId;
use crate::guest::zvm::shuffle::{deal, Listed};
use crate::guest::zvm::vectors::Waiting;
use crate::ids::PartitionId;
use crate::sim::windows::Partitions;
use crate::sim::world::World;

/// Minor time slices between two deals: one, as a priority is worked out anew when a slice is used
/// up; assumed, up to 400 (the two seconds of the periodic routine that VMUBK's prolog names).
/// Beyond two, guests that run briefly and often push loops together that then wait for each other.
const DEAL_SLICES: u64 = 1;

/// Deals over which the clock's advance can be saved up by who wants less than it could have, or
/// runs on one processor where it is worth more: assumed, between 50 and 2000.
const BEHIND_DEALS: f64 = 200.0;

impl World<Partitions> {
    /// Somebody waits: the list is dealt out in a while.
    pub fn await_shuffle(&mut self, partition: PartitionId) {
        let cp = self.sys.cp(partition);
        if !std::mem::replace(&mut cp.shuffling, true) {
            let after = DEAL_SLICES * cp.spec.minor_slice_ns;
            self.cp_asks(partition, self.now + after, Alarm::Shuffle);
        }
    }

    /// Deals the dispatch list out, if anybody waits still.
    pub fn shuffle(&mut self, partition: PartitionId) {
        let now = self.now;
        let cp = self.sys.cp(partition);
        cp.shuffling = false;
        cp.floor += (cp.clock - cp.floor) / BEHIND_DEALS;
        if cp.vectors.queued() == 0 {
            return;
        }
        if cp.vectors.count() > 1 {
            cp.deal_out(now);
        }
        while let Some(lp) = self.cp(partition).vectors.idle_beside_work() {
            self.look_for_work(partition, lp);
        }
        self.await_shuffle(partition);
    }
}

impl Cp {
    /// Gives everybody who runs or waits a vector, and queues those that wait in theirs.
    fn deal_out(&mut self, now: u64) {
        let waiting = self.vectors.drain();
        let mut list: Vec<Listed> = waiting.iter().map(|(at, one)| listed(*at, one)).collect();
        let Self { vcpus, vms, .. } = self;
        let all = vcpus.ids().zip(vcpus.iter());
        let running = all.filter(|(_, v)| v.mode == Mode::Running);
        list.extend(running.map(|(vcpu, v)| Listed {
            over: vms[v.vm].is_over_soft(now),
            deadline: v.deadline,
            vcpu,
            at: v.vector,
            runs: true,
        }));
        let room = self.vectors.room();
        deal(&mut list, &room, |from| self.vectors.others(from));
        for one in list {
            let v = &mut self.vcpus[one.vcpu];
            let moves = std::mem::replace(&mut v.vector, one.at) != one.at;
            if v.mode == Mode::Ready {
                let waiting = Waiting {
                    over: one.over,
                    woken: v.woken,
                    deadline: one.deadline,
                    vcpu: one.vcpu,
                };
                self.vectors.put_back(one.at, MASTER, waiting, moves);
            }
        }
    }
}

fn listed(at: VectorId, waiting: &Waiting) -> Listed {
    Listed {
        over: waiting.over,
        deadline: waiting.deadline,
        vcpu: waiting.vcpu,
        at,
        runs: false,
    }
}
