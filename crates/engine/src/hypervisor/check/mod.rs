//! What sharing cores out must satisfy: a hypervisor's times, processors and what it promises.

#![allow(clippy::neg_cmp_op_on_partial_ord)] // `!(x <= y)` refuses NaN, which is meant

mod prsm;

use crate::check::{at_most, range, Checked, Owner, Wrong};
use crate::spec::{Partition, Policy, Processors, Spec};
pub(crate) use prsm::check_machine as check_prsm;

/// How long what the hypervisor does takes.
pub(crate) fn check_times(spec: &Spec) -> Checked {
    let hypervisor = &spec.machine.hypervisor;
    let hour = 3_600_000_000_000;
    let times = [
        ("window_ns", hypervisor.window_ns, hour),
        ("excess_quantum_ns", hypervisor.excess_quantum_ns, hour),
        ("dispatch_ns", hypervisor.dispatch_ns, hour),
        ("cede_ns", hypervisor.cede_ns, hour),
        ("prod_ns", hypervisor.prod_ns, hour),
        ("confer_ns", hypervisor.confer_ns, hour),
        ("phantom_ns", hypervisor.phantom_ns, hour),
    ];
    at_most(&Owner::hypervisor(), &times)?;
    let window = hypervisor.window_ns;
    if window < 1_000 || hypervisor.excess_quantum_ns < 1_000 {
        let field = ("window_ns and excess_quantum_ns", "window_ns");
        let owner = Owner::hypervisor();
        return Err(range(&owner, field, window as f64, "1000 or more"));
    }
    Ok(())
}

/// Without a dispatcher nobody can share a core or borrow one; PR/SM lends none.
pub(crate) fn check_policy(spec: &Spec, partition: &Partition, owner: &Owner) -> Checked {
    match spec.machine.hypervisor.policy {
        Policy::Prsm => return check_lending(spec, partition, owner),
        Policy::Dedicated => {}
        _ => return Ok(()),
    }
    let asked = match partition.processors {
        Processors::Shared { .. } => "shared",
        Processors::Dedicated { donating: true, .. } => "donated while idle",
        Processors::Dedicated { .. } => return Ok(()),
    };
    Err(owner.within("processors").refuse(Wrong::NotShared {
        asked: asked.into(),
        machine: spec.machine.name.clone(),
    }))
}

fn check_lending(spec: &Spec, partition: &Partition, owner: &Owner) -> Checked {
    match partition.processors {
        Processors::Dedicated { donating: true, .. } => {
            let machine = spec.machine.name.clone();
            let owner = owner.within("processors").within("donating");
            Err(owner.refuse(Wrong::NotLent { machine }))
        }
        _ => Ok(()),
    }
}

/// One partition's processors; that they and the machine's policy fit must have been checked.
pub(crate) fn check_processors(spec: &Spec, partition: &Partition, owner: &Owner) -> Checked {
    let owner = &owner.within("processors");
    match &partition.processors {
        Processors::Shared { .. } => check_shared(spec, partition, owner),
        Processors::Dedicated {
            cores,
            donate_threshold_pct,
            ..
        } => check_dedicated(cores, *donate_threshold_pct, owner),
    }
}

fn check_shared(spec: &Spec, partition: &Partition, owner: &Owner) -> Checked {
    let Processors::Shared {
        entitlement,
        r#virtual,
        soft_cap,
        pool,
        ..
    } = partition.processors
    else {
        return Ok(());
    };
    if usize::from(pool) >= spec.pools.len() {
        let (index, count) = (u64::from(pool), spec.pools.len() as u64);
        return Err(owner.within("pool").not_there("pool", index, count));
    }
    let most = f64::from(r#virtual);
    if r#virtual == 0 || u32::from(r#virtual) * u32::from(partition.smt) > 4096 {
        let wanted = "1 or more, 4096 logical processors at most";
        return Err(range(owner, "virtual", most, wanted));
    }
    let policy = spec.machine.hypervisor.policy;
    if soft_cap && policy != Policy::Phyp {
        return Err(range(owner, "soft_cap", 1.0, "left out but with PowerVM"));
    }
    if !policy.is_host() {
        prsm::check(spec, partition, owner)?;
    }
    let fits = entitlement > 0.0 && entitlement <= most + 1e-9;
    if policy == Policy::Phyp && !fits {
        let wanted = format!("above 0, at most {most}");
        return Err(range(owner, "entitlement", entitlement, &wanted));
    }
    Ok(())
}

fn check_dedicated(cores: &[u16], threshold_pct: f64, owner: &Owner) -> Checked {
    if cores.is_empty() || cores.len() > 512 {
        let (field, count) = (("number of dedicated cores", "cores"), cores.len() as f64);
        return Err(range(owner, field, count, "1 to 512"));
    }
    if !(0.0..=100.0).contains(&threshold_pct) {
        let field = "donate_threshold_pct";
        return Err(range(owner, field, threshold_pct, "0 to 100"));
    }
    Ok(())
}

/// Dedicated cores are there, and each is one partition's.
pub(crate) fn check_cores(spec: &Spec) -> Checked {
    let active = spec.machine.active_cores;
    let mut owned = vec![false; usize::from(active)];
    for (at, partition) in spec.partitions.iter().enumerate() {
        let Processors::Dedicated { cores, .. } = &partition.processors else {
            continue;
        };
        let owner = Owner::partition(spec, at).within("processors/cores");
        for core in cores {
            if *core >= active {
                let (index, count) = (u64::from(*core), u64::from(active));
                return Err(owner.not_there("core", index, count));
            }
            if std::mem::replace(&mut owned[usize::from(*core)], true) {
                return Err(owner.twice("dedicated core", core.to_string()));
            }
        }
    }
    Ok(())
}

/// No more is promised than there is.
pub(crate) fn check_capacity(spec: &Spec) -> Checked {
    if spec.machine.hypervisor.policy == Policy::Prsm || spec.machine.hypervisor.policy.is_host() {
        return Ok(()); // Weights can't promise more than there is.
    }
    let dedicated: usize = spec.partitions.iter().map(|p| cores_of(p).len()).sum();
    let available = f64::from(spec.machine.active_cores) - dedicated as f64;
    let entitled = |pool: Option<usize>| -> f64 {
        let of = |p: &Partition| match p.processors {
            Processors::Shared {
                entitlement,
                pool: own,
                ..
            } if pool.is_none_or(|p| p == usize::from(own)) => entitlement,
            _ => 0.0,
        };
        spec.partitions.iter().map(of).sum()
    };
    let reserved: f64 = spec.pools.iter().map(|p| p.reserved).sum();
    let asked = entitled(None) + reserved;
    if !(asked <= available + 1e-9) {
        let owner = Owner::new("shared pool", "/partitions");
        return Err(owner.refuse(Wrong::Overcommitted { asked, available }));
    }
    for (index, pool) in spec.pools.iter().enumerate() {
        let owner = Owner::pool(spec, index);
        if !(pool.reserved >= 0.0 && pool.reserved.is_finite()) {
            return Err(range(&owner, "reserved", pool.reserved, "0 or more"));
        }
        let asked = entitled(Some(index)) + pool.reserved;
        if let Some(available) = pool.maximum.filter(|maximum| !(asked <= maximum + 1e-9)) {
            return Err(owner.refuse(Wrong::Overcommitted { asked, available }));
        }
    }
    Ok(())
}

fn cores_of(partition: &Partition) -> &[u16] {
    match &partition.processors {
        Processors::Dedicated { cores, .. } => cores,
        Processors::Shared { .. } => &[],
    }
}
