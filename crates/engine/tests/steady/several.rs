//! Several workloads of a partition, solved: laws that hold whatever they are, and the simulation.

use crate::common;
use crate::common::host::{host_machine, host_spec, of_kvm, plain_kvm, threads};
use crate::common::platform::Platform;
use crate::common::random::scenarios;
use crate::common::{
    capped, dedicated, loops, machine, partition, plain_profile, quiet_unix, run, shared, spec,
    transactions, users, SECOND,
};
use homenode_engine::spec::{
    Distribution, Guest, Load, Partition, Policy, Processors, Profile, Spec, Workload,
};
use homenode_engine::steady::{solve, Layouts, SolveFault, SolvedPartition};
use proptest::prelude::*;

fn load(name: &str, workload: Workload, profile: Profile) -> Load {
    Load {
        name: name.into(),
        workload,
        profile,
    }
}

fn poisson(rate: f64) -> Workload {
    transactions(rate, Distribution::Exponential)
}

/// A partition that runs these; the guest does nothing by itself.
fn with(processors: Processors, loads: Vec<Load>) -> Partition {
    let mut loads = loads.into_iter();
    let first = loads.next().expect("there is one");
    let mut one = partition("a", processors, first.workload);
    one.guest = Guest::Linux(quiet_unix());
    one.profile = first.profile;
    one.beside = loads.collect();
    if !one.beside.is_empty() {
        one.workload_name = first.name;
    }
    one
}

fn solved(one: Partition) -> SolvedPartition {
    let found = solve(&spec(machine("core:4"), vec![one]));
    found
        .unwrap_or_else(|fault| panic!("{fault}"))
        .partitions
        .remove(0)
}

#[test]
fn two_halves_of_a_stream_are_the_stream() {
    let of = |rates: &[f64]| {
        let named =
            |(at, rate): (usize, &f64)| load(&format!("w{at}"), poisson(*rate), plain_profile(1e6));
        solved(with(
            shared(1.5, 3),
            rates.iter().enumerate().map(named).collect(),
        ))
    };
    let (one, two) = (of(&[1_800.0]), of(&[600.0, 1_200.0]));
    assert!(
        (two.cores / one.cores - 1.0).abs() < 1e-3,
        "{one:?} {two:?}"
    );
    let (alone, beside) = (one.response_ns.unwrap(), two.response_ns.unwrap());
    assert!((beside / alone - 1.0).abs() < 1e-3);
    for of in &two.workloads {
        assert!((of.response_ns.unwrap() / alone - 1.0).abs() < 1e-3);
        let [.., late] = of.percentiles_ns.expect("bursts are exponential");
        assert!((late / one.percentiles_ns.unwrap()[2] - 1.0).abs() < 1e-3);
    }
    assert!((two.workloads[1].cores / two.workloads[0].cores - 2.0).abs() < 1e-3);
}

/// A guest of a Linux host with two streams is the guest with both in one, and a run agrees.
#[test]
fn on_a_host_two_halves_of_a_stream_are_the_stream_too() {
    let of = |rates: &[f64]| {
        let named =
            |(at, rate): (usize, &f64)| load(&format!("w{at}"), poisson(*rate), plain_profile(1e6));
        let loads = rates.iter().enumerate().map(named).collect();
        let guest = with(threads(3, 100, of_kvm(plain_kvm())), loads);
        let machine = host_machine(Policy::Linux, "core:4");
        let mut made = host_spec(machine, vec![], vec![guest]);
        made.duration_ns = 10 * SECOND;
        made
    };
    let [one, two] = [&[1_800.0][..], &[600.0, 1_200.0]].map(|rates| {
        let found = solve(&of(rates)).unwrap_or_else(|fault| panic!("{fault}"));
        found.partitions.into_iter().next().expect("there is one")
    });
    assert!((two.cores / one.cores - 1.0).abs() < 1e-3);
    let (alone, beside) = (one.response_ns.unwrap(), two.response_ns.unwrap());
    assert!((beside / alone - 1.0).abs() < 1e-3, "{beside}, not {alone}");
    let played = run(&of(&[600.0, 1_200.0]), 0);
    let cores = played.total("a", "busy_ns") / 10e9;
    assert!((two.cores / cores - 1.0).abs() < 0.02, "{cores}");
    let response = played.total("a", "response_ns") / played.total("a", "tx_done");
    assert!(
        (beside / response - 1.0).abs() < 0.05,
        "{beside}, not {response}"
    );
}

/// The more threads of a batch, the longer the others take; what comes of them is done all the
/// same, since an equal part of the processors is enough for it.
#[test]
fn a_batch_slows_the_others_and_takes_no_work_off_them() {
    let of = |threads| {
        let batch = load("batch", loops(threads), plain_profile(1e8));
        let orders = load("orders", poisson(900.0), plain_profile(1e6));
        solved(with(dedicated(0..2, false), vec![orders, batch]))
    };
    let mut before = 0.0;
    for threads in [1, 2, 4, 8] {
        let found = of(threads);
        let [orders, batch] = &found.workloads[..] else {
            panic!("two are told")
        };
        assert!((orders.throughput - 900.0).abs() < 0.1 && orders.steady);
        assert!((orders.cores - 0.9).abs() < 1e-3, "{orders:?}");
        let takes = orders.response_ns.unwrap();
        assert!(takes > before);
        before = takes;
        let left = (2.0 - orders.cores).min(f64::from(threads));
        assert!(batch.cores <= left + 1e-6);
        // As many as there are processors keep all of them busy.
        assert!(threads < 2 || (found.cores - 2.0).abs() < 1e-6);
    }
}

