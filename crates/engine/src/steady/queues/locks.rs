//! Threads of a guest and one lock for which they sleep.
//!
//! A thread is outside, has the lock, spins for it, sleeps for it, or is on its way back to a
//! processor. All but the fourth take instructions, each exponential around its mean, so while `n`
//! threads are about, the numbers in each are a chain:
//!
//! ```text
//! outside -> free? ------------------------------> holds -> outside ...
//!               `-> spins -> released meanwhile? ----^
//!                      `-> sleeps -> is woken -> free? ... and so on
//! ```
//! A release hands the lock to one that spins, and wakes one that sleeps unless one is on its way.
//! Its way is the switch and what it takes to get a processor, for which nobody has the lock unless
//! somebody comes to it meanwhile.
//! Spinning ends after a fixed time: how often it does while `u` spin is what makes the chain's
//! lengths those of a queue that customers leave who have waited for so long, `p(u-1) / P(u)` of
//! the releases with `p` and `P` the Poisson probabilities of as many releases in that time, and of
//! as many at least (Brandt, Brandt, On the M(n)/M(m)/s queue with impatient calls, 1999).
//!
//! How fast processors are by how many threads are busy changes how long each state lasts, not
//! where the chain goes from it: all that goes on there is instructions. So it is solved once for
//! processors that are never short, and each of its states then counts by the time that it takes.
//! It is solved from the most sleepers down, one block for each number of them.

use std::collections::BTreeMap;

use crate::cost::core_ns;
use crate::guest::mutex::grain;
use crate::guest::workload::Shape;
use crate::spec::{LockKind, Machine, Partition};

/// Releases in the time that a waiter spins beyond which hardly anybody ever sleeps.
pub(in crate::steady) const MOST_RELEASES: f64 = 20.0;
/// Factor between shares with the lock for which the chain is solved; in between is interpolated.
const STEP: f64 = 1.1;
/// Numbers of threads up to which each is solved, and the factor between those beyond.
const EACH: u32 = 8;
const NEXT: f64 = 1.25;
/// Factor between ways back to a processor for which the chain is solved, in switches.
const WAY_STEP: f64 = 1.25;
/// Least cost of a switch, in times that the lock is held: as good as none.
const LEAST: f64 = 1e-6;
/// What a chance is scaled down from, which is none yet.
const MOST_CHANCE: f64 = 1e200;
/// Rounds in which is found what switches away from a processor, which are paid outside, add.
const ROUNDS: usize = 3;

/// A lock, in units of the work from one time that a thread takes it to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::steady) struct Lock {
    /// Share of a thread's work with it, but for the way of its line.
    pub share: f64,
    /// What a switch costs.
    pub switch: f64,
    /// Instructions from one time that a thread takes it to the next, or of the many that a run
    /// takes as one.
    pub between: f64,
    /// Times in a burst that a thread takes it, or the many that a run takes as one.
    pub times: f64,
    /// What a waiter spins at most, in switches.
    pub spins: f64,
}

impl Lock {
    /// Of a partition; none where nobody sleeps for one.
    pub fn of(machine: &Machine, one: &Partition) -> Option<Self> {
        let profile = &one.profile;
        if profile.lock_kind != LockKind::Sleeping || profile.lock_share <= 0.0 {
            return None;
        }
        let burst = Shape::of(&one.workload, profile).burst_instructions;
        let between = profile.lock_hold_instructions / profile.lock_share;
        let many = grain(profile, core_ns(machine, profile), burst);
        Some(Self {
            share: profile.lock_share,
            switch: profile.lock_switch_instructions / between,
            between: many * between,
            times: burst / between / many,
            spins: crate::guest::mutex::SPIN_SWITCHES,
        })
    }

    /// Releases in the time that a waiter spins, on the mean.
    pub fn releases(&self) -> f64 {
        self.spins * self.switch / self.share
    }
}

/// What threads do while so many of them sleep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::steady) struct Slot {
    /// Share of the time in which so many sleep, if processors are never short [0..1].
    pub chance: f64,
    /// Those that get on with their work, and those that spin.
    pub works: f64,
    pub spins: f64,
    /// How often one goes to sleep, in the time that a thread takes from lock to lock.
    pub sleeps: f64,
}

