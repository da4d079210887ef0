//! How many threads share a core on a host: each is a processor of its own there, and whoever runs
//! beside it slows it down.
//!
//! A thread that stays runs on an idle core if there is one: balancing sees to that in time. Who
//! sleeps and wakes often comes back to its last processor, whatever runs beside it, so there it
//! finds each sibling busy with the chance that any processor is which has not been left to those
//! that stay.
//!
//! Under Xen whoever wakes goes back to its last core if nobody is there, else to one that is free,
//! else to its last processor. So it moves as often as others have come to that core meanwhile, and
//! while no core is free, to that processor.

use crate::spec::Policy;
use crate::steady::hosts::idle_cores::{takes, Stay, SCARCELY};
use crate::steady::hosts::own::{differ, numbers, Own};
use crate::steady::hosts::stops::{together, Stops};
use crate::steady::layout::form::Form;
use crate::steady::layout::host::{Host, Unit};
use crate::steady::layout::state::{Crowd, Doing, State};
use crate::steady::queues::chances::{above, mean_beyond};
use crate::steady::queues::demand::Arrivals;
use crate::steady::queues::filling::THREADS;
use crate::steady::queues::visits::Visit;

/// How long a thread runs beside another before balancing has found an idle core for it [ns]:
/// intervals of some tens of milliseconds. Assumed, 10 to 100 ms.
const FOUND_NS: f64 = 30e6;

/// Others that come and go, of which there are as many at least where any are met.
const FEW: f64 = 0.05;

/// What runs on the processors of a lot on a chip.
#[derive(Clone, Debug, Default)]
struct Crowded {
    cpus: f64,
    busy: f64,
    variance: f64,
    /// Share of the chip's processors that see to interrupts.
    handling: f64,
    /// Those of the busy threads that stay.
    staying: f64,
    /// Threads that come and go there.
    coming: f64,
    /// Who keeps them busy: with those that stay under Linux, and those that come and go.
    stays: [Vec<Stay>; 2],
}

impl State {
    /// Who has to share a core, by chip.
    pub(in crate::steady) fn crowd(&mut self, forms: &[&Form]) {
        let Some(host) = &self.host else { return };
        let always = Lots::of(host, (&self.doing, forms), None);
        for (partition, form) in forms.iter().enumerate() {
            let while_it_runs = (self.doing[partition].limited < 1.0)
                .then(|| Lots::of(host, (&self.doing, forms), Some(partition)));
            let lots = while_it_runs.as_ref().unwrap_or(&always);
            let doing = &mut self.doing[partition];
            let stays = if host.policy == Policy::Credit2 {
                1.0 // Whoever wakes is sent to an idle core, wherever it was.
            } else {
                staying(doing, form)
            };
            let mine = Mine {
                partition,
                stays,
                own: Own::of(doing, form),
                seats: lots.seats(partition, f64::from(form.filled.vps())),
            };
            for site in &mut doing.sites {
                let found = lots.around((partition, site.chip));
                if found.weight > 0.0 {
                    if host.siblings > 1 {
                        site.crowd = Some(lots.crowd(&mine, site.chip));
                        site.by_number = lots.by_number(&mine, site.chip, form.filled.vps());
                    }
                    site.comers = found.comers;
                    let each = site.comers.iter_mut();
                    each.for_each(|(chance, _)| *chance /= found.weight);
                    site.visits = found.visits;
                    let each = site.visits.iter_mut();
                    each.for_each(|visit| visit.per_ns /= found.weight);
                    site.neighbours = found.neighbours;
                    let each = site.neighbours.iter_mut();
                    each.for_each(|(chance, _)| *chance /= found.weight);
                }
            }
        }
    }
}

/// What a partition's threads find around them on a chip, sums over the lots that they may use.
#[derive(Default)]
struct Around {
    weight: f64,
    /// Who comes to the processor that one has left: some with a chance, or others.
    comers: Vec<(f64, Vec<Visit>)>,
    /// Who comes to each processor beside it.
    visits: Vec<Visit>,
    /// Who alone has one beside it, each with its chance.
    neighbours: Vec<(f64, Visit)>,
}

/// A partition whose threads are looked at.
struct Mine {
    partition: usize,
    /// Share of its time in which it stays, see [`Crowded::crowd`].
    stays: f64,
    own: Own,
    /// How many of its threads are where, by lot and place there.
    seats: Vec<Vec<f64>>,
}

/// The lots of a host, and who runs there.
struct Lots<'a> {
    host: &'a Host,
    /// By lot and chip.
    crowded: Vec<Vec<(usize, Crowded)>>,
    /// Busy share of each lot's processors.
    busy: Vec<f64>,
}

