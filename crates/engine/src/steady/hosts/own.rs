//! Others of its own partition that a thread finds beside it: one queue feeds them all, so that
//! while one of them is busy more of the others are than on average.

use crate::cost::Class;
use crate::steady::layout::form::Form;
use crate::steady::layout::state::{Crowd, Doing, Site};
use crate::steady::queues::filling::Busy;

/// Numbers of threads with work for which it is told who is beside one of them, besides one: what
/// lies between two is.
const NUMBERS: usize = 8;
/// Share of a thread's time by which what is beside it has to differ to be of account.
const ALIKE: f64 = 0.01;

/// A partition's threads, of which so many have work while one of them has.
#[derive(Clone, Copy, Debug)]
pub(in crate::steady) struct Own {
    /// How many there are, with work on the mean, and the variance of that number.
    vps: f64,
    busy: f64,
    variance: f64,
    /// Share of their time with work in which they have a processor, while no limit stops them.
    served: f64,
    /// Chance that two with work have one, each for himself; where no limit stops them it is as if
    /// all had.
    pair: f64,
    there: f64,
}

impl Own {
    /// As many as one that has work finds on the mean, itself included.
    pub fn of(doing: &Doing, form: &Form) -> Self {
        let (vps, load) = (f64::from(form.filled.vps()), &doing.load);
        let there = load.vps + load.vps_variance / load.vps.max(1e-9);
        let served = (doing.served / doing.limited).min(1.0);
        Self {
            vps,
            busy: load.vps,
            variance: load.vps_variance,
            served,
            pair: if doing.limited < 1.0 {
                served * served
            } else {
                1.0
            },
            there: there.clamp(1.0, vps.max(1.0)),
        }
    }

    /// So many.
    pub fn while_there(self, there: f64) -> Self {
        Self { there, ..self }
    }

    /// Share of its time in which each has work.
    pub fn each(self) -> f64 {
        self.busy / self.vps
    }

    /// Share of the time for which each of the others has work while one has.
    fn other(self) -> f64 {
        (self.there - 1.0) / (self.vps - 1.0).max(1.0)
    }

    /// Processors on which others of so many run, beyond those on which they do on the mean.
    pub fn more(self, others: f64) -> f64 {
        self.served * others.max(0.0) * (self.other() - self.each())
    }

    /// Of so many on some processors, how many run there on the mean.
    pub fn runs(self, seats: f64) -> f64 {
        self.served * seats * self.each()
    }

    /// The variance of that, of which so many are busy: so many of all, taken as they come, whom
    /// limits let run for so much of the time, all at once.
    pub fn varies(self, seats: f64, busy: f64, lets: f64) -> f64 {
        let pairs = lets * self.pair * (self.variance + self.busy * self.busy - self.busy).max(0.0);
        let all = (self.vps * (self.vps - 1.0)).max(1.0);
        let both = pairs * (seats * (seats - 1.0)).max(0.0) / all;
        (busy + both - busy * busy).max(0.0)
    }

    /// Mean and variance of how many run while so many have work of which one is there.
    pub fn of_seats_now(self, seats: f64) -> (f64, f64) {
        let (others, each) = ((seats - 1.0).max(0.0), self.served * self.other());
        let by_chance = others * each * (1.0 - each);
        // All that are elsewhere leave no more to chance than there are.
        let elsewhere = 1.0 - others / (self.vps - 1.0).max(1.0);
        (self.served + others * each, by_chance * elsewhere.max(0.0))
    }
}

/// Numbers of threads with work for which it is told who is beside one, of so many.
pub(in crate::steady) fn numbers(vps: u32) -> impl Iterator<Item = f64> {
    let steps = (vps.max(1) as usize - 1).min(NUMBERS);
    let each = (f64::from(vps) - 1.0) / steps.max(1) as f64;
    (0..=steps).map(move |step| 1.0 + each * step as f64)
}

/// Whether it matters how many have work.
pub(in crate::steady) fn differ(some: &Crowd, others: &Crowd) -> bool {
    let pairs = some.iter().zip(others);
    pairs.map(|(a, b)| (a - b).abs()).sum::<f64>() > ALIKE
}

/// Instructions of a thread in a nanosecond for each of those numbers, on one chip.
pub(in crate::steady) fn rates(site: &Site) -> Vec<f64> {
    let of = |crowd: &Crowd| -> f64 {
        let each = crowd.iter().zip(&site.classes).skip(1);
        each.filter(|(share, class)| **share > 0.0 && class.ns > 0.0)
            .map(|(share, class): (&f64, &Class)| share / class.ns)
            .sum()
    };
    site.by_number.iter().map(of).collect()
}

