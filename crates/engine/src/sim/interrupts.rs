//! Interrupts of devices: which processor takes one, what it does then, and what comes of it.
//!
//! ```text
//! device answers ──► interrupt on a processor ──► work that follows ──► the thread that waited
//!                    in turn among `to`           there, or in turn     becomes runnable
//!                                                 among `soft_to`
//! ```
//! Where Linux is the hypervisor the processors are the host's ([`host::interrupts`]
//! (super::host)). Elsewhere they are the partition's own, and the work is the guest's: it takes a
//! logical processor from the software thread that runs there, which goes on where it was; nobody
//! else takes that thread up meanwhile, for it counts as running. Further interrupts wait their
//! turn. An idle processor is woken, and its core asked for, like for any other work.

use std::collections::VecDeque;

use super::coalescing::Next;
use super::event::Event;
use super::interrupting::{Busy, Handler, Part};
use super::system::System;
use super::world::{Task, World};
use crate::guest::workload::{Job, JobId, JobKind};
use crate::guest::Cpu;
use crate::ids::{ChipId, MemoryId, PartitionId, ThreadId, VpId};
use crate::kernel::{real, When};
use crate::machine::memory_ns;
use crate::spec::Interrupts;

impl<S: System> World<S> {
    /// What the spec says of a partition's interrupts.
    ///
    /// # Panics
    /// If its devices cost nothing.
    fn told(&self, partition: PartitionId) -> &Interrupts {
        let told = self.spec_of(partition).interrupts.as_deref();
        told.expect("its devices cost something")
    }

    /// Interrupts that nobody waits for begin.
    pub fn start_interrupts(&mut self, partition: PartitionId) {
        if self.interrupting.cost(partition) {
            self.next_interrupt(partition);
        }
    }

    fn next_interrupt(&mut self, partition: PartitionId) {
        let rate = self.told(partition).rate_per_s;
        if rate > 0.0 {
            let chance = &mut self.interrupting.source(partition).chance;
            let wait = chance.exponential(1e9 / rate);
            self.schedule(self.now + wait as u64, Event::Interrupt(partition));
        }
    }

    /// A device interrupts for something that nobody waits for.
    pub fn interrupt_by_itself(&mut self, partition: PartitionId) {
        self.device_interrupts(partition, None);
        self.next_interrupt(partition);
    }

    /// A device has something, for somebody or nobody here, and a processor must see to it.
    pub fn device_interrupts(&mut self, partition: PartitionId, waits: Option<JobId>) {
        let (cpu, now) = (self.whose_turn(partition, Part::Hard), self.now);
        let source = self.interrupting.source(partition);
        let rules = source.rules;
        match source.queue(cpu).comes(waits, rules, now) {
            Next::Interrupt => self.interrupt_for_all(partition, cpu),
            Next::At(at) => {
                self.schedule(at, Event::Gathered(partition, cpu));
            }
            Next::Nothing => {}
            Next::Behind => self.work_on(partition, cpu, Part::Soft, waits),
        }
    }

    /// A device has waited for more to come.
    pub fn has_gathered(&mut self, partition: PartitionId, cpu: u16) {
        let now = self.now;
        if self.interrupting.source(partition).queue(cpu).is_due(now) {
            self.interrupt_for_all(partition, cpu);
        }
    }

    /// A device interrupts a processor for all that it has.
    fn interrupt_for_all(&mut self, partition: PartitionId, cpu: u16) {
        let source = self.interrupting.source(partition);
        let rules = source.rules;
        let (first, rest) = source.queue(cpu).interrupts(rules);
        let part = if rules.apart { Part::Hard } else { Part::Both };
        self.work_on(partition, cpu, part, first);
        for waits in rest {
            self.work_on(partition, cpu, Part::Soft, waits);
        }
    }

    fn work_on(&mut self, partition: PartitionId, cpu: u16, part: Part, waits: Option<JobId>) {
        let handler = Handler {
            partition,
            cpu,
            part,
            waits,
        };
        S::handle(self, handler);
    }

