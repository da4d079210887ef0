//! How much of the way loads go where prices take back what loads did.
//!
//! The nearer a port is to being full, the more steeply a line's wait grows with its load, and the
//! longer instructions last the less is asked of it. Then each step of the price is such a part of
//! the one before, with its sign turned: `factor = 1 - part (1 - factor of whole steps)`. So the
//! part of the way on which nothing is taken back is known from one step to the next (a secant).

use crate::steady::layout::state::Doing;

/// How like a step is to the one before, below 0 where it goes back, from which on loads go less
/// than all of the way.
const BACK: f64 = -0.3;
/// Least part, and by how much it is cut down and raised at most from one step to the next.
const LEAST_PART: f64 = 0.02;
const DOWN: f64 = 0.25;
const UP: f64 = 1.5;
/// Steps of a price that are none.
const NOTHING: f64 = 1e-6;

/// The price of an instruction of each partition as it was, and by how much it changed last.
#[derive(Debug)]
pub(in crate::steady) struct Swings {
    logs: Vec<f64>,
    steps: Vec<f64>,
    part: f64,
}

impl Default for Swings {
    fn default() -> Self {
        let (logs, steps) = (Vec::new(), Vec::new());
        let part = 1.0;
        Self { logs, steps, part }
    }
}

impl Swings {
    /// A step was taken: the part of the way that loads go in the next.
    pub fn after(&mut self, doing: &[Doing], active: &[usize]) -> f64 {
        self.go(active.iter().map(|at| doing[*at].ns[1]))
    }

    /// The same, from what an instruction of each takes.
    fn go(&mut self, ns: impl Iterator<Item = f64>) -> f64 {
        let (mut product, mut square) = (0.0, 0.0);
        for (at, ns) in ns.enumerate() {
            let log = ns.max(1e-9).ln();
            if at == self.logs.len() {
                self.logs.push(log);
                self.steps.push(0.0);
            }
            let step = log - self.logs[at];
            product += step * self.steps[at];
            square += self.steps[at] * self.steps[at];
            (self.logs[at], self.steps[at]) = (log, step);
        }
        let factor = product / square.max(1e-30);
        if square > NOTHING * NOTHING && (self.part < 1.0 || factor < BACK) {
            let by = (1.0 - factor).max(1.0 / UP).recip();
            self.part = (self.part * by.max(DOWN)).clamp(LEAST_PART, 1.0);
        }
        self.part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a price comes to in so many steps whose load takes back `slope` of what it did.
    fn price(slope: f64, steps: usize) -> f64 {
        let (mut swings, mut load) = (Swings::default(), 0.0_f64);
        for _ in 0..steps {
            let log_ns = load;
            let part = swings.go(std::iter::once(log_ns.exp()));
            load += part * (1.0 - slope * log_ns - load);
        }
        load
    }

    #[test]
    fn a_price_that_takes_itself_back_comes_to_rest_within_a_few_steps() {
        for slope in [0.5, 1.0, 3.0, 9.0, 30.0] {
            let rest = 1.0 / (1.0 + slope);
            assert!((price(slope, 16) / rest - 1.0).abs() < 1e-4, "{slope}");
        }
    }

    #[test]
    fn what_takes_nothing_back_goes_all_of_the_way() {
        assert_eq!(price(0.0, 2), 1.0);
        let mut swings = Swings::default();
        let parts = [1.0, 2.0, 2.5, 2.7, 2.75].map(|ns| swings.go(std::iter::once(ns)));
        assert_eq!(parts, [1.0; 5]);
    }
}
