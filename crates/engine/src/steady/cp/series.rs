//! Weights of the states of z/VM's machines by how many transactions are in them, and sums of
//! machines.
//!
//! To a machine to which transactions come whatever is there, each transaction beyond its virtual
//! processors has the same weight for the one before it. So adding such a machine to others goes
//! through the sums once and remembers what went on, however many transactions there may be.

use crate::steady::cp::station::{Crowd, Station};
use crate::steady::queues::demand::Arrivals;

/// Weight of a state below which it is of no account, by that of the heaviest: of users, who are so
/// many, and where more may come without end, of which `H` makes much.
const FEW: f64 = 1e-30;
const NOTHING: f64 = 1e-250;
/// Transactions of one machine after which a chain is cut.
const MOST: usize = 20_000;
/// Weight beyond which all are made smaller, and how much smaller.
const GREAT: f64 = 1e200;
const SMALLER: f64 = 1e-200;

/// Weights by the number of transactions, and the same by virtual processors with work.
#[derive(Clone, Debug)]
pub(in crate::steady) struct Series {
    /// Transactions of the first.
    pub from: usize,
    pub weight: Vec<f64>,
    pub busy: Vec<f64>,
    /// Weight that is of no account.
    least: f64,
}

/// Weights of a machine by the number of transactions there.
pub(in crate::steady) enum Machine {
    /// All states of it.
    Some(Series),
    /// One to which transactions come whatever is there, and transactions beyond which no sum is
    /// looked at.
    Open(Open, usize),
}

/// A machine to which transactions come at one rate.
pub(in crate::steady) struct Open {
    /// Weights of up to as many transactions as it has virtual processors.
    head: Vec<f64>,
    /// Weight of each further one, by that of the one before.
    ratio: f64,
    per_ns: f64,
}

impl Series {
    pub fn none() -> Self {
        Self {
            least: FEW,
            from: 0,
            weight: vec![1.0],
            busy: vec![0.0],
        }
    }

    /// One machine that always has so many.
    fn always(threads: f64, cpus: u32) -> Self {
        Self {
            from: threads as usize,
            busy: vec![threads.min(f64::from(cpus))],
            ..Self::none()
        }
    }

    /// One machine, with weights that are `tilt` times as large for each transaction more.
    fn of(station: &Station, tilt: f64) -> Self {
        let cpus = station.cpus as usize;
        let (mut weight, mut now, mut heaviest) = (vec![1.0], 1.0_f64, 1.0_f64);
        for n in 0..MOST {
            let at_work = (n + 1).min(cpus) as f64;
            let ratio = coming(station, n) * station.service_ns * tilt / at_work;
            now *= ratio;
            if now <= 0.0 || ratio < 1.0 && now < FEW * heaviest {
                break;
            }
            weight.push(now);
            heaviest = heaviest.max(now);
            if now > GREAT {
                weight.iter_mut().for_each(|of| *of *= SMALLER);
                (now, heaviest) = (now * SMALLER, heaviest * SMALLER);
            }
        }
        let pairs = weight.iter().enumerate();
        let busy = pairs.map(|(n, of)| of * n.min(cpus) as f64).collect();
        Self {
            weight,
            busy,
            ..Self::none()
        }
        .trimmed()
    }

