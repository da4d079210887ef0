//! What changes during a run must satisfy: each is one that its platform knows, in time, and leaves
//! a sound configuration behind.

use crate::check::{range, Checked, Owner, Wrong};
use crate::guest::check as guest;
use crate::hypervisor::check as hypervisor;
use crate::sim::coming::apply;
use crate::spec::{Change, Guest, Partition, Policy, Processors, Spec};

/// All changes, in the order of time; the spec without them must have been checked.
pub(super) fn check(spec: &Spec) -> Checked {
    if spec.changes.is_empty() {
        return Ok(());
    }
    let mut then = spec.clone();
    then.changes.clear();
    let mut order: Vec<usize> = (0..spec.changes.len()).collect();
    order.sort_by_key(|at| spec.changes[*at].at_ns);
    for (place, at) in order.iter().enumerate() {
        let change = &spec.changes[*at];
        let owner = Owner::new(format!("change {}", at + 1), format!("/changes/{at}"));
        check_one(&then, change, &owner)?;
        let index = usize::from(change.partition);
        apply(change, &mut then.partitions[index]);
        check_partition(&then, &then.partitions[index], &owner)?;
        let next = order.get(place + 1).map(|next| spec.changes[*next].at_ns);
        // What happens at one time counts together.
        if next != Some(change.at_ns) {
            told(hypervisor::check_cores(&then), &owner)?;
            told(hypervisor::check_capacity(&then), &owner)?;
        }
    }
    Ok(())
}

fn check_one(spec: &Spec, change: &Change, owner: &Owner) -> Checked {
    let count = spec.partitions.len();
    let Some(partition) = spec.partitions.get(usize::from(change.partition)) else {
        let index = u64::from(change.partition);
        let owner = owner.within("partition");
        return Err(owner.not_there("partition", index, count as u64));
    };
    if change.at_ns >= spec.duration_ns {
        let end = format!("before the end of the run, {} ns", spec.duration_ns);
        return Err(range(owner, "at_ns", change.at_ns as f64, &end));
    }
    for (key, given) in keys(change) {
        if given && !is_known(spec, partition, key) {
            return Err(owner.within(key).refuse(Wrong::NotChangeable {
                key: key.into(),
                partition: partition.name.clone(),
                known: known(spec, partition),
            }));
        }
    }
    check_kept(change, partition, owner)
}

/// A vPar keeps its first cores and gets others after them.
fn check_kept(change: &Change, partition: &Partition, owner: &Owner) -> Checked {
    let (Some(new), Processors::Dedicated { cores, .. }) = (&change.cores, &partition.processors)
    else {
        return Ok(());
    };
    let kept = new.len().min(cores.len());
    if new[..kept] == cores[..kept] {
        return Ok(());
    }
    let wanted = "the cores that it has, without the last ones or with more after them";
    Err(range(owner, "cores", f64::from(new[0]), wanted))
}

/// Keys of a change by name, and whether they are given.
fn keys(change: &Change) -> [(&'static str, bool); 10] {
    [
        ("entitlement", change.entitlement.is_some()),
        ("virtual", change.r#virtual.is_some()),
        ("capped", change.capped.is_some()),
        ("weight", change.weight.is_some()),
        ("soft_cap", change.soft_cap.is_some()),
        ("smt", change.smt.is_some()),
        ("cores", change.cores.is_some()),
        ("memory", change.memory.is_some()),
        ("data_bytes", change.data_bytes.is_some()),
        ("running", change.running.is_some()),
    ]
}

/// Whether a platform can change this of a partition while it runs.
fn is_known(spec: &Spec, partition: &Partition, key: &str) -> bool {
    let shared = matches!(partition.processors, Processors::Shared { .. });
    let zvm = matches!(partition.guest, Guest::Zvm(_));
    let moves = matches!(key, "virtual" | "smt" | "cores" | "running");
    if moves && partition.interrupts.is_some() {
        return false; // They would have to be taken elsewhere.
    }
    match (spec.machine.hypervisor.policy, key) {
        (Policy::Phyp, "entitlement" | "virtual" | "capped" | "weight" | "soft_cap") => shared,
        (Policy::Phyp, "smt") => true,
        (Policy::Prsm, "weight" | "capped") => shared,
        (Policy::Prsm, "virtual") => shared && !zvm,
        (Policy::Dedicated, "cores") => true,
        (Policy::Phyp | Policy::Dedicated, "memory" | "data_bytes") => !zvm,
        (policy, "running") => !policy.is_host() && !zvm,
        _ => false,
    }
}

fn known(spec: &Spec, partition: &Partition) -> String {
    let all = keys(&Change::default()).map(|(key, _)| key);
    let known = all.into_iter().filter(|key| is_known(spec, partition, key));
    let known: Vec<&str> = known.collect();
    if known.is_empty() {
        return "nothing".into();
    }
    known.join(", ")
}

/// What a partition has become is sound.
fn check_partition(then: &Spec, partition: &Partition, owner: &Owner) -> Checked {
    let most = then.machine.threads_per_core;
    if partition.smt == 0 || partition.smt > most {
        let wanted = format!("1 to {most}");
        return Err(range(owner, "smt", f64::from(partition.smt), &wanted));
    }
    let all = Owner::new(format!("partition {}", partition.name), "");
    told(guest::check_memory(then, partition, &all), owner)?;
    told(hypervisor::check_processors(then, partition, &all), owner)
}

/// The same fault at a change, at the key of it that has the fault's name if there is one.
fn told(check: Checked, owner: &Owner) -> Checked {
    check.map_err(|fault| {
        let last = fault.at.rsplit('/').next().unwrap_or_default();
        let known = keys(&Change::default()).iter().any(|(key, _)| *key == last);
        let place = if known {
            owner.within(last)
        } else {
            owner.clone()
        };
        let mut found = place.refuse(*fault.what);
        found.owner = format!("{}, then {}", found.owner, fault.owner);
        found
    })
}
