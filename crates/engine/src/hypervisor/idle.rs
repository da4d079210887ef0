//! Sets of cores by chip, as bit masks: idle ones and those with an excess runner.

use crate::ids::{ById, ChipId, CoreId};
use crate::machine::Topology;

/// Idle pooled cores and cores whose runner is on excess capacity.
#[derive(Clone, Debug)]
pub struct CoreSets {
    idle: ById<ChipId, u64>,
    excess: ById<ChipId, u64>,
    idle_count: u32,
    cores_per_chip: usize,
}

impl CoreSets {
    /// Nothing idle, nothing on excess.
    pub fn new(tree: &Topology) -> Self {
        let chips = tree.chips().len();
        Self {
            idle: ById::of(0, chips),
            excess: ById::of(0, chips),
            idle_count: 0,
            cores_per_chip: usize::from(tree.cores_per_chip),
        }
    }

    /// Idle pooled cores in the machine.
    pub fn idle_count(&self) -> u32 {
        self.idle_count
    }

    /// Whether a core is idle and pooled.
    #[inline]
    pub fn is_idle(&self, chip: ChipId, core: CoreId) -> bool {
        self.idle[chip] & self.bit(chip, core) != 0
    }

    /// Adds an idle core.
    #[inline]
    pub fn set_idle(&mut self, chip: ChipId, core: CoreId) {
        debug_assert!(!self.is_idle(chip, core));
        self.idle[chip] |= self.bit(chip, core);
        self.idle_count += 1;
    }

    /// Removes an idle core.
    #[inline]
    pub fn take_idle(&mut self, chip: ChipId, core: CoreId) {
        debug_assert!(self.is_idle(chip, core));
        self.idle[chip] &= !self.bit(chip, core);
        self.idle_count -= 1;
    }

    /// Marks whether a core's runner is on excess capacity.
    #[inline]
    pub fn set_excess(&mut self, chip: ChipId, core: CoreId, on: bool) {
        let bit = self.bit(chip, core);
        if on {
            self.excess[chip] |= bit;
        } else {
            self.excess[chip] &= !bit;
        }
    }

    /// Lowest idle core of a chip.
    #[inline]
    pub fn idle_on(&self, chip: ChipId) -> Option<CoreId> {
        self.first_of(chip, self.idle[chip])
    }

    /// The first core of a chip's mask.
    #[inline]
    pub fn first_of(&self, chip: ChipId, mask: u64) -> Option<CoreId> {
        let first = chip.index() * self.cores_per_chip;
        (mask != 0).then(|| CoreId::new(first + mask.trailing_zeros() as usize))
    }

    /// Idle cores of a chip.
    #[inline]
    pub fn count_on(&self, chip: ChipId) -> u32 {
        self.idle[chip].count_ones()
    }

    /// Cores of a chip with excess runners.
    pub fn excess_on(&self, chip: ChipId) -> impl Iterator<Item = CoreId> + '_ {
        let mut mask = self.excess[chip];
        std::iter::from_fn(move || {
            let core = self.first_of(chip, mask)?;
            mask &= mask - 1;
            Some(core)
        })
    }

    /// The same, as a mask.
    #[inline]
    pub fn excess_mask(&self, chip: ChipId) -> u64 {
        self.excess[chip]
    }

    /// Idle cores of a chip, as a mask.
    #[inline]
    pub fn idle_mask(&self, chip: ChipId) -> u64 {
        self.idle[chip]
    }

    /// A core's place in its chip's masks.
    #[inline]
    pub fn bit(&self, chip: ChipId, core: CoreId) -> u64 {
        1 << (core.index() - chip.index() * self.cores_per_chip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::parse_short;

    #[test]
    fn counts_and_finds() {
        let tree = Topology::new(&parse_short("chip:2 core:4").unwrap());
        let (core, zero, one) = (CoreId::new, ChipId::new(0), ChipId::new(1));
        let mut sets = CoreSets::new(&tree);
        sets.set_idle(one, core(6));
        sets.set_idle(one, core(5));
        assert_eq!(
            (sets.idle_on(zero), sets.idle_on(one), sets.idle_count()),
            (None, Some(core(5)), 2)
        );
        sets.take_idle(one, core(5));
        assert_eq!(sets.idle_on(one), Some(core(6)));
        sets.set_excess(zero, core(3), true);
        sets.set_excess(zero, core(1), true);
        sets.set_excess(zero, core(3), false);
        assert_eq!(sets.excess_on(zero).collect::<Vec<_>>(), vec![core(1)]);
    }
}
