//! The event queue: a tournament over the pending events, and the clock.
//!
//! An event keeps its slot of the tournament from `schedule` to `pop`. A taken event leaves its
//! slot open until the next call, because most events schedule a successor at once: it moves into
//! the open slot, and one replay serves both.
//!
//! Sequence numbers are 36 bits of an entry, enough for an hour or so of running. When they are
//! used up, the pending events are renumbered 0, 1, 2, ... in their order and their keys kept in a
//! table, so that no key ever changes.

use super::entry::{self, Key, Priority, Timer, EMPTY, SEQUENCES, SLOTS};
use super::time::Time;
use super::tree::Tree;

/// No slot is open.
const CLOSED: usize = usize::MAX;

/// Pending events in the order (time, priority, sequence), and the clock.
pub struct Queue<T> {
    tree: Tree,
    /// Payload of each slot ever used.
    payloads: Vec<T>,
    /// Whether a slot is a timer's, which keeps it.
    reserved: Vec<bool>,
    /// Slots without an event that anyone may have, besides the open one.
    free: Vec<u32>,
    /// Timers that wait for nothing, the open one among them.
    idle: usize,
    /// Slot of the event taken last, still in the tree; [`CLOSED`] if none.
    open: usize,
    now: Time,
    /// Sequence number of the next event.
    sequence: u64,
    /// Sequence numbers there are; less than [`SEQUENCES`] only in tests.
    sequences: u64,
    /// Key of an event less its sequence number, for those numbered since the last renumbering.
    key_base: u64,
    /// Keys of the events that the last renumbering found pending, by their new sequence number.
    renumbered: Vec<u64>,
}

impl<T: Copy> Queue<T> {
    /// An empty queue at time zero.
    pub fn new() -> Queue<T> {
        Queue {
            tree: Tree::new(),
            payloads: Vec::new(),
            reserved: Vec::new(),
            free: Vec::new(),
            idle: 0,
            open: CLOSED,
            now: Time::ZERO,
            sequence: 0,
            sequences: SEQUENCES,
            key_base: 1,
            renumbered: Vec::new(),
        }
    }

    /// The clock: time of the event taken last, or the limit last reached.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Pending events.
    pub fn len(&self) -> usize {
        let open = self.open != CLOSED && !self.reserved[self.open];
        self.payloads.len() - self.free.len() - self.idle - usize::from(open)
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Events scheduled since the queue was made.
    pub fn scheduled(&self) -> u64 {
        self.key_base + self.sequence - 1
    }

    /// Adds an event.
    ///
    /// # Panics
    /// If `time` lies before the clock or is [`Time::MAX`], or if 2^24 events are pending: faults
    /// of the caller.
    #[inline]
    pub fn schedule(&mut self, time: Time, priority: Priority, payload: T) -> Key {
        self.check(time);
        let slot = if self.open != CLOSED && !self.reserved[self.open] {
            std::mem::replace(&mut self.open, CLOSED)
        } else {
            self.free_slot(payload)
        };
        self.payloads[slot] = payload;
        self.put(slot, time, priority)
    }

    /// Reserves a timer: one pending event at most, which can be moved. It waits for nothing yet.
    ///
    /// # Panics
    /// If 2^24 events are pending.
    pub fn timer(&mut self, payload: T) -> Timer {
        let slot = self.free_slot(payload);
        self.payloads[slot] = payload;
        self.reserved[slot] = true;
        self.idle += 1;
        Timer(slot as u32)
    }

    /// Schedules the timer's event, in place of the one that it waits for. It is ordered among the
    /// others as if it had been scheduled now for the first time.
    ///
    /// # Panics
    /// If `time` lies before the clock or is [`Time::MAX`]: faults of the caller.
    #[inline]
    pub fn set_timer(&mut self, timer: Timer, time: Time, priority: Priority) -> Key {
        self.check(time);
        let slot = timer.0 as usize;
        self.idle -= usize::from(self.is_idle(slot));
        if self.open == slot {
            self.open = CLOSED;
        }
        self.put(slot, time, priority)
    }

    /// Forgets the timer's event, if it waits for one.
    #[inline]
    pub fn stop_timer(&mut self, timer: Timer) {
        let slot = timer.0 as usize;
        if !self.is_idle(slot) {
            self.tree.set(slot, EMPTY);
            self.idle += 1;
        }
    }

    /// Whether a timer waits for nothing.
    fn is_idle(&self, slot: usize) -> bool {
        self.open == slot || self.tree.get(slot) == EMPTY
    }

    /// Refuses a time that is over; makes sure of a sequence number.
    #[inline]
    fn check(&mut self, time: Time) {
        if time < self.now || time == Time::MAX {
            refuse(time, self.now);
        }
        if self.sequence == self.sequences {
            self.renumber();
        }
    }

    #[inline]
    fn put(&mut self, slot: usize, time: Time, priority: Priority) -> Key {
        let sequence = self.sequence;
        self.sequence += 1;
        self.tree
            .set(slot, entry::pack(time, priority, sequence, slot));
        Key(self.key_base + sequence)
    }

    /// Takes the next event and moves the clock to it.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, Key, T)> {
        self.close();
        if self.tree.top() == EMPTY {
            return None;
        }
        Some(self.take_top())
    }

