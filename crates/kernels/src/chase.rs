//! How long a load takes, by size of the buffer and kind of its pages: each load's address is what
//! the load before found, so that none can begin early, and the lines follow each other at random,
//! so that none can be guessed.

use serde::Deserialize;
use serde_json::json;

use crate::fault::{parameters, Fault, Outcome};
use crate::region::{Pages, Region};
use crate::{batches, memory, threads};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    seconds: f64,
    /// `CLOCK_MONOTONIC` before which it does not begin; 0 is at once [ns].
    #[serde(default)]
    start_ns: u64,
    /// Size of each thread's buffer.
    bytes: usize,
    #[serde(default)]
    pages: Pages,
    /// Independent chases of one thread, in turns: more than one shows how many misses overlap.
    #[serde(default = "one")]
    chains: usize,
    #[serde(default = "one")]
    threads: usize,
}

fn one() -> usize {
    1
}

/// Words of a line: one of them is visited.
const LINE: usize = 8;

/// Time per load of random chases through a buffer.
pub(crate) fn chase(json: &str) -> Outcome {
    let asked: Parameters = parameters(json)?;
    let seconds = batches::checked(asked.seconds)?;
    let bytes = memory::checked(asked.bytes)?;
    let threads = threads::checked(asked.threads)?;
    let plan = threads::Plan {
        threads,
        start_ns: asked.start_ns,
        seconds,
    };
    let follow = follower(asked.chains)?;
    let found = threads::together(
        plan,
        |thread| {
            let mut region = Region::new(bytes, asked.pages)
                .map_err(|fault| Fault::Host("mapping memory", fault))?;
            link(region.words_mut(), thread as u64 + 1);
            let places = starts(region.words().len() / LINE, asked.chains);
            Ok((region, places))
        },
        |(region, places), steps| follow(region.words(), places, steps),
    )?;
    let chains = asked.chains as u64;
    let (steps, elapsed) = threads::sum(found.iter().map(|(_, timing)| timing));
    let medians = found
        .iter()
        .map(|(_, timing)| timing.median() / chains as f64);
    Ok(json!({
        "kernel": "chase",
        "bytes": bytes,
        "pages": asked.pages,
        "huge_bytes": found.iter().map(|((region, _), _)| region.huge_bytes()).sum::<Option<u64>>(),
        "chains": chains,
        "threads": threads,
        "start_ns": found.iter().map(|(_, timing)| timing.start).min(),
        "seconds": elapsed,
        "operations": steps * chains,
        "ns": medians.clone().sum::<f64>() / threads as f64,
        "ns_by_thread": medians.collect::<Vec<_>>(),
        "batches_ns":
            found[0].1.batches.iter().map(|ns| ns / chains as f64).collect::<Vec<_>>(),
    }))
}

/// Links all lines to one circle in random order, by Sattolo's shuffle; each line's first word
/// holds the index of the next line's first word.
fn link(words: &mut [u64], seed: u64) {
    let lines = words.len() / LINE;
    for line in 0..lines {
        words[line * LINE] = (line * LINE) as u64;
    }
    let mut state = seed;
    for line in (1..lines).rev() {
        // The remainder's bias is below one in 2^20 for any buffer that fits a host.
        let other = (splitmix(&mut state) % line as u64) as usize;
        words.swap(line * LINE, other * LINE);
    }
}

/// Steele, Lea and Flood's SplitMix64: the next number of the sequence.
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

type Follow = fn(&[u64], &mut [usize], u64);

/// The loop for a number of chains, compiled for it, so that all their places stay in registers.
fn follower(chains: usize) -> Result<Follow, Fault> {
    match chains {
        1 => Ok(follow::<1>),
        2 => Ok(follow::<2>),
        4 => Ok(follow::<4>),
        8 => Ok(follow::<8>),
        12 => Ok(follow::<12>),
        _ => Err(Fault::Wrong(format!(
            "chains is {chains}; there are 1, 2, 4, 8 and 12"
        ))),
    }
}

/// Where the chains begin: evenly spaced in memory, and so anywhere on the circle.
fn starts(lines: usize, chains: usize) -> Vec<usize> {
    (0..chains)
        .map(|chain| chain * lines / chains * LINE)
        .collect()
}

/// Goes so many steps along each of the chains, on from where they were: begun anew each time, a
/// chase would not leave the few lines that it met before.
fn follow<const CHAINS: usize>(words: &[u64], places: &mut [usize], steps: u64) {
    let mut now: [usize; CHAINS] = std::array::from_fn(|chain| places[chain]);
    for _ in 0..steps {
        for place in &mut now {
            *place = words[*place] as usize;
        }
    }
    places.copy_from_slice(&now);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chase_visits_every_line_before_it_returns() {
        for lines in [1, 2, 3, 16, 1000] {
            let mut words = vec![0; lines * LINE];
            link(&mut words, 7);
            let (mut place, mut seen) = (0, 0);
            loop {
                place = words[place] as usize;
                seen += 1;
                if place == 0 {
                    break;
                }
            }
            assert_eq!(seen, lines);
        }
    }

    #[test]
    fn a_chase_goes_on_from_where_it_was() {
        let mut words = vec![0; 100 * LINE];
        link(&mut words, 7);
        let (mut whole, mut parts) = (starts(100, 2), starts(100, 2));
        follow::<2>(&words, &mut whole, 5);
        follow::<2>(&words, &mut parts, 2);
        follow::<2>(&words, &mut parts, 3);
        assert_eq!(whole, parts);
        assert_ne!(whole, starts(100, 2));
    }

    #[test]
    fn the_order_is_the_seed_s() {
        let of = |seed| {
            let mut words = vec![0; 64 * LINE];
            link(&mut words, seed);
            words
        };
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn numbers_of_chains_that_are_not_compiled_are_refused() {
        assert!(follower(3).is_err());
    }
}
