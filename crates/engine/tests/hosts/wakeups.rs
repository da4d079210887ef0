//! Threads of a guest that wake each other: what a virtual processor's way out of idling and the
//! interrupt to another one take. Each expected figure is worked out beside its test.

use crate::common::host::{group, host_machine, host_spec, of_kvm, on_off, plain_kvm, threads};
use crate::common::{loops, run, SECOND};
use homenode_engine::spec::{
    Distribution, HostThreads, Kvm, Partition, Policy, Spec, Virtualized, Workload,
};

fn guest(name: &str, vcpus: u16, kvm: Kvm, workload: Workload) -> Partition {
    group(name, threads(vcpus, 100, of_kvm(kvm)), workload)
}

fn linux(machine: &str, partitions: Vec<Partition>) -> Spec {
    let mut spec = host_spec(host_machine(Policy::Linux, machine), vec![], partitions);
    spec.duration_ns = SECOND;
    spec
}

/// A guest's client and server on so many virtual processors, which poll so long when they halt and
/// whose host takes so long to wake one on an idle processor: transactions of 40 us of work and two
/// messages, and times that a virtual processor slept, in a second.
fn pair(vcpus: u16, halt_poll_ns: u64, wake_idle_ns: u64) -> (f64, f64) {
    pair_of(vcpus, polling(halt_poll_ns, false), wake_idle_ns)
}

/// Whose ways out and in take 2 and 3 us, and who polls so long, in the guest or on the host.
fn polling(halt_poll_ns: u64, polls_in_guest: bool) -> Kvm {
    let mut kvm = Kvm {
        exit_ns: 2_000,
        entry_ns: 3_000,
        halt_poll_ns,
        polls_in_guest,
        ..plain_kvm()
    };
    if polls_in_guest {
        // cpuidle-haltpoll's first window.
        kvm.halt_poll_grow_start_ns = 50_000;
    }
    kvm
}

fn pair_of(vcpus: u16, kvm: Kvm, wake_idle_ns: u64) -> (f64, f64) {
    let one = guest("a", vcpus, kvm, exchange());
    exchanging(one, (2, wake_idle_ns, 0))
}

/// The same of whoever it is, on so many processors that are out of idling after so long, where a
/// switch takes so long [ns].
fn exchanging(mut one: Partition, (cores, wake_idle_ns, switch_ns): (u16, u64, u64)) -> (f64, f64) {
    one.profile.instructions_per_unit = 40_000.0;
    let mut spec = linux(&format!("core:{cores}"), vec![one]);
    let kernel = &mut spec.machine.hypervisor.linux;
    (kernel.wake_idle_ns, kernel.switch_ns) = (wake_idle_ns, switch_ns);
    let outcome = run(&spec, 0);
    (outcome.total("a", "tx_done"), outcome.total("a", "nvcsw"))
}

fn exchange() -> Workload {
    Workload::Pairs {
        count: 1,
        exchanges: 1,
        client_share: 0.5,
        think_ns: 0,
        think: Distribution::Constant,
        burst_work: Distribution::Constant,
        message_bytes: 0,
        generator: None,
    }
}

#[test]
fn messages_wake_a_virtual_processor_that_has_halted() {
    // On one virtual processor the two take turns, and it never halts.
    let alone = pair(1, 0, 4_000);
    assert!(
        alone.1 < 10.0 && (alone.0 - 25_000.0).abs() < 50.0,
        "{alone:?}"
    );
    // On two each waits for the other: two halts a transaction, with the way in each, and the time
    // until an idle processor runs. The way out is over by then.
    for (wake_idle_ns, due) in [(0, 1e6 / 46.0), (5_000, 1e6 / 56.0)] {
        let halting = pair(2, 0, wake_idle_ns);
        assert!((halting.1 / halting.0 - 2.0).abs() < 0.01, "{halting:?}");
        assert!((halting.0 / due - 1.0).abs() < 0.01, "{halting:?}");
    }
    // Who polls has not gone to sleep: there is only the way in.
    let polling = pair(2, 200_000, 5_000);
    assert!(
        polling.1 < 20.0 && (polling.0 * 46.0 / 1e6 - 1.0).abs() < 0.01,
        "{polling:?}"
    );
}

/// A guest that polls by itself has not left it: nothing is due of the way out and in.
#[test]
fn who_polls_in_the_guest_finds_work_at_once() {
    let found = pair_of(2, polling(200_000, true), 5_000);
    assert!(
        found.1 < 20.0 && (found.0 / 25_000.0 - 1.0).abs() < 0.01,
        "{found:?}"
    );
    // Shorter than what is waited for, it only puts off the halt.
    let [short, never] = [10_000, 0].map(|ns| pair_of(2, polling(ns, true), 5_000));
    assert!(
        short.0 <= never.0 && short.1 > 1.9 * short.0,
        "{short:?} {never:?}"
    );
}

