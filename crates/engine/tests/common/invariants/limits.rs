//! Nobody has more than his limits allow, nor less than he is entitled to.

use homenode_engine::spec::{CpShare, Guest, LockKind, Partition, Processors, Spec, Workload};

use super::super::Outcome;
use super::{cpus, each_row, lengths, vps, window_ns, windows};

pub fn cores_are_used_once(spec: &Spec, outcome: &Outcome) {
    let at = outcome.partition.at("busy_ns");
    let rows: Vec<_> = outcome.partition.rows().collect();
    for (rows, length) in rows.chunks(spec.partitions.len()).zip(lengths(spec)) {
        let busy: i64 = rows.iter().map(|row| row[at]).sum();
        assert!(busy <= cpus(spec) * length);
    }
    for (rows, length) in outcome
        .pool
        .series("pool", 0, "idle_ns")
        .iter()
        .zip(lengths(spec))
    {
        assert!((0..=cpus(spec) * length).contains(rows));
    }
}

/// Whether something below its entitlement limits a partition.
fn is_limited(processors: &Processors) -> bool {
    match processors {
        Processors::Shared { prsm, .. } => {
            prsm.cap.is_some() || prsm.group.is_some() || prsm.defined_capacity.is_some()
        }
        Processors::Dedicated { .. } => false,
    }
}

pub fn capped_and_pools(spec: &Spec, outcome: &Outcome) {
    each_row(spec, outcome, |partition, length, of| {
        if let Processors::Shared {
            entitlement,
            capped: true,
            ..
        } = partition.processors
        {
            let limit = entitlement * length as f64 + windows(spec, length) as f64;
            assert!(
                of("busy_ns") as f64 <= limit,
                "{} is capped",
                partition.name
            );
        }
    });
    for (index, pool) in spec.pools.iter().enumerate() {
        let Some(maximum) = pool.maximum else {
            continue;
        };
        let busy = outcome.pool.series("pool", index, "busy_ns");
        for (busy, length) in busy.into_iter().zip(lengths(spec)) {
            let limit = maximum * length as f64 + windows(spec, length) as f64;
            assert!(busy as f64 <= limit, "{} uses {busy} of {limit}", pool.name);
        }
    }
}

/// Whether all threads of a partition have work all the time.
pub fn is_always_busy(partition: &Partition) -> bool {
    let threads = u32::from(vps(partition)) * u32::from(partition.smt);
    let folds = matches!(&partition.guest, Guest::Aix(aix) if aix.xvcpus >= 0);
    let keeps_on = match partition.workload {
        Workload::Loops {
            count,
            endless: true,
            rest_ns: 0,
            ..
        }
        | Workload::Warehouses { count } => count >= threads,
        _ => false,
    };
    let profile = &partition.profile;
    let sleeps = profile.lock_kind == LockKind::Sleeping && profile.lock_share > 0.0;
    keeps_on && !folds && !sleeps
}

pub fn entitlement_is_guaranteed(spec: &Spec, outcome: &Outcome) {
    each_row(spec, outcome, |partition, length, of| {
        let Processors::Shared { entitlement, .. } = partition.processors else {
            return;
        };
        if is_limited(&partition.processors) {
            return;
        }
        // Work that starts within a window, as all does at time 0, has no claim on all of it.
        let since = of("time_ns") + spec.warmup_ns as i64 - length;
        if is_always_busy(partition) && since >= window_ns(spec) as i64 {
            let rounding = 10.0 + f64::from(vps(partition));
            let overhead = spec.machine.hypervisor.dispatch_ns as f64 + rounding;
            let own = spec.machine.hypervisor.prsm.physical_ns as f64;
            let given = length as f64 - own * windows(spec, length) as f64;
            let least = entitlement * given - overhead * windows(spec, length) as f64;
            let got = of("busy_ns") as f64;
            assert!(got >= least, "{} got {got} ns of {least}", partition.name);
        }
    });
}

/// What PR/SM has to give of each core, by interval [ns].
fn given(spec: &Spec) -> impl Iterator<Item = f64> + '_ {
    let own = spec.machine.hypervisor.prsm.physical_ns as i64;
    lengths(spec).map(move |length| (length - own * windows(spec, length)) as f64)
}

