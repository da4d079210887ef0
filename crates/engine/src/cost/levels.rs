//! Misses and capacities of the cache levels, as one thread has them.

use super::fixed::Fixed;
use super::place::Place;
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
        let threads = f64::from(place.threads);
        let mut inside = private.bytes;
        for (level, cache) in caches.iter().enumerate().skip(private.count) {
            let own = cache.bytes as f64 / users(place, cache.scope) / threads;
            inside = if cache.victim {
                inside + own
            } else {
                inside.max(own)
            };
            levels.misses[level] = alone * fixed.curve.at(inside);
            if level == 0 || cache.scope <= CacheScope::Core {
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

/// Cores that divide a cache: those busy in the last windows, this one at least.
#[inline]
fn users(place: &Place, scope: CacheScope) -> f64 {
    let busy = &place.occupancy.busy_cores;
    let cores: f64 = match scope {
        CacheScope::Part | CacheScope::Core => return 1.0,
        CacheScope::Chip => busy[place.chip],
        CacheScope::Node => {
            let node = place.tree.node_of(place.chip);
            busy.slice(place.tree.chips_of(node)).iter().sum()
        }
    };
    cores.max(1.0)
}
