//! The JSON formats. Every object that holds an `iteration` is read by itself, so that one that is
//! cut off or damaged takes no other with it, and recordings may be glued together.

use serde_json::{Map, Value};

use crate::damage::Damage;
use crate::hyptop::model::{Look, Recording, System};

/// Objects in each other, of which the outermost beyond these are not looked into.
const DEEPEST: usize = 32;

/// An object that is open while the text is gone through.
struct Open {
    start: usize,
    line: usize,
    looks: bool,
    meta: bool,
}

pub(crate) fn read(text: &str, damage: &mut Damage) -> Recording {
    let mut recording = Recording::default();
    let mut scan = Scan::default();
    for (at, byte) in text.bytes().enumerate() {
        if let Some(done) = scan.byte(text, at, byte) {
            take(&text[done.start..=at], &done, &mut recording, damage);
        }
    }
    for open in scan.open.iter().filter(|open| open.looks) {
        damage.drop_line(open.line, || "this look is cut off".to_owned());
    }
    if scan.open.iter().all(|open| !open.looks) && !scan.open.is_empty() {
        damage.remark(scan.line + 1, || "the text ends early".to_owned());
    }
    recording
}

/// Where one is in the text.
#[derive(Default)]
struct Scan {
    open: Vec<Open>,
    /// Objects beyond the deepest.
    beyond: usize,
    line: usize,
    /// Where the string began that one is in.
    inside: Option<usize>,
    escaped: bool,
    /// The string that ended last, which is a key if a colon follows.
    last: (usize, usize),
    /// The key that the next value belongs to is `meta`.
    meta: bool,
}

impl Scan {
    /// Goes on by a byte; hands over the object that ends with it, if it is one to take.
    fn byte(&mut self, text: &str, at: usize, byte: u8) -> Option<Open> {
        if byte == b'\n' {
            // No string of the tool goes over lines: a quote is missing or too much.
            self.line += 1;
            (self.inside, self.escaped) = (None, false);
            return None;
        }
        if let Some(start) = self.inside {
            if self.escaped {
                self.escaped = false;
            } else if byte == b'\\' {
                self.escaped = true;
            } else if byte == b'"' {
                self.last = (start, at);
                self.inside = None;
            }
            return None;
        }
        match byte {
            b'"' => self.inside = Some(at + 1),
            b':' => self.key(&text[self.last.0..self.last.1]),
            b'{' if self.open.len() >= DEEPEST => self.beyond += 1,
            b'{' => {
                let meta = std::mem::take(&mut self.meta);
                let line = self.line + 1;
                self.open.push(Open {
                    start: at,
                    line,
                    looks: false,
                    meta,
                });
            }
            b'}' if self.beyond > 0 => self.beyond -= 1,
            b'}' => return self.open.pop().filter(|open| open.looks || open.meta),
            _ => {}
        }
        None
    }

    fn key(&mut self, key: &str) {
        self.meta = key == "meta" && self.beyond == 0;
        if let (true, Some(open)) = (key == "iteration" && self.beyond == 0, self.open.last_mut()) {
            open.looks = true;
        }
    }
}

fn take(text: &str, open: &Open, recording: &mut Recording, damage: &mut Damage) {
    let Ok(Value::Object(object)) = serde_json::from_str::<Value>(text) else {
        damage.drop_line(open.line, || "this is no sound JSON object".to_owned());
        return;
    };
    if open.meta {
        for (name, value) in &object {
            recording
                .meta
                .entry(name.clone())
                .or_insert_with(|| plain(value));
        }
    } else if let Some(inner) = object.get("iteration").and_then(Value::as_object) {
        recording.looks.push(look(inner, open.line));
    } else {
        recording.looks.push(look(&object, open.line));
    }
}

fn look(object: &Map<String, Value>, line: usize) -> Look {
    let mut look = Look::beginning(line);
    look.time = object.get("time").map(plain).unwrap_or_default();
    if let Some(types) = object.get("cpu_types").and_then(Value::as_object) {
        let counts = types
            .iter()
            .filter_map(|(kind, count)| Some((kind.clone(), u32::try_from(count.as_u64()?).ok()?)));
        look.cpu_types = counts.collect();
    }
    let systems = object.get("systems").and_then(Value::as_array);
    look.systems = systems
        .into_iter()
        .flatten()
        .filter_map(|one| system(one, line))
        .collect();
    look
}

fn system(value: &Value, line: usize) -> Option<System> {
    let object = value.as_object()?;
    let mut system = System {
        line,
        ..System::default()
    };
    for (field, value) in object {
        system.put(field, &plain(value));
    }
    (!system.name.is_empty()).then_some(system)
}

/// A value without quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
