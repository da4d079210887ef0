//! PowerVM's hypervisor (PHYP).
//!
//! Overview. A virtual processor that becomes ready is dispatched by three rules (US patents
//! 9,183,017, 9,213,560 and 10,013,264, "Affinity of Virtual Processor Dispatching"):
//!
//! 1. if a core of its home is idle, it goes there: to the core it was last on if it can (US
//!    8,024,728), to its home chip, to another chip on which the partition is homed, to the rest of
//!    the node;
//! 2. else, if it runs on entitlement and a core of its home node has a runner on excess capacity
//!    whose home is elsewhere, that runner is thrown off. AIX's description of an involuntary
//!    switch (thrown off "due to another LPAR running under entitlement needing to run on the
//!    core") names other partitions' excess runners as victims too: they come second where
//!    [`Eviction::OtherPartition`] is set;
//! 3. else it is dispatched elsewhere, nearest first. An entitled one that finds no idle core in
//!    the machine throws off any excess runner, since entitlement is guaranteed; others queue.
//!
//! Entitlement must be had within the window, so an entitled one that waits until it needs all of
//! the rest takes the core of the runner that can best spare it. (With one deadline for all this is
//! enough to serve everybody as long as the entitlements fit into the pool.)
//!
//! A free core takes the waiting virtual processor to which it is nearest by the order of rule 1:
//! affinity has three levels, core, chip and node (SG24-8079, 3.2.1), and one that was last on the
//! core is looked for first among those at home there (US 8,024,728). Entitled ones come before
//! excess ones. Excess goes first to pools with unused entitled
//! capacity, then to the partition with the least excess use per weight (`hypervisor/excess`). One
//! that always has work and has fallen behind keeps its core while others wait that can be served
//! later in the window.
//!
//! Typical use: shared-processor partitions from POWER5 on. Validated by the studies
//! `aix-micro-partitioning` and `p795-lpar-affinity`. The order of PHYP's internal queues is not
//! published; ours is first come, first served, and where many come at the same instant, as those
//! do that go on when a window begins, the longest slice first, and any order among equals.

use std::collections::VecDeque;

use crate::hypervisor::{Capacity, Placement, Policy, Renewal, Rule, View};
use crate::ids::{ChipId, CoreId, PartitionId, PoolId, VpId};
use crate::spec::Eviction;

/// How many waiting virtual processors a free core looks at before it takes the first.
const LOOK_AHEAD: usize = 64;

/// The PowerVM dispatcher.
#[derive(Clone, Copy, Debug, Default)]
pub struct Phyp;

impl Policy for Phyp {
    fn place(&self, view: View, vp: VpId) -> Placement {
        if let Some(own) = view.windows.own_core(vp) {
            return match view.state.cores[own].running {
                None => Placement::Run(own),
                Some(_) => Placement::Evict(own),
            };
        }
        let some_idle = view.windows.sets.idle_count() > 0;
        if let Some(core) = some_idle.then(|| idle_at_home(view, vp)).flatten() {
            return Placement::Run(core);
        }
        let entitled = view.windows.slices[vp].capacity == Capacity::Entitled;
        if let Some(core) = entitled.then(|| victim_at_home(view, vp)).flatten() {
            return Placement::Evict(core);
        }
        if let Some(core) = some_idle.then(|| idle_away(view, vp)).flatten() {
            return Placement::Run(core);
        }
        match entitled.then(|| victim_anywhere(view, vp)).flatten() {
            Some(core) => Placement::Evict(core),
            None => Placement::Wait,
        }
    }

    fn next(&self, view: View, core: CoreId) -> Option<VpId> {
        let queues = &view.windows.queues;
        if let Some(vp) = best_fit(view, &queues.entitled, core) {
            return Some(vp);
        }
        best_fit(view, &queues.excess[most_behind(view)?], core)
    }

    fn renew(&self, view: View, vp: VpId) -> Renewal {
        let windows = view.windows;
        let excess = windows.slices[vp].capacity == Capacity::Excess;
        if excess {
            let by_ns = windows.extension_ns(view.state, vp, view.left_ns);
            if by_ns > 0 {
                return Renewal::Extend(by_ns);
            } else if windows.has_entitled_waiting() || others_come_first(view, vp) {
                return Renewal::Yield;
            }
        }
        let Some(core) = view.state.vps[vp].core else {
            return Renewal::Stay;
        };
        let here = levels_away(view, vp, core);
        if here == 0 || windows.own_core(vp).is_some() {
            return Renewal::Stay;
        }
        if windows.sets.idle_count() > 0 {
            let nearer = |core: &CoreId| levels_away(view, vp, *core) < here;
            let home = idle_at_home(view, vp).filter(nearer);
            return home.map_or(Renewal::Stay, Renewal::Move);
        }
        // It can wait, and another one is nearer home here.
        let can_wait = windows.slices[vp].slice_ns < view.left_ns;
        let mut waiting = windows.queues.entitled.iter().take(LOOK_AHEAD);
        match can_wait && waiting.any(|other| levels_away(view, *other, core) < here) {
            true => Renewal::Yield,
            false => Renewal::Stay,
        }
    }

