//! The clocks and counters that a process can read of itself, without allocating, so that a forked
//! child may read them too.

use rustix::fs::{Mode, OFlags};
use rustix::thread::{NanosleepRelativeResult, Timespec};
use rustix::time::ClockId;
use serde::Serialize;

use crate::system;

const SECOND: u64 = 1_000_000_000;

/// `CLOCK_MONOTONIC` [ns].
pub(crate) fn now() -> u64 {
    nanoseconds(rustix::time::clock_gettime(ClockId::Monotonic))
}

/// Processor time of this process, all its threads [ns].
pub(crate) fn cpu() -> u64 {
    nanoseconds(rustix::time::clock_gettime(ClockId::ProcessCPUTime))
}

fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec.unsigned_abs() * SECOND + time.tv_nsec.unsigned_abs()
}

fn timespec(ns: u64) -> Timespec {
    // Both quotient and remainder are far below the signed types' limits.
    Timespec {
        tv_sec: (ns / SECOND) as i64,
        tv_nsec: (ns % SECOND) as _,
    }
}

/// Sleeps until the monotonic clock shows `at` [ns]; a time gone by is no wait.
pub(crate) fn sleep_until(at: u64) {
    let at = timespec(at);
    while rustix::thread::clock_nanosleep_absolute(ClockId::Monotonic, &at).is_err() {}
}

/// Sleeps that long [ns], relative to the call, as programs do.
pub(crate) fn sleep_for(ns: u64) {
    let mut left = timespec(ns);
    while let NanosleepRelativeResult::Interrupted(rest) =
        rustix::thread::clock_nanosleep_relative(ClockId::Monotonic, &left)
    {
        left = rest;
    }
}

/// What a process has used so far.
#[derive(Clone, Copy)]
struct Account {
    cpu: u64,
    switches: system::Switches,
    waits: Option<Waits>,
}

/// Waiting for a processor, from `/proc/self/schedstat`, of the process's first thread.
#[derive(Clone, Copy)]
struct Waits {
    run_delay: u64,
    timeslices: u64,
}

impl Account {
    fn read() -> Self {
        Self {
            cpu: cpu(),
            switches: system::switches(),
            waits: Waits::read(),
        }
    }
}

impl Waits {
    /// None where the kernel does not keep them.
    fn read() -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = rustix::fs::open(c"/proc/self/schedstat", flags, Mode::empty()).ok()?;
        let mut text = [0_u8; 96];
        let length = rustix::io::read(&file, &mut text).ok()?;
        let text = std::str::from_utf8(text.get(..length)?).ok()?;
        let mut fields = text
            .split_ascii_whitespace()
            .skip(1)
            .map_while(|word| word.parse().ok());
        Some(Self {
            run_delay: fields.next()?,
            timeslices: fields.next()?,
        })
    }
}

/// Started, to be ended with `Watch::stop`.
pub(crate) struct Watch {
    start_ns: u64,
    before: Account,
}

impl Watch {
    /// Counts from here on.
    pub(crate) fn start() -> Self {
        let before = Account::read();
        Self {
            start_ns: now(),
            before,
        }
    }

    /// When it was started [ns].
    pub(crate) fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// What was used since it was started.
    pub(crate) fn stop(&self) -> Used {
        let end_ns = now();
        let after = Account::read();
        let waits = self.before.waits.zip(after.waits);
        Used {
            start_ns: self.start_ns,
            end_ns,
            cpu_ns: after.cpu - self.before.cpu,
            nvcsw: after.switches.voluntary - self.before.switches.voluntary,
            nivcsw: after.switches.involuntary - self.before.switches.involuntary,
            run_delay_ns: waits.map(|(was, is)| is.run_delay - was.run_delay),
            timeslices: waits.map(|(was, is)| is.timeslices - was.timeslices),
        }
    }
}

/// What a process used between two moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Used {
    /// `CLOCK_MONOTONIC` at the start [ns].
    pub(crate) start_ns: u64,
    /// `CLOCK_MONOTONIC` at the end [ns].
    pub(crate) end_ns: u64,
    /// Processor time [ns].
    pub(crate) cpu_ns: u64,
    /// Voluntary context switches.
    pub(crate) nvcsw: u64,
    /// Involuntary context switches.
    pub(crate) nivcsw: u64,
    /// Time runnable and waiting for a processor [ns]; none where the kernel does not tell.
    pub(crate) run_delay_ns: Option<u64>,
    /// Times it was put on a processor; none where the kernel does not tell.
    pub(crate) timeslices: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_lasts_and_costs_no_processor_time() {
        let watch = Watch::start();
        for _ in 0..4 {
            sleep_for(2_000_000);
            sleep_until(now() + 3_000_000);
        }
        let used = watch.stop();
        assert!(used.end_ns - used.start_ns >= 20_000_000);
        // Kept from its processor for a whole sleep, a process finds it over and gives nothing up.
        assert!(
            used.nvcsw >= 4,
            "eight sleeps are eight voluntary switches, or nearly: {used:?}"
        );
    }

    #[test]
    fn a_time_gone_by_is_no_wait() {
        let start = now();
        sleep_until(1);
        assert!(now() - start < 60 * SECOND);
    }

    #[test]
    fn the_parts_of_a_time_are_split_at_the_second() {
        let time = timespec(3 * SECOND + 7);
        assert_eq!((time.tv_sec, time.tv_nsec), (3, 7));
        assert_eq!(nanoseconds(time), 3_000_000_007);
    }
}
