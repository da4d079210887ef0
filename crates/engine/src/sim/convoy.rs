//! Convoys: a virtual processor that loses its core with a spin lock in its hands holds up the
//! siblings that come to it.
//!
//! One lock a guest, as in the cost of spinning on a running holder (`cost::lock`): who loses its
//! core holds it with the chance that the profile's `lock_share` says. While the holder is away,
//! each sibling that runs comes to the lock after a time that is exponential around the mean
//! between two critical sections of a thread, and spins from then on. Its threads are taken to come
//! together, when one of them would: what they lose is the same on average as if each came by
//! itself, and a core is given away only if none of its threads has anything better to do. Once the
//! holder runs, waiters get the lock one holding time after the other.
//!
//! A queue or ticket lock goes to who waits longest, on a core or not. Who loses its core while it
//! waits for such a lock has it soon after, and holds up all others just as its holder would; so
//! does, once the holder is back, the first of those that spun that lost its core meanwhile
//! (Ouyang, Lange: Preemptable ticket spinlocks, VEE 2013). A test-and-set lock goes to whoever
//! runs.
//!
//! A lock that others may take past a first waiter that is off (`first_off` of its guest) is held
//! by those that run, each for a while: who comes to it then stands in line behind that one, though
//! no holder is away. So a line lasts that would be gone at once if its first waiter ran. A ticket
//! lock waits for its first waiter: all who come stand in line behind that one.
//!
//! ```text
//! told:    lost_with_lock (off its core, with work), runs_again (on a core), lets_go (no work)
//! system:  spins (it may notice after a while, and confer or yield), has_spun
//! ```

use super::system::System;
use super::world::World;
use crate::cost::{Book, ClassId};
use crate::hypervisor::Mode;
use crate::ids::{CoreId, LoadId, PartitionId, VpId};
use crate::kernel::{Key, When};
use crate::spec::LockKind;

impl<S: System> World<S> {
    /// A virtual processor with work has lost its core, perhaps with the lock in its hands.
    pub fn lost_with_lock(&mut self, vp: VpId) {
        let v = self.vp(vp);
        let partition = v.partition;
        let free = self.is_nobodys(partition);
        let spinning = self.loads_of(partition).any(|load| self.spins_for(load));
        if v.spins || !free || !spinning {
            return;
        }
        let share = self.chance_to_block(vp);
        if share > 0.0 && self.guests[partition].locks.chance(share) {
            self.is_away(partition, vp);
        }
    }

    /// Whether the lock belongs to no virtual processor that is off: in order it does from its turn
    /// on, whether or not that one has run since.
    fn is_nobodys(&self, partition: PartitionId) -> bool {
        let guest = &self.guests[partition];
        let owned = guest.first_off.is_some() && self.goes_in_order(partition);
        guest.holder.is_none() && !owned
    }

    /// Nobody has the lock until this one runs: siblings will come to it.
    fn is_away(&mut self, partition: PartitionId, holder: VpId) {
        self.guests[partition].holder = Some(holder);
        self.is_held_up(partition);
        for sibling in self.at.vps_of[partition] {
            self.will_reach(sibling);
        }
    }

    /// Whether threads of a load spin for a lock.
    pub fn spins_for(&self, load: LoadId) -> bool {
        let profile = self.profile(load);
        profile.lock_share > 0.0 && profile.lock_kind != LockKind::Sleeping
    }

    /// A virtual processor was put on a core.
    #[inline]
    pub fn runs_again(&mut self, vp: VpId) {
        let partition = self.vp(vp).partition;
        match self.guests[partition].holder {
            None if self.guests[partition].first_off.is_none() => {}
            Some(holder) if holder == vp => self.holder_is_back(partition),
            _ if self.vp(vp).spins => self.spin(vp),
            _ => self.will_reach(vp),
        }
    }

    /// A virtual processor has no work any more: it waits for no lock, and who took its work has
    /// what it held.
    pub fn lets_go(&mut self, vp: VpId) {
        self.at.vps[vp].spins = false;
        let partition = self.vp(vp).partition;
        self.guests[partition].spinning.retain(|&one| one != vp);
        if self.guests[partition].holder == Some(vp) {
            self.holder_is_back(partition);
        }
    }

    /// Whether those that spin in a guest stand in a line, in which they may halt.
    pub fn stands_in_line(&self, partition: PartitionId) -> bool {
        self.loads_of(partition)
            .any(|load| self.spins_for(load) && self.profile(load).lock_kind.in_order())
    }

    /// Whether a load's lock goes to those that spin for it in the order in which they came, on a
    /// core or not.
    fn in_order(&self, load: LoadId) -> bool {
        let (kind, partition) = (self.profile(load).lock_kind, self.loads[load].partition);
        kind.in_order() && !(kind == LockKind::Queue && self.sys.steals(partition))
    }

