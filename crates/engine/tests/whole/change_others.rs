//! Configuration that changes on other platforms, partitions that start and stop, what is refused.

use crate::common::change::*;
use crate::common::*;
use homenode_engine::sim;
use homenode_engine::spec::{Change, Guest, LockKind, Processors, Profile, Spec, Workload};

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
        adds_up(&outcome);
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

/// Memory that comes beside the cores is read at the speed that it would have had there from the
/// start; before, nothing differs.
#[test]
fn memory_follows() {
    let work = |domain: u16| {
        let mut machine = machine("node:2 core:2");
        machine.hypervisor.policy = homenode_engine::spec::Policy::Dedicated;
        let mut one = partition("vpar1", dedicated(0..2, false), loops(2));
        one.guest = Guest::Hpux(quiet_unix());
        one.profile = missing_profile(1e5);
        one.memory = vec![memory(&[domain], 16 << 30)];
        one.data_bytes = 8 << 30;
        spec(machine, vec![one])
    };
    let done = |spec: &Spec| {
        let units = run(spec, 0).series("vpar1", "instructions");
        let middle = units.len() / 2;
        let after: i64 = units[middle + 1..].iter().sum();
        (units[..middle].to_vec(), after as f64)
    };
    let (near, far, mut moved) = (work(0), work(1), work(1));
    moved.changes = vec![Change {
        memory: Some(near.partitions[0].memory.clone()),
        ..change(0)
    }];
    let (near, far, moved) = (done(&near), done(&far), done(&moved));
    assert!(near.1 > 1.03 * far.1, "{near:?} {far:?}");
    assert_eq!(moved.0, far.0);
    assert!(
        (moved.1 / near.1 - 1.0).abs() < 0.01,
        "{} of {}",
        moved.1,
        near.1
    );
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
    adds_up(&outcome);
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
        "what can here: entitlement, virtual, capped, weight, soft_cap, smt, memory, data_bytes, \
         running",
    );
}
