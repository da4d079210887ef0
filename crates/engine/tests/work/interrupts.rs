//! Interrupts of devices: who takes them, what that costs whom, what does not depend on it.

use crate::common::host::{group, host_machine, host_spec, of_kvm, plain_kvm, threads};
use crate::common::{
    aix, assert_all, dedicated, loops, machine, memory, partition, quiet_unix, run, shared, spec,
    transactions, waiting, Outcome, GIB, SECOND,
};
use homenode_engine::sim::{check, Wrong};
use homenode_engine::spec::{
    Distribution, Guest, HostThreads, Interrupts, LockKind, Partition, Policy, Spec,
};

/// 10 us an interrupt, on these processors, of which 4 us are the interrupt itself.
fn to(cpus: &[u16]) -> Interrupts {
    Interrupts {
        to: cpus.to_vec(),
        soft_to: vec![],
        instructions: 4_000.0,
        soft_instructions: 6_000.0,
        lines: 0.0,
        domain: None,
        rate_per_s: 0.0,
        polls: false,
        coalesce_ns: 0,
        coalesce_most: 0,
    }
}

fn with(mut one: Partition, interrupts: Interrupts) -> Partition {
    one.interrupts = Some(Box::new(interrupts));
    one
}

/// So many interrupts a second that nobody waits for.
fn rate(cpus: &[u16], rate_per_s: f64) -> Interrupts {
    Interrupts {
        rate_per_s,
        ..to(cpus)
    }
}

fn linux(text: &str, partitions: Vec<Partition>) -> Spec {
    let mut spec = host_spec(host_machine(Policy::Linux, text), vec![], partitions);
    spec.duration_ns = SECOND;
    spec
}

/// Endless loops, each pinned to a processor.
fn pinned(name: &str, cpus: &[u16]) -> Partition {
    let host = HostThreads {
        pins: cpus.iter().map(|cpu| vec![*cpu]).collect(),
        ..HostThreads::default()
    };
    let count = cpus.len() as u16;
    group(name, threads(count, 100, host), loops(count.into()))
}

/// A vPar of so many cores: transactions of 1 ms, half of which waits once for a device.
fn vpar(cores: u16, rate_per_s: f64) -> Partition {
    let waits = waiting(rate_per_s, 5_000_000);
    let mut one = partition("vpar", dedicated(0..cores, false), waits);
    one.guest = Guest::Hpux(quiet_unix());
    one
}

fn total(outcome: &Outcome, cpus: std::ops::Range<i64>) -> f64 {
    let of = |cpu| outcome.interrupts(cpu)[1] + outcome.interrupts(cpu)[2];
    cpus.map(of).sum()
}

#[test]
fn who_runs_on_a_processor_that_takes_interrupts_has_less_of_it() {
    let one = |cpus: &[u16]| with(pinned("a", &[0]), rate(cpus, 20_000.0));
    let beside = run(&linux("core:2", vec![one(&[0])]), 0);
    let apart = run(&linux("core:2", vec![one(&[1])]), 0);
    let taken = total(&beside, 0..2);
    // 20,000 a second of 10 us, drawn by chance.
    assert!((taken / 0.2e9 - 1.0).abs() < 0.03, "{taken}");
    // The time does not depend on where it goes, nor do the draws.
    assert_eq!(beside.interrupts(0), apart.interrupts(1));
    assert_eq!(apart.total("a", "busy_ns"), 1e9);
    let left = beside.total("a", "busy_ns");
    assert!((left + taken - 1e9).abs() < 50_000.0, "{left} and {taken}");
    assert_eq!(left, beside.total("a", "instructions"));
    let [count, hard, soft] = beside.interrupts(0);
    assert_eq!((hard, soft), (count * 4_000.0, count * 6_000.0));
}

