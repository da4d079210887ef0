//! CP's dispatcher: which logical processor runs which virtual processor, and for how long.

use super::seek::{Looked, MASTER};
use super::state::{Cp, Doing, Mode};
use crate::cost::Unfetched;
use crate::guest::zvm::ids::{LpId, VcpuId, VectorId};
use crate::guest::zvm::segment::Owner;
use crate::guest::zvm::vectors::Waiting;
use crate::guest::Cpu;
use crate::hypervisor;
use crate::ids::{PartitionId, ThreadId, VpId};
use crate::kernel::When;
use crate::sim::system::System;
use crate::sim::windows::Partitions;
use crate::sim::world::{Task, World};

/// Where a virtual processor with work goes.
enum Turn {
    /// To an idle logical processor.
    Run(LpId),
    /// To where others wait: an idle processor may come for it, and it may have to be looked at
    /// again when its machine has time of its limit. Who has woken up has that place in the order.
    Wait {
        looks: Option<LpId>,
        over: bool,
        woken: Option<f64>,
    },
}

impl Turn {
    /// The idle processor that is signalled to come for it.
    fn comes(&self) -> Option<LpId> {
        match *self {
            Turn::Run(lp) => Some(lp),
            Turn::Wait { looks, .. } => looks,
        }
    }
}

impl World<Partitions> {
    /// A virtual processor that waited has something to do.
    pub fn wake_vcpu(&mut self, partition: PartitionId, vcpu: VcpuId) {
        self.meter_now(partition).runnable += 1;
        let cp = self.cp(partition);
        cp.catch_up(vcpu);
        cp.catch_up_in_pool(vcpu);
        self.make_vcpu_ready(partition, vcpu);
    }

    /// Gives a virtual processor with work an idle logical processor, or queues it.
    pub fn make_vcpu_ready(&mut self, partition: PartitionId, vcpu: VcpuId) {
        let cp = self.sys.cp(partition);
        if cp.is_limited(vcpu, self.now) {
            self.hold_back(partition, vcpu);
            return;
        }
        match cp.make_ready(vcpu, self.now) {
            Turn::Run(lp) => self.run_vcpu(partition, lp, vcpu),
            Turn::Wait { looks, over, woken } => {
                self.await_shuffle(partition);
                if over {
                    self.schedule_lift(partition, vcpu);
                }
                if let Some(lp) = looks {
                    self.look_for_work(partition, lp);
                } else if let Some(order) = woken.filter(|_| !over) {
                    self.push_off(partition, vcpu, order);
                }
            }
        }
    }

    /// A logical processor without a virtual processor looks for one: in its own vector, then in
    /// the others, nearest first.
    pub fn look_for_work(&mut self, partition: PartitionId, lp: LpId) {
        let mut looked = Looked::default();
        match self.find::<true>(partition, lp, &mut looked) {
            Some(vcpu) => self.start_vcpu(partition, lp, vcpu, &looked),
            None => {
                let cp = self.sys.cp(partition);
                let segment = cp.near(lp).looking(&cp.spec, looked.vectors, looked.lines);
                let of = &mut cp.lps[lp];
                of.doing = Doing::Looking;
                of.segment = segment;
                self.put_segment(partition, lp, When::NEVER);
            }
        }
    }

    /// The next virtual processor for a logical one that may run.
    fn find<const COUNTS: bool>(
        &mut self,
        partition: PartitionId,
        lp: LpId,
        looked: &mut Looked,
    ) -> Option<VcpuId> {
        loop {
            let found = self.cp(partition).seek::<COUNTS>(lp, looked)?;
            if self.may_run(partition, found) {
                return Some(found.vcpu);
            }
        }
    }

    /// What was looked for in vain may have come meanwhile; else the processor loads a wait.
    fn look_again(&mut self, partition: PartitionId, lp: LpId) {
        match self.find::<false>(partition, lp, &mut Looked::default()) {
            Some(vcpu) => self.run_vcpu(partition, lp, vcpu),
            None => self.load_wait(partition, lp),
        }
    }

    fn load_wait(&mut self, partition: PartitionId, lp: LpId) {
        let cp = self.sys.cp(partition);
        let of = &mut cp.lps[lp];
        of.doing = Doing::Idle;
        let place = of.place;
        cp.vectors.set_idle(lp, true);
        let t = &mut self.threads[place.at];
        t.task = Task::None;
        t.done_at = When::NEVER;
        t.rotate_at = When::NEVER;
        self.at.vps[place.vp].last_thread = place.thread;
        let cpu = Cpu {
            vp: place.core,
            thread: place.thread,
        };
        self.release(partition, cpu);
    }

    /// Puts a virtual processor on a logical one that has not looked for it.
    fn run_vcpu(&mut self, partition: PartitionId, lp: LpId, vcpu: VcpuId) {
        self.start_vcpu(partition, lp, vcpu, &Looked::default());
    }

