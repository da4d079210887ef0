//! A cost class: what an instruction of one partition costs on one chip with so many threads busy
//! on the core.

use super::{Book, Books, Contention, MissCurve, Occupancy, Spread};
use crate::machine::{far_factor, Distance, Topology, MAX_CACHES};
use crate::spec::{CacheScope, Machine, Profile};

/// Capacity at which a profile's `sharing` is stated: that of the caches with which communication
/// misses were measured (Barroso, Gharachorloo, Bugnion 1998: 2 MB).
const SHARING_AT_BYTES: f64 = 2.0 * 1024.0 * 1024.0;

/// POWER5 decode-slot rule for an idle thread at priority 1 beside one at 4: it keeps 1 of
/// `2^(|4-1|+1)` slots.
pub const IDLE_SIBLING_SLOTS: f64 = 1.0 / 16.0;

/// Where and how a thread runs.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// Its tree.
    pub tree: &'a Topology,
    /// SMT contention of the machine.
    pub contention: &'a Contention,
    /// Shared resources in the last windows.
    pub occupancy: &'a Occupancy,
    /// The workload.
    pub profile: &'a Profile,
    /// The partition's memory and cores.
    pub spread: &'a Spread,
    /// Share of time taken by the guest's clock tick.
    pub tick_share: f64,
    /// Chip of the core.
    pub chip: u16,
    /// Busy threads on the core.
    pub threads: u8,
    /// Whether an idle sibling keeps its decode slots.
    pub snoozing_sibling: bool,
}

/// Cost of an instruction at a [`Place`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Class {
    /// Time of one instruction of one thread [ns].
    pub ns: f64,
    /// That time by cause; adds up to `ns`.
    pub books: Books,
    /// Extra time of an instruction while the caches are refilled, by where the lines lie [ns].
    pub reload_ns: [f64; 3],
    /// Lines refilled by one instruction.
    pub reload_lines: f64,
    /// Lines fetched from memory by one instruction.
    pub memory_lines: f64,
    /// Lines fetched from another core's cache by one instruction.
    pub shared_lines: f64,
    /// Lines that one instruction brings into the core's private caches.
    pub fill_lines: f64,
    /// Lines a core's private caches hold for one of its threads.
    pub private_lines: f64,
}

impl Class {
    /// Works out the class.
    pub fn at(place: Place) -> Self {
        let levels = Levels::of(&place);
        let mut books = Books::default();
        let core = place.profile.eicpi / (place.machine.clock_hz * 1e-9);
        books.add(Book::Useful, core);
        let exposed = 1.0 - place.profile.overlap;
        let shared_lines = levels.communication;
        let memory_lines = levels.memory();
        book_hits(&mut books, &place, &levels, exposed);
        book_sharers(&mut books, &place, &levels, exposed);
        book_memory(&mut books, &place, memory_lines * exposed);
        book_smt(&mut books, &place, core);
        let ticks = books.total() * place.tick_share / (1.0 - place.tick_share);
        books.add(Book::Tick, ticks);
        let refill = (levels.misses[0] - levels.misses[levels.private]).max(0.0);
        let held = place.machine.caches[levels.private].latency_ns;
        let from = place.machine.cache_to_cache_ns;
        Self {
            ns: books.total(),
            books,
            reload_ns: [from.local, from.near, from.far]
                .map(|ns| refill * exposed * (ns - held).max(0.0)),
            reload_lines: refill,
            memory_lines,
            shared_lines,
            fill_lines: levels.misses[levels.private] + shared_lines,
            private_lines: levels.private_bytes / f64::from(place.machine.line_bytes),
        }
    }
}

/// Misses and capacities of each cache level for one thread.
struct Levels {
    /// Number of levels.
    count: usize,
    /// Misses per instruction beyond each level, communication apart.
    misses: [f64; MAX_CACHES],
    /// Capacity for one thread up to the last level private to a core [bytes].
    private_bytes: f64,
    /// Index of that level.
    private: usize,
    /// Communication misses per instruction.
    communication: f64,
    /// Shares of those by the distance of the last writer.
    sharers: [f64; 3],
}

