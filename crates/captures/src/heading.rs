//! Headings that were understood, of whatever tool.

/// What the first column of a report holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum First {
    /// A value like the others: a row an interval.
    Value,
    /// Name of a logical processor, or of all: rows an interval.
    Processor,
    /// Number of a virtual processor, or blanks and that of a logical one.
    Virtual,
}

/// A line of headings that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heading {
    pub(crate) report: &'static str,
    pub(crate) first: First,
    /// Headings of the values, each once.
    pub(crate) columns: Vec<String>,
}

impl Heading {
    /// A row an interval.
    pub(crate) fn plain(report: &'static str, words: &[&str]) -> Self {
        Self::with(report, First::Value, words)
    }

    /// Rows an interval; `words` are those behind the first.
    pub(crate) fn with(report: &'static str, first: First, words: &[&str]) -> Self {
        let mut columns: Vec<String> = Vec::new();
        for word in words {
            let again = columns.iter().any(|known| known == word);
            // Of two columns of one name the second belongs to the processor in all reports.
            columns.push(if again {
                format!("{word}#2")
            } else {
                (*word).to_owned()
            });
        }
        Self {
            report,
            first,
            columns,
        }
    }
}
