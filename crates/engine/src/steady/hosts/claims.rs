//! Shares of a host's processors: by weight from the root of the control groups down, within
//! quotas, caps and the sets that threads may use.

use std::collections::BTreeMap;

use crate::hypervisor::policies::{quota, Member};
use crate::spec::{Cgroup, Policy};
use crate::steady::hosts::behind::Sharers;
use crate::steady::hosts::pauses::Pauses;
use crate::steady::hosts::quotas::{limits, Part, Shares, Sharing};
use crate::steady::hosts::stops::last_slices;
use crate::steady::layout::form::Form;
use crate::steady::layout::host::{Host, Lot, Unit};
use crate::steady::layout::state::{Doing, State};
use crate::steady::queues::chances::{above, mean_beyond};
use crate::steady::queues::demand::Arrivals;

impl State {
    /// Whose threads have to wait for processors, and for how much of the time; by how much that
    /// changed.
    pub(in crate::steady) fn share_host(&mut self, forms: &[&Form]) -> f64 {
        self.handle_on_host(forms);
        let Some(host) = &self.host else { return 0.0 };
        let all = self.doing.iter().zip(forms);
        let wants = all.map(|(doing, form)| wants(doing, form).min(form.threads.cap));
        let wants: Vec<f64> = wants.collect();
        let mut waits = vec![0.0; forms.len()];
        let (cores, parts) = (cores_by_pool(host), parts(host));
        let told = self.granted(host, (&cores, &parts), forms, &wants);
        let (granted, unlimited) = (&told.used, &told.running);
        for (pool, cores) in cores.iter().enumerate() {
            let there = parts.iter().filter(|(at, ..)| *at == pool);
            let units: Vec<_> = there.map(|(_, of, share)| (*of, *share)).collect();
            wait_by_chance(host, (&units, *cores), (forms, &self.doing), &mut waits);
        }
        let sharers = Sharers {
            host,
            forms,
            doing: &self.doing,
            cores: &cores,
            parts: &parts,
            granted,
        };
        let turns = sharers.served();
        let quotas = quotas(host, forms, &self.doing);
        let in_turn = take_turns(host, forms);
        let mut change = 0.0_f64;
        // Behind the partitions stand workloads of those that have several.
        for (at, doing) in self.doing.iter_mut().enumerate().take(forms.len()) {
            let vps = doing.load.vps.max(1e-12);
            doing.in_turn = in_turn[at];
            let is_short = wants[at] > granted[at] + 1e-9 || forms[at].threads.cap < vps;
            doing.limited = if is_short || doing.in_step {
                (granted[at] / unlimited[at].max(1e-12)).clamp(1e-6, 1.0)
            } else {
                1.0
            };
            doing.waits_unknown = turns[at].1 && !is_short;
            doing.last_slices = if doing.in_step && doing.limited < 1.0 {
                last_slices(host, (forms, unlimited), at)
            } else {
                1.0
            };
            let crowded = (1.0 - (waits[at] / vps).min(0.9)) * (1.0 - doing.handled.lost);
            let crowded = crowded.min(turns[at].0);
            let served = if is_short {
                (granted[at] / vps).min(crowded)
            } else {
                crowded
            };
            doing.quota = quotas[at];
            doing.runs += 0.5 * self.pace * (told.runs[at].clamp(1e-3, 1.0) - doing.runs);
            doing.poll_room += 0.5 * self.pace * (told.polls[at] - doing.poll_room);
            let before = doing.served;
            doing.served += 0.5 * self.pace * (served.clamp(1e-6, 1.0) - before);
            doing.let_run = doing.served;
            change = change.max((doing.served - before).abs() / before);
            // What is beside the work has what that leaves.
            let most = f64::from(forms[at].filled.vps()).min(doing.quota);
            let left = most - doing.served * doing.load.vps;
            doing.beside = doing.beside.min(left.max(0.0));
            doing.polls = doing.polls.min(doing.beside);
        }
        self.leave_processors();
        change
    }

