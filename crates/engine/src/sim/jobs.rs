//! Jobs on logical processors: which one gets a runnable job, ends of bursts, time slices.

use super::mutex::Next;
use super::system::System;
use super::world::{Task, World};
use crate::guest::mutex::Phase;
use crate::guest::workload::{JobId, JobKind, NO_CPU};
use crate::guest::Cpu;
use crate::hypervisor::Mode;
use crate::ids::{CoreId, PartitionId, ThreadId, VpId};
use crate::kernel::{Key, When};
use crate::machine::Distance;

impl<S: System> World<S> {
    /// The end of a wait or an arrival is a device's interrupt on the logical processor that then
    /// has the work.
    pub fn count_interrupt(&mut self, partition: PartitionId, cpu: u16) {
        let at = self.guests[partition].first_thread.plus(usize::from(cpu));
        self.meters.cpus[at].interrupts += 1;
    }

    /// Gives a runnable job a logical processor, or queues it for one; which it is.
    pub fn make_runnable(&mut self, id: JobId) -> u16 {
        self.make_runnable_by(id, None)
    }

    /// The same of one that is woken from a logical processor whose thread still runs.
    pub fn make_runnable_by(&mut self, id: JobId, waker: Option<Cpu>) -> u16 {
        let job = self.jobs.get(id);
        let (partition, last) = (job.partition, job.last_cpu);
        let guest = &mut self.guests[partition];
        let last_cpu = (last != NO_CPU).then_some(last);
        let chosen = match waker {
            Some(waker) => guest.queues.choose_beside(waker, last_cpu),
            None => guest.queues.choose(last_cpu),
        };
        match chosen {
            Some(cpu) => {
                let number = cpu.vp * u16::from(guest.smt) + u16::from(cpu.thread);
                self.run_on(id, cpu);
                number
            }
            None => {
                let cpu = guest.queues.queue_for(last_cpu, id);
                if self.jobs.get(id).kind == JobKind::Daemon {
                    self.displace(id, partition, cpu);
                } else {
                    self.line_up(partition, cpu, id, false);
                    self.slice_time(partition, cpu);
                }
                cpu
            }
        }
    }

    /// A daemon has the better priority: it takes the logical processor, whose runner goes on
    /// afterwards.
    fn displace(&mut self, id: JobId, partition: PartitionId, cpu: u16) {
        let guest = &self.guests[partition];
        let at = guest.first_thread.plus(usize::from(cpu));
        if self.interrupting.holds(at) {
            return self.line_up(partition, cpu, id, true);
        }
        let (index, thread) = (
            cpu / u16::from(guest.smt),
            (cpu % u16::from(guest.smt)) as u8,
        );
        let vp = self.vp_at(partition, index);
        self.settle_vp(vp);
        let runner = std::mem::replace(&mut self.threads[at].task, Task::None);
        if let Task::Job(runner) = runner {
            self.jobs.get(runner).instructions = self.threads[at].instructions.max(0.0);
            self.line_up(partition, cpu, runner, true);
            self.meters.cpus[at].ics += 1;
            self.put_on_thread(id, vp, Cpu { vp: index, thread });
            self.replan(vp);
        }
    }

    /// A software thread waits for a busy logical processor: its runner's time slice begins.
    pub fn slice_time(&mut self, partition: PartitionId, cpu: u16) {
        let guest = &self.guests[partition];
        let at = guest.first_thread.plus(usize::from(cpu));
        let free = self.threads[at].task == Task::None || self.interrupting.holds(at);
        if !self.threads[at].rotate_at.is_set() && !free {
            self.threads[at].rotate_at = When::at(self.now + guest.scheduler.unix.timeslice_ns);
            let vp = self.at.vps_of[partition].at(usize::from(cpu / u16::from(guest.smt)));
            self.replan(vp);
        }
    }

    /// Books what a virtual processor did, if it is on a core.
    #[inline]
    pub fn settle_vp(&mut self, vp: VpId) {
        if let Some(core) = self.vp(vp).core {
            self.settle(core);
        }
    }

    /// Settles and plans the core of a virtual processor, if it is on one.
    pub fn replan(&mut self, vp: VpId) {
        if let Some(core) = self.vp(vp).core {
            self.settle(core);
            self.plan(core);
        }
    }

