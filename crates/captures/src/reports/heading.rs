//! Which report a line of headings opens.

use crate::heading::Heading;
use crate::{lparstat, lssrad, mpstat, sar, vmstat};

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
