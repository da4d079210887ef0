//! Random streams: their distributions within computed bands, and their independence.
//!
//! Seeds are fixed, so a band is either always kept or never. Four and a half standard errors are
//! left by chance once in 150,000 tests.

use homenode_engine::kernel::{Stream, Time};
use proptest::prelude::*;

const DRAWS: usize = 1_000_000;
const ERRORS: f64 = 4.5;

fn stream(name: &str) -> Stream {
    Stream::new(42, 0, name)
}

/// Whether a value lies within the band of its standard error.
fn assert_near(value: f64, expected: f64, standard_error: f64) {
    let errors = (value - expected) / standard_error;
    assert!(
        errors.abs() < ERRORS,
        "{value} is {errors:.1} standard errors from {expected}"
    );
}

/// Mean, and mean of the squared deviations from the expected mean.
fn moments(expected: f64, draws: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for x in draws {
        n += 1.0;
        sum += x;
        squares += (x - expected).powi(2);
    }
    (sum / n, squares / n)
}

/// Chi-square of counts that should be equal, against its mean `k - 1` and variance `2 (k - 1)`.
fn assert_even(counts: &[u64]) {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    let square = |&count: &u64| (count as f64 - expected).powi(2) / expected;
    let freedom = counts.len() as f64 - 1.0;
    assert_near(
        counts.iter().map(square).sum(),
        freedom,
        (2.0 * freedom).sqrt(),
    );
}

#[test]
fn the_first_draws_never_change() {
    let mut bits = Stream::new(1, 0, "arrivals");
    let expected: [u64; 4] = [
        4_954_737_666_442_268_509,
        7_802_279_611_069_557_132,
        9_764_107_863_587_606_300,
        8_391_502_058_190_080_739,
    ];
    assert_eq!(std::array::from_fn(|_| bits.next_u64()), expected);
    let mut times = Stream::new(1, 0, "arrivals");
    let expected: [u64; 6] = [698_788, 644_722, 2_000_419, 254_337, 1_714_987, 201_393];
    let mean = Time::from_ms(1);
    assert_eq!(
        std::array::from_fn(|_| times.exponential_time(mean).as_ns()),
        expected
    );
}

#[test]
fn bytes_are_even() {
    for shift in (0..64).step_by(8) {
        let mut stream = stream("bytes");
        let mut counts = [0; 256];
        for _ in 0..DRAWS {
            counts[(stream.next_u64() >> shift) as usize % 256] += 1;
        }
        assert_even(&counts);
    }
}

#[test]
fn uniform_has_its_mean_and_variance() {
    let mut stream = stream("uniform");
    let n = DRAWS as f64;
    let (mean, variance) = moments(0.5, (0..DRAWS).map(|_| stream.uniform()));
    assert_near(mean, 0.5, (1.0 / 12.0 / n).sqrt());
    // Fourth central moment 1/80.
    assert_near(
        variance,
        1.0 / 12.0,
        ((1.0 / 80.0 - 1.0 / 144.0) / n).sqrt(),
    );
}

#[test]
fn chance_has_its_probability() {
    let mut stream = stream("chance");
    let hits = (0..DRAWS).filter(|_| stream.chance(0.3)).count() as f64;
    assert_near(hits / DRAWS as f64, 0.3, (0.21 / DRAWS as f64).sqrt());
}

#[test]
fn exponential_has_its_mean_variance_and_shape() {
    let mut stream = stream("exponential");
    let draws: Vec<f64> = (0..DRAWS).map(|_| stream.exponential(2.0)).collect();
    let n = DRAWS as f64;
    let (mean, variance) = moments(2.0, draws.iter().copied());
    assert_near(mean, 2.0, 2.0 / n.sqrt());
    // Fourth central moment 9, of mean 1; the variance scales with the square of the mean.
    assert_near(variance, 4.0, 4.0 * (8.0 / n).sqrt());
    let mut counts = [0; 100];
    draws
        .iter()
        .for_each(|x| counts[((-x / 2.0).exp() * 100.0) as usize] += 1);
    assert_even(&counts);
}

