//! What can be wrong with a capture.

use thiserror::Error;

/// The text is not what the tool prints; every variant says where.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CaptureError {
    /// Nothing but blanks.
    #[error("there is no text; give the output of {tool}")]
    Empty {
        /// The tool whose output was expected.
        tool: &'static str,
    },
    /// Bytes of which nothing is what the tool writes.
    #[error("no record of {tool} in {bytes} bytes: {why}; {next_step}")]
    Foreign {
        /// The tool whose file was expected.
        tool: &'static str,
        /// How much there is.
        bytes: usize,
        /// What of it is no such file.
        why: String,
        /// What to do about it.
        next_step: &'static str,
    },
    /// A line that does not belong there.
    #[error("line {line}: {expected} expected, found {found:?}")]
    Unexpected {
        /// Line, counted from 1.
        line: usize,
        /// What belongs there.
        expected: &'static str,
        /// The line, cut if it is long.
        found: String,
    },
    /// A row with more or fewer values than there are headings.
    #[error("line {line}: {values} values under {headings} headings")]
    Uneven {
        /// Line, counted from 1.
        line: usize,
        /// Number of headings.
        headings: usize,
        /// Number of values.
        values: usize,
    },
    /// A word that should be a number.
    #[error("line {line}: {found:?} under {heading} is no number")]
    NotANumber {
        /// Line, counted from 1.
        line: usize,
        /// Heading of the column.
        heading: String,
        /// The word, cut if it is long.
        found: String,
    },
    /// A name that may occur once only.
    #[error("line {line}: {name:?} occurs twice")]
    Twice {
        /// Line, counted from 1.
        line: usize,
        /// What was named a second time.
        name: String,
    },
    /// A part that is needed is not there.
    #[error("line {line}: {name} has no \"{section}\"; copy all that the tool printed")]
    Missing {
        /// Line where the thing begins that lacks it, counted from 1.
        line: usize,
        /// What lacks it.
        name: String,
        /// What is missing.
        section: &'static str,
    },
    /// The text ends too early.
    #[error("the text ends after line {line}, where {expected} was still to come; copy all of it")]
    CutShort {
        /// The last line, counted from 1.
        line: usize,
        /// What is missing.
        expected: &'static str,
    },
}

const LONGEST: usize = 60;

/// A piece of input as it is quoted in messages: one line, cut if it is long, blanks in place of
/// what no terminal should be sent.
pub(crate) fn quoted(text: &str) -> String {
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    let mut quote: String = text.chars().take(LONGEST).map(shown).collect();
    if text.chars().nth(LONGEST).is_some() {
        quote.push_str("...");
    }
    quote
}

const LONGEST_SENTENCE: usize = 400;

/// A remark as it is told: names in it may be as long as a damaged line.
pub(crate) fn sentence(text: String) -> String {
    match text.char_indices().nth(LONGEST_SENTENCE) {
        None if !text.contains(char::is_control) => text,
        cut => {
            let kept = cut.map_or(text.as_str(), |(end, _)| &text[..end]);
            let mut sentence = kept.replace(char::is_control, " ");
            sentence.push_str(if cut.is_some() { "..." } else { "" });
            sentence
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_has_a_message_with_its_facts() {
        let unexpected = CaptureError::Unexpected {
            line: 3,
            expected: "a ruler",
            found: "x".into(),
        };
        let uneven = CaptureError::Uneven {
            line: 6,
            headings: 4,
            values: 5,
        };
        let word = CaptureError::NotANumber {
            line: 6,
            heading: "physc".into(),
            found: "1.0.0".into(),
        };
        let cut = CaptureError::CutShort {
            line: 9,
            expected: "the ALL row",
        };
        let missing = CaptureError::Missing {
            line: 4,
            name: "vp1".into(),
            section: "CPU Details",
        };
        let foreign = CaptureError::Foreign {
            tool: "MONWRITE",
            bytes: 7,
            why: "no frame is whole".into(),
            next_step: "copy it in binary form",
        };
        let messages = [
            (
                foreign,
                "no record of MONWRITE in 7 bytes: no frame is whole; copy it in binary form",
            ),
            (
                missing,
                "line 4: vp1 has no \"CPU Details\"; copy all that the tool printed",
            ),
            (
                CaptureError::Empty { tool: "lparstat" },
                "there is no text; give the output of lparstat",
            ),
            (unexpected, "line 3: a ruler expected, found \"x\""),
            (uneven, "line 6: 5 values under 4 headings"),
            (word, "line 6: \"1.0.0\" under physc is no number"),
            (
                CaptureError::Twice {
                    line: 2,
                    name: "Mode".into(),
                },
                "line 2: \"Mode\" occurs twice",
            ),
            (
                cut,
                "the text ends after line 9, where the ALL row was still to come; copy all of it",
            ),
        ];
        for (error, message) in messages {
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(quoted(&"é".repeat(100)).chars().count(), 63);
        assert_eq!(quoted(&"é".repeat(60)).chars().count(), 60);
    }

    #[test]
    fn a_sentence_stays_one_line_that_can_be_read() {
        assert_eq!(sentence("a is b".into()), "a is b");
        assert_eq!(sentence("a\nb".into()), "a b");
        assert_eq!(sentence("é".repeat(500)).chars().count(), 403);
    }

    #[test]
    fn a_quote_is_one_line_and_moves_no_cursor() {
        assert_eq!(quoted("a\n\u{1b}[2Jb\tc"), "a  [2Jb c");
    }
}
