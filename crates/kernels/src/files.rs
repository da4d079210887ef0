//! What it costs to go through a file that lies in memory once more, by reading and by mapping it,
//! opened once or each time; and what it costs to map and unmap a file.

use std::hint::black_box;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, SeekFrom};
use rustix::io::retry_on_intr;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::batches::{self, timed};
use crate::clock::sleep_until;
use crate::fault::{parameters, Doing, Fault, Outcome};
use crate::memory::{self, sum};
use crate::region::{Mapped, Pages, Region};

/// How the file is gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Way {
    /// Read into a buffer, whose words are added up.
    Read,
    /// Mapped; the words of the mapping are added up.
    Map,
}

/// When the file is opened, and mapped if it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Opened {
    /// Before the measured time.
    Once,
    /// Each time, and closed.
    Each,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    seconds: f64,
    /// `CLOCK_MONOTONIC` before which it does not begin; 0 is at once [ns].
    #[serde(default)]
    start_ns: u64,
    /// A file that is there and nobody else's.
    path: String,
    /// So much of it is gone through.
    bytes: usize,
    way: Way,
    opened: Opened,
}

/// Most that one call reads, as lmbench does: larger than a first cache, smaller than a second one.
const READ_AT_ONCE: usize = 64 << 10;
/// Of a mapping a tenth is touched, as lmbench does: programs map more than they use.
const TOUCHED: usize = 10;

fn open(path: &str) -> Result<OwnedFd, Fault> {
    rustix::fs::open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).doing("opening the file")
}

/// Opens it; refuses a file that is shorter than what is to be gone through, which a mapping would
/// be killed for.
fn open_long_enough(path: &str, bytes: usize) -> Result<OwnedFd, Fault> {
    let file = open(path)?;
    let size = rustix::fs::fstat(&file)
        .doing("asking for the file's size")?
        .st_size;
    if u64::try_from(size).is_ok_and(|size| size >= bytes as u64) {
        return Ok(file);
    }
    Err(Fault::Wrong(format!(
        "{path} has {size} bytes, and {bytes} are to be gone through"
    )))
}

/// Whole words, so that a mapping can be added up as a buffer is.
fn words(bytes: usize) -> Result<usize, Fault> {
    Ok(memory::checked(bytes)? / 8)
}

/// Reads so many words from where the file stands, and adds them up.
fn read_through(file: &OwnedFd, words: usize, buffer: &mut Region) -> Result<(), Fault> {
    let mut left = words * 8;
    while left > 0 {
        let room = &mut buffer.bytes_mut()[..left.min(READ_AT_ONCE)];
        let got = retry_on_intr(|| rustix::io::read(file, &mut *room)).doing("reading the file")?;
        if got == 0 {
            return Err(Fault::Wrong(
                "the file was cut while it was read".to_owned(),
            ));
        }
        black_box(sum(&buffer.words()[..got / 8]));
        left -= got;
    }
    Ok(())
}

/// Bandwidth of going through a file that lies in the kernel's page cache.
pub(crate) fn reread(json: &str) -> Outcome {
    let asked: Parameters = parameters(json)?;
    let seconds = batches::checked(asked.seconds)?;
    let words = words(asked.bytes)?;
    let file = open_long_enough(&asked.path, asked.bytes)?;
    let mut buffer = Region::new(READ_AT_ONCE, Pages::Small).doing("mapping memory")?;
    // Once before, so that all of it lies in memory.
    read_through(&file, words, &mut buffer)?;
    let mapped = Mapped::new(&file, words).doing("mapping the file")?;
    black_box(sum(mapped.words()));
    sleep_until(asked.start_ns);
    let timing = timed(seconds, |count| {
        for _ in 0..count {
            match (asked.way, asked.opened) {
                (Way::Read, Opened::Once) => {
                    rustix::fs::seek(&file, SeekFrom::Start(0)).doing("going to its begin")?;
                    read_through(&file, words, &mut buffer)?;
                }
                (Way::Read, Opened::Each) => {
                    read_through(&open(&asked.path)?, words, &mut buffer)?;
                }
                (Way::Map, Opened::Once) => {
                    black_box(sum(black_box(&mapped).words()));
                }
                (Way::Map, Opened::Each) => {
                    let file = open(&asked.path)?;
                    let mapped = Mapped::new(&file, words).doing("mapping the file")?;
                    black_box(sum(mapped.words()));
                }
            }
        }
        Ok(())
    })?;
    let moved = words as f64 * 8.0;
    let rate = |ns: f64| moved / ns * 1e3;
    Ok(json!({
        "kernel": "file",
        "way": asked.way,
        "opened": asked.opened,
        "bytes": asked.bytes,
        "start_ns": timing.start,
        "seconds": timing.elapsed as f64 / 1e9,
        "moved_bytes": timing.operations * words as u64 * 8,
        "mb_per_s": rate(timing.median()),
        "batches_mb_per_s": timing.batches.iter().copied().map(rate).collect::<Vec<_>>(),
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mapping {
    seconds: f64,
    /// `CLOCK_MONOTONIC` before which it does not begin; 0 is at once [ns].
    #[serde(default)]
    start_ns: u64,
    /// A file that is there and nobody else's.
    path: String,
    /// So much of it is mapped.
    bytes: usize,
}

/// A file mapped, each page of its first tenth written to, and unmapped.
pub(crate) fn mapping(json: &str) -> Outcome {
    let asked: Mapping = parameters(json)?;
    let seconds = batches::checked(asked.seconds)?;
    let words = words(asked.bytes)?;
    let file = open_long_enough(&asked.path, asked.bytes)?;
    let page = rustix::param::page_size() / 8;
    let once = |value: u64| {
        let mut mapped = Mapped::new(&file, words).doing("mapping the file")?;
        let touched = &mut mapped.words_mut()[..words.div_ceil(TOUCHED)];
        for word in touched.iter_mut().step_by(page) {
            *word = value;
        }
        black_box(touched);
        Ok(())
    };
    // Once before, so that the pages lie in memory.
    once(0)?;
    sleep_until(asked.start_ns);
    let timing = timed(seconds, |count| (0..count).try_for_each(once))?;
    let mut found = timing.report("mapping", 1);
    found["bytes"] = asked.bytes.into();
    found["pages"] = words.div_ceil(TOUCHED).div_ceil(page).into();
    Ok(found)
}
