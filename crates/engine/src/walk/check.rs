//! What cannot be is refused by name.

use super::hierarchy::Hierarchy;
use super::question::Walk;

/// A question without an answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WalkFault {
    /// A figure must be a number above 0.
    #[error("walk: {what} is {there}; it must be above 0")]
    NotPositive {
        /// Which figure.
        what: String,
        /// Its value.
        there: f64,
    },
    /// A figure must not be negative.
    #[error("walk: {what} is {there}; it must be 0 or more")]
    Negative {
        /// Which figure.
        what: String,
        /// Its value.
        there: f64,
    },
    /// A level further out is smaller or faster than one further in.
    #[error("walk: {outer} lies outside {inner} but is {how}")]
    Order {
        /// The level further in.
        inner: String,
        /// The one further out.
        outer: String,
        /// What is wrong.
        how: &'static str,
    },
    /// A name that is no level's.
    #[error("walk: {what} names the level '{name}', which is none of the caches")]
    Unknown {
        /// Which figure.
        what: &'static str,
        /// Level that is not there.
        name: String,
    },
    /// A machine without a cache.
    #[error("walk: the machine has no cache")]
    NoCache,
}

/// Checks every figure of a question.
///
/// # Errors
/// The first that cannot be.
pub fn check(question: &Walk) -> Result<(), WalkFault> {
    let machine = &question.machine;
    positive("bytes", question.bytes as f64)?;
    positive("cores", f64::from(question.cores))?;
    check_figures(machine)?;
    check_levels(machine)?;
    let known = |name: &str| machine.caches.iter().any(|level| level.name == name);
    if !known(&machine.streams.store_in) {
        return Err(unknown("streams.store_in", &machine.streams.store_in));
    }
    for link in &machine.links {
        if !known(&link.name) {
            return Err(unknown("links", &link.name));
        }
        positive(
            &format!("links.{}.bytes_per_s", link.name),
            link.bytes_per_s,
        )?;
    }
    Ok(())
}

fn check_figures(machine: &Hierarchy) -> Result<(), WalkFault> {
    let (streams, how) = (&machine.streams, machine.memory_load.unwrap_or_default());
    for (what, there) in [
        ("clock_hz", machine.clock_hz),
        ("line_bytes", f64::from(machine.line_bytes)),
        ("memory_latency_ns", machine.memory_latency_ns),
        ("memory_bytes_per_s", machine.memory_bytes_per_s),
        ("streams.instructions", streams.instructions),
        ("streams.loads", streams.loads),
        ("streams.stores", streams.stores),
        ("streams.sum_cycles", streams.sum_cycles),
        ("streams.move_bytes", streams.move_bytes),
        ("streams.store_width_bytes", streams.store_width_bytes),
        ("streams.gather_bytes", streams.gather_bytes.unwrap_or(1.0)),
    ] {
        positive(what, there)?;
    }
    for (what, there) in [
        ("streams.move_start_cycles", streams.move_start_cycles),
        (
            "streams.store_interval_cycles",
            streams.store_interval_cycles,
        ),
        ("streams.lines", streams.lines),
        ("memory_load.bank_ns", how.bank_ns),
        ("memory_load.channel_wait", how.channel_wait),
        ("memory_load.write_cost", how.write_cost),
    ] {
        if !(there >= 0.0 && there.is_finite()) {
            let what = what.to_string();
            return Err(WalkFault::Negative { what, there });
        }
    }
    Ok(())
}

fn check_levels(machine: &Hierarchy) -> Result<(), WalkFault> {
    let Some(last) = machine.caches.last() else {
        return Err(WalkFault::NoCache);
    };
    for level in &machine.caches {
        positive(&format!("caches.{}.bytes", level.name), level.bytes as f64)?;
        positive(
            &format!("caches.{}.latency_ns", level.name),
            level.latency_ns,
        )?;
    }
    let order = |inner: &str, outer: &str, how| WalkFault::Order {
        inner: inner.to_string(),
        outer: outer.to_string(),
        how,
    };
    for pair in machine.caches.windows(2) {
        if pair[1].bytes < pair[0].bytes {
            return Err(order(&pair[0].name, &pair[1].name, "smaller"));
        }
        if pair[1].latency_ns < pair[0].latency_ns {
            return Err(order(&pair[0].name, &pair[1].name, "faster"));
        }
    }
    if machine.memory_latency_ns < last.latency_ns {
        return Err(order(&last.name, "memory", "faster"));
    }
    Ok(())
}

fn positive(what: &str, there: f64) -> Result<(), WalkFault> {
    if there > 0.0 && there.is_finite() {
        return Ok(());
    }
    let what = what.to_string();
    Err(WalkFault::NotPositive { what, there })
}

fn unknown(what: &'static str, name: &str) -> WalkFault {
    let name = name.to_string();
    WalkFault::Unknown { what, name }
}
