//! Who runs on a processor, for how long, and when everybody gets credit anew.

use super::ids::{CoreId, QueueId, VpId};
use super::{Credit2, Doing};

/// Credit that a processor without a runner stands for (`CSCHED2_IDLE_CREDIT`).
const IDLE_CREDIT: i64 = -(1 << 30);
/// Credit for having been moved to another processor [ns] (`CSCHED2_MIGRATE_COMPENSATION`).
const MOVED_CREDIT: i64 = 50_000;

impl Credit2 {
    /// Chooses a processor's runner.
    pub(super) fn schedule(&mut self, cpu: CoreId, now: u64) -> Option<VpId> {
        let current = self.cpus[cpu].current;
        if let Some(vp) = current {
            self.burn(cpu, vp, now);
            let unit = &self.units[vp];
            if unit.doing == Doing::Running && unit.budget <= 0 {
                self.has_budget(vp, now);
            }
        }
        let (next, place, skipped) = self.candidate(cpu, current, now);
        if let Some(place) = place {
            self.queues[self.cpus[cpu].queue].take(place);
        }
        match next {
            Some(vp) => self.put_on(cpu, vp, skipped, now),
            None => self.let_idle(cpu, now),
        }
        if next != current {
            self.since[cpu] = now;
        }
        self.cpus[cpu].burnt_to = now;
        self.cpus[cpu].current = next;
        let leaves = current.filter(|_| next != current);
        let at = next.map(|vp| now + self.run_time(cpu, vp, leaves, now));
        let late = match (at, self.rules.timer_late_ns) {
            (None, _) | (_, 0) => 0,
            (_, most) => self.late.below(most + 1),
        };
        self.cpus[cpu].look_at = at.map(|at| at + late).into();
        if let Some(vp) = leaves {
            self.put_off(vp, now);
        }
        next
    }

    /// The runner, or the first of the queue that may take its place, and where that one waits;
    /// whether others were passed over (`skipped_units` of `runq_candidate`).
    fn candidate(
        &mut self,
        cpu: CoreId,
        current: Option<VpId>,
        now: u64,
    ) -> (Option<VpId>, Option<usize>, bool) {
        let mut stays = None;
        let (mut yields, mut skipped) = (false, false);
        let queue = self.cpus[cpu].queue;
        if let Some(vp) = current {
            let unit = &mut self.units[vp];
            yields = std::mem::take(&mut unit.yields);
            if unit.doing == Doing::Running && unit.moves_to.is_none() {
                stays = current;
                if !yields && now - self.since[cpu] < self.rules.rate_limit_ns {
                    return (current, None, false);
                }
                if self.is_better_off(vp, cpu) {
                    stays = None;
                }
            }
        }
        let credit = stays.map_or(IDLE_CREDIT, |vp| self.units[vp].credit);
        let mut place = self.queues[queue].waiting().len();
        while place > 0 {
            place -= 1;
            let waiter = self.queues[queue].waiting()[place];
            let leads = waiter.cpu == cpu || credit + self.resist() <= waiter.credit;
            let passes = leads && self.may_go_to(cpu, waiter.vp);
            skipped |= !passes;
            if !yields && waiter.credit <= credit {
                break; // Nor has any of the rest more.
            }
            if !passes {
                continue;
            }
            let vp = waiter.vp;
            if self.units[vp].is_capped() && !self.has_budget(vp, now) {
                continue; // Parked: those behind it have moved up by one.
            }
            return (Some(vp), Some(place), skipped);
        }
        (stays, None, skipped)
    }

    /// Credit by which one on another processor must lead.
    #[inline]
    pub(super) fn resist(&self) -> i64 {
        self.rules.migrate_resist_ns as i64
    }

    /// Whether a processor may take a unit that waits, as far as place is concerned.
    #[inline]
    fn may_go_to(&self, cpu: CoreId, vp: VpId) -> bool {
        let tickled = self.units[vp].tickled;
        let awaited = tickled.is_some_and(|other| other != cpu && self.pending.contains(other));
        !awaited && self.asides[vp].may_use(cpu)
    }

