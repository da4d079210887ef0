//! A cost class worked out, part by part.

use super::books::Book;
use super::class::Class;
use super::fixed::Fixed;
use super::levels::Levels;
use super::lines::Source;
use super::lock;
use super::place::{mean_memory_latency, memory_latency, sharer_latencies, sharer_ways, Place};
use super::port::Toll;
use super::smt::{Others, Times};
use super::spread::Sharers;
use super::store;
use crate::machine::Distance;
use crate::spec::CacheScope;

/// POWER5 decode-slot rule for an idle thread at priority 1 beside one at 4: it keeps 1 of
/// `2^(|4-1|+1)` slots.
pub const IDLE_SIBLING_SLOTS: f64 = 1.0 / 16.0;

/// Time of an instruction so far, in the order in which the books add it up: what later parts need
/// again and again, and what would be a sum over all books each time. Books that stay 0 add
/// nothing.
struct Sum {
    /// Books up to that of translation [ns].
    start: f64,
    store: f64,
    smt: f64,
    tick: f64,
    spin: f64,
    hypervisor: f64,
}

impl Sum {
    #[inline]
    fn total(&self) -> f64 {
        self.start + self.store + self.smt + self.tick + self.spin + self.hypervisor
    }
}

impl Class {
    /// Works out the class.
    pub fn at(place: Place) -> Self {
        let fixed = Fixed::of(place.machine, place.partition, place.threads);
        let mut class = Self::default();
        class.set(&place, &fixed);
        class
    }

    /// Works it out; `fixed` are those of the place's partition and number of threads.
    pub fn set(&mut self, place: &Place, fixed: &Fixed) {
        self.set_beside(place, fixed, Others::Alike);
    }

    /// The same beside what others do.
    pub fn set_beside(&mut self, place: &Place, fixed: &Fixed, others: Others) {
        let sharers = place.spread.sharers(place.machine, place.tree, place.chip);
        let levels = Levels::of(place, fixed, &sharers);
        let (asked, written) = if fixed.from_home {
            (levels.memory() + levels.communication, 0.0)
        } else {
            (levels.memory(), levels.communication)
        };
        *self = Self {
            memory_lines: asked,
            shared_lines: written,
            fill_lines: levels.misses[levels.private] + levels.communication,
            private_lines: levels.private_bytes / f64::from(place.machine.line_bytes),
            ..Self::default()
        };
        self.wants.memory = asked;
        self.wants.memory_work = fixed.memory_work;
        self.books
            .add(Book::Useful, core_ns(place, fixed) + fixed.kernel_ns);
        self.add_hits(place, fixed, &levels);
        self.add_sharers(place, fixed, &sharers);
        self.add_roamed(place, fixed, (&levels, &sharers));
        self.add_memory(place, fixed, &levels);
        self.add_translation(place, fixed);
        self.add_stream(place, fixed);
        let mut sum = Sum {
            start: self.books.up_to(Book::Translation),
            store: 0.0,
            smt: 0.0,
            tick: 0.0,
            spin: 0.0,
            hypervisor: 0.0,
        };
        sum.smt = siblings_ns(place, fixed, &sum, others);
        sum.store = stores_ns(place, fixed, &sum);
        sum.spin = lock_ns(place, fixed, &sharers, &sum);
        sum.tick = share_ns(fixed.tick_share, &sum);
        sum.hypervisor = fixed.hypervisor_ns;
        sum.hypervisor += share_ns(fixed.hypervisor_share, &sum);
        self.books.add(Book::Smt, sum.smt);
        self.books.add(Book::Store, sum.store);
        self.books.add(Book::Spin, sum.spin);
        self.books.add(Book::Tick, sum.tick);
        self.books.add(Book::Hypervisor, sum.hypervisor);
        self.set_reload(place, fixed, &levels);
        self.ns = sum.total();
    }

    /// What a thread of the class is to others of its core.
    pub fn times(&self, place: &Place, fixed: &Fixed) -> Times {
        times(place, fixed, self.books.up_to(Book::Translation))
    }

    /// Hits in the caches.
    #[inline]
    fn add_hits(&mut self, place: &Place, fixed: &Fixed, levels: &Levels) {
        for level in 1..levels.count {
            let cache = &place.machine.caches[level];
            let hits = levels.hits(level);
            let (book, source) = match (cache.scope, level) {
                (CacheScope::Node, _) => (Book::L4, Source::L4),
                (_, 1) => (Book::L2, Source::L2),
                (_, 2) => (Book::L3, Source::L3),
                _ => (Book::CacheChip, Source::CacheChip),
            };
            self.lines.add(source, hits);
            let mut toll = place
                .occupancy
                .fabric
                .cache_toll(place.tree, place.chip, level);
            if fixed.ported == Some(level) {
                self.wants.cache = hits;
            }
            if cache.scope == CacheScope::Node {
                self.wants.outside += hits;
                toll += place.occupancy.fabric.near_toll(place.chip);
            }
            let latency_ns = if cache.scope <= CacheScope::Core {
                cache.latency_ns * place.cycle()
            } else {
                cache.latency_ns
            };
            self.book_lines(book, hits, (latency_ns, toll), fixed);
            self.book_copies(book, levels.copied(level), cache.line_ns, fixed);
        }
    }

