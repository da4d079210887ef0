//! Who is thrown off a core of PR/SM on which he is beyond his share.
//!
//! Who gets work within his share and finds no core idle throws off one that is beyond its own:
//! the one that has been on its core for longest. That one waits until a core is left, so it is
//! dispatched once more, mostly elsewhere. As often as that happens, all that are beyond their
//! shares and stay are thrown off after the same time `T`; one that comes and goes is only if it
//! stays for as long. Of a kind with `k` cores that stay for `s` on the mean, exponentially,
//!
//! ```text
//! thrown(k, s) = (k / s) / (exp(T / s) - 1)        sum(thrown) = how often somebody is
//! ```
//! which is `k / T` where `s` is long. A vertical-high logical core throws off whoever is at its
//! home, which is who came first in turn when it left. Of partitions that have had less beyond
//! their shares than their weight says, slices are extended (`hypervisor/excess`) unless one of
//! their logical cores gave its core up in this slice: nobody throws those off.

use crate::cost::Refill;
use crate::spec::{Polarization, Policy};
use crate::steady::layout::form::Form;
use crate::steady::layout::state::{Doing, State};
use crate::steady::layout::stints::on_and_off;
use crate::steady::windows::evictions::entitled_part;
use crate::steady::windows::slices::high_part;

/// Steps at most in which the time is found after which one is thrown off, and the part of it by
/// which the last one moves at most.
const STEPS: usize = 60;
const PRECISE: f64 = 1e-11;
/// The shortest and the longest that it may be [ns].
const RANGE_NS: [f64; 2] = [10.0, 1e12];

/// Logical cores that run beyond their share and may be thrown off.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::steady) struct Beyond {
    pub cores: f64,
    pub stay_ns: f64,
}

impl Beyond {
    /// How often in a nanosecond one of them is thrown off, if that is after so long.
    pub fn thrown(&self, after_ns: f64) -> f64 {
        self.thrown_at(after_ns).0
    }

    /// The same, and by how much it grows with the logarithm of that time.
    fn thrown_at(&self, after_ns: f64) -> (f64, f64) {
        let by = after_ns / self.stay_ns;
        if by < 1e-6 {
            let thrown = self.cores / after_ns;
            return (thrown, -thrown);
        }
        let grown = by.exp_m1();
        let thrown = self.cores / self.stay_ns / grown;
        (thrown, -thrown * by * (1.0 + 1.0 / grown))
    }
}

/// When it is a partition's turn to take a core that was left: the chance that nobody waits who
/// comes before it, and that one of its own does besides.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    first: f64,
    part: f64,
}

/// Those that come and go while all cores are taken.
#[derive(Clone, Copy, Debug, Default)]
struct Comes {
    /// How often in a nanosecond one of them comes to its home, and within its share elsewhere.
    home: f64,
    often: f64,
    /// Cores on which they are within their share, and how often one of these is left.
    cores: f64,
    within: f64,
    /// How often any of them leaves a core.
    leave: f64,
}

impl Comes {
    fn add(&mut self, doing: &Doing, form: &Form) {
        if form.stays {
            return;
        }
        let wakes = doing.load.wakes_per_ns * doing.awaited;
        let entitled = entitled_part(doing);
        let high = high_part(doing, form).min(entitled);
        self.home += wakes * high;
        self.often += wakes * (entitled - high) * (1.0 - doing.waits.comings);
        self.cores += entitled * doing.served * doing.load.vps * doing.awaited;
        self.within += wakes * entitled;
        self.leave += wakes;
    }

    /// How many cores are left while one of those is used that are within their share.
    fn left_meanwhile(self) -> f64 {
        self.leave * self.cores / self.within.max(1e-30)
    }
}

impl State {
    /// How often those that share cores are thrown off under PR/SM, and on how many cores.
    pub(in crate::steady) fn throw_off(&mut self, sharing: &[usize], forms: &[&Form]) {
        if self.machine.hypervisor.policy != Policy::Prsm {
            return;
        }
        self.excess = self.most_excess(sharing, forms);
        let each = sharing.iter().map(|at| (*at, forms[*at]));
        let beyond: Vec<Beyond> = each
            .clone()
            .map(|(at, form)| self.beyond(at, form))
            .collect();
        let cores: f64 = beyond.iter().map(|of| of.cores).sum();
        let mut comes = Comes::default();
        for (at, form) in each {
            comes.add(&self.doing[at], form);
        }
        // Nobody can be thrown off while nobody is beyond his share.
        let there = -(-cores).exp_m1();
        let after_ns = after(&beyond, comes.often * there);
        let pace = 0.5 * self.pace;
        let contested = (cores + comes.cores).max(1.0);
        self.contested += pace * (contested - self.contested);
        self.left_meanwhile += pace * (comes.left_meanwhile() - self.left_meanwhile);
        let turns = self.take_turns(sharing, forms);
        let thrown: Vec<[f64; 2]> = beyond
            .iter()
            .zip(&turns)
            .map(|(of, turn)| {
                let by_age = after_ns.map_or(0.0, |ns| of.thrown(ns));
                [by_age, turn.part * there * comes.home]
            })
            .collect();
        let all = thrown
            .iter()
            .fold([0.0; 2], |sum, of| [sum[0] + of[0], sum[1] + of[1]]);
        let each = sharing.iter().map(|at| (*at, forms[*at]));
        let waiting: f64 = each.map(|one| self.waits_beyond(one)).sum();
        for (index, at) in sharing.iter().enumerate() {
            let [by_age, at_home] = thrown[index];
            let own = (*at, forms[*at]);
            let others = waiting - self.waits_beyond(own);
            let queued = self.queued(own, turns[index], comes, [all, thrown[index]], others);
            let doing = &mut self.doing[*at];
            doing.thrown += pace * (by_age + at_home - doing.thrown);
            doing.queued += pace * (queued - doing.queued);
        }
    }

