//! Processed metrics of an HMC's performance and capacity monitor (JSON).
//!
//! Samples are taken one by one out of the text, so that a file which is cut off, or two that are
//! glued together, give all that is whole. Averages are read; where the document has several
//! figures for a value, `metricArrayOrder` says which is the average.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::damage::{Damage, Lenient};
use crate::error::CaptureError;
use crate::hmc::usage::{PartitionUse, Samples};
use crate::stamp::{ahead, seconds};

const SAMPLES: &str = "\"utilSamples\"";
/// After so many pieces without an end the rest of a text is given up.
const MOST_CUT_OFF: usize = 16;
const INFO: &str = "\"utilInfo\"";

/// A server's metrics.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Processed {
    /// `utilInfo` of the first document: name, mtms and others.
    pub server: Vec<(String, String)>,
    /// Values of the server in its latest sample: cores.
    pub processors: Vec<(String, f64)>,
    /// Use of partitions and of Virtual I/O Servers.
    pub usage: Vec<PartitionUse>,
    /// Partitions that ran in no sample, with the line of their last.
    pub stopped: Vec<(String, usize)>,
    /// Samples that were read.
    pub samples: u64,
}

/// Whether a text begins like such a document.
#[must_use]
pub fn recognise(head: &str) -> bool {
    head.contains("\"systemUtil\"") && (head.contains(INFO) || head.contains(SAMPLES))
}

/// Read documents, one after another; forgiving.
///
/// # Errors
/// There is no whole sample of processed metrics.
pub fn processed(text: &str) -> Result<Lenient<Processed>, CaptureError> {
    let mut reader = Reader::default();
    let mut place = Place::default();
    let mut keys = [(INFO, Next::Unknown), (SAMPLES, Next::Unknown)];
    let mut at = 0;
    while reader.cut_off <= MOST_CUT_OFF {
        let Some((start, key)) = next_key(text, at, &mut keys) else {
            break;
        };
        place.advance(&text[at..start]);
        at = start + key.len();
        // Between a key and its value stand a colon and blanks.
        let behind = text[at..].trim_start();
        let Some(value) = behind.strip_prefix(':').map(str::trim_start) else {
            continue;
        };
        let open = text.len() - value.len();
        let rest = match key {
            INFO if value.starts_with('{') => {
                place.advance(&text[at..open]);
                reader.info(value, &mut place)
            }
            SAMPLES if value.starts_with('[') => {
                place.advance(&text[at..open]);
                reader.samples(&value[1..], &mut place)
            }
            _ => continue,
        };
        at = text.len() - rest.len();
    }
    reader.finish()
}

/// Where a key stands next.
#[derive(Clone, Copy)]
enum Next {
    Unknown,
    At(usize),
    Nowhere,
}

