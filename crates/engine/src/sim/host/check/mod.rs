//! What control groups, host threads and the schedulers of hosts must satisfy, and that nothing of
//! a host is asked of others.

#![allow(clippy::neg_cmp_op_on_partial_ord)] // `!(x <= y)` refuses NaN, which is meant

use crate::check::{range, Checked, Field, Owner, SpecFault, Wrong};
use crate::spec::{
    Balance, Cgroup, Guest, HostThreads, Kvm, Linux, LogicalCores, NumaBalancing, Partition,
    Policy, Processors, Spec, Workload,
};

/// Most logical processors of a chip: sets of them are words of 64 bits.
const MOST_PER_CHIP: u64 = 64;
/// Least quota and period that the kernel takes, and the longest period [ns].
const LEAST_QUOTA_NS: u64 = 1_000_000;
const LONGEST_PERIOD_NS: u64 = 1_000_000_000;
/// Least and most slice that a thread may ask for [ns].
const SLICES_NS: std::ops::RangeInclusive<u64> = 100_000..=100_000_000;
/// An hour, beyond which a time is a slip of a unit [ns].
const HOUR_NS: u64 = 3_600_000_000_000;

/// Whether a host's scheduler decides on this machine.
pub fn is_host(spec: &Spec) -> bool {
    let policy = spec.machine.hypervisor.policy;
    matches!(policy, Policy::Linux | Policy::Credit2)
}

/// The machine and its control groups.
pub fn check_machine(spec: &Spec) -> Checked {
    let hypervisor = &spec.machine.hypervisor;
    let siblings = u64::from(hypervisor.siblings);
    if !is_host(spec) {
        if siblings != 1 || !spec.cgroups.is_empty() {
            return Err(not_host(spec, &Owner::new("scenario", "/cgroups")));
        }
        return Ok(());
    }
    within(
        &Owner::hypervisor(),
        "siblings",
        siblings,
        1,
        u64::from(spec.machine.threads_per_core),
    )?;
    let chip = u64::from(spec.machine.cores_per_chip) * siblings;
    within(
        &Owner::new("machine", "/machine"),
        ("logical processors of a chip", "cores_per_chip"),
        chip,
        1,
        MOST_PER_CHIP,
    )?;
    for (at, pool) in spec.pools.iter().enumerate() {
        if pool.maximum.is_some() || pool.reserved != 0.0 || pool.cores.is_some() {
            return Err(Owner::pool(spec, at).refuse(Wrong::NotOnHost {
                what: "a limit, a reserve or cores of its own".into(),
                machine: spec.machine.name.clone(),
                instead: "give its partitions a control group, pins or a cap".into(),
            }));
        }
    }
    check_linux(&hypervisor.linux)?;
    check_credit2(spec)?;
    spec.cgroups
        .iter()
        .enumerate()
        .try_for_each(|(at, cgroup)| check_cgroup(spec, at, cgroup))
}

fn check_linux(linux: &Linux) -> Checked {
    let owner = &Owner::new("hypervisor linux", "/machine/hypervisor/linux");
    within(owner, "tick_ns", linux.tick_ns, 1_000_000, 10_000_000)?;
    check_turns(linux, owner)?;
    check_costs(linux, owner)?;
    let most = u64::from(linux.migrate_most);
    within(owner, "migrate_most", most, 1, 4096)?;
    check_balance(&linux.balance, owner)?;
    linux.numa_balancing.as_ref().map_or(Ok(()), check_numa)
}

/// How long a thread runs before another's turn.
fn check_turns(linux: &Linux, owner: &Owner) -> Checked {
    let lengths = [
        ("base_slice_ns", linux.base_slice_ns, 100_000),
        ("latency_ns", linux.latency_ns, 100_000),
        ("min_granularity_ns", linux.min_granularity_ns, 100_000),
        ("wakeup_granularity_ns", linux.wakeup_granularity_ns, 0),
    ];
    for (field, value, least) in lengths {
        let value = value.unwrap_or(1_000_000);
        within(owner, field, value, least, 1_000_000_000)?;
    }
    let slice = linux.bandwidth_slice_ns;
    let field = "bandwidth_slice_ns";
    within(owner, field, slice, 100_000, LONGEST_PERIOD_NS)
}

