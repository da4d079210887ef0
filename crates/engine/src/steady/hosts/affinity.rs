//! Over which of the lots that it may use a thread's time is spread.
//!
//! Who prefers no processor goes on until the lots that it may use are used alike, by what each
//! partition has of them: where there are more than processors these are shared by weight, also
//! those of sets that overlap (`fair.rs`), and who has less for its weight where others are kept to
//! is elsewhere. Under Xen a
//! virtual processor that prefers some takes one of these whenever it wakes and finds one without
//! work, and any other of its run queue if it finds none. It comes back to them when its processor
//! is looked at anew and one of them is free: after its credit is used up, or when it wakes again.
//! So who runs for short only is away as often as it finds its processors taken (Erlang's loss
//! formula), and who runs for long while more are there than these.

use crate::steady::hosts::fair::{fair, Claim};
use crate::steady::layout::host::{Doers, Host, Lot, Unit};
use crate::steady::queues::overflow::Offered;

/// Most rounds in which threads are spread, and part of their time that moves in one below which
/// they are at rest.
const ROUNDS: usize = 200;
const AT_REST: f64 = 1e-9;

/// Part of the time that remains on either side, so that it may grow again.
const LITTLE: f64 = 1e-9;

/// What wants the lots of a unit that it prefers, in one run queue.
#[derive(Clone, Copy, Debug, Default)]
struct Wanted {
    offered: Offered,
    cpus: f64,
    /// What of it prefers some, so that it is what finds no processor there.
    liked: f64,
}

impl Host {
    /// Goes on until the lots of a queue that threads may use are used alike, as far as that can
    /// be, and those that prefer some have these while they can.
    pub(in crate::steady) fn even_out(&mut self, doers: &[Doers]) {
        let queues = self.queue_of.last().map_or(0, |last| last + 1);
        if self.lots.len() <= queues {
            return;
        }
        let has = self.keep_apart(queues, doers);
        let prefer = self.units.iter().any(|unit| !unit.likes.is_empty());
        let mut away = vec![vec![None; queues]; self.units.len()];
        for _ in 0..ROUNDS {
            let mut used = vec![0.0; self.lots.len()];
            for (unit, has) in self.units.iter().zip(&has) {
                let each = unit.lots.iter();
                each.for_each(|(lot, share)| used[*lot] += share * has[self.lots[*lot].queue]);
            }
            if prefer {
                away = self.away(queues, doers);
            }
            let mut moved = 0.0_f64;
            for (unit, away) in self.units.iter_mut().zip(&away) {
                moved = moved.max(spread(unit, &self.lots, &used, away));
            }
            if moved < AT_REST {
                break;
            }
        }
    }

    /// What each unit has in each queue, by its time there [processors]: by weight where there are
    /// too few. Puts it where it has that.
    fn keep_apart(&mut self, queues: usize, doers: &[Doers]) -> Vec<Vec<f64>> {
        let pools = self.lots.iter().map(|lot| lot.pool + 1).max().unwrap_or(0);
        let mut cores = vec![0.0; pools];
        for lot in &self.lots {
            cores[lot.pool] += (lot.cpus - lot.taken).max(0.0);
        }
        let mut has: Vec<Vec<f64>> = Vec::with_capacity(self.units.len());
        let (mut claims, mut seats) = (Vec::new(), Vec::new());
        for (at, unit) in self.units.iter().enumerate() {
            let of = &doers[unit.partition];
            has.push(vec![of.busy.min(of.within) * unit.share; queues]);
            for queue in 0..queues {
                let here = |lot: &usize| self.lots[*lot].queue == queue;
                let there = || unit.lots.iter().filter(|(lot, _)| here(lot));
                let part: f64 = unit.share * there().map(|(_, part)| part).sum::<f64>();
                let mut pools: Vec<usize> = there().map(|(lot, _)| self.lots[*lot].pool).collect();
                pools.sort_unstable();
                pools.dedup();
                if part > 0.0 {
                    seats.push((at, queue, part));
                    claims.push(Claim {
                        weight: (of.weight * part).max(1e-12),
                        most: of.busy.min(of.within) * part,
                        pools,
                    });
                }
            }
        }
        for ((at, queue, part), share) in seats.into_iter().zip(fair(&cores, &claims)) {
            let unit = &mut self.units[at];
            has[at][queue] = share.cores * unit.share / part;
            unit.keep_to(&self.lots, queue, &share.pools);
        }
        has
    }

