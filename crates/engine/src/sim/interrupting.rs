//! What is kept of devices' interrupts: whose turn it is, what processors have done, what they do.

use std::collections::{BTreeMap, VecDeque};

use super::coalescing::{Queue, Rules};
use super::load::stream;
use crate::guest::workload::JobId;
use crate::ids::{ById, PartitionId, ThreadId};
use crate::kernel::{Stream, When};
use crate::spec::{Interrupts, Partition, Spec};

/// What is kept of all interrupts.
#[derive(Default)]
pub struct Interrupting {
    /// By partition; none of those whose devices cost nothing.
    pub(super) sources: ById<PartitionId, Option<Source>>,
    /// Logical processors that do an interrupt's work.
    pub(super) busy: BTreeMap<ThreadId, Busy>,
}

/// The devices of a partition.
pub(super) struct Source {
    /// When they come of themselves.
    pub chance: Stream,
    /// Processors that may take them.
    pub to: Turns,
    /// Processors that may do what follows.
    pub soft_to: Turns,
    /// When they interrupt and when not.
    pub rules: Rules,
    /// By processor that takes interrupts.
    queues: BTreeMap<u16, Queue>,
    /// What each processor has done, by its number.
    taken: BTreeMap<u16, Taken>,
}

impl Source {
    /// The queue whose interrupts a processor takes.
    pub fn queue(&mut self, cpu: u16) -> &mut Queue {
        self.queues.entry(cpu).or_default()
    }
}

/// Processors that take turns.
pub(super) struct Turns {
    cpus: Vec<u16>,
    next: usize,
}

impl Turns {
    fn of(cpus: Vec<u16>) -> Self {
        Self { cpus, next: 0 }
    }

    /// The next one that serves; the next if none does.
    pub fn next(&mut self, serves: impl Fn(u16) -> bool) -> u16 {
        let count = self.cpus.len();
        let mut turns = (0..count).map(|step| (self.next + step) % count);
        let at = turns.find(|at| serves(self.cpus[*at]));
        let at = at.unwrap_or(self.next);
        self.next = (at + 1) % count;
        self.cpus[at]
    }
}

/// What a processor has done for a partition's devices.
#[derive(Clone, Copy, Debug, Default)]
pub struct Taken {
    /// How many it took.
    pub interrupts: u64,
    /// Time of the interrupts themselves [ns].
    pub hard_ns: f64,
    /// Time of the work that follows [ns].
    pub soft_ns: f64,
}

/// What a logical processor does beside an interrupt's work.
#[derive(Default)]
pub(super) struct Busy {
    /// What it was at, and when its time slice ends.
    pub stopped: Option<(JobId, When)>,
    /// Further work of interrupts.
    pub waiting: VecDeque<JobId>,
}

/// Which part of the work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The interrupt, and all that follows.
    Both = 0,
    /// The interrupt alone.
    Hard = 1,
    /// What follows.
    Soft = 2,
}

/// Work that a processor has to do for a device.
#[derive(Clone, Copy, Debug)]
pub struct Handler {
    /// Whose device it is.
    pub partition: PartitionId,
    /// Who has to do it, by number.
    pub cpu: u16,
    /// Which part of it.
    pub part: Part,
    /// Who waits for it; none = nobody here.
    pub waits: Option<JobId>,
}

impl Interrupting {
    /// Nobody was interrupted yet. A host counts so many processors of its own.
    pub fn new(spec: &Spec, replication: u64, host_cpus: Option<u16>) -> Self {
        let source = |partition: &Partition| {
            let told = partition.interrupts.as_ref()?;
            let own = partition.processors.count() * u16::from(partition.smt);
            let to: Vec<u16> = match told.to.is_empty() {
                true => (0..host_cpus.unwrap_or(own)).collect(),
                false => told.to.clone(),
            };
            let all = to.iter().chain(&told.soft_to);
            Some(Source {
                chance: stream(spec, partition, replication, "interrupts"),
                taken: all.map(|cpu| (*cpu, Taken::default())).collect(),
                rules: Rules::of(told),
                queues: BTreeMap::new(),
                to: Turns::of(to),
                soft_to: Turns::of(told.soft_to.clone()),
            })
        };
        Self {
            sources: spec.partitions.iter().map(source).collect(),
            busy: BTreeMap::new(),
        }
    }

    /// Whether the devices of a partition cost anything.
    #[inline]
    pub fn cost(&self, partition: PartitionId) -> bool {
        self.sources[partition].is_some()
    }

    /// Whether a logical processor does an interrupt's work.
    #[inline]
    pub fn holds(&self, at: ThreadId) -> bool {
        !self.busy.is_empty() && self.busy.contains_key(&at)
    }

    /// By partition and processor, what each has done.
    pub fn taken(&self) -> impl Iterator<Item = (PartitionId, u16, Taken)> + '_ {
        let all = self.sources.ids().zip(&self.sources);
        all.filter_map(|(of, source)| Some((of, source.as_ref()?)))
            .flat_map(|(of, source)| source.taken.iter().map(move |(cpu, one)| (of, *cpu, *one)))
    }

    /// The devices of a partition.
    ///
    /// # Panics
    /// If they cost nothing.
    pub(super) fn source(&mut self, partition: PartitionId) -> &mut Source {
        self.sources[partition]
            .as_mut()
            .expect("its devices cost something")
    }

    /// Notes what was done.
    pub fn note(&mut self, done: &Handler, hard_ns: f64, soft_ns: f64) {
        let taken = self
            .source(done.partition)
            .taken
            .entry(done.cpu)
            .or_default();
        taken.interrupts += u64::from(done.part != Part::Soft);
        taken.hard_ns += hard_ns;
        taken.soft_ns += soft_ns;
    }
}

impl Handler {
    /// Instructions of the interrupt itself and of what follows, as far as they belong to it.
    pub fn instructions(&self, told: &Interrupts) -> (f64, f64) {
        let hard = (self.part != Part::Soft).then_some(told.instructions);
        let soft = (self.part != Part::Hard).then_some(told.soft_instructions);
        (hard.unwrap_or(0.0), soft.unwrap_or(0.0))
    }
}
