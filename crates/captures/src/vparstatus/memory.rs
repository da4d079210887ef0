//! `[Memory Details]` of `vparstatus -v`.

use crate::blocks::{fields, Block, Field};
use crate::error::{quoted, CaptureError};
use crate::reading::Notes;
use crate::vparstatus::model::{CellMemory, Memory, Range};
use crate::vparstatus::values::{self, At};

pub(super) const SECTION: &str = "Memory Details";
const ILM_USER: &str = "ILM, user-assigned [Base /Range]";
const ILM_MONITOR: &str = "ILM, monitor-assigned [Base /Range]";
const ILM_TOTAL: &str = "ILM Total";
const ILM_GRANULE: &str = "ILM Granularity";
const CLM_USER: &str = "CLM, user-assigned [CellID Base /Range]";
const CLM_MONITOR: &str = "CLM, monitor-assigned [CellID Base /Range]";
const CLM_TOTAL: &str = "CLM (CellID MB)";
const CLM_GRANULE: &str = "CLM Granularity";
/// Up to A.03: all memory is interleaved.
const OLD_USER: &str = "Specified [Base /Range]";
const OLD_TOTAL: &str = "Total Memory";
const LABELS: [&str; 10] = [
    ILM_USER,
    ILM_MONITOR,
    ILM_TOTAL,
    ILM_GRANULE,
    CLM_USER,
    CLM_MONITOR,
    CLM_TOTAL,
    CLM_GRANULE,
    OLD_USER,
    OLD_TOTAL,
];

/// Read the section of a partition.
pub(super) fn parse(
    block: &Block<'_>,
    name: &str,
    notes: &mut Notes,
) -> Result<Memory, CaptureError> {
    let found = fields(block, &LABELS, notes);
    let mut memory = Memory::default();
    for (index, field) in found.iter().enumerate() {
        if found[..index]
            .iter()
            .any(|other| other.label == field.label)
        {
            return Err(CaptureError::Twice {
                line: field.line,
                name: field.label.to_owned(),
            });
        }
        read(field, &mut memory, notes)?;
        if let Some(fact) = fact(field.label) {
            notes.place(name, fact, field.line);
        }
    }
    let has = |label| found.iter().any(|field: &Field<'_>| field.label == label);
    for needed in [ILM_TOTAL, CLM_TOTAL] {
        if !has(needed) && !has(OLD_TOTAL) {
            return Err(CaptureError::Missing {
                line: block.line,
                name: quoted(name),
                section: needed,
            });
        }
    }
    let total = |field: &&Field<'_>| [ILM_TOTAL, OLD_TOTAL].contains(&field.label);
    let line = found
        .iter()
        .find(total)
        .map_or(block.line, |field| field.line);
    check(&mut memory, name, line, notes);
    Ok(memory)
}

/// The name of the fact that a label holds, for those who ask where it stood.
fn fact(label: &str) -> Option<&'static str> {
    Some(match label {
        ILM_TOTAL | OLD_TOTAL => "memory.interleaved",
        ILM_GRANULE => "memory.interleaved.granule",
        CLM_TOTAL => "memory.local",
        CLM_GRANULE => "memory.local.granule",
        _ => return None,
    })
}

fn read(field: &Field<'_>, memory: &mut Memory, notes: &mut Notes) -> Result<(), CaptureError> {
    match field.label {
        ILM_USER | OLD_USER => memory.interleaved.user = ranges(field, false, notes)?,
        ILM_MONITOR => memory.interleaved.monitor = ranges(field, false, notes)?,
        CLM_USER => memory.local.user = ranges(field, true, notes)?,
        CLM_MONITOR => memory.local.monitor = ranges(field, true, notes)?,
        CLM_TOTAL => memory.local.by_cell = cells(field, notes)?,
        ILM_GRANULE => memory.interleaved.granule = Some(size(field, notes)?),
        CLM_GRANULE => memory.local.granule = Some(size(field, notes)?),
        _ => {
            let text = field.text();
            let (_, floating) = values::split_floating(&text);
            memory.interleaved.megabytes = size(field, notes)?;
            memory.interleaved.floating = match floating {
                Some(inner) => at(field, inner).amount().megabytes(notes)?,
                None => 0,
            };
        }
    }
    Ok(())
}

fn at<'a>(field: &'a Field<'_>, text: &'a str) -> At<'a> {
    At {
        text,
        line: field.line,
        heading: field.label,
        unit: field.unit.unwrap_or("MB"),
    }
}

fn size(field: &Field<'_>, notes: &mut Notes) -> Result<u64, CaptureError> {
    let text = field.text();
    let (size, _) = values::split_floating(&text);
    at(field, size).amount().megabytes(notes)
}

fn ranges(field: &Field<'_>, cell: bool, notes: &mut Notes) -> Result<Vec<Range>, CaptureError> {
    let lines = field.values.iter();
    lines
        .map(|line| {
            let at = At {
                line: line.number,
                ..at(field, line.text)
            };
            values::range(at, cell, notes)
        })
        .collect()
}

