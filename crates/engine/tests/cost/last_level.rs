//! Whose lines lie in the caches that cores share: which way a cost must go when somebody comes,
//! goes or moves, and why.

use crate::common::{dedicated, loops, machine, memory, partition, plain_profile, run, spec, GIB};
use homenode_engine::spec::{Machine, Partition, Profile};
use homenode_engine::steady::price;
use proptest::prelude::*;

/// Eight books of four chips of eight cores, as large frames are built, all of whose chips have a
/// cache of 32 MiB behind 4 MiB of each core.
fn books() -> Machine {
    let mut machine = machine("node:8 chip:4 core:8");
    machine.memory_bytes_per_s = 1e11;
    machine.chip_link_bytes_per_s = 3.6e11;
    machine.node_link_bytes_per_s = 1.6e11;
    machine
}

/// Commercial work: three quarters of what a thread touches others of its partition touch too.
fn commercial() -> Profile {
    Profile {
        miss_m0: 0.05,
        miss_c0_bytes: 32_768.0,
        sharing: 0.3,
        overlap: 0.25,
        footprint_common: 0.75,
        ..plain_profile(1e6)
    }
}

/// Data beside all chips of some books.
fn of(name: &str, books: &[u16], profile: Profile) -> Partition {
    let chips: Vec<u16> = books
        .iter()
        .flat_map(|book| 4 * book..4 * book + 4)
        .collect();
    let mut one = partition(name, dedicated(0..1, false), loops(1));
    one.memory = vec![memory(&chips, 40 * GIB)];
    one.data_bytes = 40 * GIB;
    one.profile = profile;
    one
}

/// So many cores busy, evenly over all chips of some books.
fn on(books: &[u16], cores: f64) -> Vec<f64> {
    let mut row = vec![0.0; 32];
    for chip in books.iter().flat_map(|book| 4 * book..4 * book + 4) {
        row[usize::from(chip)] = cores / books.len() as f64 / 4.0;
    }
    row
}

/// Time of an instruction of the first of some partitions, each on its books with so many cores.
fn ns(parts: &[(&[u16], f64, Profile)]) -> f64 {
    let names = ["a", "b", "c"];
    let named = names.iter().zip(parts);
    let partitions = named.map(|(name, (books, _, profile))| of(name, books, profile.clone()));
    // Each partition states cores that it has; which are busy is told apart.
    let mut partitions: Vec<Partition> = partitions.collect();
    for (at, one) in (0u16..).zip(&mut partitions) {
        one.processors = dedicated(at..at + 1, false);
    }
    let busy: Vec<Vec<f64>> = parts.iter().map(|(books, n, _)| on(books, *n)).collect();
    let prices = price(&spec(books(), partitions), &busy).unwrap_or_else(|fault| panic!("{fault}"));
    prices[0].cost.expect("busy cores").ns
}

