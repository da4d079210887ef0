//! Load balancing by domain: who is overloaded, how much is to be moved, and which tasks move.

use super::domains::{Domains, Level};
use super::moves::Leaving;
use super::queue::NONE;
use super::tree::{Arrival, TaskId, Tree};

/// Capacity of a processor.
const CAPACITY: f64 = 1024.0;
/// Attempts that may fail before a task that is still warm is moved, within a cache and beyond.
const NICE_TRIES: [u32; 2] = [1, 2];
/// Longest interval for each processor, as the tenth of a second for one [ns].
const LONGEST_NS: u64 = 100_000_000;

/// How busy the processor is that balances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idleness {
    /// It has work.
    Busy,
    /// It has idled for a while.
    Idle,
    /// It is about to idle.
    NewlyIdle,
}

/// How full a set of processors is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fullness {
    Spare,
    Busy,
    Overloaded,
}

/// What is known of a set of processors.
#[derive(Clone, Copy, Debug)]
struct Stats {
    load: f64,
    capacity: f64,
    runnable: u32,
    idle: u32,
    weight: u32,
    fullness: Fullness,
}

impl Stats {
    fn mean_load(&self) -> f64 {
        self.load * CAPACITY / self.capacity
    }
}

/// What to move.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Amount {
    Load(f64),
    Busy(f64),
    Tasks(u32),
}

/// Balancing of one processor in one domain.
struct Attempt<'a> {
    to: u16,
    seat: usize,
    idleness: Idleness,
    domains: &'a mut Domains,
}

impl Tree {
    /// Balances a processor in all its domains whose time has come; whether it got anything.
    pub fn balance(&mut self, domains: &mut Domains, cpu: u16, idleness: Idleness) -> bool {
        let mut moved = false;
        let mut idleness = idleness;
        for seat in 0..domains.seats[usize::from(cpu)].len() {
            let due = self.due_at(domains, cpu, seat, idleness == Idleness::Busy);
            if self.now < due {
                continue;
            }
            if self.attempt(domains, cpu, seat, idleness) {
                moved = true;
                idleness = Idleness::Busy;
            }
            let tick = self.params.tick;
            domains.seats[usize::from(cpu)][seat].last = self.now / tick * tick;
        }
        moved
    }

    /// One that is about to idle looks for work in all its domains, unless it will not idle for
    /// long enough.
    pub fn balance_newly_idle(&mut self, domains: &mut Domains, cpu: u16) -> bool {
        let balance = self.params.balance;
        if !(balance.enabled && balance.newly_idle) || self.overloaded == 0 {
            return false;
        }
        let mut cost = 0;
        for seat in 0..domains.seats[usize::from(cpu)].len() {
            let domain = domains.seats[usize::from(cpu)][seat].domain;
            let own = look_cost(domains.all[usize::from(domain)].weight);
            if self.cpus[usize::from(cpu)].idle_mean < cost + own {
                return false;
            }
            if self.attempt(domains, cpu, seat, Idleness::NewlyIdle) {
                return true;
            }
            cost += own;
        }
        false
    }

    /// When a processor balances next in a domain, at a tick.
    pub fn due_at(&self, domains: &Domains, cpu: u16, seat: usize, busy: bool) -> u64 {
        let (tick, balance) = (self.params.tick, &self.params.balance);
        let seat = &domains.seats[usize::from(cpu)][seat];
        let mut interval = seat.interval;
        if busy {
            interval *= u64::from(balance.busy_factor);
        }
        let mut ticks = interval.div_ceil(tick);
        if busy {
            ticks = ticks.saturating_sub(1);
        }
        let most = (LONGEST_NS / tick * self.cpus.len() as u64).max(1);
        seat.last + ticks.clamp(1, most) * tick
    }

