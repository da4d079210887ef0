//! Random sound specs, each made from a row of dice: all zeros is the simplest spec, so failures
//! shrink towards it.

use homenode_engine::spec::{
    Accounting, Distribution, Eviction, Guest, HostThreads, LogicalCores, Machine, Partition,
    Policy, Pool, Processors, Spec, Workload,
};
use proptest::prelude::*;

use super::{
    aix, dedicated, machine, missing_profile, partition, quiet_unix, random_memory, spec, MS,
    SECOND,
};

/// Dice for the machine and the run.
const OF_RUN: usize = 39;
/// Dice for one partition.
const OF_PARTITION: usize = 48 + random_memory::OF_MEMORY;
/// Dice for the pools.
const OF_POOLS: usize = 8;
/// Most partitions.
const PARTITIONS: usize = 8;
/// Dice that make one spec.
pub const DICE: usize = OF_RUN + OF_POOLS + PARTITIONS * OF_PARTITION;

/// Rows of dice.
pub fn dice() -> impl Strategy<Value = Vec<u16>> {
    prop::collection::vec(any::<u16>(), DICE)
}

pub struct Dice<'a>(&'a [u16]);

impl Dice<'_> {
    pub fn next(&mut self) -> u16 {
        let (first, rest) = self.0.split_first().expect("enough dice");
        self.0 = rest;
        *first
    }

    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::from(self.next()) % choices.len()]
    }

    fn between(&mut self, least: u16, most: u16) -> u16 {
        least + self.next() % (most - least + 1)
    }

    fn real(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * f64::from(self.next()) / f64::from(u16::MAX)
    }

    pub fn chance(&mut self, one_in: u16) -> bool {
        self.next() % one_in == one_in - 1
    }
}

/// The spec that a row of [`DICE`] dice makes. Its intervals and warm-up are whole windows.
pub fn sound(dice: &[u16]) -> Spec {
    let (of_run, rest) = dice.split_at(OF_RUN);
    let (of_pools, of_partitions) = rest.split_at(OF_POOLS);
    let mut run = Dice(of_run);
    let machine = random_machine(&mut run);
    let mut free = machine.active_cores;
    let count = usize::from(run.between(1, PARTITIONS as u16));
    let mut partitions = Vec::new();
    for (index, row) in of_partitions.chunks(OF_PARTITION).take(count).enumerate() {
        if free == 0 && machine.hypervisor.policy == Policy::Dedicated {
            break;
        }
        let made = random_partition(&mut Dice(row), &machine, index, free);
        if let Processors::Dedicated { cores, .. } = &made.processors {
            free -= cores.len() as u16;
        }
        partitions.push(made);
    }
    let pools = random_pools(&mut Dice(of_pools), &mut partitions, f64::from(free));
    let mut spec = spec(machine, partitions);
    let window = spec.machine.hypervisor.window_ns;
    spec.pools = pools;
    spec.seed = u64::from(run.next());
    spec.interval_ns = window * u64::from(run.between(1, 3));
    spec.warmup_ns = window * u64::from(run.between(0, 3));
    spec.duration_ns = run.pick(&[50 * MS, 100 * MS, 2 * SECOND + 70 * MS]) / window * window;
    spec.record_dispatches = run.chance(2);
    spec
}

fn random_machine(dice: &mut Dice) -> Machine {
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
    hypervisor.policy = dice.pick(&[Policy::Phyp, Policy::Phyp, Policy::Dedicated]);
    random_memory::of_machine(dice, &mut machine);
    machine
}

