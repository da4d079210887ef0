//! Measuring: every case once a round, medians over the rounds.

use crate::case::{Case, Outcome, Sample};
use crate::growth::{self, Growth};
use crate::load::{Answer, Dispatches, Waits};

/// Median, least and greatest of the rounds.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Spread {
    /// Middle one.
    pub median: f64,
    /// Least.
    pub min: f64,
    /// Greatest.
    pub max: f64,
}

/// What the rounds of a case came to.
#[derive(Debug, serde::Serialize)]
pub struct Measured {
    /// Name of the case.
    pub name: String,
    /// Heading.
    pub group: &'static str,
    /// What it is compared with.
    pub yardstick: &'static str,
    /// Events handled a second of wall time.
    pub events_per_s: Spread,
    /// The same, in proportion to the yardstick of the same round.
    pub ratio: Spread,
    /// Ratio that is aimed at, if any is.
    pub aim: Option<f64>,
    /// Simulated seconds a second of wall time, where it says something.
    pub simulated_s_per_s: Option<Spread>,
    /// Wall time before the first event [s], where it was measured apart.
    pub setup_s: Option<Spread>,
    /// Figures that must come out, over all rounds.
    pub answers: Vec<Answer>,
}

/// What a case saw, by round; nothing in a round that left it out.
type Samples = Vec<Option<Sample>>;

/// All cases.
#[derive(Debug, serde::Serialize)]
pub struct Results {
    /// Rounds measured.
    pub rounds: usize,
    /// The cases in their order.
    pub cases: Vec<Measured>,
    /// How the cost of an event grows with size, where that was measured.
    pub growth: Vec<Growth>,
}

impl Measured {
    /// Whether the aim was reached, if there is one: by the median, which is what is compared.
    pub fn reached(&self) -> Option<bool> {
        self.aim.map(|aim| self.ratio.median >= aim)
    }
}

impl Results {
    /// Whether all that was checked came out.
    pub fn answers_are_right(&self) -> bool {
        let mut answers = self.cases.iter().flat_map(|case| &case.answers);
        answers.all(Answer::is_right)
    }
}

/// Measures all cases, `rounds` times or less often if they say so, and once before without
/// counting it.
pub fn measure(cases: &mut [Case], rounds: usize, progress: impl Fn(usize)) -> Results {
    let mut samples: Vec<Samples> = cases.iter().map(|_| Vec::new()).collect();
    for round in 0..=rounds {
        progress(round);
        for (case, samples) in cases.iter_mut().zip(&mut samples) {
            let is_due = round % case.every == 1 % case.every;
            let sample = is_due.then(|| (case.run)(round as u64));
            // The first round only warms caches and clocks up.
            if round > 0 {
                samples.push(sample);
            }
        }
    }
    let summary = |(case, own): (&Case, &Samples)| {
        let yardstick = cases.iter().position(|other| other.name == case.yardstick);
        summarise(case, own, yardstick.map_or(own, |index| &samples[index]))
    };
    let cases: Vec<Measured> = cases.iter().zip(&samples).map(summary).collect();
    Results {
        rounds,
        growth: growth::of(&cases),
        cases,
    }
}

fn summarise(case: &Case, own: &Samples, yardstick: &Samples) -> Measured {
    let rate = |sample: &Sample| sample.events as f64 / sample.wall_s;
    let both = own.iter().zip(yardstick);
    let ratio = |(own, other): (&Option<Sample>, &Option<Sample>)| {
        Some(rate(own.as_ref()?) / rate(other.as_ref()?))
    };
    let samples: Vec<Sample> = own.iter().flatten().copied().collect();
    let simulated = spread(samples.iter().map(|it| it.simulated_s / it.wall_s));
    let setups: Vec<f64> = samples.iter().filter_map(|it| it.setup_s).collect();
    Measured {
        name: case.name.clone(),
        group: case.group,
        yardstick: case.yardstick,
        aim: case.aim,
        events_per_s: spread(samples.iter().map(rate)),
        ratio: spread(both.filter_map(ratio)),
        simulated_s_per_s: (simulated.median > 0.0).then_some(simulated),
        setup_s: (!setups.is_empty()).then(|| spread(setups.into_iter())),
        answers: answers(&samples),
    }
}