/// What switches, moves and wake-ups cost.
fn check_costs(linux: &Linux, owner: &Owner) -> Checked {
    let cold = linux.migration_cost_ns;
    within(owner, "migration_cost_ns", cold, 0, LONGEST_PERIOD_NS)?;
    for (field, value) in [
        ("switch_ns", linux.switch_ns),
        ("wake_interrupt_ns", linux.wake_interrupt_ns),
        ("wake_idle_ns", linux.wake_idle_ns),
        ("idle_poll_ns", linux.idle_poll_ns),
    ] {
        within(owner, field, value, 0, LEAST_QUOTA_NS)?;
    }
    Ok(())
}

fn check_balance(balance: &Balance, owner: &Owner) -> Checked {
    let often = balance.interval_ns;
    within(
        owner,
        ("balance interval_ns", "balance.interval_ns"),
        often,
        100_000,
        HOUR_NS,
    )?;
    let factor = u64::from(balance.busy_factor);
    within(
        owner,
        ("balance busy_factor", "balance.busy_factor"),
        factor,
        1,
        1000,
    )?;
    for (field, pct) in [
        ("imbalance_smt_pct", balance.imbalance_smt_pct),
        ("imbalance_pct", balance.imbalance_pct),
    ] {
        let (name, steps) = (format!("balance {field}"), format!("balance.{field}"));
        within(owner, (&*name, &*steps), u64::from(pct), 100, 1000)?;
    }
    Ok(())
}

fn check_numa(numa: &NumaBalancing) -> Checked {
    let at = "/machine/hypervisor/linux/numa_balancing";
    let owner = &Owner::new("hypervisor linux numa_balancing", at);
    within(owner, "scan_delay_ns", numa.scan_delay_ns, 0, HOUR_NS)?;
    let least = numa.scan_period_min_ns;
    within(owner, "scan_period_min_ns", least, 1_000_000, HOUR_NS)?;
    within(
        owner,
        "scan_period_max_ns",
        numa.scan_period_max_ns,
        least,
        HOUR_NS,
    )?;
    within(owner, "fault_ns", numa.fault_ns, 0, LEAST_QUOTA_NS)?;
    within(owner, "move_ns", numa.move_ns, 0, LEAST_QUOTA_NS)?;
    within(owner, "scan_bytes", numa.scan_bytes, 1 << 20, 1 << 40)
}

fn check_credit2(spec: &Spec) -> Checked {
    let credit2 = &spec.machine.hypervisor.credit2;
    let owner = &Owner::new("hypervisor credit2", "/machine/hypervisor/credit2");
    let init = credit2.credit_init_ns;
    within(owner, "credit_init_ns", init, 1_000_000, LONGEST_PERIOD_NS)?;
    within(
        owner,
        "rate_limit_ns",
        credit2.rate_limit_ns,
        0,
        500_000_000,
    )?;
    within(
        owner,
        "max_per_queue",
        u64::from(credit2.max_per_queue),
        1,
        4096,
    )?;
    let shortest = credit2.min_timer_ns;
    within(owner, "min_timer_ns", shortest, 10_000, init)?;
    within(
        owner,
        "max_timer_ns",
        credit2.max_timer_ns,
        shortest,
        LONGEST_PERIOD_NS,
    )?;
    within(
        owner,
        "migrate_resist_ns",
        credit2.migrate_resist_ns,
        0,
        init,
    )?;
    within(
        owner,
        "cap_period_ns",
        credit2.cap_period_ns,
        1_000_000,
        LONGEST_PERIOD_NS,
    )?;
    within(
        owner,
        "load_window_shift",
        u64::from(credit2.load_window_shift),
        20,
        36,
    )?;
    within(owner, "switch_ns", credit2.switch_ns, 0, LEAST_QUOTA_NS)?;
    let reset = credit2.reset_below_ns;
    if reset > 0 || reset <= -(init as i64) {
        let wanted = format!("above -{init}, at most 0");
        return Err(range(owner, "reset_below_ns", reset as f64, &wanted));
    }
    Ok(())
}

