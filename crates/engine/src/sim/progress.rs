//! Progress of the threads on a core: booking what they did, and planning the core's next event.

use super::event::{Event, NEVER};
use super::world::{World, NO_JOB};
use crate::cost::Book;
use crate::hypervisor::{Capacity, CoreId, NO_VP};
use crate::kernel::Key;
use crate::spec::Accounting;

impl World {
    /// Books what the runner of a core did since the last time. Call it before anything that
    /// changes its rate.
    pub fn settle(&mut self, core: CoreId) {
        let at = usize::from(core);
        let vp = self.hv.cores[at].running;
        let slot = &mut self.slots[at];
        let from = slot.settled_at;
        let elapsed = self.now.saturating_sub(from);
        if vp == NO_VP || elapsed == 0 {
            return;
        }
        slot.settled_at = self.now;
        slot.clock += elapsed;
        let stalled = slot.stall_until.clamp(from, self.now) - from;
        let spun = stalled.min((from + stalled).saturating_sub(slot.spin_from.max(from)));
        let single = slot.single;
        let mask = self.mask(vp);
        self.account(vp, core, elapsed, mask, single);
        let partition = usize::from(self.hv.vps[vp as usize].partition);
        let meter = &mut self.meters.partitions[partition];
        meter.books.add(Book::Hypervisor, (stalled - spun) as f64);
        meter.books.add(Book::Spin, spun as f64);
        let ran = (elapsed - stalled) as f64;
        if mask == 0 {
            meter.books.add(Book::GuestIdle, ran);
            meter.halt_poll_ns += elapsed - stalled;
        }
        if self.cps[partition].is_some() {
            let lost = if mask == 0 { elapsed } else { stalled };
            self.account_cp(vp, core, mask, elapsed as f64, lost as f64);
            if mask != 0 && ran > 0.0 {
                self.advance_cp(vp, core, mask, ran);
            }
        } else if mask != 0 && ran > 0.0 {
            let cold = self.advance(vp, core, mask, ran);
            self.meters.partitions[partition]
                .books
                .add(Book::Reload, cold);
            self.table.spend(self.slots[at].class, ran - cold);
        }
    }

