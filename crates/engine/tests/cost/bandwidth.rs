//! What controllers, links and caches carry: never more than their bandwidth, shared among those
//! that ask, and latencies that rise with the load.

use crate::common::{
    costs, dedicated, loops, machine, memory, missing_profile, partition, run, spec, GIB, SECOND,
};
use homenode_engine::cost::Source;
use homenode_engine::machine::Topology;
use homenode_engine::spec::{CacheScope, Machine, MemoryBeside, MemoryLoad, Partition};
use homenode_engine::steady::Cost;
use proptest::prelude::*;

/// Two nodes of two chips with eight cores each, whose misses all go to memory.
fn machine_of_readers() -> Machine {
    let mut machine = machine("node:2 chip:2 core:8");
    machine
        .caches
        .retain(|cache| cache.scope == CacheScope::Core);
    machine.chip_link_bytes_per_s = 1e13;
    machine.node_link_bytes_per_s = 1e13;
    machine
}

/// Reads as fast as latency lets it: of each, the share `overlap` is hidden.
fn reader(name: &str, cores: std::ops::Range<u16>, domains: &[u16], overlap: f64) -> Partition {
    let count = u32::from(cores.end - cores.start);
    let mut one = partition(name, dedicated(cores, false), loops(count));
    one.profile = missing_profile(1e6);
    (one.profile.sharing, one.profile.overlap) = (0.0, overlap);
    one.profile.miss_m0 = 0.9;
    one.memory = vec![memory(domains, GIB)];
    one.data_bytes = GIB;
    one
}

/// Bytes a second that so many cores bring in from memory.
fn traffic(cost: &Cost, cores: usize, machine: &Machine) -> f64 {
    let from = [Source::MemoryLocal, Source::MemoryNear, Source::MemoryFar];
    let lines: f64 = from.iter().map(|source| cost.lines.of(*source)).sum();
    cores as f64 * lines / cost.ns * 1e9 * f64::from(machine.line_bytes)
}

#[test]
fn readers_get_what_a_controller_carries_and_no_more() {
    let mut machine = machine_of_readers();
    for overlap in [0.5, 0.9, 0.95, 0.99, 0.999] {
        machine.memory_bytes_per_s = 1e12;
        let free = spec(machine.clone(), vec![reader("a", 0..8, &[0], overlap)]);
        let asked = traffic(&costs(&free)[0], 8, &machine);
        for part in [0.05, 0.3, 0.9] {
            machine.memory_bytes_per_s = part * asked;
            let held = spec(machine.clone(), vec![reader("a", 0..8, &[0], overlap)]);
            let got = traffic(&costs(&held)[0], 8, &machine) / machine.memory_bytes_per_s;
            assert!(got < 1.0 + 1e-6 && got > 0.85, "{overlap} {part}: {got}");
        }
    }
}

#[test]
fn a_simulation_carries_no_more_either() {
    let mut machine = machine_of_readers();
    machine.memory_bytes_per_s = 2e9;
    for overlap in [0.5, 0.99] {
        let mut one = spec(machine.clone(), vec![reader("a", 0..8, &[0], overlap)]);
        (one.warmup_ns, one.interval_ns) = (SECOND / 2, SECOND);
        let priced = traffic(&costs(&one)[0], 8, &machine);
        let outcome = run(&one, 0);
        let (lines, busy) = ("lines_memory_local", "busy_ns");
        let seconds = outcome.total("a", busy) / 8.0 / SECOND as f64;
        let got = outcome.total("a", lines) * f64::from(machine.line_bytes) / seconds;
        assert!(got < 1.001 * machine.memory_bytes_per_s, "{overlap}: {got}");
        assert!(
            (got / priced - 1.0).abs() < 0.01,
            "{overlap}: {got} {priced}"
        );
    }
}

#[test]
fn those_who_ask_alike_share_what_there_is_alike() {
    let mut machine = machine_of_readers();
    machine.memory_bytes_per_s = 1e9;
    let pair = vec![reader("a", 0..4, &[0], 0.99), reader("b", 4..8, &[0], 0.99)];
    let both = costs(&spec(machine.clone(), pair));
    let [a, b] = [0, 1].map(|at| traffic(&both[at], 4, &machine));
    assert!(
        (a / b - 1.0).abs() < 1e-9 && (a + b) / 1e9 < 1.0 + 1e-6,
        "{a} {b}"
    );
    // Memory spread over all domains: each has a quarter of it.
    let all = costs(&spec(
        machine.clone(),
        vec![reader("a", 0..16, &[0, 1, 2, 3], 0.999)],
    ));
    let got = traffic(&all[0], 16, &machine);
    assert!(got < 4e9 * (1.0 + 1e-6) && got > 3.9e9, "{got}");
}

#[test]
fn a_link_holds_back_in_its_direction() {
    let mut machine = machine_of_readers();
    machine.memory_bytes_per_s = 1e12;
    machine.node_link_bytes_per_s = 1e9;
    let far = reader("a", 0..8, &[2], 0.99);
    let alone = costs(&spec(machine.clone(), vec![far.clone()]))[0];
    assert!(traffic(&alone, 8, &machine) < 1e9 * (1.0 + 1e-6));
    let back = reader("b", 16..24, &[0], 0.99);
    let against = costs(&spec(machine.clone(), vec![far.clone(), back]));
    assert!(
        (against[0].ns / alone.ns - 1.0).abs() < 1e-6,
        "the other direction"
    );
    let along = reader("b", 8..16, &[2], 0.99);
    let shared = costs(&spec(machine.clone(), vec![far, along]));
    assert!(shared[0].ns > 1.9 * alone.ns, "the same direction");
    let (a, b) = (
        traffic(&shared[0], 8, &machine),
        traffic(&shared[1], 8, &machine),
    );
    assert!(a + b < 1e9 * (1.0 + 1e-6));
}

