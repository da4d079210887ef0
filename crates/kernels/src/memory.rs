//! What the memory system gives, by size of the buffer: read, written, copied, zeroed, and read,
//! written and copied in part.
//!
//! The loops are what the compiler makes for a portable program, 16 bytes at a time on x86, so that
//! they and not the cache bound what small buffers give; copy and zero are the C library's.

use std::hint::black_box;

use serde::{Deserialize, Serialize};
use serde_json::{json, Value};

use crate::fault::{parameters, Fault, Outcome};
use crate::region::{Pages, Region};
use crate::{batches, threads};

/// What is done to the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Operation {
    /// All words are added up.
    Read,
    /// All words are stored to.
    Write,
    /// One half of the buffer is copied to the other; the copied bytes count, once.
    Copy,
    /// All bytes are set to 0.
    Zero,
    /// A word of each line of 64 bytes is read; the whole line counts, for the whole line moves.
    PartialRead,
    /// A word of each line is stored to; the whole line counts.
    PartialWrite,
    /// A word of each line is read, then stored to; the whole line counts, once.
    PartialReadWrite,
    /// As `Copy`, but by a loop over words and not by the C library.
    UnrolledCopy,
    /// A word of each line is copied by such a loop; the whole line counts, once.
    PartialCopy,
}

