//! `lssrad -av`: memory and logical processors by scheduler resource affinity domain (SRAD).
//!
//! A domain without memory has 0.00, one without processors nothing; a list of processors that is
//! too long for its line goes on beneath.

use serde::Serialize;

use crate::number::Number;

/// A scheduler resource affinity domain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Domain {
    /// Line, counted from 1.
    pub line: usize,
    /// The book or drawer it is part of.
    pub ref1: Option<u32>,
    /// Its number.
    pub srad: u32,
    /// Memory [MB of 2^20 bytes].
    pub memory_mb: f64,
    /// Ranges of logical processors: first and last.
    pub processors: Vec<(u32, u32)>,
}

/// Whether the words are the headings.
pub(crate) fn is_heading(words: &[&str]) -> bool {
    matches!(words, ["REF1", "SRAD", "MEM", ..] | ["SRAD", "MEM", ..])
}

/// A line beneath the headings.
#[derive(Debug, PartialEq)]
pub(crate) enum Row {
    /// A book or drawer that the next domains are part of.
    Ref1(u32),
    /// An affinity domain (SRAD) with its memory and its first processors.
    Domain(Domain),
    /// More processors of the domain above.
    More(Vec<(u32, u32)>),
}

/// Read a line beneath the headings.
pub(crate) fn row(words: &[&str], line: usize, ref1: Option<u32>) -> Option<Row> {
    match words {
        [one] if !one.contains('-') => one.parse().ok().map(Row::Ref1),
        [srad, memory, ranges @ ..] if memory.contains(['.', ',']) => {
            let memory_mb = Number::parse(memory)?.to_f64();
            Some(Row::Domain(Domain {
                line,
                ref1,
                srad: srad.parse().ok()?,
                memory_mb: (memory_mb >= 0.0).then_some(memory_mb)?,
                processors: ranges
                    .iter()
                    .map(|word| range(word))
                    .collect::<Option<_>>()?,
            }))
        }
        _ => words
            .iter()
            .map(|word| range(word))
            .collect::<Option<_>>()
            .map(Row::More),
    }
}

/// `0-27` or `4`.
fn range(word: &str) -> Option<(u32, u32)> {
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_books_domains_and_more_processors() {
        assert_eq!(row(&["1"], 3, None), Some(Row::Ref1(1)));
        assert_eq!(
            row(&["2", "31682,06", "0-7", "12"], 4, Some(1)),
            Some(Row::Domain(Domain {
                line: 4,
                ref1: Some(1),
                srad: 2,
                memory_mb: 31_682.06,
                processors: vec![(0, 7), (12, 12)]
            }))
        );
        assert_eq!(
            row(&["16-19", "24"], 5, None),
            Some(Row::More(vec![(16, 19), (24, 24)]))
        );
        for words in [
            &["x"][..],
            &["0", "x.y"],
            &["0", "1.0", "7-0"],
            &["0", "-1.0"],
        ] {
            assert_eq!(row(words, 1, None), None, "{words:?}");
        }
    }
}
