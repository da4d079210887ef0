//! What control groups and pins must satisfy, which both say where threads may run.

use super::refusal::{refuse_if, HOUR_NS, LEAST_QUOTA_NS, LONGEST_PERIOD_NS};
use crate::check::{range, within, Checked, Owner};
use crate::spec::{Cgroup, HostThreads, Policy, Spec};

/// One control group; those before it must have been checked.
pub fn check(spec: &Spec, at: usize, cgroup: &Cgroup) -> Checked {
    let owner = &Owner::new(format!("cgroup {}", cgroup.name), format!("/cgroups/{at}"));
    let instead = match spec.machine.hypervisor.policy {
        Policy::Linux => None,
        Policy::Esxi => {
            Some("ESXi has none: give each virtual machine shares, a reservation, a limit")
        }
        Policy::Credit2 => Some("Xen has none: give each partition a weight and a cap"),
        _ => Some("its scheduler knows none: pin threads"),
    };
    if let Some(instead) = instead {
        return refuse_if(spec, owner, true, "a control group", instead);
    }
    if spec.cgroups[..at]
        .iter()
        .any(|other| other.name == cgroup.name)
    {
        return Err(owner.within("name").twice("cgroup", &*cgroup.name));
    }
    if let Some(parent) = cgroup.parent.filter(|parent| usize::from(*parent) >= at) {
        let owner = owner.within("parent");
        return Err(owner.not_there("parent before it", u64::from(parent), at as u64));
    }
    within(owner, "weight", u64::from(cgroup.weight), 1, 10_000)?;
    within(
        owner,
        "period_ns",
        cgroup.period_ns,
        LEAST_QUOTA_NS,
        LONGEST_PERIOD_NS,
    )?;
    let quota = cgroup.quota_ns.unwrap_or(LEAST_QUOTA_NS);
    within(owner, "quota_ns", quota, LEAST_QUOTA_NS, HOUR_NS)?;
    within(
        owner,
        "burst_ns",
        cgroup.burst_ns,
        0,
        cgroup.quota_ns.unwrap_or(0),
    )?;
    match &cgroup.cpuset {
        Some(cpus) if cpus.is_empty() => Err(range(owner, "cpuset", 0.0, "one processor or more")),
        Some(cpus) => check_cpus(spec, &owner.within("cpuset"), "cpuset processor", cpus),
        None => Ok(()),
    }
}

/// A thread must have a processor that both its pins and its control groups allow.
pub fn check_pins(spec: &Spec, host: &HostThreads, owner: &Owner) -> Checked {
    let allowed = cpuset(spec, host.cgroup);
    let fits =
        |cpus: &Vec<u16>| cpus.is_empty() || cpus.iter().any(|cpu| allowed[usize::from(*cpu)]);
    if !allowed.contains(&true) || !host.pins.iter().all(fits) {
        let wanted = "one or more that its pins and the cpusets of its control groups all allow";
        let field = ("processors left to a thread", "pins");
        return Err(range(owner, field, 0.0, wanted));
    }
    Ok(())
}

/// Logical processors that a control group and all above it allow.
fn cpuset(spec: &Spec, mut cgroup: Option<u16>) -> Vec<bool> {
    let siblings = usize::from(spec.machine.hypervisor.siblings);
    let mut allowed = vec![true; usize::from(spec.machine.active_cores) * siblings];
    while let Some(at) = cgroup {
        let group = &spec.cgroups[usize::from(at)];
        if let Some(cpus) = &group.cpuset {
            for (cpu, allowed) in allowed.iter_mut().enumerate() {
                *allowed &= cpus.contains(&(cpu as u16));
            }
        }
        cgroup = group.parent;
    }
    allowed
}

/// Processors that are named are there.
pub fn check_cpus(spec: &Spec, owner: &Owner, field: &str, cpus: &[u16]) -> Checked {
    let siblings = u64::from(spec.machine.hypervisor.siblings);
    let count = u64::from(spec.machine.active_cores) * siblings;
    match cpus.iter().find(|cpu| u64::from(**cpu) >= count) {
        Some(cpu) => Err(owner.not_there(field, u64::from(*cpu), count)),
        None => Ok(()),
    }
}
