//! Domains: what they are given and where it is bound.

use serde::Serialize;

use super::values::{set, size};
use crate::damage::{Damage, Lenient};
use crate::error::{quoted, CaptureError};
use crate::topology::Set;
use crate::xml::{self, Element};

/// A virtual machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Domain {
    /// Line of its start.
    pub line: usize,
    /// `kvm`, `qemu`, `xen`.
    pub kind: Option<String>,
    /// What the domain is called, unique on its host.
    pub name: String,
    /// Identity that it keeps when it moves to another host.
    pub uuid: Option<String>,
    /// `x86_64`, `s390x`, `ppc64le`.
    pub architecture: Option<String>,
    /// What libosinfo says of the operating system.
    pub os: Option<String>,
    /// Processors in use.
    pub vcpus: Option<u64>,
    /// The most it may have.
    pub vcpus_maximum: Option<u64>,
    /// Memory in use [bytes].
    pub memory_bytes: Option<u64>,
    /// The most it may have [bytes].
    pub memory_maximum_bytes: Option<u64>,
    /// Weight of its processors among those of all domains.
    pub shares: Option<u64>,
    /// Time in which the quota holds [us].
    pub period_us: Option<u64>,
    /// Time a processor may run in a period [us]; none if not limited.
    pub quota_us: Option<u64>,
    /// The same for the whole domain [us].
    pub global_period_us: Option<u64>,
    /// See `global_period_us`.
    pub global_quota_us: Option<u64>,
    /// List of the host processors of those that are not pinned apart; empty if all.
    pub cpuset: String,
    /// Processors that are pinned.
    pub pins: Vec<Pin>,
    /// Threads beside its processors that do its I/O; none if not told.
    pub io_threads: Option<u64>,
    /// Those of them that are pinned.
    pub io_pins: Vec<IoPin>,
    /// List of the host processors of the emulator's other threads; empty if all.
    pub emulator: String,
    /// Where its memory is bound.
    pub bound: Vec<Bound>,
    /// What the guest is shown of its processors.
    pub shape: Option<Shape>,
    /// What the guest is shown of its memory.
    pub cells: Vec<Cell>,
}

/// A processor with the host processors that it may run on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pin {
    /// Its number.
    pub vcpu: u32,
    /// List of numbers on the host.
    pub cpus: String,
}

/// A thread for I/O with the host processors that it may run on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IoPin {
    /// Its number, from 1.
    pub thread: u32,
    /// List of numbers on the host.
    pub cpus: String,
}

/// Memory and the host's nodes it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bound {
    /// The guest's cell; none for all of it.
    pub cell: Option<u32>,
    /// `strict`, `preferred`, `interleave`, `restrictive`.
    pub mode: String,
    /// List of nodes of the host.
    pub nodes: String,
}

/// How many of each are inside each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Shape {
    /// Sockets that the guest sees.
    pub sockets: u64,
    /// Cores of a socket, over dies and clusters.
    pub cores: u64,
    /// Threads of a core.
    pub threads: u64,
}

/// Memory with its processors as the guest sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// Its number.
    pub id: u32,
    /// List of processors of the guest.
    pub cpus: String,
    /// Its size [bytes].
    pub memory_bytes: Option<u64>,
}

/// Reads one or several domains: documents one after another, or inside any element.
pub fn read(text: &str) -> Result<Lenient<Vec<Domain>>, CaptureError> {
    let mut damage = Damage::default();
    let roots = xml::parse_all(text, &mut damage);
    let first = roots.first().ok_or(CaptureError::Empty { tool: "virsh" })?;
    let mut found = Vec::new();
    for root in &roots {
        if root.name == "domain" {
            found.extend(domain(root, &mut damage));
        } else {
            for inner in root.all("domain") {
                found.extend(domain(inner, &mut damage));
            }
        }
    }
    if found.is_empty() {
        return Err(CaptureError::Unexpected {
            line: first.line,
            expected: "<domain> with a <name>",
            found: quoted(&first.name),
        });
    }
    Ok(damage.with(found))
}

