//! The order in which AIX fills idle logical processors.
//!
//! `vpm_throughput_mode` says how many threads of a virtual processor are loaded before another
//! virtual processor is: 0 and 1 (raw) load the primary thread of every one before any secondary;
//! 2, 4 and 8 (scaled) load that many first. A waking thread goes back to its last virtual
//! processor where the order allows it.

use crate::guest::loads::Loads;

/// Virtual processor with an idle thread for a waking thread that last ran on `last`.
pub fn choose(loads: &Loads, threads_before_next: u8, last: Option<u16>) -> Option<u16> {
    let full = usize::from(threads_before_next);
    loaded(loads, last, 1, full)
        .or_else(|| at_load(loads, last, 0))
        .or_else(|| (full..usize::from(loads.smt())).find_map(|load| at_load(loads, last, load)))
}

/// A virtual processor with `from..to` busy threads, the fullest first, the last one before others.
fn loaded(loads: &Loads, last: Option<u16>, from: usize, to: usize) -> Option<u16> {
    let mine = last.filter(|vp| (from..to).any(|load| loads.at(load).contains(*vp)));
    mine.or_else(|| (from..to).rev().find_map(|load| loads.at(load).first()))
}

fn at_load(loads: &Loads, last: Option<u16>, load: usize) -> Option<u16> {
    let set = loads.at(load);
    last.filter(|vp| set.contains(*vp)).or_else(|| set.first())
}