impl<'a> Lots<'a> {
    /// Always, or while no quota or cap stops a partition.
    fn of(host: &'a Host, of: (&[Doing], &[&Form]), runs: Option<usize>) -> Self {
        let crowded = crowded(host, of, runs);
        let busy = crowded.iter().zip(&host.lots).map(|(on, lot)| {
            let busy: f64 = on.iter().map(|(_, of)| of.busy).sum();
            busy / lot.cpus
        });
        Self {
            host,
            busy: busy.collect(),
            crowded,
        }
    }

    /// How many of so many threads of a partition are where, by lot and place there.
    fn seats(&self, partition: usize, vps: f64) -> Vec<Vec<f64>> {
        let of = |on: &Vec<(usize, Crowded)>| vec![0.0; on.len()];
        let mut seats: Vec<_> = self.crowded.iter().map(of).collect();
        let chips = |on: &[(usize, Crowded)], chip| on.iter().position(|(of, _)| *of == chip);
        let own = |unit: &&Unit| unit.partition == partition;
        for unit in self.host.units.iter().filter(own) {
            for (lot, _) in &unit.lots {
                for seat in &unit.seats {
                    if let Some(at) = chips(&self.crowded[*lot], seat.0) {
                        seats[*lot][at] += vps * unit.share * self.host.both(unit, *lot, *seat);
                    }
                }
            }
        }
        seats
    }

    /// Where a partition runs on a chip: share of its time, lot and place there.
    fn places(&self, partition: usize, chip: usize) -> Vec<(f64, usize, usize)> {
        let mut found = Vec::new();
        let own = |unit: &&Unit| unit.partition == partition;
        for unit in self.host.units.iter().filter(own) {
            let there = unit.seats.iter().find(|(at, _)| *at == chip);
            let Some((_, share)) = there else { continue };
            for (lot, _) in &unit.lots {
                let on = &self.crowded[*lot];
                if let Some(at) = on.iter().position(|(of, _)| *of == chip) {
                    let by = unit.share * self.host.both(unit, *lot, (chip, *share));
                    found.push((by, *lot, at));
                }
            }
        }
        found
    }

    /// Who is beside a partition's threads on a chip, on the mean over their time.
    fn crowd(&self, mine: &Mine, chip: usize) -> Crowd {
        self.beside((mine, mine.own), chip, |of, _| (of.busy, of.variance))
    }

    /// The same by how many of its threads have work; nothing where that is of no account.
    fn by_number(&self, mine: &Mine, chip: usize, vps: u32) -> Vec<Crowd> {
        let while_there = |there: f64| {
            let own = mine.own.while_there(there);
            self.beside((mine, own), chip, |of, seats| of.given(own, seats))
        };
        let ends = [1.0, f64::from(vps)].map(while_there);
        if vps < 2 || !differ(&ends[0], &ends[1]) {
            return Vec::new();
        }
        numbers(vps).map(while_there).collect()
    }

    /// Who is beside its threads on a chip, where so many run on the processors of a lot there, as
    /// mean and variance.
    fn beside(
        &self,
        (mine, now): (&Mine, Own),
        chip: usize,
        run: impl Fn(&Crowded, f64) -> (f64, f64),
    ) -> Crowd {
        let siblings = self.host.siblings;
        let (mut sum, mut weight) = ([0.0; THREADS], 0.0);
        for (by, lot, at) in self.places(mine.partition, chip) {
            let (of, seats) = (&self.crowded[lot][at].1, mine.seats[lot][at]);
            let best = of.spread_out(siblings, run(of, seats));
            let own = now.each() - now.more(seats - 1.0);
            let mix = of.crowd(siblings, (mine.stays, best), own);
            let mix = handling(siblings, self.mixed(lot, mix, (mine, now)), of.handling);
            weight += by;
            let pairs = sum.iter_mut().zip(mix);
            pairs.for_each(|(sum, mix)| *sum += by * mix);
        }
        sum.map(|share| share / f64::max(weight, 1e-12))
    }

    /// Who comes to a partition's processors on a chip.
    fn around(&self, (partition, chip): (usize, usize)) -> Around {
        let siblings = self.host.siblings;
        let mut sum = Around::default();
        for (by, lot, at) in self.places(partition, chip) {
            let of = &self.crowded[lot][at].1;
            sum.weight += by;
            let (comers, beside) = match self.host.policy {
                Policy::Credit2 => (of.take_idle(siblings), of.beside_it(siblings)),
                _ => (vec![(1.0, of.visits([0.0, of.taken()]))], Vec::new()),
            };
            if self.host.policy != Policy::Credit2 {
                let alone = of.neighbours(siblings);
                let alone = alone.map(|(chance, visit)| (by * chance, visit));
                sum.neighbours.extend(alone);
            }
            let each = comers.into_iter().filter(|(chance, _)| *chance > 0.0);
            sum.comers
                .extend(each.map(|(chance, visits)| (by * chance, visits)));
            sum.visits.extend(beside.into_iter().map(|visit| Visit {
                per_ns: by * visit.per_ns,
                ..visit
            }));
        }
        sum
    }

