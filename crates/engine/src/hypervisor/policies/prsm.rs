//! IBM Z's hypervisor, Processor Resource/Systems Manager (PR/SM).
//!
//! Overview. A partition has *logical cores*. Dedicated ones have a physical core each, which costs
//! nothing. Shared ones run on the physical cores of their type (a pool) by weight: of the shared
//! cores of the type a partition is entitled to the part that its weight is of all weights
//! ([`entitlements`]). In horizontal polarization each logical core has an even part of that, in
//! vertical polarization it is packed on as few as can be ([`polarize`]).
//!
//! Capacity is handed out anew in each *time slice* ([`run_time_ns`]): each logical core gets its
//! own share of it and what it leaves goes to all that want more, by weight (IBM, "Processing
//! weight management"). Then:
//!
//! 1. a vertical-high logical core has a physical core for its home, and takes it back from
//!    whoever runs there as soon as it has work: it is as good as dedicated;
//! 2. others that are within their share go to an idle core, nearest first: the last one, then the
//!    home chip, its node, the rest; cores that are nobody's home come before idle homes. If none
//!    is idle, one that runs beyond its share must leave;
//! 3. those beyond their share (vertical-low ones always) take idle cores in the same order, or
//!    wait. Of several partitions the one with the least use beyond its share per weight is next,
//!    and those ahead of it give way after a quantum.
//!
//! A partition that waits gives its core up at once (event-driven dispatching). Initial capping
//! forbids use beyond the share, logical core by logical core (IBM, "Capping processing weights");
//! absolute caps, group caps and defined capacities limit the partition (`limits.rs`).
//!
//! Management time. Putting a logical core on a physical one and taking it off costs the partition
//! time (its books' `hypervisor`); a logical core that goes on after its slice pays as well, a
//! vertical-high one only every 100 ms. PR/SM's own time (PHYSICAL) is taken off every shared core
//! at the start of a slice and is no partition's.
//!
//! Typical use: logical partitions of IBM Z with shared processors, beside dedicated ones.
//! Validated by IBM's published examples of weight management (tests `prsm.rs`): shares by weight
//! with and without capping. No study of a contended machine has been published to hold it against.
//!
//! Not published, and assumed here: the order within PR/SM's ready queue (ours is first come first
//! served, those within their share before the others); whom an interrupt lets a logical core
//! throw off (ours: only those beyond their share, and anyone from a vertical-high core's home);
//! how PR/SM places partitions on chips (the scenario's homes); soft caps act through a phantom
//! weight there and as a limit of each slice here. One slice length holds for all core types, and
//! shares are kept slice by slice, where the machine keeps them to within some percent over longer
//! times.
//!
//! [`entitlements`]: crate::hypervisor::entitlements
//! [`polarize`]: crate::hypervisor::polarize

use std::collections::VecDeque;

use crate::hypervisor::{
    Capacity, CoreId, Kind, Placement, Policy, Renewal, State, VpId, NO_CORE, NO_POOL, NO_VP,
};
use crate::spec::{Processors, Spec};

/// How many waiting logical cores a free core looks at before it takes the first.
const LOOK_AHEAD: usize = 64;
/// Slice of a logical core where there are as many as physical ones [ns] (z9 PR/SM Planning Guide).
const RUN_TIME_NS: f64 = 25e6;
/// Least and most that PR/SM sets it to [ns] (the same; the most as told on the IBM-MAIN list).
const RUN_TIME_RANGE_NS: (f64, f64) = (12.5e6, 100e6);
/// Slice of a vertical-high logical core [ns] (as told on the IBM-MAIN list).
pub const HIGH_RUN_TIME_NS: u64 = 100_000_000;

/// PR/SM's dispatcher.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prsm;

