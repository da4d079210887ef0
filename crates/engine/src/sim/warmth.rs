//! What a virtual processor finds cold on a core, and from where it is refilled.
//!
//! Its footprint has two parts. The threads' own part lies in the caches of the core it was last
//! on. The part that the partition has in common (code, shared buffers) lies in the caches of every
//! core its virtual processors run on, so it comes from the nearest of them, and a core on which a
//! sibling ran last holds it already. On the core it left, a virtual processor finds what others
//! have not displaced since.

use super::system::System;
use super::world::World;
use crate::cost::Class;
use crate::ids::{ChipId, CoreId, PartitionId, Span, VpId};
use crate::machine::Distance;

/// Cores of a partition that must be busy at a distance for its common lines to be found there:
/// assumed, between 0.1 and 1.
const BUSY_ENOUGH: f64 = 0.5;

/// What a cost class says of refilling caches.
#[derive(Clone, Copy)]
struct Refill {
    ns: f64,
    fill_lines: f64,
    private_lines: f64,
    reload_lines: f64,
    reload_ns: [f64; 3],
}

impl Refill {
    fn of(class: &Class) -> Self {
        Self {
            ns: class.ns,
            fill_lines: class.fill_lines,
            private_lines: class.private_lines,
            reload_lines: class.reload_lines,
            reload_ns: class.reload_ns,
        }
    }
}

/// Lines to refill, and where each part of them lies.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cold {
    own_lines: f64,
    own_from: Distance,
    common_lines: f64,
    common_from: Distance,
}

impl<S: System> World<S> {
    /// Sets what a virtual processor that was just put on `core` must refill.
    pub fn chill(&mut self, vp: VpId, core: CoreId) {
        let partition = self.vp(vp).partition;
        let threads = self.threads_together(vp, core).max(1);
        let id = self.at.cores[core].first_class + u32::from(threads);
        let refill = Refill::of(self.table.class(&self.spec.partitions, id));
        let cold = self.cold(vp, core, &refill, threads);
        let lines = cold.own_lines + cold.common_lines;
        let on = &mut self.at.cores[core];
        on.warm_for = Some(partition);
        on.cold_ns = 0.0;
        let mut instructions = 0.0;
        if lines > 0.0 && refill.reload_lines > 0.0 {
            let own = cold.own_lines * refill.reload_ns[cold.own_from as usize];
            let common = cold.common_lines * refill.reload_ns[cold.common_from as usize];
            on.cold_ns = (own + common) / lines;
            instructions = lines / refill.reload_lines;
        }
        self.at.vps[vp].last_core = Some(core);
        let (first, count) = self.threads_of(vp);
        let all = Span::new(first.index(), usize::from(count));
        for thread in self.threads.slice_mut(all) {
            thread.cold_instructions = instructions;
        }
    }

    fn cold(&self, vp: VpId, core: CoreId, class: &Refill, threads: u8) -> Cold {
        let v = self.vp(vp);
        let on = &self.at.cores[core];
        let (lost, own_from) = match v.last_core {
            None => (1.0, Distance::Near),
            Some(last) if self.same_core(last, core) => {
                let others = self.core_clock(core) - v.left_clock;
                (displaced(others as f64, class, threads), Distance::Local)
            }
            Some(last) => {
                let from = self.at.cores[last].chip;
                (1.0, self.at.tree.distance(from, on.chip))
            }
        };
        let profile = &self.spec_of(v.partition).profile;
        let footprint = profile.footprint_bytes as f64 / f64::from(self.spec.machine.line_bytes);
        let lines = lost * footprint.min(class.private_lines);
        let shares_core = on.warm_for == Some(v.partition);
        Cold {
            own_lines: lines * (1.0 - profile.footprint_common),
            own_from,
            common_lines: if shares_core {
                0.0
            } else {
                lines * profile.footprint_common
            },
            common_from: self.nearest_sibling(v.partition, on.chip),
        }
    }

    /// Distance of the nearest caches in which a partition's common lines lie.
    fn nearest_sibling(&self, partition: PartitionId, chip: ChipId) -> Distance {
        let spread = &self.table.spreads[partition.index()];
        let tree = &self.at.tree;
        if spread.cores()[chip] >= BUSY_ENOUGH {
            return Distance::Local;
        }
        let near = spread.cores().slice(tree.chips_of(tree.node_of(chip)));
        if near.iter().sum::<f64>() >= BUSY_ENOUGH {
            Distance::Near
        } else {
            Distance::Far
        }
    }
}

/// Share of a thread's lines displaced by others' `ns` of core time: each line they bring in hits
/// any line with equal chance.
fn displaced(ns: f64, class: &Refill, threads: u8) -> f64 {
    if class.fill_lines <= 0.0 {
        return 0.0;
    }
    let turnover_ns = class.private_lines * class.ns / class.fill_lines;
    1.0 - (-ns / turnover_ns * f64::from(threads)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_displace_a_share_that_grows_with_their_time() {
        let class = Refill {
            ns: 1.0,
            fill_lines: 0.01,
            private_lines: 1000.0,
            reload_lines: 0.0,
            reload_ns: [0.0; 3],
        };
        assert_eq!(displaced(0.0, &class, 1), 0.0);
        // 1000 lines at a line every 100 ns: 100 us turn the cache over once.
        assert!((displaced(100_000.0, &class, 1) - (1.0 - (-1.0f64).exp())).abs() < 1e-12);
        assert!(displaced(100_000.0, &class, 2) > displaced(100_000.0, &class, 1));
    }
}
