//! Gangs: daemons of which several threads wake at once. What they load follows from how many they
//! are and how wide the partition is; how much they do does not.

use crate::common::{aix, machine, partition, quiet_unix, run, shared, spec, Outcome, MS, SECOND};
use homenode_engine::spec::{Gang, Guest, Spec, Workload};

const SMT: usize = 4;

fn assert_near(value: f64, wanted: f64, tolerance: f64, what: &str) {
    let near = (value - wanted).abs() <= tolerance;
    assert!(near, "{what}: {value} for {wanted}");
}

/// A gang whose threads have 48 ms of work together, every 100 ms.
fn gang(threads: u16) -> Gang {
    Gang {
        threads,
        every_ns: 100 * MS,
        work_ns: 48 * MS / u64::from(threads),
        lengths_ns: vec![],
        instructions_per_s: vec![],
    }
}

/// A partition that has nothing else to do, on as many cores of four threads as it needs.
fn alone(threads: u16, vps: u16, mode: u8) -> Spec {
    let mut one = partition("a", shared(f64::from(vps), vps), Workload::Idle);
    one.smt = SMT as u8;
    aix(&mut one).throughput_mode = mode;
    aix(&mut one).gangs = vec![gang(threads)];
    let mut spec = spec(machine("core:16 pu:4"), vec![one]);
    spec.duration_ns = 2 * SECOND;
    spec
}

/// Share of the busy time that is third and fourth threads'.
fn last_threads(outcome: &Outcome) -> f64 {
    let at = |name| outcome.cpu.at(name);
    let (cpu, user, sys) = (at("cpu"), at("user_ns"), at("sys_ns"));
    let mut by_place = [0_i64; SMT];
    for row in outcome.cpu.only("partition", 0) {
        by_place[row[cpu] as usize % SMT] += row[user] + row[sys];
    }
    let all: i64 = by_place.iter().sum();
    (by_place[2] + by_place[3]) as f64 / all as f64
}

fn shares(specs: [Spec; 3]) -> [f64; 3] {
    specs.map(|spec| last_threads(&run(&spec, 0)))
}

#[test]
fn more_threads_at_a_wake_up_load_the_last_threads_more() {
    let [few, more, most] = shares([4, 16, 24].map(|threads| alone(threads, 6, 0)));
    assert_eq!(few, 0.0);
    assert!(0.1 < more && more < most, "{few} {more} {most}");
    assert_near(most, 0.5, 0.01, "all threads of all processors");
}

#[test]
fn more_virtual_processors_load_the_last_threads_less() {
    let [narrow, wide, widest] = shares([3, 6, 12].map(|vps| alone(12, vps, 0)));
    assert_near(narrow, 0.5, 0.01, "all threads of all processors");
    assert!(narrow > wide && widest == 0.0, "{narrow} {wide} {widest}");
}

#[test]
fn scaled_modes_load_the_last_threads_more() {
    let [raw, enhanced, scaled] = shares([0, 2, 4].map(|mode| alone(6, 6, mode)));
    assert_eq!([raw, enhanced], [0.0, 0.0]);
    assert!(scaled > 0.2, "{scaled}");
}

#[test]
fn what_a_gang_does_is_the_same_wherever_it_runs() {
    let specs = [(4, 6, 0), (24, 6, 0), (12, 2, 4), (960, 3, 0)];
    for (threads, vps, mode) in specs {
        let outcome = run(&alone(threads, vps, mode), 0);
        // A nanosecond an instruction; twenty wake-ups, of which the last may not be done.
        let done = outcome.total("a", "instructions") / (20.0 * 48e6);
        assert!(
            (0.95..1.0001).contains(&done),
            "{threads} threads did {done}"
        );
        assert_eq!(outcome.total("a", "interrupts"), 0.0);
    }
}

#[test]
fn recorded_work_is_done_step_by_step_however_rare_the_wake_ups() {
    let mut spec = alone(12, 4, 0);
    let steps = [0.5e9, 0.0, 2e9, 1e9];
    aix(&mut spec.partitions[0]).gangs = vec![Gang {
        lengths_ns: vec![SECOND / 2; 4],
        instructions_per_s: steps.to_vec(),
        // Longer than a step: each still has one wake-up, unless it has nothing to do.
        every_ns: 60 * SECOND,
        ..gang(12)
    }];
    let outcome = run(&spec, 0);
    let wanted: f64 = steps.iter().map(|per_s| per_s / 2.0).sum();
    let left = 1.0 - outcome.total("a", "instructions") / wanted;
    // What the last step's wake-up brings may not be done when the run ends.
    assert!((0.0..0.3).contains(&left), "{left} left");
    assert_eq!(outcome.total("a", "context_switches"), 36.0);
}

#[test]
fn its_threads_wait_their_turn_and_go_back_to_where_they_ran_last() {
    let mut spec = alone(8, 2, 0);
    let mut unix = quiet_unix();
    unix.gangs = vec![gang(8)];
    spec.partitions[0].guest = Guest::Linux(unix);
    let outcome = run(&spec, 0);
    let of = |name| outcome.cpu.series("partition", 0, name).iter().sum::<i64>();
    // Each goes back to the logical processor it had, so none is dispatched elsewhere again.
    assert!(of("s0rd") >= 8 * 19, "{} dispatches", of("s0rd"));
    assert_eq!(of("s1rd") + of("s3rd"), 0);
    // Twelve times as many as there is room for take turns: nobody is thrown out for another.
    let outcome = run(&alone(96, 2, 0), 0);
    let of = |name| outcome.cpu.series("partition", 0, name).iter().sum::<i64>();
    assert_eq!(of("ics"), 0);
}

#[test]
fn a_wake_up_unfolds_what_it_needs() {
    let unfolded = |threads| {
        let mut spec = alone(threads, 6, 0);
        aix(&mut spec.partitions[0]).xvcpus = 0;
        spec.warmup_ns = 8 * SECOND;
        let rows = run(&spec, 0).partition;
        let seen = rows.series("partition", 0, "vps_unfolded");
        *seen.iter().max().expect("rows")
    };
    assert!(unfolded(2) < unfolded(6), "{} {}", unfolded(2), unfolded(6));
    assert_eq!(unfolded(6), 6);
}

#[test]
fn the_same_seed_gives_the_same_rows_and_another_one_wakes_at_other_times() {
    let rows = |seed| {
        let mut spec = alone(24, 3, 0);
        spec.seed = seed;
        run(&spec, 0).cpu
    };
    assert_eq!(rows(1), rows(1));
    assert_ne!(rows(1), rows(2));
}
