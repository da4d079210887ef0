//! A host as libvirt sees it.

use std::collections::{BTreeMap, HashSet};

use super::values::size;
use crate::damage::{Damage, Lenient};
use crate::error::{quoted, CaptureError};
use crate::topology::{
    build, Distances, Host, Info, Kind, Object, Part, Set, Share, Topology, HIGHEST,
};
use crate::xml::{self, Element};

/// Reads what `virsh capabilities` printed.
pub fn read(text: &str) -> Result<Lenient<Host>, CaptureError> {
    let mut damage = Damage::default();
    let root = xml::parse(text, &mut damage).ok_or(CaptureError::Empty { tool: "virsh" })?;
    if root.name != "capabilities" {
        return Err(CaptureError::Unexpected {
            line: root.line,
            expected: "<capabilities>",
            found: quoted(&root.name),
        });
    }
    let host = root.first("host").ok_or(CaptureError::Missing {
        line: root.line,
        name: "capabilities".into(),
        section: "host",
    })?;
    let topology = topology(host, &mut damage);
    let text = |path: &[&str]| {
        let element = host.at(path)?;
        Some(element.text.clone()).filter(|text| !text.is_empty())
    };
    let memory = topology
        .as_ref()
        .map_or(0, |topology| topology.root.memory());
    let found = Host {
        architecture: text(&["cpu", "arch"]),
        processor: text(&["cpu", "model"]),
        memory_bytes: Some(memory).filter(|bytes| *bytes > 0),
        topology,
        ..Host::default()
    };
    Ok(damage.with(found.summed()))
}

fn topology(host: &Element, damage: &mut Damage) -> Option<Topology> {
    let cells: Vec<&Element> = host.at(&["topology", "cells"])?.all("cell").collect();
    let mut reader = Reader::default();
    let mut memory = Vec::new();
    for cell in &cells {
        memory.extend(reader.cell(cell, damage));
    }
    let online = Set::of(reader.processors.keys().copied());
    if online.is_empty() {
        return None;
    }
    let mut parts = reader.parts(host);
    parts.extend(caches(host, &online, damage));
    let numbers: Vec<Option<u32>> = memory.iter().map(|part| part.object.os_index).collect();
    let rows = distances(&cells, &numbers);
    let root = build(parts, memory, &rows, damage);
    let places = root.places(Kind::NumaNode);
    let place = |number: &Option<u32>| places.get(&(*number)?).copied();
    let objects: Vec<usize> = numbers.iter().filter_map(place).collect();
    let matrix = Distances {
        name: Some("NUMALatency".into()),
        of: Kind::NumaNode,
        meaning: 5,
        objects,
        rows,
    };
    let sound = matrix.rows.len() > 1 && matrix.objects.len() == matrix.rows.len();
    Some(Topology {
        distances: sound.then_some(matrix).into_iter().collect(),
        root,
        ..Topology::default()
    })
}

/// Processors with the numbers of what they are in: socket, die, core.
#[derive(Default)]
struct Reader {
    processors: BTreeMap<u32, [Option<u32>; 3]>,
}

impl Reader {
    /// The memory of a cell; its processors are kept.
    fn cell(&mut self, cell: &Element, damage: &mut Damage) -> Option<Part> {
        let number: Option<u32> = cell.get("id").and_then(|text| text.parse().ok());
        let Some(number) = number else {
            damage.drop_line(cell.line, || "a cell without a number".into());
            return None;
        };
        let mut mine = Vec::new();
        for cpu in cell.first("cpus").iter().flat_map(|cpus| cpus.all("cpu")) {
            let number = |name: &str| cpu.get(name).and_then(|text| text.parse::<u32>().ok());
            let id = number("id").filter(|id| *id <= HIGHEST && !self.processors.contains_key(id));
            let Some(id) = id else {
                damage.drop_line(cpu.line, || {
                    "a processor without a number of its own".into()
                });
                continue;
            };
            let around = [number("socket_id"), number("die_id"), number("core_id")];
            self.processors.insert(id, around);
            mine.push(id);
        }
        let mut object = Object::new(Kind::NumaNode, Some(number));
        object.bytes = cell
            .first("memory")
            .and_then(|memory| size(memory, &memory.text));
        Some(Part {
            object,
            processors: Set::of(mine),
        })
    }

    fn parts(&self, host: &Element) -> Vec<Part> {
        let single = |cpu: &u32| Part {
            object: Object::new(Kind::Pu, Some(*cpu)),
            processors: Set::of([*cpu]),
        };
        let mut parts: Vec<Part> = self.processors.keys().map(single).collect();
        let model = host
            .at(&["cpu", "model"])
            .map(|model| Info::new("CPUModel", &model.text));
        let packages: HashSet<Set> = self.of(0).map(|(_, set)| set).collect();
        for (depth, kind) in [Kind::Package, Kind::Die, Kind::Core]
            .into_iter()
            .enumerate()
        {
            for (number, processors) in self.of(depth) {
                if kind == Kind::Die && packages.contains(&processors) {
                    continue;
                }
                let mut object = Object::new(kind, Some(number));
                if kind == Kind::Package {
                    object.infos.extend(model.clone());
                }
                parts.push(Part { object, processors });
            }
        }
        parts
    }

