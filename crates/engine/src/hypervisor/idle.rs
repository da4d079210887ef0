//! Sets of cores by chip, as bit masks: idle ones and those with an excess runner.

use crate::ids::CoreId;
use crate::machine::Topology;

/// Idle pooled cores and cores whose runner is on excess capacity.
#[derive(Clone, Debug)]
pub struct CoreSets {
    idle: Vec<u64>,
    excess: Vec<u64>,
    idle_count: u32,
    cores_per_chip: u16,
}

impl CoreSets {
    /// Nothing idle, nothing on excess.
    pub fn new(tree: &Topology) -> Self {
        let chips = usize::from(tree.chips());
        Self {
            idle: vec![0; chips],
            excess: vec![0; chips],
            idle_count: 0,
            cores_per_chip: tree.cores_per_chip,
        }
    }

    /// Idle pooled cores in the machine.
    pub fn idle_count(&self) -> u32 {
        self.idle_count
    }

    /// Whether a core is idle and pooled.
    #[inline]
    pub fn is_idle(&self, chip: u16, core: CoreId) -> bool {
        self.idle[usize::from(chip)] & self.bit(chip, core) != 0
    }

    /// Adds an idle core.
    #[inline]
    pub fn set_idle(&mut self, chip: u16, core: CoreId) {
        debug_assert!(!self.is_idle(chip, core));
        self.idle[usize::from(chip)] |= self.bit(chip, core);
        self.idle_count += 1;
    }

    /// Removes an idle core.
    #[inline]
    pub fn take_idle(&mut self, chip: u16, core: CoreId) {
        debug_assert!(self.is_idle(chip, core));
        self.idle[usize::from(chip)] &= !self.bit(chip, core);
        self.idle_count -= 1;
    }

    /// Marks whether a core's runner is on excess capacity.
    #[inline]
    pub fn set_excess(&mut self, chip: u16, core: CoreId, on: bool) {
        let bit = self.bit(chip, core);
        if on {
            self.excess[usize::from(chip)] |= bit;
        } else {
            self.excess[usize::from(chip)] &= !bit;
        }
    }

    /// Lowest idle core of a chip.
    #[inline]
    pub fn idle_on(&self, chip: u16) -> Option<CoreId> {
        self.first_of(chip, self.idle[usize::from(chip)])
    }

    /// The first core of a chip's mask.
    #[inline]
    pub fn first_of(&self, chip: u16, mask: u64) -> Option<CoreId> {
        let first = usize::from(chip * self.cores_per_chip);
        (mask != 0).then(|| CoreId::new(first + mask.trailing_zeros() as usize))
    }

    /// Idle cores of a chip.
    #[inline]
    pub fn count_on(&self, chip: u16) -> u32 {
        self.idle[usize::from(chip)].count_ones()
    }

    /// Cores of a chip with excess runners.
    pub fn excess_on(&self, chip: u16) -> impl Iterator<Item = CoreId> + '_ {
        let mut mask = self.excess[usize::from(chip)];
        std::iter::from_fn(move || {
            let core = self.first_of(chip, mask)?;
            mask &= mask - 1;
            Some(core)
        })
    }

    /// The same, as a mask.
    #[inline]
    pub fn excess_mask(&self, chip: u16) -> u64 {
        self.excess[usize::from(chip)]
    }

    /// Idle cores of a chip, as a mask.
    #[inline]
    pub fn idle_mask(&self, chip: u16) -> u64 {
        self.idle[usize::from(chip)]
    }

    /// A core's place in its chip's masks.
    #[inline]
    pub fn bit(&self, chip: u16, core: CoreId) -> u64 {
        1 << (core.index() - usize::from(chip * self.cores_per_chip))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::parse_short;

    #[test]
    fn counts_and_finds() {
        let tree = Topology::new(&parse_short("chip:2 core:4").unwrap());
        let core = CoreId::new;
        let mut sets = CoreSets::new(&tree);
        sets.set_idle(1, core(6));
        sets.set_idle(1, core(5));
        assert_eq!(
            (sets.idle_on(0), sets.idle_on(1), sets.idle_count()),
            (None, Some(core(5)), 2)
        );
        sets.take_idle(1, core(5));
        assert_eq!(sets.idle_on(1), Some(core(6)));
        sets.set_excess(0, core(3), true);
        sets.set_excess(0, core(1), true);
        sets.set_excess(0, core(3), false);
        assert_eq!(sets.excess_on(0).collect::<Vec<_>>(), vec![core(1)]);
    }
}