#[test]
fn the_tail_of_the_exponential_is_one() {
    let mut stream = stream("tail");
    let from = 7.697_117_470_131_05;
    let tail: Vec<f64> = (0..20 * DRAWS)
        .map(|_| stream.exponential(1.0))
        .filter(|&x| x > from)
        .collect();
    let (n, share) = (20.0 * DRAWS as f64, f64::exp(-from));
    assert_near(tail.len() as f64, n * share, (n * share).sqrt());
    let (mean, _) = moments(1.0, tail.iter().map(|x| x - from));
    assert_near(mean, 1.0, 1.0 / (tail.len() as f64).sqrt());
}

#[test]
fn geometric_has_its_mean_and_first_probabilities() {
    let mut stream = stream("geometric");
    let draws: Vec<u64> = (0..DRAWS).map(|_| stream.geometric(4.0)).collect();
    let n = DRAWS as f64;
    // Probability 1/4 of a success: variance (1 - p)/p^2 = 12.
    let (mean, _) = moments(4.0, draws.iter().map(|&k| k as f64));
    assert_near(mean, 4.0, (12.0 / n).sqrt());
    for (k, p) in [(1, 0.25), (2, 0.1875), (3, 0.140_625)] {
        let count = draws.iter().filter(|&&draw| draw == k).count() as f64;
        assert_near(count / n, p, (p * (1.0 - p) / n).sqrt());
    }
}

#[test]
fn below_is_even_and_stays_below() {
    for bound in [1, 6, 100] {
        let mut stream = stream("below");
        let mut counts = vec![0; bound];
        (0..DRAWS).for_each(|_| counts[stream.below(bound as u64) as usize] += 1);
        if bound > 1 {
            assert_even(&counts);
        }
    }
    // Three quarters of all 64-bit numbers: one draw in four has to be repeated.
    let mut stream = stream("below");
    let bound = 3 << 62;
    let mean = (0..DRAWS)
        .map(|_| stream.below(bound) as f64 / bound as f64)
        .sum::<f64>();
    assert_near(mean / DRAWS as f64, 0.5, (1.0 / 12.0 / DRAWS as f64).sqrt());
}

#[test]
fn streams_are_not_correlated() {
    let streams = [
        Stream::new(1, 0, "a"),
        Stream::new(1, 0, "b"),
        Stream::new(1, 0, "ab"),
        Stream::new(1, 1, "a"),
        Stream::new(2, 0, "a"),
        Stream::new(0, 1, "a"),
    ];
    let draws = streams
        .map(|mut stream| -> Vec<f64> { (0..DRAWS).map(|_| stream.uniform() - 0.5).collect() });
    for (i, left) in draws.iter().enumerate() {
        for right in &draws[..i] {
            let products = left.iter().zip(right).map(|(x, y)| 12.0 * x * y);
            assert_near(
                products.sum::<f64>() / DRAWS as f64,
                0.0,
                1.0 / (DRAWS as f64).sqrt(),
            );
        }
        let next = left.windows(2).map(|pair| 12.0 * pair[0] * pair[1]);
        assert_near(
            next.sum::<f64>() / DRAWS as f64,
            0.0,
            1.0 / (DRAWS as f64).sqrt(),
        );
    }
}

proptest! {
    #[test]
    fn a_stream_does_not_feel_the_others(
        seed in any::<u64>(),
        name in "[a-z0-9 ]{0,12}",
        others in prop::collection::vec(0..5u8, 0..50),
    ) {
        let mut alone = Stream::new(seed, 3, &name);
        let mut among = Stream::new(seed, 3, &name);
        let mut other = Stream::new(seed, 3, &format!("{name}'"));
        for draws in others {
            (0..draws).for_each(|_| { other.exponential(1.0); });
            prop_assert_eq!(alone.next_u64(), among.next_u64());
            prop_assert_eq!(alone.exponential(5.0), among.exponential(5.0));
            prop_assert_ne!(alone.clone().next_u64(), other.next_u64());
        }
    }

    #[test]
    fn draws_stay_in_their_range(seed in any::<u64>(), mean in 1.0..1e6f64, bound in 1..u64::MAX) {
        let mut stream = Stream::new(seed, 0, "range");
        for _ in 0..20 {
            prop_assert!((0.0..1.0).contains(&stream.uniform()));
            prop_assert!(stream.exponential(mean) >= 0.0);
            prop_assert!(stream.geometric(mean) >= 1);
            prop_assert!(stream.below(bound) < bound);
        }
    }
}
