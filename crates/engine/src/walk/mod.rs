//! What walking through a buffer costs: an analytic memory-hierarchy walk.
//!
//! One core goes through a buffer again and again, line by line, in one of the [`Pattern`]s. The
//! buffer lives in the innermost level that holds all its bytes ([`level_of`]). A line costs the
//! largest of what runs beside each other:
//!
//! ```text
//! line = max(core, way, lines)
//! core   instructions of the line at the core's rate
//! way    stores on their way to the first level that keeps what is stored, lines from there and
//!        beyond, and lines it gives back for them: one after the other
//! lines  latency and bytes of the lines the core needs, one after the other
//! ```
//!
//! and the sum of all where the core works on nothing while it waits (`lines` = 0).
//!
//! What its own lines make each other wait in front of memory, and those of other cores that do the
//! same, is part of the latency there, by the law of the simulation ([`crate::cost`]).
//!
//! Pure functions over a plain input. Derived, with an example computed
//! by hand, in `docs/background/memory-walk.md`.

mod check;
mod hierarchy;
mod line;
mod load;
mod pattern;
mod question;

pub use check::{check, WalkFault};
pub use hierarchy::{level_of, Hierarchy, Level, Link, Place, Streams};
pub use line::{Cost, Part};
pub use pattern::{Pattern, FILE_READ_BYTES};
pub use question::{Walk, Walked};

/// Answers a question.
///
/// # Errors
/// [`WalkFault`] names the first figure that cannot be.
pub fn walk(question: &Walk) -> Result<Walked, WalkFault> {
    check(question)?;
    let machine = &question.machine;
    let footprint_bytes = question.pattern.footprint(question.bytes);
    let place = level_of(machine, footprint_bytes);
    let cost = load::cost(question);
    let per_ns = 1e9 / machine.clock_hz;
    let parts: Vec<Part> = cost.parts(per_ns);
    let line_ns = parts.iter().map(|part| part.ns).sum::<f64>();
    Ok(Walked {
        level: place.name(machine).to_string(),
        footprint_bytes,
        latency_ns: place.latency_ns(machine),
        line_ns,
        bytes_per_s: f64::from(question.cores) * f64::from(machine.line_bytes) * 1e9 / line_ns,
        parts,
    })
}

#[cfg(test)]
mod tests;
