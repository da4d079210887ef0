//! Work: jobs, and what a workload does with one when its burst ends.

use crate::ids::{ById, LoadId, PartitionId};
use crate::spec::{Distribution, Profile, Workload};

pub use crate::ids::JobId;

/// Logical processor a job has not run on yet.
pub const NO_CPU: u16 = u16::MAX;

/// What a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobKind {
    /// Comes, alternates bursts and waits, and leaves.
    Transaction,
    /// A thread that does one transaction after the other.
    Warehouse,
    /// A transaction of a pair of threads, with the one whose turn it is.
    Exchange,
    /// The thread that makes those of a load's pairs.
    Generator,
    /// A thread of a parallel program, which waits for the others when its part is done.
    Member,
    /// A processor-bound loop.
    Loop,
    /// The guest's own housekeeping.
    Daemon,
    /// A thread of one of its daemons that woke with others.
    Gang,
    /// What a device's interrupt has a logical processor do.
    Interrupt,
    /// What a guest's job has a thread of the host do for its I/O.
    Request,
}

impl JobKind {
    /// Whether it is the guest's own, and no load's.
    #[inline]
    pub fn is_own(self) -> bool {
        matches!(self, Self::Daemon | Self::Gang | Self::Interrupt)
    }
}

/// A software thread with work.
#[derive(Clone, Debug)]
#[repr(align(32))]
pub struct Job {
    /// Owning partition.
    pub partition: PartitionId,
    /// Load whose work it does; of the guest's own threads, the first.
    pub load: LoadId,
    /// Logical processor it last ran on, within the partition, or `NO_CPU`.
    pub last_cpu: u16,
    /// What it does when a burst ends.
    pub kind: JobKind,
    /// Which of its workload's pairs, or of its program's or gang's threads it is.
    pub member: u16,
    /// Bursts left after this one; of a program or gang, its number.
    pub bursts_left: u32,
    /// Instructions left of this burst.
    pub instructions: f64,
    /// Whether its user thinks: its transaction is still to come.
    pub thinks: bool,
    /// Whether it has rested and has not run since.
    pub rested: bool,
    /// When the transaction arrived, or the loop or the thinking started [ns].
    pub arrived_at: u64,
}

impl Job {
    /// One that starts now, with a single burst, and has not run anywhere.
    pub fn new(
        (partition, load): (PartitionId, LoadId),
        kind: JobKind,
        instructions: f64,
        now: u64,
    ) -> Self {
        Self {
            partition,
            load,
            last_cpu: NO_CPU,
            kind,
            member: 0,
            bursts_left: 0,
            instructions,
            thinks: false,
            rested: false,
            arrived_at: now,
        }
    }
}

/// Jobs by index; finished ones leave their place to new ones.
#[derive(Default)]
pub struct JobTable {
    jobs: ById<JobId, Job>,
    free: Vec<JobId>,
}

impl JobTable {
    /// Gives a job an id, that of one that has left if there is one.
    pub fn add(&mut self, job: Job) -> JobId {
        if let Some(id) = self.free.pop() {
            self.jobs[id] = job;
            return id;
        }
        self.jobs.push(job)
    }

    /// Forgets a job; its index may be used again.
    pub fn remove(&mut self, id: JobId) {
        self.free.push(id);
    }

    /// Jobs that exist.
    pub fn count(&self) -> usize {
        self.jobs.len() - self.free.len()
    }

    /// All that exist.
    pub fn all(&self) -> impl Iterator<Item = &Job> {
        let mut there = vec![true; self.jobs.len()];
        self.free.iter().for_each(|id| there[id.index()] = false);
        let each = self.jobs.iter().zip(there);
        each.filter_map(|(job, there)| there.then_some(job))
    }

    /// What is known under an id, to look at; panics for one that was never given.
    #[inline]
    pub fn peek(&self, id: JobId) -> &Job {
        &self.jobs[id]
    }

    /// The same, to change.
    #[inline]
    pub fn get(&mut self, id: JobId) -> &mut Job {
        &mut self.jobs[id]
    }
}

/// Numbers of a workload that every job needs, those of a burst first.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Shape {
    /// Mean instructions of a burst.
    pub burst_instructions: f64,
    /// Distribution of a burst's work.
    pub work: Distribution,
    /// Mean wait between bursts [ns].
    pub wait_ns: f64,
    /// Mean bursts of a transaction.
    pub bursts: f64,
    /// Mean think time [ns]; none for open arrivals.
    pub think_ns: Option<f64>,
    /// Its distribution.
    pub think: Distribution,
    /// Mean time between arrivals [ns]; none for a closed workload.
    pub arrival_ns: Option<f64>,
}

impl Shape {
    /// Reads a workload.
    pub fn of(workload: &Workload, profile: &Profile) -> Self {
        let unit = profile.instructions_per_unit;
        let tx = |bursts: f64, wait_ns: u64, work, think_ns, arrival_ns| Self {
            bursts,
            burst_instructions: unit / bursts,
            wait_ns: wait_ns as f64,
            work,
            think_ns,
            think: Distribution::Exponential,
            arrival_ns,
        };
        match *workload {
            Workload::Transactions {
                rate_per_s,
                bursts,
                wait_ns,
                burst_work,
            } => tx(bursts, wait_ns, burst_work, None, Some(1e9 / rate_per_s)),
            Workload::Users {
                think_ns,
                bursts,
                wait_ns,
                burst_work,
                think,
                ..
            } => Self {
                think,
                ..tx(bursts, wait_ns, burst_work, Some(think_ns as f64), None)
            },
            Workload::Pairs {
                exchanges,
                think_ns,
                think,
                burst_work,
                ..
            } => Self {
                think,
                ..tx(
                    2.0 * f64::from(exchanges) + 1.0,
                    0,
                    burst_work,
                    Some(think_ns as f64),
                    None,
                )
            },
            Workload::Barriers {
                threads,
                burst_work,
                ..
            } => tx(f64::from(threads), 0, burst_work, None, None),
            Workload::Warehouses { .. }
            | Workload::Loops { .. }
            | Workload::Web { .. }
            | Workload::Trace { .. }
            | Workload::Idle => tx(1.0, 0, Distribution::Constant, None, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_is_shared_out_over_its_bursts() {
        let profile = Profile {
            instructions_per_unit: 1000.0,
            ..Profile::steady()
        };
        let workload = Workload::Transactions {
            rate_per_s: 100.0,
            bursts: 4.0,
            wait_ns: 5,
            burst_work: Distribution::Exponential,
        };
        let shape = Shape::of(&workload, &profile);
        assert_eq!(shape.burst_instructions, 250.0);
        assert_eq!(shape.arrival_ns, Some(1e7));
    }
}
