//! Processors that are slowed: they work for a while, then pause.
//!
//! A maker sells processors of less than full speed. Their clock and caches are the others'; they
//! work for a burst at a time and pause in between, for the share `duty` of the time. Memory does
//! not pause with them. So a line that is asked for early in a burst costs the rest of the way in
//! working time, and one whose way outlasts the burst comes in the pause, for which nothing more
//! is lost. With a burst `a`, a pause `i`, and a line asked for at any time of a burst with equal
//! chance, a latency below their sum takes in working time
//!
//! ```text
//! lost(l) = min(l, a) - min(l, a)²/(2a) + max(l - i, 0)²/(2a)
//! ```
//! and a longer one `a` for each whole turn in it besides. In time that is lost / duty: a latency
//! far below a burst is stretched like the work itself, as if the processor were there for a part
//! of the time; one far above is not, as for a slow core.

use crate::spec::Machine;

/// How a machine's processors pause.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pause {
    /// Share of the time in which they work.
    duty: f64,
    /// How long they work at a time [ns].
    burst_ns: f64,
}

impl Pause {
    /// Of a machine; none = its processors never pause.
    pub fn of(machine: &Machine) -> Option<Self> {
        machine.throttle.map(|told| Self {
            duty: told.duty,
            burst_ns: told.burst_ns,
        })
    }

    /// Time that a latency takes of a thread which waits for it [ns].
    pub fn stretched(&self, latency_ns: f64) -> f64 {
        let burst = self.burst_ns;
        let turn = burst / self.duty;
        let turns = (latency_ns / turn).floor();
        let rest = latency_ns - turns * turn;
        let early = rest.min(burst);
        let late = (rest - (turn - burst)).max(0.0);
        let lost = turns * burst + early + (late * late - early * early) / (2.0 * burst);
        lost / self.duty
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pause(duty: f64) -> Pause {
        Pause {
            duty,
            burst_ns: 40.0,
        }
    }

    /// Working time from a moment in a burst on, counted in small steps.
    fn counted(pause: &Pause, latency_ns: f64) -> f64 {
        let (burst, turn) = (pause.burst_ns, pause.burst_ns / pause.duty);
        let starts = (0..400).map(|n| (f64::from(n) + 0.5) * burst / 400.0);
        let works = |start: f64| {
            let steps = (0..4000).map(|n| start + (f64::from(n) + 0.5) * latency_ns / 4000.0);
            steps.filter(|at| at % turn < burst).count() as f64 / 4000.0 * latency_ns
        };
        starts.map(works).sum::<f64>() / 400.0 / pause.duty
    }

    #[test]
    fn it_is_what_a_count_of_working_time_gives() {
        for duty in [0.15, 0.5, 0.8] {
            for latency_ns in [1.0, 30.0, 45.0, 120.0, 260.0, 700.0] {
                let (law, count) = (
                    pause(duty).stretched(latency_ns),
                    counted(&pause(duty), latency_ns),
                );
                assert!(
                    (law / count - 1.0).abs() < 5e-3,
                    "{duty} {latency_ns}: {law} {count}"
                );
            }
        }
    }

    /// The example of docs/background/cost-model.md.
    #[test]
    fn the_page_is_right() {
        let told = [(10.0, 43.75), (120.0, 100.0), (180.0, 125.0)];
        for (latency_ns, ns) in told {
            assert!((pause(0.2).stretched(latency_ns) - ns).abs() < 1e-9);
        }
    }

    #[test]
    fn short_latencies_are_stretched_like_work_and_long_ones_are_not() {
        assert!((pause(0.2).stretched(0.01) / 0.01 - 5.0).abs() < 2e-3);
        assert!((pause(0.2).stretched(1e6) / 1e6 - 1.0).abs() < 1e-3);
        assert!((pause(1.0).stretched(77.0) - 77.0).abs() < 1e-9);
        let mut before = 0.0;
        for step in 1..2000 {
            let now = pause(0.3).stretched(f64::from(step) * 0.25);
            assert!(now >= before);
            before = now;
        }
    }
}
