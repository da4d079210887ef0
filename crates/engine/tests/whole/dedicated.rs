//! Policy `dedicated`: every partition has cores of its own for good.

use crate::common;
use crate::common::{
    dedicated, loops, machine, memory, missing_profile, partition, quiet_unix, run, shared, spec,
    transactions, users, Outcome, GIB, MS, SECOND,
};
use homenode_engine::sim::check;
use homenode_engine::spec::{Distribution, Guest, Machine, Partition, Policy, Spec, Workload};

/// A machine without a dispatcher.
fn hard(text: &str) -> Machine {
    let mut machine = machine(text);
    machine.hypervisor.policy = Policy::Dedicated;
    machine
}

/// An HP-UX partition on these cores, with its memory on node 0.
fn vpar(name: &str, cores: std::ops::Range<u16>, workload: Workload) -> Partition {
    let mut one = partition(name, dedicated(cores, false), workload);
    one.guest = Guest::Hpux(quiet_unix());
    one
}

/// Work that sleeps and wakes, misses and leaves a footprint.
fn bursty(name: &str, cores: std::ops::Range<u16>) -> Partition {
    let workload = Workload::Transactions {
        rate_per_s: 1_500.0,
        bursts: 3.0,
        wait_ns: MS,
        burst_work: Distribution::Exponential,
    };
    let mut one = vpar(name, cores, workload);
    one.profile = missing_profile(1e6);
    one.profile.lock_share = 0.05;
    one
}

/// All rows but the pools', which tell of cores that nobody owns.
fn rows(outcome: Outcome) -> (common::Table, common::Table, common::Table) {
    (outcome.partition, outcome.cpu, outcome.dispatches)
}

#[test]
fn a_virtual_partition_alone_is_a_hard_partition_of_its_cell() {
    // Four of the eight cores of a two-cell machine, and a machine of that cell alone.
    let of = |text| {
        let mut spec = spec(hard(text), vec![bursty("a", 0..4)]);
        spec.record_dispatches = true;
        rows(run(&spec, 0))
    };
    assert_eq!(of("node:2 core:4"), of("core:4"));
}

#[test]
fn it_is_what_a_dispatcher_without_costs_makes_of_dedicated_cores() {
    let of = |machine| {
        let mut spec = spec(machine, vec![bursty("a", 0..2), bursty("b", 2..4)]);
        spec.machine.hypervisor.counts_redispatch = false;
        spec.record_dispatches = true;
        rows(run(&spec, 0))
    };
    assert_eq!(of(hard("core:4")), of(machine("core:4")));
}

#[test]
fn going_to_ones_core_and_leaving_it_takes_no_time() {
    let of = |ns: u64| {
        let mut machine = hard("core:2");
        let hypervisor = &mut machine.hypervisor;
        (hypervisor.dispatch_ns, hypervisor.cede_ns) = (ns, ns);
        (hypervisor.prod_ns, hypervisor.phantom_ns) = (ns, ns);
        rows(run(&spec(machine, vec![bursty("a", 0..2)]), 0))
    };
    assert_eq!(of(0), of(50_000));
}

#[test]
fn a_monitor_takes_its_share_and_nothing_else_changes() {
    let of = |share| {
        let mut one = vpar("a", 0..4, Workload::Warehouses { count: 4 });
        one.hypervisor_share = share;
        let mut spec = spec(hard("core:4"), vec![one]);
        spec.warmup_ns = 100 * MS;
        run(&spec, 0)
    };
    let (without, with) = (of(0.0), of(0.2));
    assert_eq!(without.total("a", "tx_done"), 4_000.0);
    assert_eq!(without.total("a", "book_hypervisor"), 0.0);
    assert_eq!(with.total("a", "tx_done"), 3_200.0);
    let taken = with.total("a", "book_hypervisor") / with.total("a", "busy_ns");
    assert!((taken - 0.2).abs() < 1e-6, "{taken}");
}

#[test]
fn idle_cores_stay_idle_beside_a_partition_that_could_use_them() {
    let idle = vpar("idle", 0..3, Workload::Idle);
    let greedy = vpar("greedy", 3..4, loops(9));
    let outcome = run(&spec(hard("core:4"), vec![idle, greedy]), 0);
    assert_eq!(outcome.total("greedy", "busy_ns"), SECOND as f64);
    assert_eq!(outcome.total("idle", "busy_ns"), 0.0);
    assert_eq!(outcome.total("idle", "donated_ns"), 0.0);
    assert_eq!(outcome.summary.pool_idle_ns, 0);
}