    /// First time at which a processor balances in any domain.
    pub fn balance_at(&self, domains: &Domains, cpu: u16, busy: bool) -> u64 {
        if !self.params.balance.enabled {
            return u64::MAX;
        }
        let seats = 0..domains.seats[usize::from(cpu)].len();
        let due = seats.map(|seat| self.due_at(domains, cpu, seat, busy));
        due.min().unwrap_or(u64::MAX)
    }

    /// Whether another processor that shares the last cache level is busy too: one of theirs might
    /// be better off elsewhere.
    pub fn is_in_company(&self, domains: &Domains, cpu: u16) -> bool {
        let (first, count) = domains.cache[usize::from(cpu)];
        (first..first + count).any(|other| other != cpu && !self.is_idle(other))
    }

    fn attempt(&mut self, domains: &mut Domains, to: u16, seat: usize, idle: Idleness) -> bool {
        let mut attempt = Attempt {
            to,
            seat,
            idleness: idle,
            domains,
        };
        if !self.should_balance(&attempt) {
            return false;
        }
        let Some((from, amount)) = self.find_busiest(&attempt) else {
            attempt.settle(self, true, false);
            return false;
        };
        let moved = self.move_tasks(&attempt, from, amount);
        if moved > 0 {
            attempt.settle(self, false, true);
            return true;
        }
        attempt.settle(self, false, false);
        let failed = attempt.seat().failed;
        let tries = NICE_TRIES[usize::from(attempt.level() == Level::Numa)];
        if matches!(amount, Amount::Tasks(_)) && failed > tries + 2 {
            return self.move_runner(from, to);
        }
        false
    }

    /// Of a set of processors, only the first idle one balances with the other sets, or its first.
    fn should_balance(&self, attempt: &Attempt) -> bool {
        if attempt.idleness == Idleness::NewlyIdle {
            return self.queue(self.queue_of(0, attempt.to)).tasks == 0;
        }
        let own = attempt.own_group();
        let idle = own.iter().find(|cpu| self.is_idle(**cpu));
        idle.or_else(|| own.first()) == Some(&attempt.to)
    }

    fn stats(&self, group: &[u16], pct: f64) -> Stats {
        let (mut load, mut busy, mut wanted) = (0.0, 0.0, 0.0);
        let (mut runnable, mut idle) = (0, 0);
        for cpu in group {
            let it = &self.cpus[usize::from(*cpu)];
            let count = self.runnable(*cpu);
            load += self.cpu_load(*cpu);
            let now = if it.curr == NONE { 0.0 } else { CAPACITY };
            busy += it.busy.peek(now, self.now);
            wanted += it.runnable.peek(f64::from(count) * CAPACITY, self.now);
            runnable += count;
            idle += u32::from(self.is_idle(*cpu));
        }
        let weight = group.len() as u32;
        let capacity = CAPACITY * f64::from(weight);
        let above = |what: f64| capacity * 100.0 < what * pct;
        let fullness = if runnable > weight && (above(busy) || above(wanted)) {
            Fullness::Overloaded
        } else if runnable < weight || capacity * pct >= wanted * 100.0 && !above(busy) {
            Fullness::Spare
        } else {
            Fullness::Busy
        };
        Stats {
            load,
            capacity,
            runnable,
            idle,
            weight,
            fullness,
        }
    }

