//! How many of a partition's software threads are runnable, and what its virtual processors do
//! then.
//!
//! Bursts come at a rate that may fall with those that are there, and go at one that grows with the
//! busy threads until all logical processors are. So the number of runnable threads is a chain of
//! births and deaths:
//!
//! ```text
//! p(n+1) / p(n) = arrivals(n) / departures(n+1)
//! ```
//! For exponential bursts this is exact, waits and think times of any kind included: where
//! customers only wait for a time of their own, a network has a product form in which all such
//! stations are one (Baskett, Chandy, Muntz, Palacios, Open, closed, and mixed networks of queues
//! with different classes of customers, 1975). Other bursts change the queues, not the means of
//! what is used. By Little's law the mean number and the throughput give the response.

use crate::steady::queues::demand::Arrivals;
use crate::steady::queues::filling::{Busy, Filled, THREADS};

/// What a partition's virtual processors do, means over time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::steady) struct Load {
    /// Virtual processors with so many busy threads; entry 0 is not used.
    pub with: [f64; THREADS],
    /// Virtual processors with work, and the variance of their number.
    pub vps: f64,
    pub vps_variance: f64,
    /// Runnable software threads, those that wait for a logical processor included.
    pub runnable: f64,
    /// Those of them that wait for one, and the share of the bursts that do.
    pub waiting: f64,
    pub held: f64,
    /// Bursts done in a nanosecond.
    pub bursts_per_ns: f64,
    /// Times in a nanosecond that a burst finds its virtual processor without work.
    pub wakes_per_ns: f64,
    /// Those of them that a release of a lock wakes.
    pub woken_per_ns: f64,
    /// Shares of the bursts that find all virtual processors at work, and all on one's own chip.
    pub full: [f64; 2],
    /// Share of the time with work in which it waits at its cap.
    pub stopped: f64,
    /// Share of the threads' time that they spin for a lock for which they sleep in the end.
    pub spun: f64,
    /// Whether more comes than can go.
    pub overrun: bool,
}

impl Load {
    /// Busy threads.
    pub fn threads(&self) -> f64 {
        let with = self.with.iter().enumerate();
        with.map(|(threads, vps)| threads as f64 * vps).sum()
    }

    /// What was told as if virtual processors were slow waits together now and then: so much fewer
    /// bursts come to one without work, and so many are queued at least. Whoever is queued is not
    /// away: of so many who come from somewhere so many fewer come.
    pub fn wait_together(&mut self, fewer: f64, queued: f64, arrivals: Arrivals) {
        self.wakes_per_ns *= 1.0 - fewer;
        self.woken_per_ns *= 1.0 - fewer;
        let more = (queued - self.waiting).max(0.0);
        self.waiting += more;
        self.runnable += more;
        match arrivals {
            Arrivals::Closed(count, away_ns) if away_ns > 0.0 && more > 0.0 => {
                self.scale(count / (self.runnable + self.bursts_per_ns * away_ns));
            }
            _ => {}
        }
    }

    /// So many times as much of all that is done.
    fn scale(&mut self, by: f64) {
        self.with.iter_mut().for_each(|vps| *vps *= by);
        for of in [
            &mut self.vps,
            &mut self.vps_variance,
            &mut self.runnable,
            &mut self.waiting,
            &mut self.bursts_per_ns,
            &mut self.wakes_per_ns,
            &mut self.woken_per_ns,
        ] {
            *of *= by;
        }
    }
}

/// Share of the probability below which what may still come is of no account.
const TAIL: f64 = 1e-9;

/// Works a chain out. `rates[k]` are bursts that a virtual processor with `k` busy threads does in
/// a nanosecond; `filled` says how many have how many. No more than `cap` virtual processors run at
/// once on the mean, however many have work.
pub(in crate::steady) fn load(
    arrivals: Arrivals,
    rates: &[f64; THREADS],
    filled: Filled,
    known: &[Busy],
    cap: f64,
) -> Load {
    match arrivals {
        Arrivals::Never => Load::default(),
        Arrivals::Always(threads, duty) => always(threads, duty, rates, filled),
        Arrivals::Open(per_ns) => walk(|_| per_ns, rates, (filled, known, cap), None)
            .unwrap_or_else(|| {
                let mut all = always(f64::from(filled.threads()), 1.0, rates, filled);
                (all.overrun, all.runnable) = (true, f64::INFINITY);
                all.stopped = (1.0 - cap / all.vps).max(0.0);
                all.bursts_per_ns *= 1.0 - all.stopped;
                all
            }),
        Arrivals::Closed(count, away_ns) if away_ns <= 0.0 => always(count, 1.0, rates, filled),
        Arrivals::Closed(count, away_ns) => {
            let coming = |n| (count - n) / away_ns;
            walk(coming, rates, (filled, known, cap), Some(count)).unwrap_or_default()
        }
    }
}

