//! VMware's scheduler of ESXi: virtual machines get time by their shares, each is at home on a
//! memory node, and a virtual processor that leads its siblings is stopped.
//!
//! ```text
//! wake     a world goes to a processor that idles, or takes that of one that is ahead   place
//! pick     the virtual machine that has used least by its shares is next                pick
//! shares   what those count for on a node, by who is at home there and what is wanted   shares
//! poll     1 ms: worlds that lead the slowest of their siblings stop, and go on again   cosched
//! rebalance  2 s: reservations count anew, virtual machines change their nodes    numa, even
//! limit    a period: what those with a limit may use, alone or in a pool                limits
//! ```
//! Rules after VMware, "The CPU Scheduler in VMware vSphere 5.1" (2013), the documentation of
//! vSphere Resource Management 6.7 to 8.0, and knowledge base article 326271 (a core that idles
//! as a whole is preferred whenever a virtual processor is scheduled; here at wake-ups and at the
//! end of a quantum); the scheduler itself is not public. Not modelled: latency sensitivity, action
//! affinity, the search for idle processors within a few only, whole cores for those far behind.

mod claims;
mod cosched;
mod even;
mod limits;
mod numa;
mod params;
mod parts;
mod pick;
mod place;
mod setup;
mod shares;

use std::collections::VecDeque;

use super::super::host::{HomeCount, HostCount, HostPolicy, HostScheduler, Setting};
use super::super::State;
use crate::ids::{ById, CoreId, PartitionId, Span, VpId};
use crate::kernel::When;
use crate::spec::{ResourcePool, Spec};
pub use claims::entitled;
use params::{Rules, SETTINGS};
use parts::{Client, Doing, Limit, Processor, Vm, World};

/// The scheduler.
#[derive(Clone, Debug)]
pub struct Esxi {
    rules: Rules,
    /// Threads of a core.
    siblings: usize,
    worlds: ById<VpId, World>,
    vms: ById<PartitionId, Vm>,
    /// Resource pools, each after the one that it is in.
    pools: Vec<ResourcePool>,
    limits: Vec<Limit>,
    clients: Vec<Client>,
    /// Processors of each memory node.
    nodes: Vec<Span<CoreId>>,
    cores: ById<CoreId, Processor>,
    /// Worlds that wait, in the order in which they came.
    ready: Vec<VpId>,
    /// How far the clocks of those have come that compete for processors, by node.
    levels: Vec<f64>,
    pending: VecDeque<CoreId>,
    poll_at: When,
    rebalance_at: When,
    /// When it came last; 0 = never.
    looked_at: u64,
    /// How often that has come.
    rebalanced: u64,
    limit_at: When,
}

impl HostPolicy for Esxi {
    const SETTINGS: &'static [Setting] = SETTINGS;

    fn begin(spec: &Spec, state: &State, _replication: u64) -> Self {
        Self::new(spec, state)
    }
}

impl Esxi {
    /// Whether a world may run on a processor.
    fn may(&self, vp: VpId, core: CoreId) -> bool {
        let world = &self.worlds[vp];
        if world.pins.is_empty() {
            self.nodes[self.clients[world.client].home].contains(core)
        } else {
            world.pins.contains(&core)
        }
    }

    /// The client of a world.
    fn client_of(&self, vp: VpId) -> &Client {
        &self.clients[self.worlds[vp].client]
    }

    /// The memory node beside a processor, by place in the list.
    fn node_of(&self, core: CoreId) -> usize {
        let beside = |node: &Span<CoreId>| node.contains(core);
        self.nodes.iter().position(beside).unwrap_or(0)
    }

    /// Whether a world that waits could run on a processor now.
    fn could(&self, vp: VpId, core: CoreId) -> bool {
        !self.vms[self.worlds[vp].vm].is_held() && self.may(vp, core)
    }

    /// A processor must be asked whom it runs, once.
    fn ask(&mut self, core: CoreId) {
        if !std::mem::replace(&mut self.cores[core].is_pending, true) {
            self.pending.push_back(core);
        }
    }

    /// Threads of a processor's core.
    fn threads_of(&self, core: CoreId) -> Span<CoreId> {
        let first = core.index() / self.siblings * self.siblings;
        Span::new(first, self.siblings.min(self.cores.len() - first))
    }

    /// What a second of a processor counts for: less beside a busy thread of its core.
    fn part_of(&self, core: CoreId) -> f64 {
        let threads = self.threads_of(core).into_iter();
        let busy = threads.filter(|at| self.cores[*at].runner.is_some());
        if busy.count() > 1 {
            self.rules.shared_core
        } else {
            1.0
        }
    }

