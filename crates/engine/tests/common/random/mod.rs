//! Random sound specs, each made from a row of dice: all zeros is the simplest spec, so failures
//! shrink towards it. One way for each platform, from the same dice.

mod hosts;
mod memory;
mod partition;
mod prsm;
mod race;
pub mod walked;
mod zvm;

pub use race::races;

use homenode_engine::spec::{
    Accounting, Eviction, LockKind, Machine, Partition, Policy, Pool, Processors, Spec,
};
use proptest::prelude::*;

use super::platform::Platform;
use super::{machine, spec, MS, SECOND};

/// Dice for the machine and the run.
const OF_RUN: usize = 39;
/// Dice for one partition.
const OF_PARTITION: usize = 49 + memory::OF_MEMORY;
/// Dice for the pools.
const OF_POOLS: usize = 8;
/// Most partitions.
const PARTITIONS: usize = 8;
/// Dice that make one spec.
pub const DICE: usize = OF_RUN + OF_POOLS + PARTITIONS * OF_PARTITION + prsm::OF_SHARING;

/// What those do that wait for a lock.
const LOCKS: [LockKind; 3] = [LockKind::Queue, LockKind::Ticket, LockKind::Sleeping];

/// Rows of dice.
pub fn dice() -> impl Strategy<Value = Vec<u16>> {
    prop::collection::vec(any::<u16>(), DICE)
}

/// Reads a row of dice.
pub struct Dice<'a>(&'a [u16]);

impl<'a> Dice<'a> {
    pub fn new(row: &'a [u16]) -> Self {
        Self(row)
    }

    pub fn next(&mut self) -> u16 {
        let (first, rest) = self.0.split_first().expect("enough dice");
        self.0 = rest;
        *first
    }

    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::from(self.next()) % choices.len()]
    }

    pub fn between(&mut self, least: u16, most: u16) -> u16 {
        least + self.next() % (most - least + 1)
    }

    pub fn real(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * f64::from(self.next()) / f64::from(u16::MAX)
    }

    pub fn chance(&mut self, one_in: u16) -> bool {
        self.next() % one_in == one_in - 1
    }
}

/// The spec of a platform that a row of [`DICE`] dice makes. Its intervals and warm-up are whole
/// windows.
pub fn scenario(platform: Platform, dice: &[u16]) -> Spec {
    let (dice, of_sharing) = dice.split_at(DICE - prsm::OF_SHARING);
    match platform {
        Platform::PowerVm => under(dice, |_| Policy::Phyp),
        Platform::Dedicated => under(dice, |_| Policy::Dedicated),
        Platform::PrSm => prsm::shared(under(dice, |_| Policy::Phyp), of_sharing),
        Platform::Zvm => zvm::partition(&mut Dice(dice)),
        Platform::Linux => hosts::crowded(&mut Dice(dice), Policy::Linux),
        Platform::Credit2 => hosts::crowded(&mut Dice(dice), Policy::Credit2),
    }
}

/// A spec that is told as JSON, so that it can be run again.
#[derive(Clone)]
pub struct Scenario(pub Spec);

impl std::fmt::Debug for Scenario {
    fn fmt(&self, to: &mut std::fmt::Formatter) -> std::fmt::Result {
        to.write_str(&serde_json::to_string(&self.0).expect("a spec can be written"))
    }
}

/// Scenarios of a platform.
pub fn scenarios(platform: Platform) -> impl Strategy<Value = Scenario> {
    dice().prop_map(move |dice| Scenario(scenario(platform, &dice)))
}

/// PowerVM's, or with cores of their own.
pub fn sound(dice: &[u16]) -> Spec {
    under(dice, |dice| {
        dice.pick(&[Policy::Phyp, Policy::Phyp, Policy::Dedicated])
    })
}

fn under(dice: &[u16], policy: impl Fn(&mut Dice) -> Policy) -> Spec {
    let (of_run, rest) = dice.split_at(OF_RUN);
    let (of_pools, of_partitions) = rest.split_at(OF_POOLS);
    let mut run = Dice(of_run);
    let machine = random_machine(&mut run, policy);
    let mut free = machine.active_cores;
    let count = usize::from(run.between(1, PARTITIONS as u16));
    let mut partitions = Vec::new();
    let rows = of_partitions.chunks_exact(OF_PARTITION).take(count);
    for (index, row) in rows.enumerate() {
        if free == 0 && machine.hypervisor.policy == Policy::Dedicated {
            break;
        }
        let made = partition::random(&mut Dice(row), &machine, index, free);
        if let Processors::Dedicated { cores, .. } = &made.processors {
            free -= cores.len() as u16;
        }
        partitions.push(made);
    }
    let pools = random_pools(&mut Dice(of_pools), &mut partitions, f64::from(free));
    let mut spec = spec(machine, partitions);
    spec.pools = pools;
    random_times(&mut run, &mut spec);
    spec.record_dispatches = run.chance(2);
    spec
}

