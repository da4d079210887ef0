//! Capacity by window: what PowerVM, PR/SM and a machine of dedicated cores know besides who is
//! where.

use super::capacity::Capacity;
use super::contest::Contest;
use super::grants::Room;
use super::idle::CoreSets;
use super::polarization::Kind;
use super::pool::PoolBudget;
use super::queues::Queues;
use super::share::{Claim, Share};
use super::stand::Stand;
use super::state::State;
use crate::ids::{ById, ChipId, CoreId, GroupId, PartitionId, PoolId, VpId};
use crate::spec::{Eviction, Policy, Processors, Spec};

/// What a virtual processor has of its partition's capacity.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub struct Slice {
    /// Entitled time left in this window [ns].
    pub slice_ns: u64,
    /// The part of that which a vertical-high sibling gave it, to use on that one's home [ns].
    pub gift_ns: u64,
    /// Who that is, as long as it runs there.
    pub giver: Option<VpId>,
    /// Reserved from a limited pool for the current stretch [ns].
    pub grant_ns: u64,
    /// The part of that which comes out of what the pool itself is entitled to (level 0) [ns].
    pub own_ns: u64,
    /// Whether the stretch is an extension: entitled ones wait, and it goes on.
    pub extended: bool,
    /// Account it runs or waits on.
    pub capacity: Capacity,
    /// Whether it woke within this window, so that it has no claim on all of its slice.
    pub late: bool,
    /// Its kind by polarization, with PR/SM.
    pub kind: Kind,
    /// Physical core that is its home, for a vertical-high one.
    pub home_core: Option<CoreId>,
    /// Core of its own, if its partition is dedicated.
    pub own_core: Option<CoreId>,
}

/// Whose a core is.
#[derive(Clone, Copy, Debug)]
pub struct Lot {
    /// Dedicated owner.
    pub owner: Option<VpId>,
    /// Whether the pool may use it now.
    pub pooled: bool,
    /// Pool whose logical cores it runs, with PR/SM.
    pub pool: Option<PoolId>,
    /// Vertical-high logical core whose home it is.
    pub high: Option<VpId>,
}

/// Budgets, ready queues and sets of cores.
pub struct Windows {
    /// By virtual processor.
    pub slices: ById<VpId, Slice>,
    /// By core.
    pub lots: ById<CoreId, Lot>,
    /// Budgets of the partitions.
    pub shares: ById<PartitionId, Share>,
    /// Who wanted what others left in this window.
    pub contests: ById<PartitionId, Contest>,
    /// Room for where they stand.
    pub(super) stands: Vec<Stand>,
    /// Room for what they had and could have had of that.
    pub(super) room: Room,
    /// Budgets of the pools.
    pub pools: ById<PoolId, PoolBudget>,
    /// Budgets of the groups.
    pub groups: ById<GroupId, PoolBudget>,
    /// Idle pooled cores and cores with excess runners.
    pub sets: CoreSets,
    /// Ready virtual processors.
    pub queues: Queues,
    /// How many run in place of a vertical-high sibling that gave them its time.
    pub guests: u16,
    /// Whom an entitled requester may evict.
    pub eviction: Eviction,
    /// What a physical core has to give in a window [ns].
    pub capacity_ns: u64,
    /// Whether a window has been opened yet.
    pub opened: bool,
    /// For how long cores of dedicated partitions have worked for others in this window [ns].
    pub lent_ns: u64,
    /// Whether what a pool is entitled to goes to its own partitions first: PowerVM with several.
    pub(super) has_levels: bool,
    /// Time in the pool of cores that have left it, less that before others came [ns].
    pub cores_before_ns: i64,
    /// Whether some cores are dedicated: where none is, nobody needs to look.
    has_owners: bool,
    /// Whether cores of one's own cost no dispatching.
    pub own_is_free: bool,
    /// Usable cores by pool and chip, as masks, with PR/SM.
    pub(super) masks: ById<PoolId, ById<ChipId, u64>>,
    /// Cores that are a vertical-high core's home, by chip, as masks.
    pub(super) high_mask: ById<ChipId, u64>,
}

