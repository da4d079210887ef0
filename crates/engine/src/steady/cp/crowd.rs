//! How many virtual processors of z/VM's machines want a logical processor at once, and how many
//! have one.
//!
//! Transactions at a machine are a chain of births and deaths: they come at a rate that may fall
//! with those that are there (users), and as many are worked on as the machine has virtual
//! processors. While `k` transactions are in all machines and `b(k)` virtual processors have work
//! on average, all of them together do `work(b)`, and each the same part of that: less than its
//! own where logical processors are scarce, or two of them share a core. Slowed down alike, the
//! machines keep their product form,
//!
//! ```text
//! p(n1, n2, ...) = f1(n1) f2(n2) ... H(n1 + n2 + ...),   H(k) = H(k-1) b(k) / work(b(k))
//! ```
//!
//! which is exact for one processor that all share evenly, for one machine with as many virtual
//! processors as there are logical ones, and wherever nobody waits for a logical processor.

use crate::steady::queues::demand::Arrivals;

/// Machines that are alike.
#[derive(Clone, Copy, Debug)]
pub(in crate::steady) struct Station {
    pub count: u32,
    /// Virtual processors of each.
    pub cpus: u32,
    /// What comes to each.
    pub coming: Arrivals,
    /// Time of a transaction on a logical processor that nobody slows down [ns].
    pub service_ns: f64,
}

/// Logical processors.
#[derive(Clone, Copy, Debug)]
pub(in crate::steady) struct Room {
    pub lps: f64,
    /// Speed of one whose sibling is at work, by that of one without; 1 with one thread a core.
    pub paired: f64,
    /// Threads of a core.
    pub smt: f64,
}

/// What each of some machines comes to, means over time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::steady) struct Crowd {
    /// Transactions there.
    pub inside: f64,
    /// Done in a nanosecond.
    pub per_ns: f64,
    /// Virtual processors with work.
    pub ready: f64,
    /// Share of what comes that finds one without.
    pub found_idle: f64,
}

/// What all of them come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::steady) struct All {
    /// Logical processors at work, and the mean of their number's square.
    pub busy: f64,
    pub squares: f64,
    /// Virtual processors with work.
    pub ready: f64,
    /// Share of the time in which some of them wait.
    pub waits: f64,
    /// Work done by each with work, by what it would do alone.
    pub speed: f64,
}

impl Room {
    /// What so many logical processors at work do together, in ones that are alone on their core.
    pub fn work(&self, busy: f64) -> f64 {
        busy * (1.0 - self.beside(busy) * (1.0 - self.paired))
    }

    /// Chance that a sibling of one at work is at work too, of so many: any is as likely.
    pub fn beside(&self, busy: f64) -> f64 {
        if self.smt < 2.0 {
            return 0.0;
        }
        ((busy - 1.0).max(0.0) / (self.lps - 1.0)).min(1.0)
    }
}

/// Weight of a state below which it is of no account, by that of the heaviest: of users, who are so
/// many, and where more may come without end, of which `H` makes much.
const FEW: f64 = 1e-30;
const NOTHING: f64 = 1e-250;
/// Transactions of one machine after which a chain is cut.
const MOST: usize = 20_000;
/// Times that the weights are put about where the machines are now.
const TILTS: usize = 30;

/// Weights by the number of transactions, and the same by virtual processors with work.
#[derive(Clone, Debug)]
struct Series {
    from: usize,
    weight: Vec<f64>,
    busy: Vec<f64>,
    /// Weight that is of no account.
    least: f64,
}

impl Series {
    fn none() -> Self {
        Self {
            least: FEW,
            from: 0,
            weight: vec![1.0],
            busy: vec![0.0],
        }
    }

    /// One machine, with weights that are `tilt` times as large for each transaction more.
    fn of(station: &Station, tilt: f64) -> Self {
        let cpus = station.cpus as usize;
        if let Arrivals::Always(threads, _) = station.coming {
            return Self {
                least: FEW,
                from: threads as usize,
                weight: vec![1.0],
                busy: vec![threads.min(f64::from(station.cpus))],
            };
        }
        let least = match station.coming {
            Arrivals::Open(_) => NOTHING,
            _ => FEW,
        };
        let (mut weight, mut now, mut heaviest) = (vec![1.0], 1.0_f64, 1.0_f64);
        for n in 0..MOST {
            let at_work = (n + 1).min(cpus) as f64;
            let ratio = coming(station, n) * station.service_ns * tilt / at_work;
            now *= ratio;
            if now <= 0.0 || ratio < 1.0 && now < least * heaviest {
                break;
            }
            weight.push(now);
            heaviest = heaviest.max(now);
            if now > 1e200 {
                weight.iter_mut().for_each(|of| *of *= 1e-200);
                (now, heaviest) = (now * 1e-200, heaviest * 1e-200);
            }
        }
        let pairs = weight.iter().enumerate();
        let busy = pairs.map(|(n, of)| of * n.min(cpus) as f64).collect();
        Self {
            least,
            from: 0,
            weight,
            busy,
        }
        .trimmed()
    }

