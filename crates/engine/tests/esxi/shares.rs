//! Policy `esxi`: shares, reservations and limits, one pace for siblings, home nodes.

use crate::common::esxi::{assert_cores, cores, esxi, inside, of, pool, vm, with, RUN_S};
use crate::common::host::{group, host_machine, host_spec, in_company, on_off, threads};
use crate::common::{assert_all, loops, memory, run, transactions, Outcome, MS, SECOND};
use homenode_engine::sim;
use homenode_engine::spec::{
    Distribution, HostThreads, LockKind, MemoryPolicy, Partition, Policy, ResourcePool, Spec,
    Workload,
};

#[test]
fn time_goes_by_the_shares_of_whole_virtual_machines() {
    let vms = vec![vm("a", 2, Some(4000)), vm("b", 2, None), vm("c", 1, None)];
    let outcome = run(&esxi("core:2", vms), 0);
    for (name, part) in [("a", 4.0), ("b", 2.0), ("c", 1.0)] {
        assert_cores(&outcome, name, 2.0 * part / 7.0, 0.03);
    }
}

#[test]
fn a_reservation_is_kept_against_many_shares() {
    let vms = || vec![of("a", 2, Some(100), 1.5, None), vm("b", 4, Some(100_000))];
    let outcome = run(&esxi("core:4", vms()), 0);
    assert_cores(&outcome, "a", 1.5, 0.05);
    let mut without = vms();
    without[0] = vm("a", 2, Some(100));
    let outcome = run(&esxi("core:4", without), 0);
    assert_cores(&outcome, "a", 0.004, 0.03);
}

fn pooled(machine: &str, pools: Vec<ResourcePool>, vms: Vec<Partition>) -> Spec {
    let mut spec = with(esxi(machine, vms), "quantum_ns", 20 * MS);
    spec.resource_pools = pools;
    spec
}

/// Two of 1000 shares in a pool of 1000, beside one of 1000.
fn two_and_one() -> Vec<Partition> {
    let shares = Some(1000);
    vec![
        inside(0, vm("a", 2, shares)),
        inside(0, vm("b", 2, shares)),
        vm("c", 4, shares),
    ]
}

#[test]
fn a_pool_gets_its_part_however_many_are_in_it() {
    let spec = pooled("core:4", vec![pool("p", None, 1000, None)], two_and_one());
    let outcome = run(&spec, 0);
    for (name, wanted) in [("a", 1.0), ("b", 1.0), ("c", 2.0)] {
        assert_cores(&outcome, name, wanted, 0.05);
    }
    assert_all(&spec, &outcome);
    // What one of a pool leaves is first its neighbour's in there.
    let mut idle = two_and_one();
    on_off(1, 1e3, SECOND, &mut idle[0]);
    let mut spec = pooled("core:4", vec![pool("p", None, 1000, None)], idle);
    // Until the first look at what was wanted all count as if they wanted everything.
    spec.warmup_ns = 3 * SECOND;
    let outcome = run(&spec, 0);
    assert_cores(&outcome, "b", 2.0, 0.1);
    assert_cores(&outcome, "c", 2.0, 0.1);
}

#[test]
fn a_pool_in_a_pool_has_a_part_of_its_part() {
    let pools = vec![pool("p", None, 1000, None), pool("q", Some(0), 3000, None)];
    let vms = vec![
        inside(1, vm("a", 2, Some(1))),
        inside(0, vm("b", 2, Some(1000))),
        vm("c", 4, Some(1000)),
    ];
    let outcome = run(&pooled("core:4", pools, vms), 0);
    for (name, wanted) in [("a", 1.5), ("b", 0.5), ("c", 2.0)] {
        assert_cores(&outcome, name, wanted, 0.05);
    }
}

#[test]
fn the_limit_of_a_pool_binds_the_sum_of_all_in_it() {
    let limited = || vec![pool("p", None, 1000, Some(1.0))];
    let outcome = run(&pooled("core:8", limited(), two_and_one()), 0);
    let sum = cores(&outcome, "a") + cores(&outcome, "b");
    assert!((sum - 1.0).abs() < 0.02, "{sum}");
    assert_cores(&outcome, "a", 0.5, 0.05);
    assert_cores(&outcome, "c", 4.0, 0.01);
    for name in ["a", "b"] {
        assert!(outcome.total(name, "throttled_ns") > 0.0);
    }
    assert_eq!(outcome.total("c", "throttled_ns"), 0.0);
    // One of them alone may have all of it, and its own limit holds besides.
    let mut own = two_and_one();
    own[0] = inside(0, of("a", 2, Some(1000), 0.0, Some(0.25)));
    let outcome = run(&pooled("core:8", limited(), own), 0);
    assert_cores(&outcome, "a", 0.25, 0.02);
    assert_cores(&outcome, "b", 0.75, 0.03);
}

