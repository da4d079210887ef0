//! Recordings of njmon: sound ones, damaged ones, any bytes.

use homenode_captures::njmon::{read, Reader, ITEM};
use homenode_captures::nmon::Batch;
use proptest::prelude::*;

const AIX: &str = include_str!("../recordings/aix.njmon.json");

fn column(batches: &[Batch], table: &str, name: &str) -> Vec<f64> {
    let of_table = batches.iter().filter(|batch| batch.table == table);
    of_table
        .flat_map(|batch| {
            let index = batch.columns.iter().position(|column| column == name);
            index.map_or_else(Vec::new, |index| batch.column(index).collect())
        })
        .collect()
}

#[test]
fn sections_become_tables_and_items_rows() {
    let (batches, summary) = read(AIX.as_bytes()).unwrap();
    assert_eq!((summary.dropped, summary.remarks.len()), (0, 0));
    let [host] = &summary.found.hosts[..] else {
        panic!("one host");
    };
    assert_eq!((&*host.name, host.line, host.samples), ("web1", 1, 4));
    assert_eq!(host.first["config"]["vcpus_online"], 2);
    let consumed = column(&batches, "cpu_util", "physical_consumed");
    assert_eq!(consumed, [0.12, 0.35, 0.61, 0.2]);
    // By `date -u -d '2025-03-03 09:01' +%s`.
    assert_eq!(column(&batches, "ZZZZ", "time")[0], 1_740_992_460.0);
    let cpus = batches
        .iter()
        .find(|it| it.table == "cpu_physicals")
        .unwrap();
    let (name, items) = cpus.words.last().unwrap();
    let first: Vec<&str> = items.iter().take(3).collect();
    assert_eq!((name.as_str(), first), (ITEM, vec!["cpu0", "cpu1", "cpu0"]));
    assert_eq!(cpus.snapshots[..3], [1, 1, 2]);
    assert_eq!(cpus.lines[..3], [1, 1, 2]);
}

#[test]
fn samples_may_be_wrapped_or_spread_over_lines() {
    let lines: Vec<&str> = AIX.lines().collect();
    let wrapped = format!("{{\"samples\": [\n{}\n]}}\n", lines.join(",\n"));
    let spread = AIX.replace(", \"", ",\n  \"");
    for text in [wrapped, spread] {
        let (batches, summary) = read(text.as_bytes()).unwrap();
        assert_eq!(summary.dropped, 0);
        assert_eq!(
            column(&batches, "cpu_util", "physical_consumed"),
            [0.12, 0.35, 0.61, 0.2]
        );
    }
}

#[test]
fn damaged_samples_are_dropped_and_named() {
    let lines: Vec<&str> = AIX.lines().collect();
    let cut = &lines[1][..lines[1].len() / 2];
    let cases = [
        (format!("{}\n{cut}\n{}\n", lines[0], lines[2]), 1, "cut off"),
        (
            format!("{}\nx\n{}\n", lines[0], lines[2]),
            1,
            "between the samples",
        ),
        (
            format!("{}\n{{\"a\" 1}}\n{}\n", lines[0], lines[2]),
            1,
            "no JSON",
        ),
        (
            format!("{}\n{{\"a\": 1}}\n{}\n", lines[0], lines[2]),
            1,
            "no time",
        ),
    ];
    for (text, dropped, told) in cases {
        let (batches, summary) = read(text.as_bytes()).unwrap();
        assert_eq!(summary.dropped, dropped, "{told}");
        assert_eq!(summary.remarks[0].line, 2, "{told}");
        assert!(summary.remarks[0].text.contains(told), "{told}");
        assert_eq!(
            column(&batches, "cpu_util", "physical_consumed"),
            [0.12, 0.61]
        );
    }
}

#[test]
fn what_is_no_number_is_a_gap() {
    let text = AIX.replace("0.61", "-nan");
    let (batches, summary) = read(text.as_bytes()).unwrap();
    assert!(column(&batches, "cpu_util", "physical_consumed")[2].is_nan());
    assert_eq!((summary.dropped, summary.remarks.len()), (0, 1));
}

#[test]
fn hosts_are_told_apart() {
    let text = format!("{AIX}{}", AIX.replace("web1", "web2"));
    let (batches, summary) = read(text.as_bytes()).unwrap();
    let names: Vec<&str> = summary.found.hosts.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["web1", "web2"]);
    let of: Vec<usize> = batches
        .iter()
        .filter(|batch| batch.table == "cpu_util")
        .map(|batch| batch.recording)
        .collect();
    assert_eq!(of, [0, 1]);
}

#[test]
fn what_is_no_recording_is_refused() {
    for text in ["", "{}", "x", "{\"timestamp\": {}}", "[1, 2]"] {
        assert!(read(text.as_bytes()).is_err(), "{text}");
    }
}

proptest! {
    /// An answer, never a panic, and the same however it is cut.
    #[test]
    fn any_bytes_have_an_answer(
        at in 0..AIX.len(),
        length in 0usize..400,
        stray in prop::collection::vec(any::<u8>(), 0..8),
        size in 1usize..300,
    ) {
        let mut bytes = AIX.as_bytes().to_vec();
        let end = (at + length).min(bytes.len());
        bytes.splice(at..end, stray);
        let whole = read(&bytes);
        let mut reader = Reader::new();
        for chunk in bytes.chunks(size) {
            reader.feed(chunk);
        }
        match (whole, reader.finish()) {
            (Ok((_, whole)), Ok((_, cut))) => prop_assert_eq!(whole, cut),
            (Err(whole), Err(cut)) => prop_assert_eq!(whole, cut),
            _ => prop_assert!(false, "one is an error"),
        }
    }
}
