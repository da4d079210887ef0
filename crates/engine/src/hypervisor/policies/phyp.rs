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
//! A free core takes the waiting virtual processor that was last on it, or whose home it is,
//! entitled ones before excess ones (US 8,024,728). Excess goes first to pools with unused entitled
//! capacity, then to the partition with the least excess use per weight.
//!
//! Typical use: shared-processor partitions from POWER5 on. Validated by the studies
//! `aix-micro-partitioning` and `p795-lpar-affinity`. The order of PHYP's internal queues is not
//! published; ours is first come, first served.

use std::collections::VecDeque;

use crate::hypervisor::{
    Capacity, CoreId, Placement, Policy, Renewal, State, VpId, NO_CORE, NO_VP,
};
use crate::spec::Eviction;

/// How many waiting virtual processors a free core looks at before it takes the first.
const LOOK_AHEAD: usize = 64;

/// The PowerVM dispatcher.
#[derive(Clone, Copy, Debug, Default)]
pub struct Phyp;

impl Policy for Phyp {
    fn place(&self, state: &State, vp: VpId) -> Placement {
        if let Some(own) = state.own_core(vp) {
            return match state.cores[usize::from(own)].running {
                NO_VP => Placement::Run(own),
                _ => Placement::Evict(own),
            };
        }
        let idle = if state.sets.idle_count() > 0 {
            idle_at_home(state, vp)
        } else {
            NO_CORE
        };
        if idle != NO_CORE {
            return Placement::Run(idle);
        }
        let entitled = state.vps[vp as usize].capacity == Capacity::Entitled;
        if entitled {
            if let Some(core) = victim_at_home(state, vp) {
                return Placement::Evict(core);
            }
        }
        let away = if state.sets.idle_count() > 0 {
            idle_away(state, vp)
        } else {
            NO_CORE
        };
        if away != NO_CORE {
            return Placement::Run(away);
        }
        match entitled.then(|| victim_anywhere(state, vp)).flatten() {
            Some(core) => Placement::Evict(core),
            None => Placement::Wait,
        }
    }

    fn next(&self, state: &State, core: CoreId) -> Option<VpId> {
        if let Some(vp) = best_fit(state, &state.queues.entitled, core) {
            return Some(vp);
        }
        let partition = most_behind(state)?;
        best_fit(state, &state.queues.excess[usize::from(partition)], core)
    }

    fn renew(&self, state: &State, vp: VpId) -> Renewal {
        let runner = &state.vps[vp as usize];
        if runner.capacity == Capacity::Excess && state.has_entitled_waiting() {
            return Renewal::Yield;
        }
        let at_home = state.cores[usize::from(runner.core)].node == runner.home_node;
        if at_home || state.own_core(vp).is_some() || state.sets.idle_count() == 0 {
            return Renewal::Stay;
        }
        match idle_at_home(state, vp) {
            NO_CORE => Renewal::Stay,
            core => Renewal::Move(core),
        }
    }

    fn spare(&self, state: &State, vp: VpId, left_ns: u64) -> Option<CoreId> {
        // One that woke too late for its whole slice can't get it anyway; else who needs least. If
        // none can spare any, those that slept are in the way of one that had work all the window:
        // what they did not use then is gone, what it is entitled to is guaranteed.
        let on_time = !state.vps[vp as usize].late;
        let need = |core: CoreId| {
            let runner = state.cores[usize::from(core)].running;
            if runner == NO_VP || state.own_core(runner).is_some() {
                return None;
            }
            let it = &state.vps[runner as usize];
            let (slice, needs_all) = (it.slice_ns, it.slice_ns == left_ns);
            let rank = (needs_all, slice < left_ns && slice > 0, slice, core);
            (!needs_all || on_time && it.late).then_some(rank)
        };
        let cores = 0..state.tree.active_cores;
        cores.filter_map(need).min().map(|(_, _, _, core)| core)
    }

    fn overdrawn(&self, state: &State) -> Option<CoreId> {
        let behind = most_behind(state)?;
        let least = state.shares[usize::from(behind)].excess_age;
        let mut most: Option<(f64, CoreId)> = None;
        for chip in 0..state.tree.chips() {
            for core in state.sets.excess_on(chip) {
                let vp = &state.vps[state.cores[usize::from(core)].running as usize];
                let age = state.shares[usize::from(vp.partition)].excess_age;
                if vp.partition != behind && age > least && most.is_none_or(|(m, _)| age > m) {
                    most = Some((age, core));
                }
            }
        }
        most.map(|(_, core)| core)
    }
}

