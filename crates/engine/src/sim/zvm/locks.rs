//! Formal spin locks of a partition's Control Program: who takes which, and what that costs in the
//! window that begins.

use crate::guest::zvm::ids::VectorId;
use crate::guest::zvm::locks::{Lock, NAMED};
use crate::guest::zvm::segment::{Owner, Segment};
use crate::guest::zvm::sharing::Near;
use crate::ids::ById;
use crate::spec::CpLocks;

/// All locks but those of switches.
#[derive(Clone, Debug)]
pub struct Locks {
    /// The scheduler's.
    pub scheduler: Lock,
    /// That of pages.
    pub pages: Lock,
    /// By dispatch vector: taken for whoever is put into it or taken out.
    pub doors: ById<VectorId, Lock>,
    /// Times that the scheduler's was taken shared in this window, and usually.
    pub shared: (f64, f64),
    /// Unparked processors beside one.
    pub others: f64,
}

impl Locks {
    /// Locks that nobody has taken yet.
    pub fn new(vectors: usize) -> Self {
        Self {
            scheduler: Lock::default(),
            pages: Lock::default(),
            doors: ById::of(Lock::default(), vectors),
            shared: (0.0, 0.0),
            others: 0.0,
        }
    }

    /// Somebody is put on a logical processor of a vector: what it takes of that vector's lock.
    #[inline]
    pub fn dispatch(&mut self, vector: VectorId, locks: &CpLocks, near: &Near, into: &mut Segment) {
        self.scheduler.share(locks.dispatch);
        self.shared.0 += locks.dispatch;
        let takes = (locks.dispatch, locks.lines);
        let door = &mut self.doors[vector];
        door.take(takes, Owner::System, &near.sharing, near, into);
    }

    /// Times that each was taken so far and how long processors spun for it [ns]: the scheduler's,
    /// those of vectors, that of pages.
    pub fn readings(&self) -> [(i64, i64); NAMED] {
        let mut doors = Lock::default();
        for door in &self.doors {
            doors.takes += door.takes;
            doors.spun_ns += door.spun_ns;
        }
        [&self.scheduler, &doors, &self.pages].map(Lock::reading)
    }
}