fn random_times(dice: &mut Dice, spec: &mut Spec) {
    let window = spec.machine.hypervisor.window_ns;
    spec.seed = u64::from(dice.next());
    spec.interval_ns = window * u64::from(dice.between(1, 3));
    spec.warmup_ns = window * u64::from(dice.between(0, 3));
    spec.duration_ns = dice.pick(&[50 * MS, 100 * MS, 2 * SECOND + 70 * MS]) / window * window;
}

fn random_machine(dice: &mut Dice, policy: impl Fn(&mut Dice) -> Policy) -> Machine {
    let mut machine = machine("node:1");
    machine.nodes = dice.between(1, 3);
    machine.chips_per_node = dice.between(1, 2);
    machine.cores_per_chip = dice.between(1, 4);
    machine.threads_per_core = dice.pick(&[1, 2, 4, 8]);
    let built = machine.nodes * machine.chips_per_node * machine.cores_per_chip;
    machine.active_cores = built - dice.next() % built;
    machine.smt.gain = (0..machine.threads_per_core)
        .map(|k| 1.0 + 0.2 * f64::from(k))
        .collect();
    machine.accounting = dice.pick(&[
        Accounting::Calibrated,
        Accounting::DecodeSlots,
        Accounting::Elapsed,
    ]);
    if dice.chance(2) {
        let pairs = usize::from(machine.nodes) * usize::from(machine.nodes);
        machine.node_distance = vec![1.5; pairs];
    }
    let bandwidth = dice.pick(&[1e12, 1e9]);
    machine.memory_bytes_per_s = bandwidth;
    machine.node_link_bytes_per_s = bandwidth;
    let hypervisor = &mut machine.hypervisor;
    hypervisor.window_ns = dice.pick(&[10 * MS, 10 * MS, 5 * MS + 1]);
    hypervisor.dispatch_ns = dice.pick(&[0, 3_000]);
    hypervisor.cede_ns = dice.pick(&[0, 1_000]);
    hypervisor.prod_ns = dice.pick(&[0, 1_000]);
    hypervisor.confer_ns = dice.pick(&[0, 1_000]);
    hypervisor.phantom_ns = dice.pick(&[0, 2_000]);
    hypervisor.excess_quantum_ns = dice.pick(&[MS, 300_000]);
    hypervisor.counts_redispatch = dice.chance(2);
    hypervisor.eviction = dice.pick(&[Eviction::OtherPartition, Eviction::HomeElsewhere]);
    hypervisor.policy = policy(dice);
    memory::of_machine(dice, &mut machine);
    machine
}

/// Scales the entitlements to what there is and spreads the partitions over pools.
fn random_pools(dice: &mut Dice, partitions: &mut [Partition], cores: f64) -> Vec<Pool> {
    let (extra, reserved, room) = (dice.between(0, 2), dice.real(0.0, 0.5), dice.real(0.0, 2.0));
    let headroom = dice.pick(&[1.0, 1.0, 0.7]);
    let mut entitled = vec![0.0; usize::from(extra) + 1];
    let total: f64 = partitions.iter().map(entitlement).sum();
    let factor = (headroom * cores / total.max(1e-9)).min(1.0);
    for (index, partition) in partitions.iter_mut().enumerate() {
        if let Processors::Shared {
            entitlement, pool, ..
        } = &mut partition.processors
        {
            *entitlement *= factor;
            *pool = index as u16 % (extra + 1);
            entitled[usize::from(*pool)] += *entitlement;
        }
    }
    let left = (cores - entitled.iter().sum::<f64>()).max(0.0);
    let pools = entitled.iter().enumerate().map(|(index, entitled)| {
        let limited = index > 0;
        let reserved = if limited {
            reserved * left / f64::from(extra)
        } else {
            0.0
        };
        Pool {
            name: format!("pool{index}"),
            maximum: limited.then_some(entitled + reserved + room),
            reserved,
            cores: None,
        }
    });
    pools.collect()
}

fn entitlement(partition: &Partition) -> f64 {
    match partition.processors {
        Processors::Shared { entitlement, .. } => entitlement,
        Processors::Dedicated { .. } => 0.0,
    }
}
