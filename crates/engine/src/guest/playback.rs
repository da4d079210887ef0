//! Recorded demand played back: when the next burst arrives, and how much work it is.
//!
//! A recording says how much was done in a step, not when within it. So a step is cut into as many
//! equal parts as it has bursts, and one burst arrives in each part, at a moment left to chance:
//! what a step brings is exact, whatever is drawn. Where the bursts are transactions that come
//! independently, moments and work are those of a Poisson process with exponential work whose
//! number and sum are known: gaps between uniform moments, and parts of a stick that is broken at
//! uniform places, each drawn from what is left.

use crate::kernel::Stream;
use crate::spec::Spread;

/// A stretch of the recording with its amount of work.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    length_ns: u64,
    instructions: f64,
    /// Bursts in which it comes, more than nanoseconds not counted.
    bursts: f64,
}

/// Where a partition is in its recorded demand.
#[derive(Clone, Debug)]
pub struct Playback {
    steps: Vec<Step>,
    /// Next step.
    next: usize,
    /// When the present step began [ns].
    start_ns: u64,
    /// When the next one begins [ns].
    end_ns: u64,
    /// Bursts of the present step, and those that came already.
    bursts: u64,
    come: u64,
    instructions: f64,
    spread: Spread,
    /// Moment of the last burst [ns] and work that the step has left, where they come at random.
    at_ns: f64,
    left: f64,
}

impl Playback {
    /// Demand of steps of these lengths [ns] with these rates [instructions/s], in bursts of about
    /// `unit` instructions. It begins at time 0 with `warmup_ns` at the first step's rate.
    pub fn new(
        warmup_ns: u64,
        lengths_ns: &[u64],
        per_s: &[f64],
        unit: f64,
        spread: Spread,
    ) -> Self {
        let bursts = |_: u64, instructions: f64| (instructions / unit).round();
        Self {
            spread,
            ..Self::of(warmup_ns, lengths_ns, per_s, bursts)
        }
    }

    /// The same in as many `bursts` as follow from a step's length [ns] and its work
    /// [instructions], one at least.
    pub fn of(
        warmup_ns: u64,
        lengths_ns: &[u64],
        per_s: &[f64],
        bursts: impl Fn(u64, f64) -> f64,
    ) -> Self {
        let step = |(length_ns, per_s): (u64, f64)| {
            let instructions = per_s * length_ns as f64 * 1e-9;
            Step {
                length_ns,
                instructions,
                bursts: bursts(length_ns, instructions),
            }
        };
        let recorded = lengths_ns.iter().copied().zip(per_s.iter().copied());
        let warmup = per_s.first().map(|first| (warmup_ns, *first));
        Self {
            steps: warmup.into_iter().chain(recorded).map(step).collect(),
            next: 0,
            start_ns: 0,
            end_ns: 0,
            bursts: 0,
            come: 0,
            instructions: 0.0,
            spread: Spread::Even,
            at_ns: 0.0,
            left: 0.0,
        }
    }

    /// Work of the burst that [`Playback::next`] told of last [instructions].
    pub fn instructions(&self) -> f64 {
        self.instructions
    }

    /// When the next burst arrives [ns]; none after the last. `place` says where in its part of the
    /// step [0..1).
    pub fn next(&mut self, place: impl FnOnce() -> f64) -> Option<u64> {
        while self.come == self.bursts {
            self.begin_step()?;
        }
        let length = self.end_ns - self.start_ns;
        let share = (self.come as f64 + place()) / self.bursts as f64;
        self.come += 1;
        let within = (share * length as f64) as u64;
        Some(self.start_ns + within.min(length - 1))
    }

    /// When the next burst arrives [ns], as its spread says; none after the last.
    pub fn draw(&mut self, chance: &mut Stream) -> Option<u64> {
        if self.spread == Spread::Even {
            return self.next(|| chance.uniform());
        }
        while self.come == self.bursts {
            self.begin_step()?;
        }
        let length = self.end_ns - self.start_ns;
        let within = self.next_of_the_rest(length as f64, chance);
        self.come += 1;
        Some(self.start_ns + within.min(length - 1))
    }

    /// The first of the bursts that are left, in what is left of the step and of its work.
    fn next_of_the_rest(&mut self, length_ns: f64, chance: &mut Stream) -> u64 {
        let rest = (self.bursts - self.come) as f64;
        self.at_ns += (length_ns - self.at_ns) * first_of(rest, chance);
        self.instructions = if rest > 1.0 {
            self.left * first_of(rest - 1.0, chance)
        } else {
            self.left
        };
        self.left -= self.instructions;
        self.at_ns as u64
    }