    /// Books the time of those that run on a processor's core, before any of them changes.
    fn book(&mut self, core: CoreId, now: u64) {
        if self.cores[core].booked_to == now {
            return; // So are those beside it.
        }
        let part = self.part_of(core);
        for at in self.threads_of(core) {
            let processor = &mut self.cores[at];
            let elapsed = now - std::mem::replace(&mut processor.booked_to, now);
            let Some(vp) = processor.runner else { continue };
            let world = &mut self.worlds[vp];
            world.progress_ns += elapsed;
            world.wanted_ns += elapsed;
            world.got_ns += elapsed as f64 * part;
            let charged = elapsed as f64 * part;
            let client = &mut self.clients[world.client];
            client.clock += client.pace(charged);
            let vm = &mut self.vms[world.vm];
            vm.charged_ns += charged;
            for bound in &mut vm.limits {
                bound.left_ns -= elapsed as i64;
                self.limits[bound.limit].budget_ns -= elapsed as i64;
            }
        }
    }

    /// What those of a virtual machine that run are to be charged and are not yet [ns].
    fn unbooked(&self, vm: PartitionId, now: u64) -> f64 {
        let worlds = self.vms[vm].worlds.into_iter();
        let running = worlds.filter(|vp| self.worlds[*vp].doing == Doing::Running);
        let on = running.filter_map(|vp| self.worlds[vp].core);
        on.map(|core| self.part_of(core) * (now - self.cores[core].booked_to) as f64)
            .sum()
    }

    /// A world does something else from now on.
    fn set(&mut self, vp: VpId, doing: Doing, now: u64) {
        let world = &mut self.worlds[vp];
        // What it waited before nodes were last looked at counted then.
        let wanted = now - world.since.max(self.looked_at);
        let spent = now - std::mem::replace(&mut world.since, now);
        match std::mem::replace(&mut world.doing, doing) {
            Doing::Ready => world.wanted_ns += wanted,
            Doing::Stopped => {
                world.wanted_ns += wanted;
                self.vms[world.vm].count.costop_ns += spent;
            }
            Doing::Asleep | Doing::Running => {}
        }
    }
}

impl HostScheduler for Esxi {
    fn wake(&mut self, vp: VpId, _waker: Option<CoreId>, now: u64) {
        if self.worlds[vp].doing != Doing::Asleep {
            return;
        }
        self.catch_up(vp, now);
        self.line_up(vp, now);
    }

    fn sleep(&mut self, vp: VpId, now: u64) {
        let world = &self.worlds[vp];
        match (world.doing, world.core) {
            (Doing::Running, Some(core)) => {
                self.book(core, now);
                self.cores[core].runner = None;
                self.ask(core);
            }
            (Doing::Ready, _) => self.ready.retain(|waits| *waits != vp),
            _ => {}
        }
        self.set(vp, Doing::Asleep, now);
    }

    fn look(&mut self, core: CoreId, _now: u64) {
        self.ask(core);
    }

    fn look_at(&self, core: CoreId, _now: u64) -> When {
        self.cores[core].look_at
    }

    fn timer(&mut self, now: u64) {
        if self.limit_at.has_come(now) {
            self.give_out(now);
        }
        if self.rebalance_at.has_come(now) {
            self.rebalance(now);
        }
        if self.poll_at.has_come(now) {
            self.poll(now);
        }
    }

    fn timer_at(&self) -> When {
        self.poll_at.min(self.rebalance_at).min(self.limit_at)
    }

    fn take_pending(&mut self) -> Option<CoreId> {
        let core = self.pending.pop_front()?;
        self.cores[core].is_pending = false;
        Some(core)
    }

    fn has_waiting(&self, core: CoreId) -> bool {
        self.ready.iter().any(|vp| self.could(*vp, core))
    }

    fn pick(&mut self, core: CoreId, now: u64) -> Option<VpId> {
        self.choose(core, now)
    }

    /// The sibling takes the place of one that spins.
    fn yield_to(&mut self, vp: VpId, sibling: VpId, _now: u64) -> bool {
        let (world, waits) = (&self.worlds[vp], &self.worlds[sibling]);
        let Some(core) = world.core.filter(|_| world.doing == Doing::Running) else {
            return false;
        };
        if waits.doing != Doing::Ready || !self.could(sibling, core) {
            return false;
        }
        self.cores[core].hand_to = Some(sibling);
        self.ask(core);
        true
    }

    fn counted(&self, partition: PartitionId, now: u64) -> HostCount {
        let vm = &self.vms[partition];
        let worlds = vm.worlds.into_iter().map(|vp| &self.worlds[vp]);
        let stopped = worlds.filter(|world| world.doing == Doing::Stopped);
        let open: u64 = stopped.map(|world| now - world.since).sum();
        let charged = vm.charged_ns + self.unbooked(partition, now);
        HostCount {
            throttled_ns: vm.count.throttled_ns + self.held_ns(partition, now),
            costop_ns: vm.count.costop_ns + open,
            charged_ns: charged.round() as u64,
            ..vm.count
        }
    }

    fn homes(&self, partition: PartitionId) -> Vec<HomeCount> {
        let of = |node: usize| {
            let own = self.clients.iter().filter(|one| one.vm == partition);
            let there = own.filter(|one| one.home == node);
            HomeCount {
                cores: self.nodes[node],
                vps: there.map(|one| one.worlds.len() as u64).sum(),
                arrivals: self.vms[partition].arrivals[node],
            }
        };
        (0..self.nodes.len()).map(of).collect()
    }
}

#[cfg(test)]
mod tests;
