//! The engine as it is, on a spec.

use std::time::{Duration, Instant};

use homenode_engine::sim::{self, Batch};
use homenode_engine::spec::Spec;

use crate::case::Sample;

const NS_PER_S: f64 = 1e9;

/// Simulates one replication, all intervals read and dropped.
///
/// # Panics
/// If the spec is refused or runs away: a fault of the bench.
pub fn run(spec: &Spec, replication: u64) -> Sample {
    let start = Instant::now();
    let mut rows = 0;
    let events = simulate(spec, replication, |batch| {
        rows += batch.tables.partition.values.len();
    });
    std::hint::black_box(rows);
    Sample {
        simulated_s: (spec.warmup_ns + spec.duration_ns) as f64 / NS_PER_S,
        ..Sample::new(events, start.elapsed())
    }
}

/// The same without what is paid once: neither checks and set-up, which are measured apart, nor the
/// first interval, in which the load builds up and memory is touched for the first time.
///
/// # Panics
/// As `run`; or if there is one interval only.
pub fn run_settled(spec: &Spec, replication: u64) -> Sample {
    let (mut first, mut last) = (None, None);
    simulate(spec, replication, |batch| {
        if batch.now_ns >= spec.interval_ns {
            let seen = (Instant::now(), batch.events, batch.now_ns);
            first.get_or_insert(seen);
            last = Some(seen);
        }
    });
    let (first, last) = first.zip(last).expect("an interval");
    Sample {
        simulated_s: (last.2 - first.2) as f64 / NS_PER_S,
        setup_s: Some(set_up(spec, replication)),
        ..Sample::new(last.1 - first.1, last.0 - first.0)
    }
}

/// Wall time of a run that ends when it has begun [s].
fn set_up(spec: &Spec, replication: u64) -> f64 {
    let nothing = Spec {
        warmup_ns: 0,
        duration_ns: 1,
        ..spec.clone()
    };
    let start = Instant::now();
    simulate(&nothing, replication, |_| {});
    start.elapsed().as_secs_f64()
}

/// The events of a replication.
fn simulate(spec: &Spec, replication: u64, mut look: impl FnMut(&Batch<'_>)) -> u64 {
    let summary = sim::run(spec, replication, |batch| {
        look(&batch);
        true
    });
    let summary = summary.unwrap_or_else(|fault| panic!("{}: {fault}", spec.name));
    summary.events
}

/// The specs one after the other, as one sample.
pub fn run_all(specs: &[Spec], replication: u64) -> Sample {
    let samples: Vec<Sample> = specs.iter().map(|spec| run(spec, replication)).collect();
    let wall_s = samples.iter().map(|sample| sample.wall_s).sum();
    together(&samples, Duration::from_secs_f64(wall_s))
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
    together(&samples, start.elapsed())
}

fn together(samples: &[Sample], wall: Duration) -> Sample {
    Sample {
        simulated_s: samples.iter().map(|sample| sample.simulated_s).sum(),
        ..Sample::new(samples.iter().map(|sample| sample.events).sum(), wall)
    }
}
