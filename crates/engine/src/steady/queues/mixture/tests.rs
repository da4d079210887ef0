use super::*;
use crate::steady::queues::chain;

/// A workload whose bursts take so long on processors of one thread.
fn stream(arrivals: Arrivals, ns: f64) -> Stream {
    let mut all = [0.0; THREADS];
    all[1] = ns;
    Stream {
        arrivals,
        ns: all,
        before: Load::default(),
    }
}

#[test]
fn one_workload_is_the_chain_of_one() {
    let filled = Filled::single(3);
    let mut rates = [0.0; THREADS];
    rates[1] = 0.5;
    for arrivals in [
        Arrivals::Open(1.2),
        Arrivals::Closed(9.0, 4.0),
        Arrivals::Always(2.0, 1.0),
    ] {
        let alone = chain::load(arrivals, &rates, filled, &[], f64::INFINITY);
        let (all, each) = loads(&[stream(arrivals, 2.0)], filled, &[]);
        for found in [&all, &each[0]] {
            assert!((found.vps - alone.vps).abs() < 1e-6, "{arrivals:?}");
            assert!(
                (found.runnable - alone.runnable).abs() < 1e-5,
                "{arrivals:?}"
            );
            assert!((found.bursts_per_ns - alone.bursts_per_ns).abs() < 1e-7);
        }
        assert!((all.vps_variance - alone.vps_variance).abs() < 1e-5);
    }
}

#[test]
fn two_that_are_alike_are_one() {
    let filled = Filled::single(2);
    let open = |rate| stream(Arrivals::Open(rate), 1.0);
    let (one, _) = loads(&[open(1.5)], filled, &[]);
    let (both, each) = loads(&[open(0.5), open(1.0)], filled, &[]);
    assert!((one.runnable - both.runnable).abs() < 1e-9);
    assert!((each[1].runnable - 2.0 * each[0].runnable).abs() < 1e-9);
    let users = |count| stream(Arrivals::Closed(count, 3.0), 1.0);
    let (one, _) = loads(&[users(12.0)], filled, &[]);
    let (both, each) = loads(&[users(4.0), users(8.0)], filled, &[]);
    assert!((one.runnable - both.runnable).abs() < 1e-9);
    assert!((each[1].runnable - 2.0 * each[0].runnable).abs() < 1e-9);
}

/// Users and strangers on two processors against all states of the two numbers: flows in and
/// out of each are equal.
#[test]
fn it_is_the_product_form() {
    let (count, away, own) = (3_u32, 5.0_f64, 2.0_f64);
    let (rate, theirs) = (0.3, 1.0);
    let speed = |n: u32| f64::from(n.min(2));
    let mut states = Vec::new();
    let factorial = |n: u32| -> f64 { (1..=n).map(f64::from).product() };
    for users in 0..=count {
        for others in 0..60 {
            let n = users + others;
            let paths = factorial(n) / factorial(users) / factorial(others);
            let speeds: f64 = (1..=n).map(speed).product();
            let chosen: f64 = (0..users).map(|at| f64::from(count - at)).product();
            let weight = paths / speeds
                * chosen
                * (own / away).powi(users as i32)
                * f64::powi(rate * theirs, others as i32);
            states.push((users, others, weight));
        }
    }
    let all: f64 = states.iter().map(|(.., weight)| weight).sum();
    let users: f64 = states.iter().map(|(n, _, p)| f64::from(*n) * p).sum();
    let others: f64 = states.iter().map(|(_, n, p)| f64::from(*n) * p).sum();
    let streams = [
        stream(Arrivals::Closed(count.into(), away), own),
        stream(Arrivals::Open(rate), theirs),
    ];
    let (_, each) = loads(&streams, Filled::single(2), &[]);
    assert!((each[0].runnable - users / all).abs() < 1e-7);
    assert!((each[1].runnable - others / all).abs() < 1e-7);
    assert!((each[1].bursts_per_ns - rate).abs() < 1e-8);
}

/// Users and strangers on one processor by all states of the two numbers: mean numbers of each.
fn by_all_states((count, by_away): (u32, f64), offered: f64) -> (f64, f64) {
    let logs: Vec<f64> = (0..2000_u32)
        .scan(0.0, |sum, n| {
            *sum += f64::from(n.max(1)).ln();
            Some(*sum)
        })
        .collect();
    let (mut all, mut users, mut others) = (0.0, 0.0, 0.0);
    for own in 0..=count {
        for theirs in 0..1500_u32 {
            let (k, m) = (own as usize, theirs as usize);
            let paths = logs[k + m] - logs[k] - logs[m];
            let chosen = logs[count as usize] - logs[(count - own) as usize];
            let weights = f64::from(own) * by_away.ln() + f64::from(theirs) * offered.ln();
            let p = (paths + chosen + weights - logs[count as usize]).exp();
            all += p;
            users += p * f64::from(own);
            others += p * f64::from(theirs);
        }
    }
    (users / all, others / all)
}

/// Strangers beside users who keep the processor busy: what comes of those few that are away
/// could not be told by those of a thread less, and queues without end were.
#[test]
fn users_who_leave_nothing_idle_let_strangers_through() {
    for by_away in [0.5, 12.0 / 7.0, 40.0, 1000.0] {
        for offered in [0.05, 0.3, 0.6, 0.9] {
            for count in [3_u32, 11, 40] {
                let streams = [
                    stream(Arrivals::Closed(count.into(), 1.0 / by_away), 1.0),
                    stream(Arrivals::Open(offered), 1.0),
                ];
                let (all, each) = loads(&streams, Filled::single(1), &[]);
                let (users, others) = by_all_states((count, by_away), offered);
                let told = (each[0].runnable, each[1].runnable);
                let near = |one: f64, other: f64| (one - other).abs() < 5e-3 * other + 1e-6;
                assert!(
                    near(told.0, users) && near(told.1, others),
                    "{count} {by_away} {offered}: {told:?} for {users} and {others}"
                );
                assert!(all.vps <= 1.0 + 1e-9);
                let done = each[1].bursts_per_ns / offered;
                assert!(
                    (done - 1.0).abs() < 1e-3,
                    "{count} {by_away} {offered}: {done}"
                );
            }
        }
    }
}

#[test]
fn what_always_has_work_takes_what_is_left() {
    // One processor: a batch of one thread, and strangers that take a fifth of it.
    let streams = [
        stream(Arrivals::Always(1.0, 1.0), 10.0),
        stream(Arrivals::Open(0.2), 1.0),
    ];
    let (all, each) = loads(&streams, Filled::single(1), &[]);
    assert!((all.vps - 1.0).abs() < 1e-9);
    assert!((each[0].bursts_per_ns - 0.08).abs() < 1e-9);
    assert!((each[1].vps - 0.2).abs() < 1e-9);
}

#[test]
fn more_than_can_go_takes_all() {
    let streams = [
        stream(Arrivals::Always(1.0, 1.0), 10.0),
        stream(Arrivals::Open(1.2), 1.0),
    ];
    let (all, each) = loads(&streams, Filled::single(1), &[]);
    assert!(all.overrun && each[1].overrun && !each[0].overrun);
    assert_eq!((each[0].vps, each[1].vps), (0.0, 1.0));
}
