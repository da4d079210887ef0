//! One search: simulated annealing.

use super::assignment::{Assignment, Step};
use super::compound;
use super::known::Known;
use super::moves::{self, Leaning};
use super::problem::Problem;
use crate::kernel::Stream;

/// Moves drawn between two looks at how much is left.
const LOOK: u64 = 1024;
/// Moves drawn to see what they cost.
const SAMPLE: usize = 20_000;
/// Cold is this part of what this share of moves costs at most.
const CHEAP: (f64, f64) = (0.02, 0.1);
/// Hot is this many times what this share of moves costs at most.
const DEAR: (f64, f64) = (0.9, 30.0);
/// Who could cost so many times what heat lets pass is moved oftener.
const HEAVY: f64 = 3.0;
/// Costs are whole: here next to no move is taken that costs more.
const COLDEST: f64 = 0.1;
/// One of so many moves is a compound one, which takes some twenty times as long.
const COMPOUND: u64 = 200;

/// An assignment that is changed at random, and the best that was met.
pub struct Search<'a> {
    now: Assignment<'a>,
    best: Vec<u32>,
    best_cost: i64,
    /// Who moved since the best.
    since: Vec<u32>,
    /// Steps of the compound move at hand.
    steps: Vec<Step>,
    known: &'a Known,
    leaning: Leaning,
    dice: Stream,
    drawn: u64,
    /// What is hot and what is cold, as costs.
    range: (f64, f64),
}

impl<'a> Search<'a> {
    /// From the start of a problem that was checked.
    pub fn new(problem: &'a Problem, known: &'a Known, seed: u64, number: u64) -> Search<'a> {
        let now = Assignment::new(problem);
        Search {
            best: now.at().to_vec(),
            best_cost: now.cost(),
            now,
            since: Vec::new(),
            steps: Vec::new(),
            known,
            leaning: Leaning::default(),
            dice: Stream::new(seed, number, "placement"),
            drawn: 0,
            range: (COLDEST, COLDEST),
        }
    }

    /// The best assignment met.
    pub fn best(&self) -> (&[u32], i64) {
        (&self.best, self.best_cost)
    }

    /// Moves drawn.
    pub fn drawn(&self) -> u64 {
        self.drawn
    }

    /// Goes on from here.
    pub fn go_on_from(&mut self, at: &[u32], cost: i64) {
        self.now = Assignment::placed(self.now.problem(), at);
        self.best.copy_from_slice(at);
        self.best_cost = cost;
        self.since.clear();
    }

    /// Cools while the share of the phase that is gone is below 1: `gone` is told the moves drawn
    /// and the least cost. `depth` is where on the way from hot to cold the phase begins; without
    /// one, no move is taken that costs more, and what is hot and cold is found at the end.
    pub fn anneal(&mut self, depth: Option<f64>, gone: &mut dyn FnMut(u64, i64) -> f64) {
        self.leaning.kin = depth.is_some_and(|from| from > 0.0);
        loop {
            let share = gone(self.drawn, self.best_cost);
            if share >= 1.0 {
                break;
            }
            let place = |from: f64| from + (1.0 - from) * share.max(0.0);
            let heat = depth.map_or(COLDEST, |from| self.heat(place(from)));
            self.leaning.heaviest = self.known.burden.count(heat * HEAVY);
            self.leaning.away = heat < self.known.leaving;
            for _ in 0..LOOK {
                self.try_one(heat);
            }
            self.drawn += LOOK;
        }
        if depth.is_none() {
            self.range = self.sample();
        }
    }

    /// Equal proportions in equal times.
    fn heat(&self, place: f64) -> f64 {
        let (hot, cold) = self.range;
        hot * (cold / hot).powf(place)
    }

    #[inline]
    fn try_one(&mut self, heat: f64) {
        if self.dice.below(COMPOUND) == 0 {
            return self.try_compound(heat);
        }
        let Some(drawn) = moves::draw(&self.now, self.known, self.leaning, &mut self.dice) else {
            return;
        };
        let Some(delta) = self.now.delta(drawn.steps()) else {
            return;
        };
        if self.takes(delta, heat) && self.now.make(drawn.steps(), delta) {
            self.since
                .extend(drawn.steps().iter().map(|step| step.partition));
            self.keep();
        }
    }

    fn try_compound(&mut self, heat: f64) {
        let before = self.now.cost();
        if compound::draw(
            &mut self.now,
            &self.known.reach,
            &mut self.dice,
            &mut self.steps,
        ) {
            if self.takes(self.now.cost() - before, heat) {
                self.since
                    .extend(self.steps.iter().map(|step| step.partition));
                self.keep();
            } else {
                compound::undo(&mut self.now, &mut self.steps);
            }
        }
    }

    /// The rule of N. Metropolis et al., 1953.
    #[inline]
    fn takes(&mut self, delta: i64, heat: f64) -> bool {
        delta <= 0 || delta as f64 <= self.dice.exponential(heat)
    }

    /// Notes the best.
    fn keep(&mut self) {
        if self.now.cost() < self.best_cost {
            self.best_cost = self.now.cost();
            for partition in self.since.drain(..) {
                self.best[partition as usize] = self.now.at()[partition as usize];
            }
        } else if self.since.len() > 4 * self.best.len() {
            self.since.sort_unstable();
            self.since.dedup();
        }
    }

    /// What is hot and what is cold, of what moves from here would add.
    fn sample(&mut self) -> (f64, f64) {
        let mut found = Vec::new();
        for _ in 0..SAMPLE {
            let drawn = moves::draw(&self.now, self.known, self.leaning, &mut self.dice);
            let delta = drawn.and_then(|one| self.now.delta(one.steps()));
            found.extend(delta.filter(|&delta| delta > 0));
        }
        found.sort_unstable();
        let Some(last) = found.len().checked_sub(1) else {
            return (COLDEST, COLDEST);
        };
        let at = |share: f64| found[(last as f64 * share) as usize] as f64;
        let cold = (at(CHEAP.0) * CHEAP.1).max(COLDEST);
        ((at(DEAR.0) * DEAR.1).max(cold), cold)
    }
}
