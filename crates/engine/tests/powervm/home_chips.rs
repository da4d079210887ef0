//! PowerVM's affinity has three levels: core, chip, node. Where all cores are always busy nobody
//! finds an idle one at home, and yet who waits gets home.

use crate::common::{assert_all, capped, loops, machine, partition, run, spec, Outcome};
use homenode_engine::spec::Partition;

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
