//! Columns of words, packed: all texts behind each other, and where each ends.

use crate::nmon::heading::words;

/// A column of words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    text: String,
    ends: Vec<usize>,
}

impl Words {
    /// Adds a word, without the blanks around it.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let bytes = bytes.trim_ascii();
        match std::str::from_utf8(bytes) {
            Ok(text) => self.text.push_str(text),
            Err(_) => self.text.push_str(&words(bytes)),
        }
        self.ends.push(self.text.len());
    }

    /// Leaves out all but the first so many.
    pub(crate) fn truncate(&mut self, rows: usize) {
        self.ends.truncate(rows);
        self.text.truncate(self.ends.last().copied().unwrap_or(0));
    }

    /// All words behind each other.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where each of them ends in [`Self::text`], in bytes.
    #[must_use]
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// The words in their order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let both = starts.zip(&self.ends);
        both.map(|(start, end)| self.text.get(start..*end).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_one_by_one() {
        let mut column = Words::default();
        for word in [&b" oracle "[..], b"", b"gil = TCP/IP", b"h\xf4te"] {
            column.push(word);
        }
        let found: Vec<&str> = column.iter().collect();
        assert_eq!(found, ["oracle", "", "gil = TCP/IP", "h\u{f4}te"]);
        column.truncate(2);
        assert_eq!(column.iter().count(), 2);
        column.truncate(0);
        assert_eq!((column.text(), column.ends()), ("", &[][..]));
    }
}
