//! A topology as `lstopo -v` prints it on a console: an object a line, with logical numbers and
//! the system's.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use super::kind::Kind;
use super::model::{Distances, Info, Object, Topology};
use super::set::Set;

/// Depth number that hwloc gives to memory.
const MEMORY_DEPTHS: [(Kind, i32); 2] = [(Kind::NumaNode, -3), (Kind::MemCache, -8)];

/// Objects that are counted together: their kind and, of groups, how many groups are around them.
type Level = (Kind, usize);

/// The text.
#[must_use]
pub fn console(topology: &Topology) -> String {
    let mut page = Page::of(&topology.root);
    page.object(&topology.root, 0, 0);
    page.summary();
    for matrix in &topology.distances {
        page.matrix(matrix);
    }
    page.kinds(topology);
    let offline = Set::of(topology.offline.iter().copied());
    if !offline.is_empty() {
        let (count, mask) = (offline.count(), offline.mask());
        page.line(format_args!(
            "{count} processors not represented in topology: {mask}"
        ));
    }
    if !topology.infos.is_empty() {
        page.line(format_args!(
            "Topology infos: {}",
            infos(&topology.infos).join(" ")
        ));
    }
    page.line(format_args!("Topology not from this system"));
    page.text
}

struct Page {
    text: String,
    /// Memory in each object, in the order of the walk.
    memory: Vec<u64>,
    /// How many objects were printed.
    printed: usize,
    /// How many of each level were printed.
    seen: HashMap<Level, usize>,
    /// Logical numbers of memory, a list a kind in the order of the walk: hwloc counts what is
    /// inside an object before the memory beside it.
    memory_numbers: HashMap<Kind, Vec<usize>>,
    /// How many of each level there are, and how deep it lies at most.
    levels: Vec<(Level, usize)>,
    totals: HashMap<Level, usize>,
    /// Whether there is more than one level of groups.
    many_groups: bool,
}

impl Page {
    fn of(root: &Object) -> Self {
        let mut depths: HashMap<Level, (usize, usize)> = HashMap::new();
        measure(root, 0, 0, &mut depths);
        let mut levels: Vec<(Level, usize)> = depths
            .iter()
            .filter(|((kind, _), _)| !kind.is_memory())
            .map(|(level, (depth, _))| (*level, *depth))
            .collect();
        levels.sort_by_key(|((kind, nest), depth)| (*depth, kind.rank(), *nest));
        let groups = levels.iter().filter(|((kind, _), _)| *kind == Kind::Group);
        let mut memory = Vec::new();
        tally(root, &mut memory);
        let mut numbered = HashMap::new();
        number(root, &mut HashMap::new(), &mut numbered);
        let mut memory_numbers: HashMap<Kind, Vec<usize>> = HashMap::new();
        root.walk(&mut |object| {
            if let Some(logical) = numbered.get(&std::ptr::from_ref(object)) {
                memory_numbers
                    .entry(object.kind)
                    .or_default()
                    .push(*logical);
            }
        });
        Self {
            text: String::new(),
            memory,
            printed: 0,
            memory_numbers,
            seen: HashMap::new(),
            many_groups: groups.count() > 1,
            totals: depths
                .iter()
                .map(|(level, (_, count))| (*level, *count))
                .collect(),
            levels,
        }
    }

