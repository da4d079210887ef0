//! The price of a layout: equalities that hold exactly, the same as a simulation's, and refusals.

use crate::common;
use crate::common::{
    costs, dedicated, loops, machine, memory, missing_profile, partition, run, spec, GIB, SECOND,
};
use homenode_engine::cost::{Book, Source, BOOK_NAMES, LINE_NAMES};
use homenode_engine::spec::{
    ByDistance, CacheScope, Coherence, Guest, Machine, MemoryBeside, MemoryPart, MemoryPolicy,
    Partition, Processors, Spec, Translation,
};
use homenode_engine::steady::{price, PriceFault, Refill};
use proptest::prelude::*;

/// Two cells of two chips with four cores each, without a cache that cores share.
fn cells() -> Machine {
    let mut machine = machine("node:2 chip:2 core:4");
    machine
        .caches
        .retain(|cache| cache.scope == CacheScope::Core);
    machine.memory_beside = MemoryBeside::Node;
    machine.chip_link_bytes_per_s = 1e30;
    machine
}

/// A partition that computes without end on these cores.
fn user(name: &str, cores: Vec<u16>, memory: Vec<MemoryPart>) -> Partition {
    let count = cores.len() as u32;
    let mut one = partition(name, dedicated(0..1, false), loops(count));
    one.home = cores.iter().map(|core| core / 4).collect();
    if let Processors::Dedicated { cores: own, .. } = &mut one.processors {
        *own = cores;
    }
    one.profile = missing_profile(1e6);
    one.data_bytes = memory.iter().map(|part| part.bytes).sum();
    one.memory = memory;
    one.memory_policy = MemoryPolicy::LocalFirst;
    one
}

/// What other cores wrote is asked for beside its memory.
#[test]
fn with_interleaved_memory_only_the_place_of_the_cores_is_irrelevant() {
    let layout = |cores: Vec<u16>| {
        let mut one = user("a", cores, vec![memory(&[0, 1], 32 * GIB)]);
        (one.profile.private_data, one.profile.io_data) = (0.4, 0.1);
        (one.profile.sharing, one.profile.lock_share) = (0.3, 0.05);
        let mut machine = cells();
        machine.coherence = Coherence::Home;
        machine.memory_bytes_per_s = 2e10;
        // One cell's cores read one way, those of two both: that is a difference of place.
        machine.node_link_bytes_per_s = 1e30;
        costs(&spec(machine, vec![one]))[0]
    };
    let one_cell = layout((0..8).collect());
    let split = layout((4..12).collect());
    let uneven = layout(vec![0, 1, 2, 3, 4, 5, 8, 15]);
    assert!(one_cell.books.of(Book::MemoryFar) > one_cell.books.of(Book::MemoryLocal));
    assert!((split.ns / one_cell.ns - 1.0).abs() < 1e-12);
    assert!((uneven.ns / one_cell.ns - 1.0).abs() < 1e-12);
}

/// Two cores side by side wait for the other socket where the line's memory lies there, as long as
/// for a core there; what a chip's cores hand each other costs the same wherever memory lies.
#[test]
fn a_directory_is_asked_where_the_line_s_memory_is() {
    let shared_ns = |cores: Vec<u16>, domain: u16, coherence: Coherence| {
        let mut one = user("a", cores, vec![memory(&[domain], 32 * GIB)]);
        one.profile.sharing = 0.3;
        let mut machine = cells();
        machine.coherence = coherence;
        machine.memory_bytes_per_s = 1e30;
        machine.node_link_bytes_per_s = 1e30;
        machine.chip_link_bytes_per_s = 1e30;
        let books = costs(&spec(machine, vec![one]))[0].books;
        [Book::CacheChip, Book::CacheNear, Book::CacheFar].map(|book| books.of(book))
    };
    let (chips, cells) = (vec![0, 1, 2, 3, 4, 5, 6, 7], vec![0, 1, 8, 9]);
    let here = shared_ns(chips.clone(), 0, Coherence::Directory);
    let there = shared_ns(chips.clone(), 1, Coherence::Directory);
    let owner = shared_ns(chips, 1, Coherence::Owner);
    assert_eq!(
        here, owner,
        "memory beside the cores, and memory that nobody asks"
    );
    assert_eq!(there[0], here[0], "within a chip");
    let ns = self::cells().cache_to_cache_ns;
    assert!(
        (there[1] / here[1] - ns.far / ns.near).abs() < 1e-9,
        "{there:?}"
    );
    for domain in [0, 1] {
        let far = shared_ns(cells.clone(), domain, Coherence::Directory)[2];
        let direct = shared_ns(cells.clone(), domain, Coherence::Owner)[2];
        assert!(
            (far / direct - 1.0).abs() < 1e-9,
            "nothing lies further away"
        );
    }
}

