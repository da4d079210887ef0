//! A set of logical processors, as Xen's masks: members are gone through from one on and around.
//!
//! The processors of a run queue follow each other, so a search looks at their few words of any set
//! and at no other; what it looks for may be worked out word by word from several sets.

use super::ids::{CoreId, Span};

/// Processors of a word.
const WORD: usize = 64;

/// A set of logical processors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuSet {
    words: Vec<u64>,
}

/// The word in which a processor's bit is, and the bit.
#[inline]
pub fn bit_of(cpu: CoreId) -> (usize, u64) {
    (cpu.index() / WORD, 1 << (cpu.index() % WORD))
}

/// The processor of the lowest bit of a word.
#[inline]
pub fn lowest(word: usize, bits: u64) -> CoreId {
    CoreId::new(word * WORD + bits.trailing_zeros() as usize)
}

impl CpuSet {
    /// The empty set, with room for so many.
    pub fn empty(cpus: usize) -> Self {
        Self {
            words: vec![0; cpus.div_ceil(WORD)],
        }
    }

    /// The set of these, which are all below `cpus`.
    pub fn of(cpus: usize, members: impl IntoIterator<Item = CoreId>) -> Self {
        let mut set = Self::empty(cpus);
        members.into_iter().for_each(|cpu| set.insert(cpu));
        set
    }

    /// Whether it has a processor.
    #[inline]
    pub fn contains(&self, cpu: CoreId) -> bool {
        let (word, bit) = bit_of(cpu);
        self.words[word] & bit != 0
    }

    /// Adds one.
    #[inline]
    pub fn insert(&mut self, cpu: CoreId) {
        let (word, bit) = bit_of(cpu);
        self.words[word] |= bit;
    }

    /// Takes one out.
    #[inline]
    pub fn remove(&mut self, cpu: CoreId) {
        let (word, bit) = bit_of(cpu);
        self.words[word] &= !bit;
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
    first: usize,
    end: usize,
}

impl CpuRange {
    /// These.
    pub fn of(cpus: Span<CoreId>) -> Self {
        let numbers = cpus.numbers();
        Self {
            first: numbers.start,
            end: numbers.end,
        }
    }

    /// Number of processors.
    pub fn count(self) -> usize {
        self.end - self.first
    }

    /// The last of them.
    pub fn last(self) -> CoreId {
        CoreId::new(self.end - 1)
    }

    /// The words of a set in which they lie.
    #[inline]
    pub fn words(self) -> std::ops::Range<usize> {
        self.first / WORD..self.end.div_ceil(WORD)
    }

    /// Those in one of these words, and the bit of the first of them.
    #[inline]
    pub fn within(self, word: usize) -> (Span<CoreId>, usize) {
        let first = self.first.max(word * WORD);
        let end = self.end.min((word + 1) * WORD);
        (Span::new(first, end - first), first % WORD)
    }

    /// The first of them whose bit `word` has.
    #[inline]
    pub fn any(self, word: impl Fn(usize) -> u64) -> Option<CoreId> {
        self.next(self.first, word)
    }

    /// The first of them whose bit `word` has, from `from` on and around.
    #[inline]
    pub fn around(self, from: CoreId, word: impl Fn(usize) -> u64) -> Option<CoreId> {
        self.from(from.index(), word)
    }

    /// The same from the one behind `cpu` on, to `cpu` itself at last.
    #[inline]
    pub fn behind(self, cpu: CoreId, word: impl Fn(usize) -> u64) -> Option<CoreId> {
        self.from(cpu.index() + 1, word)
    }

    #[inline]
    fn from(self, from: usize, word: impl Fn(usize) -> u64) -> Option<CoreId> {
        self.next(from, &word).or_else(|| {
            let end = from.min(self.end);
            Self { end, ..self }.any(word)
        })
    }

    /// The first at or after `from`, without going around.
    #[inline]
    fn next(self, from: usize, word: impl Fn(usize) -> u64) -> Option<CoreId> {
        if from >= self.end {
            return None;
        }
        let (mut at, last) = (from / WORD, (self.end - 1) / WORD);
        let mut bits = word(at) & (!0 << (from % WORD));
        while bits == 0 {
            if at == last {
                return None;
            }
            at += 1;
            bits = word(at);
        }
        let cpu = lowest(at, bits);
        (cpu.index() < self.end).then_some(cpu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: usize, end: usize) -> CpuRange {
        CpuRange::of(Span::new(first, end - first))
    }

    #[test]
    fn members_are_gone_through_around_the_end() {
        let set = CpuSet::of(130, [3, 64, 129].map(CoreId::new));
        let word = |at| set.word(at);
        let from = |at| {
            let found = range(2, 130).around(CoreId::new(at), word);
            found.map(CoreId::index)
        };
        assert_eq!((from(3), from(4)), (Some(3), Some(64)));
        assert_eq!((from(129), from(130)), (Some(129), Some(3)));
        let behind = range(2, 130).behind(CoreId::new(129), word);
        assert_eq!(behind, Some(CoreId::new(3)));
        assert_eq!(range(2, 130).any(|_| 0), None);
        assert_eq!(range(4, 64).around(CoreId::new(9), word), None);
    }

    /// Against a look at one processor after the other.
    #[test]
    fn any_stretch_of_any_set_is_searched() {
        let mut stream = crate::kernel::Stream::new(1, 0, "cpus");
        for _ in 0..2_000 {
            let mut below = |end: usize| stream.below(end as u64) as usize;
            let cpus = 1 + below(200);
            let members = (0..cpus).filter(|_| below(9) == 0).map(CoreId::new);
            let set = CpuSet::of(cpus, members);
            let first = below(cpus);
            let end = first + 1 + below(cpus - first);
            let from = first + below(end - first);
            let mut order = (from..end).chain(first..from).map(CoreId::new);
            let plain = order.find(|cpu| set.contains(*cpu));
            let found = range(first, end).around(CoreId::new(from), |at| set.word(at));
            assert_eq!(found, plain);
        }
    }
}
