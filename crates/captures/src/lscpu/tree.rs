//! A host from what a summary and a table say.

use std::collections::BTreeMap;

use super::fields::{Cores, Fields};
use super::found::Found;
use super::table::Table;
use crate::damage::Damage;
use crate::topology::{build, Host, Info, Kind, Object, Part, Set, Share, Topology};

/// The host, with a tree where the processors can be put into one.
pub(super) fn host(found: &Found, damage: &mut Damage) -> Host {
    let fields = &found.fields;
    let topology = match &found.table {
        Some(table) => Some(from_table(table, fields, damage)),
        None => from_counts(fields, damage),
    };
    let text = |label: &str| fields.text(label).map(str::to_owned);
    let z = fields.text("Vendor ID") == Some("IBM/S390");
    let vendor = fields.text("Hypervisor vendor").map(|name| match name {
        "pHyp" => "PowerVM".to_owned(),
        name => name.to_owned(),
    });
    Host {
        architecture: if z {
            Some("s390x".into())
        } else {
            text("Architecture")
        },
        processor: text("Model name"),
        clock_mhz: fields.clock(),
        model: text("Machine type"),
        name: None,
        hypervisor: text("Hypervisor").or(vendor),
        memory_bytes: None,
        topology,
        summary: String::new(),
    }
}

/// A tree of more is made only where a table names each; it would be much larger than the text.
const MOST_PROCESSORS: usize = 4096;

/// Which columns of a table are which objects, from the outside in.
const COLUMNS: [(&str, Kind, Option<&str>); 5] = [
    ("drawer", Kind::Group, Some("Drawer")),
    ("book", Kind::Group, Some("Book")),
    ("socket", Kind::Package, None),
    ("cluster", Kind::Group, Some("Cluster")),
    ("core", Kind::Core, None),
];

fn from_table(table: &Table, fields: &Fields, damage: &mut Damage) -> Topology {
    let online = Set::of(table.rows.keys().copied());
    let mut parts = processors(&online);
    let mut around: Vec<&str> = Vec::new();
    for (name, kind, subtype) in COLUMNS {
        around.push(name);
        parts.extend(
            shared(table, &around)
                .into_iter()
                .map(|(numbers, processors)| {
                    let mut object = Object::new(kind, numbers.last().copied().flatten());
                    object.subtype = subtype.map(str::to_owned);
                    Part { object, processors }
                }),
        );
    }
    let sizes = fields.caches(damage);
    for (name, kind) in caches() {
        let size = sizes.iter().find(|(cache, ..)| *cache == name);
        parts.extend(
            shared(table, &[name.as_str()])
                .into_iter()
                .map(|(_, processors)| {
                    let mut object = Object::new(kind, None);
                    object.bytes = size.map(|(_, bytes, _)| *bytes);
                    Part { object, processors }
                }),
        );
    }
    with_model(&mut parts, fields);
    let nodes = shared(table, &["node"]).into_iter();
    let memory: Vec<Part> = nodes
        .map(|(numbers, processors)| node(numbers[0].unwrap_or(0), processors))
        .collect();
    finished(parts, memory, table.offline.clone(), damage)
}

/// Processors that say the same in some columns, the last of which they have.
fn shared(table: &Table, columns: &[&str]) -> Vec<(Vec<Option<u32>>, Set)> {
    let mut alike: BTreeMap<Vec<Option<u32>>, Vec<u32>> = BTreeMap::new();
    for (cpu, row) in &table.rows {
        let numbers: Vec<Option<u32>> = columns
            .iter()
            .map(|name| row.get(&name.to_ascii_lowercase()).copied())
            .collect();
        if numbers.last().copied().flatten().is_some() {
            alike.entry(numbers).or_default().push(*cpu);
        }
    }
    alike
        .into_iter()
        .map(|(numbers, cpus)| (numbers, Set::of(cpus)))
        .collect()
}

