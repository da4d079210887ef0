//! How busy each virtual processor of a partition is.

use super::set::VpSet;

/// Busy threads of each virtual processor, and those that may get work by their number of busy
/// threads.
#[derive(Clone, Debug)]
pub struct Loads {
    smt: u8,
    busy: Vec<u8>,
    by_load: Vec<VpSet>,
}

impl Loads {
    /// All idle, all may get work.
    pub fn new(vps: u16, smt: u8) -> Self {
        let mut by_load = vec![VpSet::new(vps); usize::from(smt) + 1];
        (0..vps).for_each(|vp| by_load[0].insert(vp));
        Self {
            smt,
            busy: vec![0; usize::from(vps)],
            by_load,
        }
    }

    /// Threads of a virtual processor.
    #[inline]
    pub fn smt(&self) -> u8 {
        self.smt
    }

    /// Virtual processors, with work or without.
    pub fn vps(&self) -> u16 {
        self.busy.len() as u16
    }

    /// Busy threads of a virtual processor, as a mask.
    #[inline]
    pub fn mask(&self, vp: u16) -> u8 {
        self.busy[usize::from(vp)]
    }

    /// Virtual processors that may get work and have so many busy threads.
    #[inline]
    pub fn at(&self, load: usize) -> &VpSet {
        &self.by_load[load]
    }

    /// Lowest idle thread of a virtual processor that has one.
    #[inline]
    pub fn idle_thread(&self, vp: u16) -> u8 {
        (!self.busy[usize::from(vp)]).trailing_zeros() as u8
    }

    /// Sets the busy threads of a virtual processor; `counts` says whether it may get work.
    #[inline]
    pub fn set_mask(&mut self, vp: u16, mask: u8, counts: bool) {
        let was = std::mem::replace(&mut self.busy[usize::from(vp)], mask);
        if counts {
            self.by_load[was.count_ones() as usize].remove(vp);
            self.by_load[mask.count_ones() as usize].insert(vp);
        }
    }

    /// From now on a virtual processor gets no work.
    pub fn exclude(&mut self, vp: u16) {
        self.by_load[self.busy[usize::from(vp)].count_ones() as usize].remove(vp);
    }

    /// From now on a virtual processor may get work.
    pub fn include(&mut self, vp: u16) {
        self.by_load[self.busy[usize::from(vp)].count_ones() as usize].insert(vp);
    }

    /// Most and fewest busy threads of a virtual processor that may get work.
    pub fn extremes(&self) -> Option<(usize, usize)> {
        let mut loads = 0..=usize::from(self.smt);
        let taken = |load: &usize| self.by_load[*load].first().is_some();
        Some((loads.clone().rev().find(taken)?, loads.find(taken)?))
    }
}
