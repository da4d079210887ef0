//! Lines that come into the first cache level, by source: their numbers follow from the miss curve
//! and the caches' sizes.

use crate::common::{
    dedicated, loops, machine, memory, missing_profile, partition, plain_profile, run, spec,
    Outcome, GIB, MS, SECOND,
};
use homenode_engine::cost::{BOOK_NAMES, LINE_NAMES};
use homenode_engine::sim::columns;
use homenode_engine::spec::{CacheScope, MemoryPolicy, Spec, Translation, Workload};

/// Four busy cores on a chip, misses without sharing: `0.05 (1 + C / 1 KiB)^-0.5` an instruction.
fn busy() -> Spec {
    let mut one = partition("a", dedicated(0..4, false), loops(4));
    one.profile = missing_profile(1e6);
    (one.profile.sharing, one.profile.footprint_bytes) = (0.0, 0);
    one.profile.footprint_common = 0.0;
    let mut spec = spec(machine("node:2 core:4"), vec![one]);
    // Long enough for the averages of the caches' users to have settled.
    spec.warmup_ns = 2 * SECOND;
    spec
}

fn misses(bytes: f64) -> f64 {
    0.05 * (1.0 + bytes / 1024.0).powf(-0.5)
}

fn lines(outcome: &Outcome, source: &str) -> f64 {
    outcome.total("a", &format!("lines_{source}"))
}

fn all_lines(outcome: &Outcome) -> f64 {
    LINE_NAMES.iter().map(|name| lines(outcome, name)).sum()
}

fn assert_near(got: f64, wanted: f64, what: &str) {
    let slack = 1e-6 * wanted + 1.0;
    assert!((got - wanted).abs() <= slack, "{what}: {got}, not {wanted}");
}

#[test]
fn each_level_serves_what_it_holds_and_the_one_inside_does_not() {
    let outcome = run(&busy(), 0);
    let instructions = outcome.total("a", "instructions");
    let kib = |n: f64| misses(n * 1024.0) * instructions;
    // The chip's 32 MiB are divided by four cores.
    let held = [kib(32.0), kib(256.0), kib(4096.0), kib(8192.0)];
    assert_near(lines(&outcome, "l2"), held[0] - held[1], "L2");
    assert_near(lines(&outcome, "l3"), held[1] - held[2], "L3");
    assert_near(lines(&outcome, "cache_chip"), held[2] - held[3], "chip");
    assert_near(lines(&outcome, "memory_local"), held[3], "memory");
    for none in ["l4", "cache_near", "cache_far", "memory_near", "memory_far"] {
        assert_eq!(lines(&outcome, none), 0.0, "{none}");
    }
    assert_near(all_lines(&outcome), held[0], "all");
}

#[test]
fn lines_of_others_come_from_their_caches_by_distance() {
    let mut spec = busy();
    spec.partitions[0].processors = dedicated(0..8, false);
    spec.partitions[0].workload = loops(8);
    spec.partitions[0].profile.sharing = 0.2;
    let outcome = run(&spec, 0);
    let instructions = outcome.total("a", "instructions");
    // Of eight cores seven are others: three on the own chip, four on the other node.
    let shared = 0.2 * 7.0 / 8.0;
    let written = shared * misses(2.0 * 1024.0 * 1024.0) * instructions;
    assert_near(lines(&outcome, "cache_far"), written * 4.0 / 7.0, "far");
    assert_eq!(lines(&outcome, "cache_near"), 0.0);
    let own = (1.0 - shared) * misses(32.0 * 1024.0) * instructions;
    assert_near(all_lines(&outcome), own + written, "all");
}

#[test]
fn interleaved_memory_brings_half_of_the_lines_from_either_node() {
    let mut spec = busy();
    spec.partitions[0].memory = vec![memory(&[0, 1], GIB)];
    spec.partitions[0].memory_policy = MemoryPolicy::Interleaved;
    let outcome = run(&spec, 0);
    let (local, far) = (
        lines(&outcome, "memory_local"),
        lines(&outcome, "memory_far"),
    );
    assert!(local > 1e5);
    assert!((local - far).abs() <= 1.0, "{local} local, {far} far");
}

#[test]
fn a_cache_of_the_node_has_a_column_of_its_own() {
    let mut spec = busy();
    let level = &mut spec.machine.caches[3];
    (level.name, level.scope) = ("L4".into(), CacheScope::Node);
    let outcome = run(&spec, 0);
    assert!(lines(&outcome, "l4") > 1e5);
    assert!(outcome.total("a", "book_l4") > 0.0);
    assert_eq!(lines(&outcome, "cache_chip"), 0.0);
}

#[test]
fn intervals_add_up_to_the_whole_and_books_to_the_time() {
    let mut spec = busy();
    spec.machine.translation = Some(Translation {
        entries: 64,
        walk_ns: 100.0,
    });
    let outcome = run(&spec, 0);
    for name in LINE_NAMES {
        let column = format!("lines_{name}");
        let sum: i64 = outcome.series("a", &column).iter().sum();
        assert_eq!(sum as f64, outcome.total("a", &column), "{column}");
    }
    assert!(outcome.total("a", "book_translation") > 0.0);
    let books = BOOK_NAMES.iter().map(|name| format!("book_{name}"));
    let booked: f64 = books.map(|book| outcome.total("a", &book)).sum();
    assert_eq!(booked, 4.0 * spec.duration_ns as f64);
}

#[test]
fn work_that_never_misses_brings_no_lines() {
    let mut spec = busy();
    spec.partitions[0].profile = plain_profile(1e6);
    spec.partitions[0].workload = Workload::Warehouses { count: 4 };
    spec.duration_ns = 100 * MS;
    assert_eq!(all_lines(&run(&spec, 0)), 0.0);
}

#[test]
fn lines_stand_between_the_other_columns_and_the_books() {
    let names = columns::partition();
    let first = names.iter().position(|name| name == "lines_l2");
    let first = first.expect("a column of lines");
    assert_eq!(names[first - 1], "numa_moved_bytes");
    let wanted: Vec<String> = LINE_NAMES.iter().map(|n| format!("lines_{n}")).collect();
    assert_eq!(names[first..first + wanted.len()], wanted[..]);
    assert_eq!(names[first + wanted.len()], "book_useful");
}
