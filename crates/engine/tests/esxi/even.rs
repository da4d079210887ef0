//! Policy `esxi`: hosts of several memory nodes beside the same host with one, on which nobody
//! lacks what stands idle.

use crate::common::esxi::{assert_cores, esxi, of};
use crate::common::host::on_off;
use crate::common::{memory, run, MS, SECOND};
use homenode_engine::kernel::Stream;
use homenode_engine::spec::{MemoryPolicy, Partition, Spec};

/// Virtual machines no wider than a node, at home anywhere, of which some come and go.
fn random_vms(chance: &mut Stream, nodes: u64, each: u64) -> Vec<Partition> {
    let count = nodes + chance.below(3 * nodes);
    let one = |number: u64| {
        let vcpus = 1 + chance.below(each);
        let shares = [500, 1000, 2000][chance.below(3) as usize] * vcpus as u32;
        let name = format!("v{number}");
        let mut one = of(&name, vcpus as u16, Some(shares), 0.0, None);
        if chance.chance(0.6) {
            let busy = 0.1 + 0.8 * chance.uniform();
            let period = [10.0, 100.0][chance.below(2) as usize] * MS as f64;
            on_off(
                vcpus as u32,
                busy * period,
                ((1.0 - busy) * period) as u64,
                &mut one,
            );
        }
        one.memory = vec![memory(&[chance.below(nodes) as u16], 1 << 30)];
        one.memory_policy = MemoryPolicy::Proportional;
        one
    };
    (0..count).map(one).collect()
}

/// Cores that all use from the tenth second on.
fn used(machine: &str, vms: &[Partition]) -> f64 {
    let mut spec: Spec = esxi(machine, vms.to_vec());
    if machine.starts_with("node:1 ") {
        for one in &mut spec.partitions {
            one.memory = vec![memory(&[0], 1 << 30)];
        }
    }
    spec.warmup_ns = 10 * SECOND;
    spec.duration_ns = 10 * SECOND;
    let outcome = run(&spec, 0);
    let names = vms.iter().map(|one| &one.name);
    names
        .map(|name| outcome.total(name, "busy_ns"))
        .sum::<f64>()
        / 10e9
}

/// Uneven as they stay, nodes leave next to nothing idle that a single one would use.
#[test]
fn nodes_use_what_one_would() {
    let mut chance = Stream::new(21, 0, "even");
    let mut short: Vec<f64> = (0..36)
        .map(|_| {
            let nodes = [2, 4][chance.below(2) as usize];
            let each = [2, 4, 8][chance.below(3) as usize];
            let vms = random_vms(&mut chance, nodes, each);
            let several = used(&format!("node:{nodes} chip:1 core:{each}"), &vms);
            1.0 - several / used(&format!("node:1 chip:1 core:{}", nodes * each), &vms)
        })
        .collect();
    short.sort_by(f64::total_cmp);
    assert!(short[35] < 0.08, "{short:?}");
    assert!(short.iter().sum::<f64>() < 36.0 * 0.012, "{short:?}");
}

/// One beside four busy virtual processors on four cores goes to the idle node, though the two
/// differ nearly as much then: what the five lacked is gone.
#[test]
fn a_small_one_leaves_a_full_node() {
    for (shares, kind) in [(1000, "loop"), (4000, "loop"), (1000, "users")] {
        let mut small = of("small", 1, Some(shares), 0.0, None);
        if kind == "users" {
            on_off(1, 14e6, 6 * MS, &mut small);
        }
        let vms = vec![of("four", 4, None, 0.0, None), small];
        let vms = vms.into_iter().map(|mut one| {
            one.memory = vec![memory(&[0], 1 << 30)];
            one.memory_policy = MemoryPolicy::Proportional;
            one
        });
        let mut spec = esxi("node:2 chip:1 core:4", vms.collect());
        spec.warmup_ns = 4 * SECOND;
        let outcome = run(&spec, 0);
        assert_cores(&outcome, "four", 4.0, 0.01);
        assert_cores(
            &outcome,
            "small",
            if kind == "loop" { 1.0 } else { 0.7 },
            0.02,
        );
    }
}
