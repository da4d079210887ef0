//! `mpstat -s`: virtual processors side by side, each over its logical ones.
//!
//! Four lines a block: names and shares of the virtual processors, names and shares of the
//! logical ones. Every virtual processor has the same number of threads, so that the names need
//! not be matched by their place in the line.

use crate::capture::{Table, Value};
use crate::configuration::is_configuration;
use crate::error::{quoted, CaptureError};
use crate::lines::{is_ruler, Lines};
use crate::number::Unit;

const COLUMNS: [&str; 3] = ["Proc", "cpu", "%"];
const VIRTUAL: &str = "Proc";
const LOGICAL: &str = "cpu";
const CELL: usize = 9;
const LINE: usize = 80;

/// Whether a line names virtual processors.
pub(super) fn begins(line: &str) -> bool {
    line.trim_start().starts_with(VIRTUAL)
}

/// All blocks of one report; it ends where a processor would come again.
pub(super) fn parse(lines: &mut Lines<'_>) -> Result<Table, CaptureError> {
    let mut table = Table::with_columns(COLUMNS);
    loop {
        block(lines, &mut table)?;
        lines.skip_blank();
        let again = |line: &str| {
            line.split_whitespace()
                .next()
                .is_some_and(|name| is_known(&table, name))
        };
        if lines
            .peek()
            .is_none_or(|line| is_configuration(line) || is_ruler(line) || again(line))
        {
            return Ok(table);
        }
    }
}

fn is_known(table: &Table, name: &str) -> bool {
    table
        .rows
        .iter()
        .any(|row| row[0] == Value::Text(name.to_owned()))
}

fn block(lines: &mut Lines<'_>, table: &mut Table) -> Result<(), CaptureError> {
    let processors = names(lines, VIRTUAL, "a line of processors (Proc0 ...)")?;
    let processor_shares = shares(lines, processors.len())?;
    let cpus = names(lines, LOGICAL, "a line of logical processors (cpu0 ...)")?;
    if cpus.len() % processors.len() != 0 {
        return Err(CaptureError::Uneven {
            line: lines.last,
            headings: processors.len(),
            values: cpus.len(),
        });
    }
    let cpu_shares = shares(lines, cpus.len())?;
    let threads = cpus.len() / processors.len();
    for (index, (name, share)) in processors.iter().zip(processor_shares).enumerate() {
        if is_known(table, name) {
            return Err(CaptureError::Twice {
                line: lines.last,
                name: quoted(name),
            });
        }
        let processor = Value::Text((*name).to_owned());
        table
            .rows
            .push(vec![processor.clone(), Value::Missing, share]);
        for thread in index * threads..(index + 1) * threads {
            let cpu = Value::Text(cpus[thread].to_owned());
            table
                .rows
                .push(vec![processor.clone(), cpu, cpu_shares[thread].clone()]);
        }
    }
    Ok(())
}

/// Words of the form `Proc0`, at least one.
fn names<'a>(
    lines: &mut Lines<'a>,
    prefix: &str,
    expected: &'static str,
) -> Result<Vec<&'a str>, CaptureError> {
    let numbered = |word: &str| {
        let number = word.strip_prefix(prefix).unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    let line = lines.expect(expected, |line| line.split_whitespace().all(numbered))?;
    Ok(line.split_whitespace().collect())
}

/// As many percentages as there are names.
fn shares(lines: &mut Lines<'_>, names: usize) -> Result<Vec<Value>, CaptureError> {
    let line = lines.expect("a line of percentages", |_| true)?;
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.len() != names {
        return Err(CaptureError::Uneven {
            line: lines.last,
            headings: names,
            values: words.len(),
        });
    }
    let share = |word: &&str| match Value::any(word) {
        value @ Value::Measure(_, Unit::Percent) => Ok(value),
        _ => Err(CaptureError::NotANumber {
            line: lines.last,
            heading: "%".into(),
            found: quoted(word),
        }),
    };
    words.iter().map(share).collect()
}

/// Blocks that fit a line; processors with different numbers of threads do not share one.
pub(super) fn format(table: &Table) -> String {
    let mut processors: Vec<Vec<&[Value]>> = Vec::new();
    for row in &table.rows {
        if processors.is_empty() || row.get(1) == Some(&Value::Missing) {
            processors.push(Vec::new());
        }
        if let Some(processor) = processors.last_mut() {
            processor.push(row);
        }
    }
    let blocks: Vec<String> = processors
        .chunk_by(|one, next| one.len() == next.len())
        .flat_map(|alike| alike.chunks((LINE / (CELL * threads(&alike[0]))).max(1)))
        .map(format_block)
        .collect();
    blocks.join("\n")
}

/// Logical processors beneath a virtual one.
fn threads(rows: &[&[Value]]) -> usize {
    rows.len().saturating_sub(1).max(1)
}

fn format_block(block: &[Vec<&[Value]>]) -> String {
    let line = |column: usize, logical: bool| {
        let cells = block.iter().flat_map(|rows| {
            let (chosen, width) = if logical {
                (rows.get(1..).unwrap_or_default(), CELL)
            } else {
                (rows.get(..1).unwrap_or_default(), CELL * threads(rows))
            };
            chosen
                .iter()
                .map(move |row| cell(row.get(column), width, logical))
        });
        let text: String = cells.collect();
        format!("{}\n", text.trim_end())
    };
    [line(0, false), line(2, false), line(1, true), line(2, true)].concat()
}

/// A cell: logical processors to the right, virtual ones in the middle of those beneath; at least a
/// blank apart.
fn cell(value: Option<&Value>, width: usize, logical: bool) -> String {
    let text = value.map(|value| value.text("")).unwrap_or_default();
    let space = width.saturating_sub(text.len()).max(1);
    let left = if logical { space } else { (space / 2).max(1) };
    format!("{}{text}{}", " ".repeat(left), " ".repeat(space - left))
}
