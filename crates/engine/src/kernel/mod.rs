//! Integer time, event queue, random streams, observation points. Knows nothing of processors.
//!
//! **Order of events.** An event is ordered by (time, priority, sequence): the earlier time first,
//! at equal times the lower [`Priority`] number, at equal priorities the one that was scheduled
//! first. The order is total, so a run has one history whatever the queue's inside looks like;
//! [`plain::PlainQueue`] states the same rule as a sorted list.
//!
//! **Clock.** The queue owns it. It moves only when an event is taken or [`step`] reaches its
//! limit, and nothing can be scheduled before it.
//!
//! **Cancelling.** What may be moved or forgotten is a [`Timer`]: one pending event at most, which
//! [`Queue::set_timer`] replaces. An event of [`Queue::schedule`] cannot be cancelled. Both return
//! a [`Key`] that is never used twice. A moment that may not come at all is a [`When`].
//!
//! **Chance.** Every source of randomness has its own [`Stream`], derived from (seed, replication,
//! name), so that a new source moves no other. Streams use additions, multiplications and divisions
//! only, no function of the platform's mathematics library: the same draws on every machine.
//!
//! ```
//! use homenode_engine::kernel::{self, Priority, Queue, Time};
//!
//! let mut queue = Queue::new();
//! queue.schedule(Time::from_ms(2), Priority::new(0), 'b');
//! queue.schedule(Time::from_ms(1), Priority::new(0), 'a');
//! let mut seen = String::new();
//! while let Some((now, _key, event)) = kernel::step(&mut queue, Time::from_ms(10)) {
//!     seen.push(event);
//!     if event == 'a' {
//!         queue.schedule(now + Time::from_ms(3), Priority::new(0), 'c');
//!     }
//! }
//! assert_eq!(seen, "abc");
//! assert_eq!(queue.now(), Time::from_ms(10));
//! ```

mod entry;
mod events;
mod exponential;
mod histogram;
mod leaves;
mod numbers;
pub mod plain;
mod queue;
mod real;
mod squares;
mod stream;
mod time;
mod tree;
mod when;

pub(crate) use entry::EMPTY;
pub use entry::{Key, Priority, Timer};
pub use histogram::Histogram;
pub use queue::Queue;
pub use stream::Stream;
pub use time::{real, whole, Time};
pub(crate) use tree::Tree;
pub use when::When;

/// Takes the next event that is due before `limit` and moves the clock to it.
///
/// None when no event is left before `limit`; the clock then stands at `limit`. An event due
/// exactly at `limit` stays for the next call with a later one.
#[inline]
pub fn step<T: Copy>(queue: &mut Queue<T>, limit: Time) -> Option<(Time, Key, T)> {
    queue.pop_before(limit)
}