impl Windows {
    /// Nothing handed out yet, all cores idle. PR/SM gives logical cores homes of its own.
    pub fn new(spec: &Spec, state: &mut State) -> Self {
        let hypervisor = &spec.machine.hypervisor;
        let capacity_ns = hypervisor
            .window_ns
            .saturating_sub(hypervisor.prsm.physical_ns);
        let share = |partition| Share::new(partition, hypervisor.policy, hypervisor.window_ns);
        let groups = spec.groups.iter();
        let shares: ById<PartitionId, Share> = spec.partitions.iter().map(share).collect();
        let pools = spec.pools.iter();
        let pools: ById<PoolId, PoolBudget> = pools
            .map(|pool| PoolBudget::new(pool, hypervisor.window_ns))
            .collect();
        let mut windows = Self {
            slices: ById::of(Slice::new(), state.vps.len()),
            lots: ById::of(Lot::pooled(), state.cores.len()),
            groups: groups
                .map(|g| PoolBudget::of_group(g.cap, capacity_ns))
                .collect(),
            sets: CoreSets::new(&state.tree),
            queues: Queues::new(spec.pools.len(), &shares),
            guests: 0,
            contests: shares
                .iter()
                .map(|share| Contest::of(share, &pools))
                .collect(),
            stands: Vec::with_capacity(shares.len() + pools.len() + spec.groups.len()),
            shares,
            pools,
            room: Room::default(),
            eviction: hypervisor.eviction,
            capacity_ns,
            opened: false,
            lent_ns: 0,
            has_levels: hypervisor.policy == Policy::Phyp && spec.pools.len() > 1,
            cores_before_ns: 0,
            has_owners: false,
            own_is_free: hypervisor.policy == Policy::Prsm,
            masks: ById::new(),
            high_mask: ById::new(),
        };
        windows.set_dedicated_apart(spec, state);
        if hypervisor.policy == Policy::Prsm {
            windows.set_up_prsm(spec, state);
        }
        for core in state.active() {
            if windows.lots[core].pooled {
                windows.sets.set_idle(state.cores[core].chip, core);
            }
        }
        windows.entitle_pools();
        windows
    }

    fn set_dedicated_apart(&mut self, spec: &Spec, state: &State) {
        for (partition, vps) in spec.partitions.iter().zip(&state.vps_of) {
            if let Processors::Dedicated { cores, .. } = &partition.processors {
                for (vp, core) in vps.into_iter().zip(cores) {
                    let core = CoreId::from(*core);
                    self.has_owners = true;
                    self.lots[core].owner = Some(vp);
                    self.lots[core].pooled = false;
                    self.slices[vp].own_core = Some(core);
                }
            }
        }
    }

    /// What the partitions of each pool are entitled to in a window.
    fn entitle_pools(&mut self) {
        for pool in self.pools.ids() {
            let members = self.shares.iter();
            let of = |share: &&Share| share.claim().is_some_and(|claim| claim.pool == pool);
            let entitled: u64 = members.filter(of).map(|share| share.entitled_ns).sum();
            let budget = &mut self.pools[pool];
            budget.entitled_ns = budget.reserved_ns + entitled;
        }
    }

    /// Takes what a spec that has changed says of a partition, when a window begins after so many.
    pub fn reconfigure(&mut self, spec: &Spec, state: &mut State, of: PartitionId, past: u64) {
        let was: Vec<u64> = self.pools.iter().map(|pool| pool.entitled_ns).collect();
        let (partition, window) = (
            &spec.partitions[of.index()],
            spec.machine.hypervisor.window_ns,
        );
        self.shares[of].reconfigure(partition, window);
        if spec.machine.hypervisor.policy == Policy::Prsm {
            self.polarize_all(spec, state);
        }
        self.entitle_pools();
        for (pool, was) in self.pools.iter_mut().zip(was) {
            let less = was as i64 - pool.entitled_ns as i64;
            pool.entitled_before_ns += less * past as i64;
        }
    }

    /// What a partition lost is idle: its virtual processors are those of its spec, each dedicated
    /// one with its own core.
    pub fn settle_online(&mut self, spec: &Spec, state: &mut State, of: PartitionId, now: u64) {
        let processors = &spec.partitions[of.index()].processors;
        self.shares[of].set_vps(processors.count(), spec.machine.hypervisor.window_ns);
        if let Processors::Dedicated { cores, .. } = processors {
            let pooled = i64::from(self.pool_cores(state));
            for (vp, core) in state.vps_of[of].into_iter().zip(&padded(cores, state, of)) {
                self.own(state, vp, *core);
            }
            self.cores_before_ns += (pooled - i64::from(self.pool_cores(state))) * now as i64;
        } else if spec.machine.hypervisor.policy == Policy::Prsm {
            self.polarize_all(spec, state);
        }
    }

