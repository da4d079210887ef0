//! What holds of a walk on every machine: growth, clocks, edges, sums.

use homenode_engine::walk::{level_of, walk, Hierarchy, Level, Link, Pattern, Streams, Walk};
use proptest::prelude::*;

const PATTERNS: [Pattern; 11] = [
    Pattern::Read,
    Pattern::PartialRead,
    Pattern::Write,
    Pattern::PartialWrite,
    Pattern::PartialReadWrite,
    Pattern::UnrolledCopy,
    Pattern::PartialCopy,
    Pattern::Copy,
    Pattern::Zero,
    Pattern::MmapRead,
    Pattern::FileRead,
];

/// Sizes and latencies grow outwards by random steps.
fn caches() -> impl Strategy<Value = Vec<Level>> {
    prop::collection::vec((1u64..40, 0.0..60.0f64), 1..5).prop_map(|steps| {
        let (mut bytes, mut latency_ns) = (16u64 << 10, 0.5);
        let mut levels = Vec::new();
        for (index, (factor, step)) in steps.into_iter().enumerate() {
            bytes *= factor;
            latency_ns += step;
            let name = format!("L{}", index + 1);
            levels.push(Level {
                name,
                bytes,
                latency_ns,
            });
        }
        levels
    })
}

fn streams(levels: usize) -> impl Strategy<Value = Streams> {
    let core = (1.0..8.0f64, 1.0..4.0f64, 1.0..3.0f64, 0.5..3.0f64);
    let moves = (1.0..64.0f64, 0.0..40.0f64);
    let ahead = prop_oneof![Just(0.0), 1.0..8.0f64];
    let gather = prop::option::of(16.0..256.0f64);
    let stores = (1.0..64.0f64, 0.0..6.0f64, gather);
    (core, moves, ahead, stores, 1..=levels).prop_map(|(core, moves, ahead, stores, level)| {
        Streams {
            instructions: core.0,
            loads: core.1,
            stores: core.2,
            sum_cycles: core.3,
            move_bytes: moves.0,
            move_start_cycles: moves.1,
            lines: ahead,
            store_in: format!("L{level}"),
            store_width_bytes: stores.0,
            store_interval_cycles: stores.1,
            gather_bytes: stores.2,
        }
    })
}

fn machine() -> impl Strategy<Value = Hierarchy> {
    caches().prop_flat_map(|caches| {
        let names: Vec<String> = caches.iter().map(|level| level.name.clone()).collect();
        let outermost = caches.last().map_or(0.0, |level| level.latency_ns);
        let links = prop::collection::vec(1e9..500e9f64, names.len());
        let memory = (outermost..outermost + 500.0, 1e9..400e9f64);
        (
            streams(names.len()),
            links,
            memory,
            1e9..6e9f64,
            prop::sample::select(vec![64u32, 128, 256]),
        )
            .prop_map(move |(streams, widths, memory, clock_hz, line_bytes)| {
                let with_name = names.iter().cloned().zip(widths);
                let links = with_name.map(|(name, bytes_per_s)| Link { name, bytes_per_s });
                Hierarchy {
                    clock_hz,
                    line_bytes,
                    caches: caches.clone(),
                    memory_latency_ns: memory.0,
                    memory_bytes_per_s: memory.1,
                    memory_load: None,
                    links: links.collect(),
                    streams,
                }
            })
    })
}

fn line_ns(machine: &Hierarchy, pattern: Pattern, bytes: u64) -> f64 {
    let machine = machine.clone();
    walk(&Walk {
        machine,
        pattern,
        bytes,
        cores: 1,
    })
    .unwrap()
    .line_ns
}

proptest! {
    #[test]
    fn a_larger_buffer_is_never_faster(
        machine in machine(),
        pattern in prop::sample::select(PATTERNS.to_vec()),
        bytes in 1u64..1 << 32,
        more in 0u64..1 << 32,
    ) {
        let (small, large) = (
            line_ns(&machine, pattern, bytes),
            line_ns(&machine, pattern, bytes + more),
        );
        prop_assert!(large >= small * (1.0 - 1e-12), "{small} {large}");
    }

    #[test]
    fn a_faster_clock_is_never_slower(
        machine in machine(),
        pattern in prop::sample::select(PATTERNS.to_vec()),
        bytes in 1u64..1 << 32,
        factor in 1.0..3.0f64,
    ) {
        let slow = line_ns(&machine, pattern, bytes);
        let mut faster = machine;
        faster.clock_hz *= factor;
        let fast = line_ns(&faster, pattern, bytes);
        prop_assert!(fast <= slow * (1.0 + 1e-12), "{slow} {fast}");
        prop_assert!(fast >= slow / factor * (1.0 - 1e-12), "{slow} {fast}");
    }

    #[test]
    fn a_longer_latency_is_never_faster(
        machine in machine(),
        pattern in prop::sample::select(PATTERNS.to_vec()),
        bytes in 1u64..1 << 32,
        longer in 0.0..300.0f64,
    ) {
        let before = line_ns(&machine, pattern, bytes);
        let mut slower = machine;
        slower.memory_latency_ns += longer;
        prop_assert!(line_ns(&slower, pattern, bytes) >= before);
    }

    #[test]
    fn parts_are_never_negative_and_add_up(
        machine in machine(),
        pattern in prop::sample::select(PATTERNS.to_vec()),
        bytes in 1u64..1 << 32,
    ) {
        let answer = walk(&Walk { machine, pattern, bytes, cores: 1 }).unwrap();
        let sum: f64 = answer.parts.iter().map(|part| part.ns).sum();
        prop_assert!(answer.parts.iter().all(|part| part.ns >= 0.0), "{:?}", answer.parts);
        prop_assert!((sum - answer.line_ns).abs() <= 1e-9 * answer.line_ns);
    }

    #[test]
    fn a_level_is_left_with_the_byte_after_its_last(machine in machine()) {
        for level in &machine.caches {
            let held = level_of(&machine, level.bytes);
            prop_assert!(machine.caches[held.0].bytes == level.bytes);
            prop_assert!(level_of(&machine, level.bytes + 1) > held);
        }
    }
}