/// To its host one that polls in the guest is at work: neighbours wait for it, but not for one that
/// the host polls for.
#[test]
fn who_polls_in_the_guest_makes_room_for_nobody() {
    let left = |polls_in_guest| {
        let kvm = Kvm {
            halt_poll_grow_start_ns: 200_000,
            ..polling(200_000, polls_in_guest)
        };
        let mut napping = guest("a", 1, kvm, loops(1));
        on_off(1, 50_000.0, 150_000, &mut napping);
        let busy = guest("b", 1, plain_kvm(), loops(1));
        let outcome = run(&linux("core:1", vec![napping, busy]), 0);
        assert_eq!(outcome.total("a", "halt_poll_ns"), 0.0);
        ["a", "b"].map(|name| outcome.total(name, "instructions"))
    };
    let [[napper, beside_host], [poller, beside_guest]] = [false, true].map(left);
    assert!(
        beside_guest < 0.9 * beside_host,
        "{beside_guest} {beside_host}"
    );
    assert!(poller < 1.1 * napper, "{poller} {napper}");
}

/// A guest's kernel takes as long as its host's from one thread to another, whichever way it waits:
/// with 1.5 us a switch each of two messages costs that, beside what the way in and out costs.
#[test]
fn a_guest_pays_for_its_own_switches_as_its_host_does() {
    let us = |pair: (f64, f64)| 1e6 / pair.0;
    let of = |vcpus, kvm| guest("a", vcpus, kvm, exchange());
    let processes = || group("a", threads(2, 100, HostThreads::default()), exchange());
    let close = |found: f64, due: f64| assert!((found - due).abs() < 0.1, "{found} for {due}");
    // On one processor, in a guest or not, a message is a switch.
    close(us(exchanging(of(1, plain_kvm()), (1, 5_000, 1_500))), 43.0);
    close(us(exchanging(processes(), (1, 5_000, 1_500))), 43.0);
    // On two, where the guest polls, its host does, or nobody: 3 us in, the host's switch.
    let ways = [
        (polling(200_000, true), 43.0),
        (polling(200_000, false), 49.0),
        (polling(0, false), 52.0 + 10.0),
    ];
    for (kvm, due) in ways {
        let found = us(exchanging(of(2, kvm.clone()), (2, 5_000, 1_500)));
        close(found, due);
        // No guest's pair is faster than one of its host that finds its processors awake.
        let bare = us(exchanging(processes(), (2, 0, 1_500)));
        assert!(found > bare - 0.1, "{found} {bare}");
        // And switches that take longer never make anybody faster.
        let slower = us(exchanging(of(2, kvm), (2, 5_000, 3_000)));
        assert!(slower > found + 2.0, "{slower} {found}");
    }
}

/// A guest with one thread goes on with it.
#[test]
fn a_guest_that_never_switches_pays_nothing() {
    let done = |switch_ns: u64| {
        let mut spec = linux("core:1", vec![guest("a", 1, plain_kvm(), loops(1))]);
        spec.machine.hypervisor.linux.switch_ns = switch_ns;
        run(&spec, 0).total("a", "instructions")
    };
    let (free, paid) = (done(0), done(1_500));
    assert!(free - paid < 3_100.0, "{free} {paid}");
}

/// Exits of the guest that take so long, and whether interrupts need any on their receiver's side.
fn exits(exit_ns: u64, posted_interrupts: bool) -> Virtualized {
    Virtualized {
        page_bytes: 4096,
        exit_ns,
        timer_exits: 0,
        posted_interrupts,
    }
}

/// A transaction of 40 us of work and two messages [us], and processors used.
fn between(vcpus: u16, kvm: Kvm, by: Virtualized) -> (f64, f64) {
    let host = HostThreads {
        virtualized: Some(Box::new(by)),
        ..of_kvm(kvm)
    };
    let mut one = group("a", threads(vcpus, 100, host), exchange());
    one.profile.instructions_per_unit = 40_000.0;
    let mut spec = linux("core:2", vec![one]);
    spec.machine.hypervisor.linux.wake_idle_ns = 5_000;
    spec.machine.hypervisor.linux.switch_ns = 0;
    let outcome = run(&spec, 0);
    let [done, busy] = ["tx_done", "busy_ns"].map(|of| outcome.total("a", of));
    (1e6 / done, busy / 1e9)
}

fn near(found: f64, due: f64) {
    assert!((found - due).abs() < 0.1, "{found} for {due}");
}

