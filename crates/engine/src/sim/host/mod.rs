//! Hosts: a scheduler of its own decides, and what it decides is carried out here.
//!
//! ```text
//! sim           work for a virtual processor, or none left         wake, cede
//! here          tells the scheduler, serves the cores it names      serve
//! kvm           halted ones leave and poll, spinning ones yield    here too
//! wake          what it takes to wake a thread on another core      interrupt, sends
//! interrupts    devices' interrupts hold its processors up          handle
//! sim::dispatch puts on cores and takes off, as for every policy
//! ```
//! Windows stay, as the rhythm in which costs are refreshed; nobody's capacity hangs on them.

pub(super) mod check;
mod drawn;
mod flush;
mod interrupts;
mod kvm;
mod numa;
mod paravirtual;
mod rows;
mod state;
mod wake;

use super::interrupting::Handler;
use super::meters::Reason;
use super::rows::Reading;
use super::system::{System, HOST_COLUMNS};
use super::world::World;
use crate::guest::workload::JobId;
use crate::guest::Cpu;
use crate::hypervisor::{HostScheduler, Mode, State};
use crate::ids::{CoreId, PartitionId, VpId};
use crate::kernel::{Key, When};
use crate::spec::{Processors, Spec};

pub use state::Host;

/// What a host waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alarm {
    /// The scheduler has something to do.
    Timer,
    /// Part of a partition's memory is made to fault.
    Numa(PartitionId),
    /// Threads that run away from it may try again to get there.
    Retry(PartitionId),
    /// A virtual processor of KVM comes to a lock.
    Lock(VpId),
    /// It takes a mapping back.
    Flush(VpId),
    /// Who was first in line has had the lock.
    HandsOn(VpId),
    /// A processor has done the work of an interrupt.
    Handled(CoreId),
}

impl System for Host {
    type Alarm = Alarm;

    fn new(spec: &Spec, state: &mut State, replication: u64) -> Self {
        Self::of(spec, state, replication)
    }

    fn started(world: &mut World<Self>) {
        world.start_numa();
    }

    fn wake(world: &mut World<Self>, vp: VpId) {
        world.wake(vp);
    }

    fn cede(world: &mut World<Self>, vp: VpId) {
        world.cede(vp);
    }

    fn withdraw(world: &mut World<Self>, vp: VpId) {
        world.withdraw(vp);
    }

    fn due(world: &mut World<Self>, core: CoreId, vp: VpId) {
        world.core_due(core, vp);
    }

    #[inline]
    fn switches_thread(world: &mut World<Self>, vp: VpId) {
        world.switches_thread(vp);
    }

    #[inline]
    fn found_work(world: &mut World<Self>, vp: VpId) {
        world.stop_halt(vp);
    }

    fn alarm(world: &mut World<Self>, key: Key, alarm: Alarm) {
        match alarm {
            Alarm::Timer => world.timer(),
            Alarm::Numa(partition) => world.scan_memory(partition),
            Alarm::Retry(partition) => world.try_again_home(partition),
            Alarm::Lock(vp) => world.comes_to_lock(vp, key),
            Alarm::Flush(vp) => world.flush(vp, key),
            Alarm::HandsOn(vp) => world.has_had_lock(vp, key),
            Alarm::Handled(core) => world.has_handled(core),
        }
    }

    /// What the runners' work costs has changed.
    fn open_window(world: &mut World<Self>) {
        for core in world.at.active() {
            if world.at.cores[core].running.is_some() {
                world.plan(core);
            }
        }
    }

    fn dispatch_ns(&self, spec: &Spec, _vp: VpId) -> Option<u64> {
        Some(spec.machine.hypervisor.dispatch_ns)
    }

    fn grant(world: &mut World<Self>, vp: VpId) {
        world.grant(vp);
    }

    fn entered(world: &mut World<Self>, vp: VpId) {
        world.kvm_entered(vp);
        world.faults(vp);
    }

    fn at_lock(vp: VpId) -> Alarm {
        Alarm::Lock(vp)
    }

    fn spins(world: &mut World<Self>, vp: VpId, core: CoreId) {
        world.kvm_spins(vp, core);
    }

    fn has_spun(world: &mut World<Self>, vp: VpId) {
        world.kvm_has_spun(vp);
    }

    #[inline]
    fn charge(world: &mut World<Self>, vp: VpId, _core: CoreId, elapsed: u64) {
        let partition = world.at.vps[vp].partition;
        world.meters.partitions[partition].entitled_ns += elapsed;
    }

    fn pass_on(world: &mut World<Self>, job: JobId, by: VpId, to: Cpu) {
        world.pass_on(job, by, to);
    }

