//! Rolling average of a partition's use, against which its defined capacity is held.
//!
//! The average is kept in slots, as the service that takes it does (48 of five minutes make the
//! four hours), and the slot that is leaving counts for what is left of it.

use std::collections::VecDeque;

use crate::spec::DefinedCapacity;

/// Slots of the average.
const SLOTS: usize = 48;

/// A rolling average and the limit on it.
#[derive(Clone, Debug)]
pub struct RollingAverage {
    limit_cores: f64,
    slot_ns: f64,
    closed: VecDeque<f64>,
    used_ns: f64,
    elapsed_ns: f64,
}

impl RollingAverage {
    /// As if the partition had always used its starting average.
    pub fn new(defined: &DefinedCapacity) -> Self {
        let slot_ns = defined.window_ns as f64 / SLOTS as f64;
        Self {
            limit_cores: defined.cores,
            slot_ns,
            closed: vec![defined.start_cores * slot_ns; SLOTS].into(),
            used_ns: 0.0,
            elapsed_ns: 0.0,
        }
    }

    /// Adds what was used in a stretch of time [both ns].
    pub fn add(&mut self, used_ns: u64, elapsed_ns: u64) {
        let rate = used_ns as f64 / (elapsed_ns as f64).max(1.0);
        let mut left = elapsed_ns as f64;
        while left > 0.0 {
            let part = left.min(self.slot_ns - self.elapsed_ns);
            self.elapsed_ns += part;
            self.used_ns += part * rate;
            left -= part;
            if self.elapsed_ns >= self.slot_ns {
                self.closed.pop_front();
                self.closed.push_back(std::mem::take(&mut self.used_ns));
                self.elapsed_ns = 0.0;
            }
        }
    }

    /// Use over the window that ends now [cores].
    pub fn cores(&self) -> f64 {
        let leaving = self.closed[0] * (1.0 - self.elapsed_ns / self.slot_ns);
        let whole: f64 = self.closed.iter().skip(1).sum();
        (leaving + whole + self.used_ns) / (self.slot_ns * SLOTS as f64)
    }

    /// What the partition may use now [cores]: the defined capacity while the average is at or
    /// above it, else no limit.
    pub fn limit_cores(&self) -> Option<f64> {
        (self.cores() >= self.limit_cores * (1.0 - 1e-9)).then_some(self.limit_cores)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn average(cores: f64, start_cores: f64) -> RollingAverage {
        RollingAverage::new(&DefinedCapacity {
            cores,
            window_ns: 48_000,
            start_cores,
        })
    }

    #[test]
    fn starts_where_it_is_told_and_forgets_it_after_a_window() {
        let mut average = average(2.0, 1.0);
        assert!((average.cores() - 1.0).abs() < 1e-12);
        average.add(4 * 24_000, 24_000);
        assert!((average.cores() - 2.5).abs() < 1e-12);
        average.add(4 * 24_000, 24_000);
        assert!((average.cores() - 4.0).abs() < 1e-12);
    }

    #[test]
    fn limits_only_while_the_average_is_not_below() {
        let mut average = average(2.0, 0.0);
        average.add(4 * 23_500, 23_500);
        assert_eq!(average.limit_cores(), None);
        average.add(4 * 500, 500);
        assert_eq!(average.limit_cores(), Some(2.0));
        average.add(0, 1_000);
        assert_eq!(
            average.limit_cores(),
            Some(2.0),
            "only idle time leaves the window yet"
        );
        average.add(0, 30_000);
        assert_eq!(average.limit_cores(), None);
    }
}
