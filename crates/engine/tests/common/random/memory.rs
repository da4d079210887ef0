//! Random memory: parts, policy, what the work does with it.

use homenode_engine::machine::Topology;
use homenode_engine::spec::{
    Coherence, Drains, Machine, MemoryBeside, MemoryPolicy, Partition, Pipeline, StorePath,
    Translation,
};

use super::super::{memory, GIB};
use super::Dice;

/// Dice for the memory of one partition.
pub const OF_MEMORY: usize = 14;

/// Where a machine's memory hangs and what its translation costs.
pub fn of_machine(dice: &mut Dice, machine: &mut Machine) {
    machine.memory_beside = dice.pick(&[MemoryBeside::Chip, MemoryBeside::Node]);
    machine.translation = dice.chance(2).then_some(Translation {
        entries: 64,
        walk_ns: 50.0,
    });
    machine.stores = dice.chance(2).then_some(StorePath {
        interval_ns: 1.5,
        width_bytes: 16.0,
        gather_bytes: None,
    });
    if let Some(path) = &mut machine.stores {
        path.gather_bytes = dice.pick(&[None, Some(128.0)]);
    }
    machine.core_rate = dice.pick(&[1.0, 1.0, 1.6]);
    if machine.core_rate > 1.0 {
        let reference = Drains {
            control_cycles: 60.0,
            branch_targets: 8192.0,
            branch_cycles: 19.0,
        };
        let own = Drains {
            control_cycles: 36.0,
            branch_targets: 24576.0,
            ..reference
        };
        machine.pipeline = Some(Pipeline { own, reference });
    }
    machine.coherence = dice.pick(&[Coherence::Owner, Coherence::Home, Coherence::Directory]);
}

/// Memory on the domains of the homes, interleaved over all domains, or both on every domain; the
/// strict policy only where it fits.
pub fn of_partition(dice: &mut Dice, machine: &Machine, made: &mut Partition) {
    let tree = Topology::new(machine);
    let all: Vec<u16> = tree.domains().into_iter().map(u16::from).collect();
    let kind = dice.next() % 3;
    made.memory = match kind {
        0 => {
            let homes = made.home.iter().zip([3, 1]);
            let domain = |chip: u16| u16::from(tree.domain_of(chip.into()));
            homes
                .map(|(chip, gib)| memory(&[domain(*chip)], gib * GIB))
                .collect()
        }
        1 => vec![memory(&all, 2 * GIB)],
        _ => {
            let each = all.iter().map(|domain| memory(&[*domain], GIB));
            each.chain([memory(&all, 2 * GIB)]).collect()
        }
    };
    made.memory_policy = dice.pick(&[
        MemoryPolicy::Proportional,
        MemoryPolicy::LocalFirst,
        MemoryPolicy::Interleaved,
        MemoryPolicy::Strict,
    ]);
    if kind < 2 && made.memory_policy == MemoryPolicy::Strict {
        made.memory_policy = MemoryPolicy::LocalFirst;
    }
    made.data_bytes = dice.pick(&[GIB, GIB, GIB / 2, 1 << 20]);
    let io = dice.pick(&all);
    made.io_domain = dice.chance(2).then_some(io);
    made.page_bytes = dice.pick(&[64 << 10, 16 << 20]);
    made.hypervisor_share = dice.pick(&[0.0, 0.0, 0.05]);
    made.profile.private_data = dice.pick(&[0.0, 0.5]);
    made.profile.io_data = dice.pick(&[0.0, 0.1]);
    made.profile.store_share = dice.pick(&[0.0, 0.15, 0.9]);
    made.profile.control_share = made.profile.store_share / 100.0;
    made.profile.branch_misses = made.profile.private_data / 100.0;
    made.profile.store_run = dice.pick(&[1.0, 3.0, 32.0]);
    made.profile.lock_hold_instructions = dice.pick(&[1e3, 1e5]);
}