fn domain(element: &Element, damage: &mut Damage) -> Option<Domain> {
    let name = element.text_of("name").filter(|name| !name.is_empty());
    let Some(name) = name else {
        damage.drop_line(element.line, || "a domain without a name".into());
        return None;
    };
    let text = |name: &str| element.text_of(name).map(str::to_owned);
    let vcpu = element.first("vcpu");
    let most: Option<u64> = vcpu.and_then(|vcpu| vcpu.text.parse().ok());
    let now = vcpu.and_then(|vcpu| vcpu.get("current")?.parse().ok());
    let memory = |name: &str| {
        let element = element.first(name)?;
        size(element, &element.text)
    };
    let most_memory = memory("memory");
    let mut found = Domain {
        line: element.line,
        kind: element.get("type").map(str::to_owned),
        name: name.to_owned(),
        uuid: text("uuid"),
        architecture: element
            .at(&["os", "type"])
            .and_then(|kind| kind.get("arch"))
            .map(str::to_owned),
        os: system(element),
        vcpus: now.or(most),
        vcpus_maximum: most,
        memory_bytes: memory("currentMemory").or(most_memory),
        memory_maximum_bytes: most_memory,
        io_threads: text("iothreads").and_then(|count| count.parse().ok()),
        shape: shape(element),
        ..Domain::default()
    };
    if let Some(vcpu) = vcpu {
        found.cpuset = numbers(vcpu, "cpuset", damage).unwrap_or_default();
    }
    tuning(element, &mut found, damage);
    memory_binding(element, &mut found, damage);
    Some(found)
}

/// What libosinfo's metadata call the operating system.
fn system(element: &Element) -> Option<String> {
    let metadata = element.first("metadata")?;
    let info = metadata
        .children
        .iter()
        .find(|child| child.name.ends_with("libosinfo"))?;
    let os = info
        .children
        .iter()
        .find(|child| child.name.ends_with("os"))?;
    os.get("id").map(str::to_owned)
}

fn shape(element: &Element) -> Option<Shape> {
    let shown = element.at(&["cpu", "topology"])?;
    let number = |name: &str| -> Option<u64> {
        let number: u64 = shown.get(name)?.parse().ok()?;
        (1..=65_536).contains(&number).then_some(number)
    };
    let inside = number("dies")
        .unwrap_or(1)
        .checked_mul(number("clusters").unwrap_or(1))?;
    Some(Shape {
        sockets: number("sockets")?,
        cores: number("cores")?.checked_mul(inside)?,
        threads: number("threads")?,
    })
}

fn numbers(element: &Element, name: &str, damage: &mut Damage) -> Option<String> {
    let text = element.get(name)?;
    let found = set(text);
    if found.is_none() {
        damage.drop_line(element.line, || {
            format!("{name} {:?} is no list", quoted(text))
        });
    }
    found.as_ref().map(Set::list)
}

fn tuning(element: &Element, found: &mut Domain, damage: &mut Damage) {
    let Some(tune) = element.first("cputune") else {
        return;
    };
    let number = |name: &str| tune.text_of(name).and_then(|text| text.parse::<u64>().ok());
    let limit = |name: &str| number(name).filter(|quota| *quota > 0);
    found.shares = number("shares");
    found.period_us = number("period");
    found.quota_us = limit("quota");
    found.global_period_us = number("global_period");
    found.global_quota_us = limit("global_quota");
    for pin in tune.all("vcpupin") {
        let vcpu = pin.get("vcpu").and_then(|text| text.parse().ok());
        match (vcpu, numbers(pin, "cpuset", damage)) {
            (Some(vcpu), Some(cpus)) => found.pins.push(Pin { vcpu, cpus }),
            _ => damage.drop_line(pin.line, || "a vcpupin without vcpu or cpuset".into()),
        }
    }
    for pin in tune.all("iothreadpin") {
        let thread = pin.get("iothread").and_then(|text| text.parse().ok());
        match (thread, numbers(pin, "cpuset", damage)) {
            (Some(thread), Some(cpus)) => found.io_pins.push(IoPin { thread, cpus }),
            _ => damage.drop_line(pin.line, || {
                "an iothreadpin without iothread or cpuset".into()
            }),
        }
    }
    let emulator = tune.first("emulatorpin");
    let emulator = emulator.and_then(|pin| numbers(pin, "cpuset", damage));
    found.emulator = emulator.unwrap_or_default();
}

