//! One run queue of one group on one processor, and the entities that stand in it: tasks, and
//! groups further down the tree.
//!
//! Virtual time is nanoseconds of an entity of nice 0; an entity of twice the weight gets older
//! half as fast. The queue's own virtual time is the mean of its entities' by weight: who is behind
//! it is owed time (positive lag), who is ahead of it owes some.

use std::cmp::Ordering;

use super::average::{Average, Kept};
use super::ids::{CgroupId, CoreId, EntityId, QueueId, ROOT};
use crate::kernel::{real, When};

/// Weight of a task of nice 0, in the kernel's high resolution.
pub const NICE_0: u64 = 1 << 20;

/// So many are looked through one after the other, rather than by halves.
const FEW: usize = 16;

/// A task, or a group on one processor.
// In this order, and from a cache line's start, what an event touches lies in one line or two.
#[repr(C, align(64))]
#[derive(Clone, Debug)]
pub struct Entity {
    /// Weight; [`NICE_0`] is one.
    pub weight: u64,
    /// Virtual runtime [ns].
    pub vruntime: i64,
    /// Virtual deadline [ns]; relative to the virtual runtime while it is on no queue.
    pub deadline: i64,
    /// Virtual runtime up to which it may not be preempted [ns].
    pub protected: i64,
    /// Slice that it asks for [ns].
    pub slice: u64,
    /// Up to when its runtime is booked [ns].
    pub booked_to: u64,
    /// Queue in which it stands.
    pub queue: QueueId,
    /// Queue of its own members, for a group.
    pub own: Option<QueueId>,
    /// Whether the slice is its own, not the base slice.
    pub own_slice: bool,
    /// Whether it stands in its queue or runs from it.
    pub queued: bool,
    /// Whether it sleeps, but stays queued until it owes nothing.
    pub delayed: bool,
    /// Whether the deadline is relative.
    pub relative: bool,
    /// Average of its weight while queued.
    pub load: Average,
    /// Runtime since it was last chosen [ns].
    pub stint: u64,
    /// How far it was behind its queue when it left it [virtual ns].
    pub lag: i64,
}

impl Entity {
    /// One that has never run.
    pub fn new(weight: u64, slice: u64, queue: QueueId, own: Option<QueueId>) -> Self {
        Self {
            weight,
            vruntime: 0,
            deadline: 0,
            protected: 0,
            lag: 0,
            slice,
            own_slice: false,
            queued: false,
            delayed: false,
            relative: false,
            booked_to: 0,
            stint: 0,
            queue,
            own,
            load: Average::default(),
        }
    }

    /// Whether it is a task.
    #[inline]
    pub fn is_task(&self) -> bool {
        self.own.is_none()
    }

    /// Books its runtime up to a time [ns].
    #[inline]
    pub fn age(&mut self, to: u64) {
        // What interrupts take from now on is not its own.
        let ran = to.saturating_sub(self.booked_to);
        self.booked_to += ran;
        self.vruntime += self.virtual_ns(ran);
    }

    /// A new slice begins where the last one is used up; whether it does.
    #[inline]
    pub fn renew_deadline(&mut self, base: u64) -> bool {
        if self.vruntime < self.deadline {
            return false;
        }
        if !self.own_slice {
            self.slice = base;
        }
        self.deadline = self.vruntime + self.virtual_ns(self.slice);
        true
    }

    /// Virtual time of real time [ns].
    #[inline]
    pub fn virtual_ns(&self, ns: u64) -> i64 {
        virtual_ns(ns, self.weight)
    }

    /// What its load average follows.
    #[inline]
    pub fn load_now(&self) -> f64 {
        if self.queued && !self.delayed {
            load_of(self.weight)
        } else {
            0.0
        }
    }
}

/// Load of a weight: that of a task of nice 0 is 1024.
#[inline]
pub fn load_of(weight: u64) -> f64 {
    real(weight) / 1024.0
}

