//! `mpstat` of AIX: the default table, `-d`, `-a` and `-s`.

mod known;
mod processors;
mod threads;

use crate::capture::{Capture, Report, Section, Table};
use crate::configuration;
use crate::error::CaptureError;
use crate::lines::{is_ruler, Lines};

pub(crate) use known::{heading, threads as shares};

const DASHES: usize = 80;

/// Read what mpstat printed.
///
/// # Errors
/// The text is not such output as a whole; the error names the line.
pub fn parse(text: &str) -> Result<Capture, CaptureError> {
    let mut lines = Lines::new(text);
    let mut sections: Vec<Section> = Vec::new();
    let mut report = None;
    loop {
        lines.skip_blank();
        if lines.peek().is_none() {
            return report
                .map(|report| Capture { report, sections })
                .ok_or(CaptureError::Empty { tool: "mpstat" });
        }
        let configuration = configuration::parse(&mut lines)?;
        lines.skip_blank();
        let kind = if lines.peek().is_some_and(threads::begins) {
            Report::MpstatThreads
        } else {
            Report::MpstatProcessors
        };
        if report.is_some_and(|known| known != kind) {
            let expected = "a report of the same kind as before";
            return Err(CaptureError::Unexpected {
                line: lines.last,
                expected,
                found: kind.name().into(),
            });
        }
        report = Some(kind);
        let tables = reports(&mut lines, kind)?;
        sections.push(Section {
            configuration,
            tables,
        });
    }
}

/// Reports up to the next configuration line, with or without lines of dashes between them.
fn reports(lines: &mut Lines<'_>, kind: Report) -> Result<Vec<Table>, CaptureError> {
    let mut tables = Vec::new();
    loop {
        tables.push(if kind == Report::MpstatThreads {
            threads::parse(lines)?
        } else {
            processors::parse(lines)?
        });
        lines.skip_blank();
        if lines.peek().is_some_and(is_ruler) {
            lines.take();
            lines.skip_blank();
        }
        if lines.peek().is_none_or(configuration::is_configuration) {
            return Ok(tables);
        }
    }
}

/// Write a capture as mpstat would; reading it again gives the same capture.
#[must_use]
pub fn format(capture: &Capture) -> String {
    let write = if capture.report == Report::MpstatThreads {
        threads::format
    } else {
        processors::format
    };
    let dashes = format!("{}\n", "-".repeat(DASHES));
    let section = |section: &Section| {
        let tables: Vec<String> = section.tables.iter().map(write).collect();
        configuration::format(&section.configuration) + &tables.join(&dashes)
    };
    capture.sections.iter().map(section).collect()
}
