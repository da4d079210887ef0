//! The yardstick: W1 and W2 as a bare loop.
//!
//! A 4-ary heap of packed (time, id) keys, a random generator and counters; no type, no policy, no
//! accounting beyond what the answers need. Nothing is shared with the engine, so that a change of
//! the engine does not move the yardstick.

pub mod heap;
pub mod random;
pub mod w1;
pub mod w2;
