//! A set of logical processors, as Xen's masks: members are gone through from one on and around.
//!
//! The processors of a run queue follow each other, so a search looks at their few words of any set
//! and at no other; what it looks for may be worked out word by word from several sets.

use crate::hypervisor::CoreId;

/// Processors of a word.
pub const WORD: u16 = 64;

/// A set of logical processors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuSet {
    words: Vec<u64>,
}

impl CpuSet {
    /// The empty set, with room for so many.
    pub fn empty(cpus: u16) -> Self {
        Self {
            words: vec![0; usize::from(cpus.div_ceil(WORD))],
        }
    }

    /// The set of these, which are all below `cpus`.
    pub fn of(cpus: u16, members: impl IntoIterator<Item = CoreId>) -> Self {
        let mut set = Self::empty(cpus);
        members.into_iter().for_each(|cpu| set.insert(cpu));
        set
    }

    /// Whether it has a processor.
    #[inline]
    pub fn contains(&self, cpu: CoreId) -> bool {
        self.word(usize::from(cpu / WORD)) >> (cpu % WORD) & 1 == 1
    }

    /// Adds one.
    #[inline]
    pub fn insert(&mut self, cpu: CoreId) {
        self.words[usize::from(cpu / WORD)] |= 1 << (cpu % WORD);
    }

    /// Takes one out.
    #[inline]
    pub fn remove(&mut self, cpu: CoreId) {
        self.words[usize::from(cpu / WORD)] &= !(1 << (cpu % WORD));
    }

    /// Its members among 64 processors, as bits.
    #[inline]
    pub fn word(&self, at: usize) -> u64 {
        self.words[at]
    }
}

/// Processors that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuRange {
    /// The first.
    pub first: CoreId,
    /// The one after the last.
    pub end: CoreId,
}

impl CpuRange {
    /// Number of processors.
    pub fn count(self) -> u16 {
        self.end - self.first
    }

    /// The words of a set in which they lie.
    #[inline]
    pub fn words(self) -> std::ops::Range<usize> {
        usize::from(self.first / WORD)..usize::from(self.end.div_ceil(WORD))
    }

    /// Those in one of these words.
    #[inline]
    pub fn within(self, word: usize) -> Self {
        let first = word as u16 * WORD;
        Self {
            first: self.first.max(first),
            end: self.end.min(first + WORD),
        }
    }

    /// The first of them at or after `from` whose bit `word` has, without going around.
    #[inline]
    pub fn next(self, from: CoreId, word: impl Fn(usize) -> u64) -> Option<CoreId> {
        if from >= self.end {
            return None;
        }
        let (mut at, last) = (from / WORD, (self.end - 1) / WORD);
        let mut bits = word(usize::from(at)) & (!0 << (from % WORD));
        while bits == 0 {
            if at == last {
                return None;
            }
            at += 1;
            bits = word(usize::from(at));
        }
        let cpu = at * WORD + bits.trailing_zeros() as u16;
        (cpu < self.end).then_some(cpu)
    }

    /// The first of them whose bit `word` has, from `from` on and around.
    #[inline]
    pub fn around(self, from: CoreId, word: impl Fn(usize) -> u64) -> Option<CoreId> {
        self.next(from, &word).or_else(|| {
            let before = Self {
                end: from.min(self.end),
                ..self
            };
            before.next(self.first, word)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_gone_through_around_the_end() {
        let set = CpuSet::of(130, [3, 64, 129]);
        let range = CpuRange { first: 2, end: 130 };
        let around = |from| range.around(from, |at| set.word(at));
        assert_eq!((around(3), around(4)), (Some(3), Some(64)));
        assert_eq!((around(129), around(130)), (Some(129), Some(3)));
        assert_eq!(range.around(5, |_| 0), None);
        assert_eq!(range.next(65, |at| set.word(at)), Some(129));
        assert_eq!(
            CpuRange { first: 4, end: 64 }.around(9, |at| set.word(at)),
            None
        );
    }

    /// Against a look at one processor after the other.
    #[test]
    fn any_stretch_of_any_set_is_searched() {
        let mut stream = crate::kernel::Stream::new(1, 0, "cpus");
        for _ in 0..2_000 {
            let mut below = |end: u64| stream.below(end) as u16;
            let cpus = 1 + below(200);
            let set = CpuSet::of(cpus, (0..cpus).filter(|_| below(9) == 0));
            let first = below(u64::from(cpus));
            let range = CpuRange {
                first,
                end: first + 1 + below(u64::from(cpus - first)),
            };
            let from = first + below(u64::from(range.count()));
            let order = (from..range.end).chain(first..from);
            let plain = order.into_iter().find(|cpu| set.contains(*cpu));
            assert_eq!(range.around(from, |at| set.word(at)), plain);
        }
    }
}
