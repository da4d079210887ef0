//! `vparstatus -v`: sections of labelled values, a group of them a partition.

use std::collections::HashSet;

use crate::blocks::{fields, Block, Blocks, Field};
use crate::error::{quoted, CaptureError};
use crate::reading::Notes;
use crate::vparstatus::model::VirtualPartition;
use crate::vparstatus::values::{self, At};
use crate::vparstatus::{memory, processors};

pub(super) const FIRST: &str = "Virtual Partition Details";
const IO: &str = "IO Details";
const ONLINE: &str = "OL* Details";
/// Sections of other listings that may stand in the same text.
const OTHERS: [&str; 6] = [
    "Virtual Partition",
    "Virtual Partition Resource Summary",
    "Complex",
    "Cell",
    "Chassis",
    "Partition",
];
const ONLINE_LABELS: [&str; 3] = ["Sequence ID", "Operation", "Status"];

/// Read all partitions.
pub(super) fn parse(
    blocks: &Blocks<'_>,
    notes: &mut Notes,
) -> Result<Vec<VirtualPartition>, CaptureError> {
    let mut groups: Vec<Vec<&Block<'_>>> = Vec::new();
    let mut open = false;
    for block in &blocks.list {
        let heading = block.heading.as_str();
        if heading == FIRST {
            groups.push(vec![block]);
            open = true;
        } else if OTHERS.contains(&heading) {
            open = false;
        } else if let Some(group) = groups.last_mut().filter(|_| open) {
            group.push(block);
        }
    }
    let mut partitions: Vec<VirtualPartition> = Vec::new();
    let mut names = HashSet::new();
    for group in groups {
        let found = partition(&group, notes)?;
        if !names.insert(found.name.clone()) {
            return Err(CaptureError::Twice {
                line: group[0].line,
                name: quoted(&found.name),
            });
        }
        partitions.push(found);
    }
    Ok(partitions)
}

fn partition(group: &[&Block<'_>], notes: &mut Notes) -> Result<VirtualPartition, CaptureError> {
    let mut partition = identity(group[0], notes)?;
    let name = partition.name.clone();
    let mut seen: HashSet<&str> = HashSet::new();
    for block in &group[1..] {
        let heading = block.heading.as_str();
        if !seen.insert(heading) {
            return Err(CaptureError::Twice {
                line: block.line,
                name: quoted(&format!("[{heading}] of {name}")),
            });
        }
        match heading {
            processors::SECTION => partition.processors = processors::parse(block, &name, notes)?,
            IO => {
                notes.place(&name, "io", block.line);
                for line in &block.lines {
                    partition.io.push(values::io(At {
                        text: line.text,
                        line: line.number,
                        heading: IO,
                        unit: "",
                    })?);
                }
            }
            memory::SECTION => partition.memory = memory::parse(block, &name, notes)?,
            ONLINE => partition.online = Some(online(block, notes)),
            _ => notes.remark(block.line, format!("section [{heading}] is left out")),
        }
    }
    for section in [processors::SECTION, memory::SECTION] {
        if !seen.contains(section) {
            return Err(CaptureError::Missing {
                line: group[0].line,
                name: quoted(&name),
                section,
            });
        }
    }
    if !seen.contains(IO) {
        let told = format!("{name} has no [{IO}]: where its I/O hangs is not known");
        notes.remark(group[0].line, told);
    }
    Ok(partition)
}

const NAME: &str = "Name";
const STATE: &str = "State";
const ATTRIBUTES: &str = "Attributes";
const KERNEL: &str = "Kernel Path";
const BOOT_OPTIONS: &str = "Boot Opts";

fn identity(block: &Block<'_>, notes: &mut Notes) -> Result<VirtualPartition, CaptureError> {
    let labels = [NAME, STATE, ATTRIBUTES, KERNEL, BOOT_OPTIONS];
    let found = fields(block, &labels, notes);
    let text = |label| {
        let field = found.iter().find(|field: &&Field<'_>| field.label == label);
        field.map(Field::text).unwrap_or_default()
    };
    let name = text(NAME);
    if name.is_empty() {
        return Err(CaptureError::Missing {
            line: block.line,
            name: format!("[{FIRST}]"),
            section: NAME,
        });
    }
    for field in &found {
        if field.label == NAME {
            notes.place(&name, "name", field.line);
        }
    }
    Ok(VirtualPartition {
        name,
        state: text(STATE),
        attributes: attributes(&text(ATTRIBUTES)),
        kernel: text(KERNEL),
        boot_options: text(BOOT_OPTIONS),
        ..VirtualPartition::default()
    })
}

/// Words between commas.
pub(super) fn attributes(text: &str) -> Vec<String> {
    let words = text.split(',').map(str::trim);
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The last online operation by position of its labels.
fn online(block: &Block<'_>, notes: &mut Notes) -> Vec<String> {
    let found = fields(block, &ONLINE_LABELS, notes);
    let mut values: Vec<String> = Vec::new();
    for (index, label) in ONLINE_LABELS.iter().enumerate() {
        if let Some(field) = found.iter().find(|field| field.label == *label) {
            values.resize(index, String::new());
            values.push(field.text());
        }
    }
    values
}

/// All partitions, an empty line after each.
pub(super) fn format(partitions: &[VirtualPartition]) -> String {
    partitions.iter().map(partition_text).collect()
}

fn partition_text(partition: &VirtualPartition) -> String {
    let labelled = |label: &str, value: &str| {
        let label = format!("{label}:");
        format!("{}\n", format!("{label:<14}{value}").trim_end())
    };
    let mut text = format!("[{FIRST}]\n");
    text += &labelled(NAME, &partition.name);
    text += &labelled(STATE, &partition.state);
    text += &labelled(ATTRIBUTES, &partition.attributes.join(","));
    text += &labelled(KERNEL, &partition.kernel);
    text += &labelled(BOOT_OPTIONS, &partition.boot_options);
    text += &processors::format(&partition.processors);
    text += &format!("\n[{IO}]\n");
    for io in &partition.io {
        text += &format!("   {}\n", format!("{}  {}", io.path, io.role).trim_end());
    }
    text += "\n";
    text += &memory::format(&partition.memory);
    if let Some(values) = &partition.online {
        text += &format!("[{ONLINE}]\n");
        for (label, value) in ONLINE_LABELS.iter().zip(values) {
            text += &format!("{}\n", format!("{label}:  {value}").trim_end());
        }
        text += "\n";
    }
    text
}
