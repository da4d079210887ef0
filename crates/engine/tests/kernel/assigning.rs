//! Partitions placed on machines: each hard rule has a case that breaks without it, costs are
//! those from scratch after every move, and who searches with how many threads changes nothing.

use homenode_engine::kernel::Stream;
use homenode_engine::placement::{
    check, draw, place, Assignment, Balance, Known, Leaning, Limits, PlacementFault, Problem,
    Weights,
};

/// One resource, machines in a place of their own each, partitions in a service of their own.
fn plain(capacity: &[i64], requirement: &[i64], start: &[u32]) -> Problem {
    let (machines, partitions) = (capacity.len(), requirement.len());
    let numbers = |count: usize| (0..count as u32).collect::<Vec<u32>>();
    Problem {
        transient: vec![false],
        load_weight: vec![1],
        neighbourhood: vec![0; machines],
        location: numbers(machines),
        capacity: capacity.to_vec(),
        safety: capacity.to_vec(),
        way: vec![0; machines * machines],
        spread: vec![0; partitions],
        needs: vec![Vec::new(); partitions],
        service: numbers(partitions),
        requirement: requirement.to_vec(),
        move_cost: vec![0; partitions],
        balances: Vec::new(),
        weights: Weights::default(),
        start: start.to_vec(),
    }
}

fn best(problem: &Problem) -> (Vec<u32>, i64) {
    let limits = Limits {
        seed: 1,
        searches: 2,
        threads: 1,
        moves: Some(100_000),
    };
    let placed = place(problem, &limits, &mut |_, _| 0.0).expect("a sound start");
    assert_eq!(placed.cost, problem.cost(&placed.at));
    (placed.at, placed.cost)
}

/// A problem in which all that there is occurs, drawn so that its start is sound.
fn random(seed: u64) -> Problem {
    let mut dice = Stream::new(seed, 0, "problem");
    let mut up_to = |bound: u64| dice.below(bound) as i64;
    let (machines, partitions, services) = (6, 20, 12);
    let start: Vec<u32> = (0..partitions as u32).map(|one| one % machines).collect();
    let mut problem = Problem {
        transient: vec![false, true, false],
        load_weight: vec![10, 3, 1],
        neighbourhood: (0..machines).map(|at| at % 2).collect(),
        location: (0..machines).map(|at| at % 3).collect(),
        way: (0..machines * machines).map(|_| up_to(9) as u32).collect(),
        spread: vec![0; services],
        needs: vec![Vec::new(); services],
        service: (0..partitions as u32).map(|one| one * 3 / 5).collect(),
        requirement: (0..partitions * 3).map(|_| up_to(30)).collect(),
        move_cost: (0..partitions).map(|_| up_to(5)).collect(),
        balances: vec![Balance {
            first: 0,
            second: 2,
            target: 2,
            weight: 3,
        }],
        weights: Weights {
            partition: 2,
            service: 7,
            way: 3,
        },
        start,
        ..Problem::default()
    };
    for at in 0..machines as usize * 3 {
        let taken = problem.start.iter().enumerate();
        let of = taken.filter(|(_, &machine)| machine as usize == at / 3);
        let used: i64 = of.map(|(one, _)| problem.taken(one)[at % 3]).sum();
        problem.capacity.push(used + up_to(25));
        problem.safety.push(used * 3 / 4);
    }
    for service in 0..services {
        // As many locations as it has at the start, two at most.
        let who = problem.service.iter().zip(&problem.start);
        let own = who.filter(|(&of, _)| of as usize == service);
        let mut places: Vec<u32> = own.map(|(_, &at)| problem.location[at as usize]).collect();
        places.dedup();
        problem.spread[service] = places.len().min(2) as u32;
        // Services of one partition each: whom they depend on starts beside them.
        let own = problem
            .service
            .iter()
            .position(|&of| of as usize == service);
        let Some(beside) = own.and_then(|one| problem.service.get(one + 6)) else {
            continue;
        };
        if problem
            .service
            .iter()
            .filter(|&&of| of as usize == service)
            .count()
            == 1
        {
            problem.needs[service].push(*beside);
        }
    }
    problem
}

#[test]
fn costs_are_those_from_scratch_and_rules_hold_after_every_move() {
    let mut made = 0;
    for seed in 0..20 {
        let problem = random(seed);
        check(&problem).expect("a sound start");
        let mut now = Assignment::new(&problem);
        let mut dice = Stream::new(seed, 0, "moves");
        let known = Known::new(&problem);
        let leaning = Leaning {
            kin: seed % 2 == 1,
            heaviest: seed as usize % 3 * 5,
            away: seed % 4 < 2,
        };
        for _ in 0..5_000 {
            let Some(drawn) = draw(&now, &known, leaning, &mut dice) else {
                continue;
            };
            let Some(delta) = now.delta(drawn.steps()) else {
                continue;
            };
            if now.make(drawn.steps(), delta) {
                made += 1;
                assert_eq!(now.cost(), problem.cost(now.at()));
                assert_sound(&problem, now.at());
            }
        }
    }
    assert!(made > 1_000, "{made} moves");
}

