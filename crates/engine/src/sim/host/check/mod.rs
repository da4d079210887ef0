//! What control groups, host threads and the schedulers of hosts must satisfy, and that nothing of
//! a host is asked of others.

mod cgroups;
mod credit2;
mod esxi;
mod io_threads;
mod linux;
mod others;
mod refusal;

use crate::check::{range, within, Checked, Owner};
use crate::spec::{
    Guest, HostThreads, LogicalCores, Partition, Policy, Pool, Processors, Spec, Virtualized,
    Workload,
};
use refusal::{not_host, refuse_if, LEAST_QUOTA_NS};

/// Most logical processors of a chip: sets of them are words of 64 bits.
const MOST_PER_CHIP: u64 = 64;

/// The machine and its control groups.
pub fn check_machine(spec: &Spec) -> Checked {
    let hypervisor = &spec.machine.hypervisor;
    let siblings = u64::from(hypervisor.siblings);
    others::check_settings(hypervisor)?;
    if !hypervisor.policy.is_host() {
        if siblings != 1 || !spec.cgroups.is_empty() {
            return Err(not_host(spec, &Owner::new("scenario", "/cgroups")));
        }
        if !spec.resource_pools.is_empty() {
            return Err(not_host(spec, &Owner::new("scenario", "/resource_pools")));
        }
        return Ok(());
    }
    let most = u64::from(spec.machine.threads_per_core);
    within(&Owner::hypervisor(), "siblings", siblings, 1, most)?;
    let chip = u64::from(spec.machine.cores_per_chip) * siblings;
    let field = ("logical processors of a chip", "cores_per_chip");
    let machine = &Owner::new("machine", "/machine");
    within(machine, field, chip, 1, MOST_PER_CHIP)?;
    check_pools(spec)?;
    linux::check(&hypervisor.linux)?;
    credit2::check(spec)?;
    let mut groups = spec.cgroups.iter().enumerate();
    groups.try_for_each(|(at, cgroup)| cgroups::check(spec, at, cgroup))?;
    esxi::check_pools(spec)
}

/// All partitions together, once each was checked.
pub fn check_together(spec: &Spec) -> Checked {
    match spec.machine.hypervisor.policy {
        Policy::Esxi => esxi::check_admission(spec),
        _ => Ok(()),
    }
}

/// Pools only name partitions here.
fn check_pools(spec: &Spec) -> Checked {
    let limits =
        |pool: &Pool| pool.maximum.is_some() || pool.reserved != 0.0 || pool.cores.is_some();
    let at = spec.pools.iter().position(limits);
    let what = "a limit, a reserve or cores of its own";
    let instead = "give its partitions a control group, pins or a cap";
    at.map_or(Ok(()), |at| {
        refuse_if(spec, &Owner::pool(spec, at), true, what, instead)
    })
}

/// One partition's processors.
pub fn check(spec: &Spec, partition: &Partition, owner: &Owner) -> Checked {
    check_pairs(spec, partition, owner)?;
    io_threads::check(spec, partition, owner)?;
    let is_host = spec.machine.hypervisor.policy.is_host();
    let processors = &owner.within("processors");
    match &partition.processors {
        Processors::Dedicated { .. } => {
            let (what, instead) = ("a core of its own", "pin shared ones");
            refuse_if(spec, processors, is_host, what, instead)
        }
        Processors::Shared { .. } if is_host => check_shared(spec, partition, owner),
        Processors::Shared { host, .. } if **host == HostThreads::default() => Ok(()),
        Processors::Shared { .. } => Err(not_host(spec, processors)),
    }
}