    /// All get credit anew where the first of the queue has none left, so not where that one was
    /// passed over.
    fn put_on(&mut self, cpu: CoreId, vp: VpId, skipped: bool, now: u64) {
        let at = self.cpus[cpu].queue;
        self.idle.remove(cpu);
        let unit = &mut self.units[vp];
        unit.doing = Doing::Running;
        let moved = std::mem::replace(&mut unit.cpu, cpu) != cpu;
        if !skipped && unit.credit <= self.rules.reset_below_ns {
            self.reset(at, vp, now);
            self.balance(at, now);
        }
        let unit = &mut self.units[vp];
        unit.tickled = None;
        if moved {
            unit.credit += MOVED_CREDIT;
            self.domains[unit.domain].count.migrations += 1;
        }
    }

    fn let_idle(&mut self, cpu: CoreId, now: u64) {
        let window = self.rules.load_window_shift;
        let queue = &mut self.queues[self.cpus[cpu].queue];
        self.idle.insert(cpu);
        queue.load.update(queue.runnable, now, window);
    }

    /// A runner has left its processor: its budget goes back, and it queues if it has work.
    fn put_off(&mut self, vp: VpId, now: u64) {
        let unit = &mut self.units[vp];
        let domain = unit.domain;
        let mut some_left = false;
        if unit.is_capped() && unit.budget > 0 {
            let own = std::mem::take(&mut unit.budget);
            let budget = &mut self.domains[domain].budget;
            some_left = budget.as_mut().expect("a cap has a budget").give_back(own);
        }
        let (doing, moves_to) = (unit.doing, unit.moves_to.take());
        if doing == Doing::Parked || doing == Doing::Running && moves_to.is_some() {
            self.count(vp, -1, now);
        }
        if let Some(to) = moves_to {
            self.change_queue(vp, to);
        }
        if doing == Doing::Running {
            if moves_to.is_some() {
                self.count(vp, 1, now);
            }
            self.queue_up(vp, now);
        }
        if some_left {
            self.unpark(domain, now);
        }
    }

    /// Gives everybody in a run queue credit anew, twice as much if the next runner was at the
    /// bottom.
    fn reset(&mut self, queue: QueueId, next: VpId, now: u64) {
        let init = self.rules.credit_init_ns as i64;
        let bottom = self.units[next].credit <= -init;
        let credit = if bottom { 2 * init } else { init };
        let most = init + self.rules.min_timer_ns as i64;
        let members = std::mem::take(&mut self.queues[queue].members);
        for vp in &members {
            let cpu = self.units[*vp].cpu;
            if self.cpus[cpu].current == Some(*vp) {
                self.burn(cpu, *vp, now);
                if self.units[*vp].budget <= 0 {
                    self.pending.push(cpu);
                }
            }
            let unit = &mut self.units[*vp];
            unit.credit = (unit.credit + credit).min(most);
        }
        self.queues[queue].members = members;
        self.queues[queue].renew(credit, most);
    }

    /// For how long a runner may go on: until its credit is gone or down to that of the first that
    /// waits, but neither longer nor shorter than Xen's timers allow [ns]. Who leaves the processor
    /// is not in the queue yet: Xen puts it there once its state is saved.
    fn run_time(&self, cpu: CoreId, vp: VpId, leaves: Option<VpId>, now: u64) -> u64 {
        let rules = &self.rules;
        let (unit, here) = (&self.units[vp], &self.cpus[cpu]);
        let queue = &self.queues[here.queue];
        let first = queue.first().map_or(0, |first| first.credit.max(0));
        let leaving = leaves.map(|other| &self.units[other]);
        let goes_on =
            leaving.filter(|other| rules.outgoing_counts && other.doing == Doing::Running);
        let waits = goes_on.map_or(first, |other| first.max(other.credit));
        let credit = (unit.credit - waits).max(0);
        let mut time = unit.time_of(credit, queue.max_weight);
        if unit.is_capped() {
            time = time.min(unit.budget);
        }
        let limited = (self.since[cpu] + rules.rate_limit_ns).saturating_sub(now);
        (time.max(0) as u64)
            .min(rules.max_timer_ns)
            .max(limited)
            .max(rules.min_timer_ns)
    }
}
