//! PR/SM: who gives time to a sibling that holds a lock, and where that one uses it. A
//! vertical-high logical core is as good as dedicated: what it is entitled to it uses at home and
//! nowhere else.

mod common;

use common::*;
use homenode_engine::hypervisor::policies::by_weight;
use homenode_engine::spec::{LogicalCores, Partition, Polarization, Policy, Processors};

/// Why a dispatch ended: its time went to a sibling.
const CONFER: i64 = 5;
/// A dispatch on what the partition is entitled to.
const ENTITLED: i64 = 0;

/// A partition of four vertical logical cores whose threads hold a lock nearly all the time.
fn locking(name: &str, weight: u16, cap: Option<f64>) -> Partition {
    let processors = Processors::Shared {
        entitlement: 0.0,
        r#virtual: 4,
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
    let mut made = partition(name, processors, users(8, MS));
    made.profile.lock_share = 0.9;
    made
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
fn a_vertical_high_core_gives_its_home_to_no_sibling() {
    let outcome = run_all(locking("a", 55, None), locking("b", 45, None));
    for (partition, home) in [(0, 0), (1, 1)] {
        let (of_high, all) = gifts(&outcome, partition);
        assert!(all > 20, "{all} gifts");
        assert_eq!(of_high, 0);
        let places = places_of_high(&outcome, partition);
        assert!(places.iter().all(|place| *place == (home, ENTITLED)));
    }
}

#[test]
fn a_vertical_high_core_uses_gifts_at_home() {
    // A cap cuts its slice short; then it has no time but what the others give it.
    let outcome = run_all(locking("a", 55, Some(1.2)), locking("b", 45, None));
    assert!(gifts(&outcome, 0).1 > 50);
    let places = places_of_high(&outcome, 0);
    let windows = (SECOND / (10 * MS)) as usize;
    assert!(
        places.len() > windows,
        "no gift: {} stretches",
        places.len()
    );
    assert!(places.iter().all(|place| *place == (0, ENTITLED)));
}
