//! Pairs of threads that wake each other: a client asks, a server answers.
//!
//! ```text
//! client  work  ask                 work  ask                 work | next transaction, or think
//! server            work  answer              work  answer
//! ```
//! A transaction is one job that goes to and fro between the two threads; who has it works, the
//! other sleeps. Each message wakes the other thread while its sender still runs, as a socket does.

use super::event::Event;
use super::system::System;
use super::world::World;
use crate::guest::workload::{Job, JobId, JobKind};
use crate::guest::Cpu;
use crate::ids::{PartitionId, ThreadId, VpId};
use crate::kernel::Time;
use crate::spec::{Distribution, Workload};

/// The numbers of a pair.
struct Pair {
    exchanges: u32,
    client_share: f64,
}

impl<S: System> World<S> {
    fn pair(&self, partition: PartitionId) -> Pair {
        match self.spec_of(partition).workload {
            Workload::Pairs {
                exchanges,
                client_share,
                ..
            } => Pair {
                exchanges,
                client_share,
            },
            _ => unreachable!("only pairs have turns"),
        }
    }

    /// The client of a pair thinks, then has something to ask.
    pub fn start_pair(&mut self, partition: PartitionId, pair: u16) {
        let id = self.jobs.add(Job {
            last_cpu: 2 * pair,
            bursts_left: 2 * self.pair(partition).exchanges,
            thinks: true,
            ..Job::new(partition, JobKind::Exchange, 0.0, self.now)
        });
        self.draw_turn(id);
        let guest = &mut self.guests[partition];
        let mean = guest.shape.think_ns.unwrap_or(0.0);
        let think = match guest.shape.think {
            Distribution::Constant => mean as u64,
            Distribution::Exponential => guest.waits.exponential(mean) as u64,
        };
        self.schedule(self.now + think, Event::Wake(id));
    }

    /// Work until the next message: an even number of turns left is the client's.
    fn draw_turn(&mut self, id: JobId) {
        let partition = self.jobs.get(id).partition;
        let pair = self.pair(partition);
        let unit = self.spec_of(partition).profile.instructions_per_unit;
        let asked = f64::from(pair.exchanges);
        let mean = if self.jobs.get(id).bursts_left % 2 == 0 {
            unit * pair.client_share / (asked + 1.0)
        } else {
            unit * (1.0 - pair.client_share) / asked
        };
        let guest = &mut self.guests[partition];
        let drawn = match guest.shape.work {
            Distribution::Constant => mean,
            Distribution::Exponential => guest.work.exponential(mean),
        };
        self.jobs.get(id).instructions = drawn;
    }

    /// A thread of a pair has done its turn: a message wakes the other, or the transaction is done.
    pub fn end_turn(&mut self, id: JobId, vp: VpId, at: ThreadId) {
        let job = self.jobs.get(id);
        let (partition, left) = (job.partition, job.bursts_left);
        if left > 0 {
            job.bursts_left -= 1;
            self.draw_turn(id);
            self.leave_thread(vp, at, 0);
            let cpu = Cpu {
                vp: self.vp(vp).index ^ 1,
                thread: 0,
            };
            self.meters.integrate(partition, self.now);
            S::pass_on(self, id, vp, cpu);
            return;
        }
        self.end_exchange(id, vp, at);
    }

    /// The client has the last answer: it goes on with the next transaction, or thinks.
    fn end_exchange(&mut self, id: JobId, vp: VpId, at: ThreadId) {
        let (now, partition) = (self.now, self.vp(vp).partition);
        let thinks = self.guests[partition].shape.think_ns > Some(0.0);
        let response = now - self.jobs.get(id).arrived_at;
        let meter = self.meters.integrate(partition, now);
        meter.tx_done += 1;
        meter.response_ns += response;
        self.meters.responses[partition].record(Time::from_ns(response));
        if thinks {
            let meter = &mut self.meters.partitions[partition];
            meter.inside -= 1;
            meter.runnable -= 1;
            self.leave_thread(vp, at, 0);
            self.jobs.remove(id);
            self.start_pair(partition, self.vp(vp).index / 2);
            return;
        }
        self.meters.partitions[partition].tx_arrived += 1;
        let turns = 2 * self.pair(partition).exchanges;
        let job = self.jobs.get(id);
        job.arrived_at = now;
        job.bursts_left = turns;
        self.draw_turn(id);
        self.threads[at].instructions += self.jobs.get(id).instructions;
    }
}
