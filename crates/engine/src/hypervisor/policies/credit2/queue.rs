//! A run queue: the processors that share it, the units that belong to it, and those that wait,
//! most credit first.

use super::cpus::CpuRange;
use super::ids::{ById, CoreId, VpId};
use super::load::Load;
use super::unit::{Aside, Unit};

/// A unit that waits, and what is asked of it while the queue is gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// Its credit: while it waits, only a [`RunQueue::renew`] changes it.
    pub credit: i64,
    /// The unit.
    pub vp: VpId,
    /// Processor that it ran on last.
    pub cpu: CoreId,
}

/// Units that wait for the same processors, by credit.
#[derive(Clone, Debug)]
pub struct RunQueue {
    /// Its processors.
    pub cpus: CpuRange,
    /// Greatest weight among its units.
    pub max_weight: u32,
    /// Runnable ones among them.
    pub runnable: i64,
    /// Average load, and what is expected of units that have just come or gone.
    pub load: Load,
    /// Units that belong to it, in the order in which they came.
    pub members: Vec<VpId>,
    /// Processor that was given to a newcomer last.
    bias: CoreId,
    /// Least credit first, the longer waiting last among equals: who runs next is taken off the
    /// end, and one that has slept joins near it.
    waiting: Vec<Waiter>,
}

impl RunQueue {
    /// An empty one for these processors.
    pub fn new(cpus: CpuRange) -> Self {
        Self {
            cpus,
            max_weight: 1,
            runnable: 0,
            load: Load::default(),
            members: Vec::new(),
            bias: cpus.last(),
            waiting: Vec::new(),
        }
    }

    /// Units that wait, least credit first, the longer waiting last among equals.
    #[inline]
    pub fn waiting(&self) -> &[Waiter] {
        &self.waiting
    }

    /// The one with most credit.
    #[inline]
    pub fn first(&self) -> Option<&Waiter> {
        self.waiting.last()
    }

    /// Queues a unit behind all that have as much credit.
    #[inline]
    pub fn insert(&mut self, vp: VpId, unit: &Unit) {
        let (credit, cpu) = (unit.credit, unit.cpu);
        let at = self.waiting.partition_point(|other| other.credit < credit);
        self.waiting.insert(at, Waiter { credit, vp, cpu });
    }

    /// Takes a unit that waits out.
    pub fn remove(&mut self, vp: VpId, unit: &Unit) {
        let credit = unit.credit;
        let least = self.waiting.partition_point(|other| other.credit < credit);
        let equals = self.waiting[least..].iter();
        if let Some(at) = equals
            .take_while(|w| w.credit == credit)
            .position(|w| w.vp == vp)
        {
            self.waiting.remove(least + at);
        }
    }

    /// Takes out whoever waits at a place.
    #[inline]
    pub fn take(&mut self, place: usize) {
        self.waiting.remove(place);
    }

    /// Gives all that wait so much credit, up to `most`. The order stays.
    pub fn renew(&mut self, credit: i64, most: i64) {
        for waiter in &mut self.waiting {
            waiter.credit = (waiter.credit + credit).min(most);
        }
    }

    /// A unit belongs to it from now on; it is expected to load it as it did elsewhere.
    pub fn join(&mut self, vp: VpId, weight: u32, load: &Load) {
        self.members.push(vp);
        self.max_weight = self.max_weight.max(weight);
        self.load.average += load.average;
    }

    /// A unit belongs to it no longer.
    pub fn leave(&mut self, vp: VpId, units: &ById<VpId, Unit>, load: &Load) {
        self.members.retain(|other| *other != vp);
        let weights = self.members.iter().map(|m| units[*m].weight);
        self.max_weight = weights.max().unwrap_or(1);
        self.load.average = (self.load.average - load.average).max(0);
    }

    /// Whether a unit may use one of its processors.
    pub fn suits(&self, aside: &Aside) -> bool {
        self.cpus.any(|word| aside.usable(word)).is_some()
    }

    /// Next processor in turn for a newcomer, of these.
    pub fn turn(&mut self, usable: impl Fn(usize) -> u64) -> Option<CoreId> {
        let cpu = self.cpus.behind(self.bias, usable)?;
        self.bias = cpu;
        Some(cpu)
    }
}

#[cfg(test)]
mod tests {
    use super::super::ids::{PartitionId, QueueId, Span};
    use super::*;
    use crate::kernel::Stream;

    fn four() -> RunQueue {
        RunQueue::new(CpuRange::of(Span::new(0, 4)))
    }

    fn unit(weight: u32, credit: i64) -> Unit {
        let at = (QueueId::new(0), CoreId::new(0));
        Unit::new(PartitionId::new(0), weight, credit, at)
    }

    fn units(credits: &[i64]) -> ById<VpId, Unit> {
        credits.iter().map(|credit| unit(256, *credit)).collect()
    }

    /// Who waits, most credit first.
    fn order(queue: &RunQueue) -> Vec<VpId> {
        let waiting = queue.waiting().iter().rev();
        waiting.map(|waiter| waiter.vp).collect()
    }

    #[test]
    fn most_credit_first_and_first_come_first_among_equals() {
        let units = units(&[5, 7, 7, -1]);
        let mut queue = four();
        units.ids().for_each(|vp| queue.insert(vp, &units[vp]));
        assert_eq!(order(&queue), [1, 2, 0, 3].map(VpId::new));
        let second = VpId::new(2);
        queue.remove(second, &units[second]);
        assert_eq!(order(&queue), [1, 0, 3].map(VpId::new));
    }

    /// Against a list that is searched from its front for each step.
    #[test]
    fn the_order_is_that_of_a_plain_list() {
        let mut stream = Stream::new(1, 0, "queue");
        let mut units = units(&[0; 40]);
        let (mut queue, mut plain) = (four(), Vec::<VpId>::new());
        for _ in 0..20_000 {
            let vp = VpId::new(stream.below(40) as usize);
            if stream.below(50) == 0 {
                queue.renew(4, 9);
                for unit in &mut units {
                    unit.credit = (unit.credit + 4).min(9);
                }
            } else if plain.contains(&vp) {
                queue.remove(vp, &units[vp]);
                plain.retain(|other| *other != vp);
            } else {
                units[vp].credit = stream.below(12) as i64 - 6;
                queue.insert(vp, &units[vp]);
                let less = |other: &VpId| units[*other].credit < units[vp].credit;
                let place = plain.iter().position(less).unwrap_or(plain.len());
                plain.insert(place, vp);
            }
            assert_eq!(order(&queue), plain);
        }
    }

    #[test]
    fn the_greatest_weight_goes_with_its_unit() {
        let mut units = units(&[0, 0]);
        let heavy = VpId::new(1);
        units[heavy] = unit(512, 0);
        let mut queue = four();
        for (vp, unit) in units.entries() {
            queue.join(vp, unit.weight, &Load::default());
        }
        assert_eq!(queue.max_weight, 512);
        queue.leave(heavy, &units, &Load::default());
        assert_eq!(queue.max_weight, 256);
    }

    #[test]
    fn newcomers_take_processors_in_turn() {
        let mut queue = four();
        let turns: Vec<_> = (0..5).map(|_| queue.turn(|_| !0)).collect();
        assert_eq!(turns, [0, 1, 2, 3, 0].map(|cpu| Some(CoreId::new(cpu))));
        assert_eq!(queue.turn(|_| 1), Some(CoreId::new(0)));
    }
}
