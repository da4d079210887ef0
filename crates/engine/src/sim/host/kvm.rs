//! KVM's part, and what other hypervisors do alike: virtual processors that halt leave their guest
//! and poll for a while before they sleep; those that spin on a lock whose holder has lost its core
//! are caught and yield to it, under Xen to whoever is next.
//!
//! Who spins, and for how long, is in [`convoy`](crate::sim::convoy). With pause-loop exits one
//! that spins leaves the guest after each window and yields to a sibling that waits, round robin
//! from the one boosted last. One that waits because it has yielded itself hardly holds the lock:
//! it is passed over every other time (commit "kvm PLE handler: Choose better candidate for
//! directed yield", 2012).

use super::state::{Guest, Host, Vcpu};
use crate::hypervisor::halt::next_poll_ns;
use crate::hypervisor::Mode;
use crate::ids::{CoreId, PartitionId, VpId};
use crate::kernel::{Key, When};
use crate::sim::world::World;
use crate::spec::{Kvm, Processors};

impl World<Host> {
    fn kvm(&self, vp: VpId) -> Option<&Kvm> {
        let partition = self.vp(vp).partition;
        let guest = self.sys.guests[partition].as_ref()?;
        Some(&guest.kvm)
    }

    fn guest(&mut self, partition: PartitionId) -> &mut Guest {
        self.sys.guests[partition].as_mut().expect("a guest")
    }

    fn vcpu(&mut self, vp: VpId) -> &mut Vcpu {
        &mut self.sys.vcpus[vp]
    }

    /// Whether a runner has halted and looks for work.
    pub(super) fn is_polling(&self, vp: VpId) -> bool {
        self.sys.vcpus[vp].polls_until.is_set()
    }

    /// When a runner must be looked at for KVM's sake.
    pub(super) fn kvm_until(&self, vp: VpId) -> When {
        let vcpu = &self.sys.vcpus[vp];
        vcpu.polls_until.min(vcpu.caught_at).min(vcpu.halts_at)
    }

    /// A runner has no work left: does it stay, to poll or until it is out of its guest?
    pub(super) fn kvm_polls(&mut self, vp: VpId) -> bool {
        if self.kvm(vp).is_none() {
            return false;
        }
        self.at.vps[vp].spins = false;
        let (now, vcpu) = (self.now, self.vcpu(vp));
        (vcpu.caught_at, vcpu.halts_at) = (When::NEVER, When::NEVER);
        let poll_ns = vcpu.poll_ns;
        if poll_ns == 0 || !self.polls_in_guest(vp) {
            return self.halts(vp, poll_ns);
        }
        self.vcpu(vp).halted_at = When::at(now);
        self.stays(vp, now, now + poll_ns);
        true
    }

    /// A runner halts and leaves its guest: does it stay for that, and to poll for so long then?
    /// Not beside others that wait: what is left of its way it does when it comes back.
    fn halts(&mut self, vp: VpId, poll_ns: u64) -> bool {
        let (now, core) = (self.now, self.core_of(vp));
        let waiting = self.sys.room.has_waiting(core);
        let out = now
            + self.sys.guests[self.vp(vp).partition]
                .as_ref()
                .map_or(0, |one| one.out_ns);
        let vcpu = self.vcpu(vp);
        (vcpu.halted_at, vcpu.out_at) = (When::at(out), When::at(out));
        let stays = !waiting && out + poll_ns > now;
        if stays {
            self.stays(vp, out, out + poll_ns);
        }
        stays
    }

    /// A runner without work polls so long, once it has nothing else to do.
    fn stays(&mut self, vp: VpId, from: u64, until: u64) {
        let core = self.core_of(vp);
        self.settle(core);
        self.vcpu(vp).polls_until = When::at(until);
        let on = &mut self.at.cores[core];
        (on.stall_until, on.spin_from) = (When::at(from), When::at(from));
        self.grant(vp);
        self.plan(core);
    }

    /// Whether it looks for work inside the guest before it halts: its host takes it for one at
    /// work, and who has some for it neither leaves the guest nor sends an interrupt.
    pub(super) fn polls_in_guest(&self, vp: VpId) -> bool {
        self.kvm(vp).is_some_and(|kvm| kvm.polls_in_guest)
    }

    /// Whether a runner is out of its guest, or on its way, and makes room for anybody else.
    pub(super) fn makes_room(&self, vp: VpId) -> bool {
        self.is_polling(vp) && !self.looks_in_guest(vp)
    }

    fn looks_in_guest(&self, vp: VpId) -> bool {
        self.polls_in_guest(vp) && !self.sys.vcpus[vp].out_at.is_set()
    }