#[test]
fn a_neighbour_that_shares_no_cache_and_no_memory_is_not_noticed() {
    let alone = run(&spec(hard("node:2 core:4"), vec![bursty("a", 0..4)]), 0);
    let mut other = bursty("b", 4..8);
    other.home = vec![1];
    other.memory = vec![memory(&[1], GIB)];
    let both = run(
        &spec(hard("node:2 core:4"), vec![bursty("a", 0..4), other]),
        0,
    );
    for column in ["instructions", "tx_done", "response_ns", "lines_l2"] {
        assert_eq!(
            both.series("a", column),
            alone.series("a", column),
            "{column}"
        );
    }
}

#[test]
fn users_think_wait_and_are_served_by_littles_law() {
    let measure = |count: u32| {
        let mut spec = spec(hard("core:4"), vec![vpar("a", 0..4, users(count, 20 * MS))]);
        (spec.warmup_ns, spec.duration_ns) = (2 * SECOND, 60 * SECOND);
        spec.interval_ns = spec.duration_ns;
        let outcome = run(&spec, 0);
        (
            outcome.total("a", "tx_done") / 60.0,
            outcome.of("a").response.mean * 1e-9,
        )
    };
    // A transaction takes a core a millisecond.
    for count in [4, 40, 200] {
        let (rate, response) = measure(count);
        let law = f64::from(count) / (0.02 + response);
        assert!((rate / law - 1.0).abs() < 0.02, "{count}: {rate}, {law}");
        assert!(rate <= 4_000.0 && rate < f64::from(count) / 0.021 * 1.01);
    }
    // The limits: no queueing with few of them, the four cores with many.
    assert!((measure(4).0 / (4.0 / 0.021) - 1.0).abs() < 0.03);
    assert!((measure(200).0 / 4_000.0 - 1.0).abs() < 0.01);
}

#[test]
fn a_woken_thread_stays_on_its_processor_while_that_is_free() {
    for guest in [Guest::Hpux(quiet_unix()), Guest::Linux(quiet_unix())] {
        let bursts = Workload::Users {
            count: 1,
            think_ns: 10 * MS,
            bursts: 20.0,
            wait_ns: 5 * MS,
            burst_work: Distribution::Constant,
            think: Distribution::Exponential,
        };
        let mut one = vpar("a", 0..8, bursts);
        one.guest = guest;
        let mut spec = spec(hard("node:2 core:4"), vec![one]);
        spec.duration_ns = 5 * SECOND;
        let outcome = run(&spec, 0);
        let moves = |outcome: &Outcome| -> i64 {
            let at = outcome.cpu.at("migrations");
            outcome.cpu.rows().map(|row| row[at]).sum()
        };
        assert!(outcome.total("a", "context_switches") > 300.0);
        assert_eq!(moves(&outcome), 0);
        // New transactions go to equally idle chips in turn, so both nodes have work.
        let busy = |cpus: std::ops::Range<i64>| -> i64 {
            let (cpu, ns) = (outcome.cpu.at("cpu"), outcome.cpu.at("ticks_busy_ns"));
            let rows = outcome.cpu.rows().filter(|row| cpus.contains(&row[cpu]));
            rows.map(|row| row[ns]).sum()
        };
        let share = busy(0..4) as f64 / busy(0..8) as f64;
        assert!((0.3..0.7).contains(&share), "{share}");
    }
}

#[test]
fn a_thread_that_runs_on_is_left_where_it_is() {
    // Three loops of a millisecond on eight cores: nothing is gained by moving one.
    let mut one = vpar("a", 0..8, loops(3));
    if let Guest::Hpux(unix) = &mut one.guest {
        unix.rebalance_ns = Some(10 * MS);
    }
    let outcome = run(&spec(hard("node:2 core:4"), vec![one]), 0);
    let at = outcome.cpu.at("migrations");
    assert_eq!(outcome.cpu.rows().map(|row| row[at]).sum::<i64>(), 0);
    assert_eq!(outcome.total("a", "busy_ns"), 3.0 * SECOND as f64);
}

#[test]
fn shared_and_lent_processors_are_refused_by_name() {
    let refused = |processors| {
        let workload = transactions(10.0, Distribution::Constant);
        let spec: Spec = spec(hard("core:2"), vec![partition("db", processors, workload)]);
        check(&spec).expect_err("no dispatcher").to_string()
    };
    let message = refused(shared(0.5, 1));
    assert_eq!(
        message,
        "partition db: its processors are shared, but on machine short every partition has cores \
         of its own for good; give it dedicated cores that are not lent"
    );
    assert!(refused(dedicated(0..1, true)).contains("donated while idle"));
}