/// What is known of a lock, by the steps of the share and of the way, and the number of threads.
#[derive(Clone, Debug, Default)]
pub(in crate::steady) struct Known {
    of: Option<Lock>,
    slots: BTreeMap<(i32, i32, u32), Vec<Slot>>,
}

impl Known {
    /// What `threads` do that have the lock for such a share of their work, and of which one that
    /// is woken waits so long for a processor on top of its switch, by how many of them sleep.
    pub fn slots(&mut self, lock: Lock, (share, wait): (f64, f64), threads: u32) -> Vec<Slot> {
        if self.of != Some(lock) {
            (self.of, self.slots) = (Some(lock), BTreeMap::new());
        }
        let way = 1.0 + wait / lock.switch.max(LEAST * lock.share);
        let step = way.ln() / WAY_STEP.ln();
        let low = self.with_way(lock, share, step.floor() as i32, threads);
        let part = step - step.floor();
        if part <= 0.0 {
            return low;
        }
        let high = self.with_way(lock, share, step.floor() as i32 + 1, threads);
        mixed(&low, &high, part)
    }

    fn with_way(&mut self, lock: Lock, share: f64, way: i32, threads: u32) -> Vec<Slot> {
        let step = share.max(1e-6).ln() / STEP.ln();
        let low = self.at(lock, (step.floor() as i32, way), threads).to_vec();
        let high = self.at(lock, (step.floor() as i32 + 1, way), threads);
        mixed(&low, high, step - step.floor())
    }

    fn at(&mut self, lock: Lock, (step, way): (i32, i32), threads: u32) -> &[Slot] {
        let found = self.slots.entry((step, way, threads));
        found.or_insert_with(|| {
            let share = STEP.powi(step).min(1.0);
            Chain::solved(threads, (share, WAY_STEP.powi(way)), lock)
        })
    }
}

fn mixed(low: &[Slot], high: &[Slot], part: f64) -> Vec<Slot> {
    let each = low.iter().zip(high).map(|(a, b)| a.mix(*b, part));
    each.collect()
}

impl Slot {
    fn mix(self, other: Self, part: f64) -> Self {
        let of = |a: f64, b: f64| a + part * (b - a);
        // Of a slot that hardly ever comes the other one tells what is done there.
        let chance = of(self.chance, other.chance);
        let own = (1.0 - part) * self.chance / chance.max(1e-300);
        let by = |a: f64, b: f64| own * a + (1.0 - own) * b;
        Self {
            chance,
            works: by(self.works, other.works),
            spins: by(self.spins, other.spins),
            sleeps: by(self.sleeps, other.sleeps),
        }
    }
}

/// Numbers of threads for which it is solved: the one at or below, and the next.
pub(in crate::steady) fn around(threads: u32) -> [u32; 2] {
    let mut at = EACH;
    if threads <= at {
        return [threads; 2];
    }
    loop {
        let next = (f64::from(at) * NEXT).round() as u32;
        if threads == at || threads < next {
            return [at, if threads == at { at } else { next }];
        }
        at = next;
    }
}

/// The chain of so many threads.
struct Chain {
    threads: usize,
    /// Means of the times outside, with the lock, and of the way of one that is woken until it
    /// looks for the lock.
    outside: f64,
    held: f64,
    way: f64,
    /// Ends of spinning in a unit of time, by how many spin.
    ends: Vec<f64>,
}

/// A transition: from a state of a block, to one of the block so many sleepers further, how often.
type Move = (usize, i32, usize, f64);

impl Chain {
    /// With such a share of the work with the lock, and a way that is so many switches long.
    fn solved(threads: u32, (share, way): (f64, f64), lock: Lock) -> Vec<Slot> {
        let switch = lock.switch.max(LEAST * share);
        let releases = lock.spins * switch / share;
        let most = releases + 4.0 * releases.sqrt() + 4.0;
        let spinners = (threads as usize - 1).min(most.ceil() as usize);
        let mut chain = Self {
            threads: threads as usize,
            outside: 1.0 - share,
            held: share,
            way: way * switch,
            ends: (0..=spinners)
                .map(|at| ends(at, releases) / share)
                .collect(),
        };
        let mut slots = chain.slots(0.0);
        for _ in 1..ROUNDS {
            let sum = |of: fn(&Slot) -> f64| -> f64 {
                slots.iter().map(|slot| slot.chance * of(slot)).sum()
            };
            // Each thread that works takes the lock once in a unit of its work.
            let owed = switch * sum(|slot| slot.sleeps) / sum(|slot| slot.works).max(1e-12);
            chain.outside = 1.0 - share + owed;
            slots = chain.slots(owed);
        }
        slots
    }

