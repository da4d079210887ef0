//! Where data lie: hand-computed cases of each policy, and what is true of all of them.

use crate::common;
use crate::common::{dedicated, dice, loops, machine, memory, partition, sound, GIB};
use homenode_engine::guest::memory::{no_room, place};
use homenode_engine::ids::{ChipId, MemoryId};
use homenode_engine::machine::{memory_ns, Topology};
use homenode_engine::sim::check;
use homenode_engine::spec::{Machine, MemoryBeside, MemoryPart, MemoryPolicy, Partition};
use proptest::prelude::*;

/// Two cells of two chips with four cores each; memory at 100 ns in the own cell, 300 in the other.
fn cells() -> (Machine, Topology) {
    let mut machine = machine("node:2 chip:2 core:4");
    machine.memory_beside = MemoryBeside::Node;
    let tree = Topology::new(&machine);
    (machine, tree)
}

/// A partition with these cores, all of its memory in use.
fn user(cores: std::ops::Range<u16>, memory: Vec<MemoryPart>, policy: MemoryPolicy) -> Partition {
    let mut one = partition("a", dedicated(cores, false), loops(1));
    one.data_bytes = memory.iter().map(|part| part.bytes).sum();
    (one.memory, one.memory_policy) = (memory, policy);
    one
}

/// Shares of both cells as a core of each cell reads them.
fn reads(one: &Partition) -> [[f64; 2]; 2] {
    let (machine, tree) = cells();
    let placed = place(&machine, &tree, one);
    let of = |chip| &placed[ChipId::new(chip)];
    assert_eq!(of(0), of(1), "chips of one cell");
    [0, 2].map(|chip| {
        let share = |domain| of(chip).iter().find(|(at, _)| *at == domain);
        [0, 1].map(|domain| share(MemoryId::new(domain)).map_or(0.0, |(_, share)| *share))
    })
}

fn local_24_of_32(cell: u16) -> Vec<MemoryPart> {
    vec![memory(&[cell], 24 * GIB), memory(&[0, 1], 8 * GIB)]
}

#[test]
fn cell_local_memory_is_filled_first_and_interleaved_memory_next() {
    let mut one = user(0..8, local_24_of_32(0), MemoryPolicy::LocalFirst);
    // 24 GiB at home and half of 8 GiB: 28 of 32.
    assert_eq!(reads(&one)[0], [0.875, 0.125]);
    one.data_bytes = 12 * GIB;
    assert_eq!(reads(&one)[0], [1.0, 0.0]);
    one.data_bytes = 28 * GIB;
    // 24 at home, 4 interleaved: 26 of 28.
    assert!((reads(&one)[0][0] - 26.0 / 28.0).abs() < 1e-15);
}

#[test]
fn interleaved_memory_comes_before_the_other_cells_own() {
    let mut one = user(0..8, local_24_of_32(1), MemoryPolicy::LocalFirst);
    assert_eq!(reads(&one)[0], [0.125, 0.875]);
    // On the mean of 100 and 300 ns it is nearer than the other cell at 300.
    one.data_bytes = 8 * GIB;
    assert_eq!(reads(&one)[0], [0.5, 0.5]);
}

#[test]
fn cores_on_both_cells_compete_for_what_is_there() {
    let mut one = user(4..12, local_24_of_32(0), MemoryPolicy::LocalFirst);
    // Until 16 GiB are placed cell 0 takes 8 of its own and cell 1 the 8 interleaved ones; then
    // both take 8 of cell 0. Cell 0 placed 16 of 16 in itself, cell 1 placed 4 + 8 of 16 there.
    assert_eq!(reads(&one), [[0.875, 0.125]; 2]);
    one.profile.private_data = 1.0;
    assert_eq!(reads(&one), [[1.0, 0.0], [0.75, 0.25]]);
    one.profile.private_data = 0.5;
    assert_eq!(reads(&one), [[0.9375, 0.0625], [0.8125, 0.1875]]);
}

#[test]
fn proportional_and_interleaved_do_not_look_at_the_cores() {
    for cores in [0..8, 4..12, 8..16] {
        let mut one = user(cores, local_24_of_32(0), MemoryPolicy::Proportional);
        one.profile.private_data = 0.25;
        assert_eq!(reads(&one), [[0.875, 0.125]; 2]);
        one.memory_policy = MemoryPolicy::Interleaved;
        one.data_bytes = 16 * GIB;
        // 8 interleaved, then 8 of cell 0: 12 of 16.
        assert_eq!(reads(&one), [[0.75, 0.25]; 2]);
        one.data_bytes = 4 * GIB;
        assert_eq!(reads(&one), [[0.5, 0.5]; 2]);
    }
}

