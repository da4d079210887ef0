//! `lscpu -J`, read word by word, so that a text that is cut off says what it holds.

use std::collections::BTreeMap;

use super::found::Found;
use super::table::Table;
use crate::damage::Damage;

/// A word of JSON.
#[derive(Debug, PartialEq)]
enum Word {
    Text(String),
    /// A number, true, false, null.
    Bare(String),
    Sign(char),
}

/// Words of a text with their lines; a string without end is the last.
struct Words<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    line: usize,
    cut: bool,
}

impl Iterator for Words<'_> {
    type Item = (Word, usize);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = self.line;
            match self.rest.next()? {
                '\n' => self.line += 1,
                '"' => return self.string().map(|text| (Word::Text(text), line)),
                c @ ('{' | '}' | '[' | ']' | ':' | ',') => return Some((Word::Sign(c), line)),
                c if c.is_whitespace() => {}
                c => return Some((Word::Bare(self.bare(c)), line)),
            }
        }
    }
}

impl Words<'_> {
    fn string(&mut self) -> Option<String> {
        let mut text = String::new();
        while let Some(c) = self.rest.next() {
            match c {
                '"' => return Some(text),
                '\\' => match self.rest.next() {
                    Some('n' | 'r' | 't') => text.push(' '),
                    Some('u') => {
                        let digits: String = self.rest.by_ref().take(4).collect();
                        let code = u32::from_str_radix(&digits, 16).ok();
                        text.push(code.and_then(char::from_u32).unwrap_or('\u{fffd}'));
                    }
                    Some(c) => text.push(c),
                    None => break,
                },
                c => {
                    self.line += usize::from(c == '\n');
                    text.push(c);
                }
            }
        }
        self.cut = true;
        None
    }

    fn bare(&mut self, first: char) -> String {
        let mut text = String::from(first);
        let ends = |c: &char| c.is_whitespace() || "{}[]:,\"".contains(*c);
        while let Some(c) = self.rest.next_if(|c| !ends(c)) {
            text.push(c);
        }
        text
    }
}

/// Summary and table of a text.
pub(super) fn read(text: &str, damage: &mut Damage) -> Found {
    let mut found = Found::default();
    let mut words = Words {
        rest: text.chars().peekable(),
        line: 1,
        cut: false,
    };
    let mut reader = Reader::default();
    let mut last = None;
    for (word, line) in words.by_ref() {
        reader.word(&word, line, &mut found, damage);
        last = Some(word);
    }
    if words.cut || last != Some(Word::Sign('}')) {
        damage.drop_line(words.line, || {
            "the text is cut off; what it holds counts".into()
        });
    }
    found
}

#[derive(Default)]
struct Reader {
    /// A string that may be a key.
    held: Option<String>,
    key: Option<String>,
    /// The field whose value is to come.
    field: Option<String>,
    /// Names and values of a row of a table.
    row: BTreeMap<String, String>,
    columns: Vec<String>,
}

impl Reader {
    fn word(&mut self, word: &Word, line: usize, found: &mut Found, damage: &mut Damage) {
        match word {
            Word::Sign(':') => self.key = self.held.take(),
            Word::Sign('{' | '[') => {
                self.key = None;
                self.row.clear();
            }
            Word::Sign('}') => {
                self.end(line, found, damage);
                self.key = None;
            }
            Word::Sign(_) => self.held = None,
            Word::Text(text) => match self.key.take() {
                Some(key) => self.pair(key, text, line, found, damage),
                None => self.held = Some(text.clone()),
            },
            Word::Bare(text) => {
                if let Some(key) = self.key.take() {
                    let text = if text == "null" { "" } else { text };
                    self.pair(key, text, line, found, damage);
                }
            }
        }
    }

    fn pair(
        &mut self,
        key: String,
        value: &str,
        line: usize,
        found: &mut Found,
        damage: &mut Damage,
    ) {
        match key.as_str() {
            "field" => self.field = Some(value.to_owned()),
            "data" => {
                if let Some(field) = self.field.take() {
                    found.fields.add(&field, value, line, damage);
                }
            }
            _ => {
                self.row.entry(key).or_insert_with(|| value.to_owned());
            }
        }
    }

    /// The end of an object: a row of `lscpu -e -J` has a column `cpu`.
    fn end(&mut self, line: usize, found: &mut Found, damage: &mut Damage) {
        let row = std::mem::take(&mut self.row);
        if !row.contains_key("cpu") {
            return;
        }
        if found.table.is_none() {
            self.columns = row.keys().cloned().collect();
            found.table = Some(Table::new(&self.columns, damage, line));
        }
        let value = |name: &String| row.get(name).map_or("", String::as_str);
        let cells: Vec<&str> = self.columns.iter().map(value).collect();
        if let Some(table) = &mut found.table {
            table.cells(&cells, line, damage);
        }
    }
}
