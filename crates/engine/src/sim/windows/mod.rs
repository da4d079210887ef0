//! Partitions under windows and budgets: PowerVM, PR/SM, and cores of one's own.
//!
//! ```text
//! sim           work for a virtual processor, or none left          wake, cede
//! claim         on whose account it would run, and how much of it   claim, grant
//! dispatch      asks the policy who goes where, and carries it out
//! window        hands capacity out anew
//! confer        a lock's holder lost its core: a sibling gives its own
//! donate        idle dedicated cores go to the pool and come back
//! limits        what is left of a cap while a window goes on goes to those that wait at it
//! snooze        who has no work left polls before it cedes
//! sim::zvm      z/VM in such a partition
//! ```

mod claim;
mod confer;
mod dispatch;
mod donate;
mod limits;
mod rows;
mod snooze;
mod window;

use super::meters::{Purr, Reason};
use super::rows::Reading;
use super::system::{Stretch, System, GUEST_COLUMNS};
use super::world::World;
use super::zvm::{self, state::Cp};
use crate::hypervisor::policies::Dispatcher;
use crate::hypervisor::{Capacity, State, View, Windows};
use crate::ids::{ById, CoreId, PartitionId, ThreadId, VpId};
use crate::kernel::{Key, Stream};
use crate::spec::Spec;

/// Partitions under windows and budgets.
pub struct Partitions {
    /// Budgets, queues and sets of cores.
    pub windows: Windows,
    /// The dispatcher.
    policy: Dispatcher,
    /// z/VM's Control Program, for each partition that has it.
    pub cps: ById<PartitionId, Option<Box<Cp>>>,
    /// Whether a share check is pending.
    share_check: bool,
    /// Whether limits are to be looked at, and before when they need not [ns].
    limit_check: bool,
    next_look: u64,
    /// Who is without a core when a window begins.
    held: Held,
    /// In which order those that had nothing left go on when a window begins.
    order: Stream,
    /// When each virtual processor that polls cedes; none if it polls for ever.
    cedes: ById<VpId, Key>,
    /// Core time of each partition when it last decided to donate [ns].
    donated_from: ById<PartitionId, u64>,
}

/// Virtual processors that get a new slice when a window begins, and partitions that wait at a
/// limit; empty at all other times, but the room is kept.
#[derive(Default)]
struct Held {
    waiting: Vec<VpId>,
    exhausted: Vec<VpId>,
    at_limits: Vec<PartitionId>,
}

/// What partitions under windows wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alarm {
    /// Partitions wait for excess capacity: who is ahead of its share?
    ShareCheck,
    /// Some are at a limit: is more left of it by now?
    LimitCheck,
    /// An entitled virtual processor that still waits must run from now on to get its slice.
    LastChance(VpId),
    /// A virtual processor comes to a lock, or has spun for it long enough.
    Lock(VpId),
    /// A vertical-high logical core has time again that it had given away.
    Home(VpId),
    /// A virtual processor has polled for its snooze delay.
    Snooze(VpId),
    /// Of a partition's z/VM.
    Zvm(PartitionId, zvm::Alarm),
}

impl System for Partitions {
    type Alarm = Alarm;

    fn new(spec: &Spec, state: &mut State, replication: u64) -> Self {
        let windows = Windows::new(spec, state);
        let policy = Dispatcher::of(spec.machine.hypervisor.policy);
        let cps = state.vps_of.ids();
        Self {
            windows,
            policy: policy.expect("a policy of windows"),
            cps: cps.map(|of| Cp::of(spec, state, of, replication)).collect(),
            share_check: false,
            limit_check: false,
            next_look: 0,
            held: Held::default(),
            order: Stream::new(spec.seed, replication, "windows"),
            cedes: ById::of(Key::NONE, state.vps.len()),
            donated_from: ById::of(0, spec.partitions.len()),
        }
    }

    fn start(world: &mut World<Self>) {
        world.lend_idle_cores();
    }

    fn start_partition(world: &mut World<Self>, partition: PartitionId) {
        if world.sys.cps[partition].is_some() {
            world.start_cp(partition);
        }
    }

    fn wake(world: &mut World<Self>, vp: VpId) {
        world.wake_vp(vp);
    }

    fn cede(world: &mut World<Self>, vp: VpId) {
        if world.polls(vp) {
            world.replan(vp);
        } else {
            world.cede(vp);
        }
    }

    fn withdraw(world: &mut World<Self>, vp: VpId) {
        world.withdraw(vp);
    }

    #[inline]
    fn found_work(world: &mut World<Self>, vp: VpId) {
        world.stop_polling(vp);
    }

    fn due(world: &mut World<Self>, core: CoreId, vp: VpId) {
        world.core_due(core, vp);
    }

    fn alarm(world: &mut World<Self>, key: Key, alarm: Alarm) {
        match alarm {
            Alarm::ShareCheck => world.check_shares(),
            Alarm::LimitCheck => world.check_limits(),
            Alarm::LastChance(vp) => world.last_chance(vp),
            Alarm::Lock(vp) => world.at_lock(vp, key),
            Alarm::Home(vp) => world.use_at_home(vp),
            Alarm::Snooze(vp) => world.end_polling(vp, key),
            Alarm::Zvm(partition, alarm) => world.cp_alarm(partition, alarm),
        }
    }