/// All rules, read off the assignment alone.
fn assert_sound(problem: &Problem, at: &[u32]) {
    let (machines, kinds) = (problem.machines(), problem.resources());
    let mut held = vec![0; machines * kinds];
    for (one, (&now, &before)) in at.iter().zip(&problem.start).enumerate() {
        for kind in 0..kinds {
            held[now as usize * kinds + kind] += problem.taken(one)[kind];
            if problem.transient[kind] && now != before {
                held[before as usize * kinds + kind] += problem.taken(one)[kind];
            }
        }
    }
    assert!(held
        .iter()
        .zip(&problem.capacity)
        .all(|(held, there)| held <= there));
    let places = |service: u32, of: &dyn Fn(usize) -> u32| {
        let who = problem
            .service
            .iter()
            .zip(at)
            .filter(|(&one, _)| one == service);
        who.map(|(_, &machine)| of(machine as usize))
            .collect::<Vec<u32>>()
    };
    let distinct = |mut all: Vec<u32>| {
        all.sort_unstable();
        all.dedup();
        all.len()
    };
    for (service, needs) in problem.needs.iter().enumerate() {
        let on = places(service as u32, &|machine| machine as u32);
        assert_eq!(distinct(on.clone()), on.len());
        let spread = distinct(places(service as u32, &|machine| problem.location[machine]));
        assert!(on.is_empty() || spread >= problem.spread[service] as usize);
        let near = |machine: usize| problem.neighbourhood[machine];
        for other in needs {
            let there = places(*other, &near);
            assert!(places(service as u32, &near)
                .iter()
                .all(|at| there.contains(at)));
        }
    }
}

#[test]
fn every_search_ends_sound_and_no_dearer_than_it_began() {
    for seed in 0..5 {
        let problem = random(seed);
        let (at, cost) = best(&problem);
        assert_sound(&problem, &at);
        assert!(cost <= problem.cost(&problem.start));
    }
}

#[test]
fn threads_change_nothing() {
    let mut moved = 0;
    for seed in 0..6 {
        let problem = random(seed);
        let run = |threads| {
            let limits = Limits {
                seed,
                searches: 3,
                threads,
                moves: Some(60_000),
            };
            place(&problem, &limits, &mut |_, _| 0.0).expect("a sound start")
        };
        assert_eq!(run(1), run(3));
        assert_eq!(run(2), run(2));
        moved += usize::from(run(1).at != problem.start);
    }
    assert!(moved > 0, "nothing was found");
}

#[test]
fn the_watch_stops_it() {
    let mut asked = 0;
    let limits = Limits {
        seed: 1,
        searches: 1,
        threads: 1,
        moves: Some(u64::MAX / 2),
    };
    let placed = place(&random(1), &limits, &mut |_, _| {
        asked += 1;
        1.0
    });
    assert!(placed.is_ok());
    assert_eq!(asked, 1);
}

#[test]
fn load_above_safety_is_shared_out() {
    let mut problem = plain(&[10, 10], &[4, 4], &[0, 0]);
    problem.safety = vec![4, 4];
    assert_eq!(problem.cost(&[0, 0]), 4);
    assert_eq!(best(&problem).1, 0);
    // A move that costs more than it brings is not made; one that costs less is.
    problem.weights.partition = 1;
    problem.move_cost = vec![5, 5];
    assert_eq!(best(&problem), (vec![0, 0], 4));
    problem.move_cost = vec![5, 3];
    assert_eq!(best(&problem), (vec![0, 1], 3));
}

#[test]
fn capacity_is_kept() {
    let mut problem = plain(&[10, 3], &[4, 4], &[0, 0]);
    problem.safety = vec![0, 3];
    assert_eq!(best(&problem), (vec![0, 0], 8));
    problem.capacity[1] = 4;
    assert_eq!(best(&problem).1, 5);
}

#[test]
fn what_moves_away_holds_its_transient_resources() {
    // Two would change places; beside what the other still holds neither fits.
    let mut problem = plain(&[10, 10], &[6, 5], &[0, 1]);
    problem.safety = vec![5, 6];
    assert_eq!(best(&problem), (vec![1, 0], 0));
    problem.transient = vec![true];
    assert_eq!(best(&problem), (vec![0, 1], 1));
    problem.capacity = vec![11, 11];
    assert_eq!(best(&problem), (vec![1, 0], 0));
}

