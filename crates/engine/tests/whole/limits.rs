//! Limits: configurations in which a mechanism must vanish, or whose result follows by hand.

use crate::common;
use crate::common::{
    aix, capped, dedicated, loops, machine, missing_profile, partition, run, shared, spec,
    transactions, Outcome, MS, SECOND,
};
use homenode_engine::spec::{
    Accounting, ByDistance, Distribution, Guest, Partition, Pool, Processors, Spec,
};

fn assert_near(got: f64, wanted: f64, share: f64, what: &str) {
    assert!(
        (got - wanted).abs() <= share * wanted.abs(),
        "{what} is {got}, not {wanted}"
    );
}

/// Cores a partition used on average.
fn cores(outcome: &Outcome, spec: &Spec, name: &str) -> f64 {
    outcome.total(name, "busy_ns") / spec.duration_ns as f64
}

#[test]
fn alone_with_a_virtual_processor_for_each_core_is_as_good_as_dedicated() {
    for workload in [loops(4), transactions(2_000.0, Distribution::Exponential)] {
        let run_on = |processors| {
            let mut one = partition("a", processors, workload.clone());
            one.profile = missing_profile(1e6);
            one.profile.footprint_bytes = 0;
            run(&spec(machine("core:4"), vec![one]), 0)
        };
        let (pool, own) = (run_on(shared(4.0, 4)), run_on(dedicated(0..4, false)));
        for column in ["instructions", "cycles", "tx_done"] {
            assert_near(
                pool.total("a", column),
                own.total("a", column),
                1e-3,
                column,
            );
        }
    }
}

#[test]
fn equal_distances_leave_no_cost_of_locality() {
    let mut flat = machine("node:2 chip:2 core:2");
    let same = ByDistance {
        local: 100.0,
        near: 100.0,
        far: 100.0,
    };
    (flat.memory_ns, flat.cache_to_cache_ns) = (same, same);
    flat.caches.truncate(3); // The fourth is shared by the cores of a chip.
    (flat.memory_bytes_per_s, flat.node_link_bytes_per_s) = (1e18, 1e18);
    let cpi = |home: u16| {
        let pair = ["a", "b"].map(|name| {
            let chip = if name == "a" { 0 } else { home };
            let mut one = partition(name, shared(2.0, 2), loops(2));
            one.profile = missing_profile(1e6);
            one.profile.footprint_bytes = 0;
            one.home = vec![chip];
            one.memory[0].domains = vec![chip];
            one
        });
        let outcome = run(&spec(flat.clone(), pair.to_vec()), 0);
        ["a", "b"].map(|p| outcome.total(p, "cycles") / outcome.total(p, "instructions"))
    };
    let (together, near, apart) = (cpi(0), cpi(1), cpi(2));
    for others in [together[1], near[0], near[1], apart[0], apart[1]] {
        assert_near(others, together[0], 1e-3, "cycles per instruction");
    }
}

#[test]
fn threads_that_gain_nothing_are_no_threads() {
    let instructions = |smt| {
        let mut machine = machine("core:1 pu:2");
        machine.smt.gain = vec![1.0, 1.0];
        let mut one = partition("a", dedicated(0..1, false), loops(2));
        one.smt = smt;
        run(&spec(machine, vec![one]), 0).total("a", "instructions")
    };
    assert_near(instructions(2), instructions(1), 1e-6, "instructions");
}

/// An uncapped partition whose threads never rest.
fn greedy(name: &str, entitlement: f64, vps: u16, of_weight: u16, of_pool: u16) -> Partition {
    let mut one = partition(name, shared(entitlement, vps), loops(u32::from(vps)));
    if let Processors::Shared { weight, pool, .. } = &mut one.processors {
        (*weight, *pool) = (of_weight, of_pool);
    }
    one
}

#[test]
fn excess_is_shared_by_weight() {
    let pair = vec![greedy("a", 0.8, 8, 200, 0), greedy("b", 0.8, 8, 100, 0)];
    let mut spec = spec(machine("core:8"), pair);
    spec.warmup_ns = 100 * MS;
    let outcome = run(&spec, 0);
    let (a, b) = (
        outcome.total("a", "excess_ns"),
        outcome.total("b", "excess_ns"),
    );
    assert_near(a / b, 2.0, 0.05, "ratio of excess");
    assert_near(a + b, 6.4 * SECOND as f64, 1e-3, "excess");
}

