//! Interrupts of devices and threads that do guests' I/O, solved: known answers, which way they go,
//! and how far they are from a run.

use crate::common::host::{group, host_machine, host_spec, of_kvm, plain_kvm, threads};
use crate::common::{
    dedicated, loops, machine, partition, plain_profile, quiet_unix, run, shared, spec, vertical,
    waiting, SECOND,
};
use homenode_engine::spec::{
    Distribution, Guest, HostThreads, Interrupts, IoThreads, Load, Partition, Policy, Processors,
    Spec, Workload,
};
use homenode_engine::steady::{solve, SolvedPartition};

/// 10 us an interrupt on these processors, of which so many a second nobody waits for.
fn interrupts(cpus: &[u16], rate_per_s: f64) -> Option<Box<Interrupts>> {
    Some(Box::new(Interrupts {
        to: cpus.to_vec(),
        soft_to: vec![],
        instructions: 4_000.0,
        soft_instructions: 6_000.0,
        lines: 0.0,
        domain: None,
        rate_per_s,
        polls: false,
        coalesce_ns: 0,
        coalesce_most: 0,
    }))
}

/// Work of 1 ms in two bursts, with a wait between them.
fn waits(rate_per_s: f64) -> Workload {
    waiting(rate_per_s, 5_000_000)
}

/// A partition of four cores of its own.
fn own(workload: Workload, told: Option<Box<Interrupts>>) -> Spec {
    let mut one = partition("a", dedicated(0..4, false), workload);
    one.guest = Guest::Hpux(quiet_unix());
    one.interrupts = told;
    let mut made = spec(machine("core:4"), vec![one]);
    made.duration_ns = 20 * SECOND;
    made
}

fn solved(spec: &Spec) -> Vec<SolvedPartition> {
    let found = solve(spec).unwrap_or_else(|fault| panic!("{fault}"));
    found.partitions
}

fn near(found: f64, wanted: f64, by: f64) {
    assert!((found / wanted - 1.0).abs() < by, "{found}, not {wanted}");
}

fn response_ns(of: &SolvedPartition) -> f64 {
    of.response_ns.expect("it is steady")
}

#[test]
fn each_takes_its_time_wherever_it_goes() {
    let free = solved(&own(waits(1_000.0), None)).remove(0);
    for cpus in [&[][..], &[0], &[2, 3]] {
        let told = solved(&own(waits(1_000.0), interrupts(cpus, 3_000.0))).remove(0);
        // 2,000 that work waits for, and 3,000 more, of 10 us each.
        near(told.cores - free.cores, 0.05, 0.02);
        near(told.instructions - free.instructions, 5_000.0 * 1e4, 0.02);
    }
}

#[test]
fn who_waits_gets_his_answer_later_the_fewer_processors_see_to_them() {
    let of = |cpus: &[u16], rate| {
        let told = solved(&own(waits(1_000.0), interrupts(cpus, rate))).remove(0);
        response_ns(&told)
    };
    let free = response_ns(&solved(&own(waits(1_000.0), None))[0]);
    let all = of(&[], 0.0);
    // Two interrupts of 10 us, and what they take from others.
    assert!(
        (20_000.0..60_000.0).contains(&(all - free)),
        "{}",
        all - free
    );
    let each = [20_000.0, 50_000.0, 80_000.0].map(|rate| of(&[0], rate));
    assert!(all < each[0] && each.windows(2).all(|pair| pair[0] < pair[1]));
}

#[test]
fn one_processor_that_has_more_than_it_can_do_leaves_no_steady_state() {
    let told = solved(&own(waits(1_500.0), interrupts(&[0], 98_500.0))).remove(0);
    assert!(!told.steady && told.response_ns.is_none());
    assert!(told.throughput < 1_500.0);
    let two = solved(&own(waits(1_500.0), interrupts(&[0, 1], 98_500.0))).remove(0);
    assert!(two.steady);
}