    /// Puts a virtual processor on a logical one, which has looked for it so.
    fn start_vcpu(&mut self, partition: PartitionId, lp: LpId, vcpu: VcpuId, looked: &Looked) {
        let cp = self.sys.cp(partition);
        let comes = cp.comes_to(vcpu, lp);
        cp.take_on(lp, vcpu, self.now, looked);
        let (v, of) = (&mut cp.vcpus[vcpu], &mut cp.lps[lp]);
        let (vp, at) = (of.place.vp, of.place.at);
        if let Some(rest) = v.rest.as_deref().filter(|_| v.cut) {
            of.segment.follow(rest);
            v.cut = false;
        } else {
            cp.next_segment::<true>(lp, vcpu, &mut self.loads[partition.into()].work);
        }
        let until = When::at(self.now + cp.spec.minor_slice_ns);
        self.meters.cpus[at].cs += 1;
        if comes {
            // It fetches all it has: what the logical processor ran before is not fetched besides.
            let v = &mut self.at.vps[vp];
            v.emptied = v.core.is_none();
            self.threads[at].cold_instructions = 0.0;
            if !self.unfetched.is_empty() {
                self.unfetched[at].0 = Unfetched::default();
            }
        }
        self.put_segment(partition, lp, until);
    }

    /// A logical processor begins the segment that was set for it; one that idled is woken.
    pub fn put_segment(&mut self, partition: PartitionId, lp: LpId, rotate_at: When) {
        let cp = self.sys.cp(partition);
        cp.lps[lp].makes_way_for = None;
        let place = cp.lps[lp].place;
        let t = &mut self.threads[place.at];
        let idle = t.task == Task::None;
        (t.instructions, t.extra_ns) = cp.begin_segment(lp);
        t.rotate_at = rotate_at;
        t.done_at = When::NEVER;
        t.task = Task::Own;
        if idle {
            cp.vectors.set_idle(lp, false);
            self.engage(partition, place.vp, place.thread);
        }
    }

    /// An idle logical processor has something to do.
    fn engage(&mut self, partition: PartitionId, vp: VpId, thread: u8) {
        let v = self.vp(vp);
        let (mode, core, index) = (v.mode, v.core, v.index);
        self.settle_vp(vp);
        self.occupy(partition, partition.into(), Cpu { vp: index, thread });
        match (mode, core) {
            (hypervisor::Mode::Running, Some(core)) => self.plan(core),
            (hypervisor::Mode::Inactive, _) => Partitions::wake(self, vp),
            _ => {}
        }
    }

    /// A segment is over: its effects, and what its logical processor does next.
    pub fn end_segment(&mut self, vp: VpId, at: ThreadId, thread: u8) {
        self.threads[at].done_at = When::NEVER;
        let (partition, lp) = self.lp_of(vp, thread);
        let cp = self.sys.cp(partition);
        cp.acting = Some(lp);
        match cp.lps[lp].doing {
            Doing::Idle => unreachable!("nothing ends on an idle processor"),
            Doing::Looking => self.look_again(partition, lp),
            Doing::Running(vcpu) => self.turn_over(partition, lp, vcpu, at),
        }
        self.cp(partition).acting = None;
    }

    /// A virtual processor's segment is over: it goes on, or makes room.
    fn turn_over(&mut self, partition: PartitionId, lp: LpId, vcpu: VcpuId, at: ThreadId) {
        let goes_on = self.finish_segment(partition, vcpu);
        let cp = self.sys.cp(partition);
        cp.charge(vcpu, self.now);
        if goes_on && !cp.must_leave(lp, vcpu, self.now) {
            cp.next_segment::<false>(lp, vcpu, &mut self.loads[partition.into()].work);
            let t = &mut self.threads[at];
            (t.instructions, t.extra_ns) = cp.begin_segment(lp);
            return;
        }
        cp.leave(vcpu, lp);
        if goes_on {
            self.make_vcpu_ready(partition, vcpu);
        } else {
            cp.forgo(vcpu);
            self.leave_to_pool(partition, vcpu);
        }
        self.look_for_work(partition, lp);
    }

    fn lp_of(&self, vp: VpId, thread: u8) -> (PartitionId, LpId) {
        let v = self.vp(vp);
        let number = v.index * u16::from(v.smt) + u16::from(thread);
        (v.partition, LpId::from(number))
    }

    /// A minor time slice is over: whoever waits comes first, if its deadline is earlier.
    pub fn end_minor_slice(&mut self, vp: VpId, at: ThreadId, thread: u8) {
        let (partition, lp) = self.lp_of(vp, thread);
        let cp = self.sys.cp(partition);
        let t = &mut self.threads[at];
        t.rotate_at = When::NEVER;
        let Doing::Running(vcpu) = cp.lps[lp].doing else {
            return;
        };
        cp.charge(vcpu, self.now);
        cp.pledge(vcpu);
        cp.vcpus[vcpu].woken = false;
        cp.makes_way(lp);
        let stays = !cp.somebody_waits(lp, vcpu, self.now) && !cp.moves_over(lp, vcpu);
        if stays && !cp.must_leave(lp, vcpu, self.now) {
            t.rotate_at = When::at(self.now + cp.spec.minor_slice_ns);
            return;
        }
        let rest = cp.lps[lp].segment.rest(t.instructions, t.extra_ns);
        let v = &mut cp.vcpus[vcpu];
        **v.rest.get_or_insert_default() = rest;
        v.cut = true;
        cp.leave(vcpu, lp);
        self.make_vcpu_ready(partition, vcpu);
        self.look_for_work(partition, lp);
    }
}

