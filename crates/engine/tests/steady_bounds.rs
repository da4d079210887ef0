//! Nothing solved uses more cores than there are: all partitions together, nor one of them more
//! than its processors or its cap, under any policy, whatever locks it spins for.

mod common;

use common::platform::Platform;
use common::random::{scenarios, Scenario};
use common::{loops, machine, partition, spec, transactions, vertical, SECOND};
use homenode_engine::spec::{
    Distribution, LockKind, Partition, Policy, Processors, Spec, Workload,
};
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

fn of(name: &str, weight: u16, (count, share): (u16, f64), work: Workload) -> Partition {
    let mut processors = vertical(count);
    if let Processors::Shared { weight: own, .. } = &mut processors {
        *own = weight;
    }
    let mut one = partition(name, processors, work);
    one.profile.lock_kind = LockKind::TestAndSet;
    one.profile.lock_share = share;
    one.profile.instructions_per_unit = 1e5;
    one
}

/// Two that spin beside one that has as much to do as comes, on vertical logical cores.
fn spinning(cores: u16, share: f64, rate: f64) -> Spec {
    let members = vec![
        of(
            "a",
            50,
            (cores, share),
            Workload::Warehouses {
                count: u32::from(cores),
            },
        ),
        of("b", 100, (cores, share), loops(u32::from(cores))),
        of(
            "c",
            50,
            (cores, 0.0),
            transactions(rate, Distribution::Exponential),
        ),
    ];
    let mut made = spec(machine(&format!("core:{cores}")), members);
    made.machine.hypervisor.policy = Policy::Prsm;
    (made.warmup_ns, made.duration_ns) = (SECOND, 2 * SECOND);
    made
}

/// Without what is entitled to nothing cores are left, with it they are not: it runs on what the
/// others leave, which is never more than there is.
#[test]
fn vertical_logical_cores_that_spin_use_no_more_than_there_is() {
    for cores in [4, 8] {
        for share in [0.02, 0.05, 0.1, 0.3] {
            for part in [0.3, 0.8, 1.5] {
                let rate = part * f64::from(cores) / 4.0 / 1e5 * 1e9;
                let spec = spinning(cores, share, rate);
                if std::env::var("DUMP").is_ok() {
                    println!("{}", serde_json::to_string(&spec).unwrap());
                }
                within_bounds(&spec);
            }
        }
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