/// Logical cores without work see to interrupts within what their partition is entitled to.
#[test]
fn a_cap_that_is_never_reached_leaves_room_for_interrupts() {
    let of = |is_capped: bool| {
        let mut own = vertical(4);
        if let Processors::Shared { capped, .. } = &mut own {
            *capped = is_capped;
        }
        let mut one = partition("a", own, waits(20.0));
        one.interrupts = interrupts(&[], 80_000.0);
        let mut made = spec(machine("core:4"), vec![one]);
        made.machine.hypervisor.policy = Policy::Prsm;
        solved(&made).remove(0)
    };
    let (free, capped) = (of(false), of(true));
    assert!(free.cores > 0.75, "{}", free.cores);
    near(capped.cores, free.cores, 0.01);
    near(capped.instructions, free.instructions, 0.01);
}

/// Two threads of a core that both see to interrupts are slower than two cores.
#[test]
fn siblings_that_see_to_interrupts_slow_each_other() {
    let of = |cpus: &[u16], rate| {
        let mut made = own(waits(1_000.0), interrupts(cpus, rate));
        made.machine.threads_per_core = 2;
        made.machine.smt.gain = vec![1.0, 1.4];
        made.machine.smt.reference = made.partitions[0].profile.clone();
        made.partitions[0].smt = 2;
        made
    };
    let told = |cpus: &[u16], rate| solved(&of(cpus, rate)).remove(0);
    assert!(told(&[0, 2], 150_000.0).steady);
    assert!(!told(&[0, 1], 150_000.0).steady);
    let mut made = of(&[0, 1], 115_000.0);
    made.duration_ns = 4 * SECOND;
    let simulated = run(&made, 0).of("a").response.mean;
    let siblings = response_ns(&solved(&made)[0]);
    near(siblings, simulated, 0.03);
    assert!(siblings > response_ns(&told(&[0, 2], 115_000.0)));
}

/// What follows an interrupt needs its time of the same processor, even where it is said apart.
#[test]
fn two_parts_on_one_processor_take_as_much_of_it_as_one() {
    let apart = |rate| {
        let mut told = interrupts(&[0], rate);
        told.as_mut().expect("it costs something").soft_to = vec![0];
        solved(&own(waits(1_500.0), told)).remove(0)
    };
    let (fits, full) = (apart(50_000.0), apart(98_500.0));
    let at_once = solved(&own(waits(1_500.0), interrupts(&[0], 50_000.0))).remove(0);
    near(fits.cores, at_once.cores, 0.01);
    assert!(fits.steady && response_ns(&fits) > response_ns(&at_once));
    assert!(!full.steady && full.throughput < 1_500.0);
}

/// Some users who think for 10 ms, and work for a tenth of that.
fn thinking() -> Workload {
    Workload::Users {
        count: 40,
        think_ns: 10_000_000,
        bursts: 1.0,
        wait_ns: 0,
        burst_work: Distribution::Exponential,
        think: Distribution::Exponential,
    }
}

#[test]
fn users_get_no_answers_where_others_leave_no_time_for_them() {
    let host = |rate| {
        on_host(vec![group_of(
            "a",
            &[1, 2],
            thinking(),
            interrupts(&[0], rate),
        )])
    };
    let of_its_own = |rate| own(thinking(), interrupts(&[0], rate));
    for made in [host, of_its_own] {
        let (some, none) = (solved(&made(50_000.0)), solved(&made(101_000.0)));
        assert!(some[0].steady && some[0].throughput > 1_000.0);
        assert!(!none[0].steady && none[0].response_ns.is_none());
        assert!(none[0].throughput < 1.0, "{}", none[0].throughput);
    }
}

/// As much is asked for by two workloads as by one: neither is answered as if it were alone.
#[test]
fn two_workloads_share_what_their_processor_can_answer() {
    let told = |rates: &[f64]| {
        let mut made = own(waits(rates[0]), interrupts(&[0], 96_000.0));
        made.partitions[0].beside = rates[1..]
            .iter()
            .map(|rate| Load {
                name: "other".into(),
                workload: waits(*rate),
                profile: plain_profile(1e6),
            })
            .collect();
        solved(&made).remove(0)
    };
    assert!(told(&[1_500.0]).steady);
    for rates in [&[3_000.0][..], &[1_500.0, 1_500.0]] {
        let found = told(rates);
        assert!(!found.steady, "{rates:?}");
        near(found.throughput, 0.99 * 4_000.0 / 2.0, 0.03);
    }
}

