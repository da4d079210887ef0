//! Exponential and logarithm from additions, multiplications and divisions only.
//!
//! IEEE 754 fixes the result of those to the last bit, and of the mathematics library's functions
//! not: with these, all machines draw the same numbers. They are slower than the library's and
//! stand outside the hot path.

const LN_2: f64 = std::f64::consts::LN_2;

/// `e^-x` for `x` in 0..=700, within 4 units in the last place.
pub(super) const fn exp_negative(x: f64) -> f64 {
    // x = halvings * ln 2 - rest with the rest at most half of ln 2; then e^-x = e^rest /
    // 2^halvings.
    let halvings = (x / LN_2 + 0.5) as u64;
    let rest = halvings as f64 * LN_2 - x;
    let mut term = 1.0;
    let mut sum = 1.0;
    let mut n = 1.0;
    while n < 20.0 {
        term *= rest / n;
        sum += term;
        n += 1.0;
    }
    sum * f64::from_bits((1023 - halvings) << 52)
}

/// Natural logarithm of a normal positive number, within 4 units in the last place of the greater
/// of it and 1.
pub(super) const fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    // ln m = 2 (s + s^3/3 + s^5/5 + ...) with s = (m - 1)/(m + 1), here below 0.172.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let mut power = s;
    let mut sum = 0.0;
    let mut n = 1.0;
    while n < 24.0 {
        sum += power / n;
        power *= square;
        n += 2.0;
    }
    2.0 * sum + exponent as f64 * LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_library() {
        for i in 0..=7_000 {
            let x = f64::from(i) / 10.0;
            let error = exp_negative(x) / (-x).exp() - 1.0;
            // The rest loses as many bits as x has before the point.
            assert!(
                error.abs() < 2e-15 + x * 3e-16,
                "e^-{x} is off by {error:e}"
            );
        }
        for i in 1..=10_000 {
            let x = f64::from(i) / 1_000.0;
            let error = ln(x) - x.ln();
            assert!(
                error.abs() <= 1e-15 * x.ln().abs().max(1.0),
                "ln {x} is off by {error:e}"
            );
        }
    }

    #[test]
    fn by_hand() {
        assert_eq!(exp_negative(0.0), 1.0);
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(ln(8.0), 3.0 * LN_2);
        assert!((exp_negative(1.0) - 0.367_879_441_171_442_33).abs() < 2e-16);
    }
}
