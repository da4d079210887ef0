//! Which virtual processor a logical one runs next, and which logical processor takes work that
//! has just come.

use super::state::Cp;
use crate::guest::zvm::ids::{LpId, VcpuId, VectorId};
use crate::guest::zvm::vectors::{Vectors, Waiting};

/// The master processor.
pub const MASTER: LpId = LpId::new(0);

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
    /// nearest first. With `COUNTS`, what is looked at for it is counted.
    pub fn seek<const COUNTS: bool>(&mut self, lp: LpId, looked: &mut Looked) -> Option<Waiting> {
        if !self.vectors.is_unparked(lp) {
            return None;
        }
        if lp == MASTER && self.vectors.has_master() {
            return self.vectors.pop_master().map(|vcpu| Waiting {
                over: true,
                deadline: self.vcpus[vcpu].deadline,
                vcpu,
            });
        }
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
        let own = vectors.of(lp);
        if COUNTS {
            look(vectors, own);
        }
        if let Some(first) = vectors.pop(own, lp) {
            return Some(first);
        }
        let mut others = vectors.others(own).iter();
        let (from, _) = others.find(|(other, distance)| {
            if COUNTS {
                look(vectors, *other);
            }
            vectors.may_steal(*other, *distance)
        })?;
        vectors.pop(*from, lp)
    }

    /// The idle processor that takes work which has just come to a vector. If all that idle are
    /// signalled, each is as likely to be the first to look; else it is one of the vector's own.
    #[inline]
    pub fn taker(&mut self, vector: VectorId, last: LpId) -> Option<LpId> {
        if self.spec.paths.signal <= 0.0 {
            return self.vectors.idle_in(vector, last);
        }
        match u64::from(self.vectors.idle()) {
            0 => None,
            idle => self.vectors.idle_at(self.race.below(idle) as u32),
        }
    }

    /// A virtual processor that wakes up starts from where the clock is by now.
    #[inline]
    pub fn catch_up(&mut self, vcpu: VcpuId) {
        let v = &mut self.vcpus[vcpu];
        v.deadline = v.deadline.max(self.clock);
    }

    /// The clock goes on with the deadlines that are dispatched while others wait, but not past
    /// theirs: those that wait elsewhere are part of the same list.
    #[inline]
    pub fn move_clock(&mut self, deadline: f64) {
        if self.vectors.queued() > 0 {
            let least = self.vectors.least_deadline();
            self.clock = self.clock.max(deadline.min(least));
        }
    }
}
