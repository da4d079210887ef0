//! Gangs: daemons of which several threads wake at once, as those that write files out do.
//!
//! A wake-up gives each thread a burst. They are ordinary threads: each goes where the guest's
//! order of filling sends it, back to where it last ran if that is idle, and waits its turn if none
//! is.
//! So a gang that is larger than the partition is wide loads the last threads of its processors,
//! which single threads hardly ever reach.

use super::event::Event;
use super::system::System;
use super::world::World;
use crate::guest::workload::{Job, JobId, JobKind};
use crate::ids::PartitionId;

impl<S: System> World<S> {
    /// Starts the gangs of a guest.
    pub fn start_gangs(&mut self, partition: PartitionId) {
        for number in 0..self.guests[partition].gangs.len() {
            let gang = &self.guests[partition].gangs[number];
            if gang.playback.is_some() {
                self.next_gang(partition, number);
            } else if gang.each > 0.0 {
                let at = self.now + (gang.phase * gang.every_ns as f64) as u64;
                self.schedule(at, Event::Gang(partition, number as u8));
            }
        }
    }

    fn next_gang(&mut self, partition: PartitionId, number: usize) {
        let now = self.now;
        let gang = &mut self.guests[partition].gangs[number];
        let (phase, every_ns) = (gang.phase, gang.every_ns);
        let at = match &mut gang.playback {
            Some(playback) => playback.next(|| phase),
            None => Some(now + every_ns),
        };
        if let Some(at) = at {
            self.schedule(at, Event::Gang(partition, number as u8));
        }
    }

    /// All threads of a gang wake, by the clock: no device interrupts anybody.
    pub fn wake_gang(&mut self, partition: PartitionId, number: usize) {
        let gang = &mut self.guests[partition].gangs[number];
        if let Some(playback) = &gang.playback {
            gang.each = playback.instructions() / gang.last_cpus.len() as f64;
        }
        let (threads, each) = (gang.last_cpus.len(), gang.each);
        for thread in 0..if self.runs(partition) { threads } else { 0 } {
            let job = self.jobs.add(Job {
                last_cpu: self.guests[partition].gangs[number].last_cpus[thread],
                member: thread as u16,
                bursts_left: number as u32,
                ..Job::new((partition, partition.into()), JobKind::Gang, each, self.now)
            });
            self.meters.integrate(partition, self.now).runnable += 1;
            self.make_runnable(job);
        }
        self.next_gang(partition, number);
    }

    /// A thread of a gang sleeps again; what it had to do [instructions].
    pub fn end_of_gang_thread(&mut self, id: JobId) -> f64 {
        let job = self.jobs.get(id);
        let gang = &mut self.guests[job.partition].gangs[job.bursts_left as usize];
        gang.last_cpus[usize::from(job.member)] = job.last_cpu;
        gang.each
    }
}
