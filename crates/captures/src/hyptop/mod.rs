//! What hyptop prints in batch mode: its table, and its formats for programs (`json`, `json-seq`,
//! `jsonl`, `pairs`, `csv`). Names of fields are those of the tool, in small letters as its formats
//! for programs have them; values stay text.
//!
//! The layout is that of s390-tools (hyptop/table.c, libutil/util_fmt.c). A look that is cut off is
//! dropped; others are kept.

mod flat;
mod objects;
mod table;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::damage::{Damage, Lenient};
use crate::error::{quoted, CaptureError};

/// All that was printed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Recording {
    /// What is said of the recording as a whole: host, time, `tool_invocation`.
    pub meta: BTreeMap<String, String>,
    /// In the order of the text.
    pub looks: Vec<Look>,
}

/// One look at the systems.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Look {
    /// Line it begins on, from 1.
    pub line: usize,
    /// As it is printed; empty if it is not.
    pub time: String,
    /// Processors by type.
    pub cpu_types: BTreeMap<String, u32>,
    /// Units by field, where they are told.
    pub units: BTreeMap<String, String>,
    /// Partitions or virtual machines.
    pub systems: Vec<System>,
}

/// One system.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct System {
    /// Its name.
    pub name: String,
    /// Line, from 1.
    pub line: usize,
    /// Values by field; what is not known is not there.
    pub values: BTreeMap<String, String>,
}

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

impl Look {
    fn beginning(line: usize) -> Self {
        Self {
            line,
            ..Self::default()
        }
    }
}

impl System {
    /// Takes a value; `-` and nothing at all say that it is not known.
    fn put(&mut self, field: &str, text: &str) {
        let field = field.trim().to_lowercase();
        match text.trim() {
            "" | "-" | "null" => {}
            text if field == "system" => text.clone_into(&mut self.name),
            text => {
                self.values.insert(field, text.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests;
