//! Average load, of a run queue or of one unit: how many were runnable, the older the less.
//!
//! Xen keeps it in fixed point. In a step of `d` of a window of `w` the average moves to
//! `avg + d (load - avg) / w`, and one that is older than a window is forgotten. Time counts in
//! grains of 1024 ns, and a runnable unit is 2^18.

/// Grain of time, as a shift of nanoseconds (`LOADAVG_GRANULARITY_SHIFT`).
const GRAIN_SHIFT: u32 = 10;
/// One runnable unit is 2^this (`LOADAVG_PRECISION_SHIFT`).
const ONE_SHIFT: u32 = 18;
/// One unit runnable all the time.
pub const ONE: i64 = 1 << ONE_SHIFT;

/// A running average of the number of runnable units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// The average, in 2^-18 units.
    pub average: i64,
    updated: u64,
}

impl Load {
    /// One that has been so high.
    pub fn of(average: i64) -> Self {
        Self {
            average,
            updated: 0,
        }
    }

    /// Takes `runnable` units since the last update into the average; the window is
    /// `2^window_shift` ns.
    pub fn update(&mut self, runnable: i64, now_ns: u64, window_shift: u8) {
        let now = now_ns >> GRAIN_SHIFT;
        let shift = u32::from(window_shift).saturating_sub(GRAIN_SHIFT);
        let step = now - self.updated;
        self.updated = now;
        let newest = runnable << ONE_SHIFT;
        if step >= 1 << shift {
            self.average = newest;
        } else {
            let step = step as i64;
            self.average += ((step * newest) >> shift) - ((step * self.average) >> shift);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1 << 30;

    #[test]
    fn half_a_window_moves_it_half_of_the_way() {
        let mut load = Load::default();
        load.update(2, SECOND / 2, 30);
        assert_eq!(load.average, ONE);
        load.update(0, SECOND, 30);
        assert_eq!(load.average, ONE / 2);
    }

    #[test]
    fn a_whole_window_forgets_what_was_before() {
        let mut load = Load::of(7 * ONE);
        load.update(3, SECOND, 30);
        assert_eq!(load.average, 3 * ONE);
    }
}
