//! Who waits for turns beside partitions that always want more, one virtual processor for each core
//! at least.
//!
//! Under PowerVM those that always have work have what they are entitled to in the first part of a
//! window, on all cores. Nobody can be thrown off meanwhile: who comes waits until it is over, or
//! until the rest of the window is as long as what it may have itself. After that they are beyond
//! theirs, and whoever is within his throws one off at once.
//!
//! ```text
//! waits in a window = part - again (1 - exp(-part / again))
//! ```
//! with the time after which one comes `again`: one that seldom does waits for
//! `part^2 / (2 window)` each time. So does each burst of one that often comes, since all virtual
//! processors of a partition wait together there: what comes meanwhile is queued, and done by all
//! `n` of them then, of which `u` have enough to do with what comes later, so it takes
//! `n / (n - u)` of that.
//!
//! One with more to do than a window brings, by what it is entitled to and its weight, has a core
//! for that part of each and none for the rest. Where there are no more of those that stay than
//! cores, each of them needs a core of its own for its whole part: who has been on one for as long
//! as can be spared, its own part at least, gives it back until the others have had theirs. One
//! that is beyond its own takes a core from one that is ahead of it after a quantum.
//!
//! Who is at home on a chip comes before those that stay and are at home elsewhere, of which only
//! the first slices are waited for there. Who runs when a window begins goes on for its slice; who
//! waits then is in line, with half of the others before it. One that is capped waits for all this
//! beside what it waits at its cap, and what that stopped waits for it once more.
//!
//! Under PR/SM, who waits within his share is told by [`slices`](super::slices); what is left is
//! that one with more to do than its share of a slice is without a core for the rest of it.

use crate::ids::ChipId;
use crate::spec::{Polarization, Policy, Processors};
use crate::steady::layout::form::Form;
use crate::steady::layout::state::{Doing, State};
use crate::steady::queues::demand::Arrivals;
use crate::steady::queues::left::{left_at_all, left_by_windows};
use crate::steady::queues::rounds::{Rounds, NEARLY_ALL};

/// Those that always want more.
#[derive(Clone, Copy, Debug, Default)]
struct Staying {
    /// What they are entitled to, those that are capped too.
    entitled: f64,
    /// Virtual processors of those that no limit stops, what these may have, and their weight.
    count: f64,
    own: f64,
    weight: f64,
    /// Their slices by weight: those run when a window begins that ran when the last one ended.
    weighed: f64,
    /// The slices of all, by windows, and what those use beyond theirs that a pool stops.
    slices: Slices,
    in_pools: f64,
}

/// What virtual processors are entitled to of each window, by windows: how many there are, their
/// sum, that of their squares, and the least of them.
#[derive(Clone, Copy, Debug, Default)]
struct Slices {
    count: f64,
    sum: f64,
    squares: f64,
    least: f64,
}

/// One that comes and goes beside them.
#[derive(Clone, Copy, Debug)]
struct Coming {
    /// Virtual processors, how many of them are at work, and how many have work while one has.
    vps: f64,
    used: f64,
    awake: f64,
    /// What it is entitled to, and its weight beyond that.
    entitled: f64,
    weight: f64,
    /// Time from one coming of each to the next, what it waits apart [ns].
    again_ns: f64,
    /// Time of a core that a burst takes [ns].
    burst_ns: f64,
    /// Virtual processors that wait at a cap of its own, and whether it has one.
    stopped: f64,
    capped: bool,
    /// Part of a window after which a core of its home chips is left for it, if sooner than any.
    at_home: f64,
}

