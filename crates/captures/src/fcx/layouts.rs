//! How the lines of a report become cells.

use crate::error::quoted;
use crate::fcx::listing::{has_figures, is_figure, Columns};
use crate::fcx::model::{Report, Row};

pub(super) const DEVICE: &str = "FCX108";
/// What the first heading of FCX108 DEVICE holds.
pub(super) const DEVICE_GROUPS: &str = "<-- Device Descr. -->";
/// Columns of FCX102 SYSTEM, of which two groups stand side by side.
const OPERATIONS: [&str; 3] = ["Operation", "Count", "Rate/s"];
/// What FCX108 DEVICE says of a device before its figures, of which only the address always stands
/// there.
const DESCRIPTION: [&str; 6] = ["Run", "Addr", "Type", "Label/ID", "Links", "ths"];
/// Begin of a heading line of FCX100 CPU.
const LOAD: &str = "PROC";
/// Columns of FCX154 SYSSET, of which several pairs stand side by side.
const SETTINGS: [&str; 2] = ["Setting", "Value"];
/// Most lines of a heading; the Toolkit's own have up to six.
const MOST_LINES: usize = 12;
/// Most figures of a device that are taken.
const MOST_FIGURES: usize = 40;

/// Which layout a report has.
pub(super) enum Layout {
    /// FCX102 SYSTEM.
    System,
    /// FCX108 DEVICE; whether a column with the name of a run comes first.
    Device { runs: bool },
    /// FCX100 CPU: processors, of which only the first columns are figures; what stands below them
    /// is no table.
    Load { columns: Columns },
    /// FCX154 SYSSET: names and values.
    Settings,
    /// A heading behind a blank line, and rows. In one line its columns are two blanks apart, but
    /// for a listing.
    Table {
        listed: bool,
        heading: Vec<String>,
        columns: Columns,
    },
}

impl Layout {
    pub(super) fn of(number: &str, listed: bool) -> Self {
        match number {
            "FCX102" => Self::System,
            DEVICE => Self::Device { runs: false },
            "FCX100" => Self::Load {
                columns: Columns::default(),
            },
            "FCX154" => Self::Settings,
            _ => Self::Table {
                listed,
                heading: Vec::new(),
                columns: Columns::default(),
            },
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
        // Sums over others stand among their rows; homenode's own are rows as well.
        let own = matches!(self, Self::Table { listed: false, heading, .. } if heading.len() < 2);
        if is_ruler(line) || !own && line.trim_start().starts_with('>') {
            return Ok(());
        }
        match self {
            Self::System => system(report, line, number),
            Self::Device { runs } => device(report, line, number, runs),
            Self::Load { columns } => load(report, line, number, columns),
            Self::Settings => settings(report, line, number),
            Self::Table {
                listed,
                heading,
                columns,
            } => {
                if report.columns.is_empty() && (heading.is_empty() || !has_figures(line)) {
                    // Before the heading stand remarks on the report; a line in place of it says
                    // that nothing was counted.
                    if heading.len() == MOST_LINES {
                        return Err(format!("a heading has at most {MOST_LINES} lines"));
                    }
                    if !heading.is_empty() || after_blank && !is_remark(line) {
                        heading.push(line.to_owned());
                    }
                    return Ok(());
                }
                head(report, *listed, heading, columns, Some(line));
                if columns.names.is_empty() {
                    return plain(report, line, number);
                }
                if !has_figures(line) {
                    return Err(format!("\"{}\" has no figure", quoted(line.trim())));
                }
                report.rows.push(columns.row(line, number)?);
                Ok(())
            }
        }
    }

    /// A report ends; its heading counts without a row as well.
    pub(super) fn finish(&mut self, report: &mut Report) {
        if let Self::Table {
            listed,
            heading,
            columns,
        } = self
        {
            head(report, *listed, heading, columns, None);
        }
    }
}

/// `(layout ...)`, or a name with its value, `Nr. of physical processors : 12`.
fn is_remark(line: &str) -> bool {
    line.starts_with('(') || line.contains(": ") && !line.contains('<')
}

/// The heading is complete; `row` is the first line below it.
fn head(
    report: &mut Report,
    listed: bool,
    heading: &[String],
    columns: &mut Columns,
    row: Option<&str>,
) {
    match heading {
        _ if !report.columns.is_empty() => {}
        [only] if !listed && row.is_none_or(|row| is_apart(only, row)) => {
            report.columns = apart(only).map(str::to_owned).collect()
        }
        _ => {
            *columns = Columns::of(heading);
            report.columns.clone_from(&columns.names);
        }
    }
}

/// Dots over the columns.
pub(super) fn is_ruler(line: &str) -> bool {
    line.split_whitespace()
        .all(|word| matches!(word, "." | "_"))
}

/// Pieces that are two blanks apart.
fn apart(line: &str) -> impl Iterator<Item = &str> {
    line.split("  ")
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
}

/// Whether the names of a heading are two blanks apart: most are, or a row has as many values.
fn is_apart(heading: &str, row: &str) -> bool {
    let names = apart(heading).count();
    let as_many = [apart(row).count(), row.split_whitespace().count()].contains(&names);
    as_many || 2 * names > heading.split_whitespace().count()
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

fn load(
    report: &mut Report,
    line: &str,
    number: usize,
    columns: &mut Columns,
) -> Result<(), String> {
    let first = line.split_whitespace().next().unwrap_or_default();
    if first == LOAD {
        let heading = Columns::side_by_side(line);
        if !report.rows.is_empty() {
            // Rows have the columns of the heading above them.
            return if heading.names == report.columns {
                Ok(())
            } else {
                Err("a second heading, with other columns".to_owned())
            };
        }
        *columns = heading;
        report.columns.clone_from(&columns.names);
        return Ok(());
    }
    if report.columns.is_empty() {
        // The first line of the heading names groups.
        return Ok(());
    }
    if !is_processor(first) {
        return Err(format!("\"{}\" is no processor", quoted(line.trim())));
    }
    // That there is this processor is known, whatever its line is worth.
    let (row, told) = columns.row(line, number).map_or_else(
        |why| (Row::of(number, [first]), Err(why)),
        |row| (row, Ok(())),
    );
    report.rows.push(row.of_width(report.columns.len()));
    told
}

/// `P00`, or digits alone.
fn is_processor(word: &str) -> bool {
    let digits = word.strip_prefix('P').unwrap_or(word);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn settings(report: &mut Report, line: &str, number: usize) -> Result<(), String> {
    let pieces: Vec<&str> = apart(line).collect();
    if pieces.len() < 2 || is_remark(line) {
        return Ok(());
    }
    report.columns = SETTINGS.map(str::to_owned).to_vec();
    let pairs = pieces.chunks_exact(2);
    let left = pairs.remainder().first().copied();
    let rows = pairs.map(|pair| Row::of(number, pair.iter().copied()));
    report.rows.extend(rows);
    left.map_or(Ok(()), |name| {
        Err(format!("\"{}\" has no value", quoted(name)))
    })
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
    let told = words.iter().position(|word| *word == DESCRIPTION[5]);
    if let (true, Some(at)) = (words.contains(&DESCRIPTION[1]), told) {
        *runs = words[0] == DESCRIPTION[0];
        let figures = words[at + 1..].iter().take(MOST_FIGURES);
        let all = DESCRIPTION.iter().chain(figures);
        report.columns = all.map(|name| (*name).to_owned()).collect();
        return Ok(());
    }
    let figures = report.columns.len().saturating_sub(DESCRIPTION.len());
    let described = words.len().checked_sub(figures + 2);
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
