//! A tree from objects that say only which processors they have.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::grouping::groups;
use super::kind::Kind;
use super::model::Object;
use super::set::Set;
use crate::damage::Damage;
use crate::error::quoted;

/// An object with its processors.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The object, without children.
    pub(crate) object: Object,
    /// Numbers of its processors.
    pub(crate) processors: Set,
}

impl Part {
    fn group(processors: Set) -> Self {
        let object = Object::new(Kind::Group, None);
        Self { object, processors }
    }
}

struct Node {
    object: Object,
    processors: Set,
    memory: Vec<Object>,
    inside: Vec<usize>,
}

/// Puts parts into each other by their processors and memory beside them; `distances` between the
/// memory nodes, in their order, make groups of those that lie together. What overlaps others
/// without lying in them is left out and named.
pub(crate) fn build(
    mut parts: Vec<Part>,
    memory: Vec<Part>,
    distances: &[Vec<u64>],
    damage: &mut Damage,
) -> Object {
    if distances.len() == memory.len() {
        let known: HashSet<Set> = not_threads(&parts).cloned().collect();
        let groups = near(&memory, distances).into_iter();
        parts.extend(groups.filter(|part| !known.contains(&part.processors)));
    }
    parts.extend(beside(&parts, &memory));
    let nested = nest(parts, damage);
    let nodes = with_memory(nested, memory);
    let mut root = object(&mut nodes.into_iter().map(Some).collect::<Vec<_>>(), 0);
    without_empty_levels(&mut root);
    root
}

/// Processors of each object that is none itself.
fn not_threads(parts: &[Part]) -> impl Iterator<Item = &Set> {
    let larger = parts.iter().filter(|part| part.object.kind != Kind::Pu);
    larger.map(|part| &part.processors)
}

/// Groups of memory nodes that lie together.
fn near(memory: &[Part], distances: &[Vec<u64>]) -> Vec<Part> {
    let all = groups(distances).into_iter().map(|places| {
        let sets = places.iter().map(|place| &memory[*place].processors);
        Part::group(sets.fold(Set::default(), |all, set| all.or(set)))
    });
    all.filter(|part| !part.processors.is_empty()).collect()
}

/// A group for the processors of each memory node, where they are no object's alone.
fn beside(parts: &[Part], memory: &[Part]) -> Vec<Part> {
    let named: HashSet<&Set> = not_threads(parts).collect();
    let mut made = HashSet::new();
    let missing = memory.iter().map(|node| &node.processors);
    let missing = missing.filter(|set| !set.is_empty() && !named.contains(set));
    missing
        .filter(|set| made.insert((*set).clone()))
        .map(|set| Part::group(set.clone()))
        .collect()
}

/// The machine first, then all parts, each in the innermost that has all its processors.
fn nest(mut parts: Vec<Part>, damage: &mut Damage) -> Vec<Node> {
    parts.sort_by_key(|part| {
        let first = part.processors.first();
        (
            Reverse(part.processors.count()),
            part.object.kind.rank(),
            first,
        )
    });
    let machine = Object::new(Kind::Machine, Some(0));
    let all = parts.iter().filter(|part| part.object.kind == Kind::Pu);
    let processors = Set::of(all.filter_map(|part| part.processors.first()));
    let mut nodes = vec![Node::new(machine, processors)];
    let mut innermost: HashMap<u32, usize> = HashMap::new();
    for part in parts {
        if part.processors.is_empty() {
            continue;
        }
        if let Some(twin) = twin(&part, &nodes, &innermost) {
            if nodes[twin].processors != part.processors {
                overlap(&part, damage);
            }
            continue;
        }
        let Some(parent) = around(&part.processors, &innermost) else {
            overlap(&part, damage);
            continue;
        };
        let place = nodes.len();
        innermost.extend(part.processors.iter().map(|cpu| (cpu, place)));
        nodes[parent].inside.push(place);
        nodes.push(Node::new(part.object, part.processors));
    }
    nodes
}

