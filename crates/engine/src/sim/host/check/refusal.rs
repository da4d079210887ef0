//! Words in which a host refuses, and bounds of its times.

use crate::check::{Checked, Owner, SpecFault, Wrong};
use crate::spec::Spec;

/// Least quota and period that the kernel takes [ns].
pub const LEAST_QUOTA_NS: u64 = 1_000_000;
/// Longest period that the kernel takes; no slice, credit or cost is longer either [ns].
pub const LONGEST_PERIOD_NS: u64 = 1_000_000_000;
/// An hour, beyond which a time is a slip of a unit [ns].
pub const HOUR_NS: u64 = 3_600_000_000_000;

pub fn refuse_if(spec: &Spec, owner: &Owner, there: bool, what: &str, instead: &str) -> Checked {
    if !there {
        return Ok(());
    }
    Err(owner.refuse(Wrong::NotOnHost {
        what: what.into(),
        machine: spec.machine.name.clone(),
        instead: instead.into(),
    }))
}

pub fn not_host(spec: &Spec, owner: &Owner) -> SpecFault {
    owner.refuse(Wrong::NotHost {
        machine: spec.machine.name.clone(),
    })
}
