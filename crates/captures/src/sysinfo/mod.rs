//! `/proc/sysinfo` of Linux on IBM Z: the machine, the partition and the virtual machines around
//! the host, outermost first.
//!
//! Read: every line; those that are no number where one belongs are left out and named. Ratings of
//! lines that come after a virtual machine's first line are its own.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::damage::{no_end_of_line, Damage, Lenient};
use crate::error::{quoted, CaptureError};

/// More levels of virtual machines than there are.
const MOST_LEVELS: usize = 100;

/// What the text says.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SysInfo {
    /// The machine: labels as printed, `CPU Topology SW` among them.
    pub machine: Section,
    /// Processing capacity with so many processors, relative to one of them [65,536ths].
    pub adjustments: BTreeMap<u32, u64>,
    /// The partition; empty if there is none.
    pub partition: Section,
    /// Virtual machines, the outermost first.
    pub virtual_machines: Vec<Section>,
}

/// Lines of one part.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Section {
    /// Line of the first, counted from 1; 0 if there are none.
    pub line: usize,
    /// Values by label, without the name of the part in front.
    pub texts: BTreeMap<String, String>,
    /// Lines of them.
    pub lines: BTreeMap<String, usize>,
}

impl Section {
    fn add(&mut self, label: &str, value: &str, line: usize, damage: &mut Damage) {
        if self.line == 0 {
            self.line = line;
        }
        if is_count(label) && value.parse::<u64>().is_err() {
            damage.drop_line(line, || {
                format!("{}: {:?} is no number", quoted(label), quoted(value))
            });
            return;
        }
        match self.texts.get(label) {
            None => {
                self.texts.insert(label.to_owned(), value.to_owned());
                self.lines.insert(label.to_owned(), line);
            }
            Some(held) if held != value => damage.drop_line(line, || {
                format!(
                    "{} again with another value; the first counts",
                    quoted(label)
                )
            }),
            Some(_) => {}
        }
    }
}

fn is_count(label: &str) -> bool {
    label.starts_with("CPUs ") || label == "Adjustment" || label == "Number"
}

/// Reads the text.
pub fn read(text: &str) -> Result<Lenient<SysInfo>, CaptureError> {
    let mut damage = Damage::default();
    let mut found = SysInfo::default();
    for (place, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let (number, line) = (
            place + 1,
            line.trim_matches(|c: char| c.is_whitespace() || c == '\0'),
        );
        if line.is_empty() {
            continue;
        }
        match line.split_once(':') {
            Some((label, value)) => {
                found.line(label.trim(), value.trim(), number, &mut damage);
            }
            None => damage.drop_line(number, || {
                format!("{:?} is no label with a value", quoted(line))
            }),
        }
    }
    if !found.machine.texts.contains_key("Type") && found.partition.texts.is_empty() {
        return Err(CaptureError::Missing {
            line: 1,
            name: "the text".into(),
            section: "Type:",
        });
    }
    if !text.ends_with('\n') {
        no_end_of_line(&mut damage, text.lines().count());
    }
    Ok(damage.with(found))
}

impl SysInfo {
    fn line(&mut self, label: &str, value: &str, line: usize, damage: &mut Damage) {
        if let Some(rest) = label.strip_prefix("LPAR ") {
            self.partition.add(rest, value, line, damage);
        } else if let Some((level, rest)) = virtual_machine(label) {
            if level >= MOST_LEVELS || level > self.virtual_machines.len() {
                damage.drop_line(line, || format!("{} before those around it", quoted(label)));
                return;
            }
            if level == self.virtual_machines.len() {
                self.virtual_machines.push(Section::default());
            }
            self.virtual_machines[level].add(rest, value, line, damage);
        } else if let Some(count) = ways(label) {
            match value.parse() {
                Ok(rating) => {
                    self.adjustments.entry(count).or_insert(rating);
                }
                Err(_) => damage.drop_line(line, || {
                    format!("{}: {:?} is no number", quoted(label), quoted(value))
                }),
            }
        } else {
            self.machine.add(label, value, line, damage);
        }
    }
}

/// `VM00 Name`: the level, and the rest of the label.
fn virtual_machine(label: &str) -> Option<(usize, &str)> {
    let (level, rest) = label.strip_prefix("VM")?.split_once(' ')?;
    Some((level.parse().ok()?, rest))
}

/// `Adjustment 02-way`: how many processors.
fn ways(label: &str) -> Option<u32> {
    label
        .strip_prefix("Adjustment ")?
        .strip_suffix("-way")?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
Manufacturer:         IBM
Type:                 9999
Model:                701              A01
Sequence Code:        0000000000ABCDEF

CPUs Total:           12
Adjustment 02-way:    60000

LPAR Number:          3
LPAR Characteristics: Shared
LPAR Name:            LP3
LPAR CPUs Shared:     4

VM00 Name:            LINUX1
VM00 Control Program: z/VM    7.2.0
VM00 CPUs Total:      2
";

    #[test]
    fn the_parts_are_told_apart() {
        let read = read(TEXT).expect("a text");
        assert_eq!((read.dropped, read.remarks.len()), (0, 0));
        let found = read.found;
        assert_eq!(found.machine.texts["Model"], "701              A01");
        assert_eq!(
            (found.partition.line, found.partition.lines["Name"]),
            (9, 11)
        );
        assert_eq!(
            found.virtual_machines[0].texts["Control Program"],
            "z/VM    7.2.0"
        );
        assert_eq!(found.adjustments[&2], 60_000);
    }

    #[test]
    fn damage_is_counted_and_named() {
        let text = TEXT.replace("CPUs Total:           12", "CPUs Total:           x\nstray");
        let found = read(&text).expect("a text");
        assert_eq!(
            (found.dropped, found.remarks[0].line, found.remarks[1].line),
            (2, 6, 7)
        );
        let glued = format!("{TEXT}{}", TEXT.replace("LP3", "LP4"));
        assert_eq!(read(&glued).expect("two").dropped, 1);
        let orphan = TEXT.replace("VM00", "VM07");
        assert_eq!(read(&orphan).expect("a text").dropped, 3);
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "hello", "a: b\n"] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }
}
