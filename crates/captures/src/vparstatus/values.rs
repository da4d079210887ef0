//! Values that `-v` and `-M` have in common: hardware paths, ranges, sizes.

use crate::amount::Amount;
use crate::error::{quoted, CaptureError};
use crate::reading::Notes;
use crate::vparstatus::model::{CellMemory, IoPath, Range};

const FLOATING: &str = "(floating";

/// A text with its line and the heading over it.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) text: &'a str,
    pub(super) line: usize,
    pub(super) heading: &'a str,
    /// Unit of a size that names none.
    pub(super) unit: &'a str,
}

impl<'a> At<'a> {
    pub(super) fn of(self, text: &'a str) -> Self {
        Self { text, ..self }
    }

    pub(super) fn amount(self) -> Amount<'a> {
        Amount {
            text: self.text,
            unit: self.unit,
            line: self.line,
            heading: self.heading,
        }
    }

    pub(super) fn unexpected(self, expected: &'static str) -> CaptureError {
        CaptureError::Unexpected {
            line: self.line,
            expected,
            found: quoted(self.text),
        }
    }
}

/// Whether a text can be a hardware path, legacy or by LUN.
fn is_path(text: &str) -> bool {
    let sound = |c: char| c.is_ascii_alphanumeric() || "./-_".contains(c);
    text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(sound)
}

/// The path of a processor.
pub(super) fn processor(at: At<'_>) -> Result<String, CaptureError> {
    if is_path(at.text) {
        return Ok(at.text.to_owned());
    }
    Err(at.unexpected("the path of a processor, such as 0.10"))
}

/// A piece of I/O: its path, and BOOT or ALTBOOT.
pub(super) fn io(at: At<'_>) -> Result<IoPath, CaptureError> {
    let (path, role) = at
        .text
        .split_once(char::is_whitespace)
        .unwrap_or((at.text, ""));
    let role = crate::blocks::words(&role.replace(',', " "));
    let sound = |c: char| c.is_ascii_alphanumeric() || " -".contains(c);
    if !is_path(path) || !role.chars().all(sound) {
        return Err(at.unexpected("a hardware path, such as 0.0.1, and perhaps BOOT"));
    }
    Ok(IoPath {
        path: path.to_owned(),
        role,
    })
}

/// `0x8000000/896`, with the cell before it if the memory is of a cell, `(Floating)` behind it if
/// it is.
pub(super) fn range(at: At<'_>, of_cell: bool, notes: &mut Notes) -> Result<Range, CaptureError> {
    let (text, floating) = split_floating(at.text);
    let expected = if of_cell {
        "a cell and a range, such as 0 0x70080000000/512"
    } else {
        "a range, such as 0x8000000/896"
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let (cell, text) = match (of_cell, words.as_slice()) {
        (true, [cell, range]) => (Some(at.of(cell).amount().count()?), *range),
        (false, [range]) => (None, *range),
        _ => return Err(at.unexpected(expected)),
    };
    let (base, size) = text.split_once('/').ok_or(at.unexpected(expected))?;
    let digits = base.strip_prefix("0x").or(base.strip_prefix("0X"));
    let base = digits
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .ok_or(at.unexpected(expected))?;
    Ok(Range {
        cell,
        base,
        megabytes: at.of(size).amount().megabytes(notes)?,
        floating: floating.is_some(),
    })
}

/// A range as the tool writes it, without the mark of floating memory.
pub(super) fn range_text(range: &Range, gap: &str) -> String {
    let cell = range.cell.map(|cell| format!("{cell}{gap}"));
    let cell = cell.unwrap_or_default();
    format!("{cell}{:#x}/{}", range.base, range.megabytes)
}

/// `0 1280`: a cell and the size of its memory; `(Floating 512)` may follow.
pub(super) fn cell_memory(at: At<'_>, notes: &mut Notes) -> Result<CellMemory, CaptureError> {
    let (text, floating) = split_floating(at.text);
    let (cell, size) = text
        .split_once(|c: char| c.is_whitespace() || c == '/')
        .ok_or(at.unexpected("a cell and a size, such as 0 1280"))?;
    Ok(CellMemory {
        cell: at.of(cell).amount().count()?,
        megabytes: at.of(size.trim()).amount().megabytes(notes)?,
        floating: match floating {
            Some(size) => at.of(size).amount().megabytes(notes)?,
            None => 0,
        },
    })
}

/// What stands before `(Floating ...)` and what stands within, if it is there.
pub(super) fn split_floating(text: &str) -> (&str, Option<&str>) {
    let at = text.to_ascii_lowercase().find(FLOATING);
    let within = at.and_then(|at| text[at + FLOATING.len()..].trim_end().strip_suffix(')'));
    match (at, within) {
        (Some(at), Some(within)) => (text[..at].trim(), Some(within.trim())),
        _ => (text.trim(), None),
    }
}

/// Texts between commas.
pub(super) fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
}

/// Items with commas between them.
pub(super) fn joined(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(",")
}
