//! How long a guest's virtual processors halt, and for how long KVM polls then.
//!
//! A thread goes back to the virtual processor it was on, and to the first that is idle if that is
//! taken. So one that is busy for a share `u` of the time loses as much as it finds taken, `u^2`,
//! for good, and gains, while idle and all before it busy, what finds its own taken: `u(j)^2` of
//! each that comes after it, and all that belongs to those before it. Threads that
//! have not run before go to the chips of the guest in turn, and on a chip to the first that is
//! idle. Where they come in turn halts are less varied than by chance: Erlang's, of as many stages
//! as take turns.

use std::sync::{Arc, OnceLock};

use crate::hypervisor::halt::{idle_ways_ns, next_poll_ns};
use crate::spec::{Kvm, Virtualized};
use crate::steady::queues::chances::erlang_b;

/// Chance below which it is of no account.
const NEVER: f64 = 1e-9;

/// Chance that so many are all busy which are `busy` in all: Erlang's loss of what is offered to
/// them, which is found from the last guess on.
fn all_busy(count: usize, busy: f64, offered: &mut f64) -> f64 {
    let mut lost = 0.0;
    *offered = offered.max(busy);
    for _ in 0..3 {
        lost = erlang_b(count as f64, *offered);
        *offered = (busy / (1.0 - lost).max(0.01)).min(1e3);
    }
    lost
}

/// Steps after which the share of one is found.
const STEPS: usize = 3;
/// Halvings after which what finds its own taken is found.
const HALVINGS: usize = 40;
/// Logarithm of the most of it and, negative, of the least.
const MOST_TAKEN: f64 = 30.0;

/// Shares of the time in which each of `vps` on as many `chips` of the guest is busy, which add up
/// to `busy`; `again` is the share of the bursts whose thread has run before.
pub(in crate::steady) fn used(vps: usize, chips: usize, busy: f64, again: f64) -> Vec<f64> {
    let chips = chips.clamp(1, vps);
    if chips < vps {
        let each = vps.div_ceil(chips);
        let one = on_one(each, busy * each as f64 / vps as f64, again, 0.0);
        return (0..vps).map(|at| one[at / chips]).collect();
    }
    on_one(vps, busy, again, (1.0 - again) * busy / vps as f64)
}

/// The same of those that are filled in order, where so much finds its own taken in all, and so
/// much comes to each in turn.
pub(in crate::steady) fn by_taken(taken: f64, vps: usize, again: f64, fresh: f64) -> Vec<f64> {
    let (mut before, mut sum, mut offered) = (1.0, 0.0, 0.0);
    // What finds its own taken while all before this one are busy, but for its own.
    let mut come = taken;
    let mut each = Vec::with_capacity(vps);
    for _ in 0..vps {
        let own = balanced(before, come, again, fresh);
        each.push(own);
        sum += own;
        come += again * own * (1.0 - own);
        before = if before > NEVER {
            all_busy(each.len(), sum, &mut offered)
        } else {
            0.0
        };
    }
    each
}

/// The busy share `u` at which as much leaves as comes:
/// `again u^2 + (1 - again) u = before (1 - u) (come - again u^2) + fresh`, by Newton's method.
fn balanced(before: f64, come: f64, again: f64, fresh: f64) -> f64 {
    let linear = 1.0 - again + before * come;
    let square = again * (1.0 + before);
    let of = before * come + fresh;
    // Without the cube, which is the least, it is a square's root, which is near.
    let mut own = if square > 1e-9 {
        ((linear * linear + 4.0 * square * of).sqrt() - linear) / (2.0 * square)
    } else {
        of / linear.max(1e-12)
    };
    own = own.min(1.0);
    let cube = again * before;
    for _ in 0..STEPS {
        let off = own * (linear + own * (square - cube * own)) - of;
        let slope = linear + own * (2.0 * square - 3.0 * cube * own);
        own = (own - off / slope.max(1e-12)).clamp(0.0, 1.0);
    }
    own
}

