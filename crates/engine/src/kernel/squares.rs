//! Squares: a counter and a key in, 64 random bits out; no state beside the counter.
//!
//! B. Widynski, "Squares: a fast counter-based RNG", arXiv:2004.06278, the version of five rounds
//! that returns 64 bits. It passes BigCrush and PractRand (ibid.).

/// The random bits that belong to a counter under `key`; `weyl` is the product of both.
///
/// Who counts up adds the key to the product instead of multiplying anew.
#[inline]
pub(super) fn bits(weyl: u64, key: u64) -> u64 {
    let next = weyl.wrapping_add(key);
    let round = |x: u64, add: u64| x.wrapping_mul(x).wrapping_add(add);
    let x = round(weyl, weyl).rotate_left(32);
    let x = round(x, next).rotate_left(32);
    let x = round(x, weyl).rotate_left(32);
    let x = round(x, next);
    x ^ round(x.rotate_left(32), weyl) >> 32
}

/// A key as the paper asks for, chosen by a hash: each half of eight different hexadecimal digits,
/// the last digit odd.
pub(super) fn key(hash: u64) -> u64 {
    half(hash >> 32, false) << 32 | half(hash & u64::from(u32::MAX), true)
}

/// Eight different digits, the lowest one first, chosen by 32 bits.
fn half(mut choice: u64, odd: bool) -> u64 {
    let mut digits: Vec<u64> = (0..16).collect();
    let mut half = 0;
    for place in 0..8 {
        let count = if place == 0 && odd {
            8
        } else {
            digits.len() as u64
        };
        let index = choice % count;
        choice /= count;
        let index = if place == 0 && odd {
            2 * index + 1
        } else {
            index
        };
        half |= digits.remove(index as usize) << (4 * place);
    }
    half
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers under the key that the paper's examples use, as other implementations
    /// print them.
    #[test]
    fn known_answers() {
        let expected = [
            0x36d8_8366_cee6_33a5,
            0x9447_16e0_0e60_dfaa,
            0xc8a8_f4e0_6786_54bf,
            0x35cc_666a_ab11_c80d,
        ];
        let key = 0x548c_9dec_bce6_5297_u64;
        for (counter, expected) in (0..).zip(expected) {
            assert_eq!(bits(key.wrapping_mul(counter), key), expected);
        }
    }

    #[test]
    fn keys_by_hand() {
        // Always the least of the digits that are left; the first of the lower half must be odd.
        assert_eq!(key(0), 0x7654_3210_7654_3201);
    }

    #[test]
    fn keys_have_different_digits() {
        for i in 0..1_000u64 {
            let key = key(i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            assert_eq!(key % 2, 1);
            for half in [key >> 32, key & u64::from(u32::MAX)] {
                let seen = (0..8).fold(0, |seen, place| seen | 1u32 << (half >> (4 * place) & 15));
                assert_eq!(seen.count_ones(), 8, "{key:x}");
            }
        }
    }
}
