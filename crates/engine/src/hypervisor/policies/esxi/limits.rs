//! Limits: a virtual machine gets what it may use, period by period, and waits once that is used.

use super::{Doing, Esxi};
use crate::ids::PartitionId;
use crate::kernel::When;

impl Esxi {
    /// A period begins: all with a limit get what they may use in it, less what they have taken in
    /// advance.
    pub(super) fn give_out(&mut self, now: u64) {
        let period = self.rules.limit_period_ns;
        self.limit_at = When::at(now + period);
        for at in self.vms.ids() {
            let Some(limit) = self.vms[at].limit else {
                continue;
            };
            self.book_all(at, now);
            let held = self.held_ns(at, now);
            let vm = &mut self.vms[at];
            vm.budget_ns = vm.budget_ns.min(0) + (limit * period as f64).round() as i64;
            vm.count.periods += 1;
            if vm.is_held() && vm.budget_ns > 0 {
                vm.held_from = When::NEVER;
                vm.count.throttled_periods += 1;
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

    /// Whether a virtual machine has used up its limit by now; if so all that run of it stop.
    pub(super) fn hold(&mut self, vm: PartitionId, now: u64) {
        let of = &mut self.vms[vm];
        if of.limit.is_none() || of.is_held() || of.budget_ns > 0 {
            return;
        }
        of.held_from = When::at(now);
        for vp in self.vms[vm].worlds {
            if let (Doing::Running, Some(core)) = (self.worlds[vp].doing, self.worlds[vp].core) {
                self.ask(core);
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
