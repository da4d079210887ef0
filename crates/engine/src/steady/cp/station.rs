//! Machines of z/VM that are alike, and what each of them comes to.

use crate::steady::queues::demand::Arrivals;

/// Machines that are alike.
#[derive(Clone, Copy, Debug)]
pub(in crate::steady) struct Station {
    pub count: u32,
    /// Virtual processors of each.
    pub cpus: u32,
    /// What comes to each.
    pub coming: Arrivals,
    /// Time of a transaction on a logical processor that nobody slows down [ns].
    pub service_ns: f64,
}

/// What each of some machines comes to, means over time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::steady) struct Crowd {
    /// Transactions there.
    pub inside: f64,
    /// Done in a nanosecond.
    pub per_ns: f64,
    /// Virtual processors with work.
    pub ready: f64,
    /// Share of what comes that finds one without.
    pub found_idle: f64,
}