    fn close_window(world: &mut World<Self>, window_ns: u64) {
        world.close_cp_window(window_ns as f64);
    }

    fn settle_costs(world: &mut World<Self>) {
        world.book_beside();
    }

    fn reconfigure(world: &mut World<Self>, of: PartitionId) {
        let past = world.windows - 1;
        let windows = &mut world.sys.windows;
        // More virtual processors have slices from this window on, fewer once they are off.
        let count = world.spec.partitions[of.index()].processors.count();
        let most = windows.shares[of].vps.max(count);
        windows.shares[of].set_vps(most, world.spec.machine.hypervisor.window_ns);
        windows.reconfigure(&world.spec, &mut world.at, of, past);
    }

    fn online(world: &mut World<Self>, of: PartitionId) {
        let windows = &mut world.sys.windows;
        windows.settle_online(&world.spec, &mut world.at, of, world.now);
    }

    fn open_window(world: &mut World<Self>) {
        world.hand_window_out();
    }

    fn second(world: &mut World<Self>, partition: PartitionId) {
        world.decide_donation(partition);
    }

    fn computes_after_dispatch() -> bool {
        true
    }

    fn dispatch_ns(&self, spec: &Spec, vp: VpId) -> Option<u64> {
        let pays = !self.windows.dispatches_free(vp);
        pays.then_some(spec.machine.hypervisor.dispatch_ns)
    }

    fn grant(world: &mut World<Self>, vp: VpId) {
        world.grant(vp);
    }

    fn leave(world: &mut World<Self>, vp: VpId, core: CoreId) {
        world.return_grant(vp);
        world.return_gift(vp);
        let chip = world.at.cores[core].chip;
        world.sys.windows.sets.set_excess(chip, core, false);
    }

    #[inline]
    fn entered(world: &mut World<Self>, vp: VpId) {
        if world.mask(vp) != 0 {
            world.stop_polling(vp);
        }
        world.runs_again(vp);
    }

    fn at_lock(vp: VpId) -> Alarm {
        Alarm::Lock(vp)
    }

    fn spins(world: &mut World<Self>, vp: VpId, core: CoreId) {
        world.will_confer(vp, core);
    }

    fn is_on_excess(&self, vp: VpId) -> bool {
        self.windows.slices[vp].capacity == Capacity::Excess
    }

    #[inline]
    fn charge(world: &mut World<Self>, vp: VpId, core: CoreId, elapsed: u64) {
        world.charge_windows(vp, core, elapsed);
    }

    #[inline]
    fn advance(world: &mut World<Self>, vp: VpId, core: CoreId, stretch: Stretch) -> bool {
        let is_zvm = world.is_zvm(vp);
        if is_zvm {
            world.progress_cp(vp, core, stretch);
        }
        is_zvm
    }

    #[inline]
    fn end_burst(world: &mut World<Self>, vp: VpId, at: ThreadId, thread: u8) -> bool {
        let is_zvm = world.is_zvm(vp);
        if is_zvm {
            world.end_segment(vp, at, thread);
        }
        is_zvm
    }

    #[inline]
    fn end_slice(world: &mut World<Self>, vp: VpId, at: ThreadId, thread: u8) -> bool {
        let is_zvm = world.is_zvm(vp);
        if is_zvm {
            world.end_minor_slice(vp, at, thread);
        }
        is_zvm
    }

    fn read_pools(world: &World<Self>) -> Vec<Vec<i64>> {
        world.read_pools()
    }

    fn read_guest(world: &World<Self>, partition: PartitionId) -> [i64; GUEST_COLUMNS] {
        world.read_cp(partition)
    }

    fn user_and_sys(world: &World<Self>, of: PartitionId, cpu: usize, purr: &Purr) -> (f64, f64) {
        world.cp_user_and_sys(of, cpu, purr)
    }

    fn read_tables(world: &World<Self>, into: &mut Reading) {
        world.read_cp_tables(into);
    }
}

impl World<Partitions> {
    /// What the policy sees.
    #[inline]
    fn view(&self) -> View<'_> {
        View {
            state: &self.at,
            windows: &self.sys.windows,
            left_ns: self.window_end.saturating_sub(self.now),
        }
    }

    /// The planned event of a core is due, and ended bursts have been seen to.
    fn core_due(&mut self, core: CoreId, vp: VpId) {
        if self.at.cores[core].running != Some(vp) {
            // Its own work woke a sibling that threw it off this core.
            self.drained(vp);
        } else if self.mask(vp) == 0 && !self.polls(vp) {
            self.cede(vp);
        } else if self.at.cores[core].grant_end.has_come(self.now) {
            self.end_grant(vp);
            if self.at.cores[core].running == Some(vp) {
                self.plan(core);
            }
        } else {
            self.plan(core);
        }
    }

    /// Takes a virtual processor with work off its core against its will.
    fn preempt(&mut self, vp: VpId, reason: Reason) -> CoreId {
        let core = self.undispatch(vp, reason);
        self.count_involuntary(vp);
        if matches!(reason, Reason::Evicted | Reason::Reclaimed) {
            let partition = self.at.vps[vp].partition;
            self.meters.partitions[partition].evictions += 1;
        }
        core
    }
}
