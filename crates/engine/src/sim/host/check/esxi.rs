//! What virtual machines of ESXi must satisfy.

use super::linux::check_kvm;
use super::refusal::refuse_if;
use crate::check::{range, within, Checked, Owner};
use crate::spec::{HostThreads, MachineShares, Partition, Policy, Processors, ResourcePool, Spec};

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
    let foreign = host.cgroup.is_some() || host.slice_ns.is_some() || host.nice != 0;
    let (what, instead) = ("a control group, a slice or a nice value", "give it shares");
    refuse_if(spec, threads, foreign, what, instead)?;
    let Some(kvm) = &host.kvm else {
        let (what, instead) = ("a process without a virtual machine", "give it one");
        return refuse_if(spec, threads, true, what, instead);
    };
    check_kvm(kvm, &threads.within("kvm"))
}

/// Virtual machines are started only if what all have reserved is there; each of them and all pools
/// must have been checked.
pub fn check_admission(spec: &Spec) -> Checked {
    let reserved = Reserved::of(spec);
    let there = f64::from(spec.machine.active_cores);
    if reserved.outside <= there + ROUNDING {
        return Ok(());
    }
    let all = reserved.outside;
    let wanted = format!("such that all together are at most {there} cores, and not {all}");
    Err(range(
        &largest(spec, &reserved),
        "reservation",
        all,
        &wanted,
    ))
}

/// Who has most reserved of those that stand in no pool; of a pool that has reserved less than
/// those in it, who has most of these.
fn largest(spec: &Spec, reserved: &Reserved) -> Owner {
    let machines = || {
        spec.partitions.iter().enumerate().map(|(at, one)| {
            let (pool, cores) = claim(one);
            let owner = Owner::partition(spec, at).within("processors");
            (pool, cores, owner.within("host"), None)
        })
    };
    let pools = || {
        spec.resource_pools.iter().enumerate().map(|(at, one)| {
            let inside = reserved.inside[at];
            let of_those = (inside > one.reservation).then_some(at as u16);
            let cores = one.reservation.max(inside);
            (one.parent, cores, pool_owner(at, one), of_those)
        })
    };
    let (mut place, mut owner) = (None, Owner::new("scenario", ""));
    loop {
        let here = machines()
            .chain(pools())
            .filter(|(pool, ..)| *pool == place);
        let Some((.., most, of_those)) = here.max_by(|a, b| a.1.total_cmp(&b.1)) else {
            return owner;
        };
        owner = most;
        if of_those.is_none() {
            return owner;
        }
        place = of_those;
    }
}

/// Pool that a virtual machine stands right in, and what it has reserved [cores].
fn claim(partition: &Partition) -> (Option<u16>, f64) {
    match &partition.processors {
        Processors::Shared { host, .. } => {
            let machine = host.machine();
            (machine.pool, machine.reservation)
        }
        Processors::Dedicated { .. } => (None, 0.0),
    }
}

/// What is reserved in one place by all that stand right in it: virtual machines what they say,
/// pools what they say, or more where those in them have [cores].
struct Reserved {
    /// In each pool.
    inside: Vec<f64>,
    /// In none.
    outside: f64,
}

impl Reserved {
    /// Pools stand after the one that they are in, so that from the last one on all is summed up.
    fn of(spec: &Spec) -> Self {
        let mut all = Self {
            inside: vec![0.0; spec.resource_pools.len()],
            outside: 0.0,
        };
        for (pool, cores) in spec.partitions.iter().map(claim) {
            all.add(pool, cores);
        }
        for (at, pool) in spec.resource_pools.iter().enumerate().rev() {
            all.add(pool.parent, pool.reservation.max(all.inside[at]));
        }
        all
    }

    /// Where it is meant for a pool that is not there, that is refused elsewhere.
    fn add(&mut self, pool: Option<u16>, cores: f64) {
        match pool {
            None => self.outside += cores,
            Some(pool) => {
                if let Some(inside) = self.inside.get_mut(usize::from(pool)) {
                    *inside += cores;
                }
            }
        }
    }
}

/// All resource pools.
pub fn check_pools(spec: &Spec) -> Checked {
    let pools = || spec.resource_pools.iter().enumerate();
    pools().try_for_each(|(at, pool)| check_pool(spec, at, pool))?;
    let reserved = Reserved::of(spec);
    let mut each = pools().zip(&reserved.inside);
    each.try_for_each(|((at, pool), inside)| check_inside(pool, *inside, &pool_owner(at, pool)))
}

fn pool_owner(at: usize, pool: &ResourcePool) -> Owner {
    let place = format!("/resource_pools/{at}");
    Owner::new(format!("resource pool {}", pool.name), place)
}

/// One resource pool; those before it must have been checked.
fn check_pool(spec: &Spec, at: usize, pool: &ResourcePool) -> Checked {
    let owner = &pool_owner(at, pool);
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
    Ok(())
}

/// What is reserved inside must be there: what the pool has reserved, if it may not take more from
/// what is around it, and never more than its limit.
fn check_inside(pool: &ResourcePool, inside: f64, owner: &Owner) -> Checked {
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
