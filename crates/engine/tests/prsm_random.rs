//! Random machines and partitions under PR/SM: conservation, guarantees and limits.

mod common;

use common::*;
use homenode_engine::hypervisor::polarize;
use homenode_engine::hypervisor::policies::by_weight;
use homenode_engine::spec::{Group, Polarization, Policy, Pool, Processors, Spec};
use proptest::prelude::*;

/// Dice for each partition's sharing, and for PR/SM itself.
const OF_SHARING: usize = 8 * 8 + 8;

/// A sound spec made PR/SM's: weights for entitlements, core types for pools.
fn under_prsm(dice: &[u16], sharing: &[u16]) -> Spec {
    let mut spec = sound(dice);
    let (of_prsm, of_partitions) = sharing.split_at(8);
    let hypervisor = &mut spec.machine.hypervisor;
    hypervisor.policy = Policy::Prsm;
    hypervisor.prsm.run_time_ns = Some(hypervisor.window_ns);
    hypervisor.prsm.physical_ns = [0, 20_000][usize::from(of_prsm[0] % 2)];
    spec.record_dispatches &= hypervisor.prsm.physical_ns == 0;
    spec.groups = vec![Group {
        name: "g".into(),
        cap: 0.3 + f64::from(of_prsm[1] % 40) / 10.0,
    }];
    spec.pools = vec![default_pool()];
    let owned: Vec<u16> = spec.partitions.iter().flat_map(own_cores).collect();
    let free: Vec<u16> = (0..spec.machine.active_cores)
        .filter(|c| !owned.contains(c))
        .collect();
    let types = 1 + u16::from(free.len() > 1) * (of_prsm[2] % 2);
    if types == 2 {
        let (ifl, cp) = free.split_at(1 + usize::from(of_prsm[3]) % (free.len() - 1));
        spec.pools[0].cores = Some(ifl.to_vec());
        let name = "cp".to_string();
        spec.pools.push(Pool {
            name,
            cores: Some(cp.to_vec()),
            ..default_pool()
        });
    }
    for (partition, row) in spec.partitions.iter_mut().zip(of_partitions.chunks(8)) {
        share(&mut partition.processors, row, types);
    }
    if free.is_empty() {
        spec.partitions.retain(|p| !own_cores(p).is_empty());
    }
    entitle(&mut spec);
    spec
}

fn own_cores(partition: &homenode_engine::spec::Partition) -> Vec<u16> {
    match &partition.processors {
        Processors::Dedicated { cores, .. } => cores.clone(),
        Processors::Shared { .. } => vec![],
    }
}

fn share(processors: &mut Processors, row: &[u16], types: u16) {
    match processors {
        Processors::Shared {
            weight, pool, prsm, ..
        } => {
            *weight = 1 + row[0] % 999;
            *pool = row[1] % types;
            if row[2] % 2 == 1 {
                prsm.polarization = Polarization::Vertical;
            }
            prsm.cap = (row[3] % 3 == 2).then(|| 0.1 + f64::from(row[4] % 30) / 10.0);
            prsm.group = (row[5] % 3 == 2).then_some(0);
        }
        Processors::Dedicated { donating, .. } => *donating = false,
    }
}

fn entitle(spec: &mut Spec) {
    for (at, share) in by_weight(spec).into_iter().enumerate() {
        if let (Processors::Shared { entitlement, .. }, Some(share)) =
            (&mut spec.partitions[at].processors, share)
        {
            *entitlement = share;
        }
    }
}

/// Time of whole windows in which capacity was there to give, by interval [ns].
fn given(spec: &Spec, length: i64) -> f64 {
    let hypervisor = &spec.machine.hypervisor;
    let windows = length / hypervisor.window_ns as i64;
    (length - windows * hypervisor.prsm.physical_ns as i64) as f64
}

fn caps_hold(spec: &Spec, outcome: &Outcome) {
    let interval = spec.interval_ns as i64;
    let mut grouped = vec![0; spec.duration_ns.div_ceil(spec.interval_ns) as usize];
    for (at, partition) in spec.partitions.iter().enumerate() {
        let Processors::Shared { prsm, .. } = &partition.processors else {
            continue;
        };
        let busy = outcome.partition.series("partition", at, "busy_ns");
        if let Some(cap) = prsm.cap {
            let most = cap * given(spec, interval) + 2.0;
            assert!(
                busy.iter().all(|ns| *ns as f64 <= most),
                "{}",
                partition.name
            );
        }
        if prsm.group.is_some() {
            grouped
                .iter_mut()
                .zip(busy)
                .for_each(|(sum, ns)| *sum += ns);
        }
    }
    let most = spec.groups[0].cap * given(spec, interval) + 2.0;
    assert!(
        grouped.iter().all(|ns| *ns as f64 <= most),
        "{grouped:?} of {most}"
    );
}

/// Per core type: partitions, PR/SM's own time and idle time are all there is.
fn types_are_conserved(spec: &Spec, outcome: &Outcome) {
    if !spec.partitions.iter().any(|p| own_cores(p).is_empty()) {
        return;
    }
    for pool in 0..spec.pools.len() {
        let series = |column| outcome.pool.series("pool", pool, column);
        let (cores, busy) = (series("cores"), series("busy_ns"));
        let (idle, own) = (series("idle_ns"), series("management_ns"));
        for at in 0..busy.len() {
            let length = spec
                .interval_ns
                .min(spec.duration_ns - at as u64 * spec.interval_ns);
            assert!(idle[at] >= 0, "{idle:?}");
            assert_eq!(busy[at] + idle[at] + own[at], cores[at] * length as i64);
        }
    }
}

/// A vertical-high core within its share runs on one physical core only.
fn high_cores_stay_at_home(spec: &Spec, outcome: &Outcome) {
    let at = |column| outcome.dispatches.at(column);
    for (index, partition) in spec.partitions.iter().enumerate() {
        let Processors::Shared {
            entitlement,
            r#virtual,
            prsm,
            ..
        } = &partition.processors
        else {
            continue;
        };
        if prsm.polarization == Polarization::Horizontal {
            continue;
        }
        let high = i64::from(polarize(*entitlement, *r#virtual).high);
        let mut homes = std::collections::BTreeMap::new();
        for row in outcome.dispatches.only("partition", index as i64) {
            let ran = row[at("start_ns")] < row[at("end_ns")];
            if ran && row[at("vp")] < high && row[at("kind")] == 0 {
                let home = *homes.entry(row[at("vp")]).or_insert(row[at("core")]);
                assert_eq!(home, row[at("core")], "{}", partition.name);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 192,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_must_hold_holds(
        dice in dice(),
        sharing in prop::collection::vec(any::<u16>(), OF_SHARING),
    ) {
        let spec = under_prsm(&dice, &sharing);
        if spec.partitions.is_empty() {
            return Ok(());
        }
        let outcome = run(&spec, 0);
        assert_all(&spec, &outcome);
        caps_hold(&spec, &outcome);
        types_are_conserved(&spec, &outcome);
        high_cores_stay_at_home(&spec, &outcome);
    }
}
