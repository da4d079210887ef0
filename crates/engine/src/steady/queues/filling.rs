//! Which virtual processors a guest's busy threads are on.

mod apart;

use crate::guest::filled;
use crate::spec::{Partition, Smt};

/// Most threads of a core.
pub(in crate::steady) const THREADS: usize = 9;
/// Share of bursts beside others below which they are of no account.
const LITTLE: f64 = 1e-4;
/// Share of the time in which virtual processors are held up that is of no account, and the most.
const HARDLY_HELD: f64 = 1e-2;
const MOST_HELD: f64 = 0.99;
/// Holes that are left where one was opened, by busy threads: few threads have room for few.
/// Assumed, 0 to 1: virtual processors with work of guests that were played with 4 to 9 threads
/// busy on the mean are met within a tenth.
const OPENED: f64 = 1.0 / 3.0;

/// How a guest fills its virtual processors.
///
/// Where `f` threads of one are loaded before the next, a full one that loses a thread has a hole,
/// which the next arrival fills, and one that stays behind drains. While there is a hole nobody
/// opens another; who does leaves `f - 1`. With `n` threads at work, holes come and go at equal
/// rates but for those that vanish with the last thread of a virtual processor, so beyond that
/// their number is about the positive half of a normal one: its variance is `n / 2g`, and there are
/// none for `2 / f` of its density at zero. The virtual processors that drain have `k` threads in
/// proportion to the time that they stay there, `1 / k r(k)` with `r(k)` how much faster one of
/// them is than one of `f`: `g` is 1 for two threads that are as fast as one alone, and the greater
/// the more they slow each other. Threads that a dispatch holds up cannot end and leave no holes:
/// where all are held up a dispatch has the `f` threads that come meanwhile, so of the two ways
/// that a dispatch gets its bursts the squares are added, each for its share of the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::steady) struct Filled {
    vps: u32,
    smt: u32,
    /// Threads of one that are loaded before the next.
    first: u32,
    /// Draining of holes, and mean threads of a virtual processor that drains.
    drain: f64,
    partly: f64,
    /// Whether threads stay for good, so that the order is what balancing makes of it.
    settled: bool,
    /// Whether a thread goes back to the very logical processor it was on, whatever its siblings
    /// do.
    pub returns: bool,
    /// Part of the virtual processors that are on the chip of one of them, on the mean: a thread
    /// that cannot go back looks there first.
    near: f64,
    /// Share of the bursts that run beside the first thread of a virtual processor, though others
    /// may be without work.
    stray: f64,
    /// Share of the bursts whose thread has run before.
    again: f64,
    /// Threads beside the others that always have work: each came to a virtual processor first.
    stay: f64,
    /// Share of the time with work in which dispatches hold virtual processors up.
    held: f64,
}

/// The virtual processors while so many threads are busy.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::steady) struct Busy {
    /// How many have how many of them.
    pub with: [f64; THREADS],
    /// With work.
    pub vps: f64,
    /// Mean square of those.
    pub squares: f64,
    /// Chance that the next thread finds no virtual processor to join.
    pub wakes: f64,
    /// Chance that no virtual processor is without work, and that none on the chip of one of them
    /// is, where that counts.
    pub full: [f64; 2],
}

impl Busy {
    pub fn of(filled: Filled, threads: u32) -> Self {
        let mut busy = Self {
            wakes: filled.wakes(threads),
            ..Self::default()
        };
        if filled.returns {
            busy.full = [filled.full(threads), filled.full_near(threads)];
        }
        filled.each(threads, |threads, vps| {
            busy.with[threads] += vps;
            busy.vps += vps;
        });
        busy.squares = busy.vps * busy.vps + filled.varies(threads);
        busy
    }

    /// Part of the way to others.
    pub fn mix(mut self, other: Self, part: f64) -> Self {
        let of = |a: f64, b: f64| a + part * (b - a);
        for (own, other) in self.with.iter_mut().zip(other.with) {
            *own = of(*own, other);
        }
        self.vps = of(self.vps, other.vps);
        self.squares = of(self.squares, other.squares);
        self.wakes = of(self.wakes, other.wakes);
        self.full = std::array::from_fn(|at| of(self.full[at], other.full[at]));
        self
    }

    /// Bursts done in a nanosecond, by what one virtual processor does.
    pub fn rate(&self, rates: &[f64; THREADS]) -> f64 {
        self.with
            .iter()
            .zip(rates)
            .map(|(vps, rate)| vps * rate)
            .sum()
    }
}

