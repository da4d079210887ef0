//! What vertical polarization changes in the Control Program: how near it keeps virtual processors
//! to their lines, and how long they wait for that.

use crate::common::zvm::{alone, cores_of, cp, free_cp, served, zvm_partition};
use crate::common::{missing_profile, run, spec, Outcome, MS, SECOND};
use homenode_engine::spec::{ByDistance, Distribution, Spec, Workload};

const WORK: f64 = 200_000.0;

/// Two nodes of four chips of three cores, busy for that share of the time with guests of so many
/// virtual processors.
fn guests(cpus: u16, load: f64, vertical: bool) -> Spec {
    let machines = (0..48 / cpus).map(|at| {
        let per_s = load * 24.0 * 1e9 / WORK / f64::from(48 / cpus);
        let mut machine = served(&format!("s{at}"), cpus, per_s, WORK);
        machine.work.as_mut().expect("work").work = Distribution::Exponential;
        machine
    });
    let mut zvm = free_cp(machines.collect(), Vec::new());
    zvm.vertical = vertical;
    let mut spec = spec(cores_of(8, 3), vec![zvm_partition(24, zvm, Workload::Idle)]);
    spec.partitions[0].profile = missing_profile(WORK);
    (spec.warmup_ns, spec.duration_ns) = (200 * MS, SECOND);
    spec.interval_ns = 200 * MS;
    spec
}

/// Time in which a virtual processor waits for a logical one [us].
fn wait_us(outcome: &Outcome) -> f64 {
    let sum = |column: &str| {
        let at = outcome.virtual_machine.at(column);
        let rows = outcome.virtual_machine.rows();
        rows.map(|row| row[at]).sum::<i64>() as f64
    };
    sum("wait_ns") / sum("dispatches") / 1e3
}

/// Time in which lines are fetched again, for a transaction [us].
fn reload_us(outcome: &Outcome) -> f64 {
    outcome.total("zvm", "book_reload") / outcome.total("zvm", "tx_done") / 1e3
}

fn of(spec: &Spec) -> (f64, f64) {
    let outcome = run(spec, 0);
    (wait_us(&outcome), reload_us(&outcome))
}

/// CP knows no distances in horizontal polarization: whoever idles takes what waits, from anywhere.
/// In vertical a far one leaves it to those that are near, which keeps lines near and takes longer.
#[test]
fn vertical_waits_longer_and_fetches_less() {
    for load in [0.3, 0.45, 0.5] {
        let (horizontal, vertical) = (of(&guests(1, load, false)), of(&guests(1, load, true)));
        let seen = format!("{load}: {vertical:?} {horizontal:?}");
        assert!(vertical.1 < horizontal.1, "{seen}");
        // Where all of a chip are seldom at work nobody has to wait for a near one.
        assert!(vertical.0 > horizontal.0 || load < 0.4, "{seen}");
    }
}

#[test]
fn a_higher_barrier_lengthens_waits_in_vertical_polarization_alone() {
    let with = |vertical, far| {
        let mut spec = guests(1, 0.45, vertical);
        cp(&mut spec.partitions[0]).steal_barrier = ByDistance {
            local: 1.0,
            near: 1.0,
            far,
        };
        wait_us(&run(&spec, 0))
    };
    let waits = [1.0, 2.0, 8.0].map(|far| with(true, far));
    assert!(waits.windows(2).all(|pair| pair[1] > pair[0]), "{waits:?}");
    assert_eq!(with(false, 1.0), with(false, 8.0));
}

/// Where more work is under way a virtual processor is less often back where it was.
#[test]
fn more_load_means_more_lines_fetched_again_and_longer_waits() {
    for vertical in [false, true] {
        let seen: Vec<_> = [0.15, 0.3, 0.45, 0.6]
            .map(|load| of(&guests(1, load, vertical)))
            .to_vec();
        for pair in seen.windows(2) {
            assert!(pair[1].0 > pair[0].0 && pair[1].1 > pair[0].1, "{seen:?}");
        }
    }
}

/// Each virtual machine has memory of its own: what its virtual processors have in common is warm
/// where one of them was, never where another machine's was.
#[test]
fn lines_in_common_are_those_of_one_machine() {
    let with = |cpus, common| {
        let mut spec = guests(cpus, 0.45, false);
        spec.partitions[0].profile.footprint_common = common;
        reload_us(&run(&spec, 0))
    };
    // Nobody has anything in common with a machine of one virtual processor; that the caches of a
    // chip are shared by more lines in common is the cost model's.
    let (alone, alone_common) = (with(1, 0.0), with(1, 0.9));
    assert!(
        (alone_common / alone - 1.0).abs() < 0.05,
        "{alone} {alone_common}"
    );
    let (four, four_common) = (with(4, 0.0), with(4, 0.9));
    assert!(four_common < 0.95 * four, "{four} {four_common}");
}

/// A single processor fetches nothing from elsewhere, whatever the polarization.
#[test]
fn polarization_means_nothing_to_one_processor() {
    let of = |vertical| {
        let machines = (0..3).map(|at| served(&format!("s{at}"), 1, 2_000.0, WORK / 2.0));
        let mut zvm = free_cp(machines.collect(), Vec::new());
        zvm.vertical = vertical;
        let outcome = run(&alone(1, zvm, Workload::Idle), 0);
        (wait_us(&outcome), outcome.total("zvm", "busy_ns"))
    };
    assert_eq!(of(true), of(false));
}
