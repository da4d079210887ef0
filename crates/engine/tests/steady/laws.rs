//! Solved layouts: laws that hold whatever the layout, and of a few what is known exactly.

use crate::common;
use crate::common::platform::Platform;
use crate::common::random::scenarios;
use crate::common::{dedicated, loops, machine, partition, shared, spec, transactions, users};
use homenode_engine::spec::{
    Distribution, Group, Partition, Polarization, Policy, Pool, Processors, Spec,
};
use homenode_engine::steady::{solve, Compared, Layouts, SolveFault, Solved};
use proptest::prelude::*;

fn of(spec: &Spec) -> Solved {
    solve(spec).unwrap_or_else(|fault| panic!("{fault}"))
}

/// One partition on a core of its own; a burst of 1e6 instructions takes 1 ms.
fn alone(rate: f64) -> Spec {
    let work = transactions(rate, Distribution::Exponential);
    spec(
        machine("core:2"),
        vec![partition("a", dedicated(0..1, false), work)],
    )
}

#[test]
fn a_core_of_its_own_is_the_queue_of_textbooks() {
    for rate in [100.0, 500.0, 900.0] {
        let solved = of(&alone(rate));
        let one = &solved.partitions[0];
        let each = one.cores / rate;
        let response = one.response_ns.expect("it has transactions") * 1e-9;
        assert!(
            (response * (1.0 / each - rate) - 1.0).abs() < 1e-6,
            "{rate}: {response}"
        );
    }
}

#[test]
fn more_than_it_can_do_has_no_steady_state() {
    let one = &of(&alone(1_100.0)).partitions[0];
    assert!(!one.steady && one.response_ns.is_none());
    assert!((one.cores - 1.0).abs() < 1e-9);
}

#[test]
fn users_keep_littles_law() {
    let mut users_spec = alone(1.0);
    users_spec.partitions[0].workload = users(40, 50_000_000);
    let one = &of(&users_spec).partitions[0];
    let cycle = one.response_ns.expect("users wait") + 50e6;
    assert!((one.throughput * cycle * 1e-9 / 40.0 - 1.0).abs() < 1e-6);
}

/// Two partitions homed on two nodes of two cores; the first may have another home.
fn two(home: u16) -> (Spec, Partition) {
    let work = transactions(1_200.0, Distribution::Exponential);
    let mut first = partition("a", shared(1.0, 2), work.clone());
    let second = partition("b", shared(1.0, 2), work);
    let made = spec(machine("node:2 core:2"), vec![first.clone(), second]);
    first.home = vec![home];
    first.memory = vec![common::memory(&[home], common::GIB)];
    (made, first)
}

#[test]
fn a_form_that_is_taken_and_given_back_leaves_no_trace() {
    let (spec, elsewhere) = two(1);
    let mut layouts = Layouts::new(&spec).unwrap();
    let first = layouts.solve(&[0, 0]).unwrap();
    let number = layouts.add(0, &elsewhere).unwrap();
    let apart = layouts.solve(&[number, 0]).unwrap();
    let again = layouts.solve(&[0, 0]).unwrap();
    for (one, other) in first.partitions.iter().zip(&again.partitions) {
        assert!((one.cores / other.cores - 1.0).abs() < 1e-3);
    }
    // Together they are in each other's way, apart they are not.
    let waits = |of: &Solved| {
        of.partitions
            .iter()
            .map(|one| one.by_distance[2])
            .sum::<f64>()
    };
    assert!(waits(&apart) < 0.1 * waits(&first), "{first:?} {apart:?}");
    assert!(waits(&first) > 0.01 && waits(&apart) < 0.1 * waits(&first));
    let fault = layouts.solve(&[0, 7]).unwrap_err();
    assert!(matches!(fault, SolveFault::Shape { .. }));
}

