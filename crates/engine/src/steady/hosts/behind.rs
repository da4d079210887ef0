//! Who waits for turns on a Linux host: those that come and go beside threads that always want
//! more, one for each processor at least.
//!
//! Whoever wakes goes back to its processor, whatever runs there. What the others on it weigh by
//! its own weight says what they are due while it runs. A group's weight is divided among its
//! threads with work, so one that is alone awake has more of it than one of many. A runner is taken
//! off at ticks: who wakes waits for the next one, unless his deadline is the earlier one, which it
//! may be if he weighs more, and the runner has not just been chosen. Of several others that wait
//! half come first, as their deadlines are earlier.

use std::collections::BTreeMap;

use crate::hypervisor::policies::{group_weight, Turns};
use crate::steady::layout::form::Form;
use crate::steady::layout::host::Host;
use crate::steady::layout::state::Doing;
use crate::steady::queues::demand::Arrivals;
use crate::steady::queues::rounds::{Rounds, NEARLY_ALL};

/// Part of the others that wait whose deadline is earlier than that of one that wakes.
const EARLIER: f64 = 0.5;
/// Part of the processors that is as good as none.
const LEFT: f64 = 0.01;
/// Part of the time with work up to which it is known how long the work of an open arrival takes.
/// One that has work for longer keeps its processor from one burst to the next: balancing moves it,
/// or what runs beside it, once in a while, and until then the queue grows or does not. Assumed,
/// 0.8 to 0.9.
const KNOWN: f64 = 0.85;
/// Those that share processors.
pub(in crate::steady) struct Sharers<'a> {
    pub host: &'a Host,
    pub forms: &'a [&'a Form],
    pub doing: &'a [Doing],
    /// Processors that the same threads may use.
    pub cores: &'a [f64],
    /// Which share of which partition's threads may use which of them.
    pub parts: &'a [(usize, usize, f64)],
    /// Processors that each partition has.
    pub granted: &'a [f64],
}

/// What a partition's thread finds on its processor, weights by its own.
#[derive(Default)]
struct Others {
    /// Threads that always have work, on all processors, and their weight.
    staying: f64,
    weight: f64,
    /// Weight of others, as often as they have work.
    coming: f64,
    /// Threads and groups that wait beside a group or a thread, on each processor.
    beside: f64,
}

/// What one of a partition's threads weighs while it has work in the queue of each group that it
/// is in, the innermost first, and at last beside all.
type Weights = Vec<(Option<u16>, f64)>;

