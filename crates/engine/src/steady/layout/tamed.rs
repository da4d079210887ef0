//! Figures that take themselves back: the more of one there is, the less there should be.

/// Part of the way that is left of a step where a figure turns back, and by how much the next is
/// longer where it goes on; the least part.
const TURNED: f64 = 0.5;
const ON: f64 = 1.5;
const LEAST_PART: f64 = 0.05;

/// How much of the way a figure goes that takes itself back: the more of it there is, the less
/// there should be. All of the way, until it turns; from then on as much as does not.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::steady) struct Tamed {
    step: f64,
    part: f64,
}

impl Tamed {
    /// Where it is after a step, that goes at most such a part of the way.
    pub fn step(&mut self, now: f64, to: f64, most: f64) -> f64 {
        let step = to - now;
        let by = if step * self.step < 0.0 { TURNED } else { ON };
        let known = if self.part > 0.0 { self.part } else { most };
        (self.step, self.part) = (step, (by * known).clamp(LEAST_PART.min(most), most));
        now + self.part * step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a figure is after so many steps that wants to be `1 - slope now`.
    fn tamed(slope: f64, steps: usize) -> f64 {
        let (mut tamed, mut now) = (Tamed::default(), 0.0);
        for _ in 0..steps {
            now = tamed.step(now, 1.0 - slope * now, 1.0);
        }
        now
    }

    #[test]
    fn what_takes_itself_back_comes_to_rest_however_strongly_it_does() {
        for slope in [0.5, 1.0, 3.0, 9.0] {
            let rest = 1.0 / (1.0 + slope);
            assert!((tamed(slope, 60) / rest - 1.0).abs() < 1e-3, "{slope}");
        }
        // What does not turn goes all of the way.
        assert_eq!(tamed(0.0, 1), 1.0);
    }
}
