//! The memory of a partition in `vparstatus -M`.
//!
//! It begins with the two subfields it had when all memory was interleaved (ranges, size); then
//! ILM (user ranges, monitor ranges, size, granule), CLM (the same) and, if any is floating, the
//! floating part of each (user ranges, monitor ranges, size; twice).

use crate::error::CaptureError;
use crate::reading::Notes;
use crate::vparstatus::memory::check;
use crate::vparstatus::model::{CellMemory, Memory, Range};
use crate::vparstatus::values::{self, items, joined, At};

/// Subfields of the memory.
const OLD: usize = 2;
const KNOWN: usize = 10;
const WITH_FLOATING: usize = 16;

/// Read the field of a partition.
pub(super) fn parse(at: At<'_>, name: &str, notes: &mut Notes) -> Result<Memory, CaptureError> {
    let parts: Vec<&str> = at.text.split(';').map(str::trim).collect();
    let mut memory = Memory::default();
    if parts.len() == OLD {
        memory.interleaved.user = ranges(at.of(parts[0]), false, false, notes)?;
        memory.interleaved.megabytes = size(at.of(parts[1]), notes)?.unwrap_or_default();
        notes.remark(at.line, format!("{name}: all memory counts as interleaved"));
        return Ok(memory);
    }
    if parts.len() < KNOWN {
        return Err(at.unexpected("10 or 16 subfields of memory"));
    }
    let ilm = &mut memory.interleaved;
    ilm.user = ranges(at.of(parts[2]), false, false, notes)?;
    ilm.monitor = ranges(at.of(parts[3]), false, false, notes)?;
    ilm.megabytes = size(at.of(parts[4]), notes)?.unwrap_or_default();
    ilm.granule = size(at.of(parts[5]), notes)?;
    let clm = &mut memory.local;
    clm.user = ranges(at.of(parts[6]), true, false, notes)?;
    clm.monitor = ranges(at.of(parts[7]), true, false, notes)?;
    clm.by_cell = cells(at.of(parts[8]), notes)?;
    clm.granule = size(at.of(parts[9]), notes)?;
    if parts.len() >= WITH_FLOATING {
        ilm.floating = size(at.of(parts[12]), notes)?.unwrap_or_default();
        mark(&mut ilm.user, ranges(at.of(parts[10]), false, true, notes)?);
        mark(
            &mut ilm.monitor,
            ranges(at.of(parts[11]), false, true, notes)?,
        );
        mark(&mut clm.user, ranges(at.of(parts[13]), true, true, notes)?);
        mark(
            &mut clm.monitor,
            ranges(at.of(parts[14]), true, true, notes)?,
        );
        for part in cells(at.of(parts[15]), notes)? {
            let floating = part.megabytes;
            match clm.by_cell.iter_mut().find(|of| of.cell == part.cell) {
                Some(known) => known.floating = floating,
                None => clm.by_cell.push(CellMemory { floating, ..part }),
            }
        }
    }
    let (ilm, clm) = (&mut memory.interleaved, &mut memory.local);
    for ranges in [
        &mut ilm.user,
        &mut ilm.monitor,
        &mut clm.user,
        &mut clm.monitor,
    ] {
        // The line has base ranges before floating ones, whatever order they lie in.
        ranges.sort_by_key(|range| range.floating);
    }
    check(&mut memory, name, at.line, notes);
    Ok(memory)
}

/// A size, none for an empty text.
fn size(at: At<'_>, notes: &mut Notes) -> Result<Option<u64>, CaptureError> {
    if at.text.is_empty() {
        return Ok(None);
    }
    at.amount().megabytes(notes).map(Some)
}

fn ranges(
    at: At<'_>,
    cell: bool,
    floating: bool,
    notes: &mut Notes,
) -> Result<Vec<Range>, CaptureError> {
    items(at.text)
        .map(|item| {
            let range = values::range(At { text: item, ..at }, cell, notes)?;
            Ok(Range {
                floating: floating || range.floating,
                ..range
            })
        })
        .collect()
}

fn cells(at: At<'_>, notes: &mut Notes) -> Result<Vec<CellMemory>, CaptureError> {
    items(at.text)
        .map(|item| values::cell_memory(At { text: item, ..at }, notes))
        .collect()
}

/// Floating ranges are those of the list that are there already, or further ones.
fn mark(ranges: &mut Vec<Range>, floating: Vec<Range>) {
    for range in floating {
        match ranges
            .iter_mut()
            .find(|known| (known.cell, known.base) == (range.cell, range.base))
        {
            Some(known) => known.floating = true,
            None => ranges.push(range),
        }
    }
}

/// The field.
pub(super) fn format(of: &Memory) -> String {
    let (ilm, clm) = (&of.interleaved, &of.local);
    let ranges = |ranges: &[Range], floating: bool| {
        let chosen = ranges.iter().filter(|range| range.floating == floating);
        joined(chosen.map(|range| values::range_text(range, " ")))
    };
    let granule = |size: Option<u64>| size.map_or_else(String::new, |size| size.to_string());
    let mut parts = vec![
        ranges(&ilm.user, false),
        ilm.megabytes.to_string(),
        ranges(&ilm.user, false),
        ranges(&ilm.monitor, false),
        ilm.megabytes.to_string(),
        granule(ilm.granule),
        ranges(&clm.user, false),
        ranges(&clm.monitor, false),
        joined(
            clm.by_cell
                .iter()
                .map(|of| format!("{} {}", of.cell, of.megabytes)),
        ),
        granule(clm.granule),
    ];
    let cells = clm.by_cell.iter().filter(|of| of.floating > 0);
    let floating = [
        ranges(&ilm.user, true),
        ranges(&ilm.monitor, true),
        Some(ilm.floating)
            .filter(|size| *size > 0)
            .map_or_else(String::new, |size| size.to_string()),
        ranges(&clm.user, true),
        ranges(&clm.monitor, true),
        joined(cells.map(|of| format!("{} {}", of.cell, of.floating))),
    ];
    if floating.iter().any(|part| !part.is_empty()) {
        parts.extend(floating);
    }
    parts.join(";")
}
