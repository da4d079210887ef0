//! Sample after sample: which host it is of, and its sections as rows of tables.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::damage::{Damage, Lenient};
use crate::error::CaptureError;
use crate::njmon::heal::healed;
use crate::njmon::objects::{Objects, Piece};
use crate::nmon::{words, Batch, Words};

/// Bytes of first samples that are kept, over all hosts.
const MOST_FIRST: usize = 64 << 20;
/// Name of the column that holds what a row of a section is about: a disk, a processor.
pub const ITEM: &str = "item";

/// The samples of one host.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Host {
    /// Its name, as `identity` has it; empty if no sample says it.
    pub name: String,
    /// Line of its first sample, counted from 1.
    pub line: usize,
    /// Samples with a time.
    pub samples: u64,
    /// Its first sample, whole; `null` where there was no room for it.
    pub first: Value,
}

/// What all of a file came to, but for the samples, which are handed over on the way.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The hosts, in the order of their first samples.
    pub hosts: Vec<Host>,
    /// Lines in all.
    pub lines: usize,
}

/// Rows of a section with the same columns.
#[derive(Debug)]
struct Table {
    host: usize,
    section: String,
    heading: u32,
    keys: Vec<(i64, i64)>,
    columns: Vec<String>,
    values: Vec<f64>,
    words: Vec<(String, Words)>,
}

/// What the rows of a table have in common: host, section, columns and which of them hold words.
type Shape = (usize, String, Vec<(String, bool)>);

/// Reads a recording in chunks, in memory that does not grow with the samples.
#[derive(Debug, Default)]
pub struct Reader {
    objects: Objects,
    state: State,
}

impl Reader {
    /// One that has read nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next bytes of the file; they may end anywhere.
    pub fn feed(&mut self, chunk: &[u8]) {
        let state = &mut self.state;
        self.objects
            .feed(chunk, |line, piece| state.read(line, piece));
    }

    /// Numbers that wait to be taken.
    #[must_use]
    pub const fn waiting(&self) -> usize {
        self.state.waiting
    }

    /// Hands over the samples read so far: the time of each in the table `ZZZZ`, all else by
    /// section.
    pub fn take(&mut self) -> Vec<Batch> {
        self.state.take()
    }

    /// Ends the file: the last samples, and all else it says.
    ///
    /// # Errors
    /// If there was not one sample with a time.
    pub fn finish(mut self) -> Result<(Vec<Batch>, Lenient<Summary>), CaptureError> {
        let state = &mut self.state;
        self.objects.finish(|line, piece| state.read(line, piece));
        let batches = self.state.take();
        let lines = self.objects.lines();
        let State { hosts, damage, .. } = self.state;
        if hosts.iter().all(|host| host.samples == 0) {
            let found = damage.first().unwrap_or("no JSON object").to_owned();
            return Err(CaptureError::Unexpected {
                line: 1,
                expected: "samples of njmon with their timestamp",
                found,
            });
        }
        Ok((batches, damage.with(Summary { hosts, lines })))
    }
}

#[derive(Debug)]
struct State {
    hosts: Vec<Host>,
    by_name: HashMap<String, usize>,
    tables: Vec<Table>,
    by_shape: HashMap<Shape, usize>,
    headings: HashMap<(usize, String), u32>,
    waiting: usize,
    sample: i64,
    room: usize,
    damage: Damage,
}

impl Default for State {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            by_name: HashMap::new(),
            tables: Vec::new(),
            by_shape: HashMap::new(),
            headings: HashMap::new(),
            waiting: 0,
            sample: 0,
            room: MOST_FIRST,
            damage: Damage::default(),
        }
    }
}

impl State {
    fn read(&mut self, line: usize, piece: Piece<'_>) {
        let why = match piece {
            Piece::Whole(bytes) => match self.parse(line, bytes) {
                Ok(sample) => return self.sample(line, bytes.len(), sample),
                Err(why) => why,
            },
            Piece::CutOff => "the sample that begins here is cut off".to_owned(),
            Piece::TooLong => "the sample that begins here is too long".to_owned(),
            Piece::Stray => "what stands between the samples is none".to_owned(),
        };
        self.damage.drop_line(line, || why);
    }

    fn parse(&mut self, line: usize, bytes: &[u8]) -> Result<Map<String, Value>, String> {
        let text = words(bytes);
        let parsed = serde_json::from_str(&text).or_else(|_| {
            let (healed, gaps) = healed(&text);
            if gaps {
                self.damage.remark(line, || {
                    "values that are no numbers are left out of this sample".into()
                });
            }
            serde_json::from_str(&healed)
        });
        parsed.map_err(|fault| format!("the sample that begins here is no JSON: {fault}"))
    }

    fn sample(&mut self, line: usize, bytes: usize, sample: Map<String, Value>) {
        let Some(moment) = moment(&sample) else {
            self.damage
                .drop_line(line, || "the sample that begins here has no time".into());
            return;
        };
        let host = self.host(line, bytes, &sample);
        self.hosts[host].samples += 1;
        self.sample += 1;
        let key = (self.sample, line as i64);
        let (moment, ahead) = moment;
        let time = Map::from_iter([
            ("time".to_owned(), Value::from(moment)),
            ("ahead".to_owned(), Value::from(ahead)),
        ]);
        self.row(host, "ZZZZ", key, None, &time);
        for (section, value) in &sample {
            self.section(host, section, key, value);
        }
    }