    fn line(&mut self, words: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.text, "{words}");
    }

    fn object(&mut self, object: &Object, depth: usize, groups: usize) {
        let level = (object.kind, group_level(object, groups));
        let number = self.seen.entry(level).or_insert(0);
        let of_kind = self.memory_numbers.get(&object.kind);
        let logical = of_kind.map_or(*number, |numbers| numbers[*number]);
        *number += 1;
        let total = self.memory.get(self.printed).copied().unwrap_or(0);
        self.printed += 1;
        let mut words = format!("{:1$}{2}", "", 2 * depth, self.level_name(level));
        if let Some(subtype) = &object.subtype {
            let _ = write!(words, "({subtype})");
        }
        if depth > 0 {
            let _ = write!(words, " L#{logical}");
        }
        let said = attributes(object, total);
        if !said.is_empty() {
            let _ = write!(words, " ({})", said.join(" "));
        }
        self.line(format_args!("{words}"));
        let inner = groups + usize::from(object.kind == Kind::Group);
        for child in &object.children {
            self.object(child, depth + 1, inner);
        }
    }

    fn level_name(&self, (kind, nest): Level) -> String {
        match kind {
            Kind::Group if self.many_groups => format!("Group{nest}"),
            _ => kind.to_string(),
        }
    }

    fn summary(&mut self) {
        let last = self.levels.len().saturating_sub(1);
        let column = 19.max(last + format!("depth {last}:").len() + 4);
        for (depth, (level, _)) in self.levels.clone().into_iter().enumerate() {
            let start = format!("{:depth$}depth {depth}:", "");
            self.count(&start, column, level);
        }
        for (kind, depth) in MEMORY_DEPTHS {
            let level = (kind, 0);
            if self.totals.contains_key(&level) {
                self.count(&format!("Special depth {depth}:"), column, level);
            }
        }
    }

    fn count(&mut self, start: &str, column: usize, level: Level) {
        let count = self.totals.get(&level).copied().unwrap_or(0);
        let (name, number) = (self.level_name(level), level.0.number());
        self.line(format_args!(
            "{start:column$}{count} {name} (type #{number})"
        ));
    }

    fn matrix(&mut self, matrix: &Distances) {
        let what = match (matrix.meaning & 4 != 0, matrix.meaning & 8 != 0) {
            (true, _) => "Relative latency",
            (_, true) => "Relative bandwidth",
            _ => "Unknown",
        };
        let name = matrix.name.as_deref().unwrap_or("(null)");
        let (meaning, of) = (matrix.meaning, matrix.of);
        let count = matrix.objects.len();
        let place = self.levels.iter().position(|((kind, _), _)| *kind == of);
        let special = MEMORY_DEPTHS.iter().find(|(kind, _)| *kind == of);
        let depth = special.map_or_else(
            || place.map_or_else(|| "?".to_owned(), |depth| depth.to_string()),
            |(_, depth)| depth.to_string(),
        );
        self.line(format_args!(
            "{what} matrix (name {name} kind {meaning}) between {count} {of}s (depth {depth}) by \
             logical indexes:"
        ));
        let values = matrix.rows.iter().flatten().copied();
        let widest = values
            .chain(matrix.objects.iter().map(|place| *place as u64))
            .max();
        let width = widest.unwrap_or(0).to_string().len().max(5);
        let numbers = self.memory_numbers.get(&of);
        let logical = |place: &usize| {
            let number = numbers.and_then(|numbers| numbers.get(*place));
            number.copied().unwrap_or(*place)
        };
        let places: Vec<usize> = matrix.objects.iter().map(logical).collect();
        let mut heading = format!(" {:>width$}", "index");
        for place in &places {
            let _ = write!(heading, " {place:>width$}");
        }
        self.line(format_args!("{heading}"));
        for (place, row) in places.iter().zip(&matrix.rows) {
            let mut words = format!(" {place:>width$}");
            for value in row {
                let _ = write!(words, " {value:>width$}");
            }
            self.line(format_args!("{words}"));
        }
    }

    fn kinds(&mut self, topology: &Topology) {
        for (number, kind) in topology.cpu_kinds.iter().enumerate() {
            let mask = Set::of(kind.processors.iter().copied()).mask();
            let efficiency = kind.efficiency;
            self.line(format_args!(
                "CPU kind #{number} efficiency {efficiency} cpuset {mask}"
            ));
            for Info { name, value } in &kind.infos {
                self.line(format_args!("  {name} = {value}"));
            }
        }
    }
}

fn group_level(object: &Object, groups: usize) -> usize {
    match object.kind {
        Kind::Group => groups,
        _ => 0,
    }
}

/// The greatest depth and the number of each level.
fn measure(
    object: &Object,
    depth: usize,
    groups: usize,
    depths: &mut HashMap<Level, (usize, usize)>,
) {
    let held = depths
        .entry((object.kind, group_level(object, groups)))
        .or_insert((0, 0));
    *held = (held.0.max(depth), held.1 + 1);
    let inner = groups + usize::from(object.kind == Kind::Group);
    for child in &object.children {
        measure(child, depth + 1, inner, depths);
    }
}

/// Logical numbers of memory: of what is inside an object first, then of what is beside that.
fn number(
    object: &Object,
    counts: &mut HashMap<Kind, usize>,
    numbered: &mut HashMap<*const Object, usize>,
) {
    if object.kind.is_memory() {
        let count = counts.entry(object.kind).or_insert(0);
        numbered.insert(std::ptr::from_ref(object), *count);
        *count += 1;
    }
    let (beside, inside): (Vec<_>, Vec<_>) = object
        .children
        .iter()
        .partition(|child| child.kind.is_memory());
    for child in inside.into_iter().chain(beside) {
        number(child, counts, numbered);
    }
}

/// Memory in each object, in the order of the walk.
fn tally(object: &Object, memory: &mut Vec<u64>) -> u64 {
    let place = memory.len();
    memory.push(0);
    let own = match object.kind {
        Kind::NumaNode => object.bytes.unwrap_or(0),
        _ => 0,
    };
    let inside = object.children.iter().map(|child| tally(child, memory));
    let total = inside.fold(own, u64::saturating_add);
    memory[place] = total;
    total
}