impl Filled {
    /// For each number of busy threads, where that is known beforehand: nothing strays.
    pub fn known(self) -> Vec<Busy> {
        if self.returns {
            return Vec::new();
        }
        (0..=self.threads())
            .map(|threads| Busy::of(self, threads))
            .collect()
    }

    /// Of a partition on cores with such threads, of which its own may stay for good.
    pub fn of(partition: &Partition, smt_of: &Smt, settled: bool) -> Self {
        let smt = u32::from(partition.smt);
        let packs = match &partition.guest {
            crate::spec::Guest::Aix(_) => true,
            guest => guest.unix().packing,
        };
        let first = u32::from(filled(&partition.guest, partition.smt, smt_of.parts));
        let first = if packs { first } else { 1 };
        Self {
            vps: u32::from(partition.processors.count()),
            smt,
            settled,
            returns: !packs && smt > 1 && !settled,
            near: near(&partition.home, usize::from(partition.processors.count())),
            ..Self::order(first, &smt_of.gain)
        }
    }

    /// No virtual processors, of which so many threads are loaded before the next, by what threads
    /// of a core do together.
    fn order(first: u32, gain: &[f64]) -> Self {
        let full = f64::from(first);
        // With more threads than that are known of none slows the others any more.
        let each = |k: u32| {
            gain.get(k as usize - 1)
                .map_or(1.0, |gain| gain / f64::from(k))
        };
        let (mut stays, mut threads) = (0.0, 0.0);
        for k in 1..first {
            let slower = each(first) / each(k);
            stays += slower / f64::from(k);
            threads += slower;
        }
        Self {
            vps: 0,
            smt: 1,
            first,
            drain: 0.5 * full / (full * stays - threads).max(1e-12),
            partly: threads / f64::max(stays, 1e-12),
            settled: false,
            returns: false,
            near: 1.0,
            stray: 0.0,
            again: 0.0,
            stay: 0.0,
            held: 0.0,
        }
    }

    /// With so many virtual processors.
    pub fn of_vps(self, vps: u32) -> Self {
        Self { vps, ..self }
    }

    /// With so many bursts of threads that have run before.
    pub fn with(self, again: f64) -> Self {
        Self { again, ..self }
    }

    /// With so many threads beside the others that always have work.
    pub fn beside(self, stay: f64) -> Self {
        Self {
            stay: stay.min(f64::from(self.vps)),
            ..self
        }
    }

    /// With virtual processors that dispatches hold up for such a share of the time with work: it
    /// counts where several threads of one are loaded before the next.
    pub fn held(self, share: f64) -> Self {
        Self {
            held: if self.packs() {
                share.min(MOST_HELD)
            } else {
                0.0
            },
            ..self
        }
    }

    /// Whether that is of account.
    pub fn is_held(self) -> bool {
        self.held > HARDLY_HELD
    }

    /// With so many bursts beside others.
    pub fn strayed(self, stray: f64) -> Self {
        Self { stray, ..self }
    }

    /// Whether several threads of a virtual processor are loaded before the next.
    pub fn packs(self) -> bool {
        self.first > 1
    }

    /// Threads of a virtual processor that are loaded before the next.
    pub fn first(self) -> u32 {
        self.first
    }

    /// Share of the bursts whose thread has run before.
    pub fn again(self) -> f64 {
        self.again
    }

    /// Logical processors.
    pub fn threads(self) -> u32 {
        self.vps * self.smt
    }

    /// Virtual processors.
    pub fn vps(self) -> u32 {
        self.vps
    }

    /// Goes through the virtual processors with work while so many threads are busy: by their busy
    /// threads, how many there are.
    pub fn each(self, threads: u32, mut each: impl FnMut(usize, f64)) {
        if self.stray > LITTLE && threads < self.threads() {
            return self.each_astray(threads, each);
        }
        if threads < self.vps * self.first {
            if self.first > 1 && !self.settled {
                return self.each_with_holes(f64::from(threads), each);
            }
            let (full, rest) = (threads / self.first, threads % self.first);
            if full > 0 {
                each(self.first as usize, f64::from(full));
            }
            if rest > 0 {
                each(rest as usize, 1.0);
            }
            return;
        }
        let (few, more) = (threads / self.vps, threads % self.vps);
        if few > 0 {
            each(few as usize, f64::from(self.vps - more));
        }
        if more > 0 {
            each(few as usize + 1, f64::from(more));
        }
    }

