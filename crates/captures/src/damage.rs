//! What was dropped of a damaged text: counted in full, named as far as a person reads.

use serde::Serialize;

use crate::error::sentence;
use crate::reading::Remark;

/// Remarks that are kept; what comes after them is counted only.
const MOST_REMARKS: usize = 50;

/// What a forgiving reader hands over.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lenient<T> {
    /// What was sound.
    pub found: T,
    /// Lines, or records, that were dropped.
    pub dropped: u64,
    /// The first of them, and what was understood with a grain of salt.
    pub remarks: Vec<Remark>,
}

/// Drops and remarks while a text is read; its memory is bounded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Damage {
    dropped: u64,
    remarks: Vec<Remark>,
}

impl Damage {
    /// A line, counted from 1, is left out for a reason.
    pub(crate) fn drop_line(&mut self, line: usize, why: impl FnOnce() -> String) {
        self.dropped += 1;
        self.remark(line, why);
    }

    /// A line is left out for a reason that was told of an earlier one.
    pub(crate) fn count_line(&mut self) {
        self.dropped += 1;
    }

    /// Something is worth saying of a line that is kept.
    pub(crate) fn remark(&mut self, line: usize, text: impl FnOnce() -> String) {
        if self.remarks.len() < MOST_REMARKS {
            let text = sentence(text());
            self.remarks.push(Remark { line, text });
        }
    }

    /// How many were dropped so far.
    #[cfg(test)]
    pub(crate) const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The first thing that was worth saying, if anything was.
    pub(crate) fn first(&self) -> Option<&str> {
        self.remarks.first().map(|remark| remark.text.as_str())
    }

    /// The drops beside what was found.
    pub(crate) fn with<T>(self, found: T) -> Lenient<T> {
        Lenient {
            found,
            dropped: self.dropped,
            remarks: self.remarks,
        }
    }
}

/// The last line of a text has no end: a number in it may be shorter than it was.
pub(crate) fn no_end_of_line(damage: &mut Damage, line: usize) {
    let why = || "the last line has no end; it may be cut off".to_owned();
    damage.remark(line.max(1), why);
}
