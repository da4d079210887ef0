//! How busy each virtual processor of a partition is.

use super::set::VpSet;

/// Most busy threads of a virtual processor, and none.
const LOADS: usize = 9;
/// Virtual processors whose masks stand in place.
const NEAR: usize = 16;

/// Busy threads of each virtual processor, and those that may get work by their number of busy
/// threads. What an event needs of a partition that is not large stands side by side.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Loads {
    smt: u8,
    stride: u8,
    vps: u16,
    near: [u8; NEAR],
    far: Box<[u8]>,
    by_load: [VpSet; LOADS],
}

impl Loads {
    /// All idle, all may get work.
    pub fn new(vps: u16, smt: u8) -> Self {
        let mut by_load = std::array::from_fn(|_| VpSet::new(vps));
        (0..vps).for_each(|vp| by_load[0].insert(vp));
        Self {
            smt,
            stride: smt,
            vps,
            near: [0; NEAR],
            far: vec![0; usize::from(vps).saturating_sub(NEAR)].into(),
            by_load,
        }
    }

    #[inline]
    fn busy(&mut self, vp: u16) -> &mut u8 {
        let vp = usize::from(vp);
        if vp < NEAR {
            &mut self.near[vp]
        } else {
            &mut self.far[vp - NEAR]
        }
    }

    /// Threads of a virtual processor that are online.
    #[inline]
    pub fn smt(&self) -> u8 {
        self.smt
    }

    /// Threads of a virtual processor that there is room for: logical processors go by it.
    #[inline]
    pub fn stride(&self) -> u8 {
        self.stride
    }

    /// From now on so many virtual processors and threads of each are online, no more than there is
    /// room for.
    pub fn set_online(&mut self, vps: u16, smt: u8) {
        (self.vps, self.smt) = (vps, smt);
    }

    /// Virtual processors that are online, with work or without.
    pub fn vps(&self) -> u16 {
        self.vps
    }

    /// Busy threads of a virtual processor, as a mask.
    #[inline]
    pub fn mask(&self, vp: u16) -> u8 {
        let vp = usize::from(vp);
        if vp < NEAR {
            self.near[vp]
        } else {
            self.far[vp - NEAR]
        }
    }

    /// Virtual processors that may get work and have so many busy threads.
    #[inline]
    pub fn at(&self, load: usize) -> &VpSet {
        &self.by_load[load]
    }

    /// How many threads of a virtual processor are busy.
    pub fn load(&self, vp: u16) -> usize {
        self.mask(vp).count_ones() as usize
    }

    /// Lowest idle thread of a virtual processor that has one.
    #[inline]
    pub fn idle_thread(&self, vp: u16) -> u8 {
        (!self.mask(vp)).trailing_zeros() as u8
    }

    /// Sets the busy threads of a virtual processor; `counts` says whether it may get work.
    #[inline]
    pub fn set_mask(&mut self, vp: u16, mask: u8, counts: bool) {
        let was = std::mem::replace(self.busy(vp), mask);
        if counts {
            self.by_load[was.count_ones() as usize].remove(vp);
            self.by_load[mask.count_ones() as usize].insert(vp);
        }
    }

    /// From now on a virtual processor gets no work.
    pub fn exclude(&mut self, vp: u16) {
        self.by_load[self.mask(vp).count_ones() as usize].remove(vp);
    }

    /// From now on a virtual processor may get work.
    pub fn include(&mut self, vp: u16) {
        self.by_load[self.mask(vp).count_ones() as usize].insert(vp);
    }

    /// Most and fewest busy threads of a virtual processor that may get work.
    pub fn extremes(&self) -> Option<(usize, usize)> {
        let mut loads = 0..=usize::from(self.smt);
        let taken = |load: &usize| self.by_load[*load].first().is_some();
        Some((loads.clone().rev().find(taken)?, loads.find(taken)?))
    }
}
