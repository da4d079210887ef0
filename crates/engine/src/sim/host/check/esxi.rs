//! What virtual machines of ESXi must satisfy.

use super::linux::check_kvm;
use super::refusal::refuse_if;
use crate::check::{range, within, Checked, Owner};
use crate::spec::{HostThreads, MachineShares, Partition, Processors, Spec};

/// Least that can be reserved, or be a limit [cores].
const LEAST: f64 = 0.01;
/// Most shares that a virtual machine can have.
const MOST_SHARES: u64 = 1_000_000;

/// A virtual machine.
pub fn check(spec: &Spec, vps: u16, host: &HostThreads, owner: &Owner) -> Checked {
    let threads = &owner.within("host");
    let MachineShares {
        shares,
        reservation,
    } = host.machine();
    let shares = shares.map_or(1, u64::from);
    within(threads, "shares", shares, 1, MOST_SHARES)?;
    let most = f64::from(vps);
    let range_of = |what: &str| format!("{LEAST} to {most} cores, as many as {what}");
    if let Some(limit) = host.cap.filter(|cap| !(LEAST..=most).contains(cap)) {
        let wanted = range_of("it has virtual processors");
        return Err(range(owner, ("cap", "host.cap"), limit, &wanted));
    }
    let most = host.cap.unwrap_or(most);
    if !(0.0..=most).contains(&reservation) {
        let wanted = format!("0 to {most} cores, as many as it can use");
        return Err(range(threads, "reservation", reservation, &wanted));
    }
    check_admission(spec, threads)?;
    let foreign = host.cgroup.is_some() || host.slice_ns.is_some() || host.nice != 0;
    let (what, instead) = ("a control group, a slice or a nice value", "give it shares");
    refuse_if(spec, threads, foreign, what, instead)?;
    let Some(kvm) = &host.kvm else {
        let (what, instead) = ("a process without a virtual machine", "give it one");
        return refuse_if(spec, threads, true, what, instead);
    };
    check_kvm(kvm, &threads.within("kvm"))
}

/// A virtual machine is started only if what all have reserved is there.
fn check_admission(spec: &Spec, owner: &Owner) -> Checked {
    let reserved = |partition: &Partition| match &partition.processors {
        Processors::Shared { host, .. } => host.machine().reservation,
        Processors::Dedicated { .. } => 0.0,
    };
    let all: f64 = spec.partitions.iter().map(reserved).sum();
    let there = f64::from(spec.machine.active_cores);
    if all <= there {
        return Ok(());
    }
    let wanted = format!("such that all together are at most {there} cores, and not {all}");
    Err(range(owner, "reservation", all, &wanted))
}
