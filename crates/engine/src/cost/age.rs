//! How long a line stays in a cache that cores share, and what a thread finds there.
//!
//! A line that nobody asks for again leaves when as many others have come as the cache holds; its
//! *age* then, T, is the same for all (Che, Tung, Wang, Hierarchical Web caching systems: modeling,
//! design and experimental results, 2002). A thread that runs alone for so many instructions x has
//! brought in K(x) bytes, by its own curve of misses m:
//!
//! ```text
//! dK/dx = line m(K)      K(x) = C0 ((1 + (1 + a) m0 line x / C0)^(1/(1+a)) - 1)
//! ```
//! A share f of what a thread touches is common to all threads of its partition. What n of them
//! asked for in the last T they find there whoever of them asked; the rest each has for itself.
//! With v instructions in a nanosecond of all of them, the cache is full of what all partitions
//! brought in:
//!
//! ```text
//! sum over partitions of  (1 - f) n K(v T / n) + f K(v T)  =  capacity
//! ```
//! What each has for itself stays with a processor, or is work that any of the N busy threads of
//! the partition takes up (`roaming`, the share r): then every cache sees all of it by turns, as
//! it would N jobs that are each there for 1/N of the time, and n K(v T / n) is
//! `(1 - r) n K(v T / n) + r N K(v T / N)`.
//!
//! A working set that is touched evenly adds W (1 - e^(-q line x / W)) to K and q e^(-q line x / W)
//! to m (see [`MissCurve`]). Buffers that are copied do as well, with f = r = 0.
//!
//! So neighbours take by what they bring in and not by being busy, threads that share data lose
//! less to each other than strangers do, and data that many cores of a chip use lie there once.

use super::miss::MissCurve;
use super::spread::Spread;
use crate::ids::{ChipId, NodeId, Span};
use crate::machine::Topology;
use crate::spec::{Cache, CacheScope, Machine, Profile};

/// What a thread brings into caches and how much of it others of its partition want too.
#[derive(Clone, Copy, Debug)]
pub struct Working {
    curve: MissCurve,
    common: f64,
    roaming: f64,
    line_bytes: f64,
}

/// What a thread finds in caches up to one of them [bytes].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    /// Of what is its own.
    pub own: f64,
    /// Of its own work, where any processor takes that up.
    pub roaming: f64,
    /// Of what is common to its partition.
    pub common: f64,
}

impl Found {
    /// As much of everything.
    pub fn all(bytes: f64) -> Self {
        Self {
            own: bytes,
            roaming: bytes,
            common: bytes,
        }
    }

    /// Each changed alike.
    pub fn map(self, change: impl Fn(f64) -> f64) -> Self {
        Self {
            own: change(self.own),
            roaming: change(self.roaming),
            common: change(self.common),
        }
    }
}

/// Ages of lines in shared caches.
#[derive(Clone, Debug)]
pub struct Ages {
    levels: Vec<Level>,
}

/// The instances of a cache level.
#[derive(Clone, Debug)]
struct Level {
    scope: CacheScope,
    bytes: f64,
    /// By chip or by node [ns]; infinite where nothing comes in.
    ages: Vec<f64>,
    /// The same before the last step, where only a part of the machine is followed.
    lasts: Vec<f64>,
    /// What partitions do behind each.
    streams: Vec<Vec<Stream>>,
}

/// What a partition does behind a cache.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stream {
    partition: usize,
    threads: f64,
    per_ns: f64,
    /// Busy threads of the partition wherever they are, if its work roams.
    everywhere: f64,
}

impl Working {
    /// With buffers of so many bytes in place of one job's, if it has some.
    pub(super) fn with_buffers(mut self, bytes: f64) -> Self {
        if let Some(buffers) = &mut self.curve.buffers {
            buffers.bytes = bytes;
        }
        self
    }

    /// Its misses by capacity.
    pub(super) fn curve(&self) -> MissCurve {
        self.curve
    }

    /// Of one job of a profile on a machine.
    pub fn of(machine: &Machine, profile: &Profile) -> Self {
        Self {
            curve: MissCurve::of(profile, machine.line_bytes),
            common: profile.footprint_common,
            roaming: profile.roaming,
            line_bytes: f64::from(machine.line_bytes),
        }
    }