    /// What quotas leave each partition, see [`Shares`].
    fn granted(
        &self,
        host: &Host,
        (cores, parts): (&[f64], &[(usize, usize, f64)]),
        forms: &[&Form],
        wants: &[f64],
    ) -> Shares {
        let told: Vec<Part> = parts
            .iter()
            .map(|own| part(own, forms[own.1], &self.doing[own.1], wants[own.1]))
            .zip(parts)
            .map(|(part, (_, at, share))| {
                let at_work = at_work(host, forms[*at], &self.doing[*at]);
                Part {
                    polls: share * self.doing[*at].may_poll / self.doing[*at].runs,
                    at_once: part.at_once * at_work,
                    weigh: part.weigh * at_work,
                    ..part
                }
            })
            .collect();
        let sharing = Sharing {
            cgroups: &host.cgroups,
            cores,
            parts: &told,
        };
        let shares = sharing.share_out();
        let none = || vec![0.0; forms.len()];
        let mut all = Shares {
            used: none(),
            running: none(),
            runs: none(),
            polls: none(),
        };
        for (at, (_, partition, share)) in parts.iter().enumerate() {
            all.used[*partition] += shares.used[at];
            // Of what has work now: what waits until they may run is made up for later.
            let now = share * self.doing[*partition].load.vps;
            all.running[*partition] += shares.running[at].min(now).max(shares.used[at]);
            all.runs[*partition] += share * shares.runs[at];
            all.polls[*partition] += share * shares.polls[at];
        }
        all
    }

    /// Polling takes what work leaves of the processors that it may use.
    fn leave_processors(&mut self) {
        let Some(host) = &mut self.host else { return };
        let mut worked = vec![0.0; host.lots.len()];
        let mut beside = worked.clone();
        let rooms: Vec<f64> = (0..self.doing.len()).map(|at| host.room_of(at)).collect();
        for unit in &host.units {
            let doing = &self.doing[unit.partition];
            for (lot, part) in &unit.lots {
                let there = unit.share * part;
                worked[*lot] += there * doing.served * doing.load.vps;
                let polls = there * host.rooms[*lot] / rooms[unit.partition].max(1e-12);
                beside[*lot] += polls * doing.beside;
            }
        }
        for (at, lot) in host.lots.iter().enumerate() {
            let left = (lot.cpus - lot.taken - worked[at]).max(0.0);
            let room = left * host.rooms[at] / beside[at].max(1e-12);
            host.rooms[at] += 0.5 * (room.clamp(1e-3, 1.0) - host.rooms[at]);
        }
    }
}

/// The most that quotas of its groups leave each partition, beside what others in them use.
fn quotas(host: &Host, forms: &[&Form], doing: &[Doing]) -> Vec<f64> {
    let mut used = vec![0.0; host.cgroups.len()];
    for (doing, form) in doing.iter().zip(forms) {
        for group in chain(&host.cgroups, form.threads.group) {
            used[group] += doing.cores();
        }
    }
    let left = |(doing, form): (&Doing, &&Form)| {
        let limits = chain(&host.cgroups, form.threads.group)
            .filter(|group| host.cgroups[*group].quota_ns.is_some());
        limits
            .map(|group| quota(&host.cgroups[group]) - used[group] + doing.cores())
            .fold(f64::INFINITY, f64::min)
            .max(1e-3)
    };
    doing.iter().zip(forms).map(left).collect()
}

/// A control group, and those that it is in.
fn chain(cgroups: &[Cgroup], group: Option<u16>) -> impl Iterator<Item = usize> + '_ {
    std::iter::successors(group, |at| cgroups[usize::from(*at)].parent).map(usize::from)
}

/// What a partition's threads want.
fn wants(doing: &Doing, form: &Form) -> f64 {
    if matches!(form.demand.arrivals, Arrivals::Open(_)) && !doing.load.overrun {
        let limited = form.threads.kvm.is_some() && form.threads.group.is_some();
        doing.cores() - if limited { doing.polls } else { 0.0 }
    } else {
        doing.load.vps
    }
}

