//! What a virtual processor finds cold where it is dispatched.
//!
//! Its own lines lie in the private caches of the core it was last on; what others brought in there
//! since displaced its part of them. What is gone comes from the cache of the chip it was on, or,
//! where that has turned over as well, from the node's, or from memory. On another core all of its
//! own lines are missing. Lines that all virtual processors of its machine have in common lie where
//! the last of them left besides. Machines have nothing in common: each has memory of its own.

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
        let left = Left {
            lp,
            clocks: self.clocks(lp),
            warm: true,
        };
        self.vcpus[vcpu].left = left;
        self.vm_of(vcpu).left = left;
    }

    /// Whether a virtual processor was on another core before.
    pub fn comes_to(&self, vcpu: VcpuId, lp: LpId) -> bool {
        let left = &self.vcpus[vcpu].left;
        left.warm && self.lps[left.lp].place.core != self.lps[lp].place.core
    }

    /// Sets what a virtual processor must fetch again on a logical processor.
    pub fn chill(&mut self, vcpu: VcpuId, lp: LpId) {
        let (v, near) = (&self.vcpus[vcpu], self.near(lp));
        if near.lines <= 0.0 {
            return;
        }
        let vm = &self.vms[v.vm];
        let own = self.gone(&v.left, lp);
        let common = if vm.cpus.len() > 1 {
            cheaper(own, self.gone(&vm.left, lp))
        } else {
            own
        };
        let parts = [(near.own, own), (1.0 - near.own, common)];
        let lost: f64 = parts.iter().map(|(part, (lost, _))| part * lost).sum();
        let all: f64 = parts
            .iter()
            .map(|(part, (lost, each))| part * lost * each)
            .sum();
        let each = if lost > 0.0 { all / lost } else { 0.0 };
        self.vcpus[vcpu].cold = (lost * near.lines, each);
        self.come_to_chip(vcpu, lp);
    }

    /// The same of what caches that cores share hold for it, of which some may be missing still.
    fn come_to_chip(&mut self, vcpu: VcpuId, lp: LpId) {
        let Some(mut unfetched) = self.vcpus[vcpu].unfetched.take() else {
            return;
        };
        let (v, Near { around, beyond, .. }) = (&self.vcpus[vcpu], self.near(lp));
        if v.left.warm {
            let vm = &self.vms[v.vm];
            let place = |of: LpId| {
                let place = &self.lps[of].place;
                [place.chip.index(), place.node.index()]
            };
            let (from, to, last) = (place(v.left.lp), place(lp), place(vm.left.lp));
            let (there, here) = (self.clocks(v.left.lp), self.clocks(lp));
            let turnovers = [around.chip_turnover_ns, around.node_turnover_ns];
            let gone = |at: usize, ns: f64| displaced(ns, turnovers[at]);
            let since = |at: usize| gone(at, there[at + 1] - v.left.clocks[at + 1]);
            let distance = self.lps[v.left.lp].place.distance(&self.lps[lp].place);
            let all = beyond.gone(distance, [since(0), since(1)]);
            for (at, outer) in beyond.levels.iter().enumerate() {
                // What its machine has in common is where the last of it was.
                let beside = vm.cpus.len() > 1 && vm.left.warm && last[at] == to[at];
                let common = if beside { (0.0, 0.0) } else { all[at] };
                let missing = outer.missing(all[at], common);
                let last = (from[at], v.left.clocks[at + 1]);
                unfetched.come((at, outer), last, to[at], missing, |since| {
                    1.0 - gone(at, here[at + 1] - since)
                });
            }
        }
        self.vcpus[vcpu].unfetched = Some(unfetched);
    }

    /// Share of what was left somewhere that is gone as seen from a logical processor, and what
    /// each line of that costs beyond one held [ns]. Nothing is gone of what was never there.
    fn gone(&self, left: &Left, lp: LpId) -> (f64, f64) {
        if !left.warm {
            return (0.0, 0.0);
        }
        let around = &self.near(lp).around;
        let (from, to) = (self.lps[left.lp].place, self.lps[lp].place);
        let now = self.clocks(left.lp);
        let since = |level: usize| now[level] - left.clocks[level];
        let lost = if from.core == to.core {
            displaced(since(0), around.private_turnover_ns)
        } else {
            1.0
        };
        if lost == 0.0 {
            return (0.0, 0.0);
        }
        let each = each_ns(around, from.distance(&to), since(1), since(2));
        (lost, each)
    }
}

/// Of two places in which the same lines were left, each with what is gone and what each costs: the
/// one from which they cost less.
fn cheaper(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    if other.0 * other.1 < one.0 * one.1 {
        other
    } else {
        one
    }
}

impl Vcpu {
    /// Fetches again what the guest's instructions of a segment touch of what is cold.
    #[inline]
    pub fn refill(&mut self, guest: f64, near: &Near, into: &mut Segment) {
        if let Some(unfetched) = &mut self.unfetched {
            into.reload(unfetched.fetch(guest));
        }
        let (lines, each) = &mut self.cold;
        if *lines <= 0.0 {
            return;
        }
        let touched = (guest * near.around.reload_lines).min(*lines);
        *lines -= touched;
        into.reload(touched * *each);
    }
}