    /// Chance that a virtual processor that loses its core holds up those that come to the lock.
    fn chance_to_block(&mut self, vp: VpId) -> f64 {
        let v = self.vp(vp);
        let (partition, threads) = (v.partition, f64::from(v.mask.count_ones()));
        let core = v.last_core.expect("it ran");
        let class = self.class_on(vp, core);
        if !self.guests[partition].beside.is_empty() {
            return self.blocking_shares(vp, core, class).min(1.0);
        }
        (self.blocking_share(partition.into(), class) * threads).min(1.0)
    }

    /// Share of a thread's time in which others wait for the lock if it loses its core: while it
    /// holds it, which is `lock_share` of what is left when the waits for a running holder
    /// (`cost::lock`) are taken off; if the lock goes round in order, also while it waits.
    pub fn blocking_share(&mut self, load: LoadId, class: ClassId) -> f64 {
        let (own, all) = self.own_ns(class);
        let profile = self.profile(load);
        let waits = if self.in_order(load) { all - own } else { 0.0 };
        (profile.lock_share * own + waits) / all
    }

    /// Cost class of a virtual processor on the core where it is or was last.
    fn class_on(&self, vp: VpId, core: CoreId) -> ClassId {
        let (v, on) = (self.vp(vp), &self.at.cores[core]);
        if on.running.is_none_or(|runner| runner == vp) {
            return on.class;
        }
        let first = self.table.id(v.partition.into(), on.chip, 0);
        first + u32::from(self.crowd(vp, v.mask))
    }

    /// Time of an instruction in a class without waits for the lock, and with them [ns].
    pub fn own_ns(&mut self, class: ClassId) -> (f64, f64) {
        let class = self.table.class(&self.spec.partitions, class);
        (class.ns - class.books.of(Book::Spin), class.ns)
    }

    /// Holding time of the lock, and mean time between two turns of one thread, on its core,
    /// neither with waits for it [ns].
    pub fn lock_times(&mut self, vp: VpId, core: CoreId) -> (f64, f64) {
        let partition = self.vp(vp).partition;
        if self.at.cores[core].mixed {
            return self.lock_times_of_several(vp, core);
        }
        let (own, _) = self.own_ns(self.at.cores[core].class);
        let profile = &self.spec_of(partition).profile;
        let held = profile.lock_hold_instructions * own;
        (held, held * (1.0 / profile.lock_share - 1.0))
    }

    /// A sibling that runs will come to the lock some time.
    fn will_reach(&mut self, vp: VpId) {
        let v = self.vp(vp);
        let (partition, core) = (v.partition, v.core);
        let Some(core) = core.filter(|_| v.mask != 0 && !v.spins) else {
            return;
        };
        let (held, outside) = self.lock_times(vp, core);
        let may_be_free = self.guests[partition].holder.is_none();
        let outside = if may_be_free && !self.goes_in_order(partition) {
            outside / self.chance_held(vp, held, outside)
        } else {
            outside
        };
        if outside.is_infinite() {
            // None of its threads is of a workload that takes the lock, or nobody else does.
            self.at.vps[vp].reaches = Key::NONE;
            return;
        }
        let after = self.guests[partition].locks.exponential(outside) as u64;
        // It computes once what holds it up is over: its dispatch, or its own turn with the lock.
        let stalled = self.at.cores[core].stall_until.ns();
        let stalled = stalled.filter(|_| S::computes_after_dispatch());
        let from = stalled.unwrap_or_default().max(self.now);
        let key = self.ask_at(from + after, S::at_lock(vp));
        self.at.vps[vp].reaches = key;
    }

    /// Chance that one that comes to the lock finds it in the hands of another that runs. Nobody
    /// waits while the first in line is off, so that it is a loss system's: of `n` others, each
    /// outside for a time and then with the lock for another, one has it with n h / (o + n h).
    fn chance_held(&self, vp: VpId, held: f64, outside: f64) -> f64 {
        let siblings = self.at.vps_of[self.vp(vp).partition].into_iter();
        let takes = |one: &VpId| {
            let v = self.vp(*one);
            *one != vp && v.mode == Mode::Running && v.mask != 0 && !v.spins
        };
        let others = siblings.filter(takes).count() as f64;
        others * held / (outside + others * held)
    }

    /// A line stands: those that run may come to it.
    pub fn line_stands(&mut self, partition: PartitionId) {
        let first = self.guests[partition].first_off;
        for sibling in self.at.vps_of[partition] {
            if Some(sibling) != first && self.vp(sibling).reaches == Key::NONE {
                self.will_reach(sibling);
            }
        }
    }

