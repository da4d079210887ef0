//! Loads that keep a processor busy in a known way: an endless dependent computation, several of
//! them with a common start, and one that runs and sleeps in turns.

use std::hint::black_box;
use std::os::fd::OwnedFd;

use serde::{Deserialize, Serialize};
use serde_json::{json, Value};

use crate::clock::{now, sleep_for, sleep_until, Used, Watch};
use crate::fault::{parameters, Doing, Fault, Outcome};
use crate::scheduling::Scheduling;
use crate::system::fork;

/// Turns between two looks at the clock: some 50 us at 4 GHz.
const BLOCK: u64 = 32_768;

/// So many turns of Marsaglia's xorshift64 (13, 7, 17), each of which needs the one before: six
/// dependent operations a turn, nothing in memory, the same time on every core of one clock.
#[must_use]
pub fn xorshift(mut state: u64, turns: u64) -> u64 {
    for _ in 0..turns {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    state
}

const SEED: u64 = 88_172_645_463_325_252;

/// What ends a loop.
#[derive(Clone, Copy)]
enum Until {
    Turns(u64),
    Nanoseconds(u64),
}

/// A number of turns, or a time that they take; one of the two.
fn until(iterations: Option<u64>, seconds: Option<f64>) -> Result<Until, Fault> {
    match (iterations, seconds) {
        (Some(turns), None) if turns > 0 => Ok(Until::Turns(turns)),
        (None, Some(seconds)) => Ok(Until::Nanoseconds(
            (crate::batches::checked(seconds)? * 1e9) as u64,
        )),
        (Some(0), None) => Err(Fault::Wrong("iterations is 0".to_owned())),
        _ => Err(Fault::Wrong("give either iterations or seconds".to_owned())),
    }
}

/// A loop's turns and what it used; all integers, so that a child hands it over as bytes.
#[derive(Clone, Copy, Serialize)]
struct Looped {
    iterations: u64,
    /// How much later than asked it started [ns]; 0 where it was to start at once.
    start_late_ns: u64,
    #[serde(flatten)]
    used: Used,
}

/// Waits for the common start, then turns.
fn looped(start_ns: u64, until: Until) -> Looped {
    sleep_until(start_ns);
    let watch = Watch::start();
    let mut state = black_box(SEED);
    let turns = match until {
        Until::Turns(turns) => {
            state = xorshift(state, turns);
            turns
        }
        Until::Nanoseconds(length) => {
            let end = counted_from(start_ns, &watch) + length;
            let mut turns = 0;
            while now() < end {
                state = xorshift(state, BLOCK);
                turns += BLOCK;
            }
            turns
        }
    };
    black_box(state);
    let used = watch.stop();
    Looped {
        iterations: turns,
        start_late_ns: late(start_ns, used.start_ns),
        used,
    }
}

/// The time that a loop's length counts from: the common start if there is one.
fn counted_from(start_ns: u64, watch: &Watch) -> u64 {
    if start_ns == 0 {
        watch.start_ns()
    } else {
        start_ns
    }
}

fn late(asked: u64, was: u64) -> u64 {
    if asked == 0 {
        0
    } else {
        was.saturating_sub(asked)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct One {
    /// `CLOCK_MONOTONIC` of the common start [ns]; 0 is at once.
    #[serde(default)]
    start_ns: u64,
    iterations: Option<u64>,
    /// Length, from the common start [s].
    seconds: Option<f64>,
    #[serde(default)]
    scheduling: Scheduling,
}

/// One loop of so many turns, or of so many seconds.
pub(crate) fn one(json: &str) -> Outcome {
    let One {
        start_ns,
        iterations,
        seconds,
        scheduling,
    } = parameters(json)?;
    scheduling.ask()?;
    let found = looped(start_ns, until(iterations, seconds)?);
    serde_json::to_value(found).map_err(|fault| Fault::Wrong(fault.to_string()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Many {
    /// Loops, a process each.
    count: usize,
    #[serde(default)]
    start_ns: u64,
    iterations: Option<u64>,
    seconds: Option<f64>,
}

/// Time from the first fork to the common start where none is asked for [ns]: enough for all to be
/// asleep by then.
const SETTLE: u64 = 20_000_000;
const SETTLE_EACH: u64 = 1_000_000;
const MOST: usize = 4096;

/// Several loops with a common start, a process each.
pub(crate) fn many(json: &str) -> Outcome {
    let Many {
        count,
        start_ns,
        iterations,
        seconds,
    } = parameters(json)?;
    if !(1..=MOST).contains(&count) {
        return Err(Fault::Wrong(format!(
            "count is {count}; it must be from 1 to {MOST}"
        )));
    }
    let until = until(iterations, seconds)?;
    let start_ns = match start_ns {
        0 => now() + SETTLE + SETTLE_EACH * count as u64,
        asked => asked,
    };
    let mut children = Vec::with_capacity(count);
    for _ in 0..count {
        let (from, to) = rustix::pipe::pipe().doing("making a pipe")?;
        let child = fork(|| hand_over(&to, looped(start_ns, until))).doing("forking")?;
        children.push((child, from));
    }
    let mut loops = Vec::with_capacity(count);
    for (child, from) in children {
        loops.push(take(&from)?);
        child.wait().doing("waiting for a loop")?;
    }
    let end = loops
        .iter()
        .map(|found| found.used.end_ns)
        .max()
        .unwrap_or(start_ns);
    Ok(json!({
        "kernel": "loops",
        "start_ns": start_ns,
        "elapsed_ns": end - start_ns,
        "loops": loops,
    }))
}

const WORDS: usize = 9;

/// Writes a loop's figures to the parent, without allocating.
fn hand_over(to: &OwnedFd, found: Looped) -> i32 {
    let used = found.used;
    let words = [
        found.iterations,
        found.start_late_ns,
        used.start_ns,
        used.end_ns,
        used.cpu_ns,
        used.nvcsw,
        used.nivcsw,
        used.run_delay_ns.unwrap_or(u64::MAX),
        used.timeslices.unwrap_or(u64::MAX),
    ];
    let mut bytes = [0_u8; WORDS * 8];
    for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_ne_bytes());
    }
    i32::from(rustix::io::write(to, &bytes) != Ok(bytes.len()))
}

/// Reads what `hand_over` wrote, which a pipe keeps in one piece.
fn take(from: &OwnedFd) -> Result<Looped, Fault> {
    let mut bytes = [0_u8; WORDS * 8];
    let length =
        rustix::io::retry_on_intr(|| rustix::io::read(from, &mut bytes)).doing("reading")?;
    if length != bytes.len() {
        let cut = std::io::ErrorKind::UnexpectedEof;
        return Err(Fault::Host("waiting for a loop's figures", cut.into()));
    }
    let mut words = bytes.chunks_exact(8).map(|word| {
        u64::from_ne_bytes([
            word[0], word[1], word[2], word[3], word[4], word[5], word[6], word[7],
        ])
    });
    let mut next = || words.next().unwrap_or_default();
    let known = |word: u64| (word != u64::MAX).then_some(word);
    Ok(Looped {
        iterations: next(),
        start_late_ns: next(),
        used: Used {
            start_ns: next(),
            end_ns: next(),
            cpu_ns: next(),
            nvcsw: next(),
            nivcsw: next(),
            run_delay_ns: known(next()),
            timeslices: known(next()),
        },
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnOff {
    #[serde(default)]
    start_ns: u64,
    /// Length, from the common start; the burst under way is finished [s].
    seconds: f64,
    /// Turns of a burst: the same work each time, however long it takes.
    iterations: u64,
    /// Sleep before each burst: the first from the common start, the others from the end of the
    /// burst before [ns].
    sleep_ns: u64,
    #[serde(default)]
    scheduling: Scheduling,
}

/// Bursts of a fixed number of turns with a sleep before each, and how late each woke up.
pub(crate) fn on_off(json: &str) -> Outcome {
    let OnOff {
        start_ns,
        seconds,
        iterations,
        sleep_ns,
        scheduling,
    } = parameters(json)?;
    let length = (crate::batches::checked(seconds)? * 1e9) as u64;
    if iterations == 0 || sleep_ns == 0 {
        let why = "a burst has at least 1 iteration and a sleep at least 1 ns";
        return Err(Fault::Wrong(why.to_owned()));
    }
    scheduling.ask()?;
    sleep_until(start_ns);
    let watch = Watch::start();
    let end = counted_from(start_ns, &watch) + length;
    let (mut bursts, mut lates): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
    let mut state = black_box(SEED);
    let mut asleep = watch.start_ns();
    while asleep < end {
        sleep_for(sleep_ns);
        let woken = now();
        if woken >= end {
            break;
        }
        state = xorshift(state, iterations);
        lates.push(woken.saturating_sub(asleep + sleep_ns));
        asleep = now();
        bursts.push(asleep - woken);
    }
    black_box(state);
    let used = watch.stop();
    let turns = iterations * bursts.len() as u64;
    let whole = Looped {
        iterations: turns,
        start_late_ns: late(start_ns, used.start_ns),
        used,
    };
    report(whole, &bursts, &lates)
}

/// The figures of the whole, and of each burst.
fn report(whole: Looped, bursts: &[u64], lates: &[u64]) -> Outcome {
    let mut found = serde_json::to_value(whole).map_err(|fault| Fault::Wrong(fault.to_string()))?;
    found["bursts"] = Value::from(bursts.len());
    found["wakeup_late_ns"] = Value::from(lates);
    found["burst_ns"] = Value::from(bursts);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xorshift_is_marsaglia_s() {
        // The first number that his paper gives for this seed and these shifts.
        assert_eq!(xorshift(SEED, 1), 8_748_534_153_485_358_512);
        assert_eq!(xorshift(SEED, 3), xorshift(xorshift(SEED, 1), 2));
    }

    #[test]
    fn figures_come_out_of_a_pipe_as_they_went_in() {
        let (from, to) = rustix::pipe::pipe().unwrap();
        let used = Used {
            start_ns: 1,
            end_ns: 2,
            cpu_ns: 3,
            nvcsw: 4,
            nivcsw: 5,
            run_delay_ns: None,
            timeslices: Some(6),
        };
        assert_eq!(
            hand_over(
                &to,
                Looped {
                    iterations: 7,
                    start_late_ns: 8,
                    used
                }
            ),
            0
        );
        let back = take(&from).unwrap();
        assert_eq!((back.iterations, back.start_late_ns), (7, 8));
        assert_eq!(back.used, used);
    }

    #[test]
    fn figures_that_never_came_are_missed() {
        let (from, to) = rustix::pipe::pipe().unwrap();
        drop(to);
        assert!(matches!(take(&from), Err(Fault::Host(..))));
    }
}
