//! Quotas: so much time of all processors in a period, handed to each processor in slices.
//!
//! A processor's queue that has used up what it has gets another slice from the group's pool; if
//! the pool is empty, the queue is throttled: its tasks go into limbo one by one, until the period
//! timer fills the pool again. What a queue still has when the period ends stays with it.

use super::ids::{CgroupId, CoreId, QueueId, TaskId, ROOT};
use super::quota::Bandwidth;
use super::tree::{Arrival, Tree};
use crate::kernel::When;

/// Quota that an idle queue keeps for its next start [ns].
const KEPT: i64 = 1_000_000;
/// Time after which quota that was given back is dealt out [ns].
const SLACK_PERIOD: u64 = 5_000_000;

impl Tree {
    fn bandwidth_of(&mut self, queue: QueueId) -> Option<&mut Bandwidth> {
        let group = self.queues[queue].group;
        self.groups[group].bandwidth.as_deref_mut()
    }

    fn has_quota(&self, queue: QueueId) -> bool {
        self.queue(queue).limited
    }

    /// Books runtime against the quota at hand; fetches more where it is used up.
    pub fn use_quota(&mut self, queue: QueueId, ran: u64) {
        if !self.has_quota(queue) {
            return;
        }
        let of = &mut self.queues[queue];
        of.quota_left -= ran as i64;
        if of.quota_left > 0 || of.throttled {
            return;
        }
        let slice = self.params.bandwidth_slice;
        if !self.fetch_quota(queue, slice) && self.queue(queue).curr.is_some() {
            let cpu = self.queue(queue).cpu;
            self.resched(cpu);
        }
    }

    /// Fetches quota until so much is at hand; whether there is any then.
    fn fetch_quota(&mut self, queue: QueueId, target: u64) -> bool {
        let now = self.now;
        let wanted = (target as i64 - self.queue(queue).quota_left).max(0) as u64;
        let Some(bandwidth) = self.bandwidth_of(queue) else {
            return true;
        };
        let amount = bandwidth.take(wanted, now);
        let period_end = bandwidth.period_end;
        self.quota_at = self.quota_at.min(period_end);
        let of = &mut self.queues[queue];
        of.quota_left += amount as i64;
        of.quota_left > 0
    }

    /// A queue that gets its first entity must have quota.
    pub fn check_quota_on_arrival(&mut self, queue: QueueId) {
        let of = self.queue(queue);
        if of.curr.is_some() || of.throttled || !self.has_quota(queue) {
            return;
        }
        self.use_quota(queue, 0);
        self.check_quota(queue);
    }

    /// Throttles a queue whose quota is used up.
    pub fn check_quota(&mut self, queue: QueueId) {
        let of = self.queue(queue);
        if of.quota_left > 0 || of.throttled || !self.has_quota(queue) {
            return;
        }
        if self.fetch_quota(queue, 1) {
            return; // Somebody filled the pool meanwhile.
        }
        let now = self.now;
        let of = &mut self.queues[queue];
        of.throttled = true;
        of.throttled_from = now;
        if let Some(bandwidth) = self.bandwidth_of(queue) {
            bandwidth.throttled.push(queue);
        }
        self.count_throttles(queue, true);
    }

    /// Counts a throttled queue in all queues beneath it on its processor.
    fn count_throttles(&mut self, queue: QueueId, more: bool) {
        let cpu = self.queue(queue).cpu;
        let within = match self.bandwidth_of(queue) {
            Some(bandwidth) => std::mem::take(&mut bandwidth.within),
            None => return,
        };
        for other in &within {
            if let Some(id) = self.find_queue(*other, cpu) {
                self.count_throttle(id, more);
            }
        }
        if let Some(bandwidth) = self.bandwidth_of(queue) {
            bandwidth.within = within;
        }
    }

