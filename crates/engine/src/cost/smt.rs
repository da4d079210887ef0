//! Threads of a core share its pipelines.
//!
//! A thread's instruction needs the pipelines for some time, the *demand*, and for the rest of its
//! time waits elsewhere: for caches, memory, results. The pipelines serve one after the other, so
//! `n` threads are a closed queue, and its mean values follow one from the other (Reiser and
//! Lavenberg, Mean-value analysis of closed multichain queuing networks, 1980):
//!
//! ```text
//! R(j) = demand (1 + Q(j-1))          time at the pipelines, with j threads
//! X(j) = j / (think + R(j))           think = time alone - demand
//! Q(j) = X(j) R(j)                    Q(0) = 0
//! ```
//! The throughput X never falls with another thread and never exceeds 1/demand. So work that mostly
//! waits gains almost a whole thread, and work that keeps the pipelines busy gains nothing, and
//! loses only what the threads take from each other's caches.
//!
//! The demand is the time in which the work uses issue slots, times a factor of the machine: slots
//! are no use without the units behind them. The factor is what gives the machine's reference work
//! its published gain, caches included. Of machines with up to eight threads one factor gives the
//! whole curve within some per cent; what is left over makes it fall a little with the number of
//! threads, and it may not grow.
//!
//! A core may consist of parts with issue slots of their own. A thread issues in its part only, and
//! each part is such a queue: threads of different parts take nothing from each other here. The
//! gain that is published with so many threads in each part says what those of one part do.

use super::fixed::{idle_ns, stores_ns};
use super::mixture::{queue, MOST_BESIDE};
use super::pipeline::core_ns;
use crate::spec::Machine;

/// How the threads of a machine's cores hinder each other.
#[derive(Clone, Debug)]
pub struct Contention {
    parts: u8,
    /// Demand in proportion to issue time, by the number of threads in a part, from one on.
    factor: Vec<f64>,
}

/// Times of an instruction [ns].
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// With so many threads busy, but for what they take from each other in the core.
    pub base: f64,
    /// In which it uses issue slots.
    pub issue: f64,
    /// With the core to itself; no demand is longer.
    pub alone: f64,
}

/// What the other busy threads of a core do.
#[derive(Clone, Copy)]
pub enum Others<'a> {
    /// The same.
    Alike,
    /// Such work each, those of the same part.
    Each(&'a [Times]),
    /// Such work on average, in all parts.
    Mean(Times),
}

impl Contention {
    /// Finds the factors that give the reference work its published gain.
    pub fn new(machine: &Machine) -> Self {
        let mut new = Self {
            parts: machine.smt.parts,
            factor: vec![0.0],
        };
        let all = machine.smt.gain.len() as u8;
        for threads in 2..=all.div_ceil(new.parts) {
            // A part that has a thread more than the others is not told of: as with one less.
            let told = threads.min(all / new.parts);
            new.factor.push(new.factor_of(machine, told));
        }
        fall(&mut new.factor[1..]);
        new
    }

    /// Factor that gives the published gain with so many threads in each part.
    fn factor_of(&self, machine: &Machine, threads: u8) -> f64 {
        let busy = threads * self.parts;
        let times = Times::of_reference(machine, busy);
        if threads < 2 || times.issue == 0.0 {
            return 0.0;
        }
        let published = published_ns(machine, busy);
        let (mut low, mut high) = (0.0, times.alone);
        for _ in 0..60 {
            let demand = 0.5 * (low + high);
            if times.base + waits(threads, times.base, demand) < published {
                low = demand;
            } else {
                high = demand;
            }
        }
        high / times.issue
    }

    /// Time that an instruction loses to its core's other threads where so many are busy, this one
    /// included [ns].
    pub fn lost_beside(&self, threads: u8, own: Times, others: Others) -> f64 {
        match others {
            Others::Alike => self.lost(threads, own.base, own.issue, own.alone),
            Others::Each(others) => self.lost_to(own, others),
            Others::Mean(other) => {
                let lost = |others: u8| self.lost_to(own, &[other; MOST_BESIDE][..others.into()]);
                let time = |threads: u8| own.base + lost(threads.max(1) - 1);
                self.mean(threads, time) - own.base
            }
        }
    }

    /// The same beside as many of its like. `base`: its time with as much of the caches, but for
    /// that; `issue`: in which it uses issue slots; `alone`: its time with the core to itself.
    pub fn lost(&self, threads: u8, base: f64, issue: f64, alone: f64) -> f64 {
        if threads < 2 {
            return 0.0;
        }
        let times = Times { base, issue, alone };
        self.mean(threads, |threads| self.time(threads, times)) - base
    }

