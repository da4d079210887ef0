//! The event queue: the numbers of the events, and the clock.
//!
//! ```text
//! schedule --> events: a tournament of up to thousands --+
//!                                                        +--> the earlier one --> pop
//! set_timer -> timers: a tournament of a few ------------+
//! ```
//! Most pending events are far in the future and stay where they are, while a few are moved all the
//! time. Each kind has a tournament of its own, so that what is moved does not pass the levels that
//! the others need.

use super::entry::{self, Key, Priority, Timer, EMPTY};
use super::events::Events;
use super::leaves::Leaves;
use super::numbers::Numbers;
use super::time::Time;

/// Pending events in the order (time, priority, sequence), and the clock.
pub struct Queue<T> {
    events: Events<T>,
    /// A timer keeps its leaf for good: moving its event is one replay and leaves nothing stale.
    timers: Leaves<T>,
    now: Time,
    numbers: Numbers,
}

impl<T: Copy> Queue<T> {
    /// An empty queue at time zero.
    pub fn new() -> Queue<T> {
        Queue {
            events: Events::new(),
            timers: Leaves::new(),
            now: Time::ZERO,
            numbers: Numbers::new(),
        }
    }

    /// The clock: time of the event taken last, or the limit last reached.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Pending events. Looks at every timer.
    pub fn len(&self) -> usize {
        self.events.len() + self.timers.pending()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Events scheduled since the queue was made.
    pub fn scheduled(&self) -> u64 {
        self.numbers.given()
    }

    /// Adds an event.
    ///
    /// # Panics
    /// If `time` lies before the clock or is [`Time::MAX`], or if 2^24 events are pending: faults
    /// of the caller.
    #[inline]
    pub fn schedule(&mut self, time: Time, priority: Priority, payload: T) -> Key {
        let (entry, key) = self.number(time, priority);
        self.events.insert(entry, payload);
        key
    }

    /// Reserves a timer: one pending event at most, which can be moved. It waits for nothing yet.
    ///
    /// # Panics
    /// Beyond 2^24 timers.
    pub fn timer(&mut self, payload: T) -> Timer {
        Timer(self.timers.add(payload, "timers") as u32)
    }

    /// Schedules the timer's event, in place of the one that it waits for. It is ordered among the
    /// others as if it had been scheduled now for the first time.
    ///
    /// # Panics
    /// If `time` lies before the clock or is [`Time::MAX`]: faults of the caller.
    #[inline]
    pub fn set_timer(&mut self, timer: Timer, time: Time, priority: Priority) -> Key {
        let (entry, key) = self.number(time, priority);
        self.timers.set(timer.0 as usize, entry);
        key
    }

    /// Forgets the timer's event, if it waits for one.
    #[inline]
    pub fn stop_timer(&mut self, timer: Timer) {
        self.timers.clear(timer.0 as usize);
    }

    /// Takes the next event and moves the clock to it.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, Key, T)> {
        self.take(Time::MAX)
    }

    /// Takes the next event due before `limit` and moves the clock to it; or moves the clock to
    /// `limit`.
    #[inline]
    pub(super) fn pop_before(&mut self, limit: Time) -> Option<(Time, Key, T)> {
        let event = self.take(limit);
        if event.is_none() {
            self.now = self.now.max(limit);
        }
        event
    }

    #[inline]
    fn take(&mut self, limit: Time) -> Option<(Time, Key, T)> {
        let (event, timer) = (self.events.top(), self.timers.tree(|_| ()).top());
        let is_event = event < timer;
        let next = if is_event { event } else { timer };
        if entry::time(next) >= limit {
            return None;
        }
        let payload = if is_event {
            self.events.take()
        } else {
            self.timers.take()
        };
        self.now = entry::time(next);
        Some((self.now, self.numbers.key(next), payload))
    }

    /// Time of the next event.
    #[inline]
    pub fn peek_time(&mut self) -> Option<Time> {
        let next = self.events.top().min(self.timers.tree(|_| ()).top());
        (next != EMPTY).then(|| entry::time(next))
    }

    /// Gives a new event its number; refuses a time that is over.
    #[inline]
    fn number(&mut self, time: Time, priority: Priority) -> (u128, Key) {
        if time < self.now || time == Time::MAX {
            refuse(time, self.now);
        }
        if self.numbers.are_used_up() {
            self.renumber();
        }
        let (sequence, key) = self.numbers.give();
        (entry::pack(time, priority, sequence), key)
    }

    /// Gives the pending events the least sequence numbers, in their order.
    #[cold]
    #[inline(never)]
    fn renumber(&mut self) {
        let (events, timers) = (self.events.tree(), self.timers.tree(|_| ()));
        let mut pending: Vec<u128> = events.numbers().chain(timers.numbers()).collect();
        pending.sort_unstable_by_key(|&entry| entry::sequence(entry));
        let new = |old| {
            let sequence = entry::sequence(old);
            let place = pending.partition_point(|&entry| entry::sequence(entry) < sequence);
            entry::renumbered(old, place as u64)
        };
        events.change(new);
        timers.change(new);
        self.numbers.start_over(&pending);
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
        assert_eq!((queue.events.leaves(), queue.scheduled()), (20, 2_000));
    }

    /// A queue that must renumber every few events against its plain twin, keys included.
    #[test]
    fn renumbering_changes_neither_order_nor_keys() {
        for count in [9, 10, 17, 64] {
            let mut queue = Queue {
                numbers: Numbers::with_count(count),
                ..Queue::new()
            };
            let mut plain = PlainQueue::new();
            let timers = [queue.timer(0), queue.timer(1)];
            let twins = [plain.timer(0), plain.timer(1)];
            let mut state = 1u64;
            for round in 0..4_000u64 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let choice = state >> 33;
                // Every fourth event waits for long, so that old numbers meet several
                // renumberings.
                let wait = if choice % 4 == 0 { 50 } else { choice % 5 };
                let (time, priority) = (queue.now() + ns(wait), Priority::new((choice % 2) as u8));
                let which = (choice / 16 % 2) as usize;
                match choice % 7 {
                    0 | 1 if queue.len() < 6 => assert_eq!(
                        queue.schedule(time, priority, round),
                        plain.schedule(time, priority, round)
                    ),
                    2 | 3 => assert_eq!(
                        queue.set_timer(timers[which], time, priority),
                        plain.set_timer(twins[which], time, priority)
                    ),
                    4 => {
                        queue.stop_timer(timers[which]);
                        plain.stop_timer(twins[which]);
                    }
                    _ => assert_eq!(queue.pop(), plain.pop()),
                }
                assert_eq!((queue.len(), queue.now()), (plain.len(), plain.now()));
            }
            assert_eq!(queue.scheduled(), plain.scheduled());
        }
    }
}