    fn spare(&self, view: View, vp: VpId) -> Option<CoreId> {
        // One that woke too late for its whole slice can't get it anyway; else who needs least. If
        // none can spare any, those that slept are in the way of one that had work all the window:
        // what they did not use then is gone, what it is entitled to is guaranteed. Extended slices
        // come last.
        let (left_ns, evictable) = (view.left_ns, view.evictable(PoolId::new(0)));
        let on_time = !view.windows.slices[vp].late;
        let need = |core: CoreId| {
            let it = &view.windows.slices[view.state.cores[core].running?];
            if it.own_core.is_some() {
                return None;
            }
            let (slice, needs_all) = (it.slice_ns, it.slice_ns == left_ns);
            let late = slice < left_ns && slice > 0;
            let rank = (needs_all, evictable(core).is_none(), late, slice, core);
            (!needs_all || on_time && it.late).then_some(rank)
        };
        let cores = view.state.active().into_iter();
        cores.filter_map(need).min().map(|(.., core)| core)
    }

    fn overdrawn(&self, view: View) -> Option<CoreId> {
        let behind = most_behind(view)?;
        let least = view.windows.shares[behind].excess_age();
        let evictable = view.evictable(PoolId::new(0));
        let mut most: Option<(f64, CoreId)> = None;
        for core in excess_runners(view) {
            let Some(vp) = evictable(core) else {
                continue;
            };
            let age = view.windows.shares[vp.partition].excess_age();
            if vp.partition != behind && age > least && most.is_none_or(|(m, _)| age > m) {
                most = Some((age, core));
            }
        }
        most.map(|(_, core)| core)
    }
}

/// Cores with a runner on excess capacity, chip by chip.
fn excess_runners(view: View<'_>) -> impl Iterator<Item = CoreId> + '_ {
    let chips = view.state.tree.chips().into_iter();
    chips.flat_map(move |chip| view.windows.sets.excess_on(chip))
}

/// Whether a partition that waits has used less excess, per weight, than a runner's.
fn others_come_first(view: View, vp: VpId) -> bool {
    let age = |partition: PartitionId| view.windows.shares[partition].excess_age();
    let rank = |partition: PartitionId| (comes_later(view, partition), age(partition));
    most_behind(view).is_some_and(|next| rank(next) < rank(view.state.vps[vp].partition))
}

/// How well a core suits a virtual processor, the best first: the order of rule 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    LastOnHomeChip,
    HomeChip,
    OtherHomeChip,
    LastOnHomeNode,
    HomeNode,
    Last,
    Away,
}

fn fit(view: View, vp: VpId, core: CoreId) -> Fit {
    let was_here = view.state.vps[vp].last_core == Some(core);
    let chip = view.state.cores[core].chip;
    match levels_away(view, vp, core) {
        0 if was_here => Fit::LastOnHomeChip,
        0 if chip == view.state.vps[vp].home_chip => Fit::HomeChip,
        0 => Fit::OtherHomeChip,
        1 if was_here => Fit::LastOnHomeNode,
        1 => Fit::HomeNode,
        _ if was_here => Fit::Last,
        _ => Fit::Away,
    }
}

/// How far from home a core is: 0 on a chip of the home node on which the partition is homed, 1 on
/// another chip of that node, 2 beyond.
fn levels_away(view: View, vp: VpId, core: CoreId) -> u8 {
    let (vp, at) = (&view.state.vps[vp], &view.state.cores[core]);
    let is_home = || match &view.windows.shares[vp.partition].rule {
        Rule::Lending(share) => share.is_home(at.chip),
        _ => false,
    };
    match at.node == vp.home_node {
        true if at.chip == vp.home_chip || is_home() => 0,
        true => 1,
        false => 2,
    }
}

