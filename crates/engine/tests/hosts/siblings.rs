//! Hosts that put their threads on hardware threads: siblings share a core.

use crate::common::host::{group, host_machine, host_spec, threads};
use crate::common::{assert_all, loops, machine, partition, run, shared, spec, Outcome, SECOND};
use homenode_engine::spec::{
    Accounting, HostThreads, Machine, Partition, Policy, Profile, Smt, Spec,
};

/// Cores of two threads that together do 1.25 times the work of one.
fn smt(policy: Policy, text: &str) -> Machine {
    let mut machine = host_machine(policy, text);
    machine.smt = gain();
    machine.accounting = Accounting::Elapsed;
    machine.hypervisor.siblings = 2;
    machine
}

fn gain() -> Smt {
    Smt {
        gain: vec![1.0, 1.25],
        reference: Profile {
            issue_share: 1.0,
            ..Profile::steady()
        },
        parts: 1,
    }
}

fn loop_each(name: &str, count: u16, pins: &[u16]) -> Partition {
    let host = HostThreads {
        pins: pins.iter().map(|pin| vec![*pin]).collect(),
        ..HostThreads::default()
    };
    group(name, threads(count, 256, host), loops(u32::from(count)))
}

fn instructions(outcome: &Outcome, name: &str) -> f64 {
    outcome.total(name, "instructions")
}

#[test]
fn threads_of_one_core_share_its_speed_and_are_charged_their_own_time() {
    for policy in [Policy::Linux, Policy::Credit2] {
        let pinned = |a, b| {
            let partitions = vec![loop_each("a", 1, &[a]), loop_each("b", 1, &[b])];
            let spec = host_spec(smt(policy, "core:2 pu:2"), vec![], partitions);
            let outcome = run(&spec, 0);
            assert_all(&spec, &outcome);
            outcome
        };
        let (apart, together) = (pinned(0, 2), pinned(0, 1));
        assert!((instructions(&apart, "a") - 1e9).abs() < 1e3);
        // 1.25 cores' work between two.
        assert!((instructions(&together, "a") - 0.625e9).abs() < 1e3);
        for outcome in [&apart, &together] {
            assert!((outcome.total("b", "busy_ns") - 1e9).abs() < 1e3);
        }
        assert_eq!(together.summary.pool_idle_ns, 2_000_000_000);
    }
}

#[test]
fn whole_cores_are_filled_before_siblings() {
    for policy in [Policy::Linux, Policy::Credit2] {
        let spec = host_spec(
            smt(policy, "core:4 pu:2"),
            vec![],
            vec![loop_each("a", 4, &[])],
        );
        let outcome = run(&spec, 0);
        let speed = instructions(&outcome, "a") / 4e9;
        assert!(speed > 0.98, "{policy:?}: {speed}");
    }
}

#[test]
fn all_threads_busy_is_the_core_with_all_its_threads() {
    // The same work as on a machine whose guests fill the threads of a core themselves.
    let host = host_spec(
        smt(Policy::Linux, "core:2 pu:2"),
        vec![],
        vec![loop_each("a", 4, &[])],
    );
    let mut machine = machine("core:2 pu:2");
    machine.smt = gain();
    machine.accounting = Accounting::Elapsed;
    let mut whole = partition("a", shared(2.0, 2), loops(4));
    whole.smt = 2;
    let whole: Spec = spec(machine, vec![whole]);
    let of = |spec: &Spec| instructions(&run(spec, 0), "a");
    assert!(
        (of(&host) / of(&whole) - 1.0).abs() < 1e-3,
        "{} {}",
        of(&host),
        of(&whole)
    );
    assert!((of(&host) - 2.5 * SECOND as f64).abs() < 0.01e9);
}
