//! Lines out of chunks of bytes that break anywhere.

use memchr::memchr;

/// Bytes of the longest line that is read. The longest a recorder writes, a heading of some
/// thousand disks, is far below.
const LONGEST: usize = 1 << 20;

/// What stands between two ends of line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// A line, without its end.
    Whole(&'a [u8]),
    /// One that is too long to be held; it was skipped.
    TooLong,
    /// The last one, which has no end: it may be cut off in the middle of a number.
    Open(&'a [u8]),
}

/// The unfinished line between two chunks.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    carry: Vec<u8>,
    skipping: bool,
    count: usize,
}

impl Lines {
    /// Hands over the lines that end in this chunk, numbered from 1.
    pub(crate) fn feed<'a>(&mut self, chunk: &'a [u8], mut each: impl FnMut(usize, Line<'_>)) {
        let mut rest: &'a [u8] = chunk;
        while let Some(end) = memchr(b'\n', rest) {
            self.count += 1;
            let piece = &rest[..end];
            rest = &rest[end + 1..];
            if self.skipping || self.carry.len() + piece.len() > LONGEST {
                each(self.count, Line::TooLong);
            } else if self.carry.is_empty() {
                each(self.count, Line::Whole(piece));
            } else {
                self.carry.extend_from_slice(piece);
                each(self.count, Line::Whole(&self.carry));
            }
            self.skipping = false;
            self.carry.clear();
        }
        self.keep(rest);
    }

    fn keep(&mut self, rest: &[u8]) {
        if self.skipping || self.carry.len() + rest.len() > LONGEST {
            self.skipping = true;
            self.carry.clear();
        } else {
            self.carry.extend_from_slice(rest);
        }
    }

    /// Hands over what follows the last end of line, if anything does.
    pub(crate) fn finish(&mut self, each: impl FnOnce(usize, Line<'_>)) {
        if self.skipping {
            each(self.count + 1, Line::TooLong);
        } else if !self.carry.is_empty() {
            each(self.count + 1, Line::Open(&self.carry));
        }
        self.skipping = false;
        self.carry.clear();
    }

    /// Lines that have ended so far.
    pub(crate) const fn count(&self) -> usize {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(chunks: &[&[u8]]) -> Vec<(usize, String)> {
        let mut lines = Lines::default();
        let mut seen = Vec::new();
        let text = |line: Line<'_>| match line {
            Line::Whole(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Line::TooLong => "too long".to_owned(),
            Line::Open(bytes) => format!("open {}", String::from_utf8_lossy(bytes)),
        };
        for chunk in chunks {
            lines.feed(chunk, |number, line| seen.push((number, text(line))));
        }
        lines.finish(|number, line| seen.push((number, text(line))));
        seen
    }

    fn numbered(texts: &[&str]) -> Vec<(usize, String)> {
        let owned = texts.iter().map(|text| (*text).to_owned());
        owned.enumerate().map(|(at, text)| (at + 1, text)).collect()
    }

    #[test]
    fn chunks_may_break_anywhere() {
        let expected = numbered(&["ab", "", "c", "open d"]);
        assert_eq!(lines(&[b"ab\n\nc\nd"]), expected);
        assert_eq!(lines(&[b"a", b"b", b"\n\n", b"c\n", b"d"]), expected);
        assert_eq!(lines(&[b"x\n"]), numbered(&["x"]));
        assert!(lines(&[b""]).is_empty());
    }

    #[test]
    fn a_line_without_end_is_not_held() {
        let long = vec![b'x'; LONGEST];
        assert_eq!(
            lines(&[&long, b"y", b"z\nafter\n"]),
            numbered(&["too long", "after"])
        );
        assert_eq!(lines(&[&long, &long]), numbered(&["too long"]));
        let mut whole = vec![b'x'; LONGEST + 1];
        whole.push(b'\n');
        assert_eq!(lines(&[&whole, b"b\n"]), numbered(&["too long", "b"]));
    }
}
