//! What interrupts take from a processor: its clock of tasks stands still meanwhile
//! (`rq_clock_task`), and the average that they take makes its capacity less (`scale_rt_capacity`),
//! by which load is shared out among processors. One that has a single task, and less capacity than
//! an idle one by more than the imbalance that is let be, gives it away (`check_cpu_capacity`,
//! `need_active_balance`); at its ticks it has idle ones look for that (`nohz_balancer_kick`).

use super::attempt::{Attempt, Idleness};
use super::busiest::CAPACITY;
use super::domains::Level;
use super::ids::{CoreId, QueueId, Span};
use super::tree::Tree;
use crate::kernel::real;

/// Least capacity that is left of a processor.
const LEAST: f64 = 1.0;

impl Tree {
    /// Interrupts keep a processor for so long, from now on or after those that came before.
    pub fn interrupted(&mut self, cpu: CoreId, ns: u64) {
        let was = self.is_reduced(cpu, self.params.balance.imbalance_pct);
        let mut queue = Some(self.root_of(cpu));
        while let Some(at) = queue {
            self.book(at);
            queue = self.stand_still(at, ns);
        }
        let now = self.now;
        let it = &mut self.cpus[cpu];
        let from = it.handles_until.max(now);
        it.handles_until = from + ns;
        it.interrupts.update(0.0, from);
        it.interrupts.update(CAPACITY, from + ns);
        self.interrupts = true;
        if was != self.is_reduced(cpu, self.params.balance.imbalance_pct) {
            self.look_again(cpu);
        }
    }

    /// A queue's runner is not charged for what comes; the queue that it stands for, if it is a
    /// group's.
    fn stand_still(&mut self, queue: QueueId, ns: u64) -> Option<QueueId> {
        let curr = self.queue(queue).curr?;
        let now = self.now;
        let entity = &mut self.entities[curr];
        entity.booked_to = entity.booked_to.max(now) + ns;
        entity.own
    }

    /// What a processor can do beside its interrupts.
    #[inline]
    pub fn capacity(&self, cpu: CoreId) -> f64 {
        let taken = self.cpus[cpu].interrupts.peek(0.0, self.now);
        (CAPACITY - taken).max(LEAST)
    }

    /// What interrupts take of a set.
    pub fn interrupted_of(&self, cpus: Span<CoreId>) -> f64 {
        if !self.interrupts {
            return 0.0;
        }
        let each = cpus.into_iter().map(|cpu| CAPACITY - self.capacity(cpu));
        each.sum()
    }

    /// Whether interrupts leave a processor less than a whole one, beyond what is let be.
    fn is_reduced(&self, cpu: CoreId, pct: u32) -> bool {
        self.interrupts && self.capacity(cpu) * real(u64::from(pct)) < CAPACITY * 100.0
    }

    /// Whether a processor's only task would do better on another one.
    pub fn is_held_up(&self, cpu: CoreId) -> bool {
        let alone = self.interrupts && self.runnable(cpu) == 1 && self.cpus[cpu].curr.is_some();
        alone && self.is_reduced(cpu, self.params.balance.imbalance_pct)
    }

    /// Of a domain's other processors, the one with the least capacity whose only task would gain.
    pub fn most_held_up(&self, attempt: &Attempt) -> Option<CoreId> {
        if !self.interrupts || attempt.idleness != Idleness::Idle {
            return None;
        }
        let pct = match attempt.level() {
            Level::Smt => self.params.balance.imbalance_smt_pct,
            _ => self.params.balance.imbalance_pct,
        };
        let here = self.capacity(attempt.to) * 100.0;
        let gains = |cpu: &CoreId| {
            self.is_held_up(*cpu)
                && self.is_reduced(*cpu, pct)
                && self.capacity(*cpu) * real(u64::from(pct)) < here
                && self.has_for(*cpu, attempt.to)
        };
        let all = attempt.other_groups().flatten().filter(gains);
        all.min_by(|a, b| self.capacity(*a).total_cmp(&self.capacity(*b)))
    }
}