impl State {
    /// How much of their time with work those that come and go have a core, as far as turns tell.
    pub(in crate::steady) fn find_turns(&mut self, sharing: &[usize], forms: &[&Form], cores: f64) {
        let each = || sharing.iter().map(|at| (&self.doing[*at], forms[*at]));
        let staying = Staying::of(each());
        let come = each().filter(|(doing, form)| !doing.stays(form));
        let coming: f64 = come.map(|(doing, _)| doing.cores()).sum();
        let none_left = staying.count >= cores - 1e-9;
        for at in sharing.iter().copied() {
            let (doing, form) = (&self.doing[at], forms[at]);
            let by_turns = is_uncapped(form) || self.machine.hypervisor.policy == Policy::Phyp;
            let rounds = (none_left && by_turns && comes(doing, form)).then(|| {
                // What others use that come and go is not there for it.
                let cores = cores - (coming - doing.cores()).max(0.0);
                let at_home = self
                    .first_at_home(at, sharing, forms)
                    .max(staying.running());
                self.rounds((doing, form), (staying, at_home), cores)
            });
            let told = rounds.flatten().map(|(rounds, together)| {
                // What a cap stops waits there as told without turns, and for the others beside.
                if !is_uncapped(form) {
                    return [1.0, queued(doing, form, together), 0.0, together[2]];
                }
                let least = doing.cores() / (NEARLY_ALL * f64::from(form.filled.vps()));
                let turns = rounds.served(doing.run_ns()).max(least.min(1.0));
                let cuts = rounds.cuts(doing.run_ns()) * doing.load.wakes_per_ns;
                [turns, queued(doing, form, together), cuts, 0.0]
            });
            let [turns, queued, cuts, fewer] = told.unwrap_or([1.0, 0.0, 0.0, 0.0]);
            let doing = &mut self.doing[at];
            doing.turns += 0.5 * self.pace * (turns - doing.turns);
            if self.machine.hypervisor.policy == Policy::Phyp {
                doing.waits.queued += 0.5 * self.pace * (queued - doing.waits.queued);
                doing.waits.fewer += 0.5 * self.pace * (fewer - doing.waits.fewer);
                doing.cut += 0.5 * self.pace * (cuts - doing.cut);
            }
        }
    }

    /// How turns come round to one, if that is known, and for how long each burst waits at least as
    /// all of its virtual processors do, and for what windows before have left [ns]; the share of
    /// its comings that find them waiting.
    fn rounds(
        &self,
        of: (&Doing, &Form),
        (staying, at_home): (Staying, f64),
        cores: f64,
    ) -> Option<(Rounds, [f64; 3])> {
        let hypervisor = &self.machine.hypervisor;
        let window_ns = hypervisor.window_ns as f64;
        let own = Coming {
            at_home,
            ..Coming::of(of.0, of.1)
        };
        if hypervisor.policy == Policy::Phyp {
            let quantum_ns = hypervisor.excess_quantum_ns as f64;
            let cores = cores - staying.in_pools;
            return Some(own.in_windows(staying, cores, (window_ns, quantum_ns)));
        }
        let horizontal = of.1.each == Some(Polarization::Horizontal);
        horizontal.then(|| (own.in_slices(staying, cores, window_ns), [0.0; 3]))
    }

    /// Part of a window after which one finds a core of its home chips, where those that stay and
    /// are at home elsewhere come after it there.
    fn first_at_home(&self, at: usize, sharing: &[usize], forms: &[&Form]) -> f64 {
        let homes = &forms[at].all_homes;
        let cores: f64 = homes.iter().map(|(chip, _)| self.free[*chip]).sum();
        let mut slices = Slices::default();
        for other in sharing.iter().copied() {
            let (doing, form) = (&self.doing[other], forms[other]);
            let shared = |home: &&(ChipId, f64)| homes.iter().any(|(chip, _)| *chip == home.0);
            let here: f64 = form.all_homes.iter().filter(shared).map(|of| of.1).sum();
            if doing.stays(form) && here > 0.0 {
                let entitled = doing.due.min(doing.load.vps);
                slices.add(here * doing.load.vps, here * entitled);
            }
        }
        slices.first_left(cores.max(1.0))
    }
}

impl Staying {
    /// Slice of one that runs when a window begins, by windows.
    fn running(&self) -> f64 {
        self.weighed / self.weight.max(1e-12)
    }

    /// Those of all that share cores.
    fn of<'a>(each: impl Iterator<Item = (&'a Doing, &'a Form)>) -> Self {
        let mut all = Self::default();
        for (doing, form) in each.filter(|(doing, form)| doing.stays(form)) {
            let entitled = doing.due.min(doing.load.vps);
            all.entitled += entitled;
            all.slices.add(doing.load.vps, entitled);
            if form.group.is_some() {
                all.in_pools += (doing.cores() - entitled).max(0.0);
            }
            if is_uncapped(form) && form.group.is_none() {
                all.count += doing.load.vps;
                all.own += entitled;
                all.weight += weight(form);
                all.weighed += weight(form) * entitled / doing.load.vps.max(1e-9);
            }
        }
        all
    }
}

