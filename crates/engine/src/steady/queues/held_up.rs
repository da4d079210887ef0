//! Runnable threads of a guest that sleep for a lock: the queue of [`chain`](super::chain), in each
//! of whose states the lock lets so many of those that are about work.
//!
//! Bursts come and go more rarely than the lock is taken, so while so many threads are about they
//! do what [`locks`](super::locks) tells on the mean.

use std::collections::BTreeMap;

use crate::steady::queues::chain::{walk_through, Load, Now};
use crate::steady::queues::demand::Arrivals;
use crate::steady::queues::filling::{Busy, Filled, THREADS};
use crate::steady::queues::locks::{around, Known, Lock, Slot};

/// Threads from which on one more only sleeps, in times of as many as keep the lock busy, and what
/// is added to them where these are few.
const SATURATED: f64 = 3.0;
const BESIDE: u32 = 20;

/// What is asked of the states of a partition.
struct HeldUp<'a> {
    rates: &'a [f64; THREADS],
    filled: Filled,
    known: &'a [Busy],
    lock: Lock,
    /// The share of the work that threads have the lock, the way of its line included.
    share: f64,
    /// What a processor takes to run a thread that is woken, in the work from lock to lock.
    wait: f64,
    slots: &'a mut Known,
    found: BTreeMap<u32, Now>,
}

/// Works the chain out, see [`chain::load`](super::chain::load).
pub(in crate::steady) fn load(
    arrivals: Arrivals,
    rates: &[f64; THREADS],
    (filled, known): (Filled, &[Busy]),
    (lock, share, wait, slots): (Lock, f64, f64, &mut Known),
) -> Load {
    let mut states = HeldUp {
        rates,
        filled,
        known,
        lock,
        share,
        wait,
        slots,
        found: BTreeMap::new(),
    };
    match arrivals {
        Arrivals::Never => Load::default(),
        Arrivals::Always(threads, duty) => states.always(threads, duty),
        Arrivals::Closed(count, away_ns) if away_ns <= 0.0 => states.always(count, 1.0),
        Arrivals::Closed(count, away_ns) => {
            let most = (states.most(), filled.returns);
            let coming = |n: f64| (count - n) / away_ns;
            walk_through(coming, |n| states.at(n), most, Some(count)).unwrap_or_default()
        }
        Arrivals::Open(per_ns) => states.open(per_ns),
    }
}

impl HeldUp<'_> {
    /// Threads from which on all states are alike, but for those that sleep or wait.
    fn most(&self) -> u32 {
        let busy = (SATURATED / self.share.max(1e-3)).ceil() as u32 + BESIDE;
        busy.max(self.filled.threads())
    }

    fn open(&mut self, per_ns: f64) -> Load {
        let most = self.most();
        let at = (most, self.filled.returns);
        walk_through(|_| per_ns, |n| self.at(n), at, None).unwrap_or_else(|| {
            let mut all = self.always(f64::from(most), 1.0);
            (all.overrun, all.runnable) = (true, f64::INFINITY);
            all
        })
    }

    /// A fixed number of threads that are there for a share of the time.
    fn always(&mut self, threads: f64, duty: f64) -> Load {
        let now = self.solved((threads as u32).min(self.most()));
        let vps = duty * now.busy.vps;
        Load {
            with: now.busy.with.map(|vps| duty * vps),
            vps,
            vps_variance: (duty * now.squares - vps * vps).max(0.0),
            runnable: duty * threads,
            waiting: duty * now.waiting,
            bursts_per_ns: duty * now.rate,
            wakes_per_ns: duty * now.woken * now.busy.wakes,
            woken_per_ns: duty * now.woken * now.busy.wakes,
            spun: now.spins / now.threads.max(1e-300),
            ..Load::default()
        }
    }

    /// While so many threads are about: solved, or between two numbers for which it is.
    fn at(&mut self, threads: u32) -> Now {
        let threads = threads.min(self.most());
        let [low, high] = self.around(threads);
        let from = self.solved(low);
        if low == high {
            return from;
        }
        let part = f64::from(threads - low) / f64::from(high - low);
        from.mix(self.solved(high), part)
    }

    /// Numbers for which it is solved: what processors do changes its course where each has a
    /// thread, and where all their threads are busy.
    fn around(&self, threads: u32) -> [u32; 2] {
        let [mut low, mut high] = around(threads);
        for bend in [self.filled.vps(), self.filled.threads()] {
            if bend <= threads {
                low = low.max(bend);
            }
            if bend >= threads {
                high = high.min(bend);
            }
        }
        [low, high]
    }

    fn solved(&mut self, threads: u32) -> Now {
        if let Some(found) = self.found.get(&threads) {
            return *found;
        }
        let new = self.work_out(threads);
        self.found.insert(threads, new);
        new
    }

    /// What the lock lets so many threads do, of which those wait for a processor to be dispatched
    /// that wake one.
    fn with_waits(&mut self, threads: u32) -> Vec<Slot> {
        let most = self.filled.threads();
        let alone = self.slots.slots(self.lock, (self.share, 0.0), threads);
        let (mut wakes, mut all) = (0.0, 0.0);
        for (awake, slot) in (1..=threads).rev().zip(&alone) {
            let sleeps = slot.chance * slot.sleeps;
            wakes += sleeps * self.busy((awake - 1).min(most)).wakes;
            all += sleeps;
        }
        if wakes * self.wait <= 0.0 {
            return alone;
        }
        let wait = wakes / all * self.wait;
        self.slots.slots(self.lock, (self.share, wait), threads)
    }

    fn busy(&self, running: u32) -> Busy {
        let told = self.known.get(running as usize).copied();
        told.unwrap_or_else(|| Busy::of(self.filled, running))
    }

    fn work_out(&mut self, threads: u32) -> Now {
        if threads == 0 {
            return Now {
                busy: Busy::of(self.filled, 0),
                ..Now::default()
            };
        }
        let most = self.filled.threads();
        let slots = self.with_waits(threads);
        let (mut all, mut time) = (Now::default(), 0.0);
        for (awake, slot) in (1..=threads).rev().zip(slots) {
            let running = awake.min(most);
            let busy = self.busy(running);
            // All that goes on takes instructions, so it lasts as long as these take.
            let speed = busy.rate(self.rates) / f64::from(awake);
            let now = Now {
                stopped: 0.0,
                busy,
                squares: busy.squares,
                rate: speed * slot.works,
                woken: speed * slot.sleeps * self.lock.times,
                waiting: f64::from(awake - running),
                threads: f64::from(awake),
                spins: slot.spins,
            };
            let lasts = slot.chance / speed.max(1e-300);
            time += lasts;
            if lasts > 0.0 {
                all = all.mix(now, lasts / time);
            }
        }
        all
    }
}
