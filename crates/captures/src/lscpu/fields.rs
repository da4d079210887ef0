//! The summary: labels and what they say.

use std::collections::BTreeMap;

use crate::damage::Damage;
use crate::error::quoted;
use crate::topology::{Kind, Set};

/// Labels that a summary of any host has one of.
const KNOWN: [&str; 5] = [
    "CPU(s)",
    "On-line CPU(s) list",
    "Thread(s) per core",
    "Socket(s)",
    "Core(s) per socket",
];

/// More kinds of cores than any processor has.
const MOST_KINDS: usize = 16;

/// More parts of a kind than any host has.
const MOST: u64 = 65_536;

/// Labels that stand once for each kind of core, below its name.
const OF_KIND: [&str; 13] = [
    "Model",
    "Thread(s) per core",
    "Core(s) per socket",
    "Core(s) per cluster",
    "Socket(s)",
    "Cluster(s)",
    "Stepping",
    "CPU(s) scaling MHz",
    "CPU max MHz",
    "CPU min MHz",
    "BogoMIPS",
    "Flags",
    "Frequency boost",
];
const NAME: &str = "Model name";

type Held = BTreeMap<String, (String, usize)>;

/// Values by label, without the colon.
#[derive(Debug, Default)]
pub(super) struct Fields {
    held: Held,
    /// Of processors with cores of several kinds, those after the first.
    kinds: Vec<Held>,
}

/// So many cores of a kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cores {
    pub(super) sockets: u64,
    pub(super) each: u64,
    pub(super) threads: u64,
}

impl Cores {
    pub(super) const fn cores(self) -> u64 {
        self.sockets * self.each
    }
}

impl Fields {
    /// A line of the text form.
    pub(super) fn line(&mut self, line: &str, number: usize, damage: &mut Damage) {
        match line.split_once(':') {
            Some((label, value)) => self.add(label, value, number, damage),
            None => damage.drop_line(number, || "no label with a value".into()),
        }
    }

    /// A label with its value; the first counts.
    pub(super) fn add(&mut self, label: &str, value: &str, line: usize, damage: &mut Damage) {
        let label = label.trim().trim_end_matches(':').trim();
        let value = value.trim().to_owned();
        if label == NAME && self.held.get(NAME).is_some_and(|(name, _)| *name != value) {
            if self.kinds.len() < MOST_KINDS {
                self.kinds.push(Held::new());
            }
        } else if OF_KIND.contains(&label) {
            if let Some(kind) = self.kinds.last_mut() {
                kind.insert(label.to_owned(), (value, line));
                return;
            }
        }
        if label == NAME && !self.kinds.is_empty() {
            return;
        }
        match self.held.get(label) {
            None => {
                self.held.insert(label.to_owned(), (value, line));
            }
            Some((first, at)) if *first != value => {
                let at = *at;
                damage.drop_line(line, || {
                    format!("{} again; that of line {at} counts", quoted(label))
                });
            }
            Some(_) => {}
        }
    }

    /// Whether it is no summary of a host.
    pub(super) fn is_empty(&self) -> bool {
        !KNOWN.iter().any(|label| self.held.contains_key(*label))
    }

    /// A value that says something.
    pub(super) fn text(&self, label: &str) -> Option<&str> {
        let (value, _) = self.held.get(label)?;
        Some(value.as_str()).filter(|value| !value.is_empty() && *value != "-")
    }

    /// The line of a label.
    pub(super) fn line_of(&self, label: &str) -> usize {
        self.held.get(label).map_or(0, |(_, line)| *line)
    }

    /// How many of something there are.
    pub(super) fn count(&self, label: &str, damage: &mut Damage) -> Option<u64> {
        let text = self.text(label)?;
        let count = text.parse().ok().filter(|count| (1..=MOST).contains(count));
        if count.is_none() {
            let line = self.line_of(label);
            damage.drop_line(line, || {
                format!("{label}: {:?} is no number of them", quoted(text))
            });
        }
        count
    }

    /// Cores of each kind but the first; none if one of them is not told whole.
    pub(super) fn other_kinds(&self) -> Option<Vec<Cores>> {
        let number = |held: &Held, labels: &[&str]| {
            let text = labels.iter().find_map(|label| held.get(*label));
            let count = text?.0.parse().ok();
            count.filter(|count| (1..=MOST).contains(count))
        };
        let of = |held: &Held| {
            Some(Cores {
                sockets: number(held, &["Socket(s)"])
                    .or_else(|| number(held, &["Cluster(s)"]))
                    .unwrap_or(1),
                each: number(held, &["Core(s) per socket"])
                    .or_else(|| number(held, &["Core(s) per cluster"]))?,
                threads: number(held, &["Thread(s) per core"]).unwrap_or(1),
            })
        };
        self.kinds.iter().map(of).collect()
    }