    /// Of so many busy threads those that are beside the first ones: the two whole numbers about
    /// their mean, each with its chance.
    fn beside_first(self, threads: u32) -> [(u32, f64); 2] {
        let others = f64::from(self.others().min(threads));
        let least = f64::from(threads.saturating_sub(self.vps));
        let come = (f64::from(threads) - self.stay).max(0.0);
        let mean = (self.stray * come).max(least).min(others);
        let low = mean.floor();
        [
            (low as u32, 1.0 - (mean - low)),
            ((low + 1.0).min(others) as u32, mean - low),
        ]
    }

    /// Threads that are no virtual processor's first.
    fn others(self) -> u32 {
        self.vps * (self.smt - 1)
    }

    /// The first threads that are busy are any of them, and so are the others, of as many as there
    /// are in all: with one virtual processor all are on that.
    fn each_astray(self, threads: u32, mut each: impl FnMut(usize, f64)) {
        for (astray, chance) in self.beside_first(threads) {
            let first = f64::from(threads - astray) / f64::from(self.vps);
            for busy in 0..self.smt {
                let of_one = drawn((self.others(), astray), self.smt - 1, busy);
                let vps = f64::from(self.vps) * chance * of_one;
                if busy > 0 {
                    each(busy as usize, vps * (1.0 - first));
                }
                each(busy as usize + 1, vps * first);
            }
        }
    }

    /// Chance that a virtual processor is without work, and shares of the first threads and of the
    /// others that are busy.
    fn idle_and_busy(self, threads: u32) -> (f64, [f64; 2]) {
        let (mut idle, mut busy) = (0.0, [0.0; 2]);
        for (astray, chance) in self.beside_first(threads) {
            let first = f64::from(threads - astray) / f64::from(self.vps);
            let alone = drawn((self.others(), astray), self.smt - 1, 0);
            idle += chance * (1.0 - first) * alone;
            busy[0] += chance * first;
            busy[1] += chance * f64::from(astray) / f64::from(self.others());
        }
        (idle, busy)
    }

    /// Share of the bursts that run astray, if while so many threads are busy all virtual
    /// processors, or all on one's own chip, have work for such shares of the time: those that came
    /// there then, and those that come back because they were there.
    pub fn astray(self, threads: f64, [full, near]: [f64; 2], balanced: f64) -> f64 {
        if !self.returns || threads <= 0.0 {
            return 0.0;
        }
        let come = (threads - self.stay).max(0.0);
        let per_other = come / f64::from(self.vps * (self.smt - 1));
        let first = (threads - self.stray * come) / f64::from(self.vps);
        let first = first.min(1.0);
        let again = self.again * (1.0 - self.stray) * first;
        let comes = full * (1.0 - self.again) + near * again;
        let comes = (comes - balanced).max(0.0);
        // stray (1 - again + again (1 - near) per_other stray) = comes
        let (square, linear) = (self.again * (1.0 - near) * per_other, 1.0 - self.again);
        if square < 1e-12 {
            return (comes / linear.max(1e-12)).min(1.0);
        }
        let root = (linear * linear + 4.0 * square * comes).sqrt();
        ((root - linear) / (2.0 * square)).min(1.0)
    }

    /// Chance that no virtual processor is without work.
    pub fn full(self, threads: u32) -> f64 {
        if self.smt == 1 || threads >= self.threads() {
            return f64::from(u8::from(threads >= self.vps));
        }
        let full = |(astray, chance)| chance * self.all_beside(self.vps + astray - threads, astray);
        self.beside_first(threads).map(full).iter().sum()
    }

    /// Chance that each of so many virtual processors whose first thread is idle has one of those
    /// that are astray: of the ones that are left when one has been found to have some.
    fn all_beside(self, vps: u32, astray: u32) -> f64 {
        let (mut chance, mut left) = (1.0, f64::from(astray));
        let of_one = self.smt - 1;
        for at in 0..vps.min(self.vps) {
            let slots = (self.vps - at) * of_one;
            let (low, part) = (left.floor(), left - left.floor());
            let none = |astray: f64| drawn((slots, astray as u32), of_one, 0);
            let some = 1.0 - none(low) - part * (none(low + 1.0) - none(low));
            chance *= some;
            if chance < LITTLE {
                return 0.0;
            }
            let mean = left * f64::from(of_one) / f64::from(slots);
            left = (left - mean / some).max(0.0);
        }
        chance
    }

    /// The same of those on one's own chip, each as likely to have work as any of the others.
    fn full_near(self, threads: u32) -> f64 {
        let near = self.near * f64::from(self.vps);
        if self.near >= 1.0 || self.smt == 1 {
            return self.full(threads);
        }
        let all = f64::from(self.vps);
        let with = all * (1.0 - self.idle_and_busy(threads).0);
        let mut chance = 1.0;
        for at in 0..near.ceil() as u32 {
            let at = f64::from(at);
            let one = ((with - at) / (all - at)).clamp(0.0, 1.0);
            chance *= if near - at < 1.0 {
                one.powf(near - at)
            } else {
                one
            };
        }
        chance
    }

