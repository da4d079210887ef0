//! `vparstatus` without options: two tables, a row a partition in each.
//!
//! Widths of the second table are of our making; it is read by the order of its numbers.

use serde::{Deserialize, Serialize};

use crate::blocks::{words, Block, Blocks, Line};
use crate::error::{quoted, CaptureError};
use crate::reading::Notes;
use crate::vparstatus::values::At;

pub(super) const FIRST: &str = "Virtual Partition";
const RESOURCES: &str = "Virtual Partition Resource Summary";

/// A partition in both tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Name, cut to 30 characters.
    pub name: String,
    /// `Up`, `Down` and the like.
    pub state: String,
    /// Attributes in short, such as `Dyn,Auto`.
    pub attributes: String,
    /// Path of the kernel.
    pub kernel: String,
    /// Options of the kernel.
    pub boot_options: String,
    /// Least number of processors.
    pub minimum: u64,
    /// Most processors.
    pub maximum: u64,
    /// Processors it has.
    pub processors: u64,
    /// Pieces of I/O.
    pub io: u64,
    /// Ranges of interleaved memory that were asked for.
    pub interleaved_ranges: u64,
    /// Their size [MB].
    pub interleaved_range_megabytes: u64,
    /// Interleaved memory [MB].
    pub interleaved_megabytes: u64,
    /// Ranges of cell-local memory that were asked for.
    pub local_ranges: u64,
    /// Their size [MB].
    pub local_range_megabytes: u64,
    /// Cell-local memory [MB].
    pub local_megabytes: u64,
}

/// Read both tables.
pub(super) fn parse(blocks: &Blocks<'_>, notes: &mut Notes) -> Result<Vec<Row>, CaptureError> {
    let block = |heading| blocks.list.iter().find(|block| block.heading == heading);
    let (Some(first), Some(second)) = (block(FIRST), block(RESOURCES)) else {
        let line = blocks.list.last().map_or(0, |block| block.line);
        return Err(CaptureError::CutShort {
            line,
            expected: "[Virtual Partition Resource Summary]",
        });
    };
    let mut rows = Vec::new();
    for line in body(first)? {
        let row = identity(line)?;
        if rows.iter().any(|known: &Row| known.name == row.name) {
            return Err(twice(line, &row.name));
        }
        rows.push(row);
        notes.place(&rows[rows.len() - 1].name, "name", line.number);
    }
    let mut told = Vec::new();
    for line in body(second)? {
        let name = line.text.split_whitespace().next().unwrap_or_default();
        let Some(row) = rows.iter_mut().find(|row: &&mut Row| row.name == name) else {
            return Err(unexpected(line, "a partition of the first table"));
        };
        if told.contains(&name) {
            return Err(twice(line, name));
        }
        told.push(name);
        resources(row, line)?;
    }
    match rows.iter().find(|row| !told.contains(&row.name.as_str())) {
        Some(row) => Err(CaptureError::Missing {
            line: second.line,
            name: row.name.clone(),
            section: "its row of resources",
        }),
        None => Ok(rows),
    }
}

/// The lines beneath the ruler.
fn body<'a, 'b>(block: &'b Block<'a>) -> Result<&'b [Line<'a>], CaptureError> {
    let ruler = |line: &Line<'_>| line.text.chars().all(|c| c == '=' || c == ' ');
    match block.lines.iter().position(ruler) {
        Some(at) => Ok(&block.lines[at + 1..]),
        None => Err(CaptureError::CutShort {
            line: block.line,
            expected: "a ruler of = signs",
        }),
    }
}

fn unexpected(line: &Line<'_>, expected: &'static str) -> CaptureError {
    CaptureError::Unexpected {
        line: line.number,
        expected,
        found: quoted(line.text),
    }
}

fn twice(line: &Line<'_>, name: &str) -> CaptureError {
    CaptureError::Twice {
        line: line.number,
        name: quoted(name),
    }
}

fn identity(line: &Line<'_>) -> Result<Row, CaptureError> {
    let text = words(line.text);
    let mut parts = text.splitn(5, ' ').map(str::to_owned);
    let mut next = || parts.next().unwrap_or_default();
    let row = Row {
        name: next(),
        state: next(),
        attributes: next(),
        kernel: next(),
        boot_options: next(),
        ..Row::default()
    };
    if row.kernel.is_empty() {
        return Err(unexpected(line, "name, state, attributes and kernel path"));
    }
    Ok(row)
}

fn resources(row: &mut Row, line: &Line<'_>) -> Result<(), CaptureError> {
    let numbers: Vec<u64> = line
        .text
        .split(|c: char| c.is_whitespace() || c == '/')
        .filter(|word| !word.is_empty())
        .skip(1)
        .map(|text| {
            let at = At {
                text,
                line: line.number,
                heading: RESOURCES,
                unit: "",
            };
            at.amount().count().map(u64::from)
        })
        .collect::<Result<_, _>>()?;
    let targets = [
        &mut row.minimum,
        &mut row.maximum,
        &mut row.processors,
        &mut row.io,
        &mut row.interleaved_ranges,
        &mut row.interleaved_range_megabytes,
        &mut row.interleaved_megabytes,
        &mut row.local_ranges,
        &mut row.local_range_megabytes,
        &mut row.local_megabytes,
    ];
    if numbers.len() != targets.len() {
        return Err(CaptureError::Uneven {
            line: line.number,
            headings: targets.len(),
            values: numbers.len(),
        });
    }
    for (target, number) in targets.into_iter().zip(numbers) {
        *target = number;
    }
    Ok(())
}

const IDENTITY_HEAD: &str = "\
[Virtual Partition]
                                                                          Boot
Virtual Partition Name         State Attributes Kernel Path               Opts
============================== ===== ========== ========================= =====
";
const RESOURCES_HEAD: &str = "\
[Virtual Partition Resource Summary]
                                                 ILM (MB)            CLM (MB)
                                 CPU   Num  Num  # User              # User
                                            IO   Ranges/             Ranges/
Virtual Partition Name         Min/Max CPUs devs Total      Total    Total      Total
============================== ======= ==== ==== ========== ======== ========== ========
";

/// Both tables.
pub(super) fn format(rows: &[Row]) -> String {
    let identity = |row: &Row| {
        let Row {
            name,
            state,
            attributes,
            kernel,
            boot_options,
            ..
        } = row;
        let line = format!("{name:<30} {state:<5} {attributes:<10} {kernel:<25} {boot_options}");
        format!("{}\n", line.trim_end())
    };
    let resources = |row: &Row| {
        let name = &row.name;
        let pair = |few: u64, many: u64, width: usize| format!("{few:>3}/{many:>width$}");
        let parts = [
            pair(row.minimum, row.maximum, 3),
            format!("{:>4}", row.processors),
            format!("{:>4}", row.io),
            pair(row.interleaved_ranges, row.interleaved_range_megabytes, 6),
            format!("{:>8}", row.interleaved_megabytes),
            pair(row.local_ranges, row.local_range_megabytes, 6),
            format!("{:>8}", row.local_megabytes),
        ];
        format!("{name:<30} {}\n", parts.join(" "))
    };
    let identities: String = rows.iter().map(identity).collect();
    let resources: String = rows.iter().map(resources).collect();
    format!("{IDENTITY_HEAD}{identities}\n{RESOURCES_HEAD}{resources}")
}
