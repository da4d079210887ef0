//! A topology as hwloc's XML, version 2.

use std::collections::HashMap;
use std::fmt::Write;

use quick_xml::escape::escape;

use crate::topology::{Distances, Info, Kind, Object, Set, Share, Topology};

/// The text, with sets of processors and memory nodes worked out from the tree.
#[must_use]
pub fn write(topology: &Topology) -> String {
    let mut page = Page {
        text: String::from(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n\
             <topology version=\"2.0\">\n",
        ),
        next: 1,
        numbers: HashMap::new(),
        offline: Set::of(topology.offline.iter().copied()),
        infos: &topology.infos,
    };
    page.object(&topology.root, 1, &Set::default());
    for matrix in &topology.distances {
        page.matrix(matrix, &topology.root);
    }
    for kind in &topology.cpu_kinds {
        let mask = Set::of(kind.processors.iter().copied()).mask();
        page.line(1, format_args!("<cpukind cpuset=\"{mask}\">"));
        page.infos(&kind.infos, 2);
        page.line(1, format_args!("</cpukind>"));
    }
    page.text.push_str("</topology>\n");
    page.text
}

struct Page<'a> {
    text: String,
    /// The number of the next object.
    next: u64,
    /// Numbers of the objects of each kind, in their order.
    numbers: HashMap<Kind, Vec<u64>>,
    offline: Set,
    infos: &'a [Info],
}

impl Page<'_> {
    fn line(&mut self, depth: usize, words: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.text, "{:1$}{words}", "", 2 * depth);
    }

    fn infos(&mut self, infos: &[Info], depth: usize) {
        for Info { name, value } in infos {
            let (name, value) = (plain(name), plain(value));
            self.line(
                depth,
                format_args!("<info name=\"{name}\" value=\"{value}\"/>"),
            );
        }
    }

    /// An object with all inside it; `near` is memory beside what is around it.
    fn object(&mut self, object: &Object, depth: usize, near: &Set) {
        let processors = object.processors();
        self.inner(object, depth, near, &processors);
    }

    fn inner(&mut self, object: &Object, depth: usize, near: &Set, processors: &Set) {
        let beside = object
            .children
            .iter()
            .filter(|child| child.kind.is_memory());
        let beside = beside.fold(near.clone(), |all, child| all.or(&nodes(child)));
        let nodeset = match object.kind.is_memory() {
            true => nodes(object),
            false => beside.or(&nodes(object)),
        };
        let tag = self.tag(object, processors, &nodeset);
        let root = object.kind == Kind::Machine;
        let more: &[Info] = if root { self.infos } else { &[] };
        if object.children.is_empty() && object.infos.is_empty() && more.is_empty() {
            self.line(depth, format_args!("<{tag}/>"));
            return;
        }
        self.line(depth, format_args!("<{tag}>"));
        self.infos(&object.infos, depth + 1);
        self.infos(more, depth + 1);
        for child in &object.children {
            match child.kind.is_memory() {
                true => self.inner(child, depth + 1, near, processors),
                false => self.object(child, depth + 1, &beside),
            }
        }
        self.line(depth, format_args!("</object>"));
    }

    fn tag(&mut self, object: &Object, processors: &Set, nodeset: &Set) -> String {
        let mut tag = format!("object type=\"{}\"", type_name(object.kind));
        if let Some(subtype) = &object.subtype {
            let _ = write!(tag, " subtype=\"{}\"", plain(subtype));
        }
        if let Some(index) = object.os_index {
            let _ = write!(tag, " os_index=\"{index}\"");
        }
        let (cpus, memory) = (processors.mask(), nodeset.mask());
        let all = match object.kind {
            Kind::Machine => processors.or(&self.offline).mask(),
            _ => cpus.clone(),
        };
        let _ = write!(tag, " cpuset=\"{cpus}\" complete_cpuset=\"{all}\"");
        if object.kind == Kind::Machine {
            let _ = write!(tag, " allowed_cpuset=\"{cpus}\"");
        }
        let _ = write!(tag, " nodeset=\"{memory}\" complete_nodeset=\"{memory}\"");
        if object.kind == Kind::Machine {
            let _ = write!(tag, " allowed_nodeset=\"{memory}\"");
        }
        let _ = write!(tag, " gp_index=\"{}\"", self.next);
        self.numbers.entry(object.kind).or_default().push(self.next);
        self.next += 1;
        tag.push_str(&attributes(object));
        tag
    }

    fn matrix(&mut self, matrix: &Distances, root: &Object) {
        let there = root.all(matrix.of);
        let known = self.numbers.get(&matrix.of).cloned().unwrap_or_default();
        let by_system = matches!(matrix.of, Kind::NumaNode | Kind::Pu);
        let index = |place: &usize| match by_system {
            true => there
                .get(*place)
                .and_then(|object| object.os_index)
                .map(u64::from),
            false => known.get(*place).copied(),
        };
        let indexes: Option<Vec<u64>> = matrix.objects.iter().map(index).collect();
        let Some(indexes) = indexes else { return };
        let (kind, meaning, count) = (type_name(matrix.of), matrix.meaning, indexes.len());
        let indexing = if by_system { "os" } else { "gp" };
        let name = matrix
            .name
            .as_ref()
            .map(|name| format!(" name=\"{}\"", plain(name)));
        let name = name.unwrap_or_default();
        self.line(
            1,
            format_args!(
                "<distances2 type=\"{kind}\" nbobjs=\"{count}\" kind=\"{meaning}\"{name} \
                 indexing=\"{indexing}\">"
            ),
        );
        self.values("indexes", &indexes);
        for row in &matrix.rows {
            self.values("u64values", row);
        }
        self.line(1, format_args!("</distances2>"));
    }

    fn values(&mut self, name: &str, values: &[u64]) {
        let words: String = values.iter().map(|value| format!("{value} ")).collect();
        let length = words.len();
        self.line(
            2,
            format_args!("<{name} length=\"{length}\">{words}</{name}>"),
        );
    }
}

/// Numbers of the memory nodes in an object.
fn nodes(object: &Object) -> Set {
    let nodes = object.all(Kind::NumaNode);
    let numbers = nodes.iter().filter_map(|node| node.os_index);
    Set::of(numbers.filter(|number| *number <= crate::topology::HIGHEST))
}

fn type_name(kind: Kind) -> String {
    match kind {
        Kind::Cache(level, Share::Instruction) => format!("L{level}iCache"),
        Kind::Cache(level, _) => format!("L{level}Cache"),
        kind => kind.to_string(),
    }
}

fn attributes(object: &Object) -> String {
    let bytes = object.bytes.unwrap_or(0);
    match object.kind {
        Kind::Cache(level, share) => {
            let (line, ways) = (object.line_bytes.unwrap_or(0), object.ways.unwrap_or(0));
            let share = match share {
                Share::Unified => 0,
                Share::Data => 1,
                Share::Instruction => 2,
            };
            format!(
                " cache_size=\"{bytes}\" depth=\"{level}\" cache_linesize=\"{line}\" \
                 cache_associativity=\"{ways}\" cache_type=\"{share}\""
            )
        }
        Kind::MemCache => format!(" cache_size=\"{bytes}\" depth=\"1\" cache_type=\"0\""),
        Kind::NumaNode if bytes > 0 => format!(" local_memory=\"{bytes}\""),
        Kind::Group => " kind=\"0\" subkind=\"0\"".to_owned(),
        _ => String::new(),
    }
}

/// Text for an attribute; what XML cannot hold becomes a blank.
fn plain(text: &str) -> String {
    let held: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    escape(held.as_str()).into_owned()
}
