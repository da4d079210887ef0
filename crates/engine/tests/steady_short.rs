//! Solved layouts of PowerVM on which nearly all cores are taken: as runs say.

mod common;

use common::{loops, machine, memory, partition, run, shared, spec, transactions, GIB, SECOND};
use homenode_engine::spec::{Distribution, Partition, Spec};
use homenode_engine::steady::{solve, Solved};

fn of(spec: &Spec) -> Solved {
    solve(spec).unwrap_or_else(|fault| panic!("{fault}"))
}

/// Bursts of so many instructions that keep so many of its cores busy, at home on these chips.
fn bursts(
    name: &str,
    (entitled, vps): (f64, u16),
    (burst, cores): (f64, f64),
    home: &[u16],
) -> Partition {
    let work = transactions(cores * 1e9 / burst, Distribution::Exponential);
    let mut one = partition(name, shared(entitled, vps), work);
    one.profile = common::plain_profile(burst);
    one.home = home.to_vec();
    one.memory = vec![memory(home, GIB)];
    one
}

fn long(mut made: Spec) -> Spec {
    (made.warmup_ns, made.duration_ns) = (SECOND, 8 * SECOND);
    made
}

/// What has work on the mean of two partitions of six virtual processors on eight cores that use so
/// many each, solved and played.
fn with_work(entitled: f64, cores: f64) -> [f64; 2] {
    let of_each = |name| bursts(name, (entitled, 6), (1e6, cores), &[0]);
    let made = long(spec(machine("core:8"), vec![of_each("a"), of_each("b")]));
    let outcome = run(&made, 0);
    let played = outcome.total("a", "busy_ns") + outcome.total("a", "ready_ns");
    let told = of(&made).partitions[0].busy_vps;
    [told, played / made.duration_ns as f64]
}

#[test]
fn cores_are_idle_by_chance_however_much_is_wanted() {
    // Whether what is used is within what is entitled or beyond it: both are alike. All are slow at
    // the same times, so in a run some more come together than is told.
    for entitled in [1.0, 3.9] {
        let mut before = 0.0;
        for cores in [3.0, 3.5, 3.75] {
            let [told, played] = with_work(entitled, cores);
            assert!(
                (told / played - 1.0).abs() < 0.12,
                "{entitled} {cores}: {told} {played}"
            );
            let waits = told - cores;
            assert!(waits > before, "{entitled} {cores}: {waits}");
            before = waits;
        }
    }
}

#[test]
fn where_one_chip_is_active_nobody_is_away_from_it() {
    let mut made = spec(
        machine("node:2 chip:2 core:4"),
        vec![
            bursts("a", (1.0, 4), (1e5, 1.8), &[0]),
            bursts("b", (1.0, 4), (1e5, 1.8), &[0]),
        ],
    );
    made.machine.active_cores = 4;
    for one in of(&made).partitions {
        assert!(
            (one.by_distance[0] - 1.0).abs() < 1e-9,
            "{:?}",
            one.by_distance
        );
    }
}

/// Shares of their time at home, and how often each comes to a core in a second, of bursts within
/// what is entitled and of longer ones beyond it, on two chips of eight cores of which so many are
/// used; solved and played.
fn on_two_chips(cores: f64) -> [[[f64; 2]; 2]; 2] {
    let made = long(spec(
        machine("chip:2 core:8"),
        vec![
            bursts("within", (7.9, 12), (1e5, 0.5 * cores), &[0]),
            bursts("beyond", (1.0, 12), (3e6, 0.5 * cores), &[1]),
        ],
    ));
    let (solved, outcome) = (of(&made), run(&made, 0));
    [0, 1].map(|at| {
        let (one, name) = (&solved.partitions[at], &made.partitions[at].name);
        let home = outcome.total(name, "home_ns") / outcome.total(name, "busy_ns");
        let comes = outcome.total(name, "dispatches") / 8.0;
        [[one.by_distance[0], home], [one.dispatches, comes]]
    })
}

#[test]
fn where_all_cores_are_taken_who_comes_or_is_thrown_off_is_on_any() {
    let mut before = [1.0; 2];
    for cores in [12.0, 14.0, 15.2] {
        let found = on_two_chips(cores);
        for (at, [[told, played], [often, comes]]) in found.into_iter().enumerate() {
            assert!((told - played).abs() < 0.17, "{cores}: {found:?}");
            assert!((0.5..2.0).contains(&(often / comes)), "{cores}: {found:?}");
            // The fuller the machine the less is it at home.
            assert!(told < before[at], "{cores}: {found:?}");
            before[at] = told;
        }
    }
}

#[test]
fn who_always_has_work_takes_what_others_leave_by_chance() {
    let made = long(spec(
        machine("core:8"),
        vec![
            partition("loops", shared(1.0, 4), loops(4)),
            bursts("bursts", (1.0, 8), (1e6, 4.2), &[0]),
        ],
    ));
    let (solved, outcome) = (of(&made), run(&made, 0));
    let told = solved.partitions[0].cores;
    let played = outcome.total("loops", "busy_ns") / made.duration_ns as f64;
    assert!((told / played - 1.0).abs() < 0.05, "{told} {played}");
}