/// On processors that idle, where nobody takes anything from anybody but what the pool may use.
#[test]
fn the_limit_of_a_pool_is_divided_by_shares() {
    let spec_of = |third: Partition| {
        let pools = vec![
            pool("p", None, 1000, Some(2.0)),
            pool("q", Some(0), 1000, None),
        ];
        let vms = vec![
            inside(0, vm("a", 4, Some(3000))),
            inside(1, vm("b", 4, Some(10))),
            inside(1, third),
        ];
        let mut spec = pooled("core:12", pools, vms);
        spec.warmup_ns = 3 * SECOND;
        spec
    };
    // 3000 of 4000, and the rest by halves.
    let outcome = run(&spec_of(vm("c", 4, Some(10))), 0);
    for (name, wanted) in [("a", 1.5), ("b", 0.25), ("c", 0.25)] {
        assert_cores(&outcome, name, wanted, 0.02);
    }
    // What one does not want, the others have: first who is in the same pool.
    let mut idle = vm("c", 4, Some(10));
    on_off(1, 1e3, SECOND, &mut idle);
    let outcome = run(&spec_of(idle), 0);
    assert_cores(&outcome, "a", 1.5, 0.03);
    assert_cores(&outcome, "b", 0.5, 0.03);
    assert!(outcome.total("c", "throttled_ns") == 0.0);
}

/// One that works now and then may have all of a pool's limit that nobody else wants.
#[test]
fn a_burst_in_a_pool_waits_for_its_limit_alone() {
    let burst = |limit: f64| {
        let mut one = inside(0, vm("a", 4, Some(1000)));
        on_off(4, 5e6, SECOND / 10, &mut one);
        let mut rest = inside(0, vm("b", 4, Some(9000)));
        on_off(1, 1e3, SECOND, &mut rest);
        let pools = vec![pool("p", None, 1000, Some(limit))];
        let mut spec = pooled("core:8", pools, vec![one, rest]);
        spec.warmup_ns = 3 * SECOND;
        run(&spec, 0).total("a", "throttled_ns")
    };
    assert_eq!(burst(1.5), 0.0);
    assert!(burst(0.5) > 0.0);
}

#[test]
fn what_a_pool_has_reserved_it_gets_against_many_shares() {
    let mut reserving = pool("p", None, 10, None);
    reserving.reservation = 3.0;
    let outcome = run(&pooled("core:4", vec![reserving], two_and_one()), 0);
    assert_cores(&outcome, "a", 1.5, 0.1);
    assert_cores(&outcome, "c", 1.0, 0.1);
}

/// The reservation of one that is in it counts as its pool's, if that may take it from around it.
#[test]
fn a_pool_that_may_not_expand_reserves_no_more_than_it_has() {
    let of_pool = |expandable: bool, reservation: f64| {
        let one = ResourcePool {
            expandable,
            reservation,
            ..pool("p", None, 1000, None)
        };
        let vms = vec![inside(0, of("a", 2, None, 1.5, None)), vm("b", 4, None)];
        sim::check(&pooled("core:4", vec![one], vms))
    };
    assert!(of_pool(true, 0.0).is_ok() && of_pool(false, 1.5).is_ok());
    let refused = of_pool(false, 1.0)
        .expect_err("more than it has")
        .to_string();
    assert!(refused.contains("resource pool p"), "{refused}");
}

#[test]
fn who_leads_the_slowest_sibling_is_stopped() {
    // Eight virtual processors for four cores: all of one virtual machine keep one pace.
    let vms = || vec![vm("wide", 6, None), vm("other", 2, None)];
    let outcome = run(&esxi("core:4", vms()), 0);
    let stopped = outcome.total("wide", "costop_ns");
    assert!(stopped > 0.05 * RUN_S * 1e9, "{stopped}");
    let free = run(&with(esxi("core:4", vms()), "costop_ns", 0), 0);
    assert_eq!(free.total("wide", "costop_ns"), 0.0);
    // No limit held anybody.
    assert_eq!(outcome.total("wide", "throttled_ns"), 0.0);
    // Being stopped takes nothing from it: a sibling runs in its place.
    assert!((cores(&outcome, "wide") - cores(&free, "wide")).abs() < 0.1);
}

