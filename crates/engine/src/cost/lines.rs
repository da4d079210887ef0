//! The sources of the lines that a thread brings into its first cache level.

/// Where a line comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Source {
    /// The second cache level.
    L2,
    /// The third cache level.
    L3,
    /// The node's cache.
    L4,
    /// The chip's cache, or another core's on the same chip.
    CacheChip,
    /// A sharer's cache on another chip of the node.
    CacheNear,
    /// A sharer's cache on another node.
    CacheFar,
    /// Memory of the own domain.
    MemoryLocal,
    /// Memory of another domain of the node.
    MemoryNear,
    /// Memory of another node.
    MemoryFar,
}

/// Number of sources.
pub const LINE_COUNT: usize = 9;

/// Names of the sources, as result columns have them; those of the books of the same cause.
pub const LINE_NAMES: [&str; LINE_COUNT] = [
    "l2",
    "l3",
    "l4",
    "cache_chip",
    "cache_near",
    "cache_far",
    "memory_local",
    "memory_near",
    "memory_far",
];

/// Lines by source.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lines(pub [f64; LINE_COUNT]);

impl Lines {
    /// Counts `lines` from `source`.
    #[inline]
    pub fn add(&mut self, source: Source, lines: f64) {
        self.0[source as usize] += lines;
    }

    /// Lines from one source.
    pub fn of(&self, source: Source) -> f64 {
        self.0[source as usize]
    }

    /// Adds `factor` times `other`, source by source.
    pub fn add_scaled(&mut self, other: &Lines, factor: f64) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs * factor;
        }
    }

    /// All lines written into the first cache level.
    pub fn total(&self) -> f64 {
        self.0.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::BOOK_NAMES;
    use super::*;

    #[test]
    fn every_source_has_the_name_of_its_book() {
        assert_eq!(LINE_NAMES[Source::MemoryFar as usize], "memory_far");
        assert_eq!(LINE_NAMES[Source::L4 as usize], "l4");
        assert_eq!(LINE_NAMES[..], BOOK_NAMES[1..=LINE_COUNT]);
    }

    #[test]
    fn lines_add_up() {
        let mut lines = Lines::default();
        lines.add(Source::L2, 3.0);
        let mut sum = lines;
        sum.add_scaled(&lines, 2.0);
        assert_eq!((sum.total(), sum.of(Source::L2)), (9.0, 9.0));
    }
}
