//! What a partition's guest, workload and profile must satisfy.

#![allow(clippy::neg_cmp_op_on_partial_ord)] // `!(x <= y)` refuses NaN, which is meant

use crate::check::{at_most, range, within, Checked, Owner, Wrong, LONGEST_NS};
use crate::cost::{core_per_ns, reference_drains};
use crate::guest::Scheduler;
use crate::spec::{
    Aix, Gang, Generator, Guest, Load, Machine, Partition, Processors, Profile, Spec, Workload,
};

/// What a message may bring [bytes].
const LARGEST_MESSAGE: u64 = 1 << 30;

pub(crate) fn check(spec: &Spec, partition: &Partition, owner: &Owner) -> Checked {
    check_guest(partition, &owner.within("guest"))?;
    check_load(spec, (&partition.workload, &partition.profile), owner)?;
    let loads = partition.beside.len() as u64;
    within(
        owner,
        ("loads beside its first", "beside"),
        loads,
        0,
        MOST_BESIDE,
    )?;
    for (at, load) in partition.beside.iter().enumerate() {
        let owner = &owner.part(&format!("load {}", load.name), &format!("beside/{at}"));
        check_load(spec, (&load.workload, &load.profile), owner)?;
        let names = (0..=at).map(|place| partition.load(place).0);
        if names.into_iter().any(|name| name == load.name) || load.name.is_empty() {
            return Err(owner.within("name").twice("load", &*load.name));
        }
    }
    check_together(spec, partition, owner)
}

/// Most loads beside a partition's first.
const MOST_BESIDE: u64 = 14;

fn check_load(spec: &Spec, (workload, profile): (&Workload, &Profile), owner: &Owner) -> Checked {
    check_profile(&spec.machine, profile, &owner.within("profile"))?;
    check_stream(spec, profile, &owner.within("profile"))?;
    check_workload(workload, &owner.within("workload"))?;
    check_burst(spec, workload, profile, owner)
}

/// Several loads share a guest's run queues, which z/VM and plain processes do not have.
fn check_together(spec: &Spec, partition: &Partition, owner: &Owner) -> Checked {
    let count = partition.beside.len();
    if count == 0 {
        return Ok(());
    }
    let kvm = match &partition.processors {
        Processors::Shared { host, .. } => host.kvm.is_some(),
        Processors::Dedicated { .. } => false,
    };
    let processes = spec.machine.hypervisor.policy.runs_processes() && !kvm;
    if processes || matches!(partition.guest, Guest::Zvm(_)) {
        let field = ("loads beside its first", "beside");
        let wanted = "0 under z/VM and of plain processes of a host";
        return Err(range(owner, field, count as f64, wanted));
    }
    let web = |load: &Load| matches!(load.workload, Workload::Web { .. });
    match partition.beside.iter().position(web) {
        Some(at) => {
            let owner = owner.within(&format!("beside/{at}/workload"));
            Err(owner.refuse(Wrong::NotZvm))
        }
        None => Ok(()),
    }
}

/// Least rate of anything random [1/s]: once in three years, for the same reason.
const LEAST_RATE_PER_S: f64 = 1e-8;

/// How often daemons wake: never, or at a rate of which gaps can be drawn.
pub(crate) fn check_daemon_rate(rate: f64, owner: &Owner) -> Checked {
    if rate == 0.0 || (LEAST_RATE_PER_S..=1e6).contains(&rate) {
        return Ok(());
    }
    let most = "0, or 1e-8 to 1e6";
    Err(range(owner, "daemon_rate_per_s", rate, most))
}

fn check_guest(partition: &Partition, owner: &Owner) -> Checked {
    if let Guest::Aix(aix) = &partition.guest {
        check_aix(aix, owner)?;
    }
    let guest = Scheduler::of(&partition.guest);
    if guest.unix.tick_ns == 0
        || guest.unix.timeslice_ns < 1_000
        || guest.unix.rebalance_ns.is_some_and(|ns| ns < 1_000_000)
    {
        let field = ("tick_ns, timeslice_ns, rebalance_ns", "");
        return Err(range(owner, field, 0.0, "positive, the last 1 ms or more"));
    }
    check_daemon_rate(guest.unix.daemon_rate_per_s, owner)?;
    check_gangs(&guest.unix.gangs, &owner.within("gangs"))?;
    let (snooze, rebalance) = (guest.snooze_delay_ns, guest.unix.rebalance_ns);
    let times = [
        ("snooze_delay_ns", snooze.unwrap_or(0), LONGEST_NS),
        ("tick_ns", guest.unix.tick_ns, LONGEST_NS),
        ("tick_cost_ns", guest.unix.tick_cost_ns, LONGEST_NS),
        ("timeslice_ns", guest.unix.timeslice_ns, LONGEST_NS),
        ("rebalance_ns", rebalance.unwrap_or(0), LONGEST_NS),
        ("daemon_ns", guest.unix.daemon_ns, LONGEST_NS),
    ];
    at_most(owner, &times)
}