#[test]
fn own_processors_are_as_in_a_run() {
    for (cpus, rate) in [(&[][..], 0.0), (&[0], 20_000.0), (&[0, 1], 40_000.0)] {
        let made = own(waits(1_500.0), interrupts(cpus, rate));
        let (told, played) = (solved(&made).remove(0), run(&made, 0));
        near(told.cores, played.total("a", "busy_ns") / 20e9, 0.03);
        let response = played.total("a", "response_ns") / played.total("a", "tx_done");
        near(response_ns(&told), response, 0.08);
    }
}

/// Loops pinned to a processor each.
fn pinned(cpus: &[u16], told: Option<Box<Interrupts>>) -> Partition {
    group_of("a", cpus, loops(cpus.len() as u32), told)
}

/// A group whose threads are pinned to a processor each.
fn group_of(
    name: &str,
    cpus: &[u16],
    workload: Workload,
    told: Option<Box<Interrupts>>,
) -> Partition {
    let host = HostThreads {
        pins: cpus.iter().map(|cpu| vec![*cpu]).collect(),
        ..HostThreads::default()
    };
    let mut one = group(name, threads(cpus.len() as u16, 100, host), workload);
    one.interrupts = told;
    one
}

fn on_host(partitions: Vec<Partition>) -> Spec {
    let mut made = host_spec(host_machine(Policy::Linux, "core:4"), vec![], partitions);
    made.duration_ns = 10 * SECOND;
    made
}

#[test]
fn on_a_host_who_runs_there_has_as_much_less_and_is_not_charged() {
    for (cpu, left) in [(0, 1.8), (1, 1.8), (3, 2.0)] {
        let made = on_host(vec![pinned(&[0, 1], interrupts(&[cpu], 20_000.0))]);
        let told = solved(&made).remove(0);
        near(told.cores, left, 1e-3);
        near(told.cores, run(&made, 0).total("a", "busy_ns") / 10e9, 0.01);
    }
    // What two partitions' devices take adds up.
    let mut other = pinned(&[2], interrupts(&[0], 30_000.0));
    other.name = "b".into();
    let made = on_host(vec![pinned(&[0], interrupts(&[0], 20_000.0)), other]);
    near(solved(&made)[0].cores, 0.5, 1e-3);
}

/// Each alone could have its interrupts seen to; the processor is one for both.
#[test]
fn who_shares_a_processor_for_interrupts_waits_for_the_other() {
    let told = |rate| {
        let of = |name, cpus: &[u16]| group_of(name, cpus, waits(200.0), interrupts(&[0], rate));
        solved(&on_host(vec![of("a", &[1]), of("b", &[2])]))
    };
    let (half, most, more) = (told(20_000.0), told(40_000.0), told(52_000.0));
    for (at, of) in more.iter().enumerate() {
        assert!(response_ns(&most[at]) > response_ns(&half[at]));
        assert!(!of.steady && of.throughput < 200.0, "{}", of.throughput);
    }
}

/// Users wait until they ask for no more than others leave, so that these are all answered.
#[test]
fn users_leave_a_processor_for_interrupts_to_who_comes_from_outside() {
    let of = |name, cpu, workload| group_of(name, &[cpu], workload, interrupts(&[0], 0.0));
    let mut users = of("a", 1, thinking());
    users.profile.instructions_per_unit = 1e3;
    users
        .interrupts
        .as_mut()
        .expect("it costs something")
        .soft_instructions = 600_000.0;
    let made = on_host(vec![users, of("b", 2, waits(200.0))]);
    let (told, played) = (solved(&made), run(&made, 0));
    assert!(told[1].steady);
    near(told[1].throughput, 200.0, 1e-3);
    let done = played.total("a", "tx_done") / 10.0;
    assert!(done < 2_000.0, "{done}: they are not held back");
    near(told[0].throughput, done, 0.05);
}

