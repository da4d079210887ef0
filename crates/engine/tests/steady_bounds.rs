//! Nothing solved uses more cores than there are: all partitions together, nor one of them more
//! than its processors or its cap, under any policy, whatever locks it spins for.

mod common;

use common::platform::Platform;
use common::random::{scenarios, Scenario};
use homenode_engine::spec::{LockKind, Partition, Policy, Processors, Spec};
use homenode_engine::steady::{solve, SolveFault, SolvedPartition};
use proptest::prelude::*;

/// What the last step of a balance may have left open.
const OPEN: f64 = 1e-3;

/// What is solved of it; none where that only a simulation tells.
fn solved(spec: &Spec) -> Option<Vec<SolvedPartition>> {
    match solve(spec) {
        Ok(solved) => Some(solved.partitions),
        Err(SolveFault::Unknown { .. } | SolveFault::Policy(_)) => None,
        Err(fault) => panic!("{fault}"),
    }
}

/// The most that a partition may use.
fn most(policy: Policy, one: &Partition) -> f64 {
    let processors = f64::from(one.processors.count());
    let Processors::Shared {
        entitlement,
        capped,
        prsm,
        host,
        ..
    } = &one.processors
    else {
        return processors;
    };
    let own = match policy {
        Policy::Phyp if *capped => *entitlement,
        Policy::Prsm => prsm.cap.unwrap_or(f64::INFINITY),
        Policy::Credit2 => host.cap.unwrap_or(f64::INFINITY),
        _ => f64::INFINITY,
    };
    processors.min(own)
}

fn within_bounds(spec: &Spec) {
    let Some(solved) = solved(spec) else { return };
    let hypervisor = &spec.machine.hypervisor;
    let there = spec.machine.active_cores * u16::from(hypervisor.siblings.max(1));
    let all: f64 = solved.iter().map(|one| one.cores).sum();
    assert!(
        all <= f64::from(there) * (1.0 + OPEN),
        "{all} of {there} cores"
    );
    for (one, of) in solved.iter().zip(&spec.partitions) {
        let most = most(hypervisor.policy, of);
        assert!(
            one.cores <= most * (1.0 + OPEN) + 1e-6,
            "{}: {} of {most}",
            of.name,
            one.cores
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn no_layout_uses_more_than_there_is(
        made in prop_oneof![
            scenarios(Platform::PowerVm),
            scenarios(Platform::Dedicated),
            scenarios(Platform::PrSm),
            scenarios(Platform::Linux),
            scenarios(Platform::Credit2),
        ],
        share in prop::sample::select(vec![0.0, 0.02, 0.1, 0.4]),
    ) {
        let Scenario(mut spec) = made;
        for one in spec.partitions.iter_mut().filter(|_| share > 0.0) {
            one.profile.lock_kind = LockKind::TestAndSet;
            one.profile.lock_share = share;
        }
        within_bounds(&spec);
    }
}
