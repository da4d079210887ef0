//! Configuration that changes while the partitions run.

mod common;

use common::platform::Platform;
use common::random::scenario;
use common::*;
use homenode_engine::sim;
use homenode_engine::spec::{
    Change, Guest, LockKind, Partition, Policy, Processors, Profile, Spec, Workload,
};

/// The time of most changes here: in the middle of the run.
const AT: u64 = 500 * MS;

fn change(partition: u16) -> Change {
    Change {
        at_ns: AT,
        partition,
        ..Change::default()
    }
}

/// Core time of a partition before and after the middle [ns].
fn halves(outcome: &Outcome, partition: &str) -> (i64, i64) {
    let busy = outcome.series(partition, "busy_ns");
    let (before, after) = busy.split_at(busy.len() / 2);
    (before.iter().sum(), after.iter().sum())
}

/// Core time has one account, one distance, one charge through any change, and rows add up.
fn sound(outcome: &Outcome) {
    let column = |name: &str| outcome.partition.at(name);
    let sum = |row: &[i64], names: &[&str]| names.iter().map(|name| row[column(name)]).sum::<i64>();
    for row in outcome.partition.rows() {
        let busy = row[column("busy_ns")];
        assert_eq!(sum(row, &["entitled_ns", "excess_ns"]), busy);
        let online = sum(row, &["user_ns", "sys_ns", "wait_ns", "idle_ns"]);
        assert!(online >= busy && row.iter().all(|n| *n >= 0), "{row:?}");
        let parts = ["user_ns", "sys_ns"].map(|name| (column(name), outcome.cpu.at(name)));
        for (own, of_cpu) in parts {
            let key = [column("time_ns"), column("partition")].map(|at| row[at]);
            let rows = outcome.cpu.rows().filter(|cpu| cpu[..2] == key);
            assert_eq!(rows.map(|cpu| cpu[of_cpu]).sum::<i64>(), row[own]);
        }
    }
}

fn half(cores: f64) -> i64 {
    (cores * AT as f64) as i64
}

/// Two that want all of four cores, the first entitled to one and capped.
fn two() -> Spec {
    let lpar1 = partition("lpar1", capped(1.0, 2), loops(8));
    let lpar2 = partition("lpar2", shared(1.0, 4), loops(8));
    spec(machine("core:4"), vec![lpar1, lpar2])
}

/// Arrivals, folding, daemons and balancing: all that draws from chance and counts processors.
fn lively() -> Spec {
    let mut one = partition("lpar1", shared(1.5, 3), users(30, 5 * MS));
    one.smt = 2;
    one.guest = Guest::Aix(homenode_engine::spec::Aix {
        xvcpus: 0,
        throughput_mode: 1,
        rebalance_ns: Some(10 * MS),
        daemon_rate_per_s: 200.0,
        daemon_ns: 20_000,
        tick_cost_ns: 1_000,
        ..quiet_guest()
    });
    let mut two = partition("lpar2", shared(2.0, 4), users(40, 5 * MS));
    two.guest = Guest::Linux(homenode_engine::spec::Unix {
        rebalance_ns: Some(4 * MS),
        ..quiet_unix()
    });
    let mut spec = spec(machine("core:4 pu:2"), vec![one, two]);
    spec.duration_ns = 3 * SECOND;
    spec
}

