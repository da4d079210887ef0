//! A tournament of numbers: every slot holds one, and the least of all is known at the top.
//!
//! ```text
//!                     top
//!           /      |      |      \
//!        least   least  least   least         each the least of the four below it
//!       / | | \
//!      slots ...
//! ```
//! Writing a slot replays only its path to the top. The three rivals on each level do not depend on
//! the new number, so a processor fetches and compares them ahead: no level waits for the one below
//! but for a single comparison, and no jump depends on the numbers. That is why it beats
//! a heap here, whose path down is only known step by step: among 120 events, taking one and
//! putting it back later costs a fifth less than in a bare 4-ary heap of keys half as wide
//! (`make bench`, calls of the kernel).
//!
//! Nodes are numbered like a heap's: the four below node `n` are `4n..4n + 4`, so the parent is `n
//! / 4`. With 4^d slots the top is node 1; with 2 * 4^d it is the better of nodes 2 and 3. The two
//! numberings use disjoint nodes, hence doubling never leaves more than half of the slots unused.

use super::entry::{EMPTY, SLOTS};

/// Levels of a tree of the most slots, the top one aside.
const LEVELS: u32 = SLOTS.trailing_zeros() / 2;

/// The four nodes under one parent: one cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Group([u128; 4]);

/// The least of a fixed number of slots; [`EMPTY`] marks a slot without a number.
pub(crate) struct Tree {
    /// Group `n` holds nodes `4n..4n + 4`.
    groups: Vec<Group>,
    /// Node of slot 0; also the number of slots.
    slots: usize,
    top: u128,
}

impl Tree {
    /// An empty tree of `2^doublings` slots.
    fn with_doublings(doublings: u32) -> Tree {
        let slots = 1usize << doublings;
        Tree {
            groups: vec![Group([EMPTY; 4]); (2 * slots).div_ceil(4)],
            slots,
            top: EMPTY,
        }
    }

    /// An empty tree of a few slots.
    pub(crate) fn new() -> Tree {
        Tree::with_doublings(4)
    }

    /// Slots it has.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// The least number, or [`EMPTY`].
    #[inline]
    pub(crate) fn top(&self) -> u128 {
        self.top
    }

    /// What `slot` holds.
    pub(super) fn get(&self, slot: usize) -> u128 {
        let node = self.slots + slot;
        self.groups[node / 4].0[node % 4]
    }

    /// All numbers that the slots hold.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u128> + '_ {
        let numbers = (0..self.slots).map(|slot| self.get(slot));
        numbers.filter(|&number| number != EMPTY)
    }

    /// Changes all numbers by a function that keeps their order.
    pub(super) fn change(&mut self, new: impl Fn(u128) -> u128) {
        for slot in 0..self.slots {
            let number = self.get(slot);
            if number != EMPTY {
                self.set(slot, new(number));
            }
        }
    }

    /// Writes `slot` and replays its path to the top.
    #[inline(never)]
    pub(crate) fn set(&mut self, slot: usize, number: u128) {
        self.play::<false>(slot, number);
    }

    /// Writes `slot` and replays its path up to where nothing changes.
    ///
    /// For a number that is likely to be great: its path ends on the first level or the second.
    /// Where that is hard to guess, [`Tree::set`] is the faster for all its levels.
    #[inline(never)]
    pub(super) fn put(&mut self, slot: usize, number: u128) {
        self.play::<true>(slot, number);
    }

    /// A straight line of levels in a function of its own, because compilers turn the choices of a
    /// loop into jumps, and those are guessed wrong half of the time: twice as slow.
    #[inline(always)]
    fn play<const MAY_END: bool>(&mut self, slot: usize, number: u128) {
        let mut node = self.slots + slot;
        let mut winner = number;
        macro_rules! levels {
            ($($level:literal)*) => {
                'top: {
                    $(
                        debug_assert!($level < LEVELS);
                        if node < 4 {
                            break 'top;
                        }
                        winner = self.replay(node, winner);
                        node /= 4;
                        if MAY_END && node > 1 && self.groups[node / 4].0[node % 4] == winner {
                            return;
                        }
                    )*
                }
            };
        }
        levels!(0 1 2 3 4 5 6 7 8 9 10 11);
        if node > 1 {
            let pair = &mut self.groups[0].0;
            pair[node % 4] = winner;
            winner = lesser(winner, pair[(node ^ 1) % 4]);
        }
        self.top = winner;
    }

    /// Writes a node; the least of its group.
    #[inline(always)]
    fn replay(&mut self, node: usize, number: u128) -> u128 {
        let group = &mut self.groups[node / 4].0;
        group[node % 4] = number;
        let (a, b, c) = (
            group[(node ^ 1) % 4],
            group[(node ^ 2) % 4],
            group[(node ^ 3) % 4],
        );
        lesser(number, lesser(lesser(a, b), c))
    }

    /// Doubles the number of slots; what they hold stays.
    pub(crate) fn double(&mut self) {
        let mut larger = Tree::with_doublings(self.slots.trailing_zeros() + 1);
        for slot in 0..self.slots {
            larger.set(slot, self.get(slot));
        }
        *self = larger;
    }
}

/// The lesser of two numbers.
#[inline(always)]
fn lesser(a: u128, b: u128) -> u128 {
    if a < b {
        a
    } else {
        b
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn top_is_the_least_at_every_size() {
        for doublings in 1..9 {
            let mut tree = Tree::with_doublings(doublings);
            let slots = tree.slots();
            // 7 is coprime to every power of two: each number comes once, in a mixed order.
            for slot in 0..slots {
                tree.set(slot, (slot * 7 % slots) as u128);
            }
            for least in 0..slots {
                assert_eq!(tree.top(), least as u128, "{slots} slots");
                let slot = (0..slots)
                    .find(|&slot| tree.get(slot) == least as u128)
                    .unwrap();
                tree.set(slot, EMPTY);
            }
            assert_eq!(tree.top(), EMPTY);
        }
    }

    #[test]
    fn a_path_ends_only_where_nothing_changes() {
        for doublings in 1..9 {
            let (mut tree, mut whole) = (
                Tree::with_doublings(doublings),
                Tree::with_doublings(doublings),
            );
            let slots = tree.slots();
            for round in 0..8 * slots {
                let (slot, number) = (round * 7 % slots, (round * 13 % 31) as u128);
                let number = if round % 3 == 0 { EMPTY } else { number };
                tree.put(slot, number);
                whole.set(slot, number);
                assert_eq!(tree.top(), whole.top(), "{slots} slots, round {round}");
            }
        }
    }

    #[test]
    fn doubling_keeps_what_the_slots_hold() {
        let mut tree = Tree::with_doublings(1);
        tree.set(0, 5);
        for _ in 0..5 {
            let slots = tree.slots();
            tree.double();
            assert_eq!((tree.slots(), tree.get(0), tree.top()), (2 * slots, 5, 5));
        }
    }
}
