//! What a virtual processor that comes to a chip must fetch again: what of its footprint the caches
//! of a core cannot hold, but those that cores share do.
//!
//! On a chip, or node, that it was not on last all of it is missing in their cache, and lies in the
//! cache of the one it left, as far as others have not displaced it there since. Each hit that the
//! thread would have there waits for the line from where it lies instead, until its lines have all
//! been touched once. Work that any processor takes up (`roaming`) is left out: its misses, told
//! with what lies in which cache, hold that already.

use super::fixed::Fixed;
use super::levels::Levels;
use super::place::{mean_memory_latency, sharer_latencies, Place};
use super::refill::nearest_cores;
use crate::machine::Distance;
use crate::spec::{CacheScope, Coherence, Guest, Machine, Partition};

/// Kinds of caches that cores share, by who shares them: a chip's cores, a node's.
const SHARED: [CacheScope; 2] = [CacheScope::Chip, CacheScope::Node];

/// What a cost class has in the caches of its chip and its node, and from where it comes back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Beyond {
    /// What it has in the chip's, and in the node's.
    pub levels: [Outer; 2],
    /// Latency of a line in another chip's cache, by distance [ns].
    cache_ns: [f64; 3],
    /// Latency of one in the cache of this node, and of another [ns]; none has such a cache.
    node_ns: Option<[f64; 2]>,
    /// Latency of a line in memory [ns].
    memory_ns: f64,
}

/// What it has in a cache that cores share.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outer {
    /// Instructions that touch all of it once; 0 if there is nothing.
    pub instructions: f64,
    /// Latencies that one of them waits for: of lines that are its own, of those that its partition
    /// has in common.
    own: f64,
    common: f64,
    /// Latency of that cache [ns].
    held_ns: f64,
    /// Latency of lines in common where they are nearest [ns]; none has them in common with others.
    common_ns: Option<f64>,
}

/// Of what is left in a place, the share that is missing where it is needed, and the latency of a
/// line of it [ns].
pub type Gone = (f64, f64);

impl Beyond {
    /// Whether a partition can have anything there: with as many threads busy on its core as there
    /// may be its part of the core's caches is the least.
    pub fn reaches(machine: &Machine, partition: &Partition, threads: u8) -> bool {
        let private = Fixed::of(machine, partition, threads.max(1)).levels.bytes;
        machine.nodes * machine.chips_per_node > 1
            && partition.profile.footprint_bytes as f64 > private
            && machine.caches.iter().any(|of| SHARED.contains(&of.scope))
    }

    /// Of a partition at a place.
    pub fn of(place: &Place, fixed: &Fixed) -> Self {
        let machine = place.machine;
        let sharers = place.spread.sharers(machine, place.tree, place.chip);
        let memory_ns = mean_memory_latency(place);
        let cache_ns = match machine.coherence {
            Coherence::Owner | Coherence::Directory => sharer_latencies(place, &sharers),
            Coherence::Home => [memory_ns; 3],
        };
        let of_nodes = machine.caches.iter().rfind(|of| of.scope == SHARED[1]);
        let levels = Levels::of(place, fixed, &sharers);
        let mut all = Self {
            levels: [Outer::default(); 2],
            cache_ns,
            node_ns: of_nodes.map(|of| [of.latency_ns, cache_ns[Distance::Far as usize]]),
            memory_ns,
        };
        let mut inner = levels.private;
        for (at, scope) in SHARED.into_iter().enumerate() {
            if let Some(level) = machine.caches.iter().rposition(|of| of.scope == scope) {
                if level > inner {
                    all.levels[at] = all.outer((place, fixed), &levels, [inner, level], at);
                    inner = level;
                }
            }
        }
        all
    }

    /// What lies in one level and not in the ones up to an inner one.
    fn outer(
        &self,
        (place, fixed): (&Place, &Fixed),
        levels: &Levels,
        [inner, level]: [usize; 2],
        at: usize,
    ) -> Outer {
        let profile = &place.partition.profile;
        let footprint = profile.footprint_bytes as f64;
        let (held, outer) = (levels.found[inner], levels.found[level]);
        let more = |to: f64, from: f64| (footprint.min(to) - footprint.min(from)).max(0.0);
        let own = (1.0 - profile.footprint_common) * more(outer.own, held.own);
        let common = profile.footprint_common * more(outer.common, held.common);
        let hits = levels.misses[inner] - levels.misses[level];
        let lines = (own + common) / f64::from(place.machine.line_bytes);
        if lines <= 0.0 || hits <= 0.0 {
            return Outer::default();
        }
        let each = hits * fixed.exposed / (own + common);
        Outer {
            instructions: lines / hits,
            own: each * own * (1.0 - profile.roaming),
            common: each * common,
            held_ns: place.machine.caches[level].latency_ns,
            common_ns: self.common_ns(place, at),
        }
    }

