//! A simulation: Spec in, intervals and summary out. The only folder that sees all the others.
//!
//! Stop five of six: [`run`] assembles the [`World`] of the machine's system, takes events from the
//! kernel until the end, hands each to the part that it concerns and reads the counters at the end
//! of each interval.

mod amend;
mod balance;
mod barriers;
mod change;
mod check;
mod coalescing;
pub mod columns;
mod coming;
mod convoy;
mod counting;
mod dispatch;
mod event;
mod gangs;
mod generator;
mod host;
mod interrupting;
mod interrupts;
mod io_threads;
mod jobs;
mod load;
mod loads;
mod messages;
mod meters;
mod mixed;
mod mutex;
mod pairs;
mod progress;
mod rows;
mod siblings;
mod steady;
mod summary;
mod system;
mod warmth;
mod window;
mod windows;
mod work;
mod world;
mod zvm;

pub use crate::check::{SpecFault, Wrong};
pub use meters::{Elapsed, Reason};
pub use rows::{Columns, Tables};
pub use steady::Verdict;
pub use summary::{LoadSummary, PartitionSummary, Quantiles, Summary};

use crate::kernel::{self, Time};
use crate::spec::{Policy, Spec};
use amend::Amender;
use event::Event;
use host::Host;
use rows::{Gauges, Reading};
use summary::Batches;
use system::System;
use windows::Partitions;
use world::World;

/// Events handled between two looks at the observer, so that a run can be stopped at any time.
const EVENTS_PER_BATCH: u64 = 200_000;
/// Events after which the end of an interval is another occasion to look. Where intervals are so
/// short that few events fall into one, looking would take longer than what there is to see.
const EVENTS_PER_LOOK: u64 = 5_000;
/// Numbers that are handed over at once, where intervals are so short: 2 MiB.
const NUMBERS_PER_BATCH: usize = 1 << 18;
/// Software threads beyond which a run is given up as having no steady state.
const MOST_JOBS: usize = 2_000_000;

/// How far a simulation has come, and what it recorded since the last time.
#[derive(Debug)]
pub struct Batch<'a> {
    /// Simulated time, warm-up included [ns].
    pub now_ns: u64,
    /// End of the simulation [ns].
    pub end_ns: u64,
    /// Events handled so far.
    pub events: u64,
    /// Rows that became ready, some hundred thousand numbers at once or none. An interval does when
    /// no later one can change it any more; those that are held back come at the end of the run.
    pub tables: &'a Tables,
    /// Rows of the intervals that ended since the last time, as they are so far, for somebody who
    /// looks on: a later interval may still move nanoseconds between their columns. Of dispatches,
    /// if they are recorded, those that ended since then, and after them those that go on.
    pub latest: &'a Tables,
}

/// Why a simulation ended without a summary.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The spec is unsound.
    #[error("{0}")]
    Spec(#[from] SpecFault),
    /// The observer asked to stop.
    #[error("stopped at {now_ns} ns of simulated time")]
    Stopped {
        /// Simulated time reached [ns].
        now_ns: u64,
    },
    /// More work piled up than memory should hold.
    #[error(
        "{jobs} software threads have piled up after {:.1} s of simulated time: the load is far \
         beyond what the partitions can do; lower the rate or give them more processors",
        *now_ns as f64 * 1e-9
    )]
    Runaway {
        /// Software threads.
        jobs: usize,
        /// Simulated time reached [ns].
        now_ns: u64,
    },
}

