//! What was recorded, as the tools name it.

use serde::Serialize;

use crate::reports::tools::Domain;

/// All reports of a text, in the order of its lines.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Recording {
    /// `System configuration` lines.
    pub configurations: Vec<Configuration>,
    /// First lines of `sar` and of Linux's tools: which system, which day.
    pub banners: Vec<Banner>,
    /// Commands that were typed above their reports.
    pub commands: Vec<Command>,
    /// Listings of `lparstat -i`.
    pub information: Vec<Information>,
    /// Tables over time.
    pub tables: Vec<Table>,
    /// Listings of `lssrad -av`.
    pub affinity: Vec<Affinity>,
    /// Tunables of `schedo`, `vmo`, `ioo`, `no`: of `-L` or `-a`.
    pub tunables: Vec<Tunable>,
}

/// A `System configuration` line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Configuration {
    /// Line, counted from 1.
    pub line: usize,
    /// Keys and values, as they are written.
    pub values: Vec<(String, String)>,
}

/// Which system a report is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Banner {
    /// Line, counted from 1.
    pub line: usize,
    /// `AIX`, `HP-UX` or `Linux`.
    pub system: String,
    /// Name of the host.
    pub host: String,
    /// Level of the operating system.
    pub level: String,
    /// Days since 1970-01-01.
    pub day: Option<i64>,
    /// Logical processors.
    pub processors: Option<u32>,
    /// Of the processors, as sysstat writes it between underlines: `x86_64`.
    pub architecture: Option<String>,
}

/// A command that was typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Command {
    /// Line, counted from 1.
    pub line: usize,
    /// The tool's name and its arguments.
    pub words: Vec<String>,
    /// The first argument that is a whole number: seconds between reports.
    pub interval: Option<u32>,
}

/// A listing of labels and values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Information {
    /// Line, counted from 1.
    pub line: usize,
    /// Labels, one blank between words; values; lines.
    pub facts: Vec<(String, String, usize)>,
}

/// Reports of one kind that follow each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Table {
    /// Tool and option: `lparstat`, `mpstat -d`.
    pub report: &'static str,
    /// Line of the headings, counted from 1.
    pub line: usize,
    /// Which of the configurations it stands under.
    pub configuration: Option<usize>,
    /// Which of the banners it stands under.
    pub banner: Option<usize>,
    /// Which of the commands it stands under.
    pub command: Option<usize>,
    /// Whether times count from 1970-01-01; otherwise from the first midnight.
    pub dated: bool,
    /// Time that stands beside the headings: where the first interval begins.
    pub start: Option<f64>,
    /// Headings of the values, without that of the processor.
    pub columns: Vec<String>,
    /// Intervals that were read.
    pub intervals: u64,
    /// Lines of the rows of the whole system.
    pub lines: Vec<u32>,
    /// Times at the end of each of these rows [s]; not a number where none is given.
    pub times: Vec<f64>,
    /// Their values, a list a column; not a number where the tool has a dash.
    pub values: Vec<Vec<f64>>,
    /// Rows of single processors, calls or threads in the last interval.
    pub parts: Vec<Part>,
}

/// A row that is about a part of the system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Its name in the first column.
    pub name: String,
    /// Its values, one a column.
    pub values: Vec<f64>,
}

/// A listing of affinity domains.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Affinity {
    /// Line, counted from 1.
    pub line: usize,
    /// The book or drawer that stood last.
    #[serde(skip)]
    pub(crate) ref1: Option<u32>,
    /// Chips with their memory and processors, in the order of the listing.
    pub domains: Vec<Domain>,
}

/// A tunable of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tunable {
    /// Line, counted from 1.
    pub line: usize,
    /// As the tool that sets it calls it.
    pub name: String,
    /// The value it has.
    pub current: String,
    /// The value it has if nobody sets it.
    pub default: Option<String>,
}
