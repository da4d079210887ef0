//! Threads that wait for each other: pairs that exchange messages in any guest, and programs whose
//! threads meet at barriers. Each expected figure is worked out beside its test.

use crate::common::host::{host_machine, host_spec, of_kvm, plain_kvm, threads};
use crate::common::{
    aix, capped, dedicated, loops, machine, partition, quiet_guest, quiet_unix, run, shared, spec,
    vertical, Outcome, MS, SECOND,
};
use homenode_engine::sim::check;
use homenode_engine::spec::{Distribution, Guest, LockKind, Partition, Policy, Spec, Workload};

/// Time of a transaction: a million instructions at a nanosecond each [ns].
const UNIT_NS: u64 = MS;

fn guests() -> [Guest; 3] {
    [
        Guest::Aix(quiet_guest()),
        Guest::Hpux(quiet_unix()),
        Guest::Linux(quiet_unix()),
    ]
}

fn pairs(count: u32) -> Workload {
    Workload::Pairs {
        count,
        exchanges: 4,
        client_share: 5.0 / 9.0,
        think_ns: 0,
        think: Distribution::Constant,
        burst_work: Distribution::Constant,
        message_bytes: 0,
        generator: None,
    }
}

fn programs(count: u32, threads: u16, burst_work: Distribution) -> Workload {
    Workload::Barriers {
        count,
        threads,
        burst_work,
    }
}

/// A partition on cores of its own.
fn alone(cores: u16, guest: Guest, workload: Workload) -> Spec {
    let mut one = partition("a", dedicated(0..cores, false), workload);
    one.guest = guest;
    let mut machine = machine(&format!("core:{cores}"));
    machine.hypervisor.policy = Policy::Dedicated;
    let mut spec = spec(machine, vec![one]);
    spec.warmup_ns = 100 * MS;
    spec
}

fn done(outcome: &Outcome) -> f64 {
    outcome.total("a", "tx_done")
}

fn near(value: f64, wanted: f64, share: f64, what: &str) {
    let near = (value - wanted).abs() <= share * wanted;
    assert!(near, "{what}: {value} for {wanted}");
}

#[test]
fn a_pair_keeps_one_core_busy_and_more_pairs_as_many_as_there_are() {
    for guest in guests() {
        for (cores, count) in [(1, 1), (4, 1), (4, 3), (2, 5)] {
            let outcome = run(&alone(cores, guest.clone(), pairs(count)), 0);
            let busy = f64::from(count.min(cores.into()));
            let wanted = busy * (SECOND / UNIT_NS) as f64;
            near(done(&outcome), wanted, 0.005, "transactions");
            near(outcome.total("a", "busy_ns"), busy * 1e9, 1e-3, "cores");
            assert_eq!(outcome.total("a", "tx_inside"), f64::from(count));
        }
    }
}

#[test]
fn a_message_is_a_switch_of_threads() {
    for guest in guests() {
        let outcome = run(&alone(2, guest, pairs(1)), 0);
        // Four requests and four answers.
        let switches = outcome.total("a", "context_switches");
        near(switches, 8.0 * done(&outcome), 0.01, "switches");
    }
}

#[test]
fn a_pair_that_thinks_leaves_its_processor() {
    let mut workload = pairs(1);
    if let Workload::Pairs { think_ns, .. } = &mut workload {
        *think_ns = 3 * UNIT_NS;
    }
    for guest in guests() {
        let outcome = run(&alone(2, guest, workload.clone()), 0);
        near(done(&outcome), 250.0, 0.01, "transactions");
        near(outcome.total("a", "busy_ns"), 0.25e9, 0.01, "cores");
    }
}

#[test]
fn pairs_run_wherever_threads_do() {
    let kvm = {
        let mut one = partition("a", threads(2, 100, of_kvm(plain_kvm())), pairs(1));
        one.guest = Guest::Linux(quiet_unix());
        host_spec(host_machine(Policy::Linux, "core:2"), vec![], vec![one])
    };
    let prsm = {
        let mut one = partition("a", vertical(2), pairs(1));
        one.guest = Guest::Linux(quiet_unix());
        let mut machine = machine("core:2");
        machine.hypervisor.policy = Policy::Prsm;
        spec(machine, vec![one])
    };
    let powervm = |processors| {
        spec(
            machine("core:2"),
            vec![partition("a", processors, pairs(1))],
        )
    };
    let all = [(kvm, 1.0), (prsm, 1.0), (powervm(shared(1.0, 2)), 1.0)];
    for (spec, cores) in all.into_iter().chain([(powervm(capped(0.5, 1)), 0.5)]) {
        let outcome = run(&spec, 0);
        let seconds = (spec.duration_ns / SECOND) as f64;
        // What dispatching costs comes off.
        near(
            done(&outcome),
            1_000.0 * cores * seconds,
            0.08,
            "transactions",
        );
    }
}

/// Mean of the largest of so many, of exponential parts of mean 1.
fn harmonic(threads: u16) -> f64 {
    (1..=threads).map(|k| 1.0 / f64::from(k)).sum()
}

