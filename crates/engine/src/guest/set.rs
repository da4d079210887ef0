//! A set of a partition's virtual processors, as bits, lowest first.

/// Set of virtual processor indices. Most partitions have 64 at most, and those stand in place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct VpSet {
    first: u64,
    rest: Box<[u64]>,
}

impl VpSet {
    /// An empty set with room for `count` members.
    pub fn new(count: u16) -> Self {
        let words = usize::from(count).div_ceil(64);
        Self {
            first: 0,
            rest: vec![0; words.saturating_sub(1)].into(),
        }
    }

    #[inline]
    fn word(&mut self, vp: u16) -> &mut u64 {
        match usize::from(vp >> 6) {
            0 => &mut self.first,
            word => &mut self.rest[word - 1],
        }
    }

    fn words(&self) -> impl Iterator<Item = u64> + '_ {
        std::iter::once(self.first).chain(self.rest.iter().copied())
    }

    /// Adds a member.
    #[inline]
    pub fn insert(&mut self, vp: u16) {
        *self.word(vp) |= 1 << (vp & 63);
    }

    /// Removes a member.
    #[inline]
    pub fn remove(&mut self, vp: u16) {
        *self.word(vp) &= !(1 << (vp & 63));
    }

    /// Whether `vp` is a member.
    #[inline]
    pub fn contains(&self, vp: u16) -> bool {
        let word = match usize::from(vp >> 6) {
            0 => self.first,
            word => self.rest[word - 1],
        };
        word & (1 << (vp & 63)) != 0
    }

    /// Lowest member.
    #[inline]
    pub fn first(&self) -> Option<u16> {
        if self.first != 0 {
            return Some(self.first.trailing_zeros() as u16);
        }
        let at = self.rest.iter().position(|word| *word != 0)?;
        Some((at as u16 + 1) << 6 | self.rest[at].trailing_zeros() as u16)
    }

    /// Lowest member that is also one of `other`.
    pub fn first_in(&self, other: &VpSet) -> Option<u16> {
        let both = self.words().zip(other.words()).map(|(a, b)| a & b);
        let (at, word) = both.enumerate().find(|(_, word)| *word != 0)?;
        Some((at as u16) << 6 | word.trailing_zeros() as u16)
    }

    /// How many members it has in common with `other`.
    pub fn count_in(&self, other: &VpSet) -> u32 {
        let both = self.words().zip(other.words());
        both.map(|(a, b)| (a & b).count_ones()).sum()
    }

    /// Members from the lowest on.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        self.words().enumerate().flat_map(|(at, mut bits)| {
            std::iter::from_fn(move || {
                let bit = (bits != 0).then(|| bits.trailing_zeros() as u16)?;
                bits &= bits - 1;
                Some((at as u16) << 6 | bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_lowest_across_words() {
        let mut set = VpSet::new(130);
        assert_eq!(set.first(), None);
        set.insert(129);
        set.insert(64);
        assert_eq!(set.first(), Some(64));
        set.remove(64);
        assert_eq!(set.first(), Some(129));
        assert!(set.contains(129) && !set.contains(64));
    }

    #[test]
    fn finds_what_two_sets_have_in_common() {
        let (mut a, mut b) = (VpSet::new(130), VpSet::new(130));
        [3, 70, 129].into_iter().for_each(|vp| a.insert(vp));
        [4, 70, 129].into_iter().for_each(|vp| b.insert(vp));
        assert_eq!((a.first_in(&b), a.count_in(&b)), (Some(70), 2));
        assert_eq!(a.iter().collect::<Vec<_>>(), vec![3, 70, 129]);
        assert_eq!(a.first_in(&VpSet::new(130)), None);
    }
}
