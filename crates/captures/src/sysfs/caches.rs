//! Caches and who shares them.

use std::collections::BTreeMap;

use super::files::Files;
use super::processors::{Sharing, FOLDER};
use crate::damage::Damage;
use crate::topology::{Kind, Object, Part, Set, Share};

/// All caches of all processors in use.
pub(super) fn parts(files: &Files<'_>, online: &Set, damage: &mut Damage) -> Vec<Part> {
    let mut levels: BTreeMap<u8, (Kind, Sharing<'_>)> = BTreeMap::new();
    let mut parts = Vec::new();
    for cpu in online.iter() {
        let caches = format!("{FOLDER}/cpu{cpu}/cache");
        for index in files.numbered(&caches, "index") {
            let folder = format!("{caches}/index{index}");
            let Some(kind) = kind(files, &folder) else {
                damage.drop_line(0, || format!("{folder}: its level or type cannot be read"));
                continue;
            };
            let (_, sharing) = levels
                .entry(kind.rank())
                .or_insert_with(|| (kind, Sharing::new(online)));
            if sharing.has(cpu) {
                continue;
            }
            let (set, damaged) = files.set(&folder, &["shared_cpu_map", "shared_cpu_list"]);
            if damaged {
                damage.drop_line(0, || format!("{folder}: who shares it cannot be read"));
            }
            let set = set.unwrap_or_else(|| Set::of([cpu]));
            let processors = sharing.take(cpu, &set, &folder, damage);
            let object = cache(files, &folder, kind);
            parts.push(Part { object, processors });
        }
    }
    parts
}

fn kind(files: &Files<'_>, folder: &str) -> Option<Kind> {
    let level = u8::try_from(files.number(&format!("{folder}/level"))?).ok()?;
    let share = match files.text(&format!("{folder}/type"))?.as_ref() {
        "Data" => Share::Data,
        "Instruction" => Share::Instruction,
        "Unified" => Share::Unified,
        _ => return None,
    };
    (1..=5)
        .contains(&level)
        .then_some(Kind::Cache(level, share))
}

fn cache(files: &Files<'_>, folder: &str, kind: Kind) -> Object {
    let value = |name: &str| files.number(&format!("{folder}/{name}"));
    let bytes = files
        .text(&format!("{folder}/size"))
        .and_then(|text| size(&text));
    let line = value("coherency_line_size").filter(|line| *line > 0);
    Object {
        kind,
        bytes,
        line_bytes: line,
        ways: ways(
            bytes,
            line,
            value("number_of_sets"),
            value("physical_line_partition"),
        ),
        ..Object::default()
    }
}

/// `32K` in bytes.
fn size(text: &str) -> Option<u64> {
    let (digits, shift) = match text.as_bytes().last()? {
        b'K' => (text.strip_suffix('K')?, 10),
        b'M' => (text.strip_suffix('M')?, 20),
        _ => (text, 0),
    };
    let amount: u64 = digits.trim().parse().ok()?;
    amount.checked_mul(1 << shift).filter(|size| *size > 0)
}

/// Associativity; one set says nothing, as kernels print it for caches of which they do not know.
fn ways(
    bytes: Option<u64>,
    line: Option<u64>,
    sets: Option<u64>,
    part: Option<u64>,
) -> Option<i32> {
    let sets = sets.filter(|sets| *sets > 1)?;
    let row = line?
        .checked_mul(part.filter(|part| *part > 0).unwrap_or(1))?
        .checked_mul(sets)?;
    i32::try_from(bytes? / row).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn associativity_follows_from_size_line_and_sets() {
        assert_eq!(ways(size("256K"), Some(128), Some(256), None), Some(8));
        assert_eq!(ways(size("4096K"), Some(128), Some(1), None), None);
        assert_eq!(ways(None, Some(128), Some(256), None), None);
        assert_eq!(size("2M"), Some(1 << 21));
        assert_eq!(
            (size("0K"), size("K"), size("99999999999999999999K")),
            (None, None, None)
        );
    }
}
