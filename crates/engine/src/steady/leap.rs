//! Leaps towards the fixed point where steps all go the same way.
//!
//! Where homes are full, who overflows is dearer, wants more time, and overflows the more: each
//! step is that part of the one before. Then the rest of the way is a geometric series (Aitken, On
//! Bernoulli's numerical solution of algebraic equations, 1926), and the next step tells whether it
//! was.

use crate::steady::layout::state::Doing;

/// Steps that are looked at before each leap, so that all that follows has come along.
const LOOKS: usize = 3;
/// Parts of the step before from which on a leap pays, and that are taken to be the most.
const SLOW: f64 = 0.6;
const SLOWEST: f64 = 0.92;
/// How like a step is to the one before where it goes the same way, below 0 where it goes back,
/// from which on it takes that one back.
const BACK: f64 = -0.8;
/// Part of a step by which it may differ from such a part of the one before.
const STEADY: f64 = 0.2;

/// How a step went, beside the one before.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::steady) enum Went {
    /// On, or elsewhere.
    On,
    /// All of them back, as far or less far.
    Back,
}

/// Where partitions were, and by how much their cores changed in the last step.
#[derive(Debug, Default)]
pub(in crate::steady) struct Leap {
    before: Vec<f64>,
    now: Vec<f64>,
    cores: Vec<f64>,
    step: Vec<f64>,
    looks: usize,
}

impl Leap {
    /// A step was taken: goes the rest of the way if it went as the one before. Which way it went.
    pub fn after(&mut self, doing: &mut [Doing], active: &[usize]) -> Went {
        std::mem::swap(&mut self.before, &mut self.now);
        self.now.clear();
        for one in active.iter().map(|at| &doing[*at]) {
            self.now.push(one.reload_ns);
            self.now.extend(one.sites.iter().map(|site| site.share));
        }
        let (factor, went) = self.factor(doing, active);
        self.looks += 1;
        if self.looks > LOOKS && self.now.len() == self.before.len() {
            if let Some(factor) = factor {
                self.go(doing, active, factor / (1.0 - factor));
                self.looks = 0;
            }
        }
        went
    }

    /// Which part of the step before this one was, if it went the same way and slowly; and which
    /// way that was.
    fn factor(&mut self, doing: &[Doing], active: &[usize]) -> (Option<f64>, Went) {
        self.cores.resize(active.len(), 0.0);
        self.step.resize(active.len(), 0.0);
        let (mut product, mut square, mut own) = (0.0, 0.0, 0.0);
        for (at, (was, last)) in active.iter().zip(self.cores.iter_mut().zip(&mut self.step)) {
            let step = doing[*at].cores() - *was;
            product += step * *last;
            square += *last * *last;
            own += step * step;
            (*was, *last) = (doing[*at].cores(), step);
        }
        let factor = product / square.max(1e-30);
        let rest = own - factor * product;
        let is_steady = factor > SLOW && rest < STEADY * STEADY * own;
        let went = if product < BACK * (square * own).sqrt() {
            Went::Back
        } else {
            Went::On
        };
        (is_steady.then(|| factor.min(SLOWEST)), went)
    }

    /// Goes so many times as far as the last step went.
    fn go(&self, doing: &mut [Doing], active: &[usize], by: f64) {
        let mut steps = self.now.iter().zip(&self.before);
        let mut next = || {
            steps
                .next()
                .map_or(0.0, |(now, before)| by * (now - before))
        };
        for at in active.iter().copied() {
            let one = &mut doing[at];
            one.reload_ns = (one.reload_ns + next()).max(0.0);
            let mut all = 0.0;
            for site in &mut one.sites {
                // One that leaves a chip is not gone before a step says so.
                site.share = (site.share + next()).max(0.1 * site.share);
                all += site.share;
            }
            one.sites.iter_mut().for_each(|site| site.share /= all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::steady::layout::state::Site;

    /// Cores and share away after a number of steps of which each is such a part of the one before,
    /// until the first leap.
    fn leapt(part: f64, steps: i32) -> Vec<f64> {
        looked(part, steps).0
    }

    /// The same, and how each step went.
    fn looked(part: f64, steps: i32) -> (Vec<f64>, Vec<Went>) {
        let mut leap = Leap::default();
        let (mut shares, mut went) = (Vec::new(), Vec::new());
        for step in 0..steps {
            let rest = part.powi(step);
            let mut one = Doing {
                served: 1.0,
                reload_ns: 1e5 * (1.0 - rest),
                sites: vec![Site::default(), Site::default()],
                ..Doing::default()
            };
            one.load.vps = 4.0 - rest;
            one.sites[1].share = 0.4 * (1.0 - rest);
            one.sites[0].share = 1.0 - one.sites[1].share;
            let before = one.sites[1].share;
            let mut doing = [one];
            went.push(leap.after(&mut doing, &[0]));
            let share = doing[0].sites[1].share;
            if share != before {
                shares.push(share);
            }
        }
        (shares, went)
    }

    #[test]
    fn who_takes_a_step_back_is_told_apart_from_who_goes_on() {
        let back = |part: f64| {
            let (_, went) = looked(part, 8);
            went.iter().filter(|one| **one == Went::Back).count()
        };
        // The first step comes from nowhere, so the second cannot take it back.
        assert_eq!(back(-1.0), 6);
        assert_eq!(back(-0.3), 6);
        assert_eq!(back(0.3), 0);
        assert_eq!(back(0.9), 0);
    }

    #[test]
    fn the_rest_of_a_geometric_series_is_gone_at_once() {
        let shares = leapt(0.85, 8);
        assert!(!shares.is_empty());
        assert!(
            shares.iter().all(|share| (share - 0.4).abs() < 1e-9),
            "{shares:?}"
        );
    }

    #[test]
    fn who_goes_to_and_fro_or_is_nearly_there_goes_on_step_by_step() {
        assert!(leapt(-0.9, 12).is_empty());
        assert!(leapt(0.3, 12).is_empty());
    }

    #[test]
    fn hardly_shrinking_steps_are_not_followed_all_of_the_way() {
        let shares = leapt(0.99, 8);
        assert!(
            shares.iter().all(|share| *share > 0.0 && *share < 0.4),
            "{shares:?}"
        );
    }
}
