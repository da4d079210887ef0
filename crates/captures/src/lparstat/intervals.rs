//! The default table of lparstat: one row an interval.

use crate::capture::{Table, Value};
use crate::configuration::is_configuration;
use crate::error::{quoted, CaptureError};
use crate::layout::{self, Shape};
use crate::lines::{is_ruler, Lines};

const FIRST: &str = "%user";

/// Headings with their least widths.
const COLUMNS: [(&str, usize); 21] = [
    (FIRST, 5),
    ("%sys", 5),
    ("%wait", 6),
    ("%idle", 6),
    ("physc", 5),
    ("%entc", 5),
    ("lbusy", 6),
    ("app", 5),
    ("vcsw", 5),
    ("phint", 5),
    ("%hypv", 5),
    ("hcalls", 6),
    ("%nsp", 5),
    ("%utcyc", 6),
    ("%idon", 5),
    ("%bdon", 5),
    ("%istol", 6),
    ("%bstol", 6),
    ("%utuser", 7),
    ("%utsys", 6),
    ("%utidle", 7),
];

/// Headings, ruler and rows up to the next configuration line.
pub(super) fn parse(lines: &mut Lines<'_>) -> Result<Table, CaptureError> {
    let heading = lines.expect("headings that begin with %user", |line| {
        first_word(line) == FIRST
    })?;
    let mut table = Table::default();
    for name in heading.split_whitespace() {
        if !COLUMNS.iter().any(|(known, _)| *known == name) {
            return Err(lines.unexpected("a heading of lparstat", name));
        }
        if table.columns.iter().any(|known| known == name) {
            return Err(CaptureError::Twice {
                line: lines.last,
                name: name.to_owned(),
            });
        }
        table.columns.push(name.to_owned());
    }
    ruler(lines, table.columns.len())?;
    loop {
        lines.skip_blank();
        if lines.peek().is_none_or(is_configuration) {
            return Ok(table);
        }
        let Some(line) = lines.take() else {
            return Ok(table);
        };
        if line
            .split_whitespace()
            .eq(table.columns.iter().map(String::as_str))
        {
            ruler(lines, table.columns.len())?;
        } else {
            let row = row(line, lines.last, &table.columns)?;
            table.rows.push(row);
        }
    }
}

fn first_word(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or_default()
}

fn ruler(lines: &mut Lines<'_>, columns: usize) -> Result<(), CaptureError> {
    let drawn = |line: &str| is_ruler(line) && line.split_whitespace().count() == columns;
    lines
        .expect("a ruler with a piece under each heading", drawn)
        .map(|_| ())
}

/// Values of one line.
pub(super) fn row(
    line: &str,
    number: usize,
    columns: &[String],
) -> Result<Vec<Value>, CaptureError> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.len() != columns.len() {
        return Err(CaptureError::Uneven {
            line: number,
            headings: columns.len(),
            values: words.len(),
        });
    }
    words
        .iter()
        .zip(columns)
        .map(|(word, heading)| {
            Value::cell(word).ok_or_else(|| CaptureError::NotANumber {
                line: number,
                heading: heading.clone(),
                found: quoted(word),
            })
        })
        .collect()
}

/// Headings, ruler and rows, with the irregular headings of recorded output.
pub(super) fn format(table: &Table) -> String {
    let shared = table.columns.iter().any(|name| name == "%entc");
    let shapes: Vec<Shape> = table
        .columns
        .iter()
        .map(|name| shape(name, shared))
        .collect();
    format!(
        "{}\n{}\n{}",
        layout::headings(&shapes),
        layout::rulers(&shapes),
        layout::rows(&shapes, table)
    )
}

fn shape(name: &str, shared: bool) -> Shape {
    let width = COLUMNS
        .iter()
        .find(|(known, _)| *known == name)
        .map_or(name.len(), |(_, width)| *width);
    let mut shape = Shape::plain(name, width);
    match (name, shared) {
        ("app", _) => shape.ruler = "  ---".to_owned(),
        ("%utcyc", true) => {
            shape.heading = " %utcyc".to_owned();
            shape.ruler = " ------".to_owned();
        }
        ("%utcyc", false) => shape.heading = " %utcyc".to_owned(),
        ("%nsp", false) => shape.heading = "  %nsp".to_owned(),
        _ => {}
    }
    shape
}
