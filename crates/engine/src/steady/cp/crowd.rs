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

use crate::steady::cp::pairs::Pairs;
use crate::steady::cp::series::{coming, Machine, Series};
use crate::steady::cp::station::{Crowd, Station};
use crate::steady::queues::demand::Arrivals;

/// Logical processors.
#[derive(Clone, Debug)]
pub(in crate::steady) struct Room {
    pub lps: f64,
    /// Speed of one whose sibling is at work, by that of one without; 1 with one thread a core.
    pub paired: f64,
    /// Cores with both threads at work; none with one thread a core.
    pub pairs: Pairs,
}

/// What all of them come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::steady) struct All {
    /// Logical processors at work, and the mean of their number's square.
    pub busy: f64,
    pub squares: f64,
    /// Cores with both threads at work.
    pub pairs: f64,
    /// Virtual processors with work.
    pub ready: f64,
    /// Share of the time in which some of them wait.
    pub waits: f64,
    /// Work done by each with work, by what it would do alone.
    pub speed: f64,
    /// Whether more comes than can be done.
    pub overrun: bool,
}

impl Room {
    /// What so many logical processors at work do together, in ones that are alone on their core.
    pub fn work(&self, busy: f64) -> f64 {
        busy * (1.0 - self.beside(busy) * (1.0 - self.paired))
    }

    /// Chance that a sibling of one at work is at work too, of so many.
    fn beside(&self, busy: f64) -> f64 {
        share_of(self.pairs.at(busy), busy)
    }

    /// Pairs while the number at work varies so: as if it did like a sum of many.
    pub fn pairs_about(&self, busy: f64, variance: f64) -> f64 {
        let off = (3.0 * variance).sqrt();
        let at = |busy: f64| self.pairs.at(busy.clamp(0.0, self.lps));
        (at(busy - off) + 4.0 * at(busy) + at(busy + off)) / 6.0
    }
}

/// Share of those at work that are one of a pair.
fn share_of(pairs: f64, busy: f64) -> f64 {
    (2.0 * pairs / busy.max(1e-12)).min(1.0)
}

/// Shares of the states beyond the last one below which they are of no account: what is as rare
/// does not come about in a run.
const TAIL: f64 = 1e-9;
/// Transactions in all machines up to which states are looked at first, and at most.
const FIRST: usize = 256;
const MOST: usize = 20_000;
/// Times that the weights are put about where the machines are now, or more states are looked at.
const TILTS: usize = 40;

/// Works out what machines come to on some logical processors. `speed` is a guess of how fast they
/// are, by what they would be alone.
///
/// As many states are looked at as ever come about: all sums of machines up to so many transactions
/// need none of a machine beyond.
pub(in crate::steady) fn crowd(stations: &[Station], room: &Room, speed: f64) -> (Vec<Crowd>, All) {
    let mut tilt = 1.0 / speed.clamp(1e-6, 1.0);
    let (stay, open) = (staying(stations), any_open(stations));
    let (mut limit, mut rounds) = (FIRST, 0);
    loop {
        let most = if open { stay + limit } else { usize::MAX };
        let machines: Vec<Machine> = stations
            .iter()
            .map(|of| Machine::of(of, tilt, most))
            .collect();
        let all = together(&machines, stations, None);
        let (held, mut told, ended) = slowed(&all, room, tilt, most);
        let now = 1.0 / told.speed.clamp(1e-6, 1.0);
        let close = (now / tilt - 1.0).abs() < 0.05;
        let more = !ended && limit < MOST;
        rounds += 1;
        if rounds < TILTS && (more || !close) {
            limit = if more { (2 * limit).min(MOST) } else { limit };
            tilt = now;
            continue;
        }
        told.overrun = !ended;
        let each = (0..stations.len()).map(|at| {
            let beside = together(&machines, stations, Some(at));
            let mut found = of_one(&stations[at], (&machines[at], &beside), (all.from, &held));
            if told.overrun {
                let most = found.ready * told.speed / stations[at].service_ns;
                found.per_ns = found.per_ns.min(most);
            }
            found
        });
        return (each.collect(), told);
    }
}

/// Transactions that never leave.
fn staying(stations: &[Station]) -> usize {
    let of = |station: &Station| match station.coming {
        Arrivals::Always(threads, _) => station.count as usize * threads as usize,
        _ => 0,
    };
    stations.iter().map(of).sum()
}

fn any_open(stations: &[Station]) -> bool {
    stations
        .iter()
        .any(|of| matches!(of.coming, Arrivals::Open(_)))
}

/// All machines, but one of a kind if it is named.
fn together(machines: &[Machine], stations: &[Station], without: Option<usize>) -> Series {
    let pairs = machines.iter().zip(stations).enumerate();
    pairs.fold(Series::none(), |all, (at, (machine, station))| {
        let fewer = u32::from(without == Some(at));
        machine.join(all, station.count.saturating_sub(fewer))
    })
}