    /// A virtual processor comes to a lock; if the holder is still away, or
    /// the first in line, it spins.
    pub fn reach_lock(&mut self, vp: VpId, key: Key) {
        let v = &mut self.at.vps[vp];
        if v.reaches != key {
            return;
        }
        v.reaches = Key::NONE;
        let guest = &self.guests[v.partition];
        let away = guest.holder.is_some() || guest.first_off.is_some_and(|first| first != vp);
        let Some(core) = v.core.filter(|_| v.mode == Mode::Running) else {
            return;
        };
        if v.mask != 0 && away {
            v.spins = true;
            let partition = v.partition;
            self.guests[partition].spinning.push(vp);
            self.settle(core);
            self.spin(vp);
        }
    }

    /// A runner makes no progress until the holder is back, or somebody notices.
    pub fn spin(&mut self, vp: VpId) {
        let core = self.vp(vp).core.expect("a runner");
        let on = &mut self.at.cores[core];
        let from = on.settled_at.max(self.now);
        on.spin_from = on.stall_until.max(When::at(from));
        on.stall_until = When::NEVER;
        S::spins(self, vp, core);
        self.plan(core);
    }

    /// The holder runs again.
    fn holder_is_back(&mut self, partition: PartitionId) {
        let holder = self.guests[partition].holder.take();
        self.is_held_up(partition);
        for vp in self.at.vps_of[partition] {
            self.at.vps[vp].reaches = Key::NONE;
        }
        self.serve_line(partition, holder);
        if self.guests[partition].first_off.is_some() {
            self.line_stands(partition);
        }
    }

    /// Those that wait get the lock one holding time after the other, in order as far as the first
    /// that has lost its core or has to be woken; `by` had it before. Who takes a lock out of order
    /// goes before those that sleep.
    pub fn serve_line(&mut self, partition: PartitionId, by: Option<VpId>) {
        let in_order = self.goes_in_order(partition);
        let mut waiting = std::mem::take(&mut self.guests[partition].spinning);
        waiting.retain(|&vp| self.vp(vp).spins);
        if !in_order {
            waiting.sort_unstable();
        }
        let sleeps = |vp: &VpId| self.sys.stays_in_line(*vp);
        let (asleep, mut waiting): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|vp| !in_order && sleeps(vp));
        let mut turn = 0;
        for (at, &vp) in waiting.iter().enumerate() {
            if self.sys.stays_in_line(vp) {
                return self.wakes_first(partition, waiting.split_off(at), by);
            }
            let v = &mut self.at.vps[vp];
            v.spins = false;
            if let Some(core) = v.core.filter(|_| v.mode == Mode::Running) {
                turn += 1;
                self.gets_lock(vp, core, turn);
            } else if in_order {
                let behind = waiting.split_off(at + 1);
                return self.hands_on(partition, vp, behind);
            }
        }
        if !asleep.is_empty() {
            self.wakes_first(partition, asleep, by);
        }
    }

    /// It is the turn of one that sleeps: those behind it wait until it has had the lock.
    fn wakes_first(&mut self, partition: PartitionId, line: Vec<VpId>, by: Option<VpId>) {
        self.guests[partition].spinning = line;
        let by = by.filter(|vp| self.vp(*vp).mode == Mode::Running);
        S::kick(self, partition, by);
    }

    /// Whether the lock goes to those that spin for it in the order in which they came.
    fn goes_in_order(&self, partition: PartitionId) -> bool {
        self.loads_of(partition)
            .any(|load| self.spins_for(load) && self.in_order(load))
    }

    /// A runner gets the lock, as the so manieth.
    fn gets_lock(&mut self, vp: VpId, core: CoreId, turn: u64) {
        self.settle(core);
        let (held, _) = self.lock_times(vp, core);
        let on = &mut self.at.cores[core];
        on.spin_from = on.spin_from.max(When::at(self.now));
        on.stall_until = on.spin_from + held as u64 * turn;
        S::has_spun(self, vp);
        self.plan(core);
    }

    /// The lock is handed to one that is away: those behind spin on, for that one, and those that
    /// sleep in line go on with that.
    fn hands_on(&mut self, partition: PartitionId, holder: VpId, behind: Vec<VpId>) {
        for &vp in &behind {
            if self.sys.stays_in_line(vp) {
                continue;
            }
            let v = self.vp(vp);
            if let Some(core) = v.core.filter(|_| v.mode == Mode::Running) {
                self.settle(core);
                self.at.cores[core].stall_until = When::at(self.now);
                self.spin(vp);
            }
        }
        self.guests[partition].spinning = behind;
        self.is_away(partition, holder);
    }
}