#[test]
fn an_interrupt_beside_slows_as_the_work_of_those_whose_device_it_is() {
    // Work of "other" waits for memory all the time, on another core; its device keeps the thread
    // beside "a" busy, or it runs there itself.
    let rate_beside = |waits: bool, runs_there: bool| {
        let mut other = pinned("other", if runs_there { &[1] } else { &[2] });
        (other.profile.name, other.profile.issue_share) = ("other".into(), 0.5);
        if waits {
            (other.profile.miss_m0, other.profile.dirty_share) = (0.2, 0.0);
        }
        if !runs_there {
            other = with(other, rate(&[1], 400_000.0));
        }
        let mut spec = linux("core:2 pu:2", vec![pinned("a", &[0]), other]);
        spec.machine.hypervisor.siblings = 2;
        spec.machine.smt.gain = vec![1.0, 1.4];
        let outcome = run(&spec, 0);
        if !runs_there {
            assert!(total(&outcome, 1..2) > 0.99e9);
        }
        outcome.total("a", "instructions") / outcome.total("a", "busy_ns")
    };
    let [plain, waiting] = [false, true].map(|waits| rate_beside(waits, false));
    assert!(waiting > 1.05 * plain, "{plain} {waiting}");
    for (interrupted, waits) in [(plain, false), (waiting, true)] {
        let beside = rate_beside(waits, true);
        assert!(
            (interrupted / beside - 1.0).abs() < 0.01,
            "{interrupted} {beside}"
        );
    }
}

#[test]
fn more_interrupts_leave_less_and_parts_of_them_may_go_elsewhere() {
    let left = |told: Interrupts| {
        let outcome = run(&linux("core:3", vec![with(pinned("a", &[0]), told)]), 0);
        outcome.total("a", "busy_ns")
    };
    let by_rate: Vec<f64> = [0.0_f64, 5_000.0, 20_000.0, 50_000.0]
        .map(|per_s| left(rate(&[0], per_s.max(1.0))))
        .into();
    assert!(
        by_rate.windows(2).all(|pair| pair[1] < pair[0]),
        "{by_rate:?}"
    );
    let spread = Interrupts {
        soft_to: vec![1, 2],
        ..rate(&[0], 50_000.0)
    };
    // Two fifths of the half that they took.
    assert!((left(spread) - 0.8e9).abs() < 0.01e9);
    assert!((by_rate[3] - 0.5e9).abs() < 0.01e9);
}

#[test]
fn a_lone_thread_leaves_a_processor_that_interrupts_hold_up() {
    let free = |per_s| {
        let one = group("a", threads(1, 100, HostThreads::default()), loops(1));
        let outcome = run(&linux("core:2", vec![with(one, rate(&[0], per_s))]), 0);
        (
            outcome.total("a", "busy_ns"),
            outcome.total("a", "host_migrations"),
        )
    };
    let (busy, moves) = free(50_000.0);
    assert!(busy > 0.97e9 && moves == 1.0, "{busy} after {moves} moves");
    // Less than the imbalance that is let be: 117 percent.
    let (busy, moves) = free(10_000.0);
    assert!(
        (busy - 0.9e9).abs() < 0.01e9 && moves == 0.0,
        "{busy} after {moves} moves"
    );
}

#[test]
fn load_is_shared_out_by_what_interrupts_leave() {
    // Two processors, one of which has half of its time: the other takes the third thread.
    let least = |per_s| {
        let all = (0..6).map(|at| {
            let one = group(
                &at.to_string(),
                threads(1, 100, HostThreads::default()),
                loops(1),
            );
            with(one, rate(&[0], per_s / 6.0))
        });
        let mut spec = linux("core:2", all.collect());
        (spec.warmup_ns, spec.duration_ns) = (2 * SECOND, 8 * SECOND);
        let outcome = run(&spec, 0);
        let each = (0..6).map(|at| outcome.total(&at.to_string(), "busy_ns") / 8e9);
        each.fold(1.0, f64::min)
    };
    // Three on each would have a sixth of a processor on the one that is interrupted; what is due
    // is a quarter.
    let least = least(50_000.0);
    assert!(least > 0.19, "{least}");
}

#[test]
fn who_waits_for_a_device_waits_for_its_interrupt_too() {
    let response = |told: Option<Interrupts>| {
        let rare = transactions(50.0, Distribution::Constant);
        let mut one = group("a", threads(1, 100, of_kvm(plain_kvm())), rare);
        one.profile.instructions_per_unit = 100_000.0;
        one.interrupts = told.map(Box::new);
        let outcome = run(&linux("core:2", vec![one]), 0);
        outcome.total("a", "response_ns") / outcome.total("a", "tx_done")
    };
    let more = response(Some(to(&[1]))) - response(None);
    assert!((more - 10_000.0).abs() < 100.0, "{more}");
}

