//! A tournament whose leaves carry something.
//!
//! What is taken leaves its leaf open until the next look at the top, because most of it has a
//! successor at once: that moves into the open leaf, and one replay serves both.

use super::entry::{self, EMPTY, SLOTS};
use super::tree::Tree;

/// No leaf is open.
const CLOSED: usize = usize::MAX;

/// Events in a tournament, with what each is about.
pub(super) struct Leaves<T> {
    tree: Tree,
    /// Payload of each leaf ever used.
    payloads: Vec<T>,
    /// Leaf of what was taken last, still in the tree; [`CLOSED`] if none.
    open: usize,
}

impl<T: Copy> Leaves<T> {
    pub(super) fn new() -> Leaves<T> {
        Leaves {
            tree: Tree::new(),
            payloads: Vec::new(),
            open: CLOSED,
        }
    }

    /// Leaves ever used.
    pub(super) fn len(&self) -> usize {
        self.payloads.len()
    }

    /// Leaves with an event. Looks at every one.
    pub(super) fn pending(&self) -> usize {
        self.tree.numbers().count() - usize::from(self.open().is_some())
    }

    /// The open leaf.
    #[inline]
    pub(super) fn open(&self) -> Option<usize> {
        (self.open != CLOSED).then_some(self.open)
    }

    /// One more leaf, without an event; `what` they are says who has too many.
    pub(super) fn add(&mut self, payload: T, what: &str) -> usize {
        let leaf = self.len();
        assert!(leaf < SLOTS, "there are more than {SLOTS} {what}");
        if leaf == self.tree.slots() {
            self.tree.double();
        }
        self.payloads.push(payload);
        leaf
    }

    /// Changes what a leaf's events are about.
    #[inline]
    pub(super) fn load(&mut self, leaf: usize, payload: T) {
        self.payloads[leaf] = payload;
    }

    /// Writes a leaf's event, of which the slot is left to be filled in; it is open no longer.
    #[inline]
    pub(super) fn set(&mut self, leaf: usize, entry: u128) {
        if self.open == leaf {
            self.open = CLOSED;
        }
        self.tree.set(leaf, entry | leaf as u128);
    }

    /// The same for an empty leaf, whose event is likely to be far off.
    #[inline]
    pub(super) fn put(&mut self, leaf: usize, entry: u128) {
        self.tree.put(leaf, entry | leaf as u128);
    }

    /// Forgets a leaf's event, if it has one.
    #[inline]
    pub(super) fn clear(&mut self, leaf: usize) {
        if self.open != leaf && self.tree.get(leaf) != EMPTY {
            self.tree.set(leaf, EMPTY);
        }
    }

    /// Takes the one at the top.
    #[inline]
    pub(super) fn take(&mut self) -> T {
        self.open = entry::slot(self.tree.top());
        self.payloads[self.open]
    }

    /// The tournament, without an open leaf; `freed` is told which was emptied for good.
    #[inline]
    pub(super) fn tree(&mut self, freed: impl FnOnce(usize)) -> &mut Tree {
        if self.open != CLOSED {
            self.tree.set(self.open, EMPTY);
            freed(self.open);
            self.open = CLOSED;
        }
        &mut self.tree
    }
}
