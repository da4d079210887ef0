//! Objects of a topology.

use std::collections::{HashMap, HashSet};

use crate::damage::Damage;
use crate::error::quoted;
use crate::topology::{Info, Kind, Object, Share, HIGHEST};
use crate::xml::Element;

/// Kinds of objects that are not read: devices, and what people added.
const OTHERS: [&str; 5] = ["Bridge", "PCIDev", "OSDev", "Misc", "PCIBridge"];

/// Places of objects among those of their kind, by hwloc's number of the object.
pub(super) type Numbers = HashMap<(Kind, u64), usize>;

/// Reads objects, counting them.
pub(super) struct Reader<'a> {
    damage: &'a mut Damage,
    /// By `gp_index`.
    pub(super) numbers: Numbers,
    counts: HashMap<Kind, usize>,
    processors: HashSet<u32>,
    left_out: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(damage: &'a mut Damage) -> Self {
        Self {
            damage,
            numbers: Numbers::new(),
            counts: HashMap::new(),
            processors: HashSet::new(),
            left_out: 0,
        }
    }

    /// The whole tree.
    pub(super) fn root(&mut self, element: &Element) -> Object {
        let root = self.object(element, Kind::Machine);
        let count = self.left_out;
        if count > 0 {
            self.damage.remark(element.line, || {
                format!("{count} devices and other things besides processors are not read")
            });
        }
        root
    }

    fn object(&mut self, element: &Element, kind: Kind) -> Object {
        let place = self.counts.entry(kind).or_insert(0);
        if let Some(number) = element.get("gp_index").and_then(|text| text.parse().ok()) {
            self.numbers.entry((kind, number)).or_insert(*place);
        }
        *place += 1;
        let value = |name: &str| {
            element
                .get(name)
                .and_then(|text| text.trim().parse::<u64>().ok())
        };
        let cache = matches!(kind, Kind::Cache(..) | Kind::MemCache);
        let bytes = match kind {
            Kind::NumaNode => value("local_memory"),
            _ if cache => value("cache_size"),
            _ => None,
        };
        let ways = element
            .get("cache_associativity")
            .and_then(|text| text.trim().parse().ok());
        let mut object = Object {
            kind,
            subtype: element
                .get("subtype")
                .filter(|text| !text.is_empty())
                .map(str::to_owned),
            os_index: value("os_index").and_then(|index| u32::try_from(index).ok()),
            bytes: bytes.filter(|bytes| *bytes > 0),
            line_bytes: value("cache_linesize").filter(|line| cache && *line > 0),
            ways: ways.filter(|ways: &i32| cache && *ways != 0),
            infos: infos(element),
            children: Vec::new(),
        };
        self.inside(element, &mut object.children);
        object
    }

    /// Objects inside an element, memory first; those inside one that is not known stand in its
    /// place.
    fn inside(&mut self, element: &Element, into: &mut Vec<Object>) {
        let objects: Vec<(&Element, Option<Kind>)> = element
            .all("object")
            .map(|object| (object, kind_of(object)))
            .collect();
        let is_memory = |kind: &Option<Kind>| kind.is_some_and(Kind::is_memory);
        let (memory, others): (Vec<_>, Vec<_>) =
            objects.into_iter().partition(|(_, kind)| is_memory(kind));
        for (object, kind) in memory.into_iter().chain(others) {
            match kind {
                Some(Kind::Pu) if !self.is_new(object) => {}
                Some(Kind::Machine) | None => self.unknown(object, into),
                Some(kind) => {
                    let read = self.object(object, kind);
                    into.push(read);
                }
            }
        }
    }

    /// Whether a processor has a number that no other has.
    fn is_new(&mut self, element: &Element) -> bool {
        let number = element.get("os_index").and_then(|text| text.parse().ok());
        let new = number.is_some_and(|number| number <= HIGHEST && self.processors.insert(number));
        if !new {
            let number = element.get("os_index").unwrap_or("none").to_owned();
            self.damage.drop_line(element.line, || {
                format!(
                    "a PU of os_index {}, which is none or another's",
                    quoted(&number)
                )
            });
        }
        new
    }

    fn unknown(&mut self, element: &Element, into: &mut Vec<Object>) {
        let name = element.get("type").unwrap_or("none");
        if OTHERS.contains(&name) {
            self.left_out += 1;
        } else {
            let name = quoted(name);
            self.damage.drop_line(element.line, || {
                format!("an object of type {name:?} is left out; what is in it counts")
            });
        }
        self.inside(element, into);
    }
}

/// What an object is. Caches say their level in the type, or apart in version 1.
fn kind_of(element: &Element) -> Option<Kind> {
    let name = element.get("type")?;
    let number = |name: &str| element.get(name).and_then(|text| text.parse::<u8>().ok());
    let kind = match name {
        "Cache" => Kind::Cache(
            number("depth").filter(|level| (1..=5).contains(level))?,
            Share::Unified,
        ),
        _ => Kind::named(name)?,
    };
    Some(match (kind, number("cache_type")) {
        (Kind::Cache(level, Share::Unified), Some(1)) => Kind::Cache(level, Share::Data),
        (Kind::Cache(level, Share::Unified), Some(2)) => Kind::Cache(level, Share::Instruction),
        (kind, _) => kind,
    })
}

/// Names and values directly inside an element.
pub(super) fn infos(element: &Element) -> Vec<Info> {
    let pair = |info: &Element| Some(Info::new(info.get("name")?, info.get("value")?));
    element.all("info").filter_map(pair).collect()
}