    /// Ends polling, whatever comes next.
    pub(super) fn stop_polling(&mut self, vp: VpId) {
        self.vcpu(vp).polls_until = When::NEVER;
    }

    /// A runner got work while it polled: it goes back into the guest.
    pub(super) fn stop_halt(&mut self, vp: VpId) {
        if !self.is_polling(vp) || self.sys.vcpus[vp].halted_in_line {
            return;
        }
        self.stop_polling(vp);
        let switches = std::mem::take(&mut self.vcpu(vp).switches);
        let mut path = if switches { self.switch_ns(vp) } else { 0 };
        let mut from = self.now;
        if !self.looks_in_guest(vp) {
            if let Some(sent_ns) = self.signalled(vp) {
                from += sent_ns;
                path += self.guest(self.vp(vp).partition).end_ns;
            }
            path += self.guest(self.vp(vp).partition).back_ns;
            let out = self.vcpu(vp).out_at.take();
            from = from.max(out.unwrap_or(from));
        }
        self.end_halt(vp);
        let core = self.core_of(vp);
        let on = &mut self.at.cores[core];
        on.stall_until = When::at(from + path);
        on.spin_from = on.stall_until;
        self.grant(vp);
    }

    /// The way out of the guest and back of one that does not idle [ns].
    pub(super) fn path_ns(&self, vp: VpId) -> u64 {
        self.kvm(vp).map_or(0, |kvm| kvm.exit_ns + kvm.entry_ns)
    }

    fn switch_ns(&self, vp: VpId) -> u64 {
        let guest = self.sys.guests[self.vp(vp).partition].as_ref();
        guest.map_or(0, |guest| guest.switch_ns)
    }

    /// A guest's kernel goes on with another of its threads on a virtual processor, which takes as
    /// long as on its host. One that polls for its host has yet to enter the guest.
    pub(super) fn switches_thread(&mut self, vp: VpId) {
        let ns = self.switch_ns(vp);
        if ns == 0 {
            return;
        }
        let Some(core) = self.vp(vp).core else {
            self.at.vps[vp].debt_ns += ns;
            return;
        };
        if self.is_polling(vp) {
            self.vcpu(vp).switches = true;
            return;
        }
        let on = &mut self.at.cores[core];
        // While it spins for a lock nothing of it would be noticed.
        if on.stall_until.is_set() {
            on.stall_until = on.stall_until.max(When::at(self.now)) + ns;
            on.spin_from = on.stall_until;
        }
    }

    /// A halt is over: how long will it poll the next time?
    pub(super) fn end_halt(&mut self, vp: VpId) {
        let now = self.now;
        let Some(halted) = self.vcpu(vp).halted_at.take() else {
            return;
        };
        let before = self.vcpu(vp).poll_ns;
        if let Some(kvm) = self.kvm(vp) {
            let poll_ns = next_poll_ns(kvm, before, now.saturating_sub(halted));
            self.vcpu(vp).poll_ns = poll_ns;
        }
    }

    /// Whether what was due on a core was KVM's affair, and has been seen to.
    pub(super) fn kvm_due(&mut self, vp: VpId) -> bool {
        let now = self.now;
        let vcpu = self.vcpu(vp);
        if vcpu.polls_until.has_come(now) {
            self.stop_polling(vp);
            // The guest's governor sees the halt alone (`haltpoll_reflect`).
            if !self.looks_in_guest(vp) || !self.halts(vp, 0) {
                self.block(vp);
            }
            true
        } else if vcpu.halts_at.has_come(now) {
            self.halt_in_line(vp);
            true
        } else if vcpu.caught_at.has_come(now) {
            self.pause_exit(vp);
            true
        } else {
            false
        }
    }

    /// A virtual processor leaves its core, to sleep or against its will: it is out of its guest,
    /// and owes its way back, with what it has not done yet of the way out.
    pub(super) fn kvm_left(&mut self, vp: VpId) {
        if self.kvm(vp).is_none() {
            return;
        }
        let now = self.now;
        let path = match self.vcpu(vp).out_at.take() {
            Some(out) => out.saturating_sub(now) + self.guest(self.vp(vp).partition).back_ns,
            None => self.path_ns(vp),
        };
        self.at.vps[vp].debt_ns += path;
        self.at.vps[vp].reaches = Key::NONE;
        self.stops_counting(vp);
        self.vcpu(vp).caught_at = When::NEVER;
        self.stops_flushing(vp);
    }