    fn size(&self) -> usize {
        2 * self.ends.len() + 2
    }

    /// A state: who spins where the lock is held, one on its way or not; then where it is free.
    fn held(&self, way: usize, spinners: usize) -> usize {
        way * self.ends.len() + spinners
    }

    fn free(&self, way: usize) -> usize {
        2 * self.ends.len() + way
    }

    /// Threads outside; none where there are not as many.
    fn out(&self, others: usize) -> Option<f64> {
        self.threads.checked_sub(others).map(|out| out as f64)
    }

    /// Where it goes from the states with so many sleepers.
    fn moves(&self, sleepers: usize) -> Vec<Move> {
        let mut all = Vec::new();
        let last = self.ends.len() - 1;
        for way in 0..2 {
            for spinners in 0..=last {
                let Some(out) = self.out(1 + way + spinners + sleepers) else {
                    continue;
                };
                let own = self.held(way, spinners);
                let wakes = i32::from(way == 0 && sleepers > 0);
                let way_then = way.max(wakes as usize);
                let then = match spinners {
                    0 => self.free(way_then),
                    more => self.held(way_then, more - 1),
                };
                all.push((own, -wakes, then, 1.0 / self.held));
                let joins = |way: usize| match spinners < last {
                    true => (0, self.held(way, spinners + 1)),
                    false => (1, self.held(way, spinners)),
                };
                let (up, then) = joins(way);
                all.push((own, up, then, out / self.outside));
                if spinners > 0 {
                    all.push((own, 1, self.held(way, spinners - 1), self.ends[spinners]));
                }
                if way == 1 {
                    let (up, then) = joins(0);
                    all.push((own, up, then, 1.0 / self.way));
                }
            }
            let Some(out) = self
                .out(way + sleepers)
                .filter(|_| way == 1 || sleepers == 0)
            else {
                continue;
            };
            all.push((self.free(way), 0, self.held(way, 0), out / self.outside));
            if way == 1 {
                all.push((self.free(1), 0, self.held(0, 0), 1.0 / self.way));
            }
        }
        all.retain(|(.., often)| *often > 0.0);
        all
    }

    fn slots(&self, owed: f64) -> Vec<Slot> {
        let moves: Vec<Vec<Move>> = (0..self.threads).map(|at| self.moves(at)).collect();
        let chances = Band::of(self.size(), &moves).chances();
        let blocks = chances.chunks(self.size()).zip(&moves).enumerate();
        let mut found: Vec<Slot> = blocks
            .map(|(at, (block, moves))| self.slot(at, block, moves, owed))
            .collect();
        let all: f64 = found.iter().map(|slot| slot.chance).sum();
        found.iter_mut().for_each(|slot| slot.chance /= all);
        found
    }

    fn slot(&self, sleepers: usize, block: &[f64], moves: &[Move], owed: f64) -> Slot {
        let mut slot = Slot::default();
        let works = 1.0 - owed / self.outside;
        for way in 0..2 {
            for spinners in 0..self.ends.len() {
                let chance = block[self.held(way, spinners)];
                let out = self.out(1 + way + spinners + sleepers).unwrap_or(0.0);
                slot.works += chance * (1.0 + out * works);
                slot.spins += chance * spinners as f64;
            }
            let out = self.out(way + sleepers).unwrap_or(0.0);
            slot.works += block[self.free(way)] * out * works;
        }
        let ups = moves.iter().filter(|of| of.1 == 1);
        slot.sleeps = ups.map(|(from, _, _, often)| block[*from] * often).sum();
        slot.chance = block.iter().sum();
        let each = slot.chance.max(1e-300);
        slot.works /= each;
        slot.spins /= each;
        slot.sleeps /= each;
        slot
    }
}

