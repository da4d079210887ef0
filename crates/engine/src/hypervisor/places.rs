//! Physical cores by type, and the homes of logical cores, as PR/SM sees them.

use super::polarization::{polarize, Kind};
use super::share::Rule;
use super::state::{Mode, State};
use super::windows::Windows;
use crate::ids::{ById, ChipId, CoreId, PartitionId, PoolId, VpId};
use crate::spec::{Polarization, Processors, Spec};

impl Windows {
    /// Sets PR/SM's pools and slices up.
    pub(super) fn set_up_prsm(&mut self, spec: &Spec, state: &mut State) {
        self.assign_cores(spec, state);
        self.polarize_all(spec, state);
    }

    /// Gives every logical core its slice, its kind and its home, those of before forgotten.
    pub(super) fn polarize_all(&mut self, spec: &Spec, state: &mut State) {
        self.high_mask.iter_mut().for_each(|mask| *mask = 0);
        self.lots.iter_mut().for_each(|lot| lot.high = None);
        for slice in &mut self.slices {
            slice.home_core = None;
        }
        for (at, partition) in (0..).zip(&spec.partitions) {
            let at = PartitionId::new(at);
            match &partition.processors {
                Processors::Shared {
                    entitlement, prsm, ..
                } => self.polarize_partition(state, at, *entitlement, prsm.polarization),
                Processors::Dedicated { .. } => {
                    for vp in state.vps_of[at] {
                        self.slices[vp].kind = Kind::High;
                    }
                }
            }
        }
    }

    /// Every physical core that is not dedicated belongs to the pool that lists it, or to the one
    /// that lists none.
    fn assign_cores(&mut self, spec: &Spec, state: &State) {
        let rest = spec.pools.iter().position(|pool| pool.cores.is_none());
        for lot in &mut self.lots {
            lot.pool = rest.map(PoolId::new);
        }
        for (at, pool) in spec.pools.iter().enumerate() {
            for core in pool.cores.iter().flatten() {
                self.lots[CoreId::from(*core)].pool = Some(PoolId::new(at));
            }
        }
        let chips = state.tree.chips().len();
        self.masks = ById::of(ById::of(0, chips), spec.pools.len());
        self.high_mask = ById::of(0, chips);
        for core in state.active() {
            let (lot, chip) = (self.lots[core], state.cores[core].chip);
            if let (Some(pool), None) = (lot.pool, lot.owner) {
                self.masks[pool][chip] |= self.sets.bit(chip, core);
            }
        }
    }

    /// Gives each logical core of a shared partition its slice, its kind and its home.
    fn polarize_partition(
        &mut self,
        state: &mut State,
        at: PartitionId,
        entitlement: f64,
        polarization: Polarization,
    ) {
        let (vps, capacity) = (state.vps_of[at], self.capacity_ns as f64);
        let count = self.shares[at].vps;
        let split = polarize(entitlement, count);
        let even = |index| {
            if index < count {
                entitlement / f64::from(count)
            } else {
                0.0
            }
        };
        let (mut slices, mut kept) = (Vec::new(), Vec::new());
        for (index, vp) in (0..).zip(vps) {
            let (kind, cores) = match polarization {
                Polarization::Horizontal => (Kind::Horizontal, even(index)),
                Polarization::Vertical => (split.kind(index), split.share(index)),
            };
            let slice = (cores * capacity) as u64;
            let idle = state.vps[vp].mode == Mode::Inactive;
            kept.push(if idle { slice } else { 0 });
            slices.push(slice);
            self.slices[vp].kind = kind;
            self.find_home(state, vp);
        }
        let share = &mut self.shares[at];
        share.entitled_ns = slices.iter().sum();
        if let Rule::Slices(of) = &mut share.rule {
            of.beyond.resize(slices.len(), 0);
            (of.kept, of.slices) = (kept, slices);
            of.capacity_ns = self.capacity_ns;
        }
    }

    /// A vertical-high core gets a physical core for its home, as near as can be to where the
    /// partition is homed; others keep their home chip if it has cores of their type.
    fn find_home(&mut self, state: &mut State, vp: VpId) {
        let (kind, chip) = (self.slices[vp].kind, state.vps[vp].home_chip);
        let pool = self.claim(state.vps[vp].partition).pool;
        let Some(core) = self.nearest_core(state, pool, chip, kind == Kind::High) else {
            return;
        };
        let home = state.cores[core].chip;
        if kind == Kind::High {
            self.lots[core].high = Some(vp);
            self.high_mask[home] |= self.sets.bit(home, core);
            self.slices[vp].home_core = Some(core);
        }
        state.vps[vp].home_chip = home;
        state.vps[vp].home_node = state.tree.node_of(home);
    }

    /// The first core of a pool nearest to a chip, one that is nobody's home if `free` is asked
    /// for.
    fn nearest_core(
        &self,
        state: &State,
        pool: PoolId,
        chip: ChipId,
        free: bool,
    ) -> Option<CoreId> {
        let usable = |at: ChipId| {
            let taken = if free { self.high_mask[at] } else { 0 };
            self.masks[pool][at] & !taken
        };
        let chips = state.tree.chips().into_iter();
        let chip = chips
            .filter(|at| usable(*at) != 0)
            .min_by_key(|at| (state.tree.distance(chip, *at), *at))?;
        self.sets.first_of(chip, usable(chip))
    }

    /// Idle cores of a chip that a pool may use, as a mask; others' homes only if `homes`.
    #[inline]
    pub fn idle_of(&self, pool: PoolId, chip: ChipId, homes: bool) -> u64 {
        let usable = self.sets.idle_mask(chip) & self.masks[pool][chip];
        if homes {
            usable
        } else {
            usable & !self.high_mask[chip]
        }
    }

    /// Physical cores of a pool: those of its type that are not dedicated, or all that are not.
    pub fn cores_of_pool(&self, state: &State, pool: PoolId) -> u32 {
        if self.masks.is_empty() {
            return self.pool_cores(state);
        }
        self.masks[pool].iter().map(|mask| mask.count_ones()).sum()
    }
}
