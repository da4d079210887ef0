//! Hosts: a scheduler of its own decides, and what it decides is carried out here.
//!
//! ```text
//! sim::jobs     work for a virtual processor, or none left         wake_vp, cede
//! here          tells the scheduler, serves the cores it names      serve
//! kvm           halted ones poll, spinning ones yield               here too
//! wake          what it takes to wake a thread on another core      interrupt, sends
//! sim::dispatch puts on cores and takes off, as for every policy
//! ```
//! Windows stay, as the rhythm in which costs are refreshed; nobody's capacity hangs on them.

mod kvm;
mod numa;
mod rows;
pub(super) mod state;
mod wake;

use super::event::{Event, NEVER};
use super::meters::Reason;
use super::world::World;
use crate::hypervisor::policies::HostRoom;
use crate::hypervisor::{Capacity, CoreId, HostScheduler, Mode, VpId, NO_VP};

impl World {
    /// Whether a host's scheduler decides.
    #[inline]
    pub fn is_host(&self) -> bool {
        self.host.is_some()
    }

    /// A thread of the host has work again.
    pub fn host_wake(&mut self, vp: VpId) {
        let partition = usize::from(self.vp(vp).partition);
        self.hv.count_active(partition);
        let away = self.now - self.runs[vp as usize].ceded_at;
        self.meters.partitions[partition].ceded(away);
        let now = self.now;
        let v = &mut self.hv.vps[vp as usize];
        debug_assert_eq!(v.mode, Mode::Inactive);
        v.mode = Mode::Ready;
        v.ready_at = now;
        v.capacity = Capacity::Entitled;
        v.grant_ns = NEVER;
        let waker = self.waker_of(vp);
        self.tell(|host| host.wake(vp, waker, now));
    }

    /// A running thread of the host has no work left: it sleeps, unless it has an interrupt to send
    /// first or polls for more.
    pub fn host_cede(&mut self, vp: VpId) {
        if !self.sends(vp) && !self.kvm_polls(vp) {
            self.host_block(vp);
        }
    }

    /// A running thread of the host goes to sleep.
    fn host_block(&mut self, vp: VpId) {
        self.fall_asleep(vp);
        let now = self.now;
        self.tell(|host| host.sleep(vp, now));
    }

    /// Takes a runner without work off its core; the scheduler is to be told.
    fn fall_asleep(&mut self, vp: VpId) {
        self.count_voluntary(vp);
        self.undispatch(vp, Reason::Cede);
        let v = &mut self.hv.vps[vp as usize];
        v.mode = Mode::Inactive;
        let partition = usize::from(v.partition);
        self.hv.count_inactive(partition);
        self.meters.partitions[partition].nvcsw += 1;
        self.runs[vp as usize].ceded_at = self.now;
        self.owe(vp);
        self.kvm_left(vp);
    }

    /// A thread of the host that waited for a core has no work any more.
    pub fn host_withdraw(&mut self, vp: VpId) {
        let v = &mut self.hv.vps[vp as usize];
        v.mode = Mode::Inactive;
        let partition = usize::from(v.partition);
        self.hv.count_inactive(partition);
        self.runs[vp as usize].ceded_at = self.now;
        let now = self.now;
        self.owe(vp);
        self.kvm_withdrawn(vp);
        self.tell(|host| host.sleep(vp, now));
    }

    /// The planned event of a core is due, and ended bursts have been seen to.
    pub fn host_event(&mut self, core: CoreId, vp: VpId) {
        if self.hv.cores[usize::from(core)].running != vp {
            self.drained(vp);
        } else if self.mask(vp) == 0 && !self.is_polling(vp) && !self.is_sending(vp) {
            self.host_cede(vp);
        } else if self.slots[usize::from(core)].grant_end <= self.now {
            self.host_look(core, vp);
        } else {
            self.plan(core);
        }
    }

    /// The time has come at which the scheduler, or KVM, wanted to look at a core.
    fn host_look(&mut self, core: CoreId, vp: VpId) {
        let now = self.now;
        if self.kvm_due(vp) {
            return;
        }
        self.tell(|host| host.look(core, now));
        if self.hv.cores[usize::from(core)].running == vp {
            self.host_grant(vp);
            self.plan(core);
        }
    }

