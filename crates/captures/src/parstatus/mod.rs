//! `parstatus` of HP's cellular servers: the cells (`-C`), the partitions (`-P`), the complex
//! (`-X`), a cell in full (`-V -c`), and cells and partitions as records (`-M`).

mod cells;
mod details;
mod partitions;

pub use cells::{Cell, Installed, Sound};
pub use details::CellDetails;
pub use partitions::Npartition;

use serde::{Deserialize, Serialize};

use crate::blocks::{words, Blocks};
use crate::error::{quoted, CaptureError};
use crate::reading::{Notes, Reading};

const TOOL: &str = "parstatus";
const COMPLEX: &str = "Complex";
/// Sections of other listings that may stand in the same text, and those that nothing is taken of.
const OTHERS: [&str; 9] = [
    "Chassis",
    "Virtual Partition",
    "Virtual Partition Resource Summary",
    "Virtual Partition Details",
    "CPU Details",
    "IO Details",
    "Memory Details",
    "OL* Details",
    "IO Chassis Details",
];

/// What the tool says of a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    /// Labels and values of the complex.
    pub complex: Vec<(String, String)>,
    /// A row a cell.
    pub cells: Vec<Cell>,
    /// Cells in full.
    pub details: Vec<CellDetails>,
    /// A row a hard partition.
    pub partitions: Vec<Npartition>,
}

/// Read what parstatus printed.
///
/// # Errors
/// The text holds no cells, partitions or complex, or a row that is none; the error names the line.
pub fn parse(text: &str) -> Result<Reading<Listing>, CaptureError> {
    let blocks = Blocks::of(text, is_record);
    let mut notes = Notes::default();
    let mut found = Listing::default();
    for record in &blocks.records {
        if record.text.starts_with(cells::RECORD) {
            cells::add(
                cells::record(record, &mut notes)?,
                record.number,
                &mut found.cells,
            )?;
        } else if record.text.starts_with(partitions::RECORD) {
            found.partitions.push(partitions::record(record)?);
        }
    }
    for (index, block) in blocks.list.iter().enumerate() {
        match block.heading.as_str() {
            cells::SECTION if details::is_full(block) => {
                let inner = &blocks.list[index + 1..];
                let cell = details::parse(block, inner, &mut notes)?;
                found.details.push(cell);
            }
            cells::SECTION => cells::parse(block, &mut found.cells, &mut notes)?,
            partitions::SECTION => partitions::parse(block, &mut found.partitions, &mut notes)?,
            COMPLEX => {
                let pairs = block
                    .lines
                    .iter()
                    .filter_map(|line| line.text.split_once(':'));
                let pair = |(label, value)| (words(label), words(value));
                found.complex.extend(pairs.map(pair));
            }
            heading if OTHERS.contains(&heading) => {}
            heading => notes.remark(block.line, format!("section [{heading}] is left out")),
        }
    }
    if found == Listing::default() {
        return Err(foreign(&blocks));
    }
    for line in &blocks.preamble {
        let told = format!("\"{}\" is left out", quoted(line.text));
        notes.remark(line.number, told);
    }
    Ok(notes.with(found))
}

fn is_record(text: &str) -> bool {
    let starts = |prefix| text.starts_with(prefix) && text.matches(':').count() >= 5;
    [cells::RECORD, "chassis:", partitions::RECORD]
        .into_iter()
        .any(starts)
}

fn foreign(blocks: &Blocks<'_>) -> CaptureError {
    let heading = blocks
        .list
        .first()
        .map(|block| (block.line, &*block.heading));
    let first = blocks.preamble.first().map(|line| (line.number, line.text));
    match first.or(heading) {
        None => CaptureError::Empty { tool: TOOL },
        Some((line, text)) => CaptureError::Unexpected {
            line,
            expected: "[Cell] and its table",
            found: quoted(text),
        },
    }
}

/// Write a listing as parstatus would; reading it again gives the same listing.
#[must_use]
pub fn format(listing: &Listing) -> String {
    let mut parts = Vec::new();
    if !listing.complex.is_empty() {
        let line = |(label, value): &(String, String)| format!("        {label} : {value}");
        let lines = listing
            .complex
            .iter()
            .map(|pair| line(pair).trim_end().to_owned() + "\n");
        parts.push(format!("[{COMPLEX}]\n{}", lines.collect::<String>()));
    }
    if !listing.cells.is_empty() {
        parts.push(cells::format(&listing.cells));
    }
    parts.extend(listing.details.iter().map(details::format));
    if !listing.partitions.is_empty() {
        parts.push(partitions::format(&listing.partitions));
    }
    parts.join("\n")
}
