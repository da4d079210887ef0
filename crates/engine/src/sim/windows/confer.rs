//! Locks across virtual processors. A virtual processor that loses its core may hold a lock that a
//! sibling comes to ([`convoy`](crate::sim::convoy)); the sibling spins for a while (AIX:
//! `slock_spinb4confer` turns), then confers: it gives its core and the rest of its slice to the
//! holder. When it runs again and the holder still does not, it spins anew.
//!
//! Guests of PR/SM do the same by diagnose X'9C': who finds that the lock's holder does not run
//! names it and gives up what is left of its interval, which goes to the holder (US patent
//! 8,689,230; Linux asks so in `arch/s390/lib/spinlock.c`). No polarization is left out there, so a
//! vertical-high logical core gives too: its time and its core, where the holder goes on in its
//! place. That time is good on that core alone, as all others have their shares elsewhere: who
//! leaves it gives back what is left. What a vertical-high core keeps, because the holder has no
//! use for it in this window, it uses at home when that one leaves, or when it must. A gift of
//! others does not draw a vertical-high core from its home: it is the time that is given to it.

use super::{Alarm, Partitions};
use crate::hypervisor::{Capacity, Mode};
use crate::ids::{CoreId, VpId};
use crate::kernel::Key;
use crate::sim::meters::Reason;
use crate::sim::world::World;

/// Time a thread spins before it confers [ns]: a thousand turns (`slock_spinb4confer` is 1K on AIX
/// 7.1, `spin_retry` 1000 in Linux) of some ten nanoseconds each. Assumed range 5 to 20 us.
const SPIN_NS: u64 = 10_000;

impl World<Partitions> {
    /// A virtual processor with work has lost its core, if it was not put on another one.
    pub(super) fn lost_core(&mut self, vp: VpId) {
        let waits = matches!(self.vp(vp).mode, Mode::Ready | Mode::Exhausted);
        if waits && self.mask(vp) != 0 {
            self.lost_with_lock(vp);
        }
    }

    /// A runner spins: it will confer.
    pub(super) fn will_confer(&mut self, vp: VpId, core: CoreId) {
        if let Some(from) = self.at.cores[core].spin_from.ns() {
            self.at.vps[vp].reaches = self.ask_at(from + SPIN_NS, Alarm::Lock(vp));
        }
    }

    /// A virtual processor comes to the lock, or has spun for it long enough.
    pub(super) fn at_lock(&mut self, vp: VpId, key: Key) {
        let v = self.vp(vp);
        if !v.spins {
            return self.reach_lock(vp, key);
        }
        if v.reaches != key || v.mode != Mode::Running {
            return;
        }
        if let Some(holder) = self.guests[v.partition].holder {
            self.confer(vp, holder);
        }
    }

    /// Whether a core is no place for what a virtual processor is entitled to: it has another home,
    /// and nobody's gift to use on this core.
    fn belongs_elsewhere(&self, vp: VpId, core: CoreId) -> bool {
        let v = &self.sys.windows.slices[vp];
        let away = v.home_core.is_some_and(|home| home != core);
        away && v.capacity == Capacity::Entitled && v.gift_ns == 0
    }

    fn confer(&mut self, sibling: VpId, holder: VpId) {
        let cost = self.spec.machine.hypervisor.confer_ns;
        let partition = self.vp(holder).partition;
        let core = self.undispatch(sibling, Reason::Confer);
        self.set_mode(sibling, Mode::Ready);
        self.count_voluntary(sibling);
        let meter = &mut self.meters.partitions[partition];
        meter.confer_calls += 1;
        meter.confer_ns += cost;
        self.at.vps[holder].debt_ns += cost;
        self.sys.windows.queues.remove(partition, holder);
        if self.sys.windows.slices[sibling].home_core == Some(core) {
            return self.lend_home(sibling, holder, core);
        }
        self.give_slice(sibling, holder, core);
        self.put_holder(holder, core);
        self.make_ready(sibling);
    }

    /// A vertical-high sibling gives its time: the holder goes on in its place. Who gave it must
    /// not throw the holder off at once for what it kept.
    fn lend_home(&mut self, sibling: VpId, holder: VpId, home: CoreId) {
        let its = &self.sys.windows.slices[holder];
        if its.home_core.is_some() && its.slice_ns > 0 {
            return self.send_both_home(sibling, holder, home);
        }
        let given = self.give_slice(sibling, holder, home);
        let slices = &mut self.sys.windows.slices;
        (slices[holder].gift_ns, slices[holder].giver) = (given, Some(sibling));
        self.sys.windows.guests += 1;
        let slices = &self.sys.windows.slices;
        let kept = slices[sibling].slice_ns > 0;
        self.put_holder(holder, home);
        if self.at.cores[home].running != Some(holder) {
            self.return_gift(holder);
            self.make_ready(sibling);
        } else if !kept {
            self.make_ready(sibling);
        } else {
            self.wait_from_now(sibling, Mode::Ready);
            if self.claim(sibling) {
                self.enqueue(sibling);
            } else {
                self.set_mode(sibling, Mode::Exhausted);
            }
        }
    }

    /// A holder with time of its own at its own home needs no gift; its sibling goes on.
    fn send_both_home(&mut self, sibling: VpId, holder: VpId, home: CoreId) {
        let chip = self.at.cores[home].chip;
        self.sys.windows.sets.set_idle(chip, home);
        if self.vp(holder).mode == Mode::Exhausted {
            self.set_mode(holder, Mode::Ready);
        }
        self.seek_core(holder);
        self.make_ready(sibling);
        if self.at.cores[home].running.is_none() {
            self.sys.windows.sets.take_idle(chip, home);
            self.hand_on(home);
        }
    }

