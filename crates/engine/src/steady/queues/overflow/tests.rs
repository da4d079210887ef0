//! Who finds no core of a group, in cases whose answer is known.

use super::*;

#[test]
fn nobody_is_lost_where_all_fit() {
    let few = Offered {
        mean: 3.9,
        variance: 0.1,
        most: 4.0,
        ..Offered::default()
    };
    assert_eq!((few.lost(4.0), few.beyond(4.0)), (0.0, 0.0));
}

#[test]
fn a_number_that_never_varies_loses_what_does_not_fit() {
    let many = Offered {
        mean: 10.0,
        variance: 0.0,
        most: 10.0,
        ..Offered::default()
    };
    assert!((many.lost(8.0) - 0.2).abs() < 1e-12);
}

fn come(mean: f64, stay_ns: f64) -> Offered {
    Offered {
        mean,
        variance: mean,
        most: 100.0,
        hurry: mean / stay_ns,
        moves: mean,
        entitled: mean,
    }
}

fn thrown(mean: f64, entitled: f64) -> Offered {
    Offered {
        mean,
        variance: 0.0,
        most: mean,
        entitled: entitled * mean,
        ..Offered::default()
    }
}

/// Shares that are away of those that come and of those that may be thrown off.
fn by_window(stay_ns: f64, entitled: f64) -> [f64; 2] {
    let mut groups = Groups::new(1);
    groups.open(0, 8.0);
    groups.add(0, [0.0, 1.0, 0.0, 0.0], come(3.0, stay_ns));
    groups.add(0, [0.0, 0.0, 1.0, 0.0], thrown(8.0, entitled));
    groups.close_by_window(0, 1e7, 0.0);
    [1, 2].map(|rank| groups.shares[0][rank][0])
}

#[test]
fn the_more_often_the_number_of_those_who_come_is_new_the_more_are_thrown_off() {
    let away = [1e9, 1e6, 1e5, 1e4].map(|stay_ns| by_window(stay_ns, 0.1)[1]);
    assert!(
        away.windows(2).all(|pair| pair[1] > pair[0] + 0.02),
        "{away:?}"
    );
    // Where it hardly changes as many are away as are there of the others.
    assert!((away[0] - 3.0 / 8.0).abs() < 0.05, "{away:?}");
}

#[test]
fn who_is_entitled_for_longer_is_thrown_off_less_and_more_of_who_come_find_none() {
    let found = [0.1, 0.5, 0.9].map(|entitled| by_window(1e5, entitled));
    for pair in found.windows(2) {
        assert!(
            pair[1][0] > pair[0][0] && pair[1][1] < pair[0][1],
            "{found:?}"
        );
    }
}

#[test]
fn one_alone_always_finds_a_core() {
    let mut groups = Groups::new(1);
    groups.open(0, 4.0);
    let one = Offered {
        mean: 0.9,
        variance: 0.09,
        most: 1.0,
        ..Offered::default()
    };
    groups.add(0, [0.0, 1.0, 0.0, 0.0], one);
    groups.add(0, [1.0, 0.0, 0.0, 0.0], thrown(3.0, 1.0));
    groups.close(0);
    assert!(groups.finds_none(0) < 1e-6);
    // Beside four that always have work it never does.
    groups.add(0, [1.0, 0.0, 0.0, 0.0], thrown(1.0, 1.0));
    groups.close(0);
    assert!(groups.finds_none(0) > 0.99);
}

/// Against the chain of how many of so many are at home and how many elsewhere, each busy for
/// such a part of the time: who comes takes a core at home while one is idle, else another one
/// until it leaves.
#[test]
fn as_many_are_elsewhere_as_in_the_chain_of_those_that_come_and_go() {
    let chain = [
        (8.0, 9.0, 0.9, 0.101),
        (8.0, 10.0, 0.65, 0.064),
        (8.0, 10.0, 0.9, 0.184),
        (8.0, 12.0, 0.5, 0.062),
        (8.0, 12.0, 0.8, 0.261),
        (8.0, 16.0, 0.8, 0.426),
        (24.0, 30.0, 0.9, 0.163),
        (2.0, 6.0, 0.5, 0.490),
        (1.0, 2.0, 0.8, 0.480),
    ];
    for (cores, count, busy, away) in chain {
        let mut groups = Groups::new(1);
        groups.open(0, cores);
        let all = Offered {
            mean: count * busy,
            variance: count * busy * (1.0 - busy),
            most: count,
            ..Offered::default()
        };
        groups.add(0, [0.0, 1.0, 0.0, 0.0], all);
        let none = groups.finds_none(0);
        assert!((none / away - 1.0).abs() < 0.2, "{cores} {count} {none}");
    }
}

