//! What competitors get that compute without end: all there is, by the rules of their platform.

use crate::common::platform::Platform::{self, Credit2, Dedicated, Linux, PowerVm, PrSm, Zvm};
use crate::common::platform::{ALL, SHARING};
use crate::common::race::{entitled, runner, water_fill, Race};
use crate::common::random::races;
use crate::common::{assert_all, run, told};
use crate::random;

/// Something that must hold of what each got.
pub struct Rule {
    /// What it is called.
    pub name: &'static str,
    /// Why it must hold.
    pub why: &'static str,
    /// For whom.
    pub on: &'static [Platform],
    /// Panics where it does not.
    pub holds: fn(&Race, &[f64]),
}

#[rustfmt::skip] // A table.
pub const OF_A_RACE: [Rule; 3] = [
    Rule { name: "work conserved", on: &ALL, holds: all_is_used,
        why: "no core idles while somebody has a thread for it" },
    Rule { name: "equal shares", on: &ALL, holds: equals_are_treated_alike,
        why: "nothing tells equal competitors apart but their order" },
    Rule { name: "weights", on: &SHARING, holds: weights_are_shares,
        why: "weights are what the platform promises" },
];

/// Cores that may be lost: a turn in ten seconds. Run queues of credit2 even out averages of a
/// second only, so that a queue may go empty beside one in which somebody waits.
fn lost(race: &Race) -> f64 {
    match race.platform {
        Credit2 if race.chips > 1 => 0.02 * f64::from(race.capacity()),
        _ => 1e-3,
    }
}

/// By how much a share may be off over ten seconds: whole windows for hypervisors, turns of
/// milliseconds for schedulers of threads. Who is light by more than two in credit2 is off by more,
/// since credit that is handed out anew is no more for whoever waited longer, and has few turns.
fn tolerance(race: &Race) -> f64 {
    let weights = || race.runners.iter().map(|one| f64::from(one.weight));
    let (least, most) = (
        weights().fold(f64::MAX, f64::min),
        weights().fold(0.0, f64::max),
    );
    match race.platform {
        PowerVm | PrSm | Dedicated => 0.01,
        Credit2 if most > 2.0 * least => 0.08,
        // Timers that are late by chance decide who waits when all run out of credit at once.
        Credit2 => 0.04,
        Zvm | Linux => 0.02,
    }
}

fn all_is_used(race: &Race, used: &[f64]) {
    let (all, wanted) = (used.iter().sum::<f64>(), race.wanted().iter().sum::<f64>());
    assert!(
        (all - wanted).abs() <= lost(race),
        "{all} cores of {wanted}"
    );
}

pub fn equals_are_treated_alike(race: &Race, used: &[f64]) {
    for (one, first) in race.runners.iter().zip(used) {
        for (other, second) in race.runners.iter().zip(used) {
            let alike = one != other || (second / first - 1.0).abs() <= tolerance(race);
            assert!(alike, "{used:?}");
        }
    }
}

pub fn weights_are_shares(race: &Race, used: &[f64]) {
    let wanted = race.wanted();
    for (got, wanted) in used.iter().zip(&wanted) {
        let off = got / wanted - 1.0;
        assert!(off.abs() <= tolerance(race), "{used:?} of {wanted:?}");
    }
}

/// Runs a race and checks all of it.
fn assert_shares(race: &Race) {
    let (spec, platform) = (race.spec(), race.platform);
    let outcome = run(&spec, 0);
    assert_all(&spec, &outcome);
    let used = race.used(&outcome);
    for rule in OF_A_RACE.iter().filter(|rule| rule.on.contains(&platform)) {
        if rule.name == "work conserved" || race.promises_shares() {
            told(rule.name, rule.why, || (rule.holds)(race, &used));
        }
    }
}

random! {
    races => assert_shares;
    powervm: PowerVm, 32;
    prsm: PrSm, 32;
    cores_of_ones_own: Dedicated, 8;
    zvm: Zvm, 32;
    linux: Linux, 32;
    xen: Credit2, 32;
}

#[test]
fn one_domain_more_than_processors_waits_in_turn() {
    for cores in [2, 4, 8] {
        let equals = vec![runner(1, 256); usize::from(cores) + 1];
        assert_shares(&Race::on(Credit2, cores, equals));
    }
}

#[test]
fn excess_of_powervm_is_shared_by_weight() {
    let races = [
        (
            8,
            vec![
                entitled(16, 32, 1.6),
                entitled(16, 16, 1.7),
                entitled(16, 255, 1.6),
            ],
        ),
        (4, vec![entitled(8, 1, 0.5), entitled(8, 255, 0.5)]),
        (2, vec![entitled(3, 128, 0.2); 5]),
    ];
    for (cores, runners) in races {
        let race = Race::on(PowerVm, cores, runners);
        assert_shares(&race);
    }
}

#[test]
fn what_one_leaves_goes_to_the_others_in_proportion() {
    // 10 to share 1:2:2; the first wants 1, the second 3, the third everything.
    let given = water_fill(10.0, &[1.0, 2.0, 2.0], &[1.0, 3.0, 100.0]);
    assert_eq!(given, vec![1.0, 3.0, 6.0]);
    // Nobody wants all, then all want more, then nobody has a weight.
    assert_eq!(water_fill(10.0, &[1.0, 1.0], &[2.0, 3.0]), vec![2.0, 3.0]);
    assert_eq!(water_fill(9.0, &[1.0, 2.0], &[50.0, 50.0]), vec![3.0, 6.0]);
    assert_eq!(water_fill(4.0, &[0.0], &[1.0]), vec![0.0]);
}
