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

use super::evictions::entitled_part;
use super::form::Form;
use super::homes::offered;
use super::overflow::Offered;
use super::state::{on_and_off, Doing, State, Waits};
use crate::hypervisor::polarize;
use crate::spec::{Polarization, Policy, Processors};

/// Parts into which a slice is cut.
const STEPS: usize = 64;
/// Share from which on one is always within it.
const WHOLE: f64 = 1.0 - 1e-6;

/// Logical cores with work of one kind, and what each may have of a slice.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Entitled {
    count: f64,
    share: f64,
}

impl State {
    /// How those that share cores wait although they are within their share.
    pub(super) fn within_share(
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
            let stays = entitled_of(doing, form, (1.0 - back) * doing.load.vps);
            stay.extend(stays.into_iter().filter(|of| of.count > 0.0));
        }
        let all: f64 = stay.iter().map(|of| of.count).sum();
        if all + come.most <= cores {
            return waits;
        }
        let taken = taken(&stay, cores);
        for (wait, (doing, form)) in waits.iter_mut().zip(each()) {
            if form.stays || form.guests.is_some() || doing.load.wakes_per_ns <= 0.0 {
                continue;
            }
            let back = comes_back(doing, form, window_ns);
            let [high, medium] = entitled_of(doing, form, doing.load.vps);
            let (count, share) = match high.share < WHOLE && medium.count <= 0.0 {
                true => (high.count, high.share),
                false => (medium.count, medium.share),
            };
            let part = count / doing.load.vps.max(1e-12) * entitled_part(doing);
            let own = offered(doing, form, 1.0)
                .one()
                .part(back * entitled_part(doing));
            let others = come.without(own);
            let one = One::of(doing, form, window_ns, share);
            let all = one.waits(&taken, cores, (others, window_ns));
            *wait = Waits {
                time: part * all.time,
                comings: part * all.comings,
            };
        }
        waits
    }
}

/// Part of a partition's logical cores with work that are vertical-high: these have a core that is
/// theirs as soon as they have work, and never move.
pub(super) fn high_part(doing: &Doing, form: &Form) -> f64 {
    match form.each {
        Some(Polarization::Vertical) => {
            entitled_of(doing, form, doing.load.vps)[0].count / doing.load.vps.max(1e-12)
        }
        _ => 0.0,
    }
}

/// Share of the comings to a core after which it is left before a slice is over.
fn comes_back(doing: &Doing, form: &Form, slice_ns: f64) -> f64 {
    0.5 * slice_ns / (0.5 * slice_ns + on_and_off(doing, form)[0])
}