/// Ends of spinning between two releases while so many spin, where so many releases come in the
/// time that one spins.
fn ends(spinners: usize, releases: f64) -> f64 {
    if spinners == 0 {
        return 0.0;
    }
    // Chances of as many releases as spin and of each number beyond, by that of one fewer.
    let (mut chance, mut beyond) = (1.0, 0.0);
    for more in 0..10_000_u32 {
        chance *= releases / (spinners as f64 + f64::from(more));
        beyond += chance;
        if chance < 1e-12 * beyond {
            break;
        }
    }
    1.0 / beyond
}

/// How often each state is left for each of its own block, the one before and the one after it.
struct Band {
    size: usize,
    rows: Vec<Vec<f64>>,
}

impl Band {
    fn of(size: usize, moves: &[Vec<Move>]) -> Self {
        let mut rows = vec![vec![0.0; 3 * size]; size * moves.len()];
        for (block, moves) in moves.iter().enumerate() {
            for (from, up, to, often) in moves {
                rows[block * size + from][((up + 1) as usize) * size + to] += often;
            }
        }
        Self { size, rows }
    }

    /// The first state of the block before that of a state, and of those in the row of a state.
    fn first(&self, state: usize) -> usize {
        (state / self.size).saturating_sub(1) * self.size
    }

    /// Where in the row of a state another stands.
    fn place(&self, from: usize, to: usize) -> usize {
        to + self.size - from / self.size * self.size
    }

    /// Chances of the states but for a factor. From the last on each is taken out, and counts as
    /// going on at once to where it leads (Grassmann, Taksar, Heyman, Regenerative analysis and
    /// steady state distributions for Markov chains, 1985). Nothing is ever subtracted, so what
    /// hardly ever comes about is told as exactly as the rest.
    fn chances(mut self) -> Vec<f64> {
        for last in (1..self.rows.len()).rev() {
            self.take_out(last);
        }
        let mut found = vec![0.0; self.rows.len()];
        found[0] = 1.0;
        for at in 1..found.len() {
            let from = self.first(at)..at;
            let comes = from.map(|from| found[from] * self.rows[from][self.place(from, at)]);
            found[at] = comes.sum();
            if found[at] > MOST_CHANCE {
                let by = found[at];
                found[..=at].iter_mut().for_each(|chance| *chance /= by);
            }
        }
        found
    }

