//! A set of logical processors, as Xen's masks: members are gone through from one on and around.

use crate::hypervisor::CoreId;

/// A set of logical processors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuSet {
    words: Vec<u64>,
}

impl CpuSet {
    /// The empty set, with room for so many.
    pub fn empty(cpus: u16) -> Self {
        Self {
            words: vec![0; usize::from(cpus).div_ceil(64)],
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
        self.words[usize::from(cpu / 64)] >> (cpu % 64) & 1 == 1
    }

    /// Adds one.
    pub fn insert(&mut self, cpu: CoreId) {
        self.words[usize::from(cpu / 64)] |= 1 << (cpu % 64);
    }

    /// Takes one out.
    pub fn remove(&mut self, cpu: CoreId) {
        self.words[usize::from(cpu / 64)] &= !(1 << (cpu % 64));
    }

    /// Whether the two have a member in common.
    pub fn meets(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    /// Members of both.
    pub fn and(&self, other: &Self) -> Self {
        let words = self.words.iter().zip(&other.words).map(|(a, b)| a & b);
        Self {
            words: words.collect(),
        }
    }

    /// Number of members.
    pub fn count(&self) -> u16 {
        self.words.iter().map(|word| word.count_ones() as u16).sum()
    }

    /// Members, lowest first.
    pub fn iter(&self) -> impl Iterator<Item = CoreId> + '_ {
        (0..self.words.len() as u16 * 64).filter(|cpu| self.contains(*cpu))
    }

    /// The first member after `cpu`, around the end to `cpu` itself at last.
    pub fn after(&self, cpu: CoreId) -> Option<CoreId> {
        let mut members = self.iter().filter(|member| *member > cpu);
        members.next().or_else(|| self.iter().next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_gone_through_around_the_end() {
        let set = CpuSet::of(130, [3, 64, 129]);
        assert_eq!(set.after(3), Some(64));
        assert_eq!(set.after(129), Some(3));
        assert_eq!(CpuSet::empty(130).after(0), None);
        assert_eq!((set.count(), set.iter().last()), (3, Some(129)));
    }

    #[test]
    fn common_members() {
        let (a, b) = (CpuSet::of(70, [1, 69]), CpuSet::of(70, [2, 69]));
        assert!(a.meets(&b));
        assert_eq!(a.and(&b), CpuSet::of(70, [69]));
        assert!(!a.meets(&CpuSet::of(70, [2])));
    }
}
