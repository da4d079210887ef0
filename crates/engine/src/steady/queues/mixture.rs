//! How many threads of several workloads of a partition are runnable, and what its virtual
//! processors do then.
//!
//! Threads share the logical processors as equals, whatever they do, and more of them slow all down
//! by about the same factor. If it is the same, the numbers of each have a product form (Baskett,
//! Chandy, Muntz, Palacios 1975: processor sharing, its speed hanging on how many there are), so
//! all there is to know of `n` runnable threads is how many of each workload they are on average.
//! That follows from those of `n - 1`: a thread more is one of workload `j` with a chance
//! proportional to the work that comes of it then,
//!
//! ```text
//! a(j, n) = rate(j) time(j)                  from outside
//!         = (users - mean(j, n)) time / away from so many who are away between bursts
//! mean(j, n + 1) = (n + 1) a(j, n) / sum(a)
//! p(n + 1) / p(n) = sum(a) / speed(n + 1)
//! ```
//! where `speed` is by how much all together go faster than a thread alone. Threads that always
//! have work are there from the start, and count among `n` without coming. It is exact for one
//! workload, and for several that the siblings of a core slow down alike; `time` makes up for what
//! differs on average. That threads take turns of one length, and those of short bursts less than
//! an equal part where all logical processors are busy, is not known here.

use crate::steady::queues::chain::Load;
use crate::steady::queues::demand::Arrivals;
use crate::steady::queues::filling::{Busy, Filled, THREADS};

/// Share of the probability below which what may still come is of no account.
const TAIL: f64 = 1e-9;
/// Most threads that are looked at: those of a queue that is as good as endless.
const MOST: u32 = 200_000;
/// Times that mean times and numbers are worked out from each other in one step.
const PASSES: usize = 2;

/// One of several workloads.
#[derive(Clone, Copy, Debug)]
pub(in crate::steady) struct Stream {
    pub arrivals: Arrivals,
    /// Time of a burst by busy threads of the core [ns].
    pub ns: [f64; THREADS],
    /// What it did before.
    pub before: Load,
}

/// A workload as the chain sees it.
#[derive(Clone, Copy, Debug)]
struct Class {
    comes: Comes,
    /// Time of a burst, as if it were alone on a core [ns].
    time: f64,
    /// Mean threads while there are `n` of all.
    mean: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Comes {
    Open(f64),
    Closed(f64, f64),
    Stays,
}

impl Class {
    fn of(stream: &Stream, time: f64) -> Self {
        let (comes, mean) = match stream.arrivals {
            Arrivals::Open(rate) => (Comes::Open(rate), 0.0),
            Arrivals::Closed(count, away) if away > 0.0 => (Comes::Closed(count, away), 0.0),
            Arrivals::Always(count, duty) if duty < 1.0 => {
                (Comes::Closed(count, time * (1.0 / duty - 1.0)), 0.0)
            }
            Arrivals::Closed(count, _) | Arrivals::Always(count, _) => (Comes::Stays, count),
            Arrivals::Never => (Comes::Open(0.0), 0.0),
        };
        Self { comes, time, mean }
    }

