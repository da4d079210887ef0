//! Simulated time: whole nanoseconds since the start of the run, or the length between two such
//! moments.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Rem, Sub, SubAssign};

/// A moment or a length of simulated time [ns].
///
/// 64 bits hold 584 years. Sums that leave the range are a fault of ours and panic where overflow
/// checks are on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The start of the run; no time at all.
    pub const ZERO: Time = Time(0);
    /// Later than everything that can be scheduled; no limit.
    pub const MAX: Time = Time(u64::MAX);

    /// From nanoseconds.
    #[inline]
    pub const fn from_ns(ns: u64) -> Time {
        Time(ns)
    }

    /// From microseconds.
    pub const fn from_us(us: u64) -> Time {
        Time(us * 1_000)
    }

    /// From milliseconds.
    pub const fn from_ms(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    /// From seconds.
    pub const fn from_s(s: u64) -> Time {
        Time(s * 1_000_000_000)
    }

    /// From a real number of nanoseconds, rounded to the nearest; negative and not-a-number give
    /// zero.
    #[inline]
    pub fn from_ns_f64(ns: f64) -> Time {
        Time((ns + 0.5) as u64)
    }

    /// In nanoseconds.
    #[inline]
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// In nanoseconds, as a real number (exact below 104 days).
    #[inline]
    pub const fn as_ns_f64(self) -> f64 {
        self.0 as f64
    }

    /// In seconds.
    pub fn as_s_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The difference, or zero where `other` is later.
    #[inline]
    pub const fn saturating_sub(self, other: Time) -> Time {
        Time(self.0.saturating_sub(other.0))
    }

    /// The sum, or [`Time::MAX`] where it would leave the range.
    #[inline]
    pub const fn saturating_add(self, other: Time) -> Time {
        Time(self.0.saturating_add(other.0))
    }
}

impl Add for Time {
    type Output = Time;
    #[inline]
    fn add(self, other: Time) -> Time {
        Time(self.0 + other.0)
    }
}

impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, other: Time) {
        self.0 += other.0;
    }
}

impl Sub for Time {
    type Output = Time;
    #[inline]
    fn sub(self, other: Time) -> Time {
        Time(self.0 - other.0)
    }
}

impl SubAssign for Time {
    #[inline]
    fn sub_assign(&mut self, other: Time) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for Time {
    type Output = Time;
    #[inline]
    fn mul(self, factor: u64) -> Time {
        Time(self.0 * factor)
    }
}

impl Div<u64> for Time {
    type Output = Time;
    #[inline]
    fn div(self, divisor: u64) -> Time {
        Time(self.0 / divisor)
    }
}

impl Rem for Time {
    type Output = Time;
    #[inline]
    fn rem(self, other: Time) -> Time {
        Time(self.0 % other.0)
    }
}

impl Sum for Time {
    fn sum<I: Iterator<Item = Time>>(times: I) -> Time {
        times.fold(Time::ZERO, Add::add)
    }
}

/// The largest unit that leaves at least 1, with up to three decimals: `250 ns`, `1.5 ms`, `60 s`.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit_ns, unit) = match self.0 {
            0..=999 => return write!(f, "{} ns", self.0),
            1_000..=999_999 => (1_000, "us"),
            1_000_000..=999_999_999 => (1_000_000, "ms"),
            _ => (1_000_000_000, "s"),
        };
        let thousandths = self.0 % unit_ns / (unit_ns / 1_000);
        let decimals = format!("{thousandths:03}");
        let decimals = decimals.trim_end_matches('0');
        let point = if decimals.is_empty() { "" } else { "." };
        write!(f, "{}{point}{decimals} {unit}", self.0 / unit_ns)
    }
}

/// A whole number below 2^63 as a real one: processors convert signed numbers only.
#[inline]
pub const fn real(whole: u64) -> f64 {
    whole as i64 as f64
}

/// The whole part of a real number that is not negative; at most 2^63, for the same reason.
#[inline]
pub const fn whole(real: f64) -> u64 {
    real as i64 as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_a_thousand() {
        assert_eq!(Time::from_s(2).as_ns(), 2_000_000_000);
        assert_eq!(Time::from_ms(10), Time::from_us(10_000));
        assert_eq!(Time::from_us(3), Time::from_ns(3_000));
        assert_eq!(Time::from_ms(1_500).as_s_f64(), 1.5);
    }

    #[test]
    fn arithmetic_by_hand() {
        let window = Time::from_ms(10);
        let now = Time::from_ms(23);
        assert_eq!(now % window, Time::from_ms(3));
        assert_eq!(now / 2, Time::from_us(11_500));
        assert_eq!(window * 3 - now, Time::from_ms(7));
        assert_eq!(window.saturating_sub(now), Time::ZERO);
        assert_eq!(Time::MAX.saturating_add(now), Time::MAX);
        assert_eq!([now, window].into_iter().sum::<Time>(), Time::from_ms(33));
    }

    #[test]
    fn reals_round_to_the_nearest_nanosecond() {
        assert_eq!(Time::from_ns_f64(1.5), Time::from_ns(2));
        assert_eq!(Time::from_ns_f64(1.49), Time::from_ns(1));
        assert_eq!(Time::from_ns_f64(-3.0), Time::ZERO);
        assert_eq!(Time::from_ns_f64(f64::NAN), Time::ZERO);
        assert_eq!(Time::from_ns_f64(f64::INFINITY), Time::MAX);
    }

    #[test]
    fn prints_with_a_fitting_unit() {
        assert_eq!(Time::from_ns(250).to_string(), "250 ns");
        assert_eq!(Time::from_us(1_500).to_string(), "1.5 ms");
        assert_eq!(Time::from_ns(1_050).to_string(), "1.05 us");
        assert_eq!(Time::from_s(60).to_string(), "60 s");
        assert_eq!(Time::ZERO.to_string(), "0 ns");
    }
}