    /// Gives an idle virtual processor a core of its own that is nobody's, or takes its core away.
    fn own(&mut self, state: &mut State, vp: VpId, core: Option<CoreId>) {
        let was = std::mem::replace(&mut self.slices[vp].own_core, core);
        if was == core {
            return;
        }
        if let Some(was) = was.filter(|was| self.lots[*was].owner == Some(vp)) {
            self.lots[was] = Lot::pooled();
            self.sets.set_idle(state.cores[was].chip, was);
        }
        if let Some(core) = core {
            self.sets.take_idle(state.cores[core].chip, core);
            self.lots[core].owner = Some(vp);
            self.lots[core].pooled = false;
            state.vps[vp].home_chip = state.cores[core].chip;
            state.vps[vp].home_node = state.cores[core].node;
        }
    }

    /// One more virtual processor of a partition has work. Dedicated partitions belong to no pool.
    #[inline]
    pub fn count_active(&mut self, partition: PartitionId) {
        let share = &mut self.shares[partition];
        share.active_vps += 1;
        if let Some(claim) = share.claim() {
            self.pools[claim.pool].active_vps += 1;
        }
    }

    /// One virtual processor of a partition has run out of work.
    #[inline]
    pub fn count_inactive(&mut self, partition: PartitionId) {
        let share = &mut self.shares[partition];
        share.active_vps -= 1;
        if let Some(claim) = share.claim() {
            self.pools[claim.pool].active_vps -= 1;
        }
    }

    /// Cores of the physical shared pool (dedicated cores apart).
    pub fn pool_cores(&self, state: &State) -> u32 {
        let active = state.active().into_iter();
        active
            .filter(|core| self.lots[*core].owner.is_none())
            .count() as u32
    }

    /// Sees to it that it is known whose turn for excess it is now.
    #[inline]
    pub fn refresh_turns(&mut self) {
        self.queues.turns.refresh(&self.shares);
    }

    /// Whether virtual processors with entitlement wait for a core.
    #[inline]
    pub fn has_entitled_waiting(&self) -> bool {
        !self.queues.entitled.is_empty()
    }

    /// Whether putting a virtual processor on a core and taking it off costs nothing.
    #[inline]
    pub fn dispatches_free(&self, vp: VpId) -> bool {
        self.own_is_free && self.own_core(vp).is_some()
    }

    /// Dedicated owner of a core, if it has one.
    #[inline]
    pub fn owner(&self, core: CoreId) -> Option<VpId> {
        if self.has_owners {
            self.lots[core].owner
        } else {
            None
        }
    }

    /// Dedicated core of a virtual processor, if it has one.
    #[inline]
    pub fn own_core(&self, vp: VpId) -> Option<CoreId> {
        self.slices[vp].own_core
    }

    /// What a partition has of its pool, where it shares one.
    ///
    /// # Panics
    /// If the partition is dedicated: nobody asks that of one.
    #[inline]
    pub fn claim(&self, partition: PartitionId) -> &Claim {
        self.shares[partition].claim().expect("a shared partition")
    }
}

/// The core of each virtual processor of a partition; none for those that are off.
fn padded(cores: &[u16], state: &State, of: PartitionId) -> Vec<Option<CoreId>> {
    let cores = cores.iter().map(|core| Some(CoreId::from(*core)));
    let all = cores.chain(std::iter::repeat(None));
    all.take(state.vps_of[of].len()).collect()
}

impl Slice {
    fn new() -> Self {
        Self {
            slice_ns: 0,
            gift_ns: 0,
            giver: None,
            grant_ns: u64::MAX,
            own_ns: 0,
            extended: false,
            capacity: Capacity::Entitled,
            late: false,
            kind: Kind::Horizontal,
            home_core: None,
            own_core: None,
        }
    }
}

impl Lot {
    fn pooled() -> Self {
        Self {
            owner: None,
            pooled: true,
            pool: None,
            high: None,
        }
    }
}