    /// Moves the busy threads on by `ran` ns; returns the part that went into refilling caches [ns
    /// of core time].
    fn advance(&mut self, vp: u32, core: CoreId, mask: u8, ran: f64) -> f64 {
        let slot = &self.slots[usize::from(core)];
        let (per_ns, warm_ns, extra_ns) =
            (slot.instructions_per_ns, slot.instruction_ns, slot.cold_ns);
        let (first, _) = self.threads_of(vp);
        let mut cold = 0.0;
        let mut bits = mask;
        while bits != 0 {
            let thread = &mut self.threads[first + bits.trailing_zeros() as usize];
            bits &= bits - 1;
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

    /// Charges core time to partition, pool and budgets.
    fn account(&mut self, vp: u32, core: CoreId, elapsed: u64, mask: u8, single: bool) {
        let v = &mut self.hv.vps[vp as usize];
        let partition = usize::from(v.partition);
        let share = &mut self.hv.shares[partition];
        let meter = &mut self.meters.partitions[partition];
        meter.busy_ns += elapsed;
        match v.capacity {
            Capacity::Entitled => {
                v.slice_ns = v.slice_ns.saturating_sub(elapsed);
                meter.entitled_ns += elapsed;
            }
            Capacity::Excess => {
                share.excess_age += elapsed as f64 / share.weight.max(1.0);
                meter.excess_ns += elapsed;
            }
        }
        if v.grant_ns != NEVER {
            v.grant_ns = v.grant_ns.saturating_sub(elapsed);
        }
        if !share.is_dedicated() {
            share.limit.used_ns += elapsed;
            self.hv.pools[usize::from(share.pool)].used_ns += elapsed;
        }
        let distance = self
            .hv
            .tree
            .distance(v.home_chip, self.hv.cores[usize::from(core)].chip);
        meter.distance_ns[distance as usize] += elapsed;
        let owner = self.hv.cores[usize::from(core)].owner;
        if owner != NO_VP && owner != vp {
            let lender = usize::from(self.hv.vps[owner as usize].partition);
            self.meters.partitions[lender].donated_ns += elapsed;
        }
        self.meters.charge(vp, mask, single, elapsed);
    }

    /// Works out the rate of the core's runner and schedules what happens next on the core.
    pub fn plan(&mut self, core: CoreId) {
        let at = usize::from(core);
        let vp = self.hv.cores[at].running;
        debug_assert!(vp != NO_VP && self.slots[at].settled_at >= self.now);
        let mask = self.mask(vp);
        let mut next = self.slots[at].grant_end;
        if next >= self.window_end {
            next = NEVER;
        }
        if mask != 0 {
            self.set_rate(vp, core, mask);
            next = next
                .min(self.finish_times(vp, core, mask))
                .min(self.slots[at].single_at);
        }
        let slot = &mut self.slots[at];
        slot.key = Key::NONE;
        if next < self.window_end {
            let key = self.schedule(next.max(self.now), Event::Core(core));
            self.slots[at].key = key;
        }
    }

    fn set_rate(&mut self, vp: u32, core: CoreId, mask: u8) {
        let at = usize::from(core);
        let partition = self.hv.vps[vp as usize].partition;
        let threads = if self.hv.tree.siblings == 1 {
            self.snooze(vp, core, mask)
        } else {
            self.threads_together(vp, core)
        };
        let chip = self.hv.cores[at].chip;
        let id = self.table.id(partition, chip, threads);
        let ns = self.table.instruction_ns(&self.spec.partitions, id);
        let slot = &mut self.slots[at];
        slot.class = id;
        if slot.instruction_ns != ns {
            slot.instruction_ns = ns;
            slot.instructions_per_ns = 1.0 / ns;
        }
    }

    /// Busy threads for the cost class, 0 if an idle sibling keeps its decode slots; sets when it
    /// gives them up.
    fn snooze(&mut self, vp: u32, core: CoreId, mask: u8) -> u8 {
        let busy = mask.count_ones() as u8;
        if self.spec.machine.accounting != Accounting::DecodeSlots {
            return busy;
        }
        let partition = usize::from(self.hv.vps[vp as usize].partition);
        let guest = &self.guests[partition];
        let slot = &mut self.slots[usize::from(core)];
        if busy != 1 || guest.smt == 1 {
            slot.single = false;
            slot.single_at = NEVER;
            return busy;
        }
        match guest.scheduler.snooze_delay_ns {
            Some(0) => slot.single = true,
            Some(delay) if !slot.single && slot.single_at == NEVER => {
                slot.single_at = self.now + delay
            }
            Some(_) if slot.single_at <= self.now => {
                slot.single = true;
                slot.single_at = NEVER;
            }
            _ => {}
        }
        u8::from(slot.single)
    }

    /// Sets when each busy thread's burst ends and returns the first such time, or the end of a
    /// time slice.
    fn finish_times(&mut self, vp: u32, core: CoreId, mask: u8) -> u64 {
        let slot = &self.slots[usize::from(core)];
        let start = slot.stall_until.max(self.now);
        let (warm_ns, extra_ns) = (slot.instruction_ns, slot.cold_ns);
        let (first, _) = self.threads_of(vp);
        let mut next = NEVER;
        let mut bits = mask;
        while bits != 0 {
            let thread = &mut self.threads[first + bits.trailing_zeros() as usize];
            bits &= bits - 1;
            debug_assert!(thread.job != NO_JOB);
            let left = thread.instructions.max(0.0);
            let cold_ns = left.min(thread.cold_instructions) * extra_ns;
            let ns = left * warm_ns + cold_ns + thread.extra_ns;
            // To the nearest nanosecond; what rounding leaves over is no work.
            thread.done_at = start.saturating_add((ns + 0.5) as u64);
            next = next.min(thread.done_at).min(thread.rotate_at);
        }
        next
    }
}
