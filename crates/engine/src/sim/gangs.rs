//! Gangs: daemons of which several threads wake at once, as those that write files out do.
//!
//! A wake-up gives each thread a burst. They are ordinary threads: each goes where the guest's order
//! of filling sends it, back to where it last ran if that is idle, and waits its turn if none is.
//! So a gang that is larger than the partition is wide loads the last threads of its processors,
//! which single threads hardly ever reach.

use super::event::Event;
use super::system::System;
use super::world::World;
use crate::guest::workload::{Job, JobId, JobKind, NO_CPU};
use crate::guest::Playback;
use crate::ids::PartitionId;
use crate::spec;

/// Where a gang is.
pub struct Gang {
    every_ns: u64,
    /// What each thread has to do after the last wake-up [instructions].
    each: f64,
    /// Recorded work, if that is what it does.
    playback: Option<Playback>,
    /// Logical processor each thread last ran on.
    last_cpus: Vec<u16>,
}

impl Gang {
    /// Reads a spec's; `per_ns` are the instructions of a nanosecond of a core by itself.
    pub fn of(gang: &spec::Gang, warmup_ns: u64, per_ns: f64) -> Self {
        let every = |length_ns: u64, _: f64| (length_ns as f64 / gang.every_ns as f64).round();
        let recorded = !gang.lengths_ns.is_empty();
        let (lengths, rates) = (&gang.lengths_ns, &gang.instructions_per_s);
        Self {
            every_ns: gang.every_ns,
            each: gang.work_ns as f64 * per_ns,
            playback: recorded.then(|| Playback::of(warmup_ns, lengths, rates, every)),
            last_cpus: vec![NO_CPU; usize::from(gang.threads)],
        }
    }
}

impl<S: System> World<S> {
    /// Starts the gangs of a guest: at a moment of their period that is left to chance.
    pub fn start_gangs(&mut self, partition: PartitionId) {
        for number in 0..self.guests[partition].gangs.len() {
            let guest = &mut self.guests[partition];
            let gang = &guest.gangs[number];
            if gang.playback.is_some() {
                self.next_gang(partition, number);
            } else if gang.each > 0.0 {
                let at = self.now + guest.gang_times.below(gang.every_ns);
                self.schedule(at, Event::Gang(partition, number as u8));
            }
        }
    }

    fn next_gang(&mut self, partition: PartitionId, number: usize) {
        let guest = &mut self.guests[partition];
        let gang = &mut guest.gangs[number];
        let at = match &mut gang.playback {
            Some(playback) => playback.next(&mut guest.gang_times),
            None => Some(self.now + gang.every_ns),
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
                bursts_left: (number as u32) << 16 | thread as u32,
                ..Job::new(partition, JobKind::Gang, each, self.now)
            });
            self.meters.integrate(partition, self.now).runnable += 1;
            self.make_runnable(job);
        }
        self.next_gang(partition, number);
    }

    /// A thread of a gang sleeps again; what it had to do [instructions].
    pub fn end_of_gang_thread(&mut self, id: JobId) -> f64 {
        let job = self.jobs.get(id);
        let (number, thread) = (job.bursts_left >> 16, job.bursts_left & 0xffff);
        let gang = &mut self.guests[job.partition].gangs[number as usize];
        gang.last_cpus[thread as usize] = job.last_cpu;
        gang.each
    }
}
