//! Which processors there are, and which belong together.

use std::collections::{BTreeMap, HashSet};

use super::cpuinfo::CpuInfo;
use super::files::Files;
use crate::damage::Damage;
use crate::topology::{Kind, Object, Part, Set};

pub(super) const FOLDER: &str = "sys/devices/system/cpu";

/// Files that say which processors are in the same thing, newest names first, and what its number
/// is.
struct Siblings {
    kind: Kind,
    subtype: Option<&'static str>,
    files: [&'static str; 4],
    number: &'static str,
}

/// From the outside in.
const SIBLINGS: [Siblings; 6] = [
    Siblings {
        kind: Kind::Group,
        subtype: Some("Drawer"),
        files: ["drawer_siblings", "drawer_siblings_list", "", ""],
        number: "drawer_id",
    },
    Siblings {
        kind: Kind::Group,
        subtype: Some("Book"),
        files: ["book_siblings", "book_siblings_list", "", ""],
        number: "book_id",
    },
    Siblings {
        kind: Kind::Package,
        subtype: None,
        files: [
            "package_cpus",
            "core_siblings",
            "package_cpus_list",
            "core_siblings_list",
        ],
        number: "physical_package_id",
    },
    Siblings {
        kind: Kind::Die,
        subtype: None,
        files: ["die_cpus", "die_cpus_list", "", ""],
        number: "die_id",
    },
    Siblings {
        kind: Kind::Group,
        subtype: Some("Cluster"),
        files: ["cluster_cpus", "cluster_cpus_list", "", ""],
        number: "cluster_id",
    },
    Siblings {
        kind: Kind::Core,
        subtype: None,
        files: [
            "core_cpus",
            "thread_siblings",
            "core_cpus_list",
            "thread_siblings_list",
        ],
        number: "core_id",
    },
];

/// Processors that are used, and those that are there and not used.
pub(super) fn online(files: &Files<'_>, info: &CpuInfo) -> (Set, Vec<u32>) {
    let there = files.numbered(FOLDER, "cpu");
    if there.is_empty() {
        return (Set::of(info.processors.keys().copied()), Vec::new());
    }
    let list = files.text(&format!("{FOLDER}/online"));
    let list = list.and_then(|text| Set::from_list(&text));
    let listed: Option<HashSet<u32>> = list.map(|set| set.iter().collect());
    let used = |cpu: &u32| match files.text(&format!("{FOLDER}/cpu{cpu}/online")).as_deref() {
        Some("0") => false,
        Some(_) => true,
        None => listed.as_ref().is_none_or(|listed| listed.contains(cpu)),
    };
    let (used, unused): (Vec<u32>, Vec<u32>) = there.into_iter().partition(used);
    (Set::of(used), unused)
}

/// Drawers, books, packages, dies, clusters and cores.
pub(super) fn parts(
    files: &Files<'_>,
    info: &CpuInfo,
    online: &Set,
    damage: &mut Damage,
) -> Vec<Part> {
    let known = online.first().is_some_and(|cpu| {
        files
            .text(&format!("{FOLDER}/cpu{cpu}/topology/core_id"))
            .is_some()
            || files
                .folders(&format!("{FOLDER}/cpu{cpu}"))
                .any(|name| name == "topology")
    });
    if !known {
        return from_cpuinfo(info, online);
    }
    let mut parts = Vec::new();
    let mut outer: HashSet<Set> = HashSet::new();
    for siblings in &SIBLINGS {
        let found = of_kind(files, siblings, online, damage);
        let extra = matches!(siblings.kind, Kind::Die) || siblings.subtype == Some("Cluster");
        let new = found
            .into_iter()
            .filter(|part| !extra || !outer.contains(&part.processors));
        let new: Vec<Part> = new.map(|part| with_infos(part, info)).collect();
        if siblings.subtype == Some("Cluster") {
            let alone = |part: &Part| part.processors.count() == 1;
            parts.extend(new.into_iter().filter(|part| !alone(part)));
            continue;
        }
        outer.extend(new.iter().map(|part| part.processors.clone()));
        parts.extend(new);
    }
    parts
}

fn of_kind(files: &Files<'_>, siblings: &Siblings, online: &Set, damage: &mut Damage) -> Vec<Part> {
    let names: Vec<&str> = siblings
        .files
        .into_iter()
        .filter(|name| !name.is_empty())
        .collect();
    let mut sharing = Sharing::new(online);
    let mut parts = Vec::new();
    for cpu in online.iter() {
        let folder = format!("{FOLDER}/cpu{cpu}/topology");
        if sharing.has(cpu) {
            continue;
        }
        let (set, damaged) = files.set(&folder, &names);
        if damaged {
            damage.drop_line(0, || {
                format!("{folder}: the processors in it cannot be read")
            });
        }
        let Some(set) = set else { continue };
        let processors = sharing.take(cpu, &set, &folder, damage);
        let number = files.number(&format!("{folder}/{}", siblings.number));
        let number = number.and_then(|number| u32::try_from(number).ok());
        let mut object = Object::new(siblings.kind, number);
        object.subtype = siblings.subtype.map(str::to_owned);
        parts.push(Part { object, processors });
    }
    parts
}

/// Which processors already have a thing of a kind.
pub(super) struct Sharing<'a> {
    online: &'a Set,
    taken: HashSet<u32>,
}

