//! PowerVM's affinity has three levels: core, chip, node. Where all cores are always busy nobody
//! finds an idle one at home, and yet who waits gets home.

use crate::common::{
    assert_all, capped, loops, machine, partition, run, shared, spec, Outcome, SECOND,
};
use homenode_engine::spec::{Partition, Processors};

/// As long as it takes until all are at home: a few windows of a second's hundred.
const AT_HOME: f64 = 0.95;

/// Entitled to one core by two virtual processors that always have work, at home on a chip.
fn one(name: String, chip: u16) -> Partition {
    let mut one = partition(&name, capped(1.0, 2), loops(2));
    one.home = vec![chip];
    one.memory[0].domains = vec![chip];
    one
}

/// As many as there are cores, at home in turn on the first chip and on the second, or first all of
/// the one.
fn all_equal(text: &str, count: u16, in_turn: bool) -> (Vec<String>, Outcome) {
    let chip_of = |number: u16| match in_turn {
        true => number % 2,
        false => number * 2 / count,
    };
    let names: Vec<String> = (0..count).map(|number| format!("p{number}")).collect();
    let numbered = names.iter().cloned().zip(0..);
    let all = numbered.map(|(name, number)| one(name, chip_of(number)));
    let spec = spec(machine(text), all.collect());
    let outcome = run(&spec, 0);
    assert_all(&spec, &outcome);
    (names, outcome)
}

#[test]
fn equal_partitions_are_equally_at_home_on_chips_and_on_nodes() {
    for text in ["node:1 chip:2 core:4", "node:2 chip:1 core:4"] {
        for in_turn in [true, false] {
            let (names, outcome) = all_equal(text, 8, in_turn);
            for name in names {
                let busy = outcome.total(&name, "busy_ns");
                let home = outcome.total(&name, "home_ns") / busy;
                assert!(home > AT_HOME, "{text}, {in_turn}: {name} at home {home}");
                assert!((busy / 1e9 - 1.0).abs() < 1e-3, "{name} has its core");
            }
        }
    }
}

/// Cores that partitions of such weights and homes (nodes) use, each entitled to a quarter of all
/// by twice as many virtual processors, in whole windows: three halves of the cores want one.
fn by_weight(parts: [(u16, u16); 3]) -> [f64; 3] {
    let one = |(at, (weight, node)): (usize, (u16, u16))| {
        let mut one = partition(&format!("p{at}"), shared(8.0, 16), loops(16));
        if let Processors::Shared { weight: own, .. } = &mut one.processors {
            *own = weight;
        }
        one.home = vec![2 * node, 2 * node + 1];
        one.memory[0].domains = one.home.clone();
        one
    };
    let made = parts.into_iter().enumerate().map(one).collect();
    let mut spec = spec(machine("node:2 chip:2 core:8"), made);
    spec.duration_ns = 4 * SECOND;
    let outcome = run(&spec, 0);
    assert_all(&spec, &outcome);
    [0, 1, 2].map(|at| outcome.total(&format!("p{at}"), "busy_ns") / spec.duration_ns as f64)
}

#[test]
fn who_has_what_it_is_entitled_to_last_has_its_part_of_the_rest_too() {
    // Those whose entitled virtual processors wait for the second half of a window have no time
    // left to ask for more in it; it is made up for in the next.
    for homes in [[0, 0, 1], [0, 1, 1], [1, 0, 0]] {
        let found = by_weight(homes.map(|node| (128, node)));
        let fair = 32.0 / 3.0;
        let near = |cores: &f64| (cores / fair - 1.0).abs() < 0.01;
        assert!(found.iter().all(near), "{homes:?}: {found:?}");
    }
    let found = by_weight([(128, 0), (128, 0), (32, 1)]);
    // Eight cores are left for 4 : 4 : 1.
    for (cores, part) in found.into_iter().zip([4.0, 4.0, 1.0]) {
        let due = 8.0 + 8.0 * part / 9.0;
        assert!((cores / due - 1.0).abs() < 0.01, "{found:?}");
    }
}