    /// Both together.
    fn and(&self, other: &Self) -> Self {
        let mut all = Self {
            least: self.least.min(other.least),
            from: self.from + other.from,
            weight: vec![0.0; self.weight.len() + other.weight.len() - 1],
            busy: vec![0.0; self.weight.len() + other.weight.len() - 1],
        };
        for (i, (a, a_busy)) in self.weight.iter().zip(&self.busy).enumerate() {
            let others = other.weight.iter().zip(&other.busy);
            let into = all.weight[i..].iter_mut().zip(&mut all.busy[i..]);
            for ((weight, busy), (b, b_busy)) in into.zip(others) {
                *weight += a * b;
                *busy += a_busy * b + a * b_busy;
            }
        }
        all.trimmed()
    }

    /// So many like it.
    fn times(&self, count: u32) -> Self {
        let (mut all, mut power, mut left) = (Self::none(), self.clone(), count);
        while left > 0 {
            if left % 2 == 1 {
                all = all.and(&power);
            }
            left /= 2;
            if left > 0 {
                power = power.and(&power);
            }
        }
        all
    }

    /// Without what is of no account, and of a size that numbers can hold.
    fn trimmed(mut self) -> Self {
        let heaviest = self.weight.iter().copied().fold(0.0, f64::max).max(1e-300);
        let counts = |of: &f64| *of >= self.least * heaviest;
        let first = self.weight.iter().position(counts).unwrap_or(0);
        let last = self.weight.iter().rposition(counts).unwrap_or(0);
        for all in [&mut self.weight, &mut self.busy] {
            all.truncate(last + 1);
            all.drain(..first);
            all.iter_mut().for_each(|of| *of /= heaviest);
        }
        self.from += first;
        self
    }

    /// `H`, from its first number on, and what all together come to.
    fn slowed(&self, room: &Room, tilt: f64) -> (Vec<f64>, All) {
        let ready = |at: usize| self.busy[at] / self.weight[at].max(1e-300);
        let (mut held, mut now, mut most) = (Vec::new(), 0.0_f64, f64::NEG_INFINITY);
        for (at, weight) in self.weight.iter().enumerate() {
            let work = room.work(ready(at).min(room.lps));
            if at > 0 && work > 0.0 {
                now += (ready(at) / (work * tilt)).ln();
            }
            held.push(now);
            most = most.max(now + weight.max(1e-300).ln());
        }
        let (mut all, mut told) = (0.0, All::none());
        for (at, held) in held.iter_mut().enumerate() {
            *held = (*held - most).exp();
            let p = self.weight[at] * *held;
            all += p;
            told.add(p, ready(at), room);
        }
        (held, told.by(all))
    }
}

/// What comes to a machine in a nanosecond while so many are there.
fn coming(station: &Station, inside: usize) -> f64 {
    match station.coming {
        Arrivals::Open(per_ns) => per_ns,
        Arrivals::Closed(users, away_ns) => (users - inside as f64).max(0.0) / away_ns,
        Arrivals::Always(..) | Arrivals::Never => 0.0,
    }
}

/// Works out what machines come to on some logical processors. `speed` is a guess of how fast they
/// are, by what they would be alone.
pub(in crate::steady) fn crowd(stations: &[Station], room: &Room, speed: f64) -> (Vec<Crowd>, All) {
    let mut tilt = 1.0 / speed.clamp(1e-6, 1.0);
    for _ in 0..TILTS {
        let alone: Vec<Series> = stations.iter().map(|of| Series::of(of, tilt)).collect();
        let several: Vec<Series> = alone
            .iter()
            .zip(stations)
            .map(|(of, station)| of.times(station.count))
            .collect();
        let together = |of: &[Series]| of.iter().fold(Series::none(), |all, one| all.and(one));
        let all = together(&several);
        let (held, told) = all.slowed(room, tilt);
        let now = 1.0 / told.speed.clamp(1e-6, 1.0);
        let close = (now / tilt - 1.0).abs() < 0.05;
        tilt = now;
        if !close {
            continue;
        }
        let each = (0..stations.len()).map(|at| {
            let beside = several[..at].iter().chain(&several[at + 1..]);
            let beside = beside.fold(Series::none(), |all, one| all.and(one));
            let beside = beside.and(&alone[at].times(stations[at].count.saturating_sub(1)));
            of_one(&stations[at], (&alone[at], &beside), (all.from, &held))
        });
        return (each.collect(), told);
    }
    (vec![Crowd::default(); stations.len()], All::none())
}

impl All {
    pub fn none() -> Self {
        Self {
            busy: 0.0,
            squares: 0.0,
            ready: 0.0,
            waits: 0.0,
            speed: 0.0,
        }
    }

    fn add(&mut self, p: f64, ready: f64, room: &Room) {
        let running = ready.min(room.lps);
        self.busy += p * running;
        self.squares += p * running * running;
        self.ready += p * ready;
        self.waits += p * f64::from(u8::from(ready > room.lps * (1.0 + 1e-9)));
        self.speed += p * room.work(running);
    }