impl<'a> Sharing<'a> {
    pub(super) fn new(online: &'a Set) -> Self {
        let taken = HashSet::new();
        Self { online, taken }
    }

    pub(super) fn has(&self, cpu: u32) -> bool {
        self.taken.contains(&cpu)
    }

    /// The online ones of a set that a processor's file names. Where the set lacks the processor
    /// itself, or another file has given one of them away, only those before it count.
    pub(super) fn take(&mut self, cpu: u32, set: &Set, place: &str, damage: &mut Damage) -> Set {
        let named = set.and(self.online);
        let mut kept = vec![cpu];
        let mut sound = false;
        for other in named.iter() {
            sound |= other == cpu;
            if self.taken.contains(&other) {
                sound = false;
                break;
            }
            kept.push(other);
        }
        if !sound {
            damage.drop_line(0, || {
                format!("{place}: other processors say something else")
            });
        }
        self.taken.extend(kept.iter().copied());
        Set::of(kept)
    }
}

/// Packages with what `proc/cpuinfo` says of their first processor.
fn with_infos(mut part: Part, info: &CpuInfo) -> Part {
    if part.object.kind == Kind::Package {
        let first = part.processors.first();
        let said = first.and_then(|cpu| info.processors.get(&cpu));
        part.object.infos = said.map(|said| said.infos.clone()).unwrap_or_default();
    }
    part
}

/// Packages and cores by their numbers in `proc/cpuinfo`.
fn from_cpuinfo(info: &CpuInfo, online: &Set) -> Vec<Part> {
    let mut places: [BTreeMap<Place, Vec<u32>>; 4] = Default::default();
    for cpu in online.iter() {
        let Some(said) = info.processors.get(&cpu) else {
            continue;
        };
        // Numbers count anew in what is around; without that they are no places.
        let levels = [said.drawer, said.book, said.package, said.core];
        for (depth, level) in levels.into_iter().enumerate() {
            if level.is_some() && (depth < 3 || said.package.is_some()) {
                let mut place = levels;
                place[depth + 1..].fill(None);
                places[depth].entry(place).or_default().push(cpu);
            }
        }
    }
    let kinds = [
        (Kind::Group, Some("Drawer")),
        (Kind::Group, Some("Book")),
        (Kind::Package, None),
        (Kind::Core, None),
    ];
    let mut parts = Vec::new();
    for (depth, (found, (kind, subtype))) in places.into_iter().zip(kinds).enumerate() {
        for (place, cpus) in found {
            let mut object = Object::new(kind, place[depth]);
            object.subtype = subtype.map(str::to_owned);
            let processors = Set::of(cpus);
            parts.push(with_infos(Part { object, processors }, info));
        }
    }
    parts
}

/// Numbers of drawer, book, package and core.
type Place = [Option<u32>; 4];
