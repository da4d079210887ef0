//! Transactions that a generator makes for pairs: when they come, and which clients sleep.

use std::collections::VecDeque;

/// What a generator and its clients have before them.
#[derive(Debug, Default)]
pub struct Generated {
    /// When the next transaction is due [ns].
    pub due_at: u64,
    /// When those came that no client has taken yet [ns].
    pub waiting: VecDeque<u64>,
    /// Pairs with nothing to ask, which has slept for longest first.
    pub asleep: VecDeque<u16>,
}