#[test]
fn siblings_without_work_stop_nobody() {
    let mut mostly_idle = vm("wide", 4, None);
    mostly_idle.workload = loops(1);
    let outcome = run(&esxi("core:2", vec![mostly_idle, vm("other", 2, None)]), 0);
    assert_eq!(outcome.total("wide", "costop_ns"), 0.0);
}

#[test]
fn beside_a_busy_thread_of_its_core_a_part_is_charged() {
    let alone = run(&esxi("core:2", vec![vm("a", 1, None)]), 0);
    let (used, charged) = (alone.total("a", "busy_ns"), alone.total("a", "charged_ns"));
    assert!((charged / used - 1.0).abs() < 1e-3, "{used} {charged}");
    let mut spec = esxi("core:1 pu:2", vec![vm("a", 1, None), vm("b", 1, None)]);
    spec.machine.hypervisor.siblings = 2;
    let both = run(&spec, 0);
    for name in ["a", "b"] {
        let part = both.total(name, "charged_ns") / both.total(name, "busy_ns");
        assert!((part - 0.625).abs() < 1e-3, "{name} {part}");
    }
}

#[test]
fn one_that_wakes_does_not_wait_for_a_quantum() {
    let mut sleeper = vm("s", 1, None);
    on_off(1, 1e6, 9 * MS, &mut sleeper);
    let outcome = run(&esxi("core:1", vec![sleeper, vm("b", 1, None)]), 0);
    let waited = outcome.of("s").dispatch_wait;
    assert!(waited.mean < 1e6, "{waited:?}");
    // One at its due waits longer than one that asks for little.
    let mut hungry = vm("s", 1, Some(100));
    on_off(1, 1e6, 9 * MS, &mut hungry);
    let outcome = run(&esxi("core:1", vec![hungry, vm("b", 1, None)]), 0);
    assert!(outcome.of("s").dispatch_wait.mean > 2.0 * waited.mean);
}

/// A virtual machine whose memory is on one node.
fn on(name: &str, vcpus: u16, node: u16) -> Partition {
    let mut one = vm(name, vcpus, None);
    one.memory = vec![memory(&[node], 1 << 30)];
    one.memory_policy = MemoryPolicy::Proportional;
    one
}

const TWO_NODES: &str = "node:2 chip:1 core:4";

#[test]
fn virtual_machines_leave_a_full_node_after_two_seconds() {
    // All begin where their memory is: eight for four cores, beside four that idle.
    let vms = vec![on("a", 4, 0), on("b", 4, 0)];
    let outcome = run(&esxi(TWO_NODES, vms), 0);
    let all = cores(&outcome, "a") + cores(&outcome, "b");
    assert!((all - (4.0 * 2.0 + 8.0 * 8.0) / 10.0).abs() < 0.1, "{all}");
    let never = with(
        esxi(TWO_NODES, vec![on("a", 4, 0), on("b", 4, 0)]),
        "rebalance_ns",
        60 * SECOND,
    );
    let outcome = run(&never, 0);
    let all = cores(&outcome, "a") + cores(&outcome, "b");
    assert!((all - 4.0).abs() < 0.05, "{all}");
}

/// Of a partition and node, interval by interval: virtual processors at home, changes of home that
/// led there, memory [bytes].
fn homes(outcome: &Outcome, partition: i64, node: i64) -> Vec<[i64; 3]> {
    let table = &outcome.home;
    let at = ["domain", "vps_at_home", "home_changes", "memory_bytes"].map(|name| table.at(name));
    let rows = table.only("partition", partition);
    let there = rows.filter(|row| row[at[0]] == node);
    there
        .map(|row| [row[at[1]], row[at[2]], row[at[3]]])
        .collect()
}

