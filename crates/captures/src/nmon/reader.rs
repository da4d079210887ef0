//! Line after line: which section it is of, and who takes it.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::damage::{Damage, Lenient};
use crate::error::{quoted, CaptureError};
use crate::nmon::clock;
use crate::nmon::heading::{words, Heading};
use crate::nmon::identities::{Checks, Printed, Watched};
use crate::nmon::lines::{Line, Lines};
use crate::nmon::table::{Batch, Key, Row, Table};
use crate::nmon::told::{self, Recording, Room};

/// Sections of one file that are read; a recording has some hundred, or three a logical processor.
const MOST_SECTIONS: usize = 16_384;
/// Letters of a section's name.
const LONGEST_NAME: usize = 32;
/// Names of columns that are held, over all sections.
const MOST_COLUMNS: usize = 2_000_000;

/// What all of a file came to, but for the samples, which are handed over on the way.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The recordings, in the order of the file.
    pub recordings: Vec<Recording>,
    /// Rows by table, in the order of their first appearance.
    pub tables: Vec<Counted>,
    /// Lines in all.
    pub lines: usize,
}

/// How much a table held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// Its name.
    pub table: String,
    /// Rows that were taken.
    pub rows: u64,
    /// Values in them that should be numbers and are none.
    pub unread: u64,
}

/// What to do with the lines of a section.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Said,
    Printed,
    Clock,
    Rows {
        table: usize,
        processor: i64,
        watched: Option<Watched>,
    },
}

/// A section by its name, and the one that followed it when it was read last.
#[derive(Debug)]
struct Section {
    name: Vec<u8>,
    kind: Kind,
    next: usize,
}

/// Reads a recording in chunks, in memory that does not grow with it.
#[derive(Debug, Default)]
pub struct Reader {
    lines: Lines,
    state: State,
}

impl Reader {
    /// One that has read nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One that hands over these tables, and the times. Rows of others are held against their
    /// headings and counted; their numbers are not read, unless an identity needs them.
    #[must_use]
    pub fn of(wanted: HashSet<String>) -> Self {
        let mut reader = Self::default();
        reader.state.wanted = Some(wanted);
        reader
    }

    /// Reads the next bytes of the file; they may end anywhere.
    pub fn feed(&mut self, chunk: &[u8]) {
        let state = &mut self.state;
        self.lines
            .feed(chunk, |number, line| state.read(number, line));
    }

    /// Numbers that wait to be taken.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let taken: usize = self
            .state
            .ready
            .iter()
            .map(|batch| batch.values.len())
            .sum();
        taken + self.state.tables.iter().map(Table::waiting).sum::<usize>()
    }

    /// Hands over the samples read so far; times (`ZZZZ`) before the rows they belong to.
    pub fn take(&mut self) -> Vec<Batch> {
        self.state.take_all();
        self.state.hand_over()
    }

    /// Ends the file: the last samples, and all else it says.
    ///
    /// # Errors
    /// If there was not one sound line.
    pub fn finish(mut self) -> Result<(Vec<Batch>, Lenient<Summary>), CaptureError> {
        let state = &mut self.state;
        self.lines.finish(|number, line| state.read(number, line));
        let Self { lines, mut state } = self;
        for table in &mut state.tables {
            table.finish(&mut state.damage);
        }
        state.end_recording();
        if !state.is_sound() {
            return Err(state.nothing());
        }
        let batches = state.hand_over();
        let counted = state.tables.iter().map(|table| Counted {
            table: table.name().to_owned(),
            rows: table.rows,
            unread: table.unread,
        });
        let summary = Summary {
            tables: counted.collect(),
            recordings: state.recordings,
            lines: lines.count(),
        };
        Ok((batches, state.damage.with(summary)))
    }
}

#[derive(Debug, Default)]
struct State {
    /// Tables to hand over; none = all.
    wanted: Option<HashSet<String>>,
    sections: Vec<Section>,
    by_name: HashMap<Vec<u8>, usize>,
    last_section: usize,
    tables: Vec<Table>,
    by_table: HashMap<String, usize>,
    columns: usize,
    ready: Vec<Batch>,
    recordings: Vec<Recording>,
    checks: Checks,
    room: Room,
    damage: Damage,
    /// Number of the snapshot whose time was read last; 0 before the first.
    snapshot: i64,
    /// Its time; before the first, that of the beginning.
    moment: Option<i64>,
    /// The words behind `AAA` of the recording.
    said: HashSet<String>,
    begun: (Option<i64>, Option<i64>),
    clock: usize,
    first: Option<(usize, String)>,
}

