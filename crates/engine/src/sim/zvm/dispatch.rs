//! CP's dispatcher: which logical processor runs which virtual processor, and for how long.

use super::sharing::LockKind;
use super::state::{Cp, Doing, Mode};
use super::Alarm;
use crate::guest::zvm::ids::{LpId, VcpuId, VectorId, VmId};
use crate::guest::zvm::segment::{Owner, Segment};
use crate::guest::zvm::vectors::Waiting;
use crate::guest::Cpu;
use crate::hypervisor;
use crate::ids::{PartitionId, ThreadId, VpId};
use crate::machine::Topology;
use crate::sim::event::NEVER;
use crate::sim::system::System;
use crate::sim::windows::Partitions;
use crate::sim::world::{Task, World};

/// Minor time slices of processor time that a limited virtual machine can save up: assumed, between
/// 1 and 100.
const SAVED_SLICES: f64 = 10.0;

/// The master processor.
const MASTER: LpId = LpId::new(0);

impl World<Partitions> {
    /// Whether a virtual processor is z/VM's.
    #[inline]
    pub fn is_zvm(&self, vp: VpId) -> bool {
        self.sys.cps[self.vp(vp).partition].is_some()
    }

    /// The Control Program of a partition.
    pub fn cp(&mut self, partition: PartitionId) -> &mut Cp {
        self.sys.cps[partition]
            .as_deref_mut()
            .expect("a partition of z/VM")
    }

    /// A virtual processor that waited has something to do.
    pub fn wake_vcpu(&mut self, partition: PartitionId, vcpu: VcpuId) {
        let meter = self.meters.integrate(partition, self.now);
        meter.runnable += 1;
        let cp = self.cp(partition);
        let vector = cp.vectors.home(cp.vcpus[vcpu].left.lp);
        cp.move_to(vcpu, vector);
        let clock = cp.clocks_of_vectors[vector];
        let v = &mut cp.vcpus[vcpu];
        v.deadline = v.deadline.max(clock);
        self.make_vcpu_ready(partition, vcpu);
    }

    /// Gives a virtual processor with work an idle logical processor, or queues it.
    pub fn make_vcpu_ready(&mut self, partition: PartitionId, vcpu: VcpuId) {
        let now = self.now;
        if self.is_limited(partition, vcpu) {
            self.hold_back(partition, vcpu);
            return;
        }
        self.signal_idle(partition, vcpu);
        let cp = self.cp(partition);
        let v = &mut cp.vcpus[vcpu];
        v.mode = Mode::Ready;
        v.ready_at = now;
        let last = v.left.lp;
        if cp.vcpus[vcpu].needs_master {
            cp.vectors.push_master(vcpu);
            if matches!(cp.lps[MASTER].doing, Doing::Idle | Doing::Roused) {
                self.look_for_work(partition, MASTER);
            }
            return;
        }
        let vector = cp.vectors.home(last);
        if let Some(lp) = cp.taker(vector, last) {
            self.run_vcpu(partition, lp, vcpu, Segment::default());
            return;
        }
        let over = cp.vm_of(vcpu).is_over_soft(now);
        let by = cp.acting.unwrap_or(last);
        cp.move_to(vcpu, vector);
        let waiting = Waiting {
            over,
            deadline: cp.vcpus[vcpu].deadline,
            vcpu,
        };
        cp.vectors.push(vector, by, waiting);
        if over {
            self.schedule_lift(partition, vcpu);
        }
        let cp = self.cp(partition);
        if let Some(lp) = cp.vectors.idle_beyond(vector) {
            self.look_for_work(partition, lp);
        }
    }

    /// A logical processor without a virtual processor looks for one: in its own vector, then in
    /// the others, nearest first.
    pub fn look_for_work(&mut self, partition: PartitionId, lp: LpId) {
        self.interrupt_roused(partition, lp);
        let chip = self.cp(partition).lps[lp].place.chip;
        let near = self.near(partition, chip);
        let mut looked = Segment::default();
        let cp = self.sys.cps[partition].as_deref_mut().expect("z/VM");
        let found = cp.seek(&self.at.tree, lp, Some((&near, &mut looked)));
        match found {
            Some(vcpu) => self.run_vcpu(partition, lp, vcpu, looked),
            None => {
                cp.lps[lp].doing = Doing::Looking;
                self.put_segment(partition, lp, looked, NEVER);
            }
        }
    }

    /// What was looked for in vain may have come meanwhile; else the processor loads a wait.
    fn look_again(&mut self, partition: PartitionId, lp: LpId) {
        let cp = self.sys.cps[partition].as_deref_mut().expect("z/VM");
        match cp.seek(&self.at.tree, lp, None) {
            Some(vcpu) => self.run_vcpu(partition, lp, vcpu, Segment::default()),
            None => self.load_wait(partition, lp),
        }
    }