    /// By unit, the share of its time in each queue in which it is not where it prefers to be; none
    /// where it has no preference.
    fn away(&self, queues: usize, doers: &[Doers]) -> Vec<Vec<Option<f64>>> {
        let wanted = self.wanted(queues, doers);
        let of = |unit: &Unit| {
            (0..queues)
                .map(|queue| self.away_in(queue, unit, &doers[unit.partition], &wanted))
                .collect()
        };
        self.units.iter().map(of).collect()
    }

    fn away_in(&self, queue: usize, unit: &Unit, of: &Doers, wanted: &[Wanted]) -> Option<f64> {
        let liked = || {
            unit.likes
                .iter()
                .filter(|lot| self.lots[**lot].queue == queue)
        };
        liked().next()?;
        let mut all = Wanted::default();
        for lot in liked() {
            all.offered.add(wanted[*lot].offered);
            all.cpus += wanted[*lot].cpus;
            all.liked += wanted[*lot].liked;
        }
        let until_looked_at = 1.0 - (-self.look_ns / of.stay_ns.max(1e-9)).exp();
        let (lost, beyond) = (all.offered.lost(all.cpus), all.offered.beyond(all.cpus));
        let gone = beyond * all.offered.mean / all.liked.max(1e-12);
        Some((until_looked_at * lost + (1.0 - until_looked_at) * gone).clamp(LITTLE, 1.0 - LITTLE))
    }

    /// What wants each lot, were all that prefer it there.
    fn wanted(&self, queues: usize, doers: &[Doers]) -> Vec<Wanted> {
        let new = |lot: &Lot| Wanted {
            cpus: lot.cpus - lot.taken,
            ..Wanted::default()
        };
        let mut wanted: Vec<Wanted> = self.lots.iter().map(new).collect();
        for unit in &self.units {
            let doers = &doers[unit.partition];
            let all = Offered {
                mean: doers.busy,
                variance: doers.variance,
                most: doers.most,
                ..Offered::default()
            };
            for queue in 0..queues {
                let is_here = |lot: usize| self.lots[lot].queue == queue;
                let liked = || unit.likes.iter().copied().filter(|lot| is_here(*lot));
                let cpus: f64 = liked().map(|lot| self.lots[lot].cpus).sum();
                let here = || unit.lots.iter().filter(|(lot, _)| is_here(*lot));
                let part: f64 = here().map(|(_, part)| part).sum();
                for (lot, share) in here() {
                    let there = if cpus == 0.0 {
                        *share
                    } else if unit.likes.contains(lot) {
                        part * self.lots[*lot].cpus / cpus
                    } else {
                        continue;
                    };
                    let asked = all.part(unit.share * there);
                    wanted[*lot].offered.add(asked);
                    wanted[*lot].liked += if cpus > 0.0 { asked.mean } else { 0.0 };
                }
            }
        }
        wanted
    }
}

impl Unit {
    /// Is in these sets of lots only of those of a queue, as before or by their processors.
    fn keep_to(&mut self, lots: &[Lot], queue: usize, pools: &[usize]) {
        let stays = |lot: usize| pools.contains(&lots[lot].pool);
        let here = |lot: usize| lots[lot].queue == queue;
        let all: f64 = self
            .lots
            .iter()
            .filter(|(lot, _)| here(*lot))
            .map(|of| of.1)
            .sum();
        let kept = |(lot, _): &&(usize, f64)| here(*lot) && stays(*lot);
        let cpus: f64 = self
            .lots
            .iter()
            .filter(kept)
            .map(|(lot, _)| lots[*lot].cpus)
            .sum();
        for (lot, share) in self.lots.iter_mut().filter(|(lot, _)| here(*lot)) {
            *share = if stays(*lot) {
                all * lots[*lot].cpus / cpus
            } else {
                0.0
            };
        }
    }
}