impl State {
    fn read(&mut self, number: usize, line: Line<'_>) {
        match line {
            Line::Whole(bytes) => self.line(number, bytes),
            Line::TooLong => self
                .damage
                .drop_line(number, || "the line is too long for a recording".into()),
            Line::Open(bytes) if bytes.trim_ascii().is_empty() => {}
            Line::Open(bytes) => {
                self.remember(number, bytes);
                self.damage
                    .drop_line(number, || "the last line has no end: it is cut off".into());
            }
        }
    }

    fn line(&mut self, number: usize, bytes: &[u8]) {
        let mut bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        if number == 1 {
            bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        }
        if bytes.first() == Some(&0) {
            let text = bytes.iter().position(|byte| *byte != 0);
            bytes = &bytes[text.unwrap_or(bytes.len())..];
            self.damage.remark(number, || {
                "bytes of zero before the line are left out".into()
            });
        }
        if bytes.trim_ascii().is_empty() {
            return;
        }
        let comma = memchr::memchr(b',', bytes);
        let section = comma.and_then(|comma| self.section(&bytes[..comma]));
        let (Some(comma), Some(section)) = (comma, section) else {
            self.remember(number, bytes);
            self.damage
                .drop_line(number, || format!("{:?} is no line of nmon", shown(bytes)));
            return;
        };
        let rest = comma + 1;
        match self.sections[section].kind {
            Kind::Said => self.say(number, &bytes[rest..]),
            Kind::Printed => self.print(number, section, &bytes[rest..]),
            Kind::Clock => self.tick(number, &bytes[rest..]),
            Kind::Rows {
                table,
                processor,
                watched,
            } => {
                let key = Key {
                    line: number,
                    snapshot: 0,
                    processor,
                };
                self.row(table, watched, key, bytes, rest);
            }
        }
    }

    fn remember(&mut self, number: usize, bytes: &[u8]) {
        if self.first.is_none() {
            self.first = Some((number, shown(bytes)));
        }
    }

    /// The section of that name. The order of sections repeats from snapshot to snapshot, so that
    /// it is nearly always the one that followed the last time.
    fn section(&mut self, name: &[u8]) -> Option<usize> {
        let expected = self.sections.get(self.last_section).map(|last| last.next);
        let expected = expected.filter(|next| {
            let there = self.sections.get(*next);
            there.is_some_and(|section| section.name == name)
        });
        let found = match expected {
            Some(next) => next,
            None => match self.by_name.get(name) {
                Some(section) => *section,
                None => self.add(name)?,
            },
        };
        if let Some(last) = self.sections.get_mut(self.last_section) {
            last.next = found;
        }
        self.last_section = found;
        Some(found)
    }

    fn add(&mut self, name: &[u8]) -> Option<usize> {
        let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
        let sound = name.first().is_some_and(u8::is_ascii_uppercase)
            && name.len() <= LONGEST_NAME
            && name.iter().all(allowed)
            && self.sections.len() < MOST_SECTIONS;
        if !sound {
            return None;
        }
        let kind = match name {
            b"AAA" => Kind::Said,
            b"ZZZZ" => Kind::Clock,
            _ if name.starts_with(b"BBB") => Kind::Printed,
            _ => self.rows_of(name),
        };
        self.sections.push(Section {
            name: name.to_vec(),
            kind,
            next: 0,
        });
        let index = self.sections.len() - 1;
        self.by_name.insert(name.to_vec(), index);
        Some(index)
    }

    /// Sections of one logical processor each, `PCPU07`, are one table.
    fn rows_of(&mut self, name: &[u8]) -> Kind {
        let text = words(name);
        let family = ["CPU", "PCPU", "SCPU"].into_iter().find_map(|family| {
            let digits = text.strip_prefix(family)?;
            let number: u32 = digits.parse().ok().filter(|_| digits.len() < 7)?;
            Some((family.to_owned(), i64::from(number)))
        });
        let has_processors = family.is_some();
        let (table, processor) = family.unwrap_or((text, 0));
        let watched = Watched::of(&table);
        let next = self.tables.len();
        let index = *self.by_table.entry(table.clone()).or_insert(next);
        if index == next {
            let unwanted = self.wanted.as_ref().is_some_and(|it| !it.contains(&table));
            let mut table = Table::new(table, has_processors);
            if unwanted && watched.is_none() {
                table.only_count();
            }
            self.tables.push(table);
        }
        Kind::Rows {
            table: index,
            processor,
            watched,
        }
    }