const ALL: [u16; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

#[test]
fn scattering_never_wins_where_it_fits() {
    for cores in [8.0, 16.0, 24.0, 32.0, 40.0, 64.0, 128.0] {
        let mut last = 0.0;
        for count in [1, 2, 4, 8]
            .into_iter()
            .filter(|count| cores <= 32.0 * f64::from(*count))
        {
            let here = ns(&[(&ALL[..count as usize], cores, commercial())]);
            assert!(
                here >= last,
                "{cores} cores on {count} books: {here} {last}"
            );
            last = here;
        }
    }
}

#[test]
fn a_pair_on_a_book_loses_the_more_the_more_it_does() {
    let mut last = 0.0;
    for cores in [1.0, 4.0, 8.0, 12.0, 16.0] {
        let alone = ns(&[(&[0], cores, commercial())]);
        let pair = ns(&[(&[0], cores, commercial()), (&[0], cores, commercial())]);
        let apart = ns(&[(&[0], cores, commercial()), (&[1], cores, commercial())]);
        assert!(
            (apart / alone - 1.0).abs() < 1e-9,
            "books of their own have nothing in common"
        );
        let loss = pair / alone - 1.0;
        assert!(loss > last && loss < 0.08, "{cores}: {loss}");
        last = loss;
    }
}

#[test]
fn a_neighbour_takes_what_it_brings_in() {
    let alone = ns(&[(&[0], 8.0, commercial())]);
    let idle = Profile {
        miss_m0: 0.0,
        sharing: 0.0,
        ..commercial()
    };
    let beside = |profile: Profile| ns(&[(&[0], 8.0, commercial()), (&[0], 8.0, profile)]);
    assert!(
        (beside(idle) / alone - 1.0).abs() < 1e-9,
        "who misses nothing takes nothing"
    );
    let mut last = alone;
    for m0 in [0.005, 0.02, 0.05, 0.1] {
        let here = beside(Profile {
            miss_m0: m0,
            ..commercial()
        });
        assert!(here > last, "{m0}: {here} {last}");
        last = here;
    }
}

#[test]
fn strangers_lose_more_to_each_other_than_those_who_share_data() {
    let with = |common: f64| Profile {
        footprint_common: common,
        sharing: 0.0,
        ..commercial()
    };
    let loss = |common: f64| ns(&[(&[0], 32.0, with(common))]) / ns(&[(&[0], 4.0, with(common))]);
    assert!(loss(0.0) > loss(0.5) && loss(0.5) > loss(1.0));
}

/// Nothing but a working set that is touched evenly.
fn with_set(mib: f64, common: f64) -> Profile {
    Profile {
        working_set_bytes: mib * 1_048_576.0,
        working_set_touches: if mib > 0.0 { 0.01 } else { 0.0 },
        footprint_common: common,
        ..plain_profile(1e6)
    }
}

#[test]
fn a_working_set_fits_or_does_not() {
    let alone = |mib| ns(&[(&[0], 4.0, with_set(mib, 0.0))]);
    // A core's own caches hold it.
    assert_eq!(alone(0.0), ns(&[(&[0], 4.0, plain_profile(1e6))]));
    let [inside, chip, half, beyond] = [0.01, 24.0, 64.0, 6_400.0].map(alone);
    assert!(inside < chip && chip < half && half < beyond);
    // A hundred times what there is: nearly all its touches go to memory, of which half are spared
    // where there is room for half of the lines.
    let memory = 0.01 * 100.0;
    assert!((beyond - 1.0) / memory > 0.9, "{beyond}");
    assert!(chip - 1.0 < 0.5 * (half - 1.0), "{chip} {half}");
}

#[test]
fn sets_of_ones_own_push_each_other_out_and_a_common_one_does_not() {
    let grows = |common| {
        let of = |cores| ns(&[(&[0], cores, with_set(24.0, common))]);
        of(32.0) / of(4.0)
    };
    assert!(grows(0.0) > 1.2, "{}", grows(0.0));
    assert!((grows(1.0) - 1.0).abs() < 1e-6, "{}", grows(1.0));
}

#[test]
fn who_brings_much_in_pushes_a_set_out_the_more_the_more_it_does() {
    let alone = ns(&[(&[0], 4.0, with_set(24.0, 0.0))]);
    let mut last = alone;
    for cores in [2.0, 8.0, 16.0, 28.0] {
        let here = ns(&[
            (&[0], 4.0, with_set(24.0, 0.0)),
            (&[0], cores, commercial()),
        ]);
        assert!(here > last, "{cores}: {here} {last}");
        last = here;
    }
    let apart = ns(&[(&[0], 4.0, with_set(24.0, 0.0)), (&[1], 28.0, commercial())]);
    assert!((apart / alone - 1.0).abs() < 1e-9);
}

#[test]
fn a_set_that_just_does_not_fit_settles() {
    let mut one = partition("a", dedicated(0..4, false), loops(4));
    one.profile = with_set(12.0, 0.0);
    let mut two = partition("b", dedicated(4..8, false), loops(4));
    two.profile = commercial();
    let mut spec = spec(machine("core:8"), vec![one, two]);
    spec.warmup_ns = 500_000_000;
    let outcome = run(&spec, 0);
    for of in [0, 1] {
        let done = outcome.partition.series("partition", of, "instructions");
        let (most, least) = (done.iter().max().unwrap(), done.iter().min().unwrap());
        assert!((*most as f64) < 1.01 * *least as f64, "{least} to {most}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Nobody gains by a neighbour, on the same book or on another, and none by more of itself.
    #[test]
    fn neighbours_never_give(
        cores in 0.5..16.0_f64,
        others in 0.1..16.0_f64,
        home in 0u16..8,
        common in 0.0..1.0_f64,
        exponent in 0.3..0.7_f64,
        m0 in 0.001..0.1_f64,
        set in prop::sample::select(vec![0.0, 8e6, 64e6]),
    ) {
        let work = Profile {
            footprint_common: common,
            miss_exponent: exponent,
            sharing: 0.0,
            working_set_bytes: set,
            working_set_touches: if set > 0.0 { 0.01 } else { 0.0 },
            ..commercial()
        };
        let other = Profile { miss_m0: m0, ..work.clone() };
        let alone = ns(&[(&[0], cores, work.clone())]);
        let beside = ns(&[(&[0], cores, work.clone()), (&[home], others, other)]);
        prop_assert!(beside >= alone * (1.0 - 1e-9), "{beside} {alone}");
        let more = ns(&[(&[0], 1.01 * cores, work)]);
        prop_assert!(more >= alone * (1.0 - 1e-9) && more < 1.02 * alone, "{more} {alone}");
    }
}
