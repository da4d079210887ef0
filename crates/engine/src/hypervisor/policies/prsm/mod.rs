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
//!    and those ahead of it give way after a quantum (`hypervisor/excess`).
//!
//! A partition that waits gives its core up at once (event-driven dispatching). Initial capping
//! forbids use beyond the share, logical core by logical core (IBM, "Capping processing weights");
//! absolute caps, group caps and defined capacities limit the partition; what a logical core below
//! such a limit leaves of its slice the others there may use in that slice (`limits.rs`), who is
//! capped too up to the share that his weight gives him.
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

use crate::hypervisor::{Capacity, Kind, Placement, Policy, Renewal, View};
use crate::ids::{ChipId, CoreId, PartitionId, PoolId, Span, VpId};
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
    let of_others = |at: usize| at != pool && spec.pools[pool].cores.is_none();
    let mut usable = vec![spec.pools[pool].cores.is_none(); usize::from(spec.machine.active_cores)];
    let mut mark = |cores: &[u16], as_usable: bool| {
        for core in cores {
            if let Some(core) = usable.get_mut(usize::from(*core)) {
                *core = as_usable;
            }
        }
    };
    for (at, cores) in (0..).zip(spec.pools.iter().map(|pool| pool.cores.as_deref())) {
        if at == pool || of_others(at) {
            mark(cores.unwrap_or_default(), at == pool);
        }
    }
    for partition in &spec.partitions {
        if let Processors::Dedicated { cores, .. } = &partition.processors {
            mark(cores, false);
        }
    }
    usable.into_iter().filter(|usable| *usable).count() as u32
}

impl Policy for Prsm {
    fn place(&self, view: View, vp: VpId) -> Placement {
        let it = &view.windows.slices[vp];
        if let Some(own) = it.own_core {
            return Placement::Run(own);
        }
        let entitled = it.capacity == Capacity::Entitled;
        if let Some(home) = it.home_core {
            if view.state.cores[home].running.is_none() {
                return Placement::Run(home);
            }
            if entitled {
                return Placement::Evict(home);
            }
        }
        if let Some(idle) = nearest_idle(view, vp) {
            return Placement::Run(idle);
        }
        match entitled.then(|| victim(view, vp)).flatten() {
            Some(core) => Placement::Evict(core),
            None => Placement::Wait,
        }
    }

    fn next(&self, view: View, core: CoreId) -> Option<VpId> {
        let pool = view.windows.lots[core].pool?;
        let queues = &view.windows.queues;
        if let Some(vp) = best_fit(view, &queues.entitled, core) {
            return Some(vp);
        }
        best_fit(view, &queues.excess[queues.turns.next(pool)?], core)
    }

    fn renew(&self, view: View, vp: VpId) -> Renewal {
        let (runner, it) = (&view.state.vps[vp], &view.windows.slices[vp]);
        if it.own_core.is_some() || runner.core == it.home_core {
            return Renewal::Stay;
        }
        let pool = pool_of(view, vp);
        if it.capacity == Capacity::Excess {
            let by_ns = view.windows.extension_ns(view.state, vp, view.left_ns);
            if by_ns > 0 {
                return Renewal::Extend(by_ns);
            } else if others_come_first(view, vp, pool) {
                return Renewal::Yield;
            }
        }
        let free = |home: &CoreId| view.state.cores[*home].running.is_none();
        if let Some(home) = it.home_core.filter(free) {
            return Renewal::Move(home);
        }
        let on_node = |core: CoreId| view.state.cores[core].node == runner.home_node;
        if runner.core.is_some_and(on_node) || view.windows.sets.idle_count() == 0 {
            return Renewal::Stay;
        }
        idle_on_node(view, vp, pool, false).map_or(Renewal::Stay, Renewal::Move)
    }

