//! Dispatch vectors: where virtual processors wait for a logical processor.
//!
//! In vertical polarization the logical processors of a chip share a vector, in horizontal each has
//! its own; one more is for what only the master processor may do. A processor takes from its own
//! vector first, then steals. In vertical polarization it does so from the nearest vector first,
//! where at least so many wait as the barrier of that distance says; in horizontal, where CP knows
//! nothing of the machine's topology, in the order of their numbers and whatever waits. Within a
//! vector the order is that of the deadlines, those that have passed a soft limit last.
//!
//! With two threads a core, an idle processor whose core rests is signalled before one beside which
//! the other thread works: first all that would be asked with one thread a core, then the others.

use std::collections::VecDeque;

use super::cores::Cores;
use super::ids::{LpId, VcpuId, VectorId};
use crate::ids::{ById, ChipId};
use crate::machine::{Distance, Topology};
use crate::spec::ByDistance;

/// Logical processors that one vector can have.
pub const MOST_IN_VECTOR: usize = 128;

/// A virtual processor that waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waiting {
    /// Whether it has passed a soft limit.
    pub over: bool,
    /// Whether it has just woken up: it waits for the end of a slice, not for its share.
    pub woken: bool,
    /// Its deadline: who has the least goes first.
    pub deadline: f64,
    /// Who.
    pub vcpu: VcpuId,
}

#[derive(Clone, Debug)]
struct Vector {
    lps: Vec<LpId>,
    idle: u128,
    unparked: u128,
    /// How many are idle and unparked.
    free: u32,
    queue: VecDeque<Waiting>,
    changes: u32,
    changed_by: LpId,
}

/// All dispatch vectors of a partition.
#[derive(Clone, Debug)]
pub struct Vectors {
    vectors: ById<VectorId, Vector>,
    /// Vector of each logical processor, and its bit in the masks there.
    of: ById<LpId, (VectorId, u128)>,
    /// Those that are unparked, once more: it is asked at every turn.
    unparked: ById<LpId, bool>,
    /// Others by distance, for each vector.
    order: ById<VectorId, Vec<(VectorId, Distance)>>,
    barrier: [f64; 3],
    master: VecDeque<VcpuId>,
    queued: u32,
    /// Of these in the vectors, those that have passed a soft limit.
    over: u32,
    /// And those that have not, nor have just woken up.
    steady: u32,
    /// Idle unparked logical processors.
    free: u32,
    cores: Cores,
}

impl Vectors {
    /// Vectors of logical processors that sit on `chips`, so many on a core; all idle and unparked.
    pub fn new(
        tree: &Topology,
        (chips, smt): (&ById<LpId, ChipId>, u8),
        vertical: bool,
        barrier: ByDistance,
    ) -> Self {
        let mut vectors: ById<VectorId, Vector> = ById::new();
        let mut at_chip: ById<VectorId, ChipId> = ById::new();
        let mut of = ById::new();
        for (lp, chip) in chips.entries() {
            let known = at_chip.iter().position(|c| vertical && c == chip);
            let vector = known.map_or_else(
                || {
                    at_chip.push(*chip);
                    vectors.push(Vector::new())
                },
                VectorId::new,
            );
            let members = &mut vectors[vector];
            of.push((vector, 1 << members.lps.len()));
            members.add(lp);
        }
        let others = |from| {
            if vertical {
                nearest_first(tree, &at_chip, from)
            } else {
                in_order(at_chip.len(), from)
            }
        };
        Self {
            free: chips.len() as u32,
            unparked: ById::of(true, chips.len()),
            vectors,
            of,
            order: at_chip.ids().map(others).collect(),
            barrier: [barrier.local, barrier.near, barrier.far],
            master: VecDeque::new(),
            queued: 0,
            over: 0,
            steady: 0,
            cores: Cores::new(chips.len(), smt),
        }
    }

    /// Number of vectors, the master's apart.
    pub fn count(&self) -> usize {
        self.vectors.len()
    }

    /// Vector of a logical processor.
    #[inline]
    pub fn of(&self, lp: LpId) -> VectorId {
        self.of[lp].0
    }

    /// Virtual processors that wait in all vectors.
    #[inline]
    pub fn queued(&self) -> u32 {
        self.queued
    }

    /// Whether anybody who has not passed a soft limit waits in a vector, whichever.
    #[inline]
    pub fn any_under(&self) -> bool {
        self.queued - self.master.len() as u32 > self.over
    }

