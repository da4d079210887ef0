//! What the Linux scheduler, its threads and KVM must satisfy.

use super::cgroups;
use super::refusal::{refuse_if, HOUR_NS, LEAST_QUOTA_NS, LONGEST_PERIOD_NS};
use crate::check::{range, within, Checked, Owner};
use crate::spec::{Balance, HostThreads, Kvm, Linux, NumaBalancing, Spec};

/// Least and most slice that a thread may ask for [ns].
const SLICES_NS: std::ops::RangeInclusive<u64> = 100_000..=100_000_000;

/// The scheduler's own numbers.
pub fn check(linux: &Linux) -> Checked {
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

/// Threads of Linux.
pub fn check_tasks(spec: &Spec, host: &HostThreads, owner: &Owner) -> Checked {
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
    cgroups::check_pins(spec, host, owner)?;
    host.kvm
        .as_ref()
        .map_or(Ok(()), |kvm| check_kvm(kvm, &owner.within("kvm")))
}

pub fn check_kvm(kvm: &Kvm, owner: &Owner) -> Checked {
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
    within(owner, "idle_exits", u64::from(kvm.idle_exits), 0, 100)?;
    if let Some(locks) = kvm.paravirtual_locks {
        let owner = &owner.within("paravirtual_locks");
        within(owner, "spin_ns", locks.spin_ns, 1_000, LONGEST_PERIOD_NS)?;
        within(owner, "early_ns", locks.early_ns, 100, LONGEST_PERIOD_NS)?;
    }
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
