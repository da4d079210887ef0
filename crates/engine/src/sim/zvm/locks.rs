//! Formal spin locks of a partition's Control Program: who takes which, and what that costs in the
//! window that begins.

use crate::guest::zvm::ids::VectorId;
use crate::guest::zvm::locks::{Lock, NAMED};
use crate::guest::zvm::segment::{Owner, Segment};
use crate::guest::zvm::sharing::Near;
use crate::ids::ById;
use crate::spec::CpLocks;

/// A dispatch vector's lock, and signals to its processors.
#[derive(Clone, Copy, Debug, Default)]
pub struct Door {
    /// What is taken for whoever is put into the vector or taken out.
    pub lock: Lock,
    /// Times that all idle processors of the vector were signalled so far.
    pub calls: f64,
    /// Processors that were signalled in this window, and in how many calls.
    pub heard: (f64, f64),
    /// Time that each of those waits which come together [ns].
    pub together_ns: f64,
}

/// All locks but those of switches.
#[derive(Clone, Debug)]
pub struct Locks {
    /// The scheduler's.
    pub scheduler: Lock,
    /// That of pages.
    pub pages: Lock,
    /// By dispatch vector.
    pub doors: ById<VectorId, Door>,
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
            doors: ById::of(Door::default(), vectors),
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
        let door = &mut self.doors[vector].lock;
        door.take(takes, Owner::System, &near.sharing, near, into);
    }

    /// So many processors of a vector are signalled at once.
    #[inline]
    pub fn call(&mut self, vector: VectorId, idle: u32) {
        let door = &mut self.doors[vector];
        door.calls += 1.0;
        door.heard.0 += f64::from(idle);
        door.heard.1 += 1.0;
    }

    /// Signalled processors of a vector have looked into it so often.
    pub fn follow(&mut self, vector: VectorId, times: f64, locks: &CpLocks) {
        let door = &mut self.doors[vector];
        let takes = times * locks.dispatch;
        door.lock.count(takes);
        door.lock.spun_ns += takes * door.together_ns;
    }

    /// What that costs: each waits for those that came with it.
    pub fn following(
        &self,
        (vector, times): (VectorId, f64),
        locks: &CpLocks,
        near: &Near,
        into: &mut Segment,
    ) {
        let door = &self.doors[vector];
        let takes = (times * locks.dispatch, locks.lines);
        let owner = Owner::System;
        door.lock.cost(takes, owner, &near.sharing, near, into);
        let together = takes.0 * door.together_ns;
        let executed = near.looks.during(together, door.lock.turn_ns);
        into.spin(owner, together, executed);
    }

    /// Times that each was taken so far and how long processors spun for it [ns]: the scheduler's,
    /// those of vectors, that of pages.
    pub fn readings(&self) -> [(i64, i64); NAMED] {
        let mut doors = Lock::default();
        for door in &self.doors {
            doors.takes += door.lock.takes;
            doors.spun_ns += door.lock.spun_ns;
        }
        [&self.scheduler, &doors, &self.pages].map(Lock::reading)
    }
}
