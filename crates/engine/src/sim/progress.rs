//! Progress of the threads on a core: booking what they did, and planning the core's next event.

use super::event::CORES;
use super::system::{Stretch, System};
use super::world::{Task, Thread, World};
use crate::cost::{Book, Unfetched};
use crate::ids::{CoreId, VpId};
use crate::kernel::{real, whole, Key, Time, When};
use crate::spec::Accounting;

impl<S: System> World<S> {
    /// Books what the runner of a core did since the last time. Call it before anything that
    /// changes its rate.
    #[inline]
    pub fn settle(&mut self, core: CoreId) {
        let on = &self.at.cores[core];
        if let Some(vp) = on.running.filter(|_| on.settled_at < self.now) {
            self.book(core, vp);
        }
    }

    /// Apart, so that nothing to book is a comparison where that is asked.
    #[inline(never)]
    fn book(&mut self, core: CoreId, vp: VpId) {
        let on = &mut self.at.cores[core];
        let from = std::mem::replace(&mut on.settled_at, self.now);
        let elapsed = self.now - from;
        on.clock += elapsed;
        let stall_end = on.stall_until.before(self.now).unwrap_or(self.now);
        let stalled = stall_end.saturating_sub(from);
        let spin_from = on.spin_from.max(When::at(from));
        S::charge(self, vp, core, elapsed);
        let (on, v) = (&self.at.cores[core], &self.at.vps[vp]);
        let (partition, mask, class) = (v.partition, v.mask, on.class);
        let meter = &mut self.meters.partitions[partition];
        meter.busy_ns += elapsed;
        meter.distance_ns[on.distance as usize] += elapsed;
        if stalled > 0 {
            let spun = stalled.min(spin_from.elapsed(from + stalled));
            meter.books.add(Book::Hypervisor, (stalled - spun) as f64);
            if spun > 0 {
                meter.books.add(Book::Spin, spun as f64);
            }
        }
        let ran = real(elapsed - stalled);
        if mask == 0 {
            meter.books.add(Book::GuestIdle, ran);
            meter.halt_poll_ns += elapsed - stalled;
        }
        self.meters.charge(v, on.single, elapsed);
        let stretch = Stretch {
            mask,
            elapsed,
            stalled,
        };
        if S::advance(self, vp, core, stretch) || mask == 0 {
            return;
        }
        if self.at.cores[core].mixed {
            return self.advance_each(vp, core, stretch);
        }
        if ran > 0.0 {
            let cold = self.advance(vp, core, mask, ran);
            if cold > 0.0 {
                self.book_cold(partition.into(), cold, mask.count_ones());
            }
            let mut worked = ran - cold;
            if self.at.vps[vp].waits != 0 {
                worked -= self.book_waits(vp, worked);
            }
            self.table.spend(class, worked);
        }
    }

    /// Moves the busy threads on by `ran` ns; returns the part that went into refilling caches [ns
    /// of core time].
    fn advance(&mut self, vp: VpId, core: CoreId, mask: u8, ran: f64) -> f64 {
        let on = &self.at.cores[core];
        let (per_ns, warm_ns, extra_ns) = (on.rate.per_ns, on.rate.ns, on.cold_ns);
        let fetches = on.fetches;
        let (first, _) = self.threads_of(vp);
        let mut cold = 0.0;
        let mut bits = mask;
        while bits != 0 {
            let at = first.plus(bits.trailing_zeros() as usize);
            let thread = &mut self.threads[at];
            bits &= bits - 1;
            if fetches {
                cold += thread.go_on(&mut self.unfetched[at].0, ran, (warm_ns, extra_ns));
                continue;
            }
            let mut warm_ran = ran;
            if thread.cold_instructions > 0.0 {
                let slow = (ran / (warm_ns + extra_ns)).min(thread.cold_instructions);
                thread.cold_instructions -= slow;
                thread.instructions -= slow;
                cold += slow * extra_ns;
                warm_ran = (ran - slow * (warm_ns + extra_ns)).max(0.0);
            }
            thread.instructions -= warm_ran * per_ns;
        }
        if cold == 0.0 {
            0.0
        } else {
            cold / f64::from(mask.count_ones())
        }
    }

