//! The `System configuration` line that opens most reports.

use std::collections::HashSet;

use crate::capture::Value;
use crate::error::CaptureError;
use crate::lines::Lines;

const OPENING: &str = "System configuration:";

/// Whether a line is one.
pub(crate) fn is_configuration(line: &str) -> bool {
    line.trim_start().starts_with(OPENING)
}

/// Read it: words of the form `key=value`.
pub(crate) fn parse(lines: &mut Lines<'_>) -> Result<Vec<(String, Value)>, CaptureError> {
    let line = lines.expect("the System configuration line", is_configuration)?;
    let mut facts: Vec<(String, Value)> = Vec::new();
    let mut known = HashSet::new();
    let facts_text = line.trim_start().strip_prefix(OPENING).unwrap_or_default();
    for word in facts_text.split_whitespace() {
        let Some((key, value)) = word
            .split_once('=')
            .filter(|(key, value)| !key.is_empty() && !value.is_empty())
        else {
            return Err(lines.unexpected("key=value", word));
        };
        if !known.insert(key) {
            return Err(CaptureError::Twice {
                line: lines.last,
                name: crate::error::quoted(key),
            });
        }
        facts.push((key.to_owned(), Value::any(value)));
    }
    Ok(facts)
}

/// Write it, between blank lines.
pub(crate) fn format(facts: &[(String, Value)]) -> String {
    let words: Vec<String> = facts
        .iter()
        .map(|(key, value)| format!(" {key}={}", value.text("")))
        .collect();
    format!("\n{OPENING}{}\n\n", words.concat())
}
