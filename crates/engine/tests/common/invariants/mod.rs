//! What is true of every interval of every run, each under a name and with the reason why.

mod books;
mod limits;
mod waiting;
mod work;

use std::panic::{catch_unwind, AssertUnwindSafe};

use homenode_engine::hypervisor::policies::run_time_ns;
use homenode_engine::spec::{Partition, Policy, Processors, Spec};

use super::platform::{Platform, ALL, WINDOWS};
use super::Outcome;
use Platform::{Credit2, Dedicated, Linux, PowerVm, PrSm, Zvm};

/// Something that must hold.
pub struct Invariant {
    /// What it is called.
    pub name: &'static str,
    /// Why it must hold.
    pub why: &'static str,
    /// For whom.
    pub on: &'static [Platform],
    /// Panics where it does not.
    pub holds: fn(&Spec, &Outcome),
}

/// What can be seen of one run. What takes two stands in `pairs.rs` of the tests `invariants`, and
/// what takes loops without end in their `shares.rs`.
#[rustfmt::skip] // A table.
pub const OF_A_RUN: [Invariant; 21] = [
    Invariant { name: "books", on: &ALL, holds: books::rows_balance,
        why: "each nanosecond of core time has one cause, one account, one distance, one charge" },
    Invariant { name: "logical processors", on: &ALL, holds: books::processors_add_up,
        why: "a partition's time is that of its logical processors" },
    Invariant { name: "owners", on: &[Zvm], holds: books::owners_are_the_busy_time,
        why: "CP charges each nanosecond to a guest's work, to its own for a guest, or to the \
             system" },
    Invariant { name: "core types", on: &[PrSm], holds: books::types_are_conserved,
        why: "a core runs a partition or PR/SM, or it idles" },
    Invariant { name: "lines", on: &ALL, holds: books::lines_follow_instructions,
        why: "a line comes from somewhere, and only where an instruction missed" },
    Invariant { name: "signs", on: &ALL, holds: books::nothing_is_negative,
        why: "counters only grow, whatever rounding does, and nothing is less than nothing" },
    Invariant { name: "totals", on: &ALL, holds: books::totals_are_sums,
        why: "the summary counts what the intervals count" },
    Invariant { name: "capacity", on: &ALL, holds: limits::cores_are_used_once,
        why: "a core is one partition's at a time" },
    Invariant { name: "entitlement as a cap", on: &[PowerVm], holds: limits::capped_and_pools,
        why: "capped partitions get their entitlement at most, pools their maximum, window by \
             window" },
    Invariant { name: "caps of PR/SM", on: &[PrSm], holds: limits::caps_of_prsm,
        why: "absolute caps of partitions and groups hold in each time slice" },
    Invariant { name: "quotas", on: &[Linux], holds: limits::quotas,
        why: "a quota is handed out once a period, and overruns are paid back" },
    Invariant { name: "caps of credit2", on: &[Credit2], holds: limits::caps_of_credit2,
        why: "a budget is handed out once a period, and overruns are paid back" },
    Invariant { name: "hard limits", on: &[Zvm], holds: limits::hard_limits,
        why: "LIMITHARD holds also beside idle processors" },
    Invariant { name: "guarantee", on: &WINDOWS, holds: limits::entitlement_is_guaranteed,
        why: "who always has work gets what is entitled to him in each window" },
    Invariant { name: "own cores", on: &[Dedicated, Zvm], holds: work::own_cores_are_left_alone,
        why: "without a dispatcher nothing waits, moves or is thrown off" },
    Invariant { name: "transactions", on: &ALL, holds: work::transactions_are_kept,
        why: "what came and has not left is inside, and takes no less than its work at best" },
    Invariant { name: "switches", on: &ALL, holds: work::switches_follow_dispatches,
        why: "each dispatch ends in a switch" },
    Invariant { name: "dispatch records", on: &ALL, holds: work::records_cover_the_busy_time,
        why: "who used a core was dispatched on it, and alone" },
    Invariant { name: "used cores", on: &ALL, holds: work::cores_add_up_to_the_busy_time,
        why: "a map of the machine shows by chip what partitions used" },
    Invariant { name: "homes", on: &[PrSm], holds: work::high_cores_stay_at_home,
        why: "a vertical-high core within its share is as good as dedicated" },
    Invariant { name: "no needless wait", on: &[PowerVm, PrSm, Linux, Credit2],
        holds: waiting::nobody_waits_beside_an_idle_core,
        why: "cores are work-conserving: who is ready takes a core that idles and may be used" },
];

/// Checks all of it. Warm-up and intervals must be whole windows.
pub fn assert_all(spec: &Spec, outcome: &Outcome) {
    let platform = Platform::of(spec);
    for one in OF_A_RUN.iter().filter(|one| one.on.contains(&platform)) {
        told(one.name, one.why, || (one.holds)(spec, outcome));
    }
}

/// Runs a check; where it fails it is told what it is called and why it should hold.
pub fn told(name: &str, why: &str, check: impl FnOnce()) {
    let Err(broken) = catch_unwind(AssertUnwindSafe(check)) else {
        return;
    };
    let what = broken.downcast_ref::<String>().cloned();
    let what = what.or_else(|| broken.downcast_ref::<&str>().map(ToString::to_string));
    let what = what.unwrap_or_default();
    panic!("{name}: {what} (must hold: {why})");
}

/// Length of each interval [ns].
fn lengths(spec: &Spec) -> impl Iterator<Item = i64> {
    let (interval, duration) = (spec.interval_ns, spec.duration_ns);
    (0..duration.div_ceil(interval)).map(move |k| (interval.min(duration - k * interval)) as i64)
}

fn windows(spec: &Spec, length: i64) -> i64 {
    length / window_ns(spec) as i64
}

/// Length of a window: PR/SM's time slice where partitions share.
fn window_ns(spec: &Spec) -> u64 {
    let sharing = match spec.machine.hypervisor.policy {
        Policy::Prsm => run_time_ns(spec),
        _ => None,
    };
    sharing.unwrap_or(spec.machine.hypervisor.window_ns)
}

/// Virtual processors, or cores of its own.
fn vps(partition: &Partition) -> u16 {
    match &partition.processors {
        Processors::Shared { r#virtual, .. } => *r#virtual,
        Processors::Dedicated { cores, .. } => cores.len() as u16,
    }
}

/// Runs a check for each interval of each partition with a look-up by column name.
fn each_row(
    spec: &Spec,
    outcome: &Outcome,
    mut check: impl FnMut(&Partition, i64, &dyn Fn(&str) -> i64),
) {
    for (index, partition) in spec.partitions.iter().enumerate() {
        let rows: Vec<_> = outcome.partition.only("partition", index as i64).collect();
        assert_eq!(rows.len(), lengths(spec).count());
        for (row, length) in rows.into_iter().zip(lengths(spec)) {
            check(partition, length, &|column| {
                row[outcome.partition.at(column)]
            });
        }
    }
}

/// Physical cores, or logical processors where a host counts them one by one.
fn cpus(spec: &Spec) -> i64 {
    i64::from(spec.machine.active_cores) * i64::from(spec.machine.hypervisor.siblings)
}
