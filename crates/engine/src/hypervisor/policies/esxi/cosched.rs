//! Relaxed co-scheduling: siblings are held to one pace.
//!
//! Time counts as progress in which a world runs or has nothing to do. One that leads a sibling
//! that waits by more than a threshold stops and gives its processor to that one; where none of
//! those that lead has a processor that the sibling may use, all of them stop. One goes on once its
//! lead over the slowest has shrunk. As long as the slowest runs no lead grows and nobody stops.

use super::{Doing, Esxi};
use crate::ids::{PartitionId, VpId};
use crate::kernel::When;

impl Esxi {
    /// Looks at the leads of all that have somebody waiting or stopped.
    pub(super) fn poll(&mut self, now: u64) {
        self.poll_at = When::NEVER;
        for vm in self.vms.ids() {
            if self.vms[vm].is_wide() && self.keep_pace(vm, now) {
                self.poll_at = When::at(now + self.rules.poll_ns);
            }
        }
    }

    /// A world wakes. Without work it was neither behind its siblings nor far ahead of them.
    pub(super) fn catch_up(&mut self, vp: VpId, now: u64) {
        let world = &self.worlds[vp];
        let idled = world.progress_ns + (now - world.since);
        let slowest = self.slowest(world.vm);
        let most = slowest.map_or(idled, |(_, least)| least + self.rules.costart_ns);
        let least = slowest.map_or(idled, |(_, least)| least);
        self.worlds[vp].progress_ns = idled.clamp(least, most);
    }

    /// The world with work that has come least far, and how far.
    fn slowest(&self, vm: PartitionId) -> Option<(VpId, u64)> {
        let worlds = self.vms[vm].worlds.into_iter();
        let awake = worlds.filter(|vp| self.worlds[*vp].doing != Doing::Asleep);
        awake
            .map(|vp| (vp, self.worlds[vp].progress_ns))
            .min_by_key(|(_, progress)| *progress)
    }

    /// Stops the worlds of a virtual machine that lead by too much and lets those go on that no
    /// longer do; whether it must be looked at again.
    fn keep_pace(&mut self, vm: PartitionId, now: u64) -> bool {
        let worlds = self.vms[vm].worlds;
        for vp in worlds {
            if let Some(core) = self.worlds[vp].core {
                self.book(core, now);
            }
        }
        self.start_again(vm, now);
        if self.rules.costop_ns > 0 {
            self.stop_leaders(vm, now);
        }
        let held_up = |vp| matches!(self.worlds[vp].doing, Doing::Ready | Doing::Stopped);
        worlds.into_iter().any(held_up)
    }

    /// Those whose lead has shrunk go on.
    fn start_again(&mut self, vm: PartitionId, now: u64) {
        let Some((_, least)) = self.slowest(vm) else {
            return;
        };
        for vp in self.vms[vm].worlds {
            let world = &self.worlds[vp];
            let near = world.progress_ns <= least + self.rules.costart_ns;
            if world.doing == Doing::Stopped && near {
                self.line_up(vp, now);
            }
        }
    }

    /// One leader stops for each sibling that waits too far behind, the slowest first.
    fn stop_leaders(&mut self, vm: PartitionId, now: u64) {
        let worlds = self.vms[vm].worlds.into_iter();
        let mut waiting: Vec<VpId> = worlds
            .filter(|vp| self.worlds[*vp].doing == Doing::Ready)
            .collect();
        waiting.sort_by_key(|vp| self.worlds[*vp].progress_ns);
        for behind in waiting {
            let leaders = self.leaders_of(vm, behind);
            let on = |vp: &VpId| {
                self.worlds[*vp]
                    .core
                    .filter(|core| self.could(behind, *core))
            };
            let most = leaders.iter().filter(|vp| on(vp).is_some());
            match most.max_by_key(|vp| self.worlds[**vp].progress_ns).copied() {
                Some(vp) => self.stop(vp, Some(behind), now),
                None => leaders.into_iter().for_each(|vp| self.stop(vp, None, now)),
            }
        }
    }

    /// Siblings that run and lead one that waits by too much.
    fn leaders_of(&self, vm: PartitionId, behind: VpId) -> Vec<VpId> {
        let most = self.worlds[behind].progress_ns + self.rules.costop_ns;
        let leads = |vp: &VpId| {
            let world = &self.worlds[*vp];
            world.doing == Doing::Running && world.progress_ns > most
        };
        self.vms[vm].worlds.into_iter().filter(leads).collect()
    }

    /// Stops a runner; a sibling may take its place.
    fn stop(&mut self, vp: VpId, gives_to: Option<VpId>, now: u64) {
        self.set(vp, Doing::Stopped, now);
        if let Some(core) = self.worlds[vp].core {
            self.cores[core].hand_to = gives_to;
            self.ask(core);
        }
    }
}
