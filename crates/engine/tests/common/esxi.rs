//! Hosts of ESXi, and what their virtual machines get.

use homenode_engine::spec::{HostThreads, MachineShares, Partition, Policy, Spec};

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
