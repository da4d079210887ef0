//! What is left of a value of which half goes in a time: powers of two, negative ones only.
//!
//! The library's `exp2` is a call into another object, and no two systems need have the same one.
//! This is the method of the one that glibc has (a table of 128 powers and a polynomial of the
//! fifth degree for what lies between them), without fused operations, so that it gives the same
//! bits everywhere. The table is worked out when the engine is compiled.

/// Powers in the table, evenly spread over a doubling.
const STEPS: usize = 128;

/// Bits after the point of the numbers from which the table is made.
const POINT: u32 = 120;

/// Natural logarithm of two in such a number.
const LN_2: u128 = 0x00b1_7217_f7d1_cf79_abc9_e3b3_9803_f2f6;

/// Coefficients of `2^x - 1` for an `x` of no more than half a step.
const SERIES: [f64; 5] = [
    f64::from_bits(0x3fe6_2e42_fefa_39ef),
    f64::from_bits(0x3fce_bfbd_ff82_c424),
    f64::from_bits(0x3fac_6b08_d70c_f4b5),
    f64::from_bits(0x3f83_b2ab_d246_50cc),
    f64::from_bits(0x3f55_d7e0_9b4e_3a84),
];

/// A power of two between 1 and 2.
#[derive(Clone, Copy)]
struct Power {
    /// What its nearest number with a point misses, as a part of it.
    rest: f64,
    /// The bits of that number, less the step's own place in the exponent.
    bits: u64,
}

static POWERS: [Power; STEPS] = powers();

const fn powers() -> [Power; STEPS] {
    let mut all = [Power { rest: 0.0, bits: 0 }; STEPS];
    let mut step = 0;
    while step < STEPS {
        all[step] = power(step);
        step += 1;
    }
    all
}

const fn power(step: usize) -> Power {
    let exact = exact(step as u128);
    let dropped = POINT - 52;
    let near = (exact + (1 << (dropped - 1))) >> dropped;
    let missed = exact as i128 - (near << dropped) as i128;
    let bits = (1023 << 52) + (near as u64 - (1 << 52));
    let unit = f64::from_bits((1023 - POINT as u64) << 52);
    Power {
        rest: missed as f64 * unit / f64::from_bits(bits),
        bits: bits - ((step as u64) << 45),
    }
}

/// The sum of `x^n / n!` with `x = step / STEPS * ln 2`.
const fn exact(step: u128) -> u128 {
    let x = LN_2 * step / STEPS as u128;
    let (mut term, mut sum, mut n) = (1 << POINT, 0, 1);
    while term > 0 {
        sum += term;
        term = product(term, x) / n;
        n += 1;
    }
    sum
}

/// Of two numbers below 2, in halves.
const fn product(a: u128, b: u128) -> u128 {
    let half = POINT / 2;
    let low = (1 << half) - 1;
    let across = ((a >> half) * (b & low)) + ((a & low) * (b >> half));
    (a >> half) * (b >> half) + (across >> half)
}

/// `2^-x` for an `x` that is not negative, within 0.51 units in the last place.
#[inline]
pub fn halved(x: f64) -> f64 {
    // So great that a sum's last bits are its steps: 1.5 * 2^52 of them.
    const SHIFT: f64 = (3u64 << 51) as f64 / STEPS as f64;
    if x > 1_022.0 {
        return 0.0;
    }
    let shifted = SHIFT - x;
    let steps = shifted.to_bits();
    let x = -x - (shifted - SHIFT);
    let near = &POWERS[steps as usize % STEPS];
    let power = f64::from_bits(near.bits.wrapping_add(steps << 45));
    let square = x * x;
    let (low, high) = (SERIES[1] + x * SERIES[2], SERIES[3] + x * SERIES[4]);
    let more = near.rest + x * SERIES[0] + square * low + square * square * high;
    power + power * more
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Stream;

    #[test]
    fn agrees_with_the_library() {
        let mut dice = Stream::new(1, 0, "halving");
        for _ in 0..100_000 {
            let x = dice.exponential(5.0);
            let error = halved(x) / (-x).exp2() - 1.0;
            assert!(error.abs() <= f64::EPSILON, "2^-{x} is off by {error:e}");
        }
    }

    #[test]
    fn by_hand() {
        for x in 0..=1_022 {
            let exact = f64::from_bits((1023 - x).max(1) << 52);
            assert_eq!(halved(x as f64), exact);
        }
        assert_eq!(halved(0.5), std::f64::consts::FRAC_1_SQRT_2);
        assert_eq!(halved(1e9), 0.0);
    }
}