    fn spare(&self, view: View, vp: VpId) -> Option<CoreId> {
        // A vertical-high core that lent its home out has its time there and nowhere else.
        if let Some(home) = view.windows.slices[vp].home_core {
            return Some(home);
        }
        // Who is beyond its share first, then who can't get all of it any more; of those the one
        // whose partition has used most beyond its share, then who needs least. Never a
        // vertical-high core at home, nor whoever runs there in its place.
        let (pool, left_ns) = (pool_of(view, vp), view.left_ns);
        let evictable = view.evictable(pool);
        let need = |core: CoreId| {
            let (lot, running) = (&view.windows.lots[core], view.state.cores[core].running?);
            if lot.pool != Some(pool) || lot.high == Some(running) {
                return None;
            }
            let it = &view.windows.slices[running];
            if it.own_core.is_some() || it.slice_ns == left_ns || it.gift_ns > 0 {
                return None;
            }
            let rank = match (it.capacity, it.slice_ns < left_ns) {
                (Capacity::Excess, _) if evictable(core).is_none() => 3,
                (Capacity::Excess, _) => 0,
                (Capacity::Entitled, late) => 1 + u8::from(late),
            };
            let partition = view.state.vps[running].partition;
            let age = view.windows.shares[partition].excess_age();
            Some((rank, age, it.slice_ns, core))
        };
        let cores = view.state.active().into_iter();
        cores
            .filter_map(need)
            .min_by(|a, b| {
                let by_age = b.1.total_cmp(&a.1);
                a.0.cmp(&b.0).then(by_age).then((a.2, a.3).cmp(&(b.2, b.3)))
            })
            .map(|(_, _, _, core)| core)
    }

    fn overdrawn(&self, view: View) -> Option<CoreId> {
        let mut pools = view.windows.pools.ids();
        pools.find_map(|pool| most_ahead(view, pool))
    }
}

fn pool_of(view: View, vp: VpId) -> PoolId {
    view.windows.claim(view.state.vps[vp].partition).pool
}

/// The nearest idle core of the type; homes of vertical-high cores come last.
fn nearest_idle(view: View, vp: VpId) -> Option<CoreId> {
    if view.windows.sets.idle_count() == 0 {
        return None;
    }
    let pool = pool_of(view, vp);
    let last = view.state.vps[vp].last_core;
    let chips = view.state.tree.chips();
    [false, true].into_iter().find_map(|homes| {
        idle_on_node(view, vp, pool, homes)
            .or_else(|| last.filter(|last| is_idle(view, *last, pool, homes)))
            .or_else(|| emptiest(view, chips.into_iter(), pool, homes))
    })
}

/// On the home node: the last core, the home chip, then the emptiest chip.
fn idle_on_node(view: View, vp: VpId, pool: PoolId, homes: bool) -> Option<CoreId> {
    let vp = &view.state.vps[vp];
    let near = |core: CoreId| view.state.cores[core].node == vp.home_node;
    let fits = |last: &CoreId| is_idle(view, *last, pool, homes) && near(*last);
    let on_chip = || first_idle(view, vp.home_chip, pool, homes);
    let on_node = || {
        let chips = view.state.tree.chips_of(vp.home_node).into_iter();
        emptiest(view, chips, pool, homes)
    };
    vp.last_core.filter(fits).or_else(on_chip).or_else(on_node)
}

fn is_idle(view: View, core: CoreId, pool: PoolId, homes: bool) -> bool {
    let chip = view.state.cores[core].chip;
    view.windows.idle_of(pool, chip, homes) & view.windows.sets.bit(chip, core) != 0
}

fn first_idle(view: View, chip: ChipId, pool: PoolId, homes: bool) -> Option<CoreId> {
    let mask = view.windows.idle_of(pool, chip, homes);
    view.windows.sets.first_of(chip, mask)
}

/// An idle core of the chip with most of them, the first among equals.
fn emptiest(
    view: View,
    chips: impl Iterator<Item = ChipId>,
    pool: PoolId,
    homes: bool,
) -> Option<CoreId> {
    let count = |chip: &ChipId| view.windows.idle_of(pool, *chip, homes).count_ones();
    let best = chips.fold(None, |best: Option<(u32, ChipId)>, chip| {
        let idle = count(&chip);
        match best {
            Some((most, _)) if most >= idle => best,
            _ => Some((idle, chip)),
        }
    });
    first_idle(view, best?.1, pool, homes)
}

