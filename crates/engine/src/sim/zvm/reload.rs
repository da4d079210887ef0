//! What a virtual processor finds cold where it is dispatched.
//!
//! Its own lines lie in the private caches of the core it was on last; what others brought in there
//! since displaced its part of them. What is gone comes from the cache of the chip it was on, or,
//! where that has turned over as well, from the node's, or from memory. On another core all of its
//! own lines are missing. What all virtual processors have in common (CP, shared code) is warm
//! wherever one of them runs.

use super::state::{Cp, Left, Vcpu};
use crate::guest::zvm::cold::{displaced, each_ns};
use crate::guest::zvm::ids::{LpId, VcpuId};
use crate::guest::zvm::segment::Segment;
use crate::guest::zvm::sharing::Near;

impl Cp {
    /// Work done so far on a logical processor's core, chip and node [ns of core time].
    #[inline]
    fn clocks(&self, lp: LpId) -> [f64; 3] {
        let place = &self.lps[lp].place;
        [
            self.core_clock[usize::from(place.core)],
            self.chip_clock[place.chip],
            self.node_clock[place.node],
        ]
    }

    /// Notes that a virtual processor leaves a logical processor.
    #[inline]
    pub fn leave(&mut self, vcpu: VcpuId, lp: LpId) {
        let clocks = self.clocks(lp);
        self.vcpus[vcpu].left = Left {
            lp,
            clocks,
            warm: true,
        };
    }

    /// Sets what a virtual processor must fetch again on a logical processor.
    pub fn chill(&mut self, vcpu: VcpuId, lp: LpId) {
        let (left, near) = (&self.vcpus[vcpu].left, self.near(lp));
        if !left.warm || near.own_lines <= 0.0 {
            return;
        }
        let (from, to) = (self.lps[left.lp].place, self.lps[lp].place);
        let now = self.clocks(left.lp);
        let since = |level: usize| now[level] - left.clocks[level];
        let lost = if from.core == to.core {
            displaced(since(0), near.around.private_turnover_ns)
        } else {
            1.0
        };
        let lines = lost * near.own_lines;
        let each = if lines != 0.0 {
            let distance = from.distance(&to);
            each_ns(&near.around, distance, since(1), since(2))
        } else {
            0.0
        };
        self.vcpus[vcpu].cold = (lines, each);
    }
}

impl Vcpu {
    /// Fetches again what the guest's instructions of a segment touch of what is cold.
    #[inline]
    pub fn refill(&mut self, guest: f64, near: &Near, into: &mut Segment) {
        let (lines, each) = &mut self.cold;
        if *lines <= 0.0 {
            return;
        }
        let touched = (guest * near.around.reload_lines).min(*lines);
        *lines -= touched;
        into.reload(touched * *each);
    }
}
