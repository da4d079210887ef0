//! Evaluations of the cost model: what an instruction costs at one place after the other.

use std::hint::black_box;
use std::time::Instant;

use homenode_engine::cost::{Class, Contention, Occupancy, Place, Spread, Toll};
use homenode_engine::guest::memory;
use homenode_engine::ids::ChipId;
use homenode_engine::machine::Topology;
use homenode_engine::spec::Spec;
use homenode_engine::steady;

use crate::bare::random::Random;
use crate::case::{made, Case, Sample};
use crate::cells;
use crate::scenarios;

const GROUP: &str = "Cost model";
/// Evaluations of one measurement.
const EVALUATIONS: u64 = 1_000_000;
/// States of the machine among which the places are drawn.
const STATES: usize = 32;
/// Places in a state.
const PLACES: usize = 64;
/// Times that the ten configurations are priced in one measurement.
const CALLS: u64 = 100;

/// All cases of this group, compared with `yardstick`.
pub fn all(yardstick: &'static str) -> Vec<Case> {
    let evaluations = |name, spec: fn() -> Spec| {
        let run = made(
            move || states(spec()),
            |(spec, states), _| evaluate(spec, states),
        );
        Case::new(GROUP, name, yardstick, run)
    };
    vec![
        evaluations("an instruction's cost, 256 cores, 8 books", power),
        evaluations("the same, exponent 0.6 of the miss curve", steep),
        evaluations("an instruction's cost, 2 cells", || {
            cells::configurations().swap_remove(8)
        }),
        Case::new(
            GROUP,
            "ten cellular configurations priced in one call",
            yardstick,
            made(configurations, |configurations, _| prices(configurations)),
        ),
    ]
}

fn power() -> Spec {
    scenarios::study_frames().swap_remove(1)
}

fn steep() -> Spec {
    let mut steep = power();
    for partition in &mut steep.partitions {
        partition.profile.miss_exponent = 0.6;
    }
    steep
}

fn states(spec: Spec) -> (Spec, Vec<State>) {
    let state = |seed| State::new(&spec, seed);
    let states = (0..STATES as u64).map(state).collect();
    (spec, states)
}

fn configurations() -> Vec<(Spec, Vec<Vec<f64>>)> {
    let busy = |spec: Spec| {
        let busy = cells::busy(&spec);
        (spec, busy)
    };
    cells::configurations().into_iter().map(busy).collect()
}

/// A machine under some load, and places to ask about.
struct State {
    tree: Topology,
    contention: Contention,
    occupancy: Occupancy,
    spreads: Vec<Spread>,
    /// Partition, chip and busy threads.
    places: Vec<(usize, ChipId, u8)>,
}

impl State {
    fn new(spec: &Spec, seed: u64) -> Self {
        let mut random = Random::new(seed + 1);
        let mut below = |most: f64| (random.exponential() * most / 2.0).min(most);
        let (machine, tree) = (&spec.machine, Topology::new(&spec.machine));
        let mut occupancy = Occupancy::new(machine, &tree);
        let most = f64::from(machine.cores_per_chip);
        for level in 0..machine.caches.len() {
            occupancy.ages.set(level, 1e5 * (1.0 + below(most)));
        }
        for port in occupancy.fabric.ports() {
            let (delay_ns, wait_ns) = (below(100.0), 0.0);
            occupancy.fabric.set_toll(port, Toll { delay_ns, wait_ns });
        }
        let mut spread = |partition| {
            let mut spread = Spread::new(&tree, memory::place(machine, &tree, partition));
            let cores = tree.chips().into_iter().map(|_| below(most / 2.0));
            spread.set_cores(&tree, &cores.collect());
            spread
        };
        let spreads: Vec<Spread> = spec.partitions.iter().map(&mut spread).collect();
        let mut index = |count: usize| (below(1.0) * count as f64) as usize % count;
        let place = |_| {
            let partition = index(spreads.len());
            let threads = index(usize::from(spec.partitions[partition].smt)) + 1;
            (
                partition,
                tree.chips().at(index(tree.chips().len())),
                threads as u8,
            )
        };
        Self {
            places: (0..PLACES).map(place).collect(),
            contention: Contention::new(machine),
            occupancy,
            spreads,
            tree,
        }
    }

    fn place<'a>(&'a self, spec: &'a Spec, at: (usize, ChipId, u8)) -> Place<'a> {
        let (partition, chip, threads) = at;
        Place {
            machine: &spec.machine,
            tree: &self.tree,
            contention: &self.contention,
            occupancy: &self.occupancy,
            partition: &spec.partitions[partition],
            spread: &self.spreads[partition],
            chip,
            threads,
            snoozing_sibling: false,
        }
    }
}

fn evaluate(spec: &Spec, states: &[State]) -> Sample {
    let start = Instant::now();
    let mut done = 0;
    while done < EVALUATIONS {
        for state in states {
            for at in &state.places {
                black_box(Class::at(state.place(spec, *at)));
            }
            done += state.places.len() as u64;
        }
    }
    Sample::new(done, start.elapsed())
}

/// Prices all configurations; an event is a configuration.
fn prices(configurations: &[(Spec, Vec<Vec<f64>>)]) -> Sample {
    let start = Instant::now();
    for _ in 0..CALLS {
        for (spec, busy) in configurations {
            let price = steady::price(spec, busy);
            black_box(price.unwrap_or_else(|fault| panic!("{}: {fault}", spec.name)));
        }
    }
    Sample::new(CALLS * configurations.len() as u64, start.elapsed())
}