    /// Both together.
    fn and(&self, other: &Self) -> Self {
        let size = self.weight.len() + other.weight.len() - 1;
        let mut all = Self {
            least: self.least.min(other.least),
            from: self.from + other.from,
            weight: vec![0.0; size],
            busy: vec![0.0; size],
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
}

impl Machine {
    /// With weights that are `tilt` times as large for each transaction more; none of it is looked
    /// at beyond `most` transactions in all machines.
    pub fn of(station: &Station, tilt: f64, most: usize) -> Self {
        match station.coming {
            Arrivals::Open(per_ns) => {
                let each = per_ns * station.service_ns * tilt;
                Self::Open(Open::of(each, station.cpus, per_ns), most)
            }
            Arrivals::Always(threads, _) => Self::Some(Series::always(threads, station.cpus)),
            Arrivals::Closed(..) | Arrivals::Never => Self::Some(Series::of(station, tilt)),
        }
    }

    /// So many like it beside others.
    pub fn join(&self, others: Series, count: u32) -> Series {
        match self {
            Self::Some(own) => others.and(&own.times(count)),
            Self::Open(own, most) => (0..count).fold(others, |all, _| own.beside(&all, *most)),
        }
    }
}

impl Open {
    /// `each` is the weight of the first transaction.
    fn of(each: f64, cpus: u32, per_ns: f64) -> Self {
        let mut head = vec![1.0];
        for n in 1..=cpus {
            head.push(head[n as usize - 1] * each / f64::from(n));
        }
        Self {
            head,
            ratio: each / f64::from(cpus),
            per_ns,
        }
    }

    fn cpus(&self) -> usize {
        self.head.len() - 1
    }

    /// It and others, up to `most` transactions.
    fn beside(&self, others: &Series, most: usize) -> Series {
        let size = most.saturating_sub(others.from) + 1;
        let mut all = Series {
            from: others.from,
            weight: Vec::with_capacity(size),
            busy: Vec::with_capacity(size),
            least: NOTHING,
        };
        let (cpus, mut scale) = (self.cpus(), 1.0);
        // What there is while it has as many transactions as virtual processors or more.
        let (mut full, mut full_busy) = (0.0, 0.0);
        for at in 0..size {
            let (mut weight, mut busy) = (0.0, 0.0);
            for (n, own) in self.head[..cpus].iter().enumerate() {
                let (b, b_busy) = others.at(at, n);
                weight += own * b;
                busy += own * (n as f64 * b + b_busy);
            }
            let (b, b_busy) = others.at(at, cpus);
            full = full * self.ratio + scale * self.head[cpus] * b;
            full_busy =
                full_busy * self.ratio + scale * self.head[cpus] * (cpus as f64 * b + b_busy);
            all.weight.push(scale * weight + full);
            all.busy.push(scale * busy + full_busy);
            if all.weight[at] > GREAT {
                let every = all.weight.iter_mut().chain(&mut all.busy);
                every.for_each(|of| *of *= SMALLER);
                (scale, full, full_busy) = (scale * SMALLER, full * SMALLER, full_busy * SMALLER);
            }
        }
        all.trimmed()
    }

    /// What it comes to among others, up to `most` transactions; `slow` is `H` by their number.
    pub fn among(&self, beside: &Series, most: usize, slow: impl Fn(usize) -> f64) -> Crowd {
        let cpus = self.cpus();
        let (mut all, mut idle, mut told) = (0.0, 0.0, Crowd::default());
        // What there is while it is full, and the same by its transactions.
        let (mut full, mut inside, mut scale) = (0.0, 0.0, 1.0);
        for at in 0..=most.saturating_sub(beside.from) {
            let (mut free, mut ready) = (0.0, 0.0);
            for (n, own) in self.head[..cpus].iter().enumerate() {
                let (b, _) = beside.at(at, n);
                free += own * b;
                ready += n as f64 * own * b;
            }
            let new = scale * self.head[cpus] * beside.at(at, cpus).0;
            inside = (inside + full) * self.ratio + cpus as f64 * new;
            full = full * self.ratio + new;
            let slow = slow(beside.from + at);
            all += slow * (scale * free + full);
            idle += slow * scale * free;
            told.ready += slow * (scale * ready + cpus as f64 * full);
            told.inside += slow * (scale * ready + inside);
            if inside > GREAT {
                let every = [&mut all, &mut idle, &mut told.ready, &mut told.inside];
                every.into_iter().for_each(|of| *of *= SMALLER);
                (scale, full, inside) = (scale * SMALLER, full * SMALLER, inside * SMALLER);
            }
        }
        Crowd {
            inside: told.inside / all,
            per_ns: self.per_ns,
            ready: told.ready / all,
            found_idle: idle / all,
        }
    }
}

impl Series {
    /// Weights of the one that is `back` before a place; none before the first and after the last.
    fn at(&self, place: usize, back: usize) -> (f64, f64) {
        let at = place.checked_sub(back).filter(|at| *at < self.weight.len());
        at.map_or((0.0, 0.0), |at| (self.weight[at], self.busy[at]))
    }
}

/// What comes to a machine in a nanosecond while so many are there.
pub(in crate::steady) fn coming(station: &Station, inside: usize) -> f64 {
    match station.coming {
        Arrivals::Open(per_ns) => per_ns,
        Arrivals::Closed(users, away_ns) => (users - inside as f64).max(0.0) / away_ns,
        Arrivals::Always(..) | Arrivals::Never => 0.0,
    }
}
