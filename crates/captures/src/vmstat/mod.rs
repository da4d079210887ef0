//! `vmstat` of AIX and Linux: a row an interval.
//!
//! `-t` puts the time at the end of a row. `-v`, `-s`, `-i` and `-f` list counters since the system
//! started, of which no interval can be made: they are left out with a remark.

use crate::heading::Heading;

/// The last columns that a level may have.
const LAST: [&str; 8] = ["us", "sy", "id", "wa", "st", "gu", "pc", "ec"];

/// The report that opens with these headings; what stands behind the processor's columns is the
/// zone of the time.
pub(crate) fn heading(words: &[&str]) -> Option<Heading> {
    let ["r", "b", ..] = words else {
        return None;
    };
    let last = words.iter().rposition(|word| LAST.contains(word))?;
    let whole = ["us", "sy", "id"].iter().all(|name| words.contains(name));
    whole.then(|| Heading::plain("vmstat", &words[..=last]))
}

/// Whether a line stands over groups of headings.
pub(crate) fn is_group(words: &[&str]) -> bool {
    matches!(
        words.first(),
        Some(&"kthr" | &"Kthr" | &"procs" | &"procs_r_b" | &"--procs--")
    ) || words
        .first()
        .is_some_and(|word| word.starts_with("procs") || word.starts_with("kthr"))
}