fn random_partition(dice: &mut Dice, machine: &Machine, index: usize, free: u16) -> Partition {
    let chips = machine.nodes * machine.chips_per_node;
    let hard = machine.hypervisor.policy == Policy::Dedicated;
    let own = dice.chance(4) && free >= 2;
    let donating = dice.chance(2) && !hard;
    let processors = if own || hard {
        let count = dice.between(1, (free / 2).max(1));
        dedicated(free - count..free, donating)
    } else {
        let vps = dice.between(1, 6);
        Processors::Shared {
            entitlement: dice.real(0.05, 1.0) * f64::from(vps),
            r#virtual: vps,
            capped: dice.chance(3),
            weight: dice.pick(&[128, 200, 0, 255, 1]),
            pool: 0,
            prsm: LogicalCores::default(),
            host: HostThreads::default(),
        }
    };
    let (threshold, smt_index) = (dice.real(0.0, 100.0), dice.next());
    let smts: Vec<u8> = [1, 2, 4, 8]
        .into_iter()
        .filter(|smt| *smt <= machine.threads_per_core)
        .collect();
    let smt = smts[usize::from(smt_index) % smts.len()];
    let threads = cpus(&processors) * u32::from(smt);
    let mut made = partition(
        &format!("p{index}"),
        processors,
        random_workload(dice, threads),
    );
    made.smt = smt;
    if let Processors::Dedicated {
        donate_threshold_pct,
        ..
    } = &mut made.processors
    {
        *donate_threshold_pct = threshold;
    }
    let (first, second) = (dice.next() % chips, dice.next() % chips);
    made.home = vec![first, second];
    if dice.chance(2) {
        made.profile = missing_profile(made.profile.instructions_per_unit);
    }
    made.profile.instructions_per_unit = dice.pick(&[1e6, 2e5, 4e7]);
    made.profile.lock_share = dice.pick(&[0.0, 0.0, 0.1]);
    random_guest(dice, &mut made);
    random_memory::of_partition(dice, machine, &mut made);
    made
}

fn cpus(processors: &Processors) -> u32 {
    match processors {
        Processors::Shared { r#virtual, .. } => u32::from(*r#virtual),
        Processors::Dedicated { cores, .. } => cores.len() as u32,
    }
}

fn random_guest(dice: &mut Dice, partition: &mut Partition) {
    let guest = aix(partition);
    guest.throughput_mode = dice.pick(&[0, 1, 2, 4, 8]);
    guest.xvcpus = dice.pick(&[-1, 0, -1, 1]);
    guest.snooze_delay_ns = dice.pick(&[Some(0), None, Some(50_000)]);
    guest.tick_cost_ns = dice.pick(&[0, 20_000]);
    guest.timeslice_ns = dice.pick(&[10 * MS, MS]);
    guest.rebalance_ns = dice.pick(&[None, Some(10 * MS), Some(3 * MS)]);
    guest.daemon_rate_per_s = dice.pick(&[0.0, 20.0, 300.0]);
    guest.daemon_ns = dice.pick(&[100_000, 2 * MS]);
    let mut unix = quiet_unix();
    unix.tick_cost_ns = guest.tick_cost_ns;
    unix.timeslice_ns = guest.timeslice_ns;
    unix.rebalance_ns = guest.rebalance_ns;
    unix.daemon_rate_per_s = guest.daemon_rate_per_s;
    unix.daemon_ns = guest.daemon_ns;
    match dice.next() % 4 {
        2 => partition.guest = Guest::Hpux(unix),
        3 => partition.guest = Guest::Linux(unix),
        _ => {}
    }
}

fn random_workload(dice: &mut Dice, threads: u32) -> Workload {
    let burst_work = dice.pick(&[Distribution::Constant, Distribution::Exponential]);
    let (bursts, wait_ns) = dice.pick(&[(1.0, 0), (3.0, MS), (2.5, 100_000)]);
    let count = u32::from(dice.between(1, 12));
    let rate_per_s = dice.real(10.0, 1_000.0);
    match dice.next() % 10 {
        0 | 6 => Workload::Loops {
            count: threads + count - 1,
            endless: true,
        },
        1 => Workload::Loops {
            count,
            endless: true,
        },
        2 => Workload::Loops {
            count,
            endless: false,
        },
        3 => Workload::Users {
            count,
            think_ns: 5 * MS,
            bursts,
            wait_ns,
            burst_work,
            think: Distribution::Exponential,
        },
        4 => Workload::Transactions {
            rate_per_s,
            bursts,
            wait_ns,
            burst_work,
        },
        5 => Workload::Idle,
        7 => Workload::Warehouses { count },
        8 => Workload::Trace {
            lengths_ns: vec![7 * MS, 30 * MS, 13 * MS],
            instructions_per_s: vec![rate_per_s * 1e6, 0.0, 3e8],
        },
        _ => Workload::Warehouses {
            count: threads + count - 1,
        },
    }
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
