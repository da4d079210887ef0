//! Who finds whom beside it on a host's cores.

use super::*;
use crate::steady::queues::visits::left_at_one_of;

/// Eighteen cores of two threads, on which so many stay and others come and go.
fn some(staying: f64, coming: f64, each: f64) -> Crowded {
    Crowded {
        cpus: 36.0,
        busy: staying + coming * each,
        staying,
        coming,
        ..Crowded::default()
    }
}

#[test]
fn whoever_has_a_core_left_for_him_runs_alone() {
    assert_eq!(some(6.0, 12.0, 0.3).beside(2, (0.3, 1.0)), [0.0; 2]);
    assert_eq!(some(0.0, 18.0, 0.3).beside(2, (0.3, 1.0)), [0.0; 2]);
}

#[test]
fn where_those_that_stay_have_all_cores_who_comes_is_beside_them() {
    for staying in [18.0, 20.0, 30.0] {
        let [for_good, others] = some(staying, 3.0, 0.1).beside(2, (0.1, 1.0));
        assert!((for_good - 1.0).abs() < 1e-9 && others < 1e-9, "{staying}");
    }
}

#[test]
fn a_thread_for_each_processor_finds_any_of_the_others() {
    let [for_good, others] = some(0.0, 36.0, 0.3).beside(2, (0.3, 1.0));
    assert!(for_good == 0.0 && (others - 0.3).abs() < 1e-9, "{others}");
}

#[test]
fn more_that_stay_more_that_come_and_busier_ones_are_met_more_often() {
    let met = |staying, coming, each| -> f64 {
        let found: [f64; 2] = some(staying, coming, each).beside(2, (each, 1.0));
        found.iter().sum()
    };
    let rises = |chances: [f64; 4]| {
        assert!(
            chances.windows(2).all(|pair| pair[0] < pair[1]),
            "{chances:?}"
        );
    };
    rises([10.0, 12.0, 15.0, 17.0].map(|staying| met(staying, 9.0, 0.2)));
    rises([9.0, 11.0, 15.0, 26.0].map(|coming| met(10.0, coming, 0.2)));
    rises([0.1, 0.2, 0.4, 0.8].map(|each| met(4.0, 20.0, each)));
}

/// Chance that nobody has come to a processor meanwhile, with so many for good beside eight
/// that work and rest for 20 us.
fn untouched(for_good: f64) -> f64 {
    let coming = Stay {
        cores: 4.0,
        stay_ns: 20e3,
        away_ns: 20e3,
    };
    let all = Crowded {
        variance: 2.0,
        stays: [Vec::new(), vec![coming]],
        ..some(for_good, 8.0, 0.5)
    };
    let comers = all.take_idle(2);
    let chances: f64 = comers.iter().map(|(chance, _)| chance).sum();
    assert!((chances - 1.0).abs() < 1e-9);
    left_at_one_of(&comers, 20e3, f64::INFINITY).untouched
}

#[test]
fn whoever_comes_takes_a_free_core_but_where_hardly_one_is_free_goes_back() {
    // Of ten idle cores hardly one has been taken, of two each.
    let [many, few] = [4.0, 12.0].map(untouched);
    assert!(many > 0.95 && few < 0.6, "{many} {few}");
    // Those that are free now and then are taken, but one's own is hardly ever one of them.
    let rises = [13.0, 14.0, 16.0, 17.0].map(untouched);
    assert!(rises.windows(2).all(|two| two[0] < two[1]), "{rises:?}");
    assert!(rises[3] > 0.95, "{rises:?}");
}
