//! Formal spin locks of a partition's Control Program: who takes which, and what that costs in the
//! window that begins.

use super::state::{Cp, Doing};
use crate::guest::zvm::ids::{LpId, VcpuId, VectorId};
use crate::guest::zvm::locks::{last_answer_ns, readers_ns, Holding, Lock, NAMED, NEWEST};
use crate::guest::zvm::segment::{Owner, Segment};
use crate::guest::zvm::sharing::Near;
use crate::ids::ById;
use crate::spec::CpLocks;

/// A dispatch vector's lock, and signals to its processors.
#[derive(Clone, Copy, Debug, Default)]
pub struct Door {
    /// The lock.
    pub lock: Lock,
    /// Times that all idle processors of the vector were signalled so far.
    pub calls: f64,
    /// Processors that were signalled in this window, and in how many calls.
    heard: (f64, f64),
    /// Time that each of those waits which come together [ns].
    together_ns: f64,
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
    shared: (f64, f64),
    /// Unparked processors beside one.
    others: f64,
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
        into.spin(owner, together, together * near.spin_per_ns);
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

impl Cp {
    /// A window ends, in which an instruction took `instruction_ns` and a line `line_ns`: who wants
    /// a lock in the next are the processors that are unparked.
    pub fn close_locks(&mut self, (instruction_ns, line_ns): (f64, f64), window_ns: f64) {
        let unparked = f64::from(self.unparked) * f64::from(self.smt);
        let Self {
            locks,
            vectors,
            spec,
            ..
        } = self;
        let of = &spec.locks;
        locks.others = (unparked - 1.0).max(0.0);
        let holding = |more_ns| Holding::of(of, instruction_ns, line_ns, more_ns);
        let alone = holding(0.0);
        let (now, usual) = &mut locks.shared;
        *usual += NEWEST * (std::mem::take(now) - *usual);
        let readers = readers_ns(*usual / window_ns, alone.held_ns);
        let closing = holding(locks.others * line_ns + readers);
        locks.scheduler.close(unparked, closing, window_ns);
        let pages = &mut locks.pages;
        pages.answers_ns = last_answer_ns(locks.others, of.answer * instruction_ns);
        pages.close(unparked, holding(pages.answers_ns), window_ns);
        for (vector, door) in locks.doors.ids().zip(&mut locks.doors) {
            let (heard, calls) = std::mem::take(&mut door.heard);
            if calls > 0.0 {
                door.together_ns = alone.together_ns(heard / calls);
            }
            door.lock.close(vectors.open(vector), alone, window_ns);
        }
    }

    /// The virtual processor that a logical one runs has made others ready: what that takes.
    #[inline(never)]
    pub fn pay_ready(&mut self, lp: LpId, times: f64) {
        let of = &mut self.lps[lp];
        let near = &self.near[of.place.chip];
        let door = &self.locks.doors[self.vectors.of(lp)].lock;
        let both = (&self.locks.scheduler, door);
        let mut each = Segment::default();
        near.readying(&self.spec.locks, both, self.locks.others, &mut each);
        of.segment.repeat(&each, times);
    }

    /// A virtual processor is made ready for a vector: locks that whoever made it so must take.
    #[inline]
    pub fn enter(&mut self, vector: VectorId, payer: VcpuId) {
        let locks = &self.spec.locks;
        if locks.ready + locks.dispatch > 0.0 {
            self.locks.scheduler.count(locks.ready);
            self.locks.doors[vector].lock.count(locks.dispatch);
            self.vcpus[payer].readied += 1.0;
        }
    }

    /// Who pays for making a virtual processor ready: the one that did, or else itself.
    #[inline]
    pub fn payer(&self, vcpu: VcpuId) -> VcpuId {
        match self.acting.map(|lp| self.lps[lp].doing) {
            Some(Doing::Running(waker)) => waker,
            _ => vcpu,
        }
    }
}