    /// Some siblings of a lot's processors are of other lots.
    fn mixed(&self, lot: usize, mut mix: Crowd, (mine, now): (&Mine, Own)) -> Crowd {
        let around = &self.host.lots[lot].beside;
        let own = around[lot];
        for (other, beside) in around.iter().enumerate() {
            if other != lot && *beside > 0.0 {
                let more = now.more(mine.seats[other].iter().sum());
                let busy = self.busy[other] + more / self.host.lots[other].cpus;
                let others = binomial(self.host.siblings, busy.clamp(0.0, 1.0));
                for (mine, theirs) in mix.iter_mut().zip(others) {
                    *mine += beside * (theirs - *mine) / (own + beside).max(1e-9);
                }
            }
        }
        mix
    }
}

/// Share of a partition's time in which it stays for long enough for balancing to find it the best
/// core.
fn staying(doing: &Doing, form: &Form) -> f64 {
    match form.demand.arrivals {
        Arrivals::Always(..) => 1.0,
        _ => {
            let stay_ns = doing.load.vps / doing.load.wakes_per_ns.max(1e-15);
            stay_ns / (stay_ns + FOUND_NS)
        }
    }
}

/// How a partition is seen: for which part of the time quotas and caps let it run, how often they
/// stop one of its threads in a nanosecond, and with which chance one with work has a processor
/// while they do not.
struct Seen {
    lets: f64,
    stops_per_ns: f64,
    served: f64,
}

impl Seen {
    /// Always, or while a limit lets another one run, by how much more it does so then.
    fn of(host: &Host, doing: &Doing, form: &Form, more: f64) -> Self {
        let lets = (doing.limited * more).min(1.0);
        let stops_per_ns = if lets < 1.0 {
            Stops::of(host, doing, form).per_ns
        } else {
            0.0
        };
        Self {
            lets,
            stops_per_ns,
            served: (doing.served / doing.limited).min(1.0),
        }
    }

    /// Processors that its work has.
    fn works(&self, doing: &Doing) -> f64 {
        self.lets * self.served * doing.load.vps
    }

    /// What its threads do that keep so many processors busy.
    fn stay(&self, doing: &Doing, cores: f64) -> Stay {
        let leaves = doing.load.wakes_per_ns + self.stops_per_ns;
        let rests = doing.in_use - self.lets * doing.load.vps;
        Stay {
            cores,
            stay_ns: self.works(doing) / leaves.max(1e-15),
            away_ns: rests.max(0.0) / leaves.max(1e-18),
        }
    }
}

/// By lot and chip, always or while no quota or cap stops a partition.
fn crowded(
    host: &Host,
    (doing, forms): (&[Doing], &[&Form]),
    runs: Option<usize>,
) -> Vec<Vec<(usize, Crowded)>> {
    let lots = host.lots.iter();
    let mut found: Vec<Vec<(usize, Crowded)>> = lots
        .map(|lot| {
            let on = lot.on.iter();
            on.map(|(chip, cpus)| {
                let of = Crowded {
                    cpus: *cpus,
                    handling: host.handling.get(*chip).copied().unwrap_or(0.0),
                    ..Crowded::default()
                };
                (*chip, of)
            })
            .collect()
        })
        .collect();
    let more = |at: usize| runs.map_or(1.0, |one| together(host, (doing, forms), one, at));
    for unit in &host.units {
        let (doing, form) = (&doing[unit.partition], forms[unit.partition]);
        let vps = f64::from(form.filled.vps());
        let own = Own::of(doing, form);
        let seen = Seen::of(host, doing, form, more(unit.partition));
        for (lot, _) in &unit.lots {
            for (chip, share) in &unit.seats {
                let Some((_, of)) = found[*lot].iter_mut().find(|(at, _)| at == chip) else {
                    continue;
                };
                let share = unit.share * host.both(unit, *lot, (*chip, *share));
                let busy = share * (seen.works(doing) + doing.beside);
                of.busy += busy;
                let stays = staying(doing, form);
                of.staying += busy * stays;
                of.coming += share * (1.0 - stays) * doing.in_use;
                of.variance += own.varies(share * vps, busy, seen.lets);
                let each = if host.policy == Policy::Credit2 {
                    [0.0, share * seen.works(doing)]
                } else {
                    [busy * stays, busy * (1.0 - stays)]
                };
                for (all, cores) in of.stays.iter_mut().zip(each) {
                    if cores > 0.0 {
                        all.push(seen.stay(doing, cores));
                    }
                }
            }
        }
    }
    found
}