    /// Mean time of an instruction of so many threads, by that in a part with some.
    fn mean(&self, threads: u8, time: impl Fn(u8) -> f64) -> f64 {
        let (each, more) = (threads / self.parts, threads % self.parts);
        if more == 0 {
            return time(each);
        }
        let rate = |threads: u8| f64::from(threads) / time(threads);
        let all = f64::from(more) * rate(each + 1) + f64::from(self.parts - more) * rate(each);
        f64::from(threads) / all
    }

    /// What an instruction waits for others of its part.
    fn lost_to(&self, own: Times, others: &[Times]) -> f64 {
        let threads = others.len() as u8 + 1;
        let mut each = [(0.0, 0.0); MOST_BESIDE];
        for (each, other) in each.iter_mut().zip(others) {
            let demand = self.demand(threads, *other);
            *each = (demand, other.base - demand);
        }
        self.demand(threads, own) * queue(&each[..others.len()])
    }

    /// Time of an instruction in a part in which so many threads are busy.
    fn time(&self, threads: u8, times: Times) -> f64 {
        if threads < 2 {
            return times.base;
        }
        times.base + waits(threads, times.base, self.demand(threads, times))
    }

    /// Time for which an instruction wants the pipelines of a part of so many busy threads.
    fn demand(&self, threads: u8, times: Times) -> f64 {
        let factor = self.factor[usize::from(threads) - 1];
        (factor * times.issue).min(times.alone).min(times.base)
    }
}

impl Times {
    /// Adds so many of another.
    pub fn add_scaled(&mut self, other: &Self, factor: f64) {
        self.base += other.base * factor;
        self.issue += other.issue * factor;
        self.alone += other.alone * factor;
    }

    /// Those of the machine's reference work.
    fn of_reference(machine: &Machine, threads: u8) -> Self {
        let work = &machine.smt.reference;
        Self {
            base: idle_ns(machine, work, threads),
            issue: core_ns(machine, work) * work.issue_share,
            alone: idle_ns(machine, work, 1),
        }
    }
}

/// Time of an instruction of the reference work by its published gain, before its stores wait for
/// their way [ns].
fn published_ns(machine: &Machine, threads: u8) -> f64 {
    let work = &machine.smt.reference;
    let stores = stores_ns(machine, work).unwrap_or(0.0);
    let alone = idle_ns(machine, work, 1);
    let alone = alone + super::store::wait_ns(alone, stores, 1);
    let with = alone * f64::from(threads) / machine.smt.gain[usize::from(threads) - 1];
    let busy = stores * f64::from(threads);
    if with > busy {
        with - 0.5 * stores * busy / (with - busy)
    } else {
        with
    }
}

/// What an instruction of `base` waits for the pipelines that so many threads want for a time of
/// `demand` each.
fn waits(threads: u8, base: f64, demand: f64) -> f64 {
    let (mut queue, mut at) = (0.0, demand);
    for thread in 1..=threads {
        at = demand * (1.0 + queue);
        queue = f64::from(thread) * at / (base - demand + at);
    }
    at - demand
}

