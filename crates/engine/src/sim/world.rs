//! Everything a simulation holds while it runs.

use super::event::{Event, NEVER};
use super::host::state::Host;
use super::meters::Meters;
use super::zvm::state::Cp;
use crate::cost::{ClassId, Spread, Table};
use crate::guest::workload::{JobId, JobTable, Shape};
use crate::guest::{memory, Cpu, Filling, Playback, RunQueues, Scheduler};
use crate::hypervisor::policies::{in_effect, Dispatcher};
use crate::hypervisor::{Capacity, State, Vp, VpId};
use crate::kernel::{Key, Queue, Stream, Time};
use crate::spec::{Partition, Spec, Workload};

/// No job on a thread.
pub const NO_JOB: JobId = JobId::MAX;

/// A thread of a virtual processor.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Running job, or `NO_JOB`.
    pub job: JobId,
    /// Instructions left of its burst.
    pub instructions: f64,
    /// Time that goes by before its instructions: spinning, lines that come from elsewhere [ns].
    pub extra_ns: f64,
    /// Instructions until the caches are warm again.
    pub cold_instructions: f64,
    /// When the burst ends at the present rate [ns]; `NEVER` while off a core.
    pub done_at: u64,
    /// When the time slice ends, if others wait for this logical processor [ns].
    pub rotate_at: u64,
}

/// What the simulation keeps of a core.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Up to when the runner's progress is booked [ns].
    pub settled_at: u64,
    /// Until when nothing useful happens after a dispatch: the hypervisor's part, then the spin
    /// [ns].
    pub stall_until: u64,
    /// From when on that is a spin [ns].
    pub spin_from: u64,
    /// When the present grant ends [ns].
    pub grant_end: u64,
    /// When an idle sibling gives up its decode slots [ns].
    pub single_at: u64,
    /// Whether the core has left SMT for its only busy thread.
    pub single: bool,
    /// Cost class while threads are busy.
    pub class: ClassId,
    /// Time of an instruction in that class [ns].
    pub instruction_ns: f64,
    /// Instructions in a nanosecond: its inverse, because a division costs more than all else here.
    pub instructions_per_ns: f64,
    /// Extra time of an instruction while the runner's caches are refilled [ns].
    pub cold_ns: f64,
    /// Next event.
    pub key: Key,
    /// Core time used since the start [ns].
    pub clock: u64,
    /// Partition whose lines its caches hold, `u16::MAX` for none.
    pub warm_for: u16,
}

/// What the simulation keeps of a virtual processor.
#[derive(Clone, Debug)]
pub struct Run {
    /// The last core's clock when it left it.
    pub left_clock: u64,
    /// Hypervisor time that the next dispatch must pay besides the dispatch itself [ns].
    pub debt_ns: u64,
    /// Time it spun on a lock before it conferred, booked at its next dispatch [ns].
    pub spin_ns: u64,
    /// When it ceded [ns].
    pub ceded_at: u64,
    /// Start of the present dispatch record.
    pub record_from: u64,
    /// On whose account it started.
    pub record_kind: Capacity,
    /// First of its threads in [`World::threads`].
    pub first_thread: u32,
    /// How many threads it has.
    pub smt: u8,
    /// Busy threads; the guest's run queues hold the same, but not side by side with what an event
    /// needs.
    pub mask: u8,
    /// Thread that was busy last.
    pub last_thread: u8,
}

/// A guest with its work.
pub struct GuestState {
    /// Tunables.
    pub scheduler: Scheduler,
    /// Run queues.
    pub queues: RunQueues,
    /// The workload's numbers.
    pub shape: Shape,
    /// Recorded demand, if that is what it runs.
    pub playback: Option<Playback>,
    /// First thread in [`World::threads`].
    pub first_thread: usize,
    /// Threads of a virtual processor.
    pub smt: u8,
    /// Busy thread time at the last folding step [ns].
    pub folded_from_ns: f64,
    /// Random arrivals.
    pub arrivals: Stream,
    /// Random work.
    pub work: Stream,
    /// Random waits and think times.
    pub waits: Stream,
    /// Random daemons.
    pub daemons: Stream,
    /// Random lock holders.
    pub locks: Stream,
    /// Random choices of the balancer.
    pub moves: Stream,
}

