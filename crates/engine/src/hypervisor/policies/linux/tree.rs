//! The tree of control groups on every processor: queues of queues, down to the tasks.
//!
//! A group stands in its parent's queue on each processor as one entity. Its weight there is the
//! group's weight times the part of the group's load that is on this processor, so that a group
//! gets what it is worth over all processors together, wherever its tasks are.

use std::cell::Cell;
use std::collections::VecDeque;

use super::average::{Average, Kept};
use super::ids::{
    between, ById, CgroupId, CoreId, EntityId, PartitionId, QueueId, Span, TaskId, ROOT,
};
use super::lazy::Lazy;
use super::mask::Mask;
use super::params::{group_weight, nice_weight, NextTick, Params, LEAST_WEIGHT};
use super::queue::{Entity, Queue};
use super::quota::Bandwidth;
use crate::kernel::{real, whole, Stream, When};
use crate::spec::{HostThreads, Processors, Spec};

/// A control group; 0 is the root.
#[derive(Clone, Debug)]
pub struct Group {
    /// The group above; the root's own is itself.
    pub parent: CgroupId,
    /// Weight against its siblings.
    pub weight: u64,
    /// Whether it runs only where nobody else wants to.
    pub idle: bool,
    /// Sum of what its queues contribute to its load, but for the empty ones.
    pub load: f64,
    /// What is left of the load of the empty ones, which fades. The kernel comes by for that
    /// (`__update_blocked_fair`) when a processor balances, every 32 ms or so for those that idle;
    /// here it fades all the time.
    pub left: Average,
    /// Its quota.
    pub bandwidth: Option<Box<Bandwidth>>,
}

/// A thread of the host.
#[derive(Clone, Debug)]
pub struct Task {
    /// Index of the control group it is in.
    pub group: CgroupId,
    /// Whether it was ever put on a processor.
    pub placed: bool,
    /// Processor it is on, or was on last.
    pub cpu: CoreId,
    /// Processors it may use; none = all.
    pub allowed: Option<Mask>,
    /// Whether it has work.
    pub awake: bool,
    /// Whether it was taken off because its group is throttled.
    pub limbo: bool,
    /// Place in its processor's list, least recently run first.
    pub turn: u64,
    /// Times it was moved.
    pub migrations: u64,
    /// Processors beside its memory; none = anywhere is as good.
    pub preferred: Option<Span<CoreId>>,
}

impl Task {
    /// It may use no others from now on.
    #[cfg(test)]
    pub fn allow(&mut self, cpus: Mask) {
        self.allowed = Some(cpus);
    }

    /// Whether a processor is beside its memory.
    pub fn prefers(&self, cpu: CoreId) -> bool {
        self.preferred.is_some_and(|range| range.contains(cpu))
    }

    /// Whether it may use a processor.
    #[inline]
    pub fn may_use(&self, cpu: CoreId) -> bool {
        self.allowed.as_ref().is_none_or(|mask| mask.has(cpu))
    }
}

/// A processor.
#[derive(Clone, Debug)]
pub struct Cpu {
    /// Task that runs.
    pub curr: Option<TaskId>,
    /// Whether another task is to be chosen.
    pub resched: bool,
    /// Tasks that stand in its queues.
    pub tasks: Vec<TaskId>,
    /// Average of its busy time [1024 = all].
    pub busy: Average,
    /// Average of the number of tasks that want to run [1024 = one].
    pub runnable: Average,
    /// Since when it has idled [ns].
    pub idle_from: u64,
    /// Average length of its idle times [ns].
    pub idle_mean: u64,
    /// Switches of throttled tasks on their way off the processor, by task.
    pub passed: Vec<TaskId>,
    /// Tasks in limbo.
    pub limbo: Vec<TaskId>,
    /// Until when it handles interrupts [ns]; what is past says nothing.
    pub handles_until: u64,
    /// Average of the time that these take [1024 = all].
    pub interrupts: Average,
    /// Whether it is among those to be looked at.
    pub pending: bool,
    /// When it handles its next tick.
    pub next_tick: Cell<NextTick>,
    /// When it balances, a moment after the tick at which that was due; never = not now.
    pub soft_at: When,
}