/// Bursts that are queued behind virtual processors that wait, where each waits for so long
/// together with all others, and beside that for work that windows before have left [ns].
fn queued(doing: &Doing, form: &Form, [together_ns, left_ns, _]: [f64; 3]) -> f64 {
    let (per_ns, vps) = (doing.load.bursts_per_ns, doing.load.vps);
    let most = match form.demand.arrivals {
        Arrivals::Open(_) => f64::INFINITY,
        Arrivals::Closed(count, _) => (count - doing.load.runnable).max(0.0),
        Arrivals::Always(..) | Arrivals::Never => 0.0,
    };
    let behind = match is_uncapped(form) {
        true => (doing.cores() + per_ns * together_ns - vps).max(0.0),
        false => per_ns * together_ns,
    };
    (behind + per_ns * left_ns).min(most)
}

/// Whether a partition comes and goes.
fn comes(doing: &Doing, form: &Form) -> bool {
    form.guests.is_none()
        && doing.run_ns().is_finite()
        && doing.load.vps > 0.0
        && !doing.stays(form)
}

fn is_uncapped(form: &Form) -> bool {
    matches!(
        form.partition.processors,
        Processors::Shared { capped: false, .. }
    )
}

fn weight(form: &Form) -> f64 {
    match form.partition.processors {
        Processors::Shared { weight, .. } => f64::from(weight),
        Processors::Dedicated { .. } => 0.0,
    }
}

impl Coming {
    fn of(doing: &Doing, form: &Form) -> Self {
        let vps = f64::from(form.filled.vps());
        Self {
            vps,
            used: doing.cores().min(NEARLY_ALL * vps),
            awake: 1.0 + doing.load.vps * (1.0 - 1.0 / vps),
            entitled: doing.entitled,
            weight: if is_uncapped(form) { weight(form) } else { 0.0 },
            stopped: doing.load.vps * doing.load.stopped,
            capped: !is_uncapped(form),
            at_home: f64::INFINITY,
            burst_ns: doing.cores() / doing.load.bursts_per_ns.max(1e-18),
            again_ns: (vps - (1.0 - doing.served) * doing.load.vps) / doing.load.wakes_per_ns,
        }
    }

    /// Part of what is left beyond all entitlements that it has if it wants it.
    fn of_excess(&self, staying: Staying) -> f64 {
        self.weight / (self.weight + staying.weight).max(1e-12)
    }

    fn in_windows(
        &self,
        staying: Staying,
        cores: f64,
        (window_ns, quantum_ns): (f64, f64),
    ) -> (Rounds, [f64; 3]) {
        let excess = (cores - staying.entitled - self.entitled).max(0.0);
        let has = self.entitled + excess * self.of_excess(staying);
        let taken = (staying.entitled / cores).min(1.0);
        let first = staying
            .slices
            .first_left(cores)
            .min(self.at_home)
            .min(taken);
        let until = first.min(1.0 - self.entitled / self.vps).max(0.0);
        let until = self.in_line((has, until), staying, cores, window_ns);
        let each = staying.own / staying.count;
        let given_back = if staying.count <= cores + 1e-9 {
            (2.0 * each - 1.0).min(1.0 - self.entitled / self.vps)
        } else {
            0.0
        };
        let off = (1.0 - has / self.awake).max(given_back).max(0.0);
        // In each window one waits once, from when it comes, and no longer than it is without work.
        let idle = 1.0 - self.used / self.vps;
        let part_ns = until.min(idle) * window_ns;
        let waits = part_ns + self.again_ns * (-part_ns / self.again_ns).exp_m1();
        let goes_on = self.goes_on(part_ns);
        let (stuck, waits) = (waits / window_ns, waits * (1.0 - goes_on));
        let first = waits * self.again_ns / (window_ns - waits).max(1.0);
        // Who has used up his own takes a core of one that is ahead of him after a quantum, or one
        // that another of his partition leaves.
        let beyond = (1.0 - self.entitled / self.used.max(1e-12)).max(0.0);
        let left = (self.vps - 1.0) / self.again_ns;
        let late = beyond * (1.0 - taken) / (quantum_ns.recip() + left);
        let rounds = Rounds {
            first_ns: first + late,
            credit: None,
            on_ns: (1.0 - off) * window_ns,
            off_ns: off * window_ns,
        };
        let together = 0.5 * (1.0 - goes_on) * part_ns * part_ns / (window_ns * idle) + late;
        let left = if self.capped {
            // What a cap stopped at the end of a window is first in line in the next.
            self.stopped * until * self.burst_ns / self.used.max(1e-12)
        } else {
            self.left_over(has, until, window_ns)
        };
        (rounds, [together, left, stuck])
    }

