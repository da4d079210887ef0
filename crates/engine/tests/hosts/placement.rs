//! Where a Linux host puts busy threads: as long as there are cores for all, each has one soon, and
//! keeps it, whatever NUMA balancing makes of where their memory is. So does a Linux in a partition
//! of Power or Z.

use crate::common::host::{cgroup, group, host_machine, host_spec, in_company, of_cgroup, threads};
use crate::common::{
    dedicated, loops, machine, memory, missing_profile, partition, quiet_unix, run, shared, spec,
    GIB, SECOND,
};
use homenode_engine::kernel::Stream;
use homenode_engine::spec::{
    Cgroup, Guest, HostThreads, Kvm, MemoryBeside, NumaBalancing, Partition, Policy, Processors,
    Spec,
};

/// Shape, hardware threads of a core, and where memory is.
const HOSTS: [(&str, u8, MemoryBeside); 5] = [
    // Two Xeons; two EPYCs undivided and as four memory nodes each; Power; drawers of Z.
    ("node:1 chip:2 core:18 pu:2", 2, MemoryBeside::Chip),
    ("node:2 chip:16 core:4 pu:2", 2, MemoryBeside::Node),
    ("node:8 chip:4 core:4 pu:2", 2, MemoryBeside::Node),
    ("node:2 chip:2 core:8 pu:4", 4, MemoryBeside::Chip),
    ("node:4 chip:2 core:6 pu:2", 2, MemoryBeside::Node),
];

/// A guest with its memory on some domains, whose virtual processors never idle.
fn guest(name: &str, vcpus: u16, domains: &[u16]) -> Partition {
    let host = HostThreads {
        kvm: Some(Kvm::default()),
        ..HostThreads::default()
    };
    let mut one = group(name, threads(vcpus, 100, host), loops(u32::from(vcpus)));
    one.profile = missing_profile(1e6);
    one.memory = vec![memory(domains, GIB)];
    one
}

/// Seconds of a host with these guests.
fn host(at: usize, guests: Vec<Partition>, seconds: u64) -> Spec {
    let (shape, siblings, beside) = HOSTS[at];
    let mut machine = host_machine(Policy::Linux, shape);
    machine.memory_beside = beside;
    machine.hypervisor.siblings = siblings;
    machine.hypervisor.linux.numa_balancing = Some(NumaBalancing::default());
    let mut spec = host_spec(machine, vec![], guests);
    spec.duration_ns = seconds * SECOND;
    spec.interval_ns = SECOND / 4;
    spec.record_dispatches = true;
    spec
}

#[test]
fn as_many_busy_threads_as_cores_have_a_core_each() {
    let mut dice = Stream::new(1, 0, "placement");
    for (at, (shape, ..)) in HOSTS.iter().enumerate() {
        let machine = host(at, vec![], 1).machine;
        let cores = machine.active_cores;
        let domains = match machine.memory_beside {
            MemoryBeside::Chip => machine.nodes * machine.chips_per_node,
            MemoryBeside::Node => machine.nodes,
        };
        for count in [2, cores / 2, cores - 1, cores] {
            let first = dice.below(u64::from(domains)) as u16;
            // All of it in one place, then spread over all.
            for on in [vec![first], (0..domains).collect()] {
                let spec = host(at, vec![guest("a", count, &on)], 4);
                let crowded = in_company(&spec, SECOND);
                assert!(
                    crowded < 0.02,
                    "{shape}: {count} threads, memory on {on:?}: {crowded} cores"
                );
            }
        }
        // Two guests whose memory is where the other one begins.
        let half = cores / 2;
        let guests = vec![guest("a", half, &[domains - 1]), guest("b", half, &[0])];
        let crowded = in_company(&host(at, guests, 4), SECOND);
        assert!(crowded < 0.02, "{shape}: {crowded} cores");
    }
}

/// Hosts as above, processors of theirs that begin and end within a cache or a socket, and when all
/// have settled [s]: sockets balance every 72 to 144 ms and move one thread at a time.
const ACROSS: [(usize, u16, u16, u64); 5] = [
    (0, 33, 48, 1),
    (0, 30, 45, 2),
    (1, 1, 8, 1),
    (1, 33, 48, 1),
    (1, 5, 20, 1),
];

