//! Beside which memory each thread of a Linux host runs.
//!
//! Whoever comes first goes to the emptiest node: those that stay when the run begins, the others
//! as they wake. Then NUMA balancing draws each to its memory by the scheduler's own rule
//! (`task_numa_find_cpu`): it goes if that leaves no more to be evened out than load balancing lets
//! be, else it changes places with one that wants to come the other way. Of several whoever looks
//! when there is room comes first, so they come alike; those whose data are their own are looked at
//! so rarely (`update_task_scan_period`) that they come last.
//!
//! How many run goes up and down. One that comes and goes goes home as soon as that lets it for
//! once, and stays; those that always run are evened out again, so their means count.

use std::cmp::Ordering;

use crate::hypervisor::policies::{lax, PAIR};
use crate::machine::Topology;
use crate::steady::queues::chances::quantile;

/// Time in which a thread comes to where it stays [s]: each looks so often, when it next runs after
/// a scan. Those of partitions that use a part of a processor are scanned as many times more
/// rarely, and come there later. Assumed, half a minute to ten minutes.
const LOOKED_AT: f64 = 60.0;
/// Time between two looks of a thread that always runs: the shortest between two scans
/// (`numa_balancing_scan_period_min_ms`) [s].
const LOOKS_EACH: f64 = 1.0;
/// Standard deviations beyond which a number hardly ever comes to.
pub(in crate::steady) const HARDLY_EVER: f64 = 3.0;
/// How far from a whole number a mean still stands for it.
const HALF: f64 = 0.5;
/// By how much even numbers must differ for once, so that one that goes leaves them even.
const IN_STEP: f64 = 2.0;
/// Part of a thread's load by which two sums may differ that are alike.
const ROUNDING: f64 = 1e-4;

/// Threads that want to be beside the same memory and do the same.
#[derive(Clone, Debug)]
pub(in crate::steady) struct Party {
    /// Number of whoever they are threads of: these never change places.
    pub unit: usize,
    /// Memory that draws them, and whether it is hardly ever looked at.
    pub wants: Option<usize>,
    pub is_rare: bool,
    pub count: usize,
    /// Whether they always have work; else the share of the time in which each runs, polling too.
    pub stays: bool,
    pub each: f64,
    /// What each weighs on the mean.
    pub load: f64,
    /// Beside which memory they may run.
    pub may: Vec<bool>,
}

impl Party {
    fn variance(&self) -> f64 {
        (self.each * (1.0 - self.each)).max(0.0)
    }
}

/// A way from one memory to another.
#[derive(Clone, Copy)]
struct Way {
    from: usize,
    to: usize,
}

/// How many of each party are beside each memory.
struct Nodes<'a> {
    parties: &'a [Party],
    on: Vec<Vec<usize>>,
    /// Processors beside each memory.
    cpus: &'a [f64],
    /// Most threads of a node among which a small difference is let be.
    lax: f64,
}

/// How many of each party come to be beside each memory, of those that come first the first.
pub(in crate::steady) fn deal(tree: &Topology, parties: &[Party], cpus: &[f64]) -> Vec<Vec<usize>> {
    let mut nodes = Nodes {
        parties,
        on: vec![vec![0; cpus.len()]; parties.len()],
        cpus,
        lax: f64::from(lax(tree)),
    };
    for (at, party) in parties.iter().enumerate() {
        for _ in 0..party.count {
            if let Some(to) = nodes.emptiest(party) {
                nodes.on[at][to] += 1;
            }
        }
    }
    for with_rare in [false, true] {
        while nodes.draw_one(with_rare) {}
    }
    nodes.on
}

