//! What a host knows of a partition's threads: group, weight, the processors that they may use.

use std::collections::BTreeMap;

use crate::machine::Topology;
use crate::spec::{Cgroup, Machine, MemoryPolicy, Partition, Policy, Processors, Spec};
use crate::steady::queues::halts::Guest;

/// What a host knows of a partition's threads.
#[derive(Clone, Debug, Default)]
pub(in crate::steady) struct Threads {
    pub group: Option<u16>,
    /// Weight of each.
    pub weight: f64,
    /// Most that they may use together [processors].
    pub cap: f64,
    pub kvm: Option<Guest>,
    /// Processors that they may use, with the share of the threads that may; none = all.
    pub sets: Vec<(Option<Vec<u16>>, f64)>,
    /// Memory domains' shares of its memory, where threads are drawn to it.
    pub drawn: Option<Vec<f64>>,
}

impl Threads {
    /// Of a partition; none where no host schedules.
    pub fn of(spec: &Spec, tree: &Topology, one: &Partition) -> Option<Self> {
        let hypervisor = &spec.machine.hypervisor;
        let Processors::Shared {
            r#virtual,
            weight,
            host,
            ..
        } = &one.processors
        else {
            return None;
        };
        if !hypervisor.policy.is_host() {
            return None;
        }
        let within = cpuset(&spec.cgroups, host.cgroup);
        let count = usize::from(*r#virtual);
        let mut sets: BTreeMap<Option<Vec<u16>>, f64> = BTreeMap::new();
        for at in 0..count {
            let pins = host.pins.get(at).filter(|pins| !pins.is_empty());
            let set = match (pins, within) {
                (Some(pins), Some(set)) => Some(both(pins, set)),
                (Some(one), None) | (None, Some(one)) => Some(one.clone()),
                (None, None) => None,
            };
            *sets.entry(set).or_default() += 1.0 / count as f64;
        }
        let is_linux = hypervisor.policy == Policy::Linux;
        let balances = hypervisor.linux.numa_balancing.is_some() && tree.domains().len() > 1;
        let bound = one.memory_policy == MemoryPolicy::Strict || one.data_bytes == 0;
        Some(Self {
            group: host.cgroup,
            weight: if is_linux {
                100.0 * 1.25_f64.powi(-i32::from(host.nice))
            } else {
                f64::from(*weight)
            },
            cap: host.cap.unwrap_or(f64::INFINITY),
            kvm: host.kvm.as_ref().map(Guest::of),
            sets: sets.into_iter().collect(),
            drawn: (is_linux && balances && !bound).then(|| by_domain(&spec.machine, tree, one)),
        })
    }
}

/// Processors of a control group: its own set or that of the nearest above it.
fn cpuset(cgroups: &[Cgroup], group: Option<u16>) -> Option<&Vec<u16>> {
    let group = &cgroups[usize::from(group?)];
    group
        .cpuset
        .as_ref()
        .or_else(|| cpuset(cgroups, group.parent))
}

fn both(a: &[u16], b: &[u16]) -> Vec<u16> {
    a.iter().filter(|cpu| b.contains(cpu)).copied().collect()
}

/// Where its common data lie.
fn by_domain(machine: &Machine, tree: &Topology, one: &Partition) -> Vec<f64> {
    let placed = crate::guest::memory::Placed::of(machine, tree, one);
    placed.common.iter().copied().collect()
}
