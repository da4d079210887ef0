//! The tools whose reports are known, and which of them a line of headings is of. No other file of
//! the reports names a tool's, and no tool knows the reports.

use crate::heading::Heading;
use crate::{lparstat, mpstat, sar, vmstat};

pub(crate) use crate::lparstat::{calls, LABELS};
pub use crate::lssrad::Domain;
pub(crate) use crate::lssrad::{is_heading as is_affinity, row as affinity, Row as AffinityRow};
pub(crate) use crate::mpstat::shares;
pub(crate) use crate::vmstat::is_group;

/// Most columns that any report has, with room to spare.
const MOST_COLUMNS: usize = 80;

/// The report whose headings these words are.
pub(crate) fn recognise(words: &[&str]) -> Option<Heading> {
    let too_few = words.len() < 2 && !sar::is_alone(words);
    if too_few || words.len() > MOST_COLUMNS {
        return None;
    }
    // Asked in this order: the first that knows the words has them.
    let known = [
        lparstat::heading,
        mpstat::heading,
        vmstat::heading,
        sar::heading,
    ];
    known.iter().find_map(|heading| heading(words))
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
