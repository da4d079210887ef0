//! Exits of a virtual machine that has work, as a mean over it: for ticks, the guest's and the
//! host's, and for what devices answer. Those of halts are the host's affair (`sim::host`).
//!
//! ```text
//! a tick of the guest   its timer fires, is set anew       timer_exits, each processor at work
//! a tick of the host    an interrupt of the host's         1
//! a burst of work       a device is asked and answers      1 + 2 without posted interrupts
//! a page of the host's  it is brought in                   told as a time of its own
//! ```

use super::walks::virtualized;
use crate::spec::{Machine, Partition, Policy, Workload};

/// Most of its time that a partition may lose to exits.
const MOST: f64 = 0.9;

/// Share of a virtual processor's time at work that goes to the hypervisor.
pub(super) fn share(machine: &Machine, partition: &Partition) -> f64 {
    let told = partition.hypervisor_share;
    let Some(by) = virtualized(partition) else {
        return told;
    };
    let of_guest = f64::from(by.timer_exits) / partition.guest.unix().tick_ns as f64;
    let hypervisor = &machine.hypervisor;
    let of_host = match hypervisor.policy {
        Policy::Linux => 1.0 / hypervisor.linux.tick_ns as f64,
        _ => 0.0, // Xen has no tick, and turns of one length are none.
    };
    (told + by.exit_ns as f64 * (of_guest + of_host)).min(MOST)
}

/// What the hypervisor does for an instruction: exits for what devices answer, and pages that it
/// brings in [ns].
pub(super) fn work_ns(partition: &Partition) -> f64 {
    let profile = &partition.profile;
    io_ns(partition) + profile.host_ns / profile.instructions_per_unit
}

/// Exits for what devices answer, by instruction [ns].
fn io_ns(partition: &Partition) -> f64 {
    let Some(by) = virtualized(partition) else {
        return 0.0;
    };
    let each = match &partition.workload {
        Workload::Transactions { bursts, .. } | Workload::Users { bursts, .. } => *bursts,
        // The others wait for no device, or were recorded with all exits in their time.
        _ => return 0.0,
    };
    let exits = each / partition.profile.instructions_per_unit;
    by.io_exits() * by.exit_ns as f64 * exits
}