/// Partitions on a machine of four nodes, each of which may be at home on any of them.
fn movable(rates: &[f64]) -> (Spec, Layouts) {
    let mut parts = Vec::new();
    for (at, rate) in rates.iter().enumerate() {
        let work = transactions(*rate, Distribution::Exponential);
        let mut one = partition(&format!("p{at}"), shared(1.0, 3), work);
        one.home = vec![2 * (at as u16 % 4), 2 * (at as u16 % 4) + 1];
        one.memory = vec![common::memory(&one.home, common::GIB)];
        parts.push(one);
    }
    let made = spec(machine("node:4 chip:2 core:4"), parts);
    let mut layouts = Layouts::new(&made).unwrap();
    for (at, one) in made.partitions.iter().enumerate() {
        for node in 0..4 {
            let home = vec![2 * node, 2 * node + 1];
            let memory = vec![common::memory(&home, common::GIB)];
            let moved = Partition {
                home,
                memory,
                ..one.clone()
            };
            layouts.add(at, &moved).unwrap();
        }
    }
    (made, layouts)
}

fn compared(layouts: &mut Layouts, rows: &[Vec<usize>]) -> Vec<Vec<Compared>> {
    let each = rows.iter().map(|row| {
        let mut told = Vec::new();
        layouts.compare(row, &mut told).unwrap();
        told
    });
    each.collect()
}

/// Rows that wander from the spec's own layout, one partition after the other.
fn wander(count: usize, partitions: usize) -> Vec<Vec<usize>> {
    let mut row = vec![0; partitions];
    let each = (0..count).map(|step| {
        row[step * 7 % partitions] = step * 5 % 5;
        row.clone()
    });
    each.collect()
}

#[test]
fn what_is_compared_does_not_depend_on_what_was_compared_before() {
    // The last of them overflow now and then, so that some layouts are solved as a whole.
    let rates = [300.0, 500.0, 900.0, 1_500.0, 2_200.0, 2_500.0];
    let rows = wander(40, rates.len());
    let there = compared(&mut movable(&rates).1, &rows);
    let back: Vec<Vec<usize>> = rows.iter().rev().cloned().collect();
    let mut back = compared(&mut movable(&rates).1, &back);
    back.reverse();
    assert_eq!(format!("{there:?}"), format!("{back:?}"));
}

#[test]
fn what_is_compared_is_near_what_is_solved() {
    let rates = [300.0, 500.0, 900.0, 1_500.0, 2_200.0, 2_500.0];
    let (_, mut layouts) = movable(&rates);
    let rows = wander(40, rates.len());
    let mut apart = Vec::new();
    for (row, told) in rows.iter().zip(compared(&mut layouts, &rows)) {
        let solved = layouts.solve(row).unwrap();
        for (one, other) in told.iter().zip(&solved.partitions) {
            apart.push((one.cores / other.cores - 1.0).abs());
        }
    }
    apart.sort_by(f64::total_cmp);
    assert!(apart[apart.len() / 2] < 1e-3, "{apart:?}");
    assert!(apart[apart.len() - 1] < 1e-2, "{apart:?}");
}

#[test]
fn from_wherever_layouts_are_compared_they_come_out_the_same() {
    let rates = [300.0, 500.0, 900.0, 1_500.0, 2_200.0, 2_500.0];
    let (_, mut layouts) = movable(&rates);
    let rows = wander(40, rates.len());
    let mut apart = Vec::new();
    for (at, near) in rows.iter().enumerate() {
        layouts.compare_near(near).unwrap();
        // Itself, and one that differs in one partition.
        let mut other = near.clone();
        other[at % rates.len()] = 1 + at % 4;
        for row in [near, &other] {
            let told = compared(&mut layouts, std::slice::from_ref(row)).remove(0);
            let cold = layouts.solve(row).unwrap();
            for (one, other) in told.iter().zip(&cold.partitions) {
                apart.push((one.cores / other.cores - 1.0).abs());
            }
        }
    }
    apart.sort_by(f64::total_cmp);
    assert!(apart[apart.len() / 2] < 2e-4, "{apart:?}");
    assert!(apart[apart.len() - 1] < 1e-2, "{apart:?}");
    // Back at the spec's own layout nothing is left of where it was.
    layouts.compare_near(&vec![0; rates.len()]).unwrap();
    let again = compared(&mut layouts, &rows);
    let first = compared(&mut movable(&rates).1, &rows);
    assert_eq!(format!("{first:?}"), format!("{again:?}"));
}

