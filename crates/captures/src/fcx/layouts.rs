//! How the lines of a report become cells.

use crate::error::quoted;
use crate::fcx::model::{Report, Row};

pub(super) const DEVICE: &str = "FCX108";
/// What the first heading of FCX108 DEVICE holds.
pub(super) const DEVICE_GROUPS: &str = "<-- Device Descr. -->";
/// Columns of FCX102 SYSTEM, of which two groups stand side by side.
const OPERATIONS: [&str; 3] = ["Operation", "Count", "Rate/s"];
/// Figures of FCX108 DEVICE, the last of a line.
const FIGURES: [&str; 11] = [
    "I/O", "Avoid", "Pend", "Disc", "Conn", "Serv", "Resp", "CUWt", "Qued", "Busy", "READ",
];
/// What stands before them, of which only the address always does.
const DESCRIPTION: [&str; 6] = ["Run", "Addr", "Type", "Label/ID", "Links", "ths"];

/// Which layout a report has.
#[derive(Clone, Copy)]
pub(super) enum Layout {
    /// FCX102 SYSTEM.
    System,
    /// FCX108 DEVICE; whether a column with the name of a run comes first.
    Device { runs: bool },
    /// Columns two blanks apart, the heading behind a blank line.
    Plain,
}

impl Layout {
    pub(super) fn of(number: &str) -> Self {
        match number {
            "FCX102" => Self::System,
            DEVICE => Self::Device { runs: false },
            _ => Self::Plain,
        }
    }

    /// Takes a line that is not blank; says why if it cannot.
    pub(super) fn take(
        &mut self,
        report: &mut Report,
        line: &str,
        number: usize,
        after_blank: bool,
    ) -> Result<(), String> {
        match self {
            Self::System => system(report, line, number),
            Self::Device { runs } => device(report, line, number, runs),
            Self::Plain if report.columns.is_empty() => {
                // Before the heading stand remarks on the report; a line in place of it says that
                // nothing was counted.
                if after_blank && !line.starts_with('(') {
                    report.columns = apart(line).map(str::to_owned).collect();
                }
                Ok(())
            }
            Self::Plain => plain(report, line, number),
        }
    }
}

/// Pieces that are two blanks apart.
fn apart(line: &str) -> impl Iterator<Item = &str> {
    line.split("  ")
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
}

fn plain(report: &mut Report, line: &str, number: usize) -> Result<(), String> {
    let wanted = report.columns.len();
    let row = Row::of(number, apart(line));
    // Where a mail has taken blanks away, words are all there is.
    let row = if row.cells.len() == wanted {
        row
    } else {
        Row::of(number, line.split_whitespace())
    };
    if row.cells.len() != wanted {
        return Err(format!(
            "{} values under {wanted} headings",
            row.cells.len()
        ));
    }
    report.rows.push(row);
    Ok(())
}

fn system(report: &mut Report, line: &str, number: usize) -> Result<(), String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if words[0] == OPERATIONS[0] {
        report.columns = OPERATIONS.map(str::to_owned).to_vec();
        return Ok(());
    }
    let mut name: Vec<&str> = Vec::new();
    let mut rest = words.as_slice();
    while let [first, more @ ..] = rest {
        let figures = more
            .first()
            .filter(|rate| is_figure(first) && is_figure(rate));
        match figures {
            Some(rate) if !name.is_empty() && !report.columns.is_empty() => {
                let row = Row::of(number, [name.join(" ").as_str(), first, rate]);
                report.rows.push(row);
                name.clear();
                rest = &more[1..];
            }
            _ => {
                name.push(first);
                rest = more;
            }
        }
    }
    if name.is_empty() {
        return Ok(());
    }
    let left = quoted(&name.join(" "));
    Err(format!("\"{left}\" is no operation with count and rate"))
}

fn device(report: &mut Report, line: &str, number: usize, runs: &mut bool) -> Result<(), String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if line.contains(DEVICE_GROUPS) {
        return Ok(());
    }
    if words.ends_with(&["Qued", "Busy", "READ"]) {
        *runs = words[0] == DESCRIPTION[0];
        report.columns = [&DESCRIPTION[..], &FIGURES[..]]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect();
        return Ok(());
    }
    let described = words.len().checked_sub(FIGURES.len() + 2);
    let described = described.filter(|_| !report.columns.is_empty());
    let Some((named, figures)) = described.and_then(|at| words.split_at_checked(at)) else {
        return Err(format!(
            "\"{}\" is no line of a device",
            quoted(line.trim())
        ));
    };
    let (run, named) = match named {
        [run, more @ ..] if *runs => (*run, more),
        more => ("", more),
    };
    if named.is_empty() || named.len() > 3 || !figures[2..].iter().all(|word| is_figure(word)) {
        return Err(format!(
            "\"{}\" is no line of a device",
            quoted(line.trim())
        ));
    }
    let name = |place: usize| named.get(place).copied().unwrap_or("");
    let cells = [run, name(0), name(1), name(2)];
    report.rows.push(Row::of(
        number,
        cells.into_iter().chain(figures.iter().copied()),
    ));
    Ok(())
}

/// Digits with at most one point, which may come first, or dots in place of a figure.
fn is_figure(word: &str) -> bool {
    let points = word.bytes().filter(|byte| *byte == b'.').count();
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    points + digits == word.len() && (digits > 0 && points <= 1 || digits == 0)
}