    fn has_woken(world: &mut World<Self>, vp: VpId) {
        world.pays_for_wakes(vp);
    }

    fn signals(&mut self, by: Option<VpId>) {
        self.signals_of(by);
    }

    fn steals(&self, partition: PartitionId) -> bool {
        let guest = self.guests[partition].as_ref();
        guest.is_some_and(|guest| guest.kvm.paravirtual_locks.is_some())
    }

    fn stays_in_line(&self, vp: VpId) -> bool {
        self.vcpus[vp].halted_in_line
    }

    fn kick(world: &mut World<Self>, partition: PartitionId, by: Option<VpId>) {
        world.kick(partition, by);
    }

    fn is_processes(&self, spec: &Spec, partition: PartitionId) -> bool {
        let processors = &spec.partitions[partition.index()].processors;
        let guest = matches!(processors, Processors::Shared { host, .. } if host.kvm.is_some());
        spec.machine.hypervisor.policy.runs_processes() && !guest
    }

    fn sender_runs_on() -> bool {
        true
    }

    fn host_cpus(spec: &Spec) -> Option<u16> {
        Some(spec.machine.active_cores * u16::from(spec.machine.hypervisor.siblings))
    }

    fn handles_in_guest() -> bool {
        false
    }

    fn handle(world: &mut World<Self>, handler: Handler) {
        world.handle_on_host(handler);
    }

    fn read_pools(world: &World<Self>) -> Vec<Vec<i64>> {
        world.read_pools()
    }

    fn leave(world: &mut World<Self>, _vp: VpId, core: CoreId) {
        world.is_left(core);
    }

    fn read_tables(world: &World<Self>, into: &mut Reading) {
        world.read_homes(&mut into.homes);
    }

    fn read_host(world: &World<Self>, partition: PartitionId) -> [i64; HOST_COLUMNS] {
        world.read_host(partition)
    }
}

impl World<Host> {
    /// A thread of the host has work again.
    fn wake(&mut self, vp: VpId) {
        let now = self.now;
        let v = &mut self.at.vps[vp];
        debug_assert_eq!(v.mode, Mode::Inactive);
        v.mode = Mode::Ready;
        v.ready_at = now;
        let (partition, away) = (v.partition, now - v.ceded_at);
        self.leaves_line(vp);
        self.meters.partitions[partition].ceded(away);
        if self.signalled(vp).is_some() && !self.sys.vcpus[vp].kicked {
            let end_ns = self.sys.guests[partition]
                .as_ref()
                .map_or(0, |one| one.end_ns);
            self.at.vps[vp].debt_ns += end_ns;
        }
        let by_sibling = self.begins_wake_by_sibling(vp);
        let waker = self.waker_of(vp);
        self.tell(|host| host.wake(vp, waker, now));
        if by_sibling {
            self.no_more_wakes();
        }
    }

    /// A running thread of the host has no work left: it sleeps, unless it has an interrupt to send
    /// first or polls for more.
    fn cede(&mut self, vp: VpId) {
        if !self.sends(vp) && !self.kvm_polls(vp) {
            self.block(vp);
        }
    }

    /// A running thread of the host goes to sleep.
    fn block(&mut self, vp: VpId) {
        self.fall_asleep(vp);
        let now = self.now;
        self.tell(|host| host.sleep(vp, now));
    }

    /// Takes a runner without work off its core; the scheduler is to be told.
    fn fall_asleep(&mut self, vp: VpId) {
        self.count_voluntary(vp);
        self.undispatch(vp, Reason::Cede);
        let v = &mut self.at.vps[vp];
        v.mode = Mode::Inactive;
        v.ceded_at = self.now;
        let partition = v.partition;
        self.meters.partitions[partition].nvcsw += 1;
        self.owe(vp);
        self.kvm_left(vp);
    }

    /// A thread of the host that waited for a core has no work any more.
    fn withdraw(&mut self, vp: VpId) {
        let now = self.now;
        let v = &mut self.at.vps[vp];
        v.mode = Mode::Inactive;
        v.ceded_at = now;
        self.owe(vp);
        self.kvm_withdrawn(vp);
        self.tell(|host| host.sleep(vp, now));
    }

    /// The planned event of a core is due, and ended bursts have been seen to.
    fn core_due(&mut self, core: CoreId, vp: VpId) {
        if self.at.cores[core].running != Some(vp) {
            self.drained(vp);
        } else if self.mask(vp) == 0 && !self.is_polling(vp) && !self.is_sending(vp) {
            self.cede(vp);
        } else if self.at.cores[core].grant_end.has_come(self.now) {
            self.look(core, vp);
        } else {
            self.plan(core);
        }
    }

