//! What those who come back after a pause get done where a quota stops them in every period.
//!
//! Slowed down all of the time, one would work for `s / speed` and pause for `z`. But a quota lets
//! it run at full speed for a part of each period and not at all for the rest. Pauses go on
//! meanwhile, and who comes back waits until the next period: of a pause that is long beside the
//! period that costs nothing, of one that is short nearly all of the rest is lost, as no work comes
//! that could be made up for. What of one is at work then is a chain with a period,
//!
//! ```text
//! working --1/s--> pausing --1/z--> working      while it may run
//!                  pausing --1/z--> waits        while it may not
//! ```
//! with a short pause between bursts and a long one after the last, which is solved for what comes
//! back to itself after a period.

/// Working, in a short pause, in a long one, and the time worked so far.
const STATES: usize = 4;
const LONG: usize = 2;
const DONE: usize = 3;
/// Part of a rate's time that a step takes at most; from there on steps are doubled.
const STEP: f64 = 0.02;
/// Doublings of the period after which it no longer matters how it began.
const PERIODS: usize = 24;

type Matrix = [[f64; STATES]; STATES];

/// How one works and pauses.
#[derive(Clone, Copy, Debug)]
pub(in crate::steady) struct Pauses {
    /// Time for which it has work, at full speed [ns].
    pub work_ns: f64,
    /// Means of both pauses [ns], and how often it is the long one.
    pub each_ns: [f64; 2],
    pub long: f64,
}

impl Pauses {
    /// Speed at which it would get as much done all of the time, by the share of each period in
    /// which it may run at full speed: one at most.
    pub fn speed(&self, runs: f64, period_ns: f64) -> f64 {
        let [run, stop] = [true, false].map(|at_work| self.rates(at_work));
        let run = over(&run, runs * period_ns);
        let stop = over(&stop, (1.0 - runs) * period_ns);
        // From one period to the next, without what was done.
        let mut periods = product(&stop, &run);
        periods[DONE] = [0.0; STATES];
        for _ in 0..PERIODS {
            periods = product(&periods, &periods);
        }
        let at_first = |state: usize| periods[state][0];
        let sum: f64 = (0..DONE).map(at_first).sum();
        let done = (0..DONE).map(|state| run[DONE][state] * at_first(state) / sum);
        let done = done.sum::<f64>() / period_ns;
        let pause_ns = (1.0 - self.long) * self.each_ns[0] + self.long * self.each_ns[1];
        let steady = 1.0 / (1.0 / done.max(1e-12) - pause_ns / self.work_ns).max(1e-12);
        (steady / runs).clamp(0.0, 1.0)
    }

    /// What goes from each state, by column, to each.
    fn rates(&self, at_work: bool) -> Matrix {
        let mut rates = [[0.0; STATES]; STATES];
        let mut goes = |from: usize, to: usize, rate: f64| {
            rates[to][from] += rate;
            rates[from][from] -= rate;
        };
        for (state, ns) in (1..=LONG).zip(self.each_ns) {
            goes(state, 0, 1.0 / ns.max(1.0));
        }
        if at_work {
            goes(0, 1, (1.0 - self.long) / self.work_ns);
            goes(0, LONG, self.long / self.work_ns);
            rates[DONE][0] = 1.0;
        }
        rates
    }
}

/// What becomes of each state in so long.
fn over(rates: &Matrix, ns: f64) -> Matrix {
    let fastest = (0..DONE).map(|at| -rates[at][at]).fold(0.0, f64::max);
    let doublings = (fastest * ns / STEP).max(1.0).log2().ceil() as i32;
    let step = ns / 2.0_f64.powi(doublings);
    let twice = product(rates, rates);
    let mut all = [[0.0; STATES]; STATES];
    for (to, row) in all.iter_mut().enumerate() {
        for (from, of) in row.iter_mut().enumerate() {
            let stays = f64::from(u8::from(to == from));
            *of = stays + step * rates[to][from] + 0.5 * step * step * twice[to][from];
        }
    }
    for _ in 0..doublings {
        all = product(&all, &all);
    }
    all
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let at = |to: usize, from: usize| (0..STATES).map(|of| a[to][of] * b[of][from]).sum();
    std::array::from_fn(|to| std::array::from_fn(|from| at(to, from)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(work_ns: f64, pause_ns: f64) -> Pauses {
        Pauses {
            work_ns,
            each_ns: [pause_ns, pause_ns],
            long: 0.5,
        }
    }

    #[test]
    fn who_may_always_run_does_so_at_full_speed() {
        assert!((of(1e6, 1e6).speed(1.0, 1e8) - 1.0).abs() < 1e-3);
    }

    #[test]
    fn long_pauses_go_on_while_one_is_stopped_and_short_ones_are_lost() {
        // Long beside the period: as if it were slowed down.
        assert!((of(1e9, 1e9).speed(0.4, 1e6) - 1.0).abs() < 0.01);
        // Short: it does 0.4 of what it does when it may always run, half of the time that is, so
        // that it would have to be at work as slow as 1 / (1 / 0.2 - 1) = 0.25.
        assert!((of(1e4, 1e4).speed(0.4, 1e8) - 0.25 / 0.4).abs() < 0.01);
        let speeds = [1e5, 1e6, 1e7, 1e8, 1e9].map(|ns| of(ns, ns).speed(0.4, 1e8));
        assert!(speeds.windows(2).all(|two| two[0] < two[1]), "{speeds:?}");
    }

    #[test]
    fn who_comes_back_seldom_waits_for_the_rest_of_a_stop_first() {
        let seldom = Pauses {
            work_ns: 1e5,
            each_ns: [1e5, 1e9],
            long: 0.1,
        };
        // Of 60 ms in which it is stopped it finds 30 left, six times in ten: with 18 ms of waiting
        // a millisecond of work takes nineteen.
        assert!((seldom.speed(0.4, 1e8) - 1.0 / 19.0 / 0.4).abs() < 0.02);
    }
}
