//! What a parser hands over: sections of configuration and tables.

use crate::number::{Number, Unit};

/// One value as the tool printed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A dash: the tool had nothing to say.
    Missing,
    /// A number that the tool printed bare.
    Number(Number),
    /// A number with its unit.
    Measure(Number, Unit),
    /// Anything else.
    Text(String),
}

impl Value {
    /// Read a word of a table: a dash or a number.
    pub(crate) fn cell(word: &str) -> Option<Self> {
        if word == "-" {
            return Some(Self::Missing);
        }
        Number::parse(word).map(Self::Number)
    }

    /// Read a value that may be anything: a dash, a number, a number with its unit, a text.
    pub(crate) fn any(text: &str) -> Self {
        if text == "-" {
            return Self::Missing;
        }
        let measured = Unit::ALL.into_iter().find_map(|unit| {
            let digits = text.strip_suffix(unit.text())?.trim_end();
            Some(Self::Measure(exact(digits)?, unit))
        });
        measured
            .or_else(|| exact(text).map(Self::Number))
            .unwrap_or_else(|| Self::Text(text.to_owned()))
    }

    /// The number, with or without unit.
    #[must_use]
    pub const fn number(&self) -> Option<Number> {
        match self {
            Self::Number(number) | Self::Measure(number, _) => Some(*number),
            Self::Missing | Self::Text(_) => None,
        }
    }

    /// The value as text, a unit behind `gap`.
    pub(crate) fn text(&self, gap: &str) -> String {
        match self {
            Self::Missing => "-".to_owned(),
            Self::Number(number) => number.to_string(),
            Self::Measure(number, Unit::Percent) => format!("{number}%"),
            Self::Measure(number, unit) => format!("{number}{gap}{}", unit.text()),
            Self::Text(text) => text.clone(),
        }
    }
}

/// A number whose text can be made again from it; names such as `007` stay text.
fn exact(text: &str) -> Option<Number> {
    Number::parse(text).filter(|number| number.to_string() == text.replace(',', "."))
}

/// Named columns and rows of equal length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Headings, as the tool has them.
    pub columns: Vec<String>,
    /// Rows from top to bottom.
    pub rows: Vec<Vec<Value>>,
}

impl Table {
    /// A table without rows.
    pub(crate) fn with_columns<'a>(columns: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            columns: columns.into_iter().map(str::to_owned).collect(),
            rows: Vec::new(),
        }
    }

    /// The value of a row under a heading.
    #[must_use]
    pub fn value(&self, row: usize, column: &str) -> Option<&Value> {
        let index = self.columns.iter().position(|name| name == column)?;
        self.rows.get(row)?.get(index)
    }
}

/// What follows one `System configuration` line, or a listing without one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// Keys and values of the configuration line, in its order.
    pub configuration: Vec<(String, Value)>,
    /// Reports, in the order of time.
    pub tables: Vec<Table>,
}

/// Which report of a tool a capture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// `lparstat`: a row an interval.
    LparstatIntervals,
    /// `lparstat -i`: a row a fact.
    LparstatInformation,
    /// `lparstat -H`: a table an interval, a row a call.
    LparstatHypervisor,
    /// `lparstat -E`: a row an interval.
    LparstatNormalised,
    /// `mpstat`, `mpstat -d`, `mpstat -a`: a table an interval, a row a logical processor.
    MpstatProcessors,
    /// `mpstat -s`: a table an interval, a row a processor, virtual or logical.
    MpstatThreads,
}

impl Report {
    /// Name in machine-readable output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LparstatIntervals => "lparstat",
            Self::LparstatInformation => "lparstat -i",
            Self::LparstatHypervisor => "lparstat -H",
            Self::LparstatNormalised => "lparstat -E",
            Self::MpstatProcessors => "mpstat",
            Self::MpstatThreads => "mpstat -s",
        }
    }
}

/// All that one text holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// Which report it is.
    pub report: Report,
    /// Sections; a new one begins where the tool printed its configuration again.
    pub sections: Vec<Section>,
}