    /// Starts a job on an idle logical processor.
    pub fn run_on(&mut self, id: JobId, cpu: Cpu) {
        let job = self.jobs.get(id);
        let (partition, load) = (job.partition, job.load);
        let vp = self.vp_at(partition, cpu.vp);
        let (mode, core) = (self.vp(vp).mode, self.vp(vp).core);
        self.settle_vp(vp);
        self.occupy(partition, load, cpu);
        self.put_on_thread(id, vp, cpu);
        match (mode, core) {
            (Mode::Running, Some(core)) => {
                S::found_work(self, vp);
                self.plan(core);
            }
            (Mode::Inactive, _) => {
                self.phantom(vp);
                self.prod(vp);
                S::wake(self, vp);
            }
            _ => {}
        }
    }

    fn put_on_thread(&mut self, id: JobId, vp: VpId, cpu: Cpu) {
        let mut is_paid = false;
        if let Some(mutex) = &self.loads[self.jobs.peek(id).load].mutex {
            // The lock has its own price of that, in instructions.
            is_paid = mutex.phase(id) == Phase::Wakes;
            self.lay_out(id, vp, cpu.thread);
        } else if self.at.vps[vp].waits != 0 {
            // Another load's thread spun there.
            self.at.vps[vp].waits &= !(1 << cpu.thread);
        }
        let v = &self.at.vps[vp];
        let guest = &self.guests[v.partition];
        let index = cpu.vp * u16::from(v.smt) + u16::from(cpu.thread);
        let at = v.first_thread.plus(usize::from(cpu.thread));
        let rotate = if guest.queues.has_queue(index) {
            When::at(self.now + guest.scheduler.unix.timeslice_ns)
        } else {
            When::NEVER
        };
        let job = self.jobs.get(id);
        let last = std::mem::replace(&mut job.last_cpu, index);
        let switches = job.kind != JobKind::Interrupt;
        // A loop that has just begun again is the same thread, unless it slept before.
        let rested = std::mem::take(&mut job.rested);
        let goes_on = job.kind == JobKind::Loop && job.arrived_at == self.now && !rested;
        let thread = &mut self.threads[at];
        debug_assert_eq!(thread.task, Task::None);
        thread.task = Task::Job(id);
        thread.instructions = job.instructions;
        thread.done_at = When::NEVER;
        thread.rotate_at = rotate;
        if switches {
            self.count_redispatch(vp, at, index, last);
            if !is_paid && !goes_on {
                S::switches_thread(self, vp);
            }
        }
        if let Some(core) = self.at.vps[vp].core.filter(|_| self.has_messages) {
            self.read_messages(vp, core);
        }
    }

    /// Counts a software thread's dispatch by how far it came, as AIX sees the distance: between
    /// home chips.
    fn count_redispatch(&mut self, vp: VpId, at: ThreadId, cpu: u16, last: u16) {
        let v = self.vp(vp);
        let (partition, home) = (v.partition, v.home_chip);
        let smt = u16::from(v.smt);
        let class = if last == NO_CPU || last == cpu {
            0
        } else if last / smt == cpu / smt {
            1
        } else {
            let from = self.vp(self.vp_at(partition, last / smt)).home_chip;
            match self.at.tree.distance(from, home) {
                Distance::Local => 3,
                Distance::Near => 4,
                Distance::Far => 5,
            }
        };
        let core = self.vp(vp).core;
        let from_home = core.map(|core| self.at.cores[core].distance);
        let meter = &mut self.meters.cpus[at];
        if let Some(distance) = from_home {
            meter.home_dispatches[distance as usize] += 1;
        }
        meter.redispatches[class] += 1;
        meter.cs += 1;
    }

    /// The logical processor that found the work calls the hypervisor to wake another virtual
    /// processor for it.
    fn prod(&mut self, vp: VpId) {
        let cost = self.spec.machine.hypervisor.prod_ns;
        let meter = &mut self.meters.partitions[self.at.vps[vp].partition];
        meter.prod_calls += 1;
        meter.prod_ns += cost;
        self.at.vps[vp].debt_ns += cost;
    }

