//! KVM on a Linux host: halt polling, exits, steal, spinning on a lock whose holder is away.

use crate::common::host::{
    cgroup, group, host_machine, host_spec, of_kvm, on_off, plain_kvm, threads,
};
use crate::common::{loops, run, transactions, Outcome, MS, SECOND};
use homenode_engine::spec::{
    Distribution, HostThreads, Kvm, LockKind, Partition, PauseLoop, Policy, Spec, Workload,
};

fn guest(name: &str, vcpus: u16, kvm: Kvm, workload: Workload) -> Partition {
    group(name, threads(vcpus, 100, of_kvm(kvm)), workload)
}

fn linux(machine: &str, partitions: Vec<Partition>) -> Spec {
    let mut spec = host_spec(host_machine(Policy::Linux, machine), vec![], partitions);
    spec.duration_ns = SECOND;
    spec
}

/// One guest that works for 50 us and sleeps for so long.
fn napper(kvm: Kvm, sleep_ns: u64) -> Outcome {
    let mut one = guest("a", 1, kvm, loops(1));
    on_off(1, 50_000.0, sleep_ns, &mut one);
    run(&linux("core:1", vec![one]), 0)
}

#[test]
fn short_sleeps_are_polled_through_at_the_cost_of_the_core() {
    let polling = Kvm {
        halt_poll_ns: 200_000,
        ..plain_kvm()
    };
    let outcome = napper(polling, 150_000);
    let polled = outcome.total("a", "halt_poll_ns");
    // 5000 turns of 200 us: 150 us of each are polled but for the first five, that grow to 160 us.
    assert!((polled - 0.75e9).abs() < 1e6, "{polled}");
    assert!((outcome.total("a", "busy_ns") - 1e9).abs() < 1e6);
    let worked = outcome.total("a", "user_ns") + outcome.total("a", "sys_ns");
    assert!((worked - 0.25e9).abs() < 1e6, "{worked}");
    assert_eq!(outcome.total("a", "nvcsw"), 5.0);
}

#[test]
fn long_sleeps_are_not() {
    let polling = Kvm {
        halt_poll_ns: 200_000,
        ..plain_kvm()
    };
    let outcome = napper(polling, 5 * MS);
    assert_eq!(outcome.total("a", "halt_poll_ns"), 0.0);
    assert!(outcome.total("a", "nvcsw") > 190.0);
}

#[test]
fn exits_and_entries_are_paid_for_each_halt() {
    let costly = Kvm {
        exit_ns: 3_000,
        entry_ns: 2_000,
        ..plain_kvm()
    };
    let turns = |outcome: &Outcome| outcome.total("a", "tx_done");
    let (plain, paid) = (napper(plain_kvm(), MS), napper(costly, MS));
    // 1.050 ms a turn, or 1.052: it leaves while it sleeps, and comes back for its work.
    assert!((turns(&plain) - 952.0).abs() <= 1.0, "{}", turns(&plain));
    assert!((turns(&paid) - 950.5).abs() <= 1.0, "{}", turns(&paid));
    let hypervisor = paid.total("a", "book_hypervisor");
    assert!(
        (hypervisor - 950.5 * 5_000.0).abs() < 20_000.0,
        "{hypervisor}"
    );
}

#[test]
fn a_poller_makes_room_for_whoever_waits() {
    let polling = Kvm {
        halt_poll_ns: 200_000,
        ..plain_kvm()
    };
    let mut napping = guest("a", 1, polling, loops(1));
    on_off(1, 50_000.0, 150_000, &mut napping);
    let busy = guest("b", 1, plain_kvm(), loops(1));
    let outcome = run(&linux("core:1", vec![napping, busy]), 0);
    assert_eq!(outcome.total("a", "halt_poll_ns"), 0.0);
    let idle = outcome.summary.pool_idle_ns;
    assert_eq!(idle, 0);
    assert!(outcome.total("b", "busy_ns") > 0.49e9);
}

#[test]
fn a_guest_sees_as_steal_what_it_waits() {
    let of = |name| guest(name, 1, plain_kvm(), loops(1));
    let outcome = run(&linux("core:1", vec![of("a"), of("b")]), 0);
    for name in ["a", "b"] {
        let steal = outcome.total(name, "steal_ns");
        let busy = outcome.total(name, "busy_ns");
        assert!(
            (steal + busy - 1e9).abs() < 10e6,
            "{name}: {steal} + {busy}"
        );
        assert!((busy - 0.5e9).abs() < 0.01e9, "{name}: {busy}");
    }
}