#[test]
fn a_boot_processor_that_takes_all_interrupts_is_busier_and_its_work_waits() {
    let of = |cpus: &[u16]| {
        let mut one = vpar(4, 1_500.0);
        one.profile.instructions_per_unit = 200_000.0;
        let told = Interrupts {
            instructions: 60_000.0,
            soft_instructions: 60_000.0,
            ..to(cpus)
        };
        let mut spec = spec(machine("core:4"), vec![with(one, told)]);
        spec.machine.hypervisor.policy = Policy::Dedicated;
        spec.duration_ns = 4 * SECOND;
        run(&spec, 0)
    };
    let (boot, spread) = (of(&[0]), of(&[]));
    let busy = |outcome: &Outcome, cpu: i64| -> f64 {
        let (user, sys) = (outcome.cpu.at("user_ns"), outcome.cpu.at("sys_ns"));
        let rows = outcome.cpu.only("cpu", cpu);
        rows.map(|row| (row[user] + row[sys]) as f64).sum::<f64>() / 4e9
    };
    let counted = |outcome: &Outcome| (0..4).map(|cpu| outcome.interrupts(cpu)[0]).sum::<f64>();
    // As many, and as much time: two an arrival, of 120 us.
    assert!((counted(&boot) / counted(&spread) - 1.0).abs() < 0.01);
    assert!((total(&boot, 0..4) / counted(&boot) - 120_000.0).abs() < 1.0);
    assert_eq!(boot.interrupts(1), [0.0; 3]);
    let others = (1..4).map(|cpu| busy(&boot, cpu)).fold(0.0, f64::max);
    assert!(
        busy(&boot, 0) > 0.35 && busy(&boot, 0) > 2.0 * others,
        "{others}"
    );
    let most = (0..4).map(|cpu| busy(&spread, cpu)).fold(0.0, f64::max);
    assert!(most < 0.75 * busy(&boot, 0), "{most}");
    let response =
        |outcome: &Outcome| outcome.total("vpar", "response_ns") / outcome.total("vpar", "tx_done");
    assert!(response(&boot) > response(&spread));
    let busy_of = |outcome: &Outcome| outcome.total("vpar", "busy_ns");
    assert!((busy_of(&boot) / busy_of(&spread) - 1.0).abs() < 0.02);
    // It is the kernel's time.
    assert!(boot.total("vpar", "sys_ns") > 0.95 * total(&boot, 0..4));
}

#[test]
fn what_a_far_device_has_written_is_fetched_from_far() {
    let mut machine = host_machine(Policy::Linux, "node:2 chip:1 core:2");
    machine.memory_ns.local = 80.0;
    machine.memory_ns.far = 200.0;
    let soft = |domain: u16| {
        let told = Interrupts {
            lines: 10.0,
            domain: Some(domain),
            ..rate(&[0], 1_000.0)
        };
        let mut one = with(pinned("a", &[1]), told);
        one.memory = vec![memory(&[0], GIB)];
        let outcome = run(&host_spec(machine.clone(), vec![], vec![one]), 0);
        let [count, _, soft] = outcome.interrupts(0);
        soft / count
    };
    assert!((soft(0) - 6_800.0).abs() < 1.0, "{}", soft(0));
    assert!((soft(1) - 8_000.0).abs() < 1.0, "{}", soft(1));
}

#[test]
fn a_busy_sibling_is_slowed_while_a_thread_sees_to_interrupts() {
    let mut machine = host_machine(Policy::Linux, "core:1 pu:2");
    machine.hypervisor.siblings = 2;
    machine.smt.gain = vec![1.0, 1.25];
    machine.smt.reference.issue_share = 1.0;
    let work = |per_s| {
        let one = with(pinned("a", &[1]), rate(&[0], per_s));
        run(&host_spec(machine.clone(), vec![], vec![one]), 0).total("a", "instructions")
    };
    let alone = work(1.0);
    assert!((alone - 1e9).abs() < 1e6, "{alone}");
    // Each of 16 us, as slow as the work beside it, which loses three eighths meanwhile.
    let left = work(20_000.0);
    assert!((left / alone - (1.0 - 0.32 * 0.375)).abs() < 0.01, "{left}");
}

