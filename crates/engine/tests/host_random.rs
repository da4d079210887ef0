//! Hosts under all kinds of load at once: what holds for every run holds here, and the same spec
//! gives the same bytes.

mod common;

use common::host::{cgroup, group, host_machine, host_spec, of_cgroup, on_off, threads};
use common::{assert_all, loops, missing_profile, run, transactions, MS, SECOND};
use homenode_engine::spec::{
    Accounting, Distribution, HostThreads, Kvm, Partition, Policy, Smt, Spec,
};

/// Guests of four on eight processors in two nodes, two of five under a limit: users, loops and
/// transactions with locks, misses and short sleeps.
fn crowded(policy: Policy, siblings: u8) -> Spec {
    let mut machine = host_machine(policy, "node:2 chip:2 core:2 pu:2");
    machine.smt = Smt {
        gain: vec![1.0, 1.3],
        reference_stall_share: 0.5,
    };
    machine.accounting = Accounting::Elapsed;
    machine.hypervisor.siblings = siblings;
    machine.hypervisor.linux.switch_ns = 1_500;
    let linux = policy == Policy::Linux;
    let group_of = |at: u16| {
        let mut one = cgroup(&format!("g{at}"), 50 + 100 * u32::from(at));
        one.quota_ns = (at % 3 == 2).then_some(120 * MS);
        one
    };
    let mut spec = host_spec(machine, vec![], (0..6).map(|at| guest(linux, at)).collect());
    if linux {
        spec.cgroups = (0..6).map(group_of).collect();
    }
    spec.duration_ns = 3 * SECOND;
    spec.interval_ns = SECOND / 2;
    spec
}

fn guest(linux: bool, at: u16) -> Partition {
    let host = if linux {
        HostThreads {
            kvm: (at % 2 == 0).then(Kvm::default),
            ..of_cgroup(at)
        }
    } else {
        HostThreads {
            cap: (at % 3 == 2).then_some(1.2),
            ..HostThreads::default()
        }
    };
    let processors = threads(4, 100 + 50 * at, host);
    let workload = match at % 3 {
        0 => transactions(300.0, Distribution::Exponential),
        _ => loops(4),
    };
    let mut one = group(&format!("p{at}"), processors, workload);
    one.profile = missing_profile(1e6);
    one.profile.lock_share = 0.1;
    if at == 4 {
        on_off(4, 3e5, 200_000, &mut one);
    }
    one
}

#[test]
fn what_always_holds_holds_on_hosts() {
    for (policy, siblings) in [
        (Policy::Linux, 1),
        (Policy::Linux, 2),
        (Policy::Credit2, 1),
        (Policy::Credit2, 2),
    ] {
        let spec = crowded(policy, siblings);
        let outcome = run(&spec, 0);
        assert_all(&spec, &outcome);
        for at in [2, 5] {
            let name = format!("p{at}");
            let most = 1.2 * 3e9 * 1.05;
            let busy = outcome.total(&name, "busy_ns");
            assert!(busy <= most, "{policy:?} {siblings}: {name} has {busy} ns");
            assert!(outcome.total(&name, "quota_periods") > 0.0);
        }
        assert!(outcome.total("p1", "nivcsw") > 0.0);
    }
}

#[test]
fn a_host_run_again_gives_the_same() {
    for policy in [Policy::Linux, Policy::Credit2] {
        let spec = crowded(policy, 2);
        let (a, b) = (run(&spec, 0), run(&spec, 0));
        assert_eq!((a.partition, a.cpu, a.pool), (b.partition, b.cpu, b.pool));
    }
}
