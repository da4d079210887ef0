//! z/VM by hand: what free or known operations come to, and what follows from any of them.

use crate::common::zvm::{
    alone, cores_of, cp, free_cp, no_locks, real_locks, real_paths, switch, tile, web,
    zvm_partition,
};
use crate::common::{missing_profile, run, spec, Outcome, MS, SECOND};
use homenode_engine::spec::{CpPaths, Layer, Spec, Workload};

/// Instructions of either end of a transaction; each takes a nanosecond.
const HALF: f64 = 50_000.0;

fn paths() -> CpPaths {
    CpPaths {
        dispatch: 700.0,
        scan: 30.0,
        interruption: 400.0,
        frame: 250.0,
        signal: 0.0,
        ..real_paths()
    }
}

#[test]
fn one_client_and_one_server_take_turns() {
    for cores in [1, 4] {
        let spec = alone(cores, free_cp(tile(0, 1, 1), vec![switch("s")]), web());
        let outcome = run(&spec, 0);
        assert_eq!(outcome.total("zvm", "tx_done"), 10_000.0, "{cores}");
        assert_eq!(outcome.total("zvm", "busy_ns"), SECOND as f64);
        assert_eq!(outcome.total("zvm", "guest_ns"), SECOND as f64);
        assert_eq!(outcome.of("zvm").response.max, 100_000);
    }
}

#[test]
fn a_transaction_is_the_sum_of_what_is_done_for_it() {
    let paths = paths();
    let each = paths.dispatch + paths.interruption + HALF + paths.frame;
    // One processor looks into its vector before it finds the other's work there; with two, each
    // is woken directly, and looks in vain when it is done, while the other works.
    for (cores, scans_inside) in [(1, 1.0), (2, 0.0)] {
        let mut zvm = free_cp(tile(0, 1, 1), vec![switch("s")]);
        zvm.paths = paths;
        let outcome = run(&alone(cores, zvm, web()), 0);
        let tx = 2.0 * (each + scans_inside * paths.scan);
        assert_eq!(outcome.of("zvm").response.max as f64, tx, "{cores}");
        let done = outcome.total("zvm", "tx_done");
        assert!((done - SECOND as f64 / tx).abs() <= 1.0);
        let per_tx = |column: &str| outcome.total("zvm", column) / (SECOND as f64 / tx);
        assert!((per_tx("guest_ns") - 2.0 * HALF).abs() < 100.0);
        let chargeable = 2.0 * (paths.interruption + paths.frame);
        assert!((per_tx("chargeable_ns") - chargeable).abs() < 2.0);
        let system = 2.0 * (paths.dispatch + paths.scan);
        assert!((per_tx("system_ns") - system).abs() < 2.0);
    }
}

#[test]
fn a_saturated_client_pays_no_interruptions_and_sets_the_pace() {
    let mut zvm = free_cp(tile(0, 1, 8), vec![switch("s")]);
    zvm.paths = paths();
    let outcome = run(&alone(12, zvm, web()), 0);
    let pace = SECOND as f64 / (HALF + paths().frame);
    assert!((outcome.total("zvm", "tx_done") - pace).abs() <= 1.0);
    // Little's law in a closed network: eight inside.
    let mean = outcome.total("zvm", "response_ns") / outcome.total("zvm", "tx_done");
    assert!((mean * pace / SECOND as f64 - 8.0).abs() < 0.01, "{mean}");
}

/// Tiles of two clients and eight servers, four cores a tile, on as many chips.
fn tiles(count: u16) -> Spec {
    let machines = (0..count).flat_map(|at| tile(at, 2, 8)).collect();
    let switches = (0..count).map(|at| switch(&format!("s{at}"))).collect();
    let one = zvm_partition(4 * count, free_cp(machines, switches), web());
    let mut spec = spec(cores_of(count, 4), vec![one]);
    spec.warmup_ns = 100 * MS;
    spec.interval_ns = 100 * MS;
    spec
}

fn per_tx(outcome: &Outcome, column: &str) -> f64 {
    outcome.total("zvm", column) / outcome.total("zvm", "tx_done")
}

#[test]
fn without_lines_locks_and_lists_nothing_grows_with_processors() {
    for count in [1, 2, 4, 8] {
        let mut spec = tiles(count);
        cp(&mut spec.partitions[0]).paths = paths();
        // A line that another processor wrote costs nothing: no distances.
        let none = spec.machine.caches[0].latency_ns;
        let lines = &mut spec.machine.cache_to_cache_ns;
        (lines.local, lines.near, lines.far) = (none, none, none);
        spec.machine.caches[0].latency_ns = none;
        let outcome = run(&spec, 0);
        let chargeable = per_tx(&outcome, "chargeable_ns");
        assert!(chargeable >= 2.0 * paths().frame - 1.0);
        assert!((per_tx(&outcome, "guest_ns") / 100_000.0 - 1.0).abs() < 0.002);
        assert_eq!(outcome.total("zvm", "spin_instructions"), 0.0);
        assert_eq!(outcome.total("zvm", "book_list"), 0.0);
    }
}

#[test]
fn locks_cost_more_the_more_processors_are_engaged() {
    let costs = |count: u16| {
        let mut spec = tiles(count);
        let zvm = cp(&mut spec.partitions[0]);
        zvm.paths = paths();
        zvm.locks = real_locks();
        per_tx(&run(&spec, 0), "book_spin")
    };
    let seen: Vec<f64> = [1, 2, 4, 8].into_iter().map(costs).collect();
    assert!(seen.windows(2).all(|pair| pair[1] > pair[0]), "{seen:?}");
}

