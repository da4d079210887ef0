//! Per-entity load tracking: averages that forget half of what was 32 periods of 1024 us ago.

use super::halving::halved;
use crate::kernel::real;

/// Time in which an average forgets half [ns].
const HALF_LIFE: f64 = 32.0 * 1_024_000.0;

/// An average that follows a value which stays the same between two updates.
#[derive(Clone, Copy, Debug, Default)]
pub struct Average {
    value: f64,
    at: u64,
}

/// What is kept of an average over a time, as long as the same time is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kept {
    elapsed: u64,
    kept: f64,
}

impl Kept {
    #[inline]
    fn over(&mut self, elapsed: u64) -> f64 {
        if elapsed != self.elapsed {
            self.elapsed = elapsed;
            self.kept = halved(real(elapsed) / HALF_LIFE);
        }
        self.kept
    }
}

impl Average {
    /// An average that has been at `value` for long.
    pub fn at(value: f64, now: u64) -> Self {
        Self { value, at: now }
    }

    /// Brings the average up to `now`, with `target` the value since the last update.
    #[inline]
    pub fn update(&mut self, target: f64, now: u64) -> f64 {
        self.update_beside(target, now, &mut Kept::default())
    }

    /// The same right after another average, that was last up to date at the same time more often
    /// than not.
    #[inline]
    pub fn update_beside(&mut self, target: f64, now: u64, kept: &mut Kept) -> f64 {
        let elapsed = now.saturating_sub(self.at);
        if elapsed > 0 {
            self.at = now;
            if self.value != target {
                self.value = target + (self.value - target) * kept.over(elapsed);
            }
        }
        self.value
    }

    /// What it would be at `now`.
    pub fn peek(mut self, target: f64, now: u64) -> f64 {
        self.update(target, now)
    }

    /// What it was at the last update.
    #[inline]
    pub fn value(self) -> f64 {
        self.value
    }

    /// Bounds of what it may be now: it is on its way from what it was to its target.
    #[inline]
    pub fn bounds(self, target: f64) -> (f64, f64) {
        (self.value.min(target), self.value.max(target))
    }

    /// Time stood still for it: nothing is forgotten since the last update.
    pub fn skip(&mut self, now: u64) {
        self.at = now;
    }

    /// Adds what came, or takes off what went, at once.
    pub fn add(&mut self, change: f64) {
        self.value = (self.value + change).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_is_forgotten_in_32_periods_however_often_it_is_asked() {
        let mut once = Average::at(1024.0, 0);
        assert!((once.update(0.0, 32_768_000) - 512.0).abs() < 1e-9);
        let mut often = Average::at(1024.0, 0);
        (1..=64).for_each(|n| {
            often.update(0.0, n * 512_000);
        });
        assert!((often.peek(0.0, 32_768_000) - 512.0).abs() < 1e-6);
    }
}
