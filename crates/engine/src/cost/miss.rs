//! Misses by cache capacity.

use crate::spec::Profile;

/// `m(C) = m0 (1 + C/C0)^-a`, misses per instruction beyond a capacity of `C` bytes.
///
/// The power law of cache misses with an exponent near one half is Hartstein, Srinivasan, Puzak and
/// Emma, "On the nature of cache miss behavior: is it square root of 2?" (2008); the `1 +` makes it
/// finite for an empty cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MissCurve {
    /// Misses per instruction of an empty cache.
    pub m0: f64,
    /// Capacity at which the curve starts to fall [bytes].
    pub c0_bytes: f64,
    /// How steeply it falls: `a` of `(1 + C/C0)^-a`.
    pub exponent: f64,
}

impl MissCurve {
    /// The curve of a workload profile.
    pub fn of(profile: &Profile) -> Self {
        Self {
            m0: profile.miss_m0,
            c0_bytes: profile.miss_c0_bytes,
            exponent: profile.miss_exponent,
        }
    }

    /// Misses per instruction beyond `bytes` of cache.
    pub fn at(&self, bytes: f64) -> f64 {
        let capacities = 1.0 + bytes / self.c0_bytes;
        // A square root takes a fraction of the time of a power, and most work has this exponent.
        if self.exponent == 0.5 {
            self.m0 / capacities.sqrt()
        } else {
            self.m0 * capacities.powf(-self.exponent)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_with_four_times_the_cache() {
        let curve = MissCurve {
            m0: 0.05,
            c0_bytes: 1024.0,
            exponent: 0.5,
        };
        // (1 + 3)^-0.5 = 1/2, (1 + 15)^-0.5 = 1/4
        assert!((curve.at(3.0 * 1024.0) - 0.025).abs() < 1e-15);
        assert!((curve.at(15.0 * 1024.0) - 0.0125).abs() < 1e-15);
        assert_eq!(curve.at(0.0), 0.05);
    }

    #[test]
    fn the_root_is_the_power_of_one_half() {
        for step in 0..200 {
            let bytes = 1024.0 * 1.1_f64.powi(step);
            let curve = MissCurve {
                m0: 0.05,
                c0_bytes: 32_768.0,
                exponent: 0.5,
            };
            let power = 0.05 * (1.0 + bytes / 32_768.0).powf(-0.5);
            assert!((curve.at(bytes) / power - 1.0).abs() < 1e-12);
        }
    }
}
