//! Formal spin locks of the Control Program, and how long processors spin for them.
//!
//! ```text
//! scheduler  distributed, shared or exclusive: who takes it exclusive closes an element of each
//!            unparked processor, and waits for those that hold it shared
//! vector     one of each dispatch vector
//! pages      then lines of each unparked processor, which gives up a page's translation
//! switch     one of each virtual switch
//! ```
//! All are closed queues of the processors that may want them, [`lock::wait_ns`]: each does other
//! things, takes the lock, holds it, and hands it over, the slower the more wait.

use super::segment::{Owner, Segment};
use super::sharing::{Near, Sharing};
use crate::cost::lock;
use crate::spec::{self, CpLocks, Zvm};

/// Share of the newest window in the running average of a lock's use and of a switch's users:
/// assumed, as that of the machine's other averages.
pub const NEWEST: f64 = 0.25;

/// Locks that a report names, those of switches apart.
pub const NAMED: usize = 3;

/// Use of a lock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lock {
    /// Times that it was taken in this window for itself alone.
    pub taken: f64,
    /// Times in a window, running average.
    pub usual: f64,
    /// Mean wait for it [ns].
    pub wait_ns: f64,
    /// Time from a hand-over to the next while others wait [ns].
    pub turn_ns: f64,
    /// Times that it was taken so far, shared or not.
    pub takes: f64,
    /// Time that processors have spun for it so far [ns].
    pub spun_ns: f64,
}

/// Virtual processors that were made ready.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Readied {
    /// How many.
    pub times: f64,
    /// Time spun for the scheduler's lock and for those of their dispatch vectors [ns].
    pub spins_ns: [f64; 2],
}

impl Readied {
    /// One more, for whose vector that lock is taken.
    #[inline]
    pub fn add(&mut self, locks: &CpLocks, (scheduler, vector): (&Lock, &Lock)) {
        self.times += 1.0;
        self.spins_ns[0] += locks.ready * scheduler.wait_ns;
        self.spins_ns[1] += locks.dispatch * vector.wait_ns;
    }
}

/// What a take of a lock costs other processors and its next holder [ns].
#[derive(Clone, Copy, Debug)]
pub struct Holding {
    /// Time that it is held, the lines that come with it included.
    pub held_ns: f64,
    /// Time until its own line is with the next holder.
    pub transfer_ns: f64,
}

impl Holding {
    /// Of a lock that is held for its path, an instruction of which takes `instruction_ns` and a
    /// line `line_ns`, and for a time on top. All that wait read the lock's own line again; the
    /// others that come with it belong to the time it is held.
    pub fn of(locks: &CpLocks, instruction_ns: f64, line_ns: f64, more_ns: f64) -> Self {
        let more_lines = (locks.lines - 1.0).max(0.0);
        Self {
            held_ns: locks.hold * instruction_ns + more_lines * line_ns + more_ns,
            transfer_ns: locks.lines.min(1.0) * line_ns,
        }
    }
}

impl Lock {
    /// Takes it so many times, each with so many lines.
    #[inline]
    pub fn take(
        &mut self,
        takes: (f64, f64),
        owner: Owner,
        sharing: &Sharing,
        near: &Near,
        into: &mut Segment,
    ) {
        self.count(takes.0);
        self.cost(takes, owner, sharing, near, into);
    }

    /// Counts takes of it, by which others wait.
    #[inline]
    pub fn count(&mut self, times: f64) {
        self.taken += times;
        self.share(times);
    }

    /// Counts takes of it that nobody else waits for.
    #[inline]
    pub fn share(&mut self, times: f64) {
        self.takes += times;
        self.spun_ns += times * self.wait_ns;
    }

    /// Adds what that costs.
    #[inline]
    pub fn cost(
        &self,
        (times, lines): (f64, f64),
        owner: Owner,
        sharing: &Sharing,
        near: &Near,
        into: &mut Segment,
    ) {
        let spins_ns = times * self.wait_ns;
        self.cost_of((times, lines, spins_ns), owner, sharing, near, into);
    }

    /// The same where how long was waited for it is known [ns].
    #[inline]
    fn cost_of(
        &self,
        (times, lines, spins_ns): (f64, f64, f64),
        owner: Owner,
        sharing: &Sharing,
        near: &Near,
        into: &mut Segment,
    ) {
        if times <= 0.0 {
            return;
        }
        let executed = near.looks.during(spins_ns, self.turn_ns);
        into.spin(owner, spins_ns, executed);
        let lines = times * lines * sharing.elsewhere;
        into.fetch(owner, sharing.by.map(|by| by * lines), sharing.ns);
    }

    /// Times that it was taken so far, and how long processors spun for it [ns].
    pub fn reading(&self) -> (i64, i64) {
        (self.takes.round() as i64, self.spun_ns.round() as i64)
    }

