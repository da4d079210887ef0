//! Load balancing: which processor has most to give, and how much of it is to be moved.
//!
//! Most looks around find nothing, and what is counted tells most sets apart; so averages, each of
//! which costs a power of two, are read only where the counts leave a choice.

use std::cmp::Ordering;

use super::attempt::{Attempt, Idleness};
use super::average::Average;
use super::domains::Level;
use super::ids::{CoreId, Span};
use super::tree::Tree;

/// Capacity of a processor.
pub const CAPACITY: f64 = 1024.0;

/// Far more than all roundings of a sum can make out, in proportion.
const ROUNDING: f64 = 1e-9;

/// How full a set of processors is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fullness {
    Spare,
    Busy,
    /// Tasks could not be moved within it as they may not run where there is room there.
    Imbalanced,
    Overloaded,
}

/// An average, and what it follows.
type Followed = (Average, f64);

/// What is counted in a set of processors.
#[derive(Clone, Debug)]
pub struct Set {
    cpus: Span<CoreId>,
    /// Tasks that want to run.
    pub runnable: u32,
    weight: u32,
    /// Capacity that interrupts take.
    interrupts: f64,
}

impl Set {
    /// What its processors can do.
    pub fn capacity(&self) -> f64 {
        CAPACITY * f64::from(self.weight) - self.interrupts
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
    ///
    /// Where nobody on the fullest may run here, the others are looked at as if that were empty
    /// (`LBF_ALL_PINNED`).
    pub fn find_busiest(&self, attempt: &mut Attempt) -> Option<(CoreId, Amount)> {
        let pct = f64::from(match attempt.level() {
            Level::Smt => self.params.balance.imbalance_smt_pct,
            _ => self.params.balance.imbalance_pct,
        });
        loop {
            let most = self.busiest_set(attempt, pct)?;
            let amount = self.imbalance(attempt, &most, pct)?;
            let cpu = self.busiest_cpu(attempt, most.set.cpus, amount)?;
            if self.has_any_for(cpu, attempt) {
                return Some((cpu, amount));
            }
            attempt.pinned |= self.runnable(cpu) > 1;
            attempt.excluded.push(cpu);
        }
    }

    /// Counts a set of processors.
    pub fn count(&self, cpus: Span<CoreId>) -> Set {
        Set {
            runnable: self.runnable.slice(cpus).iter().sum(),
            weight: cpus.len() as u32,
            interrupts: self.interrupted_of(cpus),
            cpus,
        }
    }

    fn idle_in(&self, set: &Set) -> u32 {
        self.idle.count(set.cpus)
    }

    /// Busy time of each processor: its average, and what that follows.
    fn busy(&self, cpus: Span<CoreId>) -> impl Iterator<Item = Followed> + Clone + '_ {
        let all = self.cpus.slice(cpus).iter();
        all.map(|it| (it.busy, if it.curr.is_none() { 0.0 } else { CAPACITY }))
    }

