//! What the other threads of a core do counts: work that wants the pipelines all the time is more
//! in the way than work that waits.

use crate::common::host::{host_spec, of_kvm, plain_kvm, threads};
use crate::common::strangers::{by_hand, on, smt, work};
use crate::common::{assert_all, loops, missing_profile, run, transactions, users, Outcome, MS};
use homenode_engine::sim::columns;
use homenode_engine::spec::{
    Distribution, HostThreads, Load, Machine, Partition, Policy, Profile, Spec,
};

fn host(machine: &Machine, partitions: Vec<Partition>) -> Spec {
    host_spec(machine.clone(), vec![], partitions)
}

fn two() -> Machine {
    smt(Policy::Linux, 1, &[1.0, 1.25], 1)
}

/// Instructions a nanosecond of each.
fn speeds(spec: &Spec) -> Vec<f64> {
    let outcome = run(spec, 0);
    assert_all(spec, &outcome);
    let of = |one: &Partition| speed(&outcome, &one.name);
    spec.partitions.iter().map(of).collect()
}

fn speed(outcome: &Outcome, name: &str) -> f64 {
    outcome.total(name, "instructions") / 1e9
}

/// Of two threads of a core.
fn pair(one: f64, other: f64) -> [f64; 2] {
    let found = speeds(&host(&two(), vec![on("a", 0, one), on("b", 1, other)]));
    [found[0], found[1]]
}

#[test]
fn threads_of_two_kinds_are_as_fast_as_by_hand() {
    for policy in [Policy::Linux, Policy::Credit2] {
        for (one, other) in [(1.0, 0.1), (0.1, 1.0), (0.5, 0.9), (1.0, 1.0), (0.7, 0.0)] {
            let partitions = vec![on("a", 0, one), on("b", 1, other)];
            let machine = smt(policy, 1, &[1.0, 1.25], 1);
            for found in speeds(&host(&machine, partitions)) {
                let told = by_hand(one, other);
                assert!(
                    (found - told).abs() < 1e-4,
                    "{policy:?} {one} {other} {found} {told}"
                );
            }
        }
    }
}

#[test]
fn who_waits_is_a_better_neighbour() {
    let [[compute, _], [hinders, waits], [among, _]] =
        [pair(1.0, 1.0), pair(1.0, 0.1), pair(0.1, 0.1)];
    assert!(hinders > compute + 0.2, "{hinders} {compute}");
    assert!(waits < among - 0.03, "{waits} {among}");
    let totals = [2.0 * compute, hinders + waits, 2.0 * among];
    assert!(totals[0] < totals[1] && totals[1] < totals[2], "{totals:?}");
    assert!(among <= 1.0);
}

#[test]
fn the_more_a_neighbour_wants_the_slower_one_is() {
    let beside = |share: f64| pair(0.6, share)[0];
    let all: Vec<f64> = (0..=5).map(|at| beside(0.2 * f64::from(at))).collect();
    assert!(all.windows(2).all(|two| two[1] < two[0]), "{all:?}");
    assert!((all[0] - 1.0).abs() < 1e-6, "{all:?}");
}

#[test]
fn where_on_the_core_who_is_does_not_matter() {
    let machine = smt(Policy::Linux, 1, &[1.0, 1.4, 1.5, 1.6], 1);
    let shares = [1.0, 0.1, 0.5, 0.1];
    let at = |pins: [u16; 4]| {
        let each = shares.into_iter().zip(pins).enumerate();
        let each = each.map(|(of, (share, pin))| on(&format!("p{of}"), pin, share));
        speeds(&host(&machine, each.collect()))
    };
    let first = at([0, 1, 2, 3]);
    assert_eq!(first[1], first[3]);
    for pins in [[3, 2, 1, 0], [1, 3, 0, 2]] {
        for (found, told) in at(pins).iter().zip(&first) {
            assert!((found - told).abs() < 1e-6, "{pins:?}");
        }
    }
}

#[test]
fn halves_keep_apart() {
    // Threads 0 and 2 are in one half, 1 and 3 in the other.
    let machine = smt(Policy::Linux, 1, &[1.0, 2.0, 2.2, 2.5], 2);
    let found = speeds(&host(&machine, vec![on("a", 0, 1.0), on("b", 1, 0.2)]));
    assert!(found.iter().all(|of| (of - 1.0).abs() < 1e-6), "{found:?}");
    let quiet = |other: f64| {
        let each = [(0, 1.0), (2, 0.1), (1, other), (3, other)].into_iter();
        let each = each.enumerate();
        let each = each.map(|(of, (pin, share))| on(&format!("p{of}"), pin, share));
        speeds(&host(&machine, each.collect()))
    };
    let (idle, busy) = (quiet(0.1), quiet(1.0));
    for (half, told) in [(&idle, by_hand(1.0, 0.1)), (&busy, by_hand(1.0, 0.1))] {
        assert!((half[0] - told).abs() < 1e-3, "{half:?} {told}");
    }
    assert!((busy[2] - by_hand(1.0, 1.0)).abs() < 1e-3, "{busy:?}");
}

