//! Tables with a row a logical processor: the default one, `-d` and `-a`.
//!
//! Any of the tool's columns may be there. The last row is `ALL`; a row `U` may stand before it.
//! Some levels print the headings of `-d` twice, the second time with one more; the last ones
//! count.

use crate::capture::{Table, Value};
use crate::error::{quoted, CaptureError};
use crate::layout::{self, Shape};
use crate::lines::Lines;

const FIRST: &str = "cpu";
const LAST_ROW: &str = "ALL";
const UNUSED_ROW: &str = "U";

/// Headings that occur in the default table only.
const DEFAULT_ONLY: [&str; 4] = ["mpc", "int", "mig", "lpa"];
const NARROW: [(&str, usize); 5] = [("us", 2), ("sy", 2), ("wa", 2), ("wt", 2), ("id", 2)];
const DEFAULT_WIDTH: usize = 4;
const COUNTS: [&str; 20] = [
    "min", "maj", "mpcs", "mpcr", "dev", "soft", "dec", "ph", "cs", "ics", "bound", "rq", "push",
    "S3pull", "S3grd", "sysc", "ilcs", "vlcs", "istol", "bstol",
];
const COUNT_WIDTH: usize = 6;
const SHARES: [&str; 17] = [
    "S0rd", "S1rd", "S2rd", "S3rd", "S4rd", "S5rd", "us", "sy", "wa", "wt", "id", "pc", "%ec",
    "S3hrd", "S4hrd", "S5hrd", "%nsp",
];
const SHARE_WIDTH: usize = 5;

/// Headings and rows up to `ALL`.
pub(super) fn parse(lines: &mut Lines<'_>) -> Result<Table, CaptureError> {
    let mut table = Table::default();
    loop {
        let line = lines.expect("headings that begin with cpu, or the row ALL", |_| true)?;
        let words: Vec<&str> = line.split_whitespace().collect();
        if words[0] == FIRST && table.rows.is_empty() {
            table.columns = headings(lines, &words)?;
        } else if table.columns.is_empty() {
            return Err(lines.unexpected("headings that begin with cpu", line));
        } else {
            let row = row(&words, lines.last, &table.columns)?;
            table.rows.push(row);
            if words[0] == LAST_ROW {
                return Ok(table);
            }
        }
    }
}

fn headings(lines: &Lines<'_>, words: &[&str]) -> Result<Vec<String>, CaptureError> {
    for (index, word) in words.iter().enumerate() {
        if words[..index].contains(word) {
            return Err(CaptureError::Twice {
                line: lines.last,
                name: quoted(word),
            });
        }
        let known = *word == FIRST
            || *word == "lcs"
            || DEFAULT_ONLY.contains(word)
            || COUNTS.contains(word)
            || SHARES.contains(word);
        if !known {
            return Err(lines.unexpected("a heading of mpstat", word));
        }
    }
    Ok(words.iter().map(|word| (*word).to_owned()).collect())
}

fn row(words: &[&str], line: usize, columns: &[String]) -> Result<Vec<Value>, CaptureError> {
    if words.len() != columns.len() {
        return Err(CaptureError::Uneven {
            line,
            headings: columns.len(),
            values: words.len(),
        });
    }
    let value = |(index, (word, heading)): (usize, (&&str, &String))| {
        if index == 0 && [LAST_ROW, UNUSED_ROW].contains(word) {
            return Ok(Value::Text((*word).to_owned()));
        }
        Value::cell(word).ok_or_else(|| CaptureError::NotANumber {
            line,
            heading: heading.clone(),
            found: quoted(word),
        })
    };
    words.iter().zip(columns).enumerate().map(value).collect()
}

/// Headings and rows.
pub(super) fn format(table: &Table) -> String {
    let default = table
        .columns
        .iter()
        .any(|name| DEFAULT_ONLY.contains(&name.as_str()));
    let shapes: Vec<Shape> = table
        .columns
        .iter()
        .map(|name| Shape::plain(name, width(name, default)))
        .collect();
    format!(
        "{}\n{}",
        layout::headings(&shapes),
        layout::rows(&shapes, table)
    )
}

fn width(name: &str, default: bool) -> usize {
    if name == FIRST || name == "lpa" {
        3
    } else if default {
        NARROW
            .iter()
            .find(|(narrow, _)| *narrow == name)
            .map_or(DEFAULT_WIDTH, |(_, width)| *width)
    } else if COUNTS.contains(&name) {
        COUNT_WIDTH
    } else {
        SHARE_WIDTH
    }
}
