//! The readable twin of [`super::Queue`]: a sorted list. Slow, and what the fast queue is tested
//! against.

use super::entry::{Key, Priority, Timer};
use super::time::Time;

/// Pending events in a list, the next one last.
#[derive(Default)]
pub struct PlainQueue<T> {
    pending: Vec<(Time, Priority, Key, T)>,
    /// Payload of each timer, and the key of the event that it waited for last.
    timers: Vec<(T, Key)>,
    now: Time,
    scheduled: u64,
}

impl<T: Copy> PlainQueue<T> {
    /// An empty queue at time zero.
    pub fn new() -> PlainQueue<T> {
        PlainQueue {
            pending: Vec::new(),
            timers: Vec::new(),
            now: Time::ZERO,
            scheduled: 0,
        }
    }

    /// The clock.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Pending events.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Events scheduled since the queue was made.
    pub fn scheduled(&self) -> u64 {
        self.scheduled
    }

    /// Adds an event.
    ///
    /// # Panics
    /// If `time` lies before the clock.
    pub fn schedule(&mut self, time: Time, priority: Priority, payload: T) -> Key {
        assert!(
            time >= self.now,
            "an event was scheduled for {time} while the clock stands at {}",
            self.now
        );
        self.scheduled += 1;
        let key = Key(self.scheduled);
        self.pending.push((time, priority, key, payload));
        self.pending
            .sort_by_key(|&(time, priority, key, _)| std::cmp::Reverse((time, priority, key)));
        key
    }

    /// Reserves a timer. They are numbered 0, 1, 2, ... here, and not as in the fast queue.
    pub fn timer(&mut self, payload: T) -> Timer {
        self.timers.push((payload, Key::NONE));
        Timer(self.timers.len() as u32 - 1)
    }

    /// Schedules the timer's event, in place of the one that it waits for.
    ///
    /// # Panics
    /// If `time` lies before the clock.
    pub fn set_timer(&mut self, timer: Timer, time: Time, priority: Priority) -> Key {
        self.stop_timer(timer);
        let key = self.schedule(time, priority, self.timers[timer.0 as usize].0);
        self.timers[timer.0 as usize].1 = key;
        key
    }

    /// Forgets the timer's event, if it waits for one.
    pub fn stop_timer(&mut self, timer: Timer) {
        let (_, awaited) = self.timers[timer.0 as usize];
        self.pending.retain(|&(_, _, key, _)| key != awaited);
    }

    /// Takes the next event and moves the clock to it.
    pub fn pop(&mut self) -> Option<(Time, Key, T)> {
        let (time, _, key, payload) = self.pending.pop()?;
        self.now = time;
        Some((time, key, payload))
    }

    /// Takes the next event due before `limit` and moves the clock to it; or moves the clock to
    /// `limit`.
    pub fn step(&mut self, limit: Time) -> Option<(Time, Key, T)> {
        if self.peek_time().is_some_and(|time| time < limit) {
            return self.pop();
        }
        self.now = self.now.max(limit);
        None
    }

    /// Time of the next event.
    pub fn peek_time(&self) -> Option<Time> {
        self.pending.last().map(|&(time, ..)| time)
    }
}