/// Virtual time that `ns` of real time are at a weight [ns].
#[inline]
pub fn virtual_ns(ns: u64, weight: u64) -> i64 {
    if weight == NICE_0 {
        ns as i64
    } else if ns < 1 << 43 {
        ((ns << 20) / weight) as i64
    } else {
        ((u128::from(ns) << 20) / u128::from(weight)) as i64
    }
}

/// One that waits, with what a choice hangs on: a walk along the queue needs no entities.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    key: i64,
    vruntime: i64,
    slice: u64,
    id: EntityId,
}

/// A run queue.
// See [`Entity`]: who runs and what it is worth lies in the first line.
#[repr(C, align(64))]
#[derive(Clone, Debug)]
pub struct Queue {
    /// The one that runs.
    pub curr: Option<EntityId>,
    /// The one that a yielding runner wants to come next; none if nobody is named.
    pub buddy: Option<EntityId>,
    /// The one that yielded last, which is to come after the next one (CFS); none = nobody has
    /// since it ran.
    pub skip: Option<EntityId>,
    /// Entity of the group in the queue above; none for the root.
    pub entity: Option<EntityId>,
    /// The queue above; none for the root.
    pub above: Option<QueueId>,
    /// Entities, the runner included.
    pub count: u32,
    /// Tasks beneath, sleepers that owe included.
    pub tasks: u32,
    /// Queues from here to the root whose quota is used up.
    pub throttles: u32,
    /// Processor.
    pub cpu: CoreId,
    /// Index of the control group whose members wait here.
    pub group: CgroupId,
    /// Queues between this one and the root, which has 0.
    pub depth: u16,
    /// Whether its group has a quota.
    pub limited: bool,
    /// Whether its own quota is used up.
    pub throttled: bool,
    /// Weight of all entities, the runner included.
    pub weight: u64,
    /// Sum of their weights.
    sum_weight: u64,
    /// Virtual time below which it does not fall, for CFS.
    pub floor: i64,
    /// Sum of weight times virtual runtime of the waiting ones.
    sum: i128,
    /// Average of its weight.
    pub load: Average,
    /// What of that the group knows of.
    pub contribution: f64,
    /// When the group was told last [ns].
    pub told_at: u64,
    /// Whether it is empty, so that its load fades with what is left of the group's.
    pub fades: bool,
    /// Shortest slice that one of them asks for, and how many do.
    least_slice: (u64, u32),
    /// Waiting entities, by deadline (EEVDF) or virtual runtime (CFS), then by arrival.
    waiting: Vec<Waiting>,
    /// Quota at hand [ns].
    pub quota_left: i64,
    /// Since when it has been throttled [ns].
    pub throttled_from: u64,
    /// Since when its tasks have been stopped by any quota above [ns]; never = they are not.
    pub stopped_from: When,
    /// Time for which they were, up to then [ns].
    pub stopped_ns: u64,
}

impl Queue {
    /// An empty queue.
    pub fn new(cpu: CoreId, group: CgroupId, entity: Option<EntityId>) -> Self {
        Self {
            cpu,
            group,
            entity,
            above: None,
            depth: 0,
            limited: false,
            waiting: Vec::new(),
            least_slice: (u64::MAX, 0),
            curr: None,
            buddy: None,
            skip: None,
            count: 0,
            tasks: 0,
            weight: 0,
            sum: 0,
            sum_weight: 0,
            floor: 0,
            load: Average::default(),
            contribution: 0.0,
            told_at: 0,
            fades: false,
            quota_left: 0,
            throttled: false,
            throttles: 0,
            throttled_from: 0,
            stopped_from: When::NEVER,
            stopped_ns: 0,
        }
    }

    /// Brings the load averages of one that stands in it and its own up to now; see
    /// [`Self::update_load`].
    #[inline]
    pub fn update_loads(&mut self, of: &mut Entity, now: u64) -> f64 {
        let mut kept = Kept::default();
        of.load.update_beside(of.load_now(), now, &mut kept);
        self.update_load(now, &mut kept)
    }

