//! `lparstat` of AIX: interval tables, `-i`, `-H`, `-E`.
//!
//! Interval tables may have any of the tool's columns: shared, dedicated and dedicated-donating
//! partitions and the levels of AIX differ in them.

mod hypervisor;
mod information;
mod intervals;
mod known;
mod normalised;

use crate::capture::{Capture, Report, Section, Table};
use crate::configuration;
use crate::error::CaptureError;
use crate::lines::Lines;

pub(crate) use known::{calls, heading, LABELS};

/// Read what lparstat printed.
///
/// # Errors
/// The text is not such output as a whole; the error names the line.
pub fn parse(text: &str) -> Result<Capture, CaptureError> {
    let mut lines = Lines::new(text);
    lines.skip_blank();
    match lines.peek() {
        None => Err(CaptureError::Empty { tool: "lparstat" }),
        Some(line) if configuration::is_configuration(line) => tabular(&mut lines),
        Some(_) => information::parse(&mut lines),
    }
}

/// Sections with the same kind of report, each under its configuration line.
fn tabular(lines: &mut Lines<'_>) -> Result<Capture, CaptureError> {
    let mut sections = Vec::new();
    let mut report = None;
    loop {
        lines.skip_blank();
        if lines.peek().is_none() {
            break;
        }
        let configuration = configuration::parse(lines)?;
        let (kind, tables) = body(lines)?;
        if report.is_some_and(|known| known != kind) {
            let expected = "a report of the same kind as before";
            return Err(CaptureError::Unexpected {
                line: lines.last,
                expected,
                found: kind.name().into(),
            });
        }
        report = Some(kind);
        sections.push(Section {
            configuration,
            tables,
        });
    }
    report
        .map(|report| Capture { report, sections })
        .ok_or(CaptureError::Empty { tool: "lparstat" })
}

/// What follows a configuration line.
fn body(lines: &mut Lines<'_>) -> Result<(Report, Vec<Table>), CaptureError> {
    lines.skip_blank();
    match lines.peek() {
        Some(line) if hypervisor::begins(line) => {
            Ok((Report::LparstatHypervisor, hypervisor::parse(lines)?))
        }
        Some(line) if normalised::begins(line) => {
            Ok((Report::LparstatNormalised, vec![normalised::parse(lines)?]))
        }
        _ => Ok((Report::LparstatIntervals, vec![intervals::parse(lines)?])),
    }
}

/// Write a capture as lparstat would; reading it again gives the same capture.
#[must_use]
pub fn format(capture: &Capture) -> String {
    let write: fn(&Table) -> String = match capture.report {
        Report::LparstatInformation => {
            return capture
                .sections
                .iter()
                .flat_map(|section| &section.tables)
                .map(information::format)
                .collect()
        }
        Report::LparstatHypervisor => hypervisor::format,
        Report::LparstatNormalised => normalised::format,
        _ => intervals::format,
    };
    let section = |section: &Section| {
        configuration::format(&section.configuration)
            + &section.tables.iter().map(write).collect::<String>()
    };
    capture.sections.iter().map(section).collect()
}
