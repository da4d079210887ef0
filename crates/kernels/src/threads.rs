//! One piece of work done by several threads at once, each on memory of its own.

use std::sync::Barrier;

use crate::batches::{timed, Timing};
use crate::clock::sleep_until;
use crate::fault::{Doing, Fault};

/// Most threads taken: more than any host's logical processors today.
const MOST: usize = 4096;

/// Refuses numbers of threads that are none.
pub(crate) fn checked(threads: usize) -> Result<usize, Fault> {
    if (1..=MOST).contains(&threads) {
        return Ok(threads);
    }
    Err(Fault::Wrong(format!(
        "threads is {threads}; it must be from 1 to {MOST}"
    )))
}

/// What several threads do, and when.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) threads: usize,
    /// `CLOCK_MONOTONIC` before which none begins, however early all are ready [ns].
    pub(crate) start_ns: u64,
    pub(crate) seconds: f64,
}

/// Each thread makes its state, waits for the others, then does `work(state, n)` for that time.
pub(crate) fn together<S>(
    plan: Plan,
    make: impl Fn(usize) -> Result<S, Fault> + Sync,
    work: impl Fn(&mut S, u64) + Sync,
) -> Result<Vec<(S, Timing)>, Fault>
where
    S: Send,
{
    let Plan {
        threads,
        start_ns,
        seconds,
    } = plan;
    let barrier = Barrier::new(threads);
    let one = |thread: usize| {
        // All meet at the barrier, also those that could not make their state.
        let made = make(thread);
        barrier.wait();
        let mut state = made?;
        sleep_until(start_ns);
        let timing = timed(seconds, |count| {
            work(&mut state, count);
            Ok(())
        })?;
        Ok((state, timing))
    };
    if threads == 1 {
        return one(0).map(|found| vec![found]);
    }
    std::thread::scope(|scope| {
        let mut running = Vec::new();
        for thread in 0..threads {
            let one = &one;
            let started = std::thread::Builder::new().spawn_scoped(scope, move || one(thread));
            // The barrier waits for all of them, so that a thread less is the end.
            match started.doing("starting a thread") {
                Ok(handle) => running.push(handle),
                Err(Fault::Host(doing, fault)) => {
                    eprintln!("{doing} {thread}: {fault}");
                    std::process::exit(1);
                }
                Err(other) => return Err(other),
            }
        }
        let ended = running.into_iter().map(|handle| {
            handle
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        ended.collect()
    })
}

/// Operations of all threads, and the time from the first start to the last end [s].
pub(crate) fn sum<'a>(timings: impl Iterator<Item = &'a Timing> + Clone) -> (u64, f64) {
    let operations = timings.clone().map(|timing| timing.operations).sum();
    let start = timings
        .clone()
        .map(|timing| timing.start)
        .min()
        .unwrap_or(0);
    let end = timings
        .map(|timing| timing.start + timing.elapsed)
        .max()
        .unwrap_or(0);
    (operations, (end - start) as f64 / 1e9)
}