    /// Brings its load average up to now; by how much what the group knows of it is to change,
    /// which is once a millisecond at most.
    #[inline]
    pub fn update_load(&mut self, now: u64, kept: &mut Kept) -> f64 {
        if self.throttles > 0 {
            self.load.skip(now);
            return 0.0;
        }
        let load = self.load.update_beside(self.load_now(), now, kept);
        let told = now - self.told_at < 1_000_000 && self.told_at > 0;
        if self.group == ROOT || self.fades || told {
            return 0.0;
        }
        let change = load - self.contribution;
        if change.abs() <= self.contribution / 64.0 {
            return 0.0;
        }
        self.contribution = load;
        self.told_at = now;
        change
    }

    /// What its load average follows.
    #[inline]
    pub fn load_now(&self) -> f64 {
        load_of(self.weight)
    }

    /// The floor of CFS rises to the least virtual runtime, that of a runner included.
    pub fn raise_floor(&mut self, runner: Option<i64>) {
        if let Some(least) = self.first_vruntime().into_iter().chain(runner).min() {
            self.floor = self.floor.max(least);
        }
    }

    /// Adds a waiting entity.
    pub fn insert(&mut self, key: i64, id: EntityId, of: &Entity) {
        let at = if self.waiting.len() <= FEW {
            let after = self.waiting.iter().take_while(|other| other.key <= key);
            after.count()
        } else {
            self.waiting.partition_point(|other| other.key <= key)
        };
        let (vruntime, slice) = (of.vruntime, of.slice);
        let one = Waiting {
            key,
            vruntime,
            slice,
            id,
        };
        self.waiting.insert(at, one);
        self.sum += i128::from(vruntime) * i128::from(of.weight);
        self.sum_weight += of.weight;
        self.note_slice(slice);
    }

    /// Takes a waiting entity out.
    pub fn remove(&mut self, key: i64, id: EntityId, of: &Entity) {
        let few = self.waiting.len() <= FEW;
        let from = if few {
            0
        } else {
            self.waiting.partition_point(|other| other.key < key)
        };
        let after = self.waiting[from..].iter();
        let at = from
            + after
                .map(|other| other.id)
                .position(|other| other == id)
                .expect("an entity waits where it says");
        let one = self.waiting.remove(at);
        self.sum -= i128::from(of.vruntime) * i128::from(of.weight);
        self.sum_weight -= of.weight;
        self.forget_slice(one.slice);
    }

    /// A waiting entity asks for another slice.
    pub fn reslice(&mut self, id: EntityId, slice: u64) {
        let found = self.waiting.iter_mut().find(|other| other.id == id);
        if let Some(one) = found {
            let old = std::mem::replace(&mut one.slice, slice);
            self.note_slice(slice);
            self.forget_slice(old);
        }
    }

    fn note_slice(&mut self, slice: u64) {
        let (least, count) = &mut self.least_slice;
        match slice.cmp(least) {
            Ordering::Less => self.least_slice = (slice, 1),
            Ordering::Equal => *count += 1,
            Ordering::Greater => {}
        }
    }

    fn forget_slice(&mut self, slice: u64) {
        let (least, count) = &mut self.least_slice;
        if slice != *least {
            return;
        }
        *count -= 1;
        if *count == 0 {
            // Seldom: most ask for the same.
            let least = self.waiting.iter().map(|one| one.slice).min();
            let least = least.unwrap_or(u64::MAX);
            let same = self.waiting.iter().filter(|one| one.slice == least);
            self.least_slice = (least, same.count() as u32);
        }
    }

    /// Shortest slice that a waiting one asks for [ns]; `u64::MAX` where nobody waits.
    #[inline]
    pub fn least_slice(&self) -> u64 {
        self.least_slice.0
    }

    /// The first of the waiting ones.
    #[inline]
    pub fn first(&self) -> Option<EntityId> {
        self.waiting.first().map(|one| one.id)
    }

    /// The second of them.
    #[inline]
    pub fn second(&self) -> Option<EntityId> {
        self.waiting.get(1).map(|one| one.id)
    }

    /// Virtual runtime of the first of the waiting ones.
    #[inline]
    pub fn first_vruntime(&self) -> Option<i64> {
        self.waiting.first().map(|one| one.vruntime)
    }