/// Rule 1: the last core if it is on a home chip of the partition, the own home chip, the other
/// home chips, then the rest of the home node with the last core first.
fn idle_at_home(view: View, vp: VpId) -> Option<CoreId> {
    let (sets, tree) = (&view.windows.sets, &view.state.tree);
    let vp = &view.state.vps[vp];
    let Rule::Lending(share) = &view.windows.shares[vp.partition].rule else {
        return None;
    };
    let last_chip = last_idle_chip(view, vp.last_core);
    if last_chip.is_some_and(|chip| chip == vp.home_chip || share.is_home(chip)) {
        return vp.last_core;
    }
    if let Some(core) = sets.idle_on(vp.home_chip) {
        return Some(core);
    }
    let home = share.home.iter().copied();
    let home = home.filter(|chip| tree.node_of(*chip) == vp.home_node);
    if let Some(core) = emptiest(view, home) {
        return Some(core);
    }
    if last_chip.is_some_and(|chip| tree.node_of(chip) == vp.home_node) {
        return vp.last_core;
    }
    emptiest(view, tree.chips_of(vp.home_node))
}

/// Rule 3: the last core, its chip, its node, then the emptiest chip of the machine.
fn idle_away(view: View, vp: VpId) -> Option<CoreId> {
    let last = view.state.vps[vp].last_core;
    if last_idle_chip(view, last).is_some() {
        return last;
    }
    let tree = &view.state.tree;
    let near = last.and_then(|last| {
        let core = &view.state.cores[last];
        let on_chip = view.windows.sets.idle_on(core.chip);
        on_chip.or_else(|| emptiest(view, tree.chips_of(core.node)))
    });
    near.or_else(|| emptiest(view, tree.chips()))
}

/// Chip of the last core, if that core is idle.
fn last_idle_chip(view: View, last: Option<CoreId>) -> Option<ChipId> {
    let chip = view.state.cores[last?].chip;
    view.windows.sets.is_idle(chip, last?).then_some(chip)
}

/// An idle core of the chip with most idle cores, the first among equals: the rules leave open
/// which of several chips it is, and the emptiest has the most cache and bandwidth to spare.
fn emptiest(view: View, chips: impl IntoIterator<Item = ChipId>) -> Option<CoreId> {
    let sets = &view.windows.sets;
    let mut best = (0, None);
    for chip in chips {
        let idle = sets.count_on(chip);
        if idle > best.0 {
            best = (idle, Some(chip));
        }
    }
    sets.idle_on(best.1?)
}

/// Rule 2: on the home node, an excess runner whose home is elsewhere; then, if allowed, one of
/// another partition. Of several one on a home chip, among equals the one that has been on its core
/// longest.
fn victim_at_home(view: View, vp: VpId) -> Option<CoreId> {
    let requester = &view.state.vps[vp];
    let evictable = view.evictable(PoolId::new(0));
    let evicts_others = view.windows.eviction == Eviction::OtherPartition;
    let mut best: Option<(bool, bool, u64, CoreId)> = None;
    for chip in view.state.tree.chips_of(requester.home_node) {
        for core in view.windows.sets.excess_on(chip) {
            let Some(runner) = evictable(core) else {
                continue;
            };
            let stranger = runner.home_node != requester.home_node;
            let other = evicts_others && runner.partition != requester.partition;
            let away = levels_away(view, vp, core) > 0;
            let rank = (!stranger, away, runner.dispatched_at, core);
            if (stranger || other) && best.is_none_or(|best| rank < best) {
                best = Some(rank);
            }
        }
    }
    best.map(|(.., core)| core)
}

/// The guarantee of entitlement: any excess runner, another partition's before one's own.
fn victim_anywhere(view: View, vp: VpId) -> Option<CoreId> {
    let partition = view.state.vps[vp].partition;
    let (evictable, mut own) = (view.evictable(PoolId::new(0)), None);
    for core in excess_runners(view) {
        match evictable(core) {
            Some(runner) if runner.partition != partition => return Some(core),
            Some(_) => own = own.or(Some(core)),
            None => {}
        }
    }
    own
}

/// The waiting virtual processor that a core suits best, the first among equals.
fn best_fit(view: View, queue: &VecDeque<VpId>, core: CoreId) -> Option<VpId> {
    let waiting = queue.iter().take(LOOK_AHEAD).copied();
    waiting.min_by_key(|vp| fit(view, *vp, core))
}

/// The waiting partition that comes first for excess: own pool's unused capacity, then least use
/// per weight.
fn most_behind(view: View) -> Option<PartitionId> {
    let turns = &view.windows.queues.turns;
    turns.next_of_all(|partition| comes_later(view, partition))
}

/// Whether a partition's pool has nothing left of its own for it.
fn comes_later(view: View, partition: PartitionId) -> bool {
    let claim = view.windows.claim(partition);
    claim.soft_cap || view.windows.pools[claim.pool].own_ns == 0
}
