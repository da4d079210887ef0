//! Sets of processors with a bit each, so that a search looks at 64 of them at once.

use std::ops::Range;

use super::ids::{between, CoreId, Span};

/// A set of processors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask(Vec<u64>);

impl Mask {
    /// None of so many processors.
    pub fn none(cpus: usize) -> Self {
        Self(vec![0; cpus.div_ceil(64)])
    }

    /// All of so many processors.
    pub fn all(cpus: usize) -> Self {
        let mut mask = Self::none(cpus);
        between(0, cpus)
            .into_iter()
            .for_each(|cpu| mask.set(cpu, true));
        mask
    }

    /// Puts a processor in or takes it out.
    #[inline]
    pub fn set(&mut self, cpu: CoreId, is_in: bool) {
        let (word, bit) = (cpu.index() / 64, cpu.index() % 64);
        self.0[word] = self.0[word] & !(1 << bit) | u64::from(is_in) << bit;
    }

    /// Whether a processor is in it.
    #[inline]
    pub fn has(&self, cpu: CoreId) -> bool {
        self.0[cpu.index() / 64] >> (cpu.index() % 64) & 1 == 1
    }

    /// How many of neighbours are in it.
    #[inline]
    pub fn count(&self, among: Span<CoreId>) -> u32 {
        let among = among.numbers();
        words(&among)
            .map(|at| self.part(at, &among).count_ones())
            .sum()
    }

    /// Whether all of neighbours are in it.
    #[inline]
    pub fn holds(&self, among: Span<CoreId>) -> bool {
        self.count(among) as usize == among.len()
    }

    /// The first of neighbours that is in it.
    #[inline]
    pub fn first(&self, among: Span<CoreId>) -> Option<CoreId> {
        let among = among.numbers();
        words(&among)
            .map(|at| (at, self.part(at, &among)))
            .find(|(_, bits)| *bits != 0)
            .map(|(at, bits)| CoreId::new(at * 64 + bits.trailing_zeros() as usize))
    }

    /// Those of neighbours that are in it, one after the other.
    pub fn each(&self, among: Span<CoreId>) -> impl Iterator<Item = CoreId> + '_ {
        let mut left = among;
        std::iter::from_fn(move || {
            let next = self.first(left)?;
            left = between(next.index() + 1, left.numbers().end);
            Some(next)
        })
    }

    /// One word of it, without those outside of a range.
    #[inline]
    fn part(&self, at: usize, among: &Range<usize>) -> u64 {
        let first = at * 64;
        let skipped = among.start.saturating_sub(first);
        let beyond = (first + 64).saturating_sub(among.end);
        self.0[at] & (u64::MAX << skipped) & (u64::MAX >> beyond)
    }
}

/// Words in which neighbours lie.
#[inline]
fn words(among: &Range<usize>) -> Range<usize> {
    if among.is_empty() {
        return 0..0;
    }
    among.start / 64..(among.end - 1) / 64 + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Stream;

    #[test]
    fn a_mask_finds_what_a_list_of_bools_finds() {
        let mut dice = Stream::new(1, 0, "mask");
        for _ in 0..300 {
            let cpus = 1 + dice.below(200) as usize;
            let mut mask = Mask::none(cpus);
            let list: Vec<bool> = (0..cpus).map(|_| dice.below(3) == 0).collect();
            for (cpu, is_in) in list.iter().enumerate() {
                mask.set(CoreId::new(cpu), true);
                mask.set(CoreId::new(cpu), *is_in);
            }
            let start = dice.below(cpus as u64) as usize;
            let span = between(
                start,
                start + dice.below((cpus - start) as u64 + 1) as usize,
            );
            let within = span.into_iter().filter(|cpu| list[cpu.index()]);
            let within: Vec<CoreId> = within.collect();
            assert_eq!(mask.each(span).collect::<Vec<_>>(), within);
            assert_eq!(mask.count(span) as usize, within.len());
            assert_eq!(mask.first(span), within.first().copied());
            assert_eq!(mask.holds(span), within.len() == span.len());
            assert!((0..cpus).all(|cpu| mask.has(CoreId::new(cpu)) == list[cpu]));
            assert!(Mask::all(cpus).holds(between(0, cpus)));
        }
    }
}
