//! The tree and what is said of its parts.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::kind::Kind;
use super::set::Set;

/// A host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Topology {
    /// The machine with all below it.
    pub root: Object,
    /// Numbers of processors that the host has but does not use.
    pub offline: Vec<u32>,
    /// Matrices between objects, in the order of the listing.
    pub distances: Vec<Distances>,
    /// Kinds of processors.
    pub cpu_kinds: Vec<CpuKind>,
    /// What is said of the whole, such as the architecture.
    pub infos: Vec<Info>,
}

/// A thing in a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Object {
    /// What it is.
    pub kind: Kind,
    /// More exactly, such as Drawer or Book of a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subtype: Option<String>,
    /// The number the operating system gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os_index: Option<u32>,
    /// Memory of a NUMA node, or size of a cache [bytes].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Length of a cache's line [bytes].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_bytes: Option<u64>,
    /// Associativity of a cache; -1 if any line may lie anywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ways: Option<i32>,
    /// Names and values in the order of the listing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub infos: Vec<Info>,
    /// Memory beside it, then what it consists of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Object>,
}

/// Something that is said of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Info {
    /// What.
    pub name: String,
    /// As it is printed.
    pub value: String,
}

/// A matrix between objects of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Distances {
    /// Its name, such as `NUMALatency`.
    pub name: Option<String>,
    /// What the objects are.
    pub of: Kind,
    /// hwloc's bits of what the values mean: 1 from the system, 2 from a person, 4 latency, 8
    /// bandwidth.
    pub meaning: u32,
    /// Which object each row and column is, counted from 0 among all of the kind.
    pub objects: Vec<usize>,
    /// A row an object.
    pub rows: Vec<Vec<u64>>,
}

/// Processors that are alike.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuKind {
    /// 0 for those that need the most energy a unit of work, counted up; -1 if unknown.
    pub efficiency: i32,
    /// Their numbers.
    pub processors: Vec<u32>,
    /// What is said of them.
    pub infos: Vec<Info>,
}

impl Info {
    /// A name with a value.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        let (name, value) = (name.into(), value.into());
        Self { name, value }
    }
}

impl Object {
    /// One of a kind, with the number the system gives it.
    #[must_use]
    pub fn new(kind: Kind, os_index: Option<u32>) -> Self {
        Self {
            kind,
            os_index,
            ..Self::default()
        }
    }

    /// Itself and all below, memory first, depth first.
    pub fn walk(&self, visit: &mut impl FnMut(&Object)) {
        visit(self);
        for child in &self.children {
            child.walk(visit);
        }
    }

    /// All of a kind, in the order of the tree.
    #[must_use]
    pub fn all(&self, kind: Kind) -> Vec<&Object> {
        let mut found = Vec::new();
        self.collect(kind, &mut found);
        found
    }

    fn collect<'a>(&'a self, kind: Kind, found: &mut Vec<&'a Object>) {
        if self.kind == kind {
            found.push(self);
        }
        for child in &self.children {
            child.collect(kind, found);
        }
    }

    /// Places among all of a kind by the system's number; the first of those that share one.
    pub(crate) fn places(&self, kind: Kind) -> HashMap<u32, usize> {
        let mut places = HashMap::new();
        for (place, object) in self.all(kind).into_iter().enumerate() {
            if let Some(number) = object.os_index {
                places.entry(number).or_insert(place);
            }
        }
        places
    }

    /// Memory of all NUMA nodes in it [bytes].
    #[must_use]
    pub fn memory(&self) -> u64 {
        let own = match self.kind {
            Kind::NumaNode => self.bytes.unwrap_or(0),
            _ => 0,
        };
        let inside = self.children.iter().map(Object::memory);
        inside.fold(own, u64::saturating_add)
    }

    /// Numbers of the processors in it.
    pub(crate) fn processors(&self) -> Set {
        let mut numbers = Vec::new();
        self.walk(&mut |object| {
            if object.kind == Kind::Pu {
                numbers.extend(object.os_index);
            }
        });
        Set::of(numbers)
    }
}
