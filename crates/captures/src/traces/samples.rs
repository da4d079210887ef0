//! Delimited text with a row a sample.

use std::collections::HashMap;

use crate::damage::{Damage, Lenient};
use crate::error::quoted;
use crate::nmon::lines::{Line, Lines};
use crate::traces::clock::moment;
use crate::traces::fields::Fields;

/// Bytes of the longest name that is taken for one.
const LONGEST_NAME: usize = 256;

/// What stands where in a row; columns count from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// What stands between fields.
    pub delimiter: u8,
    /// How many columns the heading names.
    pub columns: usize,
    /// Lines before the first row: what precedes the heading, and the heading.
    pub heading: usize,
    /// The column of the moment; without one all of them are 0.
    pub time: Option<usize>,
    /// The column of the name; without one all of them are empty.
    pub name: Option<usize>,
    /// Columns of numbers.
    pub numbers: Vec<usize>,
    /// So many of them must be there and not below 0; others are NaN where they are missing.
    pub needed: usize,
    /// Whether numbers have a decimal comma.
    pub comma: bool,
}

/// Rows, by column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SamplesBatch {
    /// Microseconds since 1970.
    pub time_us: Vec<i64>,
    /// Place of the name among those met so far.
    pub name: Vec<u32>,
    /// Line in the text, from 1.
    pub line: Vec<u64>,
    /// As [`Layout::numbers`] has them.
    pub numbers: Vec<Vec<f64>>,
}

/// A reader of samples. Rows that do not fit the heading are dropped and remarked on.
#[derive(Debug)]
pub struct Samples {
    lines: Lines,
    rows: Rows,
}

#[derive(Debug)]
struct Rows {
    layout: Layout,
    heading: Vec<u8>,
    fields: Fields,
    names: HashMap<Vec<u8>, u32>,
    in_order: Vec<String>,
    batch: SamplesBatch,
    values: Vec<f64>,
    damage: Damage,
    zoned: u64,
}

impl Samples {
    /// A reader of rows that are laid out so.
    #[must_use]
    pub fn new(layout: Layout) -> Self {
        let batch = empty(&layout);
        Self {
            lines: Lines::default(),
            rows: Rows {
                layout,
                heading: Vec::new(),
                fields: Fields::default(),
                names: HashMap::new(),
                in_order: Vec::new(),
                batch,
                values: Vec::new(),
                damage: Damage::default(),
                zoned: 0,
            },
        }
    }

    /// Reads the next piece; hands over the rows that end in it.
    pub fn feed(&mut self, piece: &[u8]) -> SamplesBatch {
        let rows = &mut self.rows;
        self.lines
            .feed(piece, |number, line| rows.line(number, line));
        let fresh = empty(&rows.layout);
        std::mem::replace(&mut rows.batch, fresh)
    }

    /// Names met so far, in the order in which they were met.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.rows.in_order
    }

    /// Rows read so far whose moment tells its time zone, or counts from 1970.
    #[must_use]
    pub fn zoned(&self) -> u64 {
        self.rows.zoned
    }

    /// Reads the last line if it has no end; hands over its row and what was dropped in all.
    #[must_use]
    pub fn finish(&mut self) -> Lenient<SamplesBatch> {
        let rows = &mut self.rows;
        self.lines.finish(|number, line| rows.line(number, line));
        let batch = std::mem::take(&mut rows.batch);
        std::mem::take(&mut rows.damage).with(batch)
    }
}

fn empty(layout: &Layout) -> SamplesBatch {
    SamplesBatch {
        numbers: vec![Vec::new(); layout.numbers.len()],
        ..SamplesBatch::default()
    }
}

impl Rows {
    fn line(&mut self, number: usize, line: Line<'_>) {
        let row = match line {
            Line::Whole(row) => row,
            Line::TooLong => {
                let why = || "the line is too long to be a sample".to_owned();
                return self.damage.drop_line(number, why);
            }
            Line::Open(row) => {
                let text = || "the last line has no end; it may be cut off".to_owned();
                self.damage.remark(number, text);
                row
            }
        };
        let row = row.trim_ascii();
        if number <= self.layout.heading {
            row.clone_into(&mut self.heading);
        } else if row
            .iter()
            .all(|byte| byte.is_ascii_whitespace() || *byte == 0)
        {
            // Blank, or a hole in a file.
        } else if !self.heading.is_empty() && row == self.heading {
            let text = || "the heading stands here again; another recording follows".to_owned();
            self.damage.remark(number, text);
        } else if let Err(why) = self.row(number, row) {
            self.damage.drop_line(number, || why);
        }
    }

    fn row(&mut self, number: usize, row: &[u8]) -> Result<(), String> {
        if !self.fields.split(row, self.layout.delimiter) {
            return Err("a quote is left open".to_owned());
        }
        let (there, named) = (self.fields.count(), self.layout.columns);
        // A row that is cut short may be cut in the middle of a number, too.
        if !self.fields.fit(named) {
            return Err(format!("{there} values under {named} headings"));
        }
        let (time, zoned) = match self.layout.time {
            None => (0, false),
            Some(column) => self.read(row, column, "moment", moment)?,
        };
        self.values.clear();
        for (place, column) in self.layout.numbers.iter().enumerate() {
            let field = self.fields.get(row, *column).unwrap_or_default();
            let value = value(field, self.layout.comma);
            if place < self.layout.needed && !(value >= 0.0 && value.is_finite()) {
                return Err(format!("\"{}\" is no amount of use", shown(field)));
            }
            self.values.push(value);
        }
        let name = self.name(row)?;
        self.zoned += u64::from(zoned);
        self.batch.time_us.push(time);
        self.batch.name.push(name);
        self.batch.line.push(number as u64);
        for (column, value) in self.batch.numbers.iter_mut().zip(&self.values) {
            column.push(*value);
        }
        Ok(())
    }