#[test]
fn homes_and_memory_are_told_by_node() {
    let mut spec = esxi(TWO_NODES, vec![on("a", 4, 0), on("b", 4, 0)]);
    let outcome = run(&spec, 0);
    let all: Vec<_> = (0..2)
        .map(|vm| [homes(&outcome, vm, 0), homes(&outcome, vm, 1)])
        .collect();
    let changes = |node: usize| -> i64 {
        let told = all.iter().flat_map(|vm| &vm[node]);
        told.map(|row| row[1]).sum()
    };
    // One of them has gone, once, and its memory after it.
    assert_eq!([changes(0), changes(1)], [0, 1]);
    let (first, last) = (all[0][0].first(), all[0][0].last());
    let (first, last) = (first.expect("a row"), last.expect("a row"));
    for vm in &all {
        for (here, there) in vm[0].iter().zip(&vm[1]) {
            assert_eq!(here[0] + there[0], 4);
            assert!((here[2] + there[2] - (1 << 30)).abs() <= 1);
        }
    }
    assert_eq!(first[0], 4);
    let gone = usize::from(last[0] == 4);
    let held = |at: usize| all[gone][1][at][2];
    let rows = all[gone][1].len();
    assert_eq!((held(0), all[1 - gone][1][rows - 1][2]), (0, 0));
    assert!(held(rows - 1) > 1 << 29, "{}", held(rows - 1));
    // Memory that is bound stays.
    spec.partitions[gone].memory_policy = MemoryPolicy::Strict;
    let bound = homes(&run(&spec, 0), gone as i64, 1);
    let last = bound.last().expect("a row");
    assert_eq!((last[0], last[2]), (4, 0));
}

#[test]
fn no_homes_are_told_where_there_is_one_node_or_another_scheduler() {
    let outcome = run(&esxi("core:4", vec![vm("a", 4, None)]), 0);
    assert_eq!(outcome.home.rows().count(), 0);
    let threads = group("a", threads(4, 0, HostThreads::default()), loops(4));
    let linux = host_machine(Policy::Linux, TWO_NODES);
    let outcome = run(&host_spec(linux, vec![], vec![threads]), 0);
    assert_eq!(outcome.home.rows().count(), 0);
}

#[test]
fn a_wide_one_is_divided_over_nodes() {
    let outcome = run(&esxi(TWO_NODES, vec![on("wide", 6, 0)]), 0);
    assert_cores(&outcome, "wide", 6.0, 0.01);
    for node in 0..2 {
        assert!(homes(&outcome, 0, node)
            .iter()
            .all(|row| row[0] == 3 && row[1] == 0));
    }
    assert!(outcome.total("wide", "host_migrations") < 1.0);
}

/// Who stays on a node that others have left goes to a core of its own when its quantum is over.
#[test]
fn as_many_busy_ones_as_cores_of_a_node_have_a_core_each() {
    // What each machine has, and how many of two nodes' cores it takes once they are even.
    for vcpus in [
        &[11, 3, 3, 1][..],
        &[9, 4, 5],
        &[5, 7, 2, 4],
        &[2, 2, 2, 2, 1, 1],
    ] {
        let vms = vcpus.iter().enumerate();
        let vms = vms.map(|(at, count)| on(&format!("vm{at}"), *count, 0));
        let mut spec = esxi("node:2 chip:1 core:9 pu:2", vms.collect());
        spec.machine.hypervisor.siblings = 2;
        spec.record_dispatches = true;
        let crowded = in_company(&spec, 7 * SECOND);
        assert!(crowded < 0.02, "{vcpus:?}: {crowded} cores");
    }
}

/// Many small ones leave a full node in one look: none of them alone would leave less than half of
/// the difference.
#[test]
fn small_virtual_machines_leave_a_full_node_together() {
    for count in [5, 7, 8] {
        let vms = (0..count).map(|at| on(&format!("vm{at}"), 1, 0));
        let mut spec = esxi(TWO_NODES, vms.collect());
        spec.warmup_ns = 3 * SECOND;
        let outcome = run(&spec, 0);
        for at in 0..count {
            assert_cores(&outcome, &format!("vm{at}"), 1.0, 0.01);
        }
        let changes = (0..count).map(|vm| homes(&outcome, vm, 1));
        let changes: i64 = changes.flatten().map(|row| row[1]).sum();
        assert_eq!(
            changes, 0,
            "all went in the first look, before this was counted"
        );
    }
}