/// Processors of a partition that are threads of the host.
fn check_shared(spec: &Spec, partition: &Partition, owner: &Owner) -> Checked {
    let Processors::Shared {
        r#virtual,
        capped,
        weight,
        prsm,
        host,
        ..
    } = &partition.processors
    else {
        return Ok(());
    };
    let processors = &owner.within("processors");
    let (at, instead) = (
        processors.within("capped"),
        "leave it out and give a quota or a cap",
    );
    refuse_if(spec, &at, *capped, "capping", instead)?;
    let zvm = matches!(partition.guest, Guest::Zvm(_));
    let (at, instead) = (owner.within("guest"), "choose another guest");
    refuse_if(spec, &at, zvm, "z/VM", instead)?;
    let of_prsm = *prsm != LogicalCores::default();
    refuse_if(spec, processors, of_prsm, "what is PR/SM's", "leave it out")?;
    if partition.smt != 1 {
        let wanted = "1: a virtual processor is one thread of the host";
        return Err(range(owner, "smt", f64::from(partition.smt), wanted));
    }
    let threads = &processors.within("host");
    check_threads(spec, *r#virtual, host, threads)?;
    let (of_esxi, instead) = (host.machine.is_some(), "leave it out");
    let elsewhere = of_esxi && spec.machine.hypervisor.policy != Policy::Esxi;
    refuse_if(spec, threads, elsewhere, "shares or a reservation", instead)?;
    let elsewhere = !host.soft_pins.is_empty() && spec.machine.hypervisor.policy != Policy::Credit2;
    let (at, instead) = (threads.within("soft_pins"), "leave it out or pin hard");
    refuse_if(spec, &at, elsewhere, "soft affinity", instead)?;
    match spec.machine.hypervisor.policy {
        Policy::Credit2 => credit2::check_domain(spec, *r#virtual, *weight, host, processors),
        Policy::Linux => linux::check_tasks(spec, host, threads),
        Policy::Esxi => esxi::check(spec, *r#virtual, host, processors),
        _ => others::check_alike(spec, host, threads),
    }
}

/// Pairs that are plain processes of a Linux host have two threads each, with nothing in between;
/// after them comes their generator, if they have one.
fn check_pairs(spec: &Spec, partition: &Partition, owner: &Owner) -> Checked {
    let Workload::Pairs {
        count, generator, ..
    } = partition.workload
    else {
        return Ok(());
    };
    let Processors::Shared {
        r#virtual, host, ..
    } = &partition.processors
    else {
        return Ok(());
    };
    if host.kvm.is_some() || !spec.machine.hypervisor.policy.runs_processes() {
        return Ok(());
    }
    let aix = matches!(partition.guest, Guest::Aix(_));
    let what = "pairs of processes under AIX, which decides at each wake-up where they run";
    let guest = &owner.within("guest");
    refuse_if(spec, guest, aix, what, "choose another guest")?;
    let daemons = partition.guest.unix().daemon_rate_per_s > 0.0;
    let what = "pairs of processes beside a guest's daemons";
    let instead = "set the rate of the daemons to 0";
    let rate = &guest.within("daemon_rate_per_s");
    refuse_if(spec, rate, daemons, what, instead)?;
    let (gangs, instead) = (&guest.within("gangs"), "leave them out");
    let any = !partition.guest.unix().gangs.is_empty();
    refuse_if(spec, gangs, any, what, instead)?;
    let (name, more) = match generator {
        None => ("number of virtual processors, two for each pair,", 0),
        Some(_) => (
            "number of virtual processors, two for each pair and one more,",
            1,
        ),
    };
    let (there, threads) = (u64::from(*r#virtual), 2 * u64::from(count) + more);
    let field = (name, "processors.virtual");
    within(owner, field, there, threads.max(2), threads)
}

fn check_threads(spec: &Spec, vps: u16, host: &HostThreads, owner: &Owner) -> Checked {
    check_each_pin(spec, vps, ("pins", &host.pins), owner)?;
    check_each_pin(spec, vps, ("soft_pins", &host.soft_pins), owner)?;
    let virtualized = host.virtualized.as_ref();
    virtualized.map_or(Ok(()), |by| check_virtualized(by, owner))
}

fn check_each_pin(
    spec: &Spec,
    vps: u16,
    (name, pins): (&str, &[Vec<u16>]),
    owner: &Owner,
) -> Checked {
    if pins.len() > usize::from(vps) {
        let wanted = format!("at most {vps}, one list for each virtual processor");
        return Err(range(owner, name, pins.len() as f64, &wanted));
    }
    for pins in pins {
        cgroups::check_cpus(spec, &owner.within(name), "pinned processor", pins)?;
    }
    Ok(())
}

/// What it costs to be a virtual machine.
fn check_virtualized(by: &Virtualized, owner: &Owner) -> Checked {
    let owner = &owner.within("virtualized");
    within(owner, "page_bytes", by.page_bytes, 4096, 1 << 30)?;
    within(owner, "exit_ns", by.exit_ns, 0, LEAST_QUOTA_NS)?;
    within(owner, "timer_exits", u64::from(by.timer_exits), 0, 100)
}
