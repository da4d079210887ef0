//! Solved virtual machines: where they lie on threads of cores, how many cores are parked, and
//! crowds that are long.

use crate::common;
use crate::common::zvm::{alone, cp, free_cp, served};
use crate::common::{run, SECOND};
use homenode_engine::spec::{Spec, Unparking, VirtualMachine, Workload};
use homenode_engine::steady::{solve, SolvedPartition};

/// Instructions of a transaction, each of which takes a nanosecond on a core's only thread.
const WORK: f64 = 1e6;

fn solved(spec: &Spec) -> SolvedPartition {
    let solved = solve(spec).unwrap_or_else(|fault| panic!("{fault}"));
    solved.partitions.into_iter().next().expect("a partition")
}

fn simulated(spec: &Spec) -> f64 {
    let mut spec = spec.clone();
    spec.duration_ns = 10 * SECOND;
    run(&spec, 0).total("zvm", "busy_ns") / spec.duration_ns as f64
}

/// On eight cores of two threads.
fn threaded(machines: Vec<VirtualMachine>) -> Spec {
    let mut spec = alone(8, free_cp(machines, Vec::new()), Workload::Idle);
    spec.machine.smt.gain = vec![1.0, 1.4];
    spec.machine.smt.reference = spec.partitions[0].profile.clone();
    spec.partitions[0].smt = 2;
    spec
}

#[test]
fn who_comes_has_a_core_to_himself_while_one_rests() {
    let work = |at: u32| served(&format!("m{at}"), 1, 400.0, WORK);
    let on_eight = |count: u32| threaded((0..count).map(work).collect());
    let near = |spec: &Spec| {
        let (solved, simulated) = (solved(spec).cores, simulated(spec));
        assert!(
            (solved / simulated - 1.0).abs() < 0.03,
            "{solved} {simulated}"
        );
        solved
    };
    // Four have a core each; of sixteen some meet, and take fewer cores than apart.
    assert!((near(&on_eight(4)) / 1.6 - 1.0).abs() < 0.02);
    let cores = near(&on_eight(16));
    assert!(cores < 0.98 * 6.4, "{cores}");
}

#[test]
fn who_has_a_processor_of_his_own_finds_his_lines_there() {
    let of = |count: u32| {
        let machines =
            (0..count).map(|at| served(&format!("m{at}"), 1, 1_500.0 / f64::from(count), WORK));
        let mut spec = alone(4, free_cp(machines.collect(), Vec::new()), Workload::Idle);
        spec.partitions[0].profile = common::missing_profile(WORK);
        spec.partitions[0].profile.footprint_bytes = 1 << 20;
        solved(&spec).books.of(homenode_engine::cost::Book::Reload)
    };
    assert_eq!(of(4), 0.0);
    assert!(of(8) > 0.0);
}

#[test]
fn cores_that_come_and_go_end_at_a_number_that_is_solved() {
    for rate in 1..40 {
        let machines = vec![served("m", 8, 200.0 * f64::from(rate), WORK)];
        let mut spec = alone(8, free_cp(machines, Vec::new()), Workload::Idle);
        cp(&mut spec.partitions[0]).unparking = Unparking::Small;
        let found = solved(&spec);
        let wanted = 0.2 * f64::from(rate);
        let unparked = found.zvm.as_ref().expect("z/VM").unparked;
        assert!(
            (found.cores / wanted - 1.0).abs() < 0.01,
            "{rate}: {}",
            found.cores
        );
        assert!(unparked >= wanted && unparked <= 8.0, "{rate}: {unparked}");
    }
}

#[test]
fn more_comes_than_machines_can_do_and_it_is_said() {
    let of = |rate: f64| {
        let machines = (0..24).map(|at| served(&format!("m{at}"), 4, rate, WORK));
        solved(&alone(
            8,
            free_cp(machines.collect(), Vec::new()),
            Workload::Idle,
        ))
    };
    let (less, more) = (of(330.0), of(340.0));
    assert!(
        less.steady && less.response_ns.is_some_and(|ns| ns > 5e6),
        "{less:?}"
    );
    assert!(!more.steady && more.response_ns.is_none());
    // They do what processors do, not what comes; so do few that have not enough of their own.
    assert!((more.cores - 8.0).abs() < 0.01, "{}", more.cores);
    let pairs = threaded(
        (0..4)
            .map(|at| served(&format!("m{at}"), 1, 1_100.0, WORK))
            .collect(),
    );
    let found = solved(&pairs);
    assert!(
        !found.steady && (found.cores - 4.0).abs() < 0.05,
        "{}",
        found.cores
    );
}