    fn load_wait(&mut self, partition: PartitionId, lp: LpId) {
        let now = self.now;
        let cp = self.cp(partition);
        let signals = cp.signals;
        let of = &mut cp.lps[lp];
        if std::mem::replace(&mut of.doing, Doing::Idle) != Doing::Roused {
            of.signals_from = signals;
            of.idle_from = now;
        }
        cp.vectors.set_idle(lp, true);
        let (vp, thread, at) = self.place_of(partition, lp);
        self.threads[at].task = Task::None;
        self.threads[at].done_at = NEVER;
        self.threads[at].rotate_at = NEVER;
        self.at.vps[vp].last_thread = thread;
        let index = self.vp(vp).index;
        self.release(partition, Cpu { vp: index, thread });
    }

    /// Virtual processor, thread and place among all threads of a logical processor.
    pub fn place_of(&self, partition: PartitionId, lp: LpId) -> (VpId, u8, ThreadId) {
        let place = self.sys.cps[partition].as_ref().expect("z/VM").lps[lp].place;
        (place.vp, place.thread, place.at)
    }

    /// Puts a virtual processor on a logical one, which has looked for it as `looked` says.
    fn run_vcpu(&mut self, partition: PartitionId, lp: LpId, vcpu: VcpuId, looked: Segment) {
        self.interrupt_roused(partition, lp);
        let now = self.now;
        let chip = self.cp(partition).lps[lp].place.chip;
        let near = self.near(partition, chip);
        let profile = &self.spec.partitions[partition.index()].profile;
        let cp = self.sys.cps[partition].as_deref_mut().expect("z/VM");
        let mut path = looked;
        path.execute(Owner::System, cp.spec.paths.dispatch);
        let takes = cp.spec.locks.dispatch;
        cp.take(LockKind::Dispatch, takes, Owner::System, &near, &mut path);
        let path_ns = path.all_instructions() * near.around.instruction_ns + path.extra.ns;
        let machine = &self.spec.machine;
        cp.chill_vcpu(machine, &self.at.tree, profile, vcpu, lp, &near);
        let vector = cp.vectors.of(lp);
        cp.move_to(vcpu, vector);
        let v = &mut cp.vcpus[vcpu];
        v.mode = Mode::Running;
        v.needs_master = false;
        let waited = (now - v.ready_at) as f64 + path_ns;
        let (rest, deadline) = (v.rest.take(), v.deadline);
        let clock = &mut cp.clocks_of_vectors[vector];
        *clock = clock.max(deadline);
        let vm = cp.vm_of(vcpu);
        vm.dispatches += 1;
        vm.wait_ns += waited;
        cp.lps[lp].doing = Doing::Running(vcpu);
        let until = now + cp.spec.minor_slice_ns;
        let segment = match rest {
            Some(rest) => rest,
            None => self.next_segment(partition, lp, vcpu, true),
        };
        let (_, _, at) = self.place_of(partition, lp);
        self.meters.cpus[at].cs += 1;
        self.meters.partitions[partition].context_switches += 1;
        self.put_segment(partition, lp, segment.after(&path), until);
    }

    /// Sets what a logical processor does next; one that idled is woken.
    pub fn put_segment(
        &mut self,
        partition: PartitionId,
        lp: LpId,
        mut segment: Segment,
        rotate_at: u64,
    ) {
        let (vp, thread, at) = self.place_of(partition, lp);
        let cp = self.cp(partition);
        if let Doing::Running(vcpu) = cp.lps[lp].doing {
            let owes = std::mem::take(&mut cp.vcpus[vcpu].owes);
            segment.execute(Owner::Chargeable, owes);
        }
        let t = &mut self.threads[at];
        let idle = t.task == Task::None;
        t.instructions = segment.all_instructions();
        t.extra_ns = segment.extra.ns;
        t.rotate_at = rotate_at;
        t.done_at = NEVER;
        t.task = Task::Own;
        let cp = self.cp(partition);
        let of = &mut cp.lps[lp];
        of.shares = segment.shares();
        of.segment = segment;
        let interrupted = std::mem::take(&mut of.interrupted);
        if idle {
            cp.vectors.set_idle(lp, false);
            self.heard_signals(partition, lp);
            self.engage(partition, vp, thread);
        } else if interrupted {
            self.heard_signals(partition, lp);
            self.replan(vp);
        }
    }