/// A fixed number of threads that are there for a share of the time.
fn always(threads: f64, duty: f64, rates: &[f64; THREADS], filled: Filled) -> Load {
    let running = (threads as u32).min(filled.threads());
    let mut load = Load::default();
    filled.each(running, |busy, vps| {
        load.with[busy] += duty * vps;
        load.vps += vps;
        load.bursts_per_ns += duty * vps * rates[busy];
    });
    load.vps_variance = load.vps * load.vps * duty * (1.0 - duty);
    load.vps *= duty;
    load.runnable = duty * threads;
    load
}

/// What virtual processors do while so many threads are about.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::steady) struct Now {
    pub busy: Busy,
    /// Mean square of those with work.
    pub squares: f64,
    /// Part of those with work that waits at a cap.
    pub stopped: f64,
    /// Bursts done in a nanosecond.
    pub rate: f64,
    /// Threads that are woken in a nanosecond though no burst comes.
    pub woken: f64,
    /// Threads that wait for a logical processor.
    pub waiting: f64,
    /// Busy threads, and those of them that spin.
    pub threads: f64,
    pub spins: f64,
}

impl Now {
    /// Part of the way to another.
    pub fn mix(self, other: Self, part: f64) -> Self {
        let of = |a: f64, b: f64| a + part * (b - a);
        Self {
            busy: self.busy.mix(other.busy, part),
            squares: of(self.squares, other.squares),
            stopped: of(self.stopped, other.stopped),
            rate: of(self.rate, other.rate),
            woken: of(self.woken, other.woken),
            waiting: of(self.waiting, other.waiting),
            threads: of(self.threads, other.threads),
            spins: of(self.spins, other.spins),
        }
    }

    /// Of which no more virtual processors run than this.
    fn within(self, cap: f64) -> Self {
        if self.busy.vps <= cap {
            return self;
        }
        let runs = cap / self.busy.vps;
        Self {
            rate: runs * self.rate,
            stopped: 1.0 - runs,
            ..self
        }
    }

    /// While so many threads have work, of so many that can be busy at once.
    fn of(busy: Busy, rates: &[f64; THREADS], (threads, most): (u32, u32)) -> Self {
        Self {
            busy,
            squares: busy.squares,
            rate: busy.rate(rates),
            waiting: f64::from(threads.saturating_sub(most)),
            threads: f64::from(threads),
            ..Self::default()
        }
    }
}

/// Goes through the states, all logical processors being busy from a number of threads on.
fn walk(
    arrivals: impl Fn(f64) -> f64,
    rates: &[f64; THREADS],
    (filled, known, cap): (Filled, &[Busy], f64),
    count: Option<f64>,
) -> Option<Load> {
    let most = filled.threads();
    let at = |n: u32| {
        let there = n.min(most);
        let told = known.get(there as usize).copied();
        let busy = told.unwrap_or_else(|| Busy::of(filled, there));
        Now::of(busy, rates, (n, most)).within(cap)
    };
    walk_through(arrivals, at, (most, filled.returns), count)
}

/// Goes through the states from none on, which are all alike from `most` on; probabilities are
/// scaled by that of state 0, and all sums again where they would leave what a number can hold.
/// None where more comes than ever goes.
///
/// Threads that spin for a lock get less done the more of them run, so that a crowd which once has
/// grown may grow for ever though few are served with ease. It counts if it is ever seen: what is
/// beyond a state as rare as [`TAIL`] does not come about in a run.
pub(in crate::steady) fn walk_through(
    arrivals: impl Fn(f64) -> f64,
    mut at: impl FnMut(u32) -> Now,
    (most, returns): (u32, bool),
    count: Option<f64>,
) -> Option<Load> {
    let mut sums = Sums::default();
    let (mut p, mut n) = (1.0_f64, 0_u32);
    let mut now = Now { rate: 0.0, ..at(0) };
    loop {
        let coming = arrivals(f64::from(n)).max(0.0);
        sums.add_last(p, f64::from(n), &now);
        sums.add_coming(p * coming, &now.busy, returns);
        let woken = p * now.woken * now.busy.wakes;
        sums.load.wakes_per_ns += woken;
        sums.load.woken_per_ns += woken;
        sums.add_held(p * coming, n >= most);
        let next = at(n + 1);
        let ratio = coming / next.rate;
        if n >= most && count.is_none() {
            if ratio >= 1.0 {
                return None;
            }
            sums.add_tail(p * ratio, n + 1, ratio, &now);
            sums.add_held(p * ratio / (1.0 - ratio) * coming, true);
            break;
        }
        now = next;
        p *= ratio;
        n += 1;
        let is_small = ratio < 0.9 && p < TAIL * sums.all * (1.0 - ratio);
        if coming <= 0.0 || count.is_some_and(|count| f64::from(n) >= count + 1.0) || is_small {
            break;
        }
        if p > 1e200 {
            sums.scale(1e-200);
            p *= 1e-200;
        }
    }
    Some(sums.load())
}

