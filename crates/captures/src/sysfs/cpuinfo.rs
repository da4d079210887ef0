//! `/proc/cpuinfo` of the architectures.

use std::collections::BTreeMap;

use crate::topology::{Info, HIGHEST};

/// What it says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CpuInfo {
    /// By number.
    pub(super) processors: BTreeMap<u32, Processor>,
    /// Values that are said of no single processor, first ones.
    pub(super) machine: BTreeMap<String, String>,
}

/// What `/proc/cpuinfo` says of one processor.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Processor {
    pub(super) drawer: Option<u32>,
    pub(super) book: Option<u32>,
    pub(super) package: Option<u32>,
    pub(super) core: Option<u32>,
    pub(super) clock_mhz: Option<f64>,
    pub(super) flags: Vec<String>,
    /// What hwloc keeps of it, under its names.
    pub(super) infos: Vec<Info>,
}

impl CpuInfo {
    /// Reads what is there; lines that say nothing of use are passed over.
    pub(super) fn read(text: &str) -> Self {
        let mut found = Self::default();
        let mut block: Vec<(&str, &str)> = Vec::new();
        for line in text.lines().chain([""]) {
            match line.split_once(':') {
                Some((key, value)) => block.push((key.trim(), value.trim())),
                None => found.block(std::mem::take(&mut block)),
            }
        }
        found
    }

    fn block(&mut self, rows: Vec<(&str, &str)>) {
        let get = |name: &str| {
            rows.iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| *value)
        };
        let number = get("processor").or_else(|| get("cpu number"));
        let number = number.and_then(|text| text.parse().ok());
        match number.filter(|number| *number <= HIGHEST) {
            Some(number) => {
                self.processors.insert(number, processor(&get));
            }
            None => rows.iter().for_each(|(key, value)| self.row(key, value)),
        }
    }

    /// A line of no processor's block; on z, `processor 0: version = FF, ...` is one.
    fn row(&mut self, key: &str, value: &str) {
        let number = key
            .strip_prefix("processor ")
            .and_then(|digits| digits.parse().ok());
        if let Some(number) = number.filter(|number| *number <= HIGHEST) {
            self.processors.entry(number).or_default();
            if let Some((_, machine)) = value.split_once("machine =") {
                self.note("machine type", machine.trim());
            }
            return;
        }
        self.note(key, value);
    }

    fn note(&mut self, key: &str, value: &str) {
        let held = self.machine.entry(key.to_owned());
        held.or_insert_with(|| value.to_owned());
    }

    /// The first processor.
    pub(super) fn first(&self) -> Option<&Processor> {
        self.processors.values().next()
    }

    /// A value that is said of the whole.
    pub(super) fn machine(&self, key: &str) -> Option<&str> {
        self.machine.get(key).map(String::as_str)
    }

    /// What the first processor says under one of hwloc's names.
    pub(super) fn info(&self, name: &str) -> Option<&str> {
        let infos = &self.first()?.infos;
        infos
            .iter()
            .find(|info| info.name == name)
            .map(|info| info.value.as_str())
    }
}

fn processor<'a>(get: &impl Fn(&str) -> Option<&'a str>) -> Processor {
    let number = |name: &str| get(name).and_then(|text| text.parse().ok());
    let names = ["clock", "cpu MHz", "cpu MHz static"];
    let clock = names.iter().find_map(|name| get(name));
    let clock = clock.and_then(|text| text.trim_end_matches("MHz").trim().parse().ok());
    let names = ["flags", "features", "Features"];
    let flags = names.iter().find_map(|name| get(name)).unwrap_or("");
    Processor {
        drawer: number("drawer id"),
        book: number("book id"),
        package: number("physical id"),
        core: number("core id"),
        clock_mhz: clock.filter(|clock: &f64| clock.is_finite() && *clock > 0.0),
        flags: flags.split_whitespace().map(str::to_owned).collect(),
        infos: infos(get),
    }
}

/// hwloc's names, by whose lines they are: x86, Power, Itanium.
fn infos<'a>(get: &impl Fn(&str) -> Option<&'a str>) -> Vec<Info> {
    let names: &[(&str, &str)] = if get("vendor_id").is_some() {
        &[
            ("vendor_id", "CPUVendor"),
            ("cpu family", "CPUFamilyNumber"),
            ("model", "CPUModelNumber"),
            ("model name", "CPUModel"),
            ("stepping", "CPUStepping"),
        ]
    } else if get("cpu").is_some() {
        &[("cpu", "CPUModel"), ("revision", "CPURevision")]
    } else {
        &[("model name", "CPUModel")]
    };
    let said = names
        .iter()
        .filter_map(|(key, name)| Some(Info::new(*name, get(key)?)));
    said.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_x86_and_z_are_understood() {
        let power =
            "processor\t: 4\ncpu\t\t: POWER7\nclock\t\t: 3864.000000MHz\nrevision\t: 2.1\n\n\
                     platform\t: pSeries\nmachine\t\t: CHRP IBM,0000-AAA\n";
        let info = CpuInfo::read(power);
        assert_eq!(info.machine("machine"), Some("CHRP IBM,0000-AAA"));
        assert_eq!(info.info("CPURevision"), Some("2.1"));
        assert_eq!(info.first().and_then(|cpu| cpu.clock_mhz), Some(3864.0));
        let x86 =
            "processor : 0\nvendor_id : A\nphysical id : 1\ncore id : 2\nflags : a hypervisor\n";
        let first = CpuInfo::read(x86).processors[&0].clone();
        assert_eq!((first.package, first.core), (Some(1), Some(2)));
        let z =
            "vendor_id : IBM/S390\nprocessor 3: version = FF,  identification = 1,  machine = 9\n";
        let info = CpuInfo::read(z);
        assert_eq!(info.machine("machine type"), Some("9"));
        assert_eq!(info.processors.keys().collect::<Vec<_>>(), [&3]);
        let newer = "cpu number : 5\nphysical id : 1\ncore id : 2\nbook id : 3\ndrawer id : 4\n\
                     cpu MHz dynamic : 5000\ncpu MHz static : 5200\n";
        let fifth = CpuInfo::read(newer).processors[&5].clone();
        let place = (fifth.drawer, fifth.book, fifth.package, fifth.core);
        assert_eq!(place, (Some(4), Some(3), Some(1), Some(2)));
        assert_eq!(fifth.clock_mhz, Some(5200.0));
    }
}