    /// Bytes brought in by so many instructions.
    pub fn brought(&self, instructions: f64) -> f64 {
        self.curve.brought(self.line_bytes * instructions)
    }

    /// What each of so many threads of a partition finds in a cache that is theirs alone: of its
    /// own and in common [bytes].
    pub(super) fn divided(&self, bytes: f64, threads: f64) -> (f64, f64) {
        let copied = self.curve.most_copied();
        let usual = self.curve.most() - copied;
        let most = ((1.0 - self.common) * threads + self.common) * usual + threads * copied;
        if threads <= 1.0 || self.curve.is_nothing() || most <= bytes {
            return (bytes, bytes);
        }
        let mut done = 0.0;
        for _ in 0..40 {
            let (each, all) = (done / threads, done);
            let (common, own) = (self.common, 1.0 - self.common);
            let held = own * threads * self.usual_brought(each)
                + common * self.usual_brought(all)
                + threads * self.copies_brought(each);
            let fills = own * self.usual_fill(1.0, each)
                + common * self.usual_fill(1.0, all)
                + self.copies_fill(1.0, each);
            let step = (bytes - held) / fills;
            done += step;
            if step.abs() <= 1e-12 * done {
                break;
            }
        }
        (self.brought(done / threads), self.brought(done))
    }

    /// Bytes brought in by so many instructions, copies left out.
    fn usual_brought(&self, instructions: f64) -> f64 {
        self.curve.usual_brought(self.line_bytes * instructions)
    }

    /// Bytes that copies brought in by so many instructions.
    fn copies_brought(&self, instructions: f64) -> f64 {
        self.curve.copies_brought(self.line_bytes * instructions)
    }

    /// Bytes a nanosecond that a cache gets of so many instructions in it, copies left out, after
    /// so many of one thread.
    fn usual_fill(&self, per_ns: f64, after: f64) -> f64 {
        per_ns * self.line_bytes * self.curve.usual_after(self.line_bytes * after)
    }

    /// The same for copies.
    fn copies_fill(&self, per_ns: f64, after: f64) -> f64 {
        per_ns * self.line_bytes * self.curve.copies_after(self.line_bytes * after)
    }

    /// Whether any processor takes up its work.
    pub(super) fn roams(&self) -> bool {
        self.roaming > 0.0
    }

    /// Misses of a thread which finds so many bytes, copies left out.
    pub(super) fn misses(&self, found: Found) -> f64 {
        let at = |bytes| self.curve.usual_at(bytes);
        if found.own == found.common && (found.own == found.roaming || !self.roams()) {
            return at(found.own);
        }
        let alone = if self.roams() {
            let (stays, roams) = (1.0 - self.roaming, self.roaming);
            stays * at(found.own) + roams * at(found.roaming)
        } else {
            at(found.own)
        };
        (1.0 - self.common) * alone + self.common * at(found.common)
    }

    /// Copies among them: a thread's buffers are its own and stay with it.
    pub(super) fn copies(&self, found: Found) -> f64 {
        self.curve.copies_at(found.own)
    }

    /// Misses that go to work which roams, of a thread that finds so many bytes of it.
    pub(super) fn roaming_misses(&self, bytes: f64) -> f64 {
        (1.0 - self.common) * self.roaming * self.curve.usual_at(bytes)
    }
}

impl Ages {
    /// Of a machine on which nothing ran.
    pub fn new(machine: &Machine, tree: &Topology) -> Self {
        let level = |cache: &Cache| {
            let instances = match cache.scope {
                CacheScope::Part | CacheScope::Core => 0,
                CacheScope::Chip => tree.chips().len(),
                CacheScope::Node => tree.nodes().len(),
            };
            Level {
                scope: cache.scope,
                bytes: cache.bytes as f64,
                ages: vec![f64::INFINITY; instances],
                lasts: vec![f64::NAN; instances],
                streams: vec![Vec::new(); instances],
            }
        };
        Self {
            levels: machine.caches.iter().map(level).collect(),
        }
    }

