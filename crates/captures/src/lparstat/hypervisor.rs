//! `lparstat -H`: a row a hypervisor call, closed by a line of dashes.

use crate::capture::{Table, Value};
use crate::error::CaptureError;
use crate::lines::{is_ruler, Lines};
use crate::lparstat::intervals::row;

const TITLE: &str = "Detailed information on Hypervisor Calls";
/// The two lines of each heading in one.
const COLUMNS: [&str; 6] = [
    "Hypervisor Call",
    "Number of Calls",
    "%Total Time Spent",
    "%Hypervisor Time Spent",
    "Avg Call Time(ns)",
    "Max Call Time(ns)",
];
const HEADINGS: [&str; 2] = [
    "Hypervisor        \t    Number of    %Total Time   %Hypervisor   Avg Call    Max Call",
    "  Call              \t      Calls         Spent      Time Spent    Time(ns)    Time(ns)",
];
const WIDTHS: [usize; 5] = [10, 15, 14, 11, 12];
const NAME_WIDTH: usize = 24;
const DASHES: usize = 80;

/// Whether a line is the title.
pub(super) fn begins(line: &str) -> bool {
    line.trim() == TITLE
}

/// One table an interval.
pub(super) fn parse(lines: &mut Lines<'_>) -> Result<Vec<Table>, CaptureError> {
    let mut tables = Vec::new();
    loop {
        lines.skip_blank();
        if !lines.peek().is_some_and(begins) {
            return Ok(tables);
        }
        lines.take();
        tables.push(calls(lines)?);
    }
}

fn calls(lines: &mut Lines<'_>) -> Result<Table, CaptureError> {
    for heading in HEADINGS {
        let same = |line: &str| line.split_whitespace().eq(heading.split_whitespace());
        lines.expect("the headings of the hypervisor calls", same)?;
    }
    let mut table = Table::with_columns(COLUMNS);
    loop {
        let line = lines.expect("a hypervisor call or a line of dashes", |_| true)?;
        if is_ruler(line) {
            return Ok(table);
        }
        let line = line.trim();
        let (name, numbers) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let mut values = vec![Value::Text(name.to_owned())];
        values.extend(row(numbers, lines.last, &table.columns[1..])?);
        table.rows.push(values);
    }
}

/// Title, headings, rows and the closing line.
pub(super) fn format(table: &Table) -> String {
    let title_width = TITLE.len() + 11;
    let rows: String = table.rows.iter().map(|row| line(row)).collect();
    format!(
        "{TITLE:>title_width$}\n\n{}\n\n{rows}{}\n",
        HEADINGS.join("\n"),
        "-".repeat(DASHES)
    )
}

fn line(row: &[Value]) -> String {
    let name = row.first().map(|name| name.text("")).unwrap_or_default();
    let numbers: String = row
        .iter()
        .skip(1)
        .zip(WIDTHS)
        // At least one blank, for numbers wider than their column must stay apart.
        .map(|(value, width)| format!(" {:>width$}", value.text(""), width = width - 1))
        .collect();
    format!("{name:<NAME_WIDTH$}{numbers}\n")
}
