//! Pairs of threads that wake each other on a Linux host, and what wake-ups cost: each expected
//! figure is worked out beside its test.

use crate::common::host::{
    cgroup, group, host_machine, host_spec, of_cgroup, on_off, share, threads,
};
use crate::common::{loops, quiet_guest, run, Outcome, SECOND};
use homenode_engine::sim::check;
use homenode_engine::spec::{
    Cgroup, Distribution, Generator, Guest, HostThreads, Linux, LockKind, Partition, Policy,
    Preemption, Processors, Spec, StreamPath, Workload,
};

const US: f64 = 1_000.0;
/// Messages of a transaction: ten requests with their answers.
const MESSAGES: f64 = 20.0;
/// Work of a transaction [ns]: eleven turns of the client, ten of the server, 10 us each.
const WORK: f64 = 210.0 * US;

fn pairs(name: &str, cgroup: u16, count: u16) -> Partition {
    let workload = Workload::Pairs {
        count: u32::from(count),
        exchanges: 10,
        client_share: 11.0 / 21.0,
        think_ns: 0,
        think: Distribution::Constant,
        burst_work: Distribution::Constant,
        message_bytes: 0,
        generator: None,
    };
    let mut one = group(name, threads(2 * count, 100, of_cgroup(cgroup)), workload);
    one.profile.instructions_per_unit = WORK;
    one
}

fn host(cores: &str, linux: Linux, partitions: Vec<Partition>) -> Spec {
    let groups: Vec<Cgroup> = partitions.iter().map(|p| cgroup(&p.name, 100)).collect();
    let mut machine = host_machine(Policy::Linux, cores);
    machine.hypervisor.linux = linux;
    let mut spec = host_spec(machine, groups, partitions);
    spec.duration_ns = SECOND;
    spec
}

/// A kernel whose switches cost nothing, and wake-ups on other processors this.
fn waking(interrupt_us: u64, idle_us: u64) -> Linux {
    Linux {
        switch_ns: 0,
        wake_interrupt_ns: interrupt_us * 1_000,
        wake_idle_ns: idle_us * 1_000,
        ..Linux::default()
    }
}

/// Processor time and length of a transaction [ns].
fn transaction(outcome: &Outcome) -> (f64, f64) {
    let done = outcome.total("a", "tx_done");
    (outcome.total("a", "busy_ns") / done, 1e9 / done)
}

fn close(value: f64, expected: f64) {
    let off = value / expected - 1.0;
    assert!(off.abs() <= 0.005, "{value} for {expected}");
}

#[test]
fn on_one_processor_a_message_is_a_switch_and_no_more() {
    let outcome = run(&host("core:1", waking(30, 40), vec![pairs("a", 0, 1)]), 0);
    let (cpu, lasts) = transaction(&outcome);
    close(cpu, WORK);
    close(lasts, WORK);
    let switches = outcome.total("a", "nvcsw") + outcome.total("a", "nivcsw");
    close(switches / outcome.total("a", "tx_done"), MESSAGES);
}

#[test]
fn on_two_a_message_costs_the_waker_an_interrupt_and_takes_the_way_out_of_idling() {
    let outcome = run(&host("core:2", waking(30, 40), vec![pairs("a", 0, 1)]), 0);
    let (cpu, lasts) = transaction(&outcome);
    close(cpu, WORK + MESSAGES * 30.0 * US);
    // The sender is through with the interrupt before the other one runs: it is not in the length.
    close(lasts, WORK + MESSAGES * 40.0 * US);
    close(
        outcome.total("a", "nvcsw") / outcome.total("a", "tx_done"),
        MESSAGES,
    );
}

#[test]
fn an_answer_that_comes_while_the_sender_still_sends_wakes_nobody() {
    // The server starts 5 us after the request and answers 10 us later; the client, which sends for
    // 50 us, finds the answer without having slept. Only requests interrupt.
    let outcome = run(&host("core:2", waking(50, 5), vec![pairs("a", 0, 1)]), 0);
    let (cpu, lasts) = transaction(&outcome);
    close(cpu, WORK + MESSAGES / 2.0 * 50.0 * US);
    // The client's turns and its interrupts; the server works beside them.
    close(lasts, 110.0 * US + MESSAGES / 2.0 * 50.0 * US);
}

#[test]
fn an_answer_at_the_instant_at_which_the_sender_is_through_ends_too() {
    // 5 us until the server starts and 10 us of its work: just as long as the client sends.
    let outcome = run(&host("core:2", waking(15, 5), vec![pairs("a", 0, 1)]), 0);
    let (cpu, _) = transaction(&outcome);
    assert!(cpu > 1.6 * WORK && cpu < 2.5 * WORK, "{cpu}");
}