#[test]
fn where_halves_are_filled_unevenly_hardly_any_difference_of_work_makes_hardly_any() {
    // Two in one half, and one that has the other for itself.
    let machine = smt(Policy::Linux, 1, &[1.0, 2.0, 2.2, 2.5], 2);
    let three = |share: f64| {
        let each = [("a", 0, 0.5), ("b", 2, 0.5), ("c", 1, share)];
        let each = each.map(|(name, pin, share)| on(name, pin, share));
        speeds(&host(&machine, each.to_vec()))
    };
    let (alike, other) = (three(0.5), three(0.5001));
    let [all, nearly] = [&alike, &other].map(|of| of.iter().sum::<f64>());
    assert!((nearly / all - 1.0).abs() < 1e-3, "{alike:?} {other:?}");
    assert!((other[0] - by_hand(0.5, 0.5)).abs() < 1e-3, "{other:?}");
    assert!((other[2] - 1.0).abs() < 1e-3, "{other:?}");
}

#[test]
fn machines_with_the_same_work_are_as_one() {
    let apart = host(&two(), vec![on("a", 0, 0.7), on("b", 1, 0.7)]);
    let mut named = apart.clone();
    // Somebody else is there who never runs: it has to be asked who is beside whom.
    named.partitions.push(on("c", 0, 0.1));
    named.partitions[2].workload = transactions(0.001, Distribution::Constant);
    let (one, other) = (run(&apart, 0), run(&named, 0));
    for name in ["a", "b"] {
        for column in ["instructions", "book_smt", "book_useful", "busy_ns"] {
            assert_eq!(
                one.total(name, column),
                other.total(name, column),
                "{name} {column}"
            );
        }
    }
}

#[test]
fn a_change_of_neighbours_is_felt_at_once() {
    // Two take turns on the other thread, of the same length.
    let alternate = vec![on("a", 0, 1.0), on("b", 1, 1.0), on("c", 1, 0.1)];
    let found = speeds(&host(&two(), alternate));
    let told = 0.5 * (by_hand(1.0, 1.0) + by_hand(1.0, 0.1));
    assert!((found[0] - told).abs() < 0.005, "{found:?} {told}");
    assert!((found[1] - 0.5 * by_hand(1.0, 1.0)).abs() < 0.005);
    assert!((found[2] - 0.5 * by_hand(1.0, 0.1)).abs() < 0.005);
}

#[test]
fn so_is_a_change_of_what_a_neighbour_does() {
    // One machine with both kinds of work on its only virtual processor.
    let mut both = on("b", 1, 1.0);
    let guest = HostThreads {
        pins: vec![vec![1]],
        ..of_kvm(plain_kvm())
    };
    both.processors = threads(1, 256, guest);
    both.beside = vec![Load {
        name: "waits".into(),
        workload: loops(1),
        profile: work(0.1),
    }];
    let spec = host(&two(), vec![on("a", 0, 1.0), both]);
    let (found, outcome) = (speeds(&spec), run(&spec, 0));
    let at = columns::LOAD.iter().position(|name| *name == "thread_ns");
    let of = |load: usize| outcome.of("b").loads[load].totals[at.expect("a column")] as f64 / 1e9;
    let told = of(0) * by_hand(1.0, 1.0) + of(1) * by_hand(1.0, 0.1);
    assert!(of(0).min(of(1)) > 0.3 && (of(0) + of(1) - 1.0).abs() < 1e-6);
    for found in found {
        assert!((found - told).abs() < 1e-4, "{found} {told}");
    }
}

#[test]
fn a_neighbour_that_sleeps_is_none() {
    let mut naps = on("b", 1, 0.1);
    naps.workload = users(1, MS);
    naps.profile.instructions_per_unit = 1e6;
    let spec = host(&two(), vec![on("a", 0, 1.0), naps]);
    let found = speeds(&spec);
    // It works for 1.06 ms of each mean of 2.06.
    let busy = run(&spec, 0).total("b", "busy_ns") / 1e9;
    let told = busy * by_hand(1.0, 0.1) + 1.0 - busy;
    assert!(
        busy > 0.3 && (found[0] - told).abs() < 1e-3,
        "{found:?} {told}"
    );
}

#[test]
fn nobody_is_faster_beside_another_than_alone() {
    let kinds = [
        work(1.0),
        work(0.2),
        missing_profile(1e6),
        Profile {
            issue_share: 0.3,
            ..missing_profile(1e6)
        },
    ];
    let machine = smt(Policy::Linux, 1, &[1.0, 1.4, 1.5, 1.6], 1);
    let of = |pin: u16, kind: usize| {
        let mut one = on(&format!("p{pin}"), pin, 1.0);
        one.profile = kinds[kind].clone();
        one
    };
    for kind in 0..kinds.len() {
        let mut before = speeds(&host(&machine, vec![of(0, kind)]))[0];
        // One more of any kind, whoever is there.
        for (pin, other) in [(1, 1), (2, 3), (3, 0)] {
            let others = [(1, 1), (2, 3), (3, 0)]
                .into_iter()
                .take_while(|(at, _)| *at < pin);
            let mut all = vec![of(0, kind)];
            all.extend(others.map(|(pin, kind)| of(pin, kind)));
            all.push(of(pin, other));
            let now = speeds(&host(&machine, all))[0];
            assert!(now < before, "{kind}: {now} after {before}");
            before = now;
        }
    }
}
