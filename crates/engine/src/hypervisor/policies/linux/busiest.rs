//! Load balancing: which processor has most to give, and how much of it is to be moved.
//!
//! Most looks around find nothing, and what is counted tells most sets apart; so averages, each of
//! which costs a power of two, are read only where the counts leave a choice.

use std::cmp::Ordering;
use std::ops::Range;

use super::average::Average;
use super::balance::{Attempt, Idleness};
use super::domains::Level;
use super::queue::NONE;
use super::tree::Tree;

/// Capacity of a processor.
const CAPACITY: f64 = 1024.0;

/// Far more than all roundings of a sum can make out, in proportion.
const ROUNDING: f64 = 1e-9;

/// How full a set of processors is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fullness {
    Spare,
    Busy,
    Overloaded,
}

/// What is counted in a set of processors.
#[derive(Clone, Debug)]
struct Set {
    cpus: Range<u16>,
    runnable: u32,
    weight: u32,
}

impl Set {
    fn capacity(&self) -> f64 {
        CAPACITY * f64::from(self.weight)
    }
}

/// A set that may be the busiest, and what its rank hangs on.
struct Candidate {
    set: Set,
    fullness: Fullness,
    load: Option<f64>,
}

/// What to move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Load, until so much is moved.
    Load(f64),
    /// Busy time, until so much is moved.
    Busy(f64),
    /// So many tasks.
    Tasks(u32),
}

impl Tree {
    /// The processor that has most to give in a domain, and how much of it is to be moved.
    pub fn find_busiest(&self, attempt: &Attempt) -> Option<(u16, Amount)> {
        let pct = f64::from(match attempt.level() {
            Level::Smt => self.params.balance.imbalance_smt_pct,
            _ => self.params.balance.imbalance_pct,
        });
        let most = self.busiest_set(attempt, pct)?;
        let amount = self.imbalance(attempt, &most, pct)?;
        self.busiest_cpu(attempt, &most.set.cpus, amount)
            .map(|cpu| (cpu, amount))
    }

    fn count(&self, cpus: &Range<u16>) -> Set {
        let all = &self.runnable[usize::from(cpus.start)..usize::from(cpus.end)];
        Set {
            runnable: all.iter().sum(),
            weight: cpus.len() as u32,
            cpus: cpus.clone(),
        }
    }

    fn idle_in(&self, set: &Set) -> u32 {
        self.idle.count(set.cpus.clone())
    }

    /// Busy time of a processor: its average, and what that follows.
    fn busy(&self, cpu: u16) -> (Average, f64) {
        let it = &self.cpus[usize::from(cpu)];
        (it.busy, if it.curr == NONE { 0.0 } else { CAPACITY })
    }

    /// Tasks that want to run on a processor: likewise.
    fn wanted(&self, cpu: u16) -> (Average, f64) {
        let now = f64::from(self.runnable(cpu)) * CAPACITY;
        (self.cpus[usize::from(cpu)].runnable, now)
    }

    fn total(&self, set: &Set, of: impl Fn(&Self, u16) -> (Average, f64)) -> f64 {
        let all = set.cpus.clone().map(|cpu| of(self, cpu));
        all.fold(0.0, |sum, (average, now)| sum + average.peek(now, self.now))
    }

    fn load(&self, set: &Set) -> f64 {
        self.total(set, Self::weight)
    }

    /// Whether a sum over a set, times a factor, is above a limit. Where it is far off, the bounds
    /// of the averages say so.
    fn is_above(
        &self,
        set: &Set,
        of: impl Fn(&Self, u16) -> (Average, f64) + Copy,
        factor: f64,
        limit: f64,
    ) -> bool {
        let (mut least, mut most) = (0.0, 0.0);
        for cpu in set.cpus.clone() {
            let (average, now) = of(self, cpu);
            let (low, high) = average.bounds(now);
            least += low;
            most += high;
        }
        if limit < least * factor * (1.0 - ROUNDING) {
            return true;
        }
        limit < most * factor * (1.0 + ROUNDING) && limit < self.total(set, of) * factor
    }

    /// Whether a set's processors are busy all the time, but for the imbalance that is let be.
    fn is_busy(&self, set: &Set, pct: f64) -> bool {
        self.is_above(set, Self::busy, pct, set.capacity() * 100.0)
    }

    fn is_overloaded(&self, set: &Set, pct: f64) -> bool {
        let wanted = || self.is_above(set, Self::wanted, pct, set.capacity() * 100.0);
        set.runnable > set.weight && (self.is_busy(set, pct) || wanted())
    }

    fn fullness(&self, set: &Set, pct: f64) -> Fullness {
        if set.runnable < set.weight {
            return Fullness::Spare;
        }
        if self.is_overloaded(set, pct) {
            return Fullness::Overloaded;
        }
        let wanted = self.is_above(set, Self::wanted, 100.0, set.capacity() * pct);
        if wanted || self.is_busy(set, pct) {
            Fullness::Busy
        } else {
            Fullness::Spare
        }
    }

    /// The set of a domain, other than the own one, that has most to give.
    fn busiest_set(&self, attempt: &Attempt, pct: f64) -> Option<Candidate> {
        let groups = attempt.domain().groups.iter().enumerate();
        let own = usize::from(attempt.seat().own);
        let others = groups.filter(|(at, _)| *at != own);
        let sets = others.map(|(_, group)| self.count(group));
        let sets = sets.filter(|set| set.runnable > 0);
        // Only those with more tasks than processors can be overloaded, and nobody comes before them.
        let full = sets.clone().filter(|set| self.is_overloaded(set, pct));
        let full = full.map(|set| Candidate {
            set,
            fullness: Fullness::Overloaded,
            load: None,
        });
        let rest = || {
            let all = sets.map(|set| Candidate {
                fullness: self.fullness(&set, pct),
                set,
                load: None,
            });
            all.reduce(|a, b| self.busier(a, b))
        };
        full.reduce(|a, b| self.busier(a, b)).or_else(rest)
    }

