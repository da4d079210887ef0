//! What the hypervisor knows of virtual processors and cores.

use super::budget::{PoolBudget, Share};
use super::idle::CoreSets;
use super::ids::{Capacity, CoreId, VpId, NO_CORE, NO_VP};
use super::polarization::Kind;
use super::queues::Queues;
use crate::machine::{Distance, Topology};
use crate::spec::{Eviction, Policy, Processors, Spec};

/// State of a virtual processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// All its threads have ceded.
    Inactive,
    /// Has work, waits for a core.
    Ready,
    /// On a core.
    Running,
    /// Has work, but no capacity until the next window.
    Exhausted,
}

/// A virtual processor.
#[derive(Clone, Debug)]
pub struct Vp {
    /// Owning partition.
    pub partition: u16,
    /// Index within the partition.
    pub index: u16,
    /// Chip near which it is dispatched if there is room.
    pub home_chip: u16,
    /// Node of that chip.
    pub home_node: u16,
    /// Its kind by polarization, with PR/SM.
    pub kind: Kind,
    /// Physical core that is its home, for a vertical-high one, or `NO_CORE`.
    pub home_core: CoreId,
    /// Core it is on, or `NO_CORE`.
    pub core: CoreId,
    /// Core it was last on, or `NO_CORE`.
    pub last_core: CoreId,
    /// State.
    pub mode: Mode,
    /// Account it runs or waits on.
    pub capacity: Capacity,
    /// Whether it woke within this window, so that it has no claim on all of its slice.
    pub late: bool,
    /// Entitled time left in this window [ns].
    pub slice_ns: u64,
    /// Reserved from a limited pool for the current stretch [ns]; `u64::MAX` where the pool has no
    /// limit.
    pub grant_ns: u64,
    /// Since when it has been ready [ns].
    pub ready_at: u64,
    /// Since when it has been on its core [ns].
    pub dispatched_at: u64,
}

/// What virtual processors are dispatched on.
#[derive(Clone, Debug)]
pub struct Core {
    /// Index of its chip over the whole machine.
    pub chip: u16,
    /// Index of the node of that chip.
    pub node: u16,
    /// Who runs on it, or `NO_VP`.
    pub running: VpId,
    /// Dedicated owner, or `NO_VP`.
    pub owner: VpId,
    /// Whether the pool may use it now.
    pub pooled: bool,
    /// Pool whose logical cores it runs, with PR/SM, or `NO_POOL`.
    pub pool: u16,
    /// Vertical-high logical core whose home it is, or `NO_VP`.
    pub high: VpId,
}

/// Dispatch state of the whole machine.
pub struct State {
    /// Where cores, chips and nodes are in the machine.
    pub tree: Topology,
    /// Virtual processors, partition by partition.
    pub vps: Vec<Vp>,
    /// What each core does, by index.
    pub cores: Vec<Core>,
    /// Budgets of the partitions.
    pub shares: Vec<Share>,
    /// Budgets of the pools.
    pub pools: Vec<PoolBudget>,
    /// Idle pooled cores and cores with excess runners.
    pub sets: CoreSets,
    /// Ready virtual processors.
    pub queues: Queues,
    /// Whom an entitled requester may evict.
    pub eviction: Eviction,
    /// Budgets of the groups.
    pub groups: Vec<PoolBudget>,
    /// What a physical core has to give in a window [ns].
    pub capacity_ns: u64,
    /// Whether a window has been opened yet.
    pub opened: bool,
    /// Whether cores of one's own cost no dispatching.
    pub own_is_free: bool,
    /// Usable cores by pool and chip, as masks, with PR/SM.
    pub(super) masks: Vec<Vec<u64>>,
    /// Cores that are a vertical-high core's home, by chip, as masks.
    pub(super) high_mask: Vec<u64>,
}

