//! Everything a simulation holds while it runs.

use super::coming::{Before, Changes};
use super::event::{Event, OTHERS};
use super::interrupting::Interrupting;
use super::load::{self, stream, Cold, LoadState};
use super::meters::Meters;
use super::system::System;
use crate::cost::{core_per_ns, Spread, Table, Unfetched};
use crate::guest::workload::{JobId, JobTable};
use crate::guest::{memory, Cpu, Filling, Gang, RunQueues, Scheduler};
use crate::hypervisor::policies::in_effect;
use crate::hypervisor::{State, Vp};
use crate::ids::{ById, CoreId, LoadId, PartitionId, Span, ThreadId, VpId};
use crate::kernel::{Key, Queue, Stream, Time, Timer, When};
use crate::spec::{Partition, Spec};

/// What a thread is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Nothing.
    None,
    /// A software thread of its guest.
    Job(JobId),
    /// What the system itself gave it.
    Own,
}

/// A thread of a virtual processor.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Thread {
    /// What it is at.
    pub task: Task,
    /// Instructions left of its burst.
    pub instructions: f64,
    /// Time that goes by before its instructions: spinning, lines that come from elsewhere [ns].
    pub extra_ns: f64,
    /// Instructions until the caches are warm again.
    pub cold_instructions: f64,
    /// Of a core with several loads, time of an instruction of this one's, and its extra time while
    /// caches are refilled [ns].
    pub own_ns: [f64; 2],
    /// When the burst ends at the present rate [ns]; never while off a core.
    pub done_at: When,
    /// When the time slice ends [ns]; never unless others wait for this logical processor.
    pub rotate_at: When,
}

/// A guest with its work; what an event needs comes first.
#[repr(C, align(64))]
pub struct GuestState {
    /// Run queues.
    pub queues: RunQueues,
    /// First thread in [`World::threads`].
    pub first_thread: ThreadId,
    /// Threads of a virtual processor that there is room for.
    pub smt: u8,
    /// Since when it runs: work that is older is lost [ns]. Never while it is stopped.
    pub runs_from: When,
    /// Loads beside its first.
    pub beside: Span<LoadId>,
    /// Tunables.
    pub scheduler: Scheduler,
    /// Time on cores of each virtual processor at the last folding step [ns].
    pub folded_from_ns: Vec<u64>,
    /// Random daemons.
    pub daemons: Stream,
    /// Daemons of which several threads wake at once.
    pub gangs: Vec<Gang>,
    /// Random lock holders.
    pub locks: Stream,
    /// Random choices of the balancer.
    pub moves: Stream,
    /// Virtual processor that has lost its core with the lock.
    pub holder: Option<VpId>,
    /// Those that have come to the lock since, in this order. Some may have lost their work again.
    pub spinning: Vec<VpId>,
    /// Who is first in the line of a lock that others may take meanwhile, and off its core.
    pub first_off: Option<VpId>,
    /// Time online before its configuration became what it is.
    pub before: Before,
}

/// The simulation of a system.
pub struct World<S: System> {
    /// What is simulated.
    pub spec: Spec,
    /// Simulated time [ns].
    pub now: u64,
    /// Pending events.
    pub queue: Queue<Event<S::Alarm>>,
    /// The next event of each core.
    pub timers: ById<CoreId, Timer>,
    /// Events handled.
    pub events: u64,
    /// Who is where.
    pub at: State,
    /// Who shares the cores out.
    pub sys: S,
    /// Cost classes.
    pub table: Table,
    /// Whether hardware threads that are dispatched one by one do work of several kinds.
    pub has_strangers: bool,
    /// What runs in each partition.
    pub guests: ById<PartitionId, GuestState>,
    /// The work that they have.
    pub loads: ById<LoadId, LoadState>,
    /// Whether messages of any of it bring something.
    pub has_messages: bool,
    /// Of cores with several loads, what each must refill.
    pub colds: ById<CoreId, Vec<Cold>>,
    /// Threads of all virtual processors.
    pub threads: ById<ThreadId, Thread>,
    /// What they have not fetched yet of what caches that cores share hold for them, and since when
    /// their virtual processor is off its core [ns]; nothing if that is nothing for all.
    pub unfetched: ById<ThreadId, (Unfetched, u64)>,
    /// Work that is inside, by id.
    pub jobs: JobTable,
    /// Interrupts of devices.
    pub interrupting: Interrupting,
    /// Counters.
    pub meters: Meters,
    /// End of the present window [ns].
    pub window_end: u64,
    /// Windows so far.
    pub windows: u64,
    /// Configuration that is still to come.
    pub changes: Changes,
    /// Partitions that are started, or stopped, once the window is handed out.
    pub goes_on: Vec<(PartitionId, bool)>,
    /// Whether some partition's virtual processors run together and rest together.
    pub has_crowds: bool,
}

