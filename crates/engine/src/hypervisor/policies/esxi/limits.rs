//! Limits: a virtual machine, or a resource pool with all in it, gets what it may use, period by
//! period, and waits once that is used.

use super::claims::{divide_in, Claim};
use super::parts::{refilled, Bound, Vm};
use super::{Doing, Esxi};
use crate::ids::{ById, PartitionId, VpId};
use crate::kernel::When;

impl Esxi {
    /// A period begins: all with a limit get what they may use in it.
    pub(super) fn give_out(&mut self, now: u64) {
        let period = self.rules.limit_period_ns;
        self.limit_at = When::at(now + period);
        for at in self.vms.ids() {
            if !self.vms[at].limits.is_empty() {
                self.book_all(at, now);
            }
        }
        let is_ready = |vp: VpId| self.worlds[vp].doing == Doing::Ready;
        let waits: ById<PartitionId, bool> = self
            .vms
            .iter()
            .map(|vm| vm.worlds.into_iter().any(is_ready))
            .collect();
        for limit in &mut self.limits {
            let waits = limit.members.iter().any(|vm| waits[*vm]);
            limit.budget_ns = refilled(limit.budget_ns, limit.cores * period as f64, waits);
            limit.is_used_up &= limit.budget_ns <= 0;
        }
        for at in self.vms.ids() {
            let held = self.held_ns(at, now);
            let vm = &mut self.vms[at];
            vm.count.periods += u64::from(!vm.limits.is_empty());
            let bounds = vm.limits.iter_mut();
            bounds.for_each(|of| of.give_out(period, waits[at]));
            let is_left = |of: &Bound| of.left_ns > 0 && !self.limits[of.limit].is_used_up;
            let goes_on = vm.limits.iter().all(is_left);
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
            let (own_ns, at) = (
                self.vms[vm].limits[at].left_ns,
                self.vms[vm].limits[at].limit,
            );
            if own_ns <= 0 {
                return self.hold_all(vm, now);
            }
            let limit = &mut self.limits[at];
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
        let runs = |vp: &VpId| self.worlds[*vp].doing == Doing::Running;
        let running = |vm: &PartitionId| self.vms[*vm].worlds.into_iter().filter(runs).count();
        let each = |left_ns: i64, count: usize| left_ns.max(0) as u64 / count.max(1) as u64;
        let left = |bound: &Bound| {
            let limit = &self.limits[bound.limit];
            let all = limit.members.iter().map(running).sum();
            each(limit.budget_ns, all).min(each(bound.left_ns, running(&vm)))
        };
        self.vms[vm].limits.iter().map(left).min()
    }

    /// Divides what pools may use among those in them, by their shares and by what they want, where
    /// that is more than there is: on processors that idle no clock does. What one leaves of its
    /// part others have from the next look on; each may have what its shares are worth at any time.
    pub(super) fn share_limits(&mut self, wanted: &[(Option<u16>, Claim)]) {
        let most = |(vm, (pool, claim)): (&Vm, &(Option<u16>, Claim))| {
            let most = vm.most.min(vm.worlds.len() as f64);
            (*pool, Claim { most, ..*claim })
        };
        let usable: Vec<_> = self.vms.iter().zip(wanted).map(most).collect();
        for (at, limit) in self.limits.iter().enumerate() {
            let Some(pool) = limit.pool else { continue };
            let members = || limit.members.iter();
            let wants: f64 = members().map(|vm| wanted[vm.index()].1.most).sum();
            let parts = [wanted, &usable[..]]
                .map(|claims| divide_in(pool, limit.cores, &self.pools, claims));
            for vm in members() {
                let due = parts.iter().map(|parts| parts[vm.index()].due);
                let bounds = self.vms[*vm].limits.iter_mut();
                for bound in bounds.filter(|bound| bound.limit == at) {
                    bound.cores = if wants < limit.cores {
                        f64::INFINITY
                    } else {
                        due.clone().fold(0.0, f64::max)
                    };
                }
            }
        }
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
