//! Which virtual processor a logical one runs next, and which logical processor takes work that
//! has just come.

use super::state::Cp;
use crate::guest::zvm::ids::{LpId, VcpuId, VectorId};
use crate::guest::zvm::vectors::{Vectors, Waiting};

/// The master processor.
pub const MASTER: LpId = LpId::new(0);

/// Part of a slice's worth by which who wakes up is preferred: the default intensity of CP's
/// interactive bias (SET SRM IABIAS 90), assumed to hold after any wait; between 0 and 1.
const WAKING_BIAS: f64 = 0.9;

/// Slices' worth of the time in which it waited that who wakes up claims: its priority is worked
/// out anew when it has used up a slice (IBM z/VM documentation, *Dispatch Priority*), not when it
/// wakes, so one; 0 to 3.
const ASLEEP_SLICES: f64 = 1.0;

/// What a logical processor looked at for work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Looked {
    /// Dispatch vectors.
    pub vectors: f64,
    /// Lines of theirs that came from other processors, by distance.
    pub lines: [f64; 3],
}

impl Cp {
    /// The next virtual processor for a logical one: from its own vector, then from the others,
    /// nearest first. Who has passed a soft limit comes after all that wait anywhere, whatever the
    /// barrier: it has what nobody else wants; who is ahead of its share, where limits leave
    /// processors at any time, after who is not. With `COUNTS`, vectors that are looked at are
    /// counted; whether one is ahead is taken to be known without a look.
    pub fn seek<const COUNTS: bool>(&mut self, lp: LpId, looked: &mut Looked) -> Option<Waiting> {
        if !self.vectors.is_unparked(lp) {
            return None;
        }
        if lp == MASTER && self.vectors.has_master() {
            return self.vectors.pop_master().map(|vcpu| Waiting {
                over: true,
                woken: false,
                deadline: self.vcpus[vcpu].deadline,
                vcpu,
            });
        }
        let own = self.vectors.of(lp);
        let ahead = self.ahead_of(own, own);
        let Self {
            vectors, lps, seen, ..
        } = self;
        let first = lp.index() * vectors.count();
        // A vector's line comes from whoever changed it since the last look.
        let mut look = |vectors: &Vectors, at: VectorId| {
            looked.vectors += 1.0;
            let (changes, by) = vectors.changes(at);
            let seen = &mut seen[first + at.index()];
            if std::mem::replace(seen, changes) != changes && by != lp {
                let distance = lps[by].place.distance(&lps[lp].place);
                looked.lines[distance as usize] += 1.0;
            }
        };
        if COUNTS {
            look(vectors, own);
        }
        let (waits, any_under) = (vectors.waiting(own) > 0, vectors.any_under());
        let is_over = |vectors: &Vectors, at| vectors.first(at).is_some_and(|first| first.over);
        if let Some(other) = ahead {
            if COUNTS {
                look(vectors, other);
            }
            return vectors.pop(other, lp);
        }
        if waits && !(any_under && is_over(vectors, own)) {
            return vectors.pop(own, lp);
        }
        let mut from = waits.then_some(own);
        for (other, distance) in vectors.others(own) {
            if COUNTS {
                look(vectors, *other);
            }
            let over = is_over(vectors, *other);
            let may = vectors.may_steal(*other, *distance);
            // An own one that is over waits for the others that are not, whatever the barrier.
            if !over && (may || waits && vectors.waiting(*other) > 0) {
                from = Some(*other);
                break;
            }
            if over && may && from.is_none() {
                from = Some(*other);
                if !any_under {
                    break;
                }
            }
        }
        let from = from?;
        let behind = self.ahead_of(own, from);
        self.vectors.pop(behind.unwrap_or(from), lp)
    }

    /// The vector with who is furthest behind, where the first that waits `at` one is ahead of that
    /// by more than a slice of its own; beyond the own vector only where the barrier lets it.
    ///
    /// Who has nothing to do, or has used up its limit, leaves its processors before the list is
    /// dealt out again: without this they would go to whoever waits there, for which little of a
    /// share is enough.
    fn ahead_of(&self, own: VectorId, at: VectorId) -> Option<VectorId> {
        let first = self.vectors.first(at).filter(|first| !first.over)?;
        let slice = self.spec.minor_slice_ns as f64 / self.vcpus[first.vcpu].weight;
        let mut least = (first.deadline - slice, None);
        for (other, distance) in self.vectors.others(own) {
            if at != own && !self.vectors.may_steal(*other, *distance) {
                continue;
            }
            let there = self.vectors.first(*other).filter(|there| !there.over);
            if let Some(there) = there.filter(|there| there.deadline < least.0) {
                least = (there.deadline, Some(*other));
            }
        }
        least.1
    }

    /// A virtual processor that wakes up starts from where the clock is by now, or a slice before.
    #[inline]
    pub fn catch_up(&mut self, vcpu: VcpuId) {
        let v = &mut self.vcpus[vcpu];
        let slice = self.spec.minor_slice_ns as f64 / v.weight;
        v.deadline = v.deadline.max(self.clock - ASLEEP_SLICES * slice);
    }

    /// Where a virtual processor that becomes ready stands in the order. Who has waited, and not
    /// used up a slice, is preferred: the bias takes most of a slice's worth off its deadline, so
    /// that it comes back about where the clock is. What it used stays booked, and who goes on
    /// using more than its share falls behind all the same.
    #[inline]
    pub fn order_of(&self, vcpu: VcpuId) -> f64 {
        let v = &self.vcpus[vcpu];
        if !v.is_preferred() {
            return v.deadline;
        }
        let slice = self.spec.minor_slice_ns as f64 / v.weight;
        let preferred = (v.deadline - WAKING_BIAS * slice).max(self.clock);
        preferred.min(v.deadline)
    }

    /// The clock goes on with the deadlines that are dispatched while others wait, but not past
    /// theirs: those that wait elsewhere are part of the same list. Who has just woken up begins
    /// where the clock is: it would stand still as long as others wake before the last has run.
    #[inline]
    pub fn move_clock(&mut self, deadline: f64) {
        if self.vectors.queued() > 0 {
            let least = self.vectors.least_deadline();
            self.clock = self.clock.max(deadline.min(least));
        }
    }
}
