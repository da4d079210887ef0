//! What the workloads do: arrivals, ends of waits, and what follows when a burst is done.

use super::event::Event;
use super::system::System;
use super::world::World;
use crate::guest::workload::{Job, JobId, JobKind, NO_CPU};
use crate::guest::Playback;
use crate::ids::{PartitionId, ThreadId, VpId};
use crate::kernel::{Time, When};
use crate::spec::{Distribution, Workload};

impl<S: System> World<S> {
    /// Starts every workload at time 0.
    pub fn start_workloads(&mut self) {
        for partition in self.partitions() {
            match self.spec_of(partition).workload {
                Workload::Transactions { .. } => self.next_arrival(partition),
                Workload::Trace { .. } => self.next_recorded(partition),
                _ => {}
            }
            if self.runs(partition) {
                self.start_work(partition);
            }
            S::start_partition(self, partition);
            self.next_daemon(partition);
            self.start_gangs(partition);
            self.next_balance(partition);
        }
    }

    /// Whether a partition runs now, not stopped nor yet to be started.
    #[inline]
    pub fn runs(&self, partition: PartitionId) -> bool {
        self.guests[partition].runs_from.is_set()
    }

    /// What a partition does from its start on, whatever arrives.
    pub fn start_work(&mut self, partition: PartitionId) {
        match self.spec_of(partition).workload {
            Workload::Users { count, .. } => {
                (0..count).for_each(|user| self.start_user(partition, user))
            }
            Workload::Pairs { count, .. } => self.start_pairs(partition, count),
            Workload::Barriers { count, threads, .. } => {
                self.start_programs(partition, count, threads)
            }
            Workload::Warehouses { count } => {
                (0..count).for_each(|_| self.start_warehouse(partition))
            }
            Workload::Loops { count, .. } => {
                (0..count).for_each(|_| self.start_loop(partition, NO_CPU))
            }
            _ => {}
        }
    }

    fn next_arrival(&mut self, partition: PartitionId) {
        let guest = &mut self.guests[partition];
        let Some(mean) = guest.shape.arrival_ns else {
            return;
        };
        let at = self.now + guest.arrivals.exponential(mean) as u64;
        self.schedule(at, Event::Arrival(partition));
    }

    /// A user thinks, then has something to do. Of plain processes, each is its user's own.
    fn start_user(&mut self, partition: PartitionId, user: u32) {
        let job = self.new_transaction(partition);
        if self.sys.is_processes(&self.spec, partition) {
            let cpus =
                self.at.vps_of[partition].len() as u32 * u32::from(self.guests[partition].smt);
            self.jobs.get(job).last_cpu = (user % cpus) as u16;
        }
        let guest = &mut self.guests[partition];
        let mean = guest.shape.think_ns.unwrap_or(0.0);
        let think = match guest.shape.think {
            Distribution::Constant => mean as u64,
            Distribution::Exponential => guest.waits.exponential(mean) as u64,
        };
        self.jobs.get(job).thinks = true;
        self.schedule(self.now + think, Event::Wake(job));
    }

    fn new_loop(&self, partition: PartitionId, last_cpu: u16) -> Job {
        let instructions = self.spec_of(partition).profile.instructions_per_unit;
        Job {
            last_cpu,
            ..Job::new(partition, JobKind::Loop, instructions, self.now)
        }
    }

    fn start_loop(&mut self, partition: PartitionId, last_cpu: u16) {
        let job = self.jobs.add(self.new_loop(partition, last_cpu));
        self.meters.integrate(partition, self.now).runnable += 1;
        self.make_runnable(job);
    }

    /// A thread that does one transaction after the other.
    fn start_warehouse(&mut self, partition: PartitionId) {
        let instructions = self.guests[partition].shape.burst_instructions;
        let job = Job::new(partition, JobKind::Warehouse, instructions, self.now);
        let job = self.jobs.add(job);
        let meter = self.meters.integrate(partition, self.now);
        meter.tx_arrived += 1;
        meter.inside += 1;
        meter.runnable += 1;
        self.make_runnable(job);
    }

    /// An endless loop starts again when it is done.
    fn restart_loop(&mut self, partition: PartitionId, last_cpu: u16) {
        let Workload::Loops {
            endless: true,
            busy_ns,
            rest_ns,
            ..
        } = self.spec_of(partition).workload
        else {
            return;
        };
        let in_place = self.guests[partition].scheduler.restarts_in_place;
        let last_cpu = if in_place { last_cpu } else { NO_CPU };
        let period = busy_ns + rest_ns;
        let within = if busy_ns > 0 { self.now % period } else { 0 };
        if within < busy_ns || busy_ns == 0 {
            return self.start_loop(partition, last_cpu);
        }
        let job = self.jobs.add(self.new_loop(partition, last_cpu));
        self.schedule(self.now - within + period, Event::Wake(job));
    }

    fn new_transaction(&mut self, partition: PartitionId) -> JobId {
        let guest = &mut self.guests[partition];
        let bursts = guest.work.geometric(guest.shape.bursts) as u32;
        let id = self.jobs.add(Job {
            bursts_left: bursts - 1,
            ..Job::new(partition, JobKind::Transaction, 0.0, self.now)
        });
        self.draw_burst(id);
        id
    }

    fn draw_burst(&mut self, job: JobId) {
        let partition = self.jobs.get(job).partition;
        let mean = self.guests[partition].shape.burst_instructions;
        self.jobs.get(job).instructions = self.draw_work(partition, mean);
    }

