//! One search: simulated annealing.

use super::assignment::Assignment;
use super::moves;
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
/// Costs are whole: below, next to no move that costs more is taken.
const COLDEST: f64 = 0.1;

/// An assignment that is changed at random, and the best that was met.
pub struct Search<'a> {
    now: Assignment<'a>,
    best: Vec<u32>,
    best_cost: i64,
    /// Who moved since the best.
    since: Vec<u32>,
    dice: Stream,
    drawn: u64,
    /// What was found hot at the start.
    hot: Option<f64>,
}

impl<'a> Search<'a> {
    /// From the start of a problem that was checked.
    pub fn new(problem: &'a Problem, seed: u64, number: u64) -> Search<'a> {
        let now = Assignment::new(problem);
        Search {
            best: now.at().to_vec(),
            best_cost: problem.cost(now.at()),
            now,
            since: Vec::new(),
            dice: Stream::new(seed, number, "placement"),
            drawn: 0,
            hot: None,
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
    /// and the least cost. Without heat no move is taken that costs more.
    pub fn anneal(&mut self, heat: f64, gone: &mut dyn FnMut(u64, i64) -> f64) {
        let (hot, cold) = self.range(heat);
        loop {
            let share = gone(self.drawn, self.best_cost);
            if share >= 1.0 {
                return;
            }
            let heat = hot * (cold / hot).powf(share.max(0.0));
            for _ in 0..LOOK {
                self.try_one(heat);
            }
            self.drawn += LOOK;
        }
    }

    /// What is hot and what is cold here, as costs.
    fn range(&mut self, heat: f64) -> (f64, f64) {
        let costs = self.sample();
        if heat == 0.0 || costs.is_empty() {
            return (COLDEST, COLDEST);
        }
        let at = |share: f64| costs[((costs.len() - 1) as f64 * share) as usize] as f64;
        let cold = (at(CHEAP.0) * CHEAP.1).max(COLDEST);
        let hot = *self.hot.get_or_insert(at(DEAR.0) * DEAR.1);
        ((hot * heat).max(cold), cold)
    }

    #[inline]
    fn try_one(&mut self, heat: f64) {
        let Some(drawn) = moves::draw(&self.now, &mut self.dice) else {
            return;
        };
        let Some(delta) = self.now.delta(drawn.steps()) else {
            return;
        };
        if delta > 0 && delta as f64 > self.dice.exponential(heat) {
            return;
        }
        if self.now.make(drawn.steps(), delta) {
            self.keep(drawn.steps().iter().map(|step| step.partition));
        }
    }

    fn keep(&mut self, moved: impl Iterator<Item = u32>) {
        self.since.extend(moved);
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

    /// Costs that moves from here add, sorted.
    fn sample(&mut self) -> Vec<i64> {
        let mut found = Vec::new();
        for _ in 0..SAMPLE {
            let drawn = moves::draw(&self.now, &mut self.dice);
            let delta = drawn.and_then(|one| self.now.delta(one.steps()));
            found.extend(delta.filter(|&delta| delta > 0));
        }
        found.sort_unstable();
        found
    }
}