    /// The processor that has most to give in a domain, and how much of it is to be moved.
    fn find_busiest(&self, attempt: &Attempt) -> Option<(u16, Amount)> {
        let domain = attempt.domain();
        let pct = f64::from(match domain.level {
            Level::Smt => self.params.balance.imbalance_smt_pct,
            _ => self.params.balance.imbalance_pct,
        });
        let all: Vec<Stats> = domain.groups.iter().map(|g| self.stats(g, pct)).collect();
        let own = usize::from(attempt.seat().own);
        let busier = |a: &Stats, b: &Stats| {
            let by_load = a.load.total_cmp(&b.load);
            let by_room = b.idle.cmp(&a.idle).then(a.runnable.cmp(&b.runnable));
            a.fullness.cmp(&b.fullness).then(match a.fullness {
                Fullness::Spare => by_room,
                Fullness::Busy | Fullness::Overloaded => by_load,
            })
        };
        let others = (0..all.len()).filter(|at| *at != own && all[*at].runnable > 0);
        let most = others.reduce(|a, b| {
            if busier(&all[b], &all[a]).is_gt() {
                b
            } else {
                a
            }
        })?;
        let mean = all.iter().map(|s| s.load).sum::<f64>() * CAPACITY
            / all.iter().map(|s| s.capacity).sum::<f64>();
        let amount = self.imbalance(attempt, &all[own], &all[most], mean, pct)?;
        self.busiest_cpu(attempt, &domain.groups[most], amount)
            .map(|cpu| (cpu, amount))
    }

    fn imbalance(
        &self,
        attempt: &Attempt,
        own: &Stats,
        most: &Stats,
        mean: f64,
        pct: f64,
    ) -> Option<Amount> {
        let spreads = attempt.domain().spreads;
        if own.fullness > most.fullness {
            return None;
        }
        let (mine, theirs) = (own.mean_load(), most.mean_load());
        if own.fullness == Fullness::Overloaded
            && (mine >= theirs || mine >= mean || 100.0 * theirs <= pct * mine)
        {
            return None;
        }
        let spread = spreads && own.fullness == Fullness::Spare && most.runnable > own.runnable + 1;
        if most.fullness != Fullness::Overloaded && !spread {
            let even = most.weight > 1 && own.idle <= most.idle + 1;
            if attempt.idleness == Idleness::Busy || even || most.runnable == 1 {
                return None;
            }
        }
        if own.fullness == Fullness::Spare {
            return self.fill(attempt, own, most);
        }
        if mine >= theirs || mine >= mean {
            return None;
        }
        let give = (theirs - mean) * most.capacity;
        let take = (mean - mine) * own.capacity;
        let amount = give.min(take) / CAPACITY;
        (amount > 0.0).then_some(Amount::Load(amount))
    }

    /// What goes to a set that has room.
    fn fill(&self, attempt: &Attempt, own: &Stats, most: &Stats) -> Option<Amount> {
        if most.fullness == Fullness::Overloaded {
            let cpus = attempt.own_group().iter();
            let busy: f64 = cpus
                .map(|cpu| {
                    let it = &self.cpus[usize::from(*cpu)];
                    let now = if it.curr == NONE { 0.0 } else { CAPACITY };
                    it.busy.peek(now, self.now)
                })
                .sum();
            let room = (own.capacity - busy).max(0.0);
            if attempt.idleness != Idleness::Busy && room < 1.0 {
                return Some(Amount::Tasks(1));
            }
            return Some(Amount::Busy(room));
        }
        let tasks = if most.weight == 1 || attempt.domain().spreads {
            most.runnable.saturating_sub(own.runnable) / 2
        } else {
            own.idle.saturating_sub(most.idle) / 2
        };
        // Two that talk to each other may stay on one node.
        let pair = attempt.level() == Level::Numa && most.runnable <= 2;
        (tasks > 0 && !pair).then_some(Amount::Tasks(tasks))
    }

    /// The fullest processor of a set that has tasks to give.
    fn busiest_cpu(&self, attempt: &Attempt, group: &[u16], amount: Amount) -> Option<u16> {
        let has = |cpu: &u16| self.runnable(*cpu) > u32::from(!matches!(amount, Amount::Tasks(_)));
        let rank = |cpu: u16| match amount {
            Amount::Load(_) => self.cpu_load(cpu),
            Amount::Busy(_) => {
                let it = &self.cpus[usize::from(cpu)];
                let now = if it.curr == NONE { 0.0 } else { CAPACITY };
                it.busy.peek(now, self.now)
            }
            Amount::Tasks(_) => f64::from(self.runnable(cpu)),
        };
        let usable = |cpu: &u16| {
            let tasks = &self.cpus[usize::from(*cpu)].tasks;
            tasks
                .iter()
                .any(|t| self.tasks[*t as usize].may_use(attempt.to))
        };
        let all = group.iter().copied();
        all.filter(has)
            .filter(usable)
            .reduce(|a, b| if rank(b) > rank(a) { b } else { a })
    }