    /// The busier of two; the first of equals.
    fn busier(&self, mut a: Candidate, mut b: Candidate) -> Candidate {
        let by_fullness = b.fullness.cmp(&a.fullness);
        let order = by_fullness.then_with(|| match a.fullness {
            Fullness::Spare => {
                let by_idle = self.idle_in(&a.set).cmp(&self.idle_in(&b.set));
                by_idle.then(b.set.runnable.cmp(&a.set.runnable))
            }
            Fullness::Busy | Fullness::Overloaded => {
                let load = |of: &mut Candidate| *of.load.get_or_insert_with(|| self.load(&of.set));
                load(&mut b).total_cmp(&load(&mut a))
            }
        });
        if order == Ordering::Greater {
            b
        } else {
            a
        }
    }

    fn imbalance(&self, attempt: &Attempt, most: &Candidate, pct: f64) -> Option<Amount> {
        let spreads = attempt.domain().spreads;
        let own = self.count(&attempt.own_group());
        let fullness = self.fullness(&own, pct);
        if fullness > most.fullness {
            return None;
        }
        let spread = spreads && fullness == Fullness::Spare && most.set.runnable > own.runnable + 1;
        if most.fullness != Fullness::Overloaded && !spread {
            let even = most.set.weight > 1 && self.idle_in(&own) <= self.idle_in(&most.set) + 1;
            if attempt.idleness == Idleness::Busy || even || most.set.runnable == 1 {
                return None;
            }
        }
        if fullness == Fullness::Spare {
            return self.fill(attempt, &own, most);
        }
        self.even_out(attempt, &own, fullness, most, pct)
    }

    /// What goes to a set that has no room, but less load than the mean.
    fn even_out(
        &self,
        attempt: &Attempt,
        own: &Set,
        fullness: Fullness,
        most: &Candidate,
        pct: f64,
    ) -> Option<Amount> {
        let mean_load = |set: &Set, load: f64| load * CAPACITY / set.capacity();
        let theirs = most.load.unwrap_or_else(|| self.load(&most.set));
        let (mine, theirs) = (mean_load(own, self.load(own)), mean_load(&most.set, theirs));
        if mine >= theirs || fullness == Fullness::Overloaded && 100.0 * theirs <= pct * mine {
            return None;
        }
        let mean = self.mean(attempt);
        if mine >= mean {
            return None;
        }
        let give = (theirs - mean) * most.set.capacity();
        let take = (mean - mine) * own.capacity();
        let amount = give.min(take) / CAPACITY;
        (amount > 0.0).then_some(Amount::Load(amount))
    }

    /// Mean load of a domain's processors.
    fn mean(&self, attempt: &Attempt) -> f64 {
        let groups = &attempt.domain().groups;
        let sets = groups.iter().map(|group| self.count(group));
        let load = sets.clone().map(|set| self.load(&set)).sum::<f64>();
        load * CAPACITY / sets.map(|set| set.capacity()).sum::<f64>()
    }

    /// What goes to a set that has room.
    fn fill(&self, attempt: &Attempt, own: &Set, most: &Candidate) -> Option<Amount> {
        if most.fullness == Fullness::Overloaded {
            let room = (own.capacity() - self.total(own, Self::busy)).max(0.0);
            if attempt.idleness != Idleness::Busy && room < 1.0 {
                return Some(Amount::Tasks(1));
            }
            return Some(Amount::Busy(room));
        }
        let most = &most.set;
        let tasks = if most.weight == 1 || attempt.domain().spreads {
            most.runnable.saturating_sub(own.runnable) / 2
        } else {
            self.idle_in(own).saturating_sub(self.idle_in(most)) / 2
        };
        // Two that talk to each other may stay on one node.
        let pair = attempt.level() == Level::Numa && most.runnable <= 2;
        (tasks > 0 && !pair).then_some(Amount::Tasks(tasks))
    }

    /// The fullest processor of a set that has tasks to give.
    fn busiest_cpu(&self, attempt: &Attempt, set: &Range<u16>, amount: Amount) -> Option<u16> {
        let least = u32::from(!matches!(amount, Amount::Tasks(_)));
        let rank = |cpu: u16| match amount {
            Amount::Load(_) => self.cpu_load(cpu),
            Amount::Busy(_) => {
                let (average, now) = self.busy(cpu);
                average.peek(now, self.now)
            }
            Amount::Tasks(_) => f64::from(self.runnable(cpu)),
        };
        let mut givers = set
            .clone()
            .filter(|cpu| self.runnable(*cpu) > least)
            .filter(|cpu| self.has_for(*cpu, attempt.to));
        let mut most = givers.next()?;
        let mut highest = None;
        for cpu in givers {
            let (before, own) = (highest.unwrap_or_else(|| rank(most)), rank(cpu));
            let is_higher = own > before;
            highest = Some(if is_higher { own } else { before });
            most = if is_higher { cpu } else { most };
        }
        Some(most)
    }

    /// Whether a processor has a task that may use another one.
    fn has_for(&self, cpu: u16, to: u16) -> bool {
        let mut tasks = self.cpus[usize::from(cpu)].tasks.iter();
        tasks.any(|task| self.tasks[*task as usize].may_use(to))
    }
}
