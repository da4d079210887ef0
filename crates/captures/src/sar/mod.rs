//! `sar -u` and `sar -P` of AIX, `sar -u` and `sar -M` of HP-UX, and of sysstat on Linux, whose
//! `mpstat` has the same form.
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
        ["%usr", "%sys", "%wio", ..] => Some(Heading::plain("sar", words)),
        _ => None,
    }
}