/// Names of caches as lscpu writes them.
fn caches() -> impl Iterator<Item = (String, Kind)> {
    let shares = [Share::Data, Share::Instruction, Share::Unified];
    let all = (1..=5).flat_map(move |level| shares.map(|share| Kind::Cache(level, share)));
    all.map(|kind| (kind.name(), kind))
}

/// The processors in the order of their nodes and numbers, in as many cores and packages as the
/// summary says.
fn from_counts(fields: &Fields, damage: &mut Damage) -> Option<Topology> {
    let nodes = fields.nodes(damage);
    let online = fields.set("On-line CPU(s) list", damage);
    let online = online.or_else(|| {
        let count = fields.count("CPU(s)", damage)?;
        Some(Set::of(0..u32::try_from(count).ok()?))
    })?;
    if online.count() > MOST_PROCESSORS {
        let line = fields.line_of("CPU(s)");
        damage.drop_line(line, || {
            format!("more than {MOST_PROCESSORS} processors: no tree")
        });
        return None;
    }
    let order = by_nodes(&nodes, &online);
    let mut count = |label: &str| fields.count(label, damage);
    let threads = count("Thread(s) per core").unwrap_or(1);
    let cores = count("Core(s) per socket").or_else(|| count("Core(s) per cluster"))?;
    let sockets = sockets(&mut count)?;
    let first = Cores {
        sockets,
        each: cores,
        threads,
    };
    let others = fields.other_kinds()?;
    if !others.is_empty() {
        return of_kinds(
            fields,
            &[&[first], &others[..]].concat(),
            &online,
            &order,
            damage,
        );
    }
    let (all, told) = (order.len() as u64, threads * cores * sockets);
    if all != told {
        damage.remark(fields.line_of("CPU(s)"), || {
            format!("{all} processors are in use, not {sockets} x {cores} x {threads}: no tree")
        });
        return None;
    }
    if all > sockets {
        damage.remark(fields.line_of("Thread(s) per core"), || {
            "which processors share a core is not said; they are taken in order".into()
        });
    }
    let mut parts = processors(&online);
    parts.extend(even(&order, sockets, Kind::Package));
    parts.extend(even(&order, sockets * cores, Kind::Core));
    parts.extend(even_caches(
        fields,
        &order,
        (sockets * cores, sockets),
        damage,
    ));
    with_model(&mut parts, fields);
    let memory: Vec<Part> = nodes
        .into_iter()
        .map(|(number, set)| node(number, set.and(&online)))
        .collect();
    let offline = fields
        .set("Off-line CPU(s) list", damage)
        .unwrap_or_default();
    let offline = offline.iter().collect();
    Some(finished(parts, memory, offline, damage))
}

/// The processors node by node, those of no node last.
fn by_nodes(nodes: &[(u32, Set)], online: &Set) -> Vec<u32> {
    let mut order: Vec<u32> = Vec::new();
    let mut rest: std::collections::BTreeSet<u32> = online.iter().collect();
    for (_, set) in nodes {
        order.extend(set.and(online).iter().filter(|cpu| rest.remove(cpu)));
    }
    order.extend(rest);
    order
}

/// Caches, as many as is said of them, else one a core, or one a socket from the third level on;
/// `counts` are cores and sockets.
fn even_caches(
    fields: &Fields,
    order: &[u32],
    counts: (u64, u64),
    damage: &mut Damage,
) -> Vec<Part> {
    let mut parts = Vec::new();
    for (name, bytes, instances) in fields.caches(damage) {
        let Some(kind) = Kind::named(&name) else {
            continue;
        };
        let of_core = matches!(kind, Kind::Cache(1 | 2, _));
        let alone = if of_core { counts.0 } else { counts.1 };
        let each = even(order, instances.unwrap_or(alone), kind);
        parts.extend(each.into_iter().map(|mut part| {
            part.object.bytes = Some(bytes);
            part.object.os_index = None;
            part
        }));
    }
    parts
}

