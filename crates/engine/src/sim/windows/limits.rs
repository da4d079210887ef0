//! Limits of PR/SM's partitions and groups, looked at while a window goes on: what logical cores
//! without work leave of their slices goes to those that wait for more.

use super::{Alarm, Partitions};
use crate::hypervisor::{Capacity, Mode, LEAST_LOAN_NS, LOOKS};
use crate::ids::PartitionId;
use crate::sim::world::World;

impl World<Partitions> {
    /// One is at a limit: what is not kept any more for logical cores without work is there for all
    /// from now on, but for what those need that are behind. Whether it was time to look.
    pub(super) fn look_at_limits(&mut self, partition: PartitionId) -> bool {
        let due = self.now >= self.sys.next_look && self.sys.windows.is_limited(partition);
        if due {
            self.sys.next_look = self.now + self.spec.machine.hypervisor.window_ns / LOOKS;
            self.settle_excess_runners();
            let (windows, left) = (&mut self.sys.windows, self.window_end - self.now);
            windows.release_unused(left);
            windows.keep_for_those_behind(&self.at, left);
        }
        due
    }

    /// One waits at a limit: the next look is for it as well.
    pub(super) fn ask_for_limits(&mut self) {
        let at = self.sys.next_look.max(self.now + 1);
        if at < self.window_end && !std::mem::replace(&mut self.sys.limit_check, true) {
            self.ask_at(at, Alarm::LimitCheck);
        }
    }

    /// Those that wait at a limit go on if there is more by now, of partitions first that have had
    /// least of that by their weight.
    pub(super) fn check_limits(&mut self) {
        self.sys.limit_check = false;
        let mut waiting = std::mem::take(&mut self.sys.held.at_limits);
        let windows = &self.sys.windows;
        waiting.extend(
            self.partitions()
                .filter(|of| windows.is_limited(*of) && windows.shares[*of].exhausted_vps > 0),
        );
        if let Some(one) = waiting.first() {
            self.look_at_limits(*one);
        }
        let age = |of: &PartitionId| self.sys.windows.shares[*of].excess_age();
        waiting.sort_unstable_by(|a, b| age(a).total_cmp(&age(b)).then(a.cmp(b)));
        for of in waiting.drain(..) {
            self.go_on_below_limits(of);
        }
        self.sys.held.at_limits = waiting;
    }

    /// Those of a partition that have nothing left go on as far as its limits have more by now.
    fn go_on_below_limits(&mut self, of: PartitionId) {
        let begun = self.window_end - self.spec.machine.hypervisor.window_ns;
        for vp in self.at.vps_of[of] {
            let (windows, v) = (&self.sys.windows, self.vp(vp));
            let left = windows.left_ns(of, Capacity::Excess);
            let may_go_on = windows.shares[of].may_use_ns(v.index) > 0;
            if left >= LEAST_LOAN_NS && may_go_on && v.mode == Mode::Exhausted {
                self.ready_again(vp, begun);
            }
        }
        if self.sys.windows.shares[of].exhausted_vps > 0 {
            self.ask_for_limits();
        }
    }
}