/// Rule 1: the last core if it is on a home chip of the partition, the own home chip, the other
/// home chips, then the rest of the home node with the last core first.
fn idle_at_home(state: &State, vp: VpId) -> CoreId {
    let vp = &state.vps[vp as usize];
    let share = &state.shares[usize::from(vp.partition)];
    let last_chip = last_idle_chip(state, vp.last_core);
    if last_chip.is_some_and(|chip| share.is_home(chip)) {
        return vp.last_core;
    }
    let own = state.sets.idle_on(vp.home_chip);
    if own != NO_CORE {
        return own;
    }
    let home = share
        .home
        .iter()
        .filter(|chip| state.tree.node_of(**chip) == vp.home_node);
    let core = emptiest(state, home.copied());
    if core != NO_CORE {
        return core;
    }
    if last_chip.is_some_and(|chip| state.tree.node_of(chip) == vp.home_node) {
        return vp.last_core;
    }
    emptiest(state, state.tree.chips_of(vp.home_node))
}

/// Rule 3: the last core, its chip, its node, then the emptiest chip of the machine.
fn idle_away(state: &State, vp: VpId) -> CoreId {
    let last = state.vps[vp as usize].last_core;
    if last_idle_chip(state, last).is_some() {
        return last;
    }
    if last != NO_CORE {
        let core = &state.cores[usize::from(last)];
        let near = state.sets.idle_on(core.chip);
        let near = if near == NO_CORE {
            emptiest(state, state.tree.chips_of(core.node))
        } else {
            near
        };
        if near != NO_CORE {
            return near;
        }
    }
    emptiest(state, 0..state.tree.chips())
}

/// Chip of the last core, if that core is idle.
fn last_idle_chip(state: &State, last: CoreId) -> Option<u16> {
    if last == NO_CORE {
        return None;
    }
    let chip = state.cores[usize::from(last)].chip;
    state.sets.is_idle(chip, last).then_some(chip)
}

/// An idle core of the chip with most idle cores, the first among equals: the rules leave open
/// which of several chips it is, and the emptiest has the most cache and bandwidth to spare.
fn emptiest(state: &State, chips: impl Iterator<Item = u16>) -> CoreId {
    let mut best = (0, NO_CORE);
    for chip in chips {
        let idle = state.sets.count_on(chip);
        if idle > best.0 {
            best = (idle, state.sets.idle_on(chip));
        }
    }
    best.1
}

/// Rule 2: on the home node, an excess runner whose home is elsewhere; then, if allowed, one of
/// another partition. Among equals the one that has been on its core longest.
fn victim_at_home(state: &State, vp: VpId) -> Option<CoreId> {
    let requester = &state.vps[vp as usize];
    let mut best: Option<(bool, u64, CoreId)> = None;
    for chip in state.tree.chips_of(requester.home_node) {
        for core in state.sets.excess_on(chip) {
            let runner = &state.vps[state.cores[usize::from(core)].running as usize];
            let stranger = runner.home_node != requester.home_node;
            let other = state.eviction == Eviction::OtherPartition
                && runner.partition != requester.partition;
            let older = |(was, since, _): (bool, u64, CoreId)| {
                (!stranger, runner.dispatched_at) < (!was, since)
            };
            if (stranger || other) && best.is_none_or(older) {
                best = Some((stranger, runner.dispatched_at, core));
            }
        }
    }
    best.map(|(_, _, core)| core)
}

/// The guarantee of entitlement: any excess runner, another partition's before one's own.
fn victim_anywhere(state: &State, vp: VpId) -> Option<CoreId> {
    let partition = state.vps[vp as usize].partition;
    let runners = || (0..state.tree.chips()).flat_map(|chip| state.sets.excess_on(chip));
    let foreign = |core: &CoreId| {
        state.vps[state.cores[usize::from(*core)].running as usize].partition != partition
    };
    runners().find(foreign).or_else(|| runners().next())
}

/// The waiting virtual processor that fits a core best: last on it, homed on its node, or the
/// first.
fn best_fit(state: &State, queue: &VecDeque<VpId>, core: CoreId) -> Option<VpId> {
    let node = state.cores[usize::from(core)].node;
    let mut homed = None;
    for &vp in queue.iter().take(LOOK_AHEAD) {
        let waiting = &state.vps[vp as usize];
        if waiting.last_core == core {
            return Some(vp);
        }
        if homed.is_none() && waiting.home_node == node {
            homed = Some(vp);
        }
    }
    homed.or_else(|| queue.front().copied())
}

/// The waiting partition that comes first for excess: own pool's unused capacity, then least use
/// per weight.
fn most_behind(state: &State) -> Option<u16> {
    let key = |partition: &u16| {
        let share = &state.shares[usize::from(*partition)];
        (
            !state.pools[usize::from(share.pool)].has_own_excess(),
            share.excess_age,
        )
    };
    state.queues.waiting.iter().copied().min_by(|a, b| {
        let (a, b) = (key(a), key(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    })
}