#[test]
fn nobody_is_sent_where_he_can_never_be() {
    let mut problem = plain(&[10, 10, 4], &[6, 5, 3], &[0, 1, 1]);
    let reach = |problem: &Problem| {
        let known = Known::new(problem);
        [0, 1, 2].map(|one| known.reach.of(one).to_vec())
    };
    assert_eq!(reach(&problem), [vec![0, 1], vec![0, 1], vec![0, 1, 2]]);
    // Of the second machine 8 are held for good.
    problem.transient = vec![true];
    assert_eq!(reach(&problem), [vec![0], vec![1], vec![0, 1, 2]]);
    // With so many machines a draw finds one soon.
    assert_eq!(
        reach(&plain(&[10; 200], &[1; 3], &[0; 3]))[0],
        Vec::<u32>::new()
    );
}

#[test]
fn the_heaviest_come_first() {
    let mut problem = plain(&[30], &[4, 9, 6], &[0, 0, 0]);
    let order = |problem: &Problem| Known::new(problem).burden.heaviest(3).to_vec();
    assert_eq!(order(&problem), [1, 2, 0]);
    assert_eq!(Known::new(&problem).burden.count(5.0), 2);
    // Weights of balances count as those of loads do.
    (problem.transient, problem.load_weight) = (vec![false; 2], vec![1, 0]);
    problem.capacity = vec![30, 30];
    problem.requirement = vec![4, 9, 9, 1, 6, 0];
    problem.balances.push(Balance {
        first: 0,
        second: 1,
        target: 1,
        weight: 10,
    });
    assert_eq!(order(&problem), [1, 0, 2]);
}

#[test]
fn partitions_of_a_service_stay_apart() {
    let mut problem = plain(&[10, 10], &[4, 4], &[0, 1]);
    problem.safety = vec![0, 8];
    assert_eq!(best(&problem), (vec![1, 1], 0));
    problem.service = vec![0, 0];
    assert_eq!(best(&problem).1, 4);
}

#[test]
fn a_service_stays_spread() {
    let mut problem = plain(&[10, 10, 10], &[4, 4], &[0, 1]);
    (problem.service, problem.location) = (vec![0, 0], vec![0, 1, 1]);
    problem.safety = vec![0, 8, 8];
    assert_eq!(best(&problem).1, 0);
    problem.spread[0] = 2;
    assert_eq!(best(&problem).1, 4);
}

#[test]
fn whom_a_service_depends_on_stays_near() {
    let mut problem = plain(&[10, 10, 4], &[4, 4], &[0, 0]);
    problem.safety = vec![4, 10, 4];
    problem.neighbourhood = vec![0, 1, 2];
    problem.weights.partition = 1;
    problem.move_cost = vec![3, 0];
    problem.safety[1] = 4;
    assert_eq!(best(&problem).1, 0);
    problem.needs[0] = vec![1];
    // Both together is no cheaper; apart is not allowed.
    assert_eq!(best(&problem).1, 4);
    // They go together, which no single move does.
    problem.safety[1] = 10;
    assert_eq!(best(&problem), (vec![1, 1], 3));
}

#[test]
fn unsound_starts_are_refused_by_what_is_broken() {
    let told = |problem: &Problem| check(problem).expect_err("unsound").to_string();
    let mut problem = plain(&[7, 10], &[4, 4], &[0, 0]);
    assert!(told(&problem).contains("machine 0 has 7 of resource 0, its partitions take 8"));
    problem.capacity[0] = 8;
    assert_eq!(check(&problem), Ok(()));
    problem.needs[0] = vec![1];
    (problem.start, problem.neighbourhood) = (vec![0, 1], vec![0, 1]);
    assert!(told(&problem).contains("service 0 is in neighbourhood 0 without service 1"));
    (problem.needs, problem.service) = (vec![Vec::new(); 2], vec![0, 0]);
    problem.spread[0] = 3;
    assert!(told(&problem).contains("service 0 is in 2 locations, it asks for 3"));
    (problem.start, problem.spread) = (vec![0, 0], vec![0, 0]);
    assert!(told(&problem).contains("machine 0 has more than one partition of service 0"));
    problem.service = vec![0, 2];
    assert!(told(&problem).contains("names 2; there are 2"));
    problem.service = vec![0, 1];
    problem.requirement[0] = -4;
    assert!(told(&problem).contains("is -4; it must be 0 or more"));
    problem.requirement = vec![1 << 61, 1 << 61];
    assert_eq!(check(&problem), Err(PlacementFault::Overflow));
    problem.move_cost.pop();
    assert!(told(&problem).contains("move_cost has 1 values, 2 are needed"));
}
