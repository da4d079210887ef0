//! One pending event as one 128-bit number whose order is the order of events.
//!
//! ```text
//!  127            64 63      60 59             24 23      0
//! +-----------------+----------+-----------------+---------+
//! |    time [ns]    | priority |    sequence     |  slot   |
//! +-----------------+----------+-----------------+---------+
//! ```
//! The slot says where the payload lies. No two pending events share a sequence, so the slot never
//! decides the order.

use super::time::Time;

const SLOT_BITS: u32 = 24;
const SEQUENCE_BITS: u32 = 36;
const PRIORITY_BITS: u32 = 4;

/// Pending events a queue can hold.
pub(super) const SLOTS: usize = 1 << SLOT_BITS;
/// Sequence numbers before the queue has to renumber.
pub(super) const SEQUENCES: u64 = 1 << SEQUENCE_BITS;
/// Greater than every entry: an empty slot.
pub(crate) const EMPTY: u128 = u128::MAX;

/// Rank of an event among those of the same time; the lower number comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(u8);

impl Priority {
    /// The priority that comes first.
    pub const FIRST: Priority = Priority(0);
    /// The priority that comes last.
    pub const LAST: Priority = Priority((1 << PRIORITY_BITS) - 1);

    /// A priority from 0 (first) to 15 (last).
    ///
    /// # Panics
    /// Beyond 15; in a constant this is an error of compilation.
    pub const fn new(rank: u8) -> Priority {
        assert!(rank <= Priority::LAST.0, "priorities go from 0 to 15");
        Priority(rank)
    }

    /// The number, 0 to 15.
    #[inline]
    pub const fn rank(self) -> u8 {
        self.0
    }
}

/// Identity of one scheduled event: the number of the `schedule` or `set_timer` call that made it,
/// counted from 1.
///
/// Never used twice by one queue. A later call has the greater key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub(super) u64);

impl Key {
    /// The key of no event: what to remember when none is awaited.
    pub const NONE: Key = Key(0);

    /// The number of the call.
    #[inline]
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// An event of a queue that is scheduled again and again, and may be moved while it is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timer(pub(super) u32);

/// Packs an event, of which the slot is left to be filled in. `sequence` must be below
/// [`SEQUENCES`].
#[inline]
pub(super) fn pack(time: Time, priority: Priority, sequence: u64) -> u128 {
    let low = u64::from(priority.0) << (SEQUENCE_BITS + SLOT_BITS) | sequence << SLOT_BITS;
    u128::from(time.as_ns()) << 64 | u128::from(low)
}

/// When the event is due.
#[inline]
pub(super) fn time(entry: u128) -> Time {
    Time::from_ns((entry >> 64) as u64)
}

/// Its sequence number.
#[inline]
pub(super) fn sequence(entry: u128) -> u64 {
    (entry as u64 >> SLOT_BITS) & (SEQUENCES - 1)
}

/// Where its payload lies.
#[inline]
pub(super) fn slot(entry: u128) -> usize {
    entry as usize & (SLOTS - 1)
}

/// The same event with another sequence number.
pub(super) fn renumbered(entry: u128, sequence: u64) -> u128 {
    let mask = u128::from(SEQUENCES - 1) << SLOT_BITS;
    entry & !mask | u128::from(sequence) << SLOT_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back() {
        let entry = pack(Time::from_ns(7), Priority::LAST, SEQUENCES - 1) | (SLOTS - 1) as u128;
        assert_eq!(
            (time(entry), sequence(entry), slot(entry)),
            (Time::from_ns(7), SEQUENCES - 1, SLOTS - 1)
        );
        assert_eq!(sequence(renumbered(entry, 3)), 3);
        assert_eq!(renumbered(entry, SEQUENCES - 1), entry);
    }

    #[test]
    fn order_is_time_then_priority_then_sequence() {
        let entry = |ns, rank, sequence, slot: usize| {
            pack(Time::from_ns(ns), Priority::new(rank), sequence) | slot as u128
        };
        assert!(entry(1, 15, 9, 9) < entry(2, 0, 0, 0));
        assert!(entry(1, 3, 9, 9) < entry(1, 4, 0, 0));
        assert!(entry(1, 3, 8, 9) < entry(1, 3, 9, 0));
        assert!(entry(u64::MAX - 1, 15, SEQUENCES - 1, SLOTS - 1) < EMPTY);
    }

    #[test]
    #[should_panic(expected = "0 to 15")]
    fn a_priority_beyond_the_last_is_refused() {
        Priority::new(16);
    }
}
