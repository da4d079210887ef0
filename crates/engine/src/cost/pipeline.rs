//! The core part of an instruction: what it costs where no cache is missed.
//!
//! A profile states its cycles `e` for one core, the reference. A part of them passes with
//! pipelines that were emptied: by instructions that change the state of the processor or are left
//! to millicode (calls of the kernel and returns, timers, moves to and from another address space),
//! and by taken branches whose targets the core does not know. The rest goes at the core's rate `r`
//! against the reference; the drains `d` take what they take on either core:
//!
//! ```text
//! c = (e - d_reference) / r + d_own
//! d = control k + b (8192 / n)^a q
//! ```
//! with `k` cycles a control instruction, `n` branch targets known, `q` cycles a branch that is not
//! among them. What a table of targets lacks falls with its size as misses fall with a cache's, by
//! the exponent `a` of the profile's curve: both keep what code used last. Where a machine does not
//! tell its drains, all goes at the core's rate.

use crate::spec::{Drains, Machine, Profile};

/// Branch targets for which a profile states what is missing: those of a table of the z9's size.
const BRANCHES_AT_TARGETS: f64 = 8192.0;

/// Core part of an instruction [ns].
pub fn core_ns(machine: &Machine, profile: &Profile) -> f64 {
    let duty = machine.throttle.map_or(1.0, |told| told.duty);
    let Some(cycles) = drained(machine, profile) else {
        return profile.eicpi / (machine.core_rate * machine.clock_hz * 1e-9 * duty);
    };
    cycles / (machine.clock_hz * 1e-9 * duty)
}

/// Instructions a nanosecond of a core that is not slowed, misses left out.
pub fn core_per_ns(machine: &Machine, profile: &Profile) -> f64 {
    match drained(machine, profile) {
        None => machine.core_rate * machine.clock_hz * 1e-9 / profile.eicpi,
        Some(cycles) => machine.clock_hz * 1e-9 / cycles,
    }
}

/// Cycles of `eicpi` that pass with emptied pipelines on the core for which it is stated; none
/// where the machine does not tell.
pub fn reference_drains(machine: &Machine, profile: &Profile) -> Option<f64> {
    let told = machine.pipeline?;
    Some(drains(&told.reference, profile))
}

/// Cycles of an instruction on a machine that tells its drains.
fn drained(machine: &Machine, profile: &Profile) -> Option<f64> {
    let told = machine.pipeline?;
    let flows = profile.eicpi - drains(&told.reference, profile);
    Some(flows / machine.core_rate + drains(&told.own, profile))
}

/// Cycles of an instruction in which the pipelines are empty.
fn drains(core: &Drains, profile: &Profile) -> f64 {
    let branches = if profile.branch_misses > 0.0 {
        let known = BRANCHES_AT_TARGETS / core.branch_targets;
        (profile.branch_misses * known.powf(profile.miss_exponent)).min(1.0)
    } else {
        0.0
    };
    profile.control_share * core.control_cycles + branches * core.branch_cycles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::parse_short;
    use crate::spec::Pipeline;

    const Z196: Drains = Drains {
        control_cycles: 60.0,
        branch_targets: 8192.0,
        branch_cycles: 19.0,
    };

    fn machine(own: Drains) -> Machine {
        let mut machine = parse_short("core:1 pu:1").unwrap();
        machine.core_rate = 1.25;
        machine.pipeline = Some(Pipeline {
            own,
            reference: Z196,
        });
        machine
    }

    fn work(control_share: f64, branch_misses: f64) -> Profile {
        Profile {
            eicpi: 1.5,
            control_share,
            branch_misses,
            ..Profile::steady()
        }
    }

    fn cycles(own: Drains, work: &Profile) -> f64 {
        let machine = machine(own);
        core_ns(&machine, work) * machine.clock_hz * 1e-9
    }

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-12
    }

    #[test]
    fn a_control_instruction_takes_what_the_core_takes_for_it() {
        // 0.01 of 60 cycles within 1.5; 0.9 go at 1.25, and 0.01 of 30 are added.
        let own = Drains {
            control_cycles: 30.0,
            ..Z196
        };
        assert!(near(cycles(own, &work(0.01, 0.0)), 0.72 + 0.3));
    }

    #[test]
    fn four_times_the_targets_halve_what_is_missing_of_them() {
        // 0.01 of 19 cycles within 1.5, of which half is left: 1.31 / 1.25 + 0.095.
        let own = Drains {
            branch_targets: 32768.0,
            ..Z196
        };
        assert!(near(cycles(own, &work(0.0, 0.01)), 1.048 + 0.095));
    }

    #[test]
    fn work_that_drains_nothing_goes_at_the_rate_of_the_core() {
        let own = Drains {
            control_cycles: 10.0,
            branch_targets: 1e5,
            branch_cycles: 1.0,
        };
        assert!(near(cycles(own, &work(0.0, 0.0)), 1.5 / 1.25));
    }

    #[test]
    fn a_core_that_is_the_reference_takes_what_the_profile_says() {
        let mut machine = machine(Z196);
        machine.core_rate = 1.0;
        let ns = core_ns(&machine, &work(0.01, 0.01));
        assert!(near(ns * machine.clock_hz * 1e-9, 1.5));
    }

    #[test]
    fn both_forms_tell_the_same() {
        for told in [
            Some(Pipeline {
                own: Z196,
                reference: Z196,
            }),
            None,
        ] {
            let mut machine = machine(Z196);
            machine.pipeline = told;
            let work = work(0.01, 0.01);
            assert!(near(
                core_ns(&machine, &work) * core_per_ns(&machine, &work),
                1.0
            ));
        }
    }
}
