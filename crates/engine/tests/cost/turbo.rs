//! Clocks by busy cores: the fewer of a chip work, the faster each does what is the core's alone.

use crate::common::host::{group, host_machine, host_spec, of_kvm, plain_kvm, threads};
use crate::common::{
    dedicated, loops, machine, missing_profile, partition, plain_profile, run, spec, transactions,
    SECOND,
};
use homenode_engine::spec::{Distribution, HostThreads, Load, Machine, Partition, Policy, Spec};
use homenode_engine::steady::{price, solve};

/// Clocks of a chip of four cores.
const TURBO_HZ: [f64; 4] = [2e9, 2e9, 1.75e9, 1.5e9];

fn with_turbo(mut machine: Machine) -> Machine {
    machine.turbo_hz = TURBO_HZ.to_vec();
    machine
}

/// Four seconds of endless loops on some processors each, once all goes its usual way.
fn pinned(machine: Machine, groups: &[&[u16]], missing: bool) -> Spec {
    let one = |(at, cpus): (usize, &&[u16])| {
        let host = HostThreads {
            pins: cpus.iter().map(|cpu| vec![*cpu]).collect(),
            ..HostThreads::default()
        };
        let count = cpus.len() as u16;
        let mut one = group(
            &format!("g{at}"),
            threads(count, 100, host),
            loops(u32::from(count)),
        );
        if missing {
            one.profile = missing_profile(1e6);
        }
        one
    };
    let mut spec = host_spec(
        machine,
        vec![],
        groups.iter().enumerate().map(one).collect(),
    );
    spec.warmup_ns = SECOND;
    spec.duration_ns = 4 * SECOND;
    spec
}

fn linux(text: &str) -> Machine {
    host_machine(Policy::Linux, text)
}

/// The same, but for ticks of the host, which take what they take.
fn is_near(speed: f64, told: f64) -> bool {
    (speed / told - 1.0).abs() < 5e-3
}

/// Instructions in a nanosecond of each group.
fn speeds(spec: &Spec) -> Vec<f64> {
    let outcome = run(spec, 0);
    let names = spec.partitions.iter().map(|one| &one.name);
    names
        .map(|name| outcome.total(name, "instructions") / spec.duration_ns as f64)
        .collect()
}

#[test]
fn each_core_has_the_clock_that_is_told_for_so_many() {
    for busy in 1..=4_u16 {
        let one: Vec<Vec<u16>> = (0..busy).map(|cpu| vec![cpu]).collect();
        let one: Vec<&[u16]> = one.iter().map(Vec::as_slice).collect();
        for speed in speeds(&pinned(with_turbo(linux("chip:2 core:4")), &one, false)) {
            let told = TURBO_HZ[usize::from(busy) - 1] / 1e9;
            assert!(is_near(speed, told), "{busy}: {speed}");
        }
    }
}

#[test]
fn the_other_chip_has_a_clock_of_its_own() {
    let groups: [&[u16]; 2] = [&[0, 1, 2, 3], &[4]];
    let usual = speeds(&pinned(linux("chip:2 core:4"), &groups, false));
    let fast = speeds(&pinned(with_turbo(linux("chip:2 core:4")), &groups, false));
    assert!(is_near(fast[0], 1.5 * usual[0]), "{usual:?} {fast:?}");
    assert!(is_near(fast[1], 2.0 * usual[1]), "{usual:?} {fast:?}");
}

#[test]
fn threads_of_one_core_are_one_busy_core() {
    let mut host = linux("chip:2 core:4 pu:2");
    host.hypervisor.siblings = 2;
    let groups: [&[u16]; 2] = [&[0, 1], &[2, 3]];
    let usual = speeds(&pinned(host.clone(), &groups, false));
    let fast = speeds(&pinned(with_turbo(host), &groups, false));
    for (usual, fast) in usual.into_iter().zip(fast) {
        assert!(is_near(fast, 2.0 * usual), "{usual} {fast}");
    }
}

#[test]
fn one_more_busy_core_makes_nobody_faster_and_memory_gains_nothing() {
    let mut before = f64::INFINITY;
    for busy in 1..=4_u16 {
        let cpus: Vec<u16> = (0..busy).collect();
        let usual = speeds(&pinned(linux("chip:2 core:4"), &[&cpus], true))[0];
        let fast = speeds(&pinned(with_turbo(linux("chip:2 core:4")), &[&cpus], true))[0];
        let (each, gain) = (fast / f64::from(busy), fast / usual);
        assert!(each <= before, "{busy}: {each}");
        before = each;
        let clock = TURBO_HZ[usize::from(busy) - 1] / 1e9;
        assert!(gain > 1.1 && gain < 0.99 * clock, "{busy}: {gain}");
    }
}

/// A guest that is busy for a part of the time: a core of 1 GHz for each thousand.
fn serving(rate: f64, machine: Machine) -> Spec {
    let work = transactions(rate, Distribution::Exponential);
    let mut one = group("g0", threads(8, 100, of_kvm(plain_kvm())), work);
    one.profile = plain_profile(1e6);
    let mut spec = host_spec(machine, vec![], vec![one]);
    spec.warmup_ns = SECOND;
    spec.duration_ns = 8 * SECOND;
    spec
}

fn cores_of(spec: &Spec) -> (f64, f64) {
    let played = run(spec, 0).total("g0", "busy_ns") / spec.duration_ns as f64;
    let solved = solve(spec).unwrap_or_else(|fault| panic!("{fault}"));
    (played, solved.partitions[0].cores)
}

#[test]
fn what_is_solved_has_the_same_clocks() {
    for rate in [1000.0, 3000.0, 4500.0] {
        let (played, solved) = cores_of(&serving(rate, with_turbo(linux("core:4"))));
        assert!(
            (solved / played - 1.0).abs() < 0.03,
            "{rate}: {played} {solved}"
        );
        assert!(played < 0.65 * rate / 1000.0, "{rate}: {played}");
    }
    // Two halves of the same, each a workload of its own.
    let mut spec = serving(2200.0, with_turbo(linux("core:4")));
    let half = &mut spec.partitions[0];
    half.workload_name = "first".into();
    half.beside = vec![Load {
        name: "second".into(),
        workload: half.workload.clone(),
        profile: half.profile.clone(),
    }];
    let (played, solved) = cores_of(&spec);
    assert!((solved / played - 1.0).abs() < 0.03, "{played} {solved}");
}

#[test]
fn a_price_is_that_of_the_cores_that_are_busy() {
    let one = |cores: u16| -> Partition { partition("a", dedicated(0..cores, false), loops(4)) };
    for busy in 1..=4_u16 {
        let spec = spec(with_turbo(machine("core:4")), vec![one(busy)]);
        let found = price(&spec, &[vec![f64::from(busy)]]).expect("it settles");
        let ns = found[0].cost.expect("it is busy").ns;
        assert!((ns * TURBO_HZ[usize::from(busy) - 1] / 1e9 - 1.0).abs() < 1e-9);
    }
}