fn check_cgroup(spec: &Spec, at: usize, cgroup: &Cgroup) -> Checked {
    let owner = &Owner::new(format!("cgroup {}", cgroup.name), format!("/cgroups/{at}"));
    if spec.machine.hypervisor.policy == Policy::Credit2 {
        let instead = "Xen has none: give each partition a weight and a cap";
        return refuse_if(spec, owner, true, "a control group", instead);
    }
    if spec.cgroups[..at]
        .iter()
        .any(|other| other.name == cgroup.name)
    {
        return Err(owner.within("name").twice("cgroup", &*cgroup.name));
    }
    if let Some(parent) = cgroup.parent.filter(|parent| usize::from(*parent) >= at) {
        let owner = owner.within("parent");
        return Err(owner.not_there("parent before it", u64::from(parent), at as u64));
    }
    within(owner, "weight", u64::from(cgroup.weight), 1, 10_000)?;
    within(
        owner,
        "period_ns",
        cgroup.period_ns,
        LEAST_QUOTA_NS,
        LONGEST_PERIOD_NS,
    )?;
    let quota = cgroup.quota_ns.unwrap_or(LEAST_QUOTA_NS);
    within(owner, "quota_ns", quota, LEAST_QUOTA_NS, HOUR_NS)?;
    within(
        owner,
        "burst_ns",
        cgroup.burst_ns,
        0,
        cgroup.quota_ns.unwrap_or(0),
    )?;
    match &cgroup.cpuset {
        Some(cpus) if cpus.is_empty() => Err(range(owner, "cpuset", 0.0, "one processor or more")),
        Some(cpus) => check_cpus(spec, &owner.within("cpuset"), "cpuset processor", cpus),
        None => Ok(()),
    }
}

