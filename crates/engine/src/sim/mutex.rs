//! Guests' threads at a lock for which they sleep: [`guest::mutex`](crate::guest::mutex) says what
//! comes next, and it is carried out here.
//!
//! Who releases the lock gives it to the first that spins on a processor, and wakes the first that
//! sleeps; a lock that nobody spins for stays free until somebody comes to it, whoever that is
//! (kernel mutexes, semaphores and futexes of Linux: whoever comes first takes it, and one is
//! woken). A thread that sleeps leaves its logical processor to others, and a virtual processor
//! without any cedes. A holder may lose its core, or its turn on a logical processor, like all
//! others: then nobody else has the lock. Nobody begins to spin for one that does not run.

use super::system::System;
use super::world::{Task, World};
use crate::cost::Book;
use crate::guest::mutex::{Mutex, Phase};
use crate::guest::workload::{JobId, NO_CPU};
use crate::hypervisor::Mode;
use crate::ids::{CoreId, LoadId, ThreadId, VpId};
use crate::kernel::{Stream, When};

/// What follows when a piece of a burst is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The burst goes on, or its thread sleeps.
    Piece,
    /// It is done; whether the thread still has the lock.
    Done { holds: bool },
}

impl<S: System> World<S> {
    fn lock_of(&mut self, load: LoadId) -> (&mut Mutex, &mut Stream) {
        let of = &mut self.loads[load];
        let mutex = of.mutex.as_mut().expect("a lock that sleeps");
        (mutex, &mut self.guests[of.partition].locks)
    }

    /// A job is about to go on on a thread: a new burst is laid out, and who spun tries again.
    pub fn lay_out(&mut self, id: JobId, vp: VpId, thread: u8) {
        self.at.vps[vp].waits &= !(1 << thread);
        let job = self.jobs.get(id);
        let (load, kind, burst) = (job.load, job.kind, job.instructions);
        let (mutex, stream) = self.lock_of(load);
        let piece = match mutex.phase(id) {
            Phase::Apart if kind.is_own() => return,
            Phase::Apart => mutex.begin(id, burst, stream),
            Phase::Spins => 0.0,
            _ => return,
        };
        self.jobs.get(id).instructions = piece;
    }

    /// A thread's next burst begins where the last one ended.
    pub fn lay_out_in_place(&mut self, id: JobId, at: ThreadId) {
        let load = self.jobs.peek(id).load;
        if self.loads[load].mutex.is_none() || self.threads[at].task != Task::Job(id) {
            return;
        }
        let burst = self.threads[at].instructions;
        let (mutex, stream) = self.lock_of(load);
        let piece = mutex.begin(id, burst, stream);
        self.threads[at].instructions = piece;
    }

    /// A piece of a burst is done: what now?
    pub fn end_piece(&mut self, id: JobId, vp: VpId, at: ThreadId, thread: u8) -> Next {
        let load = self.jobs.peek(id).load;
        if self.loads[load].mutex.is_none() {
            return Next::Done { holds: false };
        }
        self.at.vps[vp].waits &= !(1 << thread);
        let (mutex, stream) = self.lock_of(load);
        let (phase, last) = (mutex.phase(id), mutex.is_last(id));
        match phase {
            Phase::Apart => Next::Done { holds: false },
            Phase::Outside | Phase::Holds if last => {
                mutex.leave(id);
                let holds = phase == Phase::Holds;
                Next::Done { holds }
            }
            Phase::Holds => {
                let piece = mutex.outside(id, stream);
                self.threads[at].instructions += piece;
                self.release_lock(load);
                Next::Piece
            }
            _ => {
                self.try_lock(id, phase, vp, at, thread);
                Next::Piece
            }
        }
    }

