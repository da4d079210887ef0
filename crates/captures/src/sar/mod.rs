//! `sar -u` and `sar -P` of AIX, and of sysstat on Linux, whose `mpstat` has the same form.
//!
//! AIX writes the time once an interval and the row `-` for the whole system last; sysstat writes
//! it beside every row and the row `all` first.

use crate::damage::Lenient;
use crate::error::CaptureError;
use crate::reports::{self, First, Heading, Recording};

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

/// Read what sar printed, forgiving.
///
/// # Errors
/// There is no report in the text.
pub fn read(text: &str) -> Result<Lenient<Recording>, CaptureError> {
    reports::read_tool(text, "sar")
}
