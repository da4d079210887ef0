//! Snoozing: a virtual processor whose last thread has no work left polls for a while before it
//! cedes. It holds its core meanwhile, on its partition's account, and goes on at once with what
//! comes; one that is folded or offline cedes at once, and one that loses its core polls on when it
//! is back. Source: `smt_snooze_delay` of `schedo`, the time in the idle loop without useful work
//! before `H_CEDE`.

use super::{Alarm, Partitions};
use crate::guest::Cpu;
use crate::hypervisor::Mode;
use crate::ids::VpId;
use crate::kernel::Key;
use crate::sim::world::World;

impl World<Partitions> {
    /// Whether a runner without work stays on its core and polls. The first call sets when it
    /// cedes.
    pub(super) fn polls(&mut self, vp: VpId) -> bool {
        let v = self.vp(vp);
        let guest = &self.guests[v.partition];
        let first = Cpu {
            vp: v.index,
            thread: 0,
        };
        match guest.scheduler.snooze_delay_ns {
            Some(0) => false,
            _ if !guest.queues.serves(first) => false,
            Some(delay) if self.sys.cedes[vp] == Key::NONE => {
                self.sys.cedes[vp] = self.ask_at(self.now + delay, Alarm::Snooze(vp));
                true
            }
            _ => true,
        }
    }

    /// It got work, or has ceded: the next time it polls all of its delay again.
    pub(super) fn stop_polling(&mut self, vp: VpId) {
        self.sys.cedes[vp] = Key::NONE;
    }

    /// It has polled long enough.
    pub(super) fn end_polling(&mut self, vp: VpId, key: Key) {
        if self.sys.cedes[vp] != key {
            return;
        }
        self.stop_polling(vp);
        match (self.vp(vp).mode, self.mask(vp)) {
            (Mode::Running, 0) => self.cede(vp),
            (Mode::Ready | Mode::Exhausted, 0) => self.withdraw(vp),
            _ => {}
        }
    }
}