impl Nodes<'_> {
    /// The first of those with most idle processors.
    fn emptiest(&self, party: &Party) -> Option<usize> {
        let idle = |at: &usize| (self.cpus[*at] - self.runs(*at).0.round()).max(0.0);
        let rank = |a: &usize, b: &usize| {
            let by_room = idle(a).total_cmp(&idle(b));
            let by_load = || match idle(a) > 0.0 {
                true => Ordering::Equal,
                false => self.load(*b).total_cmp(&self.load(*a)),
            };
            by_room.then_with(by_load)
        };
        let may = (0..self.cpus.len()).filter(|at| party.may[*at]);
        may.rev().max_by(rank)
    }

    /// Draws one to its memory, of the party that has most elsewhere; whether any went.
    fn draw_one(&mut self, with_rare: bool) -> bool {
        let all = self.parties.iter().enumerate();
        let away = |(at, party): (usize, &Party)| {
            let to = party.wants.filter(|to| party.may[*to])?;
            let away = 1.0 - self.on[at][to] as f64 / party.count as f64;
            let looks = party.each > 0.0 && (with_rare || !party.is_rare);
            (away > 0.0 && looks).then_some((away, at, to))
        };
        let mut wanting: Vec<(f64, usize, usize)> = all.filter_map(away).collect();
        wanting.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (_, at, to) in wanting {
            for from in (0..self.cpus.len()).filter(|from| *from != to) {
                let way = Way { from, to };
                if self.on[at][from] > 0 && (self.may_go(at, way) || self.makes_room(at, way)) {
                    self.on[at][from] -= 1;
                    self.on[at][to] += 1;
                    return true;
                }
            }
        }
        false
    }

    /// Whether one goes by itself.
    fn may_go(&self, at: usize, way: Way) -> bool {
        let party = &self.parties[at];
        let ((there, varies), (here, varied)) = (self.runs(way.to), self.runs(way.from));
        let own = party.variance();
        let left = self.cpus[way.to] - there - party.each.min(1.0) + 1e-9;
        if left < 0.0 {
            return !self.is_worse(way, party.load, party.load);
        }
        let is_sure = left >= HARDLY_EVER * (varies + own).sqrt();
        let now_and_then = if party.stays || !is_sure {
            0.0
        } else {
            quantile(1.0 - 1.0 / LOOKED_AT) * (varies + (varied - own).max(0.0)).sqrt()
        };
        self.lets_be(there + 1.0, here - party.each, now_and_then)
    }

    /// Whether load balancing lets so many run beside one memory and so many beside another.
    fn lets_be(&self, more: f64, fewer: f64, beyond: f64) -> bool {
        let is_lax = more <= self.lax + HALF;
        let difference = if is_lax { f64::from(PAIR) } else { 0.0 };
        more - fewer <= difference + HALF + beyond
    }

    /// Sends one the other way that wants to go there; whether there is any. Loads must not get
    /// further apart, but where the numbers change others are moved until all have come. Only
    /// runners change places, so one that hardly works is hardly ever there to do so.
    fn makes_room(&mut self, at: usize, way: Way) -> bool {
        let own = &self.parties[at];
        let ((there, varies), (here, varied)) = (self.runs(way.to), self.runs(way.from));
        let changes = quantile(1.0 - 1.0 / LOOKED_AT) * (varies + varied).sqrt() >= IN_STEP;
        let rank = |other: usize| {
            let party = &self.parties[other];
            let comes = party.wants == Some(way.from) && party.may[way.from];
            let more = own.each - party.each;
            let is_even = more <= 0.0 || self.lets_be(there + more, here - more, 0.0);
            let runs = self.on[other][way.to] as f64 * party.each;
            let is_met = runs * LOOKED_AT / LOOKS_EACH >= 1.0;
            if !comes || !is_met || party.unit == own.unit || !is_even {
                return None;
            }
            let difference = own.load - party.load;
            let by_load = if difference.abs() < 1e-9 * own.load {
                0
            } else if !self.is_worse(way, difference, own.load) {
                1
            } else if changes {
                2
            } else {
                return None;
            };
            Some((by_load, party.is_rare, other))
        };
        let Some((.., other)) = (0..self.parties.len()).filter_map(rank).min() else {
            return false;
        };
        self.on[other][way.to] -= 1;
        self.on[other][way.from] += 1;
        true
    }

    /// Whether loads are further apart once some has gone that way, as far as a thread's own tells.
    fn is_worse(&self, way: Way, load: f64, own: f64) -> bool {
        let [here, there] = [way.from, way.to].map(|at| self.load(at));
        let [from, to] = [way.from, way.to].map(|at| self.cpus[at]);
        let apart = |here: f64, there: f64| (there / to - here / from).abs();
        apart(here - load, there + load) > apart(here, there) + ROUNDING * own / from
    }

    /// Mean and variance of how many run beside a memory.
    fn runs(&self, node: usize) -> (f64, f64) {
        self.sum(node, |of| (of.each, of.variance()))
    }

    fn load(&self, node: usize) -> f64 {
        self.sum(node, |of| (of.load, 0.0)).0
    }

    fn sum(&self, node: usize, of: impl Fn(&Party) -> (f64, f64)) -> (f64, f64) {
        let each = self.parties.iter().zip(&self.on);
        each.fold((0.0, 0.0), |sum, (party, on)| {
            let (count, (mean, variance)) = (on[node] as f64, of(party));
            (sum.0 + count * mean, sum.1 + count * variance)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::parse_short;

    fn party(unit: usize, wants: usize, count: usize) -> Party {
        Party {
            unit,
            wants: Some(wants),
            is_rare: false,
            count,
            stays: true,
            each: 1.0,
            load: 100.0 / count as f64,
            may: vec![true; 2],
        }
    }

    /// How many of each are at home, on two sockets of 18.
    fn at_home(parties: &[Party]) -> Vec<usize> {
        let tree = Topology::new(&parse_short("node:2 chip:1 core:18").unwrap());
        let dealt = deal(&tree, parties, &[18.0; 2]);
        let each = dealt.iter().zip(parties);
        each.map(|(on, party)| on[party.wants.unwrap()]).collect()
    }

    #[test]
    fn those_of_one_memory_stay_spread_out_and_those_of_two_change_places() {
        assert_eq!(at_home(&[party(0, 0, 12)]), [6]);
        assert_eq!(at_home(&[party(0, 0, 12), party(1, 1, 12)]), [12, 12]);
        // What is beyond one's part is elsewhere: ten of each socket's.
        let mut many = party(1, 1, 16);
        assert_eq!(at_home(&[party(0, 0, 4), many.clone()]), [2, 8]);
        many.load = party(0, 0, 4).load;
        assert_eq!(at_home(&[party(0, 0, 4), many]), [4, 10]);
    }

    #[test]
    fn who_weighs_more_changes_places_only_where_the_numbers_change() {
        let mut heavy = [party(0, 0, 1), party(1, 1, 1), party(2, 1, 7)];
        heavy[0].load = 100.0;
        heavy[1].load = 100.0;
        let still = at_home(&heavy);
        let mut comers = party(3, 0, 16);
        (comers.stays, comers.each, comers.load) = (false, 0.1, 0.6);
        let all = [heavy.as_slice(), &[comers]].concat();
        let moved = at_home(&all);
        assert!(moved[0] >= still[0] && moved[3] > 8, "{still:?} {moved:?}");
    }

    #[test]
    fn who_is_hardly_ever_looked_at_comes_last_and_all_others_alike() {
        let alike = at_home(&[party(0, 0, 8), party(1, 0, 8)]);
        assert!(alike[0].abs_diff(alike[1]) <= 1, "{alike:?}");
        let mut parties = [party(0, 0, 4), party(1, 1, 4), party(2, 0, 4)];
        parties[0].is_rare = true;
        let found = at_home(&parties);
        assert!(found[2] == 4 && found[0] < 4 && found[1] == 4, "{found:?}");
    }

    #[test]
    fn who_comes_and_goes_comes_home_once_the_numbers_let_it() {
        let mut comers = party(1, 1, 8);
        (comers.stays, comers.each, comers.load) = (false, 0.1, 1.0);
        let mut others = party(2, 0, 16);
        (others.stays, others.each, others.load) = (false, 0.1, 1.0);
        assert_eq!(at_home(&[party(0, 0, 12), comers, others])[1], 8);
    }

    #[test]
    fn who_hardly_runs_looks_as_often_as_others() {
        let some = |unit, count, each| {
            let mut some = party(unit, 1, count);
            (some.stays, some.each, some.load) = (false, each, 1.0);
            some
        };
        let found = at_home(&[party(0, 1, 12), some(1, 8, 0.01), some(2, 16, 0.1)]);
        assert_eq!(found[1], 8, "{found:?}");
    }
}
