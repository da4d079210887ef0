//! Events that are scheduled once and stay where they are.
//!
//! An event keeps its leaf of the tournament from `insert` to `take`. A taken event leaves its leaf
//! open until the next look at the top, because most events schedule a successor at once: it moves
//! into the open leaf, and one replay serves both.

use super::entry::{self, EMPTY, SLOTS};
use super::tree::Tree;

/// No leaf is open.
const CLOSED: usize = usize::MAX;

/// Pending events, besides those of timers.
pub(super) struct Events<T> {
    tree: Tree,
    /// Payload of each leaf ever used.
    payloads: Vec<T>,
    /// Leaves without an event, besides the open one.
    free: Vec<u32>,
    /// Leaf of the event taken last, still in the tree; [`CLOSED`] if none.
    open: usize,
}

impl<T: Copy> Events<T> {
    pub(super) fn new() -> Events<T> {
        Events {
            tree: Tree::new(),
            payloads: Vec::new(),
            free: Vec::new(),
            open: CLOSED,
        }
    }

    /// How many are pending.
    pub(super) fn len(&self) -> usize {
        self.leaves() - self.free.len() - usize::from(self.open != CLOSED)
    }

    /// Leaves ever used.
    pub(super) fn leaves(&self) -> usize {
        self.payloads.len()
    }

    /// Adds an event, of which the slot is left to be filled in.
    #[inline]
    pub(super) fn insert(&mut self, entry: u128, payload: T) {
        if self.open != CLOSED {
            let leaf = std::mem::replace(&mut self.open, CLOSED);
            self.payloads[leaf] = payload;
            self.tree.set(leaf, entry | leaf as u128);
        } else {
            let leaf = self.free_leaf(payload);
            self.payloads[leaf] = payload;
            self.tree.put(leaf, entry | leaf as u128);
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

    /// Empties the open leaf for good.
    #[inline]
    fn close(&mut self) {
        if self.open != CLOSED {
            self.tree.set(self.open, EMPTY);
            self.free.push(self.open as u32);
            self.open = CLOSED;
        }
    }

    /// A leaf without an event; `payload` only fills the table.
    fn free_leaf(&mut self, payload: T) -> usize {
        if let Some(leaf) = self.free.pop() {
            return leaf as usize;
        }
        let leaf = self.leaves();
        assert!(leaf < SLOTS, "more than {SLOTS} events are pending");
        if leaf == self.tree.slots() {
            self.tree.double();
        }
        self.payloads.push(payload);
        leaf
    }

    /// The tournament, without an open leaf.
    pub(super) fn tree(&mut self) -> &mut Tree {
        self.close();
        &mut self.tree
    }
}
