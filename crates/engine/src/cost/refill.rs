//! What a virtual processor that comes to a core must refill, and from where: of a cost class, what
//! a dispatch needs, side by side.
//!
//! Its footprint has two parts. The threads' own part lies in the caches of the core it was last
//! on. The part that the partition has in common (code, shared buffers) lies in the caches of every
//! core its virtual processors run on, so it comes from the nearest of them.

use super::class::Class;
use super::place::Place;
use super::spread::Spread;
use crate::ids::ChipId;
use crate::machine::{Distance, Topology};
use crate::spec::Guest;

/// What a cost class says of refilling caches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(align(64))]
pub struct Refill {
    /// Lines that a core's private caches can have held for it.
    pub lines: f64,
    /// The part of them that its partition has in common [0..1].
    pub common: f64,
    /// Time in which one thread's new lines are as many as the private caches hold [ns]; infinite
    /// if it brings none in.
    pub turnover_ns: f64,
    /// Lines refilled by one instruction.
    pub lines_per_instruction: f64,
    /// Extra time of an instruction while its own lines are refilled, by where they lie [ns].
    pub own_ns: [f64; 3],
    /// The same while those that its partition has in common are refilled [ns].
    pub common_ns: f64,
}

impl Refill {
    /// Cores of a partition that must be busy at a distance for its common lines to be found there:
    /// assumed, between 0.1 and 1.
    pub const BUSY_ENOUGH: f64 = 0.5;

    /// Of a class at its place.
    pub fn of(class: &Class, place: &Place) -> Self {
        let profile = &place.partition.profile;
        let footprint = profile.footprint_bytes as f64 / f64::from(place.machine.line_bytes);
        let common_from = nearest_cores(place.spread, place.tree, place.chip);
        Self {
            lines: footprint.min(class.private_lines),
            // Virtual machines that run in turn have nothing in common.
            common: match place.partition.guest {
                Guest::Zvm(_) => 0.0,
                _ => profile.footprint_common,
            },
            turnover_ns: if class.fill_lines > 0.0 {
                class.private_lines * class.ns / class.fill_lines
            } else {
                f64::INFINITY
            },
            lines_per_instruction: class.reload_lines,
            own_ns: class.reload_ns,
            common_ns: class.reload_ns[common_from as usize],
        }
    }

    /// Share of a thread's lines displaced by others' `ns` of core time: each line they bring in
    /// hits any line with equal chance.
    #[inline]
    pub fn displaced(&self, ns: f64, threads: u8) -> f64 {
        1.0 - (-ns / self.turnover_ns * f64::from(threads)).exp()
    }
}

/// Distance of the nearest caches in which a partition's common lines lie, from a chip.
pub(super) fn nearest_cores(spread: &Spread, tree: &Topology, chip: ChipId) -> Distance {
    if spread.cores()[chip] >= Refill::BUSY_ENOUGH {
        return Distance::Local;
    }
    let near = spread.cores().slice(tree.chips_of(tree.node_of(chip)));
    if near.iter().sum::<f64>() >= Refill::BUSY_ENOUGH {
        Distance::Near
    } else {
        Distance::Far
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_displace_a_share_that_grows_with_their_time() {
        // 1000 lines at a line every 100 ns: 100 us turn the cache over once.
        let refill = Refill {
            turnover_ns: 1000.0 * 1.0 / 0.01,
            ..Refill::default()
        };
        assert_eq!(refill.displaced(0.0, 1), 0.0);
        assert!((refill.displaced(100_000.0, 1) - (1.0 - (-1.0f64).exp())).abs() < 1e-12);
        assert!(refill.displaced(100_000.0, 2) > refill.displaced(100_000.0, 1));
        let still = Refill {
            turnover_ns: f64::INFINITY,
            ..refill
        };
        assert_eq!(still.displaced(100_000.0, 1), 0.0);
    }
}
