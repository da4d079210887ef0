//! A processor as the scheduler sees it, and the processors that are to be asked anew.

use std::collections::VecDeque;

use super::cpus::CpuSet;
use super::ids::{CoreId, QueueId, VpId};
use crate::kernel::When;

/// A logical processor.
#[derive(Clone, Debug)]
pub struct Processor {
    /// Who runs there.
    pub current: Option<VpId>,
    /// Up to when its credit has been burnt [ns].
    pub burnt_to: u64,
    /// When its run queue is to be looked at [ns].
    pub look_at: When,
    /// Its run queue.
    pub queue: QueueId,
}

impl Processor {
    /// One that idles.
    pub fn new(queue: QueueId) -> Self {
        Self {
            current: None,
            burnt_to: 0,
            look_at: When::NEVER,
            queue,
        }
    }
}

/// Processors that are to be asked anew whom they run, each once, in the order in which they came.
#[derive(Clone, Debug)]
pub struct Pending {
    order: VecDeque<CoreId>,
    set: CpuSet,
}

impl Pending {
    /// None yet; room for so many.
    pub fn new(cpus: usize) -> Self {
        Self {
            order: VecDeque::with_capacity(cpus),
            set: CpuSet::empty(cpus),
        }
    }

    /// Whether there are none.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Whether one is among them.
    #[inline]
    pub fn contains(&self, cpu: CoreId) -> bool {
        self.set.contains(cpu)
    }

    /// Those among 64 processors, as bits.
    #[inline]
    pub fn word(&self, at: usize) -> u64 {
        self.set.word(at)
    }

    /// Adds one.
    #[inline]
    pub fn push(&mut self, cpu: CoreId) {
        if !self.set.contains(cpu) {
            self.set.insert(cpu);
            self.order.push_back(cpu);
        }
    }

    /// Takes the first out.
    #[inline]
    pub fn take(&mut self) -> Option<CoreId> {
        let cpu = self.order.pop_front()?;
        self.set.remove(cpu);
        Some(cpu)
    }
}
