//! Who waits for a core of PR/SM although he is within his share.
//!
//! At the start of a time slice each logical core with work has its share of it. Those that always
//! have work run until their shares are used up, those that find no core being queued, first come
//! first served. While the cores are so taken, nobody is thrown off: who comes waits until one
//! that has used up its share leaves a core that nobody else is queued for, until one that came and
//! goes leaves one, or until the rest of the slice is as long as what it may have of it: then it
//! takes a core of one that can still get all of its own. Who comes at a part `t` of a slice may
//! have its share `s` of the rest, so that is after `(1 - s) (1 - t)` of it at most.
//!
//! A logical core waits once, however much comes while it does. So it is without work, at work, or
//! waits, and over a slice the chances of the three follow from how often work comes and how long
//! it stays; a slice begins with the chances with which the one before ended.

use crate::hypervisor::polarize;
use crate::spec::{Polarization, Policy, Processors};
use crate::steady::layout::form::Form;
use crate::steady::layout::state::{Doing, State};
use crate::steady::layout::stints::{in_use, on_and_off};
use crate::steady::layout::waits::Waits;
use crate::steady::queues::chain::Load;
use crate::steady::queues::chances::{above, mean_beyond};
use crate::steady::queues::demand::Arrivals;
use crate::steady::queues::kinds::KINDS;
use crate::steady::queues::overflow::Offered;
use crate::steady::windows::evictions::entitled_part;
use crate::steady::windows::homes::offered;

/// Parts into which a slice is cut, and slices until one begins as the one before did.
const STEPS: usize = 64;
const SLICES: usize = 4;
/// Share from which on one is always within it.
const WHOLE: f64 = 1.0 - 1e-6;
/// Part of a partition's logical cores with work that is none.
const LITTLE: f64 = 1e-4;

/// Logical cores with work of one kind, and what each may have of a slice.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Entitled {
    count: f64,
    share: f64,
}

impl State {
    /// How those that share cores wait although they are within their share.
    pub(in crate::steady) fn within_share(
        &self,
        sharing: &[usize],
        forms: &[&Form],
        cores: f64,
    ) -> Vec<Waits> {
        let mut waits = vec![Waits::default(); sharing.len()];
        if self.machine.hypervisor.policy != Policy::Prsm {
            return waits;
        }
        let window_ns = self.machine.hypervisor.window_ns as f64;
        let each = || sharing.iter().map(|at| (&self.doing[*at], forms[*at]));
        let (mut stay, mut come) = (Vec::new(), Offered::default());
        for (doing, form) in each() {
            let back = comes_back(doing, form, window_ns);
            let entitled = entitled_part(doing);
            come.add(offered(doing, form, 1.0).part(back * entitled));
            stay.extend(staying(doing, form, window_ns));
        }
        let all: f64 = stay.iter().map(|of| of.count).sum();
        if all + come.most <= cores {
            return waits;
        }
        let taken = taken(&stay, cores);
        for (index, (wait, (doing, form))) in waits.iter_mut().zip(each()).enumerate() {
            if form.stays || doing.load.wakes_per_ns <= 0.0 {
                continue;
            }
            let back = comes_back(doing, form, window_ns);
            let entitled = entitled_part(doing);
            if form.guests.is_some() {
                let own = offered(doing, form, 1.0).part(back * entitled);
                let others = each().enumerate().filter(|(other, _)| *other != index);
                let others = others.flat_map(|(_, of)| staying(of.0, of.1, window_ns));
                let rooms = rooms(doing, form, (others.collect(), cores));
                let waits = rooms.map(|rooms| all_wait(&doing.load, [come, own], &rooms));
                wait.time = entitled * waits.unwrap_or(0.0);
                continue;
            }
            let own = offered(doing, form, 1.0).one().part(back);
            for (of, all) in kinds(doing, form) {
                let part = of.count / doing.load.vps.max(1e-12);
                if of.share >= WHOLE || part <= LITTLE {
                    continue;
                }
                // Who is entitled to nothing is never beyond his share in another way.
                let within = if of.share > 0.0 { entitled } else { 1.0 };
                let others = come.without(own.part(entitled));
                let one = Crowd::of((doing, form), (of, all), window_ns);
                one.add_waits(wait, part * within, (&taken, cores), (others, window_ns));
            }
        }
        waits
    }
}

