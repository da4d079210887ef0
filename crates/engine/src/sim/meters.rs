//! Counters. They only ever grow; intervals are differences of two readings.

use std::collections::BTreeMap;

use crate::cost::{kernel_share, Books, Lines};
use crate::guest::{charge, Gain};
use crate::hypervisor::{masks_of, State, Vp};
use crate::ids::{ById, PartitionId, Span, ThreadId};
use crate::kernel::{real, Histogram, Time};
use crate::machine::Distance;
use crate::spec::{Accounting, Spec};

/// Why a virtual processor left its core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum Reason {
    /// All its threads ceded.
    Cede = 0,
    /// Its entitled slice ended.
    SliceEnd = 1,
    /// The window ended.
    WindowEnd = 2,
    /// Thrown off by another partition's entitled virtual processor.
    Evicted = 3,
    /// It had time to spare and an entitled one had not.
    Preempted = 4,
    /// It gave its time to a sibling.
    Confer = 5,
    /// The simulation ended.
    RunEnd = 6,
    /// It held excess capacity for a quantum while others waited.
    Quantum = 7,
    /// The dedicated owner took its core back.
    Reclaimed = 8,
    /// It has not: for somebody who looks on while it is on its core, never recorded.
    Unended = 9,
}

/// Counters of a partition. An event touches those of one partition after the other, so what stands
/// together is what one step needs: each of the first three groups is a cache line.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct PartitionMeter {
    // Booking.
    /// Core time [ns].
    pub busy_ns: u64,
    /// Core time on entitlement [ns].
    pub entitled_ns: u64,
    /// Core time on excess capacity [ns].
    pub excess_ns: u64,
    /// Core time by distance from the virtual processor's home chip [ns].
    pub distance_ns: [u64; 3],
    /// Virtual processor switches.
    pub vcsw: u64,
    /// Core time in which halted virtual processors polled for work [ns].
    pub halt_poll_ns: u64,

    // A software thread wakes or goes to wait.
    /// Integral of runnable software threads [thread ns].
    pub runnable_ns: f64,
    /// Integral of software threads that wait for I/O [thread ns].
    pub blocked_ns: f64,
    /// Integral of transactions inside [transaction ns].
    pub inside_ns: f64,
    /// Up to when the integrals are taken [ns].
    pub integrated_to: u64,
    /// Runnable software threads.
    pub runnable: u32,
    /// Software threads waiting.
    pub blocked: u32,
    /// Transactions inside.
    pub inside: u64,
    /// Times that one woke a sibling.
    pub prod_calls: u64,
    /// Time with work but no capacity until the next window [ns].
    pub exhausted_ns: u64,

    // A virtual processor wakes and is dispatched.
    /// Times that a virtual processor gave its core up for want of work.
    pub cede_calls: u64,
    /// Time away in cede calls [ns].
    pub cede_ns: u64,
    /// Longest time away [ns].
    pub cede_max_ns: u64,
    /// Time in prod calls [ns].
    pub prod_ns: u64,
    /// Time ready and not on a core [ns].
    pub ready_ns: u64,
    /// Dispatches by that distance.
    pub distance_dispatches: [u64; 3],

    /// Instructions executed, those of spinning included.
    pub instructions: f64,
    /// Transactions arrived.
    pub tx_arrived: u64,
    /// Transactions done.
    pub tx_done: u64,
    /// Sum of response times [ns].
    pub response_ns: u64,
    /// Core time by cause [ns]; those that no cost class has are a cache line's.
    pub books: Books,
    /// Lines brought into the first cache level, by source.
    pub lines: Lines,
    /// Time of its dedicated cores that others used [ns].
    pub donated_ns: u64,
    /// Interrupts taken for other partitions.
    pub phint: u64,
    /// Virtual processors thrown off by others.
    pub evictions: u64,
    /// Times that one gave its core to a sibling it waits for.
    pub confer_calls: u64,
    /// Time in confer calls [ns].
    pub confer_ns: u64,
    /// Switches of a host's threads of their own will: they went to sleep.
    pub nvcsw: u64,
    /// Switches of a host's threads against their will.
    pub nivcsw: u64,
    /// Exits of virtual processors that were caught spinning.
    pub pause_exits: u64,
    /// Those after which one yielded to a sibling.
    pub directed_yields: u64,
    /// Memory that NUMA balancing moved [bytes].
    pub numa_bytes: u64,
}

/// Elapsed times of the loops of a partition that ended [ns]: there may be any number of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Elapsed {
    /// How many ended.
    pub count: u64,
    /// All times together.
    pub sum_ns: u64,
    /// The shortest; 0 of none.
    pub least_ns: u64,
    /// The longest; 0 of none.
    pub most_ns: u64,
}