    /// A list of processors.
    pub(super) fn set(&self, label: &str, damage: &mut Damage) -> Option<Set> {
        let (text, line) = self.held.get(label)?;
        let set = Set::from_list(text).or_else(|| Set::from_mask(text));
        if set.is_none() {
            damage.drop_line(*line, || {
                format!(
                    "{}: {:?} is no list of processors",
                    quoted(label),
                    quoted(text)
                )
            });
        }
        set
    }

    /// A clock [MHz].
    pub(super) fn clock(&self) -> Option<f64> {
        let labels = [
            "CPU static MHz",
            "CPU max MHz",
            "CPU MHz",
            "CPU dynamic MHz",
        ];
        let clocks = labels.iter().filter_map(|label| {
            let text = self.text(label)?.replace(',', ".");
            text.parse::<f64>()
                .ok()
                .filter(|clock| clock.is_finite() && *clock > 0.0)
        });
        let mut clocks = clocks;
        clocks.next()
    }

    /// Numbers of memory nodes with their processors.
    pub(super) fn nodes(&self, damage: &mut Damage) -> Vec<(u32, Set)> {
        let mut nodes = Vec::new();
        for label in self.held.keys() {
            let Some(rest) = label.strip_prefix("NUMA node") else {
                continue;
            };
            let Some(number) = rest.strip_suffix(" CPU(s)") else {
                continue;
            };
            if let Ok(number) = number.parse() {
                nodes.extend(self.set(label, damage).map(|set| (number, set)));
            }
        }
        nodes.sort_by_key(|(number, _)| *number);
        nodes
    }

    /// Name of a cache, bytes of one, and how many there are if that is said.
    pub(super) fn caches(&self, damage: &mut Damage) -> Vec<(String, u64, Option<u64>)> {
        let mut caches = Vec::new();
        for (label, (value, line)) in &self.held {
            let Some(name) = cache_name(label) else {
                continue;
            };
            match cache(value) {
                Some((bytes, instances)) => caches.push((name.to_owned(), bytes, instances)),
                None => damage.drop_line(*line, || {
                    format!("{}: {:?} is no size", quoted(label), quoted(value))
                }),
            }
        }
        caches
    }
}

/// Name of the cache that a label is about: `L1d cache`, or `L1d` below a heading.
fn cache_name(label: &str) -> Option<&str> {
    let name = label.strip_suffix(" cache").unwrap_or(label);
    matches!(Kind::named(name), Some(Kind::Cache(..))).then_some(name)
}

/// `512 KiB (16 instances)`, or `32K` of one in older versions.
fn cache(text: &str) -> Option<(u64, Option<u64>)> {
    let (size, instances) = match text.split_once('(') {
        Some((size, rest)) => {
            let count = rest.split_whitespace().next()?.parse().ok();
            (
                size.trim(),
                Some(count.filter(|count| (1..=MOST).contains(count))?),
            )
        }
        None => (text, None),
    };
    let digits = size.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = size.get(digits.len()..)?.trim();
    let shift = match unit {
        "" | "B" => 0,
        "K" | "KiB" => 10,
        "M" | "MiB" => 20,
        "G" | "GiB" => 30,
        _ => return None,
    };
    let amount: f64 = digits.trim().replace(',', ".").parse().ok()?;
    let bytes = amount * f64::from(1_u32 << shift) / instances.unwrap_or(1) as f64;
    (1.0..1e15)
        .contains(&bytes)
        .then_some((bytes.round() as u64, instances))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_caches_old_and_new() {
        assert_eq!(cache("512 KiB (16 instances)"), Some((32 << 10, Some(16))));
        assert_eq!(cache("1,5 MiB (2 instances)"), Some((768 << 10, Some(2))));
        assert_eq!(cache_name("L1d cache"), Some("L1d"));
        assert_eq!((cache_name("L3"), cache_name("Model")), (Some("L3"), None));
        assert_eq!(cache("32K"), Some((32 << 10, None)));
        for text in [
            "",
            "K",
            "x KiB",
            "1 XiB",
            "1 KiB (0 instances)",
            "1 KiB (many)",
        ] {
            assert_eq!(cache(text), None, "{text}");
        }
    }
}
