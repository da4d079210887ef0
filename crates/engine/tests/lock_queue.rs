//! The wait for a lock against its plain twins: the state probabilities of the closed queue added
//! up, and the published recursion by hand.

use homenode_engine::cost::lock::wait_ns;
use proptest::prelude::*;

/// The birth and death process of `n` threads, as it stands in a textbook: with k of them at the
/// lock, p(k) = p(0) n!/(n-k)! (held/outside)^k; the rest follows from Little's law.
fn by_states(n: u32, outside: f64, held: f64) -> f64 {
    let mut weights = vec![1.0_f64];
    for k in 0..n {
        let last = weights[k as usize];
        weights.push(last * f64::from(n - k) * held / outside);
        // Only ratios count; factorials leave the range of a number.
        if weights[k as usize + 1] > 1e100 {
            weights.iter_mut().for_each(|weight| *weight /= 1e100);
        }
    }
    let total: f64 = weights.iter().sum();
    let at_the_lock = weights.iter().zip(0..).map(|(w, k)| w * f64::from(k));
    let customers = at_the_lock.sum::<f64>() / total;
    let rate = (1.0 - weights[0] / total) / held;
    customers / rate - held
}

#[test]
fn states_of_two_threads_by_hand() {
    // outside 3, held 1: weights 1, 2/3, 2/9; 10/17 waiting or holding at a rate of 8/17.
    assert!((by_states(2, 3.0, 1.0) - 0.25).abs() < 1e-12);
    assert!((wait_ns(2.0, 3.0, 1.0) - 0.25).abs() < 1e-15);
}

#[test]
fn saturation_is_the_asymptote_of_a_closed_queue() {
    // 100 threads, each 9 outside for 1 with the lock: a round takes 100, of which 10 are its own.
    assert!((wait_ns(100.0, 9.0, 1.0) - 90.0).abs() < 1e-6);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_recursion_is_the_sum_over_the_states(
        n in 1u32..300,
        outside in 1.0..1e5_f64,
        held in 1.0..1e4_f64,
    ) {
        let (fast, plain) = (wait_ns(f64::from(n), outside, held), by_states(n, outside, held));
        // The plain sum loses digits where a small wait is the difference of large times.
        let scale = plain.abs() + 1e-3 * (outside + held);
        prop_assert!((fast - plain).abs() < 1e-9 * scale, "{fast} {plain}");
    }

    #[test]
    fn more_threads_and_longer_holding_never_wait_less(
        n in 1.0..200.0_f64,
        outside in 0.0..1e5_f64,
        held in 1.0..1e4_f64,
    ) {
        let wait = wait_ns(n, outside, held);
        prop_assert!(wait >= 0.0 && wait <= (n.ceil() - 1.0) * held * (1.0 + 1e-12));
        prop_assert!(wait_ns(n + 0.3, outside, held) >= wait);
        prop_assert!(wait_ns(n, outside, held * 1.1) >= wait);
    }
}
