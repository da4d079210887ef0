//! Helpers of tests in which configuration changes while the partitions run.

use homenode_engine::spec::{Aix, Change, Guest, Partition, Processors, Spec, Unix};

use super::{
    capped, loops, machine, partition, quiet_guest, quiet_unix, shared, spec, users, Outcome, MS,
    SECOND,
};

/// The time of most changes here: in the middle of the run.
pub const AT: u64 = 500 * MS;

pub fn change(partition: u16) -> Change {
    Change {
        at_ns: AT,
        partition,
        ..Change::default()
    }
}

/// Core time of a partition before and after the middle [ns].
pub fn halves(outcome: &Outcome, partition: &str) -> (i64, i64) {
    let busy = outcome.series(partition, "busy_ns");
    let (before, after) = busy.split_at(busy.len() / 2);
    (before.iter().sum(), after.iter().sum())
}

/// Core time has one account, one distance, one charge through any change, and rows add up.
pub fn adds_up(outcome: &Outcome) {
    let column = |name: &str| outcome.partition.at(name);
    let sum = |row: &[i64], names: &[&str]| names.iter().map(|name| row[column(name)]).sum::<i64>();
    for row in outcome.partition.rows() {
        let busy = row[column("busy_ns")];
        assert_eq!(sum(row, &["entitled_ns", "excess_ns"]), busy);
        let online = sum(row, &["user_ns", "sys_ns", "wait_ns", "idle_ns"]);
        assert!(online >= busy && row.iter().all(|n| *n >= 0), "{row:?}");
        let parts = ["user_ns", "sys_ns"].map(|name| (column(name), outcome.cpu.at(name)));
        for (own, of_cpu) in parts {
            let key = [column("time_ns"), column("partition")].map(|at| row[at]);
            let rows = outcome.cpu.rows().filter(|cpu| cpu[..2] == key);
            assert_eq!(rows.map(|cpu| cpu[of_cpu]).sum::<i64>(), row[own]);
        }
    }
}

pub fn half(cores: f64) -> i64 {
    (cores * AT as f64) as i64
}

/// Two that want all of four cores, the first entitled to one and capped.
pub fn two() -> Spec {
    let lpar1 = partition("lpar1", capped(1.0, 2), loops(8));
    let lpar2 = partition("lpar2", shared(1.0, 4), loops(8));
    spec(machine("core:4"), vec![lpar1, lpar2])
}

/// Arrivals, folding, daemons and balancing: all that draws from chance and counts processors.
pub fn lively() -> Spec {
    let mut one = partition("lpar1", shared(1.5, 3), users(30, 5 * MS));
    one.smt = 2;
    one.guest = Guest::Aix(Aix {
        xvcpus: 0,
        throughput_mode: 1,
        rebalance_ns: Some(10 * MS),
        daemon_rate_per_s: 200.0,
        daemon_ns: 20_000,
        tick_cost_ns: 1_000,
        ..quiet_guest()
    });
    let mut two = partition("lpar2", shared(2.0, 4), users(40, 5 * MS));
    two.guest = Guest::Linux(Unix {
        rebalance_ns: Some(4 * MS),
        ..quiet_unix()
    });
    let mut spec = spec(machine("core:4 pu:2"), vec![one, two]);
    spec.duration_ns = 3 * SECOND;
    spec
}

pub fn entitle(partition: &mut Partition, cores: f64, vps: u16) {
    if let Processors::Shared {
        entitlement,
        r#virtual,
        ..
    } = &mut partition.processors
    {
        (*entitlement, *r#virtual) = (cores, vps);
    }
}