#[test]
fn a_processor_that_still_polls_is_woken_for_nothing() {
    let polls = |us: u64| Linux {
        idle_poll_ns: us * 1_000,
        ..waking(30, 40)
    };
    // Each idles for 10 us while the other works, the server for 20 us between two transactions.
    let (cpu, lasts) = transaction(&run(&host("core:2", polls(25), vec![pairs("a", 0, 1)]), 0));
    close(cpu, WORK);
    close(lasts, WORK);
    let halted = run(&host("core:2", polls(5), vec![pairs("a", 0, 1)]), 0);
    close(transaction(&halted).0, WORK + MESSAGES * 30.0 * US);
}

#[test]
fn busy_processors_are_hardly_interrupted() {
    let two = run(&host("core:2", waking(30, 40), vec![pairs("a", 0, 2)]), 0);
    let four = run(&host("core:2", waking(30, 40), vec![pairs("a", 0, 4)]), 0);
    let (cpu, _) = transaction(&four);
    assert!(cpu < WORK * 1.2, "{cpu}");
    // Whoever is woken there runs in place of his waker.
    assert!(transaction(&two).0 < WORK * 1.2, "{:?}", transaction(&two));
    assert!(four.total("a", "busy_ns") > 1.98e9);
}

#[test]
fn thinking_clients_are_woken_by_their_timers() {
    let mut one = pairs("a", 0, 1);
    if let Workload::Pairs { think_ns, .. } = &mut one.workload {
        *think_ns = 1_000_000;
    }
    let (cpu, lasts) = transaction(&run(&host("core:2", waking(30, 40), vec![one]), 0));
    close(cpu, WORK + MESSAGES * 30.0 * US);
    close(lasts, WORK + MESSAGES * 40.0 * US + 1000.0 * US);
}

#[test]
fn time_is_neither_lost_nor_made() {
    for seed in 0..4 {
        let mut mixed = [pairs("a", 0, 3), pairs("b", 1, 2), pairs("c", 2, 1)];
        for one in &mut mixed {
            if let Workload::Pairs { burst_work, .. } = &mut one.workload {
                *burst_work = Distribution::Exponential;
            }
        }
        let fair = Linux {
            reweigh_in_sums: false,
            ..waking(7, 11)
        };
        let spec = host("core:3", fair, mixed.to_vec());
        let outcome = run(&spec, seed);
        let busy: f64 = ["a", "b", "c"]
            .iter()
            .map(|name| outcome.total(name, "busy_ns"))
            .sum();
        assert!(busy > 2e9 && busy <= 3e9, "{busy}");
        for name in ["a", "b", "c"] {
            let arrived = outcome.total(name, "tx_arrived");
            let done = outcome.total(name, "tx_done");
            assert!(done > 100.0 && arrived - done <= 3.0, "{arrived} {done}");
        }
    }
}

/// Share of four pairs beside a spinner on each of two processors, groups of equal weight.
fn share_beside_spinners(reweigh_in_sums: bool, cores: &str) -> f64 {
    let linux = Linux {
        reweigh_in_sums,
        ..waking(0, 0)
    };
    let spinners = group("b", threads(2, 100, of_cgroup(1)), loops(2));
    let outcome = run(&host(cores, linux, vec![pairs("a", 0, 4), spinners]), 0);
    share(&outcome, "a")
}

#[test]
fn placing_a_runner_anew_by_a_new_weight_starves_those_beside_groups_that_often_sleep() {
    // A group's weight on a processor changes whenever one of its threads sleeps. Linux 6.13 to
    // 6.19 lets what it is owed grow each time.
    assert!((share_beside_spinners(false, "core:2") - 0.5).abs() < 0.03);
    assert!(share_beside_spinners(true, "core:2") > 0.9);
    // On one processor a group has its whole weight there, which never changes.
    assert!((share_beside_spinners(true, "core:1") - 0.5).abs() < 0.03);
}

fn refused(spec: &Spec) -> String {
    check(spec).expect_err("it is refused").to_string()
}

#[test]
fn pairs_of_plain_processes_are_two_each() {
    let mut odd = pairs("a", 0, 1);
    if let Processors::Shared { r#virtual, .. } = &mut odd.processors {
        *r#virtual = 3;
    }
    let told = refused(&host("core:2", waking(0, 0), vec![odd]));
    assert!(told.contains("two for each pair"), "{told}");
    let mut folding = pairs("a", 0, 1);
    folding.guest = Guest::Aix(quiet_guest());
    let told = refused(&host("core:2", waking(0, 0), vec![folding]));
    assert!(told.contains("choose another guest"), "{told}");
    let mut mine = host("core:2", waking(0, 0), vec![pairs("a", 0, 1)]);
    mine.machine.hypervisor.linux.wake_idle_ns = 2_000_000;
    assert!(refused(&mine).contains("wake_idle_ns"));
}

