//! Work that windows leave for the next ones, where each brings more than comes on the mean.

use crate::steady::queues::chances::{above, mean_beyond};

/// Work that is left when a window is over, on the mean, in deviations of what comes in one, where
/// windows bring so many deviations more than comes: the greatest of the sums of normal numbers
/// with that mean below nothing (Spitzer 1956).
pub(in crate::steady) fn left_by_windows(spare: f64) -> f64 {
    if spare < 1.0 {
        let squared = spare * spare;
        let near = 0.5 / spare.max(1e-9) - 0.582_597 + 0.25 * spare;
        return near - 0.041_468 * squared + 0.000_424 * squared * squared;
    }
    let of = |windows: i32| {
        let root = f64::from(windows).sqrt();
        mean_beyond(0.0, 1.0, spare * root) / root
    };
    (1..=WINDOWS).map(of).sum()
}

/// Chance that a window leaves any work, by the same (Spitzer 1956).
pub(in crate::steady) fn left_at_all(spare: f64) -> f64 {
    let of = |windows: i32| {
        let windows = f64::from(windows);
        above(spare * windows.sqrt()) / windows
    };
    1.0 - (-(1..=WINDOWS).map(of).sum::<f64>()).exp()
}

/// Windows that are looked at: what more than these bring is hardly ever exceeded.
const WINDOWS: i32 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_windows_are_those_that_were_added_up() {
        // By hand, of 1 / sqrt(k) times the mean of a normal number beyond sqrt(k) spare.
        for (spare, told) in [(0.5_f64, 0.532), (1.0, 0.126), (2.0, 0.0090)] {
            let of = left_by_windows(spare);
            assert!((of - told).abs() < 0.02 * told + 1e-3, "{spare}: {of}");
        }
        let each = [0.05, 0.3, 0.8, 0.999, 1.001, 1.5, 3.0].map(left_by_windows);
        assert!(each.windows(2).all(|two| two[0] > two[1]), "{each:?}");
        assert!((each[3] - each[4]).abs() < 2e-3);
    }

    #[test]
    fn a_window_leaves_some_more_often_the_less_it_has_to_spare() {
        // By hand: with one deviation to spare 1 - exp(-(.159 + .079 / 2 + .042 / 3 + ...)).
        assert!(
            (left_at_all(1.0) - 0.199).abs() < 0.01,
            "{}",
            left_at_all(1.0)
        );
        let each = [0.0, 0.2, 0.5, 1.0, 2.0].map(left_at_all);
        assert!(
            each.windows(2).all(|two| two[0] > two[1]) && each[0] < 1.0,
            "{each:?}"
        );
    }
}
