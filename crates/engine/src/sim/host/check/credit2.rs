//! What Xen's scheduler credit2 and its domains must satisfy.

use super::linux::check_kvm;
use super::refusal::{refuse_if, LEAST_QUOTA_NS, LONGEST_PERIOD_NS};
use crate::check::{range, within, Checked, Owner};
use crate::spec::{HostThreads, Spec};

/// The scheduler's own numbers.
pub fn check(spec: &Spec) -> Checked {
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
    within(owner, "timer_late_ns", credit2.timer_late_ns, 0, shortest)?;
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

/// A domain of Xen.
pub fn check_domain(
    spec: &Spec,
    vps: u16,
    weight: u16,
    host: &HostThreads,
    owner: &Owner,
) -> Checked {
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
    host.kvm
        .as_ref()
        .map_or(Ok(()), |kvm| check_kvm(kvm, &owner.within("kvm")))
}
