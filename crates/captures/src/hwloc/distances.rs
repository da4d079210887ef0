//! Matrices between objects, as version 2 and later write them.

use super::object::Numbers;
use crate::damage::Damage;
use crate::topology::{Distances, Kind, Object};
use crate::xml::Element;

/// All matrices that say which objects they are between.
pub(super) fn read(
    root: &Element,
    tree: &Object,
    numbers: &Numbers,
    damage: &mut Damage,
) -> Vec<Distances> {
    let mut found = Vec::new();
    for element in &root.children {
        match element.name.as_str() {
            "distances2" => match matrix(element, tree, numbers) {
                Ok(matrix) => found.push(matrix),
                Err(why) => damage.drop_line(element.line, || format!("distances: {why}")),
            },
            "distances2hetero" => damage.remark(element.line, || {
                "distances between objects of several kinds are not read".into()
            }),
            _ => {}
        }
    }
    found
}

fn matrix(element: &Element, tree: &Object, numbers: &Numbers) -> Result<Distances, String> {
    let of = element
        .get("type")
        .and_then(kind)
        .ok_or("between what is not known")?;
    let indexes = values(element, "indexes").ok_or("an index is no number")?;
    let values = values(element, "u64values").ok_or("a value is no number")?;
    let count = indexes.len();
    if count < 2 || count.checked_mul(count) != Some(values.len()) {
        return Err(format!("{} values for {count} objects", values.len()));
    }
    let by_number = element.get("indexing") == Some("gp");
    let there = tree.all(of);
    let by_system = tree.places(of);
    let place = |index: &u64| match by_number {
        true => numbers
            .get(&(of, *index))
            .copied()
            .filter(|place| *place < there.len()),
        false => by_system.get(&u32::try_from(*index).ok()?).copied(),
    };
    let objects: Option<Vec<usize>> = indexes.iter().map(place).collect();
    Ok(Distances {
        name: element.get("name").map(str::to_owned),
        of,
        meaning: element
            .get("kind")
            .and_then(|text| text.parse().ok())
            .unwrap_or(0),
        objects: objects.ok_or("an object of it is not in the tree")?,
        rows: values.chunks(count).map(<[u64]>::to_vec).collect(),
    })
}

/// A kind by its name; data caches of level 1 are called `L1Cache`.
fn kind(name: &str) -> Option<Kind> {
    Kind::named(name).map(|kind| match kind {
        Kind::Cache(1, crate::topology::Share::Unified) => {
            Kind::Cache(1, crate::topology::Share::Data)
        }
        kind => kind,
    })
}

/// The numbers in all elements of a name.
fn values(element: &Element, name: &str) -> Option<Vec<u64>> {
    let texts = element
        .all(name)
        .flat_map(|part| part.text.split_whitespace());
    texts.map(|word| word.parse().ok()).collect()
}