/// Users of two partitions ask more of one processor than it can see to: all wait there alike, so
/// those who think for long hardly come less often.
#[test]
fn users_of_several_partitions_wait_in_one_queue() {
    let of = |name, cpu, count, think_ns| {
        let mut one = group_of(name, &[cpu], thinking(), interrupts(&[0], 0.0));
        if let Workload::Users {
            count: all,
            think_ns: each,
            ..
        } = &mut one.workload
        {
            (*all, *each) = (count, think_ns);
        }
        one.profile.instructions_per_unit = 1e3;
        let told = one.interrupts.as_mut().expect("it costs something");
        told.soft_instructions = 600_000.0;
        one
    };
    let often = |count| of("often", 1, count, 10_000_000);
    let seldom = |count| of("seldom", 2, count, 2_000_000_000);
    let made = |a, b| {
        let mut made = on_host(vec![often(a), seldom(b)]);
        made.duration_ns = 40 * SECOND;
        made
    };
    let told = solved(&made(40, 100));
    let played = run(&made(40, 100), 0);
    for (at, name) in ["often", "seldom"].into_iter().enumerate() {
        let done = played.total(name, "tx_done");
        near(told[at].throughput, done / 40.0, 0.06);
        near(
            response_ns(&told[at]),
            played.total(name, "response_ns") / done,
            0.1,
        );
    }
    near(response_ns(&told[1]), response_ns(&told[0]), 0.02);
    // More users of one make those of the other wait too; nobody notices a few who ask seldom.
    let more = solved(&made(60, 100));
    assert!(response_ns(&more[1]) > 1.2 * response_ns(&told[1]));
    assert!(more[1].throughput > 0.97 * told[1].throughput);
    let few = solved(&made(40, 1));
    assert!(few[0].throughput > told[0].throughput);
    // Alone they ask for less than there is, and get it at once.
    let alone = solved(&made(1, 100));
    assert!(response_ns(&alone[1]) < 0.3 * response_ns(&told[1]));
}

/// What is seen to on idle cores of the pool is no more than it has.
#[test]
fn interrupts_take_no_more_cores_than_there_are() {
    let of = |name| {
        let mut one = partition(name, shared(1.0, 4), waits(50.0));
        one.guest = Guest::Hpux(quiet_unix());
        one.interrupts = interrupts(&[], 300_000.0);
        one
    };
    let told = solved(&spec(machine("core:4"), vec![of("a"), of("b"), of("c")]));
    let cores: f64 = told.iter().map(|one| one.cores).sum();
    assert!((3.0..4.0 + 1e-3).contains(&cores), "{cores}");
    assert!(told.iter().all(|one| !one.steady));
}

/// A guest on two processors, and a thread of the host on these that does its input and output.
fn with_io(cpus: &[u16], request_ns: u64, rate: f64) -> Spec {
    let host = HostThreads {
        pins: vec![vec![0, 1]; 2],
        ..of_kvm(plain_kvm())
    };
    let mut guest = group("guest", threads(2, 100, host), waits(rate));
    guest.profile.instructions_per_unit = 200_000.0;
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
    on_host(vec![
        guest,
        group("io", threads(1, 100, host), Workload::Idle),
    ])
}

#[test]
fn io_threads_use_what_each_request_and_answer_takes() {
    for (cpus, request_ns) in [(2, 0), (2, 20_000), (0, 20_000)] {
        let told = solved(&with_io(&[cpus], request_ns, 2_000.0));
        // Two answers and a request in a transaction.
        let each = 60_000.0 + request_ns as f64;
        near(told[1].cores, 2_000.0 * each * 1e-9, 5e-3);
        assert!(told[1].throughput == 0.0 && told[1].response_ns.is_none());
    }
}

