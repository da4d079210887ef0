//! What is true of every interval of every run: conservation, limits and guarantees.

use homenode_engine::cost::{BOOK_NAMES, LINE_NAMES};
use homenode_engine::hypervisor::policies::run_time_ns;
use homenode_engine::sim::columns;
use homenode_engine::spec::{Guest, Partition, Policy, Processors, Spec, Workload};

use super::Outcome;

/// Checks all of it. Warm-up and intervals must be whole windows.
pub fn assert_all(spec: &Spec, outcome: &Outcome) {
    partition_rows_balance(spec, outcome);
    processor_rows_add_up(spec, outcome);
    cores_are_used_once(spec, outcome);
    limits_hold(spec, outcome);
    entitlement_is_guaranteed(spec, outcome);
    own_cores_are_left_alone(spec, outcome);
    lines_follow_instructions(spec, outcome);
    transactions_are_kept(spec, outcome);
    switches_follow_dispatches(spec, outcome);
    no_counter_falls(outcome);
    totals_are_sums(outcome);
    dispatch_records_cover_the_busy_time(spec, outcome);
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

/// Whether something below its entitlement limits a partition.
fn is_limited(processors: &Processors) -> bool {
    match processors {
        Processors::Shared { prsm, .. } => {
            prsm.cap.is_some() || prsm.group.is_some() || prsm.defined_capacity.is_some()
        }
        Processors::Dedicated { .. } => false,
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

fn partition_rows_balance(spec: &Spec, outcome: &Outcome) {
    let books: Vec<String> = BOOK_NAMES
        .iter()
        .map(|book| format!("book_{book}"))
        .collect();
    each_row(spec, outcome, |partition, length, of| {
        let name = &partition.name;
        let booked: i64 = books.iter().map(|book| of(book)).sum();
        assert_eq!(booked, of("busy_ns"), "books of {name}");
        assert_eq!(
            of("entitled_ns") + of("excess_ns"),
            of("busy_ns"),
            "accounts of {name}"
        );
        let placed = of("home_ns") + of("near_ns") + of("far_ns");
        assert_eq!(placed, of("busy_ns"), "places of {name}");
        let placed = of("home_disp") + of("near_disp") + of("far_disp");
        assert_eq!(placed, of("dispatches"), "dispatches of {name}");
        let charged = of("user_ns") + of("sys_ns") + of("wait_ns") + of("idle_ns");
        let (online, cores) = match &partition.processors {
            Processors::Shared { r#virtual, .. } => (of("busy_ns"), i64::from(*r#virtual)),
            Processors::Dedicated { cores, .. } => {
                let cores = cores.len() as i64;
                assert!(
                    of("busy_ns") + of("donated_ns") <= cores * length,
                    "lent by {name}"
                );
                (cores * length, cores)
            }
        };
        assert_eq!(charged, online, "charges of {name}");
        let ticks = of("ticks_user") + of("ticks_sys") + of("ticks_wait") + of("ticks_idle");
        assert_eq!(
            ticks,
            cores * i64::from(partition.smt) * length,
            "ticks of {name}"
        );
    });
}

fn processor_rows_add_up(spec: &Spec, outcome: &Outcome) {
    let sums = ["user_ns", "sys_ns", "ilcs", "vlcs"];
    for (index, partition) in spec.partitions.iter().enumerate() {
        let cpus = match &partition.processors {
            Processors::Shared { r#virtual, .. } => usize::from(*r#virtual),
            Processors::Dedicated { cores, .. } => cores.len(),
        } * usize::from(partition.smt);
        let of_cpus: Vec<_> = outcome.cpu.only("partition", index as i64).collect();
        let of_partition = outcome.partition.only("partition", index as i64);
        for (rows, total) in of_cpus.chunks(cpus).zip(of_partition) {
            let sum = |column: &str| -> i64 {
                let at = outcome.cpu.at(column);
                rows.iter().map(|row| row[at]).sum()
            };
            let total = |column: &str| total[outcome.partition.at(column)];
            for column in sums {
                assert_eq!(sum(column), total(column), "{column} of {}", partition.name);
            }
            let charged = sum("user_ns") + sum("sys_ns") + sum("idle_ns");
            let rounding = 3 * cpus as i64;
            assert!(
                (charged - total("busy_ns")).abs() <= rounding,
                "PURR of {}",
                partition.name
            );
        }
    }
}

/// Physical cores, or logical processors where a host counts them one by one.
fn processors(spec: &Spec) -> i64 {
    i64::from(spec.machine.active_cores) * i64::from(spec.machine.hypervisor.siblings)
}

fn cores_are_used_once(spec: &Spec, outcome: &Outcome) {
    let at = outcome.partition.at("busy_ns");
    let rows: Vec<_> = outcome.partition.rows().collect();
    for (rows, length) in rows.chunks(spec.partitions.len()).zip(lengths(spec)) {
        let busy: i64 = rows.iter().map(|row| row[at]).sum();
        assert!(busy <= processors(spec) * length);
    }
    for (rows, length) in outcome
        .pool
        .series("pool", 0, "idle_ns")
        .iter()
        .zip(lengths(spec))
    {
        assert!((0..=processors(spec) * length).contains(rows));
    }
}

fn limits_hold(spec: &Spec, outcome: &Outcome) {
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
fn is_always_busy(partition: &Partition, vps: u16) -> bool {
    let threads = u32::from(vps) * u32::from(partition.smt);
    let folds = matches!(&partition.guest, Guest::Aix(aix) if aix.xvcpus >= 0);
    let keeps_on = match partition.workload {
        Workload::Loops {
            count,
            endless: true,
        }
        | Workload::Warehouses { count } => count >= threads,
        _ => false,
    };
    keeps_on && !folds
}

fn entitlement_is_guaranteed(spec: &Spec, outcome: &Outcome) {
    each_row(spec, outcome, |partition, length, of| {
        let Processors::Shared {
            entitlement,
            r#virtual,
            ..
        } = partition.processors
        else {
            return;
        };
        if is_limited(&partition.processors) {
            return;
        }
        // Work that starts within a window, as all does at time 0, has no claim on all of it.
        let since = of("time_ns") + spec.warmup_ns as i64 - length;
        if is_always_busy(partition, r#virtual) && since >= window_ns(spec) as i64 {
            let overhead = spec.machine.hypervisor.dispatch_ns as f64 + 10.0;
            let own = spec.machine.hypervisor.prsm.physical_ns as f64;
            let given = length as f64 - own * windows(spec, length) as f64;
            let least = entitlement * given - overhead * windows(spec, length) as f64;
            let got = of("busy_ns") as f64;
            assert!(got >= least, "{} got {got} ns of {least}", partition.name);
        }
    });
}

/// Where every partition has cores of its own, there is no dispatcher to be seen.
fn own_cores_are_left_alone(spec: &Spec, outcome: &Outcome) {
    if spec.machine.hypervisor.policy != Policy::Dedicated {
        return;
    }
    let none = [
        "excess_ns",
        "donated_ns",
        "evictions",
        "phint",
        "confer_calls",
        "ready_ns",
        "exhausted_ns",
        "near_ns",
        "far_ns",
        "ilcs",
        "prod_ns",
    ];
    each_row(spec, outcome, |partition, _, of| {
        for column in none {
            assert_eq!(of(column), 0, "{column} of {}", partition.name);
        }
        if partition.hypervisor_share == 0.0 {
            assert_eq!(of("book_hypervisor"), 0, "{}", partition.name);
        }
    });
}

/// Work that never misses brings no lines; work that does brings each from somewhere.
fn lines_follow_instructions(spec: &Spec, outcome: &Outcome) {
    let columns: Vec<String> = LINE_NAMES
        .iter()
        .map(|source| format!("lines_{source}"))
        .collect();
    each_row(spec, outcome, |partition, _, of| {
        let (name, m0) = (&partition.name, partition.profile.miss_m0);
        let lines: i64 = columns.iter().map(|column| of(column)).sum();
        let most = m0 * of("instructions") as f64 + 1.0;
        assert!((-1.0..=most).contains(&(lines as f64)), "lines of {name}");
        let memory = of("lines_memory_local") + of("lines_memory_near") + of("lines_memory_far");
        assert!(
            m0 == 0.0 || of("instructions") < 1_000_000 || memory > 0,
            "{name} reads no memory"
        );
    });
}

fn transactions_are_kept(spec: &Spec, outcome: &Outcome) {
    for index in 0..spec.partitions.len() {
        let series = |column| outcome.partition.series("partition", index, column);
        let changes = series("tx_arrived").into_iter().zip(series("tx_done"));
        let inside = series("tx_inside");
        for (pair, (arrived, done)) in inside.windows(2).zip(changes.skip(1)) {
            assert_eq!(
                arrived - done,
                pair[1] - pair[0],
                "transactions of partition {index}"
            );
        }
    }
}

/// A virtual processor switch ends a dispatch, so the two differ by those on a core at most.
fn switches_follow_dispatches(spec: &Spec, outcome: &Outcome) {
    for (index, partition) in spec.partitions.iter().enumerate() {
        let vps = match &partition.processors {
            Processors::Shared { r#virtual, .. } => i64::from(*r#virtual),
            Processors::Dedicated { cores, .. } => cores.len() as i64,
        };
        let series = |column| outcome.partition.series("partition", index, column);
        let mut open = 0;
        for (dispatches, switches) in series("dispatches").into_iter().zip(series("vcsw")) {
            open += dispatches - switches;
            assert!(
                open.abs() <= vps,
                "{open} dispatches of {} open",
                partition.name
            );
        }
    }
}

/// Counters only grow, whatever rounding does: no interval is less than nothing.
fn no_counter_falls(outcome: &Outcome) {
    let tables = [
        &outcome.partition,
        &outcome.cpu,
        &outcome.pool,
        &outcome.virtual_machine,
        &outcome.switch,
        &outcome.volume,
    ];
    for table in tables {
        for (row, values) in table.rows().enumerate() {
            let least = values.iter().enumerate().min_by_key(|(_, value)| **value);
            let (column, value) = least.expect("a row has columns");
            assert!(*value >= 0, "row {row}: {} is {value}", table.name(column));
        }
    }
}

/// Intervals add up to the summary. Where rounding makes a total less than nothing they end at 0,
/// and what stands beside it in one whole gives that.
fn totals_are_sums(outcome: &Outcome) {
    let names = columns::partition();
    for (index, partition) in outcome.summary.partitions.iter().enumerate() {
        let lack: i64 = partition.totals.iter().map(|total| (-total).max(0)).sum();
        for (name, total) in names.iter().zip(&partition.totals) {
            if columns::GAUGES.contains(&name.as_str()) {
                continue;
            }
            let series = outcome.partition.series("partition", index, name);
            let beside = series.iter().sum::<i64>() - total;
            assert!(
                beside.abs() <= lack,
                "{name} of {}: {beside} beside its total of {total}",
                partition.name
            );
        }
    }
}

fn dispatch_records_cover_the_busy_time(spec: &Spec, outcome: &Outcome) {
    if !spec.record_dispatches {
        return;
    }
    let at = |column| outcome.dispatches.at(column);
    let mut recorded = vec![0; spec.partitions.len()];
    for core in 0..spec.machine.active_cores {
        let mut free_from = 0;
        for row in outcome.dispatches.only("core", i64::from(core)) {
            let (start, end) = (row[at("start_ns")], row[at("end_ns")]);
            assert!(
                free_from <= start && start <= end,
                "core {core} is used twice at {start} ns"
            );
            free_from = end;
            recorded[row[at("partition")] as usize] += end - start;
        }
    }
    for (partition, recorded) in outcome.summary.partitions.iter().zip(recorded) {
        let busy = outcome.total(&partition.name, "busy_ns") as i64;
        assert_eq!(recorded, busy, "dispatches of {}", partition.name);
    }
}
