//! The hard partitions: `parstatus -P`, and `parstatus -P -M`.

use serde::{Deserialize, Serialize};

use crate::blocks::{words, Block, Line};
use crate::error::{quoted, CaptureError};
use crate::parstatus::cells::{amount, is_location};
use crate::reading::Notes;

pub(super) const SECTION: &str = "Partition";
pub(super) const RECORD: &str = "partition:";

/// A hard partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Npartition {
    /// By which the tool's other lists refer to it.
    pub number: u32,
    /// Active or inactive.
    pub status: String,
    /// Number of its cells.
    pub cells: u32,
    /// Number of its I/O chassis.
    pub chassis: u32,
    /// The cell that it boots from, as printed.
    pub core_cell: String,
    /// Its name, cut to 30 characters.
    pub name: String,
}

/// Read the table beneath its headings; a partition in full (`-V -p`) is remarked and left out.
pub(super) fn parse(
    block: &Block<'_>,
    found: &mut Vec<Npartition>,
    notes: &mut Notes,
) -> Result<(), CaptureError> {
    let ruler = |line: &Line<'_>| line.text.starts_with("==");
    let Some(start) = block.lines.iter().position(ruler) else {
        notes.remark(
            block.line,
            "section [Partition] has no table and is left out",
        );
        return Ok(());
    };
    for line in &block.lines[start + 1..] {
        let parts: Vec<&str> = line.text.split_whitespace().collect();
        let core = parts.iter().position(|word| is_location(word));
        let Some(core) = core.filter(|core| *core >= 4) else {
            return Err(unexpected(line));
        };
        let status = parts[1..core - 2].join(" ");
        let texts = [
            parts[0],
            &status,
            parts[core - 2],
            parts[core - 1],
            parts[core],
        ];
        let row = row(texts, &parts[core + 1..].join(" "), line.number)?;
        notes.place(&row.name, "npartition", line.number);
        found.push(row);
    }
    Ok(())
}

fn unexpected(line: &Line<'_>) -> CaptureError {
    CaptureError::Unexpected {
        line: line.number,
        expected: "a partition: number, status, cells, chassis, core cell, name",
        found: quoted(line.text),
    }
}

/// A line of `-M`: the same fields between colons.
pub(super) fn record(line: &Line<'_>) -> Result<Npartition, CaptureError> {
    let parts: Vec<&str> = line.text.split(':').map(str::trim).collect();
    match parts.as_slice() {
        [_, number, status, cells, chassis, core, name] if is_location(core) => {
            row([number, status, cells, chassis, core], name, line.number)
        }
        _ => Err(unexpected(line)),
    }
}

fn row(texts: [&str; 5], name: &str, line: usize) -> Result<Npartition, CaptureError> {
    let [number, status, cells, chassis, core_cell] = texts;
    Ok(Npartition {
        number: amount(number, "Par Num", line).count()?,
        status: words(status),
        cells: amount(cells, "# of Cells", line).count()?,
        chassis: amount(chassis, "# of I/O Chassis", line).count()?,
        core_cell: core_cell.to_owned(),
        name: words(name),
    })
}

const HEAD: &str = "\
[Partition]
Par              # of  # of I/O
Num Status       Cells Chassis  Core cell  Partition Name (first 30 chars)
=== ============ ===== ======== ========== ===============================
";

/// The table.
pub(super) fn format(partitions: &[Npartition]) -> String {
    let row = |of: &Npartition| {
        let line = format!(
            "{:>2}  {:<12} {:>3} {:>6}     {:<10} {}",
            of.number, of.status, of.cells, of.chassis, of.core_cell, of.name
        );
        line.trim_end().to_owned() + "\n"
    };
    let rows: String = partitions.iter().map(row).collect();
    format!("{HEAD}{rows}")
}