    /// Of those that owe nothing the one with the least key, the runner included, which comes
    /// after its equals and before all others if it is protected; none if all owe.
    #[inline]
    pub fn first_eligible(&self, curr: Option<&Entity>, is_protected: bool) -> Option<EntityId> {
        let (sum, weight) = self.sums(curr);
        let owes = |vruntime: i64| sum < i128::from(vruntime) * weight;
        let stays = curr.filter(|curr| !owes(curr.vruntime));
        if stays.is_some() && is_protected {
            return self.curr;
        }
        let found = self.waiting.iter().find(|one| !owes(one.vruntime));
        match (stays, found) {
            (Some(curr), found) if found.is_none_or(|one| curr.deadline < one.key) => self.curr,
            (_, found) => found.map(|one| one.id),
        }
    }

    /// Sum of weighted virtual runtimes and of weights; `curr` is the runner, if it is queued.
    fn sums(&self, curr: Option<&Entity>) -> (i128, i128) {
        let (mut sum, mut weight) = (self.sum, i128::from(self.sum_weight));
        if let Some(curr) = curr {
            sum += i128::from(curr.vruntime) * i128::from(curr.weight);
            weight += i128::from(curr.weight);
        }
        (sum, weight)
    }

    /// The queue's virtual time; that of `curr` or zero where it is empty.
    pub fn virtual_time(&self, curr: Option<&Entity>) -> i64 {
        let (sum, weight) = self.sums(curr);
        if weight == 0 {
            return self.floor;
        }
        divide(sum, weight)
    }

    /// Weight of all that count in the virtual time.
    pub fn virtual_weight(&self, curr: Option<&Entity>) -> u64 {
        self.sum_weight + curr.map_or(0, |curr| curr.weight)
    }

    /// Whether an entity at that virtual runtime owes nothing.
    pub fn is_eligible(&self, vruntime: i64, curr: Option<&Entity>) -> bool {
        let (sum, weight) = self.sums(curr);
        sum >= i128::from(vruntime) * weight
    }
}

/// The quotient, rounded down: in 64 bits where that is enough, which takes a tenth of the time.
#[inline]
pub fn divide(n: i128, by: i128) -> i64 {
    match (i64::try_from(n), i64::try_from(by)) {
        (Ok(n), Ok(by)) => n.div_euclid(by),
        _ => n.div_euclid(by) as i64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(vruntime: i64, weight: u64) -> Entity {
        Entity {
            vruntime,
            weight,
            ..Entity::new(weight, 0, QueueId::new(0), None)
        }
    }

    #[test]
    fn virtual_time_is_the_mean_by_weight() {
        let (a, b) = (entity(100, NICE_0), entity(400, 2 * NICE_0));
        let mut queue = Queue::new(CoreId::new(0), ROOT, None);
        queue.insert(1, EntityId::new(0), &a);
        assert_eq!(queue.virtual_time(None), 100);
        assert_eq!(queue.virtual_time(Some(&b)), 300);
        assert!(queue.is_eligible(300, Some(&b)) && !queue.is_eligible(301, Some(&b)));
        queue.remove(1, EntityId::new(0), &a);
        assert_eq!(queue.virtual_weight(None), 0);
    }

    #[test]
    fn equals_stand_in_the_order_of_their_arrival() {
        let mut queue = Queue::new(CoreId::new(0), ROOT, None);
        for id in [3, 1, 2] {
            queue.insert(7, EntityId::new(id), &entity(0, NICE_0));
        }
        assert_eq!(
            queue
                .waiting
                .iter()
                .map(|one| one.id.index())
                .collect::<Vec<_>>(),
            vec![3, 1, 2]
        );
    }

    #[test]
    fn twice_the_weight_ages_half_as_fast() {
        assert_eq!(virtual_ns(4_000_000, 2 * NICE_0), 2_000_000);
        assert_eq!(virtual_ns(1 << 44, 2 * NICE_0), 1 << 43);
    }
}