/// The same of so many busy ones.
fn on_one(vps: usize, busy: f64, again: f64, fresh: f64) -> Vec<f64> {
    let of = |taken: f64| by_taken(taken, vps, again, fresh);
    let mut each = adding_up(busy, MOST_TAKEN, of);
    let all: f64 = each.iter().sum();
    each.iter_mut()
        .for_each(|own| *own = (*own * busy / all.max(1e-12)).min(1.0));
    each
}

/// What is told of as much taken as lets it add up to so many busy ones, the logarithm of
/// which is so much at most.
///
/// It is found by halving, of which most steps are known beforehand from where it is about.
pub(in crate::steady) fn adding_up(busy: f64, most: f64, of: impl Fn(f64) -> Vec<f64>) -> Vec<f64> {
    let sum = |at: f64| of(at.exp()).iter().sum::<f64>();
    let mut about = About::of(busy, most, &sum);
    let (mut low, mut high) = (-MOST_TAKEN, most);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if about.is_less(middle, |at| sum(at) < busy) {
            low = middle;
        } else {
            high = middle;
        }
    }
    of(low.exp())
}

/// Halvings before secants: beyond them the sum is nearly a power of what is taken.
const FIRST: usize = 5;
/// Secants, and where one is near enough.
const SECANTS: usize = 12;
const NEAR: f64 = 3e-10;

/// Where something that grows comes to a number: up to one place it is less, from another on not.
struct About {
    less: f64,
    more: f64,
}

impl About {
    /// Of a sum that grows, by halvings first and then by secants of logarithms, of which an end
    /// that stays twice counts half (the Illinois method).
    fn of(wanted: f64, most: f64, sum: &impl Fn(f64) -> f64) -> Self {
        let mut about = Self {
            less: -MOST_TAKEN,
            more: most,
        };
        let (mut low, mut high, mut was_less) = (None, None, None);
        for step in 0..FIRST + SECANTS {
            let at = match (low, high) {
                (Some(low), Some(high)) if step >= FIRST => {
                    (about.less * high - about.more * low) / (high - low)
                }
                _ => 0.5 * (about.less + about.more),
            };
            let found = sum(at);
            let off = (found / wanted).ln();
            let stays = step > FIRST && was_less == Some(found < wanted);
            let part = if stays { 0.5 } else { 1.0 };
            was_less = Some(found < wanted);
            if found < wanted {
                (about.less, low) = (at, Some(off));
                high = high.map(|end: f64| part * end);
            } else {
                (about.more, high) = (at, Some(off));
                low = low.map(|end: f64| part * end);
            }
            if off.abs() < NEAR {
                about.is_less(at - NEAR, |at| sum(at) < wanted);
                about.is_less(at + NEAR, |at| sum(at) < wanted);
                break;
            }
        }
        about
    }

    /// Whether it is less there, which is looked up where it is not known.
    fn is_less(&mut self, at: f64, look: impl Fn(f64) -> bool) -> bool {
        if at <= self.less || at >= self.more {
            return at <= self.less;
        }
        let less = look(at);
        *(if less { &mut self.less } else { &mut self.more }) = at;
        less
    }
}

/// Mean halts for which polling is worked out, from the shortest on, each so much longer [ns].
const SHORTEST_NS: f64 = 500.0;
const LONGER: f64 = 1.3;
const HALTS: usize = 48;
/// Stages of halts for which it is, as powers of two.
const STAGES: usize = 4;
/// Rounds after which the length of polling has come to rest.
const ROUNDS: usize = 100;

/// What KVM does for a guest.
#[derive(Clone, Debug)]
pub(in crate::steady) struct Guest {
    /// The way out of the guest and back of one that does not idle [ns].
    pub path_ns: f64,
    /// The way out of one that idles, and back in [ns].
    pub out_ns: f64,
    pub back_ns: f64,
    kvm: Kvm,
    /// By stages and mean halts: for how long one polls [ns], and the share of halts that end
    /// meanwhile. Each is worked out when it is asked for: a layout asks for a few of them.
    polling: Arc<[OnceLock<(f64, f64)>]>,
}

impl Guest {
    pub fn of(kvm: &Kvm, by: Option<&Virtualized>) -> Self {
        let [out, back] = idle_ways_ns(kvm, by);
        Self {
            path_ns: (kvm.exit_ns + kvm.entry_ns) as f64,
            out_ns: out as f64,
            back_ns: back as f64,
            kvm: kvm.clone(),
            polling: vec![OnceLock::new(); STAGES * HALTS].into(),
        }
    }

