//! A cost class worked out, part by part.

use super::books::Book;
use super::class::Class;
use super::levels::Levels;
use super::lines::Source;
use super::lock;
use super::place::{exposed, memory_latency, sharer_latencies, Place};
use super::spread::Sharers;
use super::store;
use crate::machine::Distance;
use crate::spec::{CacheScope, Coherence};

/// POWER5 decode-slot rule for an idle thread at priority 1 beside one at 4: it keeps 1 of
/// `2^(|4-1|+1)` slots.
pub const IDLE_SIBLING_SLOTS: f64 = 1.0 / 16.0;

impl Class {
    /// Works out the class.
    pub fn at(place: Place) -> Self {
        let profile = &place.partition.profile;
        let sharers = place.spread.sharers(place.machine, place.tree, place.chip);
        let levels = Levels::of(&place, sharers.elsewhere);
        let (asked, written) = match place.machine.coherence {
            Coherence::Owner => (levels.memory(), levels.communication),
            Coherence::Home => (levels.memory() + levels.communication, 0.0),
        };
        let mut class = Self {
            memory_lines: asked,
            shared_lines: written,
            fill_lines: levels.misses[levels.private] + levels.communication,
            private_lines: levels.private_bytes / f64::from(place.machine.line_bytes),
            ..Self::default()
        };
        let core = profile.eicpi / (place.machine.core_rate * place.machine.clock_hz * 1e-9);
        class.books.add(Book::Useful, core);
        class.add_hits(&place, &levels);
        class.add_sharers(&place, &sharers);
        class.add_memory(&place);
        class.add_translation(&place);
        class.add_siblings(&place, core);
        class.add_stores(&place);
        class.add_lock(&place, &sharers);
        class.add_shares(&place);
        class.set_reload(&place, &levels);
        class.ns = class.books.total();
        class
    }

    /// Hits in the caches.
    fn add_hits(&mut self, place: &Place, levels: &Levels) {
        let exposed = exposed(place);
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
            self.books.add(book, hits * cache.latency_ns * exposed);
        }
    }

    /// Lines that another core wrote last.
    fn add_sharers(&mut self, place: &Place, sharers: &Sharers) {
        let (lines, by) = (self.shared_lines, sharers.by);
        let each = [
            (Source::CacheChip, Book::CacheChip),
            (Source::CacheNear, Book::CacheNear),
            (Source::CacheFar, Book::CacheFar),
        ];
        let ns = sharer_latencies(place, sharers);
        let exposed = exposed(place);
        for (distance, (source, book)) in each.into_iter().enumerate() {
            self.lines.add(source, lines * by[distance]);
            self.books
                .add(book, lines * exposed * by[distance] * ns[distance]);
        }
    }

    /// Lines from memory.
    fn add_memory(&mut self, place: &Place) {
        let exposed = exposed(place);
        for &(domain, share) in place.spread.memory_of(place.chip) {
            let distance = place.tree.memory_distance(place.chip, domain);
            let (book, source) = match distance {
                Distance::Local => (Book::MemoryLocal, Source::MemoryLocal),
                Distance::Near => (Book::MemoryNear, Source::MemoryNear),
                Distance::Far => (Book::MemoryFar, Source::MemoryFar),
            };
            self.lines.add(source, self.memory_lines * share);
            let ns = memory_latency(place, domain);
            self.books
                .add(book, self.memory_lines * exposed * share * ns);
        }
    }

    /// Pages whose translation must be looked up.
    fn add_translation(&mut self, place: &Place) {
        let Some(translation) = place.machine.translation else {
            return;
        };
        let (data, page) = (place.partition.data_bytes, place.partition.page_bytes);
        let reach = f64::from(translation.entries) * page as f64;
        let walked = self.memory_lines * (1.0 - reach / data as f64).max(0.0);
        let ns = walked * exposed(place) * translation.walk_ns;
        self.books.add(Book::Translation, ns);
    }

    /// Issue slots lost to siblings.
    fn add_siblings(&mut self, place: &Place, core: f64) {
        if place.snoozing_sibling {
            // The busy thread decodes in 15 of 16 cycles, so its core part takes 16/15 of the time.
            let lost = core * IDLE_SIBLING_SLOTS / (1.0 - IDLE_SIBLING_SLOTS);
            self.books.add(Book::Smt, lost);
        } else if place.threads > 1 {
            let issue = core * place.partition.profile.issue_share;
            let lost = place
                .contention
                .lost(place.threads, self.books.total(), issue);
            self.books.add(Book::Smt, lost);
        }
    }

    /// Stores that wait for their way to the cache that keeps them; the core's threads share it.
    fn add_stores(&mut self, place: &Place) {
        let (Some(path), profile) = (&place.machine.stores, &place.partition.profile) else {
            return;
        };
        let each = store::occupancy_ns(path, profile, place.machine.clock_hz);
        let stores = profile.store_share * each;
        let ns = store::wait_ns(self.books.total(), stores, place.threads);
        self.books.add(Book::Store, ns);
    }

    /// Waiting for a lock that another thread holds, and for the lock's line.
    fn add_lock(&mut self, place: &Place, sharers: &Sharers) {
        let profile = &place.partition.profile;
        if profile.lock_share <= 0.0 {
            return;
        }
        let held = profile.lock_hold_instructions * self.books.total();
        let outside = held * (1.0 / profile.lock_share - 1.0);
        let transfer = sharers.elsewhere * transfer_ns(place, sharers);
        let threads = place.spread.busy_cores() * f64::from(place.threads);
        let wait = lock::wait_ns(threads, outside, held, transfer);
        let between = profile.lock_hold_instructions / profile.lock_share;
        self.books.add(Book::Spin, (wait + transfer) / between);
    }

    /// What the guest's clock tick and the hypervisor take of all that time.
    fn add_shares(&mut self, place: &Place) {
        for (book, share) in [
            (Book::Tick, place.partition.guest.tick_share()),
            (Book::Hypervisor, place.partition.hypervisor_share),
        ] {
            if share > 0.0 {
                let ns = self.books.total() * share / (1.0 - share);
                self.books.add(book, ns);
            }
        }
    }

    /// What refilling the core's caches adds.
    fn set_reload(&mut self, place: &Place, levels: &Levels) {
        let refill = (levels.misses[0] - levels.misses[levels.private]).max(0.0);
        let held = place.machine.caches[levels.private].latency_ns;
        let from = place.machine.cache_to_cache_ns;
        let exposed = exposed(place);
        self.reload_lines = refill;
        self.reload_ns =
            [from.local, from.near, from.far].map(|ns| refill * exposed * (ns - held).max(0.0));
    }
}

/// Mean time to get a line that another core of the partition wrote last [ns].
fn transfer_ns(place: &Place, sharers: &Sharers) -> f64 {
    match place.machine.coherence {
        Coherence::Owner => {
            let latencies = sharer_latencies(place, sharers).into_iter();
            latencies.zip(sharers.by).map(|(ns, by)| ns * by).sum()
        }
        Coherence::Home => {
            let parts = place.spread.memory_of(place.chip).iter();
            parts
                .map(|&(d, share)| share * memory_latency(place, d))
                .sum()
        }
    }
}
