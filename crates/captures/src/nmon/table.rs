//! The rows of a section, kept by row until they are handed over by column.

use crate::damage::Damage;
use crate::nmon::heading::Heading;
use crate::nmon::number::{field, Field};
use crate::nmon::packed::Words;

/// Rows of one section under one heading, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// Which recording of the file they are of, counted from 0.
    pub recording: usize,
    /// The section: `LPAR`; `PCPU` for all of `PCPU01`, `PCPU02`, ...
    pub table: String,
    /// Which heading of the section, counted from 1; a file has several where columns change.
    pub heading: u32,
    /// Number in `T0001`.
    pub snapshots: Vec<i64>,
    /// Line of the row, counted from 1.
    pub lines: Vec<i64>,
    /// Number of the processor, in tables of several.
    pub processors: Option<Vec<i64>>,
    /// Names of the columns of numbers.
    pub columns: Vec<String>,
    /// Their values, row by row; NaN where nothing was written.
    pub values: Vec<f64>,
    /// The columns of words, by name.
    pub words: Vec<(String, Words)>,
}

impl Batch {
    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.snapshots.len()
    }

    /// The numbers of a column, from the first row to the last.
    pub fn column(&self, index: usize) -> impl Iterator<Item = f64> + '_ {
        let width = self.columns.len();
        self.values
            .iter()
            .skip(index)
            .step_by(width.max(1))
            .copied()
    }
}

/// A row whose number of values does not fit, until the next one says whether that is the rule.
#[derive(Debug)]
struct Held {
    key: Key,
    values: Vec<f64>,
}

/// What a row is known by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub line: usize,
    pub snapshot: i64,
    pub processor: i64,
}

/// A row as it stands in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    pub line: &'a [u8],
    /// Where the fields begin, behind the section's name.
    pub fields: usize,
    /// Where the values begin, behind the snapshot.
    pub values: usize,
}

impl<'a> Row<'a> {
    /// The values as they are written.
    pub(crate) fn text(&self) -> &'a [u8] {
        self.line.get(self.values..).unwrap_or_default()
    }
}

/// A heading and where its columns go.
#[derive(Clone, Debug)]
struct Layout {
    /// The names as the file has them, before rows showed which of them there are.
    written: Vec<String>,
    heading: Heading,
    number: u32,
    /// Rows have been read under it: their width is the rule.
    settled: bool,
    /// By column, whether it holds words.
    words: Vec<bool>,
    any_words: bool,
}

impl Layout {
    fn new(heading: Heading, number: u32) -> Self {
        let words: Vec<bool> = heading
            .columns
            .iter()
            .map(|name| Heading::holds_words(name))
            .collect();
        let any_words = words.contains(&true);
        Self {
            written: heading.columns.clone(),
            heading,
            number,
            settled: false,
            words,
            any_words,
        }
    }

    fn width(&self) -> usize {
        self.heading.columns.len()
    }

    /// Makes rows of this width the rule: headings without a name go first, then the last names,
    /// and values without a heading get a number.
    fn settle(&mut self, width: usize) {
        let columns = &mut self.heading.columns;
        if columns.iter().filter(|name| !name.is_empty()).count() == width {
            columns.retain(|name| !name.is_empty());
        }
        columns.truncate(width);
        for position in columns.len()..width {
            columns.push(format!("unnamed {}", position + 1));
        }
        self.words = vec![false; width];
        self.settled = true;
    }
}

/// A section while it is read.
#[derive(Debug)]
pub(crate) struct Table {
    name: String,
    has_processors: bool,
    layout: Option<Layout>,
    before: Option<Layout>,
    headings: u32,
    held: Option<Held>,
    keys: Vec<Key>,
    values: Vec<f64>,
    words: Vec<Words>,
    /// Values that should be numbers and are none.
    pub unread: u64,
    unknown: bool,
    /// Rows read so far, of all headings.
    pub rows: u64,
    /// Whether its rows are only held against the heading and not taken apart.
    counted: bool,
}

