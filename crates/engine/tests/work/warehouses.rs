//! Warehouses: threads that do transaction after transaction. Work without misses on cores of one's
//! own leaves nothing to chance, so what they do follows by hand.

use crate::common::{
    capped, dedicated, machine, missing_profile, partition, quiet_guest, quiet_unix, run, shared,
    spec, Outcome, MS, SECOND,
};
use homenode_engine::spec::{Guest, Partition, Policy, Spec, Workload};

/// Time of a transaction: a million instructions at a nanosecond each [ns].
const UNIT_NS: u64 = MS;

fn guests() -> [Guest; 3] {
    [
        Guest::Aix(quiet_guest()),
        Guest::Hpux(quiet_unix()),
        Guest::Linux(quiet_unix()),
    ]
}

/// A partition alone on a machine on which cores have one owner; recorded after 100 ms.
fn alone(cores: u16, guest: Guest, workload: Workload) -> Spec {
    let mut one = partition("a", dedicated(0..cores, false), workload);
    one.guest = guest;
    let mut machine = machine(&format!("core:{cores}"));
    machine.hypervisor.policy = Policy::Dedicated;
    let mut spec = spec(machine, vec![one]);
    spec.warmup_ns = 100 * MS;
    spec
}

fn warehouses(count: u32) -> Workload {
    Workload::Warehouses { count }
}

fn with_rebalance(guest: Guest, every_ns: u64) -> Guest {
    let mut guest = guest;
    match &mut guest {
        Guest::Aix(aix) => aix.rebalance_ns = Some(every_ns),
        Guest::Hpux(unix) | Guest::Linux(unix) => unix.rebalance_ns = Some(every_ns),
        Guest::Zvm(_) => unreachable!("CP has no such balancer"),
    }
    guest
}

#[test]
fn as_many_as_cores_do_a_transaction_a_core_and_unit_of_time() {
    for guest in guests() {
        for (cores, count) in [(1, 1), (4, 4), (4, 5), (4, 12), (3, 17)] {
            let spec = alone(cores, guest.clone(), warehouses(count));
            let outcome = run(&spec, 0);
            let wanted = f64::from(cores) * (spec.duration_ns / UNIT_NS) as f64;
            assert_eq!(outcome.total("a", "tx_done"), wanted, "{count} on {cores}");
            let busy = f64::from(cores) * spec.duration_ns as f64;
            assert_eq!(outcome.total("a", "busy_ns"), busy);
            assert_eq!(outcome.total("a", "instructions"), busy);
        }
    }
}

#[test]
fn fewer_than_cores_leave_the_rest_idle() {
    let outcome = run(&alone(8, Guest::Hpux(quiet_unix()), warehouses(3)), 0);
    assert_eq!(outcome.total("a", "tx_done"), 3_000.0);
    assert_eq!(outcome.total("a", "busy_ns"), 3.0 * SECOND as f64);
    assert_eq!(outcome.of("a").response.max, UNIT_NS);
}

#[test]
fn a_thread_goes_from_one_transaction_to_the_next_without_leaving_its_processor() {
    for guest in guests() {
        let spec = alone(2, guest, warehouses(2));
        let outcome = run(&spec, 0);
        for column in ["context_switches", "cede_calls", "dispatches", "vcsw"] {
            assert_eq!(outcome.total("a", column), 0.0, "{column}");
        }
        // An event a transaction and one a window.
        let windows = (spec.warmup_ns + spec.duration_ns) / spec.machine.hypervisor.window_ns;
        let transactions = 2 * (spec.warmup_ns + spec.duration_ns) / UNIT_NS;
        assert!(outcome.summary.events <= transactions + windows + 10);
    }
}

#[test]
fn a_part_of_a_nanosecond_is_not_lost() {
    // Each transaction would be 1234 ns long if its end were rounded for itself.
    let mut spec = alone(1, Guest::Linux(quiet_unix()), warehouses(2));
    spec.partitions[0].profile.instructions_per_unit = 1_234.3;
    let done = run(&spec, 0).total("a", "tx_done");
    assert!((done - 1e9 / 1_234.3).abs() <= 2.0, "{done}");
}