    /// Whether KVM does the same for another.
    pub fn does_as(&self, other: &Self) -> bool {
        self.kvm == other.kvm
    }

    /// Know what is known of another for which it does the same.
    pub fn share(&mut self, other: &Self) {
        self.polling = Arc::clone(&other.polling);
    }

    /// The same of halts of one of the means, and of so many stages as a power of two.
    fn known(&self, power: usize, at: usize) -> (f64, f64) {
        let halt_ns = || SHORTEST_NS * LONGER.powi(at as i32);
        *self.polling[power * HALTS + at].get_or_init(|| polling(&self.kvm, halt_ns(), 1 << power))
    }

    /// Of halts of this mean and so many stages: for how long one polls [ns], and the share that
    /// ends meanwhile.
    pub fn polling(&self, halt_ns: f64, stages: f64) -> (f64, f64) {
        let (power, part) = between(stages.max(1.0).log2(), STAGES);
        let (at, along) = between((halt_ns / SHORTEST_NS).max(1.0).ln() / LONGER.ln(), HALTS);
        let mean = |pick: fn(&(f64, f64)) -> f64| {
            let of = |power: usize| {
                let (a, b) = (self.known(power, at), self.known(power, at + 1));
                pick(&a) + along * (pick(&b) - pick(&a))
            };
            of(power) + part * (of(power + 1) - of(power))
        };
        (mean(|of| of.0).min(halt_ns), mean(|of| of.1))
    }
}

/// Threads on their way back to a virtual processor: how many wait for devices on the mean, of so
/// many in all, and the share of its wake-ups that are theirs.
#[derive(Clone, Copy, Debug)]
pub(in crate::steady) struct Returning {
    pub waiting: f64,
    pub of: f64,
    pub share: f64,
}

impl Returning {
    /// How much sooner than on the mean a halt ends while so many of them wait, each with its share
    /// of the halts. Their number is by chance, and hardly changes from one halt to the next: what
    /// has several waits has one after the other.
    fn each(self, mut with: impl FnMut(f64, f64)) {
        let (mean, part) = (self.waiting, (self.waiting / self.of).min(SURE));
        let mut at = |number: f64, chance: f64| {
            let sooner = 1.0 - self.share + self.share * number / mean;
            with(sooner, chance * sooner);
        };
        if mean > MANY {
            // As good as normal: by its three points.
            let apart = (3.0 * mean * (1.0 - part)).sqrt();
            for (off, sixths) in [(-apart, 1.0), (0.0, 4.0), (apart, 1.0)] {
                at(mean + off, sixths / 6.0);
            }
            return;
        }
        let none = match self.of.is_finite() {
            true => (self.of * (-part).ln_1p()).exp(),
            false => (-mean).exp(),
        };
        let (mut number, mut chance, mut left) = (0.0, none, 1.0);
        while left > UNLIKELY && chance > 0.0 {
            at(number, chance);
            left -= chance;
            number += 1.0;
            chance *= mean * (1.0 - (number - 1.0) / self.of).max(0.0) / (1.0 - part) / number;
        }
    }
}

/// Threads that wait for devices beyond which their number is as good as normal.
const MANY: f64 = 8.0;
/// Chance of more of them that is of no account, and of each that is as good as certain.
const UNLIKELY: f64 = 1e-4;
const SURE: f64 = 1.0 - 1e-6;

impl Guest {
    /// The same where some halts are ended by threads that come back from devices.
    pub fn polling_with(&self, halt_ns: f64, stages: f64, back: Returning) -> (f64, f64) {
        if back.share * back.waiting <= UNLIKELY {
            return self.polling(halt_ns, stages);
        }
        let (mut sum, mut all) = ((0.0, 0.0), 0.0);
        back.each(|sooner, share| {
            if share > 0.0 {
                let (poll_ns, ends) = self.polling(halt_ns / sooner, stages);
                sum = (sum.0 + share * poll_ns, sum.1 + share * ends);
                all += share;
            }
        });
        (sum.0 / all, sum.1 / all)
    }
}

