//! W1 and W2 on the engine's kernel: its queue and clock, and a random stream for every source.

pub mod w1;
pub mod w2;