impl Elapsed {
    /// One more ended.
    pub fn add(&mut self, ns: u64) {
        self.least_ns = if self.count == 0 {
            ns
        } else {
            self.least_ns.min(ns)
        };
        self.most_ns = self.most_ns.max(ns);
        self.count += 1;
        self.sum_ns += ns;
    }
}

/// Counters of a logical processor; what most events count is its first cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct CpuMeter {
    /// Context switches.
    pub cs: u64,
    /// Interrupts that the logical processor took.
    pub interrupts: u64,
    /// Voluntary switches.
    pub vlcs: u64,
    /// When its software threads left it less when they came [ns], of all since the start.
    stayed: u64,
    /// Dispatches by distance of the core from home.
    pub home_dispatches: [u64; 3],
    /// Redispatches of software threads: same thread, core, MCM, chip, node, other node.
    pub redispatches: [u64; 6],
    /// Involuntary switches.
    pub ilcs: u64,
    /// Involuntary context switches.
    pub ics: u64,
    /// Time of the guest's daemons [ns].
    pub daemon_ns: u64,
}

/// What of a logical processor's time has been charged to its guest's daemons.
#[derive(Clone, Copy, Debug, Default)]
struct Charged {
    /// Kernel time [ns].
    daemon_ns: f64,
    /// Busy PURR when that was last done [ns].
    busy_ns: f64,
    /// Of a guest with several loads, kernel time of these, and when on cores as them that was
    /// last done [ns].
    kernel_ns: f64,
    until: RanAs,
}

/// Time that a logical processor was on a core with work of several loads [ns].
#[derive(Clone, Copy, Debug, Default)]
struct RanAs {
    all_ns: f64,
    kernel_ns: f64,
}

/// All counters.
pub struct Meters {
    /// By partition.
    pub partitions: ById<PartitionId, PartitionMeter>,
    /// By logical processor, partition by partition.
    pub cpus: ById<ThreadId, CpuMeter>,
    /// Response times by partition [ns].
    pub responses: ById<PartitionId, Histogram>,
    /// Dispatch waits by partition [ns].
    pub waits: ById<PartitionId, Histogram>,
    /// Elapsed times of finished loops by partition [ns].
    pub finished: ById<PartitionId, Elapsed>,
    /// Dispatch records since the last batch, if they are kept: one column each.
    pub dispatches: Vec<Vec<i64>>,
    by_mask: Vec<u64>,
    rule: Accounting,
    gain: Gain,
    charged: ById<ThreadId, Charged>,
    ran_as: ById<ThreadId, RanAs>,
    guests: ById<PartitionId, GuestCharge>,
    /// Of virtual processors that were in another SMT mode before, by the first of their counters:
    /// what was charged until then, and their time on cores [ns].
    before: BTreeMap<u32, (Purrs, u64)>,
}

struct GuestCharge {
    smt: u8,
    /// Whether several loads have kernel time of their own.
    is_mixed: bool,
    system_share: f64,
}

/// PURR of a logical processor since the start [ns].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Purr {
    /// User time.
    pub user: f64,
    /// Kernel time.
    pub sys: f64,
    /// Idle time on a core.
    pub idle: f64,
    /// Wall time in which it was busy on a core.
    pub busy_wall: f64,
}

/// That of every thread of a virtual processor; beyond those that it has there is nothing.
pub type Purrs = [Purr; 8];

impl Meters {
    /// All zero.
    pub fn new(spec: &Spec, state: &State) -> Self {
        let count = spec.partitions.len();
        let (mut guests, mut masks, mut cpus) = (ById::new(), 0, 0);
        for (partition, vps) in spec.partitions.iter().zip(&state.vps_of) {
            let tick = partition.guest.tick_share();
            let kernel = kernel_share(&spec.machine, &partition.profile, partition.smt);
            guests.push(GuestCharge {
                smt: partition.smt,
                is_mixed: !partition.beside.is_empty(),
                system_share: kernel + (1.0 - kernel) * tick,
            });
            cpus += vps.len() * usize::from(partition.smt);
            masks += vps.len() as u32 * masks_of(partition.smt);
        }
        Self {
            partitions: ById::of(PartitionMeter::default(), count),
            cpus: ById::of(CpuMeter::default(), cpus),
            charged: ById::of(Charged::default(), cpus),
            ran_as: ById::of(RanAs::default(), cpus),
            responses: (0..count).map(|_| Histogram::new()).collect(),
            waits: (0..count).map(|_| Histogram::new()).collect(),
            finished: ById::of(Elapsed::default(), count),
            dispatches: vec![Vec::new(); super::columns::DISPATCH.len()],
            by_mask: vec![0; masks as usize],
            rule: spec.machine.accounting,
            gain: Gain::new(&spec.machine.smt),
            guests,
            before: BTreeMap::new(),
        }
    }

