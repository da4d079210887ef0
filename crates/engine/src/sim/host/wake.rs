//! What it costs to wake a thread on another processor.
//!
//! ```text
//! waker      ... works | sends an interrupt, its own time | goes on, or sleeps
//! other cpu  idle      ....... out of idling ....... | the woken thread runs    nobody's time
//!            busy      the woken thread takes over at once, if the scheduler lets it
//! ```
//! Waking on one's own processor costs a switch and no more. No interrupt is sent either where the
//! woken thread merely queues behind a runner, and to an idle processor that still polls. A waker
//! that loses its processor while it sends owes the rest to its next turn.

use super::state::{Host, Wakes, Waking};
use crate::guest::workload::JobId;
use crate::guest::Cpu;
use crate::ids::{CoreId, VpId};
use crate::kernel::When;
use crate::sim::world::World;
use crate::spec::Processors;

impl World<Host> {
    fn wakes(&mut self) -> &mut Wakes {
        &mut self.sys.wakes
    }

    /// A thread hands its work to another one of its partition, and wakes it.
    pub fn pass_on(&mut self, job: JobId, by: VpId, to: Cpu) {
        // One that wakes many may have lost its processor to the first of them.
        let waker = self.vp(by);
        let from = waker.core.or(waker.last_core).expect("it has worked");
        let partition = waker.partition;
        let woken = self.vp_at(partition, to.vp);
        let on = self.vp(woken).core;
        if let Some(core) = on.filter(|_| self.sends_until(woken).is_set()) {
            // It finds the message before it sleeps.
            self.settle(core);
            self.wakes().sends_until[woken] = When::NEVER;
            self.grant(woken);
        }
        self.wakes().now = Some(Waking { woken, by, from });
        self.run_on(job, to);
        self.no_more_wakes();
    }

    /// Begins the wake-up of one that sleeps, if a sibling has signalled it, and tells so: to the
    /// host it is one thread that wakes another, elsewhere by an interrupt of the host's. Kicks of
    /// waiters for a lock are left out: what they take beyond the halt is not known.
    pub(super) fn begins_wake_by_sibling(&mut self, woken: VpId) -> bool {
        if self.sys.vcpus[woken].kicked {
            return false;
        }
        let wakes = &self.sys.wakes;
        let Some(by) = wakes.signals.filter(|by| *by != woken) else {
            return false;
        };
        let waker = self.vp(by);
        let alike = waker.partition == self.vp(woken).partition;
        let Some(from) = waker.core.or(waker.last_core) else {
            return false;
        };
        let new = alike && wakes.now.is_none();
        if new {
            self.wakes().now = Some(Waking { woken, by, from });
        }
        new
    }

    /// Nobody is being woken by another any more.
    pub(super) fn no_more_wakes(&mut self) {
        self.wakes().now = None;
    }

    /// Where the waker of a thread runs; none = it is woken by a timer.
    pub(super) fn waker_of(&self, vp: VpId) -> Option<CoreId> {
        let waking = self.sys.wakes.now?;
        (waking.woken == vp).then_some(waking.from)
    }

    /// A thread has work again that another one has brought. A sibling has sent an interrupt for
    /// it, for which it has left a virtual machine: told is when that is out, with those that it
    /// sends before [ns from now]. Between a guest and a thread that does its I/O the host wakes
    /// the one for the other.
    pub(super) fn signalled(&mut self, vp: VpId) -> Option<u64> {
        let by = self.sys.wakes.signals.filter(|by| *by != vp)?;
        let (from, to) = (self.vp(by).partition, self.vp(vp).partition);
        let owed = match &self.spec_of(from).processors {
            Processors::Shared { host, .. } if from == to => {
                host.virtualized.as_ref().map_or(0, |by| by.exit_ns)
            }
            _ if from == to => 0,
            _ => {
                let told = [from, to].map(|one| self.spec_of(one).io_threads);
                told.into_iter().flatten().map(|one| one.kick_ns).sum()
            }
        };
        self.wakes().owed[by] += owed;
        (from == to).then(|| self.wakes().owed[by])
    }

    /// Somebody comes to a core on which `was` ran: does an interrupt bring it about?
    pub(super) fn interrupt(&mut self, vp: VpId, core: CoreId, was: Option<VpId>) {
        let now = self.now;
        let linux = &self.spec.machine.hypervisor.linux;
        let (sending, way, poll) = (
            linux.wake_interrupt_ns,
            linux.wake_idle_ns,
            linux.idle_poll_ns,
        );
        let wakes = self.wakes();
        let idle_from = wakes.idle_from[core].take();
        let Some(waking) = wakes.now.filter(|w| w.woken == vp && w.from != core) else {
            return;
        };
        if was.is_none() {
            if idle_from.is_some_and(|from| now - from < poll) {
                return;
            }
            // Its interrupt comes after those that the waker has sent before.
            let before = self.wakes().owed[waking.by];
            let on = &mut self.at.cores[core];
            on.settled_at = on.settled_at.max(now + before + way);
        }
        self.wakes().owed[waking.by] += sending;
    }

    /// A process has woken others and has work: it sends its interrupts before it goes on, on the
    /// core it is on or the next one.
    pub(super) fn pays_for_wakes(&mut self, vp: VpId) {
        let owed = std::mem::take(&mut self.wakes().owed[vp]);
        let Some(core) = self.vp(vp).core else {
            self.at.vps[vp].debt_ns += owed;
            return;
        };
        self.settle(core);
        let on = &mut self.at.cores[core];
        if owed == 0 || !on.stall_until.is_set() {
            // While it spins for a lock nothing of it would be noticed: it pays as it goes.
            self.wakes().owed[vp] = owed;
            return;
        }
        on.stall_until = on.stall_until.max(When::at(self.now)) + owed;
        on.spin_from = When::NEVER;
        self.plan(core);
    }

    /// Nobody runs on a core from now on.
    pub(super) fn idles(&mut self, core: CoreId) {
        let now = self.now;
        let from = &mut self.wakes().idle_from[core];
        if !from.is_set() {
            *from = When::at(now);
        }
    }

    /// Whether a runner is busy sending an interrupt.
    pub(super) fn is_sending(&self, vp: VpId) -> bool {
        let until = self.sends_until(vp).ns();
        until.is_some_and(|until| until > self.now)
    }

    /// Until when a runner without other work sends; never = it does not.
    pub(super) fn sends_until(&self, vp: VpId) -> When {
        if self.mask(vp) != 0 {
            return When::NEVER;
        }
        self.sys.wakes.sends_until[vp]
    }

    /// A runner has no work left: has it an interrupt to send before it sleeps?
    pub(super) fn sends(&mut self, vp: VpId) -> bool {
        let (now, core) = (self.now, self.core_of(vp));
        let wakes = self.wakes();
        let owed = std::mem::take(&mut wakes.owed[vp]);
        let until = When::from((owed > 0).then(|| now + owed));
        wakes.sends_until[vp] = until;
        if !until.is_set() {
            return false;
        }
        let on = &mut self.at.cores[core];
        on.stall_until = until;
        on.spin_from = When::NEVER;
        self.grant(vp);
        self.plan(core);
        true
    }

    /// A thread is off its core: what it has not sent yet it owes to its next turn there.
    pub(super) fn owe(&mut self, vp: VpId) {
        let now = self.now;
        let wakes = self.wakes();
        let until = wakes.sends_until[vp].take();
        let mut rest = std::mem::take(&mut wakes.owed[vp]);
        rest += until.map_or(0, |until| until.saturating_sub(now));
        self.at.vps[vp].debt_ns += rest;
    }
}