/// The simulation.
pub struct World {
    /// What is simulated.
    pub spec: Spec,
    /// Simulated time [ns].
    pub now: u64,
    /// Pending events.
    pub queue: Queue<Event>,
    /// Events handled.
    pub events: u64,
    /// Who is where.
    pub hv: State,
    /// The dispatcher.
    pub policy: Dispatcher,
    /// The scheduler of a host, if the machine is one.
    pub host: Option<Box<Host>>,
    /// Cost classes.
    pub table: Table,
    /// Guests, by partition.
    pub guests: Vec<GuestState>,
    /// z/VM's Control Program, for each partition that has it.
    pub cps: Vec<Option<Box<Cp>>>,
    /// Threads of all virtual processors.
    pub threads: Vec<Thread>,
    /// Cores.
    pub slots: Vec<Slot>,
    /// Virtual processors.
    pub runs: Vec<Run>,
    /// Work that is inside, by id.
    pub jobs: JobTable,
    /// Counters.
    pub meters: Meters,
    /// End of the present window [ns].
    pub window_end: u64,
    /// Windows so far.
    pub windows: u64,
    /// Whether a share check is pending.
    pub share_check: bool,
    /// Core time of each partition when it last decided to donate [ns].
    pub donated_from: Vec<u64>,
}

impl World {
    /// Sets the machine up at time 0.
    pub fn new(mut spec: Spec, replication: u64) -> Self {
        in_effect(&mut spec);
        let hv = State::new(&spec);
        let spread =
            |p: &Partition| Spread::new(&hv.tree, memory::place(&spec.machine, &hv.tree, p));
        let table = Table::new(
            &spec.machine,
            &spec.partitions,
            spec.partitions.iter().map(spread).collect(),
        );
        let mut threads = Vec::new();
        let (mut guests, mut cps) = (Vec::new(), Vec::new());
        for (partition, share) in spec.partitions.iter().zip(&hv.shares) {
            let first = share.first_vp as usize;
            let vps = &hv.vps[first..first + usize::from(share.vps)];
            guests.push(guest(&spec, partition, vps, threads.len(), replication));
            cps.push(Cp::new(&hv, partition, share, &|what| {
                stream(&spec, partition, replication, what)
            }));
            threads.resize_with(
                threads.len() + vps.len() * usize::from(partition.smt),
                Thread::idle,
            );
        }
        Self {
            now: 0,
            queue: Queue::new(),
            events: 0,
            slots: vec![Slot::idle(); hv.cores.len()],
            runs: runs(&hv, &guests),
            meters: Meters::new(&spec, &hv),
            jobs: JobTable::default(),
            policy: Dispatcher::of(spec.machine.hypervisor.policy),
            host: Host::of(&spec, &hv, replication),
            window_end: 0,
            windows: 0,
            share_check: false,
            donated_from: vec![0; spec.partitions.len()],
            table,
            threads,
            guests,
            cps,
            hv,
            spec,
        }
    }

    /// Schedules an event.
    #[inline]
    pub fn schedule(&mut self, at: u64, event: Event) -> Key {
        self.queue
            .schedule(Time::from_ns(at), event.priority(), event)
    }

    /// A virtual processor.
    #[inline]
    pub fn vp(&self, vp: VpId) -> &Vp {
        &self.hv.vps[vp as usize]
    }

    /// First thread of a virtual processor, and how many it has.
    #[inline]
    pub fn threads_of(&self, vp: VpId) -> (usize, u8) {
        let run = &self.runs[vp as usize];
        (run.first_thread as usize, run.smt)
    }

