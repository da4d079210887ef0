//! Virtual machines to which transactions come from outside: queues of known length, and what each
//! of them costs the Control Program.

use crate::common::zvm::{alone, endless, free_cp, real_paths, served, switch, tile, web};
use crate::common::{run, Outcome, MS, SECOND};
use homenode_engine::sim::RunError;
use homenode_engine::spec::{
    CpPaths, Distribution, Guest, PlayedWork, Spec, VirtualMachine, Workload,
};

/// Instructions of a transaction; each takes a nanosecond.
const WORK: f64 = 100_000.0;

fn long(cores: u16, machines: Vec<VirtualMachine>) -> Spec {
    let mut spec = alone(cores, free_cp(machines, Vec::new()), Workload::Idle);
    spec.duration_ns = 20 * SECOND;
    spec
}

fn response_us(outcome: &Outcome) -> f64 {
    outcome.of("zvm").response.mean / 1e3
}

/// What Pollaczek and Khinchine say of one processor: W = rho S (1 + C^2) / (2 (1 - rho)).
#[test]
fn one_processor_is_a_queue_of_known_length() {
    for (work, squared) in [
        (Distribution::Constant, 0.0),
        (Distribution::Exponential, 1.0),
    ] {
        for rho in [0.5, 0.8] {
            let mut machine = served("s", 1, rho * 1e9 / WORK, WORK);
            machine.work.as_mut().expect("work").work = work;
            let outcome = run(&long(1, vec![machine]), 0);
            let wanted = 100.0 * (1.0 + rho * (1.0 + squared) / (2.0 * (1.0 - rho)));
            let found = response_us(&outcome);
            assert!(
                (found / wanted - 1.0).abs() < 0.05,
                "{work:?} at {rho}: {found} for {wanted} us"
            );
            let busy = outcome.total("zvm", "busy_ns") / (20.0 * SECOND as f64);
            assert!((busy / rho - 1.0).abs() < 0.02, "{busy} of {rho}");
        }
    }
}

/// Two virtual processors with two logical ones: M/M/2 answers in S / (1 - rho^2).
#[test]
fn virtual_processors_of_a_machine_share_its_line() {
    let mut machine = served("s", 2, 2.0 * 0.7 * 1e9 / WORK, WORK);
    machine.work.as_mut().expect("work").work = Distribution::Exponential;
    let found = response_us(&run(&long(2, vec![machine]), 0));
    let wanted = 100.0 / (1.0 - 0.7 * 0.7);
    assert!(
        (found / wanted - 1.0).abs() < 0.05,
        "{found} for {wanted} us"
    );
}

/// Users who think: a closed queue of one processor, by mean value analysis.
#[test]
fn users_who_think_are_a_closed_queue_of_known_throughput() {
    for users in [1, 4, 12] {
        let mut machine = served("s", 1, 1.0, WORK);
        let work = machine.work.as_mut().expect("work");
        (work.users, work.think_ns) = (users, 400_000);
        work.work = Distribution::Exponential;
        let outcome = run(&long(1, vec![machine]), 0);
        let (mut inside, mut response) = (0.0, 0.0);
        for count in 1..=users {
            response = 100.0 * (1.0 + inside);
            inside = f64::from(count) * response / (400.0 + response);
        }
        let per_s = f64::from(users) / (400.0 + response) * 1e6;
        let done = outcome.total("zvm", "tx_done") / 20.0;
        assert!((done / per_s - 1.0).abs() < 0.02, "{done} for {per_s}");
        let found = response_us(&outcome);
        assert!((found / response - 1.0).abs() < 0.03, "{found} {response}");
    }
}

/// What is played comes in full, step by step, whatever is drawn.
#[test]
fn played_work_brings_its_sum() {
    let mut machine = served("s", 2, 1.0, WORK);
    machine.work.as_mut().expect("work").played = Some(PlayedWork {
        lengths_ns: vec![10 * SECOND, 10 * SECOND],
        instructions_per_s: vec![4e8, 1e8],
    });
    let mut spec = long(2, vec![machine]);
    spec.interval_ns = 10 * SECOND;
    let outcome = run(&spec, 0);
    assert!((outcome.total("zvm", "tx_done") - 50_000.0).abs() < 10.0);
    let busy = outcome.partition.series("partition", 0, "busy_ns");
    let wanted = [0.4, 0.1].map(|cores| cores * 10.0 * SECOND as f64);
    for (found, wanted) in busy.iter().zip(wanted) {
        assert!(
            (*found as f64 / wanted - 1.0).abs() < 0.005,
            "{found} {wanted}"
        );
    }
}

/// So seldom that each finds its processor waiting: a dispatch, an interruption, the work, the
/// frames of the answer.
#[test]
fn a_transaction_is_the_sum_of_what_is_done_for_it() {
    let paths = CpPaths {
        dispatch: 700.0,
        interruption: 400.0,
        frame: 250.0,
        signal: 0.0,
        scan: 0.0,
        ..real_paths()
    };
    let mut machine = served("s", 1, 10.0, WORK);
    machine.switch = Some(0);
    machine.work.as_mut().expect("work").answer_bytes = 3 * 8192;
    let mut zvm = free_cp(vec![machine], vec![switch("out")]);
    zvm.paths = paths;
    let mut spec = alone(1, zvm, Workload::Idle);
    spec.duration_ns = 10 * SECOND;
    let outcome = run(&spec, 0);
    let done = outcome.total("zvm", "tx_done");
    assert!((80.0..120.0).contains(&done), "{done}");
    let each = paths.dispatch + paths.interruption + WORK + 3.0 * paths.frame;
    assert!(outcome.of("zvm").response.max as f64 >= each);
    let per_tx = |column: &str| outcome.total("zvm", column) / done;
    assert!((per_tx("guest_ns") - WORK).abs() < 1.0);
    let chargeable = paths.interruption + 3.0 * paths.frame;
    assert!((per_tx("chargeable_ns") - chargeable).abs() < 1.0);
    let at = outcome.switch.at("frames");
    let frames = outcome.switch.only("switch", 0).map(|row| row[at]);
    assert!((frames.sum::<i64>() as f64 - 3.0 * done).abs() <= 3.0);
}