    /// Numbers of what processors are in, and the processors.
    fn of(&self, depth: usize) -> impl Iterator<Item = (u32, Set)> {
        let mut alike: BTreeMap<Vec<Option<u32>>, Vec<u32>> = BTreeMap::new();
        for (cpu, around) in &self.processors {
            if around[depth].is_some() {
                alike
                    .entry(around[..=depth].to_vec())
                    .or_default()
                    .push(*cpu);
            }
        }
        let number = |numbers: Vec<Option<u32>>| numbers.last().copied().flatten().unwrap_or(0);
        alike
            .into_iter()
            .map(move |(numbers, cpus)| (number(numbers), Set::of(cpus)))
    }
}

fn caches(host: &Element, online: &Set, damage: &mut Damage) -> Vec<Part> {
    let mut parts = Vec::new();
    for bank in host
        .first("cache")
        .iter()
        .flat_map(|cache| cache.all("bank"))
    {
        let level = bank.get("level").and_then(|text| text.parse().ok());
        let level = level.filter(|level: &u8| (1..=5).contains(level));
        let processors = bank.get("cpus").and_then(Set::from_list);
        let (Some(level), Some(processors)) = (level, processors) else {
            damage.drop_line(bank.line, || "a cache without a level or processors".into());
            continue;
        };
        let share = match bank.get("type") {
            Some("data") => Share::Data,
            Some("code") => Share::Instruction,
            _ => Share::Unified,
        };
        let mut object = Object::new(Kind::Cache(level, share), None);
        object.bytes = bank.get("size").and_then(|amount| size(bank, amount));
        let processors = processors.and(online);
        parts.push(Part { object, processors });
    }
    parts
}

/// A row a cell, if each says how far it is to every other.
fn distances(cells: &[&Element], numbers: &[Option<u32>]) -> Vec<Vec<u64>> {
    let row = |cell: &&Element| -> Option<Vec<u64>> {
        let siblings: BTreeMap<u32, u64> = cell
            .first("distances")?
            .all("sibling")
            .filter_map(|sibling| {
                Some((
                    sibling.get("id")?.parse().ok()?,
                    sibling.get("value")?.parse().ok()?,
                ))
            })
            .collect();
        if siblings.len() != numbers.len() {
            return None;
        }
        numbers
            .iter()
            .map(|number| siblings.get(&(*number)?).copied())
            .collect()
    };
    let rows: Option<Vec<Vec<u64>>> = cells.iter().map(row).collect();
    rows.filter(|rows| rows.len() == numbers.len())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(cells: &str) -> String {
        format!(
            "<capabilities><host><cpu><arch>x86_64</arch><model>Any</model></cpu><topology>\
             <cells num='2'>{cells}</cells></topology><cache><bank id='0' level='3' type='both' \
             size='8' unit='MiB' cpus='0-1'/></cache></host></capabilities>"
        )
    }

    fn cell(id: u32, far: u32) -> String {
        let (first, second) = (2 * id, 2 * id + 1);
        format!(
            "<cell id='{id}'><memory unit='KiB'>1048576</memory><distances><sibling id='{id}' \
             value='10'/><sibling id='{far}' value='21'/></distances><cpus num='2'>\
             <cpu id='{first}' socket_id='{id}' die_id='0' core_id='0' siblings='0-1'/>\
             <cpu id='{second}' socket_id='{id}' die_id='0' core_id='0' siblings='0-1'/>\
             </cpus></cell>"
        )
    }

    #[test]
    fn cells_packages_cores_caches_and_distances_are_read() {
        let text = host(&(cell(0, 1) + &cell(1, 0)));
        let read = read(&text).expect("capabilities");
        assert_eq!(
            (read.dropped, read.remarks.len()),
            (0, 0),
            "{:?}",
            read.remarks
        );
        assert_eq!(
            read.found.summary,
            "2 Package, 1 L3, 2 Core, 4 PU, 2 NUMANode"
        );
        assert_eq!(read.found.memory_bytes, Some(2 << 30));
        let topology = read.found.topology.expect("a tree");
        assert_eq!(topology.distances[0].rows, [[10, 21], [21, 10]]);
    }

    #[test]
    fn other_documents_are_refused_and_a_host_without_cells_has_no_tree() {
        assert!(read("<domain/>").is_err());
        assert!(read("").is_err());
        let read = read(&host("")).expect("capabilities");
        assert!(read.found.topology.is_none());
    }
}