#[test]
fn while_nobody_is_beyond_his_entitlement_all_find_none_as_often() {
    let lost = |all_within: f64| {
        let mut groups = Groups::new(1);
        groups.open(0, 8.0);
        groups.add(0, [0.0, 1.0, 0.0, 0.0], come(4.0, 1e5));
        groups.add(0, [0.0, 0.0, 0.0, 1.0], come(6.0, 1e5));
        groups.close_by_window(0, 1e7, all_within);
        [1, 3].map(|rank| groups.shares[0][rank][0])
    };
    let [never, half, always] = [0.0, 0.5, 1.0].map(lost);
    assert!((always[0] - always[1]).abs() < 1e-12, "{always:?}");
    assert!(never[0] + 0.1 < half[0] && half[0] + 0.1 < always[0]);
    for [entitled, beyond] in [half, always] {
        let all = 4.0 * entitled + 6.0 * beyond;
        assert!((all - 4.0 * never[0] - 6.0 * never[1]).abs() < 1e-9);
    }
}

/// Twelve cores, comers on so many of them, and twelve that have them in such a part of each
/// window: shares of the comers that find none, and of the others that find one.
fn by_turns(mean: f64, turn: f64) -> [f64; 2] {
    let mut groups = Groups::new(1);
    groups.open(0, 12.0);
    let each = come(mean, 1e5);
    groups.add(0, [0.0, 1.0, 0.0, 0.0], each);
    let by_turns = Offered {
        mean: 12.0 * turn,
        most: 12.0,
        ..Offered::default()
    };
    groups.add(0, [0.0, 0.0, 1.0, 0.0], by_turns);
    groups.close(0);
    groups.add_beginning(0, turn, 12.0);
    [groups.finds_none(0), groups.kept_by_turns(0, turn)]
}

#[test]
fn those_that_work_by_turns_take_what_is_left_when_their_turn_begins() {
    let [never, some, longer] = [1e-9, 0.5, 0.8].map(|turn| by_turns(3.0, turn));
    assert!(never[0] < 1e-3, "{never:?}");
    assert!(
        some[0] < longer[0] && longer[0] < 0.8,
        "{some:?} {longer:?}"
    );
    assert!((longer[1] - 9.0 / 12.0).abs() < 0.02, "{longer:?}");
    // Of more that come more are there when the turn begins.
    assert!(by_turns(6.0, 0.8)[1] < longer[1]);
}

#[test]
fn while_all_that_come_are_entitled_more_are_thrown_off() {
    let away = |entitled: Option<f64>| {
        let mut groups = Groups::new(1);
        groups.open(0, 8.0);
        groups.add(0, [0.0, 0.4, 0.0, 0.6], come(5.0, 1e5));
        groups.add(0, [0.0, 0.0, 1.0, 0.0], thrown(6.0, 0.1));
        if let Some(entitled) = entitled {
            let mut all = come(5.0, 1e5);
            all.entitled = entitled * all.mean;
            groups.add_at_first(0, all);
        }
        groups.close_by_window(0, 1e7, 0.0);
        groups.shares[0][2][0]
    };
    let [none, before, short, long] = [None, Some(0.05), Some(0.4), Some(0.9)].map(away);
    assert_eq!(none, before);
    assert!(short > none + 0.1 && long >= short, "{none} {short} {long}");
}