fn answers(samples: &[Sample]) -> Vec<Answer> {
    let (mut waits, mut dispatches) = (Waits::default(), Dispatches::default());
    for sample in samples {
        match sample.outcome {
            Outcome::Unchecked => {}
            Outcome::Waits(more) => waits.add(more),
            Outcome::Dispatches(more) => dispatches.add(more),
        }
    }
    let mut answers = Vec::new();
    if waits.customers > 0 {
        answers.extend(waits.answers());
    }
    if dispatches.dispatches > 0 {
        answers.extend(dispatches.answers());
    }
    answers
}

/// The middle one of two is the mean of both.
fn spread(values: impl Iterator<Item = f64>) -> Spread {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len() - 1;
    Spread {
        median: (values[last / 2] + values[last.div_ceil(2)]) / 2.0,
        min: values[0],
        max: values[last],
    }
}

#[cfg(test)]
impl Spread {
    /// Of rounds that all saw the same.
    pub fn all(value: f64) -> Self {
        spread([value].into_iter())
    }
}

#[cfg(test)]
impl Measured {
    /// Something of which no more is known than how fast it is.
    pub fn of_rate(name: &str, events_per_s: f64) -> Self {
        Self {
            name: name.to_string(),
            group: "group",
            yardstick: "bare",
            aim: None,
            events_per_s: Spread::all(events_per_s),
            ratio: Spread::all(1.0),
            simulated_s_per_s: None,
            setup_s: None,
            answers: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn case(name: &'static str, yardstick: &'static str, rates: [u64; 3]) -> Case {
        let run = move |round: u64| Sample::new(rates[round as usize], Duration::from_secs(2));
        Case::new("", name, yardstick, run)
    }

    #[test]
    fn ratios_are_taken_within_a_round() {
        let mut cases = [
            case("bare", "bare", [0, 100, 10]),
            case("slow", "bare", [0, 50, 4]),
        ];
        let results = measure(&mut cases, 2, |_| {});
        let slow = &results.cases[1];
        assert_eq!((slow.ratio.min, slow.ratio.max), (0.4, 0.5));
        assert_eq!((slow.events_per_s.min, slow.events_per_s.max), (2.0, 25.0));
        assert_eq!(slow.events_per_s.median, 13.5);
        assert!(slow.simulated_s_per_s.is_none() && results.answers_are_right());
    }

    #[test]
    fn an_aim_is_held_against_the_median() {
        let mut cases = [
            case("bare", "bare", [0, 100, 100]),
            case("slow", "bare", [0, 20, 40]),
        ];
        let reached = |aim, cases: &mut [Case; 2]| {
            cases[1].aim = aim;
            measure(cases, 2, |_| {}).cases[1].reached()
        };
        assert_eq!(reached(None, &mut cases), None);
        assert_eq!(reached(Some(0.3), &mut cases), Some(true));
        assert_eq!(reached(Some(0.31), &mut cases), Some(false));
    }

    #[test]
    fn what_takes_long_is_measured_in_one_round_of_three() {
        let per_second = |events| Sample::new(events, Duration::from_secs(1));
        let bare = Case::new("", "bare", "bare", per_second);
        let mut seldom = Case::new("", "seldom", "bare", move |round| per_second(10 * round));
        seldom.every = 3;
        let results = measure(&mut [bare, seldom], 5, |_| {});
        let seldom = &results.cases[1];
        let (least, most) = (seldom.events_per_s.min, seldom.events_per_s.max);
        assert_eq!((least, most), (10.0, 40.0), "rounds 1 and 4");
        assert_eq!(seldom.ratio.median, 10.0);
    }
}
