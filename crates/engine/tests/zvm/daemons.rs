//! What guests of virtual machines do on their own: it grows with the machines, not with what they
//! serve.

use crate::common::zvm::{
    alone, cores_of, cp, endless, free_cp, paging, real_paths, served, switch, tile,
    virtual_machine, web, zvm_partition,
};
use crate::common::{missing_profile, run, spec, Outcome, GIB, MS, SECOND};
use homenode_engine::spec::{Role, Spec, Workload};

const RATE: f64 = 200.0;
const WORK_NS: u64 = 100_000;

/// Clients and servers of so many switches on twenty-four cores, whose connections think, with
/// daemons or without.
fn tiles(count: u16, think_ns: u64, rate: f64) -> Spec {
    let machines = (0..count).flat_map(|at| tile(at, 1, 6)).collect();
    let switches = (0..count).map(|at| switch(&format!("s{at}"))).collect();
    let mut zvm = free_cp(machines, switches);
    (zvm.daemon_rate_per_s, zvm.daemon_ns) = (rate, WORK_NS);
    let mut workload = web();
    if let Workload::Web { think_ns: of, .. } = &mut workload {
        *of = think_ns;
    }
    let mut spec = spec(cores_of(8, 3), vec![zvm_partition(24, zvm, workload)]);
    (spec.warmup_ns, spec.interval_ns) = (100 * MS, 100 * MS);
    spec
}

fn total(outcome: &Outcome, column: &str) -> f64 {
    outcome.total("zvm", column)
}

/// What daemons add to a figure, in a second.
fn more(with: impl Fn(f64) -> Spec, column: &str) -> f64 {
    let of = |rate| {
        let spec = with(rate);
        total(&run(&spec, 0), column) / spec.duration_ns as f64 * 1e9
    };
    of(RATE) - of(0.0)
}

/// A machine that is asked nothing does so much as its daemons ask for.
#[test]
fn idle_machines_use_what_their_daemons_take() {
    for cpus in [1, 4] {
        let mut machine = virtual_machine("idle", Role::Idle, None);
        machine.cpus = cpus;
        let mut zvm = free_cp(vec![machine], Vec::new());
        (zvm.daemon_rate_per_s, zvm.daemon_ns) = (RATE, WORK_NS);
        let mut spec = alone(2, zvm, Workload::Idle);
        spec.duration_ns = 20 * SECOND;
        let used = total(&run(&spec, 0), "guest_ns") / spec.duration_ns as f64;
        let asked = RATE * WORK_NS as f64 * 1e-9;
        assert!((used / asked - 1.0).abs() < 0.05, "{used} for {asked}");
    }
}

/// Twice as many machines execute twice as much on their own; work that comes twice as often
/// changes nothing in that.
#[test]
fn it_grows_with_machines_and_not_with_what_they_serve() {
    let of = |count, think_ms| more(|rate| tiles(count, think_ms * MS, rate), "instructions");
    let (one, two, hurried) = (of(1, 4), of(2, 4), of(1, 2));
    assert!((two / one - 2.0).abs() < 0.15, "{one} {two}");
    assert!((hurried / one - 1.0).abs() < 0.15, "{one} {hurried}");
}

/// Each wake-up of one that waits is an interruption and a dispatch, which CP executes.
#[test]
fn a_wake_up_is_an_interruption_of_who_waits() {
    let with = |rate| {
        let machines = (0..4).map(|at| virtual_machine(&format!("i{at}"), Role::Idle, None));
        let mut zvm = free_cp(machines.collect(), Vec::new());
        zvm.paths = real_paths();
        (zvm.daemon_rate_per_s, zvm.daemon_ns) = (rate, WORK_NS);
        alone(4, zvm, Workload::Idle)
    };
    let (slow, fast) = (run(&with(RATE), 0), run(&with(2.0 * RATE), 0));
    for column in ["chargeable_ns", "system_ns", "guest_ns"] {
        let times = total(&fast, column) / total(&slow, column);
        assert!((times - 2.0).abs() < 0.2, "{column}: {times}");
    }
    assert_eq!(total(&slow, "tx_done"), 0.0);
}

/// Two clients, whose connections think, and eight servers, which wait for pages most of the time.
/// Daemons wake so often, and execute so much in all.
fn paged(rate: f64) -> Spec {
    let mut zvm = free_cp(tile(0, 2, 8), vec![switch("s")]);
    zvm.paging = Some(paging(4));
    zvm.paths = real_paths();
    (zvm.daemon_rate_per_s, zvm.daemon_ns) = (rate, (1e6 / rate) as u64);
    for machine in &mut zvm.machines {
        machine.memory_bytes = GIB;
    }
    let mut spec = alone(8, zvm, web());
    spec.partitions[0].memory[0].bytes = 7 * GIB;
    if let Workload::Web {
        file_bytes,
        think_ns,
        ..
    } = &mut spec.partitions[0].workload
    {
        (*file_bytes, *think_ns) = (1 << 20, 60 * MS);
    }
    (spec.duration_ns, spec.interval_ns) = (20 * SECOND, SECOND);
    spec
}

