//! Policy `credit2`: Xen's scheduler under whole partitions.

use crate::common::host::{
    group, host_machine, host_spec, of_kvm, on_off, plain_kvm, share, threads, HALTING_IN_DOMAIN,
};
use crate::common::{assert_all, loops, run, transactions, Outcome, MS, SECOND};
use homenode_engine::spec::{
    Distribution, HostThreads, Kvm, LockKind, Partition, Policy, RunQueues, Spec,
};

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

/// So many domains with a virtual processor for each of eight processors, and a lock.
fn beside(domains: usize, kind: LockKind, lock_share: f64, kvm: &Kvm) -> Outcome {
    let one = |at: usize| {
        let mut one = domain(&format!("d{at}"), 8, 256);
        one.processors = threads(8, 256, of_kvm(kvm.clone()));
        one.profile.lock_share = lock_share;
        one.profile.lock_hold_instructions = 2_000.0;
        one.profile.lock_kind = kind;
        one
    };
    let mut spec = xen("core:8", (0..domains).map(one).collect());
    spec.machine.hypervisor.credit2.runqueue = RunQueues::All;
    spec.machine.hypervisor.credit2.timer_late_ns = 5_000;
    spec.duration_ns = SECOND;
    run(&spec, 0)
}

/// A domain whose guest knows that it is one.
fn knowing() -> Kvm {
    Kvm {
        paravirtual_locks: Some(HALTING_IN_DOMAIN),
        ..plain_kvm()
    }
}

#[test]
fn beside_others_a_domain_with_a_lock_does_less_than_alone() {
    use LockKind::{Queue, TestAndSet, Ticket};
    let each = |n, kind, share, kvm: &Kvm| {
        let outcome = beside(n, kind, share, kvm);
        let done = (0..n).map(|at| outcome.total(&format!("d{at}"), "instructions"));
        done.sum::<f64>() / n as f64
    };
    for lock_share in [0.03, 0.3] {
        for kind in [Queue, Ticket, TestAndSet] {
            for kvm in [plain_kvm(), knowing()] {
                let [one, two, three] = [1, 2, 3].map(|n| each(n, kind, lock_share, &kvm));
                let told = format!("{kind:?} {lock_share} {kvm:?}: {one} {two} {three}");
                // A ticket's line is served by wake-ups, however many domains there are.
                let lines = kind == Ticket && kvm.paravirtual_locks.is_some();
                let most = if lines { 0.9 * one } else { 0.95 * two };
                assert!(two < 0.9 * one && three < most, "{told}");
            }
        }
    }
}

/// Who is caught spinning gives way to whoever is next, so that the lock's holder is back sooner;
/// who halts in line gives way, too.
#[test]
fn who_spins_gives_way() {
    let blind = Kvm {
        pause_loop: None,
        ..plain_kvm()
    };
    let of = |kvm: &Kvm| beside(2, LockKind::Queue, 0.1, kvm);
    let done = |outcome: &Outcome| outcome.total("d0", "instructions");
    let [blind, caught, halts] = [blind, plain_kvm(), knowing()].map(|kvm| of(&kvm));
    assert_eq!(blind.total("d0", "pause_exits"), 0.0);
    assert!(caught.total("d0", "pause_exits") > 0.0);
    assert_eq!(caught.total("d0", "directed_yields"), 0.0);
    assert!(done(&caught) > 2.0 * done(&blind));
    assert!(done(&halts) > done(&caught));
}
