//! Events that are scheduled once and stay where they are: each keeps its leaf of the tournament
//! from `insert` to `take`.

use super::leaves::Leaves;
use super::tree::Tree;

/// Pending events, besides those of timers.
pub(super) struct Events<T> {
    leaves: Leaves<T>,
    /// Leaves without an event, besides the open one.
    free: Vec<u32>,
}

impl<T: Copy> Events<T> {
    pub(super) fn new() -> Events<T> {
        Events {
            leaves: Leaves::new(),
            free: Vec::new(),
        }
    }

    /// How many are pending.
    pub(super) fn len(&self) -> usize {
        self.leaves() - self.free.len() - usize::from(self.leaves.open().is_some())
    }

    /// Leaves ever used.
    pub(super) fn leaves(&self) -> usize {
        self.leaves.len()
    }

    /// Adds an event, of which the slot is left to be filled in.
    #[inline]
    pub(super) fn insert(&mut self, entry: u128, payload: T) {
        if let Some(leaf) = self.leaves.open() {
            self.leaves.load(leaf, payload);
            self.leaves.set(leaf, entry);
        } else {
            let leaf = self.free_leaf(payload);
            self.leaves.put(leaf, entry);
        }
    }

    /// A leaf without an event.
    fn free_leaf(&mut self, payload: T) -> usize {
        let Some(leaf) = self.free.pop() else {
            return self.leaves.add(payload, "pending events");
        };
        self.leaves.load(leaf as usize, payload);
        leaf as usize
    }

    /// The next one, or [`EMPTY`](super::entry::EMPTY).
    #[inline]
    pub(super) fn top(&mut self) -> u128 {
        self.tree().top()
    }

    /// Takes the one at the top.
    #[inline]
    pub(super) fn take(&mut self) -> T {
        self.leaves.take()
    }

    /// The tournament, without an open leaf.
    #[inline]
    pub(super) fn tree(&mut self) -> &mut Tree {
        self.leaves.tree(|leaf| self.free.push(leaf as u32))
    }
}