/// Cores of several kinds, as those of Arm's processors are: one package has all of them.
fn of_kinds(
    fields: &Fields,
    kinds: &[Cores],
    online: &Set,
    order: &[u32],
    damage: &mut Damage,
) -> Option<Topology> {
    let told: u64 = kinds.iter().map(|kind| kind.cores() * kind.threads).sum();
    if told != order.len() as u64 {
        let all = order.len();
        damage.remark(fields.line_of("CPU(s)"), || {
            format!("{all} processors are in use, the kinds of cores have {told}: no tree")
        });
        return None;
    }
    let why = || "which processors are of which kind is not said; they are taken in order".into();
    damage.remark(fields.line_of("Model name"), why);
    let mut parts = processors(online);
    parts.extend(even(order, 1, Kind::Package));
    let mut rest = order;
    let mut number = 0;
    for kind in kinds {
        let of_kind = usize::try_from(kind.cores() * kind.threads).unwrap_or(rest.len());
        let (mine, others) = rest.split_at(of_kind.min(rest.len()));
        for mut core in even(mine, kind.cores(), Kind::Core) {
            core.object.os_index = Some(number);
            number += 1;
            parts.push(core);
        }
        rest = others;
    }
    let counts = (u64::from(number), 1);
    parts.extend(even_caches(fields, order, counts, damage));
    with_model(&mut parts, fields);
    let nodes = fields.nodes(damage).into_iter();
    let memory = nodes.map(|(number, set)| node(number, set.and(online)));
    let memory = memory.collect();
    Some(finished(parts, memory, Vec::new(), damage))
}

/// Sockets, over books and drawers where there are any.
fn sockets(count: &mut impl FnMut(&str) -> Option<u64>) -> Option<u64> {
    if let Some(sockets) = count("Socket(s)").or_else(|| count("Cluster(s)")) {
        return Some(sockets);
    }
    let books = match count("Book(s) per drawer") {
        Some(books) => books * count("Drawer(s)")?,
        None => count("Book(s)")?,
    };
    Some(count("Socket(s) per book")? * books)
}

/// So many of a kind, each with as many processors; none if they cannot be alike.
fn even(order: &[u32], count: u64, kind: Kind) -> Vec<Part> {
    let Ok(count) = usize::try_from(count) else {
        return Vec::new();
    };
    let share = order.len().checked_div(count).unwrap_or(0);
    if share == 0 || share * count != order.len() {
        return Vec::new();
    }
    let each = order.chunks(share).zip(0..);
    each.map(|(cpus, number)| Part {
        object: Object::new(kind, Some(number)),
        processors: Set::of(cpus.iter().copied()),
    })
    .collect()
}

fn processors(online: &Set) -> Vec<Part> {
    let part = |cpu: u32| Part {
        object: Object::new(Kind::Pu, Some(cpu)),
        processors: Set::of([cpu]),
    };
    online.iter().map(part).collect()
}

fn node(number: u32, processors: Set) -> Part {
    Part {
        object: Object::new(Kind::NumaNode, Some(number)),
        processors,
    }
}

fn with_model(parts: &mut [Part], fields: &Fields) {
    let names = [("Vendor ID", "CPUVendor"), ("Model name", "CPUModel")];
    let infos: Vec<Info> = names
        .iter()
        .filter_map(|(label, name)| Some(Info::new(*name, fields.text(label)?)))
        .collect();
    for part in parts
        .iter_mut()
        .filter(|part| part.object.kind == Kind::Package)
    {
        part.object.infos.clone_from(&infos);
    }
}

fn finished(
    parts: Vec<Part>,
    mut memory: Vec<Part>,
    offline: Vec<u32>,
    damage: &mut Damage,
) -> Topology {
    if memory.is_empty() {
        let all = parts.iter().filter(|part| part.object.kind == Kind::Pu);
        memory.push(node(
            0,
            Set::of(all.filter_map(|part| part.processors.first())),
        ));
    }
    Topology {
        root: build(parts, memory, &[], damage),
        offline,
        ..Topology::default()
    }
}
