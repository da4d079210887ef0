//! How long who comes waits for a turn beside others that always want more.
//!
//! Where no processor is left over, whoever has been away waits until those that are there have to
//! make room, and again after each turn of its own as long as it has work. What it gets on the long
//! run follows from shares; this is how long it is without a processor meanwhile.
//!
//! ```text
//! waits = 1 / (1 / first + 1 / due) + off / (exp(on / run) - 1)        due = run x others
//! served = run / (run + waits)
//! ```
//!
//! - **The first turn.** One that owes nothing and is owed nothing waits `first` on the mean. Where
//!   a wait is made up for, it has its processor at once the next times, until it has run for as
//!   much as it waited by what the others are due. So after a wait of `w` there are `w / due`
//!   comings without one, as runs are exponential, and each `first` is shared by `1 + first / due`.
//! - **Those after it.** It keeps its processor for `on` and is off it for `off`, by their weights;
//!   a run that is exponential is cut `1 / (exp(on / run) - 1)` times.
//!
//! A burst much longer than a turn is served at its share's rate either way: `run x others` is what
//! it waits (processor sharing). In between it is up to a quarter less.

/// Part of their time for which virtual processors may be at work at most of which more is wanted
/// than they do: whoever is granted what it asks for is done in the end. Assumed, .95 to 1.
pub(in crate::steady) const NEARLY_ALL: f64 = 0.98;

/// How turns come round for one that comes and goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::steady) struct Rounds {
    /// What one waits on the mean that neither owes nor is owed anything [ns].
    pub first_ns: f64,
    /// What the others on its processor are due while it runs, by what it runs, where a wait is
    /// made up for at the next comings; none where it is not.
    pub credit: Option<f64>,
    /// How long it keeps a processor, and is off it then, while it has work [ns].
    pub on_ns: f64,
    pub off_ns: f64,
}

impl Rounds {
    /// Time for which it waits from when it gets work until it has none any more, on the mean, if
    /// it runs for so long meanwhile [ns].
    pub fn waits_ns(&self, run_ns: f64) -> f64 {
        let first = match self.credit.map(|others| run_ns * others) {
            Some(due) => self.first_ns * due / (self.first_ns + due).max(1e-9),
            None => self.first_ns,
        };
        if self.off_ns <= 0.0 {
            return first;
        }
        first + self.off_ns * self.cuts(run_ns)
    }

    /// How often turns end while it runs for so long on the mean.
    pub fn cuts(&self, run_ns: f64) -> f64 {
        if self.off_ns <= 0.0 {
            return 0.0;
        }
        (self.on_ns / run_ns.max(1e-9)).exp_m1().max(1e-9).recip()
    }

    /// Share of its time with work in which it has a processor.
    pub fn served(&self, run_ns: f64) -> f64 {
        run_ns / (run_ns + self.waits_ns(run_ns)).max(1e-9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(others: f64) -> Rounds {
        Rounds {
            first_ns: 2e6,
            credit: Some(others),
            on_ns: 4e6 / others.min(1.0),
            off_ns: 4e6 * others.max(1.0),
        }
    }

    #[test]
    fn a_wait_is_made_up_for_at_the_next_comings() {
        // By hand: 2 ms and 0.5 ms that are due, 1 / (1/2 + 1/0.5) = 0.4 ms, and hardly any cut.
        let waits = rounds(1.0).waits_ns(0.5e6);
        assert!((waits / 0.4e6 - 1.0).abs() < 0.01, "{waits}");
        let without = Rounds {
            credit: None,
            ..rounds(1.0)
        };
        assert!((without.waits_ns(0.5e6) / 2e6 - 1.0).abs() < 0.01);
    }

    #[test]
    fn short_and_long_ones_have_their_share() {
        for others in [0.2, 1.0, 3.0] {
            for run_ns in [1e3, 1e9] {
                let served = rounds(others).served(run_ns);
                assert!((served * (1.0 + others) - 1.0).abs() < 0.02, "{served}");
            }
            let between = rounds(others).served(3e6) * (1.0 + others);
            assert!((1.0..1.5).contains(&between), "{between}");
        }
    }

    #[test]
    fn more_others_serve_less() {
        for run_ns in [1e4, 1e6, 1e8] {
            let of = [0.1, 0.5, 1.0, 2.0, 5.0].map(|others| rounds(others).served(run_ns));
            assert!(of.windows(2).all(|two| two[0] > two[1]), "{of:?}");
        }
    }
}