    /// Part of a window that it waits until those that stay have had theirs, where windows may
    /// leave work: who runs then goes on for its slice, and who waits when a window begins is in
    /// line with the others that do, half of them before it, not behind all of them.
    fn in_line(
        &self,
        (has, until): (f64, f64),
        staying: Staying,
        cores: f64,
        window_ns: f64,
    ) -> f64 {
        if self.capped {
            return until;
        }
        let deviation = self.deviation(window_ns);
        let left = |of: f64| left_at_all((of - self.used) * window_ns / deviation.max(1e-9));
        let left = (left(has.min(self.vps)) - left(self.vps)).max(0.0);
        let runs = (cores * self.of_excess(staying) / self.awake).min(1.0);
        let goes_on = runs * (self.entitled / self.vps / until.max(1e-9)).min(1.0);
        let half = (0.5 * (until + staying.running())).min(until);
        let squared = (1.0 - left) * until * until + left * (1.0 - goes_on) * half * half;
        squared.sqrt()
    }

    /// Part of what comes in the first part of a window that is done there, on cores that it had
    /// when that began. Each is gone with the burst that is done there, `k = u exp(-t / burst)`,
    /// until all that had no work have some and wait, `u t / burst + k = vps`. What comes from then
    /// on is queued for those that run: one is left that never is without, if more comes than it
    /// does, with the chance that a single server never idles again.
    fn goes_on(&self, part_ns: f64) -> f64 {
        let used = self.used.max(1e-12);
        let all = self.vps / used;
        let until = (0..TRIES).fold(all, |until, _| all - (-until).exp());
        let rest = 1.0 - until * self.burst_ns / part_ns.max(1e-9);
        let kept = (used * (-until).exp()).max(1.0) * (1.0 - 1.0 / used);
        (kept.max(0.0) / used * rest.max(0.0)).min(1.0)
    }

    /// Deviation of the work that comes in a window [ns].
    fn deviation(&self, window_ns: f64) -> f64 {
        (2.0 * self.used * window_ns * self.burst_ns).sqrt()
    }

    /// How long a burst waits for work that windows before have left: what comes in a window beyond
    /// what it is entitled to and its weight brings of it waits for the next one.
    fn left_over(&self, has: f64, until: f64, window_ns: f64) -> f64 {
        let deviation = self.deviation(window_ns);
        let left = |of: f64| {
            let spare = (of - self.used).max(LEAST_SPARE * of) * window_ns;
            deviation * left_by_windows(spare / deviation.max(1e-9))
        };
        let work_ns = (left(has.min(self.vps)) - left(self.vps)).max(0.0);
        // It is there from when what is its own is used up, and until the others have had theirs.
        let there = 0.5 * (1.0 + until - self.entitled / self.vps).max(0.0);
        work_ns * there / self.used.max(1e-12)
    }

    fn in_slices(&self, staying: Staying, cores: f64, slice_ns: f64) -> Rounds {
        let own = self.awake * self.entitled / self.vps;
        let left = (cores - staying.entitled - own).max(0.0);
        let has = own + left * self.of_excess(staying);
        let off = (1.0 - has / self.awake).max(0.0);
        Rounds {
            first_ns: 0.0,
            credit: None,
            on_ns: (1.0 - off) * slice_ns,
            off_ns: off * slice_ns,
        }
    }
}

/// Steps in which it is found when all have work: each leaves a part of what is missing.
const TRIES: usize = 12;

/// Part of what one may have that is told to be spare at least: of one that wants all of it what is
/// left grows without end. Assumed, 0.02 to 0.1.
const LEAST_SPARE: f64 = 0.05;

