//! What the locks of a partition's Control Program come to in the window that begins, and who pays
//! for making others ready.

use super::state::{Cp, Doing};
use crate::guest::zvm::ids::{LpId, VcpuId, VectorId};
use crate::guest::zvm::locks::{readers_ns, Holding, Readied, NEWEST};

impl Cp {
    /// A window ends, in which an instruction took `instruction_ns` and a line `line_ns`: who wants
    /// a lock in the next are the processors that are unparked.
    pub fn close_locks(&mut self, (instruction_ns, line_ns): (f64, f64), window_ns: f64) {
        let unparked = f64::from(self.unparked) * f64::from(self.smt);
        let Self {
            locks,
            vectors,
            spec,
            ..
        } = self;
        let of = &spec.locks;
        locks.others = (unparked - 1.0).max(0.0);
        let holding = |more_ns| Holding::of(of, instruction_ns, line_ns, more_ns);
        let alone = holding(0.0);
        let (now, usual) = &mut locks.shared;
        *usual += NEWEST * (std::mem::take(now) - *usual);
        let readers = readers_ns(*usual / window_ns, alone.held_ns);
        let closing = holding(locks.others * line_ns + readers);
        locks.scheduler.close(unparked, closing, window_ns);
        locks.pages.close(unparked, alone, window_ns);
        for (vector, door) in locks.doors.ids().zip(&mut locks.doors) {
            door.close(vectors.open(vector), alone, window_ns);
        }
    }

    /// The virtual processor that a logical one runs has made others ready: what that takes. How
    /// long was spun for whose vector is known since then; a turn is as long at each vector.
    #[inline(never)]
    pub fn pay_ready(&mut self, lp: LpId, readied: &Readied) {
        let of = &mut self.lps[lp];
        let near = &self.near[of.place.chip];
        let door = &self.locks.doors[self.vectors.of(lp)];
        let both = (&self.locks.scheduler, door);
        let others = self.locks.others;
        near.readying(&self.spec.locks, both, others, readied, &mut of.segment);
    }

    /// A virtual processor is made ready for a vector: locks that whoever made it so must take.
    #[inline]
    pub fn enter(&mut self, vector: VectorId, payer: VcpuId) {
        let locks = &self.spec.locks;
        if locks.ready + locks.dispatch > 0.0 {
            self.locks.scheduler.count(locks.ready);
            self.locks.doors[vector].count(locks.dispatch);
            let both = (&self.locks.scheduler, &self.locks.doors[vector]);
            self.vcpus[payer].readied.add(locks, both);
        }
    }

    /// Who pays for making a virtual processor ready: the one that did, or else itself.
    #[inline]
    pub fn payer(&self, vcpu: VcpuId) -> VcpuId {
        match self.acting.map(|lp| self.lps[lp].doing) {
            Some(Doing::Running(waker)) => waker,
            _ => vcpu,
        }
    }
}