#[test]
fn it_is_the_same_every_time_and_what_cannot_be_is_refused() {
    let spec = linux("core:2", vec![with(pinned("a", &[0]), rate(&[], 9_000.0))]);
    assert_eq!(run(&spec, 3).partition, run(&spec, 3).partition);
    let refused = |change: &dyn Fn(&mut Spec)| {
        let mut wrong = spec.clone();
        change(&mut wrong);
        *check(&wrong).expect_err("unsound").what
    };
    let set = |change: fn(&mut Interrupts)| {
        refused(&move |spec: &mut Spec| {
            change(spec.partitions[0].interrupts.as_mut().expect("told"))
        })
    };
    assert!(matches!(set(|it| it.to = vec![2]), Wrong::NotThere { .. }));
    assert!(matches!(
        set(|it| it.soft_to = vec![9]),
        Wrong::NotThere { .. }
    ));
    assert!(matches!(
        set(|it| it.domain = Some(4)),
        Wrong::NotThere { .. }
    ));
    assert!(matches!(set(|it| it.rate_per_s = 0.0), Wrong::Range { .. }));
    assert!(matches!(set(|it| it.lines = f64::NAN), Wrong::Range { .. }));
    let xen = refused(&|spec: &mut Spec| spec.machine.hypervisor.policy = Policy::Credit2);
    assert!(matches!(xen, Wrong::NotOnHost { .. }));
}

#[test]
fn one_processor_that_is_swamped_makes_everybody_wait_and_several_do_not() {
    let response = |cpus: &[u16]| {
        let busy = transactions(40_000.0, Distribution::Exponential);
        let mut one = group("a", threads(8, 100, of_kvm(plain_kvm())), busy);
        one.profile.instructions_per_unit = 20_000.0;
        let told = Interrupts {
            soft_instructions: 20_000.0,
            ..to(cpus)
        };
        let outcome = run(&linux("core:8", vec![with(one, told)]), 0);
        let done = outcome.total("a", "tx_done");
        (
            outcome.total("a", "response_ns") / done,
            total(&outcome, 0..8),
            done,
        )
    };
    let ((one, taken, done), (several, spread, all)) = (response(&[0]), response(&[0, 1, 2, 3]));
    // 24 us each: one processor does 41,667 a second at the most.
    assert!(taken > 0.9e9 && taken < 1e9, "{taken}");
    assert!((spread / taken - 1.0).abs() < 0.02 && (all / done - 1.0).abs() < 0.02);
    assert!(one > 2.0 * several, "{one} against {several}");
}

#[test]
fn a_guest_that_folds_moves_threads_and_has_locks_keeps_its_books() {
    for (kind, share, smt) in [
        (LockKind::Sleeping, 0.2, 4),
        (LockKind::Ticket, 0.01, 2),
        (LockKind::Sleeping, 0.2, 1),
    ] {
        let work = transactions(1_500.0, Distribution::Exponential);
        let mut one = partition("a", shared(1.5, 6), work);
        one.smt = smt;
        one.profile.instructions_per_unit = 700_000.0;
        (one.profile.lock_share, one.profile.lock_kind) = (share, kind);
        let guest = aix(&mut one);
        (guest.xvcpus, guest.rebalance_ns) = (0, Some(10_000_000));
        (guest.daemon_rate_per_s, guest.daemon_ns) = (500.0, 50_000);
        guest.timeslice_ns = 1_000_000;
        let other = partition("b", shared(1.5, 4), loops(5));
        let told = Interrupts {
            soft_to: vec![1, 5],
            rate_per_s: 2_000.0,
            ..to(&[])
        };
        let mut spec = spec(machine("core:4 pu:4"), vec![with(one, told), other]);
        spec.duration_ns = 3 * SECOND;
        let outcome = run(&spec, 0);
        assert_all(&spec, &outcome);
        let cpus = 0..6 * i64::from(smt);
        let counted: f64 = cpus.map(|cpu| outcome.interrupts(cpu)[0]).sum();
        let arrived = outcome.total("a", "tx_arrived");
        // Those by themselves, and one for each arrival.
        assert!((counted - arrived - 6_000.0).abs() < 400.0, "{counted}");
        // Counted there when they come, by processor when they are done.
        assert!((counted - outcome.total("a", "interrupts")).abs() <= 24.0);
        let done = outcome.total("a", "tx_done");
        assert!(done > 0.9 * arrived, "{done} of {arrived}");
    }
}

/// Transactions of a guest on processors 0 and 1, whose device interrupts processor 2.
fn answered(told: Interrupts, rate_per_s: f64) -> Outcome {
    let waits = waiting(rate_per_s, 1_000_000);
    let host = HostThreads {
        pins: vec![vec![0, 1]; 2],
        ..of_kvm(plain_kvm())
    };
    let mut one = group("a", threads(2, 100, host), waits);
    one.profile.instructions_per_unit = 10_000.0;
    let mut spec = linux("core:3", vec![with(one, told)]);
    spec.duration_ns = 4 * SECOND;
    let outcome = run(&spec, 0);
    assert_all(&spec, &outcome);
    outcome
}

