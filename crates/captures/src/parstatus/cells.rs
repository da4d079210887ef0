//! The cells: `parstatus -C`, and `parstatus -C -M`.

use serde::{Deserialize, Serialize};

use crate::amount::Amount;
use crate::blocks::{Block, Line};
use crate::error::{quoted, CaptureError};
use crate::number::Number;
use crate::reading::Notes;

pub(super) const SECTION: &str = "Cell";
pub(super) const RECORD: &str = "cell:";
/// Words behind the connected chassis.
const TAIL: usize = 3;
const ROW: &str = "a cell: location, usage, CPU, memory, chassis, core, next boot, partition";
/// The mark of a cell that gives nothing to interleaved memory.
const LOCAL_ONLY: char = '*';

/// A row of the list of cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Where it is: `cab0,cell1`.
    pub location: String,
    /// Active Core, Active Base, Inactive, Absent, ...
    pub usage: String,
    /// Its processors, if it is there.
    pub processors: Option<Sound>,
    /// Its memory, if it is there.
    pub memory: Option<Installed>,
    /// Whether it gives memory to the interleaved memory of its partition.
    pub interleaves: bool,
    /// Its I/O chassis.
    pub connected: Option<String>,
    /// Whether it can be the core cell: yes or no.
    pub core_capable: Option<String>,
    /// Whether it is used on the next boot: yes or no.
    pub next_boot: Option<String>,
    /// Number of its hard partition.
    pub partition: Option<u32>,
}

/// Processors of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sound {
    /// In order.
    pub ok: u32,
    /// Taken out.
    pub deconfigured: u32,
    /// Places for them.
    pub maximum: u32,
}

/// Memory of a cell [GB, 2^30 bytes].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Installed {
    /// In order.
    pub ok: Number,
    /// Taken out.
    pub deconfigured: Number,
}

/// Add a cell that is not there yet.
pub(super) fn add(cell: Cell, line: usize, cells: &mut Vec<Cell>) -> Result<(), CaptureError> {
    if cells.iter().any(|known| known.location == cell.location) {
        return Err(CaptureError::Twice {
            line,
            name: quoted(&cell.location),
        });
    }
    cells.push(cell);
    Ok(())
}

/// Read the table beneath its headings.
pub(super) fn parse(
    block: &Block<'_>,
    cells: &mut Vec<Cell>,
    notes: &mut Notes,
) -> Result<(), CaptureError> {
    let ruler = |line: &Line<'_>| line.text.starts_with("==");
    let Some(start) = block.lines.iter().position(ruler) else {
        return Err(CaptureError::CutShort {
            line: block.lines.last().map_or(block.line, |line| line.number),
            expected: "the ruler beneath the headings of the cells",
        });
    };
    for line in &block.lines[start + 1..] {
        if line.text.starts_with("Notes:") || line.text.starts_with("* =") {
            continue;
        }
        add(row(line, notes)?, line.number, cells)?;
    }
    Ok(())
}

fn unexpected(line: &Line<'_>) -> CaptureError {
    CaptureError::Unexpected {
        line: line.number,
        expected: ROW,
        found: quoted(line.text),
    }
}