    /// Bursts that come in a nanosecond while there are so many.
    fn coming(&self) -> f64 {
        match self.comes {
            Comes::Open(rate) => rate,
            Comes::Closed(count, away) => (count - self.mean).max(0.0) / away,
            Comes::Stays => 0.0,
        }
    }
}

/// What all do together, and each of them: of each the virtual processors that it has a part in.
pub(in crate::steady) fn loads(
    streams: &[Stream],
    filled: Filled,
    known: &[Busy],
) -> (Load, Vec<Load>) {
    let mut streams = streams.to_vec();
    let mut found = (Load::default(), Vec::new());
    for _ in 0..PASSES {
        let speeds = speeds(&streams);
        let classes: Vec<Class> = streams
            .iter()
            .map(|stream| Class::of(stream, time(stream, &speeds)))
            .collect();
        found = walk(classes, &speeds, (filled, known));
        for (stream, load) in streams.iter_mut().zip(&found.1) {
            stream.before = *load;
        }
    }
    found
}

/// Thread time of a workload by busy threads of the core, as shares.
fn crowd(load: &Load) -> [f64; THREADS] {
    let mut crowd = [0.0; THREADS];
    for (busy, share) in crowd.iter_mut().enumerate() {
        *share = load.with[busy] * busy as f64;
    }
    let all: f64 = crowd.iter().sum();
    if all > 0.0 {
        crowd.iter_mut().for_each(|share| *share /= all);
    } else {
        crowd[1] = 1.0;
    }
    crowd
}

/// By how much a thread is slower beside others than alone, the mean over all: 1 alone.
fn speeds(streams: &[Stream]) -> [f64; THREADS] {
    let running = |of: &Stream| -> f64 {
        (1..THREADS)
            .map(|busy| of.before.with[busy] * busy as f64)
            .sum()
    };
    let all: f64 = streams.iter().map(running).sum();
    let mut speeds = [0.0; THREADS];
    for (busy, speed) in speeds.iter_mut().enumerate().skip(1) {
        for stream in streams.iter().filter(|of| of.ns[busy] > 0.0) {
            let part = if all > 0.0 {
                running(stream) / all
            } else {
                1.0 / streams.len() as f64
            };
            *speed += part * stream.ns[1] / stream.ns[busy];
        }
    }
    speeds
}

/// Time of a burst alone on a core, if all were slowed down alike, such that it takes as long as it
/// does beside those that are there.
fn time(stream: &Stream, speeds: &[f64; THREADS]) -> f64 {
    let (mut slowed, mut rate) = (0.0, 0.0);
    let shares = crowd(&stream.before).into_iter().enumerate();
    for (busy, share) in shares.filter(|(busy, _)| stream.ns[*busy] > 0.0) {
        slowed += share * speeds[busy];
        rate += share / stream.ns[busy];
    }
    slowed / rate
}

/// Goes through the states from the fewest threads on.
fn walk(
    mut classes: Vec<Class>,
    speeds: &[f64; THREADS],
    (filled, known): (Filled, &[Busy]),
) -> (Load, Vec<Load>) {
    let most = filled.threads();
    let at = |n: u32| {
        let n = n.min(most);
        let told = known.get(n as usize).copied();
        told.unwrap_or_else(|| Busy::of(filled, n))
    };
    let speed = |busy: &Busy| -> f64 {
        let each = busy.with.iter().zip(speeds).enumerate();
        each.map(|(threads, (vps, speed))| vps * threads as f64 * speed)
            .sum()
    };
    let full = speed(&at(most));
    let open = |of: &Class| match of.comes {
        Comes::Open(rate) => rate * of.time,
        _ => 0.0,
    };
    let offered: f64 = classes.iter().map(open).sum();
    let stay: f64 = classes.iter().map(|of| of.mean).sum();
    let mut sums = Sums::new(classes.len(), most);
    let (mut p, mut n, mut came) = (1.0_f64, stay as u32, 0.0);
    loop {
        let busy = at(n);
        sums.add(p, n, (&busy, speed(&busy)), (&classes, filled.returns));
        let work: f64 = classes.iter().map(|of| of.coming() * of.time).sum();
        if work <= 0.0 || n >= MOST {
            break;
        }
        came += 1.0;
        n += 1;
        if n > most && offered >= full {
            return overrun(&classes, &at(most), (full, offered));
        }
        let ratio = work / came * f64::from(n) / speed(&at(n));
        for class in classes.iter_mut().filter(|of| of.comes != Comes::Stays) {
            class.mean = came * class.coming() * class.time / work;
        }
        p *= ratio;
        let falls = ratio < 0.9 || n > most && ratio < 1.0;
        if falls && p < TAIL * sums.all * (1.0 - ratio) {
            break;
        }
        if p > 1e200 {
            sums.scale(1e-200);
            p *= 1e-200;
        }
    }
    sums.told()
}

/// More comes from outside than can go: it takes all there is.
fn overrun(classes: &[Class], busy: &Busy, (full, offered): (f64, f64)) -> (Load, Vec<Load>) {
    let mut all = Load {
        with: busy.with,
        vps: busy.vps,
        runnable: f64::INFINITY,
        overrun: true,
        ..Load::default()
    };
    let one = |class: &Class| match class.comes {
        Comes::Open(rate) if rate > 0.0 => {
            let part = rate * class.time / offered;
            Load {
                with: busy.with.map(|vps| part * vps),
                vps: part * busy.vps,
                runnable: f64::INFINITY,
                bursts_per_ns: full / offered * rate,
                overrun: true,
                ..Load::default()
            }
        }
        _ => Load::default(),
    };
    let each: Vec<Load> = classes.iter().map(one).collect();
    all.bursts_per_ns = each.iter().map(|of| of.bursts_per_ns).sum();
    (all, each)
}

/// Sums over the states, each with its probability.
struct Sums {
    all: f64,
    load: Load,
    squares: f64,
    coming: f64,
    most: u32,
    /// Of each workload, and what came of it.
    each: Vec<(Load, f64)>,
}

impl Sums {
    fn new(classes: usize, most: u32) -> Self {
        Self {
            all: 0.0,
            load: Load::default(),
            squares: 0.0,
            coming: 0.0,
            most,
            each: vec![(Load::default(), 0.0); classes],
        }
    }

