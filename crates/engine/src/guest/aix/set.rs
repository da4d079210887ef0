//! A set of a partition's virtual processors, as bits, lowest first.

/// Set of virtual processor indices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VpSet {
    words: Vec<u64>,
}

impl VpSet {
    /// An empty set with room for `count` members.
    pub fn new(count: u16) -> Self {
        Self {
            words: vec![0; usize::from(count).div_ceil(64)],
        }
    }

    /// Adds a member.
    #[inline]
    pub fn insert(&mut self, vp: u16) {
        self.words[usize::from(vp >> 6)] |= 1 << (vp & 63);
    }

    /// Removes a member.
    #[inline]
    pub fn remove(&mut self, vp: u16) {
        self.words[usize::from(vp >> 6)] &= !(1 << (vp & 63));
    }

    /// Whether `vp` is a member.
    #[inline]
    pub fn contains(&self, vp: u16) -> bool {
        self.words[usize::from(vp >> 6)] & (1 << (vp & 63)) != 0
    }

    /// Lowest member.
    #[inline]
    pub fn first(&self) -> Option<u16> {
        let at = self.words.iter().position(|word| *word != 0)?;
        Some((at as u16) << 6 | self.words[at].trailing_zeros() as u16)
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
}