/// Time slice of shared logical cores: 25 ms times physical over logical cores, 12.5 ms at least,
/// unless an operator set it; none without shared partitions.
pub fn run_time_ns(spec: &Spec) -> Option<u64> {
    let logical: u32 = spec
        .partitions
        .iter()
        .map(|p| logical_cores(&p.processors))
        .sum();
    if logical == 0 {
        return None;
    }
    let physical: u32 = (0..spec.pools.len())
        .map(|pool| shared_cores(spec, pool))
        .sum();
    let (least, most) = RUN_TIME_RANGE_NS;
    let rule = RUN_TIME_NS * f64::from(physical) / f64::from(logical);
    let set = spec.machine.hypervisor.prsm.run_time_ns;
    Some(set.unwrap_or(rule.clamp(least, most) as u64))
}

fn logical_cores(processors: &Processors) -> u32 {
    match processors {
        Processors::Shared { r#virtual, .. } => u32::from(*r#virtual),
        Processors::Dedicated { .. } => 0,
    }
}

/// Physical cores that a pool's partitions share.
pub fn shared_cores(spec: &Spec, pool: usize) -> u32 {
    let listed = |core: &u16| {
        spec.pools
            .iter()
            .any(|p| p.cores.iter().flatten().any(|c| c == core))
    };
    let own = |core: &u16| match &spec.pools[pool].cores {
        Some(cores) => cores.contains(core),
        None => !listed(core),
    };
    let dedicated = |core: &u16| {
        spec.partitions.iter().any(|p| match &p.processors {
            Processors::Dedicated { cores, .. } => cores.contains(core),
            Processors::Shared { .. } => false,
        })
    };
    let cores = 0..spec.machine.active_cores;
    cores.filter(|core| own(core) && !dedicated(core)).count() as u32
}

impl Policy for Prsm {
    fn place(&self, state: &State, vp: VpId) -> Placement {
        if let Some(own) = state.own_core(vp) {
            return Placement::Run(own);
        }
        let it = &state.vps[vp as usize];
        let entitled = it.capacity == Capacity::Entitled;
        if it.home_core != NO_CORE {
            let runner = state.cores[usize::from(it.home_core)].running;
            if runner == NO_VP {
                return Placement::Run(it.home_core);
            }
            if entitled {
                return Placement::Evict(it.home_core);
            }
        }
        match nearest_idle(state, vp) {
            NO_CORE => {}
            idle => return Placement::Run(idle),
        }
        match entitled.then(|| victim(state, vp)).flatten() {
            Some(core) => Placement::Evict(core),
            None => Placement::Wait,
        }
    }

    fn next(&self, state: &State, core: CoreId) -> Option<VpId> {
        let it = &state.cores[usize::from(core)];
        if it.pool == NO_POOL {
            return None;
        }
        if let Some(vp) = best_fit(state, &state.queues.entitled, core) {
            return Some(vp);
        }
        let partition = most_behind(state, it.pool)?;
        best_fit(state, &state.queues.excess[usize::from(partition)], core)
    }

    fn renew(&self, state: &State, vp: VpId) -> Renewal {
        let runner = &state.vps[vp as usize];
        if state.own_core(vp).is_some() || runner.core == runner.home_core {
            return Renewal::Stay;
        }
        let pool = pool_of(state, vp);
        if runner.capacity == Capacity::Excess && others_come_first(state, vp, pool) {
            return Renewal::Yield;
        }
        if runner.home_core != NO_CORE
            && state.cores[usize::from(runner.home_core)].running == NO_VP
        {
            return Renewal::Move(runner.home_core);
        }
        let at_home = state.cores[usize::from(runner.core)].node == runner.home_node;
        if at_home || state.sets.idle_count() == 0 {
            return Renewal::Stay;
        }
        match idle_on_node(state, vp, pool, false) {
            NO_CORE => Renewal::Stay,
            core => Renewal::Move(core),
        }
    }

    fn spare(&self, state: &State, vp: VpId, left_ns: u64) -> Option<CoreId> {
        // Who is beyond its share first, then who can't get all of it any more; of those the one
        // whose partition has used most beyond its share, then who needs least. Never a
        // vertical-high core at home.
        let pool = pool_of(state, vp);
        let need = |core: CoreId| {
            let it = &state.cores[usize::from(core)];
            if it.running == NO_VP || it.pool != pool || it.high == it.running {
                return None;
            }
            let runner = &state.vps[it.running as usize];
            if state.own_core(it.running).is_some() || runner.slice_ns == left_ns {
                return None;
            }
            let rank = match (runner.capacity, runner.slice_ns < left_ns) {
                (Capacity::Excess, _) => 0,
                (Capacity::Entitled, late) => 1 + u8::from(late),
            };
            let age = state.shares[usize::from(runner.partition)].excess_age;
            Some((rank, age, runner.slice_ns, core))
        };
        let cores = 0..state.tree.active_cores;
        cores
            .filter_map(need)
            .min_by(|a, b| {
                let by_age = b.1.total_cmp(&a.1);
                a.0.cmp(&b.0).then(by_age).then((a.2, a.3).cmp(&(b.2, b.3)))
            })
            .map(|(_, _, _, core)| core)
    }

    fn overdrawn(&self, state: &State) -> Option<CoreId> {
        let pools = 0..state.pools.len() as u16;
        pools.filter_map(|pool| most_ahead(state, pool)).next()
    }
}

fn pool_of(state: &State, vp: VpId) -> u16 {
    state.shares[usize::from(state.vps[vp as usize].partition)].pool
}

/// The nearest idle core of the type; homes of vertical-high cores come last.
fn nearest_idle(state: &State, vp: VpId) -> CoreId {
    if state.sets.idle_count() == 0 {
        return NO_CORE;
    }
    let pool = pool_of(state, vp);
    for homes in [false, true] {
        let near = idle_on_node(state, vp, pool, homes);
        if near != NO_CORE {
            return near;
        }
        let last = state.vps[vp as usize].last_core;
        if is_idle(state, last, pool, homes) {
            return last;
        }
        let far = emptiest(state, 0..state.tree.chips(), pool, homes);
        if far != NO_CORE {
            return far;
        }
    }
    NO_CORE
}

/// On the home node: the last core, the home chip, then the emptiest chip.
fn idle_on_node(state: &State, vp: VpId, pool: u16, homes: bool) -> CoreId {
    let vp = &state.vps[vp as usize];
    let last = vp.last_core;
    let near = |core: CoreId| state.cores[usize::from(core)].node == vp.home_node;
    if is_idle(state, last, pool, homes) && near(last) {
        return last;
    }
    match first_idle(state, vp.home_chip, pool, homes) {
        NO_CORE => emptiest(state, state.tree.chips_of(vp.home_node), pool, homes),
        core => core,
    }
}

fn is_idle(state: &State, core: CoreId, pool: u16, homes: bool) -> bool {
    core != NO_CORE && {
        let chip = state.cores[usize::from(core)].chip;
        state.idle_of(pool, chip, homes) & state.sets.bit(chip, core) != 0
    }
}

fn first_idle(state: &State, chip: u16, pool: u16, homes: bool) -> CoreId {
    match state.idle_of(pool, chip, homes) {
        0 => NO_CORE,
        mask => chip * state.tree.cores_per_chip + mask.trailing_zeros() as u16,
    }
}

/// An idle core of the chip with most of them, the first among equals.
fn emptiest(state: &State, chips: impl Iterator<Item = u16>, pool: u16, homes: bool) -> CoreId {
    let count = |chip: &u16| state.idle_of(pool, *chip, homes).count_ones();
    let best = chips.fold(None, |best: Option<(u32, u16)>, chip| {
        let idle = count(&chip);
        match best {
            Some((most, _)) if most >= idle => best,
            _ => Some((idle, chip)),
        }
    });
    best.map_or(NO_CORE, |(_, chip)| first_idle(state, chip, pool, homes))
}

/// A runner beyond its share that must leave: another partition's before one's own, nearest first.
fn victim(state: &State, vp: VpId) -> Option<CoreId> {
    let requester = &state.vps[vp as usize];
    let pool = pool_of(state, vp);
    let runners = (0..state.tree.chips()).flat_map(|chip| state.sets.excess_on(chip));
    let rank = |core: CoreId| {
        let runner = &state.vps[state.cores[usize::from(core)].running as usize];
        let chip = state.cores[usize::from(core)].chip;
        let own = runner.partition == requester.partition;
        let distance = state.tree.distance(requester.home_chip, chip);
        (own, distance, runner.dispatched_at, core)
    };
    runners
        .filter(|core| state.cores[usize::from(*core)].pool == pool)
        .map(rank)
        .min()
        .map(|(_, _, _, core)| core)
}

/// The waiting logical core that fits a core best: at home there, last on it, homed on its node,
/// or the first.
fn best_fit(state: &State, queue: &VecDeque<VpId>, core: CoreId) -> Option<VpId> {
    let it = &state.cores[usize::from(core)];
    let mut fit: Option<(u8, VpId)> = None;
    let own_type = queue.iter().filter(|vp| pool_of(state, **vp) == it.pool);
    for &vp in own_type.take(LOOK_AHEAD) {
        let waiting = &state.vps[vp as usize];
        let rank = match () {
            () if it.high == vp => return Some(vp),
            () if waiting.last_core == core => 0,
            () if waiting.home_node == it.node => 1,
            () => 2,
        };
        if fit.is_none_or(|(best, _)| rank < best) {
            fit = Some((rank, vp));
        }
    }
    fit.map(|(_, vp)| vp)
}

/// Whether one that is beyond its share has to leave at the end of its slice: for one that is
/// within its share, or for a partition that has used less beyond its share, per weight.
fn others_come_first(state: &State, vp: VpId, pool: u16) -> bool {
    let mut waiting = state.queues.entitled.iter();
    if waiting.any(|w| pool_of(state, *w) == pool) {
        return true;
    }
    let age = |partition: u16| state.shares[usize::from(partition)].excess_age;
    let own = age(state.vps[vp as usize].partition);
    most_behind(state, pool).is_some_and(|behind| age(behind) < own)
}

/// The partition of a pool that waits and has used least beyond its share, per weight.
fn most_behind(state: &State, pool: u16) -> Option<u16> {
    let waiting = state.queues.waiting.iter().copied();
    waiting
        .filter(|p| state.shares[usize::from(*p)].pool == pool)
        .min_by(|a, b| {
            let age = |p: &u16| state.shares[usize::from(*p)].excess_age;
            age(a).total_cmp(&age(b))
        })
}

/// The core of a pool whose runner is furthest ahead of a partition that waits.
fn most_ahead(state: &State, pool: u16) -> Option<CoreId> {
    let behind = most_behind(state, pool)?;
    let least = state.shares[usize::from(behind)].excess_age;
    let mut most: Option<(f64, CoreId)> = None;
    for chip in 0..state.tree.chips() {
        for core in state.sets.excess_on(chip) {
            let it = &state.cores[usize::from(core)];
            let vp = &state.vps[it.running as usize];
            let age = state.shares[usize::from(vp.partition)].excess_age;
            let ahead = it.pool == pool && vp.partition != behind && age > least;
            if ahead && most.is_none_or(|(m, _)| age > m) {
                most = Some((age, core));
            }
        }
    }
    most.map(|(_, core)| core)
}

/// Whether the end of a time slice switches a logical core that goes on: a vertical-high one has
/// longer slices.
pub fn slice_is_over(kind: Kind, ran_ns: u64) -> bool {
    kind != Kind::High || ran_ns >= HIGH_RUN_TIME_NS
}
