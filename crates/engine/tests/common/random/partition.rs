//! Random partitions: processors, guest, work.

use homenode_engine::spec::{
    Distribution, Gang, Guest, HostThreads, LogicalCores, Machine, Partition, Policy, Processors,
    Spread, Workload,
};

use super::super::{aix, dedicated, missing_profile, partition, quiet_unix, MS};
use super::{memory, Dice, LOCKS};

/// One of PowerVM, or with cores of its own, of which so many are free.
pub fn random(dice: &mut Dice, machine: &Machine, index: usize, free: u16) -> Partition {
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
            soft_cap: false,
            prsm: LogicalCores::default(),
            host: Box::default(),
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
    made.profile.lock_kind = dice.pick(&LOCKS);
    random_guest(dice, &mut made);
    memory::of_partition(dice, machine, &mut made);
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
    if guest.daemon_rate_per_s > 20.0 {
        // No draw of its own: what else is drawn stays as it was.
        guest.gangs = vec![Gang {
            threads: 6,
            every_ns: 20 * MS,
            work_ns: 50_000,
            lengths_ns: vec![],
            instructions_per_s: vec![],
        }];
    }
    let mut unix = quiet_unix();
    unix.gangs = guest.gangs.clone();
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

/// What so many threads have to do.
pub fn random_workload(dice: &mut Dice, threads: u32) -> Workload {
    let burst_work = dice.pick(&[Distribution::Constant, Distribution::Exponential]);
    let (bursts, wait_ns) = dice.pick(&[(1.0, 0), (3.0, MS), (2.5, 100_000)]);
    let count = u32::from(dice.between(1, 12));
    let rate_per_s = dice.real(10.0, 1_000.0);
    match dice.next() % 10 {
        0 => Workload::Loops {
            count: threads + count - 1,
            endless: true,
            busy_ns: 0,
            rest_ns: 0,
        },
        6 => Workload::Barriers {
            count: count.div_ceil(4),
            threads: threads.min(64) as u16,
            burst_work,
        },
        1 => Workload::Loops {
            count,
            endless: true,
            busy_ns: if count > 6 { 12 * MS } else { 0 },
            rest_ns: if count > 6 { 7 * MS } else { 0 },
        },
        2 => Workload::Loops {
            count,
            endless: false,
            busy_ns: 0,
            rest_ns: 0,
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
            spread: if count % 2 == 0 {
                Spread::Random
            } else {
                Spread::Even
            },
        },
        _ => Workload::Warehouses {
            count: threads + count - 1,
        },
    }
}
