//! Texts of sections under headings in brackets, as HP-UX's partition commands write them.
//!
//! Of a session that was written down, prompts, page breaks and the marks of a pager are dropped.
//! Records, the lines of a command's `-M`, are kept apart wherever they stand.

use crate::error::quoted;
use crate::reading::Notes;

/// A line with its number.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    pub(crate) number: usize,
    pub(crate) text: &'a str,
}

/// What stands beneath one heading.
pub(crate) struct Block<'a> {
    /// The heading without its brackets, one blank between words.
    pub(crate) heading: String,
    pub(crate) line: usize,
    pub(crate) lines: Vec<Line<'a>>,
}

/// A whole text.
#[derive(Default)]
pub(crate) struct Blocks<'a> {
    pub(crate) preamble: Vec<Line<'a>>,
    pub(crate) list: Vec<Block<'a>>,
    pub(crate) records: Vec<Line<'a>>,
}

impl<'a> Blocks<'a> {
    pub(crate) fn of(text: &'a str, is_record: fn(&str) -> bool) -> Self {
        let mut blocks = Self::default();
        for (index, raw) in text.lines().enumerate() {
            let text = raw.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            let line = Line {
                number: index + 1,
                text,
            };
            if text.is_empty() || is_prompt(text) || text.starts_with("--More--") {
                continue;
            }
            if let Some(heading) = heading(text) {
                blocks.list.push(Block {
                    heading,
                    line: line.number,
                    lines: Vec::new(),
                });
            } else if is_record(text) {
                blocks.records.push(line);
            } else if let Some(block) = blocks.list.last_mut() {
                block.lines.push(line);
            } else {
                blocks.preamble.push(line);
            }
        }
        blocks
    }

    /// Whether there is a section of that heading.
    pub(crate) fn has(&self, heading: &str) -> bool {
        self.list.iter().any(|block| block.heading == heading)
    }
}

/// The words of a heading in brackets.
fn heading(text: &str) -> Option<String> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let word = |c: char| c.is_ascii_alphanumeric() || " */-".contains(c);
    let sound = !inner.trim().is_empty() && inner.chars().all(word);
    sound.then(|| words(inner))
}

/// Whether a line is a prompt, with a command behind it or not. The label `Slots # : 4` is none.
fn is_prompt(text: &str) -> bool {
    let Some((before, after)) = text.split_once(['#', '$', '>', '%']) else {
        return false;
    };
    let command = after.trim_start();
    !before.contains(char::is_whitespace)
        && !before.starts_with('<')
        && (after.is_empty() || command.len() < after.len())
        && !command.starts_with(':')
}

/// Words with one blank between them.
pub(crate) fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A label of a section and what stands behind it, on its line and on the following ones.
pub(crate) struct Field<'a> {
    pub(crate) label: &'static str,
    /// Unit in parentheses behind the label.
    pub(crate) unit: Option<&'a str>,
    pub(crate) line: usize,
    pub(crate) values: Vec<Line<'a>>,
}

impl Field<'_> {
    /// All that stands behind the label.
    pub(crate) fn text(&self) -> String {
        let parts: Vec<&str> = self.values.iter().map(|line| line.text).collect();
        parts.join(" ")
    }
}

/// Words under a label that name units and hold no value.
const UNIT_LINE: [&str; 2] = ["(bytes)", "(MB)"];

/// The labelled values of a section; lines with other labels are remarked and left out.
pub(crate) fn fields<'a>(
    block: &Block<'a>,
    labels: &[&'static str],
    notes: &mut Notes,
) -> Vec<Field<'a>> {
    let mut found: Vec<Field<'a>> = Vec::new();
    let mut open = false;
    for line in &block.lines {
        let labelled = labels
            .iter()
            .find_map(|label| strip_label(line.text, label).map(|rest| (*label, rest)));
        if let Some((label, (unit, value))) = labelled {
            let value = Line {
                text: value,
                ..*line
            };
            let values = Some(value).filter(|value| !value.text.is_empty());
            found.push(Field {
                label,
                unit,
                line: line.number,
                values: values.into_iter().collect(),
            });
            open = true;
            continue;
        }
        let mut text = line.text;
        for word in UNIT_LINE {
            text = text.strip_prefix(word).unwrap_or(text).trim_start();
        }
        match found.last_mut() {
            _ if text.is_empty() => {}
            Some(field) if open && !text.contains(':') => {
                field.values.push(Line { text, ..*line });
            }
            _ => {
                open = false;
                notes.remark(line.number, format!("\"{}\" is left out", quoted(text)));
            }
        }
    }
    found
}

/// What stands behind a label and its colon: the unit in parentheses before the colon, the value.
/// Blanks within the label vary.
fn strip_label<'a>(text: &'a str, label: &str) -> Option<(Option<&'a str>, &'a str)> {
    let mut rest = text;
    for word in label.split_whitespace() {
        let start = rest.trim_start();
        let cut = start.get(..word.len())?;
        if !cut.eq_ignore_ascii_case(word) {
            return None;
        }
        rest = &start[word.len()..];
    }
    let rest = rest.trim_start();
    let (unit, rest) = match rest.strip_prefix('(').and_then(|tail| tail.split_once(')')) {
        Some((unit, tail)) => (Some(unit.trim()), tail.trim_start()),
        None => (None, rest),
    };
    Some((unit, rest.strip_prefix(':')?.trim()))
}
