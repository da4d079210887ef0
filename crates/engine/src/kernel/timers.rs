//! Events that are moved again and again while they are pending.
//!
//! A timer keeps its leaf for good, so that moving its event is one replay and leaves nothing
//! stale. Timers have a tournament of their own: they are few, hence its paths are short, and they
//! are moved more often than all other events are scheduled. As with those, the leaf of what was
//! taken is left open until the next look at the top.

use super::entry::{self, Timer, EMPTY, SLOTS};
use super::tree::Tree;

/// No leaf is open.
const CLOSED: usize = usize::MAX;

/// Those that a queue has, each with its place in the tournament.
pub(super) struct Timers<T> {
    tree: Tree,
    /// Payload of each timer.
    payloads: Vec<T>,
    /// The timer taken last, still in the tree; [`CLOSED`] if none.
    open: usize,
}

impl<T: Copy> Timers<T> {
    pub(super) fn new() -> Timers<T> {
        Timers {
            tree: Tree::new(),
            payloads: Vec::new(),
            open: CLOSED,
        }
    }

    /// How many are set.
    pub(super) fn len(&self) -> usize {
        let set = self.tree.numbers().count();
        set - usize::from(self.open != CLOSED)
    }

    /// One more, not set.
    pub(super) fn add(&mut self, payload: T) -> Timer {
        let leaf = self.payloads.len();
        assert!(leaf < SLOTS, "there are more than {SLOTS} timers");
        if leaf == self.tree.slots() {
            self.tree.double();
        }
        self.payloads.push(payload);
        Timer(leaf as u32)
    }

    /// Puts a timer's event, of which the slot is left to be filled in, in place of the one that it
    /// waits for.
    #[inline]
    pub(super) fn set(&mut self, timer: Timer, entry: u128) {
        let leaf = timer.0 as usize;
        if self.open == leaf {
            self.open = CLOSED;
        }
        self.tree.set(leaf, entry | leaf as u128);
    }

    /// Forgets a timer's event, if it waits for one.
    #[inline]
    pub(super) fn stop(&mut self, timer: Timer) {
        let leaf = timer.0 as usize;
        if self.open != leaf && self.tree.get(leaf) != EMPTY {
            self.tree.set(leaf, EMPTY);
        }
    }

    /// The next one, or [`EMPTY`].
    #[inline]
    pub(super) fn top(&mut self) -> u128 {
        self.close();
        self.tree.top()
    }

    /// Takes the one at the top.
    #[inline]
    pub(super) fn take(&mut self) -> T {
        self.open = entry::slot(self.tree.top());
        self.payloads[self.open]
    }

    #[inline]
    fn close(&mut self) {
        if self.open != CLOSED {
            self.tree.set(self.open, EMPTY);
            self.open = CLOSED;
        }
    }

    /// The tournament, without an open leaf.
    pub(super) fn tree(&mut self) -> &mut Tree {
        self.close();
        &mut self.tree
    }
}
