//! Reading nmon recordings: bytes a second, beside looking at every byte once.

use std::hint::black_box;
use std::time::Instant;

use homenode_captures::nmon::{Batch, Reader};

use crate::case::{made, Case, Sample};

const GROUP: &str = "Reading recordings (M bytes/s instead of events)";
const BARE: &str = "nmon: counting commas and ends of line";
/// Bytes of one measurement.
const BYTES: usize = 24 << 20;
/// Bytes handed over at once.
const CHUNK: usize = 1 << 20;
/// Numbers after which columns are taken out.
const HELD: usize = 1 << 18;

/// Writes one snapshot, or the headings.
type Snapshot = fn(&mut String, u64, bool);

/// All cases of this group.
pub fn all() -> Vec<Case> {
    vec![
        case(BARE, aix_snapshot, count),
        case(
            "nmon: AIX, 32 logical processors, all columns",
            aix_snapshot,
            read,
        ),
        case(
            "nmon: Linux, 16 processors, processes",
            linux_snapshot,
            read,
        ),
    ]
}

fn case(name: &'static str, snapshot: Snapshot, run: fn(&[u8]) -> Sample) -> Case {
    let run = made(move || recording(snapshot), move |bytes, _| run(bytes));
    Case::new(GROUP, name, BARE, run)
}

fn count(bytes: &[u8]) -> Sample {
    let begun = Instant::now();
    let (mut fields, mut lines) = (0u64, 0u64);
    for byte in bytes {
        fields += u64::from(*byte == b',');
        lines += u64::from(*byte == b'\n');
    }
    black_box((fields, lines));
    Sample::new(bytes.len() as u64, begun.elapsed())
}

/// Every value of every column is taken out of the reader and added up.
fn read(bytes: &[u8]) -> Sample {
    let begun = Instant::now();
    let mut reader = Reader::new();
    let mut sum = 0.0;
    for chunk in bytes.chunks(CHUNK) {
        reader.feed(chunk);
        if reader.waiting() > HELD {
            sum += total(reader.take());
        }
    }
    let (last, summary) = reader.finish().expect("a recording");
    assert_eq!(summary.dropped, 0, "the recording is sound");
    black_box(sum + total(last));
    Sample::new(bytes.len() as u64, begun.elapsed())
}

fn total(batches: Vec<Batch>) -> f64 {
    let sum = |batch: &Batch| -> f64 {
        let columns = 0..batch.columns.len();
        columns.map(|index| batch.column(index).sum::<f64>()).sum()
    };
    batches.iter().map(sum).sum()
}

/// Headings, then snapshots until there are enough bytes.
fn recording(snapshot: Snapshot) -> Vec<u8> {
    let mut text = String::from("AAA,progname,nmon\nAAA,interval,60\n");
    snapshot(&mut text, 0, true);
    let mut number = 0;
    while text.len() < BYTES {
        number += 1;
        let (day, minute) = (1 + number / 1440 % 28, number % 1440);
        text += &format!(
            "ZZZZ,T{number:04},{:02}:{:02}:00,{day:02}-MAR-2025\n",
            minute / 60,
            minute % 60
        );
        snapshot(&mut text, number, false);
    }
    text.into_bytes()
}

/// A row of figures with a decimal, or the names of their columns.
fn row(text: &mut String, section: &str, number: u64, heads: bool, columns: u64, places: usize) {
    if heads {
        *text += &format!("{section},{section} of web");
        (0..columns).for_each(|column| *text += &format!(",column {column}"));
    } else {
        *text += &format!("{section},T{number:04}");
        for column in 0..columns {
            let value = (number * 7 + column * 13) % 1000;
            *text += &format!(",{:.places$}", value as f64 / 10.0);
        }
    }
    text.push('\n');
}

fn aix_snapshot(text: &mut String, number: u64, heads: bool) {
    for processor in 1..=32 {
        row(text, &format!("CPU{processor:02}"), number, heads, 4, 1);
        row(text, &format!("PCPU{processor:02}"), number, heads, 4, 2);
        row(text, &format!("SCPU{processor:02}"), number, heads, 4, 2);
    }
    row(text, "MEM", number, heads, 6, 1);
    row(text, "MEMPAGES4KB", number, heads, 37, 0);
    for section in ["DISKBUSY", "DISKREAD", "DISKWRITE", "DISKXFER", "DISKSERV"] {
        row(text, section, number, heads, 24, 1);
    }
    for section in ["NET", "NETPACKET", "PROC", "JFSFILE", "IOADAPT"] {
        row(text, section, number, heads, 12, 1);
    }
}

fn linux_snapshot(text: &mut String, number: u64, heads: bool) {
    for processor in 1..=16 {
        row(text, &format!("CPU{processor:03}"), number, heads, 5, 1);
    }
    row(text, "MEM", number, heads, 15, 1);
    row(text, "VM", number, heads, 37, 0);
    for section in ["DISKBUSY", "DISKREAD", "DISKWRITE", "DISKXFER", "NET"] {
        row(text, section, number, heads, 14, 1);
    }
    if heads {
        *text += "TOP,+PID,Time,%CPU,%Usr,%Sys,Size,ResSet,Command\n";
        return;
    }
    for process in 0..20 {
        let (pid, size) = (1000 + process * 37, 4096 * (number % 997 + process));
        *text += &format!("TOP,{pid:07},T{number:04},1.25,1.00,0.25,{size},{size},worker\n");
    }
}