    /// Notes time on a core with these threads busy.
    #[inline]
    pub fn charge(&mut self, vp: &Vp, single: bool, ns: u64) {
        let by_mask = usize::from(vp.mask) << 1 | usize::from(single);
        self.by_mask[vp.first_mask as usize + by_mask] += ns;
    }

    /// Time that a virtual processor has been on cores [ns].
    pub fn on_cores(&self, vp: &Vp) -> u64 {
        let from = vp.first_mask as usize;
        let before = self.before.get(&vp.first_mask).map_or(0, |(_, ns)| *ns);
        before + self.by_mask[from..from + (2 << vp.smt)].iter().sum::<u64>()
    }

    /// From now on so many threads share the charge of a partition's virtual processors, which
    /// these are.
    pub fn change_smt(&mut self, partition: PartitionId, vps: &[Vp], smt: u8) {
        for vp in vps {
            let until_now = (self.busy_and_idle(vp), self.on_cores(vp));
            self.before.insert(vp.first_mask, until_now);
            let from = vp.first_mask as usize;
            self.by_mask[from..from + (2 << vp.smt)].fill(0);
        }
        self.guests[partition].smt = smt;
    }

    /// PURR of every thread of a virtual processor, with kernel time yet among user time.
    fn busy_and_idle(&self, vp: &Vp) -> Purrs {
        let guest = &self.guests[vp.partition];
        let from = vp.first_mask as usize;
        let before = self.before.get(&vp.first_mask);
        let mut threads = before.map_or(Purrs::default(), |(purrs, _)| *purrs);
        for (slot, ns) in self.by_mask[from..from + (2 << vp.smt)]
            .iter()
            .enumerate()
            .filter(|(_, ns)| **ns > 0)
        {
            let mask = (slot >> 1) as u8;
            let shares = charge(self.rule, &self.gain, guest.smt, mask, slot & 1 == 1);
            for (thread, purr) in threads[..usize::from(vp.smt)].iter_mut().enumerate() {
                let part = shares[thread] * *ns as f64;
                if mask & (1 << thread) != 0 {
                    purr.user += part;
                    purr.busy_wall += *ns as f64;
                } else {
                    purr.idle += part;
                }
            }
        }
        threads
    }

    /// Parts kernel time from user time.
    fn split(&self, vp: &Vp, mut threads: Purrs) -> Purrs {
        let guest = &self.guests[vp.partition];
        for (thread, purr) in threads[..usize::from(vp.smt)].iter_mut().enumerate() {
            let charged = &self.charged[vp.first_thread.plus(thread)];
            let daemon = charged.daemon_ns;
            purr.sys = if guest.is_mixed {
                (daemon + charged.kernel_ns).min(purr.user)
            } else {
                daemon + (purr.user - daemon) * guest.system_share
            };
            purr.user -= purr.sys;
        }
        threads
    }

    /// Charges daemons as kernel time, as far as the busy time since the last reading covers them:
    /// one that ran across a reading must not take back user time that was reported before. PURR
    /// of every thread after that.
    pub fn charge_daemons(&mut self, vp: &Vp) -> Purrs {
        let guest = &self.guests[vp.partition];
        let unparted = self.busy_and_idle(vp);
        let purrs = self.split(vp, unparted);
        for (thread, purr) in purrs[..usize::from(vp.smt)].iter().enumerate() {
            let at = vp.first_thread.plus(thread);
            let (daemon_ns, charged) = (self.cpus[at].daemon_ns, &mut self.charged[at]);
            let busy = purr.user + purr.sys;
            let due = daemon_ns as f64 - charged.daemon_ns;
            let daemon = due.min(busy - charged.busy_ns).max(0.0);
            if guest.is_mixed {
                let ran = self.ran_as[at];
                let (all, kernel) = (ran.all_ns, ran.kernel_ns);
                let since = (all - charged.until.all_ns, kernel - charged.until.kernel_ns);
                let share = if since.0 > 0.0 {
                    since.1 / since.0
                } else {
                    0.0
                };
                charged.kernel_ns += (busy - charged.busy_ns - daemon) * share;
                charged.until = ran;
            }
            charged.daemon_ns += daemon;
            charged.busy_ns = busy;
        }
        self.split(vp, unparted)
    }

