//! Sets of processors with a bit each, so that a search looks at 64 of them at once.

use std::ops::Range;

/// A set of processors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask(Vec<u64>);

impl Mask {
    /// None of so many processors.
    pub fn none(cpus: u16) -> Self {
        Self(vec![0; usize::from(cpus).div_ceil(64)])
    }

    /// All of so many processors.
    pub fn all(cpus: u16) -> Self {
        let mut mask = Self::none(cpus);
        (0..cpus).for_each(|cpu| mask.set(cpu, true));
        mask
    }

    /// Puts a processor in or takes it out.
    #[inline]
    pub fn set(&mut self, cpu: u16, is_in: bool) {
        let (word, bit) = (usize::from(cpu / 64), cpu % 64);
        self.0[word] = self.0[word] & !(1 << bit) | u64::from(is_in) << bit;
    }

    /// Whether a processor is in it.
    #[inline]
    pub fn has(&self, cpu: u16) -> bool {
        self.0[usize::from(cpu / 64)] >> (cpu % 64) & 1 == 1
    }

    /// How many of neighbours are in it.
    #[inline]
    pub fn count(&self, among: Range<u16>) -> u32 {
        let words = words(&among);
        words.map(|at| self.part(at, &among).count_ones()).sum()
    }

    /// Whether all of neighbours are in it.
    #[inline]
    pub fn holds(&self, among: Range<u16>) -> bool {
        let count = u32::from(among.end - among.start);
        self.count(among) == count
    }

    /// The first of neighbours that is in it.
    #[inline]
    pub fn first(&self, among: Range<u16>) -> Option<u16> {
        words(&among)
            .map(|at| (at, self.part(at, &among)))
            .find(|(_, bits)| *bits != 0)
            .map(|(at, bits)| (at * 64) as u16 + bits.trailing_zeros() as u16)
    }

    /// Those of neighbours that are in it, one after the other.
    pub fn each(&self, among: Range<u16>) -> impl Iterator<Item = u16> + '_ {
        let mut left = among;
        std::iter::from_fn(move || {
            let next = self.first(left.clone())?;
            left.start = next + 1;
            Some(next)
        })
    }

    /// One word of it, without those outside of a range.
    #[inline]
    fn part(&self, at: usize, among: &Range<u16>) -> u64 {
        let first = (at * 64) as u16;
        let skipped = among.start.saturating_sub(first).min(63);
        let beyond = (first + 63).saturating_sub(among.end - 1).min(63);
        self.0[at] & (u64::MAX << skipped) & (u64::MAX >> beyond)
    }
}

/// Words in which neighbours lie.
#[inline]
fn words(among: &Range<u16>) -> Range<usize> {
    if among.is_empty() {
        return 0..0;
    }
    usize::from(among.start / 64)..usize::from((among.end - 1) / 64) + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Stream;

    #[test]
    fn a_mask_finds_what_a_list_of_bools_finds() {
        let mut dice = Stream::new(1, 0, "mask");
        for _ in 0..300 {
            let cpus = 1 + dice.below(200) as u16;
            let mut mask = Mask::none(cpus);
            let list: Vec<bool> = (0..cpus).map(|_| dice.below(3) == 0).collect();
            for (cpu, is_in) in list.iter().enumerate() {
                mask.set(cpu as u16, true);
                mask.set(cpu as u16, *is_in);
            }
            let start = dice.below(u64::from(cpus)) as u16;
            let end = start + dice.below(u64::from(cpus - start) + 1) as u16;
            let within = (start..end).filter(|cpu| list[usize::from(*cpu)]);
            let within: Vec<u16> = within.collect();
            assert_eq!(mask.each(start..end).collect::<Vec<_>>(), within);
            assert_eq!(mask.count(start..end) as usize, within.len());
            assert_eq!(mask.first(start..end), within.first().copied());
            assert_eq!(
                mask.holds(start..end),
                within.len() == usize::from(end - start)
            );
            assert!((0..cpus).all(|cpu| mask.has(cpu) == list[usize::from(cpu)]));
            assert!(Mask::all(cpus).holds(0..cpus));
        }
    }
}
