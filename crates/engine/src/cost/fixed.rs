//! What the cost of an instruction has in common wherever its thread runs, for one partition and
//! one number of busy threads: worked out once a run.

use super::age::{Found, Working};
use super::buffers;
use super::miss::MissCurve;
use super::pause::Pause;
use super::pipeline::core_ns;
use super::port::with_bandwidth;
use super::store;
use super::stream::Stream;
use super::{exits, walks};
use crate::machine::MAX_CACHES;
use crate::spec::{Cache, CacheScope, Coherence, Machine, Partition, Profile};

/// Capacity at which a profile's `sharing` is stated: that of the caches with which communication
/// misses were measured (Barroso, Gharachorloo, Bugnion 1998: 2 MB).
const SHARING_AT_BYTES: f64 = 2.0 * 1024.0 * 1024.0;

/// Parts of a [`Class`](super::Class) that no place and no load changes.
#[derive(Clone, Debug)]
pub struct Fixed {
    /// What it brings into shared caches.
    pub(super) working: Working,
    /// Misses at the capacity at which sharing is stated.
    pub(super) shared_misses: f64,
    /// The first levels, as far as no other core has a part in them.
    pub(super) levels: Private,
    /// Share of a miss's latency that the thread waits for.
    pub(super) exposed: f64,
    /// How its processor pauses.
    pub(super) pause: Option<Pause>,
    /// Core part of an instruction [ns].
    pub(super) core_ns: f64,
    /// What it goes through in order; none = nothing.
    pub(super) stream: Option<Stream>,
    /// Time of a line from memory on its narrowest link [ns].
    pub(super) memory_line_ns: f64,
    /// Share of the lines from memory whose translation must be looked up; none = of no account.
    pub(super) walked: Option<f64>,
    /// What a line from memory waits for its translation in a virtual machine beyond that [ns].
    pub(super) nested_ns: f64,
    /// Share of the time that goes to the hypervisor: what is told, and exits for timers.
    pub(super) hypervisor_share: f64,
    /// What the hypervisor does for an instruction, exits for what devices answer [ns].
    pub(super) hypervisor_ns: f64,
    /// What the kernel does for an instruction beside it [ns].
    pub(super) kernel_ns: f64,
    /// Time for which an instruction's stores occupy their way; none = of no account [ns].
    pub(super) stores_ns: Option<f64>,
    /// What the guest's clock tick takes.
    pub(super) tick_share: f64,
    /// Channel time of a line read from memory, what is written back included, in that of reading.
    pub(super) memory_work: f64,
    /// Index of the cache level that states a bandwidth.
    pub(super) ported: Option<usize>,
    /// Whether lines that others wrote are fetched from home, not from their owner's cache.
    pub(super) from_home: bool,
    /// Time of an instruction with the core to itself, in proportion to that with so many threads
    /// busy, contention apart, on an idle machine.
    pub(super) lone: f64,
    /// Time of an instruction with so many threads busy on an idle machine, contention apart [ns].
    pub(super) idle_ns: f64,
}

/// The first cache levels, as far as they are a core's own.
#[derive(Clone, Debug)]
pub(super) struct Private {
    /// How many they are.
    pub count: usize,
    /// Misses per instruction beyond each, were nothing shared, copies left out.
    pub misses: [f64; MAX_CACHES],
    /// Copies that miss each.
    pub copies: [f64; MAX_CACHES],
    /// Capacity for one thread of them all [bytes].
    pub bytes: f64,
}

impl Fixed {
    /// Time that a latency takes of a thread which waits for all of it [ns].
    #[inline]
    pub(super) fn waited(&self, latency_ns: f64) -> f64 {
        self.pause
            .map_or(latency_ns, |pause| pause.stretched(latency_ns))
    }

    /// Works them out for a thread beside which so many, itself included, are busy on the core.
    pub fn of(machine: &Machine, partition: &Partition, threads: u8) -> Self {
        let profile = &partition.profile;
        let working = working(machine, partition);
        let curve = working.curve();
        let core_ns = core_ns(machine, profile);
        let walked = machine.translation.map(|translation| {
            let reach = f64::from(translation.entries) * partition.page_bytes as f64;
            (1.0 - reach / partition.data_bytes as f64).max(0.0)
        });
        Self {
            working,
            shared_misses: curve.usual_at(SHARING_AT_BYTES),
            levels: Private::of(machine, &curve, threads),
            exposed: 1.0 - profile.overlap,
            pause: Pause::of(machine),
            core_ns,
            stream: Stream::of(machine, profile, threads, core_ns),
            memory_line_ns: memory_line_ns(machine),
            walked,
            nested_ns: walks::beyond_ns(machine, partition),
            hypervisor_share: exits::share(machine, partition),
            hypervisor_ns: exits::work_ns(partition),
            kernel_ns: profile.kernel_ns / profile.instructions_per_unit,
            stores_ns: stores_ns(machine, profile),
            tick_share: partition.guest.tick_share(),
            memory_work: 1.0 + machine.memory_load.write_cost * profile.dirty_share,
            ported: with_bandwidth(machine).map(|(_, level)| level),
            from_home: machine.coherence == Coherence::Home,
            lone: idle_ns(machine, profile, 1) / idle_ns(machine, profile, threads),
            idle_ns: idle_ns(machine, profile, threads),
        }
    }
}

