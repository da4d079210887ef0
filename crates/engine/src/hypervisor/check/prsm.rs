//! What sharing must satisfy under PR/SM, and that nothing of PR/SM is asked of others.

#![allow(clippy::neg_cmp_op_on_partial_ord)] // `!(x <= y)` refuses NaN, which is meant

use crate::check::{range, Checked, Field, Owner, SpecFault, Wrong};
use crate::hypervisor::policies::{by_weight, shared_cores};
use crate::spec::{LogicalCores, Partition, Policy, Processors, Spec};

/// Least and most that an operator may set the time slice to [ns].
const RUN_TIME_RANGE_NS: std::ops::RangeInclusive<u64> = 1_000_000..=100_000_000;
/// Most of PR/SM's own time on a core and slice [ns]: half of the shortest slice.
const MOST_PHYSICAL_NS: u64 = 500_000;
/// Most cores that any limit may name.
const MOST_CORES: f64 = 1e6;

/// One partition's shared processors.
pub(crate) fn check(spec: &Spec, partition: &Partition, owner: &Owner) -> Checked {
    let Processors::Shared { weight, prsm, .. } = &partition.processors else {
        return Ok(());
    };
    let weight = f64::from(*weight);
    if spec.machine.hypervisor.policy != Policy::Prsm {
        if weight > 255.0 {
            return Err(range(owner, "weight", weight, "0 to 255"));
        }
        if *prsm != LogicalCores::default() {
            return Err(not_prsm(spec, &owner.within("prsm")));
        }
        return Ok(());
    }
    if !(1.0..=999.0).contains(&weight) {
        return Err(range(owner, "weight", weight, "1 to 999"));
    }
    check_limits(spec, prsm, &owner.within("prsm"))
}

fn check_limits(spec: &Spec, prsm: &LogicalCores, owner: &Owner) -> Checked {
    if let Some(cap) = prsm.cap {
        positive(owner, "cap", cap)?;
    }
    if let Some(group) = prsm.group.filter(|g| usize::from(*g) >= spec.groups.len()) {
        let (index, count) = (u64::from(group), spec.groups.len() as u64);
        return Err(owner.within("group").not_there("group", index, count));
    }
    let Some(defined) = prsm.defined_capacity else {
        return Ok(());
    };
    let owner = &owner.within("defined_capacity");
    positive(owner, ("defined capacity", "cores"), defined.cores)?;
    if !(0.0..=MOST_CORES).contains(&defined.start_cores) {
        let start = defined.start_cores;
        return Err(range(
            owner,
            ("starting average", "start_cores"),
            start,
            "0 or more cores",
        ));
    }
    if defined.window_ns < 1_000_000_000 {
        let (window, least) = (defined.window_ns as f64, "1000000000 ns or more");
        let field = ("window of the defined capacity", "window_ns");
        return Err(range(owner, field, window, least));
    }
    Ok(())
}

fn positive<'a>(owner: &Owner, field: impl Into<Field<'a>>, cores: f64) -> Checked {
    if cores > 0.0 && cores <= MOST_CORES {
        return Ok(());
    }
    Err(range(owner, field, cores, "above 0 cores"))
}

/// Pools, groups and PR/SM's own figures; the partitions must have been checked.
pub(crate) fn check_machine(spec: &Spec) -> Checked {
    if spec.machine.hypervisor.policy != Policy::Prsm {
        return match spec.pools.iter().position(|pool| pool.cores.is_some()) {
            Some(at) => Err(not_prsm(spec, &Owner::pool(spec, at))),
            None if spec.groups.is_empty() => Ok(()),
            None => Err(not_prsm(spec, &Owner::group(spec, 0))),
        };
    }
    let own = &spec.machine.hypervisor.prsm;
    if let Some(ns) = own.run_time_ns.filter(|ns| !RUN_TIME_RANGE_NS.contains(ns)) {
        let limits = "1000000 to 100000000 (1 ms to 100 ms)";
        return Err(range(
            &Owner::hypervisor(),
            ("run_time_ns", "prsm.run_time_ns"),
            ns as f64,
            limits,
        ));
    }
    if own.physical_ns > MOST_PHYSICAL_NS {
        let (ns, most) = (
            own.physical_ns as f64,
            format!("at most {MOST_PHYSICAL_NS}"),
        );
        return Err(range(
            &Owner::hypervisor(),
            ("physical_ns", "prsm.physical_ns"),
            ns,
            &most,
        ));
    }
    for (at, group) in spec.groups.iter().enumerate() {
        positive(&Owner::group(spec, at), "cap", group.cap)?;
    }
    check_pools(spec)?;
    check_entitlements(spec)
}

fn not_prsm(spec: &Spec, owner: &Owner) -> SpecFault {
    owner.refuse(Wrong::NotPrsm {
        machine: spec.machine.name.clone(),
    })
}

fn check_pools(spec: &Spec) -> Checked {
    let mut listed = vec![false; usize::from(spec.machine.active_cores)];
    for (at, pool) in spec.pools.iter().enumerate() {
        let owner = Owner::pool(spec, at);
        if pool.maximum.is_some() || pool.reserved != 0.0 {
            let (value, none) = (pool.maximum.unwrap_or(pool.reserved), "left out with PR/SM");
            return Err(range(
                &owner,
                ("maximum or reserve", "maximum"),
                value,
                none,
            ));
        }
        for core in pool.cores.iter().flatten() {
            let Some(seen) = listed.get_mut(usize::from(*core)) else {
                let count = u64::from(spec.machine.active_cores);
                let owner = owner.within("cores");
                return Err(owner.not_there("core", u64::from(*core), count));
            };
            if std::mem::replace(seen, true) {
                let owner = owner.within("cores");
                return Err(owner.twice("core of a pool", core.to_string()));
            }
        }
    }
    let without = spec.pools.iter().enumerate();
    match without.filter(|(_, pool)| pool.cores.is_none()).nth(1) {
        Some((at, pool)) => {
            Err(Owner::pool(spec, at).twice("pool without cores of its own:", &*pool.name))
        }
        None => Ok(()),
    }
}

/// Every pool in use has a core, and an entitlement that is given is what the weights give.
fn check_entitlements(spec: &Spec) -> Checked {
    let all = spec.partitions.iter().zip(by_weight(spec));
    for (at, (partition, weighed)) in all.enumerate() {
        let owner = Owner::partition(spec, at).within("processors");
        let (
            Some(weighed),
            Processors::Shared {
                entitlement, pool, ..
            },
        ) = (weighed, &partition.processors)
        else {
            continue;
        };
        if shared_cores(spec, usize::from(*pool)) == 0 {
            let pool = spec.pools[usize::from(*pool)].name.clone();
            return Err(owner.refuse(Wrong::NoSharedCore { pool }));
        }
        if *entitlement != 0.0 && !((entitlement - weighed).abs() <= 1e-6) {
            let rule = format!("left out, or the {weighed} cores that its weight gives");
            return Err(range(&owner, "entitlement", *entitlement, &rule));
        }
    }
    Ok(())
}