impl<S: System> World<S> {
    /// Sets the machine up at time 0.
    pub fn new(mut spec: Spec, replication: u64) -> Self {
        let changes = Changes::of(&mut spec);
        in_effect(&mut spec);
        let room = changes.room(&spec);
        let mut at = State::new(&room);
        let sys = S::new(&spec, &mut at, replication);
        let spread =
            |p: &Partition| Spread::new(&at.tree, memory::place(&spec.machine, &at.tree, p));
        let others: Vec<_> = spec.partitions.iter().flat_map(Partition::others).collect();
        let table = Table::new(
            &spec.machine,
            &room.partitions,
            spec.partitions.iter().chain(&others).map(spread).collect(),
        );
        let loads = load::all(&spec, replication);
        let guests: ById<_, _> = room
            .partitions
            .iter()
            .zip(&at.vps_of)
            .zip(load::beside(&spec))
            .map(|((partition, vps), beside)| GuestState {
                beside,
                ..guest(&spec, partition, at.vps.slice(*vps), replication)
            })
            .collect();
        let mut queue = Queue::new();
        let threads = at.vps.iter().map(|vp| usize::from(vp.smt)).sum();
        let mut world = Self {
            now: 0,
            changes,
            goes_on: Vec::new(),
            has_crowds: false,
            timers: at
                .cores
                .ids()
                .map(|core| queue.timer(Event::Core(core)))
                .collect(),
            queue,
            events: 0,
            meters: Meters::new(&room, &at),
            jobs: JobTable::default(),
            interrupting: Interrupting::new(&room, replication, S::host_cpus(&room)),
            window_end: 0,
            windows: 0,
            threads: ById::of(Thread::idle(), threads),
            unfetched: ById::of(
                Default::default(),
                if table.reaches_beyond() { threads } else { 0 },
            ),
            has_strangers: at.tree.siblings > 1 && table.has_kinds(),
            table,
            guests,
            has_messages: loads.iter().any(|load| load.messages.is_some()),
            loads,
            colds: ById::of(Vec::new(), at.cores.len()),
            sys,
            at,
            spec,
        };
        world.listen_to_crowds();
        for of in world.changes.starts_later() {
            world.guests[of].runs_from = When::NEVER;
        }
        for of in world.partitions() {
            let (vps, smt) = (world.spec_of(of).processors.count(), world.spec_of(of).smt);
            world.set_online(of, vps, smt);
        }
        world
    }

    /// Those that compute at once are counted where threads spin for a lock.
    fn listen_to_crowds(&mut self) {
        for of in self.partitions() {
            if self.spec_of(of).spins() {
                self.has_crowds = true;
                for load in self.loads_of(of) {
                    self.table.spreads[load.index()].crowd().listen();
                }
            }
        }
    }

    /// Schedules an event.
    #[inline]
    pub fn schedule(&mut self, at: u64, event: Event<S::Alarm>) -> Key {
        self.queue.schedule(Time::from_ns(at), OTHERS, event)
    }

    /// Asks for an alarm.
    #[inline]
    pub fn ask_at(&mut self, at: u64, alarm: S::Alarm) -> Key {
        self.schedule(at, Event::Alarm(alarm))
    }

    /// What the spec says of a partition.
    #[inline]
    pub fn spec_of(&self, partition: PartitionId) -> &Partition {
        &self.spec.partitions[partition.index()]
    }

    /// Every partition, in the order of the spec; they are not borrowed.
    pub fn partitions(&self) -> impl Iterator<Item = PartitionId> {
        self.guests.ids()
    }

    /// A virtual processor.
    #[inline]
    pub fn vp(&self, vp: VpId) -> &Vp {
        &self.at.vps[vp]
    }

    /// A partition's virtual processor by its index.
    #[inline]
    pub fn vp_at(&self, partition: PartitionId, index: u16) -> VpId {
        self.at.vps_of[partition].at(usize::from(index))
    }

    /// First thread of a virtual processor, and how many it has.
    #[inline]
    pub fn threads_of(&self, vp: VpId) -> (ThreadId, u8) {
        let vp = &self.at.vps[vp];
        (vp.first_thread, vp.smt)
    }

    /// Busy threads of a virtual processor, as a mask.
    #[inline]
    pub fn mask(&self, vp: VpId) -> u8 {
        self.at.vps[vp].mask
    }