#[test]
fn a_chips_link_carries_what_comes_from_memory_beside_the_node() {
    let mut machine = machine_of_readers();
    machine.memory_beside = MemoryBeside::Node;
    machine.memory_bytes_per_s = 1e12;
    machine.chip_link_bytes_per_s = 1e9;
    let one = costs(&spec(machine.clone(), vec![reader("a", 0..8, &[0], 0.9)]));
    let got = traffic(&one[0], 8, &machine);
    assert!(got < 1e9 * (1.0 + 1e-6) && got > 0.95e9, "{got}");
    let two = costs(&spec(machine.clone(), vec![reader("a", 0..16, &[0], 0.9)]));
    assert!((traffic(&two[0], 16, &machine) / got - 2.0).abs() < 0.01);
}

#[test]
fn a_cache_that_states_a_bandwidth_serves_no_more() {
    let mut machine = machine("node:1 chip:2 core:8");
    machine.memory_bytes_per_s = 1e13;
    let mut work = reader("a", 0..8, &[0], 0.99);
    (work.profile.miss_c0_bytes, work.profile.miss_exponent) = (1e7, 4.0);
    let hits = |machine: &Machine| {
        let cost = costs(&spec(machine.clone(), vec![work.clone()]))[0];
        let lines = cost.lines.of(Source::CacheChip);
        8.0 * lines / cost.ns * 1e9 * f64::from(machine.line_bytes)
    };
    let last = machine.caches.len() - 1;
    assert!(machine.caches[last].scope == CacheScope::Chip);
    machine.caches[last].bytes = 256 << 20;
    let free = hits(&machine);
    machine.caches[last].bytes_per_s = Some(free / 4.0);
    let held = hits(&machine);
    assert!(
        held < free / 4.0 * (1.0 + 1e-6) && held > 0.9 * free / 4.0,
        "{free} {held}"
    );
}

#[test]
fn what_is_written_back_takes_its_part() {
    let mut machine = machine_of_readers();
    machine.memory_bytes_per_s = 1e9;
    machine.memory_load = MemoryLoad {
        write_cost: 1.3,
        ..MemoryLoad::default()
    };
    let mut work = reader("a", 0..8, &[0], 0.99);
    let reads = traffic(
        &costs(&spec(machine.clone(), vec![work.clone()]))[0],
        8,
        &machine,
    );
    work.profile.dirty_share = 0.5;
    let mixed = traffic(&costs(&spec(machine.clone(), vec![work]))[0], 8, &machine);
    assert!((reads / mixed - 1.65).abs() < 1e-3, "{reads} {mixed}");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// More bandwidth never costs, less never helps, and no cost jumps with it.
    #[test]
    fn the_time_of_an_instruction_falls_steadily_with_bandwidth(
        overlap in 0.0..0.999_f64,
        bandwidth in 1e8..1e11_f64,
        bank in 0.0..60.0_f64,
        channels in 1u16..12,
        spread in any::<bool>(),
    ) {
        let mut machine = machine_of_readers();
        machine.memory_load = MemoryLoad {
            channels,
            bank_ns: bank,
            channel_wait: 0.3,
            write_cost: 1.3,
        };
        let domains: &[u16] = if spread { &[0, 1] } else { &[0] };
        let mut at = |bytes_per_s: f64| {
            machine.memory_bytes_per_s = bytes_per_s;
            costs(&spec(machine.clone(), vec![reader("a", 0..8, domains, overlap)]))[0].ns
        };
        let (less, here, more) = (at(bandwidth / 1.02), at(bandwidth), at(1.02 * bandwidth));
        let rises = less >= here * (1.0 - 1e-9) && here >= more * (1.0 - 1e-9);
        prop_assert!(rises, "{less} {here} {more}");
        prop_assert!(less / more < 1.06, "{less} {more}");
    }

    /// A neighbour never makes anybody faster, and no domain carries more than it can.
    #[test]
    fn a_neighbour_takes_and_never_gives(
        overlap in 0.0..0.999_f64,
        bandwidth in 1e8..1e11_f64,
        home in 0u16..4,
        at in 1u16..4,
    ) {
        let mut machine = machine_of_readers();
        machine.memory_bytes_per_s = bandwidth;
        machine.node_link_bytes_per_s = bandwidth;
        machine.chip_link_bytes_per_s = bandwidth;
        let own = reader("a", 0..8, &[0], overlap);
        let other = reader("b", 8 * at..8 * at + 8, &[home], 0.9);
        let alone = costs(&spec(machine.clone(), vec![own.clone()]))[0].ns;
        let both = costs(&spec(machine.clone(), vec![own, other]));
        prop_assert!(both[0].ns >= alone * (1.0 - 1e-9), "{} {alone}", both[0].ns);
        let got: f64 = both.iter().map(|cost| traffic(cost, 8, &machine)).sum();
        let domains = if home == 0 { 1.0 } else { 2.0 };
        prop_assert!(got <= domains * bandwidth * (1.0 + 1e-6), "{got}");
    }
}

#[test]
fn the_tree_is_as_the_tests_take_it() {
    let tree = Topology::new(&machine_of_readers());
    assert_eq!(
        (tree.chips().len(), tree.nodes().len(), tree.domains().len()),
        (4, 2, 4)
    );
}
