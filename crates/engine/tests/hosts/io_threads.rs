//! Threads of the host that do a guest's I/O: what they use, whom they take it from.

use crate::common;
use crate::common::host::{cgroup, group, host_machine, host_spec, of_kvm, plain_kvm, threads};
use crate::common::{assert_all, run, waiting, Outcome, SECOND};
use homenode_engine::sim::{check, Wrong};
use homenode_engine::spec::{
    Cgroup, HostThreads, IoThreads, Partition, Policy, Processors, Spec, Workload,
};

/// A guest of two virtual processors on processors 0 and 1: 2,000 transactions a second, each of
/// two bursts of 100 us with a wait of 1 ms between them, on average.
fn guest() -> Partition {
    let waits = waiting(2_000.0, 1_000_000);
    let host = HostThreads {
        pins: vec![vec![0, 1]; 2],
        ..of_kvm(plain_kvm())
    };
    let mut one = group("guest", threads(2, 100, host), waits);
    one.profile.instructions_per_unit = 200_000.0;
    one
}

/// It, with an I/O thread on these processors, which needs so long for a request and 30 us for an
/// answer.
fn spec(cpus: &[u16], request_ns: u64) -> Spec {
    let mut guest = guest();
    guest.io_threads = Some(IoThreads {
        partition: 1,
        request_ns,
        answer_ns: 30_000,
        kick_ns: 0,
    });
    let host = HostThreads {
        pins: vec![cpus.to_vec()],
        ..HostThreads::default()
    };
    let server = group("io", threads(1, 100, host), Workload::Idle);
    let mut spec = host_spec(
        host_machine(Policy::Linux, "core:4"),
        vec![],
        vec![guest, server],
    );
    spec.duration_ns = 4 * SECOND;
    spec
}

fn response(outcome: &Outcome) -> f64 {
    outcome.total("guest", "response_ns") / outcome.total("guest", "tx_done")
}

#[test]
fn it_uses_what_each_request_and_answer_takes_wherever_it_is() {
    let (apart, beside) = (run(&spec(&[2], 20_000), 0), run(&spec(&[0], 20_000), 0));
    for outcome in [&apart, &beside] {
        assert_all(&spec(&[2], 20_000), outcome);
        // An arrival is an answer; each transaction waits once more, which is asked for.
        let done = outcome.total("guest", "tx_done");
        let each = outcome.total("io", "busy_ns") / done;
        assert!((each / 80_000.0 - 1.0).abs() < 0.03, "{each}");
    }
    // What the guest does is the same, and it waits for the thread where that is on its processor.
    let busy = |outcome: &Outcome| outcome.total("guest", "busy_ns");
    assert!((busy(&apart) / busy(&beside) - 1.0).abs() < 0.01);
    assert!(beside.total("guest", "ready_ns") > 2.0 * apart.total("guest", "ready_ns"));
    assert!(response(&beside) > response(&apart));
}

#[test]
fn the_dearer_a_request_the_longer_all_wait_and_one_thread_is_not_enough_at_last() {
    let of = |request_ns| run(&spec(&[2], request_ns), 0);
    let free = {
        let mut spec = spec(&[2], 0);
        spec.partitions[0].io_threads = None;
        run(&spec, 0)
    };
    assert_eq!(free.total("io", "busy_ns"), 0.0);
    let each: Vec<f64> = [0, 20_000, 100_000].map(|ns| response(&of(ns))).into();
    assert!(response(&free) < each[0], "{each:?}");
    assert!(each.windows(2).all(|pair| pair[0] < pair[1]), "{each:?}");
    let swamped = of(800_000);
    assert!(swamped.total("io", "busy_ns") > 3.9e9);
    assert!(swamped.total("guest", "tx_done") < 0.7 * free.total("guest", "tx_done"));
}

#[test]
fn only_processes_without_work_do_a_guests_io() {
    let refused = |change: &dyn Fn(&mut Spec)| {
        let mut wrong = spec(&[2], 0);
        change(&mut wrong);
        *check(&wrong).expect_err("unsound").what
    };
    let told = |partition| IoThreads {
        partition,
        request_ns: 0,
        answer_ns: 0,
        kick_ns: 0,
    };
    let itself = refused(&|spec| spec.partitions[0].io_threads = Some(told(0)));
    assert!(matches!(itself, Wrong::Range { .. }));
    let nobody = refused(&|spec| spec.partitions[0].io_threads = Some(told(2)));
    assert!(matches!(nobody, Wrong::NotThere { .. }));
    let process = refused(&|spec| spec.partitions[1].io_threads = Some(told(0)));
    assert!(matches!(process, Wrong::NotOnHost { .. }));
    let works = refused(&|spec| spec.partitions[1].workload = common::loops(1));
    assert!(matches!(works, Wrong::Range { .. }));
    let xen = refused(&|spec| spec.machine.hypervisor.policy = Policy::Credit2);
    assert!(matches!(
        xen,
        Wrong::NotHost { .. } | Wrong::NotOnHost { .. }
    ));
}

/// With the time of a kick and so many transactions a second.
fn kicked(kick_ns: u64, rate: f64) -> Outcome {
    let mut spec = spec(&[2], 5_000);
    let guest = &mut spec.partitions[0];
    guest.io_threads.as_mut().expect("it has one").kick_ns = kick_ns;
    if let Workload::Transactions { rate_per_s, .. } = &mut guest.workload {
        *rate_per_s = rate;
    }
    run(&spec, 0)
}

/// What both of them need for a transaction beyond what they need without kicks [ns].
fn kicks_ns(rate: f64) -> [f64; 2] {
    let each = |outcome: &Outcome, name| {
        outcome.total(name, "busy_ns") / outcome.total("guest", "tx_done")
    };
    let (free, paid) = (kicked(0, rate), kicked(10_000, rate));
    ["guest", "io"].map(|name| each(&paid, name) - each(&free, name))
}

/// Where little goes on each request finds the thread asleep, and each of its two answers the
/// guest: who wakes pays. What works already need not be woken.
#[test]
fn who_sleeps_is_woken_at_the_cost_of_who_wakes_it() {
    let [asked, answered] = kicks_ns(100.0);
    assert!((asked / 10_000.0 - 1.0).abs() < 0.1, "{asked}");
    assert!((answered / 20_000.0 - 1.0).abs() < 0.1, "{answered}");
    let [busy, answers] = kicks_ns(7_000.0);
    assert!(
        busy < 0.8 * asked && answers < 0.8 * answered,
        "{busy} {answers}"
    );
}

/// A guest and its I/O threads are one control group: its quota and its stops are told once, with
/// the guest, and not a second time of the threads, which they would be by several times their own.
#[test]
fn what_their_group_is_stopped_for_is_told_of_the_guest_alone() {
    let mut spec = spec(&[2], 20_000);
    spec.cgroups = vec![Cgroup {
        quota_ns: Some(20_000_000),
        ..cgroup("guest.scope", 100)
    }];
    for one in &mut spec.partitions {
        let Processors::Shared { host, .. } = &mut one.processors else {
            unreachable!("threads of a host");
        };
        host.cgroup = Some(0);
    }
    let outcome = run(&spec, 0);
    assert!(outcome.total("guest", "throttled_ns") > 0.0);
    assert!(outcome.total("guest", "quota_periods") > 0.0);
    for told in ["throttled_ns", "quota_periods", "throttled_periods"] {
        assert!(outcome.total("io", told) == 0.0, "{told}");
    }
}
