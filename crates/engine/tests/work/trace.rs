//! Recorded demand played back. Work without misses on quiet cores of one's own takes a nanosecond
//! an instruction, so what each step must use follows by hand.

use crate::common::{
    aix, assert_all, dedicated, dice, loops, machine, partition, run, shared, sound, spec, MS,
    SECOND,
};
use homenode_engine::sim::{check, RunError};
use homenode_engine::spec::{Spec, Spread, Workload};
use proptest::prelude::*;

const UNIT: f64 = 1e5;
const STEP_NS: u64 = 200 * MS;
/// Instructions in a second, step by step; a core does a billion.
const DEMAND: [f64; 6] = [0.2e9, 1.3e9, 0.0, 1.9e9, 0.05e9, 0.7e9];

fn trace(lengths_ns: &[u64], per_s: &[f64]) -> Workload {
    Workload::Trace {
        lengths_ns: lengths_ns.to_vec(),
        instructions_per_s: per_s.to_vec(),
        spread: Spread::Even,
    }
}

fn played() -> Workload {
    trace(&[STEP_NS; DEMAND.len()], &DEMAND)
}

/// A partition that plays a recording on two cores, an interval a step.
fn alone(workload: Workload) -> Spec {
    let mut one = partition("a", dedicated(0..2, false), workload);
    one.profile.instructions_per_unit = UNIT;
    let mut spec = spec(machine("core:2"), vec![one]);
    spec.warmup_ns = 300 * MS;
    spec.duration_ns = STEP_NS * DEMAND.len() as u64;
    spec.interval_ns = STEP_NS;
    spec
}

#[test]
fn each_step_uses_what_was_recorded() {
    for replication in 0..5 {
        let outcome = run(&alone(played()), replication);
        let busy = outcome.series("a", "busy_ns");
        for (step, (busy, per_s)) in busy.iter().zip(DEMAND).enumerate() {
            // At most two bursts are under way when a step ends.
            let off = (*busy as f64 - per_s * STEP_NS as f64 * 1e-9).abs();
            assert!(
                off <= 2.0 * UNIT + 1.0,
                "step {step}: {busy} ns of {per_s}/s"
            );
        }
    }
}

#[test]
fn what_arrives_is_exact_whatever_is_drawn() {
    let wanted: i64 = DEMAND
        .iter()
        .map(|per_s| (per_s * STEP_NS as f64 * 1e-9 / UNIT).round() as i64)
        .sum();
    for replication in 0..5 {
        let outcome = run(&alone(played()), replication);
        assert_eq!(outcome.total("a", "tx_arrived"), wanted as f64);
    }
}

#[test]
fn moments_differ_by_replication_and_not_by_layout() {
    let arrivals = |spec: &Spec, replication| {
        let mut spec = spec.clone();
        spec.interval_ns = MS / 10;
        run(&spec, replication).series("a", "tx_arrived")
    };
    let alone = alone(played());
    let mut beside = alone.clone();
    beside.machine = machine("core:4");
    beside
        .partitions
        .push(partition("b", dedicated(2..4, false), loops(2)));
    assert_eq!(arrivals(&alone, 0), arrivals(&beside, 0));
    assert_ne!(arrivals(&alone, 0), arrivals(&alone, 1));
}

#[test]
fn it_begins_warm_and_ends_idle() {
    let mut spec = alone(trace(&[STEP_NS], &[1e9]));
    spec.duration_ns = 3 * STEP_NS;
    let outcome = run(&spec, 0);
    let busy = outcome.series("a", "busy_ns");
    let full = STEP_NS as f64;
    assert!((busy[0] as f64 - full).abs() <= 2.0 * UNIT, "{busy:?}");
    assert!(busy[1] as f64 <= 2.0 * UNIT, "{busy:?}");
    assert_eq!(busy[2], 0);
}

#[test]
fn folding_follows_the_demand() {
    let steps = [0.2e9, 2.6e9, 0.2e9];
    let mut one = partition("a", shared(4.0, 4), trace(&[8 * SECOND; 3], &steps));
    aix(&mut one).xvcpus = 0;
    one.profile.instructions_per_unit = UNIT;
    let mut spec = spec(machine("core:4"), vec![one]);
    spec.duration_ns = 24 * SECOND;
    spec.interval_ns = 8 * SECOND;
    let unfolded = run(&spec, 0).series("a", "vps_unfolded");
    // A fifth of a core needs one, and now and then two that came together.
    assert!(
        unfolded[0] <= 2 && unfolded[1] == 4 && unfolded[2] <= 2,
        "{unfolded:?}"
    );
}

#[test]
fn what_cannot_be_played_is_refused() {
    let none: (&[u64], &[f64]) = (&[], &[]);
    let most = "it must be positive, three years in all at most";
    let lengths = |first: &str| format!("a: length of a step is {first}, {most}");
    let cases: [(&[u64], &[f64], String); 6] = [
        (
            none.0,
            none.1,
            "a: steps is 0, it must be 1 to 10000000".into(),
        ),
        (
            &[1, 2],
            &[1.0],
            "a: instructions_per_s, how many is 1, it must be 2, one for each of lengths_ns".into(),
        ),
        (&[1, 0], &[1.0; 2], lengths("0")),
        (
            &[u64::MAX, u64::MAX],
            &[1.0; 2],
            lengths("18446744073709552000"),
        ),
        (
            &[1],
            &[-1.0],
            "a: instructions_per_s is -1, it must be 0 to 1e15".into(),
        ),
        (
            &[1],
            &[f64::NAN],
            "a: instructions_per_s is NaN, it must be 0 to 1e15".into(),
        ),
    ];
    for (lengths_ns, per_s, message) in cases {
        let fault = check(&alone(trace(lengths_ns, per_s))).expect_err(&message);
        assert_eq!(fault.to_string(), format!("partition {message}"));
    }
}

#[test]
fn more_than_can_be_done_is_given_up_as_such() {
    let mut spec = alone(trace(&[100 * SECOND], &[1e13]));
    spec.duration_ns = 100 * SECOND;
    spec.interval_ns = 100 * SECOND;
    let outcome = homenode_engine::sim::run(&spec, 0, |_| true);
    assert!(matches!(outcome, Err(RunError::Runaway { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_holds_of_any_work_holds_of_recorded_work(
        dice in dice(),
        per_s in prop::collection::vec(0.0..4e9, 3),
    ) {
        let mut spec = sound(&dice);
        for partition in spec.partitions.iter_mut().step_by(2) {
            partition.workload = trace(&[7 * MS, 30 * MS, 13 * MS], &per_s);
        }
        assert_all(&spec, &run(&spec, 0));
    }
}