/// All queues of all groups.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Constants.
    pub params: Params,
    /// Control groups, by index.
    pub groups: ById<CgroupId, Group>,
    /// Those that have a quota.
    pub limited: Vec<CgroupId>,
    /// The threads of each partition.
    pub threads: ById<PartitionId, Span<TaskId>>,
    /// Threads of all partitions, partition by partition.
    pub tasks: ById<TaskId, Task>,
    /// Entities: tasks, then groups on processors as they come to be.
    pub entities: ById<EntityId, Entity>,
    /// Queues: the root's by processor, then those of groups as they come to be.
    pub queues: ById<QueueId, Queue>,
    /// Queue of a group on a processor, group by group; none = nobody has come there yet.
    made: Vec<Option<QueueId>>,
    /// Processors.
    pub cpus: ById<CoreId, Cpu>,
    /// Idle processors; see [`Self::is_idle`].
    pub idle: Mask,
    /// Tasks of each processor that want to run.
    pub runnable: ById<CoreId, u32>,
    /// Processors to be looked at, in order.
    pub pending: VecDeque<CoreId>,
    /// Processors with more than one task that wants to run.
    pub overloaded: u32,
    /// When the next period of a quota ends or slack is dealt out [ns].
    pub quota_at: When,
    /// Last place given in a list.
    pub turn: u64,
    /// Room for lists of tasks that are moved, or come out of limbo.
    pub spare_tasks: Vec<TaskId>,
    /// Room for lists of throttled queues.
    pub spare_queues: Vec<QueueId>,
    /// Whether devices interrupt any processor.
    pub interrupts: bool,
    /// Runners that are to make way.
    pub lazy: Lazy,
    /// Present time [ns].
    pub now: u64,
    /// Last tick before it [ns].
    pub last_tick: u64,
}

/// How a task comes into its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It has just been made.
    New,
    /// It slept, or was throttled.
    Woken,
    /// It comes from another processor.
    Moved,
}

impl Tree {
    /// All tasks asleep, all queues empty.
    pub fn new(spec: &Spec, cpus: usize, replication: u64) -> Self {
        let params = Params::new(
            &spec.machine.hypervisor.linux,
            cpus,
            Stream::new(spec.seed, replication, "ticks").below(u64::MAX),
        );
        let mut tree = Self {
            groups: groups(spec, replication),
            limited: Vec::new(),
            threads: ById::new(),
            tasks: ById::new(),
            entities: ById::new(),
            queues: ById::new(),
            made: Vec::new(),
            cpus: (0..cpus).map(|_| Cpu::new(params.migration_cost)).collect(),
            idle: Mask::all(cpus),
            runnable: ById::of(0, cpus),
            pending: VecDeque::new(),
            overloaded: 0,
            quota_at: When::NEVER,
            turn: 0,
            spare_tasks: Vec::new(),
            spare_queues: Vec::new(),
            interrupts: false,
            lazy: Lazy::new(cpus),
            now: 0,
            last_tick: 0,
            params,
        };
        tree.note_limited();
        tree.add_tasks(spec, cpus);
        let root = |cpu| Queue::new(cpu, ROOT, None);
        tree.queues = between(0, cpus).into_iter().map(root).collect();
        tree.made = vec![None; tree.groups.len() * cpus];
        tree
    }

    /// Notes which groups have a quota, and for which others it holds.
    fn note_limited(&mut self) {
        for group in self.groups.ids() {
            let all = self.groups.ids();
            if self.groups[group].bandwidth.is_none() {
                continue;
            }
            let within = all.filter(|other| self.is_within(*other, group)).collect();
            self.limited.push(group);
            if let Some(bandwidth) = &mut self.groups[group].bandwidth {
                bandwidth.within = within;
            }
        }
    }

