//! What a replication amounts to.

use super::columns;
use super::meters::Elapsed;
use super::rows::{differences, Reading};
use super::steady::{judge, Verdict};
use super::system::System;
use super::world::World;
use crate::guest::workload::{Job, JobKind};
use crate::ids::{ById, PartitionId};
use crate::kernel::Histogram;
use crate::spec::Workload;

/// Result of one replication, over the recorded time.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Replication number.
    pub replication: u64,
    /// Events handled, warm-up included.
    pub events: u64,
    /// Simulated time, warm-up included [ns].
    pub sim_ns: u64,
    /// By partition.
    pub partitions: Vec<PartitionSummary>,
    /// Idle time of the physical pool's cores [ns].
    pub pool_idle_ns: i64,
    /// Of each core (of each hardware thread, where a host counts those) how long it was used [ns].
    pub cores_ns: Vec<u64>,
}

/// Result of one partition.
#[derive(Clone, Debug)]
pub struct PartitionSummary {
    /// As the spec names the partition.
    pub name: String,
    /// Totals, in the order of [`columns::partition`].
    pub totals: Vec<i64>,
    /// Response times [ns].
    pub response: Quantiles,
    /// Waits for a core [ns].
    pub dispatch_wait: Quantiles,
    /// Elapsed times of finished loops [ns].
    pub finished: Elapsed,
    /// Users, pairs or warehouses that had no answer in all of the time: what they asked for before
    /// it began was not done when it ended.
    pub unanswered: u64,
    /// Of each load, if it has several.
    pub loads: Vec<LoadSummary>,
    /// Whether there was a steady state.
    pub steady: Verdict,
    /// Share of its virtual processors that had work in the last third of the time.
    pub vp_busy_share: f64,
}

/// Result of one load of a partition with several.
#[derive(Clone, Debug)]
pub struct LoadSummary {
    /// As the spec names it.
    pub name: String,
    /// Totals, in the order of [`columns::LOAD`].
    pub totals: Vec<i64>,
    /// Response times [ns].
    pub response: Quantiles,
    /// Elapsed times of finished loops [ns].
    pub finished: Elapsed,
}

/// Summary of a distribution [ns].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quantiles {
    /// Number of values.
    pub count: u64,
    /// Arithmetic mean; 0 of no values.
    pub mean: f64,
    /// Median.
    pub p50: u64,
    /// 95th percentile.
    pub p95: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p999: u64,
    /// Greatest.
    pub max: u64,
}

impl Quantiles {
    fn of(histogram: &Histogram) -> Self {
        let at = |share| histogram.quantile(share).map_or(0, |t| t.as_ns());
        Self {
            count: histogram.count(),
            mean: histogram.mean_ns().unwrap_or(0.0),
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
            max: histogram.max().map_or(0, |t| t.as_ns()),
        }
    }
}

/// Batch means taken while the simulation runs.
#[derive(Clone, Debug, Default)]
pub struct Batches {
    /// Backlog by batch, for each partition [transactions].
    pub backlog: Vec<Vec<f64>>,
    /// Share of virtual processors with work by batch, for each partition.
    pub vp_busy: Vec<Vec<f64>>,
    last: Vec<(f64, f64)>,
}

impl Batches {
    /// Ends a batch of `elapsed_ns`.
    pub fn close<S: System>(&mut self, world: &mut World<S>, elapsed_ns: u64) {
        let count = world.guests.len();
        let first = self.last.is_empty();
        self.backlog.resize(count, Vec::new());
        self.vp_busy.resize(count, Vec::new());
        self.last.resize(count, (0.0, 0.0));
        for of in world.partitions() {
            let partition = of.index();
            let now = world.now;
            let meter = world.meters.integrate(of, now);
            let held = (meter.busy_ns + meter.ready_ns) as f64;
            let reading = (meter.inside_ns, held);
            let before = std::mem::replace(&mut self.last[partition], reading);
            if first || elapsed_ns == 0 {
                continue;
            }
            let elapsed = elapsed_ns as f64;
            let vps = f64::from(world.guests[of].queues.online());
            self.backlog[partition].push((reading.0 - before.0) / elapsed);
            self.vp_busy[partition].push(((reading.1 - before.1) / elapsed / vps).min(1.0));
        }
    }
}

