//! Every nanosecond and every event is counted once, whichever way it is added up.

use homenode_engine::cost::{BOOK_NAMES, LINE_NAMES};
use homenode_engine::sim::columns;
use homenode_engine::spec::{Guest, Partition, Processors, Spec};

use super::super::known::not_yet;
use super::super::Outcome;
use super::{each_row, lengths, vps};

pub fn rows_balance(spec: &Spec, outcome: &Outcome) {
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

pub fn processors_add_up(spec: &Spec, outcome: &Outcome) {
    let sums = ["user_ns", "sys_ns", "ilcs", "vlcs"];
    for (index, partition) in spec.partitions.iter().enumerate() {
        let cpus = usize::from(vps(partition)) * usize::from(partition.smt);
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

/// Work that never misses brings no lines; work that does brings each from somewhere.
pub fn lines_follow_instructions(spec: &Spec, outcome: &Outcome) {
    let columns: Vec<String> = LINE_NAMES
        .iter()
        .map(|source| format!("lines_{source}"))
        .collect();
    each_row(spec, outcome, |partition, _, of| {
        let (name, m0) = (&partition.name, partition.profile.miss_m0);
        let memory = of("lines_memory_local") + of("lines_memory_near") + of("lines_memory_far");
        let all: i64 = columns.iter().map(|column| of(column)).sum();
        // CP looks into other dispatch vectors; what of them has changed comes from other caches.
        let is_zvm = matches!(partition.guest, Guest::Zvm(_));
        let lines = if is_zvm { memory } else { all };
        let most = m0 * of("instructions") as f64 + 1.0;
        assert!(
            (-1.0..=most).contains(&(lines as f64)),
            "{lines} lines of {name}, {most} at most"
        );
        assert!(
            m0 == 0.0 || of("instructions") < 1_000_000 || memory > 0,
            "{name} reads no memory"
        );
    });
}

/// Counters of every interval, gauges at its end, and both ends of every dispatch.
pub fn nothing_is_negative(_: &Spec, outcome: &Outcome) {
    let tables = [
        &outcome.partition,
        &outcome.cpu,
        &outcome.pool,
        &outcome.virtual_machine,
        &outcome.switch,
        &outcome.volume,
        &outcome.dispatches,
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
pub fn totals_are_sums(_: &Spec, outcome: &Outcome) {
    let names = columns::partition();
    for (index, partition) in outcome.summary.partitions.iter().enumerate() {
        let lack: i64 = partition.totals.iter().map(|total| (-total).max(0)).sum();
        for (name, total) in names.iter().zip(&partition.totals) {
            let left_out = name.starts_with("ticks_") && not_yet("ticks of intervals");
            if columns::GAUGES.contains(&name.as_str()) || left_out {
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

/// Machine by machine and together; prorated time is core time, a thread's and what one would take
/// alone are no less.
pub fn owners_are_the_busy_time(spec: &Spec, outcome: &Outcome) {
    let at = |column: &str| outcome.partition.at(column);
    let is_zvm = |row: &&[i64]| {
        let partition = &spec.partitions[row[at("partition")] as usize];
        partition.guest.zvm().is_some()
    };
    for row in outcome.partition.rows().filter(is_zvm) {
        let owners = row[at("guest_ns")] + row[at("chargeable_ns")] + row[at("system_ns")];
        assert_eq!(owners, row[at("busy_ns")]);
        assert_eq!(row[at("prorated_ns")], row[at("busy_ns")]);
        assert!(row[at("thread_ns")] >= row[at("busy_ns")] - 1);
        assert!(row[at("mt1_ns")] >= row[at("busy_ns")] - 1);
    }
    for column in ["guest_ns", "chargeable_ns"] {
        let sum = |rows: Vec<&[i64]>, at: usize| rows.iter().map(|row| row[at]).sum::<i64>();
        let machines: Vec<_> = outcome.virtual_machine.rows().collect();
        let rounding = machines.len() as i64 + 2;
        let machines = sum(machines, outcome.virtual_machine.at(column));
        let whole = sum(
            outcome.partition.rows().filter(is_zvm).collect(),
            at(column),
        );
        assert!((machines - whole).abs() <= rounding, "{column}");
    }
}

/// Per core type: partitions, PR/SM's own time and idle time are all there is.
pub fn types_are_conserved(spec: &Spec, outcome: &Outcome) {
    let is_shared = |p: &Partition| matches!(p.processors, Processors::Shared { .. });
    if !spec.partitions.iter().any(is_shared) {
        return;
    }
    for pool in 0..spec.pools.len() {
        let series = |column| outcome.pool.series("pool", pool, column);
        let (cores, busy) = (series("cores"), series("busy_ns"));
        let (idle, own) = (series("idle_ns"), series("management_ns"));
        for (at, length) in lengths(spec).enumerate() {
            assert_eq!(busy[at] + idle[at] + own[at], cores[at] * length);
        }
    }
}
