//! How many virtual processors of a capped partition run at once.
//!
//! They have so much of each window together, and stop until the next one when they have used it
//! up. Where bursts are long beside a window they wait as if there were no more processors than the
//! cap says. Where they are short more may run for a while if fewer do in the rest of the window,
//! so that as many stop as want more in a whole window, over which their number varies by less:
//!
//! ```text
//! at once = mean + (cap - mean) / sqrt(f)         f = 2 r (1 - r (1 - exp(-1/r)))
//! ```
//! with `r` bursts by the window, `f` being the variance of the mean over a window of what forgets
//! exponentially, by its own.

/// The least of `sqrt(f)` that is looked at: of shorter bursts all windows want the same.
const LEAST: f64 = 1e-3;

/// Work that comes to a partition that may use no more than `cap` cores: cores that it uses, and
/// the time that a burst takes of one [ns].
#[derive(Clone, Copy, Debug)]
pub(in crate::steady) struct Capped {
    pub cap: f64,
    pub mean: f64,
    pub burst_ns: f64,
    pub window_ns: f64,
}

impl Capped {
    /// Virtual processors that run at once at most, on the mean.
    pub fn at_once(self) -> f64 {
        let varies = varies_over(self.burst_ns / self.window_ns);
        self.mean + (self.cap - self.mean).max(0.0) / varies.sqrt().clamp(LEAST, 1.0)
    }
}

/// The variance of the mean over a window of what forgets exponentially within `ratio` windows, by
/// its own.
pub(in crate::steady) fn varies_over(ratio: f64) -> f64 {
    let ratio = ratio.clamp(1e-9, 1e6);
    2.0 * ratio * (1.0 - ratio * -(-1.0 / ratio).exp_m1())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_once(mean: f64, burst_ns: f64) -> f64 {
        let capped = Capped {
            cap: 4.0,
            mean,
            burst_ns,
            window_ns: 1e7,
        };
        capped.at_once()
    }

    #[test]
    fn long_bursts_have_the_cap_and_the_shorter_they_are_the_more_run_at_once() {
        assert!((at_once(2.0, 1e10) - 4.0).abs() < 1e-2);
        let each = [1e8, 1e7, 1e6, 1e5].map(|burst_ns| at_once(2.0, burst_ns));
        assert!(each[0] > 4.0 && each.windows(2).all(|two| two[0] < two[1]));
    }

    #[test]
    fn at_its_cap_no_more_run_than_that_however_short_bursts_are() {
        assert_eq!(at_once(4.0, 1e5), 4.0);
        assert_eq!(at_once(4.0, 1e10), 4.0);
        assert!(at_once(3.9, 1e5) < at_once(2.0, 1e5));
    }
}