    /// A virtual processor with work has lost its core, perhaps with the lock in its hands.
    pub(super) fn kvm_preempted(&mut self, vp: VpId) {
        self.kvm_left(vp);
        let switched_on = self.kvm(vp).is_some_and(|kvm| kvm.lock_holder_preemption);
        if switched_on && !self.is_polling(vp) {
            self.lost_with_lock(vp);
            self.lost_in_line(vp);
        }
        if !self.is_polling(vp) {
            self.may_be_waited_for(self.vp(vp).partition);
        }
    }

    /// A virtual processor was put on a core.
    pub(super) fn kvm_entered(&mut self, vp: VpId) {
        if self.kvm(vp).is_none() {
            return;
        }
        self.end_yield(vp);
        if self.mask(vp) != 0 {
            self.end_halt(vp);
        }
        self.runs_again(vp);
        self.will_have_lock(vp);
        self.flushes_on(vp);
    }

    /// A virtual processor that waited for a core has lost its work to a sibling, the lock with it.
    pub(super) fn kvm_withdrawn(&mut self, vp: VpId) {
        if self.kvm(vp).is_none() {
            return;
        }
        self.lets_go(vp);
        self.is_first_no_more(vp);
        self.answers(vp);
    }

    /// A runner spins; the processor notices after a window.
    pub(super) fn kvm_spins(&mut self, vp: VpId, core: CoreId) {
        let clock_hz = self.spec.machine.clock_hz;
        let spin_from = self.at.cores[core].spin_from;
        let window = self.kvm(vp).and_then(|kvm| kvm.pause_loop);
        self.vcpu(vp).caught_at = window.map_or(When::NEVER, |pause_loop| {
            spin_from + (f64::from(pause_loop.window_cycles) / clock_hz * 1e9) as u64
        });
        self.will_halt(vp, spin_from);
        self.grant(vp);
    }

    /// It gets the lock.
    pub(super) fn kvm_has_spun(&mut self, vp: VpId) {
        let vcpu = self.vcpu(vp);
        (vcpu.caught_at, vcpu.halts_at) = (When::NEVER, When::NEVER);
        self.grant(vp);
    }

    /// The processor has noticed that a runner spins: it leaves the guest, and may yield.
    fn pause_exit(&mut self, vp: VpId) {
        let core = self.core_of(vp);
        let partition = self.vp(vp).partition;
        let Some(kvm) = self.kvm(vp) else { return };
        let yields = kvm.directed_yield;
        let path = match self.path_ns(vp) {
            0 => self.short_exit_ns(partition),
            told => told,
        };
        self.meters.partitions[partition].pause_exits += 1;
        self.settle(core);
        self.vcpu(vp).caught_at = When::NEVER;
        self.at.cores[core].stall_until = When::at(self.now + path);
        self.spin(vp);
        if yields && !self.gives_way(vp) {
            self.yield_to_sibling(vp, partition);
        }
    }

    /// What an exit takes where nothing is told of halts [ns].
    fn short_exit_ns(&self, partition: PartitionId) -> u64 {
        let Processors::Shared { host, .. } = &self.spec_of(partition).processors else {
            return 0;
        };
        host.virtualized.as_ref().map_or(0, |costs| costs.exit_ns)
    }

    /// Under Xen one that spins gives way to whoever is next, a sibling or not.
    fn gives_way(&mut self, vp: VpId) -> bool {
        let gives_way = self.sys.room.gives_way(vp, self.now);
        if gives_way {
            self.serve();
        }
        gives_way
    }

    /// Tries siblings that wait for a core, from the one after the one boosted last.
    fn yield_to_sibling(&mut self, vp: VpId, partition: PartitionId) {
        let siblings = self.at.vps_of[partition];
        let from = self.guest(partition).boosted + 1;
        let now = self.now;
        for step in 0..siblings.len() {
            let index = (from + step) % siblings.len();
            let sibling = siblings.at(index);
            let waits = sibling != vp && self.vp(sibling).mode == Mode::Ready;
            if !waits || !self.vcpu(sibling).may_be_boosted() {
                continue;
            }
            if self.sys.room.yield_to(vp, sibling, now) {
                self.guest(partition).boosted = index;
                self.meters.partitions[partition].directed_yields += 1;
                self.vcpu(vp).has_yielded = true;
                break;
            }
        }
        self.serve();
        if self.vp(vp).mode == Mode::Running {
            self.end_yield(vp);
        }
    }

    /// It has a core again, or never lost it.
    fn end_yield(&mut self, vp: VpId) {
        let vcpu = self.vcpu(vp);
        vcpu.has_yielded = false;
        vcpu.passed_over = false;
    }
}
