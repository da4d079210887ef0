//! Random hosts: guests, processes and domains of all kinds on few processors.

use homenode_engine::spec::{
    Accounting, Cgroup, FairClass, HostThreads, Kvm, Machine, Partition, Policy, Profile,
    RunQueues, Smt, Spec, Workload,
};

use super::super::host::{
    cgroup, group, host_machine, host_spec, on_off, plain_kvm, threads, HALTING_IN_DOMAIN,
};
use super::super::{missing_profile, MS, SECOND};
use super::partition::random_workload;
use super::{random_times, Dice, LOCKS};

/// One to six partitions of one to four threads.
pub fn crowded(dice: &mut Dice, policy: Policy) -> Spec {
    let machine = random_machine(dice, policy);
    let cpus = machine.active_cores * u16::from(machine.hypervisor.siblings);
    let count = dice.between(1, 6);
    let (cgroups, partitions) = match policy {
        Policy::Linux => (0..count).map(|at| of_linux(dice, at, cpus)).unzip(),
        _ => (
            vec![],
            (0..count).map(|at| domain(dice, at, cpus)).collect(),
        ),
    };
    let mut spec = host_spec(machine, cgroups, partitions);
    random_times(dice, &mut spec);
    spec.interval_ns *= 10;
    spec.duration_ns = spec.duration_ns.max(SECOND / 2) / spec.interval_ns * spec.interval_ns;
    spec.record_dispatches = dice.chance(2);
    spec
}

fn random_machine(dice: &mut Dice, policy: Policy) -> Machine {
    let (chips, cores) = (dice.between(1, 2), dice.between(1, 3));
    let mut machine = host_machine(policy, &format!("node:2 chip:{chips} core:{cores} pu:2"));
    machine.active_cores = dice.between(1, 2 * chips * cores);
    machine.smt = Smt {
        gain: vec![1.0, 1.3],
        reference: Profile::steady(),
        parts: 1,
    };
    machine.accounting = Accounting::Elapsed;
    let hypervisor = &mut machine.hypervisor;
    hypervisor.siblings = dice.pick(&[1, 2]);
    let linux = &mut hypervisor.linux;
    linux.switch_ns = dice.pick(&[0, 1_500]);
    linux.scheduler = dice.pick(&[FairClass::Eevdf, FairClass::Cfs]);
    linux.tick_ns = dice.pick(&[4 * MS, MS]);
    linux.wake_idle_ns = dice.pick(&[0, 2_000]);
    linux.wake_interrupt_ns = linux.wake_idle_ns / 2;
    if dice.chance(2) {
        linux.numa_balancing = None;
    }
    let credit2 = &mut hypervisor.credit2;
    credit2.switch_ns = linux.switch_ns;
    credit2.runqueue = dice.pick(&[
        RunQueues::All,
        RunQueues::Cpu,
        RunQueues::Core,
        RunQueues::Socket,
        RunQueues::Node,
    ]);
    machine
}

/// A partition and its control group, now and then below the one before.
fn of_linux(dice: &mut Dice, at: u16, cpus: u16) -> (Cgroup, Partition) {
    let mut own = cgroup(&format!("g{at}"), dice.pick(&[100, 20, 300]));
    own.parent = (dice.chance(4) && at > 0).then(|| at - 1);
    if dice.chance(3) {
        own.period_ns = dice.pick(&[100 * MS, 20 * MS]);
        own.quota_ns = Some(own.period_ns / 10 * u64::from(dice.between(1, 20)));
        own.burst_ns = dice.pick(&[0, own.quota_ns.unwrap_or(0) / 2]);
    }
    own.idle = dice.chance(8);
    let pinned = dice.chance(4);
    let host = HostThreads {
        cgroup: Some(at),
        kvm: dice.chance(2).then(Kvm::default),
        nice: dice.pick(&[0, 5, -5]),
        pins: pins(dice, pinned, cpus),
        ..HostThreads::default()
    };
    (own, guest(dice, at, 0, host))
}

fn domain(dice: &mut Dice, at: u16, cpus: u16) -> Partition {
    let weight = dice.pick(&[256, 100, 512]);
    let pinned = dice.chance(4);
    let host = HostThreads {
        kvm: dice.chance(2).then(|| in_domain(dice)),
        cap: dice.chance(3).then_some(dice.real(0.1, 1.0)),
        pins: pins(dice, pinned, cpus),
        ..HostThreads::default()
    };
    guest(dice, at, weight, host)
}

/// What a domain knows of its virtual processors that are off: none polls before it sleeps.
fn in_domain(dice: &mut Dice) -> Kvm {
    Kvm {
        paravirtual_flush: dice.chance(2),
        paravirtual_locks: dice.chance(2).then_some(HALTING_IN_DOMAIN),
        ..plain_kvm()
    }
}

/// One list, for the first thread.
fn pins(dice: &mut Dice, pinned: bool, cpus: u16) -> Vec<Vec<u16>> {
    let first = dice.next() % cpus;
    if pinned {
        vec![vec![first]]
    } else {
        vec![]
    }
}

fn guest(dice: &mut Dice, at: u16, weight: u16, host: HostThreads) -> Partition {
    let count = dice.between(1, 4);
    let processors = threads(count, weight, host);
    let workload = random_workload(dice, u32::from(count));
    let mut one = group(&format!("p{at}"), processors, workload);
    if dice.chance(2) {
        one.profile = missing_profile(1e6);
    }
    one.profile.instructions_per_unit = dice.pick(&[1e6, 2e5, 4e7]);
    one.profile.lock_share = dice.pick(&[0.0, 0.0, 0.1]);
    one.profile.lock_kind = dice.pick(&LOCKS);
    if dice.chance(4) {
        on_off(u32::from(count), 3e5, 200_000, &mut one);
    }
    if matches!(one.workload, Workload::Transactions { .. }) {
        one.profile.instructions_per_unit = 1e6;
    }
    one
}