    fn add_tasks(&mut self, spec: &Spec, cpus: usize) {
        for partition in &spec.partitions {
            let first = self.tasks.len();
            let Processors::Shared {
                r#virtual, host, ..
            } = &partition.processors
            else {
                self.threads.push(Span::new(first, 0));
                continue;
            };
            self.threads.push(Span::new(first, usize::from(*r#virtual)));
            let group = host.cgroup.map_or(ROOT, below_root);
            for vp in 0..*r#virtual {
                let allowed = allowed(spec, host, vp, cpus);
                self.tasks.push(Task::new(group, allowed));
                let slice = host.slice_ns.unwrap_or(self.params.slice);
                let mut entity = Entity::new(nice_weight(host.nice), slice, QueueId::new(0), None);
                entity.own_slice = host.slice_ns.is_some();
                self.entities.push(entity);
            }
        }
    }

    /// Queue of a group on a processor, made when it is first asked for: most guests never come to
    /// most processors.
    #[inline]
    pub fn queue_of(&mut self, group: CgroupId, cpu: CoreId) -> QueueId {
        match self.find_queue(group, cpu) {
            Some(queue) => queue,
            None => self.add_queue(group, cpu),
        }
    }

    /// The same, if anybody was ever in it.
    #[inline]
    pub fn find_queue(&self, group: CgroupId, cpu: CoreId) -> Option<QueueId> {
        if group == ROOT {
            return Some(self.root_of(cpu));
        }
        self.made[self.entry(group, cpu)]
    }

    /// The root's queue on a processor.
    #[inline]
    pub fn root_of(&self, cpu: CoreId) -> QueueId {
        QueueId::new(cpu.index())
    }

    fn entry(&self, group: CgroupId, cpu: CoreId) -> usize {
        group.index() * self.cpus.len() + cpu.index()
    }

    #[cold]
    fn add_queue(&mut self, group: CgroupId, cpu: CoreId) -> QueueId {
        let (parent, weight) = {
            let of = &self.groups[group];
            (of.parent, of.weight)
        };
        let above = self.queue_of(parent, cpu);
        let own = QueueId::new(self.queues.len());
        let entity = Entity::new(weight, self.params.slice, above, Some(own));
        let entity = Some(self.entities.push(entity));
        let mut queue = Queue::new(cpu, group, entity);
        queue.limited = self.groups[group].bandwidth.is_some();
        queue.above = Some(above);
        queue.depth = self.queue(above).depth + 1;
        queue.throttles = self.queue(above).throttles;
        self.queues.push(queue);
        let entry = self.entry(group, cpu);
        self.made[entry] = Some(own);
        own
    }

    /// What competes in a queue under that id: a thread, or a group on a processor.
    #[inline]
    pub fn entity(&self, id: EntityId) -> &Entity {
        &self.entities[id]
    }

    /// Who waits for a processor in a group; see [`Self::queue_of`].
    #[inline]
    pub fn queue(&self, id: QueueId) -> &Queue {
        &self.queues[id]
    }

    /// The runner of a queue, if it still stands in it.
    #[inline]
    pub fn runner(&self, queue: QueueId) -> Option<&Entity> {
        self.runner_of(self.queue(queue))
    }

    /// The same where the queue is at hand.
    #[inline]
    pub fn runner_of(&self, queue: &Queue) -> Option<&Entity> {
        let curr = self.entity(queue.curr?);
        curr.queued.then_some(curr)
    }

    /// Entity of the group in whose queue this one stands; none in the root.
    #[inline]
    pub fn above(&self, entity: EntityId) -> Option<EntityId> {
        self.queue(self.entity(entity).queue).entity
    }

    /// Counts tasks in all queues from one up to the root.
    pub fn count_tasks(&mut self, from: QueueId, tasks: i32, runnable: i32) {
        let cpu = self.queue(from).cpu;
        if runnable != 0 {
            let count = &mut self.runnable[cpu];
            let before = std::mem::replace(count, count.wrapping_add_signed(runnable));
            self.overloaded += u32::from(*count > 1 && before <= 1);
            self.overloaded -= u32::from(before > 1 && *count <= 1);
            let it = &mut self.cpus[cpu];
            it.runnable.update(f64::from(before) * 1024.0, self.now);
        }
        if tasks == 0 {
            return;
        }
        let mut at = from;
        loop {
            let queue = &mut self.queues[at];
            queue.tasks = queue.tasks.wrapping_add_signed(tasks);
            match queue.above {
                Some(above) => at = above,
                None => break,
            }
        }
        self.note_idle(cpu);
    }

    /// Notes whether a processor idles, whenever that may have changed.
    pub fn note_idle(&mut self, cpu: CoreId) {
        let tasks = self.queue(self.root_of(cpu)).tasks;
        let is_idle = tasks == 0 && self.cpus[cpu].curr.is_none();
        self.idle.set(cpu, is_idle);
    }

    /// Puts an entity among the waiting ones of its queue.
    pub fn insert(&mut self, id: EntityId) {
        let entity = &self.entities[id];
        let key = self.params.key(entity);
        self.queues[entity.queue].insert(key, id, entity);
    }

    /// Takes it from among them.
    pub fn remove(&mut self, id: EntityId) {
        let entity = &self.entities[id];
        let key = self.params.key(entity);
        self.queues[entity.queue].remove(key, id, entity);
    }

    /// Time goes on.
    #[inline]
    pub fn set_now(&mut self, now: u64) {
        self.now = now;
        let tick = self.params.tick;
        if now > self.last_tick + tick {
            self.last_tick = (now - 1) / tick * tick;
        }
    }

    /// Brings the load averages of an entity and of its queue up to now.
    pub fn update_load(&mut self, id: EntityId) {
        let entity = &mut self.entities[id];
        let queue = &mut self.queues[entity.queue];
        let change = queue.update_loads(entity, self.now);
        self.groups.tell(queue.group, change);
    }

    /// Brings the load average of a queue up to now, and tells the group, once a millisecond.
    pub fn update_queue_load(&mut self, id: QueueId) {
        let now = self.now;
        let queue = &mut self.queues[id];
        let change = queue.update_load(now, &mut Kept::default());
        self.groups.tell(queue.group, change);
    }

    /// More load on a queue, or less, at once.
    pub fn add_load(&mut self, id: QueueId, change: f64) {
        let now = self.now;
        let queue = &mut self.queues[id];
        let before = queue.load.value();
        queue.load.add(change);
        if queue.fades {
            let change = queue.load.value() - before;
            self.groups[queue.group].leave(change, now);
        }
    }

    /// A queue has its first entity, lost its last one, is stopped by a quota or goes on: its load
    /// counts with what its group has, or fades with what is left there.
    pub fn note_fading(&mut self, id: QueueId) {
        let now = self.now;
        let queue = &mut self.queues[id];
        let fades = queue.count == 0 && queue.throttles == 0 && queue.group != ROOT;
        if std::mem::replace(&mut queue.fades, fades) == fades {
            return;
        }
        let (group, load) = (&mut self.groups[queue.group], queue.load.value());
        group.leave(if fades { load } else { -load }, now);
        let after = if fades { 0.0 } else { load };
        group.load += after - std::mem::replace(&mut queue.contribution, after);
        queue.told_at = now;
    }

    /// Works out a group entity's weight anew from where the group's load is.
    pub fn update_group_weight(&mut self, id: EntityId) {
        let (own, old) = {
            let entity = self.entity(id);
            (entity.own, entity.weight)
        };
        let Some(own) = own else { return };
        let queue = self.queue(own);
        // A group that becomes empty keeps its weight, for as long as it stays queued.
        if queue.throttles > 0 || queue.weight == 0 {
            return;
        }
        let group = &self.groups[queue.group];
        let load = queue.load_now().max(queue.load.value());
        let left = group.left.peek(0.0, self.now);
        let all = group.load + left - queue.contribution + load;
        let shares = real(group.weight);
        let part = if all > 0.0 {
            shares * load / all
        } else {
            shares
        };
        let weight = whole(part).clamp(LEAST_WEIGHT.min(group.weight), group.weight);
        if weight != old {
            self.reweigh(id, weight);
        }
    }

    /// Tasks of a processor that want to run.
    #[inline]
    pub fn runnable(&self, cpu: CoreId) -> u32 {
        self.runnable[cpu]
    }

    /// Whether a processor idles and will go on to.
    #[inline]
    pub fn is_idle(&self, cpu: CoreId) -> bool {
        self.idle.has(cpu)
    }

    /// Load of a processor: average weight of what wants to run there.
    pub fn cpu_load(&self, cpu: CoreId) -> f64 {
        let queue = self.queue(self.root_of(cpu));
        queue.load.peek(queue.load_now(), self.now)
    }

    /// Weight of what wants to run on each processor: its average, and what that follows.
    #[inline]
    pub fn weights(&self, cpus: Span<CoreId>) -> impl Iterator<Item = (Average, f64)> + '_ {
        let roots = cpus.numbers();
        let roots = self.queues.slice(Span::new(roots.start, roots.len()));
        let of = |queue: &Queue| (queue.load, queue.load_now());
        roots.iter().map(of)
    }
}

impl Group {
    /// More is left of the load of its empty queues, or less.
    fn leave(&mut self, change: f64, now: u64) {
        self.left.update(0.0, now);
        self.left.add(change);
    }
}

impl ById<CgroupId, Group> {
    /// A queue of a group contributes more to its load, or less.
    #[inline]
    pub fn tell(&mut self, group: CgroupId, change: f64) {
        if change != 0.0 {
            self[group].load += change;
        }
    }
}

impl Task {
    fn new(group: CgroupId, allowed: Option<Mask>) -> Self {
        Self {
            group,
            placed: false,
            cpu: CoreId::new(0),
            allowed,
            awake: false,
            limbo: false,
            turn: 0,
            migrations: 0,
            preferred: None,
        }
    }
}

impl Cpu {
    fn new(migration_cost: u64) -> Self {
        Self {
            curr: None,
            resched: false,
            tasks: Vec::new(),
            busy: Average::default(),
            runnable: Average::default(),
            idle_from: 0,
            idle_mean: 2 * migration_cost,
            passed: Vec::new(),
            limbo: Vec::new(),
            handles_until: 0,
            interrupts: Average::default(),
            pending: false,
            next_tick: Cell::default(),
            soft_at: When::NEVER,
        }
    }
}

/// The scenario's groups come after the root.
fn below_root(group: u16) -> CgroupId {
    CgroupId::new(usize::from(group) + 1)
}

/// The root and the scenario's groups. Period grids start anywhere, by chance.
fn groups(spec: &Spec, replication: u64) -> ById<CgroupId, Group> {
    let group = |parent: Option<u16>, weight: u32, idle: bool, bandwidth| Group {
        parent: parent.map_or(ROOT, below_root),
        weight: group_weight(weight, idle),
        idle,
        load: 0.0,
        left: Average::default(),
        bandwidth,
    };
    let mut all = ById::from(vec![group(None, 100, false, None)]);
    for of in &spec.cgroups {
        let name = format!("{}/period", of.name);
        let phase = Stream::new(spec.seed, replication, &name).below(of.period_ns.max(1));
        let bandwidth = Bandwidth::new(of, phase).map(Box::new);
        all.push(group(of.parent, of.weight, of.idle, bandwidth));
    }
    all
}

/// Processors that a virtual processor may use, if not all: its own pins within the cpusets of its
/// groups.
fn allowed(spec: &Spec, host: &HostThreads, vp: u16, cpus: usize) -> Option<Mask> {
    let mut sets: Vec<&[u16]> = Vec::new();
    if let Some(pins) = host.pins.get(usize::from(vp)).filter(|p| !p.is_empty()) {
        sets.push(pins);
    }
    let mut group = host.cgroup;
    while let Some(of) = group.map(|g| &spec.cgroups[usize::from(g)]) {
        sets.extend(of.cpuset.as_deref());
        group = of.parent;
    }
    if sets.is_empty() {
        return None;
    }
    let mut mask = Mask::none(cpus);
    for cpu in between(0, cpus) {
        let number = u16::from(cpu);
        mask.set(cpu, sets.iter().all(|set| set.contains(&number)));
    }
    Some(mask)
}
