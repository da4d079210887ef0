//! What a host refuses, and in which words.

use crate::common;
use crate::common::host::{cgroup, group, host_machine, host_spec, of_cgroup, threads};
use crate::common::{loops, machine, partition, shared, spec};
use homenode_engine::sim::check;
use homenode_engine::spec::{Cgroup, HostThreads, Kvm, NumaBalancing, Policy, Processors, Spec};

fn sound(policy: Policy) -> Spec {
    let cgroups = match policy {
        Policy::Linux => vec![cgroup("g", 100)],
        _ => vec![],
    };
    let host = match policy {
        Policy::Linux => of_cgroup(0),
        _ => HostThreads::default(),
    };
    let one = group("a", threads(2, 256, host), loops(2));
    host_spec(host_machine(policy, "core:2"), cgroups, vec![one])
}

fn host(spec: &mut Spec) -> &mut HostThreads {
    match &mut spec.partitions[0].processors {
        Processors::Shared { host, .. } => host,
        Processors::Dedicated { .. } => unreachable!("it is shared"),
    }
}

/// Changes a sound spec, which must then be refused in these words.
fn refused(policy: Policy, change: impl Fn(&mut Spec), words: &str) {
    let mut spec = sound(policy);
    assert_eq!(check(&spec), Ok(()));
    change(&mut spec);
    let fault = check(&spec).expect_err(words).to_string();
    assert!(fault.contains(words), "{fault:?} has no {words:?}");
}

fn refused_group(change: impl Fn(&mut Cgroup), words: &str) {
    refused(Policy::Linux, |spec| change(&mut spec.cgroups[0]), words);
}

#[test]
fn control_groups() {
    refused_group(
        |g| g.weight = 0,
        "cgroup g: weight is 0, it must be 1 to 10000",
    );
    refused_group(
        |g| g.parent = Some(0),
        "cgroup g: parent before it 0 is not there",
    );
    refused_group(
        |g| g.quota_ns = Some(1),
        "cgroup g: quota_ns is 1, it must be 1000000",
    );
    refused_group(|g| g.period_ns = 1, "cgroup g: period_ns is 1");
    refused_group(
        |g| g.burst_ns = 1,
        "cgroup g: burst_ns is 1, it must be 0 to 0",
    );
    refused_group(|g| g.cpuset = Some(vec![]), "cgroup g: cpuset is 0");
    refused_group(
        |g| g.cpuset = Some(vec![2]),
        "cpuset processor 2 is not there, the machine has 2",
    );
    let twice = |spec: &mut Spec| spec.cgroups.push(cgroup("g", 1));
    refused(Policy::Linux, twice, "cgroup g occurs twice");
    let on_xen = |spec: &mut Spec| spec.cgroups.push(cgroup("g", 1));
    refused(
        Policy::Credit2,
        on_xen,
        "cgroup g: a control group is not to be had on the host",
    );
}

#[test]
fn threads_of_linux() {
    let linux = |change: fn(&mut HostThreads), words: &str| {
        refused(Policy::Linux, |spec| change(host(spec)), words);
    };
    linux(|h| h.cgroup = Some(1), "partition a: cgroup 1 is not there");
    linux(
        |h| h.nice = 20,
        "partition a: nice is 20, it must be -20 to 19",
    );
    linux(|h| h.slice_ns = Some(1), "partition a: slice_ns is 1");
    linux(|h| h.cap = Some(1.0), "partition a: a cap is not to be had");
    linux(
        |h| h.pins = vec![vec![5]],
        "partition a: pinned processor 5 is not there",
    );
    linux(
        |h| h.pins = vec![vec![]; 3],
        "partition a: pins is 3, it must be at most 2",
    );
    linux(
        |h| h.soft_pins = vec![vec![0]],
        "partition a: soft affinity is not to be had",
    );
    linux(
        |h| {
            h.kvm = Some(Kvm {
                exit_ns: u64::MAX,
                ..Kvm::default()
            })
        },
        "partition a: exit_ns is",
    );
    let apart = |spec: &mut Spec| {
        spec.cgroups[0].cpuset = Some(vec![0]);
        host(spec).pins = vec![vec![1]];
    };
    refused(
        Policy::Linux,
        apart,
        "that its pins and the cpusets of its control groups all allow",
    );
}

#[test]
fn domains_of_xen() {
    let weigh = |spec: &mut Spec| {
        if let Processors::Shared { weight, .. } = &mut spec.partitions[0].processors {
            *weight = 0;
        }
    };
    refused(
        Policy::Credit2,
        weigh,
        "partition a: weight is 0, it must be 1 to 65535",
    );
    refused(
        Policy::Credit2,
        |s| host(s).cap = Some(3.0),
        "0.01 to 2 cores",
    );
    refused(
        Policy::Credit2,
        |s| host(s).cap = Some(f64::NAN),
        "partition a: cap is NaN",
    );
    refused(
        Policy::Credit2,
        |s| host(s).nice = 1,
        "a nice value is not to be had",
    );
    let slow = |spec: &mut Spec| {
        let exit_ns = 1_000_000_000;
        host(spec).kvm = Some(Kvm {
            exit_ns,
            ..Kvm::default()
        });
    };
    refused(Policy::Credit2, slow, "partition a: exit_ns is");
}

#[test]
fn the_machine() {
    refused(
        Policy::Linux,
        |s| s.machine.hypervisor.siblings = 2,
        "siblings is 2, it must be 1 to 1",
    );
    refused(
        Policy::Linux,
        |s| s.pools[0].maximum = Some(1.0),
        "pool DefaultPool: a limit",
    );
    refused(Policy::Linux, |s| s.partitions[0].smt = 2, "smt");
    refused(
        Policy::Linux,
        |s| s.machine.hypervisor.linux.tick_ns = 0,
        "hypervisor linux: tick_ns",
    );
    let numa = NumaBalancing {
        scan_period_max_ns: 1,
        ..NumaBalancing::default()
    };
    let scans = |s: &mut Spec| s.machine.hypervisor.linux.numa_balancing = Some(numa);
    refused(Policy::Linux, scans, "scan_period_max_ns is 1");
    let reset = |s: &mut Spec| s.machine.hypervisor.credit2.reset_below_ns = 1;
    refused(Policy::Credit2, reset, "reset_below_ns is 1");
    let own = |s: &mut Spec| s.partitions[0].processors = common::dedicated(0..1, false);
    refused(Policy::Linux, own, "a core of its own is not to be had");
}

#[test]
fn other_hypervisors_have_none_of_it() {
    let plain = spec(
        machine("core:2"),
        vec![partition("a", shared(1.0, 1), loops(1))],
    );
    let refused = |change: fn(&mut Spec)| {
        let mut spec = plain.clone();
        change(&mut spec);
        let fault = check(&spec).expect_err("a host's").to_string();
        assert!(fault.contains("are a Linux or Xen host's"), "{fault}");
    };
    refused(|spec| spec.cgroups.push(cgroup("g", 1)));
    refused(|spec| host(spec).nice = 1);
    refused(|spec| spec.machine.hypervisor.siblings = 2);
}
