//! What a virtual processor finds cold where it is dispatched.
//!
//! Its own lines lie in the private caches of the core it was on last; what others brought in there
//! since displaced its part of them. What is gone comes from the cache of the chip it was on, or,
//! where that has turned over as well, from the node's, or from memory. On another core all of its
//! own lines are missing. What all virtual processors have in common (CP, shared code) is warm
//! wherever one of them runs.

use super::sharing::Near;
use super::state::{Cp, Left};
use crate::guest::zvm::ids::{LpId, VcpuId};
use crate::guest::zvm::segment::Segment;
use crate::machine::Topology;
use crate::spec::{Machine, Profile};

impl Cp {
    /// Work done so far on a logical processor's core, chip and node [ns of core time].
    fn clocks(&self, lp: LpId) -> [f64; 3] {
        let place = &self.lps[lp].place;
        [
            self.core_clock[usize::from(place.core)],
            self.chip_clock[usize::from(place.chip)],
            self.node_clock[usize::from(place.node)],
        ]
    }

    /// Notes that a virtual processor leaves a logical processor.
    pub fn leave(&mut self, vcpu: VcpuId, lp: LpId) {
        let clocks = self.clocks(lp);
        self.vcpus[vcpu].left = Left {
            lp,
            clocks,
            warm: true,
        };
    }

    /// Sets what a virtual processor must fetch again on a logical processor.
    pub fn chill_vcpu(
        &mut self,
        machine: &Machine,
        tree: &Topology,
        profile: &Profile,
        vcpu: VcpuId,
        lp: LpId,
        near: &Near,
    ) {
        let left = self.vcpus[vcpu].left;
        let around = &near.around;
        let own = profile.footprint_bytes as f64 * (1.0 - profile.footprint_common);
        let lines = (own / f64::from(machine.line_bytes)).min(around.private_lines);
        if !left.warm || lines <= 0.0 {
            return;
        }
        let now = self.clocks(left.lp);
        let since = |level: usize| now[level] - left.clocks[level];
        let lost = if self.lps[left.lp].place.core == self.lps[lp].place.core {
            displaced(since(0), around.private_turnover_ns)
        } else {
            1.0
        };
        let (from, to) = (self.lps[left.lp].place.chip, self.lps[lp].place.chip);
        let off_chip = displaced(since(1), around.chip_turnover_ns);
        let off_node = displaced(since(2), around.node_turnover_ns);
        let chip_ns = around.cache_ns[tree.distance(from, to) as usize];
        let node_ns = around.cache_ns[if tree.node_of(from) == tree.node_of(to) {
            1
        } else {
            2
        }];
        let beyond = (1.0 - off_node) * node_ns + off_node * around.memory_ns;
        let ns = (1.0 - off_chip) * chip_ns + off_chip * beyond;
        let each = around.exposed * (ns - around.private_ns).max(0.0);
        self.vcpus[vcpu].cold = (lost * lines, each);
    }

    /// Fetches again what the guest's instructions of a segment touch of what is cold.
    pub fn refill(&mut self, vcpu: VcpuId, guest: f64, near: &Near, into: &mut Segment) {
        let (lines, each) = &mut self.vcpus[vcpu].cold;
        if *lines <= 0.0 {
            return;
        }
        let touched = (guest * near.around.reload_lines).min(*lines);
        *lines -= touched;
        into.reload(touched * *each);
    }
}

/// Share of lines displaced by `ns` of others' work, where `turnover_ns` of it brings in as many as
/// there are: each line brought in hits any with equal chance.
fn displaced(ns: f64, turnover_ns: f64) -> f64 {
    1.0 - (-ns / turnover_ns).exp()
}

#[cfg(test)]
mod tests {
    use super::displaced;

    #[test]
    fn a_turnover_leaves_one_in_e() {
        assert_eq!(displaced(0.0, 1_000.0), 0.0);
        assert!((displaced(1_000.0, 1_000.0) - (1.0 - (-1.0f64).exp())).abs() < 1e-12);
        assert_eq!(displaced(1e9, f64::INFINITY), 0.0);
    }
}
