//! What the workloads do: arrivals, ends of waits, and what follows when a burst is done.

use super::event::Event;
use super::system::System;
use super::world::World;
use crate::guest::workload::{Job, JobId, JobKind, NO_CPU};
use crate::guest::Playback;
use crate::ids::{LoadId, PartitionId, ThreadId, VpId};
use crate::kernel::When;
use crate::spec::Workload;

impl<S: System> World<S> {
    /// Starts every workload at time 0.
    pub fn start_workloads(&mut self) {
        for partition in self.partitions() {
            for load in self.loads_of(partition) {
                match self.workload(load) {
                    Workload::Transactions { .. } => self.next_arrival(load),
                    Workload::Trace { .. } => self.next_recorded(load),
                    _ => {}
                }
            }
            if self.runs(partition) {
                self.start_work(partition);
            }
            S::start_partition(self, partition);
            self.next_daemon(partition);
            self.start_interrupts(partition);
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
        self.loads_of(partition)
            .for_each(|load| self.start_load(load));
    }

    fn start_load(&mut self, load: LoadId) {
        match *self.workload(load) {
            Workload::Users { count, .. } => {
                (0..count).for_each(|user| self.start_user(load, user))
            }
            Workload::Pairs { count, .. } => self.start_pairs(load, count),
            Workload::Barriers { count, threads, .. } => self.start_programs(load, count, threads),
            Workload::Warehouses { count } => (0..count).for_each(|_| self.start_warehouse(load)),
            Workload::Loops { count, .. } => (0..count).for_each(|_| self.begin_loop(load, NO_CPU)),
            _ => {}
        }
    }

    fn next_arrival(&mut self, id: LoadId) {
        let load = &mut self.loads[id];
        let Some(mean) = load.shape.arrival_ns else {
            return;
        };
        let at = self.now + load.arrivals.exponential(mean) as u64;
        self.schedule(at, Event::Arrival(id));
    }

    /// A user thinks, then has something to do. Of plain processes, each is its user's own.
    fn start_user(&mut self, load: LoadId, user: u32) {
        let partition = self.loads[load].partition;
        let job = self.new_transaction(load);
        if self.sys.is_processes(&self.spec, partition) {
            let cpus =
                self.at.vps_of[partition].len() as u32 * u32::from(self.guests[partition].smt);
            self.jobs.get(job).last_cpu = (user % cpus) as u16;
        }
        let think = self.loads[load].think();
        self.jobs.get(job).thinks = true;
        self.schedule(self.now + think, Event::Wake(job));
    }

    fn new_loop(&self, load: LoadId, last_cpu: u16) -> Job {
        let instructions = self.profile(load).instructions_per_unit;
        Job {
            last_cpu,
            ..Job::new(self.owner(load), JobKind::Loop, instructions, self.now)
        }
    }

    fn start_loop(&mut self, load: LoadId, last_cpu: u16) {
        let partition = self.loads[load].partition;
        let job = self.jobs.add(self.new_loop(load, last_cpu));
        self.meters.integrate(partition, self.now).runnable += 1;
        self.make_runnable(job);
    }

    /// A thread that does one transaction after the other.
    fn start_warehouse(&mut self, load: LoadId) {
        let instructions = self.loads[load].shape.burst_instructions;
        let job = Job::new(self.owner(load), JobKind::Warehouse, instructions, self.now);
        let job = self.jobs.add(job);
        self.arrived(load).runnable += 1;
        self.make_runnable(job);
    }

    /// An endless loop starts again when it is done.
    fn restart_loop(&mut self, load: LoadId, last_cpu: u16) {
        if !matches!(self.workload(load), Workload::Loops { endless: true, .. }) {
            return;
        }
        let in_place = self.guests[self.loads[load].partition]
            .scheduler
            .restarts_in_place;
        let last_cpu = if in_place { last_cpu } else { NO_CPU };
        self.begin_loop(load, last_cpu);
    }

    /// A loop begins, when the rest is over if it is one.
    fn begin_loop(&mut self, load: LoadId, last_cpu: u16) {
        let left_ns = self.rest_left(load);
        if left_ns == 0 {
            return self.start_loop(load, last_cpu);
        }
        let job = self.jobs.add(self.new_loop(load, last_cpu));
        self.schedule(self.now + left_ns, Event::Wake(job));
    }

    /// How long the loops of a load rest from now on; 0 while they are to work [ns].
    fn rest_left(&self, load: LoadId) -> u64 {
        let Workload::Loops {
            busy_ns, rest_ns, ..
        } = *self.workload(load)
        else {
            return 0;
        };
        if rest_ns == 0 {
            return 0;
        }
        let period = busy_ns + rest_ns;
        let within = (self.now + self.loads[load].phase_ns) % period;
        if within < busy_ns {
            0
        } else {
            period - within
        }
    }

    fn new_transaction(&mut self, load: LoadId) -> JobId {
        let of = &mut self.loads[load];
        let bursts = of.work.geometric(of.shape.bursts) as u32;
        let id = self.jobs.add(Job {
            bursts_left: bursts - 1,
            ..Job::new(self.owner(load), JobKind::Transaction, 0.0, self.now)
        });
        self.draw_burst(id);
        id
    }

    fn draw_burst(&mut self, job: JobId) {
        let load = &mut self.loads[self.jobs.get(job).load];
        let mean = load.shape.burst_instructions;
        self.jobs.get(job).instructions = load.draw_work(mean);
    }

    /// A transaction arrives.
    pub fn arrive(&mut self, load: LoadId) {
        if self.runs(self.loads[load].partition) {
            let job = self.new_transaction(load);
            self.admit(load, job);
        }
        self.next_arrival(load);
    }

    /// A burst of recorded work arrives.
    pub fn arrive_recorded(&mut self, load: LoadId) {
        let of = &self.loads[load];
        let instructions = of.playback.as_ref().map_or(0.0, Playback::instructions);
        if self.runs(of.partition) {
            let of = self.owner(load);
            let job = Job::new(of, JobKind::Transaction, instructions, self.now);
            let job = self.jobs.add(job);
            self.admit(load, job);
        }
        self.next_recorded(load);
    }

    /// The next burst of recorded work, if any is left.
    fn next_recorded(&mut self, id: LoadId) {
        let load = &mut self.loads[id];
        let playback = load.playback.as_mut();
        if let Some(at) = playback.and_then(|playback| playback.draw(&mut load.arrivals)) {
            self.schedule(at, Event::Recorded(id));
        }
    }

    /// A transaction that has just arrived becomes runnable.
    fn admit(&mut self, load: LoadId, job: JobId) {
        self.arrived(load);
        self.device_answers(job);
    }

    /// A device has what a job waits for: what that costs comes first.
    fn device_answers(&mut self, id: JobId) {
        let partition = self.jobs.peek(id).partition;
        if self.interrupting.cost(partition) {
            return self.device_interrupts(partition, Some(id));
        }
        self.gets_answer(id);
    }

    /// A device's answer is on its way to a job: through its guest's I/O threads, if it has any.
    pub fn gets_answer(&mut self, id: JobId) {
        if !self.gives_to_io_thread(id, true) {
            self.reaches_guest(id);
        }
    }

    /// A job has what it waited for; the logical processor that gets it.
    pub fn is_answered(&mut self, id: JobId) -> u16 {
        let partition = self.jobs.peek(id).partition;
        self.meters.integrate(partition, self.now).runnable += 1;
        self.make_runnable(id)
    }

    /// A wait or think time is over.
    pub fn wake_job(&mut self, id: JobId) {
        let now = self.now;
        let job = self.jobs.get(id);
        let (partition, load) = (job.partition, job.load);
        let thought = std::mem::take(&mut job.thinks);
        if When::at(job.arrived_at) < self.guests[partition].runs_from {
            return self.jobs.remove(id); // Its partition was stopped.
        }
        let rested = matches!(job.kind, JobKind::Loop | JobKind::Generator);
        job.rested = rested;
        if thought || rested {
            job.arrived_at = now;
        }
        let pair = job.kind == JobKind::Exchange;
        if rested {
            // By the clock: no device interrupts anybody.
            self.is_answered(id);
            return;
        }
        if thought {
            self.arrived(load);
        } else {
            self.meters.integrate(partition, now).blocked -= 1;
        }
        if pair {
            return self.reaches_guest(id);
        }
        self.device_answers(id);
    }

    /// A warehouse's thread goes on with its next transaction where it is, within its time slice.
    /// What rounding to nanoseconds left over of the last one is carried on.
    pub fn next_of_warehouse(&mut self, id: JobId, at: ThreadId) {
        let job = self.jobs.get(id);
        let load = job.load;
        let response = self.now - std::mem::replace(&mut job.arrived_at, self.now);
        self.threads[at].instructions += self.loads[load].shape.burst_instructions;
        self.goes_on_with_next(load, response);
    }

    /// A burst is done: the job waits, thinks or ends.
    pub fn finish(&mut self, id: JobId, vp: VpId, at: ThreadId) {
        let now = self.now;
        let job = self.jobs.get(id);
        let (partition, load) = (job.partition, job.load);
        let (kind, left, arrived) = (job.kind, job.bursts_left, job.arrived_at);
        let meter = self.meters.integrate(partition, now);
        meter.runnable -= 1;
        match kind {
            JobKind::Transaction if left > 0 => {
                meter.blocked += 1;
                job.bursts_left -= 1;
                self.draw_burst(id);
                self.asks_device_by(id, vp);
            }
            JobKind::Request => self.has_done_io(id, vp),
            JobKind::Generator => self.has_generated(id, vp),
            JobKind::Transaction => {
                let user = u32::from(job.last_cpu);
                self.done(load, now - arrived);
                self.jobs.remove(id);
                if self.loads[load].shape.think_ns.is_some() {
                    self.start_user(load, user);
                }
            }
            JobKind::Warehouse | JobKind::Exchange | JobKind::Member | JobKind::Interrupt => {
                unreachable!(
                    "warehouses, pairs, programs and interrupts end their bursts otherwise"
                )
            }
            JobKind::Loop => {
                let last_cpu = job.last_cpu;
                self.loop_done(load, now - arrived);
                self.jobs.remove(id);
                self.restart_loop(load, last_cpu);
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