    /// The time has come at which the scheduler, or KVM, wanted to look at a core.
    fn look(&mut self, core: CoreId, vp: VpId) {
        let now = self.now;
        if self.kvm_due(vp) {
            return;
        }
        self.sys.looked_at = Some((core, vp));
        self.tell(|host| host.look(core, now));
        self.sys.looked_at = None;
        if self.at.cores[core].running == Some(vp) {
            self.grant(vp);
            self.plan(core);
        }
    }

    /// The scheduler's timer has come.
    fn timer(&mut self) {
        let now = self.now;
        let timer = &mut self.sys.timer;
        if !timer.has_come(now) {
            return; // It has been seen to, or set anew.
        }
        *timer = When::NEVER;
        self.tell(|host| host.timer(now));
    }

    /// Core that a thread runs on.
    ///
    /// # Panics
    /// If it is on none: whoever asks knows that it runs.
    #[inline]
    fn core_of(&self, vp: VpId) -> CoreId {
        self.at.vps[vp].core.expect("a runner")
    }

    /// Until when a runner may go on before somebody must look at it.
    fn grant(&mut self, vp: VpId) {
        let core = self.core_of(vp);
        let look = self.sys.room.look_at(core, self.now);
        self.at.cores[core].grant_end = look.min(self.kvm_until(vp)).min(self.sends_until(vp));
    }

    /// Tells the scheduler something and carries out what follows.
    fn tell(&mut self, what: impl FnOnce(&mut dyn HostScheduler)) {
        what(self.sys.room.as_mut());
        self.serve();
    }

    /// Sees to all cores that the scheduler names, and to its timer.
    fn serve(&mut self) {
        while let Some(core) = self.sys.room.take_pending() {
            self.serve_core(core);
        }
        let next = self.sys.room.timer_at();
        if let Some(at) = next.ns().filter(|_| next < self.sys.timer) {
            self.sys.timer = next;
            self.ask_at(at.max(self.now), Alarm::Timer);
        }
    }

    /// Asks who runs on a core and puts that one there.
    fn serve_core(&mut self, core: CoreId) {
        let now = self.now;
        let was = self.at.cores[core].running;
        if let Some(polls) = was.filter(|was| self.makes_room(*was)) {
            if self.sys.room.has_waiting(core) {
                self.stop_polling(polls);
                self.fall_asleep(polls);
                self.sys.room.sleep(polls, now);
                return; // The sleep has made the core pending again.
            }
        }
        while let Some(passed) = self.sys.room.take_passed(core) {
            let partition = self.vp(passed).partition;
            self.meters.partitions[partition].nivcsw += 1;
        }
        let next = self.sys.room.pick(core, now);
        match (was, next) {
            (None, None) => return self.idles(core),
            (Some(was), Some(next)) if was == next => return self.look_anew(was, core),
            (Some(was), _) => self.make_way(was),
            (None, Some(_)) => {}
        }
        match next {
            Some(next) => self.put(next, core, was),
            None => self.idles(core),
        }
    }

    /// Puts the thread that was picked on a core, on which `was` ran.
    fn put(&mut self, next: VpId, core: CoreId, was: Option<VpId>) {
        if self.vp(next).mode == Mode::Running {
            // Balancing has moved a runner; the core that it leaves is still to be served.
            self.throw_off(next);
        }
        if self.mask(next) != 0 {
            // It lost its core while it polled, and has work since.
            self.stop_polling(next);
        }
        self.interrupt(next, core, was);
        self.dispatch(next, core);
    }

    /// The same thread goes on, perhaps until another time.
    fn look_anew(&mut self, vp: VpId, core: CoreId) {
        if self.sys.looked_at == Some((core, vp)) {
            return; // That comes after the look.
        }
        let before = self.at.cores[core].grant_end;
        self.grant(vp);
        if self.at.cores[core].grant_end != before {
            self.settle(core);
            self.plan(core);
        }
    }

    /// Somebody else is to have a runner's core. One that only sends an interrupt sleeps.
    fn make_way(&mut self, vp: VpId) {
        if self.is_sending(vp) && self.mask(vp) == 0 {
            let now = self.now;
            self.fall_asleep(vp);
            self.sys.room.sleep(vp, now);
        } else {
            self.throw_off(vp);
        }
    }

    /// Takes a runner off its core against its will.
    fn throw_off(&mut self, vp: VpId) {
        self.undispatch(vp, Reason::Preempted);
        self.count_involuntary(vp);
        let now = self.now;
        let v = &mut self.at.vps[vp];
        v.mode = Mode::Ready;
        v.ready_at = now;
        let partition = v.partition;
        self.meters.partitions[partition].nivcsw += 1;
        self.kvm_preempted(vp);
    }
}
