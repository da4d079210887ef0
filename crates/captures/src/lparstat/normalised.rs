//! `lparstat -E`: cores by state, clock, cores by state at the nominal clock.

use crate::capture::{Table, Value};
use crate::configuration::is_configuration;
use crate::error::CaptureError;
use crate::lines::Lines;
use crate::lparstat::intervals::row;

const TITLE: &str = "Physical Processor Utilisation:";
const COLUMNS: [&str; 9] = [
    "user", "sys", "wait", "idle", "freq", "nuser", "nsys", "nwait", "nidle",
];
const CLOCK: usize = 4;
const HEADINGS: [&str; 3] = [
    " --------Actual--------              ------Normalised------",
    " user   sys  wait  idle      freq    user   sys  wait  idle",
    " ----  ----  ----  ----   ---------  ----  ----  ----  ----",
];

/// Whether a line is the title.
pub(super) fn begins(line: &str) -> bool {
    line.trim() == TITLE
}

/// Title, headings and rows up to the next configuration line; the clock stays text.
pub(super) fn parse(lines: &mut Lines<'_>) -> Result<Table, CaptureError> {
    lines.take();
    for heading in HEADINGS {
        let same = |line: &str| line.split_whitespace().eq(heading.split_whitespace());
        lines.expect("the headings of the physical utilisation", same)?;
    }
    let mut table = Table::with_columns(COLUMNS);
    loop {
        lines.skip_blank();
        if lines.peek().is_none_or(is_configuration) {
            return Ok(table);
        }
        let Some(line) = lines.take() else {
            return Ok(table);
        };
        let values = values(line, lines.last, &table.columns)?;
        table.rows.push(values);
    }
}

/// A slow clock is written `3.6GHz[ 97%]`: the blank within belongs to the value.
fn values(line: &str, number: usize, columns: &[String]) -> Result<Vec<Value>, CaptureError> {
    let (before, after) = line.split_once('[').unwrap_or((line, ""));
    let joined = format!("{before}[{}", after.trim_start());
    let words: Vec<&str> = joined.split_whitespace().collect();
    let is_clock = |word: &str| word.contains("GHz[") && word.ends_with("%]");
    if words.len() != columns.len() || !is_clock(words[CLOCK]) {
        return Err(CaptureError::Uneven {
            line: number,
            headings: columns.len(),
            values: words.len(),
        });
    }
    let numbers = [&words[..CLOCK], &words[CLOCK + 1..]].concat().join(" ");
    let headings = [&columns[..CLOCK], &columns[CLOCK + 1..]].concat();
    let mut values = row(&numbers, number, &headings)?;
    values.insert(CLOCK, Value::Text(words[CLOCK].to_owned()));
    Ok(values)
}

/// Title, headings and rows.
pub(super) fn format(table: &Table) -> String {
    let line = |row: &Vec<Value>| {
        let cells: Vec<String> = row
            .iter()
            .map(|value| format!("{:>5}", clock(&value.text(""))))
            .collect();
        cells.join(" ") + "\n"
    };
    let rows: String = table.rows.iter().map(line).collect();
    format!("{TITLE}\n\n{}\n{rows}", HEADINGS.join("\n"))
}

/// The percentage of a clock is three digits wide.
fn clock(text: &str) -> String {
    match text.split_once('[') {
        Some((speed, share)) => format!("{speed}[{share:>5}"),
        None => text.to_owned(),
    }
}