impl State {
    /// All virtual processors inactive, all cores idle.
    pub fn new(spec: &Spec) -> Self {
        let tree = Topology::new(&spec.machine);
        let mut vps = Vec::new();
        let mut shares = Vec::new();
        for (index, partition) in spec.partitions.iter().enumerate() {
            let first = vps.len() as VpId;
            let count = match &partition.processors {
                Processors::Shared { r#virtual, .. } => *r#virtual,
                Processors::Dedicated { cores, .. } => cores.len() as u16,
            };
            for vp in 0..count {
                let chip = partition.home[usize::from(vp) % partition.home.len()];
                vps.push(Vp::new(index as u16, vp, chip, tree.node_of(chip)));
            }
            shares.push(Share::new(
                partition,
                first,
                count,
                spec.machine.hypervisor.window_ns,
            ));
        }
        let hypervisor = &spec.machine.hypervisor;
        let capacity_ns = hypervisor
            .window_ns
            .saturating_sub(hypervisor.prsm.physical_ns);
        let groups = spec.groups.iter();
        let mut state = Self {
            sets: CoreSets::new(&tree),
            cores: cores(&tree),
            pools: spec
                .pools
                .iter()
                .map(|pool| PoolBudget::new(pool, spec.machine.hypervisor.window_ns))
                .collect(),
            queues: Queues::new(shares.len()),
            tree,
            vps,
            shares,
            eviction: hypervisor.eviction,
            groups: groups
                .map(|g| PoolBudget::of_group(g.cap, capacity_ns))
                .collect(),
            capacity_ns,
            opened: false,
            own_is_free: hypervisor.policy == Policy::Prsm,
            masks: Vec::new(),
            high_mask: Vec::new(),
        };
        state.set_dedicated_apart(spec);
        state.set_up_prsm(spec);
        for core in 0..state.tree.active_cores {
            if state.cores[usize::from(core)].pooled {
                state
                    .sets
                    .set_idle(state.cores[usize::from(core)].chip, core);
            }
        }
        state
    }

    fn set_dedicated_apart(&mut self, spec: &Spec) {
        for (partition, share) in spec.partitions.iter().zip(&self.shares) {
            if let Processors::Dedicated { cores, .. } = &partition.processors {
                for (vp, core) in (share.first_vp..).zip(cores) {
                    self.cores[usize::from(*core)].owner = vp;
                    self.cores[usize::from(*core)].pooled = false;
                    self.vps[vp as usize].home_chip = self.cores[usize::from(*core)].chip;
                    self.vps[vp as usize].home_node = self.cores[usize::from(*core)].node;
                }
            }
        }
    }

    /// One more virtual processor of a partition has work. Dedicated partitions belong to no pool.
    pub fn count_active(&mut self, partition: usize) {
        let share = &mut self.shares[partition];
        share.active_vps += 1;
        if !share.is_dedicated() {
            self.pools[usize::from(share.pool)].active_vps += 1;
        }
    }

    /// One virtual processor of a partition has run out of work.
    pub fn count_inactive(&mut self, partition: usize) {
        let share = &mut self.shares[partition];
        share.active_vps -= 1;
        if !share.is_dedicated() {
            self.pools[usize::from(share.pool)].active_vps -= 1;
        }
    }

    /// Cores of the physical shared pool (dedicated cores apart).
    pub fn pool_cores(&self) -> u32 {
        let active = usize::from(self.tree.active_cores);
        self.cores[..active]
            .iter()
            .filter(|core| core.owner == NO_VP)
            .count() as u32
    }

    /// Whether virtual processors with entitlement wait for a core.
    pub fn has_entitled_waiting(&self) -> bool {
        !self.queues.entitled.is_empty()
    }

    /// Whether putting a virtual processor on a core and taking it off costs nothing.
    #[inline]
    pub fn dispatches_free(&self, vp: VpId) -> bool {
        self.own_is_free && self.own_core(vp).is_some()
    }

    /// Dedicated core of a virtual processor, if it has one.
    pub fn own_core(&self, vp: VpId) -> Option<CoreId> {
        let share = &self.shares[usize::from(self.vps[vp as usize].partition)];
        share.cores.get((vp - share.first_vp) as usize).copied()
    }

    /// Distance of a core from a virtual processor's home chip.
    pub fn distance_from_home(&self, vp: VpId, core: CoreId) -> Distance {
        self.tree.distance(
            self.vps[vp as usize].home_chip,
            self.cores[usize::from(core)].chip,
        )
    }
}

impl Vp {
    fn new(partition: u16, index: u16, home_chip: u16, home_node: u16) -> Self {
        Self {
            partition,
            index,
            home_chip,
            home_node,
            kind: Kind::Horizontal,
            home_core: NO_CORE,
            core: NO_CORE,
            last_core: NO_CORE,
            mode: Mode::Inactive,
            capacity: Capacity::Entitled,
            late: false,
            slice_ns: 0,
            grant_ns: u64::MAX,
            ready_at: 0,
            dispatched_at: 0,
        }
    }
}

fn cores(tree: &Topology) -> Vec<Core> {
    (0..tree.chips() * tree.cores_per_chip)
        .map(|core| Core {
            chip: tree.chip_of(core),
            node: tree.node_of(tree.chip_of(core)),
            running: NO_VP,
            owner: NO_VP,
            pooled: true,
            pool: 0,
            high: NO_VP,
        })
        .collect()
}