    /// The interrupt that wakes an inactive virtual processor is taken by whoever runs on its last
    /// core.
    fn phantom(&mut self, vp: VpId) {
        let v = self.vp(vp);
        let Some(last) = v.last_core else { return };
        let taker = self.at.runner(last).map(|runner| runner.partition);
        let Some(other) = taker.filter(|other| *other != v.partition) else {
            return;
        };
        self.meters.partitions[other].phint += 1;
        let cost = self.spec.machine.hypervisor.phantom_ns;
        if cost > 0 {
            self.settle(last);
            let on = &mut self.at.cores[last];
            if on.stall_until.is_set() {
                on.spin_from = When::NEVER;
                on.stall_until = on.stall_until.max(When::at(self.now)) + cost;
                self.plan(last);
            }
        }
    }

    /// A core's planned event is due: bursts, time slices or the grant end.
    pub fn core_event(&mut self, core: CoreId) {
        self.settle(core);
        let on = &mut self.at.cores[core];
        on.key = Key::NONE;
        let vp = on.running.expect("only cores with a runner are planned");
        let (first, _) = self.threads_of(vp);
        let mut bits = self.mask(vp);
        while bits != 0 && self.at.cores[core].running == Some(vp) {
            let thread = bits.trailing_zeros() as u8;
            bits &= bits - 1;
            let at = first.plus(usize::from(thread));
            if self.threads[at].done_at.has_come(self.now) {
                self.end_burst(vp, at, thread);
            }
            if self.threads[at].rotate_at.has_come(self.now) {
                self.rotate(vp, at, thread);
            }
        }
        S::due(self, core, vp);
    }

    /// A burst is done: the job waits, thinks or ends, and the thread takes the next one or idles.
    fn end_burst(&mut self, vp: VpId, at: ThreadId, thread: u8) {
        if S::end_burst(self, vp, at, thread) {
            return;
        }
        let thread_at = &mut self.threads[at];
        thread_at.done_at = When::NEVER;
        let Some(id) = thread_at.job() else { return };
        let Next::Done { holds } = self.end_piece(id, vp, at, thread) else {
            return;
        };
        let (kind, load) = (self.jobs.peek(id).kind, self.jobs.peek(id).load);
        match kind {
            JobKind::Warehouse => {
                self.next_of_warehouse(id, at);
                self.lay_out_in_place(id, at);
            }
            JobKind::Exchange => {
                self.end_turn(id, vp, at, thread);
            }
            JobKind::Member => self.end_step(id, vp, at, thread),
            JobKind::Interrupt => self.end_handler(id, vp, at, thread),
            _ => {
                self.leave_thread(vp, at, thread);
                self.finish(id, vp, at);
            }
        }
        if holds {
            self.release_lock(load);
        }
    }

    /// A job leaves its thread, which takes the next one or idles.
    pub fn leave_thread(&mut self, vp: VpId, at: ThreadId, thread: u8) {
        self.threads[at].task = Task::None;
        self.at.vps[vp].last_thread = thread;
        self.next_on_thread(vp, at, thread);
    }

    /// A thread without a job takes the next one, or idles.
    pub fn next_on_thread(&mut self, vp: VpId, at: ThreadId, thread: u8) {
        let v = self.vp(vp);
        let (partition, index) = (v.partition, v.index);
        let cpu = Cpu { vp: index, thread };
        self.threads[at].rotate_at = When::NEVER;
        let queues = &self.guests[partition].queues;
        if queues.queued() == 0 || !queues.serves(cpu) {
            self.release(partition, cpu);
            return;
        }
        let number = index * u16::from(self.at.vps[vp].smt) + u16::from(thread);
        match self.take(partition, number) {
            Some(next) => self.put_on_thread(next, vp, cpu),
            None => self.release(partition, cpu),
        }
    }

    fn rotate(&mut self, vp: VpId, at: ThreadId, thread: u8) {
        if S::end_slice(self, vp, at, thread) {
            return;
        }
        let v = self.vp(vp);
        let (partition, index) = (v.partition, v.index);
        let number = index * u16::from(self.guests[partition].smt) + u16::from(thread);
        self.threads[at].rotate_at = When::NEVER;
        let Some(next) = self.take_at(partition, number, 0) else {
            return;
        };
        if let Task::Job(id) = std::mem::replace(&mut self.threads[at].task, Task::None) {
            self.jobs.get(id).instructions = self.threads[at].instructions;
            self.line_up(partition, number, id, false);
        }
        self.meters.cpus[at].ics += 1;
        self.put_on_thread(next, vp, Cpu { vp: index, thread });
    }
}