#[test]
fn a_step_lasts_as_long_as_its_largest_part() {
    for guest in guests() {
        for threads in [1, 2, 4, 8] {
            let of = |work| {
                let mut spec = alone(8, guest.clone(), programs(1, threads, work));
                spec.duration_ns = 5 * SECOND;
                let outcome = run(&spec, 0);
                (outcome.of("a").response.mean, outcome)
            };
            let part = UNIT_NS as f64 / f64::from(threads);
            let (equal, outcome) = of(Distribution::Constant);
            near(equal, part, 1e-4, "equal parts");
            near(
                outcome.total("a", "busy_ns"),
                5e9 * f64::from(threads),
                1e-4,
                "cores",
            );
            let (random, outcome) = of(Distribution::Exponential);
            near(random, part * harmonic(threads), 0.03, "random parts");
            // All wait for one: no more is done than the parts are.
            let work = outcome.total("a", "instructions") / UNIT_NS as f64;
            near(work, done(&outcome), 0.03, "work");
        }
    }
}

#[test]
fn a_thread_too_many_holds_up_all_others() {
    for guest in guests() {
        // Four equal parts on three cores: one of them comes after another one.
        let outcome = run(&alone(3, guest, programs(1, 4, Distribution::Constant)), 0);
        near(
            outcome.of("a").response.mean,
            0.5 * UNIT_NS as f64,
            1e-3,
            "step",
        );
    }
}

#[test]
fn more_cores_make_steps_shorter_down_to_one_part() {
    let lengths: Vec<f64> = [1, 2, 4, 8, 12]
        .map(|cores| {
            let work = programs(1, 8, Distribution::Constant);
            run(&alone(cores, Guest::Linux(quiet_unix()), work), 0)
                .of("a")
                .response
                .mean
        })
        .to_vec();
    for (length, share) in lengths.iter().zip([1.0, 0.5, 0.25, 0.125, 0.125]) {
        near(*length, share * UNIT_NS as f64, 1e-3, "step");
    }
}

/// Cores of work that a partition of four virtual processors does beside a neighbour that wants
/// all four cores, both entitled to half of them.
fn beside_a_neighbour(workload: Workload) -> f64 {
    let one = partition("a", shared(2.0, 4), workload);
    let other = partition("b", shared(2.0, 4), loops(4));
    let mut spec = spec(machine("core:4"), vec![one, other]);
    spec.duration_ns = 5 * SECOND;
    run(&spec, 0).total("a", "instructions") / 5e9
}

#[test]
fn a_neighbour_costs_a_program_more_than_threads_that_go_on_alone() {
    let alone = beside_a_neighbour(Workload::Warehouses { count: 4 });
    let together = beside_a_neighbour(programs(1, 4, Distribution::Exponential));
    near(alone, 2.0, 0.02, "its half");
    // Who waits at the barrier cedes, and its neighbour takes what it does not use.
    assert!(together < 0.9 * alone, "{together} {alone}");
}

#[test]
fn a_lock_and_folding_and_taking_turns_lose_no_thread() {
    let mut one = partition(
        "a",
        shared(1.0, 4),
        programs(3, 6, Distribution::Exponential),
    );
    one.smt = 2;
    one.profile.lock_kind = LockKind::Sleeping;
    one.profile.lock_share = 0.1;
    one.profile.lock_hold_instructions = 2_000.0;
    let guest = aix(&mut one);
    (guest.xvcpus, guest.timeslice_ns) = (0, MS / 10);
    guest.rebalance_ns = Some(10 * MS);
    let mut two = partition("b", shared(1.0, 4), pairs(5));
    two.profile = one.profile.clone();
    let spec = spec(machine("core:3 pu:2"), vec![one, two]);
    let outcome = run(&spec, 0);
    for (name, inside) in [("a", 3.0), ("b", 5.0)] {
        assert_eq!(outcome.total(name, "tx_inside"), inside);
        assert!(outcome.total(name, "tx_done") > 100.0);
    }
}

#[test]
fn the_same_seed_gives_the_same_rows() {
    let rows = |workload: Workload| {
        let mut one = partition("a", shared(1.0, 3), workload);
        one.smt = 2;
        let spec = spec(machine("core:2 pu:2"), vec![one]);
        let again = run(&spec, 1);
        let outcome = run(&spec, 1);
        assert_eq!(outcome.partition, again.partition);
        assert_eq!(outcome.cpu, again.cpu);
    };
    rows(pairs(3));
    rows(programs(2, 4, Distribution::Exponential));
}

#[test]
fn what_cannot_be_is_refused() {
    let told = |workload| {
        let one: Partition = partition("a", shared(1.0, 3), workload);
        let spec = spec(machine("core:2"), vec![one]);
        check(&spec).expect_err("it is refused").to_string()
    };
    let constant = Distribution::Constant;
    assert!(told(programs(0, 4, constant)).contains("programs"));
    assert!(told(programs(1, 0, constant)).contains("threads"));
    assert!(told(programs(1_000, 1_000, constant)).contains("threads of all programs"));
    assert!(told(pairs(0)).contains("pairs"));
}
