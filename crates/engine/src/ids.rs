//! Typed indices: what is numbered, and vectors that take no other number.
//!
//! A partition's number is no core's number, so the compiler refuses one where the other is meant.
//! An
//! `Option` of an id is as small as the id: there is no number that stands for "none".
//!
//! ```
//! use homenode_engine::ids::{ById, CoreId, VpId};
//!
//! let mut running: ById<CoreId, Option<VpId>> = ById::of(None, 2);
//! running[CoreId::new(1)] = Some(VpId::new(7));
//! assert_eq!(running.ids().filter(|core| running[*core].is_none()).count(), 1);
//! assert_eq!(std::mem::size_of::<Option<VpId>>(), 4);
//! ```

use std::fmt;
use std::marker::PhantomData;
use std::num::{NonZeroU16, NonZeroU32};
use std::ops::{Index, IndexMut};

/// Something that is counted from 0.
pub trait Id: Copy + Eq + Ord + fmt::Debug {
    /// The one with this number.
    ///
    /// # Panics
    /// If there can't be so many.
    fn new(number: usize) -> Self;

    /// Its number.
    fn index(self) -> usize;
}

/// Defines ids: what is numbered, the number's type and the type with one more.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident: $repr:ty, $nonzero:ty;)*) => {$(
        $(#[$doc])*
        // One more than the number is kept, so that zero is free for `None`.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($nonzero);

        impl $name {
            /// The one with this number, counted from 0.
            ///
            /// # Panics
            /// If there can't be so many.
            #[inline]
            pub const fn new(number: usize) -> Self {
                assert!(number < <$repr>::MAX as usize, "too many to be numbered");
                match <$nonzero>::new(number as $repr + 1) {
                    Some(above) => Self(above),
                    None => unreachable!(),
                }
            }

            /// Its number.
            #[inline]
            pub const fn index(self) -> usize {
                self.0.get() as usize - 1
            }

            /// The one so many places further on.
            #[inline]
            pub const fn plus(self, places: usize) -> Self {
                Self::new(self.index() + places)
            }
        }

        impl $crate::ids::Id for $name {
            #[inline]
            fn new(number: usize) -> Self {
                Self::new(number)
            }

            #[inline]
            fn index(self) -> usize {
                self.index()
            }
        }

        impl From<$repr> for $name {
            #[inline]
            fn from(number: $repr) -> Self {
                Self::new(number as usize)
            }
        }

        impl From<$name> for $repr {
            #[inline]
            fn from(id: $name) -> Self {
                id.0.get() - 1
            }
        }

        impl From<$name> for i64 {
            #[inline]
            fn from(id: $name) -> Self {
                i64::from(id.0.get()) - 1
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({})", stringify!($name), self.index())
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}", self.index())
            }
        }
    )*};
}
// Parts of the engine number things of their own.
pub(crate) use ids;

ids! {
    /// A partition of the scenario.
    PartitionId: u16, NonZeroU16;
    /// A load: one kind of work in a partition, whose first one has the partition's number.
    LoadId: u16, NonZeroU16;
    /// A virtual processor, over all partitions; on a host, a thread of its scheduler.
    VpId: u32, NonZeroU32;
    /// A hardware thread's place among all those of virtual processors.
    ThreadId: u32, NonZeroU32;
    /// A core of the machine; where hardware threads are dispatched one by one, such a thread.
    CoreId: u16, NonZeroU16;
    /// A chip of the machine.
    ChipId: u16, NonZeroU16;
    /// A node of the machine: book, drawer, cell, socket.
    NodeId: u16, NonZeroU16;
    /// A memory domain: what hangs beside a chip, or beside a node.
    MemoryId: u16, NonZeroU16;
    /// A port of the fabric: a memory controller, a direction of a link, a cache with a bandwidth.
    PortId: u16, NonZeroU16;
    /// A pool of shared processors.
    PoolId: u16, NonZeroU16;
    /// A group of partitions that one limit holds for.
    GroupId: u16, NonZeroU16;
    /// A software thread or transaction that is inside.
    JobId: u32, NonZeroU32;
}

impl From<PartitionId> for LoadId {
    #[inline]
    fn from(partition: PartitionId) -> Self {
        Self::new(partition.index())
    }
}

/// Ids that follow each other: all of a partition's virtual processors, all chips of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span<I> {
    first: u32,
    end: u32,
    of: PhantomData<I>,
}

impl<I: Id> Span<I> {
    /// `count` ids from the one with number `first`.
    #[inline]
    pub fn new(first: usize, count: usize) -> Self {
        Self {
            first: first as u32,
            end: (first + count) as u32,
            of: PhantomData,
        }
    }

    /// How many there are.
    #[inline]
    pub fn len(self) -> usize {
        (self.end - self.first) as usize
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.first == self.end
    }

    /// The one at a place, counted from 0. What lies beyond the end is the caller's fault.
    #[inline]
    pub fn at(self, place: usize) -> I {
        debug_assert!(place < self.len());
        I::new(self.first as usize + place)
    }

