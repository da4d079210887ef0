//! Policy `linux` in the whole engine: groups of processes and guests, and what the tables say of
//! them. The scheduler's own rules are tested beside it.

use crate::common::host::{
    cgroup, group, host_machine, host_spec, of_cgroup, on_off, share, threads,
};
use crate::common::{loops, run, Outcome, MS, SECOND};
use homenode_engine::spec::{Cgroup, Partition, Policy, Spec, Workload};

fn host(machine: &str, cgroups: Vec<Cgroup>, partitions: Vec<Partition>) -> Spec {
    let mut spec = host_spec(host_machine(Policy::Linux, machine), cgroups, partitions);
    spec.duration_ns = 5 * SECOND;
    spec
}

fn spinners(name: &str, cgroup: u16, count: u16) -> Partition {
    group(
        name,
        threads(count, 100, of_cgroup(cgroup)),
        loops(u32::from(count)),
    )
}

fn close(value: f64, expected: f64, part: f64) {
    let off = value / expected - 1.0;
    assert!(
        off.abs() <= part,
        "{value} for {expected}: {:+.1} %",
        100.0 * off
    );
}

#[test]
fn weights_of_control_groups_are_shares_of_the_cores() {
    let groups = vec![cgroup("a", 200), cgroup("b", 100)];
    let spec = host(
        "core:2",
        groups,
        vec![spinners("a", 0, 2), spinners("b", 1, 2)],
    );
    let outcome = run(&spec, 0);
    assert!((share(&outcome, "a") - 0.667).abs() < 0.01);
    // Turns of 8 and 4 ms on each of two processors.
    close(outcome.total("a", "nivcsw"), 834.0, 0.02);
    assert_eq!(outcome.total("a", "nvcsw"), 0.0);
    assert_eq!(outcome.total("a", "throttled_ns"), 0.0);
}

#[test]
fn a_quota_throttles_and_the_tables_say_how_long() {
    let limited = Cgroup {
        quota_ns: Some(50 * MS),
        ..cgroup("a", 100)
    };
    let outcome = run(&host("core:2", vec![limited], vec![spinners("a", 0, 2)]), 0);
    // A quota in each period, and at most one more: the pool was full at the start.
    close(outcome.total("a", "busy_ns"), 0.5 * 5e9, 0.025);
    assert!(outcome.total("a", "throttled_periods") >= 49.0);
    close(outcome.total("a", "throttled_ns"), 7.5e9, 0.02);
    // Throttled time is waiting, as the kernel counts it.
    let waited = outcome.total("a", "ready_ns") + outcome.total("a", "busy_ns");
    assert!(waited <= 1e10 && waited > 0.98e10, "{waited}");
}

fn beside_spinners(weight: u32) -> Outcome {
    let groups = vec![cgroup("a", weight), cgroup("b", 100)];
    let mut a = group("a", threads(2, 100, of_cgroup(0)), Workload::Idle);
    on_off(2, 2e6, 8_050_000, &mut a);
    run(&host("core:2", groups, vec![a, spinners("b", 1, 2)]), 0)
}

#[test]
fn processes_that_sleep_wait_beside_those_that_do_not() {
    let (much, little) = (beside_spinners(200), beside_spinners(25));
    let used = |outcome: &Outcome| outcome.total("a", "busy_ns") / 5e9;
    let delay =
        |outcome: &Outcome| outcome.total("a", "ready_ns") / outcome.total("a", "tx_done") * 1e-6;
    for outcome in [&much, &little] {
        // A cycle is work, sleep and waiting.
        close(used(outcome), 2.0 * 2.0 / (10.05 + delay(outcome)), 0.01);
        assert!(delay(outcome) > 0.1 && delay(outcome) < 4.0);
    }
    assert!(delay(&little) > 3.0 * delay(&much));
    // Each goes to sleep once a burst.
    close(much.total("a", "nvcsw"), much.total("a", "tx_done"), 0.01);
}

#[test]
fn a_process_belongs_to_its_user() {
    // Alone, two that sleep in step never meet: a processor each, and no waiting.
    let mut a = group("a", threads(2, 100, of_cgroup(0)), Workload::Idle);
    on_off(2, 2e6, 8_000_000, &mut a);
    let outcome = run(&host("core:2", vec![cgroup("a", 100)], vec![a]), 0);
    assert_eq!(outcome.total("a", "ready_ns"), 0.0);
    assert_eq!(outcome.total("a", "host_migrations"), 0.0);
    close(outcome.total("a", "tx_done"), 1000.0, 0.003);
}

#[test]
fn the_same_seed_gives_the_same_tables() {
    let spec = || {
        let limited = Cgroup {
            quota_ns: Some(30 * MS),
            ..cgroup("a", 300)
        };
        let mut c = group("c", threads(3, 100, of_cgroup(1)), Workload::Idle);
        on_off(3, 1e6, 3_000_000, &mut c);
        let partitions = vec![spinners("a", 0, 3), c, spinners("b", 1, 2)];
        host("chip:2 core:2", vec![limited, cgroup("b", 100)], partitions)
    };
    let tables = |replication| {
        let outcome = run(&spec(), replication);
        (outcome.partition, outcome.cpu)
    };
    assert_eq!(tables(3), tables(3));
}
