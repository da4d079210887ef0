//! Timing of an operation too short for the clock: in batches, each long enough to be read off.

use serde_json::{json, Value};

use crate::clock::now;
use crate::fault::Fault;

/// Batches that a run is divided into, about. In a second a batch is then shorter than the slices
/// that a busy processor is shared in, so that the middle one is not interrupted.
const BATCHES: f64 = 200.0;
/// Shortest batch [ns]: ten thousand times what reading the clock costs.
const SHORTEST: f64 = 5e5;

/// What timed batches found.
pub(crate) struct Timing {
    /// Operations done, those while the batch's length was sought among them.
    pub(crate) operations: u64,
    /// How long they all took [ns].
    pub(crate) elapsed: u64,
    /// When it began [ns].
    pub(crate) start: u64,
    /// Time per operation of each full batch, in order [ns].
    pub(crate) batches: Vec<f64>,
}

/// Does `work(n)`, that is n operations, again and again for about so many seconds.
pub(crate) fn timed(
    seconds: f64,
    mut work: impl FnMut(u64) -> Result<(), Fault>,
) -> Result<Timing, Fault> {
    let long = (seconds * 1e9 / BATCHES).max(SHORTEST);
    let start = now();
    let end = start + (seconds * 1e9) as u64;
    let mut timing = Timing {
        operations: 0,
        elapsed: 0,
        start,
        batches: Vec::new(),
    };
    let mut count = 1;
    loop {
        let began = now();
        work(count)?;
        let ended = now();
        timing.operations += count;
        timing.elapsed = ended - start;
        let took = (ended - began) as f64;
        if took < long / 2.0 {
            // Too short to be read off, also where an interruption made the one before look long.
            count *= 2;
            timing.batches.clear();
        } else {
            timing.batches.push(took / count as f64);
        }
        if ended >= end && !timing.batches.is_empty() {
            return Ok(timing);
        }
    }
}

impl Timing {
    /// Time per operation of the middle batch [ns]: what an operation takes undisturbed.
    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.batches.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        match sorted.len() % 2 {
            0 => f64::midpoint(sorted[middle - 1], sorted[middle]),
            _ => sorted[middle],
        }
    }

    /// As JSON; an operation is `per` units of work.
    pub(crate) fn report(&self, kernel: &str, per: u64) -> Value {
        let per_unit = |ns: f64| ns / per as f64;
        json!({
            "kernel": kernel,
            "operations": self.operations * per,
            "start_ns": self.start,
            "seconds": self.elapsed as f64 / 1e9,
            "ns": per_unit(self.median()),
            "ns_min": per_unit(self.batches.iter().copied().fold(f64::INFINITY, f64::min)),
            "batches_ns": self.batches.iter().copied().map(per_unit).collect::<Vec<_>>(),
        })
    }
}

/// Refuses times that are no times.
pub(crate) fn checked(seconds: f64) -> Result<f64, Fault> {
    if seconds.is_finite() && (0.001..=3600.0).contains(&seconds) {
        return Ok(seconds);
    }
    let why = format!("seconds is {seconds}; it must be from 0.001 to 3600");
    Err(Fault::Wrong(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_operations_are_counted_and_batches_have_one_length() {
        let mut done = 0;
        let timing = timed(0.02, |count| {
            done += count;
            std::thread::sleep(std::time::Duration::from_micros(100 * count));
            Ok(())
        })
        .unwrap();
        assert_eq!(timing.operations, done);
        assert!(timing.elapsed >= 20_000_000);
        assert!(timing.median() >= 100_000.0, "{}", timing.median());
    }

    #[test]
    fn the_median_of_batches_is_the_middle_one() {
        let of = |batches: &[f64]| {
            let batches = batches.to_vec();
            Timing {
                operations: 1,
                elapsed: 1,
                start: 0,
                batches,
            }
            .median()
        };
        assert_eq!(of(&[9.0, 1.0, 2.0]), 2.0);
        assert_eq!(of(&[9.0, 1.0, 2.0, 4.0]), 3.0);
    }

    #[test]
    fn an_operation_longer_than_the_run_is_done_once() {
        let timing = timed(0.001, |_| {
            std::thread::sleep(std::time::Duration::from_millis(3));
            Ok(())
        })
        .unwrap();
        assert_eq!((timing.operations, timing.batches.len()), (1, 1));
    }

    #[test]
    fn times_that_are_no_times_are_refused() {
        for seconds in [0.0, -1.0, f64::NAN, 1e9] {
            assert!(checked(seconds).is_err());
        }
    }
}