/// Moves a unit's time from lots that are used more to those that are used less, of each queue, and
/// of those that it prefers and the others by themselves; the most that this changed in one.
fn spread(unit: &mut Unit, lots: &[Lot], used: &[f64], away: &[Option<f64>]) -> f64 {
    // Time in each queue, in what is preferred there and elsewhere: before and now.
    let mut sums = vec![[[0.0; 2]; 2]; away.len()];
    let before: Vec<f64> = unit.lots.iter().map(|(_, share)| *share).collect();
    for (at, share) in &mut unit.lots {
        let lot = &lots[*at];
        let elsewhere = usize::from(away[lot.queue].is_some() && !unit.likes.contains(at));
        let sum = &mut sums[lot.queue][elsewhere];
        sum[0] += *share;
        *share /= (used[*at] / (lot.cpus - lot.taken).max(1e-9))
            .max(0.01)
            .sqrt();
        sum[1] += *share;
    }
    for (at, share) in &mut unit.lots {
        let queue = lots[*at].queue;
        let [liked, others] = sums[queue];
        let elsewhere = away[queue].is_some() && !unit.likes.contains(at);
        let (sum, part) = match (away[queue], elsewhere) {
            (None, _) => (liked, liked[0]),
            (Some(away), true) => (others, away * (liked[0] + others[0])),
            (Some(away), false) => (liked, (1.0 - away) * (liked[0] + others[0])),
        };
        *share *= part / sum[1].max(1e-300);
    }
    let pairs = unit.lots.iter().zip(before);
    pairs
        .map(|((_, share), before)| (share - before).abs())
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lot(cpus: f64) -> Lot {
        Lot {
            cpus,
            members: Vec::new(),
            taken: 0.0,
            queue: 0,
            pool: 0,
            on: Vec::new(),
            beside: Vec::new(),
        }
    }

    fn unit(partition: usize, likes: &[usize]) -> Unit {
        Unit {
            partition,
            share: 1.0,
            lots: vec![(0, 0.2), (1, 0.8)],
            likes: likes.to_vec(),
            seats: Vec::new(),
        }
    }

    /// As many as `most`, busy on the mean, each for so long at a time.
    fn doers(busy: f64, most: f64, stay_ns: f64) -> Doers {
        Doers {
            busy,
            variance: busy * (1.0 - busy / most),
            most,
            polling: 0.0,
            stay_ns,
            within: f64::INFINITY,
            weight: busy,
        }
    }

    /// Time that each spends on the four of twenty processors that those prefer that do.
    fn there(units: Vec<Unit>, doers: &[Doers]) -> Vec<f64> {
        let mut host = Host::of_lots(vec![lot(4.0), lot(16.0)], units, 1e7);
        host.even_out(doers);
        host.units.iter().map(|unit| unit.lots[0].1).collect()
    }

    #[test]
    fn who_prefers_nothing_lies_evenly_and_who_does_is_there_while_there_is_room() {
        assert!((there(vec![unit(0, &[])], &[doers(3.0, 8.0, 1e6)])[0] - 0.2).abs() < 1e-3);
        assert!(there(vec![unit(0, &[0])], &[doers(2.0, 4.0, 1e6)])[0] > 0.999);
    }

    #[test]
    fn the_more_there_is_to_do_the_more_of_it_is_elsewhere() {
        let alone = |busy| there(vec![unit(0, &[0])], &[doers(busy, 12.0, 1e6)])[0];
        let shares = [1.0, 2.0, 4.0, 8.0].map(alone);
        assert!(shares.windows(2).all(|two| two[1] < two[0]), "{shares:?}");
        // Twelve that never sleep leave the four to four of them.
        let loops = there(vec![unit(0, &[0])], &[doers(12.0, 12.0, f64::INFINITY)])[0];
        assert!((loops - 4.0 / 12.0).abs() < 1e-3, "{loops}");
    }

    #[test]
    fn who_runs_for_long_comes_back() {
        let of = |stay_ns| there(vec![unit(0, &[0])], &[doers(3.0, 12.0, stay_ns)])[0];
        assert!(of(1e9) > of(1e7) && of(1e7) > of(1e5) + 1e-3);
    }

    #[test]
    fn others_make_room_and_a_neighbour_who_prefers_the_same_takes_some() {
        let with = |likes: &[usize]| {
            let units = vec![unit(0, &[0]), unit(1, likes)];
            there(units, &[doers(2.0, 6.0, 1e6), doers(3.0, 6.0, 1e6)])
        };
        let (apart, together) = (with(&[]), with(&[0]));
        assert!(
            apart[1] < 0.2 && apart[0] > together[0],
            "{apart:?} {together:?}"
        );
        assert!(apart[0] > 0.8, "{apart:?}");
    }
}
