//! Memory nodes: their processors, memory and distances.

use super::files::Files;
use crate::damage::Damage;
use crate::topology::{Kind, Object, Part, Set};

const FOLDER: &str = "sys/devices/system/node";

/// Memory in the order of its numbers.
pub(super) struct Nodes {
    pub(super) memory: Vec<Part>,
    pub(super) numbers: Vec<u32>,
    /// Empty unless every node has a value for every other.
    pub(super) distances: Vec<Vec<u64>>,
}

/// All nodes; one of all memory where the kernel names none.
pub(super) fn read(files: &Files<'_>, online: &Set, damage: &mut Damage) -> Nodes {
    let numbers: Vec<u32> = files.numbered(FOLDER, "node").into_iter().collect();
    if numbers.is_empty() {
        let bytes = files.text("proc/meminfo").and_then(|text| total(&text));
        return Nodes {
            memory: vec![node(0, online.clone(), bytes)],
            numbers: vec![0],
            distances: Vec::new(),
        };
    }
    let mut memory: Vec<Part> = Vec::new();
    let mut taken = Set::default();
    for number in &numbers {
        let folder = format!("{FOLDER}/node{number}");
        let (set, damaged) = files.set(&folder, &["cpumap", "cpulist"]);
        if damaged {
            damage.drop_line(0, || format!("{folder}: its processors cannot be read"));
        }
        let mut set = set.unwrap_or_default().and(online);
        if !set.and(&taken).is_empty() {
            damage.drop_line(0, || {
                format!("{folder}: its processors are those of another node")
            });
            set = Set::default();
        }
        taken = taken.or(&set);
        let text = files.text(&format!("{folder}/meminfo"));
        memory.push(node(*number, set, text.and_then(|text| total(&text))));
    }
    let distances = distances(files, &numbers, damage);
    nearest(&mut memory, &distances);
    Nodes {
        memory,
        numbers,
        distances,
    }
}

fn node(number: u32, processors: Set, bytes: Option<u64>) -> Part {
    let mut object = Object::new(Kind::NumaNode, Some(number));
    object.bytes = bytes;
    Part { object, processors }
}

/// `MemTotal` of a host or a node [bytes].
pub(super) fn total(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.contains("MemTotal:"))?;
    let amount = line.split("MemTotal:").nth(1)?.split_whitespace().next()?;
    amount.parse::<u64>().ok()?.checked_mul(1024)
}

fn distances(files: &Files<'_>, numbers: &[u32], damage: &mut Damage) -> Vec<Vec<u64>> {
    let mut rows = Vec::new();
    for number in numbers {
        let path = format!("{FOLDER}/node{number}/distance");
        let Some(text) = files.text(&path) else {
            return Vec::new();
        };
        let row: Option<Vec<u64>> = text
            .split_whitespace()
            .map(|word| word.parse().ok())
            .collect();
        match row.filter(|row| row.len() == numbers.len()) {
            Some(row) => rows.push(row),
            None => {
                let count = numbers.len();
                damage.drop_line(0, || {
                    format!("{path}: no {count} numbers; no distances are read")
                });
                return Vec::new();
            }
        }
    }
    rows
}

/// Memory without processors belongs to those of the nodes that are nearest, unless all are.
fn nearest(memory: &mut [Part], distances: &[Vec<u64>]) {
    let empty: Vec<usize> = (0..memory.len())
        .filter(|place| memory[*place].processors.is_empty())
        .collect();
    for place in empty {
        let Some(row) = distances.get(place) else {
            return;
        };
        let others = (0..row.len()).filter(|other| *other != place);
        let Some(least) = others.clone().map(|other| row[other]).min() else {
            return;
        };
        let near: Vec<usize> = others.filter(|other| row[*other] == least).collect();
        if least <= row[place] || near.len() + 1 == row.len() {
            continue;
        }
        let sets = near.iter().map(|other| memory[*other].processors.clone());
        memory[place].processors = sets.fold(Set::default(), |all, set| all.or(&set));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_of_hosts_and_nodes() {
        assert_eq!(total("MemTotal:  2 kB\nMemFree: 1 kB"), Some(2048));
        assert_eq!(
            total("\nNode 16 MemTotal:     1020176 kB\n"),
            Some(1_020_176 << 10)
        );
        assert_eq!(total("MemTotal: many"), None);
    }

    #[test]
    fn memory_without_processors_goes_to_the_nearest() {
        let sets = [Set::of([0]), Set::of([1]), Set::default()];
        let mut memory: Vec<Part> = sets.into_iter().map(|set| node(0, set, None)).collect();
        nearest(
            &mut memory,
            &[vec![10, 20, 17], vec![20, 10, 28], vec![17, 28, 10]],
        );
        assert_eq!(memory[2].processors, Set::of([0]));
    }
}
