//! For how long virtual processors have work, are without it or kept from a core, and among how
//! many it is.

use crate::steady::layout::form::Form;
use crate::steady::layout::state::Doing;

impl Doing {
    /// How long one of its virtual processors runs from when it gets work until it has none any
    /// more [ns]; no end of it where that never is so.
    pub fn run_ns(&self) -> f64 {
        self.served * self.load.vps / self.load.wakes_per_ns
    }

    /// Share of the time with work in which others keep its virtual processors from their cores.
    pub fn kept_off(&self) -> f64 {
        1.0 - (self.let_run / self.limited.max(1e-9)).min(1.0)
    }

    /// Whether it never has all that it wants.
    pub fn stays(&self, form: &Form) -> bool {
        form.demand.arrivals.stay() || self.load.overrun
    }
}

/// How long a virtual processor has a core each time, and is without work then [ns].
pub(in crate::steady) fn on_and_off(doing: &Doing, form: &Form) -> [f64; 2] {
    let wakes = doing.load.wakes_per_ns.max(1e-18);
    let idle = (in_use(doing, form) - doing.load.vps).max(0.0);
    [doing.served * doing.load.vps / wakes, idle / wakes]
}

/// Virtual processors among which the work is, as if they had equal parts: a thread that comes
/// takes the first that is idle, or goes back to where it was, so the last of many hardly ever
/// have work. If the one of place `i` works while `n` are busy and `n > i`, the squares of their
/// parts add up to the mean of the lesser of two such numbers, `m - s / sqrt(pi)` of a normal one.
pub(in crate::steady) fn in_use(doing: &Doing, form: &Form) -> f64 {
    let mean = doing.load.vps;
    let lesser = mean - (doing.load.vps_variance / std::f64::consts::PI).sqrt();
    let parts = mean * mean / lesser.max(0.2 * mean).max(1e-12);
    parts.max(mean).max(1.0).min(f64::from(form.filled.vps()))
}
