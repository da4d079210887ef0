//! The six policies that scenarios are made for.

use homenode_engine::spec::{Policy, Spec};

/// Who decides what runs where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// PowerVM's shared pool, donating partitions beside it.
    PowerVm,
    /// PR/SM's shared cores, dedicated ones beside them.
    PrSm,
    /// Cores of one's own (HP's cells).
    Dedicated,
    /// z/VM in a partition.
    Zvm,
    /// Linux: KVM guests, control groups, processes.
    Linux,
    /// Xen's credit2.
    Credit2,
}

use Platform::*;

/// All of them.
pub const ALL: [Platform; 6] = [PowerVm, PrSm, Dedicated, Zvm, Linux, Credit2];
/// Those that share cores among partitions, or among z/VM's virtual machines.
pub const SHARING: [Platform; 5] = [PowerVm, PrSm, Zvm, Linux, Credit2];
/// Those whose dispatcher works in windows.
pub const WINDOWS: [Platform; 2] = [PowerVm, PrSm];
/// Hosts with a scheduler of threads.
pub const HOSTS: [Platform; 2] = [Linux, Credit2];

impl Platform {
    /// That of a spec; z/VM's rules are the narrower ones wherever it stands.
    pub fn of(spec: &Spec) -> Self {
        if spec.partitions.iter().any(|p| p.guest.zvm().is_some()) {
            return Zvm;
        }
        match spec.machine.hypervisor.policy {
            Policy::Phyp => PowerVm,
            Policy::Prsm => PrSm,
            Policy::Dedicated => Dedicated,
            Policy::Linux | Policy::RoundRobin | Policy::Esxi => Linux,
            Policy::Credit2 => Credit2,
        }
    }
}
