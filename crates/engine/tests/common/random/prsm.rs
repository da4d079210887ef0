//! Random sharing under PR/SM: weights for entitlements, core types for pools.

use homenode_engine::spec::{
    DefinedCapacity, Group, Partition, Polarization, Policy, Pool, Processors, Spec,
};

use super::super::default_pool;
use super::super::race::entitle;
use super::{Dice, PARTITIONS};

/// Dice for PR/SM itself.
const OF_PRSM: usize = 8;
/// Dice for each partition's sharing.
const OF_SHARE: usize = 9;
/// All of them.
pub const OF_SHARING: usize = OF_PRSM + PARTITIONS * OF_SHARE;

/// A sound spec made PR/SM's.
pub fn shared(mut spec: Spec, dice: &[u16]) -> Spec {
    let (of_prsm, of_partitions) = dice.split_at(OF_PRSM);
    let mut dice = Dice(of_prsm);
    let hypervisor = &mut spec.machine.hypervisor;
    hypervisor.policy = Policy::Prsm;
    hypervisor.prsm.run_time_ns = Some(hypervisor.window_ns);
    hypervisor.prsm.physical_ns = dice.pick(&[0, 20_000]);
    spec.record_dispatches &= hypervisor.prsm.physical_ns == 0;
    spec.groups = vec![Group {
        name: "g".into(),
        cap: 0.3 + dice.real(0.0, 4.0),
    }];
    let owned: Vec<u16> = spec.partitions.iter().flat_map(own_cores).collect();
    let all = 0..spec.machine.active_cores;
    let free: Vec<u16> = all.filter(|core| !owned.contains(core)).collect();
    spec.pools = core_types(&mut dice, &free);
    let types = spec.pools.len() as u16;
    for (partition, row) in spec
        .partitions
        .iter_mut()
        .zip(of_partitions.chunks(OF_SHARE))
    {
        share(&mut partition.processors, &mut Dice(row), types);
    }
    entitle(&mut spec);
    spec
}

fn core_types(dice: &mut Dice, free: &[u16]) -> Vec<Pool> {
    let mut pools = vec![default_pool()];
    if dice.chance(2) && free.len() > 1 {
        let (ifl, cp) = free.split_at(usize::from(dice.between(1, free.len() as u16 - 1)));
        pools[0].cores = Some(ifl.to_vec());
        pools.push(Pool {
            name: "cp".into(),
            cores: Some(cp.to_vec()),
            ..default_pool()
        });
    }
    pools
}

/// Cores that nobody else may use.
pub fn own_cores(partition: &Partition) -> Vec<u16> {
    match &partition.processors {
        Processors::Dedicated { cores, .. } => cores.clone(),
        Processors::Shared { .. } => vec![],
    }
}

fn share(processors: &mut Processors, dice: &mut Dice, types: u16) {
    match processors {
        Processors::Shared {
            weight, pool, prsm, ..
        } => {
            *weight = dice.between(1, 999);
            *pool = dice.next() % types;
            if dice.chance(2) {
                prsm.polarization = Polarization::Vertical;
            }
            prsm.cap = dice.chance(3).then_some(dice.real(0.1, 3.0));
            prsm.group = dice.chance(3).then_some(0);
            let (cores, start_cores) = (dice.real(0.1, 2.0), dice.real(0.0, 2.0));
            prsm.defined_capacity = dice.chance(4).then_some(DefinedCapacity {
                cores,
                window_ns: 1_000_000_000,
                start_cores,
            });
        }
        Processors::Dedicated { donating, .. } => *donating = false,
    }
}
