//! Walking over a text line by line, numbers from 1.

use std::iter::{Enumerate, Peekable};

use crate::error::{quoted, CaptureError};

/// The lines that are still to read.
pub(crate) struct Lines<'a> {
    rest: Peekable<Enumerate<std::str::Lines<'a>>>,
    /// The line that was read last.
    pub(crate) last: usize,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            rest: text.lines().enumerate().peekable(),
            last: 0,
        }
    }

    /// The next line without reading it.
    pub(crate) fn peek(&mut self) -> Option<&'a str> {
        self.rest.peek().map(|(_, line)| *line)
    }

    /// Read a line.
    pub(crate) fn take(&mut self) -> Option<&'a str> {
        let (index, line) = self.rest.next()?;
        self.last = index + 1;
        Some(line)
    }

    /// Read blank lines.
    pub(crate) fn skip_blank(&mut self) {
        while self.peek().is_some_and(|line| line.trim().is_empty()) {
            self.take();
        }
    }

    /// Read the next line that is not blank, which must fit.
    pub(crate) fn expect(
        &mut self,
        expected: &'static str,
        fits: impl Fn(&str) -> bool,
    ) -> Result<&'a str, CaptureError> {
        self.skip_blank();
        match self.take() {
            Some(line) if fits(line) => Ok(line),
            Some(line) => Err(self.unexpected(expected, line)),
            None => Err(CaptureError::CutShort {
                line: self.last,
                expected,
            }),
        }
    }

    /// The error for a line that was read and does not belong there.
    pub(crate) fn unexpected(&self, expected: &'static str, line: &str) -> CaptureError {
        CaptureError::Unexpected {
            line: self.last,
            expected,
            found: quoted(line.trim()),
        }
    }
}

/// Whether a line is drawn of dashes.
pub(crate) fn is_ruler(line: &str) -> bool {
    line.contains('-')
        && line
            .chars()
            .all(|character| character == '-' || character.is_whitespace())
}