/// A guest with a lock on two processors, one of which it shares with another guest: one sibling
/// runs all the time, the other half of it.
fn contended(kvm: Kvm) -> Outcome {
    let pinned = |cpus: u16, kvm| HostThreads {
        pins: (0..cpus).map(|cpu| vec![cpu]).collect(),
        ..of_kvm(kvm)
    };
    let mut locking = group("a", threads(2, 100, pinned(2, kvm)), loops(2));
    locking.profile.lock_share = 0.3;
    locking.profile.lock_hold_instructions = 5_000.0;
    let others = group("b", threads(1, 100, pinned(1, plain_kvm())), loops(1));
    let mut spec = linux("core:2", vec![locking, others]);
    spec.duration_ns = 4 * SECOND;
    run(&spec, 0)
}

#[test]
fn a_preempted_holder_makes_siblings_spin_and_directed_yield_helps() {
    let with = |holders, pause_loop, directed_yield| {
        contended(Kvm {
            lock_holder_preemption: holders,
            pause_loop,
            directed_yield,
            ..plain_kvm()
        })
    };
    let spun = |outcome: &Outcome| outcome.total("a", "book_spin");
    let window = Some(PauseLoop::default());
    let (never, spinning, yielding) = (
        with(false, None, false),
        with(true, None, false),
        with(true, window, true),
    );
    // What is spun on a holder that runs stays as it is.
    let idly = |outcome: &Outcome| spun(outcome) - spun(&never);
    assert!(idly(&spinning) > spun(&never), "{}", idly(&spinning));
    assert!(
        idly(&yielding) < 0.8 * idly(&spinning),
        "{}",
        idly(&yielding)
    );
    assert_eq!(spinning.total("a", "pause_exits"), 0.0);
    assert!(yielding.total("a", "directed_yields") > 0.0);
    assert!(yielding.total("a", "pause_exits") >= yielding.total("a", "directed_yields"));
}

/// Eight of ours, with a lock, beside eight of others on four processors.
fn crowded(lock_share: f64, kvm: Kvm) -> Outcome {
    let mut locking = guest("a", 8, kvm, loops(8));
    locking.profile.lock_share = lock_share;
    locking.profile.lock_hold_instructions = 5_000.0;
    locking.profile.lock_kind = LockKind::TestAndSet;
    let others = guest("b", 8, plain_kvm(), loops(8));
    let mut spec = linux("core:4", vec![locking, others]);
    spec.duration_ns = 2 * SECOND;
    run(&spec, 0)
}

#[test]
fn who_yields_gets_on_and_takes_nothing_from_others() {
    // However much of the time the lock is held: that it is lost costs, that it is given helps.
    for share in [0.1, 0.6, 0.99] {
        let with = |lock_holder_preemption, directed_yield| {
            crowded(
                share,
                Kvm {
                    lock_holder_preemption,
                    directed_yield,
                    ..plain_kvm()
                },
            )
        };
        let done = |outcome: &Outcome| outcome.total("a", "instructions");
        let (never, spinning, yielding) = (with(false, false), with(true, false), with(true, true));
        assert!(done(&spinning) < 0.7 * done(&never), "{share}");
        assert!(done(&yielding) > 1.2 * done(&spinning), "{share}");
        assert!(done(&yielding) < done(&never), "{share}");
        for outcome in [&spinning, &yielding] {
            let busy = outcome.total("a", "busy_ns");
            assert!(busy < 4.02e9, "{share}: {busy} of half of 8 s");
        }
        // A yielder is behind by its slice, so that others have its time.
        assert!(
            yielding.total("a", "busy_ns") < spinning.total("a", "busy_ns"),
            "{share}"
        );
    }
}

#[test]
fn the_sibling_that_is_yielded_to_is_next() {
    // Two of ours and one of others on one processor: the holder comes back at once, not after the
    // others' turn of 4 ms.
    let with = |directed_yield| {
        let kvm = Kvm {
            directed_yield,
            ..plain_kvm()
        };
        let mut locking = guest("a", 2, kvm, loops(2));
        locking.profile.lock_share = 0.9;
        locking.profile.lock_hold_instructions = 5_000.0;
        let others = guest("b", 1, plain_kvm(), loops(1));
        run(&linux("core:1", vec![locking, others]), 0)
    };
    let spun = |outcome: &Outcome| outcome.total("a", "book_spin");
    let (spinning, yielding) = (with(false), with(true));
    assert!(spun(&spinning) > 0.2e9, "{}", spun(&spinning));
    let exits = yielding.total("a", "pause_exits");
    // A window of 4096 cycles at 1 GHz before each exit, and little else.
    assert!(
        spun(&yielding) < 2.0 * 4_096.0 * exits,
        "{} in {exits} exits",
        spun(&yielding)
    );
}

