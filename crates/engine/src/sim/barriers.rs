//! Parallel programs: threads that wait for each other at barriers.
//!
//! ```text
//! thread 1  work ......... wait | work ...
//! thread 2  work ...       wait | work ......
//! thread 3  work ............   | work .
//! ```
//! A step is a transaction: it lasts until the last thread has done its part. That one goes on
//! where it is, and wakes the others, which slept, one after the other: of plain processes each
//! such wake-up takes its time. So what holds up one thread holds up all: a step takes as long as
//! its largest part, or as the thread that had no processor.

use super::system::System;
use super::world::World;
use crate::guest::workload::{Job, JobId, JobKind, NO_CPU};
use crate::ids::{LoadId, ThreadId, VpId};
use crate::spec::Workload;

impl<S: System> World<S> {
    /// Starts the programs of a load. Of plain processes, each thread has a virtual processor
    /// while there are as many.
    pub fn start_programs(&mut self, load: LoadId, count: u32, threads: u16) {
        let partition = self.loads[load].partition;
        let processes = self.sys.is_processes(&self.spec, partition);
        let vps = self.at.vps_of[partition].len() as u32;
        let own = |thread: u32| {
            if processes {
                (thread % vps) as u16
            } else {
                NO_CPU
            }
        };
        let of = &mut self.loads[load];
        of.last_cpus = (0..count * u32::from(threads)).map(own).collect();
        of.at_work = vec![threads; count as usize];
        for program in 0..count {
            self.arrived(load);
            (0..threads).for_each(|thread| self.start_part(load, program, thread, None));
        }
    }

    fn threads_of_program(&self, load: LoadId) -> u16 {
        match *self.workload(load) {
            Workload::Barriers { threads, .. } => threads,
            _ => unreachable!("only programs have parts"),
        }
    }

    /// A thread of a program wakes, woken by another process or not; it begins its part of a step.
    fn start_part(&mut self, load: LoadId, program: u32, thread: u16, by: Option<VpId>) {
        let first = program as usize * usize::from(self.threads_of_program(load));
        let of = &mut self.loads[load];
        let partition = of.partition;
        let instructions = of.draw_work(of.shape.burst_instructions);
        let job = self.jobs.add(Job {
            last_cpu: of.last_cpus[first + usize::from(thread)],
            member: thread,
            bursts_left: program,
            ..Job::new((partition, load), JobKind::Member, instructions, self.now)
        });
        self.meters.integrate(partition, self.now).runnable += 1;
        let last = self.jobs.peek(job).last_cpu;
        let last = (last != NO_CPU).then_some(last);
        let free = by.and_then(|by| Some((by, self.guests[partition].queues.choose(last)?)));
        match free {
            Some((by, cpu)) => S::pass_on(self, job, by, cpu),
            None => _ = self.make_runnable(job),
        }
    }

    /// A thread has done its part: it sleeps, or the step is done.
    pub fn end_step(&mut self, id: JobId, vp: VpId, at: ThreadId, thread: u8) {
        let job = self.jobs.get(id);
        let (load, program, member) = (job.load, job.bursts_left, job.member);
        let (last_cpu, began) = (job.last_cpu, job.arrived_at);
        let threads = self.threads_of_program(load);
        let of = &mut self.loads[load];
        let at_work = &mut of.at_work[program as usize];
        *at_work -= 1;
        if *at_work > 0 {
            let first = program as usize * usize::from(threads);
            of.last_cpus[first + usize::from(member)] = last_cpu;
            let partition = of.partition;
            self.leave_thread(vp, at, thread);
            self.meters.integrate(partition, self.now).runnable -= 1;
            return self.jobs.remove(id);
        }
        *at_work = threads;
        let response = self.now - began;
        self.goes_on_with_next(load, response);
        let of = &mut self.loads[load];
        let part = of.draw_work(of.shape.burst_instructions);
        self.jobs.get(id).arrived_at = self.now;
        self.threads[at].instructions += part;
        self.lay_out_in_place(id, at);
        let others = (0..threads).filter(|other| *other != member);
        let partition = self.vp(vp).partition;
        let by = self.sys.is_processes(&self.spec, partition).then_some(vp);
        self.sys.signals(Some(vp));
        others.for_each(|other| self.start_part(load, program, other, by));
        self.sys.signals(None);
        if by.is_some() {
            S::has_woken(self, vp);
        }
    }
}