#[test]
fn pairs_that_want_one_lock_take_turns_and_lose_no_message() {
    let with = |lock_share| {
        let mut one = pairs("a", 0, 8);
        one.profile.lock_kind = LockKind::Sleeping;
        one.profile.lock_share = lock_share;
        one.profile.lock_hold_instructions = 2_000.0;
        one.profile.lock_switch_instructions = 0.0;
        let outcome = run(&host("core:16", waking(0, 0), vec![one]), 0);
        outcome.total("a", "tx_done") * WORK / 1e9
    };
    // Eight turns at a time, one of them with the lock: never more than it can serve.
    let [free, seldom, often] = [0.0, 0.02, 0.5].map(with);
    assert!((free - 8.0).abs() < 0.01, "{free}");
    assert!(seldom > 0.97 * free && seldom < free, "{seldom}");
    assert!((often * 0.5 - 1.0).abs() < 0.02, "{often}");
}

/// A pair whose messages bring so much, with its client on processor 0 of two nodes of two chips of
/// two, and its server on another.
fn carrying(bytes: u64, server_on: u16, change: impl Fn(&mut Spec)) -> Outcome {
    let mut one = pairs("a", 0, 1);
    if let Workload::Pairs { message_bytes, .. } = &mut one.workload {
        *message_bytes = bytes;
    }
    let host_of = |pins: [u16; 2]| HostThreads {
        pins: pins.iter().map(|cpu| vec![*cpu]).collect(),
        ..of_cgroup(0)
    };
    one.processors = threads(2, 100, host_of([0, server_on]));
    one.profile.overlap = 0.0;
    let mut spec = host("node:2 chip:2 core:2", waking(0, 0), vec![one]);
    change(&mut spec);
    run(&spec, 0)
}

fn lasts(bytes: u64, server_on: u16, change: impl Fn(&mut Spec)) -> f64 {
    transaction(&carrying(bytes, server_on, change)).1
}

#[test]
fn a_message_is_copied_twice_and_fetched_from_where_it_was_written() {
    // 32 lines of 128 bytes; 16 bytes an instruction, a nanosecond each.
    let (bytes, copies) = (4096, 2.0 * MESSAGES * 4096.0 / 16.0);
    let same = |_: &mut Spec| {};
    close(lasts(0, 4, same), WORK);
    close(lasts(bytes, 0, same), WORK + copies);
    for (server_on, latency_ns) in [(1, 40.0), (2, 100.0), (4, 200.0)] {
        let fetched = MESSAGES * 32.0 * latency_ns;
        close(lasts(bytes, server_on, same), WORK + copies + fetched);
    }
}

#[test]
fn the_wait_for_a_message_is_booked_where_its_lines_came_from() {
    let from = [(1, "chip", 40.0), (2, "near", 100.0), (4, "far", 200.0)];
    for (server_on, place, latency_ns) in from {
        let outcome = carrying(4096, server_on, |_| {});
        let messages = MESSAGES * outcome.total("a", "tx_done");
        let waited = outcome.total("a", &format!("book_cache_{place}"));
        close(waited, messages * 32.0 * latency_ns);
        let lines = outcome.total("a", &format!("lines_cache_{place}"));
        close(lines, messages * 32.0);
        assert_eq!(outcome.total("a", "book_reload"), 0.0);
    }
}

#[test]
fn lines_after_the_first_come_as_fast_as_a_core_gets_data_in_order() {
    let path = |lines, transfer_ns| {
        move |spec: &mut Spec| spec.machine.streams = Some(StreamPath { lines, transfer_ns })
    };
    let copies = 2.0 * MESSAGES * 4096.0 / 16.0;
    let of = |each_ns: f64| WORK + copies + MESSAGES * (200.0 + 31.0 * each_ns);
    close(lasts(4096, 4, path(10.0, 5.0)), of(20.0));
    close(lasts(4096, 4, path(10.0, 25.0)), of(25.0));
    close(lasts(4096, 4, path(0.0, 5.0)), of(200.0));
    // A single line has nothing to come after it.
    let single = WORK + 2.0 * MESSAGES * 8.0 + MESSAGES * 200.0;
    close(lasts(128, 4, path(10.0, 5.0)), single);
}

