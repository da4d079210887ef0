//! The wait for a lock against its plain twins: the state probabilities of the closed queue added
//! up, and small queues by hand.

use homenode_engine::cost::lock;
use homenode_engine::spec::LockKind::{self, Queue, Ticket};
use proptest::prelude::*;

/// The birth and death process of `n` threads, as it stands in a textbook: with k of them at the
/// lock, p(k) = p(k-1) (n - k + 1) s(k) / outside, where s(k) is the holding time and the
/// hand-over to one of k; the rest follows from Little's law.
fn by_states(kind: LockKind, n: u32, outside: f64, held: f64, transfer: f64) -> f64 {
    let service = |k: u32| match kind {
        Ticket => held + transfer + transfer * (f64::from(k) - 1.0) / 2.0,
        _ => held + transfer,
    };
    let mut weights = vec![1.0_f64];
    for k in 1..=n {
        let last = weights[k as usize - 1];
        weights.push(last * f64::from(n - k + 1) * service(k) / outside);
        // Only ratios count; products leave the range of a number.
        if weights[k as usize] > 1e100 {
            weights.iter_mut().for_each(|weight| *weight /= 1e100);
        }
    }
    let states = || weights.iter().zip(0..).skip(1);
    let at_the_lock: f64 = states().map(|(w, k)| w * f64::from(k)).sum();
    let rate: f64 = states().map(|(w, k)| w / service(k)).sum();
    at_the_lock / rate - service(1)
}

/// How often `n` threads together take the lock.
fn throughput(kind: LockKind, n: f64, outside: f64, held: f64, transfer: f64) -> f64 {
    n / (outside + held + transfer + lock::wait_ns(kind, n, outside, held, transfer))
}

/// The wait for the lock that gets slower with each waiter.
fn wait_ns(n: f64, outside: f64, held: f64, transfer: f64) -> f64 {
    lock::wait_ns(Ticket, n, outside, held, transfer)
}

/// Mean value analysis of one exponential station and a delay, which knows no states (Reiser and
/// Lavenberg 1980): throughput of `n` customers.
fn repairman(n: u32, outside: f64, service: f64) -> f64 {
    let (mut queue, mut rate) = (0.0, 0.0);
    for customers in 1..=n {
        let stay = service * (1.0 + queue);
        rate = f64::from(customers) / (outside + stay);
        queue = rate * stay;
    }
    rate
}

#[test]
fn states_of_two_threads_by_hand() {
    // outside 3, held 1: weights 1, 2/3, 2/9; 10/17 waiting or holding at a rate of 8/17.
    assert!((by_states(Ticket, 2, 3.0, 1.0, 0.0) - 0.25).abs() < 1e-12);
    assert!((wait_ns(2.0, 3.0, 1.0, 0.0) - 0.25).abs() < 1e-15);
    // With a transfer of 1: a turn takes 2, and 2.5 if one waits. Weights 1, 4/3, 10/9; 32/31 at
    // the lock at a rate of 10/31: 3.2 for each.
    assert!((by_states(Ticket, 2, 3.0, 1.0, 1.0) - 1.2).abs() < 1e-12);
    assert!((wait_ns(2.0, 3.0, 1.0, 1.0) - 1.2).abs() < 1e-15);
}

#[test]
fn saturation_is_the_asymptote_of_a_closed_queue() {
    // 100 threads, each 9 outside for 1 with the lock: a round takes 100, of which 10 are its own.
    assert!((wait_ns(100.0, 9.0, 1.0, 0.0) - 90.0).abs() < 1e-6);
    // Where all but the holder wait, a turn takes 1 + 1 (1 + 399/2).
    let turns = throughput(Ticket, 400.0, 9.0, 1.0, 1.0);
    assert!((turns * 201.5 - 1.0).abs() < 1e-3, "{turns}");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_means_are_those_of_the_sum_over_the_states(
        kind in prop::sample::select(vec![Queue, Ticket]),
        n in 1u32..300,
        outside in 1.0..1e5_f64,
        held in 1.0..1e4_f64,
        transfer in prop::sample::select(vec![0.0, 0.0, 1.0, 50.0, 400.0]),
    ) {
        let fast = lock::wait_ns(kind, f64::from(n), outside, held, transfer);
        let plain = by_states(kind, n, outside, held, transfer);
        // The plain sum loses digits where a small wait is the difference of large times.
        let scale = plain.abs() + 1e-3 * (outside + held);
        prop_assert!((fast - plain).abs() < 1e-9 * scale, "{fast} {plain}");
    }

    #[test]
    fn more_threads_longer_holding_and_longer_ways_never_wait_less(
        n in 1.0..200.0_f64,
        outside in 0.0..1e5_f64,
        held in 1.0..1e4_f64,
        transfer in 0.0..1e3_f64,
    ) {
        let wait = wait_ns(n, outside, held, transfer);
        // At most, all others are served before.
        let others = n.ceil() - 1.0;
        let longest = others * (held + transfer + 0.5 * transfer * (others + 1.0));
        prop_assert!(wait >= 0.0 && wait <= longest * (1.0 + 1e-12));
        let more = 1.0 - 1e-12;
        prop_assert!(wait_ns(n + 0.3, outside, held, transfer) >= wait * more);
        prop_assert!(wait_ns(n, outside, held * 1.1, transfer) >= wait * more);
        prop_assert!(wait_ns(n, outside, held, transfer * 1.1) >= wait * more);
    }

    /// Hand-overs take up the time outside of all threads where `transfer n^2 / 2` is that time:
    /// beyond, throughput falls, however short the lock is held.
    #[test]
    fn a_lock_that_is_handed_over_among_many_collapses(
        critical in 20.0..100.0_f64,
        transfer in 1.0..100.0_f64,
        held in 0.0..1.0_f64,
    ) {
        let outside = 0.5 * transfer * critical * critical;
        let rate = |n, transfer| throughput(Ticket, n, outside, held * transfer, transfer);
        let before = rate(0.5 * critical, transfer);
        let beyond = rate(10.0 * critical, transfer);
        prop_assert!(beyond < 0.5 * before, "{before} {beyond}");
        // In a queue it never does.
        let queue = |n| throughput(Queue, n, outside, held * transfer, transfer);
        prop_assert!(queue(10.0 * critical) >= queue(0.5 * critical));
    }

    /// A queue lock is a station that serves one after the other; what it serves saturates.
    #[test]
    fn a_queue_lock_is_the_machine_repairmans(
        n in 1u32..300,
        outside in 1.0..1e5_f64,
        held in 1.0..1e4_f64,
        transfer in 0.0..1e3_f64,
    ) {
        let ours = |n: u32| throughput(Queue, f64::from(n), outside, held, transfer);
        let theirs = repairman(n, outside, held + transfer);
        prop_assert!((ours(n) / theirs - 1.0).abs() < 1e-9, "{} {theirs}", ours(n));
        prop_assert!(ours(n + 1) >= ours(n) * (1.0 - 1e-12));
        prop_assert!(ours(n) * (held + transfer) <= 1.0 + 1e-12);
    }
}
