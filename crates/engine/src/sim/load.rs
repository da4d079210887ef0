//! The work that partitions have: each kind of it is a load, with numbers and chance of its own.

use super::meters::Elapsed;
use crate::cost::{core_ns, kernel_share};
use crate::guest::generated::Generated;
use crate::guest::messages::Messages;
use crate::guest::mutex::Mutex;
use crate::guest::workload::Shape;
use crate::guest::Playback;
use crate::ids::{ById, LoadId, PartitionId, Span};
use crate::kernel::{Histogram, Stream, Time};
use crate::spec::{Distribution, Partition, Profile, Spec, Workload};

/// A load while it runs; what an event needs comes first.
#[repr(C, align(64))]
pub struct LoadState {
    /// Random work.
    pub work: Stream,
    /// Random waits and think times.
    pub waits: Stream,
    /// The workload's numbers.
    pub shape: Shape,
    /// Whose it is.
    pub partition: PartitionId,
    /// Random arrivals.
    pub arrivals: Stream,
    /// Recorded demand, if that is what it runs.
    pub playback: Option<Playback>,
    /// Logical processor each thread of its pairs or programs last ran on.
    pub last_cpus: Vec<u16>,
    /// Messages of its pairs, if they bring something.
    pub messages: Option<Box<Messages>>,
    /// What the generator of its pairs has before it, if they have one.
    pub generated: Option<Box<Generated>>,
    /// Threads of each program that have not come to the barrier.
    pub at_work: Vec<u16>,
    /// The lock for which its threads sleep, if it has one.
    pub mutex: Option<Box<Mutex>>,
    /// Its place among the loads of its partition.
    pub place: usize,
    /// How far into their work and rest its loops are at time 0 [ns].
    pub phase_ns: u64,
    /// Kernel's share of its processor time, with the guest's clock ticks.
    pub system_share: f64,
    /// Its counters, if it is not alone.
    pub meter: Option<Box<LoadMeter>>,
}

/// Counters of a load that is not alone in its partition.
#[derive(Default)]
pub struct LoadMeter {
    /// Core time, parted evenly among the busy threads of a core [ns].
    pub core_ns: f64,
    /// Time that its threads were on cores [ns].
    pub thread_ns: f64,
    /// Instructions executed.
    pub instructions: f64,
    /// Transactions arrived.
    pub tx_arrived: u64,
    /// Transactions done.
    pub tx_done: u64,
    /// Transactions inside.
    pub inside: u64,
    /// Sum of response times [ns].
    pub response_ns: u64,
    /// Response times [ns].
    pub responses: Histogram,
    /// Elapsed times of finished loops [ns].
    pub finished: Elapsed,
}

/// All loads of a scenario: the first of each partition, then the others, partition by partition.
pub fn all(spec: &Spec, replication: u64) -> ById<LoadId, LoadState> {
    let of = |at: usize, place| load(spec, PartitionId::new(at), place, replication);
    let first = (0..spec.partitions.len()).map(|at| of(at, 0));
    let others = spec
        .partitions
        .iter()
        .enumerate()
        .flat_map(|(at, partition)| {
            let places = 1..=partition.beside.len();
            places.map(move |place| of(at, place))
        });
    first.chain(others).collect()
}

/// Of each partition, the loads beside its first.
pub fn beside(spec: &Spec) -> impl Iterator<Item = Span<LoadId>> + '_ {
    let mut next = spec.partitions.len();
    spec.partitions.iter().map(move |partition| {
        let (first, count) = (next, partition.beside.len());
        next += count;
        Span::new(first, count)
    })
}

fn load(spec: &Spec, of: PartitionId, place: usize, replication: u64) -> LoadState {
    let partition = &spec.partitions[of.index()];
    let (name, workload, profile) = partition.load(place);
    let stream = |what: &str| match place {
        0 => stream(spec, partition, replication, what),
        _ => stream(spec, partition, replication, &format!("{name}/{what}")),
    };
    let tick = partition.guest.tick_share();
    let kernel = kernel_share(&spec.machine, profile, partition.smt);
    let shape = Shape::of(workload, profile);
    let alone_ns = core_ns(&spec.machine, profile);
    LoadState {
        shape,
        partition: of,
        work: stream("work"),
        waits: stream("waits"),
        arrivals: stream("arrivals"),
        playback: playback(spec, workload, profile),
        last_cpus: Vec::new(),
        messages: Messages::of(workload),
        generated: None,
        at_work: Vec::new(),
        mutex: Mutex::of(profile, alone_ns, shape.burst_instructions),
        place,
        phase_ns: phase_ns(workload, || stream("phase")),
        system_share: kernel + (1.0 - kernel) * tick,
        meter: (!partition.beside.is_empty()).then(Box::default),
    }
}

/// Where loops that rest begin: by chance, or a run would show them at one phase to the clocks of
/// what is beneath them, and so would each of its replications.
fn phase_ns(workload: &Workload, stream: impl Fn() -> Stream) -> u64 {
    match workload {
        Workload::Loops {
            busy_ns, rest_ns, ..
        } if *rest_ns > 0 => stream().below(busy_ns + rest_ns),
        _ => 0,
    }
}

fn playback(spec: &Spec, workload: &Workload, profile: &Profile) -> Option<Playback> {
    let Workload::Trace {
        lengths_ns,
        instructions_per_s,
        spread,
    } = workload
    else {
        return None;
    };
    let unit = profile.instructions_per_unit;
    let (lengths, rates) = (lengths_ns, instructions_per_s);
    Some(Playback::new(spec.warmup_ns, lengths, rates, unit, *spread))
}

impl LoadState {
    /// A random amount of work with this mean, distributed as the workload says [instructions].
    pub fn draw_work(&mut self, mean: f64) -> f64 {
        match self.shape.work {
            Distribution::Constant => mean,
            Distribution::Exponential => self.work.exponential(mean),
        }
    }

    /// A random think time [ns].
    pub fn think(&mut self) -> u64 {
        let mean = self.shape.think_ns.unwrap_or(0.0);
        match self.shape.think {
            Distribution::Constant => mean as u64,
            Distribution::Exponential => self.waits.exponential(mean) as u64,
        }
    }
}

impl LoadMeter {
    /// Readings in the order of the result columns.
    pub fn reading(&self) -> [i64; 7] {
        let times = [self.core_ns, self.thread_ns, self.instructions].map(|n| n.round() as i64);
        let tx = [self.tx_arrived, self.tx_done, self.inside, self.response_ns].map(|n| n as i64);
        [times[0], times[1], times[2], tx[0], tx[1], tx[2], tx[3]]
    }

    /// A transaction is done, after so long [ns].
    pub fn done(&mut self, response_ns: u64) {
        self.tx_done += 1;
        self.response_ns += response_ns;
        self.responses.record(Time::from_ns(response_ns));
    }

    /// Warm-up is over: distributions and extremes start anew.
    pub fn forget(&mut self) {
        self.responses.clear();
        self.finished = Elapsed::default();
    }
}

/// The stream of a partition that is called so.
pub fn stream(spec: &Spec, partition: &Partition, replication: u64, what: &str) -> Stream {
    let name = format!("{}/{what}", partition.name);
    Stream::new(spec.seed, replication, &name)
}

/// What a thread of a load refills on a core.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cold {
    /// Extra time of an instruction until then [ns].
    pub ns: f64,
    /// Instructions until it is done.
    pub instructions: f64,
}