#[test]
fn threads_of_a_core_hand_messages_over_in_its_caches() {
    let smt = |spec: &mut Spec| {
        spec.machine.threads_per_core = 2;
        spec.machine.smt.gain = vec![1.0, 1.3];
        spec.machine.hypervisor.siblings = 2;
    };
    assert!(lasts(65_536, 1, smt) < lasts(65_536, 2, smt));
    assert!(lasts(65_536, 2, smt) < lasts(65_536, 4, smt));
}

#[test]
fn a_message_that_is_too_large_is_refused() {
    let mut one = pairs("a", 0, 1);
    if let Workload::Pairs { message_bytes, .. } = &mut one.workload {
        *message_bytes = 1 << 31;
    }
    let told = refused(&host("core:2", waking(0, 0), vec![one]));
    assert!(told.contains("message_bytes"), "{told}");
}

/// One whose pairs work for 210 us a transaction; a generator makes so many a second in turns of
/// 20 us.
fn generated(count: u16, rate_per_s: f64) -> Partition {
    let mut one = pairs("a", 0, count);
    one.processors = threads(2 * count + 1, 100, of_cgroup(0));
    if let Workload::Pairs { generator, .. } = &mut one.workload {
        *generator = Some(Generator {
            rate_per_s,
            instructions: 20.0 * US,
        });
    }
    one
}

#[test]
fn a_generator_is_woken_by_the_clock_and_wakes_a_client_for_each_transaction() {
    // So rare that none meets another. Each has its turn, which ends before the client begins, and
    // where it wakes the client one interrupt more than the messages.
    for (cores, sent) in [("core:1", 0.0), ("core:3", 1.0)] {
        let mut spec = host(cores, waking(30, 40), vec![generated(1, 4.0)]);
        spec.duration_ns = 100 * SECOND;
        let outcome = run(&spec, 0);
        let done = outcome.total("a", "tx_done");
        assert!((done / 100.0 - 4.0).abs() < 0.8, "{done}");
        let cpu = outcome.total("a", "busy_ns") / done;
        let messages = MESSAGES * sent;
        close(cpu, WORK + 20.0 * US + (messages + sent) * 30.0 * US);
        // From the end of the generator's turn on; it sends while the client comes out of idling.
        let response = outcome.total("a", "response_ns") / done;
        close(response, WORK + (messages + sent) * 40.0 * US);
    }
}

#[test]
fn transactions_come_at_the_rate() {
    // One processor that is busy for .575 of the time, with one client or many.
    let rate = 2_500.0;
    for count in [1, 16] {
        let mut spec = host("core:1", waking(0, 0), vec![generated(count, rate)]);
        spec.duration_ns = 4 * SECOND;
        let outcome = run(&spec, 0);
        let done = outcome.total("a", "tx_done");
        assert!((done / 4.0 / rate - 1.0).abs() < 0.03, "{done}");
        close(outcome.total("a", "busy_ns") / done, WORK + 20.0 * US);
        let inside = outcome.total("a", "tx_arrived") - done;
        assert!(inside.abs() < 20.0, "{inside}");
    }
}

#[test]
fn more_than_can_be_done_waits_in_order() {
    let outcome = run(
        &host("core:1", waking(0, 0), vec![generated(4, 6_000.0)]),
        0,
    );
    assert!(!outcome.summary.partitions[0].steady.is_steady);
    assert!(outcome.total("a", "busy_ns") > 0.999e9);
    let [came, done] = ["tx_arrived", "tx_done"].map(|name| outcome.total("a", name));
    assert!(came > 1.2 * done, "{came} {done}");
    // First come, first served: who is done at a time came when so many had come, and those that
    // are done waited for longer and longer. The newest first would hardly wait.
    let longest = (1.0 - done / came) * 1e9;
    let mean = outcome.total("a", "response_ns") / done;
    assert!(
        (mean / (0.5 * longest) - 1.0).abs() < 0.05,
        "{mean} {longest}"
    );
}

#[test]
fn a_generator_and_clients_that_think_exclude_each_other() {
    let refused = |count: u16, think: u64, virtuals: u16| {
        let mut one = generated(count, 100.0);
        one.processors = threads(virtuals, 100, of_cgroup(0));
        if let Workload::Pairs { think_ns, .. } = &mut one.workload {
            *think_ns = think;
        }
        check(&host("core:2", waking(0, 0), vec![one])).map_err(|fault| fault.to_string())
    };
    assert!(refused(2, 0, 5).is_ok());
    let told = refused(2, 1_000, 5).unwrap_err();
    assert!(
        told.contains("think_ns") && told.contains("a generator"),
        "{told}"
    );
    let told = refused(2, 0, 4).unwrap_err();
    assert!(told.contains("two for each pair and one more"), "{told}");
}

