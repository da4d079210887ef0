//! Dumps of `/sys` and `/proc` of Linux hosts, as hwloc and lscpu gather them: what the kernel says
//! of processors, caches and memory, put together as hwloc does.
//!
//! Read: `sys/devices/system/cpu` (siblings of threads, cores, dies, clusters, books, drawers;
//! caches; clock), `sys/devices/system/node` (processors, memory, distances), `sys/class/dmi/id`,
//! `proc/cpuinfo`, `proc/meminfo`, `proc/hwloc-nofile-info`, `proc/device-tree/ibm,partition-name`.
//! Not read: devices, caches of a device tree, cgroups.

mod about;
mod caches;
mod cpuinfo;
mod files;
mod kinds;
mod nodes;
mod processors;

use std::collections::BTreeMap;

use crate::damage::{Damage, Lenient};
use crate::error::CaptureError;
use crate::topology::{build, Distances, Host, Kind, Object, Part, Set, Topology};
use cpuinfo::CpuInfo;
use files::Files;

/// Reads the files of a dump, by their paths below its root.
pub fn read(held: &BTreeMap<String, Vec<u8>>) -> Result<Lenient<Host>, CaptureError> {
    let files = Files::new(held);
    let mut damage = Damage::default();
    let info = CpuInfo::read(files.text("proc/cpuinfo").as_deref().unwrap_or(""));
    let (online, offline) = processors::online(&files, &info);
    if online.is_empty() {
        return Err(CaptureError::Missing {
            line: 0,
            name: "the tree".into(),
            section: "sys/devices/system/cpu/cpu0",
        });
    }
    let topology = topology(&files, &info, &online, offline, &mut damage);
    let host = about::host(&files, &info, topology);
    Ok(damage.with(host.summed()))
}

fn topology(
    files: &Files<'_>,
    info: &CpuInfo,
    online: &Set,
    offline: Vec<u32>,
    damage: &mut Damage,
) -> Topology {
    let mut parts: Vec<Part> = online.iter().map(processor).collect();
    parts.extend(processors::parts(files, info, online, damage));
    parts.extend(caches::parts(files, online, damage));
    let nodes = nodes::read(files, online, damage);
    let mut root = build(parts, nodes.memory, &nodes.distances, damage);
    root.infos = about::machine(files, info);
    let distances = matrix(&root, &nodes.numbers, nodes.distances);
    Topology {
        cpu_kinds: kinds::read(files, online),
        infos: about::infos(files),
        offline,
        distances,
        root,
    }
}

fn processor(number: u32) -> Part {
    Part {
        object: Object::new(Kind::Pu, Some(number)),
        processors: Set::of([number]),
    }
}

/// The distances with the places of the nodes in the tree.
fn matrix(root: &Object, numbers: &[u32], rows: Vec<Vec<u64>>) -> Vec<Distances> {
    let places = root.places(Kind::NumaNode);
    let objects: Vec<usize> = numbers
        .iter()
        .filter_map(|number| places.get(number).copied())
        .collect();
    if rows.len() < 2 || objects.len() != rows.len() {
        return Vec::new();
    }
    vec![Distances {
        name: Some("NUMALatency".into()),
        of: Kind::NumaNode,
        meaning: 5,
        objects,
        rows,
    }]
}