    /// Who does a part of the work: of processors that are folded none, unless all are.
    fn whose_turn(&mut self, partition: PartitionId, part: Part) -> u16 {
        let guest = &self.guests[partition];
        let (smt, own) = (u16::from(guest.smt), S::handles_in_guest());
        let serves = |cpu: u16| {
            let (vp, thread) = (cpu / smt, (cpu % smt) as u8);
            !own || guest.queues.serves(Cpu { vp, thread })
        };
        let source = self.interrupting.source(partition);
        match part {
            Part::Soft => source.soft_to.next(serves),
            Part::Hard | Part::Both => source.to.next(serves),
        }
    }

    /// What a processor had to do for a device is done: the rest of the work follows, or whoever
    /// waited for it goes on.
    pub fn handled(&mut self, done: Handler, hard_ns: f64, soft_ns: f64) {
        self.interrupting.note(&done, hard_ns, soft_ns);
        let source = self.interrupting.source(done.partition);
        let rules = source.rules;
        if done.part == Part::Hard {
            let joined = source.queue(done.cpu).has_done(rules);
            for waits in std::iter::once(done.waits).chain(joined) {
                let cpu = self.whose_turn(done.partition, Part::Soft);
                self.work_on(done.partition, cpu, Part::Soft, waits);
            }
            return;
        }
        if !rules.apart {
            source.queue(done.cpu).has_done(rules);
        }
        if let Some(job) = done.waits {
            self.gets_answer(job);
        }
    }

    /// Time for which the work of an interrupt waits for what the device has written [ns].
    pub fn device_lines_ns(&self, done: &Handler, chip: ChipId) -> f64 {
        let told = self.told(done.partition);
        if done.part == Part::Hard || told.lines == 0.0 {
            return 0.0;
        }
        let tree = &self.at.tree;
        let own = tree.domain_of(chip);
        let domain = told.domain.map_or(own, |at| MemoryId::new(usize::from(at)));
        told.lines * memory_ns(&self.spec.machine, tree, chip, domain)
    }

    /// Instructions of both parts, and time of one with so many threads busy on the core [ns].
    pub fn work_of(&mut self, handler: &Handler, chip: ChipId, threads: u8) -> (f64, f64, f64) {
        let (hard, soft) = handler.instructions(self.told(handler.partition));
        let class = self.table.id(handler.partition.into(), chip, threads);
        (hard, soft, self.table.rate(&self.spec.partitions, class).ns)
    }
}

/// Logical processors of a guest.
impl<S: System> World<S> {
    /// A logical processor of the guest is to do an interrupt's work.
    pub fn handle_in_guest(&mut self, handler: Handler) {
        let partition = handler.partition;
        let smt = u16::from(self.guests[partition].smt);
        let (index, thread) = (handler.cpu / smt, (handler.cpu % smt) as u8);
        let vp = self.vp_at(partition, index);
        let chip = self
            .vp(vp)
            .core
            .map_or(self.vp(vp).home_chip, |core| self.at.cores[core].chip);
        let (hard, soft, each_ns) = self.work_of(&handler, chip, 1);
        let lines = self.device_lines_ns(&handler, chip) / each_ns;
        let id = self.jobs.add(Job {
            last_cpu: handler.cpu,
            member: handler.part as u16,
            bursts_left: handler.waits.map_or(u32::MAX, |id| id.index() as u32),
            ..Job::new(
                (partition, partition.into()),
                JobKind::Interrupt,
                hard + soft + lines,
                self.now,
            )
        });
        if handler.part != Part::Soft {
            self.count_interrupt(partition, handler.cpu);
        }
        let at = self.vp(vp).first_thread.plus(usize::from(thread));
        if let Some(busy) = self.interrupting.busy.get_mut(&at) {
            busy.waiting.push_back(id);
            return;
        }
        let stopped = self.threads[at].job();
        let rotate_at = self.threads[at].rotate_at;
        let stopped = stopped.map(|job| (job, rotate_at));
        let busy = Busy {
            stopped,
            waiting: VecDeque::new(),
        };
        self.interrupting.busy.insert(at, busy);
        match stopped {
            None => self.run_on(id, Cpu { vp: index, thread }),
            Some((job, _)) => self.stop_for(id, job, (vp, at)),
        }
    }

