//! Threads on few virtual processors or on many: filling, balancing and folding. Threads that never
//! sleep leave it to the balancer whether the order of filling is kept.

use crate::common::{
    aix, machine, partition, quiet_unix, run, shared, spec, transactions, MS, SECOND,
};
use homenode_engine::spec::{Distribution, Guest, Spec, Workload};
use proptest::prelude::*;

/// Eight threads a virtual processor, alone on as many cores as it has of them.
fn alone(vps: u16, workload: Workload) -> Spec {
    let mut one = partition("a", shared(f64::from(vps) / 2.0, vps), workload);
    one.smt = 8;
    let mut machine = machine(&format!("core:{vps} pu:8"));
    machine.smt.gain = vec![1.0; 8];
    let mut spec = spec(machine, vec![one]);
    (spec.warmup_ns, spec.duration_ns) = (0, 20 * SECOND);
    spec.interval_ns = 500 * MS;
    spec
}

fn under_aix(vps: u16, throughput_mode: u8, workload: Workload) -> Spec {
    let mut spec = alone(vps, workload);
    let guest = aix(&mut spec.partitions[0]);
    guest.throughput_mode = throughput_mode;
    guest.rebalance_ns = Some(SECOND);
    spec
}

fn cores(spec: &Spec) -> f64 {
    run(spec, 0).total("a", "busy_ns") / spec.duration_ns as f64
}

#[test]
fn threads_that_never_sleep_stay_packed_as_the_mode_says() {
    for (mode, expected) in [(1, 16.0), (2, 8.0), (4, 4.0), (8, 2.0)] {
        let spec = under_aix(24, mode, Workload::Warehouses { count: 16 });
        let got = cores(&spec);
        assert!((got - expected).abs() < 0.05, "mode {mode}: {got}");
    }
}

#[test]
fn linux_packs_a_thread_in_each_part_of_a_core_or_spreads() {
    for (parts, packing, expected) in [(2, true, 8.0), (2, false, 16.0), (1, true, 16.0)] {
        let mut spec = alone(24, Workload::Warehouses { count: 16 });
        spec.machine.smt.parts = parts;
        let mut unix = quiet_unix();
        (unix.rebalance_ns, unix.packing) = (Some(SECOND), packing);
        spec.partitions[0].guest = Guest::Linux(unix);
        let got = cores(&spec);
        assert!(
            (got - expected).abs() < 0.05,
            "{parts} parts, {packing}: {got}"
        );
    }
}

/// Transactions that keep so many cores busy, a millisecond each.
fn load(cores: f64) -> Workload {
    transactions(1e3 * cores, Distribution::Exponential)
}

fn unfolded(load_cores: f64, xvcpus: i32) -> f64 {
    let mut spec = under_aix(12, 0, load(load_cores));
    aix(&mut spec.partitions[0]).xvcpus = xvcpus;
    (spec.warmup_ns, spec.duration_ns) = (15 * SECOND, 10 * SECOND);
    let seconds = run(&spec, 0).series("a", "vps_unfolded");
    seconds.iter().sum::<i64>() as f64 / seconds.len() as f64
}

#[test]
fn no_more_is_folded_than_the_work_can_spare() {
    let seen = [0.1, 0.5, 1.0, 2.2, 6.0].map(|cores| (cores, unfolded(cores, 0)));
    for (cores, vps) in seen {
        // At 49 % of each one, and no fewer than threads came together in the last second.
        let least = (cores / 0.49_f64).ceil().min(12.0);
        assert!(vps >= least - 0.1, "{seen:?}");
    }
    assert!(
        seen.windows(2).all(|pair| pair[1].1 >= pair[0].1),
        "{seen:?}"
    );
    assert!(seen[0].1 < 4.0, "{seen:?}");
    assert!((4.0..5.0).contains(&unfolded(0.1, 3)));
    assert!((unfolded(0.1, -1) - 12.0).abs() < 1e-9);
}

#[test]
fn a_thread_that_finds_all_loaded_unfolds_at_once() {
    let mut spec = under_aix(8, 1, Workload::Warehouses { count: 8 });
    aix(&mut spec.partitions[0]).xvcpus = 0;
    (spec.warmup_ns, spec.duration_ns) = (100 * MS, SECOND);
    assert!((cores(&spec) - 8.0).abs() < 0.05);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// A mode that loads more threads before the next virtual processor never takes more cores.
    #[test]
    fn scaled_modes_take_no_more_cores(count in 1_u32..60, vps in 8_u16..16) {
        let of = |mode| {
            let mut spec = under_aix(vps, mode, Workload::Warehouses { count });
            spec.duration_ns = 3 * SECOND;
            cores(&spec)
        };
        let taken = [1, 2, 4, 8].map(of);
        prop_assert!(taken.windows(2).all(|pair| pair[1] <= pair[0] + 0.05), "{taken:?}");
    }
}
