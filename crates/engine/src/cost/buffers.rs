//! What a hardware thread copies from and to: the buffers of all jobs that take turns on it.
//!
//! A profile tells the buffers of one job, W bytes, of which an instruction goes through q. In a
//! turn of x instructions a job touches W (1 - e^(-q x / W)) bytes of them for the first time; for
//! these all other jobs were between, for the rest only its own. With k jobs to a thread the bytes
//! between are in the mean
//!
//! ```text
//! W (1 + (k - 1) f)      f = W (1 - e^(-q x / W)) / (q x)
//! ```
//! all k sets where turns are short (a request and its answer), little more than one where they are
//! long (time slices).

use crate::spec::{Guest, Partition, Workload};

/// Bytes that a hardware thread of a partition goes through before it comes back to the same place,
/// where an instruction takes so long.
pub(super) fn of_all(partition: &Partition, instruction_ns: f64) -> f64 {
    let profile = &partition.profile;
    let own = profile.buffers_bytes;
    let threads = f64::from(partition.processors.count()) * f64::from(partition.smt);
    let others = (jobs(partition) / threads - 1.0).max(0.0);
    if own <= 0.0 || others <= 0.0 {
        return own;
    }
    let copied = profile.copied_bytes * turn(partition, instruction_ns);
    let first = -own * (-copied / own).exp_m1() / copied;
    own * (1.0 + others * first)
}

/// Jobs with buffers of their own; where transactions come and go each thread does one.
fn jobs(partition: &Partition) -> f64 {
    if let Guest::Zvm(zvm) = &partition.guest {
        return zvm.machines.iter().map(|one| f64::from(one.cpus)).sum();
    }
    match &partition.workload {
        Workload::Users { count, .. }
        | Workload::Loops { count, .. }
        | Workload::Warehouses { count }
        | Workload::Pairs { count, .. } => f64::from(*count),
        Workload::Barriers { count, threads, .. } => f64::from(*count) * f64::from(*threads),
        Workload::Transactions { .. }
        | Workload::Web { .. }
        | Workload::Trace { .. }
        | Workload::Idle => 0.0,
    }
}

/// Instructions that one job executes before another one does: until it waits, or its slice ends.
fn turn(partition: &Partition, instruction_ns: f64) -> f64 {
    let slice = partition.guest.unix().timeslice_ns as f64 / instruction_ns;
    let unit = partition.profile.instructions_per_unit;
    match &partition.workload {
        Workload::Users { bursts, .. } => slice.min(unit / bursts),
        Workload::Pairs { exchanges, .. } => slice.min(unit / (2.0 * f64::from(*exchanges))),
        _ if partition.guest.zvm().is_some() => slice.min(unit),
        _ => slice,
    }
}
