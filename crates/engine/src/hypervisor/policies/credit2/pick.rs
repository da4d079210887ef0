//! Who runs on a processor, for how long, and when everybody gets credit anew.

use super::{Credit2, Doing, NEVER};
use crate::hypervisor::{CoreId, VpId};

/// Credit that a processor without a runner stands for (`CSCHED2_IDLE_CREDIT`).
const IDLE_CREDIT: i64 = -(1 << 30);
/// Credit for having been moved to another processor [ns] (`CSCHED2_MIGRATE_COMPENSATION`).
const MOVED_CREDIT: i64 = 50_000;

impl Credit2 {
    /// Chooses a processor's runner.
    pub(super) fn schedule(&mut self, cpu: CoreId, now: u64) -> Option<VpId> {
        let at = usize::from(cpu);
        let current = self.current[at];
        if let Some(vp) = current {
            self.burn(vp, now);
            let unit = &self.units[vp as usize];
            if unit.doing == Doing::Running && unit.budget <= 0 {
                self.has_budget(vp, now);
            }
        }
        let next = self.candidate(cpu, current, now);
        match next {
            Some(vp) => self.put_on(cpu, vp, next != current, now),
            None => self.let_idle(cpu, now),
        }
        self.current[at] = next;
        self.look_at[at] = next.map_or(NEVER, |vp| now + self.run_time(vp, now));
        if let Some(vp) = current.filter(|_| next != current) {
            self.put_off(vp, now);
        }
        next
    }

    /// The runner, or the first of the queue that may take its place.
    fn candidate(&mut self, cpu: CoreId, current: Option<VpId>, now: u64) -> Option<VpId> {
        let mut stays = None;
        let mut yields = false;
        if let Some(vp) = current {
            let unit = &mut self.units[vp as usize];
            yields = std::mem::take(&mut unit.yields);
            if unit.doing == Doing::Running && unit.moves_to.is_none() {
                stays = current;
                if !yields && now - unit.since < self.rules.rate_limit_ns {
                    return current;
                }
            }
        }
        let credit = stays.map_or(IDLE_CREDIT, |vp| self.units[vp as usize].credit);
        let queue = usize::from(self.queue_of[usize::from(cpu)]);
        let mut place = 0;
        while let Some(vp) = self.queues[queue].waiting().get(place).copied() {
            if !self.may_take(cpu, vp, credit) {
                place += 1;
            } else if !yields && self.units[vp as usize].credit <= credit {
                break;
            } else if self.units[vp as usize].is_capped() && !self.has_budget(vp, now) {
                continue; // Parked: the next one is in its place now.
            } else {
                return Some(vp);
            }
        }
        stays
    }

    /// Whether a processor whose runner has so much credit may take a unit that waits, as far as
    /// place is concerned.
    fn may_take(&self, cpu: CoreId, vp: VpId, credit: i64) -> bool {
        let unit = &self.units[vp as usize];
        let awaited = self.tickled[vp as usize]
            .is_some_and(|other| other != cpu && self.is_pending[usize::from(other)]);
        let resist = self.rules.migrate_resist_ns as i64;
        let leads = unit.cpu == cpu || credit + resist <= unit.credit;
        unit.affinity.contains(cpu) && !awaited && leads
    }

    fn put_on(&mut self, cpu: CoreId, vp: VpId, switched: bool, now: u64) {
        let queue = usize::from(self.queue_of[usize::from(cpu)]);
        self.queues[queue].idle.remove(cpu);
        if switched {
            self.queues[queue].remove(vp);
            let unit = self.unit(vp);
            unit.doing = Doing::Running;
            unit.since = now;
            unit.burnt_to = now;
        }
        let moved = std::mem::replace(&mut self.unit(vp).cpu, cpu) != cpu;
        let first = self.queues[queue].waiting().first();
        let waiting = first.map_or(i64::MIN, |first| self.units[*first as usize].credit);
        if self.units[vp as usize].credit.max(waiting) <= self.rules.reset_below_ns {
            self.reset(queue, vp, now);
            self.balance(queue, now);
        }
        self.tickled[vp as usize] = None;
        let unit = self.unit(vp);
        unit.burnt_to = now;
        if moved {
            unit.credit += MOVED_CREDIT;
            let domain = usize::from(unit.domain);
            self.counts[domain].migrations += 1;
        }
    }

    fn let_idle(&mut self, cpu: CoreId, now: u64) {
        let window = self.rules.load_window_shift;
        let queue = &mut self.queues[usize::from(self.queue_of[usize::from(cpu)])];
        queue.idle.insert(cpu);
        queue.load.update(queue.runnable, now, window);
    }

    /// A runner has left its processor: its budget goes back, and it queues if it has work.
    fn put_off(&mut self, vp: VpId, now: u64) {
        let unit = &mut self.units[vp as usize];
        let domain = usize::from(unit.domain);
        let mut parked = Vec::new();
        if unit.is_capped() && unit.budget > 0 {
            let own = std::mem::take(&mut unit.budget);
            let budget = self.budgets[domain].as_mut().expect("a cap has a budget");
            parked = budget.give_back(own);
        }
        match self.units[vp as usize].doing {
            Doing::Running => self.leave_or_wait(vp, now),
            Doing::Parked => {
                self.count(vp, -1, now);
                if let Some(to) = self.unit(vp).moves_to.take() {
                    self.change_queue(vp, to);
                }
            }
            Doing::Blocked | Doing::Waiting => {
                if let Some(to) = self.unit(vp).moves_to.take() {
                    self.change_queue(vp, to);
                }
            }
        }
        self.unpark(parked, now);
    }

    fn leave_or_wait(&mut self, vp: VpId, now: u64) {
        if let Some(to) = self.unit(vp).moves_to.take() {
            self.count(vp, -1, now);
            self.change_queue(vp, to);
            self.count(vp, 1, now);
        }
        self.queue_up(vp, now);
    }

    /// Gives everybody in a run queue credit anew, twice as much if the next runner was at the
    /// bottom.
    fn reset(&mut self, queue: usize, next: VpId, now: u64) {
        let init = self.rules.credit_init_ns as i64;
        let bottom = self.units[next as usize].credit <= -init;
        let most = init + self.rules.min_timer_ns as i64;
        let members = std::mem::take(&mut self.queues[queue].members);
        for vp in &members {
            let cpu = self.units[*vp as usize].cpu;
            if self.current[usize::from(cpu)] == Some(*vp) {
                self.burn(*vp, now);
                if self.units[*vp as usize].budget <= 0 {
                    self.push(cpu);
                }
            }
            let unit = self.unit(*vp);
            unit.credit = (unit.credit + if bottom { 2 * init } else { init }).min(most);
            unit.burnt_to = now;
        }
        self.queues[queue].members = members;
    }

    /// For how long a runner may go on: until its credit is gone or down to that of the first that
    /// waits, but neither longer nor shorter than Xen's timers allow [ns].
    fn run_time(&self, vp: VpId, now: u64) -> u64 {
        let rules = &self.rules;
        let unit = &self.units[vp as usize];
        let queue = &self.queues[usize::from(unit.queue)];
        let first = queue.waiting().first();
        let waits = first.map_or(0, |first| self.units[*first as usize].credit.max(0));
        let credit = (unit.credit - waits).max(0);
        let mut time = unit.time_of(credit, queue.max_weight);
        if unit.is_capped() {
            time = time.min(unit.budget);
        }
        let limited = (unit.since + rules.rate_limit_ns).saturating_sub(now);
        (time.max(0) as u64)
            .min(rules.max_timer_ns)
            .max(limited)
            .max(rules.min_timer_ns)
    }
}