impl Operation {
    /// Whether one half of the buffer is copied to the other.
    fn copies(self) -> bool {
        matches!(self, Self::Copy | Self::UnrolledCopy | Self::PartialCopy)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    seconds: f64,
    /// `CLOCK_MONOTONIC` before which it does not begin; 0 is at once [ns].
    #[serde(default)]
    start_ns: u64,
    operation: Operation,
    /// Size of each thread's buffer.
    bytes: usize,
    #[serde(default)]
    pages: Pages,
    /// Of a copy: by how much its target is off the line that its source begins on.
    #[serde(default)]
    offset: usize,
    #[serde(default = "one")]
    threads: usize,
}

fn one() -> usize {
    1
}

/// Words of a line.
const LINE: usize = 8;

/// Refuses buffers that are none, or beyond any host's address space.
pub(crate) fn checked(bytes: usize) -> Result<usize, Fault> {
    if (1024..=1 << 40).contains(&bytes) {
        return Ok(bytes);
    }
    Err(Fault::Wrong(format!(
        "bytes is {bytes}; it must be from 1024 to {}",
        1_u64 << 40
    )))
}

/// Words that a copy's target is off a line.
fn shift(operation: Operation, offset: usize) -> Result<usize, Fault> {
    if offset != 0 && !operation.copies() {
        let why = "offset is where a copy's target begins, and this operation copies nothing";
        return Err(Fault::Wrong(why.to_owned()));
    }
    if offset % 8 == 0 && offset < LINE * 8 {
        return Ok(offset / 8);
    }
    Err(Fault::Wrong(format!(
        "offset is {offset}; it must be a multiple of 8 below 64"
    )))
}

/// Bandwidth of an operation on a buffer of a size, by one thread or by several with one each.
pub(crate) fn memory(json: &str) -> Outcome {
    let asked: Parameters = parameters(json)?;
    let seconds = batches::checked(asked.seconds)?;
    let bytes = checked(asked.bytes)?;
    let shift = shift(asked.operation, asked.offset)?;
    let threads = threads::checked(asked.threads)?;
    let plan = threads::Plan {
        threads,
        start_ns: asked.start_ns,
        seconds,
    };
    let found = threads::together(
        plan,
        |_| Region::new(bytes, asked.pages).map_err(|fault| Fault::Host("mapping memory", fault)),
        |region, passes| pass(asked.operation, shift, region.words_mut(), passes),
    )?;
    let moved = moved(asked.operation, shift, found[0].0.words().len()) as u64;
    let (passes, elapsed) = threads::sum(found.iter().map(|(_, timing)| timing));
    let rates = found
        .iter()
        .map(|(_, timing)| moved as f64 / timing.median() * 1e3);
    Ok(json!({
        "kernel": "memory",
        "operation": asked.operation,
        "bytes": bytes,
        "offset": asked.offset,
        "pages": asked.pages,
        "huge_bytes": found.iter().map(|(region, _)| region.huge_bytes()).sum::<Option<u64>>(),
        "threads": threads,
        "start_ns": found.iter().map(|(_, timing)| timing.start).min(),
        "seconds": elapsed,
        "moved_bytes": passes * moved,
        "mb_per_s": rates.clone().sum::<f64>(),
        "mb_per_s_by_thread": rates.collect::<Vec<_>>(),
        "batches_mb_per_s": series(&found[0].1.batches, moved),
    }))
}

/// The first thread's batches, as bandwidth.
fn series(batches: &[f64], moved: u64) -> Value {
    batches
        .iter()
        .map(|ns| moved as f64 / ns * 1e3)
        .collect::<Vec<_>>()
        .into()
}

/// Bytes that one pass moves.
fn moved(operation: Operation, shift: usize, words: usize) -> usize {
    8 * if operation.copies() {
        words / 2 - shift
    } else {
        words
    }
}

/// Where a copy comes from, and as much room from the words on that its target is off a line.
fn halves(words: &mut [u64], shift: usize) -> (&[u64], &mut [u64]) {
    let (from, to) = words.split_at_mut(words.len() / 2);
    let length = from.len() - shift;
    (&from[..length], &mut to[shift..][..length])
}

fn pass(operation: Operation, shift: usize, words: &mut [u64], passes: u64) {
    for turn in 0..passes {
        let words = black_box(&mut *words);
        match operation {
            Operation::Read => {
                black_box(sum(words));
            }
            Operation::Write => words.fill(black_box(turn | 1 << 40)),
            Operation::Copy => {
                let (from, to) = halves(words, shift);
                to.copy_from_slice(from);
            }
            Operation::Zero => words.fill(0),
            Operation::PartialRead => {
                black_box(sum_of_lines(words));
            }
            Operation::PartialWrite => {
                for line in words.chunks_exact_mut(LINE) {
                    line[0] = turn;
                }
            }
            Operation::PartialReadWrite => {
                black_box(sum_and_store(words, turn));
            }
            Operation::UnrolledCopy => {
                let (from, to) = halves(words, shift);
                copy_changed(from, to, turn);
            }
            Operation::PartialCopy => {
                let (from, to) = halves(words, shift);
                for (from, to) in from.chunks(LINE).zip(to.chunks_mut(LINE)) {
                    to[0] = from[0];
                }
            }
        }
        black_box(&*words);
    }
}

/// Copies words, each changed by `by`: of a loop that changes nothing the compiler makes a call of
/// the C library's copy again.
fn copy_changed(from: &[u64], to: &mut [u64], by: u64) {
    for (from, to) in from.iter().zip(to) {
        *to = *from ^ by;
    }
}

/// Sum of the first words of all lines, each of which is then stored to.
fn sum_and_store(words: &mut [u64], value: u64) -> u64 {
    let mut sum = 0_u64;
    for line in words.chunks_mut(LINE) {
        sum = sum.wrapping_add(line[0]);
        line[0] = value;
    }
    sum
}

/// Sum of all words, in eight running sums so that no addition waits for the one before.
///
/// Four lines a turn, written out: left to the compiler, the loop of a build that is optimised
/// across crates was another, and read a quarter less of what lies in the first cache.
pub(crate) fn sum(words: &[u64]) -> u64 {
    let mut sums = [0_u64; LINE];
    let mut turns = words.chunks_exact(4 * LINE);
    for lines in &mut turns {
        for line in lines.chunks_exact(LINE) {
            add(&mut sums, line);
        }
    }
    for line in turns.remainder().chunks_exact(LINE) {
        add(&mut sums, line);
    }
    sums.into_iter().fold(0, u64::wrapping_add)
}

fn add(sums: &mut [u64; LINE], line: &[u64]) {
    for (sum, word) in sums.iter_mut().zip(line) {
        *sum = sum.wrapping_add(*word);
    }
}

/// Sum of the first words of all lines.
fn sum_of_lines(words: &[u64]) -> u64 {
    let mut sums = [0_u64; 4];
    for lines in words.chunks(4 * LINE) {
        for (sum, line) in sums.iter_mut().zip(lines.chunks(LINE)) {
            *sum = sum.wrapping_add(line[0]);
        }
    }
    sums.into_iter().fold(0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_words() {
        let words: Vec<u64> = (0..72).collect();
        assert_eq!(sum(&words), 71 * 72 / 2);
        assert_eq!(sum(&words[..64]), 63 * 64 / 2);
        assert_eq!(sum(&words[..24]), 23 * 24 / 2);
        assert_eq!(
            sum_of_lines(&words[..64]),
            (0..8).map(|line| line * 8).sum::<u64>()
        );
    }

    #[test]
    fn each_operation_does_what_it_says() {
        let mut words = vec![3_u64; 64];
        words[..32].copy_from_slice(&[7; 32]);
        pass(Operation::Copy, 0, &mut words, 1);
        assert_eq!(words, [7; 64]);
        pass(Operation::PartialWrite, 0, &mut words, 2);
        assert_eq!(words[0..3], [1, 7, 7]);
        assert_eq!(words[56..58], [1, 7]);
        pass(Operation::Write, 0, &mut words, 1);
        assert_eq!(words, [1 << 40; 64]);
        pass(Operation::Zero, 0, &mut words, 1);
        assert_eq!(words, [0; 64]);
        words[8] = 5;
        assert_eq!(sum_and_store(&mut words, 2), 5);
        assert_eq!(words[7..10], [0, 2, 0]);
    }

    #[test]
    fn copies_off_the_line_end_with_the_buffer() {
        for operation in [Operation::Copy, Operation::UnrolledCopy] {
            let mut words: Vec<u64> = (1..=64).collect();
            pass(operation, 1, &mut words, 1);
            // The first pass changes words by 0, so that both copies are the same.
            assert_eq!(words[32], 33, "{operation:?}");
            assert_eq!(words[33..], (1..=31).collect::<Vec<_>>(), "{operation:?}");
        }
        let mut words: Vec<u64> = (1..=64).collect();
        pass(Operation::PartialCopy, 1, &mut words, 1);
        assert_eq!(words[32..35], [33, 1, 35]);
        assert_eq!(words[41..43], [9, 43]);
    }

    #[test]
    fn a_copy_counts_what_it_copied_once() {
        assert_eq!(moved(Operation::Copy, 0, 64), 256);
        assert_eq!(moved(Operation::PartialCopy, 1, 64), 248);
        assert_eq!(moved(Operation::Zero, 0, 64), 512);
    }
}
