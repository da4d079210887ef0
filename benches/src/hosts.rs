//! Hosts under load, such as one of 64 processors in two nodes: the Linux scheduler, and Xen's
//! credit2.

use homenode_engine::machine::parse_short;
use homenode_engine::spec::{
    Cgroup, Distribution, Guest, HostThreads, Kvm, Machine, MemoryPart, Partition, Policy,
    Processors, Spec, Unix, Workload,
};

use crate::scenarios;

const MS: u64 = 1_000_000;
/// Virtual processors of a guest.
pub const VCPUS: u16 = 4;
/// Processors of a chip.
const CHIP: u16 = 8;

/// 40 guests of four virtual processors, 160 on 64 processors.
pub fn host(policy: Policy) -> Spec {
    host_of(policy, 64, 40)
}

/// So many processors and guests: of five guests three have users that work for 2 ms and pause for
/// 8, one computes, one computes under a quota or cap of half of what it could use.
pub fn host_of(policy: Policy, processors: u16, guests: u16) -> Spec {
    let chips = processors / CHIP;
    let all = (0..guests).map(|at| guest(policy, at, at % chips));
    let mut spec = scenarios::spec("host", all.collect());
    spec.machine = machine(policy, chips);
    spec.duration_ns = 4_500 * MS;
    if policy == Policy::Linux {
        spec.cgroups = (0..guests).map(cgroup).collect();
    }
    spec
}

/// Nodes of four chips of eight cores, all in round numbers.
fn machine(policy: Policy, chips: u16) -> Machine {
    let (nodes, each) = (chips.div_ceil(4), chips.min(4));
    let form = format!("node:{nodes} chip:{each} core:{CHIP}");
    let mut machine = parse_short(&form).expect("a sound short form");
    machine.hypervisor.policy = policy;
    machine
}

fn is_held(at: u16) -> bool {
    at % 5 == 4
}

fn cgroup(at: u16) -> Cgroup {
    Cgroup {
        name: format!("guest{at}"),
        parent: None,
        weight: 100 + 100 * u32::from(at % 3),
        quota_ns: is_held(at).then_some(200 * MS),
        period_ns: 100 * MS,
        burst_ns: 0,
        cpuset: None,
        idle: false,
    }
}

fn guest(policy: Policy, at: u16, chip: u16) -> Partition {
    let workload = if at % 5 < 3 {
        Workload::Users {
            count: u32::from(VCPUS),
            think_ns: 8 * MS,
            bursts: 1.0,
            wait_ns: 0,
            burst_work: Distribution::Exponential,
            think: Distribution::Exponential,
        }
    } else {
        Workload::Loops {
            count: u32::from(VCPUS),
            endless: true,
            busy_ns: 0,
            rest_ns: 0,
        }
    };
    let linux = policy == Policy::Linux;
    let mut guest = scenarios::partition(format!("guest{at}"), 0.0, VCPUS, workload);
    guest.smt = 1;
    guest.home = vec![chip];
    guest.memory = vec![MemoryPart {
        domains: vec![chip],
        bytes: guest.data_bytes,
    }];
    guest.guest = Guest::Linux(Unix {
        tick_ns: 4 * MS,
        tick_cost_ns: 2_000,
        timeslice_ns: 3 * MS,
        rebalance_ns: None,
        daemon_rate_per_s: 20.0,
        daemon_ns: 50_000,
        gangs: Vec::new(),
        packing: false,
    });
    guest.profile.instructions_per_unit = 2.15e6;
    if let Processors::Shared {
        host,
        entitlement,
        weight,
        ..
    } = &mut guest.processors
    {
        *entitlement = 0.0;
        *weight = 256 + 256 * (at % 3);
        **host = HostThreads {
            cgroup: linux.then_some(at),
            kvm: linux.then(Kvm::default),
            cap: (!linux && is_held(at)).then_some(2.0),
            ..HostThreads::default()
        };
    }
    guest
}