impl Cp {
    /// Finds out who takes a virtual processor with work, and signals that one if it idles; whoever
    /// made it ready pays.
    fn make_ready(&mut self, vcpu: VcpuId, now: u64) -> Turn {
        let vector = self.vectors.home(self.vcpus[vcpu].vector);
        let payer = self.payer(vcpu);
        self.enter(vector, payer);
        let turn = self.place(vcpu, vector, now);
        if turn.comes().is_some() {
            self.vcpus[payer].owes += self.spec.paths.signal;
        }
        turn
    }

    /// Where a virtual processor that is ready for a vector goes.
    fn place(&mut self, vcpu: VcpuId, vector: VectorId, now: u64) -> Turn {
        let deadline = self.order_of(vcpu);
        let v = &mut self.vcpus[vcpu];
        v.woken = v.is_preferred();
        v.mode = Mode::Ready;
        v.since = now;
        let (last, woken) = (v.left.lp, v.woken);
        if v.needs_master {
            self.vectors.push_master(vcpu);
            let free = self.lps[MASTER].doing == Doing::Idle;
            return Turn::Wait {
                looks: free.then_some(MASTER),
                over: false,
                woken: None,
            };
        }
        let comes = self.vectors.comes_for(vector, last);
        if let Some(lp) = comes.filter(|lp| self.vectors.of(*lp) == vector) {
            return Turn::Run(lp);
        }
        let over = self.vm_of(vcpu).is_over_soft(now);
        self.vcpus[vcpu].vector = vector;
        let waiting = Waiting {
            over,
            woken,
            deadline,
            vcpu,
        };
        let by = self.acting.unwrap_or(last);
        self.vectors.push(vector, by, waiting);
        Turn::Wait {
            looks: comes,
            over,
            woken: woken.then_some(deadline),
        }
    }

    /// A virtual processor starts on a logical one, with what that costs CP.
    fn take_on(&mut self, lp: LpId, vcpu: VcpuId, now: u64, looked: &Looked) {
        let path_ns = self.dispatch_on(lp, looked);
        self.chill(vcpu, lp);
        self.move_clock(self.vcpus[vcpu].deadline);
        let v = &mut self.vcpus[vcpu];
        v.vector = self.vectors.of(lp);
        v.mode = Mode::Running;
        v.needs_master = false;
        let vm = &mut self.vms[v.vm];
        vm.dispatches += 1;
        vm.wait_ns += (now - v.since) as i64 as f64 + path_ns;
        v.since = now;
        self.lps[lp].doing = Doing::Running(vcpu);
    }

    /// What a logical processor's thread has to do for the segment that was set: instructions, and
    /// time on top of them. Signals that its virtual processor owes are paid for in it.
    #[inline]
    fn begin_segment(&mut self, lp: LpId) -> (f64, f64) {
        if let Doing::Running(vcpu) = self.lps[lp].doing {
            let v = &mut self.vcpus[vcpu];
            let (owes, readied) = (std::mem::take(&mut v.owes), std::mem::take(&mut v.readied));
            self.lps[lp].segment.execute(Owner::Chargeable, owes);
            if readied.times > 0.0 {
                self.pay_ready(lp, &readied);
            }
        }
        let of = &mut self.lps[lp];
        of.shares = of.segment.shares();
        (of.segment.all_instructions(), of.segment.extra.ns)
    }

    /// Whether a virtual processor may not go on where it is.
    #[inline]
    fn must_leave(&mut self, lp: LpId, vcpu: VcpuId, now: u64) -> bool {
        !self.vectors.is_unparked(lp) || self.is_limited(vcpu, now)
    }

    /// Whether a virtual processor whose core another thread works on would have one to itself: a
    /// core has one vector (IBM z13s Technical Guide), and those are evened out.
    fn moves_over(&self, lp: LpId, vcpu: VcpuId) -> bool {
        let vector = self.vectors.home(self.vcpus[vcpu].vector);
        self.vectors.is_beside_work(lp) && self.vectors.rests_for(vector, lp).is_some()
    }

    /// Whether somebody waits for the logical processor that a virtual one has: in its vector, or,
    /// for who has passed a soft limit, in any.
    fn somebody_waits(&mut self, lp: LpId, vcpu: VcpuId, now: u64) -> bool {
        let waiting = self.vectors.waiting(self.vectors.of(lp));
        waiting > 0
            || lp == MASTER && self.vectors.has_master()
            || self.vectors.any_under() && self.vm_of(vcpu).is_over_soft(now)
    }
}