#[test]
fn threads_on_one_core_take_turns_by_time_slice() {
    let outcome = run(&alone(1, Guest::Hpux(quiet_unix()), warehouses(3)), 0);
    // Slices of 10 ms: ten transactions, then two slices of the others.
    assert_eq!(outcome.total("a", "context_switches"), 100.0);
    let response = outcome.of("a").response;
    assert_eq!(response.max, 20 * MS + UNIT_NS);
    assert_eq!(response.p50, UNIT_NS);
    // Little's law: three inside, a thousand a second.
    let mean = outcome.total("a", "response_ns") / outcome.total("a", "tx_done");
    assert!((mean / 3e6 - 1.0).abs() < 0.02, "{mean}");
}

/// The shortest and the longest of three loops of a second each on two cores [s].
fn three_on_two(guest: Guest) -> [f64; 2] {
    let work = Workload::Loops {
        count: 3,
        endless: false,
        busy_ns: 0,
        rest_ns: 0,
    };
    let mut spec = alone(2, guest, work);
    spec.partitions[0].profile.instructions_per_unit = 1e9;
    spec.warmup_ns = 0;
    spec.duration_ns = 2 * SECOND;
    let finished = run(&spec, 0).of("a").finished;
    assert_eq!(finished.count, 3);
    assert!((2 * finished.least_ns + finished.most_ns..).contains(&finished.sum_ns));
    [finished.least_ns, finished.most_ns].map(|ns| ns as f64 * 1e-9)
}

#[test]
fn the_balancer_makes_an_odd_thread_take_turns_with_all() {
    let never = three_on_two(Guest::Linux(quiet_unix()));
    assert!((never[0] - 1.0).abs() < 0.02, "{never:?}");
    let often = three_on_two(with_rebalance(Guest::Linux(quiet_unix()), 10 * MS));
    // Each gets two thirds of a core: a second of work takes one and a half.
    assert!(
        often.iter().all(|s| (s / 1.5 - 1.0).abs() < 0.1),
        "{often:?}"
    );
}

#[test]
fn a_capped_partition_does_the_share_of_its_entitlement() {
    for guest in guests() {
        let mut one = partition("a", capped(0.5, 2), warehouses(2));
        one.guest = guest;
        let mut spec = spec(machine("core:2"), vec![one]);
        spec.warmup_ns = 100 * MS;
        let outcome = run(&spec, 0);
        assert_eq!(outcome.total("a", "busy_ns"), 0.5 * SECOND as f64);
        assert!((outcome.total("a", "tx_done") - 500.0).abs() <= 2.0);
    }
}

/// Two partitions in which every mechanism that draws random numbers is at work.
fn lively() -> Spec {
    let one = |name: &str, guest| -> Partition {
        let mut one = partition(name, shared(1.5, 4), warehouses(7));
        one.guest = with_rebalance(guest, 7 * MS);
        one.smt = 2;
        one.profile = missing_profile(3e5);
        one.profile.lock_share = 0.05;
        one
    };
    let [aix, hpux, mut linux] = guests();
    if let Guest::Linux(unix) = &mut linux {
        (unix.daemon_rate_per_s, unix.daemon_ns) = (200.0, 50_000);
    }
    let partitions = vec![one("a", aix), one("h", hpux), one("l", linux)];
    spec(machine("node:2 core:4 pu:2"), partitions)
}

#[test]
fn the_same_seed_gives_the_same_rows_and_another_one_does_not() {
    let rows = |seed| {
        let mut spec = lively();
        spec.seed = seed;
        let Outcome {
            partition,
            cpu,
            pool,
            ..
        } = run(&spec, 3);
        (partition, cpu, pool)
    };
    assert_eq!(rows(1), rows(1));
    assert_ne!(rows(1), rows(2));
}

#[test]
fn what_goes_in_is_done_or_inside() {
    let outcome = run(&lively(), 0);
    for name in ["a", "h", "l"] {
        let arrived = outcome.total(name, "tx_arrived");
        let done = outcome.total(name, "tx_done");
        assert_eq!(outcome.total(name, "tx_inside"), 7.0);
        assert_eq!(arrived, done);
        assert!(done > 100.0, "{name} did {done}");
        assert_eq!(outcome.of(name).response.count as f64, done);
        assert!(outcome.of(name).steady.is_steady);
    }
}