/// Half of the difference may be left, whatever the bits of its figures.
#[test]
fn one_goes_that_leaves_exactly_half_of_the_difference() {
    for each in [9_u16, 12, 15, 18, 21, 27] {
        let machine = format!("node:2 chip:1 core:{each}");
        let vms = vec![on("goes", each / 3, 0), on("stays", each, 0)];
        let mut spec = esxi(&machine, vms);
        spec.warmup_ns = 3 * SECOND;
        let outcome = run(&spec, 0);
        assert_cores(&outcome, "goes", f64::from(each / 3), 0.01);
        assert_cores(&outcome, "stays", f64::from(each), 0.01);
    }
}

#[test]
fn nodes_that_are_even_enough_move_nobody() {
    let vms = vec![on("a", 2, 0), on("b", 2, 1), on("c", 2, 0), on("d", 2, 1)];
    let outcome = run(&esxi(TWO_NODES, vms), 0);
    for name in ["a", "b", "c", "d"] {
        assert_cores(&outcome, name, 2.0, 0.01);
        assert_eq!(outcome.total(name, "host_migrations"), 0.0);
    }
}

#[test]
fn who_is_owed_changes_nodes_with_who_got_too_much() {
    // Three for two nodes: two share one, and none may be moved to where it would be as crowded.
    let vms = || vec![on("a", 4, 0), on("b", 4, 1), on("c", 4, 1)];
    let parts = |fair: u64| {
        let mut spec = with(esxi(TWO_NODES, vms()), "fairness_periods", fair);
        spec.duration_ns = 120 * SECOND;
        let outcome = run(&spec, 0);
        ["a", "b", "c"].map(|name| outcome.total(name, "busy_ns") / 120e9)
    };
    let spread = |parts: [f64; 3]| {
        parts
            .iter()
            .fold(0.0, |most: f64, part| most.max((part - 8.0 / 3.0).abs()))
    };
    assert!(spread(parts(5)) < 0.3, "{:?}", parts(5));
    assert!(spread(parts(0)) > 1.2, "{:?}", parts(0));
}

/// Instructions a nanosecond of the first of some virtual machines of eight, on eight processors,
/// with a lock.
fn beside(others: usize, kind: LockKind, lock_share: f64) -> f64 {
    let one = |at: usize| {
        let mut one = vm(&format!("g{at}"), 8, None);
        one.profile.lock_share = lock_share;
        one.profile.lock_hold_instructions = 2_000.0;
        one.profile.lock_kind = kind;
        one
    };
    let mut spec = esxi("core:8", (0..=others).map(one).collect());
    spec.duration_ns = 6 * SECOND;
    run(&spec, 0).total("g0", "instructions") / 6e9
}

#[test]
fn a_virtual_machine_more_never_makes_another_one_faster() {
    for lock_share in [0.01, 0.1, 0.3] {
        for kind in [LockKind::Queue, LockKind::Ticket, LockKind::TestAndSet] {
            let [one, two, three] = [0, 1, 2].map(|others| beside(others, kind, lock_share));
            let told = format!("{kind:?} {lock_share}: {one} {two} {three}");
            assert!(two < 0.9 * one && three < 0.9 * two, "{told}");
        }
    }
}

#[test]
fn everything_adds_up() {
    let mut open = vm("o", 3, Some(500));
    open.workload = transactions(900.0, Distribution::Exponential);
    let vms = vec![open, of("l", 3, None, 0.2, Some(0.7)), vm("w", 5, None)];
    let mut spec = esxi(TWO_NODES, vms);
    spec.machine.hypervisor.linux.switch_ns = 2_000;
    let outcome = run(&spec, 0);
    assert_all(&spec, &outcome);
}

#[test]
fn who_was_due_nothing_makes_up_for_what_it_ran_as_time() {
    // What the pool may use is reserved by one in it that has nothing to do. Until that is seen the
    // other one counts for next to nothing, and runs a little all the same.
    let mut sure = inside(0, of("sure", 2, None, 1.0, None));
    sure.workload = Workload::Idle;
    let other = inside(0, vm("other", 2, None));
    let vms = vec![sure, other, vm("a", 4, None), vm("b", 4, None)];
    let pools = vec![pool("p", None, 1000, Some(1.0))];
    let outcome = run(&pooled("core:4", pools, vms), 0);
    // All but the first two seconds of ten.
    assert_cores(&outcome, "other", 0.8, 0.05);
    assert_cores(&outcome, "a", 1.6, 0.05);
    assert_cores(&outcome, "b", 1.6, 0.05);
}
