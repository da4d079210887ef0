//! Kinds of processors, by their highest clock and what the kernel says of their capacity.

use std::collections::BTreeMap;

use super::files::Files;
use super::processors::FOLDER;
use crate::topology::{CpuKind, Info, Set};

/// What one processor can: highest clock, base clock [kHz], capacity as the kernel rates it.
type Abilities = (u64, u64, u64);

/// The kinds, slowest first; none where nothing is said. Highest clocks that differ by a tenth at
/// most are one kind: the differences are those of single cores of a package.
pub(super) fn read(files: &Files<'_>, online: &Set) -> Vec<CpuKind> {
    let mut of: BTreeMap<u32, Abilities> = BTreeMap::new();
    for cpu in online.iter() {
        let value = |path: &str| {
            files
                .number(&format!("{FOLDER}/cpu{cpu}/{path}"))
                .unwrap_or(0)
        };
        let highest = value("cpufreq/cpuinfo_max_freq");
        let abilities = (
            highest,
            value("cpufreq/base_frequency"),
            value("cpu_capacity"),
        );
        if abilities != (0, 0, 0) {
            of.insert(cpu, abilities);
        }
    }
    let (least, most) = of
        .values()
        .fold((u64::MAX, 0), |(least, most), (clock, ..)| {
            (least.min(*clock), most.max(*clock))
        });
    let alike = most - least.min(most) <= most / 10;
    let mut kinds: BTreeMap<Abilities, Vec<u32>> = BTreeMap::new();
    for (cpu, (highest, base, capacity)) in of {
        let highest = if alike { most } else { highest };
        kinds
            .entry((highest, base, capacity))
            .or_default()
            .push(cpu);
    }
    kinds.into_iter().zip(0..).map(kind).collect()
}

fn kind(((abilities, processors), efficiency): ((Abilities, Vec<u32>), i32)) -> CpuKind {
    let (highest, base, capacity) = abilities;
    let said = [
        ("FrequencyMaxMHz", highest / 1000),
        ("FrequencyBaseMHz", base / 1000),
        ("LinuxCapacity", capacity),
    ];
    let said = said.into_iter().filter(|(_, value)| *value > 0);
    CpuKind {
        efficiency,
        processors,
        infos: said
            .map(|(name, value)| Info::new(name, value.to_string()))
            .collect(),
    }
}
