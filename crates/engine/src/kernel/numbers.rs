//! Sequence numbers of pending events, and the keys behind them.
//!
//! Sequence numbers are 36 bits of an entry, enough for an hour or so of running. When they are
//! used up, the pending events are renumbered 0, 1, 2, ... in their order and their keys kept in a
//! table, so that no key ever changes.

use super::entry::{self, Key, SEQUENCES};

/// Gives sequence numbers, and knows the key of each that is in use.
pub(super) struct Numbers {
    /// Given to the event that is scheduled next.
    next: u64,
    /// How many there are; less than [`SEQUENCES`] only in tests.
    count: u64,
    /// Key of an event less its sequence number, for those numbered since the last renumbering.
    key_base: u64,
    /// Keys of the events that the last renumbering found pending, by their new sequence number.
    renumbered: Vec<u64>,
}

impl Numbers {
    pub(super) fn new() -> Numbers {
        Numbers::with_count(SEQUENCES)
    }

    /// So few that they are soon used up.
    pub(super) fn with_count(count: u64) -> Numbers {
        Numbers {
            next: 0,
            count,
            key_base: 1,
            renumbered: Vec::new(),
        }
    }

    /// Numbers given, whether still in use or not.
    pub(super) fn given(&self) -> u64 {
        self.key_base + self.next - 1
    }

    #[inline]
    pub(super) fn are_used_up(&self) -> bool {
        self.next == self.count
    }

    /// The next number and its key.
    #[inline]
    pub(super) fn give(&mut self) -> (u64, Key) {
        let sequence = self.next;
        self.next += 1;
        (sequence, Key(self.key_base + sequence))
    }

    /// Key of a pending event.
    #[inline]
    pub(super) fn key(&self, entry: u128) -> Key {
        let sequence = entry::sequence(entry);
        match self.renumbered.get(sequence as usize) {
            Some(&key) => Key(key),
            None => Key(self.key_base + sequence),
        }
    }

    /// Starts over: each of the sequence numbers in use, which are sorted, becomes its place among
    /// them.
    ///
    /// # Panics
    /// If all are in use.
    pub(super) fn start_over(&mut self, in_use: &[u128]) {
        let used = in_use.len() as u64;
        assert!(used < self.count, "{used} events are pending");
        let keys = in_use.iter().map(|&entry| self.key(entry).0).collect();
        self.key_base += self.next - used;
        self.next = used;
        self.renumbered = keys;
    }
}