    /// A running software thread stands still for an interrupt's work.
    fn stop_for(&mut self, id: JobId, job: JobId, (vp, at): (VpId, ThreadId)) {
        self.settle_vp(vp);
        self.jobs.get(job).instructions = self.threads[at].instructions.max(0.0);
        self.put_handler(id, vp, at);
        self.replan(vp);
    }

    fn put_handler(&mut self, id: JobId, vp: VpId, at: ThreadId) {
        let v = &mut self.at.vps[vp];
        v.waits &= !(1 << (at.index() - v.first_thread.index()));
        let instructions = self.jobs.get(id).instructions;
        let thread = &mut self.threads[at];
        thread.task = Task::Job(id);
        thread.instructions = instructions;
        (thread.done_at, thread.rotate_at) = (When::NEVER, When::NEVER);
    }

    /// An interrupt's work is done: the next one's begins, or what was stopped goes on.
    pub fn end_handler(&mut self, id: JobId, vp: VpId, at: ThreadId, thread: u8) {
        let Some(busy) = self.interrupting.busy.get_mut(&at) else {
            return;
        };
        if let Some(next) = busy.waiting.pop_front() {
            self.put_handler(next, vp, at);
        } else {
            let stopped = busy.stopped.take();
            self.interrupting.busy.remove(&at);
            match stopped {
                None => self.leave_thread(vp, at, thread),
                Some((job, rotate_at)) => self.goes_on_after(job, rotate_at, (vp, at, thread)),
            }
        }
        self.finish_handler(id, vp, at);
    }

    fn goes_on_after(
        &mut self,
        id: JobId,
        rotate_at: When,
        (vp, at, thread): (VpId, ThreadId, u8),
    ) {
        let v = self.vp(vp);
        let (partition, cpu) = (
            v.partition,
            Cpu {
                vp: v.index,
                thread,
            },
        );
        if !self.guests[partition].queues.serves(cpu) {
            // It was folded meanwhile.
            self.leave_thread(vp, at, thread);
            self.make_runnable(id);
            return;
        }
        if self.loads[self.jobs.peek(id).load].mutex.is_some() {
            self.lay_out(id, vp, thread);
        }
        let instructions = self.jobs.get(id).instructions;
        let number = number_of(cpu, self.guests[partition].smt);
        let waited_for = self.guests[partition].queues.has_queue(number);
        let slice_ns = self.guests[partition].scheduler.unix.timeslice_ns;
        let thread = &mut self.threads[at];
        thread.task = Task::Job(id);
        thread.instructions = instructions;
        thread.done_at = When::NEVER;
        thread.rotate_at = if waited_for && !rotate_at.is_set() {
            When::at(self.now + slice_ns)
        } else {
            rotate_at
        };
    }

    /// Books an interrupt's work as the kernel's, and tells what follows.
    fn finish_handler(&mut self, id: JobId, vp: VpId, at: ThreadId) {
        let job = self.jobs.peek(id);
        let (partition, cpu, began) = (job.partition, job.last_cpu, job.arrived_at);
        let part = [Part::Both, Part::Hard, Part::Soft][usize::from(job.member)];
        let waits = (job.bursts_left != u32::MAX).then(|| JobId::new(job.bursts_left as usize));
        self.jobs.remove(id);
        let done = Handler {
            partition,
            cpu,
            part,
            waits,
        };
        let core = self.vp(vp).core.expect("who ends a burst is on a core");
        let each_ns = self.at.cores[core].rate.ns;
        let lines_ns = self.device_lines_ns(&done, self.at.cores[core].chip);
        let (hard, soft) = done.instructions(self.told(partition));
        let (hard_ns, soft_ns) = (hard * each_ns, soft * each_ns + lines_ns);
        let most = real(self.now - began);
        self.meters.cpus[at].daemon_ns += (hard_ns + soft_ns).min(most) as u64;
        self.handled(done, hard_ns, soft_ns);
    }
}

/// Number of a logical processor in its guest.
fn number_of(cpu: Cpu, smt: u8) -> u16 {
    cpu.vp * u16::from(smt) + u16::from(cpu.thread)
}
