//! What a virtual processor that comes to a chip must fetch again: what of its footprint the caches
//! of a core cannot hold, but those that cores share do.
//!
//! On a chip, or node, that it was not on last it is missing in their cache, but for what is left
//! there of the time before it was elsewhere. It lies in the cache of the one it left, as far as
//! others have not displaced it there since. Each hit that the thread would have there waits for
//! the line from where it lies instead, until its lines have all been touched once. Who stays loses
//! nothing: how caches are shared the misses hold already, and so they do where any processor takes
//! up work (`roaming`).

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
    /// Whether a partition can have anything there that it may leave behind: with as many threads
    /// busy on its core as there may be its part of the core's caches is the least.
    pub fn reaches(machine: &Machine, partition: &Partition, threads: u8) -> bool {
        let private = Fixed::of(machine, partition, threads.max(1)).levels.bytes;
        machine.active_cores > machine.cores_per_chip
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
        Some(
            match (nearest_cores(place.spread, place.tree, place.chip), at) {
                (Distance::Local, _) | (Distance::Near, 1) => 0.0,
                (distance, _) => self.cache_ns[distance as usize],
            },
        )
    }

    /// How much longer a run of so many instructions takes on the mean [ns], of runs before which
    /// their thread was near, or far, with a chance, while others displaced such shares of what it
    /// had in the caches there; of each cache such shares are kept of before. What one does not
    /// fetch the next one does, unless all is lost before that: of losses that come by chance, a
    /// run fetches those that it gets to.
    pub fn mean_ns(&self, run: f64, chances: [f64; 2], displaced: [f64; 2], kept: [f64; 2]) -> f64 {
        let (mut lost, mut ns) = ([0.0; 2], [0.0; 2]);
        let all = [Distance::Near, Distance::Far].into_iter().zip(chances);
        for (from, chance) in all.filter(|(_, chance)| *chance > 0.0) {
            for (at, gone) in self.gone(from, displaced).into_iter().enumerate() {
                let (share, each) = self.levels[at].missing_beside_others(gone);
                let share = chance * share * (1.0 - kept[at]);
                lost[at] += share;
                ns[at] += share * each;
            }
        }
        let level = |at: usize| {
            let fetched = -(-lost[at] * self.levels[at].instructions / run).exp_m1();
            run * fetched * ns[at] / lost[at].max(1e-300)
        };
        if run > 0.0 {
            level(0) + level(1)
        } else {
            0.0
        }
    }

    /// What is gone in each of the two of lines that were left at a distance: others have since
    /// displaced such shares of what lay in the cache of that chip and of that node.
    pub fn gone(&self, from: Distance, [chip, node]: [f64; 2]) -> [Gone; 2] {
        let held = |ns: [f64; 2]| ns[usize::from(from == Distance::Far)];
        let beyond = self.node_ns.map_or(self.memory_ns, |ns| {
            (1.0 - node) * held(ns) + node * self.memory_ns
        });
        let there = (1.0 - chip) * self.cache_ns[from as usize] + chip * beyond;
        match from {
            Distance::Local => [(0.0, 0.0); 2],
            Distance::Near => [(1.0, there), (0.0, 0.0)],
            Distance::Far => [(1.0, there), (1.0, beyond)],
        }
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
    /// What is left in the cache that it used before.
    before: [Before; 2],
}

/// What a thread has left in a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Before {
    /// Which chip's or node's it is.
    of: usize,
    /// Share of what it has there, and when it left [ns, of whatever clock].
    had: f64,
    at: f64,
}