    /// Its holder asks each other unparked processor, one after the other, and fetches so many of
    /// its lines. A report counts that time for the lock.
    #[inline]
    pub fn ask(&mut self, lines: f64, owner: Owner, near: &Near, into: &mut Segment) {
        if lines > 0.0 {
            let of_each = near.others.map(|others| others * lines);
            let before = into.extra.ns;
            into.fetch(owner, of_each, near.around.cache_ns);
            self.spun_ns += into.extra.ns - before;
        }
    }

    /// A window ends: how long `engaged` processors wait for it in the next.
    pub fn close(&mut self, engaged: f64, holding: Holding, window_ns: f64) {
        self.usual += NEWEST * (std::mem::take(&mut self.taken) - self.usual);
        self.turn_ns = holding.held_ns + holding.transfer_ns;
        if self.usual <= 0.0 || engaged <= 1.0 {
            self.wait_ns = 0.0;
            return;
        }
        let Holding {
            held_ns,
            transfer_ns,
        } = holding;
        let between = engaged * window_ns / self.usual;
        let outside = (between - held_ns - transfer_ns - self.wait_ns).max(0.0);
        let wait = lock::wait_ns(
            spec::LockKind::TestAndSet,
            engaged,
            outside,
            held_ns,
            transfer_ns,
        );
        self.wait_ns += NEWEST * (wait - self.wait_ns);
    }
}

impl Near {
    /// What a dispatch costs: its path, and the scheduler's lock, shared.
    pub fn dispatching(&self, zvm: &Zvm, scheduler: &Lock) -> Segment {
        let mut path = Segment::default();
        path.execute(Owner::System, zvm.paths.dispatch);
        let takes = (zvm.locks.dispatch, zvm.locks.lines);
        scheduler.cost(takes, Owner::System, &self.sharing, self, &mut path);
        path
    }

    /// What it costs to make virtual processors ready, signals apart: the scheduler's lock,
    /// exclusive, with the elements of so many other processors, and the lock of the dispatch
    /// vector of each.
    pub fn readying(
        &self,
        locks: &CpLocks,
        (scheduler, vector): (&Lock, &Lock),
        others: f64,
        readied: &Readied,
        into: &mut Segment,
    ) {
        let [closing_ns, door_ns] = readied.spins_ns;
        let lines = locks.lines + others.max(0.0);
        let takes = (readied.times * locks.ready, lines, closing_ns);
        scheduler.cost_of(takes, Owner::Chargeable, &self.sharing, self, into);
        let takes = (readied.times * locks.dispatch, locks.lines, door_ns);
        vector.cost_of(takes, Owner::Chargeable, &self.sharing, self, into);
    }
}

/// Time for which somebody who wants a lock alone waits for those that share it: `rate` of them
/// come in a nanosecond and hold it for `held_ns` at random [ns].
pub fn readers_ns(per_ns: f64, held_ns: f64) -> f64 {
    held_ns * (1.0 - (-per_ns * held_ns).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_wants_a_lock_alone_waits_for_no_more_than_a_holding_of_those_that_share_it() {
        assert_eq!(readers_ns(0.0, 60.0), 0.0);
        assert!(readers_ns(1e9, 60.0) <= 60.0);
    }

    #[test]
    fn nobody_spins_for_a_lock_that_is_not_taken() {
        let mut lock = Lock::default();
        let holding = Holding {
            held_ns: 1e3,
            transfer_ns: 50.0,
        };
        lock.close(80.0, holding, 1e7);
        assert_eq!(lock.wait_ns, 0.0);
        lock.count(1e3);
        lock.close(80.0, holding, 1e7);
        assert!(lock.wait_ns > 0.0);
        let spun = lock.spun_ns;
        lock.count(2.0);
        assert_eq!(lock.spun_ns - spun, 2.0 * lock.wait_ns);
    }

    #[test]
    fn as_many_takes_by_more_processors_wait_longer_but_not_for_longer_than_all() {
        let wait = |engaged: f64| {
            let mut lock = Lock::default();
            let holding = Holding {
                held_ns: 3e3,
                transfer_ns: 0.0,
            };
            for _ in 0..200 {
                lock.count(2e3);
                lock.close(engaged, holding, 1e7);
            }
            lock.wait_ns
        };
        let waits: Vec<f64> = [2.0, 4.0, 16.0, 80.0].map(wait).to_vec();
        assert!(waits.windows(2).all(|pair| pair[1] > pair[0]), "{waits:?}");
        assert!(waits[0] > 0.0 && waits[0] < 3e3);
        // Without end of processors: held 0.6 of the time, 1.5 holdings.
        assert!(waits[3] < 4.5e3 && waits[3] > 3.9e3, "{waits:?}");
    }
}
