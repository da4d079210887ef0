//! A scheduled unit (a domain's virtual processor): its credit, and how time burns it.

use super::cpus::CpuSet;
use super::ids::{CoreId, PartitionId, QueueId};
use super::load::{Load, ONE};

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

/// A virtual processor as the scheduler sees it: what most events touch, in one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Unit {
    /// Credit left [ns of a unit of the run queue's greatest weight].
    pub credit: i64,
    /// Budget in hand; below zero if it ran over [ns].
    pub budget: i64,
    /// 2^64 over its weight, rounded down.
    inverse: u64,
    /// Weight of its domain.
    pub weight: u32,
    residual: u32,
    /// Processor that was tickled for it and has not looked yet.
    pub tickled: Option<CoreId>,
    /// Run queue to which it is to move as soon as it stops running.
    pub moves_to: Option<QueueId>,
    /// Whose virtual processor it is.
    pub domain: PartitionId,
    /// Its run queue.
    pub queue: QueueId,
    /// Processor that it runs on, or ran on last.
    pub cpu: CoreId,
    /// What it is about.
    pub doing: Doing,
    /// Whether it gives way once, whatever its credit.
    pub yields: bool,
}

/// What is asked of a unit when it comes or goes, beside [`Unit`].
#[derive(Clone, Debug)]
pub struct Aside {
    /// Average load of its own.
    pub load: Load,
    /// Since when it is parked, if it is [ns].
    pub parked_at: u64,
    /// Processors that it may use; none = all.
    pub pins: Option<CpuSet>,
    /// Those of them that it prefers; none = it makes no difference.
    soft: Option<CpuSet>,
}

impl Unit {
    /// A blocked one with a full credit, at a processor of a run queue.
    pub fn new(domain: PartitionId, weight: u32, credit: i64, at: (QueueId, CoreId)) -> Self {
        Self {
            credit,
            budget: UNCAPPED,
            inverse: u64::MAX / u64::from(weight),
            weight,
            residual: 0,
            tickled: None,
            moves_to: None,
            domain,
            queue: at.0,
            cpu: at.1,
            doing: Doing::Blocked,
            yields: false,
        }
    }

    /// Whether its domain is capped.
    #[inline]
    pub fn is_capped(&self) -> bool {
        self.budget != UNCAPPED
    }

    /// Takes the time since the last look off credit and budget. A light one burns faster, by the
    /// greatest weight over its own; below `least` there is no credit.
    #[inline]
    pub fn burn(&mut self, max_weight: u32, elapsed: u64, least: i64) {
        let credits = if self.weight == max_weight {
            elapsed
        } else {
            let scaled = elapsed * u64::from(max_weight) + u64::from(self.residual);
            let (credits, residual) = self.divide(scaled);
            self.residual = residual;
            credits
        };
        self.credit = (self.credit - credits as i64).max(least);
        self.budget -= if self.is_capped() { elapsed as i64 } else { 0 };
    }

    /// Quotient and rest by the weight. A product takes a fraction of the time of a division; the
    /// inverse being rounded down, the quotient is short by one at most.
    #[inline]
    fn divide(&self, scaled: u64) -> (u64, u32) {
        let weight = u64::from(self.weight);
        let short = ((u128::from(scaled) * u128::from(self.inverse)) >> 64) as u64;
        let rest = scaled - short * weight;
        if rest >= weight {
            (short + 1, (rest - weight) as u32)
        } else {
            (short, rest as u32)
        }
    }

    /// Time in which so much credit burns [ns].
    #[inline]
    pub fn time_of(&self, credit: i64, max_weight: u32) -> i64 {
        if self.weight == max_weight {
            credit
        } else {
            credit * i64::from(self.weight) / i64::from(max_weight)
        }
    }
}

