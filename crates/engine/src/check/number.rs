//! Numbers and their ranges.

use super::fault::{SpecFault, Wrong};
use super::owner::{Checked, Owner};

/// Longest time that anything may be set to [ns]: three years, so that no sum of times overflows.
pub(crate) const LONGEST_NS: u64 = 100_000_000_000_000_000;

/// A number: how it is called, and its steps in the spec below its owner's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    name: &'a str,
    steps: &'a str,
}

impl<'a> From<&'a str> for Field<'a> {
    /// Called as in the spec, with dots between the steps.
    fn from(name: &'a str) -> Self {
        Self { name, steps: name }
    }
}

impl<'a> From<(&'a str, &'a str)> for Field<'a> {
    /// Called otherwise than in the spec: the name, then the steps.
    fn from((name, steps): (&'a str, &'a str)) -> Self {
        Self { name, steps }
    }
}

/// A number out of its range.
pub(crate) fn range<'a>(
    owner: &Owner,
    field: impl Into<Field<'a>>,
    value: f64,
    range: &str,
) -> SpecFault {
    let field = field.into();
    let what = Wrong::Range {
        field: field.name.into(),
        value,
        range: range.into(),
    };
    match field.steps {
        "" => owner.refuse(what),
        steps => owner.within(&steps.replace('.', "/")).refuse(what),
    }
}

/// None of the times is longer than it may be.
pub(crate) fn at_most(owner: &Owner, times: &[(&str, u64, u64)]) -> Checked {
    match times.iter().find(|(_, value, most)| value > most) {
        Some((field, value, most)) => Err(range(
            owner,
            *field,
            *value as f64,
            &format!("at most {most}"),
        )),
        None => Ok(()),
    }
}

/// A whole number from `least` to `most`.
pub(crate) fn within<'a>(
    owner: &Owner,
    field: impl Into<Field<'a>>,
    value: u64,
    least: u64,
    most: u64,
) -> Checked {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(range(
        owner,
        field,
        value as f64,
        &format!("{least} to {most}"),
    ))
}

/// A number from `least` to `most`, which the fault calls by `text`; not a number is in no range.
pub(crate) fn between<'a>(
    owner: &Owner,
    field: impl Into<Field<'a>>,
    value: f64,
    least: f64,
    most: f64,
    text: &str,
) -> Checked {
    if value >= least && value <= most {
        Ok(())
    } else {
        Err(range(owner, field, value, text))
    }
}