    /// So many more keep processors at work for good.
    pub fn join(&mut self, working: f64, room: &Room) {
        let lps = working * room.lps / room.work(room.lps).max(1e-9);
        self.squares += 2.0 * self.busy * lps + lps * lps;
        self.busy = (self.busy + lps).min(room.lps);
        if self.busy > 0.999 * room.lps {
            self.waits = 1.0;
        }
    }

    fn by(self, all: f64) -> Self {
        Self {
            busy: self.busy / all,
            squares: self.squares / all,
            ready: self.ready / all,
            waits: self.waits / all,
            speed: if self.ready > 0.0 {
                self.speed / self.ready
            } else {
                1.0
            },
        }
    }
}

/// One machine among the others.
fn of_one(
    station: &Station,
    (own, beside): (&Series, &Series),
    (first, held): (usize, &[f64]),
) -> Crowd {
    let (mut all, mut come, mut told) = (0.0, 0.0, Crowd::default());
    for (at, weight) in own.weight.iter().enumerate() {
        let n = own.from + at;
        let others = beside.weight.iter().enumerate();
        let slowed: f64 = others
            .map(|(j, of)| {
                let total = n + beside.from + j;
                let held = total.checked_sub(first).and_then(|at| held.get(at));
                of * held.copied().unwrap_or(0.0)
            })
            .sum();
        let (p, more) = (weight * slowed, coming(station, n));
        let ready = (n as f64).min(f64::from(station.cpus));
        all += p;
        come += p * more;
        told.inside += p * n as f64;
        told.ready += p * ready;
        if n < station.cpus as usize {
            told.found_idle += p * more;
        }
    }
    Crowd {
        inside: told.inside / all,
        per_ns: come / all,
        ready: told.ready / all,
        found_idle: if come > 0.0 {
            told.found_idle / come
        } else {
            1.0
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(lps: f64) -> Room {
        Room {
            lps,
            paired: 1.0,
            smt: 1.0,
        }
    }

    fn machines(count: u32, cpus: u32, coming: Arrivals) -> Station {
        Station {
            count,
            cpus,
            coming,
            service_ns: 1.0,
        }
    }

    #[test]
    fn one_machine_is_the_queue_of_textbooks() {
        let (found, all) = crowd(&[machines(1, 1, Arrivals::Open(0.8))], &room(4.0), 1.0);
        assert!((found[0].inside - 4.0).abs() < 1e-6, "{found:?} {all:?}");
        assert!((found[0].found_idle - 0.2).abs() < 1e-9, "{found:?}");
        // M/M/2 at 0.75: 2 r / (1 - r^2), whichever of both bounds it.
        let two = 1.5 / (1.0 - 0.75 * 0.75);
        for (cpus, lps) in [(2, 8.0), (8, 2.0)] {
            let (found, _) = crowd(&[machines(1, cpus, Arrivals::Open(1.5))], &room(lps), 1.0);
            assert!((found[0].inside - two).abs() < 1e-4, "{found:?} {two}");
        }
    }

    #[test]
    fn machines_on_one_processor_share_it() {
        let few = [
            machines(3, 4, Arrivals::Open(0.1)),
            machines(2, 9, Arrivals::Open(0.2)),
        ];
        let (found, all) = crowd(&few, &room(1.0), 1.0);
        let inside = 3.0 * found[0].inside + 2.0 * found[1].inside;
        assert!((all.busy - 0.7).abs() < 1e-6, "{found:?} {all:?}");
        // As many as in M/M/1 but for what stays within a machine with too few processors.
        assert!((inside - 0.7 / 0.3).abs() < 0.05, "{inside}");
    }

    #[test]
    fn who_waits_for_nobody_is_alone() {
        let users = machines(3, 1, Arrivals::Closed(4.0, 5.0));
        let alone = crowd(
            &[machines(1, 1, Arrivals::Closed(4.0, 5.0))],
            &room(1.0),
            1.0,
        );
        let (found, all) = crowd(&[users], &room(3.0), 1.0);
        assert!((found[0].per_ns - alone.0[0].per_ns).abs() < 1e-9);
        assert_eq!(all.waits, 0.0);
        let by_little = found[0].inside + 5.0 * found[0].per_ns;
        assert!((by_little - 4.0).abs() < 1e-9);
    }

    #[test]
    fn fewer_processors_never_do_more() {
        let all = [
            machines(5, 2, Arrivals::Closed(6.0, 2.0)),
            machines(2, 1, Arrivals::Always(1.0, 1.0)),
        ];
        let done = |lps: f64| crowd(&all, &room(lps), 1.0).0[0].per_ns;
        let found: Vec<f64> = (1..=12).map(|lps| done(f64::from(lps))).collect();
        assert!(found.windows(2).all(|of| of[0] <= of[1] + 1e-9));
    }
}