#[test]
fn full_homes_come_to_rest_from_wherever_they_are_solved() {
    // Some 24 of 32 cores at work: each home is full now and then, and who overflows fills others.
    let rates: Vec<f64> = (0..10).map(|at| 1_600.0 + 130.0 * f64::from(at)).collect();
    let rows = wander(20, rates.len());
    let (_, mut layouts) = movable(&rates);
    let mut away = 0;
    for pair in rows.windows(2) {
        let cold = layouts.solve(&pair[1]).unwrap();
        assert!(cold.steps < 100, "{} steps", cold.steps);
        away += cold
            .partitions
            .iter()
            .filter(|one| one.by_distance[2] > 0.01)
            .count();
        layouts.compare_near(&pair[0]).unwrap();
        let told = compared(&mut layouts, std::slice::from_ref(&pair[1])).remove(0);
        for (one, other) in told.iter().zip(&cold.partitions) {
            assert!((one.cores / other.cores - 1.0).abs() < 0.01, "{pair:?}");
        }
    }
    assert!(away > 20, "{away}");
}

/// Four cores under PR/SM, wanted by two partitions with four loops each and by one with a single
/// loop on the first of its eight logical cores.
fn single_loop(polarization: Polarization) -> f64 {
    let mut parts: Vec<Partition> = [(4, 4), (4, 4), (8, 1)]
        .into_iter()
        .map(|(vps, count)| partition("p", shared(0.0, vps), loops(count)))
        .collect();
    for (at, one) in parts.iter_mut().enumerate() {
        one.name = format!("p{at}");
        if let Processors::Shared { prsm, .. } = &mut one.processors {
            prsm.polarization = polarization;
        }
    }
    let mut made = spec(machine("core:4"), parts);
    made.machine.hypervisor.policy = Policy::Prsm;
    let solved = of(&made);
    let all: f64 = solved.partitions.iter().map(|one| one.cores).sum();
    assert!((all - 4.0).abs() < 1e-3, "{solved:?}");
    solved.partitions[2].cores
}

#[test]
fn a_logical_core_at_work_has_its_own_share_of_the_entitlement() {
    // Each is entitled to 4/3 cores; a logical core at work to an eighth of that, or to half. What
    // is left is shared alike.
    let each = 4.0 / 3.0;
    for (polarization, own) in [
        (Polarization::Horizontal, each / 8.0),
        (Polarization::Vertical, each / 2.0),
    ] {
        let got = own + (4.0 - 2.0 * each - own) / 3.0;
        let found = single_loop(polarization);
        assert!(
            (found - got).abs() < 1e-3,
            "{polarization:?}: {found}, not {got}"
        );
    }
}

/// Eight cores under PR/SM: loops that want four each, by weights 1, 1 and 2, with these absolute
/// caps, and the first two in a group with its own.
fn limited(caps: [Option<f64>; 3], together: Option<f64>) -> [f64; 3] {
    let weights = [100, 100, 200];
    let mut parts = Vec::new();
    for (at, (own, of)) in caps.into_iter().zip(weights).enumerate() {
        let mut one = partition(&format!("p{at}"), shared(0.0, 4), loops(4));
        if let Processors::Shared { prsm, weight, .. } = &mut one.processors {
            (prsm.cap, *weight) = (own, of);
            prsm.group = together.filter(|_| at < 2).map(|_| 0);
        }
        parts.push(one);
    }
    let mut made = spec(machine("core:8"), parts);
    made.machine.hypervisor.policy = Policy::Prsm;
    let group = |cap| Group {
        name: "g".into(),
        cap,
    };
    made.groups = together.map(group).into_iter().collect();
    let told: Vec<f64> = of(&made).partitions.iter().map(|one| one.cores).collect();
    told.try_into().expect("three partitions")
}

fn assert_near(found: [f64; 3], wanted: [f64; 3]) {
    let pairs = found.iter().zip(&wanted);
    let far = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(far < 2e-3, "{found:?}, not {wanted:?}");
}

#[test]
fn caps_of_partitions_and_of_groups_are_filled_up_by_weight() {
    assert_near(limited([None; 3], None), [2.0, 2.0, 4.0]);
    // What a cap leaves goes to the others by weight, as far as they want it.
    assert_near(limited([None, None, Some(2.0)], None), [3.0, 3.0, 2.0]);
    assert_near(limited([Some(0.5), None, None], None), [0.5, 3.5, 4.0]);
    // A group has its cap by weight; one that is capped below that leaves it to the others.
    assert_near(limited([None; 3], Some(3.0)), [1.5, 1.5, 4.0]);
    assert_near(limited([Some(0.5), None, None], Some(3.0)), [0.5, 2.5, 4.0]);
}