/// Share of the time with work in which z/VM's logical cores wait, with so much room in each part
/// of a slice: those that have a core take work from those that wait for one, so that these wait
/// only while more have work than there is room for, others that come and go among them. `come` is
/// what all want, the own part included.
fn all_wait(load: &Load, [come, own]: [Offered; 2], rooms: &[f64]) -> f64 {
    let mean = load.vps + (come.mean - own.mean).max(0.0);
    let variance = load.vps_variance + (come.variance - own.variance).max(0.0);
    let waits = |room: &f64| mean_beyond(mean, variance, *room).min(mean);
    let sum: f64 = rooms.iter().map(waits).sum();
    sum / (rooms.len() as f64 * mean.max(1e-12))
}

/// Part of a partition's logical cores with work that are vertical-high: these have a core that is
/// theirs as soon as they have work, and never move.
pub(in crate::steady) fn high_part(doing: &Doing, form: &Form) -> f64 {
    match form.each {
        Some(Polarization::Vertical) => {
            entitled_of(doing, form, doing.load.vps)[0].count / doing.load.vps.max(1e-12)
        }
        _ => 0.0,
    }
}

/// Cores that others that stay leave z/VM in each part of a slice, those of its vertical-high
/// logical cores at least; none where each that is not parked has one.
fn rooms(
    doing: &Doing,
    form: &Form,
    (others, cores): (Vec<Entitled>, f64),
) -> Option<[f64; STEPS]> {
    let high = match (form.each, &form.partition.processors) {
        (Some(Polarization::Vertical), Processors::Shared { r#virtual, .. }) => {
            polarize(doing.entitled, *r#virtual).high
        }
        _ => 0,
    };
    let left = |taken: f64| (cores - taken).max(f64::from(high));
    (u32::from(high) < form.filled.vps()).then(|| taken(&others, cores).map(left))
}

/// Logical cores with work of a partition that stay for a slice, within their shares of it.
fn staying(doing: &Doing, form: &Form, slice_ns: f64) -> impl Iterator<Item = Entitled> {
    let back = comes_back(doing, form, slice_ns);
    let stays = entitled_of(doing, form, (1.0 - back) * doing.load.vps);
    stays.into_iter().filter(|of| of.count * of.share > 0.0)
}

/// Share of the comings to a core after which it is left before a slice is over.
fn comes_back(doing: &Doing, form: &Form, slice_ns: f64) -> f64 {
    0.5 * slice_ns / (0.5 * slice_ns + on_and_off(doing, form)[0])
}

/// Logical cores that ever run, where others never do: vertical-low ones of a capped partition, and
/// those of any other while all cores are used by those that are entitled to them.
pub(in crate::steady) fn ever_run(doing: &Doing, form: &Form) -> Option<u32> {
    let Processors::Shared {
        r#virtual, capped, ..
    } = form.partition.processors
    else {
        return None;
    };
    let split = match form.each {
        Some(Polarization::Vertical) if capped || doing.starves => {
            polarize(doing.entitled, r#virtual)
        }
        _ => return None,
    };
    (split.low > 0).then(|| u32::from(split.high + split.medium))
}

/// How many of those that come and go on shared cores are of each kind.
pub(in crate::steady) fn counts(doing: &Doing, form: &Form) -> [f64; KINDS] {
    match ever_run(doing, form) {
        Some(most) => form.kinds.counts_within(doing.load.vps, f64::from(most)),
        None => form.kinds.counts(doing.load.vps),
    }
}

/// Which of so many logical cores with work are entitled to what: vertical-high or horizontal ones,
/// vertical-medium ones, and vertical-low ones. Work is on the first of them, as far as these are
/// without; how many have work varies.
fn entitled_of(doing: &Doing, form: &Form, count: f64) -> [Entitled; 3] {
    let Processors::Shared { r#virtual, .. } = form.partition.processors else {
        return [Entitled::default(); 3];
    };
    let entitled = doing.entitled;
    match form.each {
        Some(Polarization::Vertical) => {
            let split = polarize(entitled, r#virtual);
            let part = count / doing.load.vps.max(1e-12);
            let beyond = |first: u16| {
                let all = part * doing.load.vps_variance;
                let most = count.min(f64::from(form.open(r#virtual).saturating_sub(first)));
                mean_beyond(count, all, f64::from(first)).min(most)
            };
            let [others, low] = [split.high, split.high + split.medium].map(beyond);
            [
                (count - others, 1.0),
                (others - low, split.medium_share),
                (low, 0.0),
            ]
        }
        _ => [
            (count, entitled / f64::from(r#virtual)),
            (0.0, 0.0),
            (0.0, 0.0),
        ],
    }
    .map(|(count, share)| Entitled {
        count: count.max(0.0),
        share: share * doing.allowed,
    })
}

/// The same of those of a partition that come and go, each with the logical cores among which they
/// are.
fn kinds(doing: &Doing, form: &Form) -> [(Entitled, f64); 3] {
    let [high, medium, low] = entitled_of(doing, form, doing.load.vps);
    let [highs, mediums, lows] = match (form.each, &form.partition.processors) {
        (Some(Polarization::Vertical), Processors::Shared { r#virtual, .. }) => {
            let split = polarize(doing.entitled, *r#virtual);
            [split.high, split.medium, split.low].map(f64::from)
        }
        _ => [in_use(doing, form), 0.0, 0.0],
    };
    match ever_run(doing, form) {
        Some(_) => [(high, highs), (medium, mediums), (Entitled::default(), 0.0)],
        None => [(high, highs), (medium, mediums), (low, lows)],
    }
}

/// Cores that those that always have work take within their shares, by part of a slice.
fn taken(stay: &[Entitled], cores: f64) -> [f64; STEPS] {
    let always = |of: &&Entitled| of.share >= WHOLE;
    let whole: f64 = stay.iter().filter(always).map(|of| of.count).sum();
    let rest = || stay.iter().filter(|of| of.share < WHOLE && of.share > 0.0);
    let count: f64 = rest().map(|of| of.count).sum();
    let room = (cores - whole).max(0.0);
    let mut queued = (count - room).max(0.0);
    let mut ends = [0.0; STEPS];
    let begin = |at: usize, cores: f64, ends: &mut [f64; STEPS]| {
        for of in rest() {
            let long = (of.share * STEPS as f64).round().max(1.0) as usize;
            if let Some(end) = ends.get_mut(at + long) {
                *end += cores * of.count / count;
            }
        }
    };
    let mut there = count.min(room);
    begin(0, there, &mut ends);
    let mut taken = [0.0; STEPS];
    for at in 0..STEPS {
        let next = ends[at].min(queued);
        queued -= next;
        there += next - ends[at];
        begin(at, next, &mut ends);
        taken[at] = whole + there;
    }
    taken
}

/// Logical cores of a partition that are entitled to as much each.
#[derive(Clone, Copy, Debug)]
struct Crowd {
    count: f64,
    share: f64,
    /// Bursts that come for each of them, and that one at work does, in a slice.
    comes: f64,
    ends: f64,
    /// Those of each that may be inside, and how often one that is not comes in a slice, where
    /// there are so many only.
    closed: Option<[f64; 2]>,
}

/// What part of them is without work or waits, and bursts of each that are queued behind those that
/// work and that wait.
#[derive(Clone, Copy, Debug, Default)]
struct Now {
    idle: f64,
    waits: f64,
    behind_work: f64,
    behind_waits: f64,
}

/// What comes of a slice, of each of them.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    idle: f64,
    waits: f64,
    queued: f64,
    /// Bursts that came, that came to one without work, and after which one waited.
    came: f64,
    woke: f64,
    stopped: f64,
}

impl Crowd {
    fn of((doing, form): (&Doing, &Form), (of, count): (Entitled, f64), slice_ns: f64) -> Self {
        let load = &doing.load;
        let bursts = load.bursts_per_ns * slice_ns;
        let part = of.count / load.vps.max(1e-12);
        let comes = part * bursts / count.max(1e-12);
        let closed = match form.demand.arrivals {
            Arrivals::Closed(all, away_ns) if away_ns > 0.0 => {
                Some([part * all / count.max(1e-12), slice_ns / away_ns])
            }
            _ => None,
        };
        Self {
            count,
            share: of.share,
            comes,
            ends: bursts / (doing.served * load.vps).max(1e-12),
            closed,
        }
    }

    /// Adds how they wait beside those that take so many of the cores and others that come and go.
    fn add_waits(
        &self,
        to: &mut Waits,
        part: f64,
        (taken, cores): (&[f64; STEPS], f64),
        (others, slice_ns): (Offered, f64),
    ) {
        let mut blocked = [Blocked::default(); STEPS];
        let mut before = f64::NAN;
        for (at, taken) in taken.iter().copied().enumerate() {
            blocked[at] = match at.checked_sub(1).filter(|_| taken == before) {
                Some(last) => blocked[last],
                None => Blocked::by(cores - taken, others, slice_ns),
            };
            before = taken;
        }
        if blocked.iter().all(|of| of.chance <= 0.0) {
            return;
        }
        // A slice begins as the one before ended.
        let mut now = Now {
            idle: (1.0 - self.comes / self.ends).max(0.0),
            ..Now::default()
        };
        let mut sums = Sums::default();
        for _ in 0..SLICES {
            sums = self.slice(&blocked, &mut now);
        }
        to.time += part * sums.waits / (1.0 - sums.idle).max(1e-12);
        to.comings += part * (sums.stopped / sums.woke.max(1e-12)).min(1.0);
        let evenly = sums.came * self.finds(sums.idle);
        to.fewer += part * (1.0 - sums.woke / evenly.max(1e-12)).max(0.0);
        to.queued += part * self.count * sums.queued;
    }

    /// Chance that a burst finds one without work, where such a part of them is on the mean:
    /// Erlang's formula for many servers (Halfin, Whitt, Heavy-traffic limits for queues with many
    /// exponential servers, 1981), and about right for one.
    fn finds(&self, idle: f64) -> f64 {
        let room = idle * self.count.max(1.0).sqrt();
        let density = (-0.5 * room * room).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let ratio = room * (1.0 - above(room)) / density.max(1e-12);
        ratio / (1.0 + ratio)
    }

    /// Goes through a slice.
    fn slice(&self, blocked: &[Blocked; STEPS], now: &mut Now) -> Sums {
        let step = 1.0 / STEPS as f64;
        let ends = self.ends * step;
        let mut sums = Sums::default();
        // Who may wait until when at the latest, as if nobody were let in before.
        let mut latest = [0.0; STEPS];
        let (mut left, mut before) = (1.0, 0.0);
        for (at, of) in blocked.iter().enumerate() {
            let stays = (1.0 - of.lets_in) * (of.chance / f64::max(before, 1e-12)).min(1.0);
            left *= stays;
            before = of.chance;
            let kept = (now.waits * stays - latest[at] * left).max(0.0);
            let let_in = 1.0 - kept / now.waits.max(1e-12);
            let works = 1.0 - now.idle - kept;
            now.waits = kept;
            now.behind_work += let_in * now.behind_waits;
            now.behind_waits *= 1.0 - let_in;

            let queued = now.behind_work + now.behind_waits;
            let comes = match self.closed {
                Some([most, often]) => (most - (1.0 - now.idle) - queued).max(0.0) * often,
                None => self.comes,
            } * step;
            // Those without work are the first to get some.
            let found = comes * self.finds(now.idle);
            let waits = of.chance * found;
            let stopped = of.chance * now.idle * -(-found / now.idle.max(1e-12)).exp_m1();
            let rest = comes - found;
            let at_work = rest * works / (works + now.waits).max(1e-12);
            now.behind_waits += waits - stopped + rest - at_work;
            let inside = works + now.behind_work + at_work + found - waits;
            // As soon as there is more than they do, those that find a core work too.
            let able = works + (1.0 - of.chance) * now.idle;
            let mut rest = inside / (1.0 + ends);
            if rest > able {
                rest = inside - ends * able;
            }
            let works = rest.min(able);
            now.behind_work = rest - works;
            now.waits += stopped;
            now.idle = (1.0 - works - now.waits).max(0.0);

            let rest = (1.0 - self.share) * (STEPS - at) as f64;
            if let Some(until) = latest.get_mut(at + 1 + rest as usize) {
                *until += stopped / left.max(1e-12);
            }
            sums.idle += now.idle * step;
            sums.waits += now.waits * step;
            sums.queued += (now.behind_work + now.behind_waits) * step;
            sums.came += comes;
            sums.woke += found - waits + stopped;
            sums.stopped += stopped;
        }
        sums
    }
}

/// Who finds no core in a part of a slice.
#[derive(Clone, Copy, Debug, Default)]
struct Blocked {
    /// Chance that all cores are taken.
    chance: f64,
    /// Share of those that wait that is let in as others leave.
    lets_in: f64,
}

impl Blocked {
    /// By others that come and go, on so many cores.
    fn by(cores: f64, others: Offered, slice_ns: f64) -> Self {
        if cores < 0.5 {
            return Self {
                chance: 1.0,
                lets_in: 0.0,
            };
        }
        let leave = cores * others.hurry / others.variance.max(1e-12);
        Self {
            chance: others.full(cores - 0.5),
            lets_in: in_step(leave * slice_ns),
        }
    }
}

/// Chance that something which comes so often in a slice comes in a step of it.
fn in_step(rate: f64) -> f64 {
    -(-rate / STEPS as f64).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Beside so many that always have work and may have this share of a slice, on 8 cores.
    fn beside(count: f64, share: f64, one: Crowd) -> f64 {
        waits(count, share, one).time
    }

    fn waits(count: f64, share: f64, one: Crowd) -> Waits {
        let taken = taken(&[Entitled { count, share }], 8.0);
        let mut waits = Waits::default();
        one.add_waits(&mut waits, 1.0, (&taken, 8.0), (Offered::default(), 1.0));
        waits
    }

    /// One to which work comes ten times in a slice and stays for a hundredth of it.
    const ONE: Crowd = Crowd {
        count: 1.0,
        share: 0.2,
        comes: 10.0,
        ends: 100.0,
        closed: None,
    };

    #[test]
    fn cores_are_taken_until_those_that_are_queued_have_had_their_shares() {
        let until = |count, share| {
            let taken = taken(&[Entitled { count, share }], 8.0);
            taken.iter().filter(|of| **of > 7.5).count()
        };
        assert_eq!(until(7.0, 0.5), 0);
        assert_eq!(until(8.0, 0.5), STEPS / 2);
        assert_eq!(until(16.0, 0.25), STEPS / 2);
        assert!(until(12.0, 0.25) < until(16.0, 0.25));
    }

    #[test]
    fn nobody_waits_while_a_core_is_left_and_one_neighbour_more_makes_waits() {
        assert_eq!(beside(7.0, 0.8, ONE), 0.0);
        assert!(beside(8.0, 0.8, ONE) > 0.5);
        assert!(beside(16.0, 0.4, ONE) >= beside(12.0, 0.4, ONE));
    }

    #[test]
    fn work_of_machines_waits_only_while_more_want_cores_than_are_left() {
        let (vps, vps_variance) = (4.0, 0.0);
        let load = Load {
            vps,
            vps_variance,
            ..Load::default()
        };
        let alone = [Offered::default(); 2];
        assert!(all_wait(&load, alone, &[4.5; STEPS]) < 1e-9);
        // Half of the time with two cores: of four with work two wait then, one on the mean.
        let rooms: Vec<f64> = (0..8).map(|at| if at < 4 { 2.0 } else { 6.0 }).collect();
        assert!((all_wait(&load, alone, &rooms) - 0.25).abs() < 1e-9);
        // As many of others wait alike.
        let others = Offered {
            mean: 4.0,
            ..Offered::default()
        };
        let both = all_wait(&load, [others, Offered::default()], &[4.0; 8]);
        assert!((both - 0.5).abs() < 1e-9);
    }

    #[test]
    fn who_may_have_more_waits_less_and_longer_slices_make_longer_waits() {
        let mut before = f64::INFINITY;
        for share in [0.05, 0.2, 0.5, 0.9] {
            let now = beside(8.0, 0.9, Crowd { share, ..ONE });
            assert!(now < before, "{share}: {now}");
            before = now;
        }
        let long = Crowd {
            comes: 2.0 * ONE.comes,
            ends: 2.0 * ONE.ends,
            ..ONE
        };
        assert!(beside(8.0, 0.8, long) > beside(8.0, 0.8, ONE));
    }

    #[test]
    fn the_more_comes_while_all_wait_the_fewer_come_to_one_without_work() {
        let of = |comes: f64, count: f64| {
            let ends = 4.0 * comes;
            let one = Crowd {
                count,
                comes,
                ends,
                ..ONE
            };
            waits(8.0, 0.9, one)
        };
        let fewer = [1.0, 10.0, 100.0].map(|comes| of(comes, 8.0).fewer);
        assert!(
            fewer[0] < 0.2 && fewer.windows(2).all(|two| two[1] > two[0]),
            "{fewer:?}"
        );
        // What is queued is in proportion to what comes.
        let queued = [100.0, 200.0].map(|comes| of(comes, 8.0).queued);
        assert!((queued[1] / queued[0] - 2.0).abs() < 0.1, "{queued:?}");
        assert_eq!(waits(7.0, 0.9, ONE), Waits::default());
    }

    #[test]
    fn who_has_more_to_do_than_it_can_keeps_its_core_and_does_not_wait() {
        let waits = |comes: f64| beside(8.0, 0.5, Crowd { comes, ..ONE });
        assert!(waits(49.0) < waits(25.0) && waits(25.0) < waits(5.0));
        assert!(waits(150.0) < 0.01);
    }

    #[test]
    fn it_waits_once_however_often_work_comes() {
        // Of the time it waits for the blocked part at most: half of a slice.
        for comes in [10.0, 1e3, 1e6] {
            let one = Crowd {
                comes,
                ends: 10.0 * comes,
                share: 0.0,
                ..ONE
            };
            let with_work = beside(8.0, 0.5, one);
            let works = 0.5 / 11.0;
            assert!(
                with_work <= 0.5 / (0.5 + works) + 0.01,
                "{comes}: {with_work}"
            );
        }
    }
}