    /// How many of a partition's virtual processors wait for cores that are left. Who comes and
    /// goes beyond his share loses a core as soon as he leaves it while none of his own waits, and
    /// those that always have work keep what they get. So as many wait as make that as rare as he
    /// gets cores from others: those that these leave while it is his turn, and those of which he
    /// throws them off.
    fn queued(
        &self,
        (at, form): (usize, &Form),
        turn: Turn,
        comes: Comes,
        [all, own]: [[f64; 2]; 2],
        others: f64,
    ) -> f64 {
        let (doing, wakes) = (&self.doing[at], self.doing[at].load.wakes_per_ns);
        let within = entitled_part(doing);
        if form.stays || wakes <= 0.0 || within >= 1.0 {
            return 0.0;
        }
        let mut alone = Comes::default();
        alone.add(doing, form);
        let thrown = [0, 1].map(|kind| 1.0 - own[kind] / f64::max(all[kind], 1e-30));
        let takes = alone.often * thrown[0] + alone.home * thrown[1];
        let quantum_ns = self.machine.hypervisor.excess_quantum_ns as f64;
        let gets = turn.first * (comes.leave - alone.leave) + takes + 1.0 / quantum_ns;
        let rest = f64::from(form.filled.vps()) - doing.served * doing.load.vps;
        let beyond = match form.each {
            Some(Polarization::Vertical) => (doing.load.vps - doing.due).clamp(0.0, 1.0),
            _ => 1.0 - within,
        };
        let loses = wakes * self.taken_meanwhile((at, form), comes.leave - alone.leave, others);
        let waits = (loses / gets).ln().clamp(0.0, rest.max(0.0));
        waits * beyond * doing.awaited
    }

    /// Chance that a core which one of a partition leaves is another partition's when it comes
    /// back: one of so many waits for it, or comes meanwhile, of those that come so often.
    fn taken_meanwhile(&self, (at, form): (usize, &Form), comes_per_ns: f64, wait: f64) -> f64 {
        let [_, away_ns] = on_and_off(&self.doing[at], form);
        -(-(wait + comes_per_ns.max(0.0) * away_ns)).exp_m1()
    }

    /// The most that any has beyond its share, by weight: that of those that are held back by
    /// nothing but their weights.
    fn most_excess(&self, sharing: &[usize], forms: &[&Form]) -> f64 {
        let by_weight = |at: &usize| {
            let (more, weight) = self.excess_of(*at, forms[*at]);
            more / weight
        };
        sharing.iter().map(by_weight).fold(0.0, f64::max)
    }

    /// Which part of the cores that are left each takes that waits to be beyond its share: of those
    /// that wait the one comes first that has had least of it for its weight.
    fn take_turns(&self, sharing: &[usize], forms: &[&Form]) -> Vec<Turn> {
        let stand = |at: &usize| {
            let (more, weight) = self.excess_of(*at, forms[*at]);
            (
                more / weight,
                -(-self.waits_beyond((*at, forms[*at]))).exp_m1(),
            )
        };
        let stands: Vec<(f64, f64)> = sharing.iter().map(stand).collect();
        let mut order: Vec<usize> = (0..sharing.len()).collect();
        order.sort_by(|a, b| stands[*a].0.total_cmp(&stands[*b].0));
        let mut turns = vec![Turn::default(); sharing.len()];
        let mut first = 1.0;
        for index in order {
            let part = first * stands[index].1;
            turns[index] = Turn { first, part };
            first -= part;
        }
        turns
    }

    /// Virtual processors of a partition that have work and no core, where it may be beyond its
    /// share: those of a capped one do not wait for cores.
    fn waits_beyond(&self, (at, form): (usize, &Form)) -> f64 {
        let (more, _) = self.excess_of(at, form);
        if more > 0.0 {
            self.waiting(at)
        } else {
            0.0
        }
    }

    /// Virtual processors of a partition that have work and no core.
    fn waiting(&self, at: usize) -> f64 {
        (1.0 - self.doing[at].served) * self.doing[at].load.vps
    }

