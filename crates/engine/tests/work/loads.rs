//! Several loads in one partition: they share its virtual processors, and each has its own work,
//! cost and part of the results.

use crate::common;
use crate::common::{
    aix, assert_all, capped, dedicated, loops, machine, missing_profile, partition, plain_profile,
    quiet_unix, run, shared, spec, transactions, Outcome, MS, SECOND,
};
use homenode_engine::sim::{check, columns, LoadSummary};
use homenode_engine::spec::{
    Accounting, Distribution, Guest, Load, LockKind, Partition, Policy, Profile, Spec, Workload,
};
use homenode_engine::steady::solve;

fn load(name: &str, workload: Workload, profile: Profile) -> Load {
    Load {
        name: name.into(),
        workload,
        profile,
    }
}

/// A partition with these loads.
fn with(mut one: Partition, loads: Vec<Load>) -> Partition {
    let mut loads = loads.into_iter();
    let first = loads.next().expect("a load");
    (one.workload_name, one.workload, one.profile) = (first.name, first.workload, first.profile);
    one.beside = loads.collect();
    one
}

/// Alone on cores of its own.
fn alone(cores: u16, smt: u8, loads: Vec<Load>) -> Spec {
    let mut one = partition("a", dedicated(0..cores, false), Workload::Idle);
    one.smt = smt;
    let mut machine = machine(&format!("core:{cores} pu:{smt}"));
    machine.hypervisor.policy = Policy::Dedicated;
    spec(machine, vec![with(one, loads)])
}

fn of<'a>(outcome: &'a Outcome, load: &str) -> &'a LoadSummary {
    let mut all = outcome.of("a").loads.iter();
    all.find(|one| one.name == load).expect("a load")
}

fn total(outcome: &Outcome, load: &str, column: &str) -> f64 {
    let at = columns::LOAD.iter().position(|name| *name == column);
    of(outcome, load).totals[at.expect("a column")] as f64
}

fn plain() -> Profile {
    plain_profile(1e6)
}

fn poisson(rate_per_s: f64) -> Workload {
    transactions(rate_per_s, Distribution::Exponential)
}

#[test]
fn loops_of_two_loads_share_a_processor_as_those_of_one_would() {
    for guest in [
        Guest::Hpux(quiet_unix()),
        Guest::Linux(quiet_unix()),
        Guest::Aix(common::quiet_guest()),
    ] {
        let halves = |count| load(&format!("of{count}"), loops(2), plain());
        let mut two = alone(1, 1, vec![halves(1), halves(2)]);
        two.partitions[0].guest = guest.clone();
        let mut one = alone(1, 1, vec![load("all", loops(4), plain())]);
        one.partitions[0].guest = guest;
        let (two, one) = (run(&two, 0), run(&one, 0));
        for column in ["busy_ns", "instructions", "ilcs", "user_ns"] {
            assert_eq!(two.total("a", column), one.total("a", column), "{column}");
        }
        for half in ["of1", "of2"] {
            let share = total(&two, half, "busy_ns") / two.total("a", "busy_ns");
            assert!((share - 0.5).abs() < 0.011, "{share} of one processor");
        }
        assert!(one.of("a").loads.is_empty());
    }
}

/// What every partition counts, interval by interval.
fn partitions(spec: &Spec) -> common::Table {
    run(spec, 0).partition
}

#[test]
fn a_load_beside_an_idle_one_is_as_it_would_be_alone() {
    let work = [
        Workload::Warehouses { count: 3 },
        loops(3),
        poisson(900.0),
        common::users(5, 2 * MS),
    ];
    for workload in work {
        let busy = load("busy", workload, missing_profile(2e5));
        let idle = load("idle", Workload::Idle, plain());
        let mut neighbour = partition("b", shared(0.5, 2), loops(2));
        neighbour.profile = missing_profile(1e6);
        let spec = |loads| {
            let mut one = with(partition("a", shared(1.0, 2), Workload::Idle), loads);
            one.profile.lock_share = 0.05;
            spec(machine("core:2"), vec![one, neighbour.clone()])
        };
        let together = partitions(&spec(vec![busy.clone(), idle]));
        assert_eq!(together, partitions(&spec(vec![busy])));
    }
}