/// What a thread of a partition brings into caches: with the buffers of all jobs that take turns on
/// it.
pub fn working(machine: &Machine, partition: &Partition) -> Working {
    let profile = &partition.profile;
    let of_one = Working::of(machine, profile);
    if profile.buffers_bytes <= 0.0 {
        return of_one;
    }
    let instruction_ns = idle_ns(machine, profile, partition.smt);
    of_one.with_buffers(buffers::of_all(partition, instruction_ns))
}

/// Share of the processor time of work that is its kernel's, its clock's ticks left out [0..1].
pub fn kernel_share(machine: &Machine, profile: &Profile, threads: u8) -> f64 {
    let own_ns = profile.instructions_per_unit * idle_ns(machine, profile, threads);
    let beside = profile.kernel_ns / (profile.kernel_ns + own_ns);
    profile.system_share + (1.0 - profile.system_share) * beside
}

/// Time for which an instruction's stores occupy their way [ns]; none = of no account.
pub(super) fn stores_ns(machine: &Machine, profile: &Profile) -> Option<f64> {
    let each = |path| store::occupancy_ns(path, profile, machine.clock_hz);
    let path = machine.stores.as_ref();
    path.map(|path| profile.store_share * each(path))
}

/// Time of an instruction while so many threads are busy on one core of an otherwise idle machine,
/// with all data in the nearest memory, but for what they take from each other in the core [ns].
pub(super) fn idle_ns(machine: &Machine, profile: &Profile, threads: u8) -> f64 {
    let working = Working::of(machine, profile);
    let (mut bytes, mut before, mut stall_ns) = (0.0, 0.0, 0.0);
    let mut copied = 0.0;
    for (level, cache) in machine.caches.iter().enumerate() {
        let (own, common) = if cache.scope <= CacheScope::Core {
            let own = cache.bytes as f64 / sharers(machine, cache, threads);
            (own, own)
        } else {
            working.divided(cache.bytes as f64, f64::from(threads))
        };
        let found = Found {
            own: inside(bytes, cache, own),
            roaming: inside(bytes, cache, own),
            common: inside(bytes, cache, common),
        };
        let copies = working.copies(found);
        let misses = working.misses(found) + copies;
        bytes = inside(bytes, cache, own);
        if level > 0 {
            stall_ns += (before - misses) * cache.latency_ns + (copied - copies) * cache.line_ns;
        }
        (before, copied) = (misses, copies);
    }
    stall_ns += before * machine.memory_ns.local + copied * memory_line_ns(machine);
    let core_ns = core_ns(machine, profile);
    let stream = Stream::of(machine, profile, threads, core_ns);
    let lines_ns = stream.map_or(0.0, |stream| stream.wait_ns(machine.memory_ns.local, 1.0));
    core_ns + stall_ns * (1.0 - profile.overlap) + lines_ns
}

/// Time of a line on the narrowest link between memory and the core, as far as it is known [ns].
pub(super) fn memory_line_ns(machine: &Machine) -> f64 {
    machine.streams.map_or(0.0, |path| path.transfer_ns)
}

/// Threads that divide a cache among them, of so many that are busy on a core.
fn sharers(machine: &Machine, cache: &Cache, threads: u8) -> f64 {
    match cache.scope {
        CacheScope::Part => (f64::from(threads) / f64::from(machine.smt.parts)).max(1.0),
        _ => f64::from(threads),
    }
}

/// What a thread has of the caches up to one of which it finds `own`; it has `inside` up to the one
/// before [bytes].
pub(super) fn inside(inside: f64, cache: &Cache, own: f64) -> f64 {
    if cache.victim {
        inside + own
    } else {
        inside.max(own)
    }
}

impl Private {
    fn of(machine: &Machine, curve: &MissCurve, threads: u8) -> Self {
        let mut levels = Self {
            count: 0,
            misses: [0.0; MAX_CACHES],
            copies: [0.0; MAX_CACHES],
            bytes: 0.0,
        };
        let own = |scope: CacheScope| scope <= CacheScope::Core;
        for cache in machine.caches.iter().take_while(|cache| own(cache.scope)) {
            let own = cache.bytes as f64 / sharers(machine, cache, threads);
            levels.bytes = inside(levels.bytes, cache, own);
            levels.misses[levels.count] = curve.usual_at(levels.bytes);
            levels.copies[levels.count] = curve.copies_at(levels.bytes);
            levels.count += 1;
        }
        levels
    }
}
