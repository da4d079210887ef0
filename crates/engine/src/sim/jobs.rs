//! Jobs on logical processors: which one gets a runnable job, ends of bursts, time slices.

use super::event::NEVER;
use super::world::{World, NO_JOB};
use crate::guest::workload::{JobId, JobKind, NO_CPU};
use crate::guest::Cpu;
use crate::hypervisor::{CoreId, Mode, VpId, NO_CORE, NO_VP};
use crate::kernel::Key;
use crate::machine::Distance;

impl World {
    /// The end of a wait, an arrival or a timer is an interrupt on the logical processor that then
    /// has the work.
    pub fn count_interrupt(&mut self, partition: u16, cpu: u16) {
        let at = self.guests[usize::from(partition)].first_thread + usize::from(cpu);
        self.meters.cpus[at].interrupts += 1;
        self.meters.partitions[usize::from(partition)].interrupts += 1;
    }

    /// Gives a runnable job a logical processor, or queues it for one; which it is.
    pub fn make_runnable(&mut self, id: JobId) -> u16 {
        let job = self.jobs.get(id);
        let (partition, last) = (job.partition, job.last_cpu);
        let guest = &mut self.guests[usize::from(partition)];
        let last_cpu = (last != NO_CPU).then_some(last);
        match guest.queues.choose(last_cpu) {
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
                    guest.queues.queue(cpu, id);
                    self.slice_time(partition, cpu);
                }
                cpu
            }
        }
    }

    /// A daemon has the better priority: it takes the logical processor, whose runner goes on
    /// afterwards.
    fn displace(&mut self, id: JobId, partition: u16, cpu: u16) {
        let guest = &self.guests[usize::from(partition)];
        let (index, thread) = (
            cpu / u16::from(guest.smt),
            (cpu % u16::from(guest.smt)) as u8,
        );
        let at = guest.first_thread + usize::from(cpu);
        let vp = self.hv.shares[usize::from(partition)].first_vp + u32::from(index);
        if self.vp(vp).mode == Mode::Running {
            let core = self.vp(vp).core;
            self.settle(core);
        }
        let runner = std::mem::replace(&mut self.threads[at].job, NO_JOB);
        if runner != NO_JOB {
            self.jobs.get(runner).instructions = self.threads[at].instructions.max(0.0);
            self.guests[usize::from(partition)]
                .queues
                .put_back(cpu, runner);
            self.meters.cpus[at].ics += 1;
            self.put_on_thread(id, vp, Cpu { vp: index, thread });
            self.replan(vp);
        }
    }

    /// A software thread waits for a busy logical processor: its runner's time slice begins.
    pub fn slice_time(&mut self, partition: u16, cpu: u16) {
        let guest = &self.guests[usize::from(partition)];
        let at = guest.first_thread + usize::from(cpu);
        if self.threads[at].rotate_at == NEVER && self.threads[at].job != NO_JOB {
            self.threads[at].rotate_at = self.now + guest.scheduler.unix.timeslice_ns;
            let vp = self.hv.shares[usize::from(partition)].first_vp
                + u32::from(cpu / u16::from(guest.smt));
            self.replan(vp);
        }
    }

    /// Settles and plans the core of a virtual processor, if it is on one.
    pub fn replan(&mut self, vp: VpId) {
        if self.vp(vp).mode == Mode::Running {
            let core = self.vp(vp).core;
            self.settle(core);
            self.plan(core);
        }
    }

    /// Starts a job on an idle logical processor.
    pub fn run_on(&mut self, id: JobId, cpu: Cpu) {
        let partition = self.jobs.get(id).partition;
        let vp = self.hv.shares[usize::from(partition)].first_vp + u32::from(cpu.vp);
        let mode = self.vp(vp).mode;
        if mode == Mode::Running {
            let core = self.vp(vp).core;
            self.settle(core);
        }
        self.occupy(partition, cpu);
        self.put_on_thread(id, vp, cpu);
        match mode {
            Mode::Running => {
                let core = self.vp(vp).core;
                self.found_work(vp);
                self.plan(core);
            }
            Mode::Inactive => {
                self.phantom(vp);
                self.prod(vp);
                self.wake_vp(vp);
            }
            Mode::Ready | Mode::Exhausted => {}
        }
    }

    fn put_on_thread(&mut self, id: JobId, vp: VpId, cpu: Cpu) {
        let guest = &self.guests[usize::from(self.vp(vp).partition)];
        let index = cpu.vp * u16::from(guest.smt) + u16::from(cpu.thread);
        let at = guest.first_thread + usize::from(index);
        let rotate = if guest.queues.has_queue(index) {
            self.now + guest.scheduler.unix.timeslice_ns
        } else {
            NEVER
        };
        let job = self.jobs.get(id);
        let last = std::mem::replace(&mut job.last_cpu, index);
        let thread = &mut self.threads[at];
        debug_assert_eq!(thread.job, NO_JOB);
        thread.job = id;
        thread.instructions = job.instructions;
        thread.done_at = NEVER;
        thread.rotate_at = rotate;
        self.count_redispatch(vp, at, index, last);
    }

    /// Counts a software thread's dispatch by how far it came, as AIX sees the distance: between
    /// home chips.
    fn count_redispatch(&mut self, vp: VpId, at: usize, cpu: u16, last: u16) {
        let v = self.vp(vp);
        let (partition, home) = (usize::from(v.partition), v.home_chip);
        let smt = u16::from(self.guests[partition].smt);
        let class = if last == NO_CPU || last == cpu {
            0
        } else if last / smt == cpu / smt {
            1
        } else {
            let from = self
                .vp(self.hv.shares[partition].first_vp + u32::from(last / smt))
                .home_chip;
            match self.hv.tree.distance(from, home) {
                Distance::Local => 3,
                Distance::Near => 4,
                Distance::Far => 5,
            }
        };
        let core = self.vp(vp).core;
        let from_home = (core != NO_CORE).then(|| self.hv.distance_from_home(vp, core));
        let meter = &mut self.meters.cpus[at];
        if let Some(distance) = from_home {
            meter.home_dispatches[distance as usize] += 1;
        }
        meter.redispatches[class] += 1;
        meter.cs += 1;
        meter.migrations += u64::from(class > 0);
        self.meters.partitions[partition].context_switches += 1;
    }

    /// The logical processor that found the work calls the hypervisor to wake another virtual
    /// processor for it.
    fn prod(&mut self, vp: VpId) {
        let cost = self.spec.machine.hypervisor.prod_ns;
        let meter = &mut self.meters.partitions[usize::from(self.hv.vps[vp as usize].partition)];
        meter.prod_calls += 1;
        meter.prod_ns += cost;
        self.runs[vp as usize].debt_ns += cost;
    }

    /// The interrupt that wakes an inactive virtual processor is taken by whoever runs on its last
    /// core.
    fn phantom(&mut self, vp: VpId) {
        let last = self.vp(vp).last_core;
        if last == NO_CORE {
            return;
        }
        let runner = self.hv.cores[usize::from(last)].running;
        if runner == NO_VP || self.vp(runner).partition == self.vp(vp).partition {
            return;
        }
        let other = usize::from(self.vp(runner).partition);
        self.meters.partitions[other].phint += 1;
        let cost = self.spec.machine.hypervisor.phantom_ns;
        if cost > 0 {
            self.settle(last);
            let slot = &mut self.slots[usize::from(last)];
            slot.spin_from = NEVER;
            slot.stall_until = slot.stall_until.max(self.now) + cost;
            self.plan(last);
        }
    }

    /// A core's planned event is due: bursts, time slices or the grant end.
    pub fn core_event(&mut self, core: CoreId) {
        self.settle(core);
        self.slots[usize::from(core)].key = Key::NONE;
        let vp = self.hv.cores[usize::from(core)].running;
        let (first, _) = self.threads_of(vp);
        let mut bits = self.mask(vp);
        while bits != 0 && self.hv.cores[usize::from(core)].running == vp {
            let thread = bits.trailing_zeros() as u8;
            bits &= bits - 1;
            let at = first + usize::from(thread);
            if self.threads[at].done_at <= self.now {
                self.end_burst(vp, at, thread);
            }
            if self.threads[at].rotate_at <= self.now {
                self.rotate(vp, at, thread);
            }
        }
        if self.is_host() {
            self.host_event(core, vp);
        } else if self.hv.cores[usize::from(core)].running != vp {
            // Its own work woke a sibling that threw it off this core.
            self.drained(vp);
        } else if self.mask(vp) == 0 {
            self.cede(vp);
        } else if self.slots[usize::from(core)].grant_end <= self.now {
            self.end_grant(vp);
            if self.hv.cores[usize::from(core)].running == vp {
                self.plan(core);
            }
        } else {
            self.plan(core);
        }
    }

    /// A burst is done: the job waits, thinks or ends, and the thread takes the next one or idles.
    fn end_burst(&mut self, vp: VpId, at: usize, thread: u8) {
        if self.is_zvm(vp) {
            self.end_segment(vp, at, thread);
            return;
        }
        let id = self.threads[at].job;
        self.threads[at].done_at = NEVER;
        match self.jobs.get(id).kind {
            JobKind::Warehouse => return self.next_of_warehouse(id, at),
            JobKind::Exchange => return self.end_turn(id, vp, at),
            _ => {}
        }
        self.leave_thread(vp, at, thread);
        self.finish(id, vp, at);
    }

    /// A job leaves its thread, which takes the next one or idles.
    pub fn leave_thread(&mut self, vp: VpId, at: usize, thread: u8) {
        self.threads[at].job = NO_JOB;
        self.runs[vp as usize].last_thread = thread;
        self.next_on_thread(vp, at, thread);
    }

    /// A thread without a job takes the next one, or idles.
    pub fn next_on_thread(&mut self, vp: VpId, at: usize, thread: u8) {
        let v = self.vp(vp);
        let (partition, index) = (v.partition, v.index);
        let cpu = Cpu { vp: index, thread };
        self.threads[at].rotate_at = NEVER;
        let queues = &mut self.guests[usize::from(partition)].queues;
        let folded = index >= queues.unfolded();
        if queues.queued() == 0 || folded {
            self.release(partition, cpu);
            return;
        }
        let number = index * u16::from(self.runs[vp as usize].smt) + u16::from(thread);
        match queues.take(number) {
            Some(next) => self.put_on_thread(next, vp, cpu),
            None => self.release(partition, cpu),
        }
    }

    fn rotate(&mut self, vp: VpId, at: usize, thread: u8) {
        if self.is_zvm(vp) {
            self.end_minor_slice(vp, at, thread);
            return;
        }
        let v = self.vp(vp);
        let (partition, index) = (usize::from(v.partition), v.index);
        let guest = &mut self.guests[partition];
        let number = index * u16::from(guest.smt) + u16::from(thread);
        self.threads[at].rotate_at = NEVER;
        let Some(next) = guest.queues.take_own(number) else {
            return;
        };
        let id = std::mem::replace(&mut self.threads[at].job, NO_JOB);
        self.jobs.get(id).instructions = self.threads[at].instructions;
        guest.queues.queue(number, id);
        self.meters.cpus[at].ics += 1;
        self.put_on_thread(next, vp, Cpu { vp: index, thread });
    }
}
