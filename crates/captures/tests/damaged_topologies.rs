//! Damaged topologies: hwloc XML, lscpu, libvirt XML, dumps of /sys and /proc, /proc/sysinfo.

mod damaging;

use damaging::{answers_whatever_the_damage, readers::named, work_grows_with_the_text};

const NAMES: [&str; 7] = [
    "hwloc",
    "lscpu",
    "libvirt_capabilities",
    "libvirt_domain",
    "sysfs",
    "sysinfo",
    "xml",
];

#[test]
fn any_damage_gets_an_answer() {
    NAMES
        .map(named)
        .into_iter()
        .for_each(answers_whatever_the_damage);
}

#[test]
fn work_grows_no_faster_than_the_text() {
    NAMES
        .map(named)
        .into_iter()
        .for_each(work_grows_with_the_text);
}