    /// A state of `n` threads.
    fn add(
        &mut self,
        p: f64,
        n: u32,
        (busy, speed): (&Busy, f64),
        (classes, returns): (&[Class], bool),
    ) {
        self.all += p;
        self.squares += p * busy.squares;
        self.load.vps += p * busy.vps;
        let waiting = f64::from(n.saturating_sub(self.most));
        for (class, (load, came)) in classes.iter().zip(&mut self.each) {
            let coming = p * class.coming();
            load.wakes_per_ns += coming * busy.wakes;
            *came += coming;
            load.held += if n >= self.most { coming } else { 0.0 };
            if returns {
                self.coming += coming;
                for (sum, full) in self.load.full.iter_mut().zip(busy.full) {
                    *sum += coming * full;
                }
            }
            if n == 0 {
                continue;
            }
            let part = p * class.mean / f64::from(n);
            for (sum, vps) in load.with.iter_mut().zip(busy.with) {
                *sum += part * vps;
            }
            load.vps += part * busy.vps;
            load.runnable += p * class.mean;
            load.waiting += part * waiting;
            load.bursts_per_ns += part * speed / class.time;
        }
    }

    fn scale(&mut self, by: f64) {
        self.all *= by;
        self.squares *= by;
        self.coming *= by;
        scale(&mut self.load, by);
        for (load, came) in &mut self.each {
            scale(load, by);
            *came *= by;
        }
    }