/// Runs one replication. `observe` sees every batch and answers whether to go on.
///
/// # Errors
/// An unsound spec, a stop asked for by the observer, or a load that piles up without bound.
pub fn run(
    spec: &Spec,
    replication: u64,
    observe: impl FnMut(Batch<'_>) -> bool,
) -> Result<Summary, RunError> {
    check::check(spec)?;
    match spec.machine.hypervisor.policy {
        Policy::Phyp | Policy::Prsm | Policy::Dedicated => {
            Simulation::<Partitions>::new(spec, replication).run(observe)
        }
        _ => Simulation::<Host>::new(spec, replication).run(observe),
    }
}

/// Checks a spec without running it.
///
/// # Errors
/// The first fault found.
pub fn check(spec: &Spec) -> Result<(), SpecFault> {
    check::check(spec)
}

struct Simulation<S: System> {
    world: World<S>,
    replication: u64,
    end_ns: u64,
    tables: Tables,
    nothing: Tables,
    latest: Tables,
    gauges: Gauges,
    amender: Amender,
    start: Reading,
    last: Reading,
    batches: Batches,
    /// Events at the last look at the observer.
    looked: u64,
    /// Numbers read since then.
    read: usize,
}

impl<S: System> Simulation<S> {
    fn new(spec: &Spec, replication: u64) -> Self {
        let world = World::new(spec.clone(), replication);
        let cpus = world.guests.iter().zip(&world.at.vps_of);
        let cpus = cpus.map(|(guest, vps)| vps.len() * usize::from(guest.smt));
        Self {
            end_ns: spec.warmup_ns + spec.duration_ns,
            amender: Amender::new(cpus),
            world,
            replication,
            tables: Tables::default(),
            nothing: Tables::default(),
            latest: Tables::default(),
            gauges: Gauges::new(),
            start: Reading::default(),
            last: Reading::default(),
            batches: Batches::default(),
            looked: 0,
            read: 0,
        }
    }

    fn run(mut self, mut observe: impl FnMut(Batch<'_>) -> bool) -> Result<Summary, RunError> {
        self.world.start();
        self.advance(self.world.spec.warmup_ns, &mut observe)?;
        self.begin_recording();
        let (interval, batch) = (self.world.spec.interval_ns, self.batch_ns());
        let (mut next_interval, mut next_batch) =
            (self.world.now + interval, self.world.now + batch);
        while self.world.now < self.end_ns {
            let until = next_interval.min(next_batch).min(self.end_ns);
            self.advance(until, &mut observe)?;
            if until == self.end_ns {
                self.world.record_open_dispatches();
            }
            if until == next_interval || until == self.end_ns {
                self.close_interval(&mut observe)?;
                next_interval = until + interval;
            }
            if until == next_batch || until == self.end_ns {
                self.batches
                    .close(&mut self.world, until + batch - next_batch);
                next_batch = until + batch;
            }
        }
        Ok(self
            .world
            .summarise(self.replication, &self.start, &self.last, &self.batches))
    }

    fn batch_ns(&self) -> u64 {
        (self.world.spec.duration_ns / steady::BATCHES as u64).max(1)
    }

    fn begin_recording(&mut self) {
        self.world.forget();
        self.start = self.world.read();
        self.last = self.start.clone();
        self.batches.close(&mut self.world, 0);
    }

    fn close_interval(
        &mut self,
        observe: &mut impl FnMut(Batch<'_>) -> bool,
    ) -> Result<(), RunError> {
        let reading = self.world.read();
        let ready = self.amender.push(reading.since(&self.last, &self.gauges));
        if let Some(newest) = self.amender.newest() {
            self.latest.push(newest);
        }
        self.read += reading.numbers();
        self.last = reading;
        ready.iter().for_each(|interval| self.tables.push(interval));
        if self.world.now == self.end_ns {
            while let Some(interval) = self.amender.pop() {
                self.tables.push(&interval);
                if self.tables.numbers() >= NUMBERS_PER_BATCH {
                    self.report(observe)?;
                }
            }
            return self.report(observe);
        }
        let events = self.world.events - self.looked;
        if events >= EVENTS_PER_LOOK || self.read >= NUMBERS_PER_BATCH {
            self.report(observe)?;
        }
        Ok(())
    }

    /// Shows the observer how far it has come, and rows if there are enough of them.
    fn report(&mut self, observe: &mut impl FnMut(Batch<'_>) -> bool) -> Result<(), RunError> {
        (self.looked, self.read) = (self.world.events, 0);
        let now_ns = self.world.now;
        self.take_dispatches();
        let enough = now_ns == self.end_ns || self.tables.numbers() >= NUMBERS_PER_BATCH;
        let batch = Batch {
            now_ns,
            end_ns: self.end_ns,
            events: self.world.events,
            tables: if enough { &self.tables } else { &self.nothing },
            latest: &self.latest,
        };
        if !observe(batch) {
            return Err(RunError::Stopped { now_ns });
        }
        if enough {
            self.tables.clear();
        }
        self.latest.clear();
        // What waits in a virtual machine of z/VM is no job of a guest's scheduler.
        let inside = self
            .world
            .meters
            .partitions
            .iter()
            .map(|of| of.inside as usize);
        let jobs = self.world.jobs.count().max(inside.sum());
        if jobs > MOST_JOBS && now_ns < self.end_ns {
            return Err(RunError::Runaway { jobs, now_ns });
        }
        Ok(())
    }

    /// Takes over the records of dispatches, and shows them and those that go on to who looks on.
    fn take_dispatches(&mut self) {
        let records = self.world.meters.dispatches.iter_mut();
        let kept = self.tables.dispatches.values.iter_mut();
        for ((values, column), seen) in records.zip(kept).zip(&mut self.latest.dispatches.values) {
            seen.extend_from_slice(values);
            column.append(values);
        }
        // At the end none goes on: all have been recorded.
        if self.world.now < self.end_ns {
            for row in self.world.open_dispatches() {
                let seen = &mut self.latest.dispatches.values;
                seen.iter_mut()
                    .zip(row)
                    .for_each(|(column, value)| column.push(value));
            }
        }
    }

    /// Handles all events before `until` and moves the clock there.
    fn advance(
        &mut self,
        until: u64,
        observe: &mut impl FnMut(Batch<'_>) -> bool,
    ) -> Result<(), RunError> {
        let mut look = self.world.events + EVENTS_PER_BATCH;
        while let Some((now, key, event)) =
            kernel::step(&mut self.world.queue, Time::from_ns(until))
        {
            self.world.now = now.as_ns();
            self.world.handle(key, event);
            if self.world.events >= look {
                look = self.world.events + EVENTS_PER_BATCH;
                self.report(observe)?;
            }
        }
        self.world.now = until;
        Ok(())
    }
}

impl<S: System> World<S> {
    fn start(&mut self) {
        S::start(self);
        self.open_window();
        self.start_workloads();
        S::started(self);
    }

    /// Warm-up is over: distributions and extremes start anew.
    fn forget(&mut self) {
        for of in &mut self.meters.responses {
            of.clear();
        }
        for of in &mut self.meters.waits {
            of.clear();
        }
        for of in &mut self.meters.finished {
            *of = Elapsed::default();
        }
        for meter in &mut self.meters.partitions {
            meter.cede_max_ns = 0;
        }
        for load in &mut self.loads {
            load.meter.iter_mut().for_each(|meter| meter.forget());
        }
    }

    #[inline]
    fn handle(&mut self, key: kernel::Key, event: Event<S::Alarm>) {
        match event {
            Event::Core(core) => {
                if self.at.cores[core].key != key {
                    return; // The core was planned anew since.
                }
                self.core_event(core);
            }
            Event::Wake(job) => self.wake_job(job),
            Event::Arrival(load) => self.arrive(load),
            Event::Recorded(load) => self.arrive_recorded(load),
            Event::Window => self.open_window(),
            Event::Daemon(partition) => self.wake_daemon(partition),
            Event::Interrupt(partition) => self.interrupt_by_itself(partition),
            Event::Gathered(partition, cpu) => self.has_gathered(partition, cpu),
            Event::Gang(partition, gang) => self.wake_gang(partition, usize::from(gang)),
            Event::Balance(partition) => self.balance(partition),
            Event::Alarm(alarm) => S::alarm(self, key, alarm),
        }
        self.events += 1;
    }
}