#[test]
fn a_list_costs_more_the_longer_it_is_and_a_table_nothing() {
    let costs = |layer: Layer, servers: u16| {
        let mut zvm = free_cp(tile(0, 2, servers), vec![switch("s")]);
        zvm.switches[0].layer = layer;
        zvm.paths = paths();
        let outcome = run(&alone(8, zvm, web()), 0);
        (
            per_tx(&outcome, "chargeable_ns"),
            per_tx(&outcome, "book_list"),
        )
    };
    let (short, long) = (costs(Layer::Ip, 10), costs(Layer::Ip, 40));
    assert!(long.0 > short.0 && long.1 > short.1 && short.1 > 0.0);
    assert_eq!(costs(Layer::Ethernet, 40).1, 0.0);
}

/// Two sizes of a set in which everything is at work.
fn lively(count: u16) -> Outcome {
    let mut spec = tiles(count);
    let zvm = cp(&mut spec.partitions[0]);
    zvm.paths = paths();
    zvm.locks = real_locks();
    for switch in &mut zvm.switches {
        switch.layer = Layer::Ip;
    }
    spec.partitions[0].profile = missing_profile(100_000.0);
    run(&spec, 0)
}

#[test]
fn busy_time_path_cycles_and_clock_are_one_equation() {
    for count in [1, 4] {
        let outcome = lively(count);
        let of = |column: &str| outcome.total("zvm", column);
        // The clock is 1 GHz: cycles are nanoseconds.
        assert_eq!(of("cycles"), of("busy_ns"));
        let owners = of("guest_ns") + of("chargeable_ns") + of("system_ns");
        assert_eq!(owners, of("busy_ns"));
        // A look at a lock has four instructions, and the next comes after 500 cycles at most.
        let (spun, looks) = (of("book_spin"), of("spin_instructions") / 4.0);
        assert!(looks > 0.0 && spun < 500.0 * looks + 2.0, "{spun} {looks}");
        // The rest of the path takes a core cycle each.
        let path = of("instructions") - of("spin_instructions");
        assert!((of("book_useful") / path - 1.0).abs() < 1e-6);
    }
}

#[test]
fn the_mp_effect_is_cycles_per_instruction_times_path() {
    let (small, large) = (lively(1), lively(4));
    let cpi = |o: &Outcome| o.total("zvm", "cycles") / o.total("zvm", "instructions");
    let itr = |o: &Outcome| o.total("zvm", "tx_done") / o.total("zvm", "busy_ns");
    let path = |o: &Outcome| per_tx(o, "instructions");
    let split = cpi(&small) / cpi(&large) * path(&small) / path(&large);
    assert!((itr(&large) / itr(&small) / split - 1.0).abs() < 1e-9);
    // What more processors look at in vain, and who is pushed off where few are, add little.
    assert!(cpi(&large) > cpi(&small));
    assert!((path(&large) / path(&small) - 1.0).abs() < 0.01);
}

/// What transactions of one client with four servers cost with signals of so many instructions:
/// chargeable, and of the system itself.
fn signalled(chips: u16, cores: u16, signal: f64) -> [f64; 2] {
    let mut zvm = free_cp(tile(0, 1, 4), vec![switch("s")]);
    zvm.paths = CpPaths { signal, ..paths() };
    let partition = zvm_partition(chips * cores, zvm, web());
    let mut spec = spec(cores_of(chips, cores), vec![partition]);
    spec.warmup_ns = 100 * MS;
    spec.interval_ns = 100 * MS;
    let outcome = run(&spec, 0);
    ["chargeable_ns", "system_ns"].map(|column| per_tx(&outcome, column))
}

#[test]
fn one_idle_processor_is_signalled_however_many_there_are() {
    let of = |(chips, cores)| {
        let (free, paid) = (
            signalled(chips, cores, 0.0),
            signalled(chips, cores, 1_000.0),
        );
        ((paid[0] - free[0]) / 1_000.0, paid[1])
    };
    // The client wakes a server for each request, and takes what it answers in its turn.
    let all = [(1, 6), (1, 24), (4, 6)].map(of);
    for (signals, system) in all {
        assert!((signals - 1.0).abs() < 0.05, "{all:?}");
        // Nobody looks for what another took: only the two that are through with their messages
        // look, and into three vectors more where there are four chips.
        let looks = 2.0 * 3.0 * paths().scan;
        assert!(system - all[0].1 < looks + 1.0, "{all:?}");
    }
    assert!((all[1].1 - all[0].1).abs() < 1.0, "{all:?}");
}

#[test]
fn nobody_is_signalled_where_no_processor_idles() {
    let [free, paid] = [0.0, 1_000.0].map(|signal| signalled(1, 1, signal)[0]);
    assert!((free - paid).abs() < 1e-6, "{free} {paid}");
}

#[test]
fn think_time_thins_the_load_out() {
    let mut zvm = free_cp(tile(0, 1, 1), vec![switch("s")]);
    zvm.locks = no_locks();
    let mut spec = alone(2, zvm, web());
    if let Workload::Web { think_ns, .. } = &mut spec.partitions[0].workload {
        *think_ns = 9_900_000;
    }
    spec.duration_ns = 20 * SECOND;
    let done = run(&spec, 0).total("zvm", "tx_done");
    // A hundred a second; independent think times scatter by the root of their number.
    assert!((done - 2_000.0).abs() < 4.0 * 2_000.0f64.sqrt(), "{done}");
}