/// Most threads of a gang.
const MOST_THREADS: u64 = 4096;

fn check_gangs(gangs: &[Gang], owner: &Owner) -> Checked {
    within(
        owner,
        ("gangs", ""),
        gangs.len() as u64,
        0,
        u64::from(u8::MAX),
    )?;
    for (number, gang) in gangs.iter().enumerate() {
        let owner = &owner.part(&format!("gang {number}"), &number.to_string());
        within(owner, "threads", u64::from(gang.threads), 1, MOST_THREADS)?;
        within(owner, "every_ns", gang.every_ns, 1_000_000, LONGEST_NS)?;
        at_most(owner, &[("work_ns", gang.work_ns, LONGEST_NS)])?;
        if !gang.lengths_ns.is_empty() || !gang.instructions_per_s.is_empty() {
            check_steps(&gang.lengths_ns, &gang.instructions_per_s, owner)?;
        }
    }
    Ok(())
}

fn check_aix(aix: &Aix, owner: &Owner) -> Checked {
    if !matches!(aix.throughput_mode, 0 | 1 | 2 | 4 | 8) {
        let mode = f64::from(aix.throughput_mode);
        return Err(range(owner, "throughput_mode", mode, "0, 1, 2, 4 or 8"));
    }
    let threshold = aix.fold_threshold_pct;
    if !(threshold > 0.0 && threshold <= 100.0) {
        let most = "above 0, at most 100";
        return Err(range(owner, "fold_threshold_pct", threshold, most));
    }
    Ok(())
}

pub(crate) fn check_profile(machine: &Machine, profile: &Profile, owner: &Owner) -> Checked {
    let positive = [
        (
            "instructions_per_unit",
            profile.instructions_per_unit,
            1.0,
            1e18,
        ),
        ("eicpi", profile.eicpi, 1e-3, 1e3),
        ("control_share", profile.control_share, 0.0, 1.0),
        ("branch_misses", profile.branch_misses, 0.0, 1.0),
        ("miss_c0_bytes", profile.miss_c0_bytes, 1.0, 1e15),
        ("miss_m0", profile.miss_m0, 0.0, 10.0),
        ("miss_exponent", profile.miss_exponent, 0.0, 10.0),
        ("working_set_bytes", profile.working_set_bytes, 0.0, 1e15),
        ("working_set_touches", profile.working_set_touches, 0.0, 1.0),
        ("buffers_bytes", profile.buffers_bytes, 0.0, 1e15),
        ("copied_bytes", profile.copied_bytes, 0.0, 1e3),
        ("issue_share", profile.issue_share, 0.0, 1.0),
        ("system_share", profile.system_share, 0.0, 1.0),
        ("kernel_ns", profile.kernel_ns, 0.0, 1e15),
        ("host_ns", profile.host_ns, 0.0, 1e15),
        ("sharing", profile.sharing, 0.0, 1.0),
        ("footprint_common", profile.footprint_common, 0.0, 1.0),
        ("roaming", profile.roaming, 0.0, 1.0),
        ("overlap", profile.overlap, 0.0, 0.999),
        ("lock_share", profile.lock_share, 0.0, 0.999),
        (
            "lock_hold_instructions",
            profile.lock_hold_instructions,
            1.0,
            1e12,
        ),
        (
            "lock_switch_instructions",
            profile.lock_switch_instructions,
            0.0,
            1e9,
        ),
        ("flush_instructions", profile.flush_instructions, 0.0, 1e15),
        ("stream_bytes", profile.stream_bytes, 0.0, 1e6),
        ("private_data", profile.private_data, 0.0, 1.0),
        ("io_data", profile.io_data, 0.0, 1.0),
        ("store_share", profile.store_share, 0.0, 1.0),
        ("store_run", profile.store_run, 1.0, 1e6),
    ];
    for (field, value, least, most) in positive {
        if !(value >= least && value <= most) {
            return Err(range(owner, field, value, &format!("{least} to {most}")));
        }
    }
    check_sets(profile, owner)?;
    let both = profile.private_data + profile.io_data;
    if both <= 1.0 {
        return check_drains(machine, profile, owner);
    }
    let field = ("private_data + io_data", "private_data");
    Err(range(owner, field, both, "0 to 1"))
}