impl Sharers<'_> {
    /// Share of its time with work in which each partition's threads have a processor, as far as
    /// turns tell: all of it where one is always left over, or turns are not known; and whether it
    /// is not known how long its work waits.
    pub fn served(&self) -> Vec<(f64, bool)> {
        let Some(turns) = self.host.turns else {
            return vec![(1.0, false); self.forms.len()];
        };
        let weights = self.weights();
        let mut waits = vec![0.0; self.forms.len()];
        for part in self.parts {
            let (at, share) = (part.1, part.2);
            let run_ns = self.doing[at].run_ns();
            if self.doing[at].stays(self.forms[at]) || !run_ns.is_finite() {
                continue;
            }
            if let Some(rounds) = self.rounds(*part, &turns, &weights) {
                waits[at] += share * (rounds.served(run_ns).recip() - 1.0);
            }
        }
        let of = |(at, waits): (usize, &f64)| {
            let vps = f64::from(self.forms[at].filled.vps());
            let least = self.doing[at].cores() / (NEARLY_ALL * vps);
            let turned = (1.0 + waits).recip();
            let served = turned.max(least.min(1.0));
            (served, self.are_unknown(at, (turned, served)))
        };
        waits.iter().enumerate().map(of).collect()
    }

    /// Whether turns tell how much a partition gets, but not when: what it waits at the beginning
    /// of a time with work makes that longer as if all of it were slow, until it never ends. Of
    /// those that come back how many there are bounds that, until they have work all of the time.
    fn are_unknown(&self, at: usize, (turned, served): (f64, f64)) -> bool {
        let (form, doing) = (self.forms[at], &self.doing[at]);
        let most = match form.demand.arrivals {
            Arrivals::Open(_) => doing.load.vps > KNOWN * f64::from(form.filled.vps()),
            _ => served > turned,
        };
        most && served < 1.0
    }

    fn rounds(
        &self,
        (pool, at, share): (usize, usize, f64),
        turns: &Turns,
        weights: &[Weights],
    ) -> Option<Rounds> {
        let (cores, doing) = (self.cores[pool], &self.doing[at]);
        let others = self.others(pool, at, weights);
        if others.staying < cores - 1e-9 || self.has_room(pool) {
            return None;
        }
        let vps = share * f64::from(self.forms[at].filled.vps());
        let here = staying_on((others.staying, cores), vps) / others.staying;
        let near = here * others.weight + others.coming / cores;
        // In the long run it is drawn to where least is wanted, as are the others.
        let siblings = share * doing.load.vps * (1.0 - 1.0 / vps.max(1.0));
        let all = others.weight + others.coming + 1.0 + siblings;
        let far = (all / cores - 1.0).clamp(0.0, near);
        let awake_ns = doing.run_ns() / doing.served;
        let moved = awake_ns / (awake_ns + turns.balance_ns);
        let due = near + moved * (far - near);
        let early = turns.slice_ns * (1.0 - due).max(0.0);
        let late = (turns.turn_ns - early).max(0.0);
        // Who has just been chosen is left alone until his slice is used up.
        let away_ns = (f64::from(self.forms[at].filled.vps()) - doing.load.vps).max(1e-9)
            / doing.load.wakes_per_ns;
        let alone = (-turns.slice_ns / away_ns).exp();
        let first = 0.5 * turns.turn_ns * (1.0 - alone);
        let first = first + alone * late * late / (2.0 * turns.turn_ns);
        let behind = EARLIER * (others.beside - 1.0).max(0.0) * turns.turn_ns;
        Some(Rounds {
            first_ns: first + behind,
            credit: turns.has_credit.then_some(due),
            on_ns: turns.turn_ns * due.recip().max(1.0),
            off_ns: turns.turn_ns * due.max(1.0),
        })
    }

    /// Whether some of these processors are left over, as quotas stop those that want more.
    fn has_room(&self, pool: usize) -> bool {
        let there = self.parts.iter().filter(|part| part.0 == pool);
        let used = there.map(|(_, at, share)| share * self.granted[*at]);
        used.sum::<f64>() < (1.0 - LEFT) * self.cores[pool] || self.cores[pool] <= 0.0
    }

    fn others(&self, pool: usize, at: usize, weights: &[Weights]) -> Others {
        let own = self.forms[at].threads.group;
        let (mut all, mut groups) = (Others::default(), BTreeMap::new());
        let there = self.parts.iter().filter(|part| part.0 == pool);
        for (_, other, share) in there.filter(|part| part.1 != at) {
            let count = share * self.doing[*other].load.vps;
            let weight = count * beside(&weights[at], &weights[*other]);
            let on_each = count / self.cores[pool];
            if self.doing[*other].stays(self.forms[*other]) {
                all.staying += count;
                all.weight += weight;
            } else {
                all.coming += weight;
            }
            match self.forms[*other].threads.group {
                Some(group) if Some(group) != own => {
                    *groups.entry(group).or_insert(0.0) += on_each;
                }
                _ => all.beside += on_each,
            }
        }
        all.beside += groups.values().map(|of: &f64| of.min(1.0)).sum::<f64>();
        all
    }

    /// Weights of each partition's threads.
    fn weights(&self) -> Vec<Weights> {
        let cgroups = &self.host.cgroups;
        let parent = |group: &u16| cgroups[usize::from(*group)].parent;
        let chain = |form: &Form| std::iter::successors(form.threads.group, parent);
        let first = |form: &&Form| vec![(form.threads.group, form.threads.weight)];
        let mut weights: Vec<Weights> = self.forms.iter().map(first).collect();
        let mut inward: Vec<u16> = (0..).take(cgroups.len()).collect();
        inward.sort_by_key(|at| std::iter::successors(Some(*at), parent).count());
        for group in inward.iter().rev() {
            let has = |at: &usize| chain(self.forms[*at]).any(|of| of == *group);
            let members: Vec<usize> = (0..self.forms.len()).filter(has).collect();
            let last = |at: usize| weights[at].last().map_or(0.0, |of| of.1);
            let now: Vec<f64> = members.iter().map(|at| last(*at)).collect();
            let pairs = || members.iter().zip(&now);
            let load: f64 = pairs()
                .map(|(at, own)| own * self.doing[*at].load.vps)
                .sum();
            let whole = group_weight(&cgroups[usize::from(*group)]);
            for (at, own) in pairs() {
                let vps = f64::from(self.forms[*at].filled.vps());
                let asleep = (1.0 - self.doing[*at].load.vps / vps).max(0.0);
                let part = own / (load + own * asleep).max(1e-12);
                weights[*at].push((parent(group), whole * part));
            }
        }
        weights
    }
}

/// What one weighs beside another, by the other's weight, where both are in a queue.
fn beside(own: &Weights, other: &Weights) -> f64 {
    let common = |(group, weight): &(Option<u16>, f64)| {
        let there = other.iter().find(|of| of.0 == *group);
        there.map(|of| of.1 / weight.max(1e-12))
    };
    own.iter().find_map(common).unwrap_or(1.0)
}

/// Threads that always have work on the processor of one that comes and goes: where they are not
/// as many everywhere, those that come and go are where there are fewer, as long as there is room.
fn staying_on((staying, cores): (f64, f64), vps: f64) -> f64 {
    let each = staying / cores;
    let fewer = (each + 1e-9).floor();
    let part = each - fewer;
    if part <= 1e-9 {
        return each;
    }
    let room = cores * (1.0 - part);
    fewer + (vps - room).max(0.0) / vps.max(1e-9)
}