    /// Chance that who gets work while all cores are taken comes to another one than before. Within
    /// its share it throws somebody off, and all cores on which that happens are as good as each
    /// other; beyond it, it waits like those that were thrown off.
    pub(in crate::steady) fn elsewhere(&self, at: usize) -> f64 {
        let within = entitled_part(&self.doing[at]);
        let contested = match self.machine.hypervisor.policy {
            Policy::Prsm => self.contested,
            Policy::Phyp => self.free.iter().sum(),
            _ => return 1.0,
        };
        let of_within = 1.0 - 1.0 / contested.max(1.0);
        within * of_within + (1.0 - within) * self.another(at)
    }

    /// Chance that who waits for a core that is left gets another one than its last, because that
    /// is left sooner. Of those of a partition that wait, who left a core comes to it first.
    fn another(&self, at: usize) -> f64 {
        if self.machine.hypervisor.policy == Policy::Phyp {
            // A core that is left goes to the one that waits and was on it last, else to the first.
            let cores: f64 = self.free.iter().sum();
            return (1.0 - (1.0 + self.waiting_while_short) / cores.max(1.0)).max(0.0);
        }
        (1.0 - 1.0 / self.left_meanwhile.max(1.0)) / self.waiting(at).max(1.0)
    }

    /// Of all that come to a core, those included that were thrown off: the share of those that are
    /// on another one than before, and what others displaced of the lines of those that are not.
    pub(in crate::steady) fn with_thrown(
        &self,
        at: usize,
        (moved, displaced): (f64, f64),
        refill: &Refill,
    ) -> (f64, f64) {
        let doing = &self.doing[at];
        if doing.thrown <= 0.0 {
            return (moved, displaced);
        }
        let part = doing.thrown / (doing.thrown + doing.load.wakes_per_ns);
        let again = refill.displaced(self.waiting(at) / doing.thrown, 1);
        // Whose turn is over comes back to the core that it was on.
        let another = self.another(at) * (1.0 - (doing.cut / doing.thrown).min(1.0));
        (
            moved + part * (another - moved),
            displaced + part * (again - displaced),
        )
    }

    /// What of a partition may be thrown off.
    fn beyond(&self, at: usize, form: &Form) -> Beyond {
        let window_ns = self.machine.hypervisor.window_ns as f64;
        let doing = &self.doing[at];
        let [stay_ns, _] = on_and_off(doing, form);
        let gives_up = 1.0 - (-doing.load.wakes_per_ns * window_ns).exp();
        let goes_on = (1.0 - self.is_ahead(at, form)) * (1.0 - gives_up);
        let beyond = (1.0 - entitled_part(doing)) * doing.served * doing.load.vps;
        Beyond {
            cores: (1.0 - goes_on) * beyond,
            stay_ns: stay_ns.max(1.0),
        }
    }
}

/// After how long one is thrown off where that happens so often; none where it does not.
///
/// The logarithm of how often bends only a little over that of the time, so tangents lead there;
/// where one leads out of what is left, that is halved.
pub(in crate::steady) fn after(beyond: &[Beyond], often: f64) -> Option<f64> {
    let [least, most] = RANGE_NS;
    if often <= beyond.iter().map(|of| of.thrown(most)).sum::<f64>() {
        return None;
    }
    // Those that stay for good are thrown off more often than any others.
    let cores: f64 = beyond.iter().map(|of| of.cores).sum();
    let (mut low, mut high) = (least.ln(), (cores / often).clamp(least, most).ln());
    let mut at = high;
    for _ in 0..STEPS {
        let ns = at.exp();
        let [thrown, slope] = beyond.iter().fold([0.0; 2], |[all, slopes], of| {
            let (one, slope) = of.thrown_at(ns);
            [all + one, slopes + slope]
        });
        if thrown > often {
            low = at;
        } else {
            high = at;
        }
        let next = at - thrown * (thrown / often).ln() / slope;
        let next = if next >= low && next <= high {
            next
        } else {
            0.5 * (low + high)
        };
        let is_there = (next - at).abs() < PRECISE;
        at = next;
        if is_there {
            break;
        }
    }
    Some(at.exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beyond(cores: f64, stay_ns: f64) -> Beyond {
        Beyond { cores, stay_ns }
    }

    #[test]
    fn as_many_are_thrown_off_as_throw_somebody_off() {
        let those = [beyond(2.0, 1e15), beyond(1.0, 10_000.0), beyond(0.5, 500.0)];
        for often in [1e-7, 1e-5, 1e-3] {
            let ns = after(&those, often).expect("somebody is thrown off");
            let all: f64 = those.iter().map(|of| of.thrown(ns)).sum();
            assert!((all / often - 1.0).abs() < 1e-6, "{often}: {all}");
        }
        assert_eq!(after(&those, 0.0), None);
    }

    #[test]
    fn those_that_stay_are_thrown_off_in_turn_and_who_leaves_sooner_hardly_ever() {
        let ns = after(&[beyond(2.0, 1e15)], 1e-4).expect("somebody is thrown off");
        assert!((ns / 20_000.0 - 1.0).abs() < 1e-6, "{ns}");
        let short = beyond(1.0, 2_000.0).thrown(ns);
        assert!(short < 1e-2 * beyond(1.0, 1e15).thrown(ns), "{short}");
    }
}
