//! Random streams: one per source, found by name.

use super::exponential;
use super::real;
use super::squares;
use super::time::Time;

/// Greater than any exponential number of mean 1 that will ever be drawn: one in 10^28 is beyond.
const BOUND: f64 = 64.0;
/// Bits of the whole part of an exponential number.
const WHOLE_BITS: u32 = 6;
/// Bits of a floating-point number before its fraction.
const SIGN_AND_EXPONENT_BITS: u32 = 12;
/// Greatest mean of an exponential time [ns]: nine years.
const GREATEST_MEAN_NS: u64 = u64::MAX >> WHOLE_BITS;

/// A sequence of random numbers that depends on (seed, replication, name) and on nothing else.
///
/// Two layouts that share seed, replication and a stream's name meet the same draws there, whatever
/// else differs between them: the comparison of their results has the less noise.
///
/// Every draw is made one ahead. What an event does with it decides what comes next, so the loop
/// would wait for a number made on demand; one made ahead is finished while the queue works.
#[derive(Clone, Debug)]
pub struct Stream {
    key: u64,
    /// Draws made so far, plus where the counter began, times the key.
    weyl: u64,
    /// The next 64 bits.
    bits: u64,
    /// The next exponential number of mean 1, plus [`BOUND`].
    exponential: f64,
}

impl Stream {
    /// The stream `name` of a replication.
    pub fn new(seed: u64, replication: u64, name: &str) -> Stream {
        let name = fnv(name.as_bytes());
        let run = finalise(finalise(seed) ^ replication);
        Stream::from_parts(
            squares::key(finalise(run ^ name)),
            finalise(run.wrapping_add(name)),
        )
    }

    fn from_parts(key: u64, counter: u64) -> Stream {
        let weyl = counter.wrapping_mul(key);
        let (bits, exponential) = (0, 0.0);
        let mut stream = Stream {
            key,
            weyl,
            bits,
            exponential,
        };
        stream.next_u64();
        stream.next_exponential();
        stream
    }

    /// 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let bits = self.bits;
        self.bits = self.fresh();
        bits
    }

    /// Bits that nobody has seen.
    #[inline]
    fn fresh(&mut self) -> u64 {
        let bits = squares::bits(self.weyl, self.key);
        self.weyl = self.weyl.wrapping_add(self.key);
        bits
    }

    /// An exponential number of mean 1, plus [`BOUND`]: in steps of 2^-46.
    #[inline]
    fn next_exponential(&mut self) -> f64 {
        let number = self.exponential;
        let bits = self.fresh();
        self.exponential = BOUND + exponential::draw(bits, || self.fresh());
        number
    }

    /// A number in 0..1, 0 included, 1 not: one of 2^53 steps.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Whether an event of this probability happens.
    #[inline]
    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// An exponential number, in the unit of its mean.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        (self.next_exponential() - BOUND) * mean
    }

    /// An exponential length of time, to the nearest nanosecond; of nine years, if the mean is
    /// longer.
    ///
    /// The fraction of `64 + x` is `x / 64`, for its exponent is fixed: no conversion is needed,
    /// and the upper half of a product is the time.
    #[inline]
    pub fn exponential_time(&mut self, mean: Time) -> Time {
        let fraction = self.next_exponential().to_bits() << SIGN_AND_EXPONENT_BITS;
        let whole = mean.as_ns().min(GREATEST_MEAN_NS) << WHOLE_BITS;
        let product = u128::from(fraction) * u128::from(whole);
        Time::from_ns(((product + (1 << 63)) >> 64) as u64)
    }

    /// Number of trials up to the first success: 1, 2, 3, ... with the given mean.
    ///
    /// # Panics
    /// If the mean is below 1.
    pub fn geometric(&mut self, mean: f64) -> u64 {
        assert!(
            mean >= 1.0,
            "a geometric number of trials cannot have the mean {mean}"
        );
        let failure = 1.0 - 1.0 / mean;
        if failure < f64::MIN_POSITIVE {
            return 1;
        }
        // An exponential number cut into steps of -ln(failure) outlasts each step with the
        // probability of a failure.
        1 + (self.exponential(1.0) / -real::ln(failure)) as u64
    }

    /// A whole number in `0..bound`, each equally likely.
    ///
    /// D. Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019
    /// (doi:10.1145/3230636).
    ///
    /// # Panics
    /// If the bound is 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is no number below 0");
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            // The lowest 2^64 mod bound fractions would make some numbers likelier; they are drawn
            // again.
            let fraction = product as u64;
            if fraction >= bound || fraction >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }

    /// Puts things into any order, each equally likely.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for at in (1..things.len()).rev() {
            things.swap(at, self.below(at as u64 + 1) as usize);
        }
    }
}

/// FNV-1a, 64 bits: G. Fowler, L. C. Noll, K.-P. Vo.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// Spreads every bit over all others: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable
/// pseudorandom number generators", OOPSLA 2014 (doi:10.1145/2660193.2660195), the output function
/// of SplitMix64 with its first step.
fn finalise(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_have_their_published_values() {
        assert_eq!(fnv(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv(b"foobar"), 0x8594_4171_f739_67e8);
        // First output of SplitMix64 from seed 0.
        assert_eq!(finalise(0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn a_stream_counts() {
        let key = 0x548c_9dec_bce6_5297_u64;
        let bits = |counter: u64| squares::bits(key.wrapping_mul(counter), key);
        let mut stream = Stream::from_parts(key, u64::MAX);
        // The first two numbers were drawn ahead, for the bits and for the exponential.
        let expected = exponential::draw(bits(0), || unreachable!());
        assert!((stream.exponential(1.0) - expected).abs() < 1e-13);
        let drawn: [u64; 4] = std::array::from_fn(|_| stream.next_u64());
        assert_eq!(drawn, [bits(u64::MAX), bits(2), bits(3), bits(4)]);
    }

    #[test]
    fn every_order_is_as_likely() {
        let mut stream = Stream::new(1, 0, "orders");
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..6_000 {
            let mut three = [0, 1, 2];
            stream.shuffle(&mut three);
            *counts.entry(three).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(
            counts.values().all(|n| (850..1_150).contains(n)),
            "{counts:?}"
        );
    }

    #[test]
    fn exponential_times_are_rounded() {
        let (mut times, mut numbers) = (Stream::new(1, 0, "a"), Stream::new(1, 0, "a"));
        for _ in 0..1_000 {
            let time = times.exponential_time(Time::from_us(7));
            assert_eq!(time, Time::from_ns_f64(numbers.exponential(7_000.0)));
        }
    }

    #[test]
    fn geometric_of_mean_1_is_1() {
        let mut stream = Stream::new(1, 0, "bursts");
        assert!((0..100).all(|_| stream.geometric(1.0) == 1));
    }

    #[test]
    #[should_panic(expected = "mean 0.5")]
    fn a_geometric_mean_below_1_is_refused() {
        Stream::new(1, 0, "bursts").geometric(0.5);
    }
}