/// Makes numbers that should fall do so: those that grow become their mean with those before them
/// (the nearest falling sequence, by pooling of neighbours that violate it).
fn fall(numbers: &mut [f64]) {
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for number in numbers.iter() {
        pools.push((*number, 1));
        while let [.., before, last] = pools[..] {
            if last.0 <= before.0 {
                break;
            }
            pools.truncate(pools.len() - 2);
            let count = before.1 + last.1;
            let sum = before.0 * before.1 as f64 + last.0 * last.1 as f64;
            pools.push((sum / count as f64, count));
        }
    }
    let all = pools
        .iter()
        .flat_map(|(mean, count)| std::iter::repeat_n(*mean, *count));
    numbers
        .iter_mut()
        .zip(all)
        .for_each(|(number, mean)| *number = mean);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::parse_short;
    use crate::spec::{CacheScope, Profile};

    /// Two parts, each of which gains as much as a core of four threads.
    const HALVES: [f64; 8] = [1.0, 2.0, 2.4, 2.8, 2.9, 3.0, 3.1, 3.2];

    /// A core whose reference work waits for half of its time, and misses nothing.
    fn core(gain: &[f64], parts: u8) -> Contention {
        let mut machine = parse_short("core:1 pu:8").unwrap();
        machine.smt.gain = gain.to_vec();
        machine.smt.parts = parts;
        Contention::new(&machine)
    }

    fn gain(core: &Contention, threads: u8, issue: f64) -> f64 {
        f64::from(threads) / (1.0 + core.lost(threads, 1.0, issue, 1.0))
    }

    #[test]
    fn the_reference_work_gets_its_gain() {
        let power7 = core(&[1.0, 1.4, 1.52, 1.6], 1);
        for (threads, published) in [(1, 1.0), (2, 1.4), (3, 1.52), (4, 1.6)] {
            assert!((gain(&power7, threads, 0.5) / published - 1.0).abs() < 0.02);
        }
        let halves = core(&HALVES, 2);
        let even = [(1, 1.0), (2, 2.0), (4, 2.8), (6, 3.0), (8, 3.2)];
        for (threads, published) in even {
            assert!((gain(&halves, threads, 0.5) / published - 1.0).abs() < 0.02);
        }
    }

    #[test]
    fn waiting_gains_and_issuing_gains_nothing() {
        let power7 = core(&[1.0, 1.4, 1.52, 1.6], 1);
        assert!(gain(&power7, 2, 0.2) > 1.8);
        assert_eq!(gain(&power7, 2, 0.0), 2.0);
        assert!((gain(&power7, 4, 1.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_waits_for_nothing_takes_turns() {
        assert!((waits(4, 1.0, 1.0) - 3.0).abs() < 1e-12);
        // Half at the pipelines: 0.5; 0.5 there of 1, hence 0.75 of 1.25.
        assert!((waits(2, 1.0, 0.5) - 0.25).abs() < 1e-12);
        assert_eq!(waits(8, 1.0, 0.0), 0.0);
    }

    #[test]
    fn a_thread_in_each_part_of_a_core_loses_nothing() {
        let halves = core(&HALVES, 2);
        for issue in [0.0, 0.5, 1.0] {
            assert_eq!(gain(&halves, 2, issue), 2.0);
        }
    }

    #[test]
    fn a_part_is_as_a_core_of_so_many_threads() {
        let (halves, half) = (core(&HALVES, 2), core(&[1.0, 1.4, 1.5, 1.6], 1));
        for issue in [0.2, 0.5, 0.9] {
            for threads in 1..=4 {
                let both = gain(&halves, 2 * threads, issue);
                assert!((both / gain(&half, threads, issue) - 2.0).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn beside_its_like_it_is_the_same_however_that_is_told() {
        let own = Times {
            base: 1.0,
            issue: 0.4,
            alone: 0.9,
        };
        for core in [core(&HALVES, 2), core(&[1.0, 1.4, 1.5, 1.6], 1)] {
            for threads in 2..=4 {
                let lost = |others| core.lost_beside(threads, own, others);
                let mean = lost(Others::Mean(own));
                assert!((mean - lost(Others::Alike)).abs() < 1e-12, "{threads}");
                let of_part = &[own; 3][..usize::from(threads / core.parts - 1)];
                if threads % core.parts == 0 {
                    assert!((lost(Others::Each(of_part)) - mean).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn odd_parts_and_work_that_never_issues_have_an_answer() {
        for (gain, parts) in [(&[1.0, 1.4, 1.6][..], 2), (&[1.0, 1.4], 3)] {
            let core = core(gain, parts);
            for threads in 1..=gain.len() as u8 {
                assert!(core.lost(threads, 1.0, 0.5, 1.0).is_finite());
            }
        }
        let mut machine = parse_short("core:1 pu:4").unwrap();
        (machine.smt.parts, machine.smt.reference.issue_share) = (2, 0.0);
        assert_eq!(Contention::new(&machine).lost(4, 1.0, 0.0, 1.0), 0.0);
    }

    #[test]
    fn neighbours_that_grow_are_pooled() {
        let mut numbers = [5.0, 2.0, 3.0, 4.0, 1.0, 6.0];
        fall(&mut numbers);
        assert_eq!(numbers, [5.0, 3.2, 3.2, 3.2, 3.2, 3.2]);
        let mut numbers = [3.0, 2.0];
        fall(&mut numbers);
        assert_eq!(numbers, [3.0, 2.0]);
    }

    #[test]
    fn what_the_caches_lose_is_not_lost_twice() {
        let mut machine = parse_short("core:1 pu:2").unwrap();
        machine.smt.gain = vec![1.0, 1.4];
        machine.smt.reference = Profile {
            miss_m0: 0.05,
            miss_c0_bytes: 32_768.0,
            ..Profile::steady()
        };
        assert!(machine
            .caches
            .iter()
            .any(|cache| cache.scope == CacheScope::Core));
        let (core, work) = (Contention::new(&machine), &machine.smt.reference);
        let (alone, both) = (idle_ns(&machine, work, 1), idle_ns(&machine, work, 2));
        assert!(both > 1.05 * alone);
        let with = both + core.lost(2, both, 0.5, alone);
        assert!((2.0 * alone / with - 1.4).abs() < 1e-9);
    }
}
