//! Loops that rest: a neighbour that wants its processors for a part of the time, by the clock.

use crate::common::{
    capped, loops, machine, partition, quiet_unix, run, shared, spec, Outcome, MS, SECOND,
};
use homenode_engine::sim::check;
use homenode_engine::spec::{Guest, Spec, Workload};

/// Loops of a millisecond, busy and at rest for so long.
fn resting(count: u32, busy_ms: u64, rest_ms: u64) -> Workload {
    Workload::Loops {
        count,
        endless: true,
        busy_ns: busy_ms * MS,
        rest_ns: rest_ms * MS,
    }
}

fn alone(workload: Workload, guest: Option<Guest>) -> Outcome {
    let mut one = partition("a", shared(2.0, 2), workload);
    one.guest = guest.unwrap_or(one.guest);
    run(&spec(machine("core:2"), vec![one]), 0)
}

#[test]
fn they_use_their_share_of_the_time_whatever_the_guest() {
    for guest in [
        None,
        Some(Guest::Hpux(quiet_unix())),
        Some(Guest::Linux(quiet_unix())),
    ] {
        for (busy, rest, wanted) in [(50, 50, 1.0), (100, 100, 1.0), (25, 75, 0.5), (30, 10, 1.5)] {
            let outcome = alone(resting(2, busy, rest), guest.clone());
            let cores = outcome.total("a", "busy_ns") / SECOND as f64;
            // Each ends the loop that it is at, a millisecond at most.
            let most = 1.02 * wanted + 2.0 * 1.0 / (busy + rest) as f64;
            assert!(
                (0.99 * wanted..most).contains(&cores),
                "{busy} {rest}: {cores}"
            );
            assert_eq!(outcome.total("a", "interrupts"), 0.0);
        }
    }
}

#[test]
fn all_of_them_rest_at_once() {
    let outcome = alone(resting(2, 50, 50), None);
    let rows = outcome.partition.series("partition", 0, "busy_ns");
    // Of ten windows of 10 ms both cores work in four at least, in four none does, and two may lie
    // between work and rest.
    let cores: Vec<f64> = rows
        .iter()
        .map(|busy| *busy as f64 / (10 * MS) as f64)
        .collect();
    for ten in cores.chunks_exact(10) {
        let of = |fits: fn(f64) -> bool| ten.iter().filter(|cores| fits(**cores)).count();
        let (all, none) = (of(|cores| cores > 1.75), of(|cores| cores < 0.25));
        assert!(all >= 4 && none >= 3 && all + none >= 8, "{ten:?}");
    }
}

#[test]
fn each_replication_begins_at_a_phase_of_its_own() {
    let one = partition("a", shared(2.0, 2), resting(2, 50, 50));
    let spec = spec(machine("core:2"), vec![one]);
    let first = |replication| {
        let rows = run(&spec, replication);
        let rows = rows.partition.series("partition", 0, "busy_ns");
        rows.iter().take(10).copied().collect::<Vec<_>>()
    };
    let seen: std::collections::BTreeSet<_> = (0..6).map(first).collect();
    assert_eq!(first(3), first(3));
    assert!(seen.len() > 3, "{seen:?}");
}

/// What four loops do beside a neighbour, both entitled to half of four cores.
fn beside(neighbour: Workload) -> f64 {
    let one = partition("a", shared(2.0, 4), loops(4));
    let other = partition("b", shared(2.0, 4), neighbour);
    let outcome = run(&spec(machine("core:4"), vec![one, other]), 0);
    outcome.total("a", "instructions")
}

#[test]
fn a_neighbour_that_is_busy_half_of_the_time_costs_half_of_what_one_does_that_always_is() {
    let [none, half, all] = [Workload::Idle, resting(4, 100, 100), loops(4)].map(beside);
    assert!(none > half && half > all);
    let cost = (none - half) / (none - all);
    assert!((cost - 0.5).abs() < 0.03, "{cost}");
    let [less, more] = [resting(4, 50, 150), resting(4, 150, 50)].map(beside);
    assert!(less > half && half > more);
}

fn refused(workload: Workload) -> String {
    let spec: Spec = spec(
        machine("core:2"),
        vec![partition("a", capped(1.0, 2), workload)],
    );
    check(&spec).expect_err("it is refused").to_string()
}

#[test]
fn a_rest_without_work_and_work_that_ends_are_refused() {
    assert!(refused(resting(1, 0, 5)).contains("busy"));
    assert!(refused(resting(1, 5, 0)).contains("busy"));
    let mut once = resting(1, 5, 5);
    if let Workload::Loops { endless, .. } = &mut once {
        *endless = false;
    }
    assert!(refused(once).contains("endless"));
}