fn entitle(partition: &mut Partition, cores: f64, vps: u16) {
    if let Processors::Shared {
        entitlement,
        r#virtual,
        ..
    } = &mut partition.processors
    {
        (*entitlement, *r#virtual) = (cores, vps);
    }
}

#[test]
fn a_cap_follows_the_entitlement_from_the_window_of_the_change() {
    let mut spec = two();
    spec.changes = vec![Change {
        entitlement: Some(2.0),
        ..change(0)
    }];
    let outcome = run(&spec, 0);
    sound(&outcome);
    assert_eq!(halves(&outcome, "lpar1"), (half(1.0), half(2.0)));
    assert_eq!(halves(&outcome, "lpar2"), (half(3.0), half(2.0)));
}

#[test]
fn virtual_processors_come_and_go() {
    let mut spec = two();
    spec.partitions.pop();
    entitle(&mut spec.partitions[0], 2.0, 2);
    spec.partitions[0].processors = shared(1.0, 2);
    for (vps, cores) in [(1, 1.0), (4, 4.0)] {
        spec.changes = vec![Change {
            r#virtual: Some(vps),
            ..change(0)
        }];
        let outcome = run(&spec, 0);
        sound(&outcome);
        assert_eq!(halves(&outcome, "lpar1"), (half(2.0), half(cores)), "{vps}");
        // All eight loops go on.
        let unfolded = outcome.series("lpar1", "vps_unfolded");
        assert_eq!(*unfolded.last().unwrap(), i64::from(vps));
        assert!(outcome.total("lpar1", "runq_ns") as i64 == 8 * SECOND as i64);
    }
}

#[test]
fn weights_and_caps_change_the_shares() {
    let mut spec = two();
    spec.partitions[0].processors = shared(1.0, 4);
    let even = halves(&run(&spec, 0), "lpar1");
    assert!((even.1 - half(2.0)).abs() < half(0.05), "{even:?}");
    spec.changes = vec![Change {
        weight: Some(255),
        ..change(0)
    }];
    let (before, after) = halves(&run(&spec, 0), "lpar1");
    // Two cores of excess, by 255 to 128.
    assert!((before - half(2.0)).abs() < half(0.05), "{before}");
    let expected = half(1.0 + 2.0 * 255.0 / 383.0);
    assert!((after - expected).abs() < half(0.05), "{after}");
    spec.changes = vec![Change {
        capped: Some(true),
        ..change(0)
    }];
    let outcome = run(&spec, 0);
    assert_eq!(halves(&outcome, "lpar1").1, half(1.0));
    assert_eq!(halves(&outcome, "lpar2").1, half(3.0));
}

#[test]
fn smt_off_and_on_keeps_work_and_charges_what_was_used() {
    let mut spec = two();
    spec.machine = machine("core:4 pu:4");
    spec.partitions.truncate(1);
    spec.partitions[0] = partition("lpar1", shared(2.0, 2), loops(8));
    for (from, to) in [(4, 1), (1, 4), (2, 4)] {
        spec.partitions[0].smt = from;
        spec.changes = vec![Change {
            smt: Some(to),
            ..change(0)
        }];
        let outcome = run(&spec, 0);
        sound(&outcome);
        assert_eq!(outcome.total("lpar1", "runq_ns"), 8.0 * SECOND as f64);
        // Every logical processor that is online is busy, and no other.
        let last: Vec<i64> = {
            let rows: Vec<&[i64]> = outcome.cpu.rows().collect();
            let (cpus, at) = (2 * usize::from(from.max(to)), outcome.cpu.at("user_ns"));
            rows[rows.len() - cpus..]
                .iter()
                .map(|row| row[at])
                .collect()
        };
        let stride = usize::from(from.max(to));
        for (cpu, busy) in last.iter().enumerate() {
            let online = cpu % stride < usize::from(to);
            assert_eq!(*busy > 0, online, "{from} to {to}: {last:?}");
        }
        let ticks: f64 = ["ticks_user", "ticks_sys", "ticks_wait", "ticks_idle"]
            .iter()
            .map(|name| outcome.total("lpar1", name))
            .sum();
        let lcpu_ns = 2 * AT * u64::from(from + to);
        assert_eq!(ticks as u64, lcpu_ns);
    }
}

#[test]
fn a_change_that_changes_nothing_leaves_the_same_numbers() {
    let plain = lively();
    let mut spec = plain.clone();
    spec.changes = vec![
        Change {
            entitlement: Some(1.5),
            r#virtual: Some(3),
            capped: Some(false),
            weight: Some(128),
            smt: Some(2),
            ..change(0)
        },
        change(1),
    ];
    let (a, b) = (run(&plain, 0), run(&spec, 0));
    assert_eq!(
        (&a.partition, &a.cpu, &a.pool),
        (&b.partition, &b.cpu, &b.pool)
    );
}

#[test]
fn a_change_at_the_start_is_the_scenario_that_states_it() {
    let mut stated = lively();
    entitle(&mut stated.partitions[0], 1.0, 2);
    stated.partitions[0].smt = 1;
    let mut changed = lively();
    changed.changes = vec![Change {
        at_ns: 0,
        entitlement: Some(1.0),
        r#virtual: Some(2),
        smt: Some(1),
        ..change(0)
    }];
    let (a, b) = (run(&stated, 0), run(&changed, 0));
    assert_eq!((a.partition, a.cpu, a.pool), (b.partition, b.cpu, b.pool));
}

#[test]
fn until_a_change_all_is_as_without_it() {
    let plain = lively();
    let mut spec = plain.clone();
    spec.changes = vec![
        Change {
            r#virtual: Some(4),
            smt: Some(1),
            ..change(0)
        },
        Change {
            r#virtual: Some(6),
            ..change(1)
        },
    ];
    let (a, b) = (run(&plain, 0), run(&spec, 0));
    let until = (AT / spec.interval_ns) as usize;
    for name in ["lpar1", "lpar2"] {
        for column in ["busy_ns", "tx_done", "vcsw", "ticks_idle", "interrupts"] {
            let (a, b) = (a.series(name, column), b.series(name, column));
            assert_eq!(a[..until], b[..until], "{name} {column}");
            assert_ne!(a, b, "{name} {column}");
        }
    }
}

#[test]
fn never_more_than_the_machine_has_through_any_change() {
    let mut spec = lively();
    spec.changes = (1..20)
        .map(|step| Change {
            at_ns: step * 150 * MS + 3 * MS,
            partition: (step % 2) as u16,
            entitlement: Some([0.5, 1.0, 1.5, 2.0][step as usize % 4]),
            r#virtual: Some([2, 5, 3][step as usize % 3]),
            capped: Some(step % 5 == 0),
            weight: Some([1, 255][step as usize % 2]),
            smt: Some([1, 2][step as usize / 2 % 2]),
            ..Change::default()
        })
        .collect();
    let outcome = run(&spec, 0);
    let window = spec.interval_ns as i64;
    let busy = ["lpar1", "lpar2"].map(|name| outcome.series(name, "busy_ns"));
    for (one, two) in busy[0].iter().zip(&busy[1]) {
        assert!(one + two <= 4 * window, "{one} {two}");
    }
    let idle = outcome.pool.series("pool", 0, "idle_ns");
    for ((one, two), idle) in busy[0].iter().zip(&busy[1]).zip(idle) {
        assert_eq!(one + two + idle, 4 * window);
    }
    assert!(outcome.total("lpar1", "tx_done") > 1_000.0);
}

#[test]
fn a_soft_cap_leaves_what_others_want_and_takes_what_they_leave() {
    // Both entitled to one core of four. The other one wants everything, then nothing.
    let soft = |partition: &mut Partition| {
        if let Processors::Shared { soft_cap, .. } = &mut partition.processors {
            *soft_cap = true;
        }
    };
    let mut one = partition("soft", shared(1.0, 4), loops(4));
    soft(&mut one);
    let trace = Workload::Trace {
        lengths_ns: vec![AT, AT],
        instructions_per_s: vec![2.5e9, 0.0],
    };
    let other = partition("other", shared(1.0, 4), loops(4));
    let mut spec = spec(machine("core:4"), vec![one, other]);
    let outcome = run(&spec, 0);
    sound(&outcome);
    let (used, rest) = (
        outcome.total("soft", "busy_ns"),
        outcome.total("other", "busy_ns"),
    );
    assert!((used / SECOND as f64 - 1.0).abs() < 0.02, "{used}");
    assert!((rest / SECOND as f64 - 3.0).abs() < 0.02, "{rest}");
    // Nobody else wants it.
    spec.partitions[1].workload = Workload::Idle;
    assert_eq!(run(&spec, 0).total("soft", "busy_ns"), 4.0 * SECOND as f64);
    // Where the other one stops wanting it, it goes to the soft one.
    spec.partitions[1].workload = trace;
    spec.partitions[1].profile.instructions_per_unit = 1e6;
    let (before, after) = halves(&run(&spec, 0), "soft");
    assert!((before - half(1.5)).abs() < half(0.05), "{before}");
    assert!(after > half(3.95), "{after}");
    // Two with a soft cap are alike.
    let mut two = spec.clone();
    two.partitions[1].workload = loops(4);
    soft(&mut two.partitions[1]);
    let (a, b) = (run(&two, 0).total("soft", "busy_ns"), 2.0 * SECOND as f64);
    assert!((a - b).abs() < 0.02 * b, "{a}");
}

#[test]
fn a_core_moves_from_one_vpar_to_another() {
    let mut machine = machine("core:4");
    machine.hypervisor.policy = homenode_engine::spec::Policy::Dedicated;
    let one = partition("vpar1", dedicated(0..3, false), loops(8));
    let two = partition("vpar2", dedicated(3..4, false), loops(8));
    let mut spec = spec(machine, vec![one, two]);
    for partition in &mut spec.partitions {
        partition.guest = Guest::Hpux(quiet_unix());
    }
    let to = |partition: u16, cores: Vec<u16>| Change {
        cores: Some(cores),
        ..change(partition)
    };
    // In either order.
    let (gives, takes) = (to(0, vec![0, 1]), to(1, vec![3, 2]));
    for changes in [vec![gives.clone(), takes.clone()], vec![gives, takes]] {
        spec.changes = changes;
        let outcome = run(&spec, 0);
        sound(&outcome);
        assert_eq!(halves(&outcome, "vpar1"), (half(3.0), half(2.0)));
        assert_eq!(halves(&outcome, "vpar2"), (half(1.0), half(2.0)));
        let purr: f64 = ["user_ns", "sys_ns", "idle_ns"]
            .iter()
            .map(|name| outcome.total("vpar1", name))
            .sum();
        assert_eq!(purr as i64, half(5.0));
    }
    spec.changes = vec![to(0, vec![1, 2])];
    let told = sim::check(&spec).unwrap_err();
    assert_eq!(told.at, "/changes/0/cores");
    spec.changes = vec![to(1, vec![3, 2])];
    assert!(sim::check(&spec).unwrap_err().to_string().contains("twice"));
}

#[test]
fn weights_of_logical_partitions_change_their_shares() {
    let cores = |weight: u16| match vertical(4) {
        Processors::Shared {
            entitlement,
            r#virtual,
            capped,
            soft_cap,
            pool,
            prsm,
            host,
            ..
        } => Processors::Shared {
            entitlement,
            r#virtual,
            capped,
            weight,
            soft_cap,
            pool,
            prsm,
            host,
        },
        Processors::Dedicated { .. } => unreachable!(),
    };
    let mut machine = machine("core:4");
    machine.hypervisor.policy = homenode_engine::spec::Policy::Prsm;
    let lpar = |name, weight| {
        let mut lpar = partition(name, cores(weight), loops(4));
        lpar.guest = Guest::Linux(quiet_unix());
        lpar
    };
    let mut spec = spec(machine, vec![lpar("a", 100), lpar("b", 300)]);
    spec.changes = vec![Change {
        weight: Some(300),
        ..change(0)
    }];
    let outcome = run(&spec, 0);
    let (before, after) = halves(&outcome, "a");
    assert!((before - half(1.0)).abs() < half(0.05), "{before}");
    assert!((after - half(2.0)).abs() < half(0.05), "{after}");
    spec.changes[0] = Change {
        r#virtual: Some(1),
        ..change(1)
    };
    let outcome = run(&spec, 0);
    assert!((halves(&outcome, "b").1 - half(1.0)).abs() < half(0.05));
    assert!((halves(&outcome, "a").1 - half(3.0)).abs() < half(0.05));
}

#[test]
fn what_cannot_be_is_told_at_its_place() {
    let told = |change: Change| {
        let mut spec = two();
        spec.changes = vec![change];
        let fault = sim::check(&spec).unwrap_err();
        (fault.at.clone(), fault.to_string())
    };
    let at = |change: Change, at: &str, words: &str| {
        let (place, message) = told(change);
        assert_eq!(place, at, "{message}");
        assert!(message.contains(words), "{message}");
    };
    at(
        change(7),
        "/changes/0/partition",
        "partition 7 is not there",
    );
    at(
        Change {
            at_ns: SECOND,
            ..change(0)
        },
        "/changes/0/at_ns",
        "before the end of the run",
    );
    at(
        Change {
            entitlement: Some(3.5),
            r#virtual: Some(4),
            ..change(0)
        },
        "/changes/0",
        "4.5 cores are entitled, 4 are there",
    );
    at(
        Change {
            smt: Some(2),
            ..change(0)
        },
        "/changes/0/smt",
        "1 to 1",
    );
    at(
        Change {
            cores: Some(vec![0]),
            ..change(0)
        },
        "/changes/0/cores",
        "what can here: entitlement, virtual, capped, weight, soft_cap, smt, running",
    );
}

#[test]
fn a_partition_stops_and_starts_and_the_others_have_its_time() {
    let stopped = |at_ns, running| Change {
        at_ns,
        running: Some(running),
        ..change(0)
    };
    let mut spec = two();
    spec.partitions[0].processors = shared(1.0, 4);
    spec.changes = vec![stopped(AT, false)];
    let outcome = run(&spec, 0);
    sound(&outcome);
    assert!(halves(&outcome, "lpar1").0 > half(1.9));
    assert_eq!(halves(&outcome, "lpar1").1, 0);
    assert_eq!(halves(&outcome, "lpar2").1, half(4.0));
    assert_eq!(*outcome.series("lpar1", "runq_ns").last().unwrap(), 0);
    // What comes first of it is a start: it did not run before.
    spec.changes = vec![stopped(AT, true)];
    let later = run(&spec, 0);
    assert_eq!(halves(&later, "lpar1").0, 0);
    assert!(halves(&later, "lpar1").1 > half(1.9));
    // Started when the run begins, it is as without any change but for the first window.
    spec.changes = vec![stopped(0, true)];
    let at_once = run(&spec, 0).total("lpar1", "busy_ns");
    spec.changes.clear();
    let plain = run(&spec, 0).total("lpar1", "busy_ns");
    assert!((at_once - plain).abs() < 0.02 * plain, "{at_once} {plain}");
}

#[test]
fn what_arrives_while_a_partition_is_stopped_is_lost_and_users_come_again() {
    let works = [
        transactions(2_000.0, homenode_engine::spec::Distribution::Exponential),
        Workload::Users {
            count: 20,
            think_ns: 5 * MS,
            bursts: 3.0,
            wait_ns: 2 * MS,
            burst_work: homenode_engine::spec::Distribution::Exponential,
            think: homenode_engine::spec::Distribution::Exponential,
        },
        Workload::Warehouses { count: 6 },
    ];
    for work in works {
        let mut one = partition("one", shared(2.0, 4), work.clone());
        one.profile = Profile {
            lock_share: 0.02,
            lock_kind: LockKind::Sleeping,
            ..plain_profile(5e5)
        };
        let mut spec = spec(machine("core:4"), vec![one]);
        spec.duration_ns = 3 * SECOND;
        let plain = run(&spec, 0);
        for (at, running) in [(1, false), (2, true)] {
            spec.changes.push(Change {
                at_ns: at * SECOND,
                running: Some(running),
                ..Change::default()
            });
        }
        let outcome = run(&spec, 0);
        let thirds = |outcome: &Outcome, column: &str| -> Vec<i64> {
            let all = outcome.series("one", column);
            let third = all.len() / 3;
            all.chunks(third).map(|part| part.iter().sum()).collect()
        };
        let (was, is) = (thirds(&plain, "tx_done"), thirds(&outcome, "tx_done"));
        assert_eq!((is[0], is[1]), (was[0], 0), "{work:?}");
        assert_eq!(thirds(&outcome, "tx_arrived")[1], 0);
        assert_eq!(thirds(&outcome, "busy_ns")[1], 0);
        let part = is[2] as f64 / was[2] as f64;
        assert!((part - 1.0).abs() < 0.1, "{work:?}: {part}");
        // Inside are those that came since the start and have not left.
        let inside = outcome.series("one", "tx_inside");
        let since = thirds(&outcome, "tx_arrived")[2] - is[2];
        assert_eq!(*inside.last().unwrap(), since, "{work:?}");
    }
}

/// A row of dice from a number.
fn row(seed: u64) -> Vec<u16> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u16
    };
    std::iter::repeat_with(next).take(DICE).collect()
}

