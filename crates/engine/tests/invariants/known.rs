//! The worst cases of what does not hold yet: each fails as long as it is on the list, and must
//! hold once it is off.

use homenode_engine::spec::{Guest, Policy, Spec, Unix, Workload};

use crate::common::known::{not_yet, NOT_YET};
use crate::common::*;

/// A worst case: panics where it does not hold.
type Case = fn();

#[rustfmt::skip] // A table.
const WORST: [(&str, Case); 4] = [
    ("throughput under a hot lock", a_core_more_beside_a_hot_lock),
    ("ticks of intervals", ticks_of_many_intervals),
    ("user and kernel time beside daemons", kernel_time_of_daemons),
    ("share of busy virtual processors", busy_virtual_processors),
];

/// Transactions of a thread a core, all of one lock.
fn behind_a_hot_lock(cores: u16) -> f64 {
    let work = Workload::Warehouses {
        count: cores.into(),
    };
    let mut one = partition("p", dedicated(0..cores, false), work);
    (one.profile.lock_share, one.profile.lock_hold_instructions) = (0.2, 100.0);
    let mut spec = spec(machine("core:32"), vec![one]);
    spec.machine.hypervisor.policy = Policy::Dedicated;
    spec.warmup_ns = SECOND;
    run(&spec, 0).total("p", "tx_done")
}

fn a_core_more_beside_a_hot_lock() {
    let done = [1, 2, 4, 8, 16, 32].map(behind_a_hot_lock);
    assert!(
        done.windows(2).all(|pair| pair[1] >= 0.99 * pair[0]),
        "{done:?}"
    );
}

/// Loops that end, then daemons alone: what was taken for user time becomes the kernel's when the
/// first intervals are no longer at hand. An idle neighbour has many logical processors to record.
fn ticks_of_many_intervals() {
    let ends = Workload::Loops {
        count: 4,
        endless: false,
        busy_ns: 0,
        rest_ns: 0,
    };
    let mut one = partition("p", dedicated(0..1, false), ends);
    one.guest = Guest::Hpux(Unix {
        daemon_rate_per_s: 20.0,
        daemon_ns: 2 * MS,
        ..quiet_unix()
    });
    one.profile.instructions_per_unit = 1e7;
    let wide = partition("wide", shared(0.2, 64), Workload::Idle);
    let mut spec: Spec = spec(machine("core:2 pu:4"), vec![one, wide]);
    spec.partitions.iter_mut().for_each(|one| one.smt = 4);
    (spec.seed, spec.duration_ns) = (0, 2 * SECOND);
    spec.machine.hypervisor.window_ns = 5 * MS;
    spec.interval_ns = 5 * MS;
    let outcome = run(&spec, 0);
    let intervals = outcome.series("p", "ticks_user").iter().sum::<i64>();
    assert_eq!(intervals as f64, outcome.total("p", "ticks_user"));
}

/// Short daemons beside two loops, looked at in each window and once a second.
fn kernel_time_of_daemons() {
    let kernel = |windows: u64| {
        let mut one = partition("p", shared(0.2, 2), loops(2));
        one.smt = 4;
        (aix(&mut one).daemon_rate_per_s, aix(&mut one).daemon_ns) = (20.0, MS / 10);
        let mut spec = spec(machine("core:1 pu:4"), vec![one]);
        spec.interval_ns *= windows;
        run(&spec, 0).total("p", "sys_ns")
    };
    let (often, seldom) = (kernel(1), kernel(100));
    assert_eq!(often, seldom, "kernel time");
}

/// A loop, looked at where its summary is taken, and once.
fn busy_virtual_processors() {
    let busy = |interval_ns: u64| {
        let mut one = partition("p", shared(1.0, 1), loops(1));
        one.profile.instructions_per_unit = 4e7;
        let mut spec = spec(machine("core:1"), vec![one]);
        spec.duration_ns = 18 * 115 * MS;
        spec.interval_ns = interval_ns;
        run(&spec, 0).of("p").vp_busy_share
    };
    let (often, seldom) = (busy(115 * MS), busy(18 * 115 * MS));
    assert_eq!(often, seldom, "share of busy virtual processors");
}

#[test]
fn what_does_not_hold_yet_is_on_the_list_and_nothing_else() {
    for (name, case) in WORST {
        let holds = std::panic::catch_unwind(case).is_ok();
        assert!(
            !(holds && not_yet(name)),
            "{name}: this holds now: take it off the list"
        );
        assert!(holds || not_yet(name), "{name}: this held before");
    }
    let listed = NOT_YET.map(|(name, _, _)| name);
    assert_eq!(
        listed,
        WORST.map(|(name, _)| name),
        "each on the list has a worst case"
    );
}

#[test]
fn the_changelog_names_each() {
    let changelog = concat!(env!("CARGO_MANIFEST_DIR"), "/../../CHANGELOG.md");
    let changelog = std::fs::read_to_string(changelog).expect("a changelog");
    let (_, in_progress) = changelog.rsplit_once("### In progress").expect("a heading");
    for (name, _, _) in NOT_YET {
        assert!(
            in_progress.contains(name),
            "CHANGELOG.md does not name {name}"
        );
    }
}