impl Crowded {
    /// Of a thread that is with one of the chance `stays` where most cores are idle, beside those
    /// that are there then; `own` is the share of the time in which itself is busy.
    fn crowd(&self, siblings: usize, (stays, best): (f64, Crowd), own: f64) -> Crowd {
        let comes = 1.0 - stays;
        let any = binomial(siblings, self.beside(siblings, (own, comes)).iter().sum());
        let mut crowd = [0.0; THREADS];
        for (crowd, (best, any)) in crowd.iter_mut().zip(best.into_iter().zip(any)) {
            *crowd = stays * best + (1.0 - stays) * any;
        }
        crowd
    }

    /// Chances that a sibling of a thread that comes and goes is at work for good, or now and then.
    ///
    /// Those that stay have a core each as long as there are as many. The last processors of those
    /// that come and go are first on the cores that are left, one on each. Beyond that they are on
    /// any processor that is idle, as many beside those that stay as there are such, and each goes
    /// back to where it was.
    ///
    /// Of them one is no sibling of his own, for the part of his time in which he `comes`.
    fn beside(&self, siblings: usize, (own, comes): (f64, f64)) -> [f64; 2] {
        let left = (self.cpus - self.staying).max(1.0);
        let others = (self.coming.min(left) - comes).max(FEW);
        let each = (self.busy - self.staying - comes * own) / others;
        let [for_good, others] = self.seated(siblings);
        [for_good, others * each.clamp(0.0, 1.0)]
    }

    /// Chances that a sibling of a thread that comes and goes is the processor of one that stays,
    /// or of another that comes and goes.
    fn seated(&self, siblings: usize) -> [f64; 2] {
        let cores = self.cpus / siblings as f64;
        let left = (self.cpus - self.staying).max(1.0);
        let alone = (cores - self.staying).max(0.0);
        let by_good = if self.staying < cores {
            self.staying / left
        } else {
            self.staying / (self.cpus - cores)
        };
        let by_good = by_good.min(1.0);
        let come = self.coming.max(1e-9);
        // Part that is somewhere by chance: all, where there is a thread for each processor.
        let second = (come - alone).max(0.0) / (left - alone).max(1e-9);
        let by_chance = (second * left / come).min(1.0);
        [by_good, 1.0 - by_good].map(|of| by_chance * of)
    }

    /// Under Xen, who takes a core that somebody has left: while some cores are free, and while
    /// none is, with the chances of both.
    fn take_idle(&self, siblings: usize) -> Vec<(f64, Vec<Visit>)> {
        let idle = |places: f64| {
            let beyond = mean_beyond(self.busy, self.variance, places);
            (places - self.busy + beyond).max(SCARCELY * places)
        };
        if siblings == 1 {
            return vec![(1.0, self.takers(idle(self.cpus)))];
        }
        let cores = self.cpus / siblings as f64;
        let none_free = above((cores - self.busy) / self.variance.sqrt().max(1e-9));
        // One at least, where some are.
        let free = (idle(cores) / (1.0 - none_free).max(1e-9)).max(1.0);
        vec![
            (1.0 - none_free, self.takers(free)),
            (none_free, self.takers(idle(self.cpus))),
        ]
    }

    /// Who takes one of so many idle places that somebody has left.
    fn takers(&self, idle: f64) -> Vec<Visit> {
        let [_, stays] = &self.stays;
        let often = takes(stays.iter(), idle);
        let comes = |of: &Stay| of.cores / of.stay_ns;
        let all: f64 = stays.iter().map(comes).sum();
        let visit = |of: &Stay| Visit {
            per_ns: often * comes(of) / all.max(1e-30),
            stay_ns: of.stay_ns,
        };
        stays.iter().map(visit).collect()
    }

    /// Who runs on a processor for such shares of the time: of those that stay, and of others.
    fn visits(&self, shares: [f64; 2]) -> Vec<Visit> {
        let all: f64 = shares.iter().sum();
        let mut found = Vec::new();
        for (who, share) in self
            .stays
            .iter()
            .zip(shares)
            .filter(|(_, share)| *share > 0.0)
        {
            let sum: f64 = who.iter().map(|of| of.cores).sum();
            let visit = |of: &Stay| Visit::of(share * of.cores / sum.max(1e-12), all, of.stay_ns);
            found.extend(who.iter().map(visit));
        }
        found
    }

