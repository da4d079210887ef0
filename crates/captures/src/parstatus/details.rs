//! A cell in full: `parstatus -V -c`, the only place that tells its cell-local memory.

use serde::{Deserialize, Serialize};

use crate::blocks::{fields, Block, Field};
use crate::error::CaptureError;
use crate::number::Number;
use crate::parstatus::cells::{amount, is_location};
use crate::reading::Notes;

const LOCATION: &str = "Hardware Location";
const NUMBER: &str = "Global Cell Number";
const USAGE: &str = "Actual Usage";
const PARTITION: &str = "Partition Number";
const REQUESTED: &str = "Requested CLM value";
const ALLOCATED: &str = "Allocated CLM value";
const LABELS: [&str; 6] = [LOCATION, NUMBER, USAGE, PARTITION, REQUESTED, ALLOCATED];
const MEMORY_SECTION: &str = "Memory Details";
const MEMORY: &str = "Memory OK";
/// Labels that nothing is taken of.
const PASSED: [&str; 18] = [
    "Normal Usage",
    "Connected To",
    "Core Cell Capable",
    "Firmware Revision",
    "Failure Usage",
    "Use On Next Boot",
    "Partition Name",
    "Cell Architecture Type",
    "CPU Compatibility",
    "Hyperthreading Capable",
    "CPU Slots",
    "Type",
    "Speed",
    "OK",
    "Deconf",
    "Max",
    "CPUs",
    "Firmware",
];

/// A cell with its local memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellDetails {
    /// Where it is: `cab0,cell1`.
    pub location: String,
    /// Its number in the server.
    pub number: Option<u32>,
    /// Active Core, Active Base, ...
    pub usage: String,
    /// Number of its hard partition.
    pub partition: Option<u32>,
    /// Memory that is in order [GB].
    pub memory: Option<Number>,
    /// Cell-local memory that was asked for [GB].
    pub requested: Option<Number>,
    /// Cell-local memory that it has [GB].
    pub allocated: Option<Number>,
}

/// Whether a section [Cell] holds labels instead of the table.
pub(super) fn is_full(block: &Block<'_>) -> bool {
    let first = block.lines.first();
    first.is_some_and(|line| line.text.starts_with(LOCATION) && line.text.contains(':'))
}

/// Read a cell; `behind` are the sections that follow.
pub(super) fn parse(
    block: &Block<'_>,
    behind: &[Block<'_>],
    notes: &mut Notes,
) -> Result<CellDetails, CaptureError> {
    let all: Vec<&'static str> = LABELS.into_iter().chain(PASSED).collect();
    let mut found = fields(block, &all, notes);
    let mut ignored = Notes::default();
    for section in behind.iter().take_while(|block| block.heading != "Cell") {
        if section.heading == MEMORY_SECTION {
            found.extend(fields(section, &[MEMORY], &mut ignored));
        }
    }
    let field = |label| found.iter().find(|field: &&Field<'_>| field.label == label);
    let text = |label| field(label).map(Field::text).unwrap_or_default();
    let location = text(LOCATION);
    if !is_location(&location) {
        return Err(CaptureError::Unexpected {
            line: block.line,
            expected: "a cell's location, such as cab0,cell1",
            found: crate::error::quoted(&location),
        });
    }
    let count = |label| match field(label) {
        Some(of) if !["", "-"].contains(&of.text().as_str()) => {
            amount(&of.text(), label, of.line).count().map(Some)
        }
        _ => Ok(None),
    };
    let mut size = |label: &'static str, fact| {
        let Some(of) = field(label) else {
            return Ok(None);
        };
        notes.place(&location, fact, of.line);
        let written = of.text();
        let digits = written.trim_end_matches("GB").trim();
        let size = amount(&written, label, of.line).decimal(digits, notes)?;
        Ok(Some(size))
    };
    Ok(CellDetails {
        memory: size(MEMORY, "cell.memory")?,
        requested: size(REQUESTED, "cell.requested")?,
        allocated: size(ALLOCATED, "cell.local")?,
        number: count(NUMBER)?,
        usage: text(USAGE),
        partition: count(PARTITION)?,
        location,
    })
}

/// The labels and values, and the section that tells the memory.
pub(super) fn format(of: &CellDetails) -> String {
    let line = |label: &str, value: String| format!("{label:<27} : {value}").trim_end().to_owned();
    let count = |number: Option<u32>| number.map(|number| number.to_string());
    let size = |size: Option<Number>| size.map(|size| format!("{size} GB"));
    let mut lines = vec!["[Cell]".to_owned(), line(LOCATION, of.location.clone())];
    for (label, value) in [
        (NUMBER, count(of.number)),
        (USAGE, Some(of.usage.clone())),
        (PARTITION, count(of.partition)),
        (REQUESTED, size(of.requested)),
        (ALLOCATED, size(of.allocated)),
    ] {
        lines.extend(value.map(|value| line(label, value)));
    }
    if let Some(memory) = size(of.memory) {
        lines.push(format!("\n[{MEMORY_SECTION}]\n{MEMORY}     : {memory}"));
    }
    lines.join("\n") + "\n"
}