/// Simulated time of an instruction, and books and lines of one, against their price. After the
/// warm-up the averages are within 0.75^50 of their limit, a burst of a million instructions ends
/// on the nearest nanosecond, and counters are whole: together less than one in a million.
fn assert_simulated(mut spec: Spec) {
    (spec.warmup_ns, spec.interval_ns) = (SECOND / 2, SECOND);
    let outcome = run(&spec, 0);
    for (one, cost) in spec.partitions.iter().zip(costs(&spec)) {
        let total = |column: &str| outcome.total(&one.name, column);
        let instructions = total("instructions");
        let each = total("busy_ns") * f64::from(one.smt) / instructions;
        assert!((each / cost.ns - 1.0).abs() < 1e-6, "{each} {}", cost.ns);
        for (name, ns) in BOOK_NAMES.iter().zip(cost.books.0) {
            let booked = total(&format!("book_{name}")) * f64::from(one.smt) / instructions;
            assert!(
                (booked - ns).abs() < 1e-6 * cost.ns,
                "{name}: {booked} {ns}"
            );
        }
        for (name, lines) in LINE_NAMES.iter().zip(cost.lines.0) {
            let counted = total(&format!("lines_{name}")) / instructions;
            assert!((counted - lines).abs() < 1e-6, "{name}: {counted} {lines}");
        }
    }
}

#[test]
fn a_price_is_what_a_simulation_comes_to() {
    let mut machine = machine("node:2 chip:2 core:4 pu:2");
    machine.memory_beside = MemoryBeside::Node;
    machine.memory_bytes_per_s = 2e10;
    machine.node_link_bytes_per_s = 1e10;
    machine.node_distance = vec![1.0, 1.2, 1.2, 1.0];
    machine.translation = Some(Translation {
        entries: 64,
        walk_ns: 50.0,
    });
    machine.core_rate = 1.25;
    let local = |cell| vec![memory(&[cell], 24 * GIB), memory(&[0, 1], 8 * GIB)];
    let mut first = user("a", (0..6).collect(), local(1));
    (first.smt, first.workload) = (2, loops(12));
    first.profile.private_data = 0.3;
    first.hypervisor_share = 0.02;
    if let Guest::Aix(aix) = &mut first.guest {
        aix.tick_cost_ns = 100_000;
    }
    let second = user("b", (6..12).collect(), local(0));
    assert_simulated(spec(machine, vec![first, second]));
}

#[test]
fn a_contended_lock_is_priced_as_it_is_simulated() {
    let mut one = user("a", (0..10).collect(), vec![memory(&[0], GIB)]);
    one.profile.lock_share = 0.1;
    let with = costs(&spec(cells(), vec![one.clone()]))[0];
    assert!(with.books.of(Book::Spin) > 0.1 * with.ns);
    assert_simulated(spec(cells(), vec![one]));
}

#[test]
fn load_on_a_controller_and_on_a_link_costs_something() {
    let remote = |name: &str, cores: std::ops::Range<u16>, cell| {
        user(name, cores.collect(), vec![memory(&[cell], GIB)])
    };
    let mut machine = cells();
    machine.node_link_bytes_per_s = 1.5e9;
    let alone = costs(&spec(machine.clone(), vec![remote("a", 0..8, 1)]))[0];
    let half = remote("a", 0..4, 1);
    let less = costs(&spec(machine.clone(), vec![half.clone()]))[0];
    let both = vec![half, remote("b", 4..8, 1)];
    let along = costs(&spec(machine.clone(), both));
    assert!(along[0].ns > 1.01 * less.ns);
    assert!((along[0].ns / along[1].ns - 1.0).abs() < 1e-12);
    let both = vec![remote("a", 0..8, 1), remote("b", 8..16, 0)];
    let against = costs(&spec(machine.clone(), both));
    assert!(
        (against[0].ns / alone.ns - 1.0).abs() < 1e-9,
        "each way has its own width"
    );
    let both = vec![remote("a", 0..8, 0), remote("b", 8..16, 1)];
    let apart = costs(&spec(machine, both));
    assert_eq!(apart[0].lines.of(Source::MemoryFar), 0.0);
    assert!(apart[0].ns < alone.ns);
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let one = user("jbb", (0..8).collect(), vec![memory(&[0, 1], GIB)]);
    let spec = spec(cells(), vec![one]);
    let refusal = |busy: &[Vec<f64>]| price(&spec, busy).expect_err("refused").to_string();
    let text = refusal(&[]);
    assert_eq!(
        text,
        "busy cores: 0 partitions are given, 1 are there; give one number for each"
    );
    let text = refusal(&[vec![1.0; 3]]);
    assert!(
        text.contains("3 chips of partition jbb are given, 4 are there"),
        "{text}"
    );
    let text = refusal(&[vec![4.0, 4.5, 0.0, 0.0]]);
    assert!(
        text.contains("keeps 4.5 cores of chip 1 busy, it must be 0 to 4"),
        "{text}"
    );
    assert!(price(&spec, &[vec![f64::NAN, 0.0, 0.0, 0.0]]).is_err());
    let mut unsound = spec.clone();
    unsound.partitions[0].data_bytes = 0;
    let fault = price(&unsound, &common::busy(&unsound)).expect_err("unsound");
    assert!(matches!(fault, PriceFault::Spec(_)));
}

