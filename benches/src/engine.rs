//! The engine as it is, on a spec.

use std::time::Instant;

use homenode_engine::sim;
use homenode_engine::spec::Spec;

use crate::case::{Outcome, Sample};

const NS_PER_S: f64 = 1e9;

/// Simulates one replication, all intervals read and dropped.
///
/// # Panics
/// If the spec is refused or runs away: a fault of the bench.
pub fn run(spec: &Spec, replication: u64) -> Sample {
    let start = Instant::now();
    let mut rows = 0;
    let summary = sim::run(spec, replication, |batch| {
        rows += batch.tables.partition.values.len();
        true
    });
    let summary = summary.unwrap_or_else(|fault| panic!("{}: {fault}", spec.name));
    std::hint::black_box(rows);
    Sample {
        events: summary.events,
        wall_s: start.elapsed().as_secs_f64(),
        simulated_s: (spec.warmup_ns + spec.duration_ns) as f64 / NS_PER_S,
        outcome: Outcome::Unchecked,
    }
}

/// The specs one after the other, as one sample.
pub fn run_all(specs: &[Spec], replication: u64) -> Sample {
    let samples: Vec<Sample> = specs.iter().map(|spec| run(spec, replication)).collect();
    let wall_s = samples.iter().map(|sample| sample.wall_s).sum();
    together(&samples, wall_s)
}

/// The same on several threads at once, a replication each; wall time of all together.
pub fn run_on_threads(specs: &[Spec], replication: u64, threads: u64) -> Sample {
    let start = Instant::now();
    let samples: Vec<Sample> = std::thread::scope(|scope| {
        let start_one = |i| scope.spawn(move || run_all(specs, replication * threads + i));
        let handles: Vec<_> = (0..threads).map(start_one).collect();
        let join = |handle: std::thread::ScopedJoinHandle<Sample>| handle.join().expect("a run");
        handles.into_iter().map(join).collect()
    });
    together(&samples, start.elapsed().as_secs_f64())
}

fn together(samples: &[Sample], wall_s: f64) -> Sample {
    Sample {
        events: samples.iter().map(|sample| sample.events).sum(),
        wall_s,
        simulated_s: samples.iter().map(|sample| sample.simulated_s).sum(),
        outcome: Outcome::Unchecked,
    }
}