#[test]
fn guests_wait_for_their_io_threads_as_in_a_run() {
    let mut before = 0.0;
    for request_ns in [0, 20_000, 100_000] {
        let made = with_io(&[2], request_ns, 2_000.0);
        let (told, played) = (solved(&made), run(&made, 0));
        let response = played.total("guest", "response_ns") / played.total("guest", "tx_done");
        near(response_ns(&told[0]), response, 0.05);
        near(told[1].cores, played.total("io", "busy_ns") / 10e9, 0.03);
        assert!(response_ns(&told[0]) > before);
        before = response_ns(&told[0]);
    }
    let swamped = with_io(&[2], 800_000, 2_000.0);
    let (told, played) = (solved(&swamped), run(&swamped, 0));
    assert!(!told[0].steady && told[0].response_ns.is_none());
    assert!(told[0].throughput < 0.7 * 2_000.0);
    near(told[1].cores, played.total("io", "busy_ns") / 10e9, 0.03);
}

/// Users who ask for more than the thread can do wait until it is as much.
#[test]
fn users_get_what_their_io_thread_can_do() {
    let mut made = with_io(&[2], 400_000, 0.0);
    made.partitions[0].workload = Workload::Users {
        count: 60,
        think_ns: 10_000_000,
        bursts: 2.0,
        wait_ns: 1_000_000,
        burst_work: Distribution::Exponential,
        think: Distribution::Exponential,
    };
    let (told, played) = (solved(&made), run(&made, 0));
    let done = played.total("guest", "tx_done");
    near(told[0].throughput, done / 10.0, 0.05);
    near(
        response_ns(&told[0]),
        played.total("guest", "response_ns") / done,
        0.1,
    );
    near(told[0].cores, played.total("guest", "busy_ns") / 10e9, 0.05);
}

/// Rarer interrupts, and what waits for them, are solved as they are simulated.
#[test]
fn what_is_coalesced_is_solved_as_it_runs() {
    let mut before = [0.0; 2];
    for (polls, coalesce_ns) in [(false, 0), (true, 0), (true, 100_000)] {
        let mut told = interrupts(&[0], 0.0).expect("some");
        (told.polls, told.coalesce_ns) = (polls, coalesce_ns);
        let spec = own(waits(1_500.0), Some(told));
        let (found, outcome) = (&solved(&spec)[0], run(&spec, 0));
        let cores = outcome.total("a", "busy_ns") / spec.duration_ns as f64;
        near(found.cores, cores, 0.03);
        let ran = outcome.total("a", "response_ns") / outcome.total("a", "tx_done");
        near(response_ns(found), ran, 0.08);
        let now = [found.cores, -response_ns(found)];
        if polls && coalesce_ns == 0 {
            assert!(now[0] < before[0], "{now:?} after {before:?}");
        }
        before = now;
    }
}

/// A processor that polls is at work during the interrupts themselves too, so dear ones come the
/// more rarely; how much there is to see to does not shorten the time for which a device waits.
#[test]
fn who_polls_can_see_to_more_than_as_many_interrupts() {
    for (hard, soft, coalesce_ns) in [
        (80_000.0, 6_000.0, 0),
        (80_000.0, 6_000.0, 100_000),
        (4_000.0, 30_000.0, 100_000),
    ] {
        let mut told = interrupts(&[0], 0.0).expect("some");
        (told.polls, told.coalesce_ns) = (true, coalesce_ns);
        (told.instructions, told.soft_instructions) = (hard, soft);
        // 20,000 answers a second.
        let mut one = group_of("a", &[1, 2], waits(10_000.0), Some(told));
        one.profile.instructions_per_unit = 1e4;
        let spec = on_host(vec![one]);
        let (found, outcome) = (&solved(&spec)[0], run(&spec, 0));
        assert!(found.steady, "{hard} {soft} {coalesce_ns}");
        let done = outcome.total("a", "tx_done");
        let ran = outcome.total("a", "response_ns") / done - 5e6;
        // How long one waits behind others is told as if each had its part of an interrupt.
        near(response_ns(found) - 5e6, ran, 0.45);
    }
}