#[test]
fn who_keeps_no_core_busy_has_no_price() {
    let pair = [0..8, 8..16].map(|cores| {
        user(
            &format!("{}", cores.start),
            cores.collect(),
            vec![memory(&[0], GIB)],
        )
    });
    let spec = spec(cells(), pair.to_vec());
    let prices = price(&spec, &[vec![4.0; 4], vec![0.0; 4]]).expect("a sound layout");
    assert_eq!(prices[0].by_chip.len(), 4);
    assert!(prices[1].cost.is_none() && prices[1].by_chip.is_empty());
}

#[test]
fn cold_caches_cost_the_more_the_farther_their_lines_lie() {
    let one = user("web", (0..4).collect(), vec![memory(&[0], GIB)]);
    let other = user("idle", (4..8).collect(), vec![memory(&[0], GIB)]);
    let spec = spec(cells(), vec![one, other]);
    let busy = [vec![4.0, 0.0, 0.0, 0.0], vec![0.0; 4]];
    let prices = price(&spec, &busy).expect("a sound layout");
    let refill = prices[0].refill;
    let line = f64::from(spec.machine.line_bytes);
    // A victim cache adds to those inside it, others hold them.
    let add = |inside: u64, cache: &homenode_engine::spec::Cache| {
        if cache.victim {
            inside + cache.bytes
        } else {
            inside.max(cache.bytes)
        }
    };
    let bytes = spec.machine.caches.iter().fold(0, add) as f64;
    assert!((refill.private_lines - bytes / line).abs() < 1e-9);
    // A core of its own cannot bring in more lines than it misses in the empty cache.
    let misses = spec.partitions[0].profile.miss_m0;
    assert!(refill.lines > 0.0 && refill.lines < misses);
    // The latency in excess of the private caches', for as much of it as is waited for.
    let from = spec.machine.cache_to_cache_ns;
    let apart = |a: usize, b: usize| (refill.ns[b] - refill.ns[a]) / refill.lines;
    let waited = 1.0 - spec.partitions[0].profile.overlap;
    assert!((apart(0, 1) - waited * (from.near - from.local)).abs() < 1e-9);
    assert!((apart(1, 2) - waited * (from.far - from.near)).abs() < 1e-9);
    assert_eq!(prices[1].refill, Refill::default());
}

/// Sixteen cores in the order of the numbers drawn for them.
fn shuffled(keys: &[u32]) -> Vec<u16> {
    let mut cores: Vec<u16> = (0..16).collect();
    cores.sort_by_key(|core| keys[usize::from(*core)]);
    cores
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 100,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn equal_latencies_leave_no_cost_of_place(
        keys in prop::collection::vec(any::<u32>(), 16),
        count in 2usize..16,
        gib in prop::collection::vec(1u64..64, 3),
        private in 0.0..1.0_f64,
    ) {
        let mut machine = cells();
        let flat = |ns| ByDistance { local: ns, near: ns, far: ns };
        machine.memory_ns = flat(150.0);
        machine.cache_to_cache_ns = flat(90.0);
        machine.memory_bytes_per_s = 1e30;
        (machine.node_link_bytes_per_s, machine.chip_link_bytes_per_s) = (1e30, 1e30);
        let cost = |cores: Vec<u16>, parts: Vec<MemoryPart>| {
            let mut one = user("a", cores, parts);
            one.profile.private_data = private;
            one.profile.lock_share = 0.05;
            costs(&spec(machine.clone(), vec![one]))[0].ns
        };
        let anywhere = shuffled(&keys)[..count].to_vec();
        let parts = vec![
            memory(&[0], gib[0] * GIB),
            memory(&[1], gib[1] * GIB),
            memory(&[0, 1], gib[2] * GIB),
        ];
        let total = gib.iter().sum::<u64>() * GIB;
        let together = cost((0..count as u16).collect(), vec![memory(&[0], total)]);
        prop_assert!((cost(anywhere, parts) / together - 1.0).abs() < 1e-12);
    }

    #[test]
    fn books_and_lines_add_up(
        keys in prop::collection::vec(any::<u32>(), 16),
        count in 1usize..16,
        bandwidth in 1e9..1e12_f64,
    ) {
        let mut machine = cells();
        machine.memory_bytes_per_s = bandwidth;
        machine.node_link_bytes_per_s = bandwidth / 2.0;
        let own = shuffled(&keys)[..count].to_vec();
        let rest = shuffled(&keys)[count..].to_vec();
        let parts = vec![memory(&[0], GIB), memory(&[0, 1], GIB)];
        let pair = vec![user("a", own, parts.clone()), user("b", rest, parts)];
        for cost in costs(&spec(machine, pair)) {
            prop_assert!((cost.books.total() / cost.ns - 1.0).abs() < 1e-12);
            // Misses of the first level, 32 KiB: 0.05 / sqrt(33), and what shared lines add.
            let first = 0.05 / 33.0_f64.sqrt();
            let shared = 0.2 * 0.05 / 2049.0_f64.sqrt();
            prop_assert!(cost.lines.total() <= first + shared);
            prop_assert!(cost.lines.total() >= 0.8 * first);
        }
    }
}