    fn move_tasks(&mut self, attempt: &Attempt, from: u16, amount: Amount) -> usize {
        let failed = attempt.seat().failed;
        let newly = attempt.idleness == Idleness::NewlyIdle;
        let mut left = amount;
        let mut moved = 0;
        for task in self.candidates(from) {
            if attempt.idleness != Idleness::Busy && self.runnable(from) <= 1 {
                break;
            }
            if !self.may_move(attempt, task) || !self.fits(task, &mut left, failed) {
                continue;
            }
            self.migrate(task, attempt.to);
            moved += 1;
            let done = match left {
                Amount::Load(left) | Amount::Busy(left) => left <= 0.0,
                Amount::Tasks(left) => left == 0,
            };
            if newly || done {
                break;
            }
        }
        moved
    }

    /// Tasks of a processor, least recently run first, as many as are looked at in one go.
    fn candidates(&self, cpu: u16) -> Vec<TaskId> {
        let it = &self.cpus[usize::from(cpu)];
        let mut tasks: Vec<TaskId> = it.tasks.clone();
        tasks.sort_unstable_by_key(|task| self.tasks[*task as usize].turn);
        tasks.truncate(self.params.migrate_most);
        tasks.retain(|task| *task != it.curr);
        tasks
    }

    fn may_move(&self, attempt: &Attempt, task: TaskId) -> bool {
        let t = &self.tasks[task as usize];
        let from = self.cpus[usize::from(t.cpu)].curr;
        let group_there = self.queue_of(t.group, attempt.to);
        if from == task
            || self.entity(task).delayed
            || !t.may_use(attempt.to)
            || self.goes_to_limbo(task)
            || self.queue(group_there).throttles > 0
        {
            return false;
        }
        // Since 6.14 one that owes stays, unless nobody else would move.
        if self.params.is_eevdf()
            && self.params.place_lag
            && attempt.seat().failed == 0
            && self.queue(group_there).count > 0
            && !self.is_eligible(task)
        {
            return false;
        }
        let warm_for = self.now.saturating_sub(self.entity(task).booked_to);
        let warm = attempt.level() != Level::Smt && warm_for < self.params.migration_cost;
        let warm = warm || self.leaves_memory(task, attempt.to);
        let tries = NICE_TRIES[usize::from(attempt.level() == Level::Numa)];
        !warm || attempt.seat().failed > tries
    }

    /// Whether a task is no more than what is left to move; takes it off that.
    fn fits(&self, task: TaskId, left: &mut Amount, failed: u32) -> bool {
        let halved = |n: f64| n / f64::from(1u32 << failed.min(20));
        match left {
            Amount::Load(left) => {
                let load = self.task_load(task).max(1.0).floor();
                if halved(load).floor() > *left {
                    return false;
                }
                *left -= load;
            }
            Amount::Busy(left) => {
                let entity = self.entity(task);
                let part = entity.load.peek(entity.load_now(), self.now);
                let busy = part * 1024.0 / (entity.weight as f64 / 1024.0);
                let share = busy / f64::from(self.runnable(self.tasks[task as usize].cpu).max(1));
                if halved(share) > *left {
                    return false;
                }
                *left -= share;
            }
            Amount::Tasks(left) => *left -= 1,
        }
        true
    }