/// `H`, from the first number of transactions on, what all together come to, and whether more
/// transactions than are looked at hardly ever come about.
fn slowed(series: &Series, room: &Room, tilt: f64, limit: usize) -> (Vec<f64>, All, bool) {
    let ready = |at: usize| series.busy[at] / series.weight[at].max(1e-300);
    let (mut held, mut now, mut most) = (Vec::new(), 0.0_f64, f64::NEG_INFINITY);
    for (at, weight) in series.weight.iter().enumerate() {
        let work = room.work(ready(at).min(room.lps));
        if at > 0 && work > 0.0 {
            now += (ready(at) / (work * tilt)).ln();
        }
        held.push(now);
        most = most.max(now + weight.max(1e-300).ln());
    }
    let (mut all, mut told) = (0.0, All::none());
    let (mut last, mut before) = (0.0, 0.0);
    for (at, held) in held.iter_mut().enumerate() {
        *held = (*held - most).exp();
        let p = series.weight[at] * *held;
        all += p;
        told.add(p, ready(at), room);
        (before, last) = (last, p);
    }
    let beyond = series.from + series.weight.len() <= limit
        || last < TAIL * all * (1.0 - last / before.max(1e-300));
    (held, told.by(all), beyond)
}

impl All {
    pub fn none() -> Self {
        Self {
            busy: 0.0,
            squares: 0.0,
            pairs: 0.0,
            ready: 0.0,
            waits: 0.0,
            speed: 0.0,
            overrun: false,
        }
    }

    fn add(&mut self, p: f64, ready: f64, room: &Room) {
        let running = ready.min(room.lps);
        self.busy += p * running;
        self.squares += p * running * running;
        self.pairs += p * room.pairs.at(running);
        self.ready += p * ready;
        self.waits += p * f64::from(u8::from(ready > room.lps * (1.0 + 1e-9)));
        self.speed += p * room.work(running);
    }

    /// So many more keep processors at work for good.
    pub fn join(&mut self, working: f64, room: &Room) {
        let lps = working * room.lps / room.work(room.lps).max(1e-9);
        let variance = (self.squares - self.busy * self.busy).max(0.0);
        self.squares += 2.0 * self.busy * lps + lps * lps;
        self.busy = (self.busy + lps).min(room.lps);
        self.pairs = room.pairs_about(self.busy, variance);
        if self.busy > 0.999 * room.lps {
            self.waits = 1.0;
        }
    }

    /// Share of those at work beside whom a sibling is.
    pub fn beside(&self) -> f64 {
        share_of(self.pairs, self.busy)
    }

    fn by(self, all: f64) -> Self {
        Self {
            busy: self.busy / all,
            squares: self.squares / all,
            pairs: self.pairs / all,
            ready: self.ready / all,
            waits: self.waits / all,
            speed: if self.ready > 0.0 {
                self.speed / self.ready
            } else {
                1.0
            },
            ..self
        }
    }
}

/// One machine among the others.
fn of_one(
    station: &Station,
    (own, beside): (&Machine, &Series),
    (first, held): (usize, &[f64]),
) -> Crowd {
    let slow = |total: usize| {
        let held = total.checked_sub(first).and_then(|at| held.get(at));
        held.copied().unwrap_or(0.0)
    };
    match own {
        Machine::Open(own, most) => own.among(beside, *most, slow),
        Machine::Some(own) => among(station, own, beside, slow),
    }
}

/// One machine of which all states are written out.
fn among(station: &Station, own: &Series, beside: &Series, slow: impl Fn(usize) -> f64) -> Crowd {
    let (mut all, mut come, mut told) = (0.0, 0.0, Crowd::default());
    for (at, weight) in own.weight.iter().enumerate() {
        let n = own.from + at;
        let others = beside.weight.iter().enumerate();
        let slowed: f64 = others.map(|(j, of)| of * slow(n + beside.from + j)).sum();
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
            pairs: Pairs::default(),
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
    fn whatever_is_there_is_as_users_without_number() {
        let many = 1e6;
        for (lps, cores) in [(12.0, 12.0), (5.0, 5.0), (6.0, 3.0)] {
            let paired = 0.7;
            let pairs = Pairs::of(cores, lps, 2.0);
            let room = Room { lps, paired, pairs };
            let as_open = machines(3, 2, Arrivals::Open(0.5));
            let as_users = Station {
                coming: Arrivals::Closed(many, many / 0.5),
                ..as_open
            };
            let beside = [
                machines(2, 1, Arrivals::Open(0.3)),
                machines(1, 1, Arrivals::Always(1.0, 1.0)),
            ];
            let found = |one| crowd(&[one, beside[0], beside[1]], &room, 1.0);
            let ((a, all), (b, other)) = (found(as_open), found(as_users));
            for (a, b) in a.iter().zip(&b) {
                let near = |a: f64, b: f64| (a - b).abs() <= 1e-4 * b;
                assert!(
                    near(a.inside, b.inside) && near(a.ready, b.ready),
                    "{a:?} {b:?}"
                );
                assert!(near(a.found_idle, b.found_idle) && near(a.per_ns, b.per_ns));
            }
            assert!((all.busy - other.busy).abs() < 1e-4, "{all:?} {other:?}");
        }
    }

    #[test]
    fn near_what_processors_can_do_the_crowd_is_long_and_ends() {
        // 24 machines that want 0.99 of eight processors, and of 7.9: then nobody is ever done.
        let machines = [machines(24, 4, Arrivals::Open(0.33))];
        let (found, all) = crowd(&machines, &room(8.0), 1.0);
        assert!((all.busy - 7.92).abs() < 1e-3, "{all:?}");
        assert!(24.0 * found[0].inside > 0.99 / 0.01 && !all.overrun);
        let (found, all) = crowd(&machines, &room(7.9), 1.0);
        assert!(found[0].inside > 100.0 && all.overrun, "{all:?}");
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