/// New tasks pile up where a cache seems empty, though most of it is not for them; that they could
/// not be moved there is what the caches around have to know.
#[test]
fn each_has_a_processor_of_its_own_where_a_cpuset_cuts_through_caches() {
    for (at, first, last, settled) in ACROSS {
        let all = last - first + 1;
        for count in [all / 2, all, 2 * all] {
            let set = Cgroup {
                cpuset: Some((first..=last).collect()),
                ..cgroup("set", 100)
            };
            let procs = threads(count, 100, of_cgroup(0));
            let mut spec = host(at, vec![group("a", procs, loops(u32::from(count)))], 3);
            spec.cgroups = vec![set];
            spec.warmup_ns = settled * SECOND;
            let busy = run(&spec, 0).total("a", "busy_ns") / 3e9;
            let (shape, due) = (HOSTS[at].0, f64::from(count.min(all)));
            let told = format!("{shape} {first} to {last}, {count} loops: {busy} of {due}");
            assert!((busy - due).abs() < 0.01, "{told}");
        }
    }
}

/// Hosts, the first processors of their second memory node, and how many of a cpuset lie before
/// them.
const BETWEEN: [(usize, u16, u16); 6] = [
    (0, 36, 1),
    (0, 36, 3),
    (1, 128, 1),
    (1, 128, 2),
    (2, 32, 1),
    (3, 32, 1),
];

/// NUMA balancing sends nobody to a processor that a sibling keeps busy, wherever their memory is.
#[test]
fn each_has_a_processor_of_its_own_where_a_cpuset_lies_between_two_nodes() {
    for (at, node, before) in BETWEEN {
        for count in [2, 3, 4] {
            for on in [vec![0], vec![1], vec![0, 1]] {
                let set = Cgroup {
                    cpuset: Some((node - before..node - before + 4).collect()),
                    ..cgroup("set", 100)
                };
                let procs = threads(count, 100, of_cgroup(0));
                let mut one = group("a", procs, loops(u32::from(count)));
                one.memory = vec![];
                let each = GIB / on.len() as u64;
                one.memory.extend(on.iter().map(|at| memory(&[*at], each)));
                let mut spec = host(at, vec![one], 4);
                spec.cgroups = vec![set];
                spec.warmup_ns = SECOND;
                let busy = run(&spec, 0).total("a", "busy_ns") / 4e9;
                let told = format!("{} {node} {before} {on:?}: {busy} of {count}", HOSTS[at].0);
                assert!((busy - f64::from(count)).abs() < 0.01, "{told}");
            }
        }
    }
}

/// Cores that threads which never sleep keep busy in a Linux of a partition, quarter by quarter of
/// a second from the first second on.
fn cores_inside(policy: Policy, processors: Processors, (smt, threads): (u8, u16)) -> Vec<f64> {
    let mut one = partition("a", processors, loops(u32::from(threads)));
    one.smt = smt;
    let mut unix = quiet_unix();
    unix.rebalance_ns = Some(SECOND / 10);
    one.guest = Guest::Linux(unix);
    let mut machine = machine(&format!("core:16 pu:{smt}"));
    machine.hypervisor.policy = policy;
    let mut spec = spec(machine, vec![one]);
    (spec.warmup_ns, spec.duration_ns, spec.interval_ns) = (SECOND, 4 * SECOND, SECOND / 4);
    let found = run(&spec, 0).series("a", "busy_ns");
    let cores = found.iter().map(|ns| *ns as f64 / spec.interval_ns as f64);
    cores.collect()
}

/// Not on siblings of a core while another one idles, whether the hypervisor shares cores out or
/// they are the partition's own.
#[test]
fn inside_a_partition_busy_threads_have_a_core_each() {
    for (policy, smt) in [(Policy::Phyp, 8), (Policy::Phyp, 4), (Policy::Prsm, 2)] {
        for vps in [4, 16] {
            for threads in [2, vps / 2 + 1, vps - 1, vps] {
                for own in [false, true] {
                    let processors = if own {
                        dedicated(0..vps, false)
                    } else {
                        shared(f64::from(vps), vps)
                    };
                    let found = cores_inside(policy, processors, (smt, threads));
                    let told = format!("{policy:?} {smt} {vps} {threads} {own}: {found:?}");
                    assert_eq!(found.len(), 16, "{told}");
                    let off = |cores: &f64| (cores - f64::from(threads)).abs() > 0.01;
                    assert!(!found.iter().any(off), "{told}");
                }
            }
        }
    }
}
