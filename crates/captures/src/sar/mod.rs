//! `sar -u`, `sar -P` and `sar -w` of AIX, `sar -u` and `sar -M` of HP-UX, and of sysstat on Linux,
//! whose `mpstat` has the same form; the shares of time of its `iostat`.
//!
//! AIX writes the time once an interval and the row `-` for the whole system last, as HP-UX does
//! with the row `system`; sysstat writes it beside every row and the row `all` first.

use crate::heading::{First, Heading};

/// The report that opens with these headings.
pub(crate) fn heading(words: &[&str]) -> Option<Heading> {
    let is_use =
        |rest: &[&str]| matches!(rest.first(), Some(&"%usr" | &"%user")) && rest.contains(&"%idle");
    match words {
        ["cpu" | "CPU", rest @ ..] if is_use(rest) => {
            Some(Heading::with("sar", First::Processor, rest))
        }
        ["avg-cpu:", rest @ ..] if is_use(rest) => Some(Heading::plain("iostat", rest)),
        ["%usr", "%sys", "%wio", ..] => Some(Heading::plain("sar", words)),
        ["proc/s", "cswch/s"] => Some(Heading::plain("sar -w", words)),
        words if is_alone(words) => Some(Heading::plain("sar -w", words)),
        _ => None,
    }
}

/// Whether one word is a heading by itself: `sar -w` of AIX has this column only.
pub(crate) fn is_alone(words: &[&str]) -> bool {
    words == ["cswch/s"]
}
