//! hwloc's XML of a topology: versions 1.x, 2.x and 3.0 are read, 2.x is written, which all hwloc
//! from 2.0 on read.
//!
//! Read: the tree with all attributes of its processors, caches and memory, names and values
//! (`info`), distances between objects of one kind, kinds of processors, processors that are not
//! used. Not read: devices and what people added (`Misc`), distances between objects of several
//! kinds, memory attributes, page sizes, what the library supports.

mod distances;
mod legacy;
mod object;
mod write;

use crate::damage::{Damage, Lenient};
use crate::error::CaptureError;
use crate::topology::{virtual_hardware, CpuKind, Host, Kind, Set, Topology};
use crate::xml::{self, Element};
use object::infos;
pub use write::write;

/// Reads hwloc's XML.
pub fn read(text: &str) -> Result<Lenient<Host>, CaptureError> {
    let mut damage = Damage::default();
    let root = xml::parse(text, &mut damage).ok_or(CaptureError::Empty { tool: "lstopo" })?;
    let machine = machine(&root)?;
    let mut objects = object::Reader::new(&mut damage);
    let tree = objects.root(machine);
    let numbers = objects.numbers;
    let old = root.get("version").is_none();
    let mut topology = Topology {
        root: tree,
        offline: offline(machine),
        ..Topology::default()
    };
    if old {
        let matrices = legacy::distances(machine, &topology.root, &mut damage);
        legacy::modernise(&mut topology.root, machine);
        topology.distances = matrices;
    } else {
        topology.distances = distances::read(&root, &topology.root, &numbers, &mut damage);
    }
    topology.cpu_kinds = root.all("cpukind").zip(0..).filter_map(kind).collect();
    topology.infos = infos(&root);
    Ok(damage.with(host(topology).summed()))
}

/// The object around all others.
fn machine(root: &Element) -> Result<&Element, CaptureError> {
    let unexpected = |line: usize, expected: &'static str, found: &str| CaptureError::Unexpected {
        line,
        expected,
        found: crate::error::quoted(found),
    };
    if root.name != "topology" {
        return Err(unexpected(root.line, "<topology>", &root.name));
    }
    let machine = root.first("object").ok_or(CaptureError::Missing {
        line: root.line,
        name: "the topology".into(),
        section: "object",
    })?;
    match machine.get("type").and_then(Kind::named) {
        Some(Kind::Machine) => Ok(machine),
        _ => {
            let found = machine.get("type").unwrap_or("no type");
            Err(unexpected(machine.line, "an object of type Machine", found))
        }
    }
}

/// Processors that the whole has and does not use.
fn offline(machine: &Element) -> Vec<u32> {
    let set = |name: &str| machine.get(name).and_then(Set::from_mask);
    let used = set("online_cpuset").or_else(|| set("cpuset"));
    let (Some(all), Some(used)) = (set("complete_cpuset"), used) else {
        return Vec::new();
    };
    let used: std::collections::HashSet<u32> = used.iter().collect();
    all.iter().filter(|cpu| !used.contains(cpu)).collect()
}

fn kind((element, number): (&Element, i32)) -> Option<CpuKind> {
    let processors = Set::from_mask(element.get("cpuset")?)?;
    let forced = element
        .get("forced_efficiency")
        .and_then(|text| text.parse().ok());
    Some(CpuKind {
        efficiency: forced.unwrap_or(number),
        processors: processors.iter().collect(),
        infos: infos(element),
    })
}

fn host(topology: Topology) -> Host {
    let told = topology.infos.iter().chain(&topology.root.infos);
    let find = |name: &str| {
        let info = told
            .clone()
            .find(|info| info.name == name && !info.value.trim().is_empty());
        info.map(|info| info.value.trim().to_owned())
    };
    let packages = topology.root.all(Kind::Package);
    let mut said = packages
        .iter()
        .flat_map(|package| &package.infos)
        .chain(told.clone());
    let processor = said.find(|info| info.name == "CPUModel");
    let memory = topology.root.memory();
    let power = find("PlatformName").as_deref() == Some("pSeries");
    let dmi = ["DMISysVendor", "DMIProductName", "DMIBIOSVendor"];
    let names: Vec<String> = dmi.iter().filter_map(|name| find(name)).collect();
    let names = names.join(" ") + processor.map_or("", |info| info.value.as_str());
    Host {
        architecture: find("Architecture"),
        processor: processor.map(|info| info.value.trim().to_owned()),
        clock_mhz: None,
        model: find("PlatformModel").or_else(|| find("DMIProductName")),
        name: find("HostName"),
        hypervisor: if power {
            Some("PowerVM".into())
        } else {
            virtual_hardware(&names)
        },
        memory_bytes: Some(memory).filter(|bytes| *bytes > 0),
        topology: Some(topology),
        summary: String::new(),
    }
}