    /// Marks a logical processor of a partition busy with work of a load.
    pub fn occupy(&mut self, partition: PartitionId, load: LoadId, cpu: Cpu) {
        self.guests[partition].queues.occupy(cpu);
        let vp = self.vp_at(partition, cpu.vp);
        let v = &mut self.at.vps[vp];
        let bit = 1 << cpu.thread;
        v.mask |= bit;
        let at = v.first_thread.plus(usize::from(cpu.thread));
        self.meters.cpus[at].enter(self.now);
        if let Some(core) = v.core.filter(|_| v.warm & bit == 0) {
            v.warm |= bit;
            self.threads[at].cold_instructions = self.at.cores[core].cold_instructions;
            if self.at.cores[core].mixed {
                self.find_cold(at, load, core);
            }
        }
    }

    /// Marks a logical processor of a partition idle.
    pub fn release(&mut self, partition: PartitionId, cpu: Cpu) {
        self.guests[partition].queues.release(cpu);
        let vp = self.vp_at(partition, cpu.vp);
        let v = &mut self.at.vps[vp];
        v.mask &= !(1 << cpu.thread);
        let at = v.first_thread.plus(usize::from(cpu.thread));
        self.meters.cpus[at].leave(self.now);
    }

    /// Queues a software thread on a logical processor, ahead of the others if it was displaced by
    /// one of better priority.
    pub fn line_up(&mut self, partition: PartitionId, cpu: u16, job: JobId, ahead: bool) {
        let guest = &mut self.guests[partition];
        if ahead {
            guest.queues.put_back(cpu, job);
        } else {
            guest.queues.queue(cpu, job);
        }
        let at = guest.first_thread.plus(usize::from(cpu));
        self.meters.cpus[at].enter(self.now);
    }

    /// Takes the software thread at a place of a logical processor's own queue.
    pub fn take_at(&mut self, partition: PartitionId, cpu: u16, place: usize) -> Option<JobId> {
        let guest = &mut self.guests[partition];
        let job = guest.queues.take_at(cpu, place)?;
        let at = guest.first_thread.plus(usize::from(cpu));
        self.meters.cpus[at].leave(self.now);
        Some(job)
    }

    /// Next software thread for an idle logical processor: its own queue's first, else the first
    /// stolen from another.
    pub fn take(&mut self, partition: PartitionId, cpu: u16) -> Option<JobId> {
        let from = self.guests[partition].queues.source(cpu)?;
        self.take_at(partition, from, 0)
    }
}

impl Thread {
    fn idle() -> Self {
        Self {
            task: Task::None,
            instructions: 0.0,
            extra_ns: 0.0,
            cold_instructions: 0.0,
            own_ns: [0.0; 2],
            done_at: When::NEVER,
            rotate_at: When::NEVER,
        }
    }

    /// The software thread that it runs.
    #[inline]
    pub fn job(&self) -> Option<JobId> {
        match self.task {
            Task::Job(job) => Some(job),
            Task::None | Task::Own => None,
        }
    }
}

/// Instructions that a core does by itself in a nanosecond, misses left out.
pub(super) fn per_ns(spec: &Spec, partition: &Partition) -> f64 {
    core_per_ns(&spec.machine, &partition.profile)
}

fn gangs(spec: &Spec, partition: &Partition, mut chance: Stream) -> Vec<Gang> {
    let per_ns = per_ns(spec, partition);
    let gangs = partition.guest.unix().gangs;
    let of = |gang| Gang::of(gang, spec.warmup_ns, per_ns, chance.uniform());
    gangs.iter().map(of).collect()
}

fn guest(spec: &Spec, partition: &Partition, vps: &[Vp], replication: u64) -> GuestState {
    let places = vps.iter().map(|vp| (vp.home_chip, vp.home_node));
    let filling = Filling::of(
        &partition.guest,
        partition.smt,
        spec.machine.smt.parts,
        places,
    );
    let stream = |what: &str| stream(spec, partition, replication, what);
    GuestState {
        queues: RunQueues::new(vps.len() as u16, partition.smt, filling),
        scheduler: Scheduler::of(&partition.guest),
        beside: Span::new(0, 0),
        first_thread: vps[0].first_thread,
        smt: partition.smt,
        folded_from_ns: vec![0; vps.len()],
        daemons: stream("daemons"),
        gangs: gangs(spec, partition, stream("gangs")),
        locks: stream("locks"),
        moves: stream("moves"),
        holder: None,
        spinning: vec![],
        first_off: None,
        before: Before::default(),
        runs_from: When::at(0),
    }
}