impl Unfetched {
    /// It comes from a chip's or node's cache, which it left at such a time, to another or the
    /// same: what is missing there but for what it has left there before, of which `kept` is the
    /// share that is not displaced since a time.
    pub fn come(
        &mut self,
        (at, outer): (usize, &Outer),
        (from, left_at): (usize, f64),
        to: usize,
        (lost, ns): (f64, f64),
        kept: impl Fn(f64) -> f64,
    ) {
        let mut share = if self.all[at] > 0.0 {
            self.left[at] / self.all[at]
        } else {
            0.0
        };
        if from != to {
            let now = Before {
                of: from,
                had: 1.0 - share,
                at: left_at,
            };
            let before = std::mem::replace(&mut self.before[at], now);
            share = lost;
            if before.of == to && before.had > 0.0 {
                share *= 1.0 - before.had * kept(before.at);
            }
            self.ns[at] = ns;
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
            let parts = [
                (*own.0, own.1),
                (self.left[0], self.ns[0]),
                (self.left[1], self.ns[1]),
            ];
            let missing = parts.iter().filter(|(left, _)| *left > 0.0);
            let (shortest, longer) = missing
                .fold((f64::INFINITY, 0.0), |(least, sum), (left, ns)| {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A chip's cache of 10 ns and a node's of 30, which hold 60 and 40 thousand instructions'
    /// worth of lines; a hundredth of a line each, of which nothing is hidden.
    fn beyond(common_ns: Option<f64>) -> Beyond {
        let outer = |instructions, held_ns| Outer {
            instructions,
            own: 0.006,
            common: 0.004,
            held_ns,
            common_ns,
        };
        Beyond {
            levels: [outer(60e3, 10.0), outer(40e3, 30.0)],
            cache_ns: [12.0, 30.0, 80.0],
            node_ns: Some([30.0, 80.0]),
            memory_ns: 110.0,
        }
    }

    /// All that one fetches who comes from a distance, while such a part was displaced [ns].
    fn price(beyond: &Beyond, from: Distance, displaced: f64) -> f64 {
        let mut unfetched = Unfetched::default();
        comes(&mut unfetched, beyond, (from, 0), displaced, 0.0);
        unfetched.longer_ns(f64::INFINITY)
    }

    /// Comes from a distance to a place, while such a part was displaced there and here.
    fn comes(
        unfetched: &mut Unfetched,
        beyond: &Beyond,
        (from, to): (Distance, usize),
        displaced: f64,
        displaced_here: f64,
    ) {
        for (at, gone) in beyond.gone(from, [displaced; 2]).into_iter().enumerate() {
            let outer = &beyond.levels[at];
            let missing = outer.missing_beside_others(gone);
            let moves = missing.0 > 0.0;
            let last = (if moves { 1 - to } else { to }, 0.0);
            unfetched.come((at, outer), last, to, missing, |_| 1.0 - displaced_here);
        }
    }

    #[test]
    fn the_farther_it_comes_and_the_more_is_displaced_the_more_it_pays() {
        let [alone, beside] = [None, Some(0.0)].map(beyond);
        assert_eq!(price(&alone, Distance::Local, 0.0), 0.0);
        // By hand: 600 lines at 20 ns more; 600 at 70 and 400 at 50.
        assert!((price(&alone, Distance::Near, 0.0) - 12e3).abs() < 1e-6);
        assert!((price(&alone, Distance::Far, 0.0) - 62e3).abs() < 1e-6);
        assert_eq!(price(&alone, Distance::Local, 1.0), 0.0);
        for from in [Distance::Near, Distance::Far] {
            let each = [0.0, 0.2, 0.7, 1.0].map(|part| price(&alone, from, part));
            assert!(each.windows(2).all(|pair| pair[0] < pair[1]), "{each:?}");
            // Six of ten lines are its own; the others have their part where it comes to.
            let own = price(&beside, from, 0.7) / price(&alone, from, 0.7);
            assert!((own - 0.6).abs() < 1e-9, "{own}");
        }
    }

    #[test]
    fn what_is_not_fetched_is_carried_and_no_more_is_missing_than_there_is() {
        let beyond = beyond(None);
        let mut unfetched = Unfetched::default();
        comes(&mut unfetched, &beyond, (Distance::Near, 0), 0.0, 0.0);
        let rest = |of: &Unfetched| of.longer_ns(f64::INFINITY);
        let all = rest(&unfetched);
        assert!((unfetched.fetch(20e3) - all / 3.0).abs() < 1e-6);
        // Back on the same chip: the rest.
        comes(&mut unfetched, &beyond, (Distance::Local, 0), 1.0, 1.0);
        assert!((rest(&unfetched) - 2.0 / 3.0 * all).abs() < 1e-6);
        // On another one all, and no more.
        comes(&mut unfetched, &beyond, (Distance::Near, 1), 0.0, 1.0);
        assert!((rest(&unfetched) - all).abs() < 1e-6);
        assert!((unfetched.fetch(1e9) - all).abs() < 1e-6 && !unfetched.is_some());
    }

    #[test]
    fn who_comes_back_soon_finds_what_it_had() {
        let beyond = beyond(None);
        let back = |displaced: f64| {
            let mut unfetched = Unfetched::default();
            comes(&mut unfetched, &beyond, (Distance::Far, 1), 0.0, 0.0);
            // All of the chip's, half of the node's.
            unfetched.left = [0.0, 20e3];
            comes(&mut unfetched, &beyond, (Distance::Far, 0), 0.0, displaced);
            unfetched.left
        };
        // It was there before with all of it.
        assert_eq!(back(0.0), [0.0, 0.0]);
        assert_eq!(back(0.25), [15e3, 10e3]);
        assert_eq!(back(1.0), [60e3, 40e3]);
    }

    #[test]
    fn time_goes_into_as_many_instructions_as_take_it() {
        let beyond = beyond(None);
        let warm_ns = 0.5;
        for run in [1.0, 4e3, 39e3, 50e3, 70e3, 1e6] {
            let (mut unfetched, mut own) = (Unfetched::default(), 5e3);
            comes(&mut unfetched, &beyond, (Distance::Far, 0), 0.0, 0.0);
            let longer = unfetched.longer_ns(run) + run.min(own) * 0.3;
            let before = unfetched;
            let ns = run * warm_ns + longer;
            let (done, cold) = unfetched.go_on(ns, warm_ns, (&mut own, 0.3));
            assert!((done / run - 1.0).abs() < 1e-9, "{run}: {done}");
            assert!((cold / longer - 1.0).abs() < 1e-9, "{run}: {cold}");
            assert!((own - (5e3 - run).max(0.0)).abs() < 1e-6);
            // As far as if instructions were counted.
            let mut counted = before;
            counted.fetch(run);
            let rest = |of: &Unfetched| of.longer_ns(f64::INFINITY);
            assert!((rest(&counted) - rest(&unfetched)).abs() < 1e-3);
        }
    }

    #[test]
    fn runs_that_move_more_often_or_farther_fetch_more_and_never_more_than_they_touch() {
        let beyond = beyond(None);
        let mean = |near: f64, far: f64| beyond.mean_ns(10e3, [near, far], [0.0; 2], [0.0; 2]);
        let by_chance = [0.0, 1e-3, 0.1, 0.5, 1.0].map(|far| mean(0.0, far));
        assert_eq!(by_chance[0], 0.0);
        assert!(by_chance.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(mean(0.1, 0.0) < mean(0.0, 0.1));
        // Seldom: all of it each time. Always: what a run touches of both.
        assert!((by_chance[1] / (1e-3 * price(&beyond, Distance::Far, 0.0)) - 1.0).abs() < 0.01);
        assert!(by_chance[4] < 10e3 * 0.01 * (70.0 + 50.0));
        // What rounding leaves of a chance is none.
        assert_eq!(mean(0.0, -1e-17), 0.0);
        let kept = |part: f64| beyond.mean_ns(10e3, [0.1, 0.1], [0.0; 2], [part; 2]);
        assert!(kept(1.0) == 0.0 && kept(0.9) < kept(0.5));
        let displaced = |part: f64| beyond.mean_ns(10e3, [0.1, 0.1], [part; 2], [0.0; 2]);
        assert!(displaced(0.0) < displaced(0.1) && displaced(0.1) < displaced(0.5));
    }
}