/// The same thing again, or one of the same kind that its first processor is in already.
fn twin(part: &Part, nodes: &[Node], innermost: &HashMap<u32, usize>) -> Option<usize> {
    let place = *innermost.get(&part.processors.first()?)?;
    let held = &nodes[place];
    if held.object.kind != part.object.kind {
        return None;
    }
    let group = part.object.kind == Kind::Group;
    let same = held.processors == part.processors && part.object.subtype.is_none();
    (!group || same).then_some(place)
}

fn overlap(part: &Part, damage: &mut Damage) {
    damage.drop_line(0, || {
        let kind = part.object.kind.name();
        let list = quoted(&part.processors.list());
        format!("{kind} of processors {list} overlaps others and is left out")
    });
}

/// What all of these processors are in, if it is one thing.
fn around(processors: &Set, innermost: &HashMap<u32, usize>) -> Option<usize> {
    let mut around = processors
        .iter()
        .map(|cpu| *innermost.get(&cpu).unwrap_or(&0));
    let first = around.next()?;
    around.all(|other| other == first).then_some(first)
}

impl Node {
    const fn new(object: Object, processors: Set) -> Self {
        Self {
            object,
            processors,
            memory: Vec::new(),
            inside: Vec::new(),
        }
    }
}

/// Memory beside the outermost object with its processors, the machine last; memory without
/// processors in a group of its own.
fn with_memory(mut nodes: Vec<Node>, memory: Vec<Part>) -> Vec<Node> {
    let mut outermost: HashMap<Set, usize> = HashMap::new();
    for (place, node) in nodes.iter().enumerate().skip(1) {
        if node.object.kind != Kind::Pu {
            outermost.entry(node.processors.clone()).or_insert(place);
        }
    }
    for part in memory {
        let place = match outermost.get(&part.processors) {
            Some(place) => *place,
            None if part.processors.is_empty() => {
                let alone = nodes.len();
                nodes.push(Node::new(Object::new(Kind::Group, None), Set::default()));
                nodes[0].inside.push(alone);
                alone
            }
            None => 0,
        };
        nodes[place].memory.push(part.object);
    }
    nodes
}

/// A node with all inside it, in the order of their first processors; those without come last.
fn object(nodes: &mut [Option<Node>], place: usize) -> Object {
    let Some(node) = nodes[place].take() else {
        return Object::default();
    };
    let mut inside: Vec<(bool, Option<u32>, usize)> = node
        .inside
        .iter()
        .filter_map(|place| {
            let processors = &nodes[*place].as_ref()?.processors;
            Some((processors.is_empty(), processors.first(), *place))
        })
        .collect();
    inside.sort_unstable();
    let mut whole = node.object;
    whole.children = node.memory;
    whole.children.sort_by_key(|memory| memory.os_index);
    for (_, _, place) in inside {
        whole.children.push(object(nodes, place));
    }
    whole
}

/// Takes levels of groups away that add nothing: each group is all there is in what is around it,
/// or has one thing in it that is as large.
fn without_empty_levels(root: &mut Object) {
    let mut depth = 0;
    loop {
        let mut seen = Level::default();
        seen.look(root, depth);
        if seen.groups == 0 {
            return;
        }
        if seen.groups == seen.alone || seen.groups == seen.hollow {
            splice(root, depth, seen.groups == seen.alone);
        } else {
            depth += 1;
        }
    }
}

/// Groups at a depth of groups: how many, how many are all of their parent, and how many have one
/// thing in them.
#[derive(Default)]
struct Level {
    groups: usize,
    alone: usize,
    hollow: usize,
}

fn parts_of(object: &Object) -> usize {
    object
        .children
        .iter()
        .filter(|child| !child.kind.is_memory())
        .count()
}

