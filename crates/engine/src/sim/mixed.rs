//! Threads of several loads on one core: each goes on as fast as its own load does there.
//!
//! What a thread costs beside others hangs on what they do. Core time is parted evenly among the
//! busy threads, as it is where they are all alike.

use super::system::{Stretch, System};
use super::world::{Task, World};
use crate::cost::{Book, ClassId, Company};
use crate::ids::{CoreId, LoadId, ThreadId, VpId};
use crate::kernel::{real, When};

impl<S: System> World<S> {
    /// The load that a thread works for; the first one if it has no job.
    pub fn load_on(&self, vp: VpId, at: ThreadId) -> LoadId {
        match self.threads[at].task {
            Task::Job(id) => self.jobs.peek(id).load,
            Task::None | Task::Own => self.vp(vp).partition.into(),
        }
    }

    /// Cost class of a load where the first load of its partition has `first`.
    pub fn class_beside(&mut self, load: LoadId, core: CoreId, first: ClassId) -> ClassId {
        if self.has_strangers {
            return self.table.instead(first, load.into());
        }
        let (chip, partition) = (self.at.cores[core].chip, self.loads[load].partition);
        let threads = first - self.table.id(partition.into(), chip, 0);
        self.table.id(load.into(), chip, threads as u8)
    }

    /// Cost class of a busy thread of a virtual processor beside the other busy ones.
    fn class_of(&mut self, vp: VpId, core: CoreId, at: ThreadId) -> ClassId {
        let (mask, load) = (self.mask(vp), self.load_on(vp, at));
        let plain = self.class_beside(load, core, self.at.cores[core].class);
        let parts = usize::from(self.spec.machine.smt.parts);
        let own = self.table.kind(load.into());
        let (mut company, mut alike) = (Company::default(), true);
        for other in self.busy(vp, mask).filter(|other| *other != at) {
            let kind = self.table.kind(self.load_on(vp, other).into());
            alike &= kind == own;
            if other.index().abs_diff(at.index()) % parts == 0 {
                company.add(kind);
            }
        }
        if alike {
            return plain;
        }
        if parts > 1 {
            company.part();
        }
        self.table.beside(plain, company)
    }

    /// Sets how fast each busy thread is and when its burst ends; the first such time, or the end
    /// of a time slice. Apart, like the next, so that cores without such threads do not pay.
    #[inline(never)]
    pub fn finish_each(&mut self, vp: VpId, core: CoreId, mask: u8) -> When {
        let start = self.at.cores[core].stall_until.max(When::at(self.now));
        let mut next = When::NEVER;
        for at in self.busy(vp, mask) {
            let own = self.class_of(vp, core, at);
            let warm_ns = self.table.rate(&self.spec.partitions, own).ns;
            let fetches = self.at.cores[core].fetches;
            let unfetched = fetches.then(|| &self.unfetched[at].0);
            let thread = &mut self.threads[at];
            thread.own_ns[0] = warm_ns;
            next = next.min(thread.finishes(start, (warm_ns, thread.own_ns[1]), unfetched));
        }
        next
    }

    /// Moves the busy threads on and books what they did.
    #[inline(never)]
    pub fn advance_each(&mut self, vp: VpId, core: CoreId, stretch: Stretch) {
        let threads = f64::from(stretch.mask.count_ones());
        let (core_ns, ran) = (
            real(stretch.elapsed) / threads,
            real(stretch.elapsed - stretch.stalled),
        );
        for at in self.busy(vp, stretch.mask) {
            let load = self.load_on(vp, at);
            let before = self.threads[at].instructions;
            let cold = self.advance_one(at, core, ran);
            let done = before - self.threads[at].instructions;
            let v = &self.at.vps[vp];
            let waits = v.waits & (1 << (at.index() - v.first_thread.index())) != 0;
            if ran > 0.0 {
                let partition = v.partition;
                self.book_cold(load, cold / threads, stretch.mask.count_ones());
                if waits {
                    let books = &mut self.meters.partitions[partition].books;
                    books.add(Book::Spin, (ran - cold) / threads);
                } else {
                    let own = self.class_of(vp, core, at);
                    self.table.spend(own, (ran - cold) / threads);
                }
            }
            let share = self.loads[load].system_share;
            self.meters.ran_as(at, ran, share);
            if self.works_for_load(at) {
                if let Some(meter) = &mut self.loads[load].meter {
                    meter.core_ns += core_ns;
                    meter.thread_ns += real(stretch.elapsed);
                    meter.instructions += if waits { 0.0 } else { done };
                }
            }
        }
    }

    /// Moves a thread on; the time that went into refilling caches [ns].
    fn advance_one(&mut self, at: ThreadId, core: CoreId, ran: f64) -> f64 {
        let thread = &mut self.threads[at];
        let [warm_ns, extra_ns] = thread.own_ns;
        if self.at.cores[core].fetches {
            return thread.go_on(&mut self.unfetched[at].0, ran, (warm_ns, extra_ns));
        }
        let (mut warm_ran, mut cold) = (ran, 0.0);
        if thread.cold_instructions > 0.0 {
            let slow = (ran / (warm_ns + extra_ns)).min(thread.cold_instructions);
            thread.cold_instructions -= slow;
            thread.instructions -= slow;
            cold = slow * extra_ns;
            warm_ran = (ran - slow * (warm_ns + extra_ns)).max(0.0);
        }
        // As where all are alike, to the last bit: by the inverse.
        thread.instructions -= warm_ran * (1.0 / warm_ns);
        cold
    }

    /// Whether a thread is at work of a load and not of the guest itself.
    fn works_for_load(&self, at: ThreadId) -> bool {
        let of = |id| self.jobs.peek(id).kind;
        let kind = self.threads[at].job().map(of);
        kind.is_some_and(|kind| !kind.is_own())
    }

    /// The busy threads of a virtual processor.
    pub fn busy(&self, vp: VpId, mask: u8) -> impl Iterator<Item = ThreadId> {
        let (first, threads) = self.threads_of(vp);
        let busy = (0..threads).filter(move |thread| mask & (1 << thread) != 0);
        busy.map(move |thread| first.plus(usize::from(thread)))
    }
    /// Chance that a virtual processor that loses its core holds up those that come to the guest's
    /// lock: of its threads together. One lock a guest, whoever comes to it.
    pub fn blocking_shares(&mut self, vp: VpId, core: CoreId, class: ClassId) -> f64 {
        let mut shares = 0.0;
        for at in self.busy(vp, self.mask(vp)) {
            let load = self.load_on(vp, at);
            if self.spins_for(load) {
                let own = self.class_beside(load, core, class);
                shares += self.blocking_share(load, own);
            }
        }
        shares
    }

    /// Holding time of the lock, and mean time between two turns of one thread, where those of a
    /// virtual processor come to it each in its way [ns].
    pub fn lock_times_of_several(&mut self, vp: VpId, core: CoreId) -> (f64, f64) {
        let (mut held, mut turns_per_ns, mut threads) = (0.0, 0.0, 0.0);
        let class = self.at.cores[core].class;
        for at in self.busy(vp, self.mask(vp)) {
            let load = self.load_on(vp, at);
            threads += 1.0;
            if self.spins_for(load) {
                let own = self.class_beside(load, core, class);
                let (own, _) = self.own_ns(own);
                let profile = self.profile(load);
                let turn = profile.lock_hold_instructions * own;
                held += profile.lock_share;
                turns_per_ns += profile.lock_share / turn;
            }
        }
        if turns_per_ns == 0.0 {
            return (0.0, f64::INFINITY);
        }
        ((held / turns_per_ns), (threads - held) / turns_per_ns)
    }
}