#[test]
fn a_line_without_end_stops_the_run() {
    let spec = long(1, vec![served("s", 1, 1e7, WORK)]);
    let stopped = homenode_engine::sim::run(&spec, 0, |_| true).expect_err("too many wait");
    assert!(matches!(stopped, RunError::Runaway { .. }), "{stopped}");
}

/// They get on beside a tile and loops, and each machine's share of what comes is its own.
#[test]
fn served_machines_stand_beside_others() {
    let mut machines = tile(0, 1, 2);
    machines.extend(endless(1));
    machines.push(served("slow", 1, 200.0, WORK));
    machines.push(served("fast", 2, 2000.0, WORK));
    let outcome = run(&alone(4, free_cp(machines, vec![switch("s")]), web()), 0);
    let of = |machine: i64| {
        let at = outcome.virtual_machine.at("tx_done");
        let rows = outcome.virtual_machine.only("virtual_machine", machine);
        rows.map(|row| row[at]).sum::<i64>()
    };
    assert!((150..250).contains(&of(4)), "{}", of(4));
    assert!((1850..2150).contains(&of(5)), "{}", of(5));
}

#[test]
fn a_server_uses_all_the_processors_that_its_connections_reach() {
    let done = |cpus: u16| {
        let mut machines = tile(0, 4, 1);
        machines[4].cpus = cpus;
        let spec = alone(16, free_cp(machines, vec![switch("s")]), web());
        run(&spec, 0).total("zvm", "tx_done")
    };
    let [one, two, four, eight] = [1, 2, 4, 8].map(done);
    // Four connections, each with a client of its own and as long at the server as there: one
    // processor serves one after the other, two are always at work.
    assert!(two > 1.9 * one && two < 2.1 * one, "{one} {two}");
    assert_eq!([two, two], [four, eight]);
}

#[test]
fn what_comes_to_one_of_several_processors_is_handed_on_by_a_signal() {
    let chargeable = |cpus: u16| {
        let mut spec = long(8, vec![served("s", cpus, 100.0, WORK)]);
        if let Guest::Zvm(zvm) = &mut spec.partitions[0].guest {
            zvm.paths.interruption = 1_000.0;
        }
        let outcome = run(&spec, 0);
        outcome.total("zvm", "chargeable_ns") / outcome.total("zvm", "tx_done")
    };
    // An interruption, and one more for the share that another processor has to be told of.
    for (cpus, wanted) in [(1, 1_000.0), (2, 1_500.0), (4, 1_750.0)] {
        let found = chargeable(cpus);
        // One in a hundred finds its processor at work and interrupts nobody.
        assert!(
            (found / wanted - 1.0).abs() < 0.015,
            "{cpus}: {found} of {wanted}"
        );
    }
}

/// A machine that serves transactions of a millisecond in so many bursts, between which they wait.
fn in_bursts(cpus: u16, bursts: f64) -> Spec {
    let mut one = served("s", cpus, 200.0, 1e6);
    let work = one.work.as_mut().expect("it has work");
    (work.bursts, work.wait_ns) = (bursts, MS);
    let mut zvm = free_cp(vec![one], Vec::new());
    zvm.paths.interruption = 3_000.0;
    let mut spec = alone(2, zvm, Workload::Idle);
    spec.duration_ns = 20 * SECOND;
    spec
}

/// What it waits for is a part of the response, and comes back to a processor each time.
#[test]
fn a_transaction_in_bursts_waits_between_them() {
    for bursts in [1.0, 2.0, 5.0] {
        let outcome = run(&in_bursts(1, bursts), 0);
        let done = outcome.total("zvm", "tx_done");
        assert!((done / 4_000.0 - 1.0).abs() < 0.05, "{bursts}: {done}");
        // A burst waits for those before it by the formula of queues of constant work.
        let (each, used) = (1.003 / bursts, 0.2);
        let queued = each * used / (2.0 * (1.0 - used));
        let takes = bursts * (each + queued) + bursts - 1.0;
        let response = outcome.total("zvm", "response_ns") / done * 1e-6;
        assert!(
            (response / takes - 1.0).abs() < 0.06,
            "{bursts}: {response} {takes}"
        );
        let machines = &outcome.virtual_machine;
        let put_on: i64 = machines
            .series("virtual_machine", 0, "dispatches")
            .iter()
            .sum();
        let each = put_on as f64 / done;
        assert!(
            each > 0.7 * bursts && each < 1.05 * bursts,
            "{bursts}: {each}"
        );
    }
}

/// Whatever wakes a guest costs one with two processors half an interruption more.
#[test]
fn a_second_processor_costs_the_more_the_more_often_work_waits() {
    let more = |bursts| {
        let of = |cpus| {
            let outcome = run(&in_bursts(cpus, bursts), 0);
            let machines = &outcome.virtual_machine;
            let spent: i64 = machines
                .series("virtual_machine", 0, "chargeable_ns")
                .iter()
                .sum();
            spent as f64 / outcome.total("zvm", "tx_done")
        };
        of(2) - of(1)
    };
    let (once, often) = (more(1.0), more(5.0));
    assert!(once > 1_000.0 && often > 4.0 * once, "{once} {often}");
}
