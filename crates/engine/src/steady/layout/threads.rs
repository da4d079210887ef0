//! What a host knows of a partition's threads: group, weight, the processors that they may use.

use std::collections::BTreeMap;

use crate::machine::Topology;
use crate::spec::{Cgroup, Machine, Partition, Policy, Processors, Spec};
use crate::steady::queues::halts::Guest;

/// Processors that a thread may use, and those of them that it prefers; none = all, or all alike.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::steady) struct Set {
    pub may: Option<Vec<u16>>,
    pub likes: Option<Vec<u16>>,
}

/// What a host knows of a partition's threads.
#[derive(Clone, Debug, Default)]
pub(in crate::steady) struct Threads {
    pub group: Option<u16>,
    /// Weight of each.
    pub weight: f64,
    /// Most that they may use together [processors].
    pub cap: f64,
    pub kvm: Option<Guest>,
    /// Where they run, with the share of the threads that do.
    pub sets: Vec<(Set, f64)>,
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
        let mut sets: BTreeMap<Set, f64> = BTreeMap::new();
        let of =
            |pins: &[Vec<u16>], at: usize| pins.get(at).filter(|pins| !pins.is_empty()).cloned();
        for at in 0..count {
            let may = match (of(&host.pins, at), within.clone()) {
                (Some(pins), Some(set)) => Some(both(&pins, &set)),
                (one, other) => one.or(other),
            };
            let soft = of(&host.soft_pins, at);
            let likes = soft.and_then(|soft| preferred(soft, may.as_ref(), tree.active_cores));
            *sets.entry(Set { may, likes }).or_default() += 1.0 / count as f64;
        }
        let is_linux = hypervisor.policy == Policy::Linux;
        let balances = hypervisor.linux.numa_balancing.is_some() && tree.domains().len() > 1;
        let draws = is_linux && balances && one.has_movable_memory();
        Some(Self {
            group: host.cgroup,
            weight: if is_linux {
                100.0 * 1.25_f64.powi(-i32::from(host.nice))
            } else {
                f64::from(*weight)
            },
            cap: host.cap.unwrap_or(f64::INFINITY),
            kvm: (host.kvm.as_ref()).map(|kvm| Guest::of(kvm, host.virtualized.as_deref())),
            sets: sets.into_iter().collect(),
            drawn: draws.then(|| by_domain(&spec.machine, tree, one)),
        })
    }
}

/// Processors of a control group: those of its own set, or all, that each group above it has.
fn cpuset(cgroups: &[Cgroup], group: Option<u16>) -> Option<Vec<u16>> {
    let group = &cgroups[usize::from(group?)];
    let above = cpuset(cgroups, group.parent);
    match (&group.cpuset, above) {
        (Some(own), Some(above)) => Some(both(own, &above)),
        (Some(own), None) => Some(own.clone()),
        (None, above) => above,
    }
}

/// Those of the processors that one may use which it prefers: none where these are all or none of
/// them, which makes no difference.
fn preferred(soft: Vec<u16>, may: Option<&Vec<u16>>, cpus: u16) -> Option<Vec<u16>> {
    let likes = may.map_or_else(|| soft.clone(), |may| both(&soft, may));
    let all = may.map_or(usize::from(cpus), Vec::len);
    (!likes.is_empty() && likes.len() < all).then_some(likes)
}

fn both(a: &[u16], b: &[u16]) -> Vec<u16> {
    a.iter().filter(|cpu| b.contains(cpu)).copied().collect()
}

/// Where its common data lie.
fn by_domain(machine: &Machine, tree: &Topology, one: &Partition) -> Vec<f64> {
    let placed = crate::guest::memory::Placed::of(machine, tree, one);
    placed.common.iter().copied().collect()
}