#[test]
fn the_place_of_a_load_costs_it_nothing() {
    let busy = load(
        "busy",
        Workload::Warehouses { count: 2 },
        missing_profile(2e5),
    );
    let idle = load("idle", Workload::Idle, missing_profile(2e5));
    let first = run(&alone(2, 1, vec![busy.clone(), idle.clone()]), 0);
    let second = run(&alone(2, 1, vec![idle, busy]), 0);
    assert_eq!(first.partition, second.partition);
    assert_eq!(
        of(&first, "busy").totals[3..],
        of(&second, "busy").totals[3..]
    );
    assert_eq!(of(&first, "busy").response, of(&second, "busy").response);
}

#[test]
fn what_loads_do_adds_up_to_their_partition() {
    for (smt, rate) in [(1, 700.0), (2, 1_500.0), (4, 2_500.0)] {
        let fast = load("fast", poisson(rate), missing_profile(3e5));
        let slow = load("slow", loops(2), missing_profile(4e6));
        let ask = load("ask", common::users(6, 5 * MS), plain_profile(2e5));
        let mut spec = alone(2, smt, vec![fast, slow, ask]);
        aix(&mut spec.partitions[0]).timeslice_ns = MS;
        spec.warmup_ns = 50 * MS;
        let outcome = run(&spec, 0);
        assert_all(&spec, &outcome);
        let names = ["fast", "slow", "ask"];
        for column in ["tx_arrived", "tx_done", "response_ns"] {
            let sum: f64 = names.iter().map(|name| total(&outcome, name, column)).sum();
            assert_eq!(sum, outcome.total("a", column), "{column}");
        }
        for column in ["busy_ns", "instructions"] {
            let sum: f64 = names.iter().map(|name| total(&outcome, name, column)).sum();
            let idle = outcome.total("a", "book_guest_idle");
            let all = outcome.total("a", column);
            let left = if column == "busy_ns" { idle } else { 0.0 };
            assert!(
                (sum + left - all).abs() <= 4.0 + 1e-9 * all,
                "{column}: {sum} of {all}"
            );
        }
        let count: u64 = names
            .iter()
            .map(|name| of(&outcome, name).response.count)
            .sum();
        assert_eq!(count, outcome.of("a").response.count);
        let ended: u64 = names
            .iter()
            .map(|name| of(&outcome, name).finished.count)
            .sum();
        assert_eq!(ended, outcome.of("a").finished.count);
    }
}

/// Threads of one core find each other at its pipelines as often as each wants them.
#[test]
fn beside_a_stranger_a_thread_finds_it_as_often_as_it_wants_the_pipelines() {
    // A quarter is gained by work that always issues: 1 + 0.6 x y for shares x and y of issuing.
    let halves = |one: f64, other: f64| {
        let of = |share| Profile {
            issue_share: share,
            ..plain()
        };
        let loads = [("x", one), ("y", other)];
        let loads = loads.map(|(name, share)| load(name, loops(1), of(share)));
        let mut spec = alone(1, 2, loads.to_vec());
        spec.machine.smt.gain = vec![1.0, 1.25];
        spec.machine.smt.reference = of(1.0);
        spec.machine.accounting = Accounting::Elapsed;
        let outcome = run(&spec, 0);
        assert_all(&spec, &outcome);
        let solved = solve(&spec).unwrap_or_else(|fault| panic!("{fault}"));
        for (at, name) in ["x", "y"].into_iter().enumerate() {
            let own = total(&outcome, name, "instructions");
            let told = SECOND as f64 / (1.0 + 0.6 * one * other);
            assert!((own / told - 1.0).abs() < 1e-4, "{own} of {told}");
            let solved = solved.partitions[0].workloads[at].instructions;
            assert!((solved / told - 1.0).abs() < 1e-2, "{solved} of {told}");
            assert_eq!(total(&outcome, name, "busy_ns"), SECOND as f64 / 2.0);
            assert_eq!(total(&outcome, name, "thread_ns"), SECOND as f64);
        }
    };
    for (one, other) in [(1.0, 0.1), (0.4, 1.0), (1.0, 1.0), (0.5, 0.0)] {
        halves(one, other);
    }
}

