//! CP's scheduler: shares, limits, minor time slices, parking.

use crate::common::race::water_fill;
use crate::common::zvm::{alone, cp, endless, free_cp, virtual_machine};
use crate::common::{run, Outcome, MS, SECOND};
use homenode_engine::guest::zvm::share::weights;
use homenode_engine::spec::{CpShare, Role, Spec, Unparking, VirtualMachine, Workload};

/// Loops with these shares on one chip.
fn loops(cores: u16, shares: &[CpShare]) -> Spec {
    let mut machines = endless(shares.len() as u16);
    for (machine, share) in machines.iter_mut().zip(shares) {
        machine.share = *share;
    }
    let mut spec = alone(cores, free_cp(machines, Vec::new()), Workload::Idle);
    spec.duration_ns = 2 * SECOND;
    spec
}

/// Processors that each virtual machine had.
fn used(spec: &Spec, outcome: &Outcome) -> Vec<f64> {
    let count = match &spec.partitions[0].guest {
        homenode_engine::spec::Guest::Zvm(zvm) => zvm.machines.len(),
        other => panic!("{other:?}"),
    };
    let of = |at: usize| {
        let series = outcome
            .virtual_machine
            .series("virtual_machine", at, "guest_ns");
        series.iter().sum::<i64>() as f64 / spec.duration_ns as f64
    };
    (0..count).map(of).collect()
}

fn machines(spec: &mut Spec) -> &mut Vec<VirtualMachine> {
    &mut cp(&mut spec.partitions[0]).machines
}

#[test]
fn shares_are_water_filled() {
    let relative = CpShare::Relative;
    for (cores, shares) in [
        (1, vec![relative(100), relative(200), relative(300)]),
        (2, vec![relative(100); 5]),
        (
            2,
            vec![relative(100), relative(100), relative(100), relative(900)],
        ),
        (
            3,
            vec![
                CpShare::Absolute(0.5),
                relative(100),
                relative(200),
                relative(50),
                relative(50),
            ],
        ),
        (4, vec![relative(100); 3]),
    ] {
        let spec = loops(cores, &shares);
        let outcome = run(&spec, 0);
        let demands = vec![1.0; shares.len()];
        let wanted = water_fill(f64::from(cores), &weights(&shares), &demands);
        for (got, wanted) in used(&spec, &outcome).into_iter().zip(wanted) {
            // A slice of five milliseconds in two seconds, at either end.
            assert!(
                (got - wanted).abs() < 0.012,
                "{shares:?}: {got} of {wanted}"
            );
        }
    }
}

#[test]
fn a_hard_limit_holds_and_a_soft_one_gives_way() {
    for (hard, wanted) in [(true, 0.5), (false, 1.0)] {
        let mut spec = loops(2, &[CpShare::Relative(100)]);
        machines(&mut spec)[0].maximum = Some(CpShare::Absolute(0.25));
        machines(&mut spec)[0].limit_hard = hard;
        let outcome = run(&spec, 0);
        let got = used(&spec, &outcome)[0];
        assert!((got - wanted).abs() < 0.02, "{hard}: {got}");
    }
}

#[test]
fn a_soft_limit_holds_while_others_want_the_processors() {
    let mut spec = loops(1, &[CpShare::Relative(100); 3]);
    machines(&mut spec)[0].maximum = Some(CpShare::Absolute(0.1));
    let outcome = run(&spec, 0);
    let got = used(&spec, &outcome);
    assert!((got[0] - 0.1).abs() < 0.02, "{got:?}");
    assert!((got[1] - 0.45).abs() < 0.02 && (got[2] - 0.45).abs() < 0.02);
}

#[test]
fn loops_take_turns_by_the_minor_time_slice() {
    let mut spec = loops(1, &[CpShare::Relative(100); 2]);
    cp(&mut spec.partitions[0]).minor_slice_ns = 10 * MS;
    let outcome = run(&spec, 0);
    let dispatches = outcome.total("zvm", "context_switches");
    assert_eq!(dispatches, (spec.duration_ns / (10 * MS)) as f64);
}