impl<S: System> World<S> {
    /// Sums up the time between two readings.
    pub fn summarise(
        &self,
        replication: u64,
        before: &Reading,
        after: &Reading,
        batches: &Batches,
    ) -> Summary {
        let gauge: Vec<bool> = columns::partition()
            .iter()
            .map(|n| columns::GAUGES.contains(&n.as_str()))
            .collect();
        let arrived = columns::partition()
            .iter()
            .position(|n| n == "tx_arrived")
            .expect("a column of ours");
        let unanswered = self.unanswered();
        let partitions = self
            .partitions()
            .map(|of| {
                let at = of.index();
                let (old, new) = (&before.partitions[at], &after.partitions[at]);
                let totals: Vec<i64> = differences(&gauge, old, new).collect();
                PartitionSummary {
                    name: self.spec.partitions[at].name.clone(),
                    response: Quantiles::of(&self.meters.responses[of]),
                    dispatch_wait: Quantiles::of(&self.meters.waits[of]),
                    finished: self.meters.finished[of],
                    unanswered: unanswered[of],
                    loads: self.summarise_loads(of, before, after),
                    steady: judge(
                        &batches.backlog[at],
                        totals[arrived] as f64,
                        self.users_of(of),
                        last_third(&batches.vp_busy[at]),
                    ),
                    vp_busy_share: last_third(&batches.vp_busy[at]),
                    totals,
                }
            })
            .collect();
        Summary {
            replication,
            events: self.events,
            sim_ns: self.now,
            partitions,
            pool_idle_ns: after.pools[0][4] - before.pools[0][4],
            cores_ns: std::iter::zip(&after.clocks, &before.clocks)
                .map(|(now, then)| now - then)
                .collect(),
        }
    }
}

impl<S: System> World<S> {
    /// Users of a partition, those who think and those who wait.
    fn users_of(&self, of: PartitionId) -> f64 {
        let count = |load| match self.workload(load) {
            Workload::Users { count, .. } => f64::from(*count),
            _ => 0.0,
        };
        self.loads_of(of).map(count).sum()
    }

    /// Of each partition, those who wait at the end for what they asked for in the warm-up.
    fn unanswered(&self) -> ById<PartitionId, u64> {
        let mut counts = ById::of(0, self.guests.len());
        let waits = |job: &Job| match (job.kind, self.workload(job.load)) {
            (JobKind::Warehouse, _) => true,
            // A client whose requests come of themselves sleeps while there are none.
            (JobKind::Exchange, _) => self.loads[job.load].generated.is_none() && !job.thinks,
            (JobKind::Transaction, Workload::Users { .. }) => !job.thinks,
            _ => false,
        };
        let begun = self.spec.warmup_ns;
        for job in self.jobs.all() {
            if job.arrived_at <= begun && waits(job) {
                counts[job.partition] += 1;
            }
        }
        counts
    }

    /// Sums up what the loads of a partition did, if it has several.
    fn summarise_loads(
        &self,
        of: PartitionId,
        before: &Reading,
        after: &Reading,
    ) -> Vec<LoadSummary> {
        let gauge = columns::LOAD.map(|name| columns::GAUGES.contains(&name));
        let rows = before.loads.iter().zip(after.loads.iter());
        let own = rows.filter(|(row, _)| row[1] == i64::from(of));
        let pairs = self.loads_of(of).zip(own);
        pairs
            .filter_map(|(load, (old, new))| {
                let state = &self.loads[load];
                let meter = state.meter.as_ref()?;
                Some(LoadSummary {
                    name: self.spec_of(of).load(state.place).0.into(),
                    totals: differences(&gauge, old, new).collect(),
                    response: Quantiles::of(&meter.responses),
                    finished: meter.finished,
                })
            })
            .collect()
    }
}

fn last_third(batches: &[f64]) -> f64 {
    let third = &batches[batches.len() - batches.len() / 3..];
    third.iter().sum::<f64>() / third.len().max(1) as f64
}
