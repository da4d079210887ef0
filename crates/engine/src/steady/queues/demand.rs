//! What asks for a partition's processors: bursts of work, and where they come from.

use crate::cost::core_per_ns;
use crate::guest::workload::Shape;
use crate::spec::{Distribution, Machine, Partition, Workload};
use crate::steady::queues::filling::{Filled, THREADS};
use crate::steady::queues::phases::Phases;

/// Where bursts come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::steady) enum Arrivals {
    /// From outside, so many in a nanosecond.
    Open(f64),
    /// From so many who are away for a while after each [ns].
    Closed(f64, f64),
    /// So many threads always have one, for this share of the time [0..1].
    Always(f64, f64),
    /// There are none.
    Never,
}

impl Arrivals {
    /// Whether all are there all of the time.
    pub fn stay(self) -> bool {
        match self {
            Self::Always(_, duty) => duty >= 1.0,
            Self::Closed(_, away_ns) => away_ns <= 0.0,
            Self::Open(_) | Self::Never => false,
        }
    }

    /// What comes to the `first` of so many virtual processors where the others never run: threads
    /// lie evenly on all of them, and what lies on one that never runs is there for good.
    pub fn at_first(self, first: u32, all: u32) -> Self {
        let (first, all) = (f64::from(first), f64::from(all));
        match self {
            Self::Always(threads, duty) => {
                let rounds = (threads / all).floor();
                let rest = (threads - rounds * all).min(first);
                Self::Always(rounds * first + rest, duty)
            }
            Self::Closed(count, away_ns) => {
                Self::Closed(count * first / all, away_ns * first / all)
            }
            Self::Open(_) | Self::Never => self,
        }
    }

    /// Of loops that rest: for how much of the time they have work, where virtual processors do so
    /// many of them in a nanosecond, by busy threads.
    pub fn rest(self, phases: Option<Phases>, rates: &[f64; THREADS], filled: Filled) -> Self {
        let (Self::Always(threads, _), Some(_)) = (self, phases) else {
            return self;
        };
        let running = (threads as u32).min(filled.threads());
        let mut per_ns = 0.0;
        filled.each(running, |busy, vps| per_ns += vps * rates[busy]);
        let running = f64::from(running);
        self.rest_after(phases, running / per_ns, threads / running)
    }

    /// The same where so many threads take turns on a processor, whose loops take so long there
    /// alone [ns].
    pub fn rest_after(self, phases: Option<Phases>, loop_ns: f64, each: f64) -> Self {
        match (self, phases) {
            (Self::Always(threads, _), Some(phases)) => {
                Self::Always(threads, phases.duty(loop_ns, each))
            }
            _ => self,
        }
    }
}

/// Bursts that are all as long (`queues/alike.rs`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::steady) struct Alike {
    /// How long one runs while others wait [ns].
    pub slice_ns: f64,
    /// Whether those that are away are so for as long each time.
    pub in_step: bool,
}

/// What a partition's work asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::steady) struct Demand {
    pub arrivals: Arrivals,
    /// Mean instructions of a burst.
    pub burst: f64,
    /// Mean bursts of a transaction.
    pub bursts: f64,
    /// What a transaction waits elsewhere, its think time apart [ns].
    pub wait_ns: f64,
    /// Wake-ups of the guest's daemons in a nanosecond.
    pub daemons_per_ns: f64,
    /// Instructions of each: what its time comes to if a core does nothing else and nothing misses.
    pub daemon_work: f64,
    /// Whether each burst is exponential in length, and transactions have as many as chance gives.
    pub scattered: bool,
    /// How its bursts wait where all are as long; none where lengths are exponential.
    pub alike: Option<Alike>,
    /// When loops rest; none where they never do.
    pub phases: Option<Phases>,
    /// Whether each burst waits for a device before.
    pub asks_devices: bool,
    /// Whether it was recorded: how it came within a step is not known.
    pub recorded: bool,
}

impl Demand {
    /// Instructions of daemons in a nanosecond.
    pub fn daemons(&self) -> f64 {
        self.daemons_per_ns * self.daemon_work
    }

    /// Of a partition on a machine; none where its workload has no steady state that could be known
    /// without playing it.
    pub fn of(machine: &Machine, partition: &Partition) -> Option<Self> {
        let shape = Shape::of(&partition.workload, &partition.profile);
        let unix = partition.guest.unix();
        let gangs = unix.gangs.iter().filter(|gang| gang.lengths_ns.is_empty());
        let (wakes, work) = gangs.fold(
            (
                unix.daemon_rate_per_s * 1e-9,
                unix.daemon_rate_per_s * 1e-9 * unix.daemon_ns as f64,
            ),
            |(wakes, work), gang| {
                let each = f64::from(gang.threads) / gang.every_ns as f64;
                (wakes + each, work + each * gang.work_ns as f64)
            },
        );
        let per_ns = core_per_ns(machine, &partition.profile);
        let (arrivals, recorded) = arrivals_of(&partition.workload, &partition.profile, &shape)?;
        Some(Self {
            arrivals,
            burst: shape.burst_instructions,
            bursts: shape.bursts,
            wait_ns: (shape.bursts - 1.0) * shape.wait_ns,
            daemons_per_ns: wakes,
            daemon_work: if wakes > 0.0 {
                work / wakes * per_ns
            } else {
                0.0
            },
            alike: alike(&partition.workload, &shape, unix.timeslice_ns as f64),
            phases: phases(&partition.workload, unix.timeslice_ns as f64),
            recorded,
            asks_devices: matches!(
                partition.workload,
                Workload::Transactions { .. } | Workload::Users { .. } | Workload::Trace { .. }
            ),
            scattered: shape.work == Distribution::Exponential
                && matches!(
                    partition.workload,
                    Workload::Transactions { .. } | Workload::Users { .. }
                ),
        })
    }
}

