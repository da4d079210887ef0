//! Interrupts of devices on the processors of a Linux host.
//!
//! Whoever runs on the processor stands still for as long, and is not charged for it, nor does the
//! scheduler count it as theirs (`IRQ_TIME_ACCOUNTING`); who comes to it begins later. On another
//! hardware thread of its core work is slowed, as beside any busy one. Interrupts that come while
//! one is seen to wait their turn.

use super::state::Host;
use super::Alarm;
use crate::ids::CoreId;
use crate::kernel::When;
use crate::machine::crowd;
use crate::sim::interrupting::Handler;
use crate::sim::world::World;

impl World<Host> {
    /// A processor of the host is to do the work of an interrupt.
    pub(super) fn handle_on_host(&mut self, handler: Handler) {
        let core = CoreId::new(usize::from(handler.cpu));
        self.settle(core);
        self.settle_siblings(core);
        let (chip, threads) = (self.at.cores[core].chip, self.threads_beside(core));
        let (hard, soft, each_ns) = self.work_of(&handler, chip, threads);
        let lines_ns = self.device_lines_ns(&handler, chip);
        let (hard_ns, soft_ns) = (hard * each_ns, soft * each_ns + lines_ns);
        let ns = (hard_ns + soft_ns).round().max(1.0) as u64;
        let until = self.at.cores[core].handles_until.max(self.now) + ns;
        self.at.cores[core].handles_until = until;
        self.sys.handlers[core].push_back((handler, hard_ns, soft_ns));
        self.sees_to(core);
        self.hold_up(core, ns);
        self.plan_siblings(core);
        self.ask_at(until, Alarm::Handled(core));
        let now = self.now;
        self.tell(|host| host.interrupted(core, ns, now));
    }

    /// Threads of a core that are busy while one of them handles an interrupt.
    fn threads_beside(&self, core: CoreId) -> u8 {
        let siblings = usize::from(self.at.tree.siblings);
        let first = core.index() / siblings * siblings;
        let busy = |at: usize| {
            let other = CoreId::new(first + at);
            other == core || self.is_used(other)
        };
        let mask = (0..siblings).fold(0, |mask, at| mask | u8::from(busy(at)) << at);
        crowd(mask, self.spec.machine.smt.parts, siblings as u8)
    }

    /// A processor on which nobody runs does the work of those whose interrupt is next: what is
    /// beside it is slowed by that.
    fn sees_to(&mut self, core: CoreId) {
        if self.at.cores[core].running.is_none() {
            self.is_left(core);
        }
    }

    /// The same of one that is left in the midst of an interrupt.
    pub(super) fn is_left(&mut self, core: CoreId) {
        if let Some((handler, ..)) = self.sys.handlers[core].front() {
            self.at.cores[core].kind = self.table.kind(handler.partition.into());
        }
    }

    /// What runs on a processor goes on so much later.
    fn hold_up(&mut self, core: CoreId, ns: u64) {
        let now = self.now;
        let on = &mut self.at.cores[core];
        on.settled_at = on.settled_at.max(now) + ns;
        if on.running.is_none() {
            return;
        }
        if on.spin_from.is_set() {
            on.spin_from = on.spin_from.max(When::at(now)) + ns;
        }
        if on.stall_until.is_set() {
            on.stall_until = on.stall_until.max(When::at(now)) + ns;
        }
        self.plan(core);
    }

    /// A processor has done the work of an interrupt.
    pub(super) fn has_handled(&mut self, core: CoreId) {
        self.settle_siblings(core);
        let done = self.sys.handlers[core].pop_front();
        self.sees_to(core);
        self.plan_siblings(core);
        if let Some((handler, hard_ns, soft_ns)) = done {
            self.handled(handler, hard_ns, soft_ns);
        }
    }

    /// Time that processors have spent on interrupts [ns].
    pub(super) fn interrupted_ns(&self) -> i64 {
        let all = self.interrupting.taken();
        all.map(|(.., one)| one.hard_ns + one.soft_ns).sum::<f64>() as i64
    }
}