#[test]
fn more_than_it_can_do_is_told_of_the_one_that_grows() {
    let loads = vec![
        load("orders", poisson(2_500.0), plain_profile(1e6)),
        load("batch", loops(1), plain_profile(1e8)),
    ];
    let found = solved(with(dedicated(0..2, false), loads));
    assert!(!found.steady && found.response_ns.is_none());
    assert!(!found.workloads[0].steady && found.workloads[1].steady);
    assert!((found.cores - 2.0).abs() < 1e-6);
}

/// What a simulation of twenty seconds makes of it, in cores and mean responses.
#[test]
fn it_is_what_a_simulation_comes_to() {
    let loads = vec![
        load("orders", poisson(800.0), plain_profile(1e6)),
        load("web", users(40, 50_000_000), plain_profile(5e5)),
        load(
            "batch",
            Workload::Warehouses { count: 1 },
            plain_profile(2e6),
        ),
    ];
    let one = with(shared(2.0, 4), loads);
    let mut made = spec(machine("core:4"), vec![one]);
    made.duration_ns = 20 * SECOND;
    let outcome = run(&made, 0);
    let found = solve(&made).expect("it is solved").partitions.remove(0);
    let cores = outcome.total("a", "busy_ns") / made.duration_ns as f64;
    assert!(
        (found.cores / cores - 1.0).abs() < 0.02,
        "{} {cores}",
        found.cores
    );
    let simulated = &outcome.of("a").loads;
    assert_eq!(simulated.len(), 3);
    for (own, by) in found.workloads.iter().zip(simulated) {
        let mean = by.response.mean;
        let own = own.response_ns.expect("it has responses");
        assert!((own / mean - 1.0).abs() < 0.08, "{}: {own} {mean}", by.name);
    }
}

#[test]
fn what_is_not_solved_is_said() {
    let two = |count| {
        let named = |at| load(&format!("w{at}"), poisson(10.0), plain_profile(1e6));
        with(capped(1.0, 2), (0..count).map(named).collect())
    };
    let mut layouts = Layouts::new(&spec(machine("core:4"), vec![two(2)])).unwrap();
    let fault = layouts.add(0, &two(3)).unwrap_err();
    assert_eq!(fault, SolveFault::Workloads { got: 3, want: 2 });
    assert!(layouts.add(0, &two(2)).is_ok());
    let mut locking = two(2);
    locking.beside[0].profile.lock_kind = homenode_engine::spec::LockKind::Sleeping;
    locking.beside[0].profile.lock_share = 0.1;
    let fault = solve(&spec(machine("core:4"), vec![locking])).unwrap_err();
    assert!(fault.to_string().contains("a lock for which threads sleep"));
}

/// A layout that is compared is what it is when it is solved by itself.
#[test]
fn layouts_that_are_compared_are_those_that_are_solved() {
    let one = |home: u16, rate: f64| {
        let loads = vec![
            load("orders", poisson(rate), plain_profile(1e6)),
            load("batch", loops(1), plain_profile(1e7)),
        ];
        let mut one = with(shared(1.0, 3), loads);
        one.home = vec![home];
        one.memory = vec![common::memory(&[home], common::GIB)];
        one
    };
    let (mut first, mut second) = (one(0, 700.0), one(0, 900.0));
    (first.name, second.name) = ("x".into(), "y".into());
    let made = spec(machine("node:2 core:4"), vec![first, second]);
    let mut layouts = Layouts::new(&made).unwrap();
    let mut moved = one(1, 900.0);
    moved.name = "y".into();
    let number = layouts.add(1, &moved).unwrap();
    for row in [vec![0, 0], vec![0, number]] {
        let mut told = Vec::new();
        layouts.compare(&row, &mut told).unwrap();
        let alone = layouts.solve(&row).unwrap();
        for (compared, solved) in told.iter().zip(&alone.partitions) {
            assert!((compared.cores / solved.cores - 1.0).abs() < 5e-3);
            assert!((compared.throughput / solved.throughput - 1.0).abs() < 5e-3);
        }
    }
}

/// Gives each partition of a random layout another workload beside its own.
fn doubled(mut spec: Spec, rate: f64) -> Spec {
    if spec.machine.hypervisor.policy == Policy::Prsm {
        spec.machine.smt.parts = spec.machine.smt.parts.max(1);
    }
    for one in &mut spec.partitions {
        let profile = Profile {
            instructions_per_unit: 0.3 * one.profile.instructions_per_unit,
            ..one.profile.clone()
        };
        one.workload_name = "first".into();
        one.beside = vec![load("second", poisson(rate), profile)];
    }
    spec
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn what_workloads_use_adds_up(
        one in prop_oneof![
            scenarios(Platform::PowerVm),
            scenarios(Platform::Dedicated),
            scenarios(Platform::PrSm),
        ],
        rate in 1.0_f64..500.0,
    ) {
        let spec = doubled(one.0, rate);
        let Ok(solved) = solve(&spec) else { return Ok(()) };
        for (one, of) in solved.partitions.iter().zip(&spec.partitions) {
            prop_assert_eq!(one.workloads.len(), 2);
            let vps = f64::from(of.processors.count());
            prop_assert!(one.cores.is_finite() && one.cores <= vps * 1.02 + 0.02);
            prop_assert!((one.books.total() - one.cores).abs() <= 1e-6 + 0.01 * one.cores);
            let each: f64 = one.workloads.iter().map(|own| own.cores).sum();
            prop_assert!(each <= one.cores + 1e-6, "{each} of {}", one.cores);
            let second = &one.workloads[1];
            let done = second.throughput;
            prop_assert!(!second.steady || (done / rate - 1.0).abs() < 1e-3, "{done} of {rate}");
        }
    }
}
