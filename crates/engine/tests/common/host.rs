//! Hosts: machines with a scheduler of their own, and threads on them.

use homenode_engine::spec::{
    Cgroup, Distribution, Guest, HostThreads, Kvm, LogicalCores, Machine, ParavirtualLocks,
    Partition, Policy, Processors, Spec, Workload,
};

use super::{machine, partition, quiet_unix, run, spec, Outcome};

/// A machine under a host's policy; everything else is round, and a switch costs nothing.
pub fn host_machine(policy: Policy, text: &str) -> Machine {
    let mut machine = machine(text);
    machine.hypervisor.policy = policy;
    machine.hypervisor.linux.switch_ns = 0;
    machine.hypervisor.credit2.switch_ns = 0;
    machine.hypervisor.credit2.timer_late_ns = 0;
    machine
}

/// Virtual processors, or processes, of a host.
pub fn threads(count: u16, weight: u16, host: HostThreads) -> Processors {
    Processors::Shared {
        entitlement: 0.0,
        r#virtual: count,
        capped: false,
        soft_cap: false,
        weight,
        pool: 0,
        prsm: LogicalCores::default(),
        host: Box::new(host),
    }
}

/// A partition of such threads, with a guest that adds nothing of its own.
pub fn group(name: &str, processors: Processors, workload: Workload) -> Partition {
    let mut one = partition(name, processors, workload);
    one.guest = Guest::Linux(quiet_unix());
    one
}

/// A KVM guest without costs of its own.
pub fn plain_kvm() -> Kvm {
    Kvm {
        exit_ns: 0,
        entry_ns: 0,
        halt_poll_ns: 0,
        ..Kvm::default()
    }
}

/// What Linux does in a domain of Xen: its waiters halt, and a kick lends no processor.
pub const HALTING_IN_DOMAIN: ParavirtualLocks = ParavirtualLocks {
    spin_ns: 500_000,
    early_ns: 10_000,
    early_if_preempted: false,
    kick_yields: false,
};

/// Threads of a control group.
pub fn of_cgroup(cgroup: u16) -> HostThreads {
    HostThreads {
        cgroup: Some(cgroup),
        ..HostThreads::default()
    }
}

/// Threads that are virtual processors of a KVM guest.
pub fn of_kvm(kvm: Kvm) -> HostThreads {
    HostThreads {
        kvm: Some(kvm),
        ..HostThreads::default()
    }
}

/// A control group with this weight (100 = the default).
pub fn cgroup(name: &str, weight: u32) -> Cgroup {
    Cgroup {
        name: name.into(),
        parent: None,
        weight,
        quota_ns: None,
        period_ns: 100_000_000,
        burst_ns: 0,
        cpuset: None,
        idle: false,
    }
}

/// Users that work for `run_ns` and then sleep for `sleep_ns`, always the same.
pub fn on_off(count: u32, run_ns: f64, sleep_ns: u64, one: &mut Partition) {
    one.profile.instructions_per_unit = run_ns;
    one.workload = Workload::Users {
        count,
        think_ns: sleep_ns,
        bursts: 1.0,
        wait_ns: 0,
        burst_work: Distribution::Constant,
        think: Distribution::Constant,
    };
}

/// A spec of a host with control groups.
pub fn host_spec(machine: Machine, cgroups: Vec<Cgroup>, partitions: Vec<Partition>) -> Spec {
    Spec {
        cgroups,
        ..spec(machine, partitions)
    }
}

/// Share of a partition in the core time of all.
pub fn share(outcome: &Outcome, name: &str) -> f64 {
    let names = outcome.summary.partitions.iter().map(|p| p.name.clone());
    let all: f64 = names.map(|name| outcome.total(&name, "busy_ns")).sum();
    outcome.total(name, "busy_ns") / all
}

/// Core time that two threads of a core had at once, from a time on [cores]. Dispatches are to be
/// recorded.
pub fn in_company(spec: &Spec, since_ns: u64) -> f64 {
    let outcome = run(spec, 0);
    let siblings = i64::from(spec.machine.hypervisor.siblings);
    let column = |name| outcome.dispatches.at(name);
    let (start, end, core) = (column("start_ns"), column("end_ns"), column("core"));
    let since = since_ns as i64;
    // Ends come before starts at the same time.
    let mut steps: Vec<(i64, i64, i64)> = Vec::new();
    for row in outcome.dispatches.rows() {
        if row[end] > since {
            steps.push((row[start].max(since), 1, row[core] / siblings));
            steps.push((row[end], -1, row[core] / siblings));
        }
    }
    steps.sort_unstable();
    let mut busy = vec![(0, 0); 512];
    let mut crowded = 0;
    for (at, change, core) in steps {
        let (count, from) = busy[core as usize];
        crowded += i64::from(count > 1) * (at - from);
        busy[core as usize] = (count + change, at);
    }
    crowded as f64 / (spec.duration_ns - since_ns) as f64
}