    /// Takes the next event due before `limit` and moves the clock to it; or moves the clock to
    /// `limit`.
    #[inline]
    pub(super) fn pop_before(&mut self, limit: Time) -> Option<(Time, Key, T)> {
        self.close();
        if entry::time(self.tree.top()) >= limit {
            self.now = self.now.max(limit);
            return None;
        }
        Some(self.take_top())
    }

    /// Time of the next event.
    #[inline]
    pub fn peek_time(&mut self) -> Option<Time> {
        self.close();
        let top = self.tree.top();
        (top != EMPTY).then(|| entry::time(top))
    }

    #[inline]
    fn take_top(&mut self) -> (Time, Key, T) {
        let top = self.tree.top();
        let slot = entry::slot(top);
        self.open = slot;
        self.idle += usize::from(self.reserved[slot]);
        self.now = entry::time(top);
        (self.now, self.key(top), self.payloads[slot])
    }

    #[inline]
    fn key(&self, entry: u128) -> Key {
        let sequence = entry::sequence(entry);
        match self.renumbered.get(sequence as usize) {
            Some(&key) => Key(key),
            None => Key(self.key_base + sequence),
        }
    }

    /// Empties the open slot for good.
    #[inline]
    fn close(&mut self) {
        if self.open != CLOSED {
            self.tree.set(self.open, EMPTY);
            if !self.reserved[self.open] {
                self.free.push(self.open as u32);
            }
            self.open = CLOSED;
        }
    }

    /// A slot without an event; `payload` only fills the table.
    fn free_slot(&mut self, payload: T) -> usize {
        if let Some(slot) = self.free.pop() {
            return slot as usize;
        }
        let slot = self.payloads.len();
        assert!(
            slot < SLOTS,
            "more than {SLOTS} events are pending at {}",
            self.now
        );
        if slot == self.tree.slots() {
            self.tree.double();
        }
        self.payloads.push(payload);
        self.reserved.push(false);
        slot
    }

    /// Gives the pending events the least sequence numbers, in their order, and remembers their
    /// keys.
    #[cold]
    fn renumber(&mut self) {
        let reopened = self.open;
        self.close();
        let mut pending: Vec<u128> = (0..self.payloads.len())
            .map(|slot| self.tree.get(slot))
            .filter(|&entry| entry != EMPTY)
            .collect();
        pending.sort_unstable_by_key(|&entry| entry::sequence(entry));
        assert!(
            (pending.len() as u64) < self.sequences,
            "{} events are pending at {}",
            pending.len(),
            self.now
        );
        let keys = pending.iter().map(|&entry| self.key(entry).0).collect();
        for (sequence, &entry) in (0..).zip(&pending) {
            self.tree
                .set(entry::slot(entry), entry::renumbered(entry, sequence));
        }
        let used = pending.len() as u64;
        self.key_base += self.sequence - used;
        self.sequence = used;
        self.renumbered = keys;
        if reopened != CLOSED {
            if !self.reserved[reopened] {
                self.free.pop();
            }
            self.open = reopened;
        }
    }
}