    /// Latency of lines in common where the partition's other cores have them.
    fn common_ns(&self, place: &Place, at: usize) -> Option<f64> {
        // Virtual machines that run in turn have nothing in common.
        if matches!(place.partition.guest, Guest::Zvm(_)) {
            return None;
        }
        Some(match (nearest_cores(place.spread, place.tree, place.chip), at) {
            (Distance::Local, _) | (Distance::Near, 1) => 0.0,
            (distance, _) => self.cache_ns[distance as usize],
        })
    }

    /// What is gone of lines that were left at a distance, in each of the two: others have since
    /// displaced such shares of what lay in the cache of that chip and of that node.
    pub fn gone(&self, from: Distance, [chip, node]: [f64; 2]) -> [Gone; 2] {
        let beyond = match self.node_ns {
            None => self.memory_ns,
            Some([here, there]) => {
                let held = if from == Distance::Far { there } else { here };
                (1.0 - node) * held + node * self.memory_ns
            }
        };
        let of_chip = match from {
            Distance::Local => (chip, beyond),
            _ => {
                let held = self.cache_ns[from as usize];
                (1.0, (1.0 - chip) * held + chip * beyond)
            }
        };
        let of_node = match from {
            Distance::Far => (1.0, beyond),
            _ => (node, self.memory_ns),
        };
        [of_chip, of_node]
    }
}

impl Outer {
    /// Share of it that is missing, and extra time of an instruction while that is fetched [ns],
    /// where such parts are gone of what is its own, and of what is in common.
    pub fn missing(&self, own: Gone, common: Gone) -> (f64, f64) {
        let waits = |each: f64, (lost, ns): Gone| each * lost * (ns - self.held_ns).max(0.0);
        let ns = waits(self.own, own) + waits(self.common, common);
        let lost = own.0.max(common.0);
        if ns > 0.0 {
            (lost, ns / lost)
        } else {
            (0.0, 0.0)
        }
    }

    /// The same in a partition whose other cores may have what is in common.
    pub fn missing_beside_others(&self, own: Gone) -> (f64, f64) {
        let common = match self.common_ns {
            None => own,
            Some(ns) => (own.0, ns.min(own.1)),
        };
        self.missing(own, common)
    }
}

/// What of it a thread has not fetched yet, in the chip's cache and the node's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Unfetched {
    /// Instructions until all is there.
    left: [f64; 2],
    /// Extra time of an instruction meanwhile [ns].
    ns: [f64; 2],
    /// Instructions until all were there if nothing were.
    all: [f64; 2],
}

impl Unfetched {
    /// Such a share of what lies in one of the caches is missing besides what was already, and such
    /// is the extra time of an instruction while it is fetched [ns].
    pub fn lose(&mut self, at: usize, outer: &Outer, (lost, ns): (f64, f64)) {
        let before = if self.all[at] > 0.0 {
            self.left[at] / self.all[at]
        } else {
            0.0
        };
        let more = (1.0 - before) * lost;
        let share = before + more;
        if lost >= 1.0 {
            self.ns[at] = ns;
        } else if more > 0.0 {
            self.ns[at] = (before * self.ns[at] + more * ns) / share;
        }
        self.all[at] = outer.instructions;
        self.left[at] = share * outer.instructions;
    }

    /// Whether something is missing.
    pub fn is_some(&self) -> bool {
        self.left[0] > 0.0 || self.left[1] > 0.0
    }

    /// How much longer so many instructions take [ns].
    pub fn longer_ns(&self, instructions: f64) -> f64 {
        let longer = |at: usize| self.left[at].min(instructions) * self.ns[at];
        longer(0) + longer(1)
    }

    /// So many instructions are done; how much longer they took [ns].
    pub fn fetch(&mut self, instructions: f64) -> f64 {
        let ns = self.longer_ns(instructions);
        self.left = self.left.map(|left| (left - instructions).max(0.0));
        ns
    }

    /// Goes on for a time with instructions of `warm_ns` each, some of which also refill the core's
    /// own caches: those, and how much longer each of them takes [ns]. How many are done, and how
    /// much of the time went into missing lines [ns].
    pub fn go_on(&mut self, mut ran: f64, warm_ns: f64, own: (&mut f64, f64)) -> (f64, f64) {
        let (mut done, mut cold) = (0.0, 0.0);
        loop {
            let parts = [(*own.0, own.1), (self.left[0], self.ns[0]), (self.left[1], self.ns[1])];
            let missing = parts.iter().filter(|(left, _)| *left > 0.0);
            let (shortest, longer) = missing.fold((f64::INFINITY, 0.0), |(least, sum), (left, ns)| {
                (left.min(least), sum + ns)
            });
            let each = warm_ns + longer;
            let slow = (ran / each).min(shortest);
            done += slow;
            cold += slow * longer;
            ran = (ran - slow * each).max(0.0);
            for left in self.left.iter_mut().chain([&mut *own.0]) {
                *left = (*left - slow).max(0.0);
            }
            if slow < shortest {
                return (done, cold);
            }
        }
    }
}
