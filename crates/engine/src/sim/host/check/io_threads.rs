//! What threads that do a guest's I/O must be: processes of the host without work of their own.

use super::refusal::{not_host, refuse_if, LONGEST_PERIOD_NS};
use crate::check::{range, within, Checked, Owner};
use crate::spec::{Partition, Policy, Processors, Spec, Workload};

pub fn check(spec: &Spec, partition: &Partition, owner: &Owner) -> Checked {
    let Some(told) = partition.io_threads else {
        return Ok(());
    };
    let owner = &owner.within("io_threads");
    if spec.machine.hypervisor.policy != Policy::Linux {
        return Err(not_host(spec, owner));
    }
    let instead = "leave them out, or make it a guest with kvm";
    let what = "a thread beside virtual processors where there are none";
    refuse_if(spec, owner, !is_guest(partition), what, instead)?;
    within(owner, "request_ns", told.request_ns, 0, LONGEST_PERIOD_NS)?;
    within(owner, "answer_ns", told.answer_ns, 0, LONGEST_PERIOD_NS)?;
    within(owner, "kick_ns", told.kick_ns, 0, LONGEST_PERIOD_NS)?;
    let count = spec.partitions.len() as u64;
    let Some(server) = spec.partitions.get(usize::from(told.partition)) else {
        let at = u64::from(told.partition);
        return Err(owner.within("partition").not_there("partition", at, count));
    };
    let idle = matches!(server.workload, Workload::Idle);
    if is_guest(server) || !idle || !server.beside.is_empty() {
        let wanted = "that of processes of the host without work of their own";
        return Err(range(owner, "partition", f64::from(told.partition), wanted));
    }
    Ok(())
}

fn is_guest(partition: &Partition) -> bool {
    matches!(&partition.processors, Processors::Shared { host, .. } if host.kvm.is_some())
}