#[test]
fn a_cap_above_what_is_used_changes_nothing_and_a_tighter_one_gives_no_more() {
    let free = limited([None; 3], None);
    assert_near(limited([Some(4.0); 3], Some(8.0)), free);
    let mut before = free[0] + free[1];
    for cap in [3.5, 3.0, 2.0, 1.0, 0.25] {
        let [a, b, _] = limited([None; 3], Some(cap));
        assert!(
            a + b <= before + 1e-3 && a + b <= cap + 1e-3,
            "{cap}: {a} {b}"
        );
        before = a + b;
        let [own, ..] = limited([Some(cap), None, None], None);
        assert!(own <= cap.min(free[0]) * 1.001, "{cap}: {own}");
    }
}

/// Eight cores on two chips: half of each of one type, half of another, and partitions with so many
/// loops each that share one of them by weights of 100.
fn of_two_types(counts: &[(u16, u32)]) -> Vec<f64> {
    let one = |(at, (pool, count)): (usize, &(u16, u32))| {
        let mut one = partition(&format!("p{at}"), shared(0.0, 4), loops(*count));
        if let Processors::Shared { pool: of, .. } = &mut one.processors {
            *of = *pool;
        }
        one
    };
    let mut made = spec(
        machine("chip:2 core:4"),
        counts.iter().enumerate().map(one).collect(),
    );
    made.machine.hypervisor.policy = Policy::Prsm;
    made.pools = ["rest", "cp", "ifl"]
        .into_iter()
        .zip([None, Some(vec![0, 1, 4, 5]), Some(vec![2, 3, 6, 7])])
        .map(|(name, cores)| Pool {
            name: name.into(),
            maximum: None,
            reserved: 0.0,
            cores,
        })
        .collect();
    of(&made).partitions.iter().map(|one| one.cores).collect()
}

#[test]
fn cores_of_each_type_are_shared_out_among_those_that_use_them() {
    let near = |found: &[f64], wanted: &[f64]| {
        let apart = found.iter().zip(wanted).map(|(a, b)| (a - b).abs());
        assert!(
            apart.fold(0.0, f64::max) < 2e-3,
            "{found:?}, not {wanted:?}"
        );
    };
    near(&of_two_types(&[(1, 4), (1, 4)]), &[2.0, 2.0]);
    near(&of_two_types(&[(1, 4), (1, 4), (2, 4)]), &[2.0, 2.0, 4.0]);
    near(&of_two_types(&[(1, 4), (1, 1), (2, 2)]), &[3.0, 1.0, 2.0]);
    // Which of the two it is does not matter, nor in which order they come; logical cores without
    // work leave their share to all who want more.
    near(&of_two_types(&[(2, 2), (2, 4), (1, 4)]), &[1.5, 2.5, 4.0]);
}

#[test]
fn who_may_throw_off_others_is_at_home_however_short_its_stays_are() {
    // Node 0 is wanted by loops that are entitled to a little, and by short bursts within their
    // entitlement; with a lower one these are away.
    let away = |entitled: f64| {
        let mut parts = vec![
            partition("a", shared(0.5, 4), loops(4)),
            partition(
                "b",
                shared(entitled, 2),
                transactions(900.0, Distribution::Exponential),
            ),
        ];
        for one in &mut parts {
            one.home = vec![0];
            one.memory = vec![common::memory(&[0], common::GIB)];
        }
        of(&spec(machine("node:2 core:4"), parts)).partitions[1].by_distance[2]
    };
    let (entitled, not) = (away(2.0), away(0.2));
    assert!(entitled < 0.05 && not > 0.5, "{entitled} {not}");
}

/// On the two cores of a chip loops are at home that are capped, and others that are not. Whoever
/// finds the chip full when all begin, those come home that are not capped: in each window the
/// others leave it.
#[test]
fn who_begins_after_those_that_are_capped_comes_home_when_they_leave() {
    for first in [0, 1] {
        let mut parts = vec![
            partition("capped", common::capped(0.6, 2), loops(2)),
            partition("not", shared(0.4, 2), loops(2)),
        ];
        parts.rotate_left(first);
        let made = spec(machine("node:1 chip:2 core:2"), parts);
        let not = usize::from(first == 0);
        let near = of(&made).partitions[not].by_distance[1];
        let outcome = common::run(&made, 0);
        let played = outcome.total("not", "near_ns") / outcome.total("not", "busy_ns");
        assert!(played < 0.05, "{played}");
        assert!((near - played).abs() < 0.05, "{near} {played}");
    }
}