pub fn caps_of_prsm(spec: &Spec, outcome: &Outcome) {
    let mut grouped = vec![vec![0; lengths(spec).count()]; spec.groups.len()];
    for (at, partition) in spec.partitions.iter().enumerate() {
        let Processors::Shared { prsm, .. } = &partition.processors else {
            continue;
        };
        let busy = outcome.partition.series("partition", at, "busy_ns");
        if let Some(cap) = prsm.cap {
            below(
                &partition.name,
                &busy,
                given(spec).map(|given| cap * given + 2.0),
            );
        }
        if let Some(group) = prsm.group {
            let sums = &mut grouped[usize::from(group)];
            sums.iter_mut().zip(busy).for_each(|(sum, ns)| *sum += ns);
        }
    }
    for (group, busy) in spec.groups.iter().zip(grouped) {
        below(
            &group.name,
            &busy,
            given(spec).map(|given| group.cap * given + 2.0),
        );
    }
}

fn below(name: &str, busy: &[i64], most: impl Iterator<Item = f64>) {
    for (busy, most) in busy.iter().zip(most) {
        assert!(*busy as f64 <= most, "{name} uses {busy} of {most} ns");
    }
}

/// A group with all below it. An interval may begin with a pool that is full and what was saved,
/// and with a slice on each processor; who is at work when nothing is left is found at a tick.
pub fn quotas(spec: &Spec, outcome: &Outcome) {
    let linux = &spec.machine.hypervisor.linux;
    let late = linux.bandwidth_slice_ns + linux.tick_ns + linux.tick_late_ns;
    for (at, group) in spec.cgroups.iter().enumerate() {
        let Some(quota) = group.quota_ns else {
            continue;
        };
        let mut busy = vec![0; lengths(spec).count()];
        let members = spec.partitions.iter().enumerate();
        for (member, _) in members.filter(|(_, partition)| is_below(spec, partition, at)) {
            let series = outcome.partition.series("partition", member, "busy_ns");
            busy.iter_mut().zip(series).for_each(|(sum, ns)| *sum += ns);
        }
        let most = |length: i64| {
            let periods = length as u64 / group.period_ns + 2;
            (quota * periods + group.burst_ns + late * cpus(spec) as u64) as f64
        };
        below(&group.name, &busy, lengths(spec).map(most));
    }
}

fn is_below(spec: &Spec, partition: &Partition, group: usize) -> bool {
    let Processors::Shared { host, .. } = &partition.processors else {
        return false;
    };
    let up = |at: &u16| spec.cgroups[usize::from(*at)].parent;
    std::iter::successors(host.cgroup, up).any(|at| usize::from(at) == group)
}

/// An interval may begin and end within a period; each virtual processor is looked at once in the
/// shortest timer.
pub fn caps_of_credit2(spec: &Spec, outcome: &Outcome) {
    let credit2 = &spec.machine.hypervisor.credit2;
    each_row(spec, outcome, |partition, length, of| {
        let Processors::Shared { host, .. } = &partition.processors else {
            return;
        };
        let late = u64::from(vps(partition)) * credit2.min_timer_ns;
        let most = |cap: f64| cap * (length as u64 + 2 * credit2.cap_period_ns) as f64;
        let most = host.cap.map_or(f64::INFINITY, most) + late as f64;
        below(&partition.name, &[of("busy_ns")], std::iter::once(most));
    });
}

/// Minor slices that a limited virtual machine can save up, as the engine has it.
const SAVED_SLICES: f64 = 10.0;

/// From the start of recording to the end of each interval: all that was saved may be used, and
/// each of its processors may be in a slice when the limit is reached.
pub fn hard_limits(spec: &Spec, outcome: &Outcome) {
    for (index, partition) in spec.partitions.iter().enumerate() {
        let Guest::Zvm(zvm) = &partition.guest else {
            continue;
        };
        let lps = f64::from(vps(partition)) * f64::from(partition.smt);
        let table = &outcome.virtual_machine;
        let used = |row: &[i64]| row[table.at("guest_ns")] + row[table.at("chargeable_ns")];
        for (at, machine) in zvm.machines.iter().enumerate() {
            let limit = machine.maximum.filter(|_| machine.limit_hard);
            let Some(CpShare::Absolute(part)) = limit else {
                continue;
            };
            let rows = table.only("partition", index as i64);
            let own = rows.filter(|row| row[table.at("virtual_machine")] == at as i64);
            let busy: Vec<i64> = own.scan(0, |sum, row| add(sum, used(row))).collect();
            let slices = SAVED_SLICES * (part * lps).min(1.0) + f64::from(machine.cpus);
            let saved = slices * zvm.minor_slice_ns as f64;
            let since = lengths(spec).scan(0, add);
            let most = since.map(|since| part * lps * since as f64 + saved);
            below(&machine.name, &busy, most);
        }
    }
}

fn add(sum: &mut i64, more: i64) -> Option<i64> {
    *sum += more;
    Some(*sum)
}
