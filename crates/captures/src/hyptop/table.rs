//! The table as it is printed for the eye.
//!
//! ```text
//! 12:30:48 | cpu-t: IFL(18) CP(3)                                  ?=help
//! system #core core mgm
//! (str)    (#)  (%) (%)
//! lpar1      4 12.5 0.1
//!            4 12.5 0.1
//! -----------------------
//! ```

use crate::damage::Damage;
use crate::error::quoted;
use crate::hyptop::model::{Look, Recording, System};
use crate::lines::is_ruler;

#[derive(Default)]
struct State {
    recording: Recording,
    look: Option<Look>,
    fields: Vec<String>,
}

pub(crate) fn read(text: &str, damage: &mut Damage) -> Recording {
    let mut state = State::default();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        if let Some(look) = head(line, number) {
            state.close();
            state.look = Some(look);
        } else if let Err(why) = state.line(line, number) {
            damage.drop_line(number, || why);
        }
    }
    if !text.ends_with('\n') {
        let last = text.lines().count();
        damage.remark(last, || {
            "the last line has no end; it may be cut off".to_owned()
        });
    }
    state.close();
    state.recording
}

impl State {
    fn close(&mut self) {
        self.fields.clear();
        if let Some(look) = self.look.take() {
            self.recording.looks.push(look);
        }
    }

    fn line(&mut self, line: &str, number: usize) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_command = self.look.is_none() && words.iter().any(|word| word.ends_with("hyptop"));
        if words.is_empty() || is_ruler(line) || is_command {
            return Ok(());
        }
        let Some(look) = self.look.as_mut() else {
            return Err(format!(
                "\"{}\" stands before any look",
                quoted(line.trim())
            ));
        };
        if self.fields.is_empty() {
            if words[0] != "system" {
                return Err(format!(
                    "headings expected, found \"{}\"",
                    quoted(line.trim())
                ));
            }
            self.fields = words.iter().map(|word| word.to_lowercase()).collect();
        } else if words[0] == "(str)" {
            for (field, unit) in self.fields.iter().zip(&words) {
                let unit = unit.trim_matches(['(', ')']).to_owned();
                look.units.insert(field.clone(), unit);
            }
        } else if words.len() == self.fields.len() && !line.starts_with(' ') {
            let mut system = System {
                line: number,
                ..System::default()
            };
            for (field, word) in self.fields.iter().zip(&words) {
                system.put(field, word);
            }
            look.systems.push(system);
        } else if !line.starts_with(' ') {
            // What is indented adds the columns up.
            return Err(format!(
                "{} values under {} headings",
                words.len(),
                self.fields.len()
            ));
        }
        Ok(())
    }
}

const TYPES: &str = "cpu-t:";

/// The first line of a look: the time, and processors by type; newer levels have no bar between
/// them, older ones write the types' heading in capitals.
fn head(line: &str, number: usize) -> Option<Look> {
    let (time, rest) = line
        .trim_start()
        .split_once(|c: char| c == '|' || c.is_whitespace())?;
    let rest = rest.trim_start().trim_start_matches('|').trim_start();
    let named = rest
        .get(..TYPES.len())
        .filter(|word| word.eq_ignore_ascii_case(TYPES));
    if !(line.contains('|') || named.is_some())
        || time.len() != 8
        || time.bytes().filter(|byte| *byte == b':').count() != 2
    {
        return None;
    }
    let mut look = Look::beginning(number);
    time.clone_into(&mut look.time);
    if named.is_some() {
        for word in rest[TYPES.len()..].split_whitespace() {
            let told = word.strip_suffix(')').and_then(|word| word.split_once('('));
            if let Some((kind, Ok(count))) = told.map(|(kind, count)| (kind, count.parse())) {
                look.cpu_types.insert(kind.to_owned(), count);
            }
        }
    }
    Some(look)
}