impl Table {
    pub(crate) fn new(name: String, has_processors: bool) -> Self {
        Self {
            name,
            has_processors,
            counted: false,
            layout: None,
            before: None,
            headings: 0,
            held: None,
            keys: Vec::new(),
            values: Vec::new(),
            words: Vec::new(),
            unread: 0,
            unknown: false,
            rows: 0,
        }
    }

    /// Its rows are of no use to anybody: those that fit are counted.
    pub(crate) fn only_count(&mut self) {
        self.counted = true;
    }

    /// Whether a row is one of those that are only counted. Any that is not plainly sound goes the
    /// usual way, which tells what is wrong with it.
    pub(crate) fn counts(&mut self, row: Row<'_>) -> bool {
        let Some(layout) = self.layout.as_ref().filter(|it| it.settled && self.counted) else {
            return false;
        };
        let (text, width) = (row.text(), layout.width());
        // Of a process, its number stands before the snapshot.
        let values = layout.heading.snapshot + memchr::memchr_iter(b',', text).count() + 1;
        // A comma at the end is no value more.
        let sound = values == width || values == width + 1 && text.ends_with(b",");
        self.rows += u64::from(sound);
        sound
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Names of the columns, once they are known.
    pub(crate) fn columns(&self) -> &[String] {
        self.layout
            .as_ref()
            .map_or(&[], |layout| &layout.heading.columns)
    }

    /// Which field of a row holds the snapshot.
    pub(crate) fn snapshot_field(&self) -> usize {
        self.layout
            .as_ref()
            .map_or(0, |layout| layout.heading.snapshot)
    }

    /// The numbers of the row that was read last.
    pub(crate) fn last_row(&self) -> &[f64] {
        let width = self.columns().len();
        &self.values[self.values.len().saturating_sub(width)..]
    }

    /// Which heading the rows stand under, counted from 1.
    pub(crate) fn heading(&self) -> u32 {
        self.layout.as_ref().map_or(0, |layout| layout.number)
    }

    /// Numbers that wait to be handed over.
    pub(crate) fn waiting(&self) -> usize {
        self.values.len() + self.keys.len() * 3
    }

    /// Takes a heading; what stood under another one is handed over.
    pub(crate) fn head(&mut self, heading: Heading, line: usize, damage: &mut Damage) {
        if self.is_headed_by(&heading) {
            return;
        }
        self.drop_held(damage);
        if let Some(before) = self.layout.take() {
            let (old, new) = (before.width(), heading.columns.len());
            let name = &self.name;
            damage.remark(line, || {
                format!("{name} gets another heading here, of {new} columns instead of {old}")
            });
            self.before = Some(before);
        }
        self.headings += 1;
        self.layout = Some(Layout::new(heading, self.headings));
    }

    fn is_headed_by(&self, heading: &Heading) -> bool {
        let layout = self.layout.as_ref();
        layout.is_some_and(|layout| layout.written == heading.columns)
    }

    /// Reads a row. Whether it was taken.
    pub(crate) fn row(&mut self, key: Key, row: Row<'_>, damage: &mut Damage) -> bool {
        if self.layout.is_none() && !self.head_as_usual(key, row, damage) {
            return false;
        }
        let Some(layout) = &self.layout else {
            return false;
        };
        if layout.any_words {
            return self.row_of_words(key, row, damage);
        }
        let (line, mut at) = (row.line, row.values);
        let start = self.values.len();
        let width = layout.width();
        let mut last_is_blank = false;
        let unread = self.unread;
        while at <= line.len() {
            let (value, end) = field(line, at);
            last_is_blank = value == Field::Blank;
            self.values.push(number_or_gap(value, &mut self.unread));
            at = end + 1;
        }
        let mut count = self.values.len() - start;
        if last_is_blank && count == width + 1 {
            self.values.pop();
            count = width;
        }
        if self.unread > unread {
            self.tell_unread(key.line, damage);
        }
        if count == width {
            self.keep(key);
            return true;
        }
        if last_is_blank {
            self.values.pop();
        }
        let values = self.values.split_off(start);
        self.uneven(key, values, damage)
    }

    fn keep(&mut self, key: Key) {
        if let Some(layout) = &mut self.layout {
            layout.settled = true;
        }
        self.keys.push(key);
        self.rows += 1;
    }

    /// Says once a section that there were words for numbers.
    fn tell_unread(&mut self, line: usize, damage: &mut Damage) {
        if !self.unknown {
            let name = &self.name;
            damage.remark(line, || {
                format!("values of {name} that are no numbers are left out")
            });
        }
        self.unknown = true;
    }

    /// A row with more or fewer values than headings: two of the same width in a row, before any
    /// that fits, are the rule; a row under a new heading that fits the old one shows that the
    /// new one was no heading; any other is damaged.
    fn uneven(&mut self, key: Key, values: Vec<f64>, damage: &mut Damage) -> bool {
        let Some(layout) = &mut self.layout else {
            return false;
        };
        let (width, count) = (layout.width(), values.len());
        if layout.settled {
            let name = &self.name;
            damage.drop_line(key.line, || {
                format!("{count} values of {name} under {width} headings")
            });
            return false;
        }
        if let Some(before) = self.before.take_if(|before| before.width() == count) {
            let name = &self.name;
            damage.drop_line(key.line, || {
                format!("the heading of {name} before this line does not fit; the former is used")
            });
            self.layout = Some(before);
            self.push(key, values);
            return true;
        }
        let names = &layout.heading.columns;
        if names.iter().filter(|name| !name.is_empty()).count() == count {
            layout.settle(count);
            self.push(key, values);
            return true;
        }
        match self.held.take() {
            Some(held) if held.values.len() == count => {
                layout.settle(count);
                let name = &self.name;
                damage.remark(held.key.line, || {
                    format!(
                        "rows of {name} have {count} values under {width} headings: they are \
                         taken from the left"
                    )
                });
                self.push(held.key, held.values);
                self.push(key, values);
                true
            }
            earlier => {
                self.held = earlier;
                self.drop_held(damage);
                self.held = Some(Held { key, values });
                false
            }
        }
    }

    pub(crate) fn push(&mut self, key: Key, values: Vec<f64>) {
        self.values.extend(values);
        self.keep(key);
    }

    fn drop_held(&mut self, damage: &mut Damage) {
        if let (Some(held), Some(layout)) = (self.held.take(), &self.layout) {
            let (name, width, count) = (&self.name, layout.width(), held.values.len());
            damage.drop_line(held.key.line, || {
                format!("{count} values of {name} under {width} headings")
            });
        }
    }

    /// Rows without a heading get the usual one of their width, if there is one.
    fn head_as_usual(&mut self, key: Key, row: Row<'_>, damage: &mut Damage) -> bool {
        let width = row.text().iter().filter(|byte| **byte == b',').count() + 1;
        let name = &self.name;
        if let Some(heading) = Heading::usual(name, width) {
            damage.remark(key.line, || {
                format!("no line names the columns of {name}; they are taken to be the usual ones")
            });
            self.headings += 1;
            self.layout = Some(Layout::new(heading, self.headings));
            return true;
        }
        if self.unknown {
            damage.count_line();
        } else {
            damage.drop_line(key.line, || {
                format!("no line names the columns of {name}; its rows are left out")
            });
        }
        self.unknown = true;
        false
    }

    /// A row with words in it, such as a process and its command.
    fn row_of_words(&mut self, key: Key, row: Row<'_>, damage: &mut Damage) -> bool {
        let Some(layout) = &self.layout else {
            return false;
        };
        let (unread, rows) = (self.unread, self.keys.len());
        let start = self.values.len();
        let many = layout.words.iter().filter(|it| **it).count();
        self.words.resize_with(many, Words::default);
        let mut fields = Fields::new(row, &layout.heading);
        let mut word = 0;
        for is_word in &layout.words {
            if *is_word {
                self.words[word].push(fields.word());
                word += 1;
            } else {
                let value = number_or_gap(fields.number(), &mut self.unread);
                self.values.push(value);
            }
        }
        if !fields.fit() {
            let (name, width) = (&self.name, layout.width());
            damage.drop_line(key.line, || {
                format!("more or fewer values of {name} than its {width} headings")
            });
            self.values.truncate(start);
            self.words.iter_mut().for_each(|words| words.truncate(rows));
            return false;
        }
        if self.unread > unread {
            self.tell_unread(key.line, damage);
        }
        self.keep(key);
        true
    }

    /// Hands over the rows that are there.
    pub(crate) fn take(&mut self, recording: usize) -> Option<Batch> {
        let layout = self.layout.as_ref().filter(|_| !self.keys.is_empty())?;
        let named = |wanted: bool| {
            let both = layout.heading.columns.iter().zip(&layout.words);
            both.filter(move |(_, is_word)| **is_word == wanted)
                .map(|(name, _)| name.clone())
        };
        let (columns, number) = (named(false).collect(), layout.number);
        let words = named(true).collect::<Vec<String>>();
        let keys = std::mem::take(&mut self.keys);
        Some(Batch {
            recording,
            table: self.name.clone(),
            heading: number,
            snapshots: keys.iter().map(|key| key.snapshot).collect(),
            lines: keys.iter().map(|key| key.line as i64).collect(),
            processors: self
                .has_processors
                .then(|| keys.iter().map(|key| key.processor).collect()),
            columns,
            values: std::mem::take(&mut self.values),
            words: words
                .into_iter()
                .zip(std::mem::take(&mut self.words))
                .collect(),
        })
    }

    /// Whether rows of an earlier heading wait, so that they must be handed over first.
    pub(crate) fn must_be_taken_before(&self, heading: &Heading) -> bool {
        !self.keys.is_empty() && !self.is_headed_by(heading)
    }

    /// Ends the section; a row that was held back is dropped.
    pub(crate) fn finish(&mut self, damage: &mut Damage) {
        self.drop_held(damage);
    }
}

/// The fields of a row with words, one after the other.
struct Fields<'a> {
    line: &'a [u8],
    at: usize,
    /// How many fields stand before the snapshot, and where those behind it begin.
    before: usize,
    values: usize,
    /// Which field may hold commas, and how many follow it.
    free: usize,
    behind_free: usize,
    index: usize,
    short: bool,
}

