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
use crate::steady::layout::form::Form;
use crate::steady::layout::host::{Host, Unit};
use crate::steady::layout::state::{Crowd, Doing, State, Stay};
use crate::steady::queues::demand::Arrivals;
use crate::steady::queues::filling::THREADS;
use crate::steady::queues::overflow::{above, mean_beyond};
use crate::steady::windows::dispatches::{found_taken, takes, SCARCELY};

/// How long a thread runs beside another before balancing has found an idle core for it [ns]:
/// intervals of some tens of milliseconds. Assumed, 10 to 100 ms.
const FOUND_NS: f64 = 30e6;

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
    /// Under Xen, who keeps them busy.
    stays: Vec<Stay>,
}

impl State {
    /// Who has to share a core, by chip.
    pub(in crate::steady) fn crowd(&mut self, forms: &[&Form]) {
        let Some(host) = &self.host else { return };
        let lots = Lots::of(host, &self.doing, forms);
        for (partition, form) in forms.iter().enumerate() {
            let doing = &mut self.doing[partition];
            let stays = if host.policy == Policy::Credit2 {
                1.0 // Whoever wakes is sent to an idle core, wherever it was.
            } else {
                staying(doing, form)
            };
            let each = doing.load.vps / f64::from(form.filled.vps());
            let away_ns = stay(doing, 0.0).away_ns;
            for site in &mut doing.sites {
                let found = lots.around((partition, site.chip), stays, (each, away_ns));
                if found.weight > 0.0 {
                    let crowd = found.crowd.map(|share| share / found.weight);
                    site.taken = found.taken / found.weight;
                    site.crowd = (host.siblings > 1).then_some(crowd);
                    site.beside = (host.siblings - 1) as f64 * found.beside / found.weight;
                }
            }
        }
    }
}

