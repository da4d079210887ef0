//! Limits: a virtual machine, or a resource pool with all in it, gets what it may use, period by
//! period, and waits once that is used.

use super::{Doing, Esxi, Limit};
use crate::ids::PartitionId;
use crate::kernel::When;

impl Esxi {
    /// A period begins: all with a limit get what they may use in it, less what they have taken in
    /// advance.
    pub(super) fn give_out(&mut self, now: u64) {
        let period = self.rules.limit_period_ns;
        self.limit_at = When::at(now + period);
        for at in self.vms.ids() {
            if !self.vms[at].limits.is_empty() {
                self.book_all(at, now);
            }
        }
        for limit in &mut self.limits {
            let given = (limit.cores * period as f64).round() as i64;
            limit.budget_ns = limit.budget_ns.min(0) + given;
            limit.is_used_up &= limit.budget_ns <= 0;
        }
        for at in self.vms.ids() {
            let held = self.held_ns(at, now);
            let vm = &mut self.vms[at];
            vm.count.periods += u64::from(!vm.limits.is_empty());
            let goes_on = vm
                .limits
                .iter()
                .all(|limit| !self.limits[*limit].is_used_up);
            if vm.is_held() && goes_on {
                vm.held_from = When::NEVER;
                vm.count.throttled_periods += u64::from(held > 0);
                vm.count.throttled_ns += held;
                self.let_go(at, now);
            }
        }
    }

    /// Books the time of all that run of a virtual machine.
    fn book_all(&mut self, vm: PartitionId, now: u64) {
        for vp in self.vms[vm].worlds {
            if let (Doing::Running, Some(core)) = (self.worlds[vp].doing, self.worlds[vp].core) {
                self.book(core, now);
            }
        }
    }

    /// Those that waited at the limit line up anew.
    fn let_go(&mut self, vm: PartitionId, now: u64) {
        for vp in self.vms[vm].worlds {
            if self.worlds[vp].doing == Doing::Ready {
                self.ready.retain(|waits| *waits != vp);
                self.line_up(vp, now);
            }
        }
    }

    /// Whether a limit of a virtual machine, or of a pool that it is in, is used up by now; if so
    /// all that run under that limit stop.
    pub(super) fn hold(&mut self, vm: PartitionId, now: u64) {
        for at in 0..self.vms[vm].limits.len() {
            let limit = &mut self.limits[self.vms[vm].limits[at]];
            if limit.is_used_up || limit.budget_ns > 0 {
                continue;
            }
            limit.is_used_up = true;
            for member in limit.members.clone() {
                self.hold_all(member, now);
            }
        }
    }

    fn hold_all(&mut self, vm: PartitionId, now: u64) {
        if self.vms[vm].is_held() {
            return;
        }
        self.vms[vm].held_from = When::at(now);
        for vp in self.vms[vm].worlds {
            if let (Doing::Running, Some(core)) = (self.worlds[vp].doing, self.worlds[vp].core) {
                self.ask(core);
            }
        }
    }

    /// Time after which a limit of a virtual machine is used up if all go on that run now [ns];
    /// none = it has no limit.
    pub(super) fn left_ns(&self, vm: PartitionId) -> Option<u64> {
        let left = |limit: &Limit| {
            let worlds = limit.members.iter().flat_map(|vm| self.vms[*vm].worlds);
            let running = worlds.filter(|vp| self.worlds[*vp].doing == Doing::Running);
            limit.budget_ns.max(0) as u64 / running.count().max(1) as u64
        };
        let limits = self.vms[vm].limits.iter();
        limits.map(|at| left(&self.limits[*at])).min()
    }

    /// Time for which those with work wait at the limit so far, since it was reached [ns].
    pub(super) fn held_ns(&self, vm: PartitionId, now: u64) -> u64 {
        let vm = &self.vms[vm];
        let Some(from) = vm.held_from.ns() else {
            return 0;
        };
        let waits = vm.worlds.into_iter().map(|vp| &self.worlds[vp]);
        let waits = waits.filter(|world| world.doing == Doing::Ready);
        waits.map(|world| now - world.since.max(from)).sum()
    }
}
