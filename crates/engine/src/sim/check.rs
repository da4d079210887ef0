//! What a spec must satisfy before it is run. The Python front refuses most of this earlier, with
//! file and line; this is the last line, so that the engine never meets numbers that it can't
//! simulate.

#![allow(clippy::neg_cmp_op_on_partial_ord)] // `!(x <= y)` refuses NaN, which is meant

use super::host::check as host;
use super::zvm::check as zvm;
use crate::check::{at_most, range, Checked, Owner, Wrong};
use crate::guest::check as guest;
use crate::hypervisor::check::prsm;
use crate::machine;
use crate::spec::{Partition, Policy, Processors, Spec};

pub(super) fn check(spec: &Spec) -> Checked {
    let built = machine::check(&spec.machine);
    built.map_err(|what| Owner::nobody(place_of(&what)).refuse(what.into()))?;
    check_times(spec)?;
    let scenario = Owner::new("scenario", "");
    if spec.pools.is_empty() || spec.partitions.is_empty() {
        let field = ("pools and partitions", "partitions");
        return Err(range(&scenario, field, 0.0, "one or more of each"));
    }
    if spec.partitions.len() > 4096 || spec.pools.len() > 4096 {
        let most = spec.partitions.len().max(spec.pools.len()) as f64;
        let field = ("pools and partitions", "partitions");
        return Err(range(&scenario, field, most, "at most 4096"));
    }
    let mut names: Vec<&str> = spec.partitions.iter().map(|p| p.name.as_str()).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        let at = spec.partitions.iter().rposition(|p| p.name == pair[0]);
        let at = format!("/partitions/{}/name", at.unwrap_or(0));
        return Err(Owner::nobody(at).twice("partition", pair[0]));
    }
    host::check_machine(spec)?;
    for (at, partition) in spec.partitions.iter().enumerate() {
        check_partition(spec, partition, &Owner::partition(spec, at))?;
    }
    check_cores(spec)?;
    guest::check_room(spec)?;
    prsm::check_machine(spec)?;
    check_capacity(spec)
}

/// Where what is wrong with a machine stands.
fn place_of(fault: &machine::MachineFault) -> String {
    // Fields are named as in the spec, some with words behind the name.
    let field = fault.field().split([' ', '-']).next().unwrap_or_default();
    let steps = match field {
        "" | "1" => "smt",
        "cache" => "caches",
        field => field,
    };
    format!("/machine/{}", steps.replace('.', "/"))
}

fn check_times(spec: &Spec) -> Checked {
    let limit = 1_000_000_000_000_000_000_u64;
    let times = [
        ("duration_ns", spec.duration_ns, 1),
        ("interval_ns", spec.interval_ns, 1),
        ("warmup_ns", spec.warmup_ns, 0),
    ];
    for (field, value, least) in times {
        if value < least || value > limit {
            let owner = Owner::new("run", "");
            return Err(range(
                &owner,
                field,
                value as f64,
                "positive and at most 1e18",
            ));
        }
    }
    check_hypervisor_times(spec)?;
    let window = spec.machine.hypervisor.window_ns;
    if window < 1_000 || spec.machine.hypervisor.excess_quantum_ns < 1_000 {
        let field = ("window_ns and excess_quantum_ns", "window_ns");
        return Err(range(
            &Owner::hypervisor(),
            field,
            window as f64,
            "1000 or more",
        ));
    }
    Ok(())
}

fn check_hypervisor_times(spec: &Spec) -> Checked {
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
    at_most(&Owner::hypervisor(), &times)
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
    check_processors(spec, partition, owner)?;
    guest::check_memory(spec, partition, owner)?;
    guest::check_work(spec, partition, owner)?;
    zvm::check(spec, partition, owner)
}

/// Without a dispatcher nobody can share a core or borrow one; PR/SM lends none.
fn check_policy(spec: &Spec, partition: &Partition, owner: &Owner) -> Checked {
    match spec.machine.hypervisor.policy {
        Policy::Phyp | Policy::Linux | Policy::Credit2 => return Ok(()),
        Policy::Prsm => return check_lending(spec, partition, owner),
        Policy::Dedicated => {}
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

fn check_processors(spec: &Spec, partition: &Partition, owner: &Owner) -> Checked {
    check_policy(spec, partition, owner)?;
    host::check(spec, partition, owner)?;
    let owner = &owner.within("processors");
    match &partition.processors {
        Processors::Shared {
            entitlement,
            r#virtual,
            pool,
            ..
        } => {
            if usize::from(*pool) >= spec.pools.len() {
                let (index, count) = (u64::from(*pool), spec.pools.len() as u64);
                return Err(owner.within("pool").not_there("pool", index, count));
            }
            if *r#virtual == 0 || u32::from(*r#virtual) * u32::from(partition.smt) > 4096 {
                return Err(range(
                    owner,
                    "virtual",
                    f64::from(*r#virtual),
                    "1 or more, 4096 logical processors at most",
                ));
            }
            if !host::is_host(spec) {
                prsm::check(spec, partition, owner)?;
            }
            let most = f64::from(*r#virtual);
            let weighed = !matches!(spec.machine.hypervisor.policy, Policy::Phyp);
            let fits = *entitlement > 0.0 && *entitlement <= most + 1e-9;
            if !(weighed || fits) {
                return Err(range(
                    owner,
                    "entitlement",
                    *entitlement,
                    &format!("above 0, at most {most}"),
                ));
            }
        }
        Processors::Dedicated {
            cores,
            donate_threshold_pct,
            ..
        } => {
            if cores.is_empty() || cores.len() > 512 {
                let (field, count) = (("number of dedicated cores", "cores"), cores.len() as f64);
                return Err(range(owner, field, count, "1 to 512"));
            }
            if !(0.0..=100.0).contains(donate_threshold_pct) {
                return Err(range(
                    owner,
                    "donate_threshold_pct",
                    *donate_threshold_pct,
                    "0 to 100",
                ));
            }
        }
    }
    Ok(())
}

fn check_cores(spec: &Spec) -> Checked {
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

fn check_capacity(spec: &Spec) -> Checked {
    if spec.machine.hypervisor.policy == Policy::Prsm || host::is_host(spec) {
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