fn cells(field: &Field<'_>, notes: &mut Notes) -> Result<Vec<CellMemory>, CaptureError> {
    let mut cells: Vec<CellMemory> = Vec::new();
    for line in &field.values {
        let at = At {
            line: line.number,
            ..at(field, line.text)
        };
        let found = values::cell_memory(at, notes)?;
        if cells.iter().any(|known| known.cell == found.cell) {
            return Err(CaptureError::Twice {
                line: line.number,
                name: format!("cell {}", found.cell),
            });
        }
        cells.push(found);
    }
    Ok(cells)
}

/// Sizes that contradict each other are remarked. A total that leaves the floating part out is
/// made whole.
pub(super) fn check(memory: &mut Memory, name: &str, line: usize, notes: &mut Notes) {
    let ilm = &mut memory.interleaved;
    let bound = sum(&ilm.user, None) + sum(&ilm.monitor, None);
    let what = format!("{name}: interleaved memory");
    ilm.megabytes = whole(ilm.megabytes, ilm.floating, bound, &what, line, notes);
    let clm = &mut memory.local;
    for part in &mut clm.by_cell {
        let cell = Some(part.cell);
        let bound = sum(&clm.user, cell) + sum(&clm.monitor, cell);
        let what = format!("{name}: memory of cell {}", part.cell);
        part.megabytes = whole(part.megabytes, part.floating, bound, &what, line, notes);
    }
}

fn sum(ranges: &[Range], cell: Option<u32>) -> u64 {
    let chosen = ranges.iter().filter(|range| range.cell == cell);
    chosen.map(|range| range.megabytes).sum()
}

/// The total of base and floating memory; `bound` is what the ranges add up to, nothing while the
/// partition is down.
fn whole(total: u64, floating: u64, bound: u64, what: &str, line: usize, notes: &mut Notes) -> u64 {
    let both = total + floating;
    if floating > total || (floating > 0 && bound == both) {
        let told = format!("{what}: {total} MB is taken to be without the {floating} MB floating");
        notes.remark(line, told);
        return both;
    }
    if bound > 0 && bound != total {
        let told =
            format!("{what}: the ranges add up to {bound} MB; the total, {total} MB, counts");
        notes.remark(line, told);
    }
    total
}

/// The section, heading and all.
pub(super) fn format(memory: &Memory) -> String {
    let Memory { interleaved, local } = memory;
    let total = format!(
        "{}{}",
        interleaved.megabytes,
        of_which(interleaved.floating)
    );
    let mut text = format!("[{SECTION}]\n");
    text += &ranges_text("ILM, user-assigned [Base  /Range]:", &interleaved.user);
    text += &ranges_text(
        "ILM, monitor-assigned [Base  /Range]:",
        &interleaved.monitor,
    );
    text += &format!("{ILM_TOTAL} (MB):  {total}\n\n");
    text += &granule_text(ILM_GRANULE, interleaved.granule);
    text += &ranges_text("CLM, user-assigned [CellID  Base  /Range]:", &local.user);
    text += &ranges_text(
        "CLM, monitor-assigned [CellID  Base  /Range]:",
        &local.monitor,
    );
    let cells = local.by_cell.iter();
    let cells = cells.map(|part| {
        let floating = of_which(part.floating);
        format!("{}  {}{floating}", part.cell, part.megabytes)
    });
    text += &listed("CLM (CellID  MB):", cells);
    text += "\n";
    text + &granule_text(CLM_GRANULE, local.granule)
}

fn of_which(floating: u64) -> String {
    if floating == 0 {
        return String::new();
    }
    format!("  (Floating {floating})")
}

fn granule_text(label: &str, granule: Option<u64>) -> String {
    granule.map_or_else(String::new, |size| format!("{label} (MB):  {size}\n\n"))
}

/// A label with values one under the other.
pub(super) fn listed(label: &str, values: impl Iterator<Item = String>) -> String {
    let values: Vec<String> = values.collect();
    let gap = format!("\n{}", " ".repeat(label.len() + 2));
    format!("{}\n", format!("{label}  {}", values.join(&gap)).trim_end())
}

/// A label with ranges; the second line names their units, as the tool does.
fn ranges_text(label: &str, ranges: &[Range]) -> String {
    let units = label.find("[Base").or_else(|| label.find("Base"));
    let units = units.unwrap_or_default();
    let values = label.len() + 2;
    let units = format!("{}(bytes) (MB)", " ".repeat(units));
    let text = |range: &Range| {
        let floating = if range.floating { "  (Floating)" } else { "" };
        values::range_text(range, "  ") + floating
    };
    let mut texts = ranges.iter().map(text);
    let first = format!("{label}  {}", texts.next().unwrap_or_default());
    let second = format!("{units:values$}{}", texts.next().unwrap_or_default());
    let mut lines = vec![first.trim_end().to_owned(), second.trim_end().to_owned()];
    lines.extend(texts.map(|text| format!("{:values$}{text}", "")));
    lines.join("\n") + "\n"
}
