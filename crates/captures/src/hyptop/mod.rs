//! What hyptop prints in batch mode: its table, and its formats for programs (`json`, `json-seq`,
//! `jsonl`, `pairs`, `csv`). Names of fields are those of the tool, in small letters as its formats
//! for programs have them; values stay text.
//!
//! The layout is that of s390-tools (hyptop/table.c, libutil/util_fmt.c). A look that is cut off is
//! dropped; others are kept.

mod flat;
mod model;
mod objects;
mod table;

pub use model::{Look, Recording, System};

use crate::damage::{Damage, Lenient};
use crate::error::{quoted, CaptureError};

/// Reads all of it.
///
/// # Errors
/// If there is no text, or no look at any system in it.
pub fn read(text: &str) -> Result<Lenient<Recording>, CaptureError> {
    let first = text.trim_start_matches(['\u{1e}', ' ', '\n', '\r', '\t', '\u{feff}']);
    let Some(begin) = first.lines().next() else {
        return Err(CaptureError::Empty { tool: "hyptop" });
    };
    let mut damage = Damage::default();
    let recording = if first.starts_with('{') {
        objects::read(text, &mut damage)
    } else if begin.starts_with('"') || begin.starts_with("meta.") && begin.contains(',') {
        flat::read_csv(text, &mut damage)
    } else if begin.starts_with("meta.") || begin.starts_with("hyptop[") {
        flat::read_pairs(text, &mut damage)
    } else {
        table::read(text, &mut damage)
    };
    if recording.looks.iter().all(|look| look.systems.is_empty()) {
        return Err(CaptureError::Unexpected {
            line: 1 + text[..text.len() - first.len()].matches('\n').count(),
            expected: "a look of hyptop at systems",
            found: quoted(begin),
        });
    }
    Ok(damage.with(recording))
}

#[cfg(test)]
mod tests;
