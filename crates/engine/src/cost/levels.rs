//! Misses and capacities of the cache levels, as one thread has them.

use super::fixed::{self, Fixed};
use super::place::Place;
use crate::ids::Span;
use crate::machine::MAX_CACHES;
use crate::spec::CacheScope;

/// Misses and capacities of each cache level for one thread.
pub(super) struct Levels {
    /// Number of levels.
    pub count: usize,
    /// Misses per instruction beyond each level, communication apart.
    pub misses: [f64; MAX_CACHES],
    /// Capacity for one thread up to the last level private to a core [bytes].
    pub private_bytes: f64,
    /// Index of that level.
    pub private: usize,
    /// Communication misses per instruction.
    pub communication: f64,
}

impl Levels {
    /// Levels at a place; `elsewhere` is the chance that another core wrote a shared line last.
    #[inline]
    pub fn of(place: &Place, fixed: &Fixed, elsewhere: f64) -> Self {
        let caches = &place.machine.caches;
        let sharing = place.partition.profile.sharing * elsewhere;
        let private = &fixed.levels;
        let mut levels = Self {
            count: caches.len(),
            misses: private.misses,
            private_bytes: private.bytes,
            private: private.count.saturating_sub(1),
            communication: 0.0,
        };
        if sharing > 0.0 {
            levels.communication = sharing * fixed.shared_misses;
        }
        let alone = 1.0 - sharing;
        for misses in &mut levels.misses[..private.count] {
            *misses *= alone;
        }
        let mut inside = private.bytes;
        for (level, cache) in caches.iter().enumerate().skip(private.count) {
            let finds = finds(place, fixed, level);
            let [own, common] = finds.map(|bytes| fixed::inside(inside, cache, bytes));
            levels.misses[level] = alone * fixed.working.misses(own, common);
            inside = own;
            if level == 0 {
                levels.private = level;
                levels.private_bytes = inside;
            }
        }
        levels
    }

    /// Hits per instruction in a level other than the first.
    #[inline]
    pub fn hits(&self, level: usize) -> f64 {
        (self.misses[level - 1] - self.misses[level]).max(0.0)
    }

    /// Misses per instruction that memory serves.
    #[inline]
    pub fn memory(&self) -> f64 {
        self.misses[self.count - 1]
    }
}

/// Bytes that a thread finds in a shared cache: of its own, and of what it has in common with
/// others of its partition that were behind it. Whoever was not there yet goes as fast as on an
/// idle machine.
#[inline]
fn finds(place: &Place, fixed: &Fixed, level: usize) -> [f64; 2] {
    let bytes = place.machine.caches[level].bytes as f64;
    let age = place.occupancy.ages.of(level, place.tree, place.chip);
    if age == f64::INFINITY {
        return [bytes; 2];
    }
    let (threads, all) = match place.machine.caches[level].scope {
        CacheScope::Node => {
            let node = place.tree.node_of(place.chip);
            place.spread.work_on(place.tree.chips_of(node))
        }
        _ => place.spread.work_on(Span::new(place.chip.index(), 1)),
    };
    let each = if threads > 0.0 {
        all / threads
    } else {
        1.0 / fixed.idle_ns
    };
    let own = fixed.working.brought(each * age).min(bytes);
    if all <= each {
        return [own; 2];
    }
    [own, fixed.working.brought(all * age).min(bytes)]
}