/// Of so many machines from `first` on: the mean part of their time that they are idle, neither at
/// work nor waiting for a page or a processor, and their dispatches in a second.
fn of_machines(outcome: &Outcome, spec: &Spec, first: i64, count: i64) -> (f64, f64) {
    let table = &outcome.virtual_machine;
    let sum = |column: &str| {
        let (of, at) = (table.at("virtual_machine"), table.at(column));
        let ours = table
            .rows()
            .filter(|row| (first..first + count).contains(&row[of]));
        ours.map(|row| row[at]).sum::<i64>() as f64
    };
    let taken = ["guest_ns", "chargeable_ns", "wait_ns", "page_wait_ns"].map(sum);
    let all = (count as u64 * spec.duration_ns) as f64;
    let idle = 1.0 - taken.iter().sum::<f64>() / all;
    (idle, sum("dispatches") / spec.duration_ns as f64 * 1e9)
}

/// Wake-ups ten times as often, each a tenth of the work: each is a dispatch, an interruption and a
/// signal of who is idle when it comes. Who waits for a page takes it when that has come.
#[test]
fn more_wake_ups_are_more_dispatches_of_who_is_idle_and_of_nobody_else() {
    let rates = [100.0, 1_000.0];
    let specs = rates.map(paged);
    let runs = [run(&specs[0], 0), run(&specs[1], 0)];
    let (mut dispatched, mut idle) = (0.0, [0.0; 2]);
    for (role, (first, count)) in [(0, 2), (2, 8)].into_iter().enumerate() {
        let of = [0, 1].map(|at| of_machines(&runs[at], &specs[at], first, count));
        idle[role] = f64::midpoint(of[0].0, of[1].0);
        let by_hand = count as f64 * idle[role] * (rates[1] - rates[0]);
        let more = of[1].1 - of[0].1;
        assert!((more / by_hand - 1.0).abs() < 0.03, "{more} for {by_hand}");
        dispatched += more;
    }
    assert!(idle[0] > 0.9 && idle[1] < 0.7, "{idle:?}");
    let grown = |column: &str| {
        let [few, many] = [0, 1].map(|at| total(&runs[at], column));
        (many - few, many / few)
    };
    assert!((grown("guest_ns").1 - 1.0).abs() < 0.02);
    let paths = real_paths();
    let each = grown("chargeable_ns").0 / dispatched / 20.0;
    let by_hand = paths.interruption + paths.signal;
    assert!((each / by_hand - 1.0).abs() < 0.03, "{each} for {by_hand}");
}

/// What comes from outside while a daemon is at work is done all the same, later.
#[test]
fn what_comes_from_outside_is_done_all_the_same_and_waits() {
    let with = |rate| {
        let mut zvm = free_cp(vec![served("one", 1, 1_000.0, 100_000.0)], Vec::new());
        (zvm.daemon_rate_per_s, zvm.daemon_ns) = (rate, 20 * WORK_NS);
        let mut spec = alone(1, zvm, Workload::Idle);
        spec.partitions[0].profile = missing_profile(100_000.0);
        spec.duration_ns = 4 * SECOND;
        spec
    };
    let (none, some) = (run(&with(0.0), 0), run(&with(100.0), 0));
    let done = total(&some, "tx_done") / total(&none, "tx_done");
    assert!((done - 1.0).abs() < 0.01, "{done}");
    let response = |of: &Outcome| total(of, "response_ns") / total(of, "tx_done");
    assert!(response(&some) > 2.0 * response(&none));
}

/// A loop never comes to anything else.
#[test]
fn loops_do_nothing_else() {
    let of = |rate| {
        let mut zvm = free_cp(endless(3), Vec::new());
        (zvm.daemon_rate_per_s, zvm.daemon_ns) = (rate, WORK_NS);
        let outcome = run(&alone(2, zvm, Workload::Idle), 0);
        (total(&outcome, "guest_ns"), total(&outcome, "instructions"))
    };
    assert_eq!(of(0.0), of(RATE));
}

/// With more of it clients and servers come to fewer transactions where they are all that is busy.
#[test]
fn a_bound_system_does_fewer_transactions() {
    let of = |rate| {
        let mut spec = tiles(1, 0, rate);
        spec.machine = cores_of(1, 2);
        let one = zvm_partition(2, cp(&mut spec.partitions[0]).clone(), web());
        spec.partitions = vec![one];
        total(&run(&spec, 0), "tx_done")
    };
    let done = [0.0, RATE, 4.0 * RATE].map(of);
    assert!(
        done.windows(2).all(|pair| pair[1] < 0.99 * pair[0]),
        "{done:?}"
    );
}
