//! Histograms against the sorted list of what they counted.

use homenode_engine::kernel::{Histogram, Time};
use proptest::prelude::*;

/// Times over the whole range, most of them short.
fn times() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(
        (any::<u64>(), 1..64u32).prop_map(|(ns, shift)| ns >> shift),
        1..300,
    )
}

fn histogram(times: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    times
        .iter()
        .for_each(|&ns| histogram.record(Time::from_ns(ns)));
    histogram
}

/// All that a histogram tells.
fn story(histogram: &Histogram) -> impl PartialEq + std::fmt::Debug {
    let quantiles: Vec<_> = (0..=100)
        .map(|i| histogram.quantile(f64::from(i) / 100.0))
        .collect();
    (
        histogram.count(),
        histogram.sum_ns(),
        histogram.min(),
        histogram.max(),
        quantiles,
    )
}

proptest! {
    #[test]
    fn quantiles_are_within_a_thousandth(mut times in times(), share in 0.0..=1.0f64) {
        let histogram = histogram(&times);
        times.sort_unstable();
        let rank = (share * times.len() as f64).ceil() as usize;
        let exact = times[rank.max(1) - 1] as f64;
        let quantile = histogram.quantile(share).unwrap().as_ns_f64();
        prop_assert!((quantile - exact).abs() <= exact * 1e-3, "{} for {}", quantile, exact);
    }

    #[test]
    fn sums_and_bounds_are_exact(times in times()) {
        let histogram = histogram(&times);
        let sum: u128 = times.iter().map(|&ns| u128::from(ns)).sum();
        prop_assert_eq!((histogram.count(), histogram.sum_ns()), (times.len() as u64, sum));
        prop_assert_eq!(histogram.min().unwrap().as_ns(), *times.iter().min().unwrap());
        prop_assert_eq!(histogram.max().unwrap().as_ns(), *times.iter().max().unwrap());
        prop_assert_eq!(histogram.mean_ns().unwrap(), sum as f64 / times.len() as f64);
    }

    #[test]
    fn merging_equals_counting_together(left in times(), right in times()) {
        let mut merged = histogram(&left);
        merged.merge(&histogram(&right));
        merged.merge(&Histogram::new());
        prop_assert_eq!(story(&merged), story(&histogram(&[left, right].concat())));
    }
}

#[test]
fn a_cleared_histogram_is_a_new_one() {
    let mut histogram = histogram(&[5, 7_000_000]);
    histogram.clear();
    assert_eq!(story(&histogram), story(&Histogram::new()));
}