    /// The scheduler's timer has come.
    pub fn host_timer(&mut self) {
        let now = self.now;
        let timer = &mut self.host.as_mut().expect("a host").timer;
        if *timer > now {
            return; // It has been seen to, or set anew.
        }
        *timer = NEVER;
        self.tell(|host| host.timer(now));
    }

    /// A window is over: what the runners' work costs has changed.
    pub fn host_window(&mut self) {
        for core in 0..self.hv.tree.active_cores {
            if self.hv.cores[usize::from(core)].running != NO_VP {
                self.plan(core);
            }
        }
    }

    /// Until when a runner may go on before somebody must look at it.
    pub fn host_grant(&mut self, vp: VpId) {
        let core = self.vp(vp).core;
        let look = self.room().look_at(core, self.now);
        self.slots[usize::from(core)].grant_end =
            look.min(self.kvm_until(vp)).min(self.sends_until(vp));
    }

    fn room(&self) -> &HostRoom {
        &self.host.as_ref().expect("a host").room
    }

    fn room_mut(&mut self) -> &mut HostRoom {
        &mut self.host.as_mut().expect("a host").room
    }

    /// Tells the scheduler something and carries out what follows.
    fn tell(&mut self, what: impl FnOnce(&mut HostRoom)) {
        what(self.room_mut());
        self.serve();
    }

    /// Sees to all cores that the scheduler names, and to its timer.
    fn serve(&mut self) {
        while let Some(core) = self.room_mut().take_pending() {
            self.serve_core(core);
        }
        let host = self.host.as_mut().expect("a host");
        let at = host.room.timer_at();
        if at < host.timer {
            host.timer = at;
            self.schedule(at.max(self.now), Event::HostTimer);
        }
    }

    /// Asks who runs on a core and puts that one there.
    fn serve_core(&mut self, core: CoreId) {
        let now = self.now;
        let was = self.hv.cores[usize::from(core)].running;
        if was != NO_VP && self.is_polling(was) && self.room().has_waiting(core) {
            self.stop_polling(was);
            self.fall_asleep(was);
            self.room_mut().sleep(was, now);
            return; // The sleep has made the core pending again.
        }
        for passed in self.room_mut().take_passed(core) {
            let partition = self.vp(passed).partition;
            self.meters.partitions[usize::from(partition)].nivcsw += 1;
        }
        let next = self.room_mut().pick(core, now).unwrap_or(NO_VP);
        if next == was {
            if was == NO_VP {
                self.idles(core);
            } else {
                self.look_anew(was, core);
            }
            return;
        }
        if was != NO_VP {
            self.make_way(was);
        }
        if next != NO_VP {
            if self.vp(next).mode == Mode::Running {
                // Balancing has moved a runner; the core that it leaves is still to be served.
                self.throw_off(next);
            }
            if self.mask(next) != 0 {
                // It lost its core while it polled, to its quota, and has work since.
                self.stop_polling(next);
            }
            self.interrupt(next, core, was);
            self.dispatch(next, core);
            self.kvm_entered(next);
        } else {
            self.idles(core);
        }
    }

    /// The same thread goes on, perhaps until another time.
    fn look_anew(&mut self, vp: VpId, core: CoreId) {
        let before = self.slots[usize::from(core)].grant_end;
        self.host_grant(vp);
        if self.slots[usize::from(core)].grant_end != before {
            self.settle(core);
            self.plan(core);
        }
    }

    /// Somebody else is to have a runner's core. One that only sends an interrupt sleeps.
    fn make_way(&mut self, vp: VpId) {
        if self.is_sending(vp) && self.mask(vp) == 0 {
            let now = self.now;
            self.fall_asleep(vp);
            self.room_mut().sleep(vp, now);
        } else {
            self.throw_off(vp);
        }
    }

    /// Takes a runner off its core against its will.
    fn throw_off(&mut self, vp: VpId) {
        self.undispatch(vp, Reason::Preempted);
        self.count_involuntary(vp);
        let now = self.now;
        let v = &mut self.hv.vps[vp as usize];
        v.mode = Mode::Ready;
        v.ready_at = now;
        let partition = usize::from(v.partition);
        self.meters.partitions[partition].nivcsw += 1;
        self.kvm_preempted(vp);
    }
}
