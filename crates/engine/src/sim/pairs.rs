//! Pairs of threads that wake each other: a client asks, a server answers.
//!
//! ```text
//! client  work  ask                 work  ask                 work | next transaction, or think
//! server            work  answer              work  answer
//! ```
//! A transaction is one job that goes to and fro between the two threads; who has it works, the
//! other sleeps. Of plain processes each message wakes the other thread while its sender still
//! runs, as a socket does. In a guest of a host (KVM, Xen, ESXi) the other wakes where another
//! logical processor idles, if one does, for Linux wakes it while the sender runs. In other guests
//! the sender sleeps as its message goes out, so that the other may have its logical processor;
//! where it runs is the guest's order of filling.

use super::event::Event;
use super::system::System;
use super::world::World;
use crate::guest::messages::copy_instructions;
use crate::guest::workload::{Job, JobId, JobKind, NO_CPU};
use crate::guest::Cpu;
use crate::ids::{LoadId, ThreadId, VpId};
use crate::spec::Workload;

/// The numbers of a pair.
struct Pair {
    exchanges: u32,
    client_share: f64,
    message_bytes: u64,
}

impl<S: System> World<S> {
    fn pair(&self, load: LoadId) -> Pair {
        match *self.workload(load) {
            Workload::Pairs {
                exchanges,
                client_share,
                message_bytes,
                ..
            } => Pair {
                exchanges,
                client_share,
                message_bytes,
            },
            _ => unreachable!("only pairs have turns"),
        }
    }

    /// Starts a load's pairs. Of plain processes, each thread has a virtual processor.
    pub fn start_pairs(&mut self, load: LoadId, count: u32) {
        let partition = self.loads[load].partition;
        let processes = self.sys.is_processes(&self.spec, partition);
        let own = |thread: u32| if processes { thread as u16 } else { NO_CPU };
        self.loads[load].last_cpus = (0..2 * count).map(own).collect();
        if !self.start_generator(load, count, own(2 * count)) {
            (0..count).for_each(|pair| self.start_pair(load, pair as u16));
        }
    }

    /// The client of a pair thinks, then has something to ask.
    fn start_pair(&mut self, load: LoadId, pair: u16) {
        let id = self.new_exchange(load, pair);
        self.jobs.get(id).thinks = true;
        let think = self.loads[load].think();
        self.schedule(self.now + think, Event::Wake(id));
    }

    /// A transaction of a pair, with its client.
    pub fn new_exchange(&mut self, load: LoadId, pair: u16) -> JobId {
        let client = 2 * usize::from(pair);
        let id = self.jobs.add(Job {
            last_cpu: self.loads[load].last_cpus[client],
            member: pair,
            bursts_left: 2 * self.pair(load).exchanges,
            ..Job::new(self.owner(load), JobKind::Exchange, 0.0, self.now)
        });
        self.draw_turn(id);
        id
    }

    /// Work until the next message: an even number of turns left is the client's.
    fn draw_turn(&mut self, id: JobId) {
        let job = self.jobs.get(id);
        let (load, left) = (job.load, job.bursts_left);
        let pair = self.pair(load);
        let unit = self.profile(load).instructions_per_unit;
        let asked = f64::from(pair.exchanges);
        let mean = if left % 2 == 0 {
            unit * pair.client_share / (asked + 1.0)
        } else {
            unit * (1.0 - pair.client_share) / asked
        };
        // The first message is yet to be sent, the last one is not followed by another.
        let copied = u8::from(left < 2 * pair.exchanges) + u8::from(left > 0);
        let copies = f64::from(copied) * copy_instructions(pair.message_bytes);
        self.jobs.get(id).instructions = self.loads[load].draw_work(mean) + copies;
    }

    /// A thread of a pair has done its turn: a message wakes the other, or the transaction is done.
    pub fn end_turn(&mut self, id: JobId, vp: VpId, at: ThreadId, thread: u8) {
        let job = self.jobs.get(id);
        let (partition, left) = (job.partition, job.bursts_left);
        if left > 0 {
            job.bursts_left -= 1;
            self.write_message(id, vp);
            self.draw_turn(id);
            self.leave_thread(vp, at, thread);
            self.meters.integrate(partition, self.now);
            if !self.sys.is_processes(&self.spec, partition) {
                self.sys.signals(Some(vp));
                let index = self.vp(vp).index;
                let sender = S::sender_runs_on().then_some(Cpu { vp: index, thread });
                self.wake_other(id, sender);
                return self.sys.signals(None);
            }
            let cpu = Cpu {
                vp: self.vp(vp).index ^ 1,
                thread: 0,
            };
            return S::pass_on(self, id, vp, cpu);
        }
        self.end_exchange(id, vp, at, thread);
    }

    /// A message in a guest: the other thread of the pair wakes.
    fn wake_other(&mut self, id: JobId, sender: Option<Cpu>) {
        let job = self.jobs.get(id);
        let (client, turn) = (2 * usize::from(job.member), (job.bursts_left % 2) as usize);
        let last_cpus = &mut self.loads[job.load].last_cpus;
        last_cpus[client + (1 - turn)] = job.last_cpu;
        job.last_cpu = last_cpus[client + turn];
        self.make_runnable_by(id, sender);
    }

    /// The client has the last answer: it goes on with the next transaction, or thinks or sleeps.
    fn end_exchange(&mut self, id: JobId, vp: VpId, at: ThreadId, thread: u8) {
        let (now, partition) = (self.now, self.vp(vp).partition);
        let load = self.jobs.get(id).load;
        let response = now - self.jobs.get(id).arrived_at;
        self.meters.integrate(partition, now);
        let mut came = now;
        if self.loads[load].generated.is_some() {
            self.done(load, response);
            match self.next_generated(load) {
                Some(at) => came = at,
                None => return self.client_sleeps(id, vp, at, thread),
            }
        } else if self.loads[load].shape.think_ns > Some(0.0) {
            self.done(load, response);
            let pair = self.jobs.get(id).member;
            self.client_leaves(id, vp, at, thread);
            return self.start_pair(load, pair);
        } else {
            self.goes_on_with_next(load, response);
        }
        let turns = 2 * self.pair(load).exchanges;
        let job = self.jobs.get(id);
        job.arrived_at = came;
        job.bursts_left = turns;
        self.draw_turn(id);
        self.threads[at].instructions += self.jobs.get(id).instructions;
        self.lay_out_in_place(id, at);
    }

    /// A client has nothing to ask for now; its transaction, which is done, goes.
    pub fn client_leaves(&mut self, id: JobId, vp: VpId, at: ThreadId, thread: u8) {
        let job = self.jobs.get(id);
        let (load, pair, last) = (job.load, job.member, job.last_cpu);
        self.meters.partitions[job.partition].runnable -= 1;
        self.leave_thread(vp, at, thread);
        self.loads[load].last_cpus[2 * usize::from(pair)] = last;
        self.jobs.remove(id);
    }
}