    fn read<T>(
        &self,
        row: &[u8],
        column: usize,
        what: &str,
        parse: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<T, String> {
        let field = self.fields.get(row, column).unwrap_or_default();
        parse(field).ok_or_else(|| format!("\"{}\" is no {what}", shown(field)))
    }

    fn name(&mut self, row: &[u8]) -> Result<u32, String> {
        let field = self
            .layout
            .name
            .and_then(|column| self.fields.get(row, column));
        let field = field.unwrap_or_default();
        if field.len() > LONGEST_NAME || (field.is_empty() && self.layout.name.is_some()) {
            return Err(format!("\"{}\" is no name", shown(field)));
        }
        if let Some(index) = self.names.get(field) {
            return Ok(*index);
        }
        let index = u32::try_from(self.in_order.len()).map_err(|_| "too many names".to_owned())?;
        self.in_order
            .push(String::from_utf8_lossy(field).into_owned());
        self.names.insert(field.to_owned(), index);
        Ok(index)
    }
}

/// A number; NaN for what is none.
fn value(field: &[u8], comma: bool) -> f64 {
    let plain = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b',' | b'-' | b'+' | b'e' | b'E');
    let text = std::str::from_utf8(field).unwrap_or_default();
    if !field.iter().all(plain) {
        f64::NAN
    } else if comma {
        text.replacen(',', ".", 1).parse().unwrap_or(f64::NAN)
    } else {
        text.parse().unwrap_or(f64::NAN)
    }
}

fn shown(field: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(field)
        .chars()
        .filter(|c| !c.is_control())
        .collect();
    quoted(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> Layout {
        Layout {
            delimiter: b',',
            columns: 3,
            heading: 1,
            time: Some(0),
            name: Some(1),
            numbers: vec![2],
            needed: 1,
            comma: false,
        }
    }

    fn read(layout: Layout, pieces: &[&str]) -> (SamplesBatch, Vec<String>, Lenient<SamplesBatch>) {
        let mut reader = Samples::new(layout);
        let mut all = SamplesBatch {
            numbers: vec![Vec::new()],
            ..SamplesBatch::default()
        };
        for piece in pieces {
            let batch = reader.feed(piece.as_bytes());
            all.time_us.extend(batch.time_us);
            all.name.extend(batch.name);
            all.line.extend(batch.line);
            all.numbers[0].extend(&batch.numbers[0]);
        }
        let names = reader.names().to_vec();
        (all, names, reader.finish())
    }

    const TEXT: &str = "timestamp,name,cpu\n60,a,1.5\n60,b,0\n120,a,2\r\n";

    #[test]
    fn rows_become_columns_wherever_the_pieces_break() {
        let whole = read(plain(), &[TEXT]);
        assert_eq!(whole.0.time_us, [60_000_000, 60_000_000, 120_000_000]);
        assert_eq!(whole.0.name, [0, 1, 0]);
        assert_eq!(whole.0.line, [2, 3, 4]);
        assert_eq!(whole.0.numbers, [[1.5, 0.0, 2.0]]);
        assert_eq!(whole.1, ["a", "b"]);
        assert_eq!((whole.2.dropped, whole.2.remarks.len()), (0, 0));
        let letters: Vec<&str> = TEXT.split_inclusive(|_| true).collect();
        assert_eq!(read(plain(), &letters).0, whole.0);
    }

    #[test]
    fn what_does_not_fit_is_dropped_and_named() {
        let text = "timestamp,name,cpu\n60,a,1\nrubbish\n120,a,NaN\n180,,1\nx,a,1\n240,a,1,9\n\n\
                    timestamp,name,cpu\n300,a,-2\n360,\"a,3\n420,a,3\n480,a";
        let (found, _, rest) = read(plain(), &[text]);
        assert_eq!(found.line, [2, 12]);
        assert_eq!(rest.found.line.len(), 0);
        assert_eq!(rest.dropped, 8);
        let lines: Vec<usize> = rest.remarks.iter().map(|remark| remark.line).collect();
        assert_eq!(lines, [3, 4, 5, 6, 7, 9, 10, 11, 13, 13]);
        assert_eq!(rest.remarks[0].text, "1 values under 3 headings");
        assert_eq!(rest.remarks[1].text, "\"NaN\" is no amount of use");
    }

    #[test]
    fn a_last_line_without_end_is_taken_with_a_remark() {
        let (_, _, rest) = read(plain(), &["timestamp,name,cpu\n60,a,1.25"]);
        assert_eq!(rest.found.numbers, [[1.25]]);
        assert_eq!(
            rest.remarks[0].text,
            "the last line has no end; it may be cut off"
        );
    }

    #[test]
    fn decimal_commas_and_lines_without_names() {
        let layout = Layout {
            delimiter: b';',
            columns: 1,
            numbers: vec![0],
            needed: 1,
            comma: true,
            ..Layout::default()
        };
        let (found, names, _) = read(layout, &["12,5\n7\n"]);
        assert_eq!(found.numbers, [[12.5, 7.0]]);
        assert_eq!(names, [""]);
        assert_eq!(found.time_us, [0, 0]);
    }
}