/// Away of `sources` that have work for such a share of the time, by those at work, if whoever
/// finds no server stays elsewhere until it is done: the balance of all states, by turns.
fn exactly_away(sources: usize, servers: usize, share: f64) -> f64 {
    let begin = share / (1.0 - share);
    let most = sources - servers;
    let mut chance = vec![vec![1.0; most + 1]; servers + 1];
    for _ in 0..4_000 {
        for home in 0..=servers {
            for away in 0..=most {
                let idle = (sources - home - away) as f64;
                let out = idle * begin * f64::from(u8::from(home + away < sources))
                    + (home + away) as f64;
                let mut comes = 0.0;
                if home > 0 {
                    comes += chance[home - 1][away] * (idle + 1.0) * begin;
                }
                if home == servers && away > 0 {
                    comes += chance[home][away - 1] * (idle + 1.0) * begin;
                }
                if home < servers {
                    comes += chance[home + 1][away] * (home + 1) as f64;
                }
                if away < most {
                    comes += chance[home][away + 1] * (away + 1) as f64;
                }
                chance[home][away] = comes / out.max(1e-300);
            }
        }
    }
    let (mut at_work, mut gone) = (0.0, 0.0);
    for (home, row) in chance.iter().enumerate() {
        for (away, chance) in row.iter().enumerate() {
            at_work += chance * (home + away) as f64;
            gone += chance * away as f64;
        }
    }
    gone / at_work
}

/// By how much is told too much or too few, as a part of what is exact, and the same of Erlang's
/// formula alone.
fn off(sources: usize, servers: usize, share: f64) -> [f64; 2] {
    let exact = exactly_away(sources, servers, share);
    let mean = sources as f64 * share;
    let all = Offered {
        mean,
        variance: mean * (1.0 - share),
        most: sources as f64,
        moves: mean,
        ..Offered::default()
    };
    // Of what never comes and goes nobody is away for longer.
    let erlang = Offered { moves: 0.0, ..all };
    [all, erlang].map(|of| of.lost(servers as f64) / exact - 1.0)
}

#[test]
fn those_that_stay_away_are_as_many_as_the_states_balance() {
    let many = [(60, 32, 0.55), (60, 40, 0.7), (40, 32, 0.8), (24, 16, 0.7)];
    let few = [
        (10, 8, 0.9),
        (20, 16, 0.9),
        (16, 8, 0.5),
        (12, 4, 0.8),
        (30, 8, 0.6),
    ];
    for (sources, servers, share) in many {
        let [told, erlang] = off(sources, servers, share);
        assert!(told.abs() < 0.09, "{sources} {servers} {told}");
        assert!(erlang < 1.7 * told.min(0.0) - 0.05, "{erlang} {told}");
    }
    for (sources, servers, share) in few {
        let [told, erlang] = off(sources, servers, share);
        assert!(told.abs() < 0.08, "{sources} {servers} {told}");
        assert!(told.abs() < erlang.abs(), "{erlang} {told}");
    }
}

/// Part of so many that begin a window together that finds one of eight cores, of which others
/// that stay have some.
fn kept(begin: f64, stay: f64) -> f64 {
    let mut groups = Groups::new(1);
    groups.open(0, 8.0);
    groups.add(0, [1.0, 0.0, 0.0, 0.0], thrown(stay, 1.0));
    let all = thrown(begin, 1.0);
    groups.add(0, [0.0, 0.0, 0.0, 1.0], all.part(0.25));
    groups.add_beginning(0, 0.25, begin);
    groups.close_by_window(0, 1e7, 0.0);
    groups.kept_at_beginning(0, 0.25)
}

#[test]
fn who_has_the_longest_slice_is_there_first_when_a_window_begins() {
    let mut groups = Groups::new(1);
    groups.open(0, 8.0);
    for (slice, count) in [(0.2, 4.0), (0.5, 6.0), (0.3, 4.0)] {
        groups.add_beginning(0, slice, count);
    }
    let kept = [0.5, 0.3, 0.2].map(|slice| groups.kept_at_beginning(0, slice));
    assert_eq!(kept, [1.0, 0.5, 0.0]);
}

#[test]
fn of_those_that_begin_together_as_many_are_there_as_find_a_core_at_once() {
    // However little of the window they run for.
    assert!((kept(24.0, 0.0) - 1.0 / 3.0).abs() < 1e-9);
    assert!((kept(24.0, 4.0) - 1.0 / 6.0).abs() < 1e-9);
    assert!((kept(4.0, 2.0) - 1.0).abs() < 1e-9);
}
