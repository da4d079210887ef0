//! Domains: what the scheduler is told of them, and what it keeps of each.

use super::budget::Budget;
use super::cpus::CpuSet;
use super::ids::CoreId;
use super::unit::Aside;
use crate::hypervisor::HostCount;
use crate::spec::Processors;

/// What the scheduler is told of a domain.
pub(super) struct Domain<'a> {
    pub units: usize,
    pub weight: u16,
    pub cap: Option<f64>,
    pub pins: &'a [Vec<u16>],
    pub soft_pins: &'a [Vec<u16>],
}

/// What it keeps of one.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    /// Budget of one with a cap.
    pub budget: Option<Budget>,
    /// Whether a unit of it was parked in this period.
    pub was_parked: bool,
    pub count: HostCount,
}

impl<'a> Domain<'a> {
    pub fn of(processors: &'a Processors) -> Self {
        match processors {
            Processors::Shared {
                r#virtual,
                weight,
                host,
                ..
            } => Self {
                units: usize::from(*r#virtual),
                weight: *weight,
                cap: host.cap,
                pins: &host.pins,
                soft_pins: &host.soft_pins,
            },
            Processors::Dedicated { cores, .. } => Self {
                units: cores.len(),
                weight: 1,
                cap: None,
                pins: &[],
                soft_pins: &[],
            },
        }
    }

    /// Where one of its units may run, and where it prefers to, of so many processors.
    pub(super) fn aside_of(&self, unit: usize, cpus: usize) -> Aside {
        let set = |pins: &[Vec<u16>]| {
            let pins = pins.get(unit).filter(|pins| !pins.is_empty())?;
            Some(CpuSet::of(cpus, pins.iter().copied().map(CoreId::from)))
        };
        Aside::new(set(self.pins), set(self.soft_pins), cpus)
    }
}