    /// The first that waits in a vector.
    #[inline]
    pub fn first(&self, vector: VectorId) -> Option<&Waiting> {
        self.vectors[vector].queue.front()
    }

    /// Virtual processors that wait in a vector.
    #[inline]
    pub fn waiting(&self, vector: VectorId) -> usize {
        self.vectors[vector].queue.len()
    }

    /// Logical processors of a vector.
    #[inline]
    pub fn members(&self, vector: VectorId) -> &[LpId] {
        &self.vectors[vector].lps
    }

    /// Other vectors as seen from one, nearest first.
    #[inline]
    pub fn others(&self, vector: VectorId) -> &[(VectorId, Distance)] {
        &self.order[vector]
    }

    /// Unparked processors of a vector.
    #[inline]
    pub fn open(&self, vector: VectorId) -> f64 {
        f64::from(self.vectors[vector].unparked.count_ones())
    }

    /// Changes of a vector so far, and the logical processor that made the last.
    #[inline]
    pub fn changes(&self, vector: VectorId) -> (u32, LpId) {
        let vector = &self.vectors[vector];
        (vector.changes, vector.changed_by)
    }

    /// Notes whether a logical processor is idle.
    #[inline]
    pub fn set_idle(&mut self, lp: LpId, idle: bool) {
        let (vector, bit) = self.of[lp];
        let of = &mut self.vectors[vector];
        if (of.idle & bit != 0) != idle {
            of.idle ^= bit;
            self.cores.set_idle(lp, idle);
            let open = u32::from(of.unparked & bit != 0);
            self.count_free(vector, open, idle);
        }
    }

    /// Notes whether a logical processor is unparked.
    pub fn set_unparked(&mut self, lp: LpId, unparked: bool) {
        self.unparked[lp] = unparked;
        let (vector, bit) = self.of[lp];
        let of = &mut self.vectors[vector];
        if (of.unparked & bit != 0) != unparked {
            of.unparked ^= bit;
            let idle = u32::from(of.idle & bit != 0);
            self.count_free(vector, idle, unparked);
        }
    }

    #[inline]
    fn count_free(&mut self, vector: VectorId, count: u32, more: bool) {
        let of = &mut self.vectors[vector].free;
        if more {
            (*of, self.free) = (*of + count, self.free + count);
        } else {
            (*of, self.free) = (*of - count, self.free - count);
        }
    }

    /// Whether a logical processor is unparked.
    #[inline]
    pub fn is_unparked(&self, lp: LpId) -> bool {
        self.unparked[lp]
    }

    /// A vector, or the nearest one that has unparked processors.
    #[inline]
    pub fn home(&self, own: VectorId) -> VectorId {
        let open = |vector: VectorId| self.vectors[vector].unparked != 0;
        if open(own) {
            return own;
        }
        let others = self.others(own).iter().map(|(vector, _)| *vector);
        others
            .into_iter()
            .find(|vector| open(*vector))
            .unwrap_or(own)
    }

    /// The idle processor that comes for work that is about to wait in a vector: `last` if that is
    /// one, another of the vector, or the nearest beyond whose barrier lets it. One whose core
    /// rests comes before any beside which another thread works.
    pub fn comes_for(&self, vector: VectorId, last: LpId) -> Option<LpId> {
        let rests = self.rests_for(vector, last);
        if rests.is_some() || self.free == 0 || self.cores.all_have_one_thread() {
            return rests;
        }
        self.nearest_free(vector, last, &|_| true)
    }

    /// The same, if its core rests.
    pub fn rests_for(&self, vector: VectorId, last: LpId) -> Option<LpId> {
        if self.free == 0 || !self.cores.any_rests() {
            return None;
        }
        self.nearest_free(vector, last, &|lp| self.cores.rests(lp))
    }

    /// Whether the other thread of a processor's core works.
    pub fn is_beside_work(&self, lp: LpId) -> bool {
        self.cores.is_shared(lp)
    }

    fn nearest_free(
        &self,
        vector: VectorId,
        last: LpId,
        fits: &impl Fn(LpId) -> bool,
    ) -> Option<LpId> {
        let (own, bit) = self.of[last];
        let members = &self.vectors[vector];
        if own == vector && members.idle & members.unparked & bit != 0 && fits(last) {
            return Some(last);
        }
        let waiting = self.waiting(vector) as f64 + 1.0;
        let near_enough = self
            .others(vector)
            .iter()
            .take_while(|(_, distance)| waiting >= self.barrier[*distance as usize]);
        let beyond = near_enough.map(|(other, _)| &self.vectors[*other]);
        std::iter::once(members)
            .chain(beyond)
            .find_map(|vector| vector.first_free(fits))
    }

