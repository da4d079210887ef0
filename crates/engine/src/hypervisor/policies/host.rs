//! The choice among hosts' schedulers, and what a host's spec means to the rest of the engine.

use serde::Serialize;

use super::super::{HostPolicy, HostScheduler, Setting, State};
use super::credit2::Credit2;
use super::esxi;
use super::fill::fill;
use super::linux::{due, Linux};
use crate::spec::{host_policies, Hypervisor, Policy, Processors, Spec};

macro_rules! choice {
    ($($host:ident, $folder:ident, $title:literal;)*) => {
        /// The scheduler of a host, if the machine has one.
        pub fn scheduler(
            spec: &Spec,
            state: &State,
            replication: u64,
        ) -> Option<Box<dyn HostScheduler>> {
            match spec.machine.hypervisor.policy {
                $(Policy::$host => {
                    Some(Box::new(super::$folder::$host::begin(spec, state, replication)))
                })*
                _ => None,
            }
        }

        /// Numbers that a scenario may set for a scheduler, besides those of Linux and Xen.
        pub fn settings_of(policy: Policy) -> &'static [Setting] {
            match policy {
                $(Policy::$host => super::$folder::$host::SETTINGS,)*
                _ => &[],
            }
        }
    };
}
// The list stands in `spec::policy`; nothing here names a scheduler that needs nothing special.
host_policies!(choice);

/// A host's scheduler as users choose it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct HostChoice {
    /// Its name in scenarios and machine files.
    pub name: &'static str,
    /// What it is.
    pub title: &'static str,
    /// Numbers of its own.
    pub settings: &'static [Setting],
}

/// All that a machine can name.
pub fn hosts() -> Vec<HostChoice> {
    let choice = |policy: &Policy| {
        let (name, title) = policy.of_host()?;
        let settings = settings_of(*policy);
        Some(HostChoice {
            name,
            title,
            settings,
        })
    };
    Policy::HOSTS.iter().filter_map(choice).collect()
}

impl HostPolicy for Linux {
    fn begin(spec: &Spec, state: &State, replication: u64) -> Self {
        Self::new(spec, state, replication)
    }
}

impl HostPolicy for Credit2 {
    fn begin(spec: &Spec, state: &State, replication: u64) -> Self {
        Self::new(spec, state, replication)
    }
}

/// What a guest's kernel takes from one thread to another [ns]: of KVM's guests as much as that of
/// their host, for it is the same code. Elsewhere no number of the guest's kernel is told, and the
/// profile's instructions stand for it.
pub fn guest_switch_ns(hypervisor: &Hypervisor) -> u64 {
    match hypervisor.policy {
        Policy::Linux => hypervisor.linux.switch_ns,
        _ => 0,
    }
}

/// Makes a host's constants what the rest of the engine goes by: a switch costs what the scheduler
/// says, and what every partition is entitled to is what it would get if all wanted all they can
/// have.
pub fn in_effect(spec: &mut Spec) {
    let hypervisor = &mut spec.machine.hypervisor;
    hypervisor.dispatch_ns = match hypervisor.policy {
        Policy::Credit2 => hypervisor.credit2.switch_ns,
        _ => hypervisor.linux.switch_ns,
    };
    if let (Policy::Esxi, Some(numa)) = (hypervisor.policy, &mut hypervisor.linux.numa_balancing) {
        numa.fault_ns = 0; // ESXi chooses pages itself and makes none of the guest's fault.
    }
    let cores = f64::from(spec.machine.active_cores) * f64::from(hypervisor.siblings);
    let shares = match hypervisor.policy {
        Policy::Linux => due(spec, cores),
        Policy::Credit2 => fill(
            cores,
            &spec.partitions.iter().map(wants).collect::<Vec<_>>(),
        ),
        Policy::Esxi => esxi::entitled(spec, cores),
        _ => fill(
            cores,
            &spec.partitions.iter().map(alike).collect::<Vec<_>>(),
        ),
    };
    for (partition, cores) in spec.partitions.iter_mut().zip(shares) {
        if let Processors::Shared { entitlement, .. } = &mut partition.processors {
            *entitlement = cores;
        }
    }
}

/// Weight of a partition, and the most that it can use [cores].
fn wants(partition: &crate::spec::Partition) -> (f64, f64) {
    match &partition.processors {
        Processors::Shared {
            r#virtual,
            weight,
            host,
            ..
        } => {
            let most = f64::from(*r#virtual);
            (
                f64::from(*weight).max(1.0),
                most.min(host.cap.unwrap_or(most)),
            )
        }
        Processors::Dedicated { cores, .. } => (1.0, cores.len() as f64),
    }
}

/// The same where all threads count alike: what it weighs is their number, and they use no more
/// cores than they may run on.
fn alike(partition: &crate::spec::Partition) -> (f64, f64) {
    let threads = usize::from(partition.processors.count());
    let allowed = match &partition.processors {
        Processors::Shared { host, .. } if host.pins.len() == threads => reach(&host.pins),
        _ => threads,
    };
    (threads as f64, threads.min(allowed) as f64)
}

/// How many cores there are in lists, an empty one standing for all.
fn reach(pins: &[Vec<u16>]) -> usize {
    if pins.iter().any(Vec::is_empty) {
        return usize::MAX;
    }
    let all: std::collections::BTreeSet<&u16> = pins.iter().flatten().collect();
    all.len()
}
