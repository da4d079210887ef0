//! How fast cores are clocked: the fewer of a chip are busy, the faster.
//!
//! A chip has power for a higher clock while some of its cores idle, and its maker states the
//! highest one for each number of busy cores. Control follows within milliseconds, so that what
//! counts here is how many were busy on average; between whole numbers the clock is in proportion.
//! Faster clocks shorten the core part of instructions and the way to a core's own caches. What
//! lies beyond (shared caches, links, memory) has clocks of its own, and takes as long as before.
//!
//! Not modelled: power and temperature, by which a clock may be lower than stated; instructions
//! that ask for more power; cores that idle too briefly to count as idle.

use super::spread::Spread;
use crate::ids::{ById, ChipId};
use crate::machine::Topology;
use crate::spec::Machine;

/// Time of a cycle on each chip, in proportion to one of the machine's clock.
#[derive(Clone, Debug)]
pub struct Clocks {
    /// Clock with so many busy cores, from one on, in proportion to the machine's; empty = it is
    /// always that.
    speeds: Vec<f64>,
    cycles: ById<ChipId, f64>,
}

impl Clocks {
    /// Of a machine on which nothing ran.
    pub fn new(machine: &Machine, tree: &Topology) -> Self {
        let speeds: Vec<_> = machine
            .turbo_hz
            .iter()
            .map(|hz| hz / machine.clock_hz)
            .collect();
        let first = 1.0 / speed(&speeds, 1.0);
        Self {
            speeds,
            cycles: ById::of(first, tree.chips().len()),
        }
    }

    /// Time of a cycle on a chip, in proportion to one of the machine's clock.
    #[inline]
    pub fn cycle(&self, chip: ChipId) -> f64 {
        self.cycles[chip]
    }

    /// Follows how many cores of some chips were busy lately; `spreads` are those of all who run
    /// there.
    pub fn update<'a>(
        &mut self,
        chips: impl Iterator<Item = ChipId>,
        spreads: impl Iterator<Item = &'a Spread> + Clone,
    ) {
        if self.speeds.is_empty() {
            return;
        }
        for chip in chips {
            let busy = spreads.clone().map(|spread| spread.cores()[chip]).sum();
            self.cycles[chip] = 1.0 / speed(&self.speeds, busy);
        }
    }

    /// Becomes like those of the same machine.
    pub fn follow(&mut self, other: &Self) {
        self.cycles.follow(&other.cycles);
    }

    /// Whether both chips are clocked alike, but for a thousandth.
    pub fn are_alike(&self, one: ChipId, other: ChipId) -> bool {
        let (one, other) = (self.cycles[one], self.cycles[other]);
        (one - other).abs() <= 1e-3 * one
    }
}

/// Clock with so many busy cores; with more than are told of, as with the last.
fn speed(speeds: &[f64], busy: f64) -> f64 {
    let Some(last) = speeds.last() else {
        return 1.0;
    };
    let below = busy.max(1.0).floor();
    let at = |count: f64| speeds.get(count as usize - 1).unwrap_or(last);
    let (low, high) = (at(below), at(below + 1.0));
    low + (busy.max(1.0) - below) * (high - low)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: [f64; 4] = [1.5, 1.5, 1.25, 1.0];

    #[test]
    fn it_is_what_is_told_of_whole_numbers_and_between_them_in_proportion() {
        let pairs = [
            (0.0, 1.5),
            (0.4, 1.5),
            (1.0, 1.5),
            (2.0, 1.5),
            (2.5, 1.375),
            (3.0, 1.25),
            (3.8, 1.05),
            (4.0, 1.0),
            (9.0, 1.0),
        ];
        for (busy, told) in pairs {
            assert!((speed(&TOLD, busy) - told).abs() < 1e-12, "{busy}");
        }
    }

    #[test]
    fn one_more_busy_core_never_makes_a_core_faster() {
        let mut before = f64::INFINITY;
        for step in 0..200 {
            let now = speed(&TOLD, f64::from(step) * 0.03);
            assert!(now <= before);
            before = now;
        }
    }

    #[test]
    fn nothing_told_is_one_clock() {
        assert_eq!(speed(&[], 3.0), 1.0);
    }
}