#[test]
fn reserved_capacity_goes_to_its_own_pool_first() {
    let pair = vec![greedy("own", 0.5, 3, 1, 1), greedy("other", 0.5, 4, 255, 0)];
    let mut spec = spec(machine("core:4"), pair);
    spec.pools.push(Pool {
        name: "reserve".into(),
        maximum: Some(3.0),
        reserved: 1.0,
        cores: None,
    });
    let outcome = run(&spec, 0);
    let (own, other) = (
        cores(&outcome, &spec, "own"),
        cores(&outcome, &spec, "other"),
    );
    assert!(own > 1.45, "{own} cores of 0.5 entitled and 1 reserved");
    assert!(other > 2.3, "{other} of the rest by weight");
}

#[test]
fn donated_cores_are_used_and_taken_back_at_once() {
    let mut lender = partition(
        "lender",
        dedicated(1..2, true),
        transactions(100.0, Distribution::Constant),
    );
    lender.profile.instructions_per_unit = 1e6;
    let spec = spec(
        machine("core:2"),
        vec![lender, greedy("user", 0.5, 2, 128, 0)],
    );
    let outcome = run(&spec, 0);
    let lent = SECOND as f64 - outcome.total("lender", "busy_ns");
    assert_near(
        outcome.total("lender", "donated_ns"),
        lent,
        1e-6,
        "donated time",
    );
    assert_near(
        cores(&outcome, &spec, "user"),
        1.0 + lent * 1e-9,
        1e-6,
        "cores used",
    );
    assert_eq!(outcome.of("lender").dispatch_wait.max, 0);
    assert!(outcome.total("user", "evictions") > 50.0);
}

#[test]
fn folding_takes_a_step_a_second_and_ends_at_the_need() {
    let mut one = partition("a", shared(4.0, 8), loops(2));
    (aix(&mut one).xvcpus, aix(&mut one).fold_threshold_pct) = (0, 49.0);
    let mut spec = spec(machine("core:8"), vec![one]);
    (spec.duration_ns, spec.interval_ns) = (6 * SECOND, SECOND);
    let unfolded = run(&spec, 0).series("a", "vps_unfolded");
    // Two cores at 49 % are 4.08 virtual processors, and each of the two is above that by itself.
    assert_eq!(unfolded, vec![8, 7, 6, 6, 6, 6]);
}

#[test]
fn a_capped_partition_waits_for_its_next_window() {
    let spec = spec(
        machine("core:1"),
        vec![partition("a", capped(0.3, 1), loops(1))],
    );
    let outcome = run(&spec, 0);
    assert!(outcome
        .series("a", "busy_ns")
        .iter()
        .all(|busy| *busy == 3_000_000));
    assert_eq!(outcome.total("a", "excess_ns"), 0.0);
    // The last wait ends with the run.
    assert_eq!(outcome.total("a", "exhausted_ns"), 99.0 * 7e6);
    // Waiting at a cap is waiting.
    assert_eq!(outcome.total("a", "ready_ns"), 99.0 * 7e6);
}

#[test]
fn entitlement_evicts_excess_at_once() {
    let mut entitled = partition(
        "entitled",
        shared(1.8, 2),
        transactions(200.0, Distribution::Constant),
    );
    entitled.profile.instructions_per_unit = 1e6;
    let spec = spec(
        machine("core:2"),
        vec![entitled, greedy("excess", 0.2, 2, 255, 0)],
    );
    let outcome = run(&spec, 0);
    assert!(outcome.total("excess", "evictions") > 100.0);
    // Only the other's own entitlement, 1 ms for each virtual processor, can be in the way.
    assert!(outcome.of("entitled").dispatch_wait.p99 <= MS);
    assert!(outcome.of("entitled").response.mean < 1.1e6);
}

#[test]
fn three_entitled_virtual_processors_on_two_cores_all_get_their_two_thirds() {
    let three = ["a", "b", "c"].map(|name| partition(name, capped(2.0 / 3.0, 1), loops(1)));
    let outcome = run(&spec(machine("core:2"), three.to_vec()), 0);
    for name in ["a", "b", "c"] {
        let least = outcome.series(name, "busy_ns").into_iter().min();
        assert!(least >= Some(6_666_664), "{name} got {least:?}");
    }
}

