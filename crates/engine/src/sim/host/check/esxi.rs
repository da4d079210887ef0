//! What virtual machines of ESXi must satisfy.

use super::linux::check_kvm;
use super::refusal::refuse_if;
use crate::check::{range, within, Checked, Owner};
use crate::spec::{HostThreads, MachineShares, Policy, Processors, ResourcePool, Spec};

/// Least that can be reserved, or be a limit [cores].
const LEAST: f64 = 0.01;
/// Most shares that a virtual machine can have.
const MOST_SHARES: u64 = 1_000_000;
/// Most cores that a pool can have as its limit.
const MOST_CORES: f64 = 4096.0;
/// What sums of reservations may be off by their rounding [cores].
const ROUNDING: f64 = 1e-9;

/// A virtual machine.
pub fn check(spec: &Spec, vps: u16, host: &HostThreads, owner: &Owner) -> Checked {
    let threads = &owner.within("host");
    let MachineShares {
        shares,
        reservation,
        pool,
    } = host.machine();
    let pools = spec.resource_pools.len() as u64;
    if let Some(pool) = pool.map(u64::from).filter(|pool| *pool >= pools) {
        return Err(threads
            .within("pool")
            .not_there("resource pool", pool, pools));
    }
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
    let all = reserved_in(spec, None);
    let there = f64::from(spec.machine.active_cores);
    if all <= there + ROUNDING {
        return Ok(());
    }
    let wanted = format!("such that all together are at most {there} cores, and not {all}");
    Err(range(owner, "reservation", all, &wanted))
}

/// What all that stand right in a pool, or in none, have reserved: pools what they say, or more
/// where those in them have [cores].
fn reserved_in(spec: &Spec, pool: Option<u16>) -> f64 {
    let machines = spec.partitions.iter().map(|one| match &one.processors {
        Processors::Shared { host, .. } if host.machine().pool == pool => {
            host.machine().reservation
        }
        _ => 0.0,
    });
    let pools = (0..).zip(&spec.resource_pools);
    let pools = pools.filter(|(_, one)| one.parent == pool);
    let pools = pools.map(|(at, one)| one.reservation.max(reserved_in(spec, Some(at))));
    machines.chain(pools).sum()
}

/// One resource pool; those before it must have been checked.
pub fn check_pool(spec: &Spec, at: usize, pool: &ResourcePool) -> Checked {
    let place = format!("/resource_pools/{at}");
    let owner = &Owner::new(format!("resource pool {}", pool.name), place);
    let foreign = spec.machine.hypervisor.policy != Policy::Esxi;
    refuse_if(spec, owner, foreign, "a resource pool", "leave it out")?;
    let before = &spec.resource_pools[..at];
    if before.iter().any(|other| other.name == pool.name) {
        return Err(owner.within("name").twice("resource pool", &*pool.name));
    }
    if let Some(parent) = pool.parent.filter(|parent| usize::from(*parent) >= at) {
        let owner = owner.within("parent");
        return Err(owner.not_there("parent before it", u64::from(parent), at as u64));
    }
    within(owner, "shares", u64::from(pool.shares), 1, MOST_SHARES)?;
    let limit = pool.limit.unwrap_or(MOST_CORES);
    if !(LEAST..=MOST_CORES).contains(&limit) {
        let wanted = format!("{LEAST} to {MOST_CORES} cores");
        return Err(range(owner, "limit", limit, &wanted));
    }
    if !(0.0..=limit).contains(&pool.reservation) {
        let wanted = format!("0 to {limit} cores, as many as it may use");
        return Err(range(owner, "reservation", pool.reservation, &wanted));
    }
    check_inside(spec, at as u16, pool, owner)
}

/// What is reserved inside must be there: what the pool has reserved, if it may not take more from
/// what is around it, and never more than its limit.
fn check_inside(spec: &Spec, at: u16, pool: &ResourcePool, owner: &Owner) -> Checked {
    let inside = reserved_in(spec, Some(at));
    let there = if pool.expandable {
        pool.limit.unwrap_or(f64::INFINITY)
    } else {
        pool.reservation
    };
    if inside <= there + ROUNDING {
        return Ok(());
    }
    let wanted = format!("at least {inside} cores, which those in it have reserved");
    let of = if pool.expandable {
        "limit"
    } else {
        "reservation"
    };
    Err(range(owner, of, there, &wanted))
}
