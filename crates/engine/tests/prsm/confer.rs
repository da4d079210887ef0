//! PR/SM: who gives time to a sibling that holds a lock, and where that one uses it. Any logical
//! core gives its time, a vertical-high one too; what that one is entitled to it uses at home and
//! nowhere else.

use crate::common::*;
use homenode_engine::hypervisor::policies::by_weight;
use homenode_engine::spec::{
    LockKind, LogicalCores, Partition, Polarization, Policy, Processors, Workload,
};

/// Why a dispatch ended: its time went to a sibling.
const CONFER: i64 = 5;
/// A dispatch on what the partition is entitled to.
const ENTITLED: i64 = 0;

/// A partition of four vertical logical cores whose threads hold a lock nearly all the time.
fn locking(name: &str, weight: u16, cap: Option<f64>) -> Partition {
    let mut made = sharing(name, weight, (4, cap), users(8, MS));
    made.profile.lock_share = 0.9;
    made
}

/// A partition of so many vertical logical cores, below a cap.
fn sharing(name: &str, weight: u16, (cores, cap): (u16, Option<f64>), work: Workload) -> Partition {
    let processors = Processors::Shared {
        entitlement: 0.0,
        r#virtual: cores,
        capped: false,
        weight,
        pool: 0,
        soft_cap: false,
        prsm: LogicalCores {
            polarization: Polarization::Vertical,
            cap,
            ..LogicalCores::default()
        },
        host: Box::default(),
    };
    partition(name, processors, work)
}

/// Two of them on four cores: each has one vertical-high core, the first two vertical-mediums of
/// 0.6 cores and one vertical-low, the second one vertical-medium of 0.8 and two vertical-lows.
fn run_all(a: Partition, b: Partition) -> Outcome {
    let mut spec = spec(machine("core:4"), vec![a, b]);
    spec.machine.hypervisor.policy = Policy::Prsm;
    spec.machine.hypervisor.prsm.run_time_ns = Some(10 * MS);
    spec.record_dispatches = true;
    for (at, share) in by_weight(&spec).into_iter().enumerate() {
        if let Processors::Shared { entitlement, .. } = &mut spec.partitions[at].processors {
            *entitlement = share.expect("shared");
        }
    }
    let outcome = run(&spec, 0);
    assert_all(&spec, &outcome);
    outcome
}

/// Where the vertical-high core of a partition, its first, ran: (core, on what account).
fn places_of_high(outcome: &Outcome, partition: i64) -> Vec<(i64, i64)> {
    let at = |column| outcome.dispatches.at(column);
    let ran = |row: &&[i64]| row[at("vp")] == 0 && row[at("start_ns")] < row[at("end_ns")];
    let rows = outcome.dispatches.only("partition", partition).filter(ran);
    rows.map(|row| (row[at("core")], row[at("kind")])).collect()
}

/// How often logical cores of a partition gave their time away: the vertical-high one, all.
fn gifts(outcome: &Outcome, partition: i64) -> (usize, usize) {
    let at = |column| outcome.dispatches.at(column);
    let given = |row: &&[i64]| row[at("reason")] == CONFER;
    let rows = || outcome.dispatches.only("partition", partition);
    let of_high = |row: &&[i64]| row[at("vp")] == 0;
    (
        rows().filter(given).filter(of_high).count(),
        rows().filter(given).count(),
    )
}

#[test]
fn a_vertical_high_core_gives_its_time_and_uses_its_own_at_home() {
    let outcome = run_all(locking("a", 55, None), locking("b", 45, None));
    for (partition, home) in [(0, 0), (1, 1)] {
        let (of_high, all) = gifts(&outcome, partition);
        assert!(of_high > 20 && all > of_high, "{of_high} of {all} gifts");
        let places = places_of_high(&outcome, partition);
        let mut entitled = places.iter().filter(|place| place.1 == ENTITLED);
        assert!(entitled.all(|place| place.0 == home));
    }
}

/// A cap as large as one vertical-high core leaves nothing for the vertical-low one beside it.
/// Where that one came to a core while the other slept, and lost it with the lock, it gets on with
/// what the other gives it: this did nothing for the rest of the run.
#[test]
fn who_spins_for_a_lock_does_not_use_up_the_cap() {
    for (kind, least) in [
        (LockKind::Queue, 0.9),
        (LockKind::Ticket, 0.9),
        (LockKind::TestAndSet, 0.99),
    ] {
        let mut capped = sharing("a", 25, (2, Some(1.0)), users(8, MS));
        capped.profile.lock_share = 0.3;
        capped.profile.lock_kind = kind;
        capped.profile.lock_hold_instructions = 2_000.0;
        let outcome = run_all(capped, sharing("b", 75, (4, None), loops(2)));
        let [busy, done] = ["busy_ns", "instructions"].map(|what| outcome.total("a", what));
        assert!(busy > 0.99 * SECOND as f64, "{busy} ns");
        assert!(done > least * busy, "{kind:?}: {done} of {busy}");
        assert!(gifts(&outcome, 0).0 > 0);
    }
}

/// What a vertical-high core keeps, since the holder has its own slice, it uses later: all cores
/// are busy, and all that it is entitled to is used in each window.
#[test]
fn what_a_vertical_high_core_gives_is_not_lost_to_its_partition() {
    let outcome = run_all(
        locking("a", 55, None),
        sharing("b", 45, (4, None), loops(4)),
    );
    for (name, cores) in [("a", 2.2), ("b", 1.8)] {
        let used = outcome.total(name, "busy_ns") / SECOND as f64;
        assert!((used / cores - 1.0).abs() < 0.01, "{name}: {used} cores");
    }
}

#[test]
fn a_vertical_high_core_uses_gifts_at_home() {
    // A cap cuts its slice short; then it has no time but what the others give it, or leave.
    let outcome = run_all(locking("a", 55, Some(1.2)), locking("b", 45, None));
    assert!(gifts(&outcome, 0).1 > 50);
    let mut places = places_of_high(&outcome, 0);
    places.retain(|place| place.1 == ENTITLED);
    let windows = (SECOND / (10 * MS)) as usize;
    assert!(
        places.len() > windows,
        "no gift: {} stretches",
        places.len()
    );
    assert!(places.iter().all(|place| place.0 == 0));
}