impl<'a> Fields<'a> {
    fn new(row: Row<'a>, heading: &Heading) -> Self {
        let width = heading.columns.len();
        let free = heading.free().unwrap_or(width);
        Self {
            line: row.line,
            at: row.fields,
            before: heading.snapshot,
            values: row.values,
            free,
            behind_free: width.saturating_sub(free + 1),
            index: 0,
            short: false,
        }
    }

    /// Goes to the next field; whether there is one.
    fn next(&mut self) -> bool {
        if self.index == self.before {
            self.at = self.values;
        }
        self.index += 1;
        self.short |= self.at > self.line.len();
        !self.short
    }

    fn number(&mut self) -> Field {
        if !self.next() {
            return Field::Blank;
        }
        let (value, end) = field(self.line, self.at);
        self.at = end + 1;
        value
    }

    fn word(&mut self) -> &'a [u8] {
        if !self.next() {
            return b"";
        }
        let rest = &self.line[self.at..];
        let end = if self.index == self.free + 1 {
            self.end_of_free(rest)
        } else {
            Some(memchr::memchr(b',', rest).unwrap_or(rest.len()))
        };
        let Some(end) = end else {
            self.short = true;
            return b"";
        };
        self.at += end + 1;
        &rest[..end]
    }

    /// Where the text that may hold commas ends: so many commas before the end of the line as
    /// fields follow it.
    fn end_of_free(&self, rest: &[u8]) -> Option<usize> {
        let mut end = rest.len();
        for _ in 0..self.behind_free {
            end = memchr::memrchr(b',', &rest[..end])?;
        }
        Some(end)
    }

    /// Whether there were as many as there are headings.
    fn fit(&self) -> bool {
        !self.short && self.at > self.line.len()
    }
}

/// NaN stands for what is not there; what is no number is counted.
fn number_or_gap(field: Field, unread: &mut u64) -> f64 {
    match field {
        Field::Number(number) => number,
        Field::Blank => f64::NAN,
        Field::Other => {
            *unread += 1;
            f64::NAN
        }
    }
}