#[test]
fn an_idle_sibling_keeps_a_sixteenth_unless_its_guest_cedes_threads() {
    let instructions = |guest: Option<Guest>| {
        let mut machine = machine("core:1 pu:2");
        machine.accounting = Accounting::DecodeSlots;
        let mut one = partition("a", dedicated(0..1, false), loops(1));
        one.smt = 2;
        one.guest = guest.unwrap_or(one.guest);
        let outcome = run(&spec(machine, vec![one]), 0);
        (
            outcome.total("a", "instructions"),
            outcome.total("a", "user_ns"),
        )
    };
    let linux = Guest::Linux(common::quiet_unix());
    let (slow, fast) = (instructions(None), instructions(Some(linux)));
    assert_near(
        slow.0,
        1e9 * 15.0 / 16.0,
        1e-6,
        "instructions beside a polling sibling",
    );
    assert_near(
        slow.1,
        1e9 * 15.0 / 16.0,
        1e-6,
        "time charged beside a polling sibling",
    );
    assert_near(fast.0, 1e9, 1e-6, "instructions alone");
    assert_near(fast.1, 1e9, 1e-6, "time charged alone");
}

#[test]
fn an_idle_virtual_processor_polls_for_its_snooze_delay() {
    // 100 transactions a second of 1 ms each: what they leave of each second is idle.
    let used = |delay| {
        let work = transactions(100.0, Distribution::Constant);
        let mut one = partition("a", shared(1.0, 1), work);
        aix(&mut one).snooze_delay_ns = delay;
        let spec = spec(machine("core:2"), vec![one]);
        let outcome = run(&spec, 0);
        let polled = outcome.total("a", "book_guest_idle") / spec.duration_ns as f64;
        let done = outcome.total("a", "instructions");
        (cores(&outcome, &spec, "a"), polled, done)
    };
    let delays = [Some(0), Some(200_000), Some(2 * MS), None].map(used);
    assert_eq!(delays[0].1, 0.0, "ceded at once");
    assert_near(delays[3].0, 1.0, 0.02, "never ceded once woken");
    for pair in delays.windows(2) {
        let (less, more) = (pair[0], pair[1]);
        assert!(more.0 > less.0 && more.1 > less.1, "{less:?} {more:?}");
        assert_near(more.2, less.2, 0.02, "work is the same");
    }
    for (cores, polled, _) in delays {
        assert_near(cores - polled, delays[0].0, 0.02, "the rest is work");
    }
}

#[test]
fn a_daemon_that_wakes_by_the_clock_is_no_device_s_interrupt() {
    let interrupts = |workload| {
        let mut one = partition("a", shared(1.0, 2), workload);
        (aix(&mut one).daemon_rate_per_s, aix(&mut one).daemon_ns) = (100.0, 100_000);
        run(&spec(machine("core:2"), vec![one]), 0).total("a", "interrupts")
    };
    assert_eq!(interrupts(loops(1)), 0.0);
    assert!(interrupts(transactions(100.0, Distribution::Constant)) > 0.0);
}

#[test]
fn what_a_sibling_cedes_in_mid_window_is_not_lost_to_a_capped_partition() {
    // A daemon that wakes early in the window claims the idle sibling's slice and gives half of it
    // back 2 ms later, when the loop has used up its own.
    let mut one = partition("a", capped(0.9, 2), loops(1));
    aix(&mut one).daemon_rate_per_s = 100.0;
    aix(&mut one).daemon_ns = 2_000_000;
    let spec = spec(machine("core:2"), vec![one]);
    let outcome = run(&spec, 0);
    assert_near(cores(&outcome, &spec, "a"), 0.9, 0.01, "capped use");
}

#[test]
fn a_lock_makes_siblings_confer_and_none_does_not() {
    let conferred = |lock_share: f64| {
        let mut one = partition("a", shared(1.0, 8), loops(8));
        one.profile.lock_share = lock_share;
        let other = greedy("b", 1.0, 8, 128, 0);
        let outcome = run(&spec(machine("core:4"), vec![one, other]), 0);
        (
            outcome.total("a", "confer_calls"),
            outcome.total("a", "book_spin"),
        )
    };
    assert_eq!(conferred(0.0), (0.0, 0.0));
    let (calls, spin_ns) = conferred(0.2);
    assert!(
        calls > 10.0 && spin_ns > 0.0,
        "{calls} calls, {spin_ns} ns spun"
    );
}

#[test]
fn an_unfolded_virtual_processor_takes_what_waits_elsewhere() {
    // Eight loops start before folding has seen any work; all but one virtual processor fold in the
    // first idle seconds of a partition whose loops are as long as the run.
    let mut one = partition("a", shared(1.0, 4), loops(8));
    aix(&mut one).xvcpus = 0;
    aix(&mut one).fold_threshold_pct = 50.0;
    let mut spec = spec(machine("core:4"), vec![one]);
    spec.warmup_ns = 6 * SECOND;
    let outcome = run(&spec, 0);
    assert_near(cores(&outcome, &spec, "a"), 4.0, 1e-3, "cores in use");
}
