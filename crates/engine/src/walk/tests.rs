//! Values computed by hand on a machine of round numbers: 1 GHz, so that a cycle is a nanosecond.

use super::*;
use crate::spec::MemoryLoad;

const KIB: u64 = 1 << 10;

fn round() -> Hierarchy {
    let level = |name: &str, bytes, latency_ns| Level {
        name: name.into(),
        bytes,
        latency_ns,
    };
    Hierarchy {
        clock_hz: 1e9,
        line_bytes: 256,
        caches: vec![
            level("L1", 64 * KIB, 4.0),
            level("L2", 1024 * KIB, 14.0),
            level("L3", 16 * 1024 * KIB, 44.0),
        ],
        memory_latency_ns: 214.0,
        memory_bytes_per_s: 16e9,
        memory_load: None,
        links: vec![Link {
            name: "L3".into(),
            bytes_per_s: 32e9,
        }],
        streams: Streams {
            instructions: 3.0,
            loads: 2.0,
            stores: 1.0,
            sum_cycles: 1.0,
            move_bytes: 8.0,
            move_start_cycles: 10.0,
            lines: 1.0,
            store_in: "L3".into(),
            store_width_bytes: 16.0,
            store_interval_cycles: 2.0,
            gather_bytes: None,
        },
    }
}

fn line_ns(machine: &Hierarchy, pattern: Pattern, bytes: u64) -> f64 {
    let question = Walk {
        machine: machine.clone(),
        pattern,
        bytes,
        cores: 1,
    };
    walk(&question).unwrap().line_ns
}

fn gathering() -> Hierarchy {
    let mut machine = round();
    machine.streams.gather_bytes = Some(128.0);
    machine
}

#[test]
fn reading_by_hand() {
    let machine = round();
    // 64 words of 4 bytes, a cycle each; L2 delivers sooner.
    assert_eq!(line_ns(&machine, Pattern::Read, 64 * KIB), 64.0);
    assert_eq!(line_ns(&machine, Pattern::Read, 512 * KIB), 64.0);
    // 16 words: 14 cycles from L2 are less; from L3 44 + 256/32.
    assert_eq!(line_ns(&machine, Pattern::PartialRead, 512 * KIB), 16.0);
    assert_eq!(line_ns(&machine, Pattern::PartialRead, 4096 * KIB), 52.0);
    // 32 words of 8 bytes.
    assert_eq!(line_ns(&machine, Pattern::MmapRead, 512 * KIB), 32.0);
    // Memory: 214 + 256/16.
    assert_eq!(line_ns(&machine, Pattern::Read, 32 << 20), 230.0);
}

#[test]
fn storing_by_hand() {
    // 64 stores, one in 2 cycles, on their way to L3; gathered: 2 entries of 2 + 128/16 cycles, so
    // that the core's 64 decide.
    assert_eq!(line_ns(&round(), Pattern::Write, 64 * KIB), 128.0);
    assert_eq!(line_ns(&gathering(), Pattern::Write, 64 * KIB), 64.0);
    // 16 stores: 32 alone, 20 gathered.
    assert_eq!(line_ns(&round(), Pattern::PartialWrite, 64 * KIB), 32.0);
    assert_eq!(line_ns(&gathering(), Pattern::PartialWrite, 64 * KIB), 20.0);
    // 16 loads, two in a cycle, and 16 stores: 24.
    let cost = |bytes| line_ns(&gathering(), Pattern::PartialReadWrite, bytes);
    assert_eq!(cost(64 * KIB), 24.0);
    // From L3 the line and the stores share the way: 52 + 20.
    assert_eq!(cost(4096 * KIB), 72.0);
}

#[test]
fn stores_and_lines_share_the_way() {
    // L3: a line of 52, then 64 stores of 2, or two gathered entries of 10.
    assert_eq!(line_ns(&round(), Pattern::Write, 4096 * KIB), 180.0);
    assert_eq!(line_ns(&gathering(), Pattern::Write, 4096 * KIB), 72.0);
    // Memory: 230 and 128, and the line that L3 gives back, 256/16.
    assert_eq!(line_ns(&round(), Pattern::Write, 32 << 20), 374.0);
    // What comes from L2 does not take it.
    assert_eq!(line_ns(&round(), Pattern::Write, 512 * KIB), 128.0);
    // Only the second buffer of a copy is given back: 2 * 230 + 32 + 16.
    assert_eq!(line_ns(&round(), Pattern::PartialCopy, 16 << 20), 508.0);
}

#[test]
fn a_first_level_that_keeps_stores_has_nothing_to_pass_on() {
    let mut machine = round();
    machine.streams.store_in = "L1".into();
    assert_eq!(line_ns(&machine, Pattern::Write, 64 * KIB), 64.0);
}

#[test]
fn copying_by_hand() {
    // Two buffers of 64 KiB live in L2: 32 + 64 cycles of core, 128 of stores, 2 lines of 14.
    assert_eq!(line_ns(&round(), Pattern::UnrolledCopy, 64 * KIB), 128.0);
    assert_eq!(line_ns(&gathering(), Pattern::UnrolledCopy, 64 * KIB), 96.0);
    assert_eq!(line_ns(&gathering(), Pattern::PartialCopy, 64 * KIB), 28.0);
    // A move: 10 + 256/8 = 42; its 16 stores of 16 bytes take 32.
    assert_eq!(line_ns(&round(), Pattern::Copy, 64 * KIB), 42.0);
    // L3: two lines of 52 and the stores.
    assert_eq!(line_ns(&round(), Pattern::Copy, 4096 * KIB), 136.0);
    assert_eq!(line_ns(&round(), Pattern::Zero, 64 * KIB), 42.0);
}

