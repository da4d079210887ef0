//! `lparstat -i`: a label, a colon and a value a line.
//!
//! Blanks within a label vary between recordings and count as one; decimals may have a comma.

use std::collections::HashSet;

use crate::capture::{Capture, Report, Section, Table, Value};
use crate::error::{quoted, CaptureError};
use crate::lines::Lines;

const COLUMNS: [&str; 2] = ["name", "value"];
const FIRST: &str = "Node Name";
/// Labels whose values are names even if they look like numbers.
const NAMES: [&str; 2] = [FIRST, "Partition Name"];
const LABEL_WIDTH: usize = 43;

/// The whole listing.
pub(super) fn parse(lines: &mut Lines<'_>) -> Result<Capture, CaptureError> {
    let mut table = Table::with_columns(COLUMNS);
    let mut known = HashSet::new();
    lines.skip_blank();
    while let Some(line) = lines.take() {
        let (label, value) = fact(lines, line)?;
        if table.rows.is_empty() && label != FIRST {
            return Err(lines.unexpected("a System configuration line or the Node Name", line));
        }
        if !known.insert(label.clone()) {
            return Err(CaptureError::Twice {
                line: lines.last,
                name: quoted(&label),
            });
        }
        table.rows.push(vec![Value::Text(label), value]);
        lines.skip_blank();
    }
    let sections = vec![Section {
        configuration: Vec::new(),
        tables: vec![table],
    }];
    Ok(Capture {
        report: Report::LparstatInformation,
        sections,
    })
}

fn fact(lines: &Lines<'_>, line: &str) -> Result<(String, Value), CaptureError> {
    let parts = line
        .split_once(':')
        .map(|(label, value)| (words(label), value.trim()));
    match parts {
        Some((label, value)) if !label.is_empty() && !value.is_empty() => {
            let is_name = NAMES.contains(&label.as_str());
            let value = if is_name {
                Value::Text(value.to_owned())
            } else {
                Value::any(value)
            };
            Ok((label, value))
        }
        _ => Err(lines.unexpected("a label, a colon and a value", line)),
    }
}

/// Words with one blank between them.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The listing; a label as long as the column touches its colon.
pub(super) fn format(table: &Table) -> String {
    let line = |row: &Vec<Value>| match row.as_slice() {
        [label, value] => format!("{:<LABEL_WIDTH$}: {}\n", label.text(""), value.text(" ")),
        _ => String::new(),
    };
    table.rows.iter().map(line).collect()
}