/// How bursts wait, where all are as long.
fn alike(workload: &Workload, shape: &Shape, slice_ns: f64) -> Option<Alike> {
    let (think, bursts) = match workload {
        Workload::Transactions { bursts, .. } => (Distribution::Exponential, *bursts),
        Workload::Users { think, bursts, .. } => (*think, *bursts),
        Workload::Pairs { .. } => (Distribution::Exponential, shape.bursts),
        _ => return None,
    };
    (shape.work == Distribution::Constant).then_some(Alike {
        slice_ns,
        in_step: think == Distribution::Constant && bursts <= 1.0,
    })
}

/// When its loops rest.
fn phases(workload: &Workload, slice_ns: f64) -> Option<Phases> {
    match *workload {
        Workload::Loops {
            busy_ns, rest_ns, ..
        } if busy_ns > 0 => Some(Phases {
            busy_ns: busy_ns as f64,
            rest_ns: rest_ns as f64,
            slice_ns,
        }),
        _ => None,
    }
}

/// Where a workload's bursts come from, and whether they were recorded.
fn arrivals_of(
    workload: &Workload,
    profile: &crate::spec::Profile,
    shape: &Shape,
) -> Option<(Arrivals, bool)> {
    let away = |think_ns: u64| {
        let wait_ns = (shape.bursts - 1.0) * shape.wait_ns;
        (think_ns as f64 + wait_ns) / shape.bursts
    };
    let told = |arrivals| Some((arrivals, false));
    match *workload {
        Workload::Transactions { rate_per_s, .. } => {
            told(Arrivals::Open(rate_per_s * 1e-9 * shape.bursts))
        }
        Workload::Users {
            count, think_ns, ..
        }
        | Workload::Pairs {
            count, think_ns, ..
        } => told(Arrivals::Closed(f64::from(count), away(think_ns))),
        Workload::Warehouses { count } => told(Arrivals::Always(f64::from(count), 1.0)),
        Workload::Loops {
            count,
            endless: true,
            busy_ns,
            rest_ns,
        } => {
            let duty = if busy_ns == 0 {
                1.0
            } else {
                busy_ns as f64 / (busy_ns + rest_ns) as f64
            };
            told(Arrivals::Always(f64::from(count), duty))
        }
        Workload::Trace {
            ref lengths_ns,
            ref instructions_per_s,
            ..
        } => {
            let steps = || lengths_ns.iter().zip(instructions_per_s);
            let all: f64 = steps().map(|(length, rate)| *length as f64 * rate).sum();
            let length: f64 = steps().map(|(length, _)| *length as f64).sum();
            let per_ns = all / length * 1e-9 / profile.instructions_per_unit;
            Some((Arrivals::Open(per_ns), true))
        }
        Workload::Idle => told(Arrivals::Never),
        Workload::Loops { .. } | Workload::Barriers { .. } | Workload::Web { .. } => None,
    }
}

/// What several workloads ask for together, where each asks for this.
pub(in crate::steady) fn together(each: &[Demand]) -> Demand {
    let (mut rate, mut count, mut threads) = (0.0, 0.0, 0.0);
    for demand in each {
        match demand.arrivals {
            Arrivals::Open(of) => rate += of,
            Arrivals::Closed(of, _) => count += of,
            Arrivals::Always(of, _) => threads += of,
            Arrivals::Never => {}
        }
    }
    let arrivals = match (rate, count, threads) {
        (0.0, 0.0, 0.0) => Arrivals::Never,
        (0.0, 0.0, threads) => Arrivals::Always(threads, 1.0),
        (rate, 0.0, 0.0) => Arrivals::Open(rate),
        (_, count, threads) => Arrivals::Closed(count + threads, 0.0),
    };
    Demand {
        arrivals,
        bursts: 1.0,
        wait_ns: 0.0,
        scattered: false,
        alike: None,
        phases: None,
        asks_devices: false,
        recorded: each.iter().any(|demand| demand.recorded),
        ..each[0]
    }
}

/// Share of the bursts whose thread has run before.
pub(in crate::steady) fn again(each: &[Demand]) -> f64 {
    let (mut bursts, mut new) = (0.0, 0.0);
    for demand in each {
        if let Arrivals::Open(rate) = demand.arrivals {
            bursts += rate;
            new += rate / demand.bursts;
        }
    }
    1.0 - new / f64::max(bursts, 1e-30)
}

/// Threads of several workloads that always have work.
pub(in crate::steady) fn staying(each: &[Demand]) -> f64 {
    let stay = |demand: &Demand| match demand.arrivals {
        Arrivals::Always(threads, duty) => threads * duty,
        _ => 0.0,
    };
    each.iter().map(stay).sum()
}
