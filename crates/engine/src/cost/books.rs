//! The causes under which a core's time is booked.

/// Cause of a nanosecond of core time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Book {
    /// Core part of the instructions: what an infinite cache and a core of one's own would leave.
    Useful,
    /// Hits in the second cache level.
    L2,
    /// Hits in the third cache level.
    L3,
    /// Hits in the node's cache.
    L4,
    /// Another core's cache or the chip cache, on the same chip.
    CacheChip,
    /// A sharer's cache on another chip of the node.
    CacheNear,
    /// A sharer's cache on another node.
    CacheFar,
    /// Memory of the same chip.
    MemoryLocal,
    /// Memory of another chip of the node.
    MemoryNear,
    /// Memory of another node.
    MemoryFar,
    /// Walks of the translation tables for lines from memory.
    Translation,
    /// Stores waiting for their way to the cache that keeps them.
    Store,
    /// Refilling a core's caches after a dispatch.
    Reload,
    /// Issue slots lost to sibling threads.
    Smt,
    /// The guest's clock tick.
    Tick,
    /// Spinning on a lock.
    Spin,
    /// Searching a virtual switch's list.
    List,
    /// A core held by a guest whose threads are all idle.
    GuestIdle,
    /// The hypervisor itself: dispatch, cede, prod, confer, interrupts passed on.
    Hypervisor,
}

/// Number of books.
pub const BOOK_COUNT: usize = 19;

/// Names of the books, as result columns have them.
pub const BOOK_NAMES: [&str; BOOK_COUNT] = [
    "useful",
    "l2",
    "l3",
    "l4",
    "cache_chip",
    "cache_near",
    "cache_far",
    "memory_local",
    "memory_near",
    "memory_far",
    "translation",
    "store",
    "reload",
    "smt",
    "tick",
    "spin",
    "list",
    "guest_idle",
    "hypervisor",
];

/// Core time by cause [ns].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Books(pub [f64; BOOK_COUNT]);

impl Books {
    /// Books `ns` under `book`.
    #[inline]
    pub fn add(&mut self, book: Book, ns: f64) {
        self.0[book as usize] += ns;
    }

    /// Time in one book [ns].
    pub fn of(&self, book: Book) -> f64 {
        self.0[book as usize]
    }

    /// Adds `factor` times `other`, book by book.
    pub fn add_scaled(&mut self, other: &Books, factor: f64) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs * factor;
        }
    }

    /// Sum over the books up to one, that included [ns].
    #[inline]
    pub fn up_to(&self, book: Book) -> f64 {
        self.0[..=book as usize].iter().sum()
    }

    /// Sum over all books [ns].
    pub fn total(&self) -> f64 {
        self.0.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_book_has_the_last_name() {
        assert_eq!(Book::Hypervisor as usize, BOOK_COUNT - 1);
        assert_eq!(BOOK_NAMES[Book::MemoryFar as usize], "memory_far");
        assert_eq!(BOOK_NAMES[Book::Spin as usize], "spin");
    }

    #[test]
    fn scaled_sums_add_up() {
        let mut a = Books::default();
        a.add(Book::Useful, 3.0);
        a.add(Book::Reload, 1.0);
        let mut b = Books::default();
        b.add_scaled(&a, 2.0);
        assert_eq!(b.total(), 8.0);
        assert_eq!(b.of(Book::Useful), 6.0);
    }
}
