//! Hosts of ESXi, and what their virtual machines get.

use homenode_engine::spec::{
    HostThreads, MachineShares, Partition, Policy, Processors, ResourcePool, Spec,
};

use super::host::{group, host_machine, host_spec, plain_kvm, threads};
use super::{loops, Outcome};

pub const RUN_S: f64 = 10.0;

/// A virtual machine with endless loops for all its virtual processors.
pub fn vm(name: &str, vcpus: u16, shares: Option<u32>) -> Partition {
    of(name, vcpus, shares, 0.0, None)
}

pub fn of(
    name: &str,
    vcpus: u16,
    shares: Option<u32>,
    reservation: f64,
    limit: Option<f64>,
) -> Partition {
    let host = HostThreads {
        kvm: Some(plain_kvm()),
        machine: Some(Box::new(MachineShares {
            shares,
            reservation,
            pool: None,
        })),
        cap: limit,
        ..HostThreads::default()
    };
    group(name, threads(vcpus, 0, host), loops(u32::from(vcpus)))
}

pub fn esxi(machine: &str, vms: Vec<Partition>) -> Spec {
    let mut spec = host_spec(host_machine(Policy::Esxi, machine), vec![], vms);
    spec.duration_ns = (RUN_S * 1e9) as u64;
    spec
}

pub fn with(mut spec: Spec, setting: &str, value: u64) -> Spec {
    let settings = &mut spec.machine.hypervisor.settings;
    settings.insert(setting.into(), value);
    spec
}

pub fn cores(outcome: &Outcome, name: &str) -> f64 {
    outcome.total(name, "busy_ns") / (RUN_S * 1e9)
}

#[track_caller]
pub fn assert_cores(outcome: &Outcome, name: &str, wanted: f64, within: f64) {
    let got = cores(outcome, name);
    assert!(
        (got - wanted).abs() <= within,
        "{name}: {got}, not {wanted}"
    );
}

/// What each gets where all want all that they can have: shares, no less than is reserved, no more
/// than it can use. Shares are raised or cut one by one until all fit, not by halving.
pub fn due(cores: f64, claims: &[(f64, f64, f64)]) -> Vec<f64> {
    let mut fixed: Vec<Option<f64>> = vec![None; claims.len()];
    loop {
        let taken: f64 = fixed.iter().flatten().sum();
        let open = || (0..claims.len()).filter(|at| fixed[*at].is_none());
        let shares: f64 = open().map(|at| claims[at].0).sum();
        let rate = (cores - taken) / shares;
        let part = |at: usize| (rate * claims[at].0).clamp(claims[at].1, claims[at].2);
        let off: f64 = open().map(|at| part(at) - rate * claims[at].0).sum();
        // Those who get more than their shares bind first where they take too much in all, and
        // those who get less where too much is left.
        let binds = |at: &usize| {
            let beyond = part(*at) - rate * claims[*at].0;
            if off > 0.0 {
                beyond > 0.0
            } else {
                beyond < 0.0
            }
        };
        let bound: Vec<usize> = open().filter(binds).collect();
        if bound.is_empty() || off == 0.0 {
            return (0..claims.len())
                .map(|at| fixed[at].unwrap_or_else(|| part(at)))
                .collect();
        }
        for at in bound {
            fixed[at] = Some(part(at));
        }
    }
}

/// The same in a resource pool.
pub fn inside(pool: impl Into<Option<u16>>, mut one: Partition) -> Partition {
    if let Processors::Shared { host, .. } = &mut one.processors {
        host.machine.as_mut().expect("a virtual machine").pool = pool.into();
    }
    one
}

pub fn pool(name: &str, parent: Option<u16>, shares: u32, limit: Option<f64>) -> ResourcePool {
    ResourcePool {
        name: name.into(),
        parent,
        shares,
        reservation: 0.0,
        limit,
        expandable: true,
    }
}