    /// Tasks that want to run on each: likewise.
    fn wanted(&self, cpus: Span<CoreId>) -> impl Iterator<Item = Followed> + Clone + '_ {
        let counts = self.runnable.slice(cpus).iter();
        let all = self.cpus.slice(cpus).iter().zip(counts);
        all.map(|(it, count)| (it.runnable, f64::from(*count) * CAPACITY))
    }

    fn total(&self, all: impl Iterator<Item = Followed>) -> f64 {
        all.fold(0.0, |sum, (average, now)| sum + average.peek(now, self.now))
    }

    /// Load of a set.
    pub fn load(&self, set: &Set) -> f64 {
        self.total(self.weights(set.cpus))
    }

    /// Whether a sum over a set, times a factor, is above a limit. Where it is far off, the bounds
    /// of the averages say so.
    fn is_above(
        &self,
        all: impl Iterator<Item = Followed> + Clone,
        factor: f64,
        limit: f64,
    ) -> bool {
        let (mut least, mut most) = (0.0, 0.0);
        for (average, now) in all.clone() {
            let (low, high) = average.bounds(now);
            least += low;
            most += high;
        }
        if limit < least * factor * (1.0 - ROUNDING) {
            return true;
        }
        limit < most * factor * (1.0 + ROUNDING) && limit < self.total(all) * factor
    }

    /// Whether a set's processors are busy all the time, but for the imbalance that is let be.
    fn is_busy(&self, set: &Set, pct: f64) -> bool {
        self.is_above(self.busy(set.cpus), pct, set.capacity() * 100.0)
    }

    fn is_overloaded(&self, set: &Set, pct: f64) -> bool {
        let wanted = || self.is_above(self.wanted(set.cpus), 100.0, set.capacity() * pct);
        set.runnable > set.weight && (self.is_busy(set, pct) || wanted())
    }

    /// How full it is, but for an imbalance of `pct` to a hundred.
    pub fn fullness(&self, set: &Set, pct: f64) -> Fullness {
        if set.runnable < set.weight {
            return Fullness::Spare;
        }
        if self.is_overloaded(set, pct) {
            return Fullness::Overloaded;
        }
        let wanted = self.is_above(self.wanted(set.cpus), 100.0, set.capacity() * pct);
        if wanted || self.is_busy(set, pct) {
            Fullness::Busy
        } else {
            Fullness::Spare
        }
    }

    /// The same in a domain, which knows within which of its sets tasks could not be moved.
    fn fullness_in(&self, attempt: &Attempt, set: &Set, pct: f64) -> Fullness {
        let fullness = self.fullness(set, pct);
        if attempt.is_imbalanced(set.cpus) {
            fullness.max(Fullness::Imbalanced)
        } else {
            fullness
        }
    }

    /// The set of a domain, other than the own one, that has most to give.
    fn busiest_set(&self, attempt: &Attempt, pct: f64) -> Option<Candidate> {
        let sets = attempt.other_groups().map(|group| {
            let mut set = self.count(group);
            let excluded = attempt.excluded.iter().filter(|cpu| group.contains(**cpu));
            set.runnable -= excluded.map(|cpu| self.runnable(*cpu)).sum::<u32>();
            set
        });
        let sets = sets.filter(|set| set.runnable > 0);
        // Only those with more tasks than processors can be overloaded, and nobody comes before
        // them.
        let full = sets.clone().filter(|set| self.is_overloaded(set, pct));
        let full = full.map(|set| Candidate {
            set,
            fullness: Fullness::Overloaded,
            load: None,
        });
        let rest = || {
            let all = sets.map(|set| Candidate {
                fullness: self.fullness_in(attempt, &set, pct),
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
            Fullness::Imbalanced => Ordering::Equal,
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
        if most.fullness == Fullness::Imbalanced {
            // Means say nothing there: any task that may, the next look does the rest.
            return Some(Amount::Tasks(1));
        }
        let spreads = attempt.domain().spreads;
        let own = self.count(attempt.own_group());
        let fullness = self.fullness_in(attempt, &own, pct);
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
        let take = (mean - mine) * own.capacity();
        // Heavy tasks that have a processor each may lift the mean above all that wait. The kernel
        // takes one unsigned number from the other, which wraps, so that nothing bounds what they
        // give: else light groups would stay where they are, some alone and some in company.
        let give = if theirs >= mean {
            (theirs - mean) * most.set.capacity()
        } else {
            f64::INFINITY
        };
        let amount = give.min(take) / CAPACITY;
        (amount > 0.0).then_some(Amount::Load(amount))
    }

    /// Mean load of a domain's processors.
    fn mean(&self, attempt: &Attempt) -> f64 {
        let groups = &attempt.domain().groups;
        let sets = groups.iter().map(|group| self.count(*group));
        let load = sets.clone().map(|set| self.load(&set)).sum::<f64>();
        load * CAPACITY / sets.map(|set| set.capacity()).sum::<f64>()
    }

    /// What goes to a set that has room.
    fn fill(&self, attempt: &Attempt, own: &Set, most: &Candidate) -> Option<Amount> {
        if most.fullness == Fullness::Overloaded {
            let room = (own.capacity() - self.total(self.busy(own.cpus))).max(0.0);
            if attempt.idleness != Idleness::Busy && room < 1.0 {
                return Some(Amount::Tasks(1));
            }
            return Some(Amount::Busy(room));
        }
        let most = &most.set;
        let domain = attempt.domain();
        let difference = if most.weight == 1 || domain.spreads {
            most.runnable.saturating_sub(own.runnable)
        } else {
            self.idle_in(own).saturating_sub(self.idle_in(most))
        };
        let tasks = domain.counts(difference, own.runnable + 1) / 2;
        (tasks > 0).then_some(Amount::Tasks(tasks))
    }

    /// The fullest processor of a set that has tasks to give.
    fn busiest_cpu(&self, attempt: &Attempt, set: Span<CoreId>, amount: Amount) -> Option<CoreId> {
        let least = u32::from(!matches!(amount, Amount::Tasks(_)));
        let rank = |cpu: CoreId| match amount {
            Amount::Load(_) if self.interrupts => self.cpu_load(cpu) / self.capacity(cpu),
            Amount::Load(_) => self.cpu_load(cpu),
            Amount::Busy(_) => self.total(self.busy(Span::new(cpu.index(), 1))),
            Amount::Tasks(_) => f64::from(self.runnable(cpu)),
        };
        let mut givers = set
            .into_iter()
            .filter(|cpu| self.runnable(*cpu) > least)
            .filter(|cpu| !attempt.excluded.contains(cpu));
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

    /// Whether a processor has a task that has a place where it would be moved to.
    fn has_any_for(&self, cpu: CoreId, attempt: &Attempt) -> bool {
        let mut tasks = self.cpus[cpu].tasks.iter();
        tasks.any(|task| self.place_for(*task, attempt).is_some())
    }

    /// Whether a processor has a task that may use another one.
    pub fn has_for(&self, cpu: CoreId, to: CoreId) -> bool {
        let mut tasks = self.cpus[cpu].tasks.iter();
        tasks.any(|task| self.tasks[*task].may_use(to))
    }
}