    /// What so many logical processors switched and were interrupted, together.
    pub fn switches(&self, of: Span<ThreadId>) -> CpuMeter {
        let mut all = CpuMeter::default();
        for one in self.cpus.slice(of) {
            all.cs += one.cs;
            all.interrupts += one.interrupts;
            all.vlcs += one.vlcs;
            all.ilcs += one.ilcs;
        }
        all
    }

    /// Notes a dispatch.
    #[inline]
    pub fn dispatched(&mut self, partition: PartitionId, waited: u64, distance: Distance) {
        let meter = &mut self.partitions[partition];
        meter.ready_ns += waited;
        meter.distance_dispatches[distance as usize] += 1;
        self.waits[partition].record(Time::from_ns(waited));
    }

    /// Notes that a thread was on a core with work of which the kernel has a share.
    #[inline]
    pub fn ran_as(&mut self, at: ThreadId, ns: f64, kernel_share: f64) {
        let ran = &mut self.ran_as[at];
        ran.all_ns += ns;
        ran.kernel_ns += ns * kernel_share;
    }

    /// Notes a loop that ran to its end.
    pub fn finish_loop(&mut self, partition: PartitionId, elapsed_ns: u64) {
        self.finished[partition].add(elapsed_ns);
    }

    /// Takes integrals up to `now`; call it before the numbers of runnable, blocked or inside
    /// change.
    #[inline]
    pub fn integrate(&mut self, partition: PartitionId, now: u64) -> &mut PartitionMeter {
        let meter = &mut self.partitions[partition];
        let elapsed = real(now - meter.integrated_to);
        meter.integrated_to = now;
        meter.runnable_ns += elapsed * f64::from(meter.runnable);
        meter.blocked_ns += elapsed * f64::from(meter.blocked);
        meter.inside_ns += elapsed * real(meter.inside);
        meter
    }
}

impl CpuMeter {
    /// A software thread comes, to run or to wait.
    #[inline]
    pub fn enter(&mut self, now: u64) {
        self.stayed = self.stayed.wrapping_sub(now);
    }

    /// One goes: to sleep, or to another logical processor.
    #[inline]
    pub fn leave(&mut self, now: u64) {
        self.stayed = self.stayed.wrapping_add(now);
    }

    /// Time that software threads ran or waited there, with so many that still do [ns].
    pub fn run_queue_ns(&self, now: u64, there: usize) -> u64 {
        self.stayed.wrapping_add(now.wrapping_mul(there as u64))
    }

    /// Software threads that came from another logical processor.
    pub fn migrations(&self) -> u64 {
        self.redispatches[1..].iter().sum()
    }
}

/// Readings in the order of the result columns.
impl PartitionMeter {
    /// Core time: all, on entitlement, on excess, given away.
    pub fn capacity(&self) -> [i64; 4] {
        let all = [self.busy_ns, self.entitled_ns, self.excess_ns];
        [all[0], all[1], all[2], self.donated_ns].map(|n| n as i64)
    }

    /// Switches of virtual processors, of its logical processors, and phantom interrupts.
    pub fn switches(&self, of: &CpuMeter) -> [i64; 4] {
        [self.vcsw, of.ilcs, of.vlcs, self.phint].map(|n| n as i64)
    }

    /// Hypervisor calls.
    pub fn calls(&self) -> [i64; 7] {
        let (cede, confer) = (self.cede_calls, self.confer_calls);
        let times = (self.cede_ns, self.cede_max_ns, self.confer_ns);
        let prod = (self.prod_calls, self.prod_ns);
        [cede, times.0, times.1, confer, times.2, prod.0, prod.1].map(|n| n as i64)
    }

    /// Dispatches: number, time and number by distance, evictions, waits.
    pub fn dispatching(&self) -> Vec<i64> {
        let by_distance = self.distance_ns.iter().chain(&self.distance_dispatches);
        let rest = [self.evictions, self.ready_ns];
        std::iter::once(&self.distance_dispatches.iter().sum())
            .chain(by_distance)
            .chain(&rest)
            .map(|n| *n as i64)
            .collect()
    }

    /// Software threads and transactions.
    pub fn work(&self) -> [i64; 6] {
        let threads = [self.runnable_ns, self.blocked_ns].map(|n| n.round() as i64);
        let tx = [self.tx_arrived, self.tx_done, self.inside, self.response_ns].map(|n| n as i64);
        [threads[0], threads[1], tx[0], tx[1], tx[2], tx[3]]
    }
}

impl PartitionMeter {
    /// Notes the return from a cede call.
    pub fn ceded(&mut self, away_ns: u64) {
        self.cede_calls += 1;
        self.cede_ns += away_ns;
        self.cede_max_ns = self.cede_max_ns.max(away_ns);
    }
}