    /// Age of a line in the instance of a level that a chip's cores use [ns].
    pub fn of(&self, level: usize, tree: &Topology, chip: ChipId) -> f64 {
        let of = &self.levels[level];
        match of.scope {
            CacheScope::Node => of.ages[tree.node_of(chip).index()],
            _ => of.ages[chip.index()],
        }
    }

    /// Times in which as many lines come into the caches of a chip and of its node as they hold:
    /// the ages of their lines. None where there is no such cache [ns].
    pub fn turnovers(&self, tree: &Topology, chip: ChipId) -> [Option<f64>; 2] {
        [CacheScope::Chip, CacheScope::Node].map(|scope| {
            let level = self.levels.iter().rposition(|of| of.scope == scope);
            level.map(|level| self.of(level, tree, chip))
        })
    }

    /// Sets the age in all instances of a level [ns].
    pub fn set(&mut self, level: usize, ns: f64) {
        self.levels[level].ages.fill(ns);
    }

    /// Becomes like others of the same machine.
    pub fn follow(&mut self, other: &Self) {
        for (level, other) in self.levels.iter_mut().zip(&other.levels) {
            level.ages.clone_from(&other.ages);
        }
    }

    /// Whether lines stay as long beside both chips, but for a thousandth.
    pub fn are_alike(&self, tree: &Topology, one: ChipId, other: ChipId) -> bool {
        (0..self.levels.len()).all(|level| {
            if self.levels[level].ages.is_empty() {
                return true;
            }
            let (one, other) = (self.of(level, tree, one), self.of(level, tree, other));
            one == other || (one - other).abs() <= 1e-3 * one
        })
    }

    /// Follows what some partitions did lately on some nodes, where no others run.
    pub fn update_on(
        &mut self,
        (tree, nodes): (&Topology, &[NodeId]),
        spreads: &[Spread],
        working: &[Working],
        who: impl Iterator<Item = usize> + Clone,
    ) {
        for level in self.levels.iter_mut().filter(|of| !of.ages.is_empty()) {
            for chips in nodes.iter().map(|node| tree.chips_of(*node)) {
                if level.scope == CacheScope::Node {
                    let node = tree.node_of(chips.at(0)).index();
                    level.update(node, chips, spreads, working, who.clone());
                    continue;
                }
                for chip in chips.numbers() {
                    let only = Span::new(chip, 1);
                    level.update(chip, only, spreads, working, who.clone());
                }
            }
        }
    }

    /// Follows what partitions did lately.
    pub fn update(&mut self, tree: &Topology, spreads: &[Spread], working: &[Working]) {
        for level in &mut self.levels {
            if level.ages.is_empty() {
                continue;
            }
            level.streams.iter_mut().for_each(Vec::clear);
            for (partition, spread) in spreads.iter().enumerate() {
                spread.each_at_work(|chip, threads, per_ns| {
                    let at = match level.scope {
                        CacheScope::Node => tree.node_of(chip).index(),
                        _ => chip.index(),
                    };
                    let all = everywhere(spread, &working[partition]);
                    add(&mut level.streams[at], (partition, all), threads, per_ns);
                });
            }
            for (age, streams) in level.ages.iter_mut().zip(&level.streams) {
                *age = next_age(level.bytes, *age, streams, working);
            }
        }
    }
}

impl Level {
    /// A step of one instance, which is beside some chips.
    fn update(
        &mut self,
        at: usize,
        chips: Span<ChipId>,
        spreads: &[Spread],
        working: &[Working],
        who: impl Iterator<Item = usize>,
    ) {
        let (before, rest) = self.streams.split_at_mut(at);
        let streams = &mut rest[0];
        streams.clear();
        for partition in who {
            let (threads, per_ns) = spreads[partition].work_on(chips);
            if threads > 0.0 {
                let all = everywhere(&spreads[partition], &working[partition]);
                add(streams, (partition, all), threads, per_ns);
            }
        }
        self.lasts[at] = self.ages[at];
        // Neighbours with which all is alike need not be worked out again.
        let alike = before.last().filter(|of| !of.is_empty() && *of == streams);
        self.ages[at] = match alike {
            Some(_) if self.lasts[at - 1] == self.lasts[at] => self.ages[at - 1],
            _ => next_age(self.bytes, self.ages[at], streams, working),
        };
    }
}