#[derive(Default)]
struct Sums {
    all: f64,
    load: Load,
    squares: f64,
    coming: f64,
    /// Virtual processors with work that run.
    runs: f64,
    /// All that come.
    came: f64,
    /// Busy threads.
    threads: f64,
}

impl Sums {
    /// Bursts that come to a state.
    fn add_coming(&mut self, coming: f64, busy: &Busy, returns: bool) {
        self.load.wakes_per_ns += coming * busy.wakes;
        if returns {
            self.coming += coming;
            for (sum, full) in self.load.full.iter_mut().zip(busy.full) {
                *sum += coming * full;
            }
        }
    }

    /// Bursts that come to a state in which they have to wait, or not.
    fn add_held(&mut self, coming: f64, held: bool) {
        self.came += coming;
        self.load.held += if held { coming } else { 0.0 };
    }

    /// A state of `n` threads.
    fn add_last(&mut self, p: f64, n: f64, now: &Now) {
        self.all += p;
        for (sum, vps) in self.load.with.iter_mut().zip(now.busy.with) {
            *sum += p * (1.0 - now.stopped) * vps;
        }
        self.runs += p * (1.0 - now.stopped) * now.busy.vps;
        self.load.vps += p * now.busy.vps;
        self.squares += p * now.squares;
        self.load.runnable += p * n;
        self.load.waiting += p * now.waiting;
        self.load.bursts_per_ns += p * now.rate;
        self.load.spun += p * now.spins;
        self.threads += p * now.threads;
    }

    /// States from `n` on, in which all logical processors are busy and each has `ratio` times the
    /// probability of the one before it.
    fn add_tail(&mut self, p: f64, n: u32, ratio: f64, now: &Now) {
        let (all, more) = (p / (1.0 - ratio), 1.0 + ratio / (1.0 - ratio));
        let waiting = now.waiting + more;
        let mean = f64::from(n - 1) + more;
        self.add_last(all, mean, &Now { waiting, ..*now });
    }

    fn scale(&mut self, by: f64) {
        self.all *= by;
        self.squares *= by;
        self.runs *= by;
        self.coming *= by;
        self.came *= by;
        self.threads *= by;
        let each = self.load.with.iter_mut().chain(&mut self.load.full);
        each.for_each(|sum| *sum *= by);
        for sum in [
            &mut self.load.vps,
            &mut self.load.runnable,
            &mut self.load.waiting,
            &mut self.load.held,
            &mut self.load.bursts_per_ns,
            &mut self.load.wakes_per_ns,
            &mut self.load.woken_per_ns,
            &mut self.load.spun,
        ] {
            *sum *= by;
        }
    }

