//! JSON objects out of chunks of bytes that break anywhere.

/// Bytes of the longest object that is held. A sample of a large system with all its processes has
/// some.
const LONGEST: usize = 16 << 20;

/// One object, or what stands in place of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// From its first brace to its last one.
    Whole(&'a [u8]),
    /// One that does not end before the next one begins, or before the file ends.
    CutOff,
    /// One that is too long to be held.
    TooLong,
    /// Bytes between objects that belong to none.
    Stray,
}

/// The state between two bytes.
///
/// Objects follow each other, or stand in the array of `{"samples": [...]}`. A brace at the
/// beginning of a line begins an object even where another one has not ended, so that one that is
/// cut off does not swallow those after it; a text that is not closed ends with its line.
#[derive(Debug)]
pub(crate) struct Objects {
    held: Vec<u8>,
    depth: usize,
    in_text: bool,
    escaped: bool,
    too_long: bool,
    line: usize,
    begun: usize,
    at_start_of_line: bool,
    stray: usize,
    wrapped: bool,
}

impl Default for Objects {
    fn default() -> Self {
        Self {
            held: Vec::new(),
            depth: 0,
            in_text: false,
            escaped: false,
            too_long: false,
            line: 1,
            begun: 1,
            at_start_of_line: true,
            stray: 0,
            wrapped: false,
        }
    }
}

impl Objects {
    /// Hands over the objects that end in this chunk, each with its first line, from 1.
    pub(crate) fn feed(&mut self, chunk: &[u8], mut each: impl FnMut(usize, Piece<'_>)) {
        for byte in chunk {
            self.take(*byte, &mut each);
        }
    }

    fn take(&mut self, byte: u8, each: &mut impl FnMut(usize, Piece<'_>)) {
        let starts = byte == b'{' && self.at_start_of_line;
        self.at_start_of_line = byte == b'\n';
        if self.depth > 0 && starts {
            self.drop_held(each);
        }
        if self.depth == 0 {
            self.between(byte, each);
        } else {
            self.within(byte, each);
        }
        if byte == b'\n' {
            self.line += 1;
            self.in_text = false;
        }
    }

    fn drop_held(&mut self, each: &mut impl FnMut(usize, Piece<'_>)) {
        if self.is_wrapper() {
            self.wrapped = true;
        } else {
            each(self.begun, Piece::CutOff);
        }
        self.held.clear();
        self.depth = 0;
    }

    fn between(&mut self, byte: u8, each: &mut impl FnMut(usize, Piece<'_>)) {
        if byte == b'{' {
            (self.depth, self.begun) = (1, self.line);
            (self.in_text, self.escaped, self.too_long) = (false, false, false);
            self.held.push(byte);
            return;
        }
        let expected = byte.is_ascii_whitespace() || byte == b',' || byte == 0;
        let closes = self.wrapped && matches!(byte, b']' | b'}');
        let mark = self.line == 1 && matches!(byte, 0xef | 0xbb | 0xbf);
        if !(expected || closes || mark) && self.stray != self.line {
            self.stray = self.line;
            each(self.line, Piece::Stray);
        }
    }

    fn within(&mut self, byte: u8, each: &mut impl FnMut(usize, Piece<'_>)) {
        if self.held.len() < LONGEST {
            self.held.push(byte);
        } else {
            self.too_long = true;
        }
        if self.in_text {
            self.in_text = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return;
        }
        match byte {
            b'"' => (self.in_text, self.escaped) = (true, false),
            b'{' | b'[' => {
                self.depth += 1;
                if byte == b'[' && self.depth == 2 && self.is_wrapper() {
                    self.wrapped = true;
                    self.held.clear();
                    self.depth = 0;
                }
            }
            b'}' | b']' => {
                self.depth -= 1;
                if self.depth == 0 {
                    let whole = if self.too_long {
                        Piece::TooLong
                    } else {
                        Piece::Whole(&self.held)
                    };
                    each(self.begun, whole);
                    self.held.clear();
                }
            }
            _ => {}
        }
    }

    /// Whether what is held is `{"samples": [`.
    fn is_wrapper(&self) -> bool {
        let mut rest = self.held.as_slice();
        for word in [&b"{"[..], b"\"samples\"", b":", b"["] {
            match rest.trim_ascii_start().strip_prefix(word) {
                Some(behind) => rest = behind,
                None => return false,
            }
        }
        rest.trim_ascii().is_empty()
    }

    /// Hands over what is not complete at the end of the file.
    pub(crate) fn finish(&mut self, mut each: impl FnMut(usize, Piece<'_>)) {
        if self.depth > 0 {
            self.drop_held(&mut each);
        }
    }

    /// Lines begun so far.
    pub(crate) const fn lines(&self) -> usize {
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str, size: usize) -> Vec<(usize, String)> {
        let mut objects = Objects::default();
        let mut seen = Vec::new();
        let told = |piece: Piece<'_>| match piece {
            Piece::Whole(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            other => format!("{other:?}"),
        };
        for chunk in text.as_bytes().chunks(size) {
            objects.feed(chunk, |line, piece| seen.push((line, told(piece))));
        }
        objects.finish(|line, piece| seen.push((line, told(piece))));
        seen
    }

    fn check(text: &str, expected: &[(usize, &str)]) {
        for size in [1, 3, 1000] {
            let found = pieces(text, size);
            let found: Vec<(usize, &str)> =
                found.iter().map(|(line, text)| (*line, &**text)).collect();
            assert_eq!(found, expected, "{text:?} by {size}");
        }
    }

    #[test]
    fn objects_follow_each_other() {
        check(
            "{\"a\": {}}\n{\"b\": \"}{\\\"\"}\n",
            &[(1, "{\"a\": {}}"), (2, "{\"b\": \"}{\\\"\"}")],
        );
        check("\u{feff}{\n \"a\": [1,\n2]}", &[(1, "{\n \"a\": [1,\n2]}")]);
        check("", &[]);
    }

    #[test]
    fn samples_may_be_wrapped() {
        let both = [(2, "{\"a\":1}"), (3, "{\"a\":2}")];
        check("{\"samples\": [\n{\"a\":1},\n{\"a\":2}\n]}\n", &both);
        check("{\n\"samples\" : [ {\"a\":1}\n,{\"a\":2}]\n}", &both);
    }

    #[test]
    fn what_is_cut_off_does_not_swallow_the_next() {
        check(
            "{\"a\": {\"b\": \"c\n{\"a\":1}\n{\"a\": {",
            &[(1, "CutOff"), (2, "{\"a\":1}"), (3, "CutOff")],
        );
        check(
            "x y\n{\"a\":1} z\n",
            &[(1, "Stray"), (2, "{\"a\":1}"), (2, "Stray")],
        );
    }
}