#[test]
fn two_halves_of_a_stream_are_the_stream() {
    let halves = ["x", "y"].map(|name| load(name, poisson(350.0), plain()));
    let mut two = alone(1, 1, halves.to_vec());
    let mut one = alone(1, 1, vec![load("all", poisson(700.0), plain())]);
    (two.duration_ns, one.duration_ns) = (400 * SECOND, 400 * SECOND);
    (two.interval_ns, one.interval_ns) = (SECOND, SECOND);
    let (two, one) = (run(&two, 0), run(&one, 0));
    // M/M/1 at 0.7: a mean of 3.33 ms; of 280,000 transactions it is known within some percent.
    for outcome in [&two, &one] {
        let mean = outcome.of("a").response.mean * 1e-6;
        assert!((mean - 1.0 / 0.3).abs() < 0.2, "{mean} ms");
        let cores = outcome.total("a", "busy_ns") / (400 * SECOND) as f64;
        assert!((cores - 0.7).abs() < 0.01, "{cores} cores");
    }
    for half in ["x", "y"] {
        let mean = of(&two, half).response.mean * 1e-6;
        assert!((mean - 1.0 / 0.3).abs() < 0.25, "{mean} ms of {half}");
    }
}

#[test]
fn more_of_a_batch_slows_the_database_and_takes_no_work_off_it() {
    let seen = |rate| {
        let database = load("database", poisson(300.0), missing_profile(1e6));
        let batch = load("batch", poisson(rate), missing_profile(4e6));
        let mut spec = alone(2, 2, vec![database, batch]);
        (spec.duration_ns, spec.interval_ns) = (60 * SECOND, SECOND);
        let outcome = run(&spec, 0);
        let done = total(&outcome, "database", "tx_done");
        let each = |column| total(&outcome, "database", column) / done;
        (
            of(&outcome, "database").response.mean,
            each("thread_ns"),
            each("instructions"),
            total(&outcome, "database", "tx_arrived"),
        )
    };
    let steps = [10.0, 60.0, 120.0].map(seen);
    for pair in steps.windows(2) {
        let ((response, time, work, came), (slower, longer, same, again)) = (pair[0], pair[1]);
        assert!(slower > response && longer > time, "{pair:?}");
        assert!((same / work - 1.0).abs() < 0.01, "{pair:?}");
        assert_eq!(came, again, "its own stream");
    }
}

#[test]
fn kernel_time_is_that_of_each_load() {
    let of = |share| Profile {
        system_share: share,
        ..plain()
    };
    let loads = vec![load("x", loops(1), of(0.5)), load("y", loops(3), of(0.0))];
    let outcome = run(&alone(1, 1, loads), 0);
    let (x, all) = (
        total(&outcome, "x", "busy_ns"),
        outcome.total("a", "busy_ns"),
    );
    assert!((outcome.total("a", "sys_ns") - x / 2.0).abs() < 200.0);
    assert!((outcome.total("a", "user_ns") - (all - x / 2.0)).abs() < 200.0);
}