/// Words are told apart by their form, not by their column: copies lose blanks.
fn row(line: &Line<'_>, notes: &mut Notes) -> Result<Cell, CaptureError> {
    let interleaves = !line.text.contains(LOCAL_ONLY);
    let text = line.text.replace(LOCAL_ONLY, " ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_count = |word: &str| word == "-" || word.matches('/').count() == 2;
    let cpu = words.iter().skip(1).position(|word| is_count(word));
    let Some(cpu) = cpu.map(|at| at + 1).filter(|at| at + 1 < words.len()) else {
        return Err(unexpected(line));
    };
    // "8.0/ 0.0" may be two words.
    let long = words[cpu + 1].ends_with('/');
    let rest = cpu + 2 + usize::from(long);
    if cpu < 2 || words.len() < rest + 1 + TAIL {
        return Err(unexpected(line));
    }
    let tail = &words[words.len() - TAIL..];
    let fields = [
        words[1..cpu].join(" "),
        words[cpu].to_owned(),
        words[cpu + 1..rest].concat(),
        words[rest..words.len() - TAIL].join(" "),
        tail[0].to_owned(),
        tail[1].to_owned(),
        tail[2].to_owned(),
    ];
    let cell = cell(words[0], &fields, line, notes)?;
    let interleaves = interleaves || cell.memory.is_none();
    Ok(Cell {
        interleaves,
        ..cell
    })
}

/// A line of `-M`: the same fields between colons.
pub(super) fn record(line: &Line<'_>, notes: &mut Notes) -> Result<Cell, CaptureError> {
    let words: Vec<String> = line
        .text
        .split(':')
        .map(|word| word.trim().to_owned())
        .collect();
    match words.as_slice() {
        [_, location, usage, cpu, memory, connected, core, next, partition] => {
            let fields = [usage, cpu, memory, connected, core, next, partition];
            cell(location, &fields.map(Clone::clone), line, notes)
        }
        _ => Err(CaptureError::Uneven {
            line: line.number,
            headings: 9,
            values: words.len(),
        }),
    }
}

fn cell(
    location: &str,
    fields: &[String; 7],
    line: &Line<'_>,
    notes: &mut Notes,
) -> Result<Cell, CaptureError> {
    let [usage, cpu, memory, connected, core, next, partition] = fields;
    if !is_location(location) {
        return Err(unexpected(line));
    }
    notes.place(location, "cell", line.number);
    let some = |text: &String| Some(text.clone()).filter(|text| text != "-");
    let partition = some(partition).map(|text| {
        let heading = "Par Num";
        amount(&text, heading, line.number).count()
    });
    Ok(Cell {
        location: location.to_owned(),
        usage: usage.clone(),
        processors: some(cpu).map(|text| sound(&text, line)).transpose()?,
        memory: some(memory)
            .map(|text| installed(&text, line, notes))
            .transpose()?,
        interleaves: true,
        connected: some(connected),
        core_capable: some(core),
        next_boot: some(next),
        partition: partition.transpose()?,
    })
}

/// `cab0,cell1`
pub(super) fn is_location(text: &str) -> bool {
    let parts = text.split_once(',');
    let numbered = |text: &str, name: &str| {
        let digits = text.strip_prefix(name).unwrap_or_default();
        !digits.is_empty() && digits.len() < 4 && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    parts.is_some_and(|(cabinet, cell)| numbered(cabinet, "cab") && numbered(cell, "cell"))
}

pub(super) fn amount<'a>(text: &'a str, heading: &'a str, line: usize) -> Amount<'a> {
    Amount {
        text,
        unit: "GB",
        line,
        heading,
    }
}

/// `8/0/8`
fn sound(text: &str, line: &Line<'_>) -> Result<Sound, CaptureError> {
    let count = |text| amount(text, "CPU", line.number).count();
    match text.split('/').collect::<Vec<_>>().as_slice() {
        [ok, deconfigured, maximum] => Ok(Sound {
            ok: count(ok)?,
            deconfigured: count(deconfigured)?,
            maximum: count(maximum)?,
        }),
        _ => Err(unexpected(line)),
    }
}

/// `32.0/0.0`
fn installed(text: &str, line: &Line<'_>, notes: &mut Notes) -> Result<Installed, CaptureError> {
    let mut parts = text.split('/').map(str::trim);
    let (Some(ok), Some(deconfigured)) = (parts.next(), parts.next()) else {
        return Err(unexpected(line));
    };
    let mut size = |text| amount(text, "Memory", line.number).decimal(text, notes);
    Ok(Installed {
        ok: size(ok)?,
        deconfigured: size(deconfigured)?,
    })
}

const HEAD: &str = "\
[Cell]
                        CPU     Memory                                Use
                        OK/     (GB)                          Core    On
Hardware   Actual       Deconf/ OK/                           Cell    Next Par
Location   Usage        Max     Deconf    Connected To        Capable Boot Num
========== ============ ======= ========= =================== ======= ==== ===
";
const NOTE: &str = "\nNotes: * = Cell has no interleaved memory.\n";

/// The table.
pub(super) fn format(cells: &[Cell]) -> String {
    let rows: String = cells.iter().map(row_text).collect();
    format!("{HEAD}{rows}{NOTE}")
}

fn row_text(cell: &Cell) -> String {
    let dash = || "-".to_owned();
    let text = |value: &Option<String>| value.clone().unwrap_or_else(dash);
    let cpu = cell.processors.map_or_else(dash, |of| {
        format!("{}/{}/{}", of.ok, of.deconfigured, of.maximum)
    });
    let star = if cell.interleaves { "" } else { "*" };
    let memory = cell.memory.map_or_else(dash, |of| {
        format!(
            "{:>4}/{:>4}{star}",
            of.ok.to_string(),
            of.deconfigured.to_string()
        )
    });
    let line = format!(
        "{:<10} {:<12} {cpu:<7} {memory:<9} {:<19} {:<7} {:<4} {}",
        cell.location,
        cell.usage,
        text(&cell.connected),
        text(&cell.core_capable),
        text(&cell.next_boot),
        cell.partition
            .map_or_else(dash, |number| number.to_string()),
    );
    line.trim_end().to_owned() + "\n"
}