/// The place before a number among so many, and the part of the way to the next.
fn between(number: f64, places: usize) -> (usize, f64) {
    let low = (number as usize).min(places - 2);
    (low, (number - low as f64).min(1.0))
}

/// The same, worked out: the length of polling goes by each halt's.
fn polling(kvm: &Kvm, halt_ns: f64, stages: u32) -> (f64, f64) {
    let most = kvm.halt_poll_ns;
    if most == 0 {
        return (0.0, 0.0);
    }
    let longer = |ns: u64| beyond(ns as f64 / halt_ns, stages, stages);
    let lengths = lengths(kvm);
    let at = |length: u64| lengths.binary_search(&length).unwrap_or(0);
    let next = |poll: &u64| {
        let between = poll + (most - (*poll).min(most)) / 2;
        let (grown, shrunk) = (
            next_poll_ns(kvm, *poll, between),
            next_poll_ns(kvm, *poll, most + 1),
        );
        let (beyond, all) = (longer(*poll), longer(most));
        [
            (at(*poll), 1.0 - beyond),
            (at(grown), (beyond - all).max(0.0)),
            (at(shrunk), all.min(beyond)),
        ]
    };
    let moves: Vec<[(usize, f64); 3]> = lengths.iter().map(next).collect();
    let mut chances = vec![1.0 / lengths.len() as f64; lengths.len()];
    for _ in 0..ROUNDS {
        let mut then = vec![0.0; lengths.len()];
        for (chance, moves) in chances.iter().zip(&moves) {
            moves.iter().for_each(|(to, by)| then[*to] += chance * by);
        }
        chances = then;
    }
    let each = chances.iter().zip(&lengths);
    each.fold((0.0, 0.0), |sum, (chance, poll)| {
        let length = *poll as f64 / halt_ns;
        // The mean of the lesser of the halt and the length.
        let polls = halt_ns * (1.0 - beyond(length, stages, stages + 1))
            + *poll as f64 * beyond(length, stages, stages);
        (
            sum.0 + chance * polls,
            sum.1 + chance * (1.0 - longer(*poll)),
        )
    })
}

/// Chance that `stages` exponential times, of which `all` have a mean of 1 together, take longer.
fn beyond(time: f64, all: u32, stages: u32) -> f64 {
    let each = time * f64::from(all);
    let (mut term, mut sum) = (1.0, 1.0);
    for stage in 1..stages {
        term *= each / f64::from(stage);
        sum += term;
    }
    (-each).exp() * sum
}