    /// Who has a sibling of a processor under Linux, each with its chance: whoever wakes goes back
    /// to where it was, so that it is one thread for as long as nobody is moved. What it displaces
    /// is lost to those beside it again and again, and to no other.
    fn neighbours(&self, siblings: usize) -> impl Iterator<Item = (f64, Visit)> + '_ {
        let chances = match siblings {
            1 => [0.0; 2],
            _ => self.seated(siblings),
        };
        let [for_good, others] = chances;
        let [staying, coming] = &self.stays;
        let cores: f64 = staying.iter().map(|of| of.cores).sum();
        let for_good = staying.iter().map(move |of| {
            let visit = Visit::of(1.0, 1.0, of.stay_ns);
            (for_good * of.cores / cores.max(1e-12), visit)
        });
        // Of more threads than processors several have the same one.
        let shared = (self.coming / (self.cpus - self.staying).max(0.01)).max(1.0);
        let threads: f64 = coming.iter().map(Stay::threads).sum();
        for_good.chain(coming.iter().map(move |of| {
            let share = (shared * of.cores / of.threads()).min(1.0);
            let chance = others * of.threads() / threads.max(1e-12);
            (chance, Visit::of(share, share, of.stay_ns))
        }))
    }

    /// Who runs on each sibling of a processor.
    fn beside_it(&self, siblings: usize) -> Vec<Visit> {
        if siblings > 1 {
            self.visits(self.beside(siblings, (0.0, 1.0)))
        } else {
            Vec::new()
        }
    }

    /// What runs on the last processor of a thread that comes and goes, while it is away.
    fn taken(&self) -> f64 {
        let left = (self.cpus - self.staying).max(0.01);
        let each = (self.busy - self.staying) / self.coming.max(1e-9);
        ((self.coming / left - 1.0).max(0.0) * each).clamp(0.0, 1.0)
    }

    /// Mean and variance of how many run there, while so many of one partition have work, of which
    /// such a number has its place there.
    fn given(&self, own: Own, seats: f64) -> (f64, f64) {
        let (mean, varies) = (own.runs(seats), own.varies(seats, own.runs(seats), 1.0));
        let (now, still) = own.of_seats_now(seats);
        let busy = (self.busy - mean + now).clamp(1e-9, self.cpus);
        (busy, (self.variance - varies).max(0.0) + still)
    }

    /// As few together as can be, of so many on the mean and with such a variance.
    fn spread_out(&self, siblings: usize, (busy, variance): (f64, f64)) -> Crowd {
        let cores = self.cpus / siblings as f64;
        let least = |threads: usize| {
            let below = threads as f64 - 1.0;
            // Cores with so many at least: what is beyond so many on each, up to one more.
            let beyond = |bound: f64| mean_beyond(busy, variance, bound);
            let upper = if threads == siblings {
                0.0
            } else {
                beyond(cores * threads as f64)
            };
            (beyond(cores * below) - upper).max(0.0)
        };
        let mut crowd = [0.0; THREADS];
        for (threads, share) in crowd.iter_mut().enumerate().take(siblings + 1).skip(1) {
            let more = if threads == siblings {
                0.0
            } else {
                least(threads + 1)
            };
            *share = threads as f64 * (least(threads) - more).max(0.0);
        }
        let all: f64 = crowd.iter().sum();
        if all <= 1e-12 {
            crowd[1] = 1.0;
            return crowd;
        }
        crowd.map(|share| share / all)
    }
}

/// Some siblings that were idle see to interrupts, each with this chance.
fn handling(siblings: usize, mix: Crowd, chance: f64) -> Crowd {
    if chance <= 0.0 {
        return mix;
    }
    let mut with = [0.0; THREADS];
    for busy in 1..=siblings {
        let more = binomial(siblings - busy + 1, chance);
        for (more, by) in more.iter().enumerate().skip(1) {
            if busy + more - 1 <= siblings {
                with[busy + more - 1] += mix[busy] * by;
            }
        }
    }
    with
}

/// Each sibling is busy with this chance.
fn binomial(siblings: usize, chance: f64) -> Crowd {
    let mut crowd = [0.0; THREADS];
    let others = siblings - 1;
    let mut ways = 1.0;
    for busy in 0..=others {
        let idle = (others - busy) as i32;
        crowd[busy + 1] = ways * chance.powi(busy as i32) * (1.0 - chance).powi(idle);
        ways *= (others - busy) as f64 / (busy + 1) as f64;
    }
    crowd
}

#[cfg(test)]
mod tests;