    fn load(mut self) -> Load {
        let all = self.all;
        self.scale(1.0 / all);
        let coming = self.coming.max(1e-300);
        self.load.full.iter_mut().for_each(|full| *full /= coming);
        self.load.held /= self.came.max(1e-300);
        self.load.spun /= self.threads.max(1e-300);
        if self.runs < self.load.vps {
            // How many threads are busy while they run is what it is of all that are with work.
            let all = self.load.vps / self.runs.max(1e-300);
            self.load.with.iter_mut().for_each(|vps| *vps *= all);
            self.load.stopped = 1.0 - 1.0 / all;
        }
        self.load.vps_variance = (self.squares - self.load.vps * self.load.vps).max(0.0);
        self.load
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Virtual processors of one thread that each do a burst in a nanosecond.
    fn single(vps: u16) -> (Filled, [f64; THREADS]) {
        let mut rates = [0.0; THREADS];
        rates[1] = 1.0;
        (Filled::single(vps), rates)
    }

    fn uncapped(arrivals: Arrivals, rates: &[f64; THREADS], filled: Filled) -> Load {
        super::load(arrivals, rates, filled, &[], f64::INFINITY)
    }

    #[test]
    fn one_processor_is_the_queue_of_textbooks() {
        let (filled, rates) = single(1);
        for load in [0.1, 0.5, 0.9, 0.99] {
            let found = uncapped(Arrivals::Open(load), &rates, filled);
            assert!((found.vps - load).abs() < 1e-9);
            assert!((found.runnable - load / (1.0 - load)).abs() < 1e-6 / (1.0 - load));
            assert!((found.wakes_per_ns - load * (1.0 - load)).abs() < 1e-9);
        }
        assert!(uncapped(Arrivals::Open(1.0), &rates, filled).overrun);
    }

    #[test]
    fn several_processors_are_erlangs_queue() {
        // M/M/3 with an offered load of 2: chance to wait 4/9, mean queue 8/9.
        let (filled, rates) = single(3);
        let found = uncapped(Arrivals::Open(2.0), &rates, filled);
        assert!((found.vps - 2.0).abs() < 1e-9);
        assert!((found.runnable - 26.0 / 9.0).abs() < 1e-9);
        assert!((found.held - 4.0 / 9.0).abs() < 1e-9 && (found.waiting - 8.0 / 9.0).abs() < 1e-9);
    }

    #[test]
    fn at_a_cap_no_more_is_done_however_many_have_work() {
        // Three of which one runs at once: as one processor, of which all that is there is at work.
        let (filled, rates) = single(3);
        let found = super::load(Arrivals::Open(0.5), &rates, filled, &[], 1.0);
        assert!((found.runnable - 1.0).abs() < 1e-9);
        assert!((found.vps * (1.0 - found.stopped) - 0.5).abs() < 1e-9);
        assert!((found.with[1] - found.vps).abs() < 1e-9);
        let over = super::load(Arrivals::Open(1.5), &rates, filled, &[], 1.0);
        assert!(over.overrun && (over.stopped - 2.0 / 3.0).abs() < 1e-9);
        assert!((over.bursts_per_ns - 1.0).abs() < 1e-9);
        let waits = [3.0, 2.5, 2.0, 1.5]
            .map(|cap| super::load(Arrivals::Open(1.0), &rates, filled, &[], cap).runnable);
        assert!(waits.windows(2).all(|two| two[0] < two[1]), "{waits:?}");
    }

    #[test]
    fn half_a_customer_is_one_that_comes_half_as_often() {
        let (filled, rates) = single(2);
        let of = |count: f64, away_ns: f64| {
            let arrivals = Arrivals::Closed(count, away_ns);
            uncapped(arrivals, &rates, filled)
        };
        let [half, whole] = [of(0.5, 50.0), of(1.0, 100.0)];
        assert!((half.vps / whole.vps - 1.0).abs() < 0.01 && half.vps > 0.0);
        let counts = [0.2, 0.5, 1.0, 1.5, 2.0, 2.5].map(|count| of(count, 50.0).vps);
        assert!(counts.windows(2).all(|two| two[0] < two[1]), "{counts:?}");
    }

    #[test]
    fn a_crowd_that_spins_counts_only_where_it_is_ever_seen() {
        // Of two threads each gets a fortieth of what one alone gets done.
        let mut rates = [0.0; THREADS];
        (rates[1], rates[2]) = (1.0, 0.05);
        let found = |vps, per_ns| {
            let filled = Filled::told(vps, 2, 1);
            uncapped(Arrivals::Open(per_ns), &rates, filled)
        };
        // With all of them at work 30 do 1.5, and 5 are enough for what comes.
        let few = found(30, 5.0);
        assert!(!few.overrun && (few.vps - 5.0).abs() < 1e-6);
        // Of 4 more than 4 are runnable every now and then, and from there it grows for ever.
        assert!(found(4, 1.0).overrun);
        // It hangs on how rarely it is seen, so more that comes never makes it less.
        let sizes = (1..60).map(|tenths| found(30, 0.5 * f64::from(tenths)).overrun);
        assert!(sizes.is_sorted());
    }

    #[test]
    fn a_few_customers_are_the_machine_repairman() {
        // Two customers who are away for as long as a burst takes: p = 1, 2, 2 fifths.
        let (filled, rates) = single(1);
        let found = uncapped(Arrivals::Closed(2.0, 1.0), &rates, filled);
        assert!((found.runnable - 1.2).abs() < 1e-12);
        assert!((found.bursts_per_ns - 0.8).abs() < 1e-12);
        let many = uncapped(Arrivals::Closed(5_000.0, 1.0), &rates, filled);
        assert!((many.bursts_per_ns - 1.0).abs() < 1e-9);
    }

    #[test]
    fn who_is_always_there_keeps_as_many_busy() {
        let (filled, rates) = single(4);
        let found = uncapped(Arrivals::Always(3.0, 0.5), &rates, filled);
        assert_eq!((found.vps, found.bursts_per_ns), (1.5, 1.5));
        let all = uncapped(Arrivals::Always(9.0, 1.0), &rates, filled);
        assert_eq!((all.vps, all.runnable), (4.0, 9.0));
    }
}
