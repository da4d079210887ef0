//! What was printed: reports, each with its columns and rows.

use serde::Serialize;

/// All reports of a text.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Recording {
    /// In the order of the text.
    pub reports: Vec<Report>,
    /// Lines that stand outside of all of them, such as prose around an excerpt.
    pub outside: usize,
}

/// A table with its number, and the machine and time it is about.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Such as `FCX108`.
    pub number: String,
    /// Line it begins on, from 1.
    pub line: usize,
    /// Machine type; empty where it is not told.
    pub machine: String,
    /// Serial number of the machine; empty where it is not told.
    pub serial: String,
    /// Begin and end of the time it is about, as printed; empty where they are not.
    pub interval: [String; 2],
    /// Names of the columns, those of the report.
    pub columns: Vec<String>,
    /// In the order of the text.
    pub rows: Vec<Row>,
    /// Lines with figures that could not be taken, from 1.
    pub lost: Vec<usize>,
}

impl Report {
    /// Whether it is a further page of the one before.
    pub(super) fn continues(&self, before: &Self) -> bool {
        self.number == before.number
            && self.machine == before.machine
            && self.serial == before.serial
            && self.interval == before.interval
            && self.columns == before.columns
    }
}

/// A line of a report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// From 1.
    pub line: usize,
    /// A cell a column, as printed; empty where it is blank, which reports print as dots.
    pub cells: Vec<String>,
}

impl Row {
    pub(super) fn of<'a>(line: usize, cells: impl IntoIterator<Item = &'a str>) -> Self {
        let plain = |cell: &str| {
            let is_blank = cell.bytes().all(|byte| byte == b'.');
            if is_blank { "" } else { cell }.to_owned()
        };
        let cells = cells.into_iter().map(plain).collect();
        Self { line, cells }
    }
    /// With blanks in place of the cells that it lacks.
    pub(super) fn of_width(mut self, columns: usize) -> Self {
        self.cells.resize(columns, String::new());
        self
    }
}