    fn host(&mut self, line: usize, bytes: usize, sample: &Map<String, Value>) -> usize {
        let name = sample.get("identity").and_then(|it| it.get("hostname"));
        let name = name.and_then(Value::as_str).unwrap_or_default();
        if let Some(host) = self.by_name.get(name) {
            return *host;
        }
        let fits = bytes <= self.room;
        let first = if fits {
            self.room -= bytes;
            Value::Object(sample.clone())
        } else {
            Value::Null
        };
        self.by_name.insert(name.to_owned(), self.hosts.len());
        self.hosts.push(Host {
            name: name.to_owned(),
            line,
            samples: 0,
            first,
        });
        self.hosts.len() - 1
    }

    /// A section holds values, or items that hold values: by name, or in an array with their name
    /// as `item`.
    fn section(&mut self, host: usize, section: &str, key: (i64, i64), value: &Value) {
        match value {
            Value::Object(values) => {
                self.row(host, section, key, None, values);
                for (item, value) in values {
                    if let Value::Object(values) = value {
                        self.row(host, section, key, Some(item), values);
                    }
                }
            }
            Value::Array(items) => {
                for values in items.iter().filter_map(Value::as_object) {
                    let item = values.get(ITEM).and_then(Value::as_str);
                    self.row(host, section, key, item.or(Some("")), values);
                }
            }
            _ => {}
        }
    }

    fn row(
        &mut self,
        host: usize,
        section: &str,
        key: (i64, i64),
        item: Option<&str>,
        values: &Map<String, Value>,
    ) {
        let plain = values
            .iter()
            .filter(|(name, value)| is_plain(value) && *name != ITEM);
        let mut columns: Vec<(String, bool)> = plain
            .clone()
            .map(|(name, value)| (name.clone(), value.is_string()))
            .collect();
        if columns.is_empty() {
            return;
        }
        if item.is_some() {
            columns.push((ITEM.to_owned(), true));
        }
        self.waiting += columns.len() + 2;
        let table = self.table((host, section.to_owned(), columns));
        table.keys.push(key);
        let mut words = table.words.iter_mut().map(|(_, words)| words);
        for (_, value) in plain {
            match value {
                Value::String(text) => {
                    if let Some(words) = words.next() {
                        words.push(text.as_bytes());
                    }
                }
                value => table.values.push(number(value)),
            }
        }
        if let (Some(item), Some(words)) = (item, words.next()) {
            words.push(item.as_bytes());
        }
    }

    fn table(&mut self, shape: Shape) -> &mut Table {
        let next = self.tables.len();
        let index = match self.by_shape.get(&shape) {
            Some(index) => *index,
            None => {
                let (host, section, columns) = shape.clone();
                let heading = self.headings.entry((host, section.clone())).or_insert(0);
                *heading += 1;
                let named = |wanted: bool| {
                    let kind = columns.iter().filter(move |(_, words)| *words == wanted);
                    kind.map(|(name, _)| name.clone())
                };
                self.tables.push(Table {
                    host,
                    section,
                    heading: *heading,
                    keys: Vec::new(),
                    columns: named(false).collect(),
                    values: Vec::new(),
                    words: named(true).map(|name| (name, Words::default())).collect(),
                });
                self.by_shape.insert(shape, next);
                next
            }
        };
        &mut self.tables[index]
    }

    fn take(&mut self) -> Vec<Batch> {
        self.waiting = 0;
        let filled = self.tables.iter_mut().filter(|it| !it.keys.is_empty());
        filled.map(Table::take).collect()
    }
}

impl Table {
    fn take(&mut self) -> Batch {
        let keys = std::mem::take(&mut self.keys);
        let words = self.words.iter_mut();
        Batch {
            recording: self.host,
            table: self.section.clone(),
            heading: self.heading,
            snapshots: keys.iter().map(|key| key.0).collect(),
            lines: keys.iter().map(|key| key.1).collect(),
            processors: None,
            columns: self.columns.clone(),
            values: std::mem::take(&mut self.values),
            words: words
                .map(|(name, words)| (name.clone(), std::mem::take(words)))
                .collect(),
        }
    }
}

const fn is_plain(value: &Value) -> bool {
    !matches!(value, Value::Object(_) | Value::Array(_))
}

/// NaN stands for what is not there.
fn number(value: &Value) -> f64 {
    match value {
        Value::Bool(yes) => f64::from(u8::from(*yes)),
        value => value.as_f64().unwrap_or(f64::NAN),
    }
}

/// Seconds since 1970 by the recorded clock, `timestamp.datetime`, or `UTC` where that is missing;
/// and how far that clock is ahead of UTC, as `UTC` beside it tells.
fn moment(sample: &Map<String, Value>) -> Option<(i64, Option<i64>)> {
    let stamp = sample.get("timestamp")?;
    let told = |name: &str| {
        let text = stamp.get(name)?.as_str()?;
        let (day, time) = text.split_once(['T', ' '])?;
        let time = time.get(..8)?;
        let day = crate::nmon::day(day.as_bytes())?;
        let time = crate::nmon::time_of_day(time.as_bytes())?;
        Some(crate::nmon::moment(day, time))
    };
    match (told("datetime"), told("UTC")) {
        (Some(moment), utc) => Some((moment, utc.map(|utc| moment - utc).filter(is_zone))),
        (None, utc) => Some((utc?, Some(0))),
    }
}

/// Whether clocks may be so far ahead of UTC: zones differ from it by quarters of an hour.
fn is_zone(ahead: &i64) -> bool {
    ahead.abs() <= 14 * 3600 && ahead % 900 == 0
}