/// Two loops that start on the last two of eight cores; a decision to park every 100 ms.
fn parking(unparking: Unparking) -> Spec {
    let idle = |n| virtual_machine(&format!("idle{n}"), Role::Idle, None);
    let mut all: Vec<_> = (0..6).map(idle).collect();
    all.extend(endless(2));
    let mut zvm = free_cp(all, Vec::new());
    zvm.unparking = unparking;
    zvm.park_interval_ns = 100 * MS;
    let mut spec = alone(8, zvm, Workload::Idle);
    spec.warmup_ns = SECOND;
    spec
}

#[test]
fn small_keeps_what_the_load_needs_and_the_pad() {
    for (unparking, wanted) in [
        (Unparking::Small, 3.0),
        (Unparking::Medium, 8.0),
        (Unparking::Large, 8.0),
    ] {
        let spec = parking(unparking);
        let outcome = run(&spec, 0);
        let unparked = outcome.total("zvm", "unparked_ns") / spec.duration_ns as f64;
        assert_eq!(unparked, wanted, "{unparking:?}");
        // Nothing is lost: the loops go on elsewhere.
        assert_eq!(outcome.total("zvm", "busy_ns"), 2.0 * SECOND as f64);
    }
}

#[test]
fn parked_cores_do_nothing() {
    let spec = parking(Unparking::Small);
    let outcome = run(&spec, 0);
    for cpu in 3..8 {
        let busy: i64 = outcome.cpu.series("cpu", cpu, "ticks_busy_ns").iter().sum();
        assert_eq!(busy, 0, "{cpu}");
    }
}

#[test]
fn horizontal_polarization_parks_nothing() {
    let mut spec = parking(Unparking::Small);
    cp(&mut spec.partitions[0]).vertical = false;
    let outcome = run(&spec, 0);
    assert_eq!(outcome.total("zvm", "unparked_ns"), 8.0 * SECOND as f64);
}

#[test]
fn a_soft_limit_holds_for_all_processors_of_a_machine_together() {
    let mut spec = loops(2, &[CpShare::Relative(100); 3]);
    for machine in machines(&mut spec) {
        machine.cpus = 4;
    }
    machines(&mut spec)[0].maximum = Some(CpShare::Absolute(0.1));
    let outcome = run(&spec, 0);
    let got = used(&spec, &outcome);
    assert!((got[0] - 0.2).abs() < 0.04, "{got:?}");
    assert!(
        (got[1] - 0.9).abs() < 0.04 && (got[2] - 0.9).abs() < 0.04,
        "{got:?}"
    );
}

#[test]
fn who_comes_back_from_a_hard_limit_does_not_wait_behind_another_vectors_clock() {
    // In horizontal polarization each processor has a vector, and their clocks run apart.
    let mut spec = loops(4, &[CpShare::Relative(100); 3]);
    cp(&mut spec.partitions[0]).vertical = false;
    let all = machines(&mut spec);
    (all[0].cpus, all[1].cpus, all[2].cpus) = (6, 6, 2);
    all[0].share = CpShare::Relative(300);
    all[2].maximum = Some(CpShare::Absolute(0.1));
    all[2].limit_hard = true;
    let outcome = run(&spec, 0);
    let got = used(&spec, &outcome);
    assert!((got[2] - 0.4).abs() < 0.08, "{got:?}");
}

#[test]
fn a_limited_machine_with_many_processors_is_looked_at_once_at_a_time() {
    let mut spec = loops(2, &[CpShare::Relative(100); 2]);
    for machine in machines(&mut spec) {
        machine.cpus = 64;
    }
    machines(&mut spec)[0].maximum = Some(CpShare::Absolute(0.1));
    // Each of the 64 has a slice before it is known that there are too many.
    (spec.warmup_ns, spec.duration_ns) = (4 * SECOND, 16 * SECOND);
    let outcome = run(&spec, 0);
    assert!(
        outcome.summary.events < 100_000,
        "{}",
        outcome.summary.events
    );
    let got = used(&spec, &outcome);
    assert!((got[0] - 0.2).abs() < 0.04, "{got:?}");
}
