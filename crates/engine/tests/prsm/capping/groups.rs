//! Groups whose members have caps of their own, or work for some of their logical cores only.

use homenode_engine::kernel::Stream;
use homenode_engine::spec::Polarization;

use super::lpar::{as_filled, as_filled_within, busy, used, Lpar, CORES};
use crate::common::random::Dice;

/// Random frames of each kind.
const FRAMES: u64 = 16;

/// A member of one group, or a partition outside. Those have as many logical cores as there are
/// cores: with few ones they could not make up for having waited while members were within theirs.
fn lpar(dice: &mut Dice, member: bool, capping: bool) -> Lpar {
    let cores = if member {
        dice.between(2, CORES)
    } else {
        CORES
    };
    let mut of = busy(100 * dice.between(1, 5), cores);
    of.cap = (member && dice.chance(2)).then(|| dice.real(0.3, 4.0));
    of.capped = capping && dice.chance(3);
    of.group = member.then_some(0);
    of
}

fn frame(seed: u64, capping: bool, some: bool) -> (Vec<Lpar>, f64) {
    let mut stream = Stream::new(seed, 0, "groups");
    let row: Vec<u16> = (0..100).map(|_| stream.below(65536) as u16).collect();
    let mut dice = Dice::new(&row);
    let (members, others) = (dice.between(2, 4), dice.between(0, 2));
    let all = (0..members + others).map(|at| lpar(&mut dice, at < members, capping));
    let mut all: Vec<Lpar> = all.collect();
    let vertical = dice.chance(2);
    for of in &mut all {
        of.busy = if some && of.group.is_some() && dice.chance(2) {
            dice.between(0, of.cores)
        } else {
            of.cores
        };
        if vertical {
            of.polarization = Polarization::Vertical;
        }
    }
    (all, dice.real(1.0, 9.0))
}

fn random(capping: bool, some: bool, off_at_most: f64) {
    let mut off = Vec::new();
    for seed in 0..FRAMES {
        let (lpars, cap) = frame(seed, capping, some);
        let caught =
            std::panic::catch_unwind(|| as_filled_within(off_at_most, "random", &lpars, &[cap]));
        if caught.is_err() {
            off.push((seed, lpars, cap));
        }
    }
    assert!(off.is_empty(), "{} off: {off:#?}", off.len());
}

#[test]
fn random_groups_with_caps_of_members() {
    random(false, false, 0.02);
}

#[test]
fn random_groups_with_initial_capping() {
    random(true, false, 0.02);
}

/// What logical cores without work leave of a group comes over the whole window. Late in it members
/// wait for cores until others have held them for a quantum, so that some of that is lost.
#[test]
fn random_groups_with_work_for_some_logical_cores() {
    random(false, true, 0.06);
}

/// Of equal weight: what a member's own cap leaves of the group is there for the other, whether
/// somebody outside wants more as well or not.
#[test]
fn who_is_held_by_its_own_cap_holds_nobody_of_its_group_back() {
    for cap in [0.5, 1.0, 2.0] {
        for outside in [2, CORES] {
            let frame = [
                busy(100, 12).of(0).below(cap),
                busy(100, 12).of(0),
                busy(100, outside),
            ];
            as_filled(&format!("{cap} beside {outside}"), &frame, &[7.0]);
        }
    }
    let heavy = [
        busy(100, 8).of(0).below(1.5),
        busy(500, 8).of(0).below(1.5),
        busy(500, 8),
    ];
    as_filled("a heavy one at its cap", &heavy, &[3.0]);
}

/// A group's cap cuts the slices of all logical cores by the same part, in either polarization.
/// What one without work leaves is there for all of the group that want more, by weight, its own
/// partition among them (IBM, "Processing weight management"): 1/2 + 1/2 x 1/3.
#[test]
fn of_what_a_logical_core_leaves_its_partition_has_its_weight() {
    let pair = [busy(100, 2).with(1).of(0), busy(200, 12).of(0)];
    let vertical = |of: Lpar| Lpar {
        polarization: Polarization::Vertical,
        ..of
    };
    for pair in [pair, pair.map(vertical)] {
        let got = used(&pair, &[3.0]);
        assert!((got[0] - 2.0 / 3.0).abs() < 0.01, "{got:?}");
        assert!((got[1] - 7.0 / 3.0).abs() < 0.03, "{got:?}");
        let [a, b] = pair;
        as_filled(
            "beside others",
            &[
                a,
                b,
                Lpar {
                    group: None,
                    weight: 300,
                    ..b
                },
            ],
            &[3.0],
        );
    }
}
