//! Solved hosts on whose cores different work meets: as runs say.

use crate::common::host::{group, host_spec, threads};
use crate::common::strangers::{by_hand, on, smt, work};
use crate::common::{loops, run, transactions, SECOND};
use homenode_engine::spec::{Distribution, HostThreads, Partition, Policy, Spec, Workload};
use homenode_engine::steady::solve;

/// Instructions a nanosecond of each partition, and while one of its threads is busy.
fn solved(spec: &Spec) -> Vec<[f64; 2]> {
    let solved = solve(spec).unwrap_or_else(|fault| panic!("{fault}"));
    let each = solved.partitions.iter();
    let of = |per_ns: f64, busy: f64| [per_ns, per_ns / busy];
    each.map(|one| of(one.instructions * 1e-9, one.busy_vps))
        .collect()
}

/// The same of a run.
fn played(spec: &Spec) -> Vec<[f64; 2]> {
    let outcome = run(spec, 0);
    let of = |one: &Partition, column| outcome.total(&one.name, column);
    let each = spec.partitions.iter().map(|one| {
        let done = of(one, "instructions");
        [done / spec.duration_ns as f64, done / of(one, "busy_ns")]
    });
    each.collect()
}

fn host(policy: Policy, cores: u16, partitions: Vec<Partition>) -> Spec {
    let mut spec = host_spec(smt(policy, cores, &[1.0, 1.25], 1), vec![], partitions);
    spec.duration_ns = 4 * SECOND;
    spec
}

fn guest(name: &str, vcpus: u16, issue_share: f64, workload: Workload) -> Partition {
    let mut one = group(name, threads(vcpus, 256, HostThreads::default()), workload);
    one.profile = work(issue_share);
    one
}

#[test]
fn two_that_are_pinned_beside_each_other() {
    for (one, other) in [(1.0, 0.1), (0.5, 0.9), (1.0, 1.0)] {
        let spec = host(Policy::Linux, 1, vec![on("a", 0, one), on("b", 1, other)]);
        for [found, _] in solved(&spec) {
            let told = by_hand(one, other);
            assert!((found / told - 1.0).abs() < 1e-3, "{found} {told}");
        }
    }
}

/// Who comes and goes meets both in turn, and so does who takes turns on full processors.
#[test]
fn those_that_meet_by_chance() {
    for policy in [Policy::Linux, Policy::Credit2] {
        for rate in [300.0, 1_000.0, 2_000.0] {
            let of = |name, share| {
                let work = transactions(rate, Distribution::Exponential);
                guest(name, 6, share, work)
            };
            let spec = host(policy, 4, vec![of("a", 1.0), of("b", 0.1)]);
            agree(&spec, 1, 0.03);
        }
    }
    let of = |name, share| guest(name, 8, share, loops(8));
    let full = vec![of("a", 1.0), of("b", 0.1)];
    agree(&host(Policy::Linux, 4, full), 0, 0.03);
}

/// Solved speeds are those of a run.
fn agree(spec: &Spec, which: usize, within: f64) {
    for (solved, played) in solved(spec).iter().zip(played(spec)) {
        let (solved, played) = (solved[which], played[which]);
        assert!((solved / played - 1.0).abs() < within, "{solved} {played}");
    }
}

/// Work beside which less waits never gets less done.
#[test]
fn a_neighbour_that_wants_less_is_no_worse() {
    let beside = |share| {
        let of = |name, share| guest(name, 4, share, loops(4));
        solved(&host(Policy::Linux, 4, vec![of("a", 0.7), of("b", share)]))[0][0]
    };
    let all: Vec<f64> = [1.0, 0.75, 0.5, 0.25, 0.0].map(beside).to_vec();
    assert!(all.windows(2).all(|two| two[0] < two[1]), "{all:?}");
}