    /// The least deadline of all that wait, but for those that have passed a soft limit. Who has
    /// just woken up counts only where nobody waits who has used up a slice.
    pub fn least_deadline(&self) -> f64 {
        let least = |those: &dyn Fn(&&Waiting) -> bool| {
            let firsts = self.vectors.iter();
            let firsts = firsts.filter_map(|vector| vector.queue.iter().find(those));
            let deadlines = firsts.map(|first| first.deadline);
            deadlines.fold(f64::INFINITY, f64::min)
        };
        if self.steady > 0 {
            least(&|one| !one.over && !one.woken)
        } else {
            least(&|one| !one.over)
        }
    }

    /// Unparked processors of each vector.
    pub fn room(&self) -> ById<VectorId, u32> {
        let of = |vector: &Vector| vector.unparked.count_ones();
        self.vectors.iter().map(of).collect()
    }

    /// An idle unparked processor of a vector where somebody waits.
    pub fn idle_beside_work(&self) -> Option<LpId> {
        let some = self
            .vectors
            .iter()
            .filter(|vector| !vector.queue.is_empty());
        let first = |vector: &Vector| {
            let rests = vector.first_free(&|lp| self.cores.rests(lp));
            rests.or_else(|| vector.first_free(&|_| true))
        };
        some.filter_map(first).next()
    }

    /// Queues a virtual processor in a vector, on behalf of a logical processor.
    pub fn push(&mut self, vector: VectorId, by: LpId, waiting: Waiting) {
        let vector = &mut self.vectors[vector];
        vector.insert(waiting);
        vector.touch(by);
        self.note(waiting);
    }

    /// Logical processors that take what waits in a vector: its own, then those beyond whose
    /// barrier lets them, nearest first.
    pub fn takers(&self, vector: VectorId) -> impl Iterator<Item = LpId> + '_ {
        let others = self.others(vector).iter();
        let beyond = others.filter(move |(_, distance)| self.may_steal(vector, *distance));
        std::iter::once(vector)
            .chain(beyond.map(|(other, _)| *other))
            .flat_map(|vector| self.members(vector))
            .copied()
    }

    /// One that waits in a vector waits in another from now on.
    pub fn shift(&mut self, vcpu: VcpuId, from: VectorId, to: VectorId, by: LpId) {
        let queue = &mut self.vectors[from].queue;
        let at = queue.iter().position(|waiting| waiting.vcpu == vcpu);
        if let Some(waiting) = at.and_then(|at| queue.remove(at)) {
            self.vectors[from].touch(by);
            self.vectors[to].insert(waiting);
            self.vectors[to].touch(by);
        }
    }

    /// Queues a virtual processor for the master processor.
    pub fn push_master(&mut self, vcpu: VcpuId) {
        self.master.push_back(vcpu);
        self.queued += 1;
    }

    /// Whether somebody waits for the master processor.
    #[inline]
    pub fn has_master(&self) -> bool {
        !self.master.is_empty()
    }

    /// Takes the first that waits for the master processor.
    #[inline]
    pub fn pop_master(&mut self) -> Option<VcpuId> {
        let vcpu = self.master.pop_front()?;
        self.queued -= 1;
        Some(vcpu)
    }

    /// Takes the first of a vector, on behalf of a logical processor.
    #[inline]
    pub fn pop(&mut self, vector: VectorId, by: LpId) -> Option<Waiting> {
        let vector = &mut self.vectors[vector];
        let first = vector.queue.pop_front()?;
        vector.touch(by);
        self.forget(first);
        Some(first)
    }

    /// A virtual processor that waits is no longer over its soft limit: its deadline, which is not
    /// before `least`, if it was.
    pub fn forgive(&mut self, vcpu: VcpuId, least: f64) -> Option<f64> {
        let over = |waiting: &Waiting| waiting.vcpu == vcpu && waiting.over;
        for vector in &mut self.vectors {
            if let Some(at) = vector.queue.iter().position(over) {
                let mut waiting = vector.queue.remove(at).expect("found there");
                waiting.over = false;
                waiting.deadline = waiting.deadline.max(least);
                vector.insert(waiting);
                self.over -= 1;
                self.steady += u32::from(waiting.is_steady());
                return Some(waiting.deadline);
            }
        }
        None
    }

    /// Whether a processor at that distance may steal from a vector.
    #[inline]
    pub fn may_steal(&self, vector: VectorId, distance: Distance) -> bool {
        let waiting = self.waiting(vector);
        waiting > 0 && waiting as f64 >= self.barrier[distance as usize]
    }

    /// Takes all that wait out of all vectors.
    pub fn drain(&mut self) -> Vec<(VectorId, Waiting)> {
        let mut all = Vec::with_capacity(self.queued as usize);
        for (at, vector) in self.vectors.ids().zip(&mut self.vectors) {
            all.extend(vector.queue.drain(..).map(|waiting| (at, waiting)));
        }
        self.queued -= all.len() as u32;
        (self.over, self.steady) = (0, 0);
        all
    }

    /// Puts one back into a vector whose line changes with it only if it `moves` there.
    pub fn put_back(&mut self, vector: VectorId, by: LpId, waiting: Waiting, moves: bool) {
        let vector = &mut self.vectors[vector];
        vector.insert(waiting);
        if moves {
            vector.touch(by);
        }
        self.note(waiting);
    }

    fn note(&mut self, waiting: Waiting) {
        self.queued += 1;
        self.over += u32::from(waiting.over);
        self.steady += u32::from(waiting.is_steady());
    }

    fn forget(&mut self, waiting: Waiting) {
        self.queued -= 1;
        self.over -= u32::from(waiting.over);
        self.steady -= u32::from(waiting.is_steady());
    }

    /// Empties the vectors whose processors are all parked; who waited there.
    pub fn abandon(&mut self) -> Vec<VcpuId> {
        let mut left = Vec::new();
        for vector in self.vectors.iter_mut().filter(|v| v.unparked == 0) {
            left.extend(vector.queue.drain(..));
        }
        left.iter().for_each(|waiting| self.forget(*waiting));
        left.into_iter().map(|waiting| waiting.vcpu).collect()
    }
}

