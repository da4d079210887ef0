//! Three questions to every parser: does it answer whatever the damage, does its work grow with
//! the text and no faster, does it use no more memory than that. Memory and time are those of the
//! thread that reads, so that parsers are asked beside each other.

mod mutate;
mod readers;
mod swollen;

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use rustix::time::{clock_gettime, ClockId};

use readers::{fault, named, Answer, Reader};

/// Both questions to each of these parsers, a test each.
macro_rules! damaged {
    ($($name:ident)*) => { $(
        mod $name {
            #[test]
            fn any_damage_gets_an_answer() {
                crate::answers_whatever_the_damage(crate::named(stringify!($name)));
            }

            #[test]
            fn work_grows_no_faster_than_the_text() {
                crate::work_grows_with_the_text(crate::named(stringify!($name)));
            }
        }
    )* };
}

damaged! {
    lparstat_strict mpstat_strict vparstatus parstatus
    reports lparcfg hmc_rows hmc_processed
    nmon njmon
    hyptop fcx monwrite samples metrics
    hwloc lscpu libvirt_capabilities libvirt_domain sysfs sysinfo xml
}

/// Cases a parser, unless `DAMAGE_CASES` says otherwise.
const CASES: u64 = 600;
/// Lines of a seed that are repeated, unless `DAMAGE_LINES` says otherwise.
const LINES: u64 = 2;
/// Working memory beyond this is out of proportion to the text.
const HEAP_A_BYTE: usize = 400;

/// What a reading cost.
struct Cost {
    /// Most bytes in use at a time, beyond those before.
    heap: usize,
    /// Time of this thread on a processor [ns].
    nanoseconds: u64,
}

fn processor_time() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    u64::try_from(now.tv_sec * 1_000_000_000 + now.tv_nsec).expect("time is positive")
}

/// Read and say what it took.
fn measured(reader: Reader, bytes: &[u8]) -> (Answer, Cost) {
    let (mut answer, mut nanoseconds) = (None, 0);
    let allocated = allocation_counter::measure(|| {
        let before = processor_time();
        answer = Some((reader.read)(bytes));
        nanoseconds = processor_time() - before;
    });
    let heap = usize::try_from(allocated.bytes_max).expect("it was there");
    (answer.expect("it was read"), Cost { heap, nanoseconds })
}

/// A number of the environment.
fn asked(name: &str, otherwise: u64) -> u64 {
    let said = std::env::var(name).ok();
    said.map_or(otherwise, |said| said.parse().expect("a number"))
}

/// The seeds of a parser: texts of our own making.
fn samples(reader: Reader) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/seeds")
        .join(reader.name);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{} has no seeds: {error}", reader.name))
        .map(|entry| entry.expect("readable").path())
        .collect();
    paths.sort();
    let read = |path: &PathBuf| std::fs::read(path).expect("readable");
    let samples: Vec<Vec<u8>> = paths.iter().map(read).collect();
    assert!(!samples.is_empty(), "{} has no seeds", reader.name);
    samples
}

/// Every seed is read, and of each of its damaged forms there is an answer worth printing.
fn answers_whatever_the_damage(reader: Reader) {
    let samples = samples(reader);
    for sample in &samples {
        if let Err(error) = (reader.read)(sample) {
            panic!("a seed of {} is not read: {error}", reader.name);
        }
    }
    for case in 0..asked("DAMAGE_CASES", CASES) {
        let (bytes, names) = mutate::damaged(case, &samples);
        if let Some(fault) = trouble(reader, &bytes) {
            let (name, names) = (reader.name, names.join(", "));
            let path = keep(reader, case, &bytes);
            let path = path.display();
            panic!("{name}, case {case} ({names}): {fault}\nthe text is in {path}");
        }
    }
}

/// What is wrong with the way a parser takes some bytes, if anything.
fn trouble(reader: Reader, bytes: &[u8]) -> Option<String> {
    let Ok((answer, cost)) = catch_unwind(|| measured(reader, bytes)) else {
        return Some("it panics".into());
    };
    if cost.heap > reader.at_least + HEAP_A_BYTE * bytes.len() {
        return Some(format!(
            "{} bytes of memory for {} bytes",
            cost.heap,
            bytes.len()
        ));
    }
    fault(reader, bytes, &answer)
}

fn keep(reader: Reader, case: u64, bytes: &[u8]) -> PathBuf {
    let name = format!("damaged-{}-{case}", reader.name);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).expect("the folder of the build can be written");
    path
}

/// A text and one sixteen times as long.
const SMALL: usize = 8 << 10;
const GROWTH: usize = 16;
/// Linear work grows sixteenfold, quadratic 256-fold.
const MOST_GROWTH: u64 = 56;
/// Below this no ratio is worth taking [ns].
const QUICK: u64 = 10_000_000;
const TRIES: usize = 4;

/// Sixteen times the text is not much more than sixteen times the work, however the text swells.
fn work_grows_with_the_text(reader: Reader) {
    let lines = asked("DAMAGE_LINES", LINES);
    let lines = usize::try_from(lines).expect("a number of lines");
    let findings: Vec<String> = swollen::swellings(&samples(reader), lines)
        .iter()
        .filter_map(|swelling| {
            let fault = grows_too_fast(reader, swelling)?;
            Some(format!(
                "{}: {fault}, if {swelling} is repeated",
                reader.name
            ))
        })
        .collect();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

fn grows_too_fast(reader: Reader, swelling: &swollen::Swelling) -> Option<String> {
    let (small, large) = (
        swelling.of_length(SMALL),
        swelling.of_length(SMALL * GROWTH),
    );
    let time = |bytes: &[u8]| measured(reader, bytes).1.nanoseconds.max(1);
    let (mut short, mut long) = (time(&small), time(&large));
    for _ in 0..TRIES {
        if long < QUICK || long < MOST_GROWTH * short {
            return trouble(reader, &large);
        }
        short = short.max(time(&small));
        long = long.min(time(&large));
    }
    let (few, many) = (small.len(), large.len());
    Some(format!(
        "{few} bytes take {short} ns, {many} bytes {long} ns"
    ))
}
