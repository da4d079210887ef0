//! What Prometheus scrapes from an exporter, and OpenMetrics: `name{label="value"} 1.5 timestamp`;
//! and what `promtool tsdb dump` prints, in which the name is a label, `__name__`.

use std::collections::HashMap;

use crate::damage::{Damage, Lenient};
use crate::error::quoted;
use crate::nmon::lines::{Line, Lines};
use crate::traces::clock::since_1970;

/// Labels of one sample beyond which a line is not taken for one.
const MOST_LABELS: usize = 64;

/// Names with values, in the order of the text.
pub type Labels = Vec<(String, String)>;

/// Samples, by column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MetricsBatch {
    /// Place of the metric among those met so far.
    pub metric: Vec<u32>,
    /// Place of the labels among those met so far.
    pub labels: Vec<u32>,
    /// The value; may be NaN.
    pub value: Vec<f64>,
    /// Microseconds since 1970; `i64::MIN` where no moment is told.
    pub time_us: Vec<i64>,
    /// Line in the text, from 1.
    pub line: Vec<u64>,
}

/// A reader of metrics. What no name that is wanted begins with is passed over.
#[derive(Debug)]
pub struct Metrics {
    lines: Lines,
    state: State,
}

#[derive(Debug, Default)]
struct State {
    wanted: Vec<String>,
    metrics: Known<String>,
    labels: Known<Labels>,
    passed: u64,
    ended: bool,
    batch: MetricsBatch,
    damage: Damage,
}

/// Values in the order in which they were met.
#[derive(Debug)]
struct Known<T> {
    places: HashMap<String, u32>,
    in_order: Vec<T>,
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self {
            places: HashMap::new(),
            in_order: Vec::new(),
        }
    }
}

impl<T> Known<T> {
    fn place(&mut self, text: &str, make: impl FnOnce() -> Option<T>) -> Option<u32> {
        if let Some(place) = self.places.get(text) {
            return Some(*place);
        }
        let place = u32::try_from(self.in_order.len()).ok()?;
        self.in_order.push(make()?);
        self.places.insert(text.to_owned(), place);
        Some(place)
    }
}

impl Metrics {
    /// A reader of the metrics whose names begin with one of these.
    #[must_use]
    pub fn new(wanted: Vec<String>) -> Self {
        let state = State {
            wanted,
            ..State::default()
        };
        Self {
            lines: Lines::default(),
            state,
        }
    }

    /// Reads the next piece; hands over the samples that end in it.
    pub fn feed(&mut self, piece: &[u8]) -> MetricsBatch {
        let state = &mut self.state;
        self.lines
            .feed(piece, |number, line| state.line(number, line));
        std::mem::take(&mut state.batch)
    }

    /// Names of metrics met so far.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.state.metrics.in_order
    }

    /// Labels met so far.
    #[must_use]
    pub fn labels(&self) -> &[Labels] {
        &self.state.labels.in_order
    }

    /// Samples that are not wanted.
    #[must_use]
    pub const fn passed(&self) -> u64 {
        self.state.passed
    }

    /// Reads the last line if it has no end; hands over what was dropped in all.
    #[must_use]
    pub fn finish(&mut self) -> Lenient<MetricsBatch> {
        let state = &mut self.state;
        self.lines.finish(|number, line| state.line(number, line));
        let batch = std::mem::take(&mut state.batch);
        std::mem::take(&mut state.damage).with(batch)
    }
}

impl State {
    fn line(&mut self, number: usize, line: Line<'_>) {
        let bytes = match line {
            Line::Whole(bytes) => bytes,
            Line::TooLong => {
                return self
                    .damage
                    .drop_line(number, || "the line is too long".to_owned());
            }
            Line::Open(bytes) => {
                if bytes != b"# EOF" {
                    let text = || "the last line has no end; it may be cut off".to_owned();
                    self.damage.remark(number, text);
                }
                bytes
            }
        };
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim();
        if text.starts_with('#') {
            self.ended |= text == "# EOF";
            return;
        }
        if text.is_empty() {
            return;
        }
        if std::mem::take(&mut self.ended) {
            let text = || "more follows behind the end; it is read too".to_owned();
            self.damage.remark(number, text);
        }
        if self.sample(number, text).is_none() {
            let why = || format!("\"{}\" is no sample of a metric", quoted(text));
            self.damage.drop_line(number, why);
        }
    }

    fn sample(&mut self, number: usize, text: &str) -> Option<()> {
        let parts = split(text)?;
        let mut rest = parts.rest.split_whitespace();
        let value: f64 = number_of(rest.next()?)?;
        let time = match rest.next() {
            None | Some("#") => i64::MIN,
            Some(word) => since_1970(number_of(word)?)?,
        };
        // Behind them only an exemplar may follow.
        if !matches!(rest.next(), None | Some("#")) && time != i64::MIN {
            return None;
        }
        if !self
            .wanted
            .iter()
            .any(|begin| parts.name.starts_with(begin.as_str()))
        {
            self.passed += 1;
            return Some(());
        }
        let metric = self
            .metrics
            .place(parts.name, || Some(parts.name.to_owned()))?;
        let labels = self.labels.place(parts.labels, || labels(parts.labels))?;
        let batch = &mut self.batch;
        batch.metric.push(metric);
        batch.labels.push(labels);
        batch.value.push(value);
        batch.time_us.push(time);
        batch.line.push(number as u64);
        Some(())
    }
}

