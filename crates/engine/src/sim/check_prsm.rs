//! What sharing must satisfy under PR/SM, and that nothing of PR/SM is asked of others.

#![allow(clippy::neg_cmp_op_on_partial_ord)] // `!(x <= y)` refuses NaN, which is meant

use super::check::{range, Checked, SpecFault};
use crate::hypervisor::policies::{by_weight, shared_cores};
use crate::spec::{LogicalCores, Partition, Policy, Processors, Spec};

/// Least and most that an operator may set the time slice to [ns].
const RUN_TIME_RANGE_NS: std::ops::RangeInclusive<u64> = 1_000_000..=100_000_000;
/// Most of PR/SM's own time on a core and slice [ns]: half of the shortest slice.
const MOST_PHYSICAL_NS: u64 = 500_000;
/// Most cores that any limit may name.
const MOST_CORES: f64 = 1e6;

/// One partition's shared processors.
pub(super) fn check(spec: &Spec, partition: &Partition, owner: &str) -> Checked {
    let Processors::Shared { weight, prsm, .. } = &partition.processors else {
        return Ok(());
    };
    let weight = f64::from(*weight);
    if spec.machine.hypervisor.policy != Policy::Prsm {
        if weight > 255.0 {
            return Err(range(owner, "weight", weight, "0 to 255"));
        }
        if *prsm != LogicalCores::default() {
            return Err(SpecFault::NotPrsm {
                owner: owner.into(),
                machine: spec.machine.name.clone(),
            });
        }
        return Ok(());
    }
    if !(1.0..=999.0).contains(&weight) {
        return Err(range(owner, "weight", weight, "1 to 999"));
    }
    check_limits(spec, prsm, owner)
}

fn check_limits(spec: &Spec, prsm: &LogicalCores, owner: &str) -> Checked {
    if let Some(cap) = prsm.cap {
        positive(owner, "cap", cap)?;
    }
    if let Some(group) = prsm.group.filter(|g| usize::from(*g) >= spec.groups.len()) {
        return Err(SpecFault::NotThere {
            owner: owner.into(),
            field: "group".into(),
            index: u64::from(group),
            count: spec.groups.len() as u64,
        });
    }
    let Some(defined) = prsm.defined_capacity else {
        return Ok(());
    };
    positive(owner, "defined capacity", defined.cores)?;
    if !(0.0..=MOST_CORES).contains(&defined.start_cores) {
        let start = defined.start_cores;
        return Err(range(owner, "starting average", start, "0 or more cores"));
    }
    if defined.window_ns < 1_000_000_000 {
        let (window, least) = (defined.window_ns as f64, "1000000000 ns or more");
        return Err(range(
            owner,
            "window of the defined capacity",
            window,
            least,
        ));
    }
    Ok(())
}

fn positive(owner: &str, field: &str, cores: f64) -> Checked {
    if cores > 0.0 && cores <= MOST_CORES {
        return Ok(());
    }
    Err(range(owner, field, cores, "above 0 cores"))
}

/// Pools, groups and PR/SM's own figures; the partitions must have been checked.
pub(super) fn check_machine(spec: &Spec) -> Checked {
    if spec.machine.hypervisor.policy != Policy::Prsm {
        return match spec.pools.iter().find(|pool| pool.cores.is_some()) {
            Some(pool) => Err(not_prsm(spec, &format!("pool {}", pool.name))),
            None if spec.groups.is_empty() => Ok(()),
            None => Err(not_prsm(spec, &format!("group {}", spec.groups[0].name))),
        };
    }
    let own = &spec.machine.hypervisor.prsm;
    if let Some(ns) = own.run_time_ns.filter(|ns| !RUN_TIME_RANGE_NS.contains(ns)) {
        let limits = "1000000 to 100000000 (1 ms to 100 ms)";
        return Err(range("hypervisor", "run_time_ns", ns as f64, limits));
    }
    if own.physical_ns > MOST_PHYSICAL_NS {
        let (ns, most) = (
            own.physical_ns as f64,
            format!("at most {MOST_PHYSICAL_NS}"),
        );
        return Err(range("hypervisor", "physical_ns", ns, &most));
    }
    for group in &spec.groups {
        positive(&format!("group {}", group.name), "cap", group.cap)?;
    }
    check_pools(spec)?;
    check_entitlements(spec)
}

fn not_prsm(spec: &Spec, owner: &str) -> SpecFault {
    SpecFault::NotPrsm {
        owner: owner.into(),
        machine: spec.machine.name.clone(),
    }
}

fn check_pools(spec: &Spec) -> Checked {
    let mut listed = vec![false; usize::from(spec.machine.active_cores)];
    for pool in &spec.pools {
        let owner = format!("pool {}", pool.name);
        if pool.maximum.is_some() || pool.reserved != 0.0 {
            let (value, none) = (pool.maximum.unwrap_or(pool.reserved), "left out with PR/SM");
            return Err(range(&owner, "maximum or reserve", value, none));
        }
        for core in pool.cores.iter().flatten() {
            let Some(seen) = listed.get_mut(usize::from(*core)) else {
                return Err(SpecFault::NotThere {
                    owner,
                    field: "core".into(),
                    index: u64::from(*core),
                    count: u64::from(spec.machine.active_cores),
                });
            };
            if std::mem::replace(seen, true) {
                return Err(SpecFault::Twice {
                    what: "core of a pool".into(),
                    name: core.to_string(),
                });
            }
        }
    }
    match spec.pools.iter().filter(|pool| pool.cores.is_none()).nth(1) {
        Some(pool) => Err(SpecFault::Twice {
            what: "pool without cores of its own:".into(),
            name: pool.name.clone(),
        }),
        None => Ok(()),
    }
}

/// Every pool in use has a core, and an entitlement that is given is what the weights give.
fn check_entitlements(spec: &Spec) -> Checked {
    for (partition, weighed) in spec.partitions.iter().zip(by_weight(spec)) {
        let owner = format!("partition {}", partition.name);
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
            return Err(SpecFault::NoSharedCore {
                owner,
                pool: spec.pools[usize::from(*pool)].name.clone(),
            });
        }
        if *entitlement != 0.0 && !((entitlement - weighed).abs() <= 1e-6) {
            let rule = format!("left out, or the {weighed} cores that its weight gives");
            return Err(range(&owner, "entitlement", *entitlement, &rule));
        }
    }
    Ok(())
}