/// Threads of a group of their own, each on these processors.
fn pinned(cgroup: u16, pins: Vec<Vec<u16>>) -> Processors {
    let host = HostThreads {
        pins: pins.clone(),
        ..of_cgroup(cgroup)
    };
    threads(pins.len() as u16, 100, host)
}

/// A client on the first of these processors, its server on one, a loop on one.
fn beside_a_loop(
    preemption: Preemption,
    tick_ms: u64,
    (cores, [server, on]): (&str, [u16; 2]),
) -> Outcome {
    let linux = Linux {
        preemption,
        tick_ns: tick_ms * 1_000_000,
        ..waking(0, 0)
    };
    let mut pair = pairs("a", 0, 1);
    pair.processors = pinned(0, vec![vec![0], vec![server]]);
    let hog = group("b", pinned(1, vec![vec![on]]), loops(1));
    run(&host(cores, linux, vec![pair, hog]), 0)
}

/// Each of ten requests waits for a tick of the server's processor, on which a loop runs; the
/// answers find the client's idle.
#[test]
fn whom_another_processor_wakes_waits_for_a_tick_where_preemption_is_lazy() {
    let [full, lazy] = [Preemption::Full, Preemption::Lazy]
        .map(|how| beside_a_loop(how, 4, ("core:3", [1, 1])).total("a", "tx_done"));
    assert!((lazy - 25.0).abs() <= 1.0, "{lazy}");
    assert!(full > 20.0 * lazy, "{full} {lazy}");
    let often = beside_a_loop(Preemption::Lazy, 1, ("core:3", [1, 1])).total("a", "tx_done");
    assert!((often - 100.0).abs() <= 2.0, "{often}");
    // An idle processor takes its work at once, and so does one with a last-level cache of its own.
    for places in [("core:3", [1, 2]), ("chip:2 core:2", [2, 2])] {
        let [full, lazy] = [Preemption::Full, Preemption::Lazy]
            .map(|how| beside_a_loop(how, 4, places).total("a", "tx_done"));
        assert_eq!(full, lazy, "{places:?}");
    }
}

/// Who is woken by a timer or an interrupt of its own processor comes as the kernel is left there.
#[test]
fn whom_its_own_processor_wakes_comes_at_once_however_preemption_is() {
    let [full, lazy] = [Preemption::Full, Preemption::Lazy].map(|preemption| {
        let linux = Linux {
            preemption,
            ..waking(0, 0)
        };
        let mut sleeper = group("a", pinned(0, vec![vec![0]]), loops(1));
        on_off(1, 100.0 * US, 3_700_000, &mut sleeper);
        let hog = group("b", pinned(1, vec![vec![0]]), loops(1));
        let outcome = run(&host("core:1", linux, vec![sleeper, hog]), 0);
        let waits = outcome.of("a").dispatch_wait;
        (outcome.total("a", "tx_done"), waits.mean, waits.p99)
    });
    assert!(full.0 > 200.0);
    assert_eq!((full.0, full.2), (lazy.0, lazy.2));
    // As it begins, both are new, and nobody's processor makes them.
    assert!((lazy.1 / full.1 - 1.0).abs() < 0.02, "{full:?} {lazy:?}");
}

/// A program of as many threads as there are processors, each with 100 us to do in a step.
fn program(count: u16) -> Partition {
    let workload = Workload::Barriers {
        count: 1,
        threads: count,
        burst_work: Distribution::Constant,
    };
    let mut one = group("a", threads(count, 100, of_cgroup(0)), workload);
    one.profile.instructions_per_unit = f64::from(count) * 100.0 * US;
    one
}

/// Whoever is last wakes all others one after the other: he is so much later himself, and each
/// of them by the interrupts sent before its own and by its way out of idling.
#[test]
fn who_wakes_many_pays_for_each() {
    for (count, interrupt, idle) in [(2, 3, 5), (4, 3, 5), (8, 3, 5), (4, 0, 0), (4, 10, 2)] {
        let spec = host(
            &format!("core:{count}"),
            waking(interrupt, idle),
            vec![program(count)],
        );
        let (cpu, lasts) = transaction(&run(&spec, 0));
        let others = f64::from(count) - 1.0;
        let (sent, way) = (interrupt as f64 * US, idle as f64 * US);
        close(cpu, f64::from(count) * 100.0 * US + others * sent);
        let (last_woken, waker) = ((others - 1.0) * sent + way, others * sent);
        close(lasts, 100.0 * US + last_woken.max(waker));
    }
}