struct Parts<'a> {
    name: &'a str,
    /// What stands between the braces.
    labels: &'a str,
    rest: &'a str,
}

fn split(text: &str) -> Option<Parts<'_>> {
    let named = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':');
    let end = text.bytes().position(|byte| !named(&byte))?;
    let (name, after) = text.split_at(end);
    let trimmed = after.trim_start();
    if name.is_empty() {
        let inside = trimmed.strip_prefix('{')?;
        let close = closing(inside)?;
        let (labels, rest) = (inside[..close].trim(), &inside[close + 1..]);
        let name = own_name(labels)?;
        return Some(Parts { name, labels, rest });
    }
    if name.as_bytes()[0].is_ascii_digit() {
        return None;
    }
    let Some(inside) = trimmed.strip_prefix('{') else {
        let rest = after.starts_with(char::is_whitespace).then_some(after)?;
        return Some(Parts {
            name,
            labels: "",
            rest,
        });
    };
    let close = closing(inside)?;
    let (labels, rest) = (inside[..close].trim(), &inside[close + 1..]);
    Some(Parts { name, labels, rest })
}

/// The value of the label that is a name; names need no escapes.
fn own_name(labels: &str) -> Option<&str> {
    let (before, after) = labels.split_once("__name__=\"")?;
    let begins = before.is_empty() || before.ends_with([',', ' ']);
    let (name, _) = after.split_once('"')?;
    (begins && !name.is_empty()).then_some(name)
}

/// Where the brace is that ends the labels.
fn closing(text: &str) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'}' if !quoted => return Some(at),
            _ => {}
        }
    }
    None
}

fn labels(text: &str) -> Option<Labels> {
    let mut found = Labels::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=')?;
        let (value, after) = quoted_value(after.trim_start().strip_prefix('"')?)?;
        found.push((name.trim().to_owned(), value));
        let after = after.trim_start();
        if found.len() > MOST_LABELS || !(after.is_empty() || after.starts_with(',')) {
            return None;
        }
        rest = after.trim_start_matches(',').trim_start();
    }
    Some(found)
}

/// A value up to its closing quote, and what follows it.
fn quoted_value(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match characters.next()?.1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}

fn number_of(word: &str) -> Option<f64> {
    match word {
        "NaN" => Some(f64::NAN),
        "+Inf" | "Inf" => Some(f64::INFINITY),
        "-Inf" => Some(f64::NEG_INFINITY),
        _ if word.starts_with(|one: char| one.is_ascii_alphabetic()) => None,
        _ => word.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (MetricsBatch, Metrics) {
        let mut reader = Metrics::new(vec!["lab_".to_owned()]);
        let batch = reader.feed(text.as_bytes());
        (batch, reader)
    }

    #[test]
    fn samples_with_labels_and_moments() {
        let text = "# HELP lab_use Use.\n# TYPE lab_use gauge\n\
                    lab_use{vm=\"a, \\\"b\\\"\\\\\",cpc=\"C1\"} 0.42 946684800.5\n\
                    lab_use{vm=\"x\",} 1e-1 1376314846000\nlab_total 7\nother{a=\"b\"} 1\n\
                    lab_exemplar 3 # {id=\"1\"} 2\n# EOF\n";
        let (batch, mut reader) = read(text);
        assert_eq!(reader.names(), ["lab_use", "lab_total", "lab_exemplar"]);
        assert_eq!(batch.value, [0.42, 0.1, 7.0, 3.0]);
        let none = i64::MIN;
        assert_eq!(
            batch.time_us,
            [946_684_800_500_000, 1_376_314_846_000_000, none, none]
        );
        assert_eq!(batch.line, [3, 4, 5, 7]);
        assert_eq!(
            reader.labels()[0][0],
            ("vm".to_owned(), "a, \"b\"\\".to_owned())
        );
        assert_eq!(reader.labels()[2], []);
        assert_eq!(reader.passed(), 1);
        let rest = reader.finish();
        assert_eq!((rest.dropped, rest.remarks.len()), (0, 0));
    }

    #[test]
    fn a_dump_has_names_as_labels() {
        let text = "{__name__=\"lab_use\", cpu=\"0\"} 4.5 1717200000000\n{cpu=\"0\"} 1 2\n";
        let (batch, mut reader) = read(text);
        assert_eq!(reader.names(), ["lab_use"]);
        assert_eq!(reader.labels()[0][1], ("cpu".to_owned(), "0".to_owned()));
        assert_eq!(
            (batch.value.len(), batch.time_us[0]),
            (1, 1_717_200_000_000_000)
        );
        assert_eq!(reader.finish().dropped, 1);
    }

    #[test]
    fn what_is_no_sample_is_dropped_and_named() {
        let text = "lab_use{vm=\"a\" 1\nlab_use\nlab_use x\n{} 1\n9lab 1\nlab_use{vm=a} 1\n\
                    lab_use 1 2 3\nlab_use 1\n# EOF\nlab_use 2\nlab_use 3";
        let (batch, mut reader) = read(text);
        assert_eq!(batch.line, [8, 10]);
        let rest = reader.finish();
        assert_eq!(rest.dropped, 7);
        assert_eq!(rest.found.line, [11]);
        let last: Vec<usize> = rest.remarks.iter().map(|remark| remark.line).collect();
        assert_eq!(last, [1, 2, 3, 4, 5, 6, 7, 10, 11]);
    }
}
