//! z/VM under PR/SM: virtual processors on logical processors, logical cores on physical ones.

use crate::common::zvm::{
    cores_of, cp, endless, free_cp, real_locks, real_paths, served, switch, tile, virtual_machine,
    web, zvm_partition,
};
use crate::common::{assert_all, default_pool, missing_profile, run, spec, MS, SECOND};
use homenode_engine::hypervisor::policies::by_weight;
use homenode_engine::spec::{
    ExcessUse, Group, LogicalCores, Machine, Partition, Polarization, Policy, Processors, Role,
    Spec, Unparking, Workload,
};
use homenode_engine::steady::solve;

fn z(chips: u16, cores: u16) -> Machine {
    let mut machine = cores_of(chips, cores);
    machine.hypervisor.policy = Policy::Prsm;
    machine.hypervisor.prsm.run_time_ns = Some(10 * MS);
    machine.hypervisor.counts_redispatch = false;
    machine
}

fn sharing(mut partition: Partition, name: &str, weight: u16, cores: u16) -> Partition {
    partition.name = name.into();
    partition.processors = Processors::Shared {
        entitlement: 0.0,
        r#virtual: cores,
        capped: false,
        weight,
        pool: 0,
        soft_cap: false,
        prsm: LogicalCores {
            polarization: Polarization::Vertical,
            ..LogicalCores::default()
        },
        host: Box::default(),
    };
    partition
}

/// As [`sharing`], with the entitlement that the weights give written down for the invariants.
fn entitled(mut spec: Spec) -> Spec {
    for (at, share) in by_weight(&spec).into_iter().enumerate() {
        if let Processors::Shared { entitlement, .. } = &mut spec.partitions[at].processors {
            *entitlement = share.expect("shared");
        }
    }
    spec
}

#[test]
fn loops_of_two_partitions_share_by_weight() {
    let loops = || zvm_partition(4, free_cp(endless(4), Vec::new()), Workload::Idle);
    let partitions = vec![sharing(loops(), "a", 300, 4), sharing(loops(), "b", 100, 4)];
    let mut spec = entitled(spec(z(1, 4), partitions));
    spec.duration_ns = 2 * SECOND;
    let outcome = run(&spec, 0);
    let used = |name: &str| outcome.total(name, "busy_ns") / spec.duration_ns as f64;
    assert!((used("a") - 3.0).abs() < 0.05 && (used("b") - 1.0).abs() < 0.05);
    assert_eq!(
        outcome.total("a", "guest_ns"),
        outcome.total("a", "busy_ns")
    );
}

#[test]
fn everything_balances_on_both_levels() {
    for smt in [1, 2] {
        let web_of = || {
            let mut zvm = free_cp(tile(0, 2, 6), vec![switch("s")]);
            zvm.paths = real_paths();
            zvm.locks = real_locks();
            zvm.unparking = Unparking::Small;
            zvm.park_interval_ns = 50 * MS;
            let mut one = zvm_partition(6, zvm, web());
            one.profile = missing_profile(100_000.0);
            one.smt = smt;
            one
        };
        let partitions = vec![
            sharing(web_of(), "a", 200, 6),
            sharing(web_of(), "b", 100, 6),
        ];
        let mut spec = entitled(spec(z(2, 3), partitions));
        spec.warmup_ns = 50 * MS;
        spec.duration_ns = 500 * MS;
        spec.interval_ns = 50 * MS;
        let outcome = run(&spec, 0);
        assert_all(&spec, &outcome);
        for name in ["a", "b"] {
            let of = |column: &str| outcome.total(name, column);
            let owners = of("guest_ns") + of("chargeable_ns") + of("system_ns");
            assert_eq!(owners, of("busy_ns"), "{name} {smt}");
            assert!(of("tx_done") > 100.0);
        }
    }
}

#[test]
fn small_gives_cores_back() {
    let mut zvm = free_cp(endless(1), Vec::new());
    zvm.park_interval_ns = 50 * MS;
    let mut partitions = vec![
        sharing(zvm_partition(6, zvm.clone(), Workload::Idle), "a", 100, 6),
        sharing(zvm_partition(6, zvm, Workload::Idle), "b", 100, 6),
    ];
    cp(&mut partitions[0]).unparking = Unparking::Small;
    let mut spec = entitled(spec(z(1, 6), partitions));
    assert_eq!(spec.pools, vec![default_pool()]);
    spec.warmup_ns = SECOND;
    let outcome = run(&spec, 0);
    let unparked = |name: &str| outcome.total(name, "unparked_ns") / spec.duration_ns as f64;
    assert!(unparked("a") < 2.5, "{}", unparked("a"));
    assert!(unparked("b") > 4.0, "{}", unparked("b"));
}