/// The first of the keys behind a place. Every part of the text is searched once a key.
fn next_key(
    text: &str,
    from: usize,
    keys: &mut [(&'static str, Next); 2],
) -> Option<(usize, &'static str)> {
    for (key, next) in keys.iter_mut() {
        let passed = match next {
            Next::Unknown => true,
            Next::At(place) => *place < from,
            Next::Nowhere => false,
        };
        if passed {
            let found = text[from..].find(*key);
            *next = found.map_or(Next::Nowhere, |place| Next::At(from + place));
        }
    }
    let places = keys.iter().filter_map(|(key, next)| match next {
        Next::At(place) => Some((*place, *key)),
        Next::Unknown | Next::Nowhere => None,
    });
    places.min()
}

/// The line that has been reached.
struct Place {
    line: usize,
}

impl Default for Place {
    fn default() -> Self {
        Self { line: 1 }
    }
}

impl Place {
    fn advance(&mut self, over: &str) {
        self.line += over.bytes().filter(|byte| *byte == b'\n').count();
    }
}

/// Length of the object or list that a text begins with; none if it is cut off.
fn whole(text: &str) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0_u32, false, false);
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => depth += 1,
            b'}' | b']' if !quoted => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(index + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[derive(Default)]
struct Reader {
    damage: Damage,
    found: Processed,
    /// Length of a sample in the present document [s].
    frequency: Option<f64>,
    /// Which figure of a list is the average.
    average: usize,
    unprocessed: Option<String>,
    partitions: BTreeMap<String, PartitionUse>,
    stopped: BTreeMap<String, usize>,
    /// How far the samples' clocks are ahead of UTC [s], each once.
    zones: Vec<Option<f64>>,
    /// Pieces that had no end; each was searched to the end of the text.
    cut_off: usize,
}

impl Reader {
    /// The head of a document; returns what follows.
    fn info<'a>(&mut self, text: &'a str, place: &mut Place) -> &'a str {
        let Some(end) = whole(text) else {
            self.cut_off += 1;
            self.damage
                .drop_line(place.line, || "utilInfo is cut off".to_owned());
            return &text[1..];
        };
        let line = place.line;
        place.advance(&text[..end]);
        match serde_json::from_str::<Value>(&text[..end]) {
            Ok(info) => self.document(&info),
            Err(fault) => self.damage.drop_line(line, || format!("utilInfo: {fault}")),
        }
        &text[end..]
    }

    fn document(&mut self, info: &Value) {
        self.frequency = info["frequency"].as_f64().filter(|seconds| *seconds > 0.0);
        let order = info["metricArrayOrder"].as_array();
        let average = order.and_then(|names| names.iter().position(|name| name == "AVG"));
        self.average = average.unwrap_or(0);
        let kind = info["metricType"].as_str().unwrap_or("Processed");
        let sound = ["Processed", "Aggregated"].contains(&kind);
        self.unprocessed = (!sound).then(|| kind.to_owned());
        if self.found.server.is_empty() {
            let names = ["name", "mtms", "metricType", "version"];
            let texts = names
                .iter()
                .filter_map(|name| Some((*name, info[*name].as_str()?)));
            let owned = texts.map(|(name, text)| (name.to_owned(), text.to_owned()));
            self.found.server = owned.collect();
        }
    }

    /// The elements of a list of samples; returns what follows.
    fn samples<'a>(&mut self, text: &'a str, place: &mut Place) -> &'a str {
        let mut rest = text;
        loop {
            let gap = rest
                .find(|c: char| !(c.is_whitespace() || c == ','))
                .unwrap_or(rest.len());
            place.advance(&rest[..gap]);
            rest = &rest[gap..];
            if !rest.starts_with('{') {
                return rest;
            }
            let Some(end) = whole(rest) else {
                self.cut_off += 1;
                self.damage
                    .drop_line(place.line, || "the sample is cut off".to_owned());
                // Another document may be glued behind it.
                return &rest[1..];
            };
            let piece = &rest[..end];
            match serde_json::from_str::<Value>(piece) {
                Ok(sample) => self.one(&sample, place.line),
                Err(fault) => {
                    let why = || format!("a sample that is no JSON: {fault}");
                    self.damage.drop_line(place.line, why);
                    if [INFO, SAMPLES].iter().any(|key| piece.contains(key)) {
                        // A quote that was cut in two hid where the sample ends.
                        self.cut_off += 1;
                        return &rest[1..];
                    }
                }
            }
            place.advance(&rest[..end]);
            rest = &rest[end..];
        }
    }

    fn one(&mut self, sample: &Value, line: usize) {
        if let Some(kind) = &self.unprocessed {
            let why = || format!("metrics of type {kind} are not read; get the processed ones");
            return self.damage.drop_line(line, why);
        }
        let stamp = sample["sampleInfo"]["timeStamp"].as_str();
        let Some(time) = stamp.and_then(seconds) else {
            return self
                .damage
                .drop_line(line, || "a sample without timeStamp".to_owned());
        };
        let ahead = stamp.and_then(ahead);
        if self
            .zones
            .iter()
            .any(|zone| zone.is_none() != ahead.is_none())
        {
            let why =
                || "a sample of a clock with a time zone among others without, or the reverse";
            return self.damage.drop_line(line, || why().to_owned());
        }
        if !self.zones.contains(&ahead) {
            self.zones.push(ahead);
        }
        self.found.samples += 1;
        // In UTC, samples follow each other over the end of summer time as well.
        let time = time - ahead.unwrap_or(0.0);
        let processor = &sample["serverUtil"]["processor"];
        if let Some(units) = processor.as_object() {
            let amounts = units
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), self.amount(value)?)));
            self.found.processors = amounts.collect();
        }
        for list in ["lparsUtil", "viosUtil"] {
            for partition in sample[list].as_array().into_iter().flatten() {
                self.partition(partition, time, line, list == "viosUtil");
            }
        }
    }

    fn partition(&mut self, of: &Value, time: f64, line: usize, is_server: bool) {
        let Some(name) = of["name"].as_str() else {
            return self
                .damage
                .drop_line(line, || "a partition without name".to_owned());
        };
        // A partition in Open Firmware holds its processors and uses them.
        let runs = |state: &str| ["Running", "Open Firmware", "Starting"].contains(&state);
        if of["state"].as_str().is_some_and(|state| !runs(state)) {
            self.stopped.insert(name.to_owned(), line);
            return;
        }
        let processor = &of["processor"];
        let Some(cores) = self.amount(&processor["utilizedProcUnits"]) else {
            return self
                .damage
                .drop_line(line, || format!("{name} has no utilizedProcUnits"));
        };
        let memory = ["logicalMem", "assignedMem"];
        let memory = memory
            .iter()
            .find_map(|key| self.amount(&of["memory"][*key]));
        let fields = self.fields(of, processor, is_server);
        let length = self.frequency.unwrap_or(f64::NAN);
        let usage = self
            .partitions
            .entry(name.to_owned())
            .or_insert_with(|| PartitionUse {
                system: None,
                name: name.to_owned(),
                line,
                fields: Vec::new(),
                samples: Samples::default(),
            });
        if usage.samples.times.last().is_some_and(|last| time <= *last) {
            let why = || format!("a sample of {name} that is not later than the one before");
            return self.damage.drop_line(line, why);
        }
        usage.fields = fields;
        usage
            .samples
            .push(time, length, cores, memory.unwrap_or(f64::NAN), line);
    }

    /// What is told of a partition beside its use.
    fn fields(&self, of: &Value, processor: &Value, is_server: bool) -> Vec<(String, String)> {
        let mut fields: Vec<(String, String)> = Vec::new();
        let mut add = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                fields.push((name.to_owned(), value));
            }
        };
        let text = |value: &Value| {
            let number = value.as_f64().map(|number| number.to_string());
            value.as_str().map(str::to_owned).or(number)
        };
        for name in ["id", "osType", "type", "affinityScore"] {
            add(name, text(&of[name]));
        }
        for name in ["poolId", "weight", "mode"] {
            add(name, text(&processor[name]));
        }
        let units = [
            "maxVirtualProcessors",
            "currentVirtualProcessors",
            "maxProcUnits",
            "entitledProcUnits",
        ];
        for name in units {
            let amount = self.amount(&processor[name]);
            add(name, amount.map(|number| number.to_string()));
        }
        if is_server {
            add("server", Some("vios".to_owned()));
        }
        fields
    }

    /// A number, or the average of a list.
    fn amount(&self, value: &Value) -> Option<f64> {
        let one = match value {
            Value::Array(list) => list.get(self.average).or_else(|| list.first())?,
            one => one,
        };
        one.as_f64()
            .filter(|number| number.is_finite() && *number >= 0.0)
    }

    fn finish(mut self) -> Result<Lenient<Processed>, CaptureError> {
        if self.found.samples == 0 {
            return Err(CaptureError::Empty {
                tool: "an HMC's processed metrics",
            });
        }
        let ran = &self.partitions;
        self.stopped.retain(|name, _| !ran.contains_key(name));
        self.found.stopped = self.stopped.into_iter().collect();
        self.found.usage = self.partitions.into_values().collect();
        // Samples of one zone have the times that were printed; those of several are in UTC.
        let ahead_s = match self.zones[..] {
            [one] => one,
            _ => Some(0.0),
        };
        for usage in &mut self.found.usage {
            usage.samples.ahead_s = ahead_s;
            let times = &mut usage.samples.times;
            times
                .iter_mut()
                .for_each(|time| *time += ahead_s.unwrap_or(0.0));
        }
        Ok(self.damage.with(self.found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(second: u32, cores: &str) -> String {
        format!(
            "{{\"sampleType\":\"ServerUtil\",\"sampleInfo\":{{\"timeStamp\":\
             \"2020-08-10T21:06:{second:02}+0200\",\"status\":0}},\"lparsUtil\":[{{\"id\":3,\
             \"name\":\
             \"db2 }}]\",\"state\":\"Running\",\"osType\":\"AIX\",\
             \"memory\":{{\"logicalMem\":[8192.0]}},\
             \"processor\":{{\"poolId\":0,\"mode\":\"uncap\",\"weight\":128,\
             \"entitledProcUnits\":[1.0],\
             \"utilizedProcUnits\":[{cores}]}}}},{{\"name\":\"off\",\"state\":\"Not \
             Activated\"}}]}}\n"
        )
    }

    fn document(samples: &str) -> String {
        format!(
            "{{\"systemUtil\":{{\"utilInfo\":{{\"metricType\":\"Processed\",\"frequency\":30,\
             \"mtms\":\
             \"9009-42A*21F64EV\",\"name\":\"frame1\",\"metricArrayOrder\":[\"MIN\",\"AVG\"]}},\n\
             \"utilSamples\":[{samples}]}}}}\n"
        )
    }

    #[test]
    fn the_end_of_summer_time_loses_no_sample() {
        let late = sample(30, "0.1,0.5").replace("T21:06:30+0200", "T20:06:30+0100");
        let found = processed(&document(&(sample(0, "0.1,0.25") + "," + &late)));
        let samples = found.expect("sound").found.usage.remove(0).samples;
        assert_eq!(samples.times[1] - samples.times[0], 30.0);
        assert_eq!(
            (samples.times[0] % 86_400.0, samples.ahead_s),
            (68_760.0, Some(0.0))
        );
        let plain = sample(30, "0.1,0.5").replace("+0200", "");
        let read = processed(&document(&(sample(0, "0.1,0.25") + "," + &plain))).expect("sound");
        assert_eq!((read.found.samples, read.dropped), (1, 1));
        let read = processed(&document(&plain)).expect("sound");
        assert_eq!(read.found.usage[0].samples.ahead_s, None);
    }

    #[test]
    fn samples_become_use_of_partitions() {
        let text = document(&(sample(0, "0.1,0.25") + "," + &sample(30, "0.1,0.5")));
        assert!(recognise(&text));
        let read = processed(&text).expect("sound");
        assert_eq!((read.dropped, read.found.samples), (0, 2));
        let [usage] = &read.found.usage[..] else {
            panic!("one partition: {:?}", read.found.usage);
        };
        assert_eq!(usage.samples.cores, [0.25, 0.5]);
        assert_eq!(usage.samples.seconds, [30.0, 30.0]);
        assert_eq!(usage.samples.times[1] - usage.samples.times[0], 30.0);
        assert_eq!(usage.samples.lines, [2, 3]);
        assert_eq!(usage.samples.ahead_s, Some(7200.0));
        assert!(usage
            .fields
            .contains(&("mode".to_owned(), "uncap".to_owned())));
        assert_eq!(read.found.server[1].1, "9009-42A*21F64EV");
        assert_eq!(read.found.stopped, [("off".to_owned(), 3)]);
        let firmware = text.replace(
            "\"off\",\"state\":\"Not Activated\"",
            "\"off\",\"state\":\"Open \
             Firmware\",\"processor\":{\"utilizedProcUnits\":[0.0,0.0]}",
        );
        let read = processed(&firmware).expect("sound");
        assert_eq!(read.found.usage.len(), 2);
        assert!(read.found.stopped.is_empty());
    }

    #[test]
    fn a_document_that_is_cut_off_gives_its_whole_samples() {
        let text = document(&(sample(0, "1,2") + "," + &sample(30, "1,2")));
        for end in 0..text.len() {
            if let Ok(read) = processed(&text[..end]) {
                let samples = read.found.samples;
                assert_eq!(read.found.usage[0].samples.cores.len() as u64, samples);
            }
        }
        let cut = text.rfind("utilized").expect("a second sample");
        let read = processed(&(text[..cut].to_owned() + &text)).expect("three samples");
        assert_eq!(read.found.samples, 3);
        // The second recording repeats the time of the first.
        assert_eq!(read.found.usage[0].samples.cores.len(), 2);
    }

    #[test]
    fn other_documents_are_refused() {
        let raw = document(&sample(0, "1,2")).replace("Processed", "Raw");
        for text in ["", "{}", "\"utilSamples\"", "\"utilSamples\": [{}]", &raw] {
            assert!(processed(text).is_err(), "{text}");
        }
    }
}