impl Level {
    fn look(&mut self, object: &Object, depth: usize) {
        let alone = parts_of(object) == 1;
        for child in &object.children {
            match child.kind {
                Kind::Group if depth == 0 => {
                    self.groups += 1;
                    self.alone += usize::from(alone);
                    self.hollow += usize::from(parts_of(child) == 1);
                }
                Kind::Group => self.look(child, depth - 1),
                _ => self.look(child, depth),
            }
        }
    }
}

fn splice(object: &mut Object, depth: usize, upwards: bool) {
    let mut children = Vec::new();
    for mut child in std::mem::take(&mut object.children) {
        match child.kind {
            Kind::Group if depth == 0 => {
                if !upwards {
                    let (memory, mut inside): (Vec<Object>, Vec<Object>) = child
                        .children
                        .drain(..)
                        .partition(|inner| inner.kind.is_memory());
                    if let Some(only) = inside.first_mut() {
                        only.children.splice(0..0, memory);
                    }
                    child.children = inside;
                }
                children.append(&mut child.children);
                continue;
            }
            Kind::Group => splice(&mut child, depth - 1, upwards),
            _ => splice(&mut child, depth, upwards),
        }
        children.push(child);
    }
    children.sort_by_key(|child| !child.kind.is_memory());
    object.children = children;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(kind: Kind, list: &str) -> Part {
        let processors = Set::from_list(list).expect("a list");
        let object = Object::new(kind, None);
        Part { object, processors }
    }

    fn processors(count: u32) -> Vec<Part> {
        (0..count)
            .map(|cpu| Part {
                object: Object::new(Kind::Pu, Some(cpu)),
                processors: Set::of([cpu]),
            })
            .collect()
    }

    fn shape(object: &Object) -> String {
        let inside: Vec<String> = object.children.iter().map(shape).collect();
        format!("{}({})", object.kind.name(), inside.join(" ")).replace("()", "")
    }

    #[test]
    fn parts_nest_by_their_processors() {
        let mut parts = processors(4);
        parts.extend([part(Kind::Core, "0-1"), part(Kind::Core, "2-3")]);
        parts.push(part(Kind::Package, "0-3"));
        let memory = vec![part(Kind::NumaNode, "0-3")];
        let root = build(parts, memory, &[], &mut Damage::default());
        assert_eq!(
            shape(&root),
            "Machine(Package(NUMANode Core(PU PU) Core(PU PU)))"
        );
    }

    #[test]
    fn memory_over_several_packages_makes_a_group() {
        let mut parts = processors(4);
        parts.extend(["0", "1", "2", "3"].map(|list| part(Kind::Package, list)));
        let memory = ["0-1", "2-3", ""]
            .map(|list| part(Kind::NumaNode, list))
            .to_vec();
        let root = build(parts, memory, &[], &mut Damage::default());
        let pair = "Group(NUMANode Package(PU) Package(PU))";
        assert_eq!(
            shape(&root),
            format!("Machine({pair} {pair} Group(NUMANode))")
        );
    }

    #[test]
    fn groups_that_add_nothing_are_taken_away() {
        let mut parts = processors(2);
        parts.extend(["0", "1"].map(|list| part(Kind::Group, list)));
        parts.extend(["0", "1"].map(|list| part(Kind::Package, list)));
        parts.push(part(Kind::Group, "0-1"));
        let memory = vec![part(Kind::NumaNode, "0-1")];
        let root = build(parts, memory, &[], &mut Damage::default());
        assert_eq!(shape(&root), "Machine(NUMANode Package(PU) Package(PU))");
    }

    #[test]
    fn what_overlaps_is_left_out_and_named() {
        let mut parts = processors(4);
        parts.extend([part(Kind::Package, "0-2"), part(Kind::Core, "2-3")]);
        let mut damage = Damage::default();
        let root = build(parts, Vec::new(), &[], &mut damage);
        assert_eq!(shape(&root), "Machine(Package(PU PU PU) PU)");
        assert_eq!(damage.dropped(), 1);
    }
}