impl Waiting {
    fn is_steady(&self) -> bool {
        !self.over && !self.woken
    }
}

impl Vector {
    fn new() -> Self {
        Self {
            lps: Vec::new(),
            idle: 0,
            unparked: 0,
            free: 0,
            queue: VecDeque::new(),
            changes: 0,
            changed_by: LpId::new(0),
        }
    }

    fn add(&mut self, lp: LpId) {
        let bit = 1u128 << self.lps.len();
        self.lps.push(lp);
        self.idle |= bit;
        self.unparked |= bit;
        self.free += 1;
    }

    /// The first of its logical processors that is idle and unparked, and fits.
    fn first_free(&self, fits: &impl Fn(LpId) -> bool) -> Option<LpId> {
        let mut free = self.idle & self.unparked;
        while free != 0 {
            let lp = self.lps[free.trailing_zeros() as usize];
            if fits(lp) {
                return Some(lp);
            }
            free &= free - 1;
        }
        None
    }

    fn insert(&mut self, waiting: Waiting) {
        let key = |it: &Waiting| (it.over, it.deadline);
        let before = |other: &Waiting| key(other) <= key(&waiting);
        // Most go last. The others look up their place: many may wait.
        if self.queue.back().is_none_or(before) {
            self.queue.push_back(waiting);
        } else {
            let at = self.queue.partition_point(before);
            self.queue.insert(at, waiting);
        }
    }

    fn touch(&mut self, by: LpId) {
        self.changes = self.changes.wrapping_add(1);
        self.changed_by = by;
    }
}

/// Other vectors, those that follow in number and then from the start, as one that knows nothing of
/// distances sees them: all of them next to it.
fn in_order(count: usize, from: VectorId) -> Vec<(VectorId, Distance)> {
    (1..count)
        .map(|step| VectorId::new((from.index() + step) % count))
        .map(|at| (at, Distance::Local))
        .collect()
}

/// Other vectors by distance; at equal distance in their order.
fn nearest_first(
    tree: &Topology,
    chips: &ById<VectorId, ChipId>,
    from: VectorId,
) -> Vec<(VectorId, Distance)> {
    let mut others = in_order(chips.len(), from);
    for (at, distance) in &mut others {
        *distance = tree.distance(chips[from], chips[*at]);
    }
    others.sort_by_key(|(_, distance)| *distance);
    others
}

#[cfg(test)]
mod tests;