/// What comes to a logical processor from another one fetches its lines once: not once more because
/// PR/SM has moved the logical processor meanwhile.
#[test]
fn who_is_put_on_fetches_its_lines_once() {
    let reload = |moves: bool| {
        let machines = (0..24).map(|at| served(&format!("s{at}"), 1, 1_500.0, 40_000.0));
        let mut zvm = free_cp(machines.collect(), Vec::new());
        zvm.vertical = false;
        let mut one = zvm_partition(8, zvm, Workload::Idle);
        one.profile = missing_profile(40_000.0);
        let mut partitions = vec![one];
        if moves {
            let loops = free_cp(endless(8), Vec::new());
            partitions.push(zvm_partition(8, loops, Workload::Idle));
            partitions = ["zvm", "b"]
                .into_iter()
                .zip(partitions)
                .map(|(name, one)| {
                    let mut one = sharing(one, name, 100, 8);
                    if let Processors::Shared { prsm, .. } = &mut one.processors {
                        prsm.polarization = Polarization::Horizontal;
                    }
                    one
                })
                .collect();
        }
        let mut spec = spec(z(4, 3), partitions);
        if moves {
            spec = entitled(spec);
        }
        spec.warmup_ns = 100 * MS;
        let outcome = run(&spec, 0);
        outcome.total("zvm", "book_reload") / outcome.total("zvm", "tx_done")
    };
    let (moved, kept) = (reload(true), reload(false));
    // More come to caches that others have used; twice for each would be 2.9 times as much.
    assert!(moved > kept && moved < 2.5 * kept, "{moved} {kept}");
}

/// Partitions of equal weight on six cores, so that each is entitled to two: `a` in vertical
/// polarization, and `b`, in horizontal, have loops for all of their logical cores, `c` has nothing
/// to do.
fn three(a: impl Fn(&mut Partition)) -> Spec {
    let with = |name: &str, machines: u16| {
        let mut zvm = free_cp(endless(machines), Vec::new());
        zvm.machines.push(virtual_machine("i", Role::Idle, None));
        zvm.vertical = name == "a";
        zvm.park_interval_ns = 50 * MS;
        let mut one = sharing(zvm_partition(6, zvm, Workload::Idle), name, 100, 6);
        if let Processors::Shared { prsm, .. } = &mut one.processors {
            if name != "a" {
                prsm.polarization = Polarization::Horizontal;
            }
        }
        one
    };
    let mut partitions = vec![with("a", 12), with("b", 6), with("c", 0)];
    a(&mut partitions[0]);
    let mut spec = spec(z(1, 6), partitions);
    spec.groups = vec![Group {
        name: "g".into(),
        cap: 3.0,
    }];
    let mut spec = entitled(spec);
    (spec.warmup_ns, spec.duration_ns) = (SECOND, SECOND);
    spec
}

/// Cores that `a` leaves unparked and uses, and that `b` uses: simulated.
fn unparked_and_used(spec: &Spec) -> [f64; 3] {
    let outcome = run(spec, 0);
    [("a", "unparked_ns"), ("a", "busy_ns"), ("b", "busy_ns")]
        .map(|(name, of)| outcome.total(name, of) / spec.duration_ns as f64)
}

/// What another one uses beyond its entitlement is there for whoever has as much weight for it.
#[test]
fn power_that_another_takes_beyond_its_share_is_counted_on() {
    for excessuse in [ExcessUse::High, ExcessUse::Medium, ExcessUse::Low] {
        let spec = three(|a| cp(a).excessuse = excessuse);
        let [unparked, used, others] = unparked_and_used(&spec);
        assert!((unparked - 3.0).abs() < 0.05, "{excessuse:?}: {unparked}");
        assert!((used - 3.0).abs() < 0.05, "{excessuse:?}: {used}");
        assert!((others - 3.0).abs() < 0.05, "{excessuse:?}: {others}");
    }
    let none = three(|a| cp(a).excessuse = ExcessUse::None);
    let [unparked, used, _] = unparked_and_used(&none);
    assert!((unparked - 2.0).abs() < 0.05 && (used - 2.0).abs() < 0.05);
}