    /// Books what copies wait for the rest of their lines: the next one comes after it.
    #[inline]
    fn book_copies(&mut self, book: Book, lines: f64, line_ns: f64, fixed: &Fixed) {
        if lines > 0.0 {
            let ns = lines * fixed.waited(line_ns) * fixed.exposed;
            self.books.add(book, ns);
        }
    }

    /// Lines that another core wrote last.
    #[inline]
    fn add_sharers(&mut self, place: &Place, fixed: &Fixed, sharers: &Sharers) {
        let (lines, by) = (self.shared_lines, sharers.by);
        let each = [
            (Source::CacheChip, Book::CacheChip),
            (Source::CacheNear, Book::CacheNear),
            (Source::CacheFar, Book::CacheFar),
        ];
        let ways = sharer_ways(place, sharers);
        for (distance, (source, book)) in each.into_iter().enumerate() {
            self.lines.add(source, lines * by[distance]);
            self.book_lines(book, lines * by[distance], ways[distance], fixed);
        }
        self.wants.far = lines * by[2];
        self.wants.outside += lines * (by[1] + by[2]);
    }

    /// Lines of work that was last behind another instance of the last cache level.
    #[inline]
    fn add_roamed(&mut self, place: &Place, fixed: &Fixed, (levels, sharers): (&Levels, &Sharers)) {
        if levels.roamed <= 0.0 {
            return;
        }
        let of_nodes = place.machine.caches[levels.count - 1].scope == CacheScope::Node;
        let far = if of_nodes {
            1.0
        } else {
            sharers.by[2] / sharers.beyond_chip()
        };
        let ways = sharer_ways(place, sharers);
        for (share, source, book, way) in [
            (1.0 - far, Source::CacheNear, Book::CacheNear, ways[1]),
            (far, Source::CacheFar, Book::CacheFar, ways[2]),
        ] {
            self.lines.add(source, levels.roamed * share);
            self.book_lines(book, levels.roamed * share, way, fixed);
        }
        self.shared_lines += levels.roamed;
        self.wants.far += levels.roamed * far;
        self.wants.outside += levels.roamed;
    }

    /// Books lines that take a latency and wait on their way; of what is not latency nothing is
    /// hidden.
    #[inline]
    fn book_lines(&mut self, book: Book, lines: f64, (ns, toll): (f64, Toll), fixed: &Fixed) {
        let wait = lines * toll.wait_ns;
        self.wait_ns += wait;
        self.books.add(
            book,
            lines * fixed.waited(ns + toll.delay_ns) * fixed.exposed + wait,
        );
    }

    /// Lines from memory.
    #[inline]
    fn add_memory(&mut self, place: &Place, fixed: &Fixed, levels: &Levels) {
        let copied = levels.copies[levels.count - 1];
        for &(domain, share) in place.spread.memory_of(place.chip) {
            let distance = place.tree.memory_distance(place.chip, domain);
            let (book, source) = of_memory(distance);
            self.lines.add(source, self.memory_lines * share);
            let way = memory_latency(place, domain, distance, fixed.memory_work);
            self.book_lines(book, self.memory_lines * share, way, fixed);
            self.book_copies(book, copied * share, fixed.memory_line_ns, fixed);
        }
    }

    /// Lines of what is gone through in order. They share a latency, which is booked by where they
    /// come from; waits at ports nothing hides.
    #[inline]
    fn add_stream(&mut self, place: &Place, fixed: &Fixed) {
        let Some(stream) = &fixed.stream else {
            return;
        };
        let domains = place.spread.memory_of(place.chip);
        let way = |domain| {
            let distance = place.tree.memory_distance(place.chip, domain);
            (
                distance,
                memory_latency(place, domain, distance, fixed.memory_work),
            )
        };
        let parts = domains.iter().map(|&(domain, share)| {
            let (_, (ns, toll)) = way(domain);
            share * (ns + toll.delay_ns)
        });
        let latency_ns: f64 = parts.sum();
        let exposed = stream.wait_ns(latency_ns, place.cycle()) / latency_ns;
        for &(domain, share) in domains {
            let (distance, (ns, toll)) = way(domain);
            let (book, source) = of_memory(distance);
            let lines = stream.lines * share;
            self.lines.add(source, lines);
            let wait = lines * toll.wait_ns;
            self.wait_ns += wait;
            let latency = share * (ns + toll.delay_ns);
            self.books.add(book, latency * exposed + wait);
        }
        self.memory_lines += stream.lines;
        self.fill_lines += stream.lines;
        self.wants.memory += stream.lines;
    }

