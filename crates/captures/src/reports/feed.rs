//! A text that comes in pieces of bytes, cut anywhere.

use crate::damage::Lenient;
use crate::decode::decode;
use crate::error::CaptureError;
use crate::reading::Remark;
use crate::reports::model::Recording;
use crate::reports::reader::{Reader, LONGEST_LINE};

/// Reads reports out of pieces; memory is bounded by what is kept of them and by one line.
#[derive(Default)]
pub struct Feed {
    reader: Reader,
    /// The line that is not complete yet.
    tail: Vec<u8>,
    /// Bytes of the line that were not kept because it is too long.
    skipped: bool,
    begun: bool,
    /// UTF-16 is kept whole: its ends of lines are not at whole bytes.
    wide: bool,
    remarks: Vec<Remark>,
}

impl Feed {
    /// Take the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        if !self.begun {
            self.tail.extend_from_slice(bytes);
            if self.tail.len() < 2 {
                return;
            }
            self.begun = true;
            self.wide = matches!(self.tail[..2], [0xff, 0xfe] | [0xfe, 0xff]);
            let first = std::mem::take(&mut self.tail);
            return self.pieces(&first);
        }
        self.pieces(bytes);
    }

    fn pieces(&mut self, bytes: &[u8]) {
        if self.wide {
            return self.tail.extend_from_slice(bytes);
        }
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.keep(&rest[..end]);
            self.line();
            rest = &rest[end + 1..];
        }
        self.keep(rest);
    }

    fn keep(&mut self, piece: &[u8]) {
        let room = (LONGEST_LINE + 1).saturating_sub(self.tail.len());
        self.skipped |= piece.len() > room;
        self.tail.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    /// A line is complete.
    fn line(&mut self) {
        let bytes = std::mem::take(&mut self.tail);
        let decoded = decode(&bytes);
        for remark in decoded.remarks {
            // A text in an old encoding says so on many lines; once is enough.
            if self.remarks.iter().all(|known| known.text != remark.text) && self.remarks.len() < 2
            {
                self.remarks.push(Remark {
                    line: self.reader.number + 1,
                    ..remark
                });
            }
        }
        if std::mem::take(&mut self.skipped) {
            // Too long with its rest; what is kept of it is too long as well.
            return self.reader.line(&"x".repeat(LONGEST_LINE + 1));
        }
        self.reader.line(&decoded.text);
    }

    /// See [`Reader::finish`].
    ///
    /// # Errors
    /// Nothing of the text was a report.
    pub fn finish(mut self) -> Result<Lenient<Recording>, CaptureError> {
        if self.wide {
            let decoded = decode(&std::mem::take(&mut self.tail));
            self.remarks = decoded.remarks;
            for line in decoded.text.lines() {
                self.reader.line(line);
            }
            if !decoded.text.ends_with('\n') {
                self.reader.cut_off();
            }
        } else if !self.tail.is_empty() {
            self.line();
            self.reader.cut_off();
        }
        let mut found = self.reader.finish()?;
        found.remarks.splice(0..0, self.remarks);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reports::read;

    const TEXT: &str =
        "System configuration: lcpu=8 ent=0.5\r\n\r\n%user %sys %wait %idle physc\r\n\
                        1 2 0 97 0.03\r\n2 2 0 96 0.04\r\n";

    fn in_pieces(bytes: &[u8], size: usize) -> Lenient<Recording> {
        let mut feed = Feed::default();
        bytes.chunks(size).for_each(|piece| feed.feed(piece));
        feed.finish().expect("a report")
    }

    /// Tables as text, for a time that is not known equals no other.
    fn shown(read: &Lenient<Recording>) -> String {
        format!("{:?}", read.found)
    }

    #[test]
    fn pieces_of_any_size_give_the_same() {
        let whole = read(TEXT).expect("a report");
        let wide: Vec<u8> = std::iter::once(0xfeff)
            .chain(TEXT.encode_utf16())
            .flat_map(u16::to_le_bytes)
            .collect();
        for size in [1, 2, 3, 7, 1000] {
            for bytes in [TEXT.as_bytes(), &wide] {
                let read = in_pieces(bytes, size);
                assert_eq!(shown(&read), shown(&whole), "{size}");
                assert_eq!((read.dropped, read.remarks.len()), (0, 0));
            }
        }
    }

    #[test]
    fn long_lines_and_old_letters_are_named_once() {
        let mut bytes = TEXT.as_bytes().to_vec();
        bytes.extend(vec![b'7'; 3 * LONGEST_LINE]);
        bytes.extend(b"\ncaf\xe9\ncaf\xe9 la\n1 1 0 98 0.0");
        let read = in_pieces(&bytes, 500);
        assert_eq!(read.dropped, 3);
        assert_eq!(read.found.tables[0].lines, [4, 5, 9]);
        let texts: Vec<&str> = read
            .remarks
            .iter()
            .map(|remark| remark.text.as_str())
            .collect();
        assert_eq!(texts[0], "the text is not UTF-8; it is read as Latin-1");
        assert!(texts[1].contains("longer than any line"));
        assert!(texts[4].contains("no end"), "{texts:?}");
    }
}
