//! Physical cores by type, and the homes of logical cores, as PR/SM sees them.

use super::polarization::{polarize, Kind};
use super::{CoreId, State, VpId, NO_CORE, NO_POOL, NO_VP};
use crate::spec::{Polarization, Policy, Processors, Spec};

impl State {
    /// Sets PR/SM's pools and slices up; nothing to do for others.
    pub(super) fn set_up_prsm(&mut self, spec: &Spec) {
        if spec.machine.hypervisor.policy != Policy::Prsm {
            return;
        }
        self.assign_cores(spec);
        for (at, partition) in spec.partitions.iter().enumerate() {
            match &partition.processors {
                Processors::Shared {
                    entitlement, prsm, ..
                } => self.polarize_partition(at, *entitlement, prsm.polarization),
                Processors::Dedicated { .. } => self.each_vp(at, |vp| vp.kind = Kind::High),
            }
        }
    }

    /// Every physical core that is not dedicated belongs to the pool that lists it, or to the one
    /// that lists none.
    fn assign_cores(&mut self, spec: &Spec) {
        let rest = spec.pools.iter().position(|pool| pool.cores.is_none());
        for core in &mut self.cores {
            core.pool = rest.map_or(NO_POOL, |pool| pool as u16);
        }
        for (at, pool) in spec.pools.iter().enumerate() {
            for core in pool.cores.iter().flatten() {
                self.cores[usize::from(*core)].pool = at as u16;
            }
        }
        self.masks = vec![vec![0; usize::from(self.tree.chips())]; spec.pools.len()];
        self.high_mask = vec![0; usize::from(self.tree.chips())];
        for core in 0..self.tree.active_cores {
            let it = &self.cores[usize::from(core)];
            if it.pool != NO_POOL && it.owner == NO_VP {
                self.masks[usize::from(it.pool)][usize::from(it.chip)] |=
                    self.sets.bit(it.chip, core);
            }
        }
    }

    fn each_vp(&mut self, at: usize, mut change: impl FnMut(&mut super::Vp)) {
        let (first, count) = (self.shares[at].first_vp, self.shares[at].vps);
        for vp in first..first + u32::from(count) {
            change(&mut self.vps[vp as usize]);
        }
    }

    /// Gives each logical core of a shared partition its slice, its kind and its home.
    fn polarize_partition(&mut self, at: usize, entitlement: f64, polarization: Polarization) {
        let share = &self.shares[at];
        let (first, count, capacity) = (share.first_vp, share.vps, self.capacity_ns as f64);
        let split = polarize(entitlement, count);
        let even = entitlement / f64::from(count);
        let mut slices = Vec::new();
        for index in 0..count {
            let (kind, cores) = match polarization {
                Polarization::Horizontal => (Kind::Horizontal, even),
                Polarization::Vertical => (split.kind(index), split.share(index)),
            };
            slices.push((cores * capacity) as u64);
            let vp = first + u32::from(index);
            self.vps[vp as usize].kind = kind;
            self.find_home(vp);
        }
        let share = &mut self.shares[at];
        share.entitled_ns = slices.iter().sum();
        share.kept = slices.clone();
        share.slices = slices;
        share.capacity_ns = self.capacity_ns;
    }

    /// A vertical-high core gets a physical core for its home, as near as can be to where the
    /// partition is homed; others keep their home chip if it has cores of their type.
    fn find_home(&mut self, vp: VpId) {
        let it = &self.vps[vp as usize];
        let (kind, chip) = (it.kind, it.home_chip);
        let pool = self.shares[usize::from(it.partition)].pool;
        let core = self.nearest_core(usize::from(pool), chip, kind == Kind::High);
        if core == NO_CORE {
            return;
        }
        let home = self.cores[usize::from(core)].chip;
        if kind == Kind::High {
            self.cores[usize::from(core)].high = vp;
            self.high_mask[usize::from(home)] |= self.sets.bit(home, core);
            self.vps[vp as usize].home_core = core;
        }
        self.vps[vp as usize].home_chip = home;
        self.vps[vp as usize].home_node = self.tree.node_of(home);
    }

    /// The first core of a pool nearest to a chip, one that is nobody's home if `free` is asked
    /// for.
    fn nearest_core(&self, pool: usize, chip: u16, free: bool) -> CoreId {
        let taken = |at: u16| {
            if free {
                self.high_mask[usize::from(at)]
            } else {
                0
            }
        };
        let chips = (0..self.tree.chips())
            .filter(|at| self.masks[pool][usize::from(*at)] & !taken(*at) != 0)
            .min_by_key(|at| (self.tree.distance(chip, *at), *at));
        chips.map_or(NO_CORE, |at| {
            let mask = self.masks[pool][usize::from(at)] & !taken(at);
            at * self.tree.cores_per_chip + mask.trailing_zeros() as u16
        })
    }

    /// Idle cores of a chip that a pool may use, as a mask; others' homes only if `homes`.
    #[inline]
    pub fn idle_of(&self, pool: u16, chip: u16, homes: bool) -> u64 {
        let usable = self.sets.idle_mask(chip) & self.masks[usize::from(pool)][usize::from(chip)];
        if homes {
            usable
        } else {
            usable & !self.high_mask[usize::from(chip)]
        }
    }

    /// Physical cores of a pool: those of its type that are not dedicated, or all that are not.
    pub fn cores_of_pool(&self, pool: usize) -> u32 {
        match self.masks.get(pool) {
            Some(chips) => chips.iter().map(|mask| mask.count_ones()).sum(),
            None => self.pool_cores(),
        }
    }
}