/// What a partition's threads find around them on a chip, sums over the lots that they may use.
#[derive(Default)]
struct Around {
    weight: f64,
    crowd: Crowd,
    beside: f64,
    taken: f64,
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
    fn of(host: &'a Host, doing: &[Doing], forms: &[&Form]) -> Self {
        let crowded = crowded(host, doing, forms);
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

    /// What a partition finds on a chip whose threads are away for so long; `stays` and `each` are
    /// as of [`Crowded::crowd`].
    fn around(
        &self,
        (partition, chip): (usize, usize),
        stays: f64,
        (each, away_ns): (f64, f64),
    ) -> Around {
        let siblings = self.host.siblings;
        let mut sum = Around::default();
        let own = |unit: &&Unit| unit.partition == partition;
        for unit in self.host.units.iter().filter(own) {
            let there = unit.seats.iter().find(|(at, _)| *at == chip);
            let Some((_, share)) = there else { continue };
            for (lot, part) in &unit.lots {
                let on = &self.crowded[*lot];
                let Some((_, of)) = on.iter().find(|(at, _)| *at == chip) else {
                    continue;
                };
                let mix = self.mixed(*lot, of.crowd(siblings, stays, each));
                let mix = handling(siblings, mix, of.handling);
                let by = unit.share * self.host.both((*lot, *part), (chip, *share));
                sum.weight += by;
                sum.beside += by * of.beside(siblings, 0.0);
                sum.taken += by
                    * match self.host.policy {
                        Policy::Credit2 => of.moved(siblings, away_ns),
                        _ => of.taken(),
                    };
                let pairs = sum.crowd.iter_mut().zip(mix);
                pairs.for_each(|(sum, mix)| *sum += by * mix);
            }
        }
        sum
    }

    /// Some siblings of a lot's processors are of other lots.
    fn mixed(&self, lot: usize, mut mix: Crowd) -> Crowd {
        let around = &self.host.lots[lot].beside;
        let own = around[lot];
        for (other, beside) in around.iter().enumerate() {
            if other != lot && *beside > 0.0 {
                let others = binomial(self.host.siblings, self.busy[other].min(1.0));
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

/// What a partition's threads do that keep so many processors busy.
fn stay(doing: &Doing, cores: f64) -> Stay {
    let wakes = doing.load.wakes_per_ns;
    Stay {
        cores,
        stay_ns: doing.served * doing.load.vps / wakes.max(1e-15),
        away_ns: (doing.in_use - doing.load.vps).max(0.0) / wakes.max(1e-18),
    }
}

/// By lot and chip.
fn crowded(host: &Host, doing: &[Doing], forms: &[&Form]) -> Vec<Vec<(usize, Crowded)>> {
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
    for unit in &host.units {
        let (doing, form) = (&doing[unit.partition], forms[unit.partition]);
        let vps = f64::from(form.filled.vps());
        let load = &doing.load;
        let pairs = (load.vps_variance + load.vps * load.vps - load.vps).max(0.0);
        for (lot, part) in &unit.lots {
            for (chip, share) in &unit.seats {
                let Some((_, of)) = found[*lot].iter_mut().find(|(at, _)| at == chip) else {
                    continue;
                };
                let share = unit.share * host.both((*lot, *part), (*chip, *share));
                let busy = share * doing.cores();
                // So many of all, taken as they come.
                let beside = if vps > 1.0 {
                    let seats = share * vps;
                    pairs * (seats * (seats - 1.0)).max(0.0) / (vps * (vps - 1.0))
                } else {
                    0.0
                };
                of.busy += busy;
                let stays = staying(doing, form);
                of.staying += busy * stays;
                of.coming += share * (1.0 - stays) * doing.in_use;
                of.variance += (busy + beside - busy * busy).max(0.0);
                if host.policy == Policy::Credit2 {
                    of.stays.push(stay(doing, share * doing.served * load.vps));
                }
            }
        }
    }
    found
}

impl Crowded {
    /// Of a thread that is with one of the chance `stays` where most cores are idle; `own` is the
    /// share of the time in which itself is busy.
    fn crowd(&self, siblings: usize, stays: f64, own: f64) -> Crowd {
        let best = self.spread_out(siblings);
        let any = binomial(siblings, self.beside(siblings, own));
        let mut crowd = [0.0; THREADS];
        for (crowd, (best, any)) in crowd.iter_mut().zip(best.into_iter().zip(any)) {
            *crowd = stays * best + (1.0 - stays) * any;
        }
        crowd
    }

    /// Chance that a processor which has not been left to those that stay is busy.
    fn beside(&self, siblings: usize, own: f64) -> f64 {
        let cores = self.cpus / siblings as f64;
        let (others, among) = if self.busy < cores {
            let left = siblings as f64 * (cores - self.staying);
            (self.busy - self.staying - own, left)
        } else {
            (self.busy - own, self.cpus)
        };
        // While all have a core each, nobody runs beside them.
        let crowded = (self.staying + self.coming - cores) / (self.cpus - cores).max(1.0);
        (others / (among - 1.0).max(1.0)).clamp(0.0, 1.0) * crowded.clamp(0.0, 1.0)
    }

    /// Chance that who has been away for so long finds others where it was, and moves.
    fn moved(&self, siblings: usize, away_ns: f64) -> f64 {
        let by_place = |places: f64| {
            let beyond = mean_beyond(self.busy, self.variance, places);
            let idle = (places - self.busy + beyond).max(SCARCELY * places);
            found_taken(self.stays.iter(), takes(self.stays.iter(), idle), away_ns)
        };
        if siblings == 1 {
            return by_place(self.cpus);
        }
        let cores = self.cpus / siblings as f64;
        let none_free = above((cores - self.busy) / self.variance.sqrt().max(1e-9));
        (1.0 - none_free) * by_place(cores) + none_free * by_place(self.cpus)
    }

    /// What runs on the last processor of a thread that comes and goes, while it is away.
    fn taken(&self) -> f64 {
        let left = (self.cpus - self.staying).max(0.01);
        let each = (self.busy - self.staying) / self.coming.max(1e-9);
        ((self.coming / left - 1.0).max(0.0) * each).clamp(0.0, 1.0)
    }

    /// As few together as can be.
    fn spread_out(&self, siblings: usize) -> Crowd {
        let cores = self.cpus / siblings as f64;
        let least = |threads: usize| {
            let below = threads as f64 - 1.0;
            // Cores with so many at least: what is beyond so many on each, up to one more.
            let beyond = |bound: f64| mean_beyond(self.busy, self.variance, bound);
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