impl Levels {
    fn of(place: &Place) -> Self {
        let machine = place.machine;
        let curve = MissCurve::of(place.profile);
        let (elsewhere, sharers) = place.spread.sharers(place.tree, place.chip);
        let sharing = place.profile.sharing * elsewhere;
        let mut levels = Self {
            count: machine.caches.len(),
            misses: [0.0; MAX_CACHES],
            private_bytes: 0.0,
            private: 0,
            communication: sharing * curve.at(SHARING_AT_BYTES),
            sharers,
        };
        let mut inside = 0.0_f64;
        for (level, cache) in machine.caches.iter().enumerate() {
            let own = cache.bytes as f64 / users(place, cache.scope) / f64::from(place.threads);
            inside = if cache.victim {
                inside + own
            } else {
                inside.max(own)
            };
            levels.misses[level] = (1.0 - sharing) * curve.at(inside);
            if level == 0 || cache.scope == CacheScope::Core {
                levels.private = level;
                levels.private_bytes = inside;
            }
        }
        levels
    }

    /// Misses per instruction that memory serves.
    fn memory(&self) -> f64 {
        self.misses[self.count - 1]
    }
}

/// Cores that divide a cache: those busy in the last windows, this one at least.
fn users(place: &Place, scope: CacheScope) -> f64 {
    let busy = &place.occupancy.busy_cores;
    let cores: f64 = match scope {
        CacheScope::Core => 1.0,
        CacheScope::Chip => busy[usize::from(place.chip)],
        CacheScope::Node => place
            .tree
            .chips_of(place.tree.node_of(place.chip))
            .map(|c| busy[usize::from(c)])
            .sum(),
    };
    cores.max(1.0)
}

fn book_hits(books: &mut Books, place: &Place, levels: &Levels, exposed: f64) {
    for level in 1..levels.count {
        let hits = (levels.misses[level - 1] - levels.misses[level]).max(0.0);
        let book = match level {
            1 => Book::L2,
            2 => Book::L3,
            _ => Book::CacheChip,
        };
        let latency_ns = place.machine.caches[level].latency_ns;
        books.add(book, hits * latency_ns * exposed);
    }
}

fn book_sharers(books: &mut Books, place: &Place, levels: &Levels, exposed: f64) {
    let (ns, share) = (place.machine.cache_to_cache_ns, levels.sharers);
    let lines = levels.communication * exposed;
    let node = place.tree.node_of(place.chip);
    let link = place.occupancy.node_link_stretch[usize::from(node)];
    books.add(Book::CacheChip, lines * share[0] * ns.local);
    books.add(Book::CacheNear, lines * share[1] * ns.near);
    books.add(Book::CacheFar, lines * share[2] * ns.far * link);
}

fn book_memory(books: &mut Books, place: &Place, lines: f64) {
    let machine = place.machine;
    let node = place.tree.node_of(place.chip);
    for part in &place.spread.memory {
        let queue = place.occupancy.memory_stretch[usize::from(part.chip)];
        let home = place.tree.node_of(part.chip);
        let (book, ns) = match place.tree.distance(place.chip, part.chip) {
            Distance::Local => (Book::MemoryLocal, machine.memory_ns.local * queue),
            Distance::Near => (Book::MemoryNear, machine.memory_ns.near * queue),
            Distance::Far => {
                let link = place.occupancy.node_link_stretch[usize::from(node)];
                (
                    Book::MemoryFar,
                    machine.memory_ns.far * far_factor(machine, node, home) * queue.max(link),
                )
            }
        };
        books.add(book, lines * part.share * ns);
    }
}

fn book_smt(books: &mut Books, place: &Place, core: f64) {
    if place.snoozing_sibling {
        // The busy thread decodes in 15 of 16 cycles, so its core part takes 16/15 of the time.
        books.add(
            Book::Smt,
            core * IDLE_SIBLING_SLOTS / (1.0 - IDLE_SIBLING_SLOTS),
        );
    } else if place.threads > 1 {
        let lost = place.contention.lost(
            place.threads,
            books.total(),
            core * place.profile.issue_share,
        );
        books.add(Book::Smt, lost);
    }
}