fn attributes(object: &Object, total: u64) -> Vec<String> {
    let mut said = Vec::new();
    said.extend(object.os_index.map(|number| format!("P#{number}")));
    match object.kind {
        Kind::Cache(..) | Kind::MemCache => {
            said.extend(object.bytes.map(|size| format!("size={}", amount(size))));
            said.extend(object.line_bytes.map(|line| format!("linesize={line}")));
            said.extend(match object.ways {
                None | Some(0) => None,
                Some(-1) => Some("Fully-associative".to_owned()),
                Some(ways) => Some(format!("ways={ways}")),
            });
        }
        Kind::NumaNode => {
            said.extend(object.bytes.map(|local| format!("local={}", amount(local))));
        }
        _ => {}
    }
    if total > 0 {
        said.push(format!("total={}", amount(total)));
    }
    said.extend(infos(&object.infos));
    said
}

fn infos(held: &[Info]) -> Vec<String> {
    let word = |info: &Info| {
        let quote = if info.value.contains(' ') { "\"" } else { "" };
        format!("{}={quote}{}{quote}", info.name, info.value)
    };
    held.iter().map(word).collect()
}

/// A size, rounded, in the largest unit of which it is ten or more.
fn amount(bytes: u64) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    let fitting = units.into_iter().find(|(bits, _)| bytes >> bits >= 10);
    match fitting {
        Some((bits, unit)) => format!("{}{unit}", (bytes >> (bits - 1)).div_ceil(2)),
        None => format!("{}KiB", (bytes >> 9).div_ceil(2)),
    }
}

/// Numbers of each kind of object, such as `2 packages`, from the outside in.
#[must_use]
pub(crate) fn in_words(root: &Object) -> String {
    let mut counts: BTreeMap<(u8, String), usize> = BTreeMap::new();
    root.walk(&mut |object| {
        let name = object.subtype.clone().unwrap_or_else(|| object.kind.name());
        let key = (object.kind.rank(), name);
        *counts.entry(key).or_insert(0) += 1;
    });
    let words: Vec<String> = counts
        .into_iter()
        .filter(|((rank, _), _)| *rank > 0)
        .map(|((_, name), count)| format!("{count} {name}"))
        .collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_in_the_unit_of_which_there_are_ten() {
        for (bytes, text) in [
            (2_053_992 << 10, "2006MiB"),
            (100_057_088 << 10, "95GiB"),
            (4096 << 10, "4096KiB"),
            (512, "1KiB"),
            (10 << 40, "10TiB"),
            (0, "0KiB"),
        ] {
            assert_eq!(amount(bytes), text);
        }
    }

    #[test]
    fn memory_beside_the_whole_is_counted_after_that_of_its_parts() {
        let mut root = Object::new(Kind::Machine, Some(0));
        let mut package = Object::new(Kind::Package, Some(0));
        package.children = vec![
            Object::new(Kind::NumaNode, Some(0)),
            Object::new(Kind::Pu, Some(0)),
        ];
        root.children = vec![Object::new(Kind::NumaNode, Some(1)), package];
        let text = console(&Topology {
            root,
            ..Topology::default()
        });
        assert!(text.contains("  NUMANode L#1 (P#1)"), "{text}");
        assert!(text.contains("    NUMANode L#0 (P#0)"), "{text}");
    }

    #[test]
    fn a_small_host_is_printed_like_lstopo_does() {
        let mut root = Object::new(Kind::Machine, Some(0));
        let mut core = Object::new(Kind::Core, Some(0));
        core.children = vec![
            Object::new(Kind::Pu, Some(0)),
            Object::new(Kind::Pu, Some(1)),
        ];
        let mut package = Object::new(Kind::Package, Some(7));
        package.infos = vec![Info::new("CPUModel", "a b")];
        package.children = vec![core];
        let mut memory = Object::new(Kind::NumaNode, Some(0));
        memory.bytes = Some(1 << 34);
        root.children = vec![memory, package];
        let text = console(&Topology {
            root,
            ..Topology::default()
        });
        assert_eq!(
            text,
            "Machine (P#0 total=16GiB)\n  NUMANode L#0 (P#0 local=16GiB total=16GiB)\n  Package \
             L#0 \
             (P#7 CPUModel=\"a b\")\n    Core L#0 (P#0)\n      PU L#0 (P#0)\n      PU L#1 (P#1)\n\
             depth 0:           1 Machine (type #0)\n depth 1:          1 Package (type #1)\n  \
             depth 2:         1 Core (type #3)\n   depth 3:        2 PU (type #4)\n\
             Special depth -3:  1 NUMANode (type #14)\nTopology not from this system\n"
        );
    }
}