/// Each load has a lock of its own: one whose threads sleep for theirs does as much beside another
/// on cores enough for both as alone, and none of the other's time goes to it.
#[test]
fn a_lock_for_which_one_sleeps_is_its_load_s_own() {
    let asleep = Profile {
        lock_kind: LockKind::Sleeping,
        lock_share: 0.3,
        lock_hold_instructions: 5_000.0,
        lock_switch_instructions: 1_000.0,
        ..plain_profile(1e5)
    };
    let warehouses = |count| Workload::Warehouses { count };
    let locking = load("locking", warehouses(4), asleep.clone());
    let free = load("free", warehouses(2), plain_profile(1e5));
    let again = load("again", warehouses(4), asleep);
    let done = |cores, loads: Vec<Load>| {
        let mut spec = alone(cores, 1, loads);
        spec.partitions[0].guest = Guest::Linux(quiet_unix());
        spec.duration_ns = 4 * SECOND;
        let outcome = run(&spec, 0);
        assert_all(&spec, &outcome);
        outcome
    };
    let idle = load("idle", Workload::Idle, plain());
    let one = done(4, vec![locking.clone(), idle]);
    let beside = done(6, vec![locking.clone(), free.clone()]);
    let twice = done(8, vec![locking, again]);
    let rate = |outcome: &Outcome, name: &str| total(outcome, name, "tx_done");
    let alone = rate(&one, "locking");
    for (outcome, name) in [(&beside, "locking"), (&twice, "locking"), (&twice, "again")] {
        let share = rate(outcome, name) / alone;
        assert!(
            (share - 1.0).abs() < 0.03,
            "{name}: {share} of what it does alone"
        );
    }
    let most = 2.0 * 4.0 * 1e4;
    assert!(
        rate(&beside, "free") > 0.98 * most,
        "{}",
        rate(&beside, "free")
    );
}

/// A processor on which nobody takes the lock never comes to it, however long its holder is away.
#[test]
fn who_takes_no_lock_waits_for_none() {
    let taking = Profile {
        lock_share: 0.3,
        lock_hold_instructions: 500.0,
        ..plain_profile(1e5)
    };
    let loads = vec![
        load("free", loops(4), plain_profile(1e5)),
        load("taking", poisson(4_000.0), taking),
    ];
    let one = with(partition("a", capped(1.0, 4), Workload::Idle), loads);
    let mut spec = spec(machine("core:4"), vec![one]);
    spec.duration_ns = 2 * SECOND;
    let outcome = run(&spec, 0);
    assert_all(&spec, &outcome);
    assert!(total(&outcome, "taking", "tx_done") > 100.0);
}

#[test]
fn what_several_loads_cannot_be_is_refused() {
    let wrong = [
        (load("x", loops(1), plain()), "x"),
        (load("", loops(1), plain()), "load"),
        (load("y", loops(0), plain()), "loops"),
    ];
    for (second, word) in wrong {
        let spec = alone(1, 1, vec![load("x", loops(1), plain()), second]);
        let fault = check(&spec).expect_err("refused");
        assert!(fault.to_string().contains(word), "{fault}");
        assert!(fault.at.starts_with("/partitions/0"), "{}", fault.at);
    }
}

#[test]
fn of_work_that_another_partition_has_too_it_counts_how_many_threads_run_on_its_own_cores() {
    let loads = || {
        vec![
            load("few", loops(2), missing_profile(1e6)),
            load("spin", loops(3), plain()),
        ]
    };
    let mut first = partition("first", dedicated(0..2, false), loops(2));
    first.profile = missing_profile(1e6);
    let mut second = with(
        partition("second", dedicated(2..4, false), Workload::Idle),
        loads(),
    );
    second.smt = 4;
    let mut machine = machine("core:4 pu:4");
    machine.hypervisor.policy = Policy::Dedicated;
    let both = run(&spec(machine, vec![first, second]), 0);
    let cores = |outcome: &Outcome, one: &str| -> Vec<i64> {
        let at = columns::LOAD.iter().position(|name| *name == "busy_ns");
        let loads = outcome.of(one).loads.iter();
        loads
            .map(|load| load.totals[at.expect("a column")])
            .collect()
    };
    let alone = cores(&run(&alone(2, 4, loads()), 0), "a");
    for (beside, alone) in cores(&both, "second").into_iter().zip(alone) {
        assert!(
            (beside as f64 / alone as f64 - 1.0).abs() < 0.1,
            "{beside} {alone}"
        );
    }
}
