//! The thread that makes the transactions of pairs at a rate, and wakes a client for each.
//!
//! ```text
//! generator  sleeps ...... | turn | sleeps until the next is due ...
//! client                    woken | asks, as in `pairs` | next that waits, or sleeps
//! ```
//! It sleeps by the clock, so that nobody is woken for it, but works a turn for each transaction.
//! The client that has slept for longest is woken; while all have something to ask, transactions
//! wait in order, and whoever is through takes the next one and goes on. One that is due before the
//! generator is through with the one before comes at once after it: the rate is kept.

use super::event::Event;
use super::system::System;
use super::world::World;
use crate::guest::generated::Generated;
use crate::guest::workload::{Job, JobId, JobKind};
use crate::guest::Cpu;
use crate::ids::{LoadId, ThreadId, VpId};
use crate::spec::{Generator, Workload};

impl<S: System> World<S> {
    /// Of pairs that have one.
    fn generator(&self, load: LoadId) -> Option<Generator> {
        match self.workload(load) {
            Workload::Pairs { generator, .. } => *generator,
            _ => None,
        }
    }

    /// All pairs sleep; of plain processes the generator comes after them. Whether there is one.
    pub fn start_generator(&mut self, load: LoadId, count: u32, last_cpu: u16) -> bool {
        let Some(told) = self.generator(load) else {
            return false;
        };
        self.loads[load].generated = Some(Box::new(Generated {
            due_at: self.now,
            asleep: (0..count as u16).collect(),
            ..Generated::default()
        }));
        let turn = told.instructions;
        let id = self.jobs.add(Job {
            last_cpu,
            ..Job::new(self.owner(load), JobKind::Generator, turn, self.now)
        });
        self.generator_sleeps(id, told.rate_per_s);
        true
    }

    /// Until the next transaction is due.
    fn generator_sleeps(&mut self, id: JobId, rate_per_s: f64) {
        let load = &mut self.loads[self.jobs.peek(id).load];
        let gap = load.arrivals.exponential(1e9 / rate_per_s) as u64;
        let of = load.generated.as_mut().expect("it makes them");
        of.due_at += gap;
        let at = of.due_at.max(self.now);
        self.schedule(at, Event::Wake(id));
    }

    /// The generator is through with its turn: a client is woken, or the transaction waits for one.
    pub fn has_generated(&mut self, id: JobId, by: VpId) {
        let (load, now) = (self.jobs.peek(id).load, self.now);
        let told = self.generator(load).expect("it makes them");
        self.jobs.get(id).instructions = told.instructions;
        self.arrived(load);
        let of = self.loads[load].generated.as_mut().expect("it makes them");
        match of.asleep.pop_front() {
            Some(pair) => self.wake_client(load, pair, by),
            None => of.waiting.push_back(now),
        }
        self.generator_sleeps(id, told.rate_per_s);
    }

    fn wake_client(&mut self, load: LoadId, pair: u16, by: VpId) {
        let id = self.new_exchange(load, pair);
        let partition = self.loads[load].partition;
        self.meters.partitions[partition].runnable += 1;
        if !self.sys.is_processes(&self.spec, partition) {
            self.sys.signals(Some(by));
            self.make_runnable(id);
            return self.sys.signals(None);
        }
        let cpu = Cpu {
            vp: 2 * pair,
            thread: 0,
        };
        S::pass_on(self, id, by, cpu);
    }

    /// A client of a generator is through with a transaction: when the one came that it takes next,
    /// if any waits.
    pub fn next_generated(&mut self, load: LoadId) -> Option<u64> {
        self.loads[load].generated.as_mut()?.waiting.pop_front()
    }

    /// A client finds none: it sleeps.
    pub fn client_sleeps(&mut self, id: JobId, vp: VpId, at: ThreadId, thread: u8) {
        let (load, pair) = (self.jobs.peek(id).load, self.jobs.peek(id).member);
        self.client_leaves(id, vp, at, thread);
        let of = self.loads[load].generated.as_mut().expect("it makes them");
        of.asleep.push_back(pair);
    }
}