/// Adds what a partition does on a chip: its chips of a node follow each other.
fn add(
    streams: &mut Vec<Stream>,
    (partition, everywhere): (usize, f64),
    threads: f64,
    per_ns: f64,
) {
    match streams.last_mut() {
        Some(last) if last.partition == partition => {
            last.threads += threads;
            last.per_ns += per_ns;
        }
        _ => streams.push(Stream {
            partition,
            threads,
            per_ns,
            everywhere,
        }),
    }
}

/// Busy threads of a partition wherever they are; none counted where no work roams.
fn everywhere(spread: &Spread, working: &Working) -> f64 {
    if working.roams() {
        spread.busy_threads()
    } else {
        0.0
    }
}

/// Power of what is missing of a cache by which an age may grow: above that of all laws of misses.
const STEEPEST: f64 = 16.0;

/// A step from the last age towards that at which the streams fill a cache [ns]; the next window
/// goes on. It goes by logarithms, in which what has come in is almost a straight line over time: a
/// cache that lay idle is soon as full as it will be, and no step goes below nothing.
fn next_age(bytes: f64, last: f64, streams: &[Stream], working: &[Working]) -> f64 {
    let (_, empty) = filled(0.0, streams, working);
    if empty <= 0.0 {
        return f64::INFINITY;
    }
    let known = last.is_finite() && last > 0.0;
    let age = if known { last } else { bytes / empty };
    let (held, fills) = filled(age, streams, working);
    // A set that is in as a whole brings in nothing more: it takes a few windows to see that.
    age * (bytes / held).powf((held / (age * fills)).min(STEEPEST))
}