/// A runner beyond its share that must leave: another partition's before one's own, nearest first.
/// Where another's is found near by, nobody looks farther away.
fn victim(view: View, vp: VpId) -> Option<CoreId> {
    let requester = &view.state.vps[vp];
    let pool = pool_of(view, vp);
    let (tree, home) = (&view.state.tree, requester.home_chip);
    let evictable = view.evictable(pool);
    let rank = |core: CoreId| {
        let runner = evictable(core)?;
        let own = runner.partition == requester.partition;
        Some((own, runner.dispatched_at, core))
    };
    let on_node = tree.chips_of(tree.node_of(home));
    let mut of_own = None;
    for chips in [Span::new(home.index(), 1), on_node, tree.chips()] {
        let runners = excess_runners(view, pool, chips);
        match runners.filter_map(rank).min() {
            Some((false, _, core)) => return Some(core),
            found => of_own = of_own.or(found),
        }
    }
    of_own.map(|(_, _, core)| core)
}

/// Cores of a pool with a runner beyond its share, chip by chip.
fn excess_runners(
    view: View<'_>,
    pool: PoolId,
    chips: Span<ChipId>,
) -> impl Iterator<Item = CoreId> + '_ {
    chips
        .into_iter()
        .flat_map(move |chip| view.windows.sets.excess_on(chip))
        .filter(move |core| view.windows.lots[*core].pool == Some(pool))
}

/// The waiting logical core that fits a core best: at home there, last on it, homed on its node,
/// or the first. One that is entitled to time at home is for no other core.
fn best_fit(view: View, queue: &VecDeque<VpId>, core: CoreId) -> Option<VpId> {
    let (lot, node) = (&view.windows.lots[core], view.state.cores[core].node);
    let mut fit: Option<(u8, VpId)> = None;
    let own_type = queue.iter().filter(|vp| {
        let it = &view.windows.slices[**vp];
        let bound = it.capacity == Capacity::Entitled && it.home_core.is_some_and(|at| at != core);
        !bound && Some(pool_of(view, **vp)) == lot.pool
    });
    for &vp in own_type.take(LOOK_AHEAD) {
        let waiting = &view.state.vps[vp];
        let rank = match () {
            () if lot.high == Some(vp) => return Some(vp),
            () if waiting.last_core == Some(core) => 0,
            () if waiting.home_node == node => 1,
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
fn others_come_first(view: View, vp: VpId, pool: PoolId) -> bool {
    let mut waiting = view.windows.queues.entitled.iter();
    if waiting.any(|w| pool_of(view, *w) == pool) {
        return true;
    }
    let age = |partition: PartitionId| view.windows.shares[partition].excess_age();
    let own = age(view.state.vps[vp].partition);
    let next = view.windows.queues.turns.next(pool);
    next.is_some_and(|behind| age(behind) < own)
}

/// The core of a pool whose runner is furthest ahead of a partition that waits.
fn most_ahead(view: View, pool: PoolId) -> Option<CoreId> {
    let behind = view.windows.queues.turns.next(pool)?;
    let least = view.windows.shares[behind].excess_age();
    let evictable = view.evictable(pool);
    let mut most: Option<(f64, CoreId)> = None;
    for core in excess_runners(view, pool, view.state.tree.chips()) {
        let Some(vp) = evictable(core) else {
            continue;
        };
        let age = view.windows.shares[vp.partition].excess_age();
        let ahead = vp.partition != behind && age > least;
        if ahead && most.is_none_or(|(m, _)| age > m) {
            most = Some((age, core));
        }
    }
    most.map(|(_, core)| core)
}

/// Whether the end of a time slice switches a logical core that goes on: a vertical-high one has
/// longer slices.
pub fn slice_is_over(kind: Kind, ran_ns: u64) -> bool {
    kind != Kind::High || ran_ns >= HIGH_RUN_TIME_NS
}

#[cfg(test)]
mod tests;
