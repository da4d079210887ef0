//! PR/SM: initial capping, absolute caps and groups beside each other, against exact water-filling
//! by weight.

mod groups;
mod lpar;

use homenode_engine::spec::Polarization;
use lpar::{as_filled, busy, capped, used, Lpar};

#[test]
fn initial_capping_is_a_cap_at_the_weight_and_a_group_lends_up_to_it() {
    let idle = capped(500, 12).idle().of(0);
    for cores in [4, 12] {
        for group in [1.2, 1.8, 2.4, 3.6, 8.0, 12.0] {
            let what = format!("{cores} cores in {group}");
            as_filled(&what, &[idle, capped(100, cores).of(0)], &[group]);
        }
    }
    for (idle, busy) in [(900, 100), (300, 300), (100, 500)] {
        let pair = [capped(idle, 12).idle().of(0), capped(busy, 12).of(0)];
        as_filled(&format!("{idle} {busy}"), &pair, &[3.6]);
    }
}

/// Eight cores that twelve logical cores use up early in each time slice, at their weight or at
/// their group's cap: five others have the four that are left on the mean.
#[test]
fn what_ends_early_in_a_slice_leaves_the_rest_of_all_of_it() {
    let idle = busy(300, 12).idle();
    as_filled("capped", &[capped(800, 12), busy(100, 5), idle], &[]);
    let group = [busy(800, 12).of(0), busy(100, 5), idle];
    as_filled("in a group", &group, &[8.0]);
}

#[test]
fn members_with_work_keep_their_part_of_the_group() {
    let one = capped(100, 12).of(0);
    for other in [capped(500, 12), busy(500, 12), busy(500, 2), busy(500, 1)] {
        as_filled("two", &[other.of(0), one], &[3.6]);
    }
    let idle = capped(400, 12).idle().of(0);
    for group in [1.5, 3.0, 5.0, 7.0] {
        let what = format!("three in {group}");
        as_filled(&what, &[idle, one, busy(100, 12).of(0)], &[group]);
        as_filled(&what, &[idle, one, capped(200, 12).of(0)], &[group]);
    }
}

#[test]
fn several_groups_and_absolute_caps_beside() {
    let idle = capped(500, 12).idle();
    let pairs = [
        idle.of(0),
        capped(100, 12).of(0),
        busy(500, 12).idle().of(1),
        capped(100, 12).of(1),
    ];
    as_filled("two groups", &pairs, &[3.6, 0.8]);
    for cap in [0.3, 1.0, 1.7, 3.0] {
        let pair = [idle.of(0), capped(100, 12).of(0).below(cap)];
        as_filled(&format!("below {cap}"), &pair, &[3.6]);
    }
    let outside = [idle.of(0), capped(100, 12).of(0), busy(600, 12)];
    as_filled("beside others", &outside, &[3.6]);
}

#[test]
fn in_vertical_polarization_as_well() {
    let vertical = |of: Lpar| Lpar {
        polarization: Polarization::Vertical,
        ..of
    };
    for group in [1.8, 3.6] {
        let pair = [capped(400, 12).idle().of(0), capped(200, 4).of(0)];
        as_filled("vertical", &pair.map(vertical), &[group]);
    }
}

/// A logical core has its part of the weight, whatever its siblings do with theirs.
#[test]
fn one_busy_logical_core_has_its_own_share_and_no_siblings() {
    let got = used(
        &[capped(100, 4).with(1).of(0), busy(500, 12).idle().of(0)],
        &[3.6],
    );
    assert!((got[0] - 0.5).abs() < 0.01, "{got:?}");
}
