//! Solved layouts of PowerVM on which nearly all cores are taken: as runs say.

use crate::common;
use crate::common::{
    capped, loops, machine, memory, partition, run, shared, spec, transactions, GIB, SECOND,
};
use homenode_engine::spec::{Distribution, Partition, Pool, Processors, Spec};
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
fn where_all_cores_are_taken_who_comes_or_is_thrown_off_is_away_at_times() {
    let mut before = [1.0; 2];
    for cores in [12.0, 14.0, 15.2] {
        let found = on_two_chips(cores);
        for (at, [[told, played], [often, comes]]) in found.into_iter().enumerate() {
            assert!((told - played).abs() < 0.11, "{cores}: {found:?}");
            assert!((0.5..2.0).contains(&(often / comes)), "{cores}: {found:?}");
            // The fuller the machine the less is it at home, though most get home again when they
            // have waited: what is told is too rough for that.
            assert!(played < before[at], "{cores}: {found:?}");
            before[at] = played;
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

/// Cores that each uses.
fn cores(made: &Spec) -> Vec<f64> {
    of(made).partitions.iter().map(|one| one.cores).collect()
}

#[test]
fn alone_with_more_virtual_processors_than_cores_it_uses_what_its_work_takes() {
    for (cores_there, vps, wanted) in [(1, 4, 0.5), (2, 8, 1.2), (8, 16, 5.9), (8, 16, 7.6)] {
        let made = spec(
            machine(&format!("core:{cores_there}")),
            vec![bursts("a", (1.0, vps), (1e6, wanted), &[0])],
        );
        let solved = of(&made);
        let one = &solved.partitions[0];
        assert!(
            (one.cores / wanted - 1.0).abs() < 0.02 && one.steady,
            "{wanted}: {}",
            one.cores
        );
    }
}

#[test]
fn on_a_full_frame_each_has_what_it_is_entitled_to_whatever_limits_it() {
    let others = || partition("others", shared(3.0, 20), loops(20));
    let mut weightless = shared(2.0, 6);
    if let Processors::Shared { weight, .. } = &mut weightless {
        *weight = 0;
    }
    for processors in [capped(2.0, 6), weightless] {
        let made = spec(
            machine("core:5"),
            vec![partition("limited", processors, loops(6)), others()],
        );
        let found = cores(&made);
        assert!(
            (found[0] - 2.0).abs() < 0.01 && (found[1] - 3.0).abs() < 0.01,
            "{found:?}"
        );
    }
}

#[test]
fn a_pool_keeps_its_maximum_and_twins_in_it_are_alike_however_full_the_frame_is() {
    for wanted in [1.0, 4.0, 7.5] {
        let pooled = |name| {
            let mut one = bursts(name, (1.0, 6), (1e6, 3.0), &[0]);
            if let Processors::Shared { pool, .. } = &mut one.processors {
                *pool = 1;
            }
            one
        };
        let other = bursts("other", (2.0, 8), (1e6, wanted), &[0]);
        let mut made = spec(machine("core:8"), vec![pooled("a"), pooled("b"), other]);
        made.pools.push(Pool {
            name: "three".into(),
            maximum: Some(3.0),
            ..made.pools[0].clone()
        });
        let found = cores(&made);
        assert!(found[0] + found[1] < 3.0 + 1e-3, "{found:?}");
        assert!((found[0] / found[1] - 1.0).abs() < 1e-3, "{found:?}");
        assert!(found.iter().sum::<f64>() < 8.0 + 1e-3, "{found:?}");
    }
}

#[test]
fn a_core_that_a_loop_always_wants_is_never_idle() {
    for rate in [0.1, 0.4, 0.8] {
        let made = spec(
            machine("core:1"),
            vec![
                partition("loop", shared(0.3, 1), loops(1)),
                bursts("bursts", (0.5, 2), (1e6, rate), &[0]),
            ],
        );
        let all: f64 = cores(&made).iter().sum();
        assert!((all - 1.0).abs() < 1e-3, "{rate}: {all}");
    }
}

#[test]
fn a_home_whose_cores_are_all_dedicated_is_no_home() {
    let mut made = spec(
        machine("node:2 core:8"),
        vec![
            partition("own", common::dedicated(0..8, false), loops(8)),
            bursts("guest", (2.0, 6), (1e6, 3.0), &[0]),
        ],
    );
    made.partitions[0].home = vec![0];
    let [home, near, far] = of(&made).partitions[1].by_distance;
    assert!(
        home < 1e-3 && near < 1e-3 && far > 0.999,
        "{home} {near} {far}"
    );
}