    fn take_out(&mut self, last: usize) {
        let first = self.first(last);
        let own = self.place(last, first)..self.place(last, last);
        let row = self.rows[last][own].to_vec();
        let out: f64 = row.iter().sum();
        if out <= 0.0 {
            return; // Nobody ever comes there.
        }
        for from in first..last {
            let (at, to) = (self.place(from, first), self.place(from, last));
            let comes = self.rows[from][to] / out;
            self.rows[from][to] = comes;
            if comes > 0.0 {
                let rates = self.rows[from][at..to].iter_mut().zip(&row);
                rates.for_each(|(rate, on)| *rate += comes * on);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(share: f64, held: f64, switch: f64) -> Lock {
        Lock {
            share,
            switch: switch * share / held,
            between: held / share,
            times: 1.0,
            spins: 2.0,
        }
    }

    /// Threads that get on with their work, and that have no processor.
    fn of(threads: u32, lock: Lock) -> [f64; 2] {
        let slots = Chain::solved(threads, (lock.share, 1.0), lock);
        let works = slots.iter().map(|slot| slot.chance * slot.works).sum();
        let asleep = slots.iter().enumerate();
        let asleep = asleep.map(|(sleepers, slot)| slot.chance * sleepers as f64);
        [works, asleep.sum()]
    }

    /// Machine repairman, by mean values.
    fn repairman(threads: u32, share: f64) -> f64 {
        let (mut queue, mut rate) = (0.0, 0.0);
        for customers in 1..=threads {
            let stay = share * (1.0 + queue);
            rate = f64::from(customers) / (1.0 - share + stay);
            queue = rate * stay;
        }
        rate
    }

    #[test]
    fn without_a_cost_of_switches_it_is_the_machine_repairmans_queue() {
        for (threads, share) in [(2, 0.5), (8, 0.1), (16, 0.1), (40, 0.02)] {
            let found = of(threads, lock(share, 1.0, 0.0))[0];
            let wanted = repairman(threads, share);
            assert!((found / wanted - 1.0).abs() < 1e-4, "{found} {wanted}");
        }
        assert_eq!(of(1, lock(0.3, 1.0, 2.5)), [1.0, 0.0]);
    }

    #[test]
    fn many_threads_on_a_lock_that_is_always_held_do_what_its_releases_let_them() {
        // Who has the lock is never fewer than one, and few are ever seen with none asleep.
        for (threads, share) in [(40, 0.2), (80, 0.2), (300, 0.05)] {
            let found = of(threads, lock(share, 4.0, 2.5));
            assert!(found[0] * share < 1.0 + 1e-9, "{found:?}");
            assert!(found[0] * share > 4.0 / 6.5, "{found:?}");
            let more = of(threads + 1, lock(share, 4.0, 2.5));
            // One more only sleeps.
            assert!(
                (more[0] / found[0] - 1.0).abs() < 1e-3,
                "{found:?} {more:?}"
            );
            assert!(
                (more[1] - found[1] - 1.0).abs() < 0.02,
                "{found:?} {more:?}"
            );
        }
    }

    #[test]
    fn it_does_what_a_twin_does_that_takes_every_single_turn() {
        // Held for 1 or 5, a switch of 2.5: worked out by taking one acquisition after the other.
        for (threads, held, works, asleep) in [
            (8, 1.0, 7.016, 0.06),
            (16, 5.0, 8.789, 5.65),
            (24, 5.0, 8.825, 13.57),
            (8, 5.0, 6.795, 0.57),
        ] {
            let found = of(threads, lock(0.1, held, 2.5));
            assert!((found[0] / works - 1.0).abs() < 0.025, "{found:?} {works}");
            assert!(
                (found[1] - asleep).abs() < 0.03 * f64::from(threads),
                "{found:?} {asleep}"
            );
        }
    }

    #[test]
    fn a_longer_way_back_keeps_the_lock_free_for_longer() {
        let (mut known, lock) = (Known::default(), lock(0.1, 4.0, 2.5));
        let mut works = |wait: f64| -> f64 {
            let slots = known.slots(lock, (0.1, wait), 16);
            slots.iter().map(|slot| slot.chance * slot.works).sum()
        };
        let found: Vec<f64> = (0..30).map(|at| works(0.01 * f64::from(at))).collect();
        let falls = |two: &[f64]| two[1] < two[0] && two[1] > 0.97 * two[0];
        assert!(found.windows(2).all(falls), "{found:?}");
        // Alone on a free lock nobody ever sleeps.
        let alone = known.slots(lock, (0.1, 1.0), 1);
        assert!((alone[0].works - 1.0).abs() < 1e-9, "{alone:?}");
    }

    #[test]
    fn more_threads_do_more_and_costlier_switches_less() {
        let done = [1, 2, 4, 8, 16, 32].map(|threads| of(threads, lock(0.1, 2.0, 2.5))[0]);
        assert!(done.windows(2).all(|two| two[1] > two[0]), "{done:?}");
        // A costlier switch is worth more spinning, so that fewer pay for it.
        let by_switch = [0.0, 1.0, 4.0].map(|switch| of(16, lock(0.1, 4.0, switch)));
        assert!(
            by_switch[1..]
                .iter()
                .all(|found| found[0] < by_switch[0][0]),
            "{by_switch:?}"
        );
        assert!(by_switch[2][1] < by_switch[1][1], "{by_switch:?}");
        let by_share = [0.01, 0.05, 0.2].map(|share| of(16, lock(share, 4.0, 2.5))[0]);
        assert!(
            by_share.windows(2).all(|two| two[1] < two[0]),
            "{by_share:?}"
        );
    }

    #[test]
    fn between_two_shares_it_changes_by_no_jump() {
        let (mut known, lock) = (Known::default(), lock(0.1, 2.0, 2.5));
        let mut works = |share| -> f64 {
            let slots = known.slots(lock, (share, 0.0), 12);
            slots.iter().map(|slot| slot.chance * slot.works).sum()
        };
        let found: Vec<f64> = (0..40)
            .map(|at| works(0.08 + 0.002 * f64::from(at)))
            .collect();
        assert!(found
            .windows(2)
            .all(|two| two[1] < two[0] && two[1] > 0.97 * two[0]));
        assert_eq!(
            (around(5), around(8), around(9), around(13)),
            ([5; 2], [8; 2], [8, 10], [13; 2])
        );
    }
}
