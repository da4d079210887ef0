//! Headings of mpstat's reports on AIX. What sysstat's mpstat prints on Linux is read like its sar.

use crate::heading::{First, Heading};

/// The report that opens with these headings. Columns that are not known are kept.
pub(crate) fn heading(words: &[&str]) -> Option<Heading> {
    match words {
        ["vcpu", "lcpu", rest @ ..] => Some(Heading::with("mpstat -v", First::Virtual, rest)),
        ["cpu", rest @ ..] => report(rest).map(|name| Heading::with(name, First::Processor, rest)),
        _ => None,
    }
}

fn report(columns: &[&str]) -> Option<&'static str> {
    let has = |name: &str| columns.contains(&name);
    match columns {
        ["pc", "ilcs", "vlcs", ..] => Some("mpstat -h"),
        ["user", "sys", ..] => Some("mpstat -E"),
        ["mpcs", ..] => Some("mpstat -i"),
        _ if has("min") && has("S0rd") => Some("mpstat -a"),
        _ if has("S0rd") => Some("mpstat -d"),
        _ if has("min") && has("maj") || has("lpa") => Some("mpstat"),
        _ if has("us") && has("sy") && has("id") => Some("mpstat"),
        _ => None,
    }
}

/// What the columns of `-s` are called here.
pub(crate) fn threads() -> Heading {
    Heading::with("mpstat -s", First::Processor, &["%"])
}