    /// Works out the rate of the core's runner and schedules what happens next on the core.
    pub fn plan(&mut self, core: CoreId) {
        let on = &self.at.cores[core];
        debug_assert!(on.settled_at >= self.now);
        let vp = on.running.expect("only cores with a runner are planned");
        self.count_at_work(vp);
        let (on, mask) = (&self.at.cores[core], self.mask(vp));
        let mut next = on.grant_end;
        if next.before(self.window_end).is_none() {
            next = When::NEVER;
        }
        if mask != 0 {
            if self.has_strangers && self.at.cores[core].mixed {
                self.works_for(vp, core, mask);
            }
            self.set_rate(vp, core, mask);
            next = next.min(if self.at.cores[core].mixed {
                self.finish_each(vp, core, mask)
            } else {
                self.finish_times(vp, core, mask)
            });
        }
        // What it waited for until now need not be taken back: its key says that it is over.
        let key = if let Some(at) = next.before(self.window_end) {
            let due = Time::from_ns(at.max(self.now));
            self.queue.set_timer(self.timers[core], due, CORES)
        } else {
            Key::NONE
        };
        self.at.cores[core].key = key;
    }

    fn set_rate(&mut self, vp: VpId, core: CoreId, mask: u8) {
        let threads = if self.at.tree.siblings == 1 {
            self.beside_idle(vp, core, mask)
        } else {
            self.threads_together(vp, core)
        };
        let on = &mut self.at.cores[core];
        on.class = on.first_class + u32::from(threads);
        if self.has_strangers {
            self.find_company(vp, core);
        }
        let on = &mut self.at.cores[core];
        on.rate = self.table.rate(&self.spec.partitions, on.class);
    }

    /// Busy threads for the cost class, 0 if an idle sibling keeps its decode slots.
    fn beside_idle(&mut self, vp: VpId, core: CoreId, mask: u8) -> u8 {
        let busy = mask.count_ones() as u8;
        if self.spec.machine.accounting != Accounting::DecodeSlots {
            return self.crowd(vp, mask);
        }
        let partition = self.at.vps[vp].partition;
        let guest = &self.guests[partition];
        let alone = busy == 1 && guest.queues.threads() > 1;
        let on = &mut self.at.cores[core];
        on.single = alone && guest.scheduler.cedes_threads;
        if alone {
            u8::from(on.single)
        } else {
            busy
        }
    }

    /// Sets when each busy thread's burst ends and returns the first such time, or the end of a
    /// time slice.
    fn finish_times(&mut self, vp: VpId, core: CoreId, mask: u8) -> When {
        let on = &self.at.cores[core];
        let start = on.stall_until.max(When::at(self.now));
        let (warm_ns, extra_ns, fetches) = (on.rate.ns, on.cold_ns, on.fetches);
        let (first, _) = self.threads_of(vp);
        let mut next = When::NEVER;
        let mut bits = mask;
        while bits != 0 {
            let at = first.plus(bits.trailing_zeros() as usize);
            bits &= bits - 1;
            let unfetched = fetches.then(|| &self.unfetched[at].0);
            next = next.min(self.threads[at].finishes(start, (warm_ns, extra_ns), unfetched));
        }
        next
    }
}

impl Thread {
    /// Sets when its burst ends, which goes on at `start` with instructions of such times [ns];
    /// that, or the end of its time slice.
    #[inline]
    pub fn finishes(
        &mut self,
        start: When,
        (warm_ns, extra_ns): (f64, f64),
        unfetched: Option<&Unfetched>,
    ) -> When {
        debug_assert!(self.task != Task::None);
        let left = self.instructions.max(0.0);
        let mut cold_ns = left.min(self.cold_instructions) * extra_ns;
        if let Some(unfetched) = unfetched {
            cold_ns += unfetched.longer_ns(left);
        }
        let ns = left * warm_ns + cold_ns + self.extra_ns;
        // To the nearest nanosecond; what rounding leaves over is no work.
        self.done_at = start + whole(ns + 0.5);
        self.done_at.min(self.rotate_at)
    }

    /// Moves on by `ran` ns of instructions of such times [ns], some of which fetch what other
    /// chips' caches hold; how much of the time went into missing lines [ns].
    #[inline(never)]
    pub fn go_on(
        &mut self,
        unfetched: &mut Unfetched,
        ran: f64,
        (warm_ns, extra_ns): (f64, f64),
    ) -> f64 {
        let own = (&mut self.cold_instructions, extra_ns);
        let (done, cold) = unfetched.go_on(ran, warm_ns, own);
        self.instructions -= done;
        cold
    }
}