    /// Who leaves the home of a vertical-high sibling gives what it has not used of that one's time
    /// back: on other cores it would be at the expense of others, which have their shares there.
    pub(super) fn return_gift(&mut self, vp: VpId) {
        let it = &mut self.sys.windows.slices[vp];
        let Some(giver) = it.giver.take() else {
            return;
        };
        let unused = std::mem::take(&mut it.gift_ns).min(it.slice_ns);
        self.sys.windows.guests -= 1;
        if unused == 0 || self.vp(giver).mode == Mode::Inactive {
            return;
        }
        let partition = self.vp(giver).partition;
        let slices = &mut self.sys.windows.slices;
        slices[vp].slice_ns -= unused;
        slices[giver].slice_ns += unused;
        if !self.sys.windows.queues.remove(partition, giver) {
            self.ask_at(self.now, Alarm::Home(giver));
        } else if self.claim(giver) {
            self.enqueue(giver);
        } else {
            self.set_mode(giver, Mode::Exhausted);
        }
    }

    /// A vertical-high logical core that went elsewhere beyond its share, or had nothing left, has
    /// time of its own again.
    pub(super) fn use_at_home(&mut self, vp: VpId) {
        let it = &self.sys.windows.slices[vp];
        let (home, own) = (it.home_core, it.slice_ns > it.gift_ns);
        match (self.vp(vp).mode, self.vp(vp).core) {
            (Mode::Running, core) if own && core != home => {
                let core = self.preempt(vp, Reason::Reclaimed);
                self.hand_on(core);
                self.make_ready(vp);
            }
            (Mode::Exhausted, _) if own => {
                let begun = self.window_end - self.spec.machine.hypervisor.window_ns;
                self.ready_again(vp, begun);
            }
            _ => {}
        }
    }

    /// What a vertical-high logical core has given to whoever runs in its place by now [ns].
    fn lent_by(&mut self, vp: VpId) -> u64 {
        let Some(home) = self.sys.windows.slices[vp].home_core else {
            return 0;
        };
        self.settle(home);
        let runner = self.at.cores[home].running;
        let of = runner.map(|runner| &self.sys.windows.slices[runner]);
        of.filter(|of| of.giver == Some(vp))
            .map_or(0, |of| of.gift_ns)
    }

    /// A core that nobody with entitlement waits for: one that runs in a sibling's place, and has
    /// time of its own left, uses it there and gives the rest of the gift back. Otherwise excess
    /// would run here, and later there might be more who are entitled to cores than cores. Whether
    /// somebody came.
    pub(super) fn call_guest(&mut self, core: CoreId) -> bool {
        let lot = self.sys.windows.lots[core];
        if self.sys.windows.guests == 0 || lot.high.is_some() {
            return false;
        }
        let cores = self.at.active().into_iter();
        let homes = cores.filter(|home| self.sys.windows.lots[*home].pool == lot.pool);
        let runners: Vec<VpId> = homes.filter_map(|at| self.at.cores[at].running).collect();
        let guest = runners.into_iter().find(|vp| self.has_own_beside_gift(*vp));
        let Some(guest) = guest else {
            return false;
        };
        let home = self.preempt(guest, Reason::SliceEnd);
        self.wait_from_now(guest, Mode::Ready);
        if self.claim(guest) {
            self.dispatch(guest, core);
        } else {
            self.set_mode(guest, Mode::Exhausted);
            self.hand_on(core);
        }
        self.hand_on(home);
        true
    }

    fn has_own_beside_gift(&mut self, vp: VpId) -> bool {
        let it = &self.sys.windows.slices[vp];
        if it.giver.is_none() || it.home_core.is_some() {
            return false;
        }
        if let Some(core) = self.vp(vp).core {
            self.settle(core);
        }
        let it = &self.sys.windows.slices[vp];
        it.gift_ns > 0 && it.slice_ns > it.gift_ns
    }

    /// A sibling's slice goes to the holder. More than the holder can use in this window would be
    /// lost to the partition. How much it is.
    fn give_slice(&mut self, sibling: VpId, holder: VpId, core: CoreId) -> u64 {
        let start = self.at.cores[core].settled_at.max(self.now);
        let comes_back = self.lent_by(holder);
        let slices = &mut self.sys.windows.slices;
        let has = slices[holder].slice_ns + comes_back;
        let room = (self.window_end - start).saturating_sub(has);
        let given = slices[sibling].slice_ns.min(room);
        slices[sibling].slice_ns -= given;
        slices[holder].slice_ns += given;
        if given > 0 {
            slices[holder].capacity = Capacity::Entitled;
        }
        if self.at.vps[holder].mode == Mode::Exhausted {
            self.set_mode(holder, Mode::Ready);
        }
        given
    }

    /// The holder goes on, on the sibling's core unless that is no place for it.
    fn put_holder(&mut self, holder: VpId, core: CoreId) {
        if !self.claim(holder) {
            self.set_mode(holder, Mode::Exhausted);
            self.hand_on(core);
            return;
        }
        let windows = &self.sys.windows;
        let excess = windows.slices[holder].capacity == Capacity::Excess;
        if excess && windows.has_entitled_waiting() {
            // The gift was no time at all: entitlement comes before excess.
            self.enqueue(holder);
            self.hand_on(core);
        } else if self.belongs_elsewhere(holder, core) {
            self.hand_on(core);
            self.seek_core(holder);
        } else {
            self.dispatch(holder, core);
        }
    }
}