/// Changes that a spec allows, some at the same time.
fn with_changes(mut spec: Spec, seed: u64) -> Spec {
    let numbers = row(seed ^ 0xabcd);
    let mut dice = numbers.iter().map(|n| usize::from(*n));
    let mut next = |below: usize| dice.next().expect("enough dice") % below;
    let count = spec.partitions.len();
    for _ in 0..1 + next(12) {
        let partition = next(count);
        let mut change = Change {
            at_ns: spec.duration_ns * next(20) as u64 / 20,
            partition: partition as u16,
            ..Change::default()
        };
        let policy = spec.machine.hypervisor.policy;
        if next(4) == 0 {
            change.running = Some(next(2) == 0);
        }
        match (&spec.partitions[partition].processors, next(6)) {
            (Processors::Shared { r#virtual, .. }, 0 | 1) => {
                change.r#virtual = Some(1 + next(2 * usize::from(*r#virtual)) as u16);
            }
            (Processors::Shared { .. }, 2) => change.capped = Some(next(2) == 0),
            (Processors::Shared { .. }, 3) => change.weight = Some(1 + next(255) as u16),
            (Processors::Shared { .. }, 4) if policy == Policy::Phyp => {
                change.soft_cap = Some(next(2) == 0);
            }
            (Processors::Shared { entitlement, .. }, _) if policy == Policy::Phyp => {
                change.entitlement = Some(entitlement * [0.5, 0.8, 1.2][next(3)]);
            }
            (Processors::Dedicated { cores, .. }, _) if policy == Policy::Dedicated => {
                let more = next(usize::from(spec.machine.active_cores)) as u16;
                let kept = 1 + next(cores.len());
                let mut new = cores[..kept].to_vec();
                if kept == cores.len() && !new.contains(&more) {
                    new.push(more);
                }
                change.cores = Some(new);
            }
            _ => change.smt = Some(1 + next(usize::from(spec.machine.threads_per_core)) as u8),
        }
        spec.changes.push(change);
        if sim::check(&spec).is_err() {
            spec.changes.pop();
        }
    }
    spec
}

/// No more than the machine has, whatever changes; what happened before a change is as without it.
#[test]
fn random_changes_of_random_scenarios_are_sound() {
    let mut changed = 0;
    for seed in 1..250 {
        let platforms = [Platform::PowerVm, Platform::PrSm, Platform::Dedicated];
        let plain = scenario(platforms[seed as usize % 3], &row(seed));
        if sim::check(&plain).is_err() || plain.duration_ns > SECOND && seed % 4 != 0 {
            continue;
        }
        let spec = with_changes(plain.clone(), seed);
        changed += spec.changes.len();
        eprintln!(
            "SEED {seed} {:?} {:?}",
            spec.machine.hypervisor.policy, spec.changes
        );
        let outcome = run(&spec, 0);
        let busy = outcome.partition.at("busy_ns");
        let cores = i64::from(spec.machine.active_cores);
        let mut used = std::collections::BTreeMap::new();
        for row in outcome.partition.rows() {
            assert!(row.iter().all(|n| *n >= 0), "{seed}: {row:?}");
            *used.entry(row[0]).or_insert(0) += row[busy];
        }
        let length = spec.interval_ns as i64;
        assert!(used.values().all(|ns| *ns <= cores * length), "{seed}");
        let idle = outcome.pool.at("idle_ns");
        assert!(outcome.pool.rows().all(|row| row[idle] >= -1), "{seed}");
        let Some(first) = spec.changes.iter().map(|change| change.at_ns).min() else {
            continue;
        };
        let starts = |change: &Change| change.running == Some(true);
        if spec.warmup_ns + first == 0 || spec.changes.iter().any(starts) {
            continue;
        }
        let before = (first / spec.interval_ns) as usize * spec.partitions.len();
        let bare = run(&plain, 0);
        let rows = |outcome: &Outcome| -> Vec<Vec<i64>> {
            let columns = ["busy_ns", "vcsw", "tx_arrived", "tx_done", "evictions"];
            let columns = columns.map(|name| outcome.partition.at(name));
            let rows = outcome.partition.rows().take(before);
            rows.map(|row| columns.map(|at| row[at]).to_vec()).collect()
        };
        assert_eq!(rows(&bare), rows(&outcome), "{seed}: {:?}", spec.changes);
    }
    assert!(changed > 300, "{changed}");
}