    /// An idle logical processor has something to do.
    fn engage(&mut self, partition: PartitionId, vp: VpId, thread: u8) {
        let v = self.vp(vp);
        let (mode, core, index) = (v.mode, v.core, v.index);
        self.settle_vp(vp);
        self.occupy(partition, Cpu { vp: index, thread });
        match (mode, core) {
            (hypervisor::Mode::Running, Some(core)) => self.plan(core),
            (hypervisor::Mode::Inactive, _) => Partitions::wake(self, vp),
            _ => {}
        }
    }

    /// A segment is over: its effects, and what its logical processor does next.
    pub fn end_segment(&mut self, vp: VpId, at: ThreadId, thread: u8) {
        self.threads[at].done_at = NEVER;
        let (partition, lp) = self.lp_of(vp, thread);
        self.cp(partition).acting = Some(lp);
        self.go_on(partition, lp, at);
        self.cp(partition).acting = None;
    }

    fn go_on(&mut self, partition: PartitionId, lp: LpId, at: ThreadId) {
        match self.cp(partition).lps[lp].doing {
            Doing::Idle => unreachable!("nothing ends on an idle processor"),
            Doing::Looking | Doing::Roused => self.look_again(partition, lp),
            Doing::Running(vcpu) => {
                let goes_on = self.finish_segment(partition, vcpu);
                self.charge_vcpu(partition, vcpu);
                if !goes_on {
                    self.take_off(partition, lp, vcpu);
                } else if self.must_leave(partition, lp, vcpu) {
                    self.take_off(partition, lp, vcpu);
                    self.make_vcpu_ready(partition, vcpu);
                } else {
                    let segment = self.next_segment(partition, lp, vcpu, false);
                    let until = self.threads[at].rotate_at;
                    self.put_segment(partition, lp, segment, until);
                    return;
                }
                self.look_for_work(partition, lp);
            }
        }
    }

    fn lp_of(&self, vp: VpId, thread: u8) -> (PartitionId, LpId) {
        let v = self.vp(vp);
        let smt = u16::from(self.at.vps[vp].smt);
        (v.partition, LpId::from(v.index * smt + u16::from(thread)))
    }

    /// A minor time slice is over: whoever waits comes first, if its deadline is earlier.
    pub fn end_minor_slice(&mut self, vp: VpId, at: ThreadId, thread: u8) {
        let (partition, lp) = self.lp_of(vp, thread);
        self.threads[at].rotate_at = NEVER;
        let Doing::Running(vcpu) = self.cp(partition).lps[lp].doing else {
            return;
        };
        self.charge_vcpu(partition, vcpu);
        let cp = self.cp(partition);
        let waits =
            cp.vectors.waiting(cp.vectors.of(lp)) > 0 || lp == MASTER && cp.vectors.has_master();
        if !waits && !self.must_leave(partition, lp, vcpu) {
            let slice = self.cp(partition).spec.minor_slice_ns;
            self.threads[at].rotate_at = self.now + slice;
            return;
        }
        let t = &self.threads[at];
        let (instructions, extra_ns) = (t.instructions, t.extra_ns);
        let cp = self.cp(partition);
        let rest = cp.lps[lp].segment.rest(instructions, extra_ns);
        cp.vcpus[vcpu].rest = Some(rest);
        self.take_off(partition, lp, vcpu);
        self.make_vcpu_ready(partition, vcpu);
        self.look_for_work(partition, lp);
    }

    /// Takes a virtual processor off its logical one.
    fn take_off(&mut self, partition: PartitionId, lp: LpId, vcpu: VcpuId) {
        let cp = self.sys.cps[partition].as_deref_mut().expect("z/VM");
        cp.leave(vcpu, lp);
    }

    /// Whether a virtual processor may not go on where it is.
    fn must_leave(&mut self, partition: PartitionId, lp: LpId, vcpu: VcpuId) -> bool {
        !self.cp(partition).vectors.is_unparked(lp) || self.is_limited(partition, vcpu)
    }

    fn is_limited(&mut self, partition: PartitionId, vcpu: VcpuId) -> bool {
        let now = self.now;
        self.cp(partition).vm_of(vcpu).is_over_hard(now)
    }

    /// Moves a virtual processor's deadline on by what it has used, and books that against its
    /// limit.
    fn charge_vcpu(&mut self, partition: PartitionId, vcpu: VcpuId) {
        let now = self.now;
        let cp = self.cp(partition);
        let saved = SAVED_SLICES * cp.spec.minor_slice_ns as f64;
        let v = &mut cp.vcpus[vcpu];
        let used = std::mem::take(&mut v.used_ns);
        v.deadline += used / v.weight;
        cp.vm_of(vcpu).spend(now, used, saved);
    }

    /// A virtual machine has used up its hard limit: it waits until there is half a slice of it.
    fn hold_back(&mut self, partition: PartitionId, vcpu: VcpuId) {
        let now = self.now;
        self.cp(partition).vcpus[vcpu].mode = Mode::Limited;
        self.meters.integrate(partition, now).runnable -= 1;
        self.schedule_lift(partition, vcpu);
    }

