//! Random changes of random scenarios.

use crate::common::platform::Platform;
use crate::common::random::scenario;
use crate::common::*;
use homenode_engine::sim;
use homenode_engine::spec::{Change, Policy, Processors, Spec};

/// A row of dice from a number.
fn row(seed: u64) -> Vec<u16> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u16
    };
    std::iter::repeat_with(next).take(DICE).collect()
}

/// Changes that a spec allows, some at the same time.
fn with_changes(mut spec: Spec, seed: u64) -> Spec {
    let numbers = row(seed ^ 0xabcd);
    let mut dice = numbers.iter().map(|n| usize::from(*n));
    let mut next = |below: usize| dice.next().expect("enough dice") % below;
    let count = spec.partitions.len();
    for _ in 0..1 + next(12) {
        let partition = next(count);
        let mut change = Change {
            at_ns: spec.duration_ns * next(20) as u64 / 20,
            partition: partition as u16,
            ..Change::default()
        };
        let policy = spec.machine.hypervisor.policy;
        if next(4) == 0 {
            change.running = Some(next(2) == 0);
        }
        match (&spec.partitions[partition].processors, next(6)) {
            (Processors::Shared { r#virtual, .. }, 0 | 1) => {
                change.r#virtual = Some(1 + next(2 * usize::from(*r#virtual)) as u16);
            }
            (Processors::Shared { .. }, 2) => change.capped = Some(next(2) == 0),
            (Processors::Shared { .. }, 3) => change.weight = Some(1 + next(255) as u16),
            (Processors::Shared { .. }, 4) if policy == Policy::Phyp => {
                change.soft_cap = Some(next(2) == 0);
            }
            (Processors::Shared { entitlement, .. }, _) if policy == Policy::Phyp => {
                change.entitlement = Some(entitlement * [0.5, 0.8, 1.2][next(3)]);
            }
            (Processors::Dedicated { cores, .. }, _) if policy == Policy::Dedicated => {
                let more = next(usize::from(spec.machine.active_cores)) as u16;
                let kept = 1 + next(cores.len());
                let mut new = cores[..kept].to_vec();
                if kept == cores.len() && !new.contains(&more) {
                    new.push(more);
                }
                change.cores = Some(new);
            }
            _ => change.smt = Some(1 + next(usize::from(spec.machine.threads_per_core)) as u8),
        }
        spec.changes.push(change);
        if sim::check(&spec).is_err() {
            spec.changes.pop();
        }
    }
    spec
}

/// No more than the machine has, whatever changes; what happened before a change is as without it.
#[test]
fn random_changes_of_random_scenarios_are_sound() {
    let mut changed = 0;
    for seed in 1..250 {
        let platforms = [Platform::PowerVm, Platform::PrSm, Platform::Dedicated];
        let plain = scenario(platforms[seed as usize % 3], &row(seed));
        if sim::check(&plain).is_err() || plain.duration_ns > SECOND && seed % 4 != 0 {
            continue;
        }
        let spec = with_changes(plain.clone(), seed);
        changed += spec.changes.len();
        eprintln!(
            "SEED {seed} {:?} {:?}",
            spec.machine.hypervisor.policy, spec.changes
        );
        let outcome = run(&spec, 0);
        let busy = outcome.partition.at("busy_ns");
        let cores = i64::from(spec.machine.active_cores);
        let mut used = std::collections::BTreeMap::new();
        for row in outcome.partition.rows() {
            assert!(row.iter().all(|n| *n >= 0), "{seed}: {row:?}");
            *used.entry(row[0]).or_insert(0) += row[busy];
        }
        let length = spec.interval_ns as i64;
        assert!(used.values().all(|ns| *ns <= cores * length), "{seed}");
        let idle = outcome.pool.at("idle_ns");
        assert!(outcome.pool.rows().all(|row| row[idle] >= -1), "{seed}");
        let Some(first) = spec.changes.iter().map(|change| change.at_ns).min() else {
            continue;
        };
        let starts = |change: &Change| change.running == Some(true);
        if spec.warmup_ns + first == 0 || spec.changes.iter().any(starts) {
            continue;
        }
        let before = (first / spec.interval_ns) as usize * spec.partitions.len();
        let bare = run(&plain, 0);
        let rows = |outcome: &Outcome| -> Vec<Vec<i64>> {
            let columns = ["busy_ns", "vcsw", "tx_arrived", "tx_done", "evictions"];
            let columns = columns.map(|name| outcome.partition.at(name));
            let rows = outcome.partition.rows().take(before);
            rows.map(|row| columns.map(|at| row[at]).to_vec()).collect()
        };
        assert_eq!(rows(&bare), rows(&outcome), "{seed}: {:?}", spec.changes);
    }
    assert!(changed > 300, "{changed}");
}