    /// A random amount of work with this mean, distributed as the workload says [instructions].
    pub fn draw_work(&mut self, partition: PartitionId, mean: f64) -> f64 {
        let guest = &mut self.guests[partition];
        match guest.shape.work {
            Distribution::Constant => mean,
            Distribution::Exponential => guest.work.exponential(mean),
        }
    }

    /// A transaction arrives.
    pub fn arrive(&mut self, partition: PartitionId) {
        if self.runs(partition) {
            let job = self.new_transaction(partition);
            self.admit(partition, job);
        }
        self.next_arrival(partition);
    }

    /// A burst of recorded work arrives.
    pub fn arrive_recorded(&mut self, partition: PartitionId) {
        let playback = &self.guests[partition].playback;
        let instructions = playback.as_ref().map_or(0.0, Playback::instructions);
        if self.runs(partition) {
            let job = Job::new(partition, JobKind::Transaction, instructions, self.now);
            let job = self.jobs.add(job);
            self.admit(partition, job);
        }
        self.next_recorded(partition);
    }

    /// The next burst of recorded work, if any is left.
    fn next_recorded(&mut self, partition: PartitionId) {
        let guest = &mut self.guests[partition];
        let playback = guest.playback.as_mut();
        if let Some(at) = playback.and_then(|playback| playback.draw(&mut guest.arrivals)) {
            self.schedule(at, Event::Recorded(partition));
        }
    }

    /// A transaction that has just arrived becomes runnable.
    fn admit(&mut self, partition: PartitionId, job: JobId) {
        let meter = self.meters.integrate(partition, self.now);
        meter.tx_arrived += 1;
        meter.inside += 1;
        meter.runnable += 1;
        let cpu = self.make_runnable(job);
        self.count_interrupt(partition, cpu);
    }

    /// A wait or think time is over.
    pub fn wake_job(&mut self, id: JobId) {
        let now = self.now;
        let job = self.jobs.get(id);
        let (partition, thought) = (job.partition, std::mem::take(&mut job.thinks));
        if When::at(job.arrived_at) < self.guests[partition].runs_from {
            return self.jobs.remove(id); // Its partition was stopped.
        }
        let rested = job.kind == JobKind::Loop;
        if thought || rested {
            job.arrived_at = now;
        }
        let meter = self.meters.integrate(partition, now);
        meter.runnable += 1;
        if rested {
            // By the clock: no device interrupts anybody.
            self.make_runnable(id);
            return;
        }
        if thought {
            meter.tx_arrived += 1;
            meter.inside += 1;
        } else {
            meter.blocked -= 1;
        }
        let cpu = self.make_runnable(id);
        self.count_interrupt(partition, cpu);
    }

    /// A warehouse's thread goes on with its next transaction where it is, within its time slice.
    /// What rounding to nanoseconds left over of the last one is carried on.
    pub fn next_of_warehouse(&mut self, id: JobId, at: ThreadId) {
        let job = self.jobs.get(id);
        let partition = job.partition;
        let response = self.now - std::mem::replace(&mut job.arrived_at, self.now);
        self.threads[at].instructions += self.guests[partition].shape.burst_instructions;
        let meter = &mut self.meters.partitions[partition];
        meter.tx_arrived += 1;
        meter.tx_done += 1;
        meter.response_ns += response;
        self.meters.responses[partition].record(Time::from_ns(response));
    }

    /// A burst is done: the job waits, thinks or ends.
    pub fn finish(&mut self, id: JobId, vp: VpId, at: ThreadId) {
        let now = self.now;
        let job = self.jobs.get(id);
        let (partition, kind, left, arrived) =
            (job.partition, job.kind, job.bursts_left, job.arrived_at);
        let meter = self.meters.integrate(partition, now);
        meter.runnable -= 1;
        match kind {
            JobKind::Transaction if left > 0 => {
                meter.blocked += 1;
                job.bursts_left -= 1;
                self.draw_burst(id);
                let guest = &mut self.guests[partition];
                let wait = guest.waits.exponential(guest.shape.wait_ns) as u64;
                self.schedule(now + wait, Event::Wake(id));
            }
            JobKind::Transaction => {
                let user = u32::from(job.last_cpu);
                meter.tx_done += 1;
                meter.inside -= 1;
                meter.response_ns += now - arrived;
                self.meters.responses[partition].record(Time::from_ns(now - arrived));
                self.jobs.remove(id);
                if self.guests[partition].shape.think_ns.is_some() {
                    self.start_user(partition, user);
                }
            }
            JobKind::Warehouse | JobKind::Exchange | JobKind::Member => {
                unreachable!("warehouses, pairs and programs end their bursts otherwise")
            }
            JobKind::Loop => {
                let last_cpu = job.last_cpu;
                self.meters.finish_loop(partition, now - arrived);
                self.jobs.remove(id);
                self.restart_loop(partition, last_cpu);
            }
            JobKind::Daemon | JobKind::Gang => {
                let instructions = match kind {
                    JobKind::Gang => self.end_of_gang_thread(id),
                    _ => self.daemon_instructions(partition),
                };
                let core = self.vp(vp).core.expect("who ends a burst is on a core");
                let ran = instructions * self.at.cores[core].rate.ns;
                self.meters.cpus[at].daemon_ns += (now - arrived).min(ran as u64);
                self.jobs.remove(id);
            }
        }
    }
}
