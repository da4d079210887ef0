//! Ready virtual processors: one queue for those with entitlement, one a partition for those that
//! wait for excess.

use std::collections::VecDeque;

use crate::ids::{ById, PartitionId, VpId};

/// The ready queues.
#[derive(Clone, Debug)]
pub struct Queues {
    /// With entitlement, first come first served.
    pub entitled: VecDeque<VpId>,
    /// For excess, by partition.
    pub excess: ById<PartitionId, VecDeque<VpId>>,
    /// Partitions whose excess queue is not empty.
    pub waiting: Vec<PartitionId>,
}

impl Queues {
    /// Empty queues for so many partitions.
    pub fn new(partitions: usize) -> Self {
        Self {
            entitled: VecDeque::new(),
            excess: ById::of(VecDeque::new(), partitions),
            waiting: Vec::new(),
        }
    }

    /// Whether nobody waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entitled.is_empty() && self.waiting.is_empty()
    }

    /// Queues for excess.
    pub fn push_excess(&mut self, partition: PartitionId, vp: VpId) {
        let queue = &mut self.excess[partition];
        if queue.is_empty() {
            self.waiting.push(partition);
        }
        queue.push_back(vp);
    }

    /// Takes a virtual processor out of whichever queue it waits in.
    pub fn remove(&mut self, partition: PartitionId, vp: VpId) {
        if take(&mut self.entitled, vp) {
            return;
        }
        let queue = &mut self.excess[partition];
        if take(queue, vp) && queue.is_empty() {
            self.waiting.retain(|p| *p != partition);
        }
    }

    /// Empties all queues, entitled first, then partition by partition in the order in which they
    /// began to wait.
    pub fn drain_into(&mut self, all: &mut Vec<VpId>) {
        all.extend(self.entitled.drain(..));
        for partition in self.waiting.drain(..) {
            all.extend(self.excess[partition].drain(..));
        }
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

    #[test]
    fn a_partition_waits_while_its_queue_holds_one() {
        let vp = VpId::new;
        let partition = PartitionId::new(1);
        let mut queues = Queues::new(2);
        queues.push_excess(partition, vp(7));
        queues.push_excess(partition, vp(8));
        queues.entitled.push_back(vp(3));
        queues.remove(partition, vp(7));
        assert_eq!(queues.waiting, vec![partition]);
        let mut all = Vec::new();
        queues.drain_into(&mut all);
        assert_eq!(all, vec![vp(3), vp(8)]);
        assert!(queues.is_empty());
    }
}