    fn count_throttle(&mut self, id: QueueId, more: bool) {
        if more {
            self.update_queue_load(id);
        }
        let now = self.now;
        let of = &mut self.queues[id];
        if more {
            of.throttles += 1;
        } else {
            of.throttles -= 1;
            of.load.skip(now);
        }
        if of.throttles == 0 {
            let from = of.stopped_from.take();
            of.stopped_ns += from.map_or(0, |from| now - from);
        } else if more && of.tasks > 0 {
            of.stopped_from = of.stopped_from.min(When::at(now));
        }
        self.note_fading(id);
    }

    /// Whether a group is another one or beneath it.
    pub fn is_within(&self, group: CgroupId, above: CgroupId) -> bool {
        let mut at = group;
        loop {
            if at == above {
                return true;
            }
            if at == ROOT {
                return false;
            }
            at = self.groups[at].parent;
        }
    }

    /// A queue that has nobody left gives back what it need not keep.
    pub fn give_quota_back(&mut self, queue: QueueId) {
        if self.queue(queue).count > 0 || self.queue(queue).throttled || !self.has_quota(queue) {
            return;
        }
        let spare = self.queue(queue).quota_left - KEPT;
        if spare <= 0 {
            return;
        }
        let (now, slice) = (self.now, self.params.bandwidth_slice);
        self.queues[queue].quota_left -= spare;
        if let Some(bandwidth) = self.bandwidth_of(queue) {
            bandwidth.pool += spare as u64;
            let wanted = bandwidth.pool > slice && !bandwidth.throttled.is_empty();
            if wanted && !bandwidth.slack_at.is_set() {
                let slack_at = When::at(now + SLACK_PERIOD);
                bandwidth.slack_at = slack_at;
                self.quota_at = self.quota_at.min(slack_at);
            }
        }
    }

    fn refresh_quota_at(&mut self) {
        let of = |b: &Bandwidth| b.period_end.min(b.slack_at);
        let limited = self.limited.iter();
        let all = limited.filter_map(|group| self.groups[*group].bandwidth.as_deref());
        self.quota_at = all.map(of).min().unwrap_or(When::NEVER);
    }

    /// Timers of quotas that are due.
    pub fn quota_timers(&mut self) {
        let now = self.now;
        for at in 0..self.limited.len() {
            let group = self.limited[at];
            let Some(bandwidth) = self.groups[group].bandwidth.as_mut() else {
                continue;
            };
            let period_ends = bandwidth.period_end.has_come(now);
            let slack_due = bandwidth.slack_at.has_come(now);
            if slack_due {
                bandwidth.slack_at = When::NEVER;
            }
            if period_ends {
                if !bandwidth.end_period() {
                    continue;
                }
                self.deal_out(group);
            } else if slack_due {
                self.deal_out(group);
            }
        }
        self.refresh_quota_at();
    }

    /// Gives every throttled queue what it lacks, as far as the pool goes.
    fn deal_out(&mut self, group: CgroupId) {
        let Some(bandwidth) = self.groups[group].bandwidth.as_mut() else {
            return;
        };
        let spare = std::mem::take(&mut self.spare_queues);
        let mut throttled = std::mem::replace(&mut bandwidth.throttled, spare);
        for queue in throttled.drain(..) {
            let lacks = (1 - self.queue(queue).quota_left).max(0) as u64;
            let Some(bandwidth) = self.bandwidth_of(queue) else {
                return;
            };
            let amount = lacks.min(bandwidth.pool);
            bandwidth.pool -= amount;
            self.queues[queue].quota_left += amount as i64;
            if self.queue(queue).quota_left > 0 {
                self.unthrottle(queue);
            } else if let Some(bandwidth) = self.bandwidth_of(queue) {
                bandwidth.throttled.push(queue);
            }
        }
        self.spare_queues = throttled;
    }