#[test]
fn in_order_fills_the_first_part_whoever_allocates() {
    let parts = || vec![memory(&[1], 4 * GIB), memory(&[0], 12 * GIB)];
    for cores in [0..8, 4..12, 8..16] {
        let mut one = user(cores, parts(), MemoryPolicy::InOrder);
        one.profile.private_data = 1.0;
        one.data_bytes = 4 * GIB;
        assert_eq!(reads(&one), [[0.0, 1.0]; 2]);
        // 4 in cell 1, then 12 in cell 0.
        one.data_bytes = 16 * GIB;
        assert_eq!(reads(&one), [[0.75, 0.25]; 2]);
    }
}

#[test]
fn strict_stays_at_home_or_does_not_fit() {
    let (_, tree) = cells();
    let parts = vec![memory(&[0], 4 * GIB), memory(&[1], 4 * GIB)];
    let mut one = user(4..12, parts, MemoryPolicy::Strict);
    one.profile.private_data = 1.0;
    assert_eq!(reads(&one), [[1.0, 0.0], [0.0, 1.0]]);
    assert_eq!(no_room(&tree, &one), None);
    one.memory[1].bytes = GIB;
    one.data_bytes = 4 * GIB;
    let lack = no_room(&tree, &one).expect("2 GiB for 1");
    assert_eq!(
        (lack.domain, lack.asked),
        (MemoryId::new(1), 2.0 * GIB as f64)
    );
    let spec = common::spec(cells().0, vec![one]);
    let text = check(&spec).expect_err("no room").to_string();
    assert!(
        text.contains("memory domain 1 put 2147483648 bytes there"),
        "{text}"
    );
}

#[test]
fn kernel_io_structures_lie_beside_the_io_where_they_can() {
    let mut one = user(8..16, local_24_of_32(0), MemoryPolicy::LocalFirst);
    one.profile.io_data = 1.0;
    one.io_domain = Some(0);
    assert_eq!(reads(&one)[1], [1.0, 0.0]);
    // No part lies in cell 1 alone: 8 interleaved, then 24 of cell 0.
    one.io_domain = Some(1);
    assert_eq!(reads(&one)[1], [0.875, 0.125]);
    one.io_domain = None;
    assert_eq!(reads(&one)[1], [0.875, 0.125]);
}

#[test]
fn virtual_processors_allocate_at_their_homes() {
    let (machine, tree) = cells();
    let mut one = user(0..1, local_24_of_32(1), MemoryPolicy::LocalFirst);
    one.processors = common::shared(1.0, 4);
    one.home = vec![0, 2, 3];
    one.profile.private_data = 1.0;
    one.data_bytes = 4 * GIB;
    // Two of four on cell 0 take interleaved memory, two on cell 1 their own.
    let placed = place(&machine, &tree, &one);
    let domain = MemoryId::new;
    assert_eq!(
        placed[ChipId::new(0)],
        vec![(domain(0), 0.5), (domain(1), 0.5)]
    );
    assert_eq!(placed[ChipId::new(2)], vec![(domain(1), 1.0)]);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn shares_add_up_and_lie_in_the_partitions_parts(dice in dice()) {
        let spec = sound(&dice);
        let tree = Topology::new(&spec.machine);
        for one in &spec.partitions {
            for reads in &place(&spec.machine, &tree, one) {
                let sum: f64 = reads.iter().map(|(_, share)| share).sum();
                prop_assert!((sum - 1.0).abs() < 1e-12, "{sum}");
                for (domain, share) in reads {
                    let number = u16::from(*domain);
                    let has = one.memory.iter().any(|part| part.domains.contains(&number));
                    prop_assert!(has && *share > 0.0, "domain {domain}: {share}");
                }
            }
        }
    }

    #[test]
    fn local_first_is_never_farther_than_in_proportion(dice in dice()) {
        let mut spec = sound(&dice);
        let tree = Topology::new(&spec.machine);
        for one in &mut spec.partitions {
            // One domain allocates, so that nobody is in anybody's way.
            one.home.truncate(1);
            one.processors = common::shared(1.0, 1);
            one.profile.io_data = 0.0;
            let mut mean = |policy| {
                one.memory_policy = policy;
                let chip = ChipId::from(one.home[0]);
                let placed = place(&spec.machine, &tree, one);
                let reads = placed[chip].iter();
                reads.map(|(d, s)| s * memory_ns(&spec.machine, &tree, chip, *d)).sum::<f64>()
            };
            let near = mean(MemoryPolicy::LocalFirst);
            prop_assert!(near <= mean(MemoryPolicy::Proportional) * (1.0 + 1e-12));
        }
    }
}
