//! `[CPU Details]` of `vparstatus -v`.

use crate::blocks::{fields, Block, Field};
use crate::error::CaptureError;
use crate::reading::Notes;
use crate::vparstatus::memory;
use crate::vparstatus::model::{CellCount, Processors};
use crate::vparstatus::values::{self, At};

pub(super) const SECTION: &str = "CPU Details";
const PLACEHOLDER: &str = "<no path>";
const NONE: &str = "<none>";
const LIMITS: &str = "Min/Max";
const USER: &str = "User assigned [Path]";
const BOOT: &str = "Boot processor [Path]";
const MONITOR: &str = "Monitor assigned [Path]";
const COUNTS: &str = "Non-cell-specific";
const USER_COUNT: &str = "User assigned [Count]";
const MONITOR_COUNT: &str = "Monitor assigned [Count]";
const CELL_COUNT: &str = "Cell-specific [Count]";
/// Up to A.03 processors are bound, by whoever, or unbound.
const OLD_USER: &str = "Bound by User [Path]";
const OLD_MONITOR: &str = "Bound by Monitor [Path]";
const OLD_UNBOUND: &str = "Unbound [Path]";
const CPU_LABELS: [&str; 11] = [
    LIMITS,
    USER,
    BOOT,
    MONITOR,
    COUNTS,
    USER_COUNT,
    MONITOR_COUNT,
    CELL_COUNT,
    OLD_USER,
    OLD_MONITOR,
    OLD_UNBOUND,
];

/// Read the section of a partition.
pub(super) fn parse(
    block: &Block<'_>,
    name: &str,
    notes: &mut Notes,
) -> Result<Processors, CaptureError> {
    let mut found = Processors::default();
    let mut limited = false;
    for field in fields(block, &CPU_LABELS, notes) {
        let text = field.text();
        let at = At {
            text: &text,
            line: field.line,
            heading: field.label,
            unit: "",
        };
        match field.label {
            LIMITS => {
                limited = true;
                (found.minimum, found.maximum) = limits(at)?;
                notes.place(name, "processors.limits", field.line);
            }
            USER | OLD_USER => found.user = paths(&field)?,
            MONITOR | OLD_MONITOR => found.monitor.extend(paths(&field)?),
            OLD_UNBOUND => {
                found.monitor.extend(paths(&field)?);
                notes.remark(field.line, "unbound processors count as monitor assigned");
            }
            BOOT => {
                notes.place(name, "processors.boot", field.line);
                found.boot = match text.as_str() {
                    "" | PLACEHOLDER | NONE => None,
                    _ => Some(values::processor(at)?),
                };
            }
            USER_COUNT => found.user_count = at.amount().count()?,
            MONITOR_COUNT => found.monitor_count = at.amount().count()?,
            CELL_COUNT => found.by_cell = cell_counts(&field)?,
            _ => {}
        }
        if [USER, MONITOR, OLD_USER, OLD_MONITOR].contains(&field.label) {
            notes.place(name, "processors.paths", field.line);
        }
    }
    if limited {
        return Ok(found);
    }
    Err(CaptureError::Missing {
        line: block.line,
        name: name.to_owned(),
        section: LIMITS,
    })
}

/// `1/12`
pub(super) fn limits(at: At<'_>) -> Result<(u32, u32), CaptureError> {
    let (least, most) = at
        .text
        .split_once('/')
        .ok_or(at.unexpected("the least and the most processors, such as 1/12"))?;
    Ok((
        at.of(least.trim()).amount().count()?,
        at.of(most.trim()).amount().count()?,
    ))
}

/// One path a word; none for a placeholder.
fn paths(field: &Field<'_>) -> Result<Vec<Option<String>>, CaptureError> {
    let mut paths = Vec::new();
    for line in &field.values {
        let text = line.text.replace(PLACEHOLDER, "<>");
        for word in text.split_whitespace().filter(|word| *word != NONE) {
            let at = At {
                text: word,
                line: line.number,
                heading: field.label,
                unit: "",
            };
            let path = (word != "<>").then(|| values::processor(at));
            paths.push(path.transpose()?);
        }
    }
    Ok(paths)
}

/// `1 2` or `1/2` a line: two processors of cell 1.
fn cell_counts(field: &Field<'_>) -> Result<Vec<CellCount>, CaptureError> {
    let mut counts = Vec::new();
    for line in &field.values {
        let text = line.text.replace("Cell ID/Count", "").replace(NONE, "");
        if text.trim().is_empty() {
            continue;
        }
        let at = At {
            text: text.trim(),
            line: line.number,
            heading: field.label,
            unit: "",
        };
        counts.push(cell_count(at)?);
    }
    Ok(counts)
}

/// `1 2` or `1/2`: two processors of cell 1.
pub(super) fn cell_count(at: At<'_>) -> Result<CellCount, CaptureError> {
    let (cell, count) = at
        .text
        .split_once(|c: char| c.is_whitespace() || c == '/')
        .ok_or(at.unexpected("a cell and a number of processors, such as 1 2"))?;
    Ok(CellCount {
        cell: at.of(cell).amount().count()?,
        count: at.of(count.trim()).amount().count()?,
    })
}

/// The section, heading and all, after an empty line.
pub(super) fn format(processors: &Processors) -> String {
    let path = |path: &Option<String>| path.clone().unwrap_or_else(|| PLACEHOLDER.to_owned());
    let listed = |label: &str, paths: &[Option<String>]| {
        memory::listed(&format!("{label}:"), paths.iter().map(path))
    };
    let boot = processors.boot.clone();
    let mut text = format!("\n[{SECTION}]\n{LIMITS}:  ");
    text += &format!("{}/{}\n", processors.minimum, processors.maximum);
    text += &listed(USER, &processors.user);
    text += &memory::listed(&format!("{BOOT}:"), boot.into_iter());
    text += &listed(MONITOR, &processors.monitor);
    text += &format!("{COUNTS}:\n");
    text += &format!("  {USER_COUNT}:  {}\n", processors.user_count);
    text += &format!("  {MONITOR_COUNT}:  {}\n", processors.monitor_count);
    let head = std::iter::once("Cell ID/Count".to_owned());
    let counts = processors.by_cell.iter();
    let counts = counts.map(|of| format!("{:>4} {:>6}", of.cell, of.count));
    text + &memory::listed(&format!("{CELL_COUNT}:"), head.chain(counts))
}