/// What streams have brought into an empty cache after a time, and bring in then, each nanosecond
/// [bytes].
fn filled(age: f64, streams: &[Stream], working: &[Working]) -> (f64, f64) {
    let (mut held, mut fills) = (0.0, 0.0);
    for stream in streams {
        let of = &working[stream.partition];
        let (own, done) = (stream.threads.max(1.0), stream.per_ns * age);
        let each = if own > 1.0 { done / own } else { done };
        let fill = |after| of.usual_fill(stream.per_ns, after);
        let (mut alone, mut comes) = (own * of.usual_brought(each), fill(each));
        if of.roams() {
            let jobs = stream.everywhere.max(own);
            let part = done / jobs;
            alone += of.roaming * (jobs * of.usual_brought(part) - alone);
            comes += of.roaming * (fill(part) - comes);
        }
        held += (1.0 - of.common) * alone + of.common * of.usual_brought(done);
        fills += (1.0 - of.common) * comes + of.common * fill(done);
        held += own * of.copies_brought(each);
        fills += of.copies_fill(stream.per_ns, each);
    }
    (held, fills)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::WorkingSet;

    fn working(common: f64, m0: f64) -> Working {
        Working {
            curve: MissCurve {
                m0,
                c0_bytes: 262_144.0,
                exponent: 0.5,
                set: None,
                buffers: None,
            },
            common,
            roaming: 0.0,
            line_bytes: 128.0,
        }
    }

    fn settled(bytes: f64, streams: &[(usize, f64, f64)], working: &[Working]) -> f64 {
        let stream = |&(partition, threads, per_ns)| Stream {
            partition,
            threads,
            per_ns,
            everywhere: 8.0,
        };
        let streams: Vec<Stream> = streams.iter().map(stream).collect();
        (0..60).fold(f64::INFINITY, |last, _| {
            next_age(bytes, last, &streams, working)
        })
    }

    #[test]
    fn one_thread_has_all_and_strangers_have_equal_parts() {
        let works = [working(0.0, 0.05), working(0.0, 0.05)];
        let bytes = 12.0 * 1_048_576.0;
        let alone = settled(bytes, &[(0, 1.0, 0.5)], &works);
        assert!((works[0].brought(0.5 * alone) / bytes - 1.0).abs() < 1e-9);
        let both = settled(bytes, &[(0, 1.0, 0.5), (1, 1.0, 0.5)], &works);
        assert!((works[0].brought(0.5 * both) / bytes - 0.5).abs() < 1e-9);
        let four = settled(bytes, &[(0, 4.0, 2.0)], &works);
        assert!((works[0].brought(0.5 * four) / bytes - 0.25).abs() < 1e-9);
    }

    #[test]
    fn a_cache_that_lay_idle_is_never_told_empty() {
        // Almost nothing for a while, then all of a sudden a thousand times as much.
        let works = [working(0.5, 0.05)];
        let bytes = 12.0 * 1_048_576.0;
        let quiet = settled(bytes, &[(0, 1.0, 1e-3)], &works);
        let busy = [Stream {
            partition: 0,
            threads: 4.0,
            per_ns: 1.0,
            everywhere: 0.0,
        }];
        for (last, least) in [(quiet, 0.8), (f64::INFINITY, 0.8), (1e-6 * quiet, 0.4)] {
            let next = next_age(bytes, last, &busy, &works);
            let (held, _) = filled(next, &busy, &works);
            assert!((least..1.2).contains(&(held / bytes)), "{last}: {held}");
        }
    }

    #[test]
    fn buffers_of_two_threads_are_never_one() {
        let bytes = 1_048_576.0;
        let mut copies = working(1.0, 0.0);
        copies.curve.buffers = Some(WorkingSet {
            bytes: 0.75 * bytes,
            touches: 0.01,
        });
        let (own, _) = copies.divided(bytes, 2.0);
        assert!((own / bytes - 0.5).abs() < 1e-9, "{own}");
        let fits = copies.divided(2.0 * bytes, 2.0);
        assert_eq!(fits, (2.0 * bytes, 2.0 * bytes));
    }

    #[test]
    fn what_is_common_is_held_once() {
        let bytes = 12.0 * 1_048_576.0;
        let all = [working(1.0, 0.05)];
        let four = settled(bytes, &[(0, 4.0, 2.0)], &all);
        assert!((all[0].brought(2.0 * four) / bytes - 1.0).abs() < 1e-9);
    }

    #[test]
    fn work_that_roams_has_its_part_of_every_cache_whoever_is_behind_it() {
        let bytes = 12.0 * 1_048_576.0;
        let roams = [Working {
            roaming: 1.0,
            ..working(0.0, 0.05)
        }];
        // Eight jobs are in it by turns, be they on one, four or all eight of its threads.
        for threads in [1.0, 4.0, 8.0] {
            let age = settled(bytes, &[(0, threads, 0.5 * threads)], &roams);
            let each = roams[0].brought(0.5 * threads * age / 8.0);
            assert!((each / bytes - 1.0 / 8.0).abs() < 1e-9);
        }
    }

    /// The example of docs/background/cost-model.md: two jobs that two nodes take up by turns.
    #[test]
    fn what_roams_is_partly_in_both_nodes() {
        let one = Working {
            roaming: 1.0,
            ..working(0.0, 0.05)
        };
        let mut age = 1.0;
        for _ in 0..60 {
            let stream = Stream {
                partition: 0,
                threads: 1.0,
                per_ns: 1.0,
                everywhere: 2.0,
            };
            age = next_age(24.0 * one.curve.c0_bytes, age, &[stream], &[one]);
        }
        let misses = |per_ns: f64| one.curve.m0 / one.curve.at(one.brought(per_ns * age / 2.0));
        // By hand: each job has 12 of the 24 parts; in twice the time (1 + C / C0)^1.5 - 1 doubles.
        let once = 13.0_f64.sqrt();
        let twice = (2.0 * (once.powi(3) - 1.0) + 1.0).cbrt();
        assert!((misses(1.0) / once - 1.0).abs() < 1e-3, "{}", misses(1.0));
        assert!((misses(2.0) / twice - 1.0).abs() < 1e-3, "{}", misses(2.0));
    }

    #[test]
    fn who_brings_nothing_in_takes_nothing() {
        let works = [working(0.0, 0.05), working(0.0, 0.0)];
        let bytes = 12.0 * 1_048_576.0;
        let alone = settled(bytes, &[(0, 1.0, 0.5)], &works);
        let beside = settled(bytes, &[(0, 1.0, 0.5), (1, 7.0, 7.0)], &works);
        assert!((beside / alone - 1.0).abs() < 1e-9);
        assert_eq!(settled(bytes, &[(1, 7.0, 7.0)], &works), f64::INFINITY);
    }
}
