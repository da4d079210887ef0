//! The work that partitions have: each kind of it is a load, with numbers and chance of its own.

use super::meters::PartitionMeter;
use super::system::System;
use super::world::{stream, World};
use crate::guest::workload::Shape;
use crate::guest::Playback;
use crate::ids::{ById, LoadId, PartitionId};
use crate::kernel::{Stream, Time};
use crate::spec::{Distribution, Partition, Profile, Spec, Workload};

/// A load while it runs; what an event needs comes first.
#[repr(C, align(64))]
pub struct Load {
    /// The workload's numbers.
    pub shape: Shape,
    /// Whose it is.
    pub partition: PartitionId,
    /// Random work.
    pub work: Stream,
    /// Random waits and think times.
    pub waits: Stream,
    /// Random arrivals.
    pub arrivals: Stream,
    /// Recorded demand, if that is what it runs.
    pub playback: Option<Playback>,
    /// Logical processor each thread of its pairs or programs last ran on.
    pub last_cpus: Vec<u16>,
    /// Threads of each program that have not come to the barrier.
    pub at_work: Vec<u16>,
}

/// All loads of a scenario.
pub fn all(spec: &Spec, replication: u64) -> ById<LoadId, Load> {
    let own = |(at, partition): (usize, &Partition)| {
        let of = PartitionId::new(at);
        let stream = |what: &str| stream(spec, partition, replication, what);
        Load {
            shape: Shape::of(&partition.workload, &partition.profile),
            partition: of,
            work: stream("work"),
            waits: stream("waits"),
            arrivals: stream("arrivals"),
            playback: playback(spec, &partition.workload, &partition.profile),
            last_cpus: Vec::new(),
            at_work: Vec::new(),
        }
    };
    spec.partitions.iter().enumerate().map(own).collect()
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

impl Load {
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

impl<S: System> World<S> {
    /// The loads of a partition, in their order; they are not borrowed.
    pub fn loads_of(&self, partition: PartitionId) -> impl Iterator<Item = LoadId> {
        std::iter::once(partition.into())
    }

    /// Whose a load is, for its jobs.
    #[inline]
    pub fn owner(&self, load: LoadId) -> (PartitionId, LoadId) {
        (self.loads[load].partition, load)
    }

    /// What a load does.
    #[inline]
    pub fn workload(&self, load: LoadId) -> &Workload {
        &self.spec_of(self.loads[load].partition).workload
    }

    /// How it behaves on a processor.
    #[inline]
    pub fn profile(&self, load: LoadId) -> &Profile {
        &self.spec_of(self.loads[load].partition).profile
    }

    /// A transaction comes inside.
    pub fn arrived(&mut self, load: LoadId) -> &mut PartitionMeter {
        let partition = self.loads[load].partition;
        let meter = self.meters.integrate(partition, self.now);
        meter.tx_arrived += 1;
        meter.inside += 1;
        meter
    }

    /// A transaction is done, and the counts have been integrated.
    pub fn done(&mut self, load: LoadId, response_ns: u64) {
        let partition = self.loads[load].partition;
        let meter = &mut self.meters.partitions[partition];
        meter.tx_done += 1;
        meter.inside -= 1;
        meter.response_ns += response_ns;
        self.meters.responses[partition].record(Time::from_ns(response_ns));
    }

    /// A transaction is done, and its thread goes on with the next one.
    pub fn goes_on_with_next(&mut self, load: LoadId, response_ns: u64) {
        let partition = self.loads[load].partition;
        let meter = &mut self.meters.partitions[partition];
        meter.tx_arrived += 1;
        meter.tx_done += 1;
        meter.response_ns += response_ns;
        self.meters.responses[partition].record(Time::from_ns(response_ns));
    }
}