    /// Looks at a virtual machine that is over its limit again when there is half a slice of it.
    fn schedule_lift(&mut self, partition: PartitionId, vcpu: VcpuId) {
        let now = self.now;
        let cp = self.cp(partition);
        let half = 0.5 * cp.spec.minor_slice_ns as f64;
        let id = cp.vcpus[vcpu].vm;
        let vm = &mut cp.vms[id];
        if std::mem::replace(&mut vm.lifting, true) {
            return;
        }
        let wait = ((half - vm.budget_ns) / vm.limit).clamp(1.0, 1e15) as u64;
        self.cp_asks(partition, now + wait, Alarm::Limit(id));
    }

    /// A limited virtual machine may run again, unless its processors used the time up meanwhile.
    pub fn lift_limit(&mut self, partition: PartitionId, vm: VmId) {
        let now = self.now;
        let vm = &mut self.cp(partition).vms[vm];
        vm.lifting = false;
        let (all, still_over) = (vm.cpus, vm.is_over_soft(now));
        if still_over {
            self.schedule_lift(partition, all.at(0));
            return;
        }
        for vcpu in all {
            match self.cp(partition).vcpus[vcpu].mode {
                Mode::Limited => self.wake_vcpu(partition, vcpu),
                Mode::Ready => self.cp(partition).vectors.forgive(vcpu),
                Mode::Idle | Mode::Running | Mode::PageWait => {}
            }
        }
    }
}

impl super::state::Vm {
    /// Brings the budget up to date: it fills at the rate of the limit, up to what can be saved.
    fn spend(&mut self, now: u64, used_ns: f64, saved_ns: f64) {
        if self.limit.is_finite() {
            self.refill(now, saved_ns);
            self.budget_ns -= used_ns;
        }
    }

    fn refill(&mut self, now: u64, saved_ns: f64) {
        let earned = (now - self.budget_at) as f64 * self.limit;
        self.budget_at = now;
        self.budget_ns = (self.budget_ns + earned).min(saved_ns * self.limit.min(1.0));
    }

    fn is_over(&mut self, now: u64) -> bool {
        if self.limit.is_infinite() {
            return false;
        }
        self.refill(now, f64::INFINITY);
        self.budget_ns <= 0.0
    }

    fn is_over_hard(&mut self, now: u64) -> bool {
        self.hard && self.is_over(now)
    }

    fn is_over_soft(&mut self, now: u64) -> bool {
        !self.hard && self.is_over(now)
    }
}

impl Cp {
    /// A virtual processor belongs to another dispatch vector from now on. How far its deadline is
    /// from that of the last one dispatched stays as it was: vectors run apart.
    fn move_to(&mut self, vcpu: VcpuId, vector: VectorId) {
        let v = &mut self.vcpus[vcpu];
        let clock = |vector: VectorId| self.clocks_of_vectors[vector];
        if v.vector != vector {
            v.deadline += clock(vector) - clock(v.vector);
            v.vector = vector;
        }
    }

    /// The idle processor that takes work which has just come to a vector. If all that idle are
    /// signalled, each is as likely to be the first to look; else it is one of the vector's own.
    fn taker(&mut self, vector: VectorId, last: LpId) -> Option<LpId> {
        if self.spec.paths.signal <= 0.0 {
            return self.vectors.idle_in(vector, last);
        }
        match u64::from(self.vectors.idle()) {
            0 => None,
            idle => self.vectors.idle_at(self.race.below(idle) as u32),
        }
    }

    /// The next virtual processor for a logical one; what looking cost is added to the segment.
    fn seek(
        &mut self,
        tree: &Topology,
        lp: LpId,
        mut looked: Option<(&super::sharing::Near, &mut Segment)>,
    ) -> Option<VcpuId> {
        if !self.vectors.is_unparked(lp) {
            return None;
        }
        let master = (lp == MASTER).then(|| self.vectors.pop_master()).flatten();
        if master.is_some() {
            return master;
        }
        let own = self.vectors.of(lp);
        if let Some((near, into)) = looked.as_mut() {
            self.look_at(tree, lp, own, near, into);
        }
        if let Some(vcpu) = self.vectors.pop(own, lp) {
            return Some(vcpu);
        }
        for at in 0..self.vectors.others(own).len() {
            let (other, distance) = self.vectors.others(own)[at];
            if let Some((near, into)) = looked.as_mut() {
                self.look_at(tree, lp, other, near, into);
            }
            if self.vectors.may_steal(other, distance) {
                return self.vectors.pop(other, lp);
            }
        }
        None
    }
}
