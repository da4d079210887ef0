//! Times counted in log-linear buckets: three significant digits over the whole range, in memory
//! that grows with the range met and not with their number.
//!
//! The idea of HdrHistogram (G. Tene): every power of two is cut into 512 equal buckets, so that
//! the middle of a bucket is within 0.1 % of all it holds. Below 1 024 ns every nanosecond has its
//! own.
//!
//! The crate hdrhistogram (7.6, three digits) would hold the same in 432 KiB and record a time in
//! 2.5 ns instead of 1.1, and its mean is made of buckets where this one's is exact. A partition
//! has two histograms in every replication and every response passes through one. It also names
//! the upper end of a bucket where this one names the middle: percentiles of kept runs would move.

use super::time::Time;

const BUCKET_BITS: u32 = 9;
const BUCKETS_PER_OCTAVE: usize = 1 << BUCKET_BITS;
const OCTAVES: usize = 64 - BUCKET_BITS as usize + 1;
/// Times that are counted together.
const BATCH: usize = 28;

/// Distribution of response times, waits and the like; 4 KiB for every octave met.
///
/// A large machine has hundreds, and where a time falls in one is rarely at hand: a few times are
/// gathered first, so that the memory is asked for all their buckets at once.
#[derive(Clone)]
pub struct Histogram {
    octaves: Box<[Box<[u64]>]>,
    count: u64,
    sum_ns: u128,
    min: Time,
    max: Time,
    gathered: u32,
    batch: [u16; BATCH],
}

impl Histogram {
    /// Without any time.
    pub fn new() -> Histogram {
        Histogram {
            octaves: vec![Box::default(); OCTAVES].into_boxed_slice(),
            count: 0,
            sum_ns: 0,
            min: Time::MAX,
            max: Time::ZERO,
            gathered: 0,
            batch: [0; BATCH],
        }
    }

    /// Counts one time.
    #[inline]
    pub fn record(&mut self, time: Time) {
        if self.gathered as usize == BATCH {
            self.count_batch();
        }
        self.batch[self.gathered as usize] = bucket(time) as u16;
        self.gathered += 1;
        self.count += 1;
        self.sum_ns += u128::from(time.as_ns());
        self.min = self.min.min(time);
        self.max = self.max.max(time);
    }

    #[inline(never)]
    fn count_batch(&mut self) {
        for bucket in self.batch {
            *self.counter(usize::from(bucket)) += 1;
        }
        self.gathered = 0;
    }

    fn counter(&mut self, bucket: usize) -> &mut u64 {
        let octave = &mut self.octaves[bucket >> BUCKET_BITS];
        if octave.is_empty() {
            *octave = vec![0; BUCKETS_PER_OCTAVE].into_boxed_slice();
        }
        &mut octave[bucket % BUCKETS_PER_OCTAVE]
    }

    fn gathered(&self) -> &[u16] {
        &self.batch[..self.gathered as usize]
    }

    /// Adds all that `other` has counted.
    pub fn merge(&mut self, other: &Histogram) {
        for (octave, counts) in other.octaves.iter().enumerate() {
            for (place, more) in counts.iter().enumerate().filter(|(_, more)| **more > 0) {
                *self.counter((octave << BUCKET_BITS) + place) += more;
            }
        }
        for bucket in other.gathered() {
            *self.counter(usize::from(*bucket)) += 1;
        }
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Forgets everything, as at the end of the warm-up.
    pub fn clear(&mut self) {
        *self = Histogram::new();
    }

    /// Times counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of the times [ns], exact.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// Mean [ns], exact but for the division; none without a time.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// Least time, exact.
    pub fn min(&self) -> Option<Time> {
        (self.count > 0).then_some(self.min)
    }

    /// Greatest time, exact.
    pub fn max(&self) -> Option<Time> {
        (self.count > 0).then_some(self.max)
    }

    /// The least time that at least the given share of all do not exceed, within 0.1 %.
    ///
    /// A share of 0 asks for the least time, of 1 for the greatest; both are exact.
    pub fn quantile(&self, share: f64) -> Option<Time> {
        let rank = (share * self.count as f64).ceil() as u64;
        if rank <= 1 {
            return self.min();
        }
        if rank >= self.count {
            return self.max();
        }
        let index = self.bucket_of(rank)?;
        Some(middle(index).clamp(self.min, self.max))
    }

    /// The bucket of the time that comes at this place among all, counted from 1.
    fn bucket_of(&self, rank: u64) -> Option<usize> {
        let mut batch = self.batch;
        let batch = &mut batch[..self.gathered as usize];
        batch.sort_unstable();
        let mut gathered = batch.iter().map(|it| usize::from(*it)).peekable();
        let mut seen = 0;
        for (octave, counts) in self.octaves.iter().enumerate() {
            let (first, end) = (octave << BUCKET_BITS, (octave + 1) << BUCKET_BITS);
            if counts.is_empty() && gathered.peek().is_none_or(|next| *next >= end) {
                continue;
            }
            for bucket in first..end {
                seen += counts.get(bucket - first).copied().unwrap_or(0);
                while gathered.next_if_eq(&bucket).is_some() {
                    seen += 1;
                }
                if seen >= rank {
                    return Some(bucket);
                }
            }
        }
        None
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram::new()
    }
}

/// Index of the bucket that holds a time.
#[inline]
fn bucket(time: Time) -> usize {
    let ns = time.as_ns();
    let octave = (ns | BUCKETS_PER_OCTAVE as u64).ilog2() - BUCKET_BITS;
    ((octave as usize) << BUCKET_BITS) + (ns >> octave) as usize
}

/// The middle of a bucket.
fn middle(index: usize) -> Time {
    let octave = (index >> BUCKET_BITS).saturating_sub(1);
    let low = ((index - (octave << BUCKET_BITS)) as u64) << octave;
    Time::from_ns(low + (1 << octave) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_by_hand() {
        let at = |ns| bucket(Time::from_ns(ns));
        assert_eq!((at(0), at(1), at(1_023)), (0, 1, 1_023));
        assert_eq!((at(1_024), at(1_025), at(1_026)), (1_024, 1_024, 1_025));
        // 2^10 opens the first octave of 512 after the linear 1 024, 2^20 the eleventh.
        assert_eq!(at(1 << 20), 1_024 + 10 * 512);
        assert_eq!(at(u64::MAX), OCTAVES * BUCKETS_PER_OCTAVE - 1);
    }

    #[test]
    fn the_middle_is_within_a_thousandth() {
        for shift in 0..64 {
            for offset in [0, 1, 12_345] {
                let ns = (1u64 << shift).saturating_add(offset);
                let error = middle(bucket(Time::from_ns(ns))).as_ns_f64() / ns as f64 - 1.0;
                assert!(error.abs() < 1e-3, "{ns} ns is off by {error}");
            }
        }
    }

    #[test]
    fn quantiles_by_hand() {
        let mut histogram = Histogram::new();
        assert_eq!(
            (
                histogram.quantile(0.5),
                histogram.mean_ns(),
                histogram.max()
            ),
            (None, None, None)
        );
        for ns in 1..=100 {
            histogram.record(Time::from_ns(ns));
        }
        let quantile = |share| histogram.quantile(share).unwrap().as_ns();
        assert_eq!(
            [0.0, 0.5, 0.95, 0.99, 1.0].map(quantile),
            [1, 50, 95, 99, 100]
        );
        assert_eq!(
            (histogram.count(), histogram.mean_ns(), histogram.sum_ns()),
            (100, Some(50.5), 5_050)
        );
    }
}
