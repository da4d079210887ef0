//! Growth: what an event costs at one size after the other, with a fitted exponent.

use std::rc::Rc;

use crate::aims::{self, BARE_W2};
use crate::case::{made, Case};
use crate::engine;
use crate::rounds::Measured;
use crate::sizes::{axes, Axis};

/// Heading of the cases; those of one axis are a row.
pub const GROUP: &str = "Growth";

/// Rounds of which one measures growth: it takes longer than all the rest, and twofold is told from
/// no growth without many.
const EVERY: usize = 3;

/// How the cost of an event grows along an axis.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Growth {
    /// The policy and what grows.
    pub name: &'static str,
    /// Sizes measured, with the time of an event [us].
    pub us_by_size: Vec<(u16, f64)>,
    /// Wall time before the first event at the last size [ms].
    pub setup_ms: f64,
    /// Slope of the logarithm of the time over that of the size, by least squares.
    pub exponent: f64,
    /// Time at the last size, in proportion to that at the first.
    pub growth: f64,
    /// Most that it is to be.
    pub aim: f64,
}

impl Growth {
    /// Whether it grows no more than it is to.
    pub fn reached(&self) -> bool {
        self.growth <= self.aim
    }

    /// What was measured along an axis; nothing if that is less than two sizes.
    fn along(axis: &Axis, measured: &[Measured]) -> Option<Self> {
        let at = |size: u16| {
            let name = name(axis, size);
            let case = measured.iter().find(|case| case.name == name);
            case.map(|case| (size, case))
        };
        let seen: Vec<_> = axis.sizes.into_iter().filter_map(at).collect();
        let us = |(size, case): &(u16, &Measured)| (*size, 1e6 / case.events_per_s.median);
        let us_by_size: Vec<_> = seen.iter().map(us).collect();
        let [first, .., last] = *us_by_size.as_slice() else {
            return None;
        };
        Some(Self {
            name: axis.name,
            setup_ms: seen.last()?.1.setup_s.map_or(0.0, |it| 1e3 * it.median),
            exponent: exponent(us_by_size.iter().map(|(size, us)| (f64::from(*size), *us))),
            growth: last.1 / first.1,
            us_by_size,
            aim: aims::GROWTH,
        })
    }
}

/// A case for each size of each axis.
pub fn all() -> Vec<Case> {
    let cases = |axis: Axis| {
        let (sizes, axis) = (axis.sizes, Rc::new(axis));
        sizes.map(|size| case(&axis, size))
    };
    axes().into_iter().flat_map(cases).collect()
}

fn case(axis: &Rc<Axis>, size: u16) -> Case {
    let grown = Rc::clone(axis);
    let make = move || grown.spec(size);
    let run = made(make, engine::run_settled);
    let mut case = Case::new(GROUP, name(axis, size), BARE_W2, run);
    case.every = EVERY;
    case
}

fn name(axis: &Axis, size: u16) -> String {
    format!("growth, {}: {size}", axis.name)
}

/// What the cases came to, by axis.
pub fn of(measured: &[Measured]) -> Vec<Growth> {
    let along = |axis| Growth::along(&axis, measured);
    axes().into_iter().filter_map(along).collect()
}

/// Slope of the straight line through the logarithms of both coordinates (least squares).
fn exponent(points: impl Iterator<Item = (f64, f64)>) -> f64 {
    let logs: Vec<(f64, f64)> = points.map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|it| it.0), mean(|it| it.1));
    let above: f64 = logs.iter().map(|it| (it.0 - x) * (it.1 - y)).sum();
    let below: f64 = logs.iter().map(|it| (it.0 - x).powi(2)).sum();
    above / below
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::Spread;

    fn of_powers(power: f64, sizes: &[f64]) -> f64 {
        exponent(sizes.iter().map(|size| (*size, 0.3 * size.powf(power))))
    }

    #[test]
    fn a_power_is_found_again() {
        for power in [-0.5, 0.0, 0.25, 1.0, 2.0] {
            let found = of_powers(power, &[100.0, 1_000.0, 10_000.0]);
            assert!((found - power).abs() < 1e-12, "{found}");
            let found = of_powers(power, &[16.0, 1_024.0]);
            assert!((found - power).abs() < 1e-12, "{found}");
        }
    }

    /// Logarithms to the base of ten: (0, 0), (1, 2), (2, 1); the mean is (1, 1).
    #[test]
    fn what_does_not_lie_on_a_line_is_fitted() {
        let points = [(1.0, 1.0), (10.0, 100.0), (100.0, 10.0)];
        assert!((exponent(points.into_iter()) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn an_axis_is_told_from_two_sizes_on() {
        let axis = &axes()[0];
        let case = |size, us: f64| {
            let mut case = Measured::of_rate(&name(axis, size), 1e6 / us);
            case.setup_s = Some(Spread::all(0.002));
            case
        };
        let [small, middle, large] = axis.sizes;
        assert!(of(&[case(small, 0.1)]).is_empty());
        let cases = [case(small, 0.1), case(middle, 0.5), case(large, 0.2)];
        let growth = &of(&cases)[0];
        assert_eq!(growth.us_by_size.len(), 3);
        assert!((growth.growth - 2.0).abs() < 1e-9 && (growth.setup_ms - 2.0).abs() < 1e-9);
        assert!(!of(&[case(small, 0.1), case(large, 0.3)])[0].reached());
        assert!(of(&[case(small, 0.1), case(large, 0.19)])[0].reached());
    }
}