/// Which of so many logical cores with work are entitled to what: vertical-high or horizontal ones,
/// and vertical-medium ones.
fn entitled_of(doing: &Doing, form: &Form, count: f64) -> [Entitled; 2] {
    let Processors::Shared { r#virtual, .. } = form.partition.processors else {
        return [Entitled::default(); 2];
    };
    let entitled = doing.entitled;
    match form.each {
        Some(Polarization::Vertical) => {
            let split = polarize(entitled, r#virtual);
            let high = count.min(f64::from(split.high));
            let medium = (count - high).min(f64::from(split.medium));
            [(high, 1.0), (medium, split.medium_share)]
        }
        _ => [(count, entitled / f64::from(r#virtual)), (0.0, 0.0)],
    }
    .map(|(count, share)| Entitled {
        count,
        share: share * doing.allowed,
    })
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

/// A logical core of a partition.
#[derive(Clone, Copy, Debug)]
struct One {
    /// How often work comes to it while it has none, and it has done what there is while it is at
    /// work, in a slice.
    comes: f64,
    ends: f64,
    share: f64,
}

impl One {
    fn of(doing: &Doing, form: &Form, slice_ns: f64, share: f64) -> Self {
        let [on_ns, off_ns] = on_and_off(doing, form);
        Self {
            comes: slice_ns / off_ns.max(1.0),
            ends: slice_ns / on_ns.max(1.0),
            share,
        }
    }

    /// How it waits beside those that take so many of the cores and others that come and go.
    fn waits(&self, taken: &[f64; STEPS], cores: f64, (others, slice_ns): (Offered, f64)) -> Waits {
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
            return Waits::default();
        }
        // It ends with work or without in proportion to how it began.
        let (none, all) = (self.slice(&blocked, 0.0), self.slice(&blocked, 1.0));
        let idle = none[0] / (1.0 - all[0] + none[0]).max(1e-12);
        let [waits, stopped] = [1, 2].map(|of| none[of] + idle * (all[of] - none[of]));
        // What comes is what ends.
        let works = (1.0 - waits) * self.comes / (self.comes + self.ends);
        Waits {
            time: waits / (works + waits).max(1e-12),
            comings: (stopped / (works * self.ends).max(1e-12)).min(1.0),
        }
    }

    /// Chance to be without work as a slice ends that begins without work with this chance; how
    /// much of it one waits, and how often one begins to.
    fn slice(&self, blocked: &[Blocked; STEPS], idle: f64) -> [f64; 3] {
        let (comes, ends) = (in_step(self.comes), in_step(self.ends));
        // Both at once settle at what is usual where nobody has to wait.
        let usual = self.comes / (self.comes + self.ends);
        let settles = in_step(self.comes + self.ends);
        let (mut idle, mut works, mut waits) = (idle, 1.0 - idle, 0.0);
        let (mut waited, mut often) = (0.0, 0.0);
        // Who may wait until when at the latest, as if nobody were let in before.
        let mut latest = [0.0; STEPS];
        let (mut left, mut before) = (1.0, 0.0);
        for (at, now) in blocked.iter().enumerate() {
            let stays = (1.0 - now.lets_in) * (now.chance / f64::max(before, 1e-12)).min(1.0);
            left *= stays;
            let kept = (waits * stays - latest[at] * left).max(0.0);
            (works, waits) = (works + waits - kept, kept);
            let stopped = now.chance * idle * comes;
            let free = 1.0 - now.chance;
            let there = idle + works - stopped;
            let part = free * settles + now.chance * ends;
            let after = works + part * (free * usual * there - works);
            (idle, works, waits) = (there - after, after, waits + stopped);
            let rest = (1.0 - self.share) * (STEPS - at) as f64;
            if let Some(until) = latest.get_mut(at + 1 + rest as usize) {
                *until += stopped / left.max(1e-12);
            }
            (waited, often) = (waited + waits / STEPS as f64, often + stopped);
            before = now.chance;
        }
        [idle, waited, often]
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
    fn beside(count: f64, share: f64, one: One) -> f64 {
        let taken = taken(&[Entitled { count, share }], 8.0);
        one.waits(&taken, 8.0, (Offered::default(), 1.0)).time
    }

    /// One to which work comes ten times in a slice and stays for a hundredth of it.
    const ONE: One = One {
        comes: 10.0,
        ends: 100.0,
        share: 0.2,
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
    fn who_may_have_more_waits_less_and_longer_slices_make_longer_waits() {
        let mut before = f64::INFINITY;
        for share in [0.05, 0.2, 0.5, 0.9] {
            let now = beside(8.0, 0.9, One { share, ..ONE });
            assert!(now < before, "{share}: {now}");
            before = now;
        }
        let long = One {
            comes: 2.0 * ONE.comes,
            ends: 2.0 * ONE.ends,
            ..ONE
        };
        assert!(beside(8.0, 0.8, long) > beside(8.0, 0.8, ONE));
    }

    #[test]
    fn it_waits_once_however_often_work_comes() {
        // Of the time it waits for the blocked part at most: half of a slice.
        for comes in [10.0, 1e3, 1e6] {
            let one = One {
                comes,
                ends: 10.0 * comes,
                share: 0.0,
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