    fn unthrottle(&mut self, queue: QueueId) {
        let now = self.now;
        let of = &mut self.queues[queue];
        of.throttled = false;
        let (cpu, lasted) = (of.cpu, now - of.throttled_from);
        if let Some(bandwidth) = self.bandwidth_of(queue) {
            bandwidth.throttled_ns += lasted;
        }
        self.count_throttles(queue, false);
        let mut limbo = std::mem::take(&mut self.cpus[cpu].limbo);
        let mut back = std::mem::take(&mut self.spare_tasks);
        back.extend(limbo.iter().filter(|task| !self.goes_to_limbo(**task)));
        limbo.retain(|task| self.goes_to_limbo(*task));
        self.cpus[cpu].limbo = limbo;
        for task in back.drain(..) {
            self.tasks[task].limbo = false;
            self.enqueue(task, Arrival::Woken);
        }
        self.spare_tasks = back;
        if self.cpus[cpu].curr.is_none() {
            self.resched(cpu);
        } else {
            self.look_again(cpu);
        }
    }

    /// Whether a group or one above it is throttled on a processor, where the group may have no
    /// queue yet.
    pub fn is_throttled(&self, group: CgroupId, cpu: CoreId) -> bool {
        let mut at = group;
        loop {
            if let Some(queue) = self.find_queue(at, cpu) {
                return self.queue(queue).throttles > 0;
            }
            at = self.groups[at].parent;
        }
    }

    /// Whether a task's group is throttled where the task is.
    pub fn goes_to_limbo(&self, task: TaskId) -> bool {
        self.queue(self.entity(task).queue).throttles > 0
    }

    /// A task waits until its group's period ends.
    pub fn enter_limbo(&mut self, task: TaskId) {
        let t = &mut self.tasks[task];
        t.limbo = true;
        self.cpus[t.cpu].limbo.push(task);
        let (own, now) = (self.entity(task).queue, self.now);
        let of = &mut self.queues[own];
        of.stopped_from = of.stopped_from.min(When::at(now));
    }

    /// A task that sleeps leaves limbo, if it is there; whether it was.
    pub fn leave_limbo(&mut self, task: TaskId) -> bool {
        let t = &mut self.tasks[task];
        if std::mem::take(&mut t.limbo) {
            self.cpus[t.cpu].limbo.retain(|other| *other != task);
            return true;
        }
        false
    }

    /// The nearest of a group and those above it that has a quota, and whether it is the only one.
    pub fn limited_by(&self, group: CgroupId) -> Option<(CgroupId, bool)> {
        let (mut nearest, mut at) = (None, group);
        while at != ROOT {
            let of = &self.groups[at];
            if of.bandwidth.is_some() {
                nearest = match nearest {
                    None => Some((at, true)),
                    Some((first, _)) => Some((first, false)),
                };
            }
            at = of.parent;
        }
        nearest
    }

    /// Time for which a group's own tasks have been stopped so far, by its quota or by one above it
    /// (the local part of `throttled_usec`) [ns].
    pub fn stopped_ns(&self, group: CgroupId, now: u64) -> u64 {
        let Some((by, only)) = self.limited_by(group) else {
            return 0;
        };
        if by == group && only {
            return self.throttled_ns(group, now);
        }
        let queues = self
            .cpus
            .ids()
            .filter_map(|cpu| self.find_queue(group, cpu));
        let queues = queues.map(|id| self.queue(id));
        let of = |queue: &super::queue::Queue| queue.stopped_ns + queue.stopped_from.elapsed(now);
        queues.map(of).sum()
    }

    /// Time for which a group's queues have been throttled so far [ns].
    pub fn throttled_ns(&self, group: CgroupId, now: u64) -> u64 {
        let Some(bandwidth) = &self.groups[group].bandwidth else {
            return 0;
        };
        let open = bandwidth.throttled.iter();
        let open = open.map(|queue| now.saturating_sub(self.queue(*queue).throttled_from));
        bandwidth.throttled_ns + open.sum::<u64>()
    }
}

impl Bandwidth {
    /// A period ends: the pool is filled; `false` if nobody used it, so that the timer stops.
    fn end_period(&mut self) -> bool {
        self.periods += 1;
        self.pool = (self.pool + self.quota).min(self.quota + self.burst);
        if self.unused && self.throttled.is_empty() {
            self.period_end = When::NEVER;
            return false;
        }
        self.period_end += self.period;
        if self.throttled.is_empty() {
            self.unused = true;
            return false;
        }
        self.throttled_periods += 1;
        self.unused = false;
        true
    }
}