/// Processors of the lots that the same threads may use.
fn cores_by_pool(host: &Host) -> Vec<f64> {
    let pools = host.lots.iter().map(|lot| lot.pool + 1).max().unwrap_or(0);
    let mut cores = vec![0.0; pools];
    for lot in &host.lots {
        cores[lot.pool] += lot.cpus - lot.taken;
    }
    cores
}

/// Which share of which partition's threads may use the lots of each pool.
fn parts(host: &Host) -> Vec<(usize, usize, f64)> {
    let mut parts = Vec::with_capacity(host.units.len());
    for unit in &host.units {
        let mut by_pool: BTreeMap<usize, f64> = BTreeMap::new();
        for (lot, part) in &unit.lots {
            *by_pool.entry(host.lots[*lot].pool).or_default() += part;
        }
        let each = by_pool.into_iter();
        parts.extend(each.map(|(pool, part)| (pool, unit.partition, unit.share * part)));
    }
    parts
}

/// The same with what they ask for.
fn part((pool, _, share): &(usize, usize, f64), form: &Form, doing: &Doing, wants: f64) -> Part {
    let threads = &form.threads;
    let at_once = match form.demand.arrivals {
        _ if threads.group.is_none() && threads.cap.is_infinite() => wants,
        Arrivals::Open(_) if threads.group.is_some() => f64::from(form.filled.vps()),
        _ => doing.load.vps,
    };
    Part {
        pool: *pool,
        member: Member {
            group: threads.group,
            weight: (threads.weight * share * doing.load.vps).max(1e-9),
            most: share * wants,
        },
        at_once: share * at_once.max(wants),
        weigh: (threads.weight * share * at_once.max(wants)).max(1e-9),
        polls: 0.0,
    }
}

/// Part of those with work on average that have some while quotas let them run: all, but of those
/// who come back after pauses, which go on while they are stopped.
fn at_work(host: &Host, form: &Form, doing: &Doing) -> f64 {
    let Arrivals::Closed(count, away_ns) = form.demand.arrivals else {
        return 1.0;
    };
    let periods = limits(&host.cgroups, form.threads.group);
    let period_ns = periods.map(|group| host.cgroups[group].period_ns).max();
    let Some(period_ns) = period_ns.filter(|_| doing.runs < 1.0 && form.workloads.is_empty())
    else {
        return 1.0;
    };
    let demand = &form.demand;
    let bursts = demand.bursts.max(1.0);
    let pause_ns = (away_ns + demand.wait_ns) / bursts;
    let per_ns = doing.load.bursts_per_ns.max(1e-18);
    let with_work = (count - per_ns * pause_ns).max(1e-6);
    let pauses = Pauses {
        work_ns: (doing.let_run * with_work / per_ns).max(1.0),
        each_ns: [demand.wait_ns / (bursts - 1.0).max(1e-9), away_ns],
        long: 1.0 / bursts,
    };
    pauses.speed(doing.runs, period_ns as f64)
}

/// How much units wait for processors of a pool by chance.
fn wait_by_chance(
    host: &Host,
    (units, cores): (&[(usize, f64)], f64),
    (forms, doing): (&[&Form], &[Doing]),
    waits: &mut [f64],
) {
    let mut most = 0.0;
    let mut asking = Vec::with_capacity(units.len());
    for (partition, share) in units {
        let (doing, form) = (&doing[*partition], forms[*partition]);
        asking.push(Asking {
            mean: share * doing.load.vps.min(form.threads.cap),
            variance: share * doing.load.vps_variance,
            used: doing.load.vps / doing.in_use.max(1e-9) / form.threads.weight,
        });
        most += share * f64::from(form.filled.vps());
    }
    if most > cores {
        let lost = by_chance(&asking, cores, host.policy == Policy::Credit2);
        for ((partition, _), lost) in units.iter().zip(lost) {
            waits[*partition] += lost;
        }
    }
}

