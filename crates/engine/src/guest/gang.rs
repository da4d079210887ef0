//! Where a gang is: a daemon of which several threads wake at once.

use super::playback::Playback;
use super::workload::NO_CPU;
use crate::spec;

/// Where a gang is.
pub struct Gang {
    /// Time from one wake-up to the next [ns].
    pub every_ns: u64,
    /// What each thread has to do after the last wake-up [instructions].
    pub each: f64,
    /// Recorded work, if that is what it does.
    pub playback: Option<Playback>,
    /// Where in its period it wakes, which the clock of another day decides [0..1).
    pub phase: f64,
    /// Logical processor each thread last ran on.
    pub last_cpus: Vec<u16>,
}

impl Gang {
    /// Reads a spec's; `per_ns` are the instructions of a nanosecond of a core by itself. Of its
    /// period `phase` has gone by when it wakes.
    pub fn of(gang: &spec::Gang, warmup_ns: u64, per_ns: f64, phase: f64) -> Self {
        let every = |length_ns: u64, _: f64| (length_ns as f64 / gang.every_ns as f64).round();
        let recorded = !gang.lengths_ns.is_empty();
        let (lengths, rates) = (&gang.lengths_ns, &gang.instructions_per_s);
        Self {
            every_ns: gang.every_ns,
            each: gang.work_ns as f64 * per_ns,
            playback: recorded.then(|| Playback::of(warmup_ns, lengths, rates, every)),
            phase,
            last_cpus: vec![NO_CPU; usize::from(gang.threads)],
        }
    }
}
