//! Headings of lparstat's reports on AIX and on Linux.

use crate::heading::{First, Heading};

/// The headings of `-E` stand twice: at the actual clock, then at the nominal one.
const NORMALISED: [&str; 9] = [
    "user", "sys", "wait", "idle", "freq", "nuser", "nsys", "nwait", "nidle",
];
/// On Linux, `-E` has busy and idle time only.
const NORMALISED_LINUX: [&str; 5] = ["%busy", "%idle", "freq", "%nbusy", "%nidle"];

/// The report that opens with these headings. Columns that are not known are kept.
pub(crate) fn heading(words: &[&str]) -> Option<Heading> {
    match words {
        ["%user", "%sys", ..] => Some(Heading::plain("lparstat", words)),
        ["physb", ..] => Some(Heading::plain("lparstat -m", words)),
        ["user", "sys", "wait", "idle", "freq", "user", "sys", "wait", "idle"] => {
            Some(Heading::plain("lparstat -E", &NORMALISED))
        }
        ["%busy", "%idle", "Frequency", "%busy", "%idle"] => {
            Some(Heading::plain("lparstat -E", &NORMALISED_LINUX))
        }
        _ => None,
    }
}

/// What the columns of `-H` are called here.
pub(crate) fn calls() -> Heading {
    let columns = [
        "Number of Calls",
        "%Total Time Spent",
        "%Hypervisor Time Spent",
        "Avg Call Time(ns)",
        "Max Call Time(ns)",
    ];
    Heading::with("lparstat -H", First::Processor, &columns)
}

/// Labels of `lparstat -i`, on AIX and on Linux, blanks as they should be.
pub(crate) const LABELS: [&str; 55] = [
    "Node Name",
    "Partition Name",
    "Partition Number",
    "Type",
    "Mode",
    "Entitled Capacity",
    "Partition Group-ID",
    "Shared Pool ID",
    "Online Virtual CPUs",
    "Maximum Virtual CPUs",
    "Minimum Virtual CPUs",
    "Online Memory",
    "Maximum Memory",
    "Minimum Memory",
    "Variable Capacity Weight",
    "Minimum Capacity",
    "Maximum Capacity",
    "Capacity Increment",
    "Maximum Physical CPUs in system",
    "Active Physical CPUs in system",
    "Active CPUs in Pool",
    "Shared Physical CPUs in system",
    "Maximum Capacity of Pool",
    "Entitled Capacity of Pool",
    "Unallocated Capacity",
    "Physical CPU Percentage",
    "Unallocated Weight",
    "Memory Mode",
    "Total I/O Memory Entitlement",
    "Variable Memory Capacity Weight",
    "Memory Pool ID",
    "Physical Memory in the Pool",
    "Hypervisor Page Size",
    "Unallocated Variable Memory Capacity Weight",
    "Unallocated I/O Memory entitlement",
    "Memory Group ID of LPAR",
    "Desired Virtual CPUs",
    "Desired Memory",
    "Desired Variable Capacity Weight",
    "Desired Capacity",
    "Target Memory Expansion Factor",
    "Target Memory Expansion Size",
    "Power Saving Mode",
    "Sub Processor Mode",
    "Desired Variable Memory Capacity Weight",
    "Desired I/O Memory Entitlement",
    "Number Of Physical CPUs in Pool",
    "Maximum Capacity Of Pool",
    "Entitled Capacity Of Pool",
    "Partition UUID",
    "Partition Affinity Score",
    "Power Management Mode",
    "Memory Expansion Mode",
    "SMT",
    "Threads per Core",
];