/// What a transaction waits and works, and interrupts for each of its two answers.
fn of_answers(outcome: &Outcome) -> (f64, f64) {
    let done = outcome.total("a", "tx_done");
    let each = outcome.interrupts(2)[0] / (2.0 * done);
    (outcome.total("a", "response_ns") / done, each)
}

/// Work that comes while a processor is at it needs no interrupt: of what comes by chance that part
/// interrupts which is the share of the time in which it is not at it.
#[test]
fn who_polls_takes_fewer_interrupts_the_more_there_is() {
    let polls = Interrupts {
        polls: true,
        ..to(&[2])
    };
    let rates = [500.0, 10_000.0, 40_000.0];
    let each = |told: &Interrupts| rates.map(|rate| of_answers(&answered(told.clone(), rate)).1);
    let (few, all) = (each(&polls), each(&to(&[2])));
    assert!(all.iter().all(|one| (one - 1.0).abs() < 0.02), "{all:?}");
    assert!(few.windows(2).all(|pair| pair[1] < pair[0]), "{few:?}");
    assert!(few[0] > 0.98 && few[2] < 0.6, "{few:?}");
    // 20,000 answers a second of 6 us, and 4 us for each interrupt: at work for so long.
    let at_work = (20_000.0 * 6e-6 + 20_000.0 * few[1] * 4e-6) / 1.0;
    assert!((few[1] - (1.0 - at_work)).abs() < 0.03, "{few:?}");
    // What is saved is time of the processor, and nobody waits longer for it.
    let (saved, plain) = (answered(polls, 40_000.0), answered(to(&[2]), 40_000.0));
    assert!(total(&saved, 2..3) < 0.85 * total(&plain, 2..3));
    assert!(of_answers(&saved).0 < of_answers(&plain).0);
}

#[test]
fn a_device_that_waits_interrupts_less_and_each_answer_is_later_by_that_at_most() {
    let told = |coalesce_ns, coalesce_most| Interrupts {
        coalesce_ns,
        coalesce_most,
        ..to(&[2])
    };
    for rate in [500.0, 10_000.0] {
        let (soon, all) = of_answers(&answered(to(&[2]), rate));
        let mut before = all;
        for wait_ns in [20_000, 100_000, 400_000] {
            let (later, each) = of_answers(&answered(told(wait_ns, 0), rate));
            assert!(each < before, "{rate} {wait_ns} {each}");
            // Each transaction has two answers; one that waits finds less work before it.
            let most = 2.0 * wait_ns as f64 * 1.05;
            assert!(later - soon < most, "{rate} {wait_ns} {later} after {soon}");
            // What comes by chance while it waits, and that which it waits for.
            let wanted = 1.0 / (1.0 + 2.0 * rate * wait_ns as f64 * 1e-9);
            assert!(
                (each / wanted - 1.0).abs() < 0.1,
                "{rate} {wait_ns} {each} {wanted}"
            );
            before = each;
        }
        let (_, each) = of_answers(&answered(told(10_000_000, 4), rate));
        assert!((each - 0.25).abs() < 0.03, "{each}");
    }
}

/// Where others do the work that follows, what came during the interrupt goes to them with it.
#[test]
fn nothing_that_a_device_has_brought_is_lost() {
    for (polls, coalesce_ns, soft_to) in [
        (true, 0, vec![]),
        (true, 50_000, vec![]),
        (true, 0, vec![1]),
        (true, 50_000, vec![1]),
        (false, 50_000, vec![1]),
    ] {
        let told = Interrupts {
            polls,
            coalesce_ns,
            soft_to: soft_to.clone(),
            ..to(&[2])
        };
        let outcome = answered(told, 10_000.0);
        let (done, arrived) = (
            outcome.total("a", "tx_done"),
            outcome.total("a", "tx_arrived"),
        );
        assert!((done / arrived - 1.0).abs() < 0.01, "{done} of {arrived}");
        let at = soft_to.first().map_or(2, |cpu| i64::from(*cpu));
        // Each of its two answers has its 6 us there.
        let soft = outcome.interrupts(at)[2] / (2.0 * done);
        assert!((soft / 6_000.0 - 1.0).abs() < 0.02, "{soft}");
    }
}