/// One partition's processors.
pub fn check(spec: &Spec, partition: &Partition, owner: &Owner) -> Checked {
    check_pairs(spec, partition, owner)?;
    let processors = &owner.within("processors");
    let Processors::Shared {
        r#virtual,
        capped,
        weight,
        prsm,
        host,
        ..
    } = &partition.processors
    else {
        return refuse_if(
            spec,
            processors,
            is_host(spec),
            "a core of its own",
            "pin shared ones",
        );
    };
    if !is_host(spec) {
        return if *host == HostThreads::default() {
            Ok(())
        } else {
            Err(not_host(spec, processors))
        };
    }
    let capping = "leave it out and give a quota or a cap";
    refuse_if(
        spec,
        &processors.within("capped"),
        *capped,
        "capping",
        capping,
    )?;
    let zvm = matches!(partition.guest, Guest::Zvm(_));
    refuse_if(
        spec,
        &owner.within("guest"),
        zvm,
        "z/VM",
        "choose another guest",
    )?;
    let of_prsm = *prsm != LogicalCores::default();
    refuse_if(spec, processors, of_prsm, "what is PR/SM's", "leave it out")?;
    if partition.smt != 1 {
        let wanted = "1: a virtual processor is one thread of the host";
        return Err(range(owner, "smt", f64::from(partition.smt), wanted));
    }
    check_threads(spec, *r#virtual, host, &processors.within("host"))?;
    match spec.machine.hypervisor.policy {
        Policy::Credit2 => check_domain(spec, *r#virtual, *weight, host, processors),
        _ => check_tasks(spec, host, &processors.within("host")),
    }
}

/// Pairs of threads are processes of a Linux host, two for each pair, with nothing in between.
fn check_pairs(spec: &Spec, partition: &Partition, owner: &Owner) -> Checked {
    let Workload::Pairs { count, .. } = partition.workload else {
        return Ok(());
    };
    let Processors::Shared {
        r#virtual, host, ..
    } = &partition.processors
    else {
        return Err(not_processes(spec, owner));
    };
    if spec.machine.hypervisor.policy != Policy::Linux {
        return Err(not_processes(spec, owner));
    }
    let instead = "they are plain processes: leave kvm out";
    let what = "pairs of threads in a guest";
    let kvm = &owner.within("processors/host/kvm");
    refuse_if(spec, kvm, host.kvm.is_some(), what, instead)?;
    let aix = matches!(partition.guest, Guest::Aix(_));
    let what = "pairs of threads under AIX, which decides at each wake-up where they run";
    let guest = &owner.within("guest");
    refuse_if(spec, guest, aix, what, "choose another guest")?;
    let daemons = partition.guest.unix().daemon_rate_per_s > 0.0;
    let what = "pairs of threads beside a guest's daemons";
    let instead = "set the rate of the daemons to 0";
    refuse_if(
        spec,
        &guest.within("daemon_rate_per_s"),
        daemons,
        what,
        instead,
    )?;
    let threads = 2 * u64::from(count);
    within(
        owner,
        (
            "number of virtual processors, two for each pair,",
            "processors.virtual",
        ),
        u64::from(*r#virtual),
        threads.max(2),
        threads,
    )
}

fn check_threads(spec: &Spec, vps: u16, host: &HostThreads, owner: &Owner) -> Checked {
    if host.pins.len() > usize::from(vps) {
        let wanted = format!("at most {vps}, one list for each virtual processor");
        return Err(range(owner, "pins", host.pins.len() as f64, &wanted));
    }
    for pins in &host.pins {
        check_cpus(spec, &owner.within("pins"), "pinned processor", pins)?;
    }
    Ok(())
}

fn check_cpus(spec: &Spec, owner: &Owner, field: &str, cpus: &[u16]) -> Checked {
    let siblings = u64::from(spec.machine.hypervisor.siblings);
    let count = u64::from(spec.machine.active_cores) * siblings;
    match cpus.iter().find(|cpu| u64::from(**cpu) >= count) {
        Some(cpu) => Err(owner.not_there(field, u64::from(*cpu), count)),
        None => Ok(()),
    }
}

/// A domain of Xen.
fn check_domain(spec: &Spec, vps: u16, weight: u16, host: &HostThreads, owner: &Owner) -> Checked {
    within(owner, "weight", u64::from(weight), 1, 65_535)?;
    if let Some(cap) = host.cap {
        if !(0.01..=f64::from(vps)).contains(&cap) {
            let wanted = format!("0.01 to {vps} cores, as many as it has virtual processors");
            return Err(range(owner, ("cap", "host.cap"), cap, &wanted));
        }
    }
    let foreign = host.cgroup.is_some() || host.slice_ns.is_some() || host.nice != 0;
    let instead = "give it a weight and a cap";
    let what = "a control group, a slice or a nice value";
    let owner = &owner.within("host");
    refuse_if(spec, owner, foreign, what, instead)?;
    refuse_if(spec, owner, host.kvm.is_some(), "KVM", "leave them out")
}

/// Threads of Linux.
fn check_tasks(spec: &Spec, host: &HostThreads, owner: &Owner) -> Checked {
    let instead = "give its control group a quota";
    refuse_if(spec, owner, host.cap.is_some(), "a cap", instead)?;
    if !(-20..=19).contains(&host.nice) {
        return Err(range(owner, "nice", f64::from(host.nice), "-20 to 19"));
    }
    let slice = host.slice_ns.unwrap_or(1_000_000);
    within(
        owner,
        "slice_ns",
        slice,
        *SLICES_NS.start(),
        *SLICES_NS.end(),
    )?;
    let count = spec.cgroups.len() as u64;
    if let Some(cgroup) = host.cgroup.filter(|at| u64::from(*at) >= count) {
        let owner = owner.within("cgroup");
        return Err(owner.not_there("cgroup", u64::from(cgroup), count));
    }
    check_pins(spec, host, owner)?;
    host.kvm
        .as_ref()
        .map_or(Ok(()), |kvm| check_kvm(kvm, &owner.within("kvm")))
}

/// A thread must have a processor that both its pins and its control groups allow.
fn check_pins(spec: &Spec, host: &HostThreads, owner: &Owner) -> Checked {
    let allowed = cpuset(spec, host.cgroup);
    let fits =
        |cpus: &Vec<u16>| cpus.is_empty() || cpus.iter().any(|cpu| allowed[usize::from(*cpu)]);
    if !allowed.contains(&true) || !host.pins.iter().all(fits) {
        let wanted = "one or more that its pins and the cpusets of its control groups all allow";
        let field = ("processors left to a thread", "pins");
        return Err(range(owner, field, 0.0, wanted));
    }
    Ok(())
}

/// Logical processors that a control group and all above it allow.
fn cpuset(spec: &Spec, mut cgroup: Option<u16>) -> Vec<bool> {
    let siblings = usize::from(spec.machine.hypervisor.siblings);
    let mut allowed = vec![true; usize::from(spec.machine.active_cores) * siblings];
    while let Some(at) = cgroup {
        let group = &spec.cgroups[usize::from(at)];
        if let Some(cpus) = &group.cpuset {
            for (cpu, allowed) in allowed.iter_mut().enumerate() {
                *allowed &= cpus.contains(&(cpu as u16));
            }
        }
        cgroup = group.parent;
    }
    allowed
}

fn check_kvm(kvm: &Kvm, owner: &Owner) -> Checked {
    let second = LONGEST_PERIOD_NS;
    within(owner, "halt_poll_ns", kvm.halt_poll_ns, 0, second)?;
    let start = kvm.halt_poll_grow_start_ns;
    within(owner, "halt_poll_grow_start_ns", start, 0, second)?;
    within(
        owner,
        "halt_poll_grow",
        u64::from(kvm.halt_poll_grow),
        0,
        1000,
    )?;
    within(
        owner,
        "halt_poll_shrink",
        u64::from(kvm.halt_poll_shrink),
        0,
        1000,
    )?;
    within(owner, "exit_ns", kvm.exit_ns, 0, LEAST_QUOTA_NS)?;
    within(owner, "entry_ns", kvm.entry_ns, 0, LEAST_QUOTA_NS)?;
    kvm.pause_loop.map_or(Ok(()), |pause_loop| {
        let window = u64::from(pause_loop.window_cycles);
        within(
            owner,
            ("pause_loop window_cycles", "pause_loop.window_cycles"),
            window,
            128,
            u64::from(u32::MAX),
        )
    })
}

fn within<'a>(
    owner: &Owner,
    field: impl Into<Field<'a>>,
    value: u64,
    least: u64,
    most: u64,
) -> Checked {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(range(
        owner,
        field,
        value as f64,
        &format!("{least} to {most}"),
    ))
}

fn refuse_if(spec: &Spec, owner: &Owner, there: bool, what: &str, instead: &str) -> Checked {
    if !there {
        return Ok(());
    }
    Err(owner.refuse(Wrong::NotOnHost {
        what: what.into(),
        machine: spec.machine.name.clone(),
        instead: instead.into(),
    }))
}

fn not_processes(spec: &Spec, owner: &Owner) -> SpecFault {
    owner.within("workload").refuse(Wrong::NotProcesses {
        machine: spec.machine.name.clone(),
    })
}

fn not_host(spec: &Spec, owner: &Owner) -> SpecFault {
    owner.refuse(Wrong::NotHost {
        machine: spec.machine.name.clone(),
    })
}
