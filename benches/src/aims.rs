//! What is aimed at, in one table. A ratio short of its aim is printed so and is no failure: how
//! fast a machine is to a bare loop is its own affair, a wrong answer is not.

/// The bare loop on W2, which most aims are ratios to.
pub const BARE_W2: &str = "bare loop, W2";
/// W2's load under PowerVM, called as it was before other policies had it.
pub const W2_LOAD: &str = "whole model, W2's load";
/// The study's frames on one core, with which two cores are compared.
pub const STUDY: &str = "p795 study, both frames in turn";
/// The same on two cores.
pub const TWO_CORES: &str = "p795 study, two cores (in proportion to one core)";
/// A frame under mixed load.
pub const FRAME: &str = "256 cores, 200 partitions, 1,200 VPs";
/// A large z/VM.
pub const ZVM: &str = "z/VM: 76 processors, 180 web guests";
/// A host under the Linux scheduler.
pub const LINUX: &str = "Linux host: 64 processors, 40 KVM guests of 4";
/// A host under credit2.
pub const XEN: &str = "Xen host: the same under credit2";

/// Least ratio to the case's yardstick, by case.
const AIMS: [(&str, f64); 7] = [
    (W2_LOAD, 0.30),
    (STUDY, 0.35),
    (FRAME, 0.25),
    (ZVM, 0.20),
    (LINUX, 0.15),
    (XEN, 0.15),
    (TWO_CORES, 1.9),
];

/// How many times as much an event may cost at the greatest size of an axis as at the least.
pub const GROWTH: f64 = 2.0;

/// The least ratio that is aimed at for a case.
pub fn of(name: &str) -> Option<f64> {
    AIMS.iter().find(|(case, _)| *case == name).map(|it| it.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    #[test]
    fn every_aim_is_a_cases() {
        let cases = cases::all();
        for (name, aim) in AIMS {
            let case = cases.iter().find(|case| case.name == name);
            assert_eq!(case.and_then(|case| case.aim), Some(aim), "{name}");
        }
        let aimed = cases.iter().filter(|case| case.aim.is_some());
        assert_eq!(aimed.count(), AIMS.len());
    }

    #[test]
    fn aims_are_ratios_to_w2_but_for_the_second_core() {
        let aimed = cases::all().into_iter().filter(|case| case.aim.is_some());
        for case in aimed {
            let yardstick = if case.name == TWO_CORES {
                STUDY
            } else {
                BARE_W2
            };
            assert_eq!(case.yardstick, yardstick, "{}", case.name);
        }
    }
}
