//! Moments that may never come.

use std::ops::{Add, AddAssign};

/// When something happens: a moment of simulated time [ns], or never.
///
/// Never lies after every moment, so that what comes first of several is their `min`. The number is
/// given away only together with the question whether there is one. Where something has been so
/// since a moment, as a core idles, never says that it is not so: then the question is
/// [`When::is_set`].
///
/// ```
/// use homenode_engine::kernel::When;
///
/// let (timer, other) = (When::at(30), When::NEVER);
/// assert!(timer < other && timer.has_come(30));
/// assert_eq!((timer.ns(), other.ns()), (Some(30), None));
/// assert_eq!(other + 5, When::NEVER);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct When(u64);

impl When {
    /// It does not happen.
    pub const NEVER: When = When(u64::MAX);

    /// At a moment [ns].
    #[inline]
    pub const fn at(ns: u64) -> When {
        debug_assert!(ns < u64::MAX, "no moment lies so late");
        When(ns)
    }

    /// Whether there is a moment at all.
    #[inline]
    pub const fn is_set(self) -> bool {
        self.0 != When::NEVER.0
    }

    /// Whether the moment is now or past.
    #[inline]
    pub const fn has_come(self, now: u64) -> bool {
        self.0 <= now
    }

    /// The moment, if there is one [ns].
    #[inline]
    pub fn ns(self) -> Option<u64> {
        self.before(When::NEVER.0)
    }

    /// The moment, if it lies before another one [ns].
    #[inline]
    pub fn before(self, limit: u64) -> Option<u64> {
        (self.0 < limit).then_some(self.0)
    }

    /// Time that has gone by since the moment [ns]; none if it has not come.
    #[inline]
    pub const fn elapsed(self, now: u64) -> u64 {
        now.saturating_sub(self.0)
    }

    /// Leaves never in its place; the moment, if there was one [ns].
    #[inline]
    pub fn take(&mut self) -> Option<u64> {
        std::mem::replace(self, When::NEVER).ns()
    }
}

/// So much later [ns]; never stays never.
impl Add<u64> for When {
    type Output = When;
    #[inline]
    fn add(self, ns: u64) -> When {
        When(self.0.saturating_add(ns))
    }
}

impl AddAssign<u64> for When {
    #[inline]
    fn add_assign(&mut self, ns: u64) {
        *self = *self + ns;
    }
}

/// None is never.
impl From<Option<u64>> for When {
    #[inline]
    fn from(ns: Option<u64>) -> When {
        ns.map_or(When::NEVER, When::at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_is_later_than_every_moment_and_stays_so() {
        let latest = When::at(u64::MAX - 1);
        assert!(latest < When::NEVER && latest.is_set() && !When::NEVER.is_set());
        assert_eq!(latest.min(When::NEVER), latest);
        assert_eq!(When::NEVER + 1, When::NEVER);
        assert!(!When::NEVER.has_come(u64::MAX - 1));
        assert_eq!(When::NEVER.elapsed(u64::MAX - 1), 0);
        assert_eq!((When::from(None), When::NEVER.ns()), (When::NEVER, None));
    }

    #[test]
    fn a_moment_has_come_at_itself_and_lies_not_before_itself() {
        let mut at = When::from(Some(7));
        assert_eq!([6, 7, 8].map(|now| at.has_come(now)), [false, true, true]);
        assert_eq!(
            [6, 7, 8].map(|limit| at.before(limit)),
            [None, None, Some(7)]
        );
        assert_eq!([6, 7, 9].map(|now| at.elapsed(now)), [0, 0, 2]);
        at += 3;
        assert_eq!((at.take(), at.take()), (Some(10), None));
    }

    #[test]
    fn it_is_as_small_as_its_number() {
        assert_eq!(size_of::<When>(), size_of::<u64>());
    }
}
