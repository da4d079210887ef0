//! What a spec must satisfy before it is run. The Python front refuses most of this earlier, with
//! file and line; this is the last line, so that the engine never meets numbers that it can't
//! simulate.
//!
//! What each subject needs is checked beside it; here they are asked in turn. The turn decides
//! which of several faults is told, and what one may take for granted of those before it.

mod changes;

use super::host::check as host;
use super::zvm::check as zvm;
use crate::check::{range, Checked, Owner};
use crate::guest::check as guest;
use crate::hypervisor::check as hypervisor;
use crate::machine;
use crate::spec::{Partition, Spec};

/// Longest duration, interval and warm-up [ns].
const LONGEST_RUN_NS: u64 = 1_000_000_000_000_000_000;
/// Most partitions, and most pools.
const MOST: usize = 4096;

pub(super) fn check(spec: &Spec) -> Checked {
    machine::check(&spec.machine)?;
    let reference = Owner::new("reference work of the machine", "/machine/smt/reference");
    guest::check_profile(&spec.machine, &spec.machine.smt.reference, &reference)?;
    check_times(spec)?;
    hypervisor::check_times(spec)?;
    check_counts(spec)?;
    check_names(spec)?;
    host::check_machine(spec)?;
    for (at, partition) in spec.partitions.iter().enumerate() {
        check_partition(spec, partition, &Owner::partition(spec, at))?;
    }
    host::check_together(spec)?;
    hypervisor::check_cores(spec)?;
    guest::check_room(spec)?;
    hypervisor::check_prsm(spec)?;
    hypervisor::check_capacity(spec)?;
    changes::check(spec)
}

fn check_times(spec: &Spec) -> Checked {
    let times = [
        ("duration_ns", spec.duration_ns, 1),
        ("interval_ns", spec.interval_ns, 1),
        ("warmup_ns", spec.warmup_ns, 0),
    ];
    for (field, value, least) in times {
        if value < least || value > LONGEST_RUN_NS {
            let (owner, wanted) = (Owner::new("run", ""), "positive and at most 1e18");
            return Err(range(&owner, field, value as f64, wanted));
        }
    }
    Ok(())
}

fn check_counts(spec: &Spec) -> Checked {
    let (partitions, pools) = (spec.partitions.len(), spec.pools.len());
    let (count, wanted) = match (partitions.min(pools), partitions.max(pools)) {
        (0, _) => (0, "one or more of each"),
        (_, most) if most > MOST => (most, "at most 4096"),
        _ => return Ok(()),
    };
    let field = ("pools and partitions", "partitions");
    Err(range(
        &Owner::new("scenario", ""),
        field,
        count as f64,
        wanted,
    ))
}

fn check_names(spec: &Spec) -> Checked {
    let mut names: Vec<&str> = spec.partitions.iter().map(|p| p.name.as_str()).collect();
    names.sort_unstable();
    let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) else {
        return Ok(());
    };
    let at = spec.partitions.iter().rposition(|p| p.name == pair[0]);
    let at = format!("/partitions/{}/name", at.unwrap_or(0));
    Err(Owner::nobody(at).twice("partition", pair[0]))
}

fn check_partition(spec: &Spec, partition: &Partition, owner: &Owner) -> Checked {
    let chips = u64::from(spec.machine.nodes) * u64::from(spec.machine.chips_per_node);
    for chip in &partition.home {
        if u64::from(*chip) >= chips {
            let owner = owner.within("home");
            return Err(owner.not_there("chip", u64::from(*chip), chips));
        }
    }
    if partition.home.is_empty() {
        return Err(range(owner, "home", 0.0, "one chip or more"));
    }
    if partition.smt == 0 || partition.smt > spec.machine.threads_per_core {
        let most = format!("1 to {}", spec.machine.threads_per_core);
        return Err(range(owner, "smt", f64::from(partition.smt), &most));
    }
    hypervisor::check_policy(spec, partition, owner)?;
    host::check(spec, partition, owner)?;
    hypervisor::check_processors(spec, partition, owner)?;
    guest::check_memory(spec, partition, owner)?;
    guest::check_work(spec, partition, owner)?;
    guest::check_interrupts(spec, partition, owner)?;
    zvm::check(spec, partition, owner)
}
