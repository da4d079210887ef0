//! Policy `credit2`: Xen's scheduler under whole partitions.

mod common;

use common::host::{group, host_machine, host_spec, on_off, share, threads};
use common::{assert_all, loops, run, transactions, Outcome, MS, SECOND};
use homenode_engine::spec::{Distribution, HostThreads, Partition, Policy, RunQueues, Spec};

fn domain(name: &str, vcpus: u16, weight: u16) -> Partition {
    let processors = threads(vcpus, weight, HostThreads::default());
    group(name, processors, loops(u32::from(vcpus)))
}

fn capped(name: &str, vcpus: u16, cap: f64) -> Partition {
    let host = HostThreads {
        cap: Some(cap),
        ..HostThreads::default()
    };
    group(name, threads(vcpus, 256, host), loops(u32::from(vcpus)))
}

fn xen(machine: &str, domains: Vec<Partition>) -> Spec {
    let mut spec = host_spec(host_machine(Policy::Credit2, machine), vec![], domains);
    spec.duration_ns = 4 * SECOND;
    spec
}

fn cores(outcome: &Outcome, name: &str) -> f64 {
    outcome.total(name, "busy_ns") / 4e9
}

#[test]
fn each_virtual_processor_has_the_weight_of_its_domain() {
    let domains = vec![
        domain("a", 2, 512),
        domain("b", 2, 256),
        domain("c", 1, 256),
    ];
    let outcome = run(&xen("core:2", domains), 0);
    // Weight counts for each virtual processor: 2 x 512, 2 x 256, 1 x 256.
    for (name, wanted) in [("a", 4.0 / 7.0), ("b", 2.0 / 7.0), ("c", 1.0 / 7.0)] {
        let got = share(&outcome, name);
        assert!((got - wanted).abs() < 0.02, "{name}: {got}, not {wanted}");
    }
}

#[test]
fn a_cap_holds_beside_idle_processors() {
    let outcome = run(
        &xen("core:4", vec![capped("a", 4, 1.5), domain("b", 1, 256)]),
        0,
    );
    assert!((cores(&outcome, "a") - 1.5).abs() < 0.02);
    // Four wake at each period, with more credit than the one that ran on: it waits until they have
    // used up their budget, 3.75 of each 10 ms.
    assert!(
        (cores(&outcome, "b") - 0.625).abs() < 0.06,
        "{}",
        cores(&outcome, "b")
    );
    assert!(outcome.total("a", "throttled_ns") > 4e9);
    assert_eq!(outcome.total("a", "quota_periods"), 399.0);
}

#[test]
fn a_domain_that_sleeps_is_served_as_soon_as_it_wakes() {
    // Credit2 leaves one that runs alone for a whole timer only within the rate limit.
    let mut sleeper = domain("s", 1, 256);
    on_off(1, 1e6, 9 * MS, &mut sleeper);
    let outcome = run(&xen("core:1", vec![sleeper, domain("b", 1, 256)]), 0);
    let waited = outcome.of("s").dispatch_wait;
    assert!(waited.mean < 1e6, "{waited:?}");
    assert!(outcome.total("s", "tx_done") > 370.0);
    assert_eq!(outcome.total("s", "nivcsw"), 0.0);
}

#[test]
fn everything_adds_up() {
    // Within a queue nobody waits beside an idle processor; between queues only averages even out.
    let queues = [
        (RunQueues::Core, 0.1),
        (RunQueues::Socket, 0.05),
        (RunQueues::All, 0.002),
    ];
    for (runqueue, most) in queues {
        let mut open = domain("o", 3, 100);
        open.workload = transactions(900.0, Distribution::Exponential);
        let domains = vec![open, capped("c", 2, 0.7), domain("l", 3, 300)];
        let mut spec = xen("node:2 chip:1 core:2", domains);
        spec.machine.hypervisor.credit2.runqueue = runqueue;
        spec.machine.hypervisor.credit2.switch_ns = 2_000;
        let outcome = run(&spec, 0);
        assert_all(&spec, &outcome);
        let idle = outcome.summary.pool_idle_ns as f64;
        assert!(idle < most * 16e9, "{runqueue:?} leaves {idle} ns idle");
    }
}