/// Idle cores are no use to one whose limit keeps it off them.
#[test]
fn power_that_a_limit_keeps_off_is_not_counted_on() {
    let limited = |limit: &dyn Fn(&mut bool, &mut LogicalCores)| {
        let mut spec = three(|a| {
            if let Processors::Shared { capped, prsm, .. } = &mut a.processors {
                limit(capped, prsm);
            }
        });
        // Nobody else wants anything.
        let others = &mut cp(&mut spec.partitions[1]).machines;
        others.retain(|machine| machine.role == Role::Idle);
        unparked_and_used(&spec)
    };
    let near = |found: [f64; 3], cores: f64, most: f64| {
        assert!((found[0] - cores).abs() < 0.05, "{found:?}");
        assert!((found[1] - most).abs() < 0.1, "{found:?}");
    };
    near(limited(&|_, _| {}), 6.0, 6.0);
    near(limited(&|capped, _| *capped = true), 2.0, 2.0);
    near(limited(&|_, prsm| prsm.cap = Some(3.0)), 3.0, 3.0);
    near(limited(&|_, prsm| prsm.group = Some(0)), 3.0, 3.0);
    // Power for part of a core is had as well.
    near(limited(&|_, prsm| prsm.cap = Some(2.5)), 3.0, 2.5);
    near(limited(&|_, prsm| prsm.cap = Some(4.25)), 5.0, 4.25);
}

/// Solved, as many are unparked as where it is simulated.
#[test]
fn solved_counts_on_the_same_power() {
    let all: [fn(&mut Partition); 4] = [
        |_| (),
        |a| {
            if let Processors::Shared { capped, .. } = &mut a.processors {
                *capped = true;
            }
        },
        |a| {
            if let Processors::Shared { prsm, .. } = &mut a.processors {
                prsm.cap = Some(3.0);
            }
        },
        |a| {
            if let Processors::Shared { prsm, .. } = &mut a.processors {
                prsm.cap = Some(2.5);
            }
        },
    ];
    for (a, expected) in all.into_iter().zip([3.0, 2.0, 3.0, 3.0]) {
        let found = solve(&three(a)).unwrap_or_else(|fault| panic!("{fault}"));
        let unparked = found.partitions[0].zvm.as_ref().expect("z/VM").unparked;
        assert!((unparked - expected).abs() < 0.05, "{expected}: {unparked}");
    }
}

/// A run begins in the midst of a day: no loop is put on a logical core that has no power, also
/// before the first forecast.
#[test]
fn nobody_waits_on_a_core_without_power_when_a_run_begins() {
    let loops = || zvm_partition(8, free_cp(endless(8), Vec::new()), Workload::Idle);
    let partitions = vec![sharing(loops(), "a", 100, 8), sharing(loops(), "b", 100, 8)];
    let mut spec = entitled(spec(z(2, 4), partitions));
    (spec.warmup_ns, spec.duration_ns) = (0, SECOND);
    let outcome = run(&spec, 0);
    for at in 0..8 {
        // That of both partitions.
        let machines = &outcome.virtual_machine;
        let series = machines.series("virtual_machine", at, "guest_ns");
        let used = series.iter().sum::<i64>() as f64 / SECOND as f64;
        assert!((used - 1.0).abs() < 0.06, "{at}: {used}");
    }
}

/// What others leave is counted on soon after a run has begun.
#[test]
fn what_is_left_is_counted_on_from_the_start() {
    let loops = zvm_partition(8, free_cp(endless(8), Vec::new()), Workload::Idle);
    let machines = vec![virtual_machine("idle", Role::Idle, None)];
    let idle = zvm_partition(8, free_cp(machines, Vec::new()), Workload::Idle);
    let partitions = vec![sharing(loops, "a", 100, 8), sharing(idle, "b", 100, 8)];
    let mut spec = entitled(spec(z(2, 4), partitions));
    (spec.warmup_ns, spec.duration_ns) = (200 * MS, SECOND);
    let outcome = run(&spec, 0);
    let used = outcome.total("a", "busy_ns") / SECOND as f64;
    assert!(used > 7.9, "{used}");
}
