//! Which report a line of headings opens.

use crate::{lparstat, lssrad, mpstat, sar, vmstat};

/// What the first column of a report holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum First {
    /// A value like the others: a row an interval.
    Value,
    /// Name of a logical processor, or of all: rows an interval.
    Processor,
    /// Number of a virtual processor, or blanks and that of a logical one.
    Virtual,
}

/// A line of headings that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heading {
    pub(crate) report: &'static str,
    pub(crate) first: First,
    /// Headings of the values, each once.
    pub(crate) columns: Vec<String>,
}

impl Heading {
    /// A row an interval.
    pub(crate) fn plain(report: &'static str, words: &[&str]) -> Self {
        Self::with(report, First::Value, words)
    }

    /// Rows an interval; `words` are those behind the first.
    pub(crate) fn with(report: &'static str, first: First, words: &[&str]) -> Self {
        let mut columns: Vec<String> = Vec::new();
        for word in words {
            let again = columns.iter().any(|known| known == word);
            // Of two columns of one name the second belongs to the processor in all reports.
            columns.push(if again {
                format!("{word}#2")
            } else {
                (*word).to_owned()
            });
        }
        Self {
            report,
            first,
            columns,
        }
    }
}

/// Most columns that any report has, with room to spare.
const MOST_COLUMNS: usize = 80;

/// The report whose headings these words are.
pub(crate) fn recognise(words: &[&str]) -> Option<Heading> {
    if words.len() < 2 || words.len() > MOST_COLUMNS {
        return None;
    }
    let known = [
        lparstat::heading,
        mpstat::heading,
        vmstat::heading,
        sar::heading,
    ];
    known.iter().find_map(|heading| heading(words))
}

/// Whether the words open a listing of `lssrad`.
pub(crate) fn is_affinity(words: &[&str]) -> bool {
    lssrad::is_heading(words)
}

/// Drop what stands over the time at either end: `hr mi se`, `time`, a time zone.
pub(crate) fn without_time<'a, 'b>(words: &'b [&'a str]) -> &'b [&'a str] {
    let names = ["hr", "mi", "se", "time", "date", "timestamp", "hh:mm:ss"];
    let is_time = |word: &&str| names.iter().any(|name| name.eq_ignore_ascii_case(word));
    let start = words.iter().position(|word| !is_time(word));
    let end = words.iter().rposition(|word| !is_time(word));
    match (start, end) {
        (Some(start), Some(end)) => &words[start..=end],
        _ => &[],
    }
}
