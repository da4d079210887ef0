//! What the interrupts of a partition's devices must satisfy.

#![allow(clippy::neg_cmp_op_on_partial_ord)] // `!(x <= y)` refuses NaN, which is meant

use crate::check::{range, Checked, Owner, Wrong};
use crate::machine::Topology;
use crate::spec::{Guest, Interrupts, Partition, Policy, Spec, Workload};

/// Most instructions of one, most lines that it reads, most interrupts a second.
const MOST: [f64; 3] = [1e9, 1e6, 1e8];

/// Longest time for which a device waits for more before it interrupts [ns].
const MOST_COALESCED_NS: u64 = 100_000_000;

pub(crate) fn check(spec: &Spec, partition: &Partition, owner: &Owner) -> Checked {
    let Some(told) = partition.interrupts.as_deref() else {
        return Ok(());
    };
    let owner = &owner.within("interrupts");
    check_platform(spec, partition, owner)?;
    check_numbers(told, owner)?;
    let count = processors(spec, partition);
    for (key, cpus) in [("to", &told.to), ("soft_to", &told.soft_to)] {
        if let Some(cpu) = cpus.iter().find(|cpu| **cpu >= count) {
            let owner = owner.within(key);
            return Err(owner.not_there("processor", u64::from(*cpu), u64::from(count)));
        }
    }
    if told.coalesce_ns > MOST_COALESCED_NS {
        let owner = owner.within("coalesce_ns");
        let most = format!("0 to {MOST_COALESCED_NS}");
        return Err(range(&owner, "coalesce_ns", told.coalesce_ns as f64, &most));
    }
    let domains = Topology::new(&spec.machine).domains().len() as u64;
    match told.domain {
        Some(at) if u64::from(at) >= domains => {
            let owner = owner.within("domain");
            Err(owner.not_there("memory domain", u64::from(at), domains))
        }
        _ => Ok(()),
    }
}

/// Processors that may take them: the host's, or the partition's own.
fn processors(spec: &Spec, partition: &Partition) -> u16 {
    let machine = &spec.machine;
    if machine.hypervisor.policy.is_host() {
        return machine.active_cores * u16::from(machine.hypervisor.siblings);
    }
    partition.processors.count() * u16::from(partition.smt)
}

/// Who counts them: Linux on its host, a guest on a partition's processors.
fn check_platform(spec: &Spec, partition: &Partition, owner: &Owner) -> Checked {
    let policy = spec.machine.hypervisor.policy;
    let instead = "leave interrupts out";
    let what = match (&partition.guest, policy) {
        (Guest::Zvm(_), _) => "of z/VM, whose Control Program has paths of its own for them",
        (_, Policy::Linux) => "",
        (_, policy) if policy.is_host() => "where another scheduler than Linux has the processors",
        _ => "",
    };
    if what.is_empty() {
        return check_waits(partition, owner);
    }
    Err(owner.refuse(Wrong::NotOnHost {
        what: format!("the cost of interrupts {what}"),
        machine: spec.machine.name.clone(),
        instead: instead.into(),
    }))
}

/// Something must interrupt: work that waits for devices, or a rate.
fn check_waits(partition: &Partition, owner: &Owner) -> Checked {
    let waits = |place: usize| {
        matches!(
            partition.load(place).1,
            Workload::Transactions { .. } | Workload::Users { .. } | Workload::Trace { .. }
        )
    };
    let rate = partition
        .interrupts
        .as_ref()
        .map_or(0.0, |told| told.rate_per_s);
    if rate > 0.0 || (0..=partition.beside.len()).any(waits) {
        return Ok(());
    }
    let wanted = "above 0 where no work waits for devices, as transactions and users do";
    Err(range(owner, "rate_per_s", rate, wanted))
}

fn check_numbers(told: &Interrupts, owner: &Owner) -> Checked {
    let [instructions, lines, rate] = MOST;
    for (field, value, most) in [
        ("instructions", told.instructions, instructions),
        ("soft_instructions", told.soft_instructions, instructions),
        ("lines", told.lines, lines),
        ("rate_per_s", told.rate_per_s, rate),
    ] {
        if !(0.0..=most).contains(&value) {
            return Err(range(owner, field, value, &format!("0 to {most}")));
        }
    }
    Ok(())
}
