//! What guests of virtual machines do on their own: it grows with the machines, not with what they
//! serve.

mod common;

use common::zvm::{
    alone, cores_of, cp, endless, free_cp, real_paths, served, switch, tile, virtual_machine, web,
    zvm_partition,
};
use common::{missing_profile, run, spec, Outcome, MS, SECOND};
use homenode_engine::spec::{Role, Spec, Workload};

const RATE: f64 = 200.0;
const WORK_NS: u64 = 100_000;

/// Clients and servers of so many switches on twenty-four cores, whose connections think, with
/// daemons or without.
fn tiles(count: u16, think_ns: u64, rate: f64) -> Spec {
    let machines = (0..count).flat_map(|at| tile(at, 1, 6)).collect();
    let switches = (0..count).map(|at| switch(&format!("s{at}"))).collect();
    let mut zvm = free_cp(machines, switches);
    (zvm.daemon_rate_per_s, zvm.daemon_ns) = (rate, WORK_NS);
    let mut workload = web();
    if let Workload::Web { think_ns: of, .. } = &mut workload {
        *of = think_ns;
    }
    let mut spec = spec(cores_of(8, 3), vec![zvm_partition(24, zvm, workload)]);
    (spec.warmup_ns, spec.interval_ns) = (100 * MS, 100 * MS);
    spec
}

fn total(outcome: &Outcome, column: &str) -> f64 {
    outcome.total("zvm", column)
}

/// What daemons add to a figure, in a second.
fn more(with: impl Fn(f64) -> Spec, column: &str) -> f64 {
    let of = |rate| {
        let spec = with(rate);
        total(&run(&spec, 0), column) / spec.duration_ns as f64 * 1e9
    };
    of(RATE) - of(0.0)
}

/// A machine that is asked nothing does so much as its daemons ask for.
#[test]
fn idle_machines_use_what_their_daemons_take() {
    for cpus in [1, 4] {
        let mut machine = virtual_machine("idle", Role::Idle, None);
        machine.cpus = cpus;
        let mut zvm = free_cp(vec![machine], Vec::new());
        (zvm.daemon_rate_per_s, zvm.daemon_ns) = (RATE, WORK_NS);
        let mut spec = alone(2, zvm, Workload::Idle);
        spec.duration_ns = 20 * SECOND;
        let used = total(&run(&spec, 0), "guest_ns") / spec.duration_ns as f64;
        let asked = RATE * WORK_NS as f64 * 1e-9;
        assert!((used / asked - 1.0).abs() < 0.05, "{used} for {asked}");
    }
}

/// Twice as many machines execute twice as much on their own; work that comes twice as often
/// changes nothing in that.
#[test]
fn it_grows_with_machines_and_not_with_what_they_serve() {
    let of = |count, think_ms| more(|rate| tiles(count, think_ms * MS, rate), "instructions");
    let (one, two, hurried) = (of(1, 4), of(2, 4), of(1, 2));
    assert!((two / one - 2.0).abs() < 0.15, "{one} {two}");
    assert!((hurried / one - 1.0).abs() < 0.15, "{one} {hurried}");
}

/// Each wake-up of one that waits is an interruption and a dispatch, which CP executes.
#[test]
fn a_wake_up_is_an_interruption_of_who_waits() {
    let with = |rate| {
        let machines = (0..4).map(|at| virtual_machine(&format!("i{at}"), Role::Idle, None));
        let mut zvm = free_cp(machines.collect(), Vec::new());
        zvm.paths = real_paths();
        (zvm.daemon_rate_per_s, zvm.daemon_ns) = (rate, WORK_NS);
        alone(4, zvm, Workload::Idle)
    };
    let (slow, fast) = (run(&with(RATE), 0), run(&with(2.0 * RATE), 0));
    for column in ["chargeable_ns", "system_ns", "guest_ns"] {
        let times = total(&fast, column) / total(&slow, column);
        assert!((times - 2.0).abs() < 0.2, "{column}: {times}");
    }
    assert_eq!(total(&slow, "tx_done"), 0.0);
}

/// What comes from outside while a daemon is at work is done all the same, later.
#[test]
fn what_comes_from_outside_is_done_all_the_same_and_waits() {
    let with = |rate| {
        let mut zvm = free_cp(vec![served("one", 1, 1_000.0, 100_000.0)], Vec::new());
        (zvm.daemon_rate_per_s, zvm.daemon_ns) = (rate, 20 * WORK_NS);
        let mut spec = alone(1, zvm, Workload::Idle);
        spec.partitions[0].profile = missing_profile(100_000.0);
        spec.duration_ns = 4 * SECOND;
        spec
    };
    let (none, some) = (run(&with(0.0), 0), run(&with(100.0), 0));
    let done = total(&some, "tx_done") / total(&none, "tx_done");
    assert!((done - 1.0).abs() < 0.01, "{done}");
    let response = |of: &Outcome| total(of, "response_ns") / total(of, "tx_done");
    assert!(response(&some) > 2.0 * response(&none));
}

/// A loop never comes to anything else.
#[test]
fn loops_do_nothing_else() {
    let of = |rate| {
        let mut zvm = free_cp(endless(3), Vec::new());
        (zvm.daemon_rate_per_s, zvm.daemon_ns) = (rate, WORK_NS);
        let outcome = run(&alone(2, zvm, Workload::Idle), 0);
        (total(&outcome, "guest_ns"), total(&outcome, "instructions"))
    };
    assert_eq!(of(0.0), of(RATE));
}

/// With more of it clients and servers come to fewer transactions where they are all that is busy.
#[test]
fn a_bound_system_does_fewer_transactions() {
    let of = |rate| {
        let mut spec = tiles(1, 0, rate);
        spec.machine = cores_of(1, 2);
        let one = zvm_partition(2, cp(&mut spec.partitions[0]).clone(), web());
        spec.partitions = vec![one];
        total(&run(&spec, 0), "tx_done")
    };
    let done = [0.0, RATE, 4.0 * RATE].map(of);
    assert!(
        done.windows(2).all(|pair| pair[1] < 0.99 * pair[0]),
        "{done:?}"
    );
}
