//! Who wakes up does not wait longer than until another is far enough ahead of it.
//!
//! A share is a claim, and without this who runs briefly and often would not get it: it would wait
//! for the end of a slice each time, however far behind it is. CP has a routine for it (IBM, *The
//! VM/ESA Scheduler Made Simple*); whom it pushes off, and when, is not published.

use super::state::{Cp, Doing, Lp};
use crate::guest::zvm::ids::{LpId, VcpuId};
use crate::hypervisor;
use crate::ids::PartitionId;
use crate::kernel::When;
use crate::sim::windows::Partitions;
use crate::sim::world::World;

/// By how many slices' worth of its own one gets ahead of who wakes up until it makes way for it:
/// assumed, 0 to 10. With none, processors that serve each other would push each other off.
const AHEAD_SLICES: f64 = 1.0;

/// After how long one that runs comes to CP by itself, for an interception of its guest's or an
/// interruption, and can be pushed off [ns]: assumed, 0 to 5 ms. Most that wait in a queue of brief
/// work are through by then.
const COMES_NS: f64 = 250e3;

impl World<Partitions> {
    /// A virtual processor that has woken up waits in a vector for which no processor idles: the
    /// slice of one there ends as soon as that is far enough ahead and comes to CP.
    pub fn push_off(&mut self, partition: PartitionId, vcpu: VcpuId, order: f64) {
        let now = self.now;
        let cp = self.sys.cp(partition);
        let ends = |lp: &Lp| {
            let runs = self.at.vps[lp.place.vp].mode == hypervisor::Mode::Running;
            runs.then_some(self.threads[lp.place.at].rotate_at)
        };
        if let Some((at, lp)) = cp.gives_way_to(vcpu, order, now, ends) {
            let place = cp.lps[lp].place;
            self.threads[place.at].rotate_at = at;
            self.replan(place.vp);
        }
    }
}

impl Cp {
    /// Which processor of its vector makes way first for one that wakes, and when: one whose slice
    /// would end later, of a virtual processor that has used up a slice since it last waited. Who
    /// acts now is at the end of a segment, not within a slice.
    fn gives_way_to(
        &self,
        vcpu: VcpuId,
        order: f64,
        now: u64,
        ends: impl Fn(&Lp) -> Option<When>,
    ) -> Option<(When, LpId)> {
        let own = &self.vcpus[vcpu];
        let slice = self.spec.minor_slice_ns as f64;
        let enough = order + AHEAD_SLICES * slice / own.weight;
        let members = self.vectors.members(own.vector).iter();
        let way = members.filter(|lp| self.acting != Some(**lp)).map(|lp| {
            let of = &self.lps[*lp];
            let Doing::Running(there) = of.doing else {
                return None;
            };
            let v = &self.vcpus[there];
            let used = (now - v.since) as f64;
            let more = ((enough - v.deadline) * v.weight - used).max(COMES_NS);
            if v.woken || more >= slice {
                return None; // its slice ends before that
            }
            let at = When::at(now + more as u64);
            let sooner = ends(of).is_some_and(|end| at < end);
            sooner.then_some((at, *lp))
        });
        way.flatten().min_by_key(|(at, _)| *at)
    }
}