impl Slices {
    fn add(&mut self, count: f64, entitled: f64) {
        let each = entitled / count.max(1e-9);
        self.least = match self.count > 0.0 {
            true => self.least.min(each),
            false => each,
        };
        self.count += count;
        self.sum += entitled;
        self.squares += entitled * each;
    }

    /// Part of a window after which one that waits beside them on so many cores has one. A core
    /// takes those first that were last on it, and where slices differ it is chance which of them
    /// lie on each. Who waits has its own core once that has done what lies on it, or the next one:
    /// the lesser of two normal numbers.
    fn first_left(&self, cores: f64) -> f64 {
        if self.count <= 0.0 {
            return 0.0;
        }
        let (mean, square) = (self.sum / self.count, self.squares / self.count);
        let varies = self.count / cores * (square - mean * mean).max(0.0);
        let sooner = (varies / std::f64::consts::PI).sqrt() * (cores - 1.0).clamp(0.0, 1.0);
        (self.sum / cores - sooner).max(self.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Coming = Coming {
        vps: 1.0,
        used: 0.1,
        awake: 1.0,
        entitled: 0.3,
        weight: 100.0,
        again_ns: 1e12,
        burst_ns: 1e5,
        stopped: 0.0,
        capped: false,
        at_home: f64::INFINITY,
    };

    fn loops(count: f64, entitled: f64) -> Staying {
        Staying {
            entitled,
            count,
            own: entitled,
            weight: 100.0,
            weighed: 100.0 * entitled / count,
            slices: {
                let mut slices = Slices::default();
                slices.add(count, entitled);
                slices
            },
            ..Staying::default()
        }
    }

    #[test]
    fn who_comes_waits_until_those_that_stay_have_had_theirs() {
        // By hand: they have 2 of 4 cores, so half of each window, half of which one waits there.
        let (rounds, together) = ONE.in_windows(loops(4.0, 2.0), 4.0, (10e6, 1e6));
        assert!((rounds.first_ns - 1.25e6).abs() < 1e3, "{rounds:?}");
        // What comes meanwhile is done beside a tenth of a core's work.
        assert!((together[0] - 1.25e6 / 0.9).abs() < 1e3, "{together:?}");
        // More for those that stay is more to wait, but never beyond what is its own by then.
        let waits = [0.5, 1.0, 2.0, 3.0, 3.7]
            .map(|of| ONE.in_windows(loops(4.0, of), 4.0, (10e6, 1e6)).0.first_ns);
        // Now and then a window leaves work, which is in line then: a part in a hundred thousand.
        let falls = |two: &[f64]| two[0] > (1.0 + 1e-5) * two[1];
        assert!(!waits.windows(2).any(falls), "{waits:?}");
        assert!((waits[4] - 0.5 * 0.49 * 10e6).abs() < 1e3);
        // One that comes all the time waits half of it, however often: here as long as it does not.
        let often = Coming {
            again_ns: 1e4,
            ..ONE
        };
        let (rounds, _) = often.in_windows(loops(4.0, 2.0), 4.0, (10e6, 1e6));
        assert!((rounds.first_ns - 1e4).abs() < 100.0, "{rounds:?}");
    }

    #[test]
    fn who_has_more_to_do_has_its_part_of_each_window() {
        // One core: 0.3 of its own, 0.5 of the others, half of the 0.2 that are left.
        let (rounds, _) = ONE.in_windows(loops(2.0, 0.5), 1.0, (10e6, 1e6));
        assert!((rounds.on_ns - 4e6).abs() < 1.0 && (rounds.off_ns - 6e6).abs() < 1.0);
        let heavy = Coming {
            weight: 300.0,
            ..ONE
        };
        assert!(heavy.in_windows(loops(2.0, 0.5), 1.0, (10e6, 1e6)).0.on_ns > 4.4e6);
    }

    #[test]
    fn who_runs_when_a_window_begins_goes_on_and_one_is_left_that_is_never_without() {
        let of = |used: f64, vps: f64, part_ns: f64| {
            let one = Coming { vps, used, ..ONE };
            one.goes_on(part_ns)
        };
        // Who never has more to do than one core does has none left in the end.
        assert_eq!((of(0.8, 4.0, 1e9), of(2.0, 8.0, 1e4)), (0.0, 0.0));
        // By hand: one of two, half of the time.
        assert!((of(2.0, 8.0, 1e9) - 0.25).abs() < 1e-3);
        let each = [1.1, 1.5, 2.5, 3.5].map(|used| of(used, 4.0, 1e7));
        assert!(each.windows(2).all(|two| two[0] < two[1]), "{each:?}");
    }

    #[test]
    fn who_waits_when_a_window_begins_is_in_line_and_not_behind_all() {
        let of = |used: f64, weight: f64| {
            let one = Coming {
                used,
                weight,
                entitled: 0.1,
                burst_ns: 1e5,
                ..ONE
            };
            one.in_line((0.2, 0.6), loops(4.0, 0.6), 1.0, 1e7)
        };
        // With little to do it comes while nobody has left anything.
        assert!((of(0.02, 1.0) - 0.6).abs() < 1e-3);
        // By hand: near what windows bring, half of what is left beside a slice of .15.
        assert!((0.37..0.55).contains(&of(0.199, 1.0)), "{}", of(0.199, 1.0));
        // The greater its weight, the more often it runs when a window is over.
        assert!(of(0.199, 400.0) < of(0.199, 1.0));
        let capped = Coming {
            used: 0.2,
            capped: true,
            ..ONE
        };
        assert_eq!(capped.in_line((0.2, 0.6), loops(4.0, 0.6), 1.0, 1e7), 0.6);
    }

    #[test]
    fn who_has_a_cap_waits_for_the_others_and_what_it_stopped_does_once_more() {
        let of = |stopped: f64| {
            let one = Coming {
                capped: true,
                weight: 0.0,
                stopped,
                ..ONE
            };
            one.in_windows(loops(4.0, 2.0), 4.0, (10e6, 1e6)).1
        };
        // By hand: half of a window, where .2 virtual processors wait, of .1 ms at .1 cores.
        assert_eq!(of(0.0)[1], 0.0);
        assert!((of(0.2)[1] - 0.2 * 0.5 * 1e6).abs() < 1.0, "{:?}", of(0.2));
        assert!(of(0.0)[0] > 1e6 && of(0.0)[0] == of(0.2)[0]);
    }

    #[test]
    fn what_windows_leave_is_served_by_weight_and_nothing_is_left_where_each_brings_enough() {
        let left = |weight: f64, used: f64| {
            let of = Coming {
                weight,
                used,
                entitled: 0.1,
                burst_ns: 1e6,
                ..ONE
            };
            of.in_windows(loops(1.0, 0.3), 1.0, (10e6, 1e6)).1[1]
        };
        let by_weight = [16.0, 64.0, 255.0].map(|weight| left(weight, 0.15));
        assert!(
            by_weight.windows(2).all(|two| two[0] > 1.2 * two[1]),
            "{by_weight:?}"
        );
        assert!(left(64.0, 0.05) < 0.2 * left(64.0, 0.15));
    }

    #[test]
    fn loops_that_are_alike_are_done_at_once_and_of_others_some_are_sooner() {
        let of = |each: &[[f64; 2]]| {
            let mut slices = Slices::default();
            each.iter()
                .for_each(|[count, entitled]| slices.add(*count, *entitled));
            slices
        };
        assert!((of(&[[4.0, 2.0]]).first_left(4.0) - 0.5).abs() < 1e-9);
        assert!((of(&[[4.0, 1.0], [4.0, 1.0]]).first_left(4.0) - 0.5).abs() < 1e-9);
        let others = of(&[[4.0, 1.6], [4.0, 0.4]]).first_left(4.0);
        assert!((0.1..0.45).contains(&others), "{others}");
        // One core does all one after the other.
        assert!((of(&[[1.0, 0.3], [1.0, 0.2]]).first_left(1.0) - 0.5).abs() < 1e-9);
        assert_eq!(Slices::default().first_left(4.0), 0.0);
    }

    #[test]
    fn a_slice_is_shared_by_weight() {
        let half = Coming {
            entitled: 0.5,
            ..ONE
        };
        let rounds = half.in_slices(loops(1.0, 0.5), 1.0, 12.5e6);
        assert!((rounds.on_ns - 6.25e6).abs() < 1.0 && (rounds.off_ns - 6.25e6).abs() < 1.0);
    }
}