#[test]
fn a_poller_that_its_quota_stops_finds_the_work_that_came_meanwhile() {
    // Polls of 5 ms at ticks of 4 ms: a quota often runs out while its guest polls.
    let polling = Kvm {
        halt_poll_ns: 5 * MS,
        halt_poll_grow_start_ns: 100_000,
        ..plain_kvm()
    };
    let mut host = of_kvm(polling);
    host.cgroup = Some(0);
    let work = transactions(400.0, Distribution::Exponential);
    let mut one = group("a", threads(2, 100, host), work);
    one.profile.instructions_per_unit = 100_000.0;
    let mut spec = linux("core:2", vec![one]);
    spec.cgroups = vec![cgroup("g", 100)];
    spec.cgroups[0].quota_ns = Some(20 * MS);
    spec.duration_ns = 4 * SECOND;
    let outcome = run(&spec, 0);
    let arrived = outcome.total("a", "tx_arrived");
    let done = outcome.total("a", "tx_done");
    // Of the last period something may be left: 40 come in it.
    assert!(done > arrived - 80.0, "{done} of {arrived}");
}

/// A sleeping lock under KVM: a virtual processor that has lost its processor with it holds the
/// others up by itself, and nobody spins for it.
#[test]
fn guests_that_sleep_for_a_lock_halt_meanwhile() {
    let with = |lock_kind, n| {
        let mut one = guest("a", 8, plain_kvm(), Workload::Warehouses { count: 8 });
        one.profile.lock_kind = lock_kind;
        one.profile.lock_share = 0.4;
        one.profile.lock_hold_instructions = 5_000.0;
        one.profile.instructions_per_unit = 1e5;
        let others = guest("b", n, plain_kvm(), loops(u32::from(n)));
        let mut spec = linux("core:8", vec![one, others]);
        spec.duration_ns = 2 * SECOND;
        let outcome = run(&spec, 0);
        (
            outcome.total("a", "tx_done") * 1e5 / 2e9,
            outcome.total("a", "busy_ns") / 2e9,
        )
    };
    let (_, spinning) = with(LockKind::Queue, 1);
    let [few, more, most] = [1, 4, 8].map(|others| with(LockKind::Sleeping, others));
    assert!(spinning > 7.0 && few.1 < 2.5, "{spinning} {few:?}");
    // Nobody spins, and yet nothing gets done while the holder waits for a processor.
    assert!(few.0 < 2.5 && more.0 < 0.9 * few.0 && most.0 < 0.95 * more.0);
    assert!(most.0 > 0.8, "{most:?}");
}

/// What each of so many guests does on average, which have as many virtual processors as there are
/// processors and a lock [instructions a ns].
fn beside(guests: usize, kind: LockKind, lock_share: f64, helped: bool) -> f64 {
    let kvm = Kvm {
        pause_loop: helped.then(PauseLoop::default),
        directed_yield: helped,
        ..plain_kvm()
    };
    let one = |at: usize| {
        let mut one = guest(&format!("g{at}"), 8, kvm.clone(), loops(8));
        one.profile.lock_share = lock_share;
        one.profile.lock_hold_instructions = 2_000.0;
        one.profile.lock_kind = kind;
        one
    };
    let mut spec = linux("core:8", (0..guests).map(one).collect());
    spec.duration_ns = 2 * SECOND;
    let outcome = run(&spec, 0);
    let each = (0..guests).map(|at| outcome.total(&format!("g{at}"), "instructions"));
    each.sum::<f64>() / guests as f64 / 2e9
}

#[test]
fn a_guest_more_never_makes_another_one_faster() {
    use LockKind::{Queue, TestAndSet, Ticket};
    for lock_share in [0.01, 0.1, 0.3] {
        for (kind, helped) in [Queue, Ticket, TestAndSet]
            .into_iter()
            .flat_map(|kind| [(kind, false), (kind, true)])
        {
            let [one, two, three] = [1, 2, 3].map(|n| beside(n, kind, lock_share, helped));
            let told = format!("{kind:?} {lock_share} {helped}: {one} {two} {three}");
            assert!(two < 0.9 * one && three < 0.9 * two, "{told}");
            // Nobody does more than the part of the processors that is due, but for what others
            // give away while they wait.
            assert!(two < 0.51 * 8.0 && three < 0.35 * 8.0, "{told}");
        }
    }
}

/// A queue waits for each of those that have lost their processor; a test-and-set lock for its
/// holder alone. A yield finds either.
#[test]
fn a_lock_that_goes_round_in_order_waits_for_who_is_away() {
    use LockKind::{Queue, TestAndSet, Ticket};
    for (guests, worse) in [(2, 0.3), (3, 0.15)] {
        let [queue, ticket, set] =
            [Queue, Ticket, TestAndSet].map(|kind| beside(guests, kind, 0.1, false));
        assert!(queue < worse * set, "{guests}: {queue} {set}");
        assert!((ticket / queue - 1.0).abs() < 0.02, "{ticket} {queue}");
        let helped = beside(guests, Queue, 0.1, true);
        assert!(helped > 4.0 * queue, "{guests}: {helped} {queue}");
    }
    let [queue, set] = [Queue, TestAndSet].map(|kind| beside(3, kind, 1e-5, false));
    assert!((queue / set - 1.0).abs() < 0.02, "{queue} {set}");
}