    fn say(&mut self, number: usize, rest: &[u8]) {
        let (key, value) = told::key_and_value(rest);
        let again = self.snapshot > 0 && (self.said.contains(&key) || key == "progname");
        if again {
            self.begin_recording(number);
        }
        self.recording(number);
        match key.as_str() {
            "date" => self.begun.0 = clock::day(value.as_bytes()),
            "time" => self.begun.1 = clock::time_of_day(value.as_bytes()),
            _ => {}
        }
        if let Some(recording) = self.recordings.last_mut() {
            let said = told::Said {
                key,
                value,
                line: number,
            };
            if self.room.is_there(number, rest, &mut self.damage) {
                self.said.insert(said.key.clone());
                recording.said.push(said);
            }
        }
    }

    fn print(&mut self, number: usize, section: usize, rest: &[u8]) {
        self.recording(number);
        if let Some(recording) = self.recordings.last_mut() {
            let name = &self.sections[section].name;
            let rest = (number, rest);
            told::print(recording, &mut self.room, name, rest, &mut self.damage);
        }
    }

    /// Makes sure that there is a recording, in a file without a head.
    fn recording(&mut self, number: usize) {
        if self.recordings.is_empty() {
            self.begin_recording(number);
        }
    }

    fn begin_recording(&mut self, number: usize) {
        self.end_recording();
        (self.snapshot, self.moment, self.begun) = (0, None, (None, None));
        self.said.clear();
        self.recordings.push(Recording {
            line: number,
            ..Recording::default()
        });
    }

    fn end_recording(&mut self) {
        self.take_all();
        let mut checks = std::mem::take(&mut self.checks);
        checks.begin(0);
        if let Some(recording) = self.recordings.last_mut() {
            recording.identities = checks.results();
            for identity in recording.identities.iter().filter(|it| it.violated > 0) {
                let (violated, checked) = (identity.violated, identity.checked);
                let (rule, worst) = (identity.rule, identity.worst);
                self.damage.remark(identity.line, || {
                    format!(
                        "an identity does not hold in {violated} of {checked} snapshots from here \
                         on, by {worst:.3} at most beyond rounding: {rule}"
                    )
                });
            }
        }
    }

    /// What is ready of the tables that are wanted.
    fn hand_over(&mut self) -> Vec<Batch> {
        let mut ready = std::mem::take(&mut self.ready);
        if let Some(names) = &self.wanted {
            ready.retain(|batch| names.contains(&batch.table) || batch.table == "ZZZZ");
        }
        times_first(ready)
    }

    fn take_all(&mut self) {
        let recording = self.recordings.len().saturating_sub(1);
        let batches = self.tables.iter_mut().filter_map(|it| it.take(recording));
        self.ready.extend(batches);
    }

    fn row(
        &mut self,
        table: usize,
        watched: Option<Watched>,
        mut key: Key,
        line: &[u8],
        rest: usize,
    ) {
        let behind = self.tables[table].snapshot_field();
        let start = field_start(line, rest, behind);
        let found = start.and_then(|at| Some((at, clock::snapshot(&line[at..])?)));
        let Some((at, (snapshot, length))) = found else {
            self.heading(table, key.line, line, rest);
            return;
        };
        self.recording(key.line);
        if self.snapshot == 0 {
            if let Some(recording) = self.recordings.last_mut() {
                recording.sorted = true;
            }
        }
        key.snapshot = snapshot;
        let row = Row {
            line,
            fields: rest,
            values: at + length + 1,
        };
        let table = &mut self.tables[table];
        if table.counts(row) {
            return;
        }
        let taken = table.row(key, row, &mut self.damage);
        if let (true, Some(watched), true) = (taken, watched, snapshot == self.snapshot) {
            let printed = Printed {
                values: table.last_row(),
                text: row.text(),
            };
            self.checks
                .take(watched, table.heading(), table.columns(), &printed);
        }
    }