    /// Whether one is among them.
    #[inline]
    pub fn contains(self, id: I) -> bool {
        (self.first..self.end).contains(&(id.index() as u32))
    }

    /// Their numbers.
    #[inline]
    pub fn numbers(self) -> std::ops::Range<usize> {
        self.first as usize..self.end as usize
    }
}

impl<I: Id> IntoIterator for Span<I> {
    type Item = I;
    type IntoIter = SpanIter<I>;

    #[inline]
    fn into_iter(self) -> SpanIter<I> {
        SpanIter(self)
    }
}

/// The ids of a [`Span`], one after the other.
#[derive(Clone, Debug)]
pub struct SpanIter<I>(Span<I>);

impl<I: Id> Iterator for SpanIter<I> {
    type Item = I;

    #[inline]
    fn next(&mut self) -> Option<I> {
        let first = self.0.first;
        (first < self.0.end).then(|| {
            self.0.first += 1;
            I::new(first as usize)
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len(), Some(self.0.len()))
    }
}

impl<I: Id> ExactSizeIterator for SpanIter<I> {}

impl<I: Id> DoubleEndedIterator for SpanIter<I> {
    #[inline]
    fn next_back(&mut self) -> Option<I> {
        let left = !self.0.is_empty();
        left.then(|| {
            self.0.end -= 1;
            I::new(self.0.end as usize)
        })
    }
}

/// One of something for every id.
#[derive(Clone, Debug, PartialEq)]
pub struct ById<I, T> {
    items: Vec<T>,
    of: PhantomData<I>,
}

impl<I: Id, T> ById<I, T> {
    /// None yet.
    pub const fn new() -> Self {
        Self {
            items: Vec::new(),
            of: PhantomData,
        }
    }

    /// The same for `count` ids.
    pub fn of(item: T, count: usize) -> Self
    where
        T: Clone,
    {
        Self::from(vec![item; count])
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Adds one; its id.
    pub fn push(&mut self, item: T) -> I {
        self.items.push(item);
        I::new(self.items.len() - 1)
    }

    /// All ids, in their order. They don't borrow the vector.
    #[inline]
    pub fn ids(&self) -> SpanIter<I> {
        self.span().into_iter()
    }

    /// All ids as a span.
    #[inline]
    pub fn span(&self) -> Span<I> {
        Span::new(0, self.items.len())
    }

    /// All items, in the order of their ids.
    #[inline]
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// All items, to change.
    #[inline]
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// Ids and items.
    pub fn entries(&self) -> impl Iterator<Item = (I, &T)> {
        self.ids().zip(&self.items)
    }

    /// The items of some ids that follow each other.
    #[inline]
    pub fn slice(&self, span: Span<I>) -> &[T] {
        &self.items[span.numbers()]
    }

    /// Becomes like another, in the room that it has.
    pub fn follow(&mut self, other: &Self)
    where
        T: Clone,
    {
        self.items.clone_from(&other.items);
    }

    /// The same, to change.
    #[inline]
    pub fn slice_mut(&mut self, span: Span<I>) -> &mut [T] {
        &mut self.items[span.numbers()]
    }
}

impl<I: Id, T> Default for ById<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I, T> From<Vec<T>> for ById<I, T> {
    fn from(items: Vec<T>) -> Self {
        Self {
            items,
            of: PhantomData,
        }
    }
}

impl<I, T> FromIterator<T> for ById<I, T> {
    fn from_iter<A: IntoIterator<Item = T>>(items: A) -> Self {
        Self::from(items.into_iter().collect::<Vec<_>>())
    }
}

impl<'a, I, T> IntoIterator for &'a ById<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<'a, I, T> IntoIterator for &'a mut ById<I, T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter_mut()
    }
}

impl<I: Id, T> Index<I> for ById<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for ById<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_its_number_and_no_option_costs_room() {
        for number in [0, 1, 65_533] {
            assert_eq!(CoreId::new(number).index(), number);
        }
        assert_eq!(u16::from(CoreId::from(7)), 7);
        assert_eq!(format!("{:?} {}", VpId::new(3), VpId::new(3)), "VpId(3) 3");
        assert_eq!(std::mem::size_of::<Option<CoreId>>(), 2);
        assert!(CoreId::new(2) < CoreId::new(3) && None < Some(CoreId::new(0)));
    }

    #[test]
    #[should_panic(expected = "too many to be numbered")]
    fn more_than_can_be_numbered_are_refused() {
        let _ = ChipId::new(65_535);
    }

    #[test]
    fn a_span_runs_from_either_end() {
        let span = Span::<VpId>::new(4, 3);
        let forwards: Vec<usize> = span.into_iter().map(VpId::index).collect();
        let backwards: Vec<usize> = span.into_iter().rev().map(VpId::index).collect();
        assert_eq!((forwards, backwards), (vec![4, 5, 6], vec![6, 5, 4]));
        assert!(span.contains(VpId::new(6)) && !span.contains(VpId::new(7)));
        assert_eq!(span.at(1), VpId::new(5));
    }
}
