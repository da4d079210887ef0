//! What was printed: looks at systems, each with the values of its fields.

use std::collections::BTreeMap;

use serde::Serialize;

/// All that was printed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Recording {
    /// What is said of the recording as a whole: host, time, `tool_invocation`.
    pub meta: BTreeMap<String, String>,
    /// In the order of the text.
    pub looks: Vec<Look>,
}

/// One look at the systems.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Look {
    /// Line it begins on, from 1.
    pub line: usize,
    /// As it is printed; empty if it is not.
    pub time: String,
    /// Processors by type.
    pub cpu_types: BTreeMap<String, u32>,
    /// Units by field, where they are told.
    pub units: BTreeMap<String, String>,
    /// Partitions or virtual machines.
    pub systems: Vec<System>,
}

/// A partition or virtual machine, and its figures by column.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct System {
    /// As the hypervisor calls it.
    pub name: String,
    /// Line, from 1.
    pub line: usize,
    /// Values by field; what is not known is not there.
    pub values: BTreeMap<String, String>,
}

impl Look {
    pub(super) fn beginning(line: usize) -> Self {
        Self {
            line,
            ..Self::default()
        }
    }
}

impl System {
    /// Takes a value; `-` and nothing at all say that it is not known.
    pub(super) fn put(&mut self, field: &str, text: &str) {
        let field = field.trim().to_lowercase();
        match text.trim() {
            "" | "-" | "null" => {}
            text if field == "system" => text.clone_into(&mut self.name),
            text => {
                self.values.insert(field, text.to_owned());
            }
        }
    }
}