    /// A line without a snapshot names the columns of its section, or is only a title.
    fn heading(&mut self, table: usize, number: usize, line: &[u8], rest: usize) {
        let rest = &line[rest..];
        let Some(heading) = Heading::parse(rest) else {
            if memchr::memchr(b',', rest).is_some() {
                self.damage.drop_line(number, || {
                    format!("{:?} is neither a row nor a heading", shown(line))
                });
            }
            return;
        };
        self.recording(number);
        self.columns += heading.columns.len();
        if self.columns > MOST_COLUMNS {
            self.damage
                .drop_line(number, || "there are too many columns".into());
            return;
        }
        let recording = self.recordings.len() - 1;
        let table = &mut self.tables[table];
        if table.must_be_taken_before(&heading) {
            self.ready.extend(table.take(recording));
        }
        table.head(heading, number, &mut self.damage);
    }

    /// `T0001,17:28:10,10-FEB-2016`
    fn tick(&mut self, number: usize, rest: &[u8]) {
        let Some((snapshot, moment)) = self.time_of(number, rest) else {
            self.damage
                .drop_line(number, || format!("{:?} is no time", shown(rest)));
            return;
        };
        if snapshot == self.snapshot {
            self.damage
                .drop_line(number, || format!("T{snapshot:04} has a time already"));
            return;
        }
        self.recording(number);
        if snapshot < self.snapshot {
            self.damage.remark(number, || {
                "snapshots are counted from the beginning again: another recording".into()
            });
            self.begin_recording(number);
        }
        self.checks.begin(number);
        (self.snapshot, self.moment) = (snapshot, Some(moment));
        if let Some(recording) = self.recordings.last_mut() {
            recording.snapshots += 1;
        }
        self.keep_time(number, snapshot, moment);
    }

    fn keep_time(&mut self, number: usize, snapshot: i64, moment: i64) {
        if self.clock == 0 {
            self.tables.push(Table::new("ZZZZ".to_owned(), false));
            self.clock = self.tables.len();
            let table = &mut self.tables[self.clock - 1];
            let heading = Heading {
                columns: vec!["time".to_owned()],
                snapshot: 0,
            };
            table.head(heading, number, &mut self.damage);
        }
        let key = Key {
            line: number,
            snapshot,
            processor: 0,
        };
        self.tables[self.clock - 1].push(key, vec![moment as f64]);
    }

    fn time_of(&mut self, number: usize, rest: &[u8]) -> Option<(i64, i64)> {
        let (snapshot, end) = clock::snapshot(rest)?;
        let mut parts = rest.get(end + 1..)?.split(|byte| *byte == b',');
        let time = clock::time_of_day(parts.next()?)?;
        let date = parts.next().map(<[u8]>::trim_ascii);
        if let Some(date) = date.filter(|date| !date.is_empty()) {
            return Some((snapshot, clock::moment(clock::day(date)?, time)));
        }
        // Old recorders write the date at the top only.
        let begun = match (self.moment, self.begun) {
            (Some(moment), _) => moment,
            (None, (Some(day), Some(time))) => clock::moment(day, time),
            _ => return None,
        };
        if self.snapshot == 0 {
            self.damage.remark(number, || {
                "times have no date: they follow the one at the top".into()
            });
        }
        Some((snapshot, clock::next_moment(begun, time)))
    }

    fn is_sound(&self) -> bool {
        let told = |recording: &Recording| {
            recording.snapshots > 0 || !recording.said.is_empty() || !recording.blocks.is_empty()
        };
        self.recordings.iter().any(told) || self.tables.iter().any(|table| table.rows > 0)
    }

    fn nothing(self) -> CaptureError {
        self.first
            .map_or(CaptureError::Empty { tool: "nmon" }, |(line, found)| {
                CaptureError::Unexpected {
                    line,
                    expected: "a line of nmon, such as AAA,progname,...",
                    found,
                }
            })
    }
}

/// In the order they are in, but with the times in front.
fn times_first(mut batches: Vec<Batch>) -> Vec<Batch> {
    batches.sort_by_key(|batch| batch.table != "ZZZZ");
    batches
}

/// Where the field is that comes so many fields after `at`.
fn field_start(line: &[u8], mut at: usize, behind: usize) -> Option<usize> {
    for _ in 0..behind {
        at += memchr::memchr(b',', &line[at..])? + 1;
    }
    Some(at)
}

fn shown(bytes: &[u8]) -> String {
    quoted(&words(&bytes[..bytes.len().min(240)]))
}