/// Eight cores of a node, wanted by eight loops that are entitled to so many of them, and by bursts
/// of so many instructions within their entitlement that use two; there is room elsewhere. The
/// share of their time that the loops and the bursts are away, solved and simulated.
fn full_node(entitled: f64, burst: f64) -> [[f64; 2]; 2] {
    let work = transactions(2e9 / burst, Distribution::Exponential);
    let mut parts = vec![
        partition("loops", shared(entitled, 8), loops(8)),
        partition("bursts", shared(6.0, 8), work),
    ];
    parts[1].profile = common::plain_profile(burst);
    for one in &mut parts {
        one.home = vec![0];
        one.memory = vec![common::memory(&[0], common::GIB)];
    }
    let mut made = spec(machine("node:2 core:8"), parts);
    (made.warmup_ns, made.duration_ns) = (common::SECOND, 4 * common::SECOND);
    let (solved, outcome) = (of(&made), common::run(&made, 0));
    [0, 1].map(|at| {
        let name = &made.partitions[at].name;
        let far = outcome.total(name, "far_ns") / outcome.total(name, "busy_ns");
        [solved.partitions[at].by_distance[2], far]
    })
}

#[test]
fn on_a_full_node_who_comes_and_who_stays_are_away_as_in_a_run() {
    for burst in [5e4, 1e6] {
        let mut before: Option<[[f64; 2]; 2]> = None;
        for entitled in [0.8, 4.0, 7.2] {
            let found = full_node(entitled, burst);
            let apart = found.map(|[solved, simulated]| (solved - simulated).abs());
            assert!(
                apart[0] < 0.14 && apart[1] < 0.1,
                "{entitled} {burst}: {found:?}"
            );
            // Until they have used up what they are entitled to nobody throws the loops off.
            if let Some(before) = before {
                assert!(found[0][0] < before[0][0] && found[1][0] > before[1][0]);
            }
            before = Some(found);
        }
    }
}

fn check_laws(spec: &Spec) {
    let solved = match solve(spec) {
        Ok(solved) => solved,
        Err(SolveFault::Unknown { .. } | SolveFault::Policy(_)) => return,
        Err(fault) => panic!("{fault}"),
    };
    let active = f64::from(spec.machine.active_cores);
    let active = active * f64::from(spec.machine.hypervisor.siblings.max(1));
    let all: f64 = solved.partitions.iter().map(|one| one.cores).sum();
    assert!(all <= active * 1.05, "{all} of {active} cores: {solved:?}");
    for (one, of) in solved.partitions.iter().zip(&spec.partitions) {
        let vps = f64::from(of.processors.count());
        assert!(one.cores.is_finite() && one.cores >= 0.0);
        let over = match spec.machine.hypervisor.policy {
            Policy::Linux | Policy::Credit2 => 1e-9,
            _ => 0.02,
        };
        assert!(
            one.cores <= vps * (1.0 + over) + over,
            "{}: {}",
            of.name,
            one.cores
        );
        assert!((one.books.total() - one.cores).abs() <= 1e-6 + 0.01 * one.cores);
        let shares: f64 = one.by_distance.iter().sum();
        assert!((shares - 1.0).abs() < 1e-9 && one.by_distance.iter().all(|s| *s >= -1e-9));
        assert!(one.response_ns.is_none_or(|ns| ns.is_finite() && ns > 0.0));
        if let Some([least, most]) = one.balances {
            assert!(least < most && (one.cores == least || one.cores == most));
        }
    }
    assert_eq!(solved, of(spec), "the same spec twice");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn laws_hold_of_any_layout(
        one in prop_oneof![
            scenarios(Platform::PowerVm),
            scenarios(Platform::Dedicated),
            scenarios(Platform::PrSm),
            scenarios(Platform::Linux),
            scenarios(Platform::Credit2),
        ]
    ) {
        check_laws(&one.0);
    }
}