/// What some threads want of a lot's processors.
#[derive(Clone, Copy, Debug)]
struct Asking {
    mean: f64,
    variance: f64,
    /// How much of its time each works, by its weight.
    used: f64,
}

/// What more want than there are processors for by chance, not always: what each loses of it. All
/// lose alike; by credit those first that use most for their weight, as they have least of it.
fn by_chance(asking: &[Asking], cores: f64, by_credit: bool) -> Vec<f64> {
    let (mean, variance) = asking.iter().fold((0.0, 0.0), |(mean, variance), of| {
        (mean + of.mean, variance + of.variance)
    });
    let all = mean_beyond(mean, variance, cores) - (mean - cores).max(0.0);
    let chance = |own: &Asking| {
        if !by_credit {
            return 1.0;
        }
        // Who comes before it, and of its like every other: if these have all processors, it waits.
        let (before, varied) = asking.iter().fold((0.0, 0.0), |(mean, variance), of| {
            let part = comes_before(of.used, own.used);
            (mean + part * of.mean, variance + part * of.variance)
        });
        above((cores - before) / varied.sqrt().max(1e-9))
    };
    let lost: Vec<f64> = asking.iter().map(|own| own.mean * chance(own)).collect();
    let sum: f64 = lost.iter().sum();
    lost.iter()
        .zip(asking)
        .map(|(lost, of)| (all * lost / sum.max(1e-12)).min(of.mean))
        .collect()
}

/// Part of the time in which one has more credit than another that uses so much: how much that has
/// of it goes up and down, so that less than a factor of two between them does not decide.
fn comes_before(one: f64, other: f64) -> f64 {
    let times = (other.max(1e-12) / one.max(1e-12)).log2();
    (0.5 + 0.5 * times).clamp(0.0, 1.0)
}

/// Which partitions take turns with all processors that they may use: each of those that may use
/// them always has work for one virtual processor on each, wherever that is.
fn take_turns(host: &Host, forms: &[&Form]) -> Vec<bool> {
    let mut in_turn = vec![true; forms.len()];
    let pools = host.lots.iter().map(|lot| lot.pool + 1).max().unwrap_or(0);
    for pool in 0..pools {
        let lots: Vec<&Lot> = host.lots.iter().filter(|lot| lot.pool == pool).collect();
        let cpus: f64 = lots.iter().map(|lot| lot.cpus).sum();
        let here = |unit: &&Unit| unit.lots.iter().any(|(at, _)| host.lots[*at].pool == pool);
        let units: Vec<&Unit> = host.units.iter().filter(here).collect();
        let whole = |unit: &&Unit| {
            let form = forms[unit.partition];
            let everywhere = unit.lots.len() == lots.len() && unit.likes.is_empty();
            let one_each = (unit.share * f64::from(form.filled.vps()) - cpus).abs() < 0.5;
            form.stays && one_each && everywhere
        };
        let whole = units.iter().all(whole);
        for unit in units {
            in_turn[unit.partition] &= whole;
        }
    }
    in_turn
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(mean: f64, used: f64) -> Asking {
        let variance = 0.5 * mean;
        Asking {
            mean,
            variance,
            used,
        }
    }

    #[test]
    fn by_credit_those_wait_that_use_most() {
        let two = [asking(2.0, 0.1), asking(2.0, 1.0)];
        let alike = by_chance(&two, 4.5, false);
        assert!((alike[0] - alike[1]).abs() < 1e-12);
        let first = by_chance(&two, 4.5, true);
        assert!(first[0] < 0.2 * first[1], "{first:?}");
        // All together lose the same.
        let sum = |lost: &[f64]| lost.iter().sum::<f64>();
        assert!((sum(&alike) - sum(&first)).abs() < 1e-9);
        // With equal credit they wait alike.
        let equal = by_chance(&[asking(2.0, 0.5); 2], 4.5, true);
        assert!((equal[0] - alike[0]).abs() < 1e-9);
    }
}
