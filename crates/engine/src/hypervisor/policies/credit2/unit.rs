//! A scheduled unit (a domain's virtual processor): its credit, and how time burns it.

use super::cpus::CpuSet;
use super::load::{Load, ONE};
use crate::hypervisor::CoreId;

/// Budget of a unit without a cap [ns].
pub const UNCAPPED: i64 = i64::MAX;

/// What a unit is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// It has nothing to do.
    Blocked,
    /// It waits in its run queue.
    Waiting,
    /// It is on its processor.
    Running,
    /// Its domain's budget is used up.
    Parked,
}

/// A virtual processor as the scheduler sees it.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Index of the partition it is of.
    pub domain: u16,
    /// Its run queue.
    pub queue: u16,
    /// Processor that it runs on, or ran on last.
    pub cpu: CoreId,
    /// Processors that it may use.
    pub affinity: CpuSet,
    /// Weight of its domain.
    pub weight: u32,
    /// What it is about.
    pub doing: Doing,
    /// Credit left [ns of a unit of the run queue's greatest weight].
    pub credit: i64,
    /// Since when credit has not been burnt [ns].
    pub burnt_to: u64,
    /// When it was put on its processor [ns].
    pub since: u64,
    /// Budget in hand; below zero if it ran over [ns].
    pub budget: i64,
    /// Average load of its own.
    pub load: Load,
    /// Run queue to which it is to move as soon as it stops running.
    pub moves_to: Option<u16>,
    /// Whether it gives way once, whatever its credit.
    pub yields: bool,
    residual: u64,
}

impl Unit {
    /// A blocked one with a full credit, taken to be half busy.
    pub fn new(domain: u16, weight: u32, affinity: CpuSet, credit: i64) -> Self {
        Self {
            domain,
            queue: 0,
            cpu: 0,
            affinity,
            weight,
            doing: Doing::Blocked,
            credit,
            burnt_to: 0,
            since: 0,
            budget: UNCAPPED,
            load: Load::of(ONE / 2),
            moves_to: None,
            yields: false,
            residual: 0,
        }
    }

    /// Whether its domain is capped.
    pub fn is_capped(&self) -> bool {
        self.budget != UNCAPPED
    }

    /// Takes the time since the last look off credit and budget. A light one burns faster, by the
    /// greatest weight over its own; below `least` there is no credit.
    pub fn burn(&mut self, max_weight: u32, now: u64, least: i64) {
        let elapsed = now - self.burnt_to;
        self.burnt_to = now;
        let scaled = elapsed * u64::from(max_weight) + self.residual;
        self.residual = scaled % u64::from(self.weight);
        let credits = (scaled / u64::from(self.weight)) as i64;
        self.credit = (self.credit - credits).max(least);
        if self.is_capped() {
            self.budget -= elapsed as i64;
        }
    }

    /// Time in which so much credit burns [ns].
    pub fn time_of(&self, credit: i64, max_weight: u32) -> i64 {
        credit * i64::from(self.weight) / i64::from(max_weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_the_weight_burns_twice_as_fast_and_nothing_is_lost_to_rounding() {
        let mut unit = Unit::new(0, 3, CpuSet::empty(1), 1000);
        unit.burn(10, 1, -1000);
        unit.burn(10, 2, -1000);
        assert_eq!(unit.credit, 994);
        unit.burn(10, 3, -1000);
        assert_eq!(unit.credit, 990);
        assert_eq!(unit.time_of(10, 10), 3);
        unit.burn(10, 1_000_000, -1000);
        assert_eq!(unit.credit, -1000);
    }

    #[test]
    fn only_a_capped_one_has_a_budget() {
        let mut unit = Unit::new(0, 256, CpuSet::empty(1), 1000);
        unit.burn(256, 100, -1000);
        assert_eq!(unit.budget, UNCAPPED);
        unit.budget = 50;
        unit.burn(256, 200, -1000);
        assert_eq!((unit.budget, unit.credit), (-50, 800));
    }
}