impl<T: Copy> Default for Queue<T> {
    fn default() -> Self {
        Queue::new()
    }
}

#[cold]
#[inline(never)]
fn refuse(time: Time, now: Time) -> ! {
    panic!(
        "an event was scheduled for {} ns while the clock stands at {} ns",
        time.as_ns(),
        now.as_ns()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::plain::PlainQueue;

    const P: Priority = Priority::FIRST;

    fn ns(ns: u64) -> Time {
        Time::from_ns(ns)
    }

    #[test]
    fn order_by_hand() {
        let mut queue = Queue::new();
        queue.schedule(ns(5), Priority::new(1), "second of 5");
        queue.schedule(ns(5), Priority::new(0), "first of 5");
        queue.schedule(ns(5), Priority::new(1), "third of 5");
        queue.schedule(ns(1), Priority::LAST, "alone at 1");
        assert_eq!((queue.len(), queue.peek_time()), (4, Some(ns(1))));
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        let expected = [
            (ns(1), Key(4), "alone at 1"),
            (ns(5), Key(2), "first of 5"),
            (ns(5), Key(1), "second of 5"),
            (ns(5), Key(3), "third of 5"),
        ];
        assert_eq!(order, expected);
        assert_eq!(
            (queue.now(), queue.len(), queue.peek_time()),
            (ns(5), 0, None)
        );
    }

    #[test]
    fn a_limit_keeps_what_is_due_at_it() {
        let mut queue = Queue::new();
        queue.schedule(ns(3), P, 'a');
        queue.schedule(ns(4), P, 'b');
        assert_eq!(queue.pop_before(ns(4)).map(|event| event.2), Some('a'));
        assert_eq!(queue.pop_before(ns(4)), None);
        assert_eq!((queue.now(), queue.len()), (ns(4), 1));
        assert_eq!(queue.pop_before(ns(5)).map(|event| event.2), Some('b'));
        assert_eq!(queue.pop_before(Time::MAX), None);
    }

    #[test]
    #[should_panic(expected = "scheduled for 2 ns while the clock stands at 3 ns")]
    fn the_past_is_refused() {
        let mut queue = Queue::new();
        queue.schedule(ns(3), P, ());
        queue.pop();
        queue.schedule(ns(2), P, ());
    }

    #[test]
    fn slots_are_used_again() {
        let mut queue = Queue::new();
        for _ in 0..100 {
            for i in 0..20 {
                queue.schedule(queue.now() + ns(i), P, i);
            }
            while queue.pop().is_some() {}
        }
        assert_eq!((queue.payloads.len(), queue.scheduled()), (20, 2_000));
    }

    /// A queue that must renumber every few events against its plain twin, keys included.
    #[test]
    fn renumbering_changes_neither_order_nor_keys() {
        for sequences in [9, 10, 17, 64] {
            let mut queue = Queue {
                sequences,
                ..Queue::new()
            };
            let mut plain = PlainQueue::new();
            let mut state = 1u64;
            for round in 0..2_000u64 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let choice = state >> 33;
                if queue.len() < 8 && choice % 3 != 0 {
                    // Every fourth event waits for long, so that old numbers meet several
                    // renumberings.
                    let wait = if choice % 4 == 0 { 50 } else { choice % 5 };
                    let (time, priority) =
                        (queue.now() + ns(wait), Priority::new((choice % 2) as u8));
                    assert_eq!(
                        queue.schedule(time, priority, round),
                        plain.schedule(time, priority, round)
                    );
                } else {
                    assert_eq!(queue.pop(), plain.pop());
                }
                assert_eq!((queue.len(), queue.now()), (plain.len(), plain.now()));
            }
            assert_eq!(queue.scheduled(), plain.scheduled());
        }
    }
}
