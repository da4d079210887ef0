//! Random partitions of z/VM: tiles of clients and servers, loops beside them, paging, limits.

use homenode_engine::spec::{
    CpShare, Distribution, Layer, Spec, Unparking, VirtualMachine, Workload,
};

use super::super::zvm::{
    cores_of, cp, endless, free_cp, paging, real_locks, real_paths, switch, tile, web,
    zvm_partition,
};
use super::super::{missing_profile, spec, MS};
use super::Dice;

/// z/VM with a machine for itself.
pub fn partition(dice: &mut Dice) -> Spec {
    let (chips, cores) = (dice.between(1, 5), dice.between(1, 6));
    let tiles = dice.between(1, 3);
    let machines = random_machines(dice, tiles);
    let switches = (0..tiles).map(|at| switch(&format!("s{at}"))).collect();
    let mut zvm = free_cp(machines, switches);
    zvm.vertical = dice.chance(2);
    zvm.paths = real_paths();
    zvm.locks = real_locks();
    zvm.park_interval_ns = 20 * MS;
    zvm.minor_slice_ns = dice.pick(&[5 * MS, MS / 2]);
    zvm.unparking = dice.pick(&[Unparking::Large, Unparking::Medium, Unparking::Small]);
    if dice.chance(2) {
        zvm.switches[0].layer = Layer::Ip;
    }
    let mut one = zvm_partition(chips * cores, zvm, web());
    one.smt = dice.pick(&[1, 2]);
    one.profile = missing_profile(100_000.0);
    if let Workload::Web { think_ns, work, .. } = &mut one.workload {
        *think_ns = u64::from(dice.between(0, 2_000).saturating_sub(1_000)) * 1_000;
        *work = Distribution::Exponential;
    }
    if dice.chance(2) {
        let guests: u64 = cp(&mut one).machines.iter().map(|m| m.memory_bytes).sum();
        cp(&mut one).paging = Some(paging(3));
        one.memory[0].bytes = guests / 2;
        one.data_bytes = guests / 2;
    }
    let mut spec = spec(cores_of(chips, cores), vec![one]);
    spec.machine.memory_bytes_per_s = 1e11;
    spec.seed = u64::from(dice.next());
    spec.warmup_ns = 20 * MS;
    spec.duration_ns = 100 * MS;
    spec.interval_ns = 20 * MS;
    spec
}

fn random_machines(dice: &mut Dice, tiles: u16) -> Vec<VirtualMachine> {
    let (clients, servers, loops) = (dice.between(1, 3), dice.between(1, 6), dice.between(0, 3));
    let tiles = (0..tiles).flat_map(|at| tile(at, clients, servers));
    let mut machines: Vec<_> = tiles.chain(endless(loops)).collect();
    let cpus = dice.between(1, 3);
    machines.iter_mut().for_each(|machine| machine.cpus = cpus);
    // The last is a loop, if there is one: it presses against its limit all the time.
    let last = machines.len() - 1;
    for at in [0, last] {
        if dice.chance(2) {
            machines[at].maximum = Some(CpShare::Absolute(0.2));
            machines[at].limit_hard = dice.chance(2);
            machines[at].share = CpShare::Absolute(0.3);
        }
    }
    machines
}