    /// A thread wants the lock.
    fn try_lock(&mut self, id: JobId, was: Phase, vp: VpId, at: ThreadId, thread: u8) {
        let (partition, load) = (self.vp(vp).partition, self.jobs.peek(id).load);
        self.weigh_lock(load, vp);
        let (mutex, stream) = self.lock_of(load);
        mutex.arrive(id);
        match mutex.holder() {
            None => {
                let piece = mutex.take(id, stream);
                self.threads[at].instructions = piece;
            }
            Some(holder) if was != Phase::Spins && self.runner(holder).is_some() => {
                let piece = self.lock_of(load).0.spin(id);
                self.threads[at].instructions = piece;
                self.at.vps[vp].waits |= 1 << thread;
            }
            Some(_) => {
                self.lock_of(load).0.sleep(id);
                let meter = self.meters.integrate(partition, self.now);
                meter.runnable -= 1;
                meter.blocked += 1;
                self.leave_thread(vp, at, thread);
            }
        }
    }

    /// The share of a thread's time with the lock, on the core where it is now: the way of the
    /// lock's line belongs to it.
    fn weigh_lock(&mut self, load: LoadId, vp: VpId) {
        let Some(core) = self.vp(vp).core else { return };
        let class = self.class_beside(load, core, self.at.cores[core].class);
        let class = self.table.class(&self.spec.partitions, class);
        let (all, way) = (class.ns, class.books.of(Book::Spin));
        let share = self.profile(load).lock_share;
        self.lock_of(load).0.share = (share * (all - way) + way) / all;
    }

    /// Where a job runs, if it is on a core.
    fn runner(&mut self, id: JobId) -> Option<(VpId, ThreadId, CoreId)> {
        let job = self.jobs.get(id);
        if job.last_cpu == NO_CPU {
            return None;
        }
        let (partition, cpu) = (job.partition, job.last_cpu);
        let guest = &self.guests[partition];
        let at = guest.first_thread.plus(usize::from(cpu));
        let vp = self.vp_at(partition, cpu / u16::from(guest.smt));
        let v = self.vp(vp);
        let runs = v.mode == Mode::Running && self.threads[at].task == Task::Job(id);
        v.core.filter(|_| runs).map(|core| (vp, at, core))
    }

    /// The holder is done with the lock.
    pub fn release_lock(&mut self, load: LoadId) {
        let partition = self.loads[load].partition;
        self.lock_of(load).0.release();
        let mut order = 0;
        while let Some(id) = self.lock_of(load).0.spinner(order) {
            if let Some((vp, at, core)) = self.runner(id) {
                self.hand_over(id, vp, at, core);
                break;
            }
            order += 1;
        }
        if let Some((id, way)) = self.lock_of(load).0.wake() {
            self.jobs.get(id).instructions = way;
            let meter = self.meters.integrate(partition, self.now);
            meter.blocked -= 1;
            meter.runnable += 1;
            self.make_runnable(id);
        }
    }

    /// One that spins gets the lock.
    fn hand_over(&mut self, id: JobId, vp: VpId, at: ThreadId, core: CoreId) {
        self.settle(core);
        let v = &mut self.at.vps[vp];
        v.waits &= !(1 << (at.index() - v.first_thread.index()));
        let load = self.jobs.peek(id).load;
        let (mutex, stream) = self.lock_of(load);
        let piece = mutex.take(id, stream);
        let thread = &mut self.threads[at];
        thread.instructions = piece;
        thread.done_at = When::NEVER;
        self.plan(core);
    }

    /// A virtual processor is on a core again: its threads that spun try at once.
    pub fn try_again(&mut self, vp: VpId) {
        let v = self.vp(vp);
        let (first, mut bits) = (v.first_thread, v.waits & v.mask);
        while bits != 0 {
            let at = first.plus(bits.trailing_zeros() as usize);
            bits &= bits - 1;
            self.threads[at].instructions = 0.0;
        }
    }

    /// Core time of threads that spun, of what a virtual processor's had together [ns].
    pub fn book_waits(&mut self, vp: VpId, ran: f64) -> f64 {
        let v = &self.at.vps[vp];
        let waits = (v.waits & v.mask).count_ones();
        let spun = ran * f64::from(waits) / f64::from(v.mask.count_ones());
        self.meters.partitions[v.partition]
            .books
            .add(Book::Spin, spun);
        spun
    }
}