fn memory_binding(element: &Element, found: &mut Domain, damage: &mut Damage) {
    let tune = element.first("numatune");
    let bound = tune.iter().flat_map(|tune| &tune.children);
    for memory in bound.filter(|child| child.name == "memory" || child.name == "memnode") {
        if let Some(nodes) = numbers(memory, "nodeset", damage) {
            found.bound.push(Bound {
                cell: memory.get("cellid").and_then(|text| text.parse().ok()),
                mode: memory.get("mode").unwrap_or("strict").to_owned(),
                nodes,
            });
        }
    }
    let cells = element.at(&["cpu", "numa"]);
    for (cell, place) in cells.iter().flat_map(|numa| numa.all("cell")).zip(0..) {
        found.cells.push(Cell {
            id: cell
                .get("id")
                .and_then(|text| text.parse().ok())
                .unwrap_or(place),
            cpus: numbers(cell, "cpus", damage).unwrap_or_default(),
            memory_bytes: cell.get("memory").and_then(|amount| size(cell, amount)),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOMAIN: &str = "<domain type='kvm'>
  <name>db1</name>
  <memory unit='GiB'>16</memory>
  <currentMemory>8388608</currentMemory>
  <vcpu placement='static' cpuset='0-7,^3' current='2'>4</vcpu>
  <cputune>
    <shares>2048</shares> <period>50000</period> <quota>-1</quota>
    <vcpupin vcpu='0' cpuset='1'/> <vcpupin cpuset='1'/>
  </cputune>
  <numatune>
    <memory mode='strict' nodeset='1'/> <memnode cellid='0' mode='preferred' nodeset='0'/>
  </numatune>
  <os><type arch='x86_64' machine='pc'>hvm</type></os>
  <cpu><topology sockets='1' dies='1' cores='2' threads='2'/>
    <numa><cell id='0' cpus='0-3' memory='16' unit='GiB'/></numa></cpu>
</domain>
";

    #[test]
    fn a_domain_is_read_with_limits_pins_and_bindings() {
        let read = read(DOMAIN).expect("a domain");
        assert_eq!(read.dropped, 1);
        let domain = &read.found[0];
        assert_eq!((domain.vcpus, domain.vcpus_maximum), (Some(2), Some(4)));
        assert_eq!(
            (domain.memory_bytes, domain.memory_maximum_bytes),
            (Some(8 << 30), Some(16 << 30))
        );
        assert_eq!(
            (domain.shares, domain.period_us, domain.quota_us),
            (Some(2048), Some(50_000), None)
        );
        assert_eq!(domain.cpuset, "0-2,4-7");
        assert_eq!(domain.pins.len(), 1);
        assert_eq!(
            (domain.bound[0].cell, domain.bound[1].cell),
            (None, Some(0))
        );
        assert_eq!(domain.cells[0].memory_bytes, Some(16 << 30));
        assert_eq!(domain.shape.map(|shape| shape.threads), Some(2));
    }

    #[test]
    fn several_domains_in_a_text_and_others_around_them() {
        let glued =
            format!("{DOMAIN}<?xml version='1.0'?>\n{DOMAIN}<domain><vcpu>1</vcpu></domain>");
        let found = read(&glued).expect("domains");
        assert_eq!((found.found.len(), found.dropped), (2, 3));
        let inside = format!("<domains>{DOMAIN}</domains>");
        assert_eq!(read(&inside).expect("domains").found.len(), 1);
        assert!(read("<network/>").is_err());
    }
}