/// What is touched again has a size, and what has a size is touched.
fn check_sets(profile: &Profile, owner: &Owner) -> Checked {
    let (set, touches) = (profile.working_set_bytes, profile.working_set_touches);
    let (buffers, copied) = (profile.buffers_bytes, profile.copied_bytes);
    let (beside, untouched) = (
        "above 0 beside a working set",
        "above 0 where its lines are touched",
    );
    for (of, by, sizes, shares) in [
        (
            "working_set_bytes",
            "working_set_touches",
            (set, untouched),
            (touches, beside),
        ),
        (
            "buffers_bytes",
            "copied_bytes",
            (buffers, "above 0 where something is copied"),
            (copied, "above 0 beside buffers"),
        ),
    ] {
        if (sizes.0 > 0.0) != (shares.0 > 0.0) {
            let (field, (value, least)) = if sizes.0 > 0.0 {
                (by, shares)
            } else {
                (of, sizes)
            };
            return Err(range(owner, field, value, least));
        }
    }
    Ok(())
}

/// What empties pipelines is within `eicpi`, and something must be left of it to do work.
fn check_drains(machine: &Machine, profile: &Profile, owner: &Owner) -> Checked {
    let drains = reference_drains(machine, profile).unwrap_or(0.0);
    if drains < profile.eicpi {
        return Ok(());
    }
    let field = ("cycles of emptied pipelines", "control_share");
    let most = format!("less than eicpi, {}", profile.eicpi);
    Err(range(owner, field, drains, &most))
}

/// How fast a stream flows only a machine can tell that says how its cores get through one.
fn check_stream(spec: &Spec, profile: &Profile, owner: &Owner) -> Checked {
    if profile.stream_bytes == 0.0 || spec.machine.streams.is_some() {
        return Ok(());
    }
    let told = "0 on a machine that says nothing of streams";
    Err(range(owner, "stream_bytes", profile.stream_bytes, told))
}

fn check_workload(workload: &Workload, owner: &Owner) -> Checked {
    match *workload {
        Workload::Transactions {
            rate_per_s,
            bursts,
            wait_ns,
            ..
        } => {
            if !(LEAST_RATE_PER_S..=1e7).contains(&rate_per_s) {
                return Err(range(owner, "rate_per_s", rate_per_s, "1e-8 to 1e7"));
            }
            at_most(owner, &[("wait_ns", wait_ns, LONGEST_NS)])?;
            check_bursts(bursts, owner)
        }
        Workload::Users {
            count,
            think_ns,
            bursts,
            wait_ns,
            ..
        } => {
            within(owner, ("users", "count"), count.into(), 1, 1_000_000)?;
            let waits = [
                ("wait_ns", wait_ns, LONGEST_NS),
                ("think_ns", think_ns, LONGEST_NS),
            ];
            at_most(owner, &waits)?;
            check_bursts(bursts, owner)
        }
        Workload::Pairs {
            count,
            exchanges,
            client_share,
            think_ns,
            message_bytes,
            generator,
            ..
        } => {
            within(owner, ("pairs", "count"), count.into(), 1, 16_000)?;
            within(owner, "exchanges", exchanges.into(), 1, 10_000)?;
            if !(0.01..=0.99).contains(&client_share) {
                return Err(range(owner, "client_share", client_share, "0.01 to 0.99"));
            }
            let most = [
                ("think_ns", think_ns, LONGEST_NS),
                ("message_bytes", message_bytes, LARGEST_MESSAGE),
            ];
            at_most(owner, &most)?;
            generator.map_or(Ok(()), |told| check_generator(told, think_ns, owner))
        }
        Workload::Barriers { count, threads, .. } => check_programs(count, threads, owner),
        Workload::Loops {
            count,
            endless,
            busy_ns,
            rest_ns,
        } => {
            within(owner, ("loops", "count"), count.into(), 1, 100_000)?;
            check_phases(endless, busy_ns, rest_ns, owner)
        }
        Workload::Warehouses { count } => {
            within(owner, ("warehouses", "count"), count.into(), 1, 100_000)
        }
        Workload::Trace { .. } => check_trace(workload, owner),
        _ => Ok(()),
    }
}