    /// Busy threads of a virtual processor, as a mask.
    #[inline]
    pub fn mask(&self, vp: VpId) -> u8 {
        self.runs[vp as usize].mask
    }

    /// Marks a logical processor of a partition busy.
    pub fn occupy(&mut self, partition: u16, cpu: Cpu) {
        self.guests[usize::from(partition)].queues.occupy(cpu);
        let vp = self.hv.shares[usize::from(partition)].first_vp + u32::from(cpu.vp);
        self.runs[vp as usize].mask |= 1 << cpu.thread;
    }

    /// Marks a logical processor of a partition idle.
    pub fn release(&mut self, partition: u16, cpu: Cpu) {
        self.guests[usize::from(partition)].queues.release(cpu);
        let vp = self.hv.shares[usize::from(partition)].first_vp + u32::from(cpu.vp);
        self.runs[vp as usize].mask &= !(1 << cpu.thread);
    }
}

fn runs(hv: &State, guests: &[GuestState]) -> Vec<Run> {
    let run = |vp: &Vp| {
        let guest = &guests[usize::from(vp.partition)];
        Run {
            left_clock: 0,
            debt_ns: 0,
            spin_ns: 0,
            ceded_at: 0,
            record_from: 0,
            record_kind: Capacity::Entitled,
            first_thread: (guest.first_thread + usize::from(vp.index) * usize::from(guest.smt))
                as u32,
            smt: guest.smt,
            mask: 0,
            last_thread: 0,
        }
    };
    hv.vps.iter().map(run).collect()
}

impl Thread {
    fn idle() -> Self {
        Self {
            job: NO_JOB,
            instructions: 0.0,
            extra_ns: 0.0,
            cold_instructions: 0.0,
            done_at: NEVER,
            rotate_at: NEVER,
        }
    }
}

impl Slot {
    fn idle() -> Self {
        Self {
            settled_at: 0,
            stall_until: 0,
            spin_from: NEVER,
            grant_end: 0,
            single_at: NEVER,
            single: false,
            class: 0,
            instruction_ns: 1.0,
            instructions_per_ns: 1.0,
            cold_ns: 0.0,
            key: Key::NONE,
            clock: 0,
            warm_for: u16::MAX,
        }
    }
}

fn playback(spec: &Spec, partition: &Partition) -> Option<Playback> {
    let unit = partition.profile.instructions_per_unit;
    match &partition.workload {
        Workload::Trace {
            lengths_ns,
            instructions_per_s,
        } => Some(Playback::new(
            spec.warmup_ns,
            lengths_ns,
            instructions_per_s,
            unit,
        )),
        _ => None,
    }
}

/// The stream of a partition that is called so.
fn stream(spec: &Spec, partition: &Partition, replication: u64, what: &str) -> Stream {
    let name = format!("{}/{what}", partition.name);
    Stream::new(spec.seed, replication, &name)
}

fn guest(
    spec: &Spec,
    partition: &Partition,
    vps: &[Vp],
    first_thread: usize,
    replication: u64,
) -> GuestState {
    let places = vps.iter().map(|vp| (vp.home_chip, vp.home_node));
    let filling = Filling::of(&partition.guest, partition.smt, places);
    let stream = |what: &str| stream(spec, partition, replication, what);
    GuestState {
        queues: RunQueues::new(vps.len() as u16, partition.smt, filling),
        scheduler: Scheduler::of(&partition.guest, partition.smt),
        shape: Shape::of(&partition.workload, &partition.profile),
        playback: playback(spec, partition),
        first_thread,
        smt: partition.smt,
        folded_from_ns: 0.0,
        arrivals: stream("arrivals"),
        work: stream("work"),
        waits: stream("waits"),
        daemons: stream("daemons"),
        locks: stream("locks"),
        moves: stream("moves"),
    }
}
