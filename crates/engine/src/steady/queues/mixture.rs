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
/// Error of mean numbers, as a share, up to which they follow from those of a thread less.
const EXACT: f64 = 1e-4;
/// Most steps in which the work of those that came is found.
const NEWTON: usize = 30;
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

    fn users(&self) -> f64 {
        match self.comes {
            Comes::Closed(count, _) => count,
            _ => 0.0,
        }
    }

    /// Those runnable where so much work comes for each, of so many users; and how fast they become
    /// fewer with it. None of those that are there from the start.
    fn runnable(&self, users: f64, each: f64) -> (f64, f64) {
        match self.comes {
            Comes::Open(rate) => (rate * self.time / each, rate * self.time / (each * each)),
            Comes::Closed(_, away) => {
                let left = each * away + self.time;
                (
                    users * self.time / left,
                    users * self.time * away / (left * left),
                )
            }
            Comes::Stays => (0.0, 0.0),
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
    let running = |of: &Stream| of.before.threads();
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
    let mut error = f64::EPSILON;
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
        let each = part(&mut classes, came, work, &mut error);
        let ratio = each * f64::from(n) / speed(&at(n));
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

/// How many of those that came are of which workload, by those of one thread less, of which so much
/// `work` comes.
///
/// Where more are runnable than a closed workload has users nearly all of these are, and what comes
/// of the few that are away hangs on the difference of two numbers that are nearly alike, so that
/// an `error` of it grows from thread to thread. Where it has grown too far what each mean is once
/// it does not change any more is taken: `mean each = (users - mean) time / away`.
/// Returns the work that comes for each of those that came.
fn part(classes: &mut [Class], came: f64, work: f64, error: &mut f64) -> f64 {
    let grows = |of: &Class| match of.comes {
        Comes::Closed(_, away) => {
            came * of.time / away / work * (1.0 - of.coming() * of.time / work)
        }
        _ => 0.0,
    };
    let by = classes.iter().map(grows).fold(0.0, f64::max);
    *error = (*error * by).max(f64::EPSILON);
    if *error > EXACT {
        *error = error.min(1.0);
        if let Some((means, each)) = at_rest(classes, came, work / came) {
            for (class, mean) in classes.iter_mut().zip(means) {
                class.mean = mean;
            }
            return each;
        }
    }
    for class in classes.iter_mut().filter(|of| of.comes != Comes::Stays) {
        class.mean = class.coming() * class.time * came / work;
    }
    work / came
}

/// How many of each are runnable among those that came, where they change by as much with a thread
/// more as they would if they did not change at all, and the work that comes for each of those;
/// None where there are fewer users than that.
fn at_rest(classes: &[Class], came: f64, before: f64) -> Option<(Vec<f64>, f64)> {
    let mut users: Vec<f64> = classes.iter().map(Class::users).collect();
    let each = work_of_each(classes, &users, came, before)?;
    let (_, slope) = beyond(classes, &users, (came, each));
    for (users, class) in users.iter_mut().zip(classes) {
        if matches!(class.comes, Comes::Closed(..)) {
            *users += class.runnable(*users, each).1 / slope;
        }
    }
    let each = work_of_each(classes, &users, came, each)?;
    let told = |(class, users): (&Class, &f64)| match class.comes {
        Comes::Stays => class.mean,
        _ => class.runnable(*users, each).0,
    };
    Some((classes.iter().zip(&users).map(told).collect(), each))
}

/// Work that comes for each of those that came: Newton's steps from below to the root of a convex
/// function that falls.
fn work_of_each(classes: &[Class], users: &[f64], came: f64, before: f64) -> Option<f64> {
    let mut each = before.max(f64::MIN_POSITIVE);
    while beyond(classes, users, (came, each)).0 < 0.0 {
        each *= 0.5;
        if each < 1e-12 * before {
            return None;
        }
    }
    for _ in 0..NEWTON {
        let (over, slope) = beyond(classes, users, (came, each));
        let next = each + over / slope;
        if next <= each * (1.0 + 1e-12) {
            break;
        }
        each = next;
    }
    Some(each)
}

/// By how much more than those that came are runnable where so much work comes for each of them;
/// and how fast that falls with it.
fn beyond(classes: &[Class], users: &[f64], (came, each): (f64, f64)) -> (f64, f64) {
    let told = classes.iter().zip(users);
    told.map(|(class, users)| class.runnable(*users, each))
        .fold((-came, 0.0), |all, one| (all.0 + one.0, all.1 + one.1))
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
mod tests;