fn check_generator(told: Generator, think_ns: u64, owner: &Owner) -> Checked {
    if think_ns > 0 {
        let wanted = "0 beside a generator, which says when clients ask";
        return Err(range(owner, "think_ns", think_ns as f64, wanted));
    }
    let owner = &owner.within("generator");
    let (rate, turn) = (told.rate_per_s, told.instructions);
    if !(LEAST_RATE_PER_S..=1e7).contains(&rate) {
        return Err(range(owner, "rate_per_s", rate, "1e-8 to 1e7"));
    }
    // Shorter than the clock's resolution it would never let time go on.
    if !(100.0..=1e9).contains(&turn) {
        return Err(range(owner, "instructions", turn, "100 to 1e9"));
    }
    Ok(())
}

fn check_programs(count: u32, threads: u16, owner: &Owner) -> Checked {
    within(owner, ("programs", "count"), count.into(), 1, 10_000)?;
    within(owner, "threads", threads.into(), 1, MOST_THREADS)?;
    let all = u64::from(count) * u64::from(threads);
    within(owner, ("threads of all programs", "count"), all, 1, 100_000)
}

fn check_phases(endless: bool, busy_ns: u64, rest_ns: u64, owner: &Owner) -> Checked {
    if (busy_ns > 0) != (rest_ns > 0) || (busy_ns > 0 && !endless) {
        let wanted = "of endless loops, beside a rest, or 0";
        return Err(range(owner, "busy_ns", busy_ns as f64, wanted));
    }
    let times = [
        ("busy_ns", busy_ns, LONGEST_NS),
        ("rest_ns", rest_ns, LONGEST_NS),
    ];
    at_most(owner, &times)
}

/// Greatest recorded demand [instructions/s]: that of all cores that a machine may have.
const MOST_PER_S: f64 = 1e15;
/// Most steps of a recorded demand.
const MOST_STEPS: usize = 10_000_000;

fn check_trace(workload: &Workload, owner: &Owner) -> Checked {
    let Workload::Trace {
        lengths_ns,
        instructions_per_s,
        ..
    } = workload
    else {
        return Ok(());
    };
    check_steps(lengths_ns, instructions_per_s, owner)
}

/// Work that is played step by step.
pub(crate) fn check_steps(lengths_ns: &[u64], per_s: &[f64], owner: &Owner) -> Checked {
    let steps = lengths_ns.len();
    if steps == 0 || steps > MOST_STEPS {
        return Err(range(
            owner,
            ("steps", "lengths_ns"),
            steps as f64,
            "1 to 10000000",
        ));
    }
    if per_s.len() != steps {
        let field = ("instructions_per_s, how many", "instructions_per_s");
        let asked = format!("{steps}, one for each of lengths_ns");
        return Err(range(owner, field, per_s.len() as f64, &asked));
    }
    let mut all = 0_u64;
    for length in lengths_ns {
        all = all.saturating_add(*length);
        if *length == 0 || all > LONGEST_NS {
            let asked = "positive, three years in all at most";
            let field = ("length of a step", "lengths_ns");
            return Err(range(owner, field, *length as f64, asked));
        }
    }
    match per_s
        .iter()
        .find(|rate| !(0.0..=MOST_PER_S).contains(*rate))
    {
        Some(rate) => Err(range(owner, "instructions_per_s", *rate, "0 to 1e15")),
        None => Ok(()),
    }
}

fn check_bursts(bursts: f64, owner: &Owner) -> Checked {
    if (1.0..=1e6).contains(&bursts) {
        Ok(())
    } else {
        Err(range(owner, "bursts", bursts, "1 to 1e6"))
    }
}

/// A burst shorter than the clock's resolution would never let time go on.
fn check_burst(spec: &Spec, workload: &Workload, profile: &Profile, owner: &Owner) -> Checked {
    let bursts = match *workload {
        Workload::Transactions { bursts, .. } | Workload::Users { bursts, .. } => bursts,
        Workload::Pairs {
            exchanges,
            client_share,
            ..
        } => (f64::from(exchanges) + 1.0) / client_share.min(1.0 - client_share),
        Workload::Barriers { threads, .. } => f64::from(threads),
        Workload::Loops { .. }
        | Workload::Warehouses { .. }
        | Workload::Web { .. }
        | Workload::Trace { .. }
        | Workload::Idle => 1.0,
    };
    let unit_ns = profile.instructions_per_unit / core_per_ns(&spec.machine, profile);
    if unit_ns / bursts >= 1.0 {
        Ok(())
    } else {
        let field = ("mean burst in ns", "workload");
        Err(range(owner, field, unit_ns / bursts, "1 or more"))
    }
}
