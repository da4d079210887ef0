//! Signals to idle processors. When a virtual processor becomes ready, CP signals every idle
//! unparked processor of its dispatch vector: the sender executes a signal for each, and each wakes
//! and looks into the vector, all but one of them in vain. Where all of a vector are at work, the
//! nearest idle one that would come is signalled. So work that is made ready while many processors
//! idle costs more than work made ready while few do.
//!
//! Looking in vain delays nobody: a processor that does it takes new work at once. It is therefore
//! not done signal by signal, but for all signals of a window together.

use super::state::{Cp, Doing};
use crate::guest::zvm::ids::{LpId, VcpuId, VectorId};
use crate::guest::zvm::segment::Owner;
use crate::ids::PartitionId;
use crate::kernel::When;
use crate::sim::windows::Partitions;
use crate::sim::world::World;

impl Cp {
    /// Tells all idle processors of a vector that a virtual processor is ready there; whoever made
    /// it so pays.
    #[inline]
    pub fn signal_idle(&mut self, vcpu: VcpuId, vector: VectorId) {
        let payer = self.payer(vcpu);
        self.enter(vector, payer);
        let (each, idle) = (self.spec.paths.signal, self.vectors.idle(vector));
        if each <= 0.0 {
            return;
        }
        if idle > 0 {
            self.locks.call(vector, idle);
            self.vcpus[payer].owes += f64::from(idle) * each;
        } else if self.vectors.idle_beyond(vector).is_some() {
            self.vcpus[payer].owes += each;
        }
    }

    /// Signals so far to the processors of a logical one's vector.
    #[inline]
    pub fn calls(&self, lp: LpId) -> f64 {
        self.locks.doors[self.vectors.of(lp)].calls
    }

    /// Notes that a processor has work again; the signal for that work was not in vain.
    #[inline]
    pub fn hear_signals(&mut self, lp: LpId, now: u64) {
        let calls = self.calls(lp);
        let of = &mut self.lps[lp];
        of.signals += (calls - of.signals_from - 1.0).max(0.0);
        of.signals_from = calls;
        of.idle_ns += now - of.idle_from;
        of.idle_from = now;
    }
}

impl World<Partitions> {
    /// A window begins: idle processors follow the signals they got in the last.
    pub fn rouse_all(&mut self) {
        for partition in self.partitions() {
            if self.sys.cps[partition].is_some() {
                self.rouse_idle(partition);
            }
        }
    }

    fn rouse_idle(&mut self, partition: PartitionId) {
        if self.cp(partition).spec.paths.signal <= 0.0 {
            return;
        }
        for lp in self.cp(partition).lps.ids() {
            let now = self.now;
            let cp = self.cp(partition);
            let (signals, open) = (cp.calls(lp), cp.vectors.is_unparked(lp));
            let of = &mut cp.lps[lp];
            if of.doing != Doing::Idle {
                continue;
            }
            if open {
                of.signals += signals - of.signals_from;
            }
            of.signals_from = signals;
            of.idle_ns += now - of.idle_from;
            of.idle_from = now;
            self.follow_signals(partition, lp);
        }
    }

    /// An idle processor follows the signals that it got. It cannot have looked for longer than it
    /// idled: one that is on its way is not signalled again.
    fn follow_signals(&mut self, partition: PartitionId, lp: LpId) {
        let cp = self.sys.cp(partition);
        let one = cp.look_in_vain(1.0, lp);
        let instruction_ns = cp.near(lp).around.instruction_ns;
        let each = one.all_instructions() * instruction_ns + one.extra.ns;
        let of = &mut cp.lps[lp];
        let most = std::mem::take(&mut of.idle_ns) as f64 / each.max(1.0);
        let times = std::mem::take(&mut of.signals).min(most);
        if times <= 0.0 {
            return;
        }
        of.following = times;
        of.doing = Doing::Roused;
        cp.lps[lp].segment = cp.look_in_vain(times, lp);
        let vector = cp.vectors.of(lp);
        cp.locks.follow(vector, times, &cp.spec.locks);
        self.put_segment(partition, lp, When::NEVER);
        self.cp(partition).vectors.set_idle(lp, true);
    }

    /// New work comes for a processor that only follows signals: the rest of that must wait.
    #[inline]
    pub fn interrupt_roused(&mut self, partition: PartitionId, lp: LpId) {
        if self.cp(partition).lps[lp].doing == Doing::Roused {
            self.cut_short(partition, lp);
        }
    }

    fn cut_short(&mut self, partition: PartitionId, lp: LpId) {
        let place = self.cp(partition).lps[lp].place;
        self.settle_vp(place.vp);
        let t = &self.threads[place.at];
        let cp = self.sys.cp(partition);
        cp.vectors.set_idle(lp, false);
        let of = &mut cp.lps[lp];
        let rest = of.segment.rest(t.instructions, t.extra_ns);
        let done = |all: f64, left: f64| if all > 0.0 { left / all } else { 0.0 };
        let whole = of.segment.instructions[Owner::System as usize];
        let left = done(whole, rest.instructions[Owner::System as usize]);
        of.signals += of.following * left.max(done(of.segment.extra.ns, rest.extra.ns));
        of.doing = Doing::Looking;
        of.interrupted = true;
    }
}