    /// Holes that come and go while so many threads are busy.
    fn holes(self, threads: f64) -> f64 {
        let work = threads * (1.0 - self.held);
        (work / (std::f64::consts::PI * self.drain)).sqrt()
    }

    /// By how much the number of virtual processors with work varies while so many threads are
    /// busy, as the number of holes does: the positive half of a normal one.
    fn varies(self, threads: u32) -> f64 {
        let known = self.first == 1 || self.settled || threads >= self.vps * self.first;
        // There are as many as hold the threads, and no more than there are of either.
        let least = threads.div_ceil(self.first);
        if known || least == threads.min(self.vps) || self.stray > LITTLE {
            return 0.0;
        }
        let holes = self.holes(f64::from(threads)) / f64::from(self.first);
        (0.5 * std::f64::consts::PI - 1.0) * holes * holes
    }

    fn each_with_holes(self, threads: f64, mut each: impl FnMut(usize, f64)) {
        let full = f64::from(self.first);
        let least = (threads / full).ceil();
        let opened = (full - 2.0).min(OPENED * threads);
        let holes = opened + self.holes(threads);
        let most = threads.min(f64::from(self.vps));
        let vps = ((threads + holes) / full).max(least).min(most);
        let filled = ((threads - vps * self.partly) / (full - self.partly)).max(0.0);
        if filled > 0.0 {
            each(self.first as usize, filled);
        }
        // The rest have their mean, between two whole numbers.
        let rest = vps - filled;
        if rest > 1e-12 {
            let mean = (threads - filled * full) / rest;
            let (low, more) = (mean.floor(), mean - mean.floor());
            if low > 0.0 {
                each(low as usize, rest * (1.0 - more));
            }
            if more > 1e-12 {
                each(low as usize + 1, rest * more);
            }
        }
    }

    /// Chance that the next thread finds no virtual processor to join, and goes to one without
    /// work.
    pub fn wakes(self, threads: u32) -> f64 {
        if self.stray > LITTLE && threads < self.threads() {
            let (there, [first, other]) = self.idle_and_busy(threads);
            let taken = (1.0 - self.stray) * first + self.stray * other;
            let anew = (1.0 - self.again) * (1.0 - self.full(threads))
                + self.again * taken * (1.0 - self.full_near(threads));
            return (self.again * there + anew).min(1.0);
        }
        if threads >= self.vps * self.first {
            return 0.0;
        }
        if self.first == 1 || threads == 0 {
            return 1.0;
        }
        if threads < self.first {
            return 0.0; // Whoever has work has a hole.
        }
        let (full, work) = (
            f64::from(self.first),
            f64::from(threads) * (1.0 - self.held),
        );
        let ends = 0.25 * std::f64::consts::PI * work / self.drain;
        1.0 / (full * (self.held + ends).sqrt())
    }
}

/// Chance that of so many drawn at random from `all`, of which `marked` are, so many are marked.
fn drawn((all, marked): (u32, u32), count: u32, found: u32) -> f64 {
    if found > count.min(marked) || count - found + marked > all {
        return 0.0;
    }
    let of = |from: u32, at: u32| f64::from(from - at);
    let mut chance = 1.0;
    for at in 0..count {
        // Those found first, and then the others: in any order of the two it is as likely.
        let ways = if at < found {
            of(marked, at) * of(count, at) / of(found, at)
        } else {
            of(all - marked, at - found)
        };
        chance *= ways / of(all, at);
    }
    chance
}

/// Part of so many virtual processors, on some chips in turn, that are on the chip of one of them.
fn near(home: &[u16], vps: usize) -> f64 {
    let chips = || home.iter().cycle().take(vps);
    let on = |chip: &u16| chips().filter(|of| *of == chip).count() as f64;
    chips().map(on).sum::<f64>() / (vps * vps).max(1) as f64
}

#[cfg(test)]
impl Filled {
    /// Virtual processors of one thread.
    pub fn single(vps: u16) -> Self {
        Self::told(vps, 1, 1)
    }

    /// With so many threads, of which some are loaded before the next.
    pub fn told(vps: u16, smt: u32, first: u32) -> Self {
        Self {
            vps: vps.into(),
            smt,
            settled: false,
            returns: false,
            near: 1.0,
            stray: 0.0,
            again: 0.0,
            ..Self::order(first, &[])
        }
    }
}

#[cfg(test)]
mod tests;