/// Instructions of a thread in a nanosecond over several chips.
#[derive(Default)]
pub(in crate::steady) struct Paces {
    /// On chips where it is of account how many have work, and elsewhere.
    rates: Vec<f64>,
    elsewhere: f64,
}

impl Paces {
    /// One of them, with the rates for some numbers, and that on the mean.
    pub fn add(&mut self, site: &Site, rates: Vec<f64>) {
        if rates.is_empty() {
            self.elsewhere += site.share / site.classes[1].ns;
            return;
        }
        self.rates.resize(rates.len(), 0.0);
        let pairs = self.rates.iter_mut().zip(rates);
        pairs.for_each(|(sum, rate)| *sum += site.share * rate);
    }

    /// What an instruction takes for each of the numbers.
    pub fn ns(self) -> Vec<f64> {
        let of = |rate| 1.0 / (rate + self.elsewhere);
        self.rates.into_iter().map(of).collect()
    }
}

impl Doing {
    /// What is known by the number of threads with work, where each is the slower the more there
    /// are; none where that is of no account.
    pub(in crate::steady) fn paced(&self, form: &Form) -> Option<Vec<Busy>> {
        let ns = &self.by_number_ns;
        let burst_ns = |ns: f64| form.demand.burst * ns + self.reload_ns;
        (!ns.is_empty()).then(|| paced(&form.known, (ns, self.ns[1]), burst_ns))
    }
}

/// What is known by the number of threads with work, where each is the slower the more there are:
/// an instruction takes so long for some numbers, and on the mean, and a burst what that makes.
fn paced(known: &[Busy], (ns, mean): (&[f64], f64), burst_ns: impl Fn(f64) -> f64) -> Vec<Busy> {
    let most = known.len().saturating_sub(1);
    let each = (most.max(2) - 1) as f64 / (ns.len().max(2) - 1) as f64;
    let at = |threads: usize| {
        let place = (threads.max(1) - 1) as f64 / each;
        let low = (place as usize).min(ns.len() - 1);
        let high = (low + 1).min(ns.len() - 1);
        ns[low] + (place - low as f64) * (ns[high] - ns[low])
    };
    let paced = |(threads, busy): (usize, &Busy)| {
        let mut busy = *busy;
        busy.with[1] *= burst_ns(mean) / burst_ns(at(threads));
        busy
    };
    known.iter().enumerate().map(paced).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of so many threads, of which so many have work on the mean.
    fn own(vps: f64, busy: f64, variance: f64) -> Own {
        Own {
            vps,
            busy,
            variance,
            served: 1.0,
            pair: 1.0,
            there: 1.0,
        }
    }

    #[test]
    fn threads_that_work_whatever_the_others_do_are_beside_one_as_often_as_on_the_mean() {
        let each = own(8.0, 2.4, 8.0 * 0.3 * 0.7);
        let there = each.busy + each.variance / each.busy;
        assert!(each.while_there(there).more(7.0).abs() < 1e-12);
        // All of them at once, and none.
        assert!((each.while_there(8.0).more(1.0) - 0.7).abs() < 1e-12);
        assert!((each.while_there(1.0).more(1.0) + 0.3).abs() < 1e-12);
        // One alone has no others.
        assert_eq!(own(1.0, 0.4, 0.24).more(0.0), 0.0);
    }

    #[test]
    fn of_those_that_are_all_there_nothing_is_left_to_chance() {
        let all = own(4.0, 2.0, 1.0).while_there(3.0);
        assert_eq!(all.of_seats_now(4.0), (3.0, 0.0));
        let (mean, variance) = all.of_seats_now(2.0);
        assert!((mean - 5.0 / 3.0).abs() < 1e-12 && variance > 0.0);
    }

    #[test]
    fn numbers_go_from_one_to_all_and_what_lies_between_is_between() {
        assert_eq!(numbers(1).collect::<Vec<_>>(), [1.0]);
        assert_eq!(numbers(4).collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0]);
        let many: Vec<f64> = numbers(33).collect();
        assert_eq!((many.len(), many[0], many[8]), (9, 1.0, 33.0));
        let mut known = vec![Busy::default(); 34];
        for (threads, busy) in known.iter_mut().enumerate() {
            busy.with[1] = threads as f64;
        }
        let ns: Vec<f64> = many
            .iter()
            .map(|there| 1.0 + (there - 1.0) / 32.0)
            .collect();
        let paced = paced(&known, (&ns, 1.0), |ns| ns);
        let found = [1, 17, 19, 33].map(|threads: usize| paced[threads].with[1] / threads as f64);
        let wanted = [1.0, 1.0 / 1.5, 1.0 / 1.5625, 0.5];
        assert!(
            found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-12),
            "{found:?}"
        );
    }
}
