//! The table that is being read: rows come in, intervals are closed, a clock that goes back opens
//! the table anew.

use std::collections::HashSet;

use crate::damage::Damage;
use crate::error::quoted;
use crate::heading::{First, Heading};
use crate::reports::model::{Part, Table};
use crate::reports::words;
use crate::stamp::Stamp;

/// Names of the row for the whole system.
const WHOLE: [&str; 4] = ["ALL", "all", "-", "system"];
/// Row of the entitlement that nobody used.
const UNUSED: &str = "U";
const DAY: f64 = 86_400.0;
/// A clock that goes back by more than this has passed midnight.
const HALF_DAY: f64 = DAY / 2.0;

/// A table and what of it is not complete yet.
pub(crate) struct Open {
    pub(crate) table: Table,
    pub(crate) heading: Heading,
    parts: Vec<Part>,
    names: HashSet<String>,
    whole: bool,
    last_line: usize,
    /// The time of rows that carry none of their own.
    now: f64,
    days_passed: f64,
    /// Virtual processors of an interval, for reports without a row for the whole system.
    expected: usize,
}

/// What became of a row.
pub(crate) enum Taken {
    Yes,
    No(String),
    /// The clock went back: the row belongs to a new table.
    Back,
}

impl Open {
    pub(crate) fn new(table: Table, heading: Heading) -> Self {
        let table = Table {
            columns: heading.columns.clone(),
            values: vec![Vec::new(); heading.columns.len()],
            ..table
        };
        Self {
            now: f64::NAN,
            table,
            heading,
            parts: Vec::new(),
            names: HashSet::new(),
            whole: false,
            last_line: 0,
            days_passed: 0.0,
            expected: 0,
        }
    }

    /// Take a row of values, with its name in front where the report has one.
    pub(crate) fn row(
        &mut self,
        indented: bool,
        row: &[&str],
        stamp: Stamp,
        line: usize,
        damage: &mut Damage,
    ) -> Taken {
        let (name, rest) = match (self.heading.first, row) {
            (First::Value, _) => ("", row),
            (_, [name, rest @ ..]) => (*name, rest),
            (_, []) => return Taken::No("an empty row".to_owned()),
        };
        let values = match self.values(name, rest) {
            Ok(values) => values,
            Err(why) => return Taken::No(why),
        };
        if !stamp.is_none() {
            match self.moved(stamp) {
                Some(now) => self.now = now,
                None => return Taken::Back,
            }
            self.table.dated |= stamp.day.is_some();
        }
        // A logical processor is set in and has no time base of its own.
        let logical = indented || values.last().is_some_and(|value| value.is_nan());
        let virtual_one = self.heading.first == First::Virtual && !logical;
        if self.heading.first == First::Value {
            self.table.intervals += 1;
            self.push(&values, line);
            return Taken::Yes;
        }
        let key = if virtual_one {
            format!("v{name}")
        } else {
            name.to_owned()
        };
        if self.names.contains(&key) {
            self.close_interval(damage);
        }
        self.last_line = line;
        self.names.insert(key.clone());
        if WHOLE.contains(&name) {
            self.whole = true;
            self.push(&values, line);
        } else {
            self.parts.push(Part { name: key, values });
        }
        Taken::Yes
    }

    fn values(&self, name: &str, row: &[&str]) -> Result<Vec<f64>, String> {
        if row.len() != self.heading.columns.len() {
            let (found, expected) = (row.len(), self.heading.columns.len());
            return Err(format!("{found} values under {expected} headings"));
        }
        if !self.may_be_called(name) {
            return Err(format!("{:?} is no processor", quoted(name)));
        }
        row.iter()
            .zip(&self.heading.columns)
            .map(|(word, heading)| {
                words::value(word)
                    .ok_or_else(|| format!("{:?} under {heading} is no number", quoted(word)))
            })
            .collect()
    }

    /// Whether a row of this report may begin with a name.
    fn may_be_called(&self, name: &str) -> bool {
        // Calls of the hypervisor have names; a processor has a number, perhaps with its kind.
        if self.heading.first == First::Value || self.heading.report == "lparstat -H" {
            return true;
        }
        let number = name.trim_start_matches(['*', 'P', 'r', 'o', 'c', 'u', 'p']);
        let numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        numbered || WHOLE.contains(&name) || name == UNUSED
    }

    /// The time of a stamp on this table's scale; none if the clock goes back.
    fn moved(&mut self, stamp: Stamp) -> Option<f64> {
        let time = stamp.time?;
        let day = match stamp.day {
            Some(day) => day as f64,
            None => self.days_passed,
        };
        let mut now = day * DAY + time;
        if now < self.now && stamp.day.is_none() && self.now - now > HALF_DAY {
            self.days_passed += 1.0;
            now += DAY;
        }
        let goes_on = self.now.is_nan() || now >= self.now;
        goes_on.then_some(now)
    }

    /// Where the clock stands before the first row.
    pub(crate) fn begin_at(&mut self, day: Option<i64>, stamp: Stamp) {
        let day = stamp.day.or(day);
        self.table.dated = day.is_some();
        self.days_passed = day.map_or(0.0, |day| day as f64);
        self.now = stamp
            .time
            .map_or(f64::NAN, |time| self.days_passed * DAY + time);
        self.table.start = stamp.time.map(|_| self.now);
    }

    /// A time beside headings that are repeated: the clock goes on, or back.
    pub(crate) fn heading_at(&mut self, stamp: Stamp) -> bool {
        if stamp.is_none() {
            return true;
        }
        self.moved(stamp).is_some_and(|now| {
            self.now = now;
            true
        })
    }

    fn push(&mut self, values: &[f64], line: usize) {
        self.table
            .lines
            .push(u32::try_from(line).unwrap_or(u32::MAX));
        self.table.times.push(self.now);
        for (column, value) in self.table.values.iter_mut().zip(values) {
            column.push(*value);
        }
    }

    /// All rows of an interval have come.
    pub(crate) fn close_interval(&mut self, damage: &mut Damage) {
        if self.names.is_empty() {
            return;
        }
        self.names.clear();
        let parts = std::mem::take(&mut self.parts);
        let whole = std::mem::take(&mut self.whole);
        let sound = whole || self.without_whole(&parts, damage);
        if sound {
            self.table.intervals += 1;
            self.table.parts = parts;
        }
    }

    /// An interval without a row for the whole system: a listing, or one that can be summed.
    fn without_whole(&mut self, parts: &[Part], damage: &mut Damage) -> bool {
        let column = match self.heading.report {
            "lparstat -H" | "mpstat -i" | "mpstat -E" => return true,
            "mpstat -s" => 0,
            "mpstat -v" => match self.heading.columns.iter().position(|name| name == "pc") {
                Some(column) => column,
                None => return true,
            },
            _ => {
                let why = || "no row for the whole system: the interval is left out".to_owned();
                damage.drop_line(self.last_line, why);
                return false;
            }
        };
        let summed = |part: &&Part| part.name.starts_with(['P', 'v']);
        let count = parts.iter().filter(summed).count();
        if count < self.expected {
            let expected = self.expected;
            let why = || format!("{count} of {expected} processors: the interval is left out");
            damage.drop_line(self.last_line, why);
            return false;
        }
        self.expected = count;
        let sum = parts
            .iter()
            .filter(summed)
            .map(|part| part.values[column])
            .sum();
        let mut values = vec![f64::NAN; self.heading.columns.len()];
        values[column] = sum;
        self.push(&values, self.last_line);
        true
    }
}