    fn begin_step(&mut self) -> Option<()> {
        let step = *self.steps.get(self.next)?;
        self.next += 1;
        self.start_ns = self.end_ns;
        self.end_ns += step.length_ns;
        self.come = 0;
        let works = step.instructions > 0.0 && step.length_ns > 0;
        self.bursts = if works {
            // No more than nanoseconds, so that each has a moment of its own.
            (step.bursts as u64).clamp(1, step.length_ns)
        } else {
            0
        };
        self.instructions = step.instructions / self.bursts.max(1) as f64;
        self.at_ns = 0.0;
        self.left = step.instructions;
        Some(())
    }
}

/// The least of so many uniform numbers in 0..1.
fn first_of(count: f64, chance: &mut Stream) -> f64 {
    -(-chance.exponential(1.0) / count).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut playback: Playback) -> Vec<(u64, f64)> {
        let mut chance = Stream::new(1, 0, "a/arrivals");
        std::iter::from_fn(|| {
            let at = playback.draw(&mut chance)?;
            Some((at, playback.instructions()))
        })
        .collect()
    }

    fn within(bursts: &[(u64, f64)], from: u64, until: u64) -> f64 {
        let inside = bursts.iter().filter(|(at, _)| (from..until).contains(at));
        inside.map(|(_, instructions)| instructions).sum()
    }

    #[test]
    fn what_a_step_brings_is_exact() {
        let lengths = [1_000_000_000, 500_000_000, 2_000_000_000];
        let bursts = all(Playback::new(
            3_000_000,
            &lengths,
            &[1e6, 0.0, 333.0],
            1e4,
            Spread::Even,
        ));
        assert_eq!(within(&bursts, 0, 3_000_000), 3_000.0);
        assert!((within(&bursts, 3_000_000, 1_003_000_000) - 1e6).abs() < 1e-6);
        assert_eq!(within(&bursts, 1_003_000_000, 1_503_000_000), 0.0);
        assert!((within(&bursts, 1_503_000_000, 3_503_000_000) - 666.0).abs() < 1e-9);
        assert!(bursts.is_sorted_by(|a, b| a.0 <= b.0));
        assert_eq!(bursts.len(), 1 + 100 + 1);
    }

    #[test]
    fn at_random_a_step_still_brings_its_sum() {
        let lengths = [1_000_000_000, 2_000_000_000];
        let bursts = all(Playback::new(0, &lengths, &[1e6, 5e5], 1e3, Spread::Random));
        assert_eq!(bursts.len(), 2_000);
        assert!((within(&bursts, 0, 1_000_000_000) - 1e6).abs() < 1e-3);
        assert!((within(&bursts, 1_000_000_000, 3_000_000_000) - 1e6).abs() < 1e-3);
        assert!(bursts.is_sorted_by(|a, b| a.0 <= b.0));
    }

    #[test]
    fn at_random_gaps_and_work_vary_as_exponential_ones() {
        let random = Playback::new(0, &[10_000_000_000], &[1e7], 1e3, Spread::Random);
        let bursts = all(random);
        let gaps: Vec<f64> = bursts
            .windows(2)
            .map(|w| (w[1].0 - w[0].0) as f64)
            .collect();
        let work: Vec<f64> = bursts.iter().map(|(_, work)| *work).collect();
        for (values, what) in [(gaps, "gaps"), (work, "work")] {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let square = values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64;
            let variation = (square - mean * mean).sqrt() / mean;
            // 100,000 of them: the standard error of this estimate is .003.
            assert!((variation - 1.0).abs() < 0.02, "{what}: {variation}");
        }
    }

    #[test]
    fn each_part_of_a_step_has_one_burst() {
        let bursts = all(Playback::new(0, &[1_000], &[1e10], 1e3, Spread::Even));
        let parts: Vec<u64> = bursts.iter().map(|(at, _)| at / 100).collect();
        assert_eq!(parts, (0..10).collect::<Vec<_>>());
        assert!(bursts.iter().any(|(at, _)| at % 100 != 0));
    }

    #[test]
    fn more_bursts_than_nanoseconds_are_put_together() {
        let bursts = all(Playback::new(0, &[4], &[1e12], 1.0, Spread::Even));
        assert_eq!(
            bursts.iter().map(|(at, _)| *at).collect::<Vec<_>>(),
            [0, 1, 2, 3]
        );
        assert!((within(&bursts, 0, 4) - 4_000.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_comes_where_nothing_was_recorded() {
        assert_eq!(
            all(Playback::new(5, &[10, 10], &[0.0, 0.0], 1.0, Spread::Even)),
            []
        );
        assert_eq!(all(Playback::new(5, &[], &[], 1.0, Spread::Even)), []);
    }
}
