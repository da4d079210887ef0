//! The core part of an instruction, worked out plainly.

use homenode_engine::spec::{Drains, Machine, Profile};

/// The core's part, drain by drain: what the reference lost is taken out of `eicpi`, the rest goes
/// at the core's rate.
pub fn core_cycles(machine: &Machine, profile: &Profile) -> f64 {
    let Some(told) = machine.pipeline else {
        return profile.eicpi / machine.core_rate;
    };
    let lost = |core: Drains| {
        let missed =
            profile.branch_misses * (core.branch_targets / 8192.0).powf(-profile.miss_exponent);
        profile.control_share * core.control_cycles + missed * core.branch_cycles
    };
    (profile.eicpi - lost(told.reference)) / machine.core_rate + lost(told.own)
}