fn idling(kvm: Kvm, idle_exits: u32) -> Kvm {
    Kvm { idle_exits, ..kvm }
}

/// The sender leaves its guest, 4 us; then the other one's way in, 3 us, and where it slept 5 us
/// until an idle processor runs it; its tick, set anew by an exit; an exit for the end of the
/// interrupt. Its own way out, 2 us and the exit for its tick, is over by then.
#[test]
fn each_step_of_a_wake_up_is_paid_for_once() {
    for (halt_poll_ns, sleeps) in [(200_000, 0.0), (0, 5.0)] {
        for (idle_exits, tick) in [(0, 0.0), (1, 4.0)] {
            for (posted, end) in [(true, 0.0), (false, 4.0)] {
                let kvm = idling(polling(halt_poll_ns, false), idle_exits);
                let (lasts, cores) = between(2, kvm, exits(4_000, posted));
                let message = 20.0 + 4.0 + sleeps + 3.0 + tick + end;
                near(lasts, 2.0 * message);
                // Who sleeps uses no processor meanwhile, but for its way out.
                let used = if halt_poll_ns > 0 {
                    2.0
                } else {
                    (message - sleeps + 2.0 + tick) / message
                };
                assert!((cores - used).abs() < 0.01, "{cores} {used}");
            }
        }
    }
}

/// Each is asked for p + 20 us after it has halted, where p is what waking the other took: what is
/// left of 30 us, and 3 us in. p = 30 - (p + 20) + 3.
#[test]
fn who_is_found_on_its_way_out_finishes_it() {
    for halt_poll_ns in [200_000, 0] {
        let far = Kvm {
            exit_ns: 30_000,
            ..polling(halt_poll_ns, false)
        };
        near(between(2, far, exits(0, true)).0, 2.0 * 26.5);
    }
}

#[test]
fn exits_never_make_a_message_faster_and_one_virtual_processor_needs_none() {
    let ways = [(200_000, true), (200_000, false), (0, false)];
    let mut before = Vec::new();
    for exit_ns in [0, 1_000, 3_000] {
        for idle_exits in [0, 1, 2] {
            let of = |posted| {
                ways.map(|(poll, guest)| {
                    between(
                        2,
                        idling(polling(poll, guest), idle_exits),
                        exits(exit_ns, posted),
                    )
                })
            };
            let [posted, not] = [true, false].map(of);
            // The guest's own polling needs no exit, its host's all but the way through its
            // scheduler; processors used are the other way round.
            for all in [posted, not] {
                assert!(
                    all.is_sorted_by(|a, b| a.0 < b.0 && a.1 > b.1 - 1e-3),
                    "{all:?}"
                );
            }
            for (one, other) in posted.iter().zip(&not) {
                assert!(one.0 < other.0 + 1e-6, "{posted:?} {not:?}");
            }
            for (now, of) in posted.iter().zip(&before) {
                assert!(now.0 > of - 1e-6, "{posted:?} {before:?}");
            }
            if idle_exits == 0 {
                before = posted.map(|one| one.0).to_vec();
            }
            for (poll, guest) in ways {
                let kvm = idling(polling(poll, guest), idle_exits);
                near(between(1, kvm, exits(exit_ns, false)).0, 40.0);
            }
        }
    }
}

/// On the host itself the same threads are there 5 us after a message.
#[test]
fn a_guest_is_slower_than_its_host_that_idles_alike() {
    let mut spec = linux(
        "core:2",
        vec![group(
            "a",
            threads(2, 100, HostThreads::default()),
            exchange(),
        )],
    );
    spec.partitions[0].profile.instructions_per_unit = 40_000.0;
    spec.machine.hypervisor.linux.wake_idle_ns = 5_000;
    spec.machine.hypervisor.linux.switch_ns = 0;
    let bare = 1e6 / run(&spec, 0).total("a", "tx_done");
    near(bare, 50.0);
    let kvm = idling(polling(0, false), 1);
    let [posted, not] = [true, false].map(|posted| between(2, kvm.clone(), exits(1_000, posted)).0);
    assert!(bare < posted && posted < not, "{bare} {posted} {not}");
}

/// A guest's polling that was in vain is followed by its way out, which others need not wait for.
#[test]
fn who_halts_after_the_guest_has_polled_leaves_as_others_do() {
    let kvm = Kvm {
        halt_poll_grow: 1,
        halt_poll_grow_start_ns: 10_000,
        ..polling(200_000, true)
    };
    let (lasts, _) = between(2, idling(kvm, 1), exits(4_000, true));
    // As nobody polls: 10 us of polling are over long before the message comes.
    near(lasts, 2.0 * (20.0 + 4.0 + 5.0 + 3.0 + 4.0));
}