/// Lengths that polling can come to from none.
fn lengths(kvm: &Kvm) -> Vec<u64> {
    let most = kvm.halt_poll_ns;
    let mut found = std::collections::BTreeSet::from([0]);
    let mut open = vec![0_u64];
    while let Some(poll) = open.pop() {
        let between = poll + (most - poll.min(most)) / 2;
        for halt in [between, most + 1] {
            let next = next_poll_ns(kvm, poll, halt);
            if found.len() < 64 && found.insert(next) {
                open.push(next);
            }
        }
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const VPS: usize = 4;

    /// The same from the chances of each set of busy ones, with threads that come by chance and
    /// work for a time of 1, by as many rounds as bring everything to rest.
    fn by_sets(offered: f64) -> [f64; VPS] {
        let all = (1 << VPS) - 1;
        let mut belong = [1.0 / VPS as f64; VPS];
        let mut chances = vec![1.0 / (all + 1) as f64; all + 1];
        let step = 0.1 / offered.max(1.0);
        for _ in 0..40_000 {
            let mut then = chances.clone();
            let mut flow = |from: usize, to: usize, rate: f64| {
                let moved = step * rate * chances[from];
                then[from] -= moved;
                then[to] += moved;
            };
            for set in 0..=all {
                let first = (!set).trailing_zeros() as usize;
                for (own, share) in belong.iter().enumerate() {
                    let at = if set >> own & 1 == 0 { own } else { first };
                    if set < all {
                        flow(set, set | 1 << at, offered * share);
                    }
                    if set >> own & 1 == 1 {
                        flow(set, set & !(1 << own), 1.0);
                    }
                }
            }
            chances = then;
            let busy = shares(&chances);
            let sum: f64 = busy.iter().sum();
            for (belong, busy) in belong.iter_mut().zip(busy) {
                *belong += 0.01 * (busy / sum - *belong);
            }
        }
        shares(&chances)
    }

    fn shares(chances: &[f64]) -> [f64; VPS] {
        std::array::from_fn(|at| {
            let of = chances.iter().enumerate();
            of.filter(|(set, _)| set >> at & 1 == 1)
                .map(|(_, p)| p)
                .sum()
        })
    }

    #[test]
    fn each_is_as_busy_as_the_chances_of_all_sets_of_busy_ones_say() {
        for offered in [0.3, 1.0, 2.0, 4.0] {
            let exact = by_sets(offered);
            let told = used(VPS, 1, exact.iter().sum(), 1.0);
            for (told, exact) in told.iter().zip(exact) {
                assert!((told - exact).abs() < 0.03, "{offered} {told} {exact}");
            }
        }
    }

    #[test]
    fn who_comes_first_is_busiest_and_all_add_up() {
        for again in [0.0, 0.5, 1.0] {
            for busy in [0.01, 0.5, 3.0, 7.9] {
                let each = used(8, 1, busy, again);
                assert!((each.iter().sum::<f64>() - busy).abs() < 1e-6, "{each:?}");
                assert!(
                    each.windows(2).all(|two| two[0] >= two[1] - 1e-9),
                    "{each:?}"
                );
            }
        }
    }

    #[test]
    fn who_waits_by_chance_makes_some_halts_short_and_polling_longer() {
        let guest = Guest::of(&Kvm::default(), None);
        let back = |waiting: f64, of: f64| Returning {
            waiting,
            of,
            share: 0.95,
        };
        let polls = |back| guest.polling_with(6e5, 1.0, back).0;
        let plain = guest.polling(6e5, 1.0).0;
        let by_number =
            [0.5, 2.0, 7.9, 8.1, 1e4].map(|waiting| polls(back(waiting, f64::INFINITY)));
        // Two that wait 1 ms each wake it every 0.5 ms, six every 0.17: three times as long.
        assert!(by_number[1] > 2.0 * plain, "{by_number:?} {plain}");
        assert!((by_number[2] / by_number[3] - 1.0).abs() < 0.05);
        assert!((by_number[4] / plain - 1.0).abs() < 0.01);
        // Of as many threads as wait nobody else comes.
        assert!((polls(back(4.0, 4.0)) / plain - 1.0).abs() < 0.05);
        // All halts are told, whatever their number.
        for waiting in [0.1, 3.0, 30.0] {
            let mut sum = 0.0;
            back(waiting, 40.0).each(|_, share| sum += share);
            assert!((sum - 1.0).abs() < 2e-3, "{waiting} {sum}");
        }
    }

    #[test]
    fn halvings_that_are_known_beforehand_change_nothing() {
        let plainly = |busy: f64, of: &dyn Fn(f64) -> Vec<f64>| {
            let (mut low, mut high) = (-MOST_TAKEN, MOST_TAKEN);
            for _ in 0..HALVINGS {
                let middle = 0.5 * (low + high);
                let sum: f64 = of(middle.exp()).iter().sum();
                *(if sum < busy { &mut low } else { &mut high }) = middle;
            }
            of(low.exp())
        };
        for vps in [1, 2, 4, 8, 24, 64] {
            for again in [0.0, 0.3, 0.75, 1.0] {
                for step in 0..60 {
                    let busy = f64::from(vps as u32) * (f64::from(step) / 50.0).powi(3);
                    let of = |taken: f64| by_taken(taken, vps, again, 0.1 * (1.0 - again) * busy);
                    let told = adding_up(busy, MOST_TAKEN, of);
                    assert_eq!(told, plainly(busy, &of), "{vps} {again} {busy}");
                }
            }
        }
    }

    #[test]
    fn threads_that_come_back_keep_the_first_from_having_all() {
        let [all, none] = [1.0, 0.0].map(|again| used(8, 1, 0.5, again)[0]);
        // Of new ones each finds the first idle that is: as many as Erlang's one server takes.
        assert!(all < none, "{all} {none}");
    }
}