    fn told(mut self) -> (Load, Vec<Load>) {
        self.scale(1.0 / self.all);
        let mut all = self.load;
        let coming = self.coming.max(1e-300);
        all.full.iter_mut().for_each(|full| *full /= coming);
        all.vps_variance = (self.squares - all.vps * all.vps).max(0.0);
        let mut came_in_all = 0.0;
        for (load, came) in &mut self.each {
            for (sum, vps) in all.with.iter_mut().zip(load.with) {
                *sum += vps;
            }
            all.runnable += load.runnable;
            all.waiting += load.waiting;
            all.held += load.held;
            all.bursts_per_ns += load.bursts_per_ns;
            all.wakes_per_ns += load.wakes_per_ns;
            came_in_all += *came;
            load.held /= came.max(1e-300);
        }
        all.held /= came_in_all.max(1e-300);
        (all, self.each.into_iter().map(|(load, _)| load).collect())
    }
}

fn scale(load: &mut Load, by: f64) {
    let each = load.with.iter_mut().chain(&mut load.full);
    each.for_each(|sum| *sum *= by);
    for sum in [
        &mut load.vps,
        &mut load.runnable,
        &mut load.waiting,
        &mut load.held,
        &mut load.bursts_per_ns,
        &mut load.wakes_per_ns,
    ] {
        *sum *= by;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steady::queues::chain;

    /// A workload whose bursts take so long on processors of one thread.
    fn stream(arrivals: Arrivals, ns: f64) -> Stream {
        let mut all = [0.0; THREADS];
        all[1] = ns;
        Stream {
            arrivals,
            ns: all,
            before: Load::default(),
        }
    }

    #[test]
    fn one_workload_is_the_chain_of_one() {
        let filled = Filled::single(3);
        let mut rates = [0.0; THREADS];
        rates[1] = 0.5;
        for arrivals in [
            Arrivals::Open(1.2),
            Arrivals::Closed(9.0, 4.0),
            Arrivals::Always(2.0, 1.0),
        ] {
            let alone = chain::load(arrivals, &rates, filled, &[], f64::INFINITY);
            let (all, each) = loads(&[stream(arrivals, 2.0)], filled, &[]);
            for found in [&all, &each[0]] {
                assert!((found.vps - alone.vps).abs() < 1e-6, "{arrivals:?}");
                assert!(
                    (found.runnable - alone.runnable).abs() < 1e-5,
                    "{arrivals:?}"
                );
                assert!((found.bursts_per_ns - alone.bursts_per_ns).abs() < 1e-7);
            }
            assert!((all.vps_variance - alone.vps_variance).abs() < 1e-5);
        }
    }

    #[test]
    fn two_that_are_alike_are_one() {
        let filled = Filled::single(2);
        let open = |rate| stream(Arrivals::Open(rate), 1.0);
        let (one, _) = loads(&[open(1.5)], filled, &[]);
        let (both, each) = loads(&[open(0.5), open(1.0)], filled, &[]);
        assert!((one.runnable - both.runnable).abs() < 1e-9);
        assert!((each[1].runnable - 2.0 * each[0].runnable).abs() < 1e-9);
        let users = |count| stream(Arrivals::Closed(count, 3.0), 1.0);
        let (one, _) = loads(&[users(12.0)], filled, &[]);
        let (both, each) = loads(&[users(4.0), users(8.0)], filled, &[]);
        assert!((one.runnable - both.runnable).abs() < 1e-9);
        assert!((each[1].runnable - 2.0 * each[0].runnable).abs() < 1e-9);
    }

    /// Users and strangers on two processors against all states of the two numbers: flows in and
    /// out of each are equal.
    #[test]
    fn it_is_the_product_form() {
        let (count, away, own) = (3_u32, 5.0_f64, 2.0_f64);
        let (rate, theirs) = (0.3, 1.0);
        let speed = |n: u32| f64::from(n.min(2));
        let mut states = Vec::new();
        let factorial = |n: u32| -> f64 { (1..=n).map(f64::from).product() };
        for users in 0..=count {
            for others in 0..60 {
                let n = users + others;
                let paths = factorial(n) / factorial(users) / factorial(others);
                let speeds: f64 = (1..=n).map(speed).product();
                let chosen: f64 = (0..users).map(|at| f64::from(count - at)).product();
                let weight = paths / speeds
                    * chosen
                    * (own / away).powi(users as i32)
                    * f64::powi(rate * theirs, others as i32);
                states.push((users, others, weight));
            }
        }
        let all: f64 = states.iter().map(|(.., weight)| weight).sum();
        let users: f64 = states.iter().map(|(n, _, p)| f64::from(*n) * p).sum();
        let others: f64 = states.iter().map(|(_, n, p)| f64::from(*n) * p).sum();
        let streams = [
            stream(Arrivals::Closed(count.into(), away), own),
            stream(Arrivals::Open(rate), theirs),
        ];
        let (_, each) = loads(&streams, Filled::single(2), &[]);
        assert!((each[0].runnable - users / all).abs() < 1e-7);
        assert!((each[1].runnable - others / all).abs() < 1e-7);
        assert!((each[1].bursts_per_ns - rate).abs() < 1e-8);
    }

    #[test]
    fn what_always_has_work_takes_what_is_left() {
        // One processor: a batch of one thread, and strangers that take a fifth of it.
        let streams = [
            stream(Arrivals::Always(1.0, 1.0), 10.0),
            stream(Arrivals::Open(0.2), 1.0),
        ];
        let (all, each) = loads(&streams, Filled::single(1), &[]);
        assert!((all.vps - 1.0).abs() < 1e-9);
        assert!((each[0].bursts_per_ns - 0.08).abs() < 1e-9);
        assert!((each[1].vps - 0.2).abs() < 1e-9);
    }

    #[test]
    fn more_than_can_go_takes_all() {
        let streams = [
            stream(Arrivals::Always(1.0, 1.0), 10.0),
            stream(Arrivals::Open(1.2), 1.0),
        ];
        let (all, each) = loads(&streams, Filled::single(1), &[]);
        assert!(all.overrun && each[1].overrun && !each[0].overrun);
        assert_eq!((each[0].vps, each[1].vps), (0.0, 1.0));
    }
}
