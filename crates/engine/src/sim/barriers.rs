//! Parallel programs: threads that wait for each other at barriers.
//!
//! ```text
//! thread 1  work ......... wait | work ...
//! thread 2  work ...       wait | work ......
//! thread 3  work ............   | work .
//! ```
//! A step is a transaction: it lasts until the last thread has done its part. That one goes on
//! where it is, and wakes the others, which slept. So what holds up one thread holds up all: a step
//! takes as long as its largest part, or as the thread that had no processor.

use super::system::System;
use super::world::World;
use crate::guest::workload::{Job, JobId, JobKind, NO_CPU};
use crate::ids::{PartitionId, ThreadId, VpId};
use crate::kernel::Time;
use crate::spec::Workload;

impl<S: System> World<S> {
    /// Starts the programs of a partition. Of plain processes, each thread has a virtual processor
    /// while there are as many.
    pub fn start_programs(&mut self, partition: PartitionId, count: u32, threads: u16) {
        let processes = self.sys.is_processes(&self.spec, partition);
        let vps = self.at.vps_of[partition].len() as u32;
        let own = |thread: u32| {
            if processes {
                (thread % vps) as u16
            } else {
                NO_CPU
            }
        };
        let guest = &mut self.guests[partition];
        guest.last_cpus = (0..count * u32::from(threads)).map(own).collect();
        guest.at_work = vec![threads; count as usize];
        for program in 0..count {
            let meter = self.meters.integrate(partition, self.now);
            meter.tx_arrived += 1;
            meter.inside += 1;
            (0..threads).for_each(|thread| self.start_part(partition, program, thread));
        }
    }

    fn threads_of_program(&self, partition: PartitionId) -> u16 {
        match self.spec_of(partition).workload {
            Workload::Barriers { threads, .. } => threads,
            _ => unreachable!("only programs have parts"),
        }
    }

    /// A thread of a program wakes and begins its part of the step.
    fn start_part(&mut self, partition: PartitionId, program: u32, thread: u16) {
        let first = program as usize * usize::from(self.threads_of_program(partition));
        let mean = self.guests[partition].shape.burst_instructions;
        let instructions = self.draw_work(partition, mean);
        let job = self.jobs.add(Job {
            last_cpu: self.guests[partition].last_cpus[first + usize::from(thread)],
            member: thread,
            bursts_left: program,
            ..Job::new(partition, JobKind::Member, instructions, self.now)
        });
        self.meters.integrate(partition, self.now).runnable += 1;
        self.make_runnable(job);
    }

    /// A thread has done its part: it sleeps, or the step is done.
    pub fn end_step(&mut self, id: JobId, vp: VpId, at: ThreadId, thread: u8) {
        let job = self.jobs.get(id);
        let (partition, program, member) = (job.partition, job.bursts_left, job.member);
        let (last_cpu, began) = (job.last_cpu, job.arrived_at);
        let threads = self.threads_of_program(partition);
        let guest = &mut self.guests[partition];
        let at_work = &mut guest.at_work[program as usize];
        *at_work -= 1;
        if *at_work > 0 {
            let first = program as usize * usize::from(threads);
            guest.last_cpus[first + usize::from(member)] = last_cpu;
            self.leave_thread(vp, at, thread);
            self.meters.integrate(partition, self.now).runnable -= 1;
            return self.jobs.remove(id);
        }
        *at_work = threads;
        let response = self.now - began;
        let meter = &mut self.meters.partitions[partition];
        meter.tx_arrived += 1;
        meter.tx_done += 1;
        meter.response_ns += response;
        self.meters.responses[partition].record(Time::from_ns(response));
        let mean = self.guests[partition].shape.burst_instructions;
        let part = self.draw_work(partition, mean);
        self.jobs.get(id).arrived_at = self.now;
        self.threads[at].instructions += part;
        self.lay_out_in_place(id, vp, at);
        let others = (0..threads).filter(|other| *other != member);
        others.for_each(|other| self.start_part(partition, program, other));
    }
}