    /// Pages whose translation must be looked up.
    #[inline]
    fn add_translation(&mut self, place: &Place, fixed: &Fixed) {
        if let (Some(translation), Some(walked)) = (place.machine.translation, fixed.walked) {
            let ns = self.memory_lines * walked * fixed.exposed * translation.walk_ns;
            self.books.add(Book::Translation, ns);
        }
        if fixed.nested_ns > 0.0 {
            let ns = self.memory_lines * fixed.exposed * fixed.nested_ns;
            self.books.add(Book::Translation, ns);
        }
    }

    /// What refilling the core's caches adds.
    #[inline]
    fn set_reload(&mut self, place: &Place, fixed: &Fixed, levels: &Levels) {
        let refill = (levels.misses[0] - levels.misses[levels.private]).max(0.0);
        let held = place.machine.caches[levels.private].latency_ns;
        let from = place.machine.cache_to_cache_ns;
        let near = place.directory().map_or(from.near, |asked| asked.near_ns());
        self.reload_lines = refill;
        self.reload_ns =
            [from.local, near, from.far].map(|ns| refill * fixed.exposed * (ns - held).max(0.0));
    }
}

/// Core part of an instruction at the clock that its chip has [ns].
#[inline]
fn core_ns(place: &Place, fixed: &Fixed) -> f64 {
    fixed.core_ns * place.cycle()
}

/// What a line from memory at a distance is booked under and counted as.
#[inline]
fn of_memory(distance: Distance) -> (Book, Source) {
    match distance {
        Distance::Local => (Book::MemoryLocal, Source::MemoryLocal),
        Distance::Near => (Book::MemoryNear, Source::MemoryNear),
        Distance::Far => (Book::MemoryFar, Source::MemoryFar),
    }
}

/// Issue slots lost to siblings [ns].
#[inline]
fn siblings_ns(place: &Place, fixed: &Fixed, sum: &Sum, others: Others) -> f64 {
    if place.snoozing_sibling {
        // The busy thread decodes in 15 of 16 cycles, so its core part takes 16/15 of the time.
        core_ns(place, fixed) * IDLE_SIBLING_SLOTS / (1.0 - IDLE_SIBLING_SLOTS)
    } else if place.threads > 1 {
        let own = times(place, fixed, sum.total());
        place.contention.lost_beside(place.threads, own, others)
    } else {
        0.0
    }
}

/// Times of an instruction that takes `base`, but for what threads take from each other.
#[inline]
fn times(place: &Place, fixed: &Fixed, base: f64) -> Times {
    Times {
        base,
        issue: core_ns(place, fixed) * place.partition.profile.issue_share,
        alone: base * fixed.lone,
    }
}

/// Stores that wait for their way to the cache that keeps them; the core's threads share it [ns].
#[inline]
fn stores_ns(place: &Place, fixed: &Fixed, sum: &Sum) -> f64 {
    let wait = |stores| store::wait_ns(sum.total(), stores, place.threads);
    fixed.stores_ns.map_or(0.0, wait)
}

/// Waiting for a lock that another thread holds, and for the lock's line [ns].
#[inline]
fn lock_ns(place: &Place, fixed: &Fixed, sharers: &Sharers, sum: &Sum) -> f64 {
    let profile = &place.partition.profile;
    if profile.lock_share <= 0.0 {
        return 0.0;
    }
    let held = profile.lock_hold_instructions * sum.total();
    let outside = held * (1.0 / profile.lock_share - 1.0);
    let transfer = sharers.elsewhere * transfer_ns(place, fixed, sharers);
    let threads = place.spread.contending_cores() * f64::from(place.threads);
    let wait = lock::wait_ns(profile.lock_kind, threads, outside, held, transfer);
    let between = profile.lock_hold_instructions / profile.lock_share;
    (wait + transfer) / between
}

/// What the guest's clock tick or the hypervisor takes of all that time [ns].
#[inline]
fn share_ns(share: f64, sum: &Sum) -> f64 {
    if share > 0.0 {
        sum.total() * share / (1.0 - share)
    } else {
        0.0
    }
}

/// Mean time to get a line that another core of the partition wrote last [ns].
fn transfer_ns(place: &Place, fixed: &Fixed, sharers: &Sharers) -> f64 {
    if fixed.from_home {
        return mean_memory_latency(place);
    }
    let latencies = sharer_latencies(place, sharers).into_iter();
    latencies.zip(sharers.by).map(|(ns, by)| ns * by).sum()
}