impl Aside {
    /// Of a unit that is taken to be half busy. Where all that it may use are preferred, or none
    /// that is preferred may be used, it makes no difference.
    pub fn new(pins: Option<CpuSet>, soft: Option<CpuSet>, cpus: usize) -> Self {
        let mut aside = Self {
            load: Load::of(ONE / 2),
            parked_at: 0,
            pins,
            soft: None,
        };
        let both = |cpu: &CoreId, set: &CpuSet| set.contains(*cpu) && aside.may_use(*cpu);
        let all = || (0..cpus).map(CoreId::new);
        let preferred = |set: &CpuSet| CpuSet::of(cpus, all().filter(|cpu| both(cpu, set)));
        let differs = |set: &CpuSet| {
            let (there, usable) = (
                all().filter(|cpu| set.contains(*cpu)).count(),
                all().filter(|cpu| aside.may_use(*cpu)).count(),
            );
            0 < there && there < usable
        };
        aside.soft = soft.as_ref().map(preferred).filter(differs);
        aside
    }

    /// Whether it may use a processor.
    #[inline]
    pub fn may_use(&self, cpu: CoreId) -> bool {
        self.pins.as_ref().is_none_or(|pins| pins.contains(cpu))
    }

    /// Whether some processors are preferred to others.
    #[inline]
    pub fn prefers(&self) -> bool {
        self.soft.is_some()
    }

    /// Whether a processor is as good as any, or preferred.
    #[inline]
    pub fn likes(&self, cpu: CoreId) -> bool {
        self.soft.as_ref().is_none_or(|soft| soft.contains(cpu))
    }

    /// Those of 64 processors that it prefers, as bits.
    #[inline]
    pub fn preferred(&self, word: usize) -> u64 {
        self.soft.as_ref().map_or(!0, |soft| soft.word(word)) & self.usable(word)
    }

    /// Those of 64 processors that it may use, as bits.
    #[inline]
    pub fn usable(&self, word: usize) -> u64 {
        self.pins.as_ref().map_or(!0, |pins| pins.word(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Stream;

    fn unit(weight: u32) -> Unit {
        let at = (QueueId::new(0), CoreId::new(0));
        Unit::new(PartitionId::new(0), weight, 1000, at)
    }

    #[test]
    fn half_the_weight_burns_twice_as_fast_and_nothing_is_lost_to_rounding() {
        let mut unit = unit(3);
        unit.burn(10, 1, -1000);
        unit.burn(10, 1, -1000);
        assert_eq!(unit.credit, 994);
        unit.burn(10, 1, -1000);
        assert_eq!(unit.credit, 990);
        assert_eq!(unit.time_of(10, 10), 3);
        unit.burn(10, 1_000_000, -1000);
        assert_eq!(unit.credit, -1000);
    }

    #[test]
    fn only_a_capped_one_has_a_budget() {
        let mut unit = unit(256);
        unit.burn(256, 100, -1000);
        assert_eq!(unit.budget, UNCAPPED);
        unit.budget = 50;
        unit.burn(256, 100, -1000);
        assert_eq!((unit.budget, unit.credit), (-50, 800));
    }

    #[test]
    fn the_inverse_divides_as_division_does() {
        let mut stream = Stream::new(1, 0, "weights");
        let ends = [0, 1, u64::MAX, u64::MAX - 1, 1 << 63];
        for _ in 0..20_000 {
            let weight = 1 + stream.next_u64() as u32 % 70_000;
            let shift = stream.below(64);
            let unit = unit(weight);
            let multiple = stream.next_u64() / u64::from(weight) * u64::from(weight);
            let any = [
                stream.next_u64() >> shift,
                multiple,
                multiple.saturating_sub(1),
            ];
            for scaled in ends.into_iter().chain(any) {
                let plain = (scaled / u64::from(weight), scaled % u64::from(weight));
                let (credits, rest) = unit.divide(scaled);
                assert_eq!((credits, u64::from(rest)), plain, "{scaled} / {weight}");
            }
        }
    }

    #[test]
    fn what_most_events_touch_fits_a_cache_line() {
        assert_eq!(std::mem::size_of::<Unit>(), 64);
    }
}
