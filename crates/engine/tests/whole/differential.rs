//! Runs that must agree: however one is watched, and whoever else is on the machine. That the same
//! run gives the same on any thread is tested on random scenarios (`invariants/pairs.rs`).

use crate::common::{
    dedicated, loops, machine, missing_profile, partition, run, shared, spec, transactions, MS,
};
use homenode_engine::sim::{self, Columns, Reason};
use homenode_engine::spec::{Distribution, Partition, Spec};

fn busy_spec() -> Spec {
    let mut one = partition(
        "a",
        shared(1.0, 3),
        transactions(1_500.0, Distribution::Exponential),
    );
    one.profile = missing_profile(5e5);
    spec(
        machine("node:2 chip:1 core:2"),
        vec![one, partition("b", shared(1.0, 2), loops(2))],
    )
}

#[test]
fn how_often_one_looks_changes_nothing() {
    let sums = |windows: u64| {
        let mut spec = busy_spec();
        spec.interval_ns *= windows;
        let outcome = run(&spec, 0);
        let summary = sim::run(&spec, 0, |_| true).expect("a sound spec");
        assert_eq!(format!("{summary:?}"), format!("{:?}", outcome.summary));
        format!("{summary:?}")
    };
    assert_eq!(sums(1), sums(10));
    assert_eq!(sums(1), sums(100));
}

#[test]
fn a_stop_ends_it_at_the_next_batch() {
    let (mut looked_ns, mut end_ns) = (0, 0);
    let stopped = sim::run(&busy_spec(), 0, |batch| {
        (looked_ns, end_ns) = (batch.now_ns, batch.end_ns);
        batch.now_ns < 100 * MS
    });
    assert!(matches!(stopped, Err(sim::RunError::Stopped { now_ns }) if now_ns == looked_ns));
    assert!((100 * MS..end_ns).contains(&looked_ns), "{looked_ns} ns");
}

/// Rows of a table.
fn rows(of: &Columns) -> Vec<Vec<i64>> {
    let row = |at| of.values.iter().map(|column| column[at]).collect();
    (0..of.len()).map(row).collect()
}

/// Numbers of a column, added up.
fn sum(of: &Columns, column: &str) -> i64 {
    let at = of.names.iter().position(|name| name == column);
    of.values[at.expect("a column")].iter().sum()
}

#[test]
fn who_looks_on_has_seen_each_dispatch_in_the_end_and_all_time_on_cores_meanwhile() {
    let mut spec = busy_spec();
    spec.record_dispatches = true;
    // Looks are rare: each has thousands of events before it.
    spec.duration_ns *= 10;
    spec.partitions.push(partition(
        "c",
        dedicated(3..4, false),
        transactions(300.0, Distribution::Exponential),
    ));
    let (mut recorded, mut ended) = (vec![], vec![]);
    let (mut busy_ns, mut ended_ns, mut looks) = (0, 0, 0);
    sim::run(&spec, 0, |batch| {
        recorded.extend(rows(&batch.tables.dispatches));
        let (open, new) = rows(&batch.latest.dispatches)
            .into_iter()
            .partition::<Vec<_>, _>(|row| row[7] == Reason::Unended as i64);
        let length = |rows: &[Vec<i64>]| rows.iter().map(|row| row[1] - row[0]).sum::<i64>();
        ended_ns += length(&new);
        ended.extend(new);
        busy_ns += sum(&batch.latest.partition, "busy_ns");
        // Between the ends of two intervals there is busy time that nobody has told.
        if (batch.now_ns - spec.warmup_ns) % spec.interval_ns == 0 {
            assert_eq!(ended_ns + length(&open), busy_ns, "{} ns", batch.now_ns);
            looks += usize::from(!open.is_empty());
        }
        true
    })
    .expect("a sound spec");
    assert!(looks > 3, "{looks} looks");
    assert_eq!(ended, recorded);
}

#[test]
fn replications_and_seeds_change_the_arrivals() {
    let arrivals = |seed, replication| {
        let mut spec = busy_spec();
        spec.seed = seed;
        run(&spec, replication).series("a", "tx_arrived")
    };
    let base = arrivals(1, 0);
    assert_ne!(base, arrivals(1, 1));
    assert_ne!(base, arrivals(2, 0));
    assert_eq!(base, arrivals(1, 0));
}

/// A partition on the second node.
fn far_away(mut one: Partition) -> Partition {
    one.home = vec![1];
    one.memory[0].domains = vec![1];
    one
}

#[test]
fn a_neighbour_changes_no_arrival() {
    let alone = partition(
        "a",
        shared(1.0, 2),
        transactions(800.0, Distribution::Exponential),
    );
    let series = |others: Vec<Partition>| {
        let all = std::iter::once(alone.clone()).chain(others).collect();
        run(&spec(machine("node:2 chip:1 core:2"), all), 0).series("a", "tx_arrived")
    };
    let quiet = series(vec![]);
    assert_eq!(
        quiet,
        series(vec![partition("b", shared(1.0, 4), loops(4))])
    );
    let work = transactions(900.0, Distribution::Exponential);
    assert_eq!(
        quiet,
        series(vec![far_away(partition("c", shared(2.0, 2), work))])
    );
}

#[test]
fn cores_of_ones_own_on_another_node_change_nothing_at_all() {
    let mut alone = partition(
        "a",
        dedicated(0..2, false),
        transactions(1_000.0, Distribution::Exponential),
    );
    alone.profile = missing_profile(1e6);
    let whole = |others: Vec<Partition>| {
        let all = std::iter::once(alone.clone()).chain(others).collect();
        let outcome = run(&spec(machine("node:2 chip:1 core:2"), all), 0);
        let rows: Vec<Vec<i64>> = outcome
            .partition
            .only("partition", 0)
            .map(<[i64]>::to_vec)
            .collect();
        rows
    };
    let mut neighbour = far_away(partition("b", dedicated(2..4, false), loops(2)));
    neighbour.profile = missing_profile(1e6);
    assert_eq!(whole(vec![]), whole(vec![neighbour]));
}