    /// Load of a task as seen from the root.
    pub fn task_load(&self, task: TaskId) -> f64 {
        let now = self.now;
        let entity = self.entity(task);
        let mut load = entity.load.peek(entity.load_now(), now);
        let mut id = task;
        loop {
            let queue = self.queue(self.entity(id).queue);
            id = queue.entity;
            if id == NONE {
                return load;
            }
            let all = queue.load.peek(queue.weight as f64 / 1024.0, now);
            let entity = self.entity(id);
            load *= entity.load.peek(entity.load_now(), now) / (all + 1.0);
        }
    }

    /// Moves a waiting task to another processor.
    pub fn migrate(&mut self, task: TaskId, to: u16) {
        self.detach_load(task);
        self.dequeue(task, Leaving::Moving);
        let t = &mut self.tasks[task as usize];
        let from = std::mem::replace(&mut t.cpu, to);
        t.migrations += 1;
        let group = t.group;
        self.entities[task as usize].queue = self.queue_of(group, to);
        self.attach_load(task);
        self.enqueue(task, Arrival::Moved);
        self.look_again(from);
        self.check_preempt(task);
    }

    /// Stops a runner to move it: the last resort where waiting tasks would not move.
    fn move_runner(&mut self, from: u16, to: u16) -> bool {
        let curr = self.cpus[usize::from(from)].curr;
        if curr == NONE || !self.tasks[curr as usize].may_use(to) {
            return false;
        }
        self.switch(from, NONE);
        self.resched(from);
        self.migrate(curr, to);
        true
    }

    /// A task's load leaves its queue and those above.
    pub fn detach_load(&mut self, task: TaskId) {
        self.shift_load(task, -1.0);
    }

    /// A task's load comes to its queue and those above.
    pub fn attach_load(&mut self, task: TaskId) {
        self.shift_load(task, 1.0);
    }

    fn shift_load(&mut self, task: TaskId, sign: f64) {
        let now = self.now;
        self.update_load(task);
        let mut change = sign * self.entity(task).load.peek(0.0, 0);
        let mut id = task;
        loop {
            let queue = self.entity(id).queue;
            let target = self.queue(queue).weight as f64 / 1024.0;
            let before = self.queues[queue as usize].load.update(target, now);
            self.queues[queue as usize].load.add(change);
            id = self.queue(queue).entity;
            if id == NONE {
                return;
            }
            let target = self.entity(id).load_now();
            let of = self.entities[id as usize].load.update(target, now);
            let weight = self.entity(id).weight as f64 / 1024.0;
            let ratio = if before > 1.0 {
                of / before
            } else {
                weight / 1024.0
            };
            change *= ratio.min(weight / before.max(1.0)).max(0.0);
            self.entities[id as usize].load.add(change);
        }
    }
}

impl Attempt<'_> {
    fn seat(&self) -> &super::domains::Seat {
        &self.domains.seats[usize::from(self.to)][self.seat]
    }

    fn domain(&self) -> &super::domains::Domain {
        &self.domains.all[usize::from(self.seat().domain)]
    }

    fn level(&self) -> Level {
        self.domain().level
    }

    fn own_group(&self) -> &[u16] {
        &self.domain().groups[usize::from(self.seat().own)]
    }

    /// Notes how it ended: balanced, or moved something, or wanted to and could not.
    fn settle(&mut self, tree: &Tree, balanced: bool, moved: bool) {
        let newly = self.idleness == Idleness::NewlyIdle;
        let least = u64::from(self.domain().weight) * tree.params.balance.interval_ns;
        let seat = &mut self.domains.seats[usize::from(self.to)][self.seat];
        if balanced {
            seat.failed = 0;
            if !newly {
                seat.interval = (2 * seat.interval).min(2 * least);
            }
            return;
        }
        seat.interval = least;
        if moved {
            seat.failed = 0;
        } else if !newly {
            seat.failed += 1;
        }
    }
}

/// What a look around in a domain of so many processors costs [ns]; assumed.
fn look_cost(cpus: u16) -> u64 {
    500 + 100 * u64::from(cpus)
}