#[test]
fn a_file_is_moved_and_then_summed() {
    // Piece and buffer of 64 KiB live in L2: the move's 42 and 64 words.
    assert_eq!(line_ns(&round(), Pattern::FileRead, 256 * KIB), 106.0);
    // The file in L3: 52 and the move's 16 stores take the way, 84, more than 52 and 14 for lines.
    assert_eq!(line_ns(&round(), Pattern::FileRead, 4096 * KIB), 148.0);
}

#[test]
fn a_narrow_link_decides() {
    let mut machine = round();
    machine.streams.lines = 8.0;
    machine.links[0].bytes_per_s = 2e9;
    // 256 bytes at 2 a cycle, whatever the number of lines on their way.
    assert_eq!(line_ns(&machine, Pattern::PartialRead, 4096 * KIB), 128.0);
    // Memory is behind that link too.
    assert_eq!(line_ns(&machine, Pattern::PartialRead, 32 << 20), 128.0);
    machine.memory_bytes_per_s = 1e9;
    assert_eq!(line_ns(&machine, Pattern::PartialRead, 32 << 20), 256.0);
}

#[test]
fn a_level_holds_its_size_and_no_byte_more() {
    let machine = round();
    for (bytes, level) in [
        (64 * KIB, "L1"),
        (64 * KIB + 1, "L2"),
        (1024 * KIB, "L2"),
        (1024 * KIB + 1, "L3"),
        (16 << 20, "L3"),
        ((16 << 20) + 1, "memory"),
    ] {
        assert_eq!(level_of(&machine, bytes).name(&machine), level, "{bytes}");
    }
}

#[test]
fn lines_on_their_way_share_a_latency() {
    let mut machine = round();
    machine.streams.lines = 2.0;
    // Memory: 230 for two lines.
    assert_eq!(line_ns(&machine, Pattern::Read, 32 << 20), 115.0);
    // None: 64 of work, then 214 + 16.
    machine.streams.lines = 0.0;
    assert_eq!(line_ns(&machine, Pattern::Read, 32 << 20), 294.0);
    assert_eq!(line_ns(&machine, Pattern::Read, 64 * KIB), 64.0);
}

#[test]
fn parts_add_up_and_bandwidth_counts_one_buffer() {
    let question = Walk {
        machine: round(),
        pattern: Pattern::PartialCopy,
        bytes: 4096 * KIB,
        cores: 1,
    };
    let answer = walk(&question).unwrap();
    let causes: Vec<(&str, f64)> = answer.parts.iter().map(|p| (p.cause, p.ns)).collect();
    // 8 + 16 cycles of core; stores take 32; the bytes of two lines 16; their latencies 88.
    let expected = [
        ("core", 24.0),
        ("store", 8.0),
        ("link", 16.0),
        ("fetch", 88.0),
    ];
    assert_eq!(causes, expected);
    assert_eq!(answer.line_ns, 136.0);
    assert_eq!(answer.bytes_per_s, 256.0 * 1e9 / 136.0);
    assert_eq!(answer.footprint_bytes, 8192 * KIB);
    assert_eq!((answer.level.as_str(), answer.latency_ns), ("L3", 44.0));
}

#[test]
fn lines_wait_for_each_other_in_front_of_memory() {
    let mut machine = round();
    let bank = |bank_ns| MemoryLoad {
        bank_ns,
        channel_wait: 0.0,
        ..MemoryLoad::default()
    };
    // A line occupies memory for 16 of t cycles and waits 230 at full load: t = 230 + 230 x 16 / t.
    machine.memory_load = Some(bank(230.0));
    let t = 115.0 + (115.0_f64 * 115.0 + 230.0 * 16.0).sqrt();
    assert!((line_ns(&machine, Pattern::Read, 32 << 20) - t).abs() < 1e-9);
    // What a cache holds does not wait.
    assert_eq!(line_ns(&machine, Pattern::Read, 4096 * KIB), 64.0);
    // 100 cores ask for more than there is: 16 cycles for each of their lines.
    let question = Walk {
        machine,
        pattern: Pattern::Read,
        bytes: 32 << 20,
        cores: 100,
    };
    let answer = walk(&question).unwrap();
    assert!((answer.line_ns - 1600.0).abs() < 1e-6);
    assert!((answer.bytes_per_s / 16e9 - 1.0).abs() < 1e-9);
}

type Change<'a> = &'a dyn Fn(&mut Walk);

#[test]
fn refuses_by_name() {
    let refused = |change: Change<'_>| {
        let mut question = Walk {
            machine: round(),
            pattern: Pattern::Read,
            bytes: 1,
            cores: 1,
        };
        change(&mut question);
        walk(&question).unwrap_err().to_string()
    };
    let cases: [(Change<'_>, &str); 7] = [
        (&|q| q.bytes = 0, "bytes is 0; it must be above 0"),
        (&|q| q.machine.clock_hz = f64::NAN, "clock_hz is NaN"),
        (&|q| q.machine.streams.lines = -1.0, "streams.lines is -1"),
        (&|q| q.machine.streams.store_in = "L9".into(), "'L9'"),
        (
            &|q| q.machine.links[0].name = "L7".into(),
            "links names the level 'L7'",
        ),
        (
            &|q| q.machine.caches[1].bytes = 1,
            "L2 lies outside L1 but is smaller",
        ),
        (
            &|q| q.machine.memory_latency_ns = 1.0,
            "memory lies outside L3 but is faster",
        ),
    ];
    for (change, words) in cases {
        let said = refused(change);
        assert!(said.contains(words), "{said}");
    }
    assert!(refused(&|q| q.machine.caches.clear()).contains("no cache"));
}
