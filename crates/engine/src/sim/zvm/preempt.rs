//! Who wakes up does not wait longer than until another is far enough ahead of it.
//!
//! A share is a claim, and without this who runs briefly and often would not get it: it would wait
//! for the end of a slice each time, however far behind it is. CP has a routine for it (IBM, *The
//! VM/ESA Scheduler Made Simple*); whom it pushes off, and when, is not published.

use super::state::{Cp, Doing, Lp, Mode};
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

/// What a logical processor does for the one that it runs.
struct Turn {
    /// When its slice ends.
    ends: When,
    /// Time that one has had and that is not booked yet [ns].
    more_ns: f64,
}

impl World<Partitions> {
    /// A virtual processor that has woken up waits in a vector for which no processor idles: the
    /// slice of one that would take it ends as soon as that is far enough ahead and comes to CP.
    pub fn push_off(&mut self, partition: PartitionId, vcpu: VcpuId, order: f64) {
        let now = self.now;
        let cp = self.sys.cp(partition);
        let turn = |lp: &Lp| {
            let v = &self.at.vps[lp.place.vp];
            let runs = v.core.filter(|_| v.mode == hypervisor::Mode::Running);
            runs.map(|core| Turn {
                ends: self.threads[lp.place.at].rotate_at,
                more_ns: self.at.cores[core].unbooked_ns(now) as f64,
            })
        };
        if let Some((at, lp)) = cp.gives_way_to(vcpu, order, now, turn) {
            cp.lps[lp].makes_way_for = Some(vcpu);
            let acts = cp.acting == Some(lp);
            let place = cp.lps[lp].place;
            self.threads[place.at].rotate_at = at;
            if !acts {
                // Else its core is planned when it has acted.
                self.replan(place.vp);
            }
        }
    }
}

impl Cp {
    /// Which of the processors that would take one that wakes makes way for it first, and when: one
    /// whose slice would end later, of a virtual processor that has used up a slice since it last
    /// waited.
    fn gives_way_to(
        &self,
        vcpu: VcpuId,
        order: f64,
        now: u64,
        turn: impl Fn(&Lp) -> Option<Turn>,
    ) -> Option<(When, LpId)> {
        let own = &self.vcpus[vcpu];
        let slice = self.spec.minor_slice_ns as f64;
        let enough = order + AHEAD_SLICES * slice / own.weight;
        let way = self.vectors.takers(own.vector).map(|lp| {
            let of = &self.lps[lp];
            let Doing::Running(there) = of.doing else {
                return None;
            };
            let v = &self.vcpus[there];
            let turn = turn(of).filter(|_| !v.woken)?;
            // What it has used since it was charged: none while its core had no power.
            let used = v.used_ns + turn.more_ns;
            let more = ((enough - v.deadline) * v.weight - used).max(COMES_NS);
            let at = When::at(now + more as u64);
            // Not if its slice ends before that.
            (more < slice && at < turn.ends).then_some((at, lp))
        });
        way.flatten().min_by_key(|(at, _)| *at)
    }

    /// A slice is over: whoever it ended for waits in this processor's vector from now on, unless
    /// somebody has taken it meanwhile.
    pub fn makes_way(&mut self, lp: LpId) {
        let Some(vcpu) = self.lps[lp].makes_way_for.take() else {
            return;
        };
        let v = &self.vcpus[vcpu];
        let (from, to) = (v.vector, self.vectors.of(lp));
        if v.mode == Mode::Ready && v.woken && from != to {
            self.vectors.shift(vcpu, from, to, lp);
            self.vcpus[vcpu].vector = to;
        }
    }
}
