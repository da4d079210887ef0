//! Which processor should look at the run queue because a unit has joined it.

use super::{Credit2, Doing};
use crate::hypervisor::{CoreId, VpId};

/// How much short of the rate limit a runner may be and still be preempted [ns]
/// (`CSCHED2_RATELIMIT_TICKLE_TOLERANCE`).
const TOLERANCE_NS: u64 = 50_000;

impl Credit2 {
    /// Tickles a processor for a unit that waits: an idle core, an idle thread, or the processor
    /// whose runner has least credit against it, its last one first in each case.
    pub(super) fn tickle(&mut self, vp: VpId, now: u64) {
        let idle = self.idle_core(vp).or_else(|| self.idle_cpu(vp));
        if let Some(cpu) = idle.or_else(|| self.preemptable(vp, now)) {
            self.tickled[vp as usize] = Some(cpu);
            self.push(cpu);
        }
    }

    /// Whether a processor idles and nobody has been sent there.
    fn is_idle(&self, cpu: CoreId) -> bool {
        let queue = &self.queues[usize::from(self.queue_of[usize::from(cpu)])];
        queue.idle.contains(cpu) && !self.is_pending[usize::from(cpu)]
    }

    /// A usable processor of a core whose threads are all idle.
    fn idle_core(&self, vp: VpId) -> Option<CoreId> {
        if self.siblings == 1 {
            return None;
        }
        let last = self.current.len() as u16;
        let all_idle = |cpu: CoreId| {
            let first = cpu / self.siblings * self.siblings;
            (first..(first + self.siblings).min(last)).all(|cpu| self.is_idle(cpu))
        };
        self.first_usable(vp, all_idle)
    }

    fn idle_cpu(&self, vp: VpId) -> Option<CoreId> {
        self.first_usable(vp, |cpu| self.is_idle(cpu))
    }

    /// The unit's last processor if it will do, else the next one after it that does.
    fn first_usable(&self, vp: VpId, will_do: impl Fn(CoreId) -> bool) -> Option<CoreId> {
        let unit = &self.units[vp as usize];
        let cpus = &self.queues[usize::from(unit.queue)].cpus;
        let fits = |cpu: &CoreId| unit.affinity.contains(*cpu) && will_do(*cpu);
        let mut first = None;
        for cpu in cpus.iter().filter(fits) {
            if cpu >= unit.cpu {
                return Some(cpu);
            }
            first = first.or(Some(cpu));
        }
        first
    }

    /// The processor from which the unit is most entitled to throw the runner off.
    fn preemptable(&mut self, vp: VpId, now: u64) -> Option<CoreId> {
        let unit = &self.units[vp as usize];
        let (own, queue) = (unit.cpu, usize::from(unit.queue));
        let usable = self.queues[queue].cpus.and(&unit.affinity);
        if usable.contains(own) && self.score(vp, own, now) > 0 {
            return Some(own);
        }
        let mut best = (0, None);
        for cpu in usable.iter().filter(|cpu| *cpu != own) {
            let score = self.score(vp, cpu, now);
            if score > best.0 {
                best = (score, Some(cpu));
            }
        }
        best.1
    }

    /// Lead in credit over a processor's runner; 0 or less if that may not be preempted.
    fn score(&mut self, vp: VpId, cpu: CoreId, now: u64) -> i64 {
        let Some(runner) = self.current[usize::from(cpu)] else {
            return 0;
        };
        let runs = &self.units[runner as usize];
        let least = self.rules.rate_limit_ns.saturating_sub(TOLERANCE_NS);
        let settled = least == 0 || now - runs.since > least;
        if self.is_pending[usize::from(cpu)] || runs.doing != Doing::Running || !settled {
            return 0;
        }
        self.burn(runner, now);
        let (unit, runs) = (&self.units[vp as usize], &self.units[runner as usize]);
        let resist = if unit.cpu == cpu {
            0
        } else {
            self.rules.migrate_resist_ns as i64
        };
        unit.credit - runs.credit - resist
    }
}
