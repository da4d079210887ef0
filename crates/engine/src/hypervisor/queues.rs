//! Ready virtual processors: one queue for those with entitlement, one a partition for those that
//! wait for excess.

use std::collections::VecDeque;

use super::share::Share;
use super::turns::Turns;
use crate::ids::{ById, PartitionId, VpId};

/// The ready queues.
pub struct Queues {
    /// With entitlement, first come first served.
    pub entitled: VecDeque<VpId>,
    /// For excess, by partition.
    pub excess: ById<PartitionId, VecDeque<VpId>>,
    /// Partitions whose excess queue is not empty.
    pub turns: Turns,
}

impl Queues {
    /// Empty queues for these partitions of so many pools.
    pub fn new(pools: usize, shares: &ById<PartitionId, Share>) -> Self {
        Self {
            entitled: VecDeque::new(),
            excess: ById::of(VecDeque::new(), shares.len()),
            turns: Turns::new(pools, shares),
        }
    }

    /// Whether nobody waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entitled.is_empty() && self.turns.is_empty()
    }

    /// Queues for excess, of which its partition has used so much.
    pub fn push_excess(&mut self, partition: PartitionId, age: f64, vp: VpId) {
        let queue = &mut self.excess[partition];
        if queue.is_empty() {
            self.turns.begin(partition, age);
        }
        queue.push_back(vp);
    }

    /// Takes a virtual processor out of whichever queue it waits in; whether it waited in one.
    pub fn remove(&mut self, partition: PartitionId, vp: VpId) -> bool {
        if take(&mut self.entitled, vp) {
            return true;
        }
        let queue = &mut self.excess[partition];
        let waited = take(queue, vp);
        if waited && queue.is_empty() {
            self.turns.end(partition);
        }
        waited
    }

    /// Empties all queues, entitled first, then partition by partition in the order in which they
    /// began to wait.
    pub fn drain_into(&mut self, all: &mut Vec<VpId>) {
        all.extend(self.entitled.drain(..));
        let excess = &mut self.excess;
        let all_of = |partition: PartitionId| all.extend(excess[partition].drain(..));
        self.turns.drain(all_of);
    }
}

fn take(queue: &mut VecDeque<VpId>, vp: VpId) -> bool {
    match queue.iter().position(|v| *v == vp) {
        Some(0) => queue.pop_front().is_some(),
        Some(at) => queue.remove(at).is_some(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hypervisor::share::{OwnCores, Rule};
    use crate::ids::PoolId;

    #[test]
    fn a_partition_waits_while_its_queue_holds_one() {
        let vp = VpId::new;
        let partition = PartitionId::new(1);
        let mut queues = Queues::new(1, &ById::from(vec![of_own(), of_own()]));
        queues.push_excess(partition, 1.5, vp(7));
        queues.push_excess(partition, 1.5, vp(8));
        queues.entitled.push_back(vp(3));
        queues.remove(partition, vp(7));
        assert_eq!(queues.turns.next(PoolId::new(0)), Some(partition));
        let mut all = Vec::new();
        queues.drain_into(&mut all);
        assert_eq!(all, vec![vp(3), vp(8)]);
        assert!(queues.is_empty());
    }

    fn of_own() -> Share {
        Share {
            vps: 2,
            active_vps: 0,
            exhausted_vps: 0,
            entitled_ns: 0,
            rule: Rule::Own(OwnCores { donating: false }),
        }
    }
}
