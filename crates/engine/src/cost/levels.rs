//! Misses and capacities of the cache levels, as one thread has them.

use super::age::Found;
use super::fixed::{self, Fixed};
use super::place::Place;
use super::spread::Sharers;
use crate::ids::{ChipId, Span};
use crate::machine::MAX_CACHES;
use crate::spec::CacheScope;

/// Misses and capacities of each cache level for one thread.
pub(super) struct Levels {
    /// Number of levels.
    pub count: usize,
    /// Misses per instruction beyond each level, communication apart.
    pub misses: [f64; MAX_CACHES],
    /// Copies among them.
    pub copies: [f64; MAX_CACHES],
    /// Capacity for one thread up to the last level private to a core [bytes].
    pub private_bytes: f64,
    /// Index of that level.
    pub private: usize,
    /// What a thread finds up to each [bytes].
    pub found: [Found; MAX_CACHES],
    /// Communication misses per instruction.
    pub communication: f64,
    /// Misses of the last level that another instance of it serves: work that roams was there last.
    pub roamed: f64,
}

impl Levels {
    /// Levels at a place, with the partition's other cores as seen from there.
    #[inline]
    pub fn of(place: &Place, fixed: &Fixed, sharers: &Sharers) -> Self {
        let caches = &place.machine.caches;
        let sharing = place.partition.profile.sharing * sharers.elsewhere;
        let private = &fixed.levels;
        let mut levels = Self {
            count: caches.len(),
            misses: private.misses,
            copies: private.copies,
            private_bytes: private.bytes,
            private: private.count.saturating_sub(1),
            found: [Found::all(private.bytes); MAX_CACHES],
            communication: 0.0,
            roamed: 0.0,
        };
        if sharing > 0.0 {
            levels.communication = sharing * fixed.shared_misses;
        }
        let alone = 1.0 - sharing;
        for misses in &mut levels.misses[..private.count] {
            *misses *= alone;
        }
        let mut inside = private.bytes;
        let mut roaming = inside;
        for (level, cache) in caches.iter().enumerate().skip(private.count) {
            let finds = finds(place, fixed, level);
            let found = finds.map(|bytes| fixed::inside(inside, cache, bytes));
            levels.misses[level] = alone * fixed.working.misses(found);
            levels.copies[level] = fixed.working.copies(found);
            levels.found[level] = found;
            (inside, roaming) = (found.own, found.roaming);
            if level == 0 {
                levels.private = level;
                levels.private_bytes = inside;
            }
        }
        let beyond = levels.count > private.count && sharers.beyond_chip() > 0.0;
        if fixed.working.roams() && !fixed.from_home && beyond {
            let left = fixed.working.roaming_misses(roaming) - elsewhere_missed(place, fixed);
            levels.roamed = (alone * left).max(0.0);
        }
        // Nobody else writes what a thread copies, so that it is all misses of its own.
        for (misses, copies) in levels.misses.iter_mut().zip(levels.copies) {
            *misses += copies;
        }
        levels
    }

    /// Hits per instruction in a level other than the first.
    #[inline]
    pub fn hits(&self, level: usize) -> f64 {
        (self.misses[level - 1] - self.misses[level]).max(0.0)
    }

    /// Copies among them.
    #[inline]
    pub fn copied(&self, level: usize) -> f64 {
        (self.copies[level - 1] - self.copies[level]).max(0.0)
    }

    /// Misses per instruction that memory serves.
    #[inline]
    pub fn memory(&self) -> f64 {
        self.misses[self.count - 1] - self.roamed
    }
}

/// Bytes that a thread finds in a shared cache: of its own, and of what it has in common with
/// others of its partition that were behind it. Whoever was not there yet goes as fast as on an
/// idle machine.
#[inline]
fn finds(place: &Place, fixed: &Fixed, level: usize) -> Found {
    let bytes = place.machine.caches[level].bytes as f64;
    let age = place.occupancy.ages.of(level, place.tree, place.chip);
    if age == f64::INFINITY {
        return Found::all(bytes);
    }
    let (threads, all) = place.spread.work_on(behind(place, level, place.chip));
    let each = if threads > 0.0 {
        all / threads
    } else {
        1.0 / fixed.idle_ns
    };
    let brought = |per_ns: f64| fixed.working.brought(per_ns * age).min(bytes);
    let mut found = Found::all(brought(each));
    if all > each {
        found.common = brought(all);
    }
    if fixed.working.roams() {
        found.roaming = brought(all.max(each) / place.spread.busy_threads().max(1.0));
    }
    found
}

/// Chips whose cores share an instance of a level with those of `chip`.
#[inline]
fn behind(place: &Place, level: usize, chip: ChipId) -> Span<ChipId> {
    match place.machine.caches[level].scope {
        CacheScope::Node => place.tree.chips_of(place.tree.node_of(chip)),
        _ => Span::new(chip.index(), 1),
    }
}

/// Misses of work that roams in all instances of the last level: it lies where it was last, in one
/// of them with the chance that its partition's work is done there, and for as long as lines stay
/// there.
fn elsewhere_missed(place: &Place, fixed: &Fixed) -> f64 {
    let level = place.machine.caches.len() - 1;
    let bytes = place.machine.caches[level].bytes as f64;
    let (jobs, all) = (place.spread.busy_threads().max(1.0), place.spread.per_ns());
    let mut missed = 0.0;
    place.spread.each_at_work(|chip, _, per_ns| {
        let age = place.occupancy.ages.of(level, place.tree, chip);
        let found = if age == f64::INFINITY {
            bytes
        } else {
            fixed.working.brought(all * age / jobs)
        };
        missed += per_ns / all * fixed.working.roaming_misses(found);
    });
    missed
}
