//! Version 1, where memory nodes stand in the tree above their processors and distances inside an
//! object.

use crate::damage::Damage;
use crate::topology::{Distances, Kind, Object};
use crate::xml::Element;

/// Hangs memory beside the tree, as from version 2 on; memory of a machine without nodes becomes
/// one.
pub(super) fn modernise(root: &mut Object, machine: &Element) {
    hang(root);
    subtypes(root);
    if root.all(Kind::NumaNode).is_empty() {
        let mut node = Object::new(Kind::NumaNode, Some(0));
        node.bytes = machine
            .get("local_memory")
            .and_then(|text| text.parse().ok());
        node.bytes = node.bytes.filter(|bytes| *bytes > 0);
        root.children.insert(0, node);
    }
}

/// What a group is stands among the names and values.
fn subtypes(object: &mut Object) {
    if let Some(place) = object.infos.iter().position(|info| info.name == "Type") {
        let info = object.infos.remove(place);
        object.subtype.get_or_insert(info.value);
    }
    object.children.iter_mut().for_each(subtypes);
}

/// Memory goes beside what is around it if it is all of that, beside what is in it if that is one
/// thing, else into a group with what was in it.
fn hang(object: &mut Object) {
    let children = std::mem::take(&mut object.children);
    let alone = children.len() == 1;
    for mut child in children {
        hang(&mut child);
        if child.kind != Kind::NumaNode {
            object.children.push(child);
            continue;
        }
        let mut inside = std::mem::take(&mut child.children);
        match (alone, inside.len()) {
            (true, _) => {
                object.children.push(child);
                object.children.append(&mut inside);
            }
            (false, 1) if !inside[0].kind.is_memory() && inside[0].kind != Kind::Pu => {
                let mut only = inside.remove(0);
                only.children.insert(0, child);
                object.children.push(only);
            }
            _ => {
                let mut group = Object::new(Kind::Group, None);
                group.children = vec![child];
                group.children.append(&mut inside);
                object.children.push(group);
            }
        }
    }
}

/// Matrices that are said of the whole machine and are between its memory nodes.
pub(super) fn distances(machine: &Element, root: &Object, damage: &mut Damage) -> Vec<Distances> {
    let nodes = root.all(Kind::NumaNode).len();
    let mut found = Vec::new();
    for element in machine.all("distances") {
        let number = |name: &str| element.get(name).and_then(|text| text.parse::<f64>().ok());
        let base = number("latency_base")
            .filter(|base| *base > 0.0)
            .unwrap_or(1.0);
        let value = |latency: &Element| {
            let value: f64 = latency.get("value")?.parse().ok()?;
            let scaled = (value * base).round();
            (scaled.is_finite() && scaled >= 0.0).then_some(scaled as u64)
        };
        let values: Option<Vec<u64>> = element.all("latency").map(value).collect();
        match values {
            Some(values) if nodes > 1 && values.len() == nodes * nodes => found.push(Distances {
                name: Some("NUMALatency".into()),
                of: Kind::NumaNode,
                meaning: 5,
                objects: (0..nodes).collect(),
                rows: values.chunks(nodes).map(<[u64]>::to_vec).collect(),
            }),
            _ => damage.drop_line(element.line, || {
                format!("distances that are not between the {nodes} memory nodes are left out")
            }),
        }
    }
    found
}
