//! One case in a loop, for a profiler to look at: no yardstick, no rounds.

use std::time::Instant;

use crate::case::{Case, Sample};

/// What the loop saw.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Profile {
    /// Name of the case.
    pub name: String,
    /// How often it was measured.
    pub runs: u64,
    /// Events handled.
    pub events: u64,
    /// Wall time [s].
    pub wall_s: f64,
    /// Simulated time [s]; zero where it says nothing.
    pub simulated_s: f64,
}

/// Runs the case again and again, each time as another replication, until `seconds` are over; once
/// at the least, and once before that counts nowhere.
pub fn profile(mut case: Case, seconds: f64) -> Profile {
    (case.run)(0);
    let mut profile = Profile {
        name: case.name,
        runs: 0,
        events: 0,
        wall_s: 0.0,
        simulated_s: 0.0,
    };
    let begun = Instant::now();
    while profile.runs == 0 || begun.elapsed().as_secs_f64() < seconds {
        profile.add((case.run)(profile.runs + 1));
    }
    profile
}

impl Profile {
    fn add(&mut self, sample: Sample) {
        self.runs += 1;
        self.events += sample.events;
        self.wall_s += sample.wall_s;
        self.simulated_s += sample.simulated_s;
    }

    /// One line for people.
    pub fn text(&self) -> String {
        let Self { name, runs, .. } = self;
        let ns = 1e9 * self.wall_s / self.events as f64;
        let text = format!(
            "{name}: {runs} runs, {:.2} M events in {:.2} s, {ns:.1} ns an event",
            self.events as f64 / 1e6,
            self.wall_s
        );
        if self.simulated_s == 0.0 {
            return text + "\n";
        }
        let speed = self.simulated_s / self.wall_s;
        format!("{text}, {speed:.2} simulated seconds a second\n")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    #[test]
    fn the_first_run_counts_nowhere() {
        let run = |round| Sample {
            simulated_s: 2.0,
            ..Sample::new(1_000_000 * round, Duration::from_millis(500))
        };
        let seen = profile(Case::new("", "case", "", run), 0.0);
        assert_eq!((seen.runs, seen.events), (1, 1_000_000));
        let line = "case: 1 runs, 1.00 M events in 0.50 s, 500.0 ns an event, \
                    4.00 simulated seconds a second\n";
        assert_eq!(seen.text(), line);
    }
}
