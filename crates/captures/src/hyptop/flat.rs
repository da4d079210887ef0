//! The formats for programs that have a line a system or a line a value: `csv` and `pairs`.

use std::collections::BTreeMap;

use crate::damage::Damage;
use crate::error::quoted;
use crate::hyptop::model::{Look, Recording, System};

/// A row a system, all in quotes; the row whose system is empty adds the others up.
pub(crate) fn read_csv(text: &str, damage: &mut Damage) -> Recording {
    let mut recording = Recording::default();
    let mut heads: Vec<String> = Vec::new();
    let mut current = (String::new(), String::new());
    for (index, line) in text.lines().enumerate() {
        let (number, cells) = (index + 1, cells(line));
        if line.trim().is_empty() {
            continue;
        }
        if cells.iter().any(|cell| cell == "iteration") {
            heads = cells.iter().map(|cell| last_part(cell)).collect();
            continue;
        }
        if cells.len() != heads.len() {
            let counts = (cells.len(), heads.len());
            damage.drop_line(number, || {
                format!("{} values under {} headings", counts.0, counts.1)
            });
            continue;
        }
        let mut system = System {
            line: number,
            ..System::default()
        };
        let mut row = Row::default();
        for (head, cell) in heads.iter().zip(&cells) {
            row.take(head, cell, &mut system, &mut recording.meta);
        }
        let key = (row.iteration, row.time);
        if recording.looks.is_empty() || key != current {
            let mut look = Look::beginning(number);
            look.time.clone_from(&key.1);
            recording.looks.push(look);
            current = key;
        }
        if let (false, Some(look)) = (system.name.is_empty(), recording.looks.last_mut()) {
            look.systems.push(system);
        }
    }
    if !text.ends_with('\n') {
        let last = text.lines().count();
        damage.remark(last, || {
            "the last line has no end; it may be cut off".to_owned()
        });
    }
    recording
}

#[derive(Default)]
struct Row {
    iteration: String,
    time: String,
}

impl Row {
    fn take(
        &mut self,
        head: &str,
        cell: &str,
        system: &mut System,
        meta: &mut BTreeMap<String, String>,
    ) {
        match head.strip_prefix("meta.") {
            Some(name) => {
                meta.entry(name.to_owned())
                    .or_insert_with(|| cell.to_owned());
            }
            None if head == "iteration" => cell.clone_into(&mut self.iteration),
            None if head == "time" => cell.clone_into(&mut self.time),
            None => system.put(head, cell),
        }
    }
}

/// The name of a field, which stands behind those of what it is a part of.
fn last_part(head: &str) -> String {
    if head.starts_with("meta.") {
        return head.to_owned();
    }
    head.rsplit('.').next().unwrap_or(head).to_owned()
}

fn cells(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut cell = String::new();
    let mut inside = false;
    let mut characters = line.trim_end_matches('\r').chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if inside && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            '"' => inside = !inside,
            ',' if !inside => found.push(std::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    found.push(cell);
    found
}

/// A line a value: `hyptop[0].iteration.systems[1].entry.core="12.5"`.
pub(crate) fn read_pairs(text: &str, damage: &mut Damage) -> Recording {
    let mut reading = Pairs::default();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let told = line.trim();
        if !told.is_empty() && reading.line(told, number).is_none() {
            damage.drop_line(number, || {
                format!("\"{}\" is no value of hyptop", quoted(told))
            });
        }
    }
    if !text.ends_with('\n') {
        let last = text.lines().count();
        damage.remark(last, || {
            "the last line has no end; it may be cut off".to_owned()
        });
    }
    reading.recording
}

#[derive(Default)]
struct Pairs {
    recording: Recording,
    /// Numbers of the look and of the system that were read last.
    look: Option<u64>,
    system: Option<u64>,
}

impl Pairs {
    fn line(&mut self, line: &str, number: usize) -> Option<()> {
        let (key, value) = line.split_once('=')?;
        let value = value.trim().trim_matches('"');
        if let Some(name) = key.strip_prefix("meta.") {
            self.recording
                .meta
                .entry(name.to_owned())
                .or_insert_with(|| value.to_owned());
            return Some(());
        }
        let (index, rest) = indexed(key.strip_prefix("hyptop")?)?;
        let path = rest
            .strip_prefix(".iteration.")
            .or_else(|| rest.strip_prefix('.'))?;
        if self.look != Some(index) {
            (self.look, self.system) = (Some(index), None);
            self.recording.looks.push(Look::beginning(number));
        }
        let look = self.recording.looks.last_mut()?;
        if path == "time" {
            value.clone_into(&mut look.time);
        } else if let Some(kind) = path.strip_prefix("cpu_types.") {
            look.cpu_types.insert(kind.to_owned(), value.parse().ok()?);
        } else if let Some(rest) = path.strip_prefix("systems") {
            let (index, rest) = indexed(rest)?;
            if self.system != Some(index) {
                self.system = Some(index);
                look.systems.push(System {
                    line: number,
                    ..System::default()
                });
            }
            let field = rest
                .strip_prefix(".entry.")
                .or_else(|| rest.strip_prefix('.'))?;
            look.systems.last_mut()?.put(field, value);
        }
        Some(())
    }
}

/// The number in brackets, and what follows it.
fn indexed(text: &str) -> Option<(u64, &str)> {
    let (number, rest) = text.strip_prefix('[')?.split_once(']')?;
    Some((number.parse().ok()?, rest))
}
