//! Which processor should look at the run queue because a unit has joined it.

use super::cpus::{bit_of, lowest, CpuRange};
use super::ids::{CoreId, Span, VpId};
use super::{Credit2, Doing};

/// How much short of the rate limit a runner may be and still be preempted [ns]
/// (`CSCHED2_RATELIMIT_TICKLE_TOLERANCE`).
const TOLERANCE_NS: u64 = 50_000;

impl Credit2 {
    /// Tickles a processor for a unit that waits: an idle core, an idle thread, or the processor
    /// whose runner has least credit against it, its last one first in each case.
    pub(super) fn tickle(&mut self, vp: VpId, now: u64) {
        let aside = &self.asides[vp];
        let liked = |word: usize| self.free(word) & aside.preferred(word);
        let usable = |word: usize| self.free(word) & aside.usable(word);
        let mut idle = self.idle_one(vp, liked);
        if idle.is_none() && aside.prefers() {
            idle = self.idle_one(vp, usable);
        }
        if let Some(cpu) = idle.or_else(|| self.preemptable(vp, now)) {
            self.units[vp].tickled = Some(cpu);
            self.pending.push(cpu);
        }
    }

    /// Processors of a unit's run queue.
    #[inline]
    fn range_of(&self, vp: VpId) -> CpuRange {
        self.queues[self.units[vp].queue].cpus
    }

    /// Those of 64 processors that idle and to which nobody has been sent.
    #[inline]
    fn free(&self, word: usize) -> u64 {
        self.idle.word(word) & !self.pending.word(word)
    }

    /// Of these free processors one of a core whose threads are all free, or else any.
    fn idle_one(&self, vp: VpId, usable: impl Fn(usize) -> u64) -> Option<CoreId> {
        let (range, own) = (self.range_of(vp), self.units[vp].cpu);
        let first = range.around(own, &usable)?;
        if self.siblings == 1 || self.is_core_free(first) {
            return Some(first);
        }
        // The first is not it, so one lap on from there has seen them all.
        let mut next = first;
        for _ in 1..range.count() {
            next = range.behind(next, &usable)?;
            if next == first {
                break;
            }
            if self.is_core_free(next) {
                return Some(next);
            }
        }
        Some(first)
    }

    /// Whether all threads of a processor's core are free.
    fn is_core_free(&self, cpu: CoreId) -> bool {
        let first = cpu.index() / self.siblings * self.siblings;
        let count = self.siblings.min(self.cpus.len() - first);
        let is_free = |cpu: CoreId| self.idle.contains(cpu) && !self.pending.contains(cpu);
        Span::new(first, count).into_iter().all(is_free)
    }

    /// The processor from which the unit is most entitled to throw the runner off.
    fn preemptable(&mut self, vp: VpId, now: u64) -> Option<CoreId> {
        let unit = &self.units[vp];
        let (own, credit) = (unit.cpu, unit.credit);
        let (at, bit) = bit_of(own);
        let beside = self.settled(vp, at, now);
        let mut best = (0, None);
        if beside & bit != 0 {
            best = (self.score(vp, credit, own, now), Some(own));
            if best.0 > 0 && self.asides[vp].likes(own) {
                return Some(own);
            }
        }
        let credit = credit - self.resist();
        for word in self.range_of(vp).words() {
            let mut left = if word == at {
                beside & !bit
            } else {
                self.settled(vp, word, now)
            };
            while left != 0 {
                let cpu = lowest(word, left);
                left &= left - 1;
                let score = self.score(vp, credit, cpu, now);
                if score > best.0 {
                    best = (score, Some(cpu));
                }
            }
        }
        best.1.filter(|_| best.0 > 0)
    }

    /// How good it would be to throw a processor's runner off: the lead in credit and, if there is
    /// any, whether the unit prefers that processor and the runner would rather be elsewhere
    /// (`tickle_score`).
    #[inline]
    fn score(&mut self, vp: VpId, credit: i64, cpu: CoreId, now: u64) -> i64 {
        let lead = self.lead(credit, cpu, now);
        if lead <= 0 {
            return lead;
        }
        let runner = self.cpus[cpu].current;
        let unsuited = runner.is_some_and(|runner| !self.asides[runner].likes(cpu));
        let better = i64::from(self.asides[vp].likes(cpu)) + i64::from(unsuited);
        lead + better * self.rules.credit_init_ns as i64
    }

    /// Whether a runner that prefers other processors would find one of them free.
    pub(super) fn is_better_off(&self, vp: VpId, cpu: CoreId) -> bool {
        let aside = &self.asides[vp];
        let liked = |word: usize| self.free(word) & aside.preferred(word);
        !aside.likes(cpu) && self.range_of(vp).any(liked).is_some()
    }

    /// Those of 64 processors that a unit may use and whose runners have run for long enough to be
    /// preempted, as bits; nobody has been sent there.
    #[inline]
    fn settled(&self, vp: VpId, word: usize, now: u64) -> u64 {
        let usable = self.asides[vp].usable(word);
        let away = self.idle.word(word) | self.pending.word(word);
        let least = match self.rules.rate_limit_ns.saturating_sub(TOLERANCE_NS) {
            0 => 0,
            limit => limit + 1,
        };
        let (range, first) = self.range_of(vp).within(word);
        let since = self.since.slice(range).iter().enumerate();
        let long = since.fold(0, |bits, (at, since)| {
            bits | u64::from(now - since >= least) << at
        });
        long << first & usable & !away
    }

    /// Lead in credit over a processor's runner; 0 if that is about to leave.
    #[inline]
    fn lead(&mut self, credit: i64, cpu: CoreId, now: u64) -> i64 {
        let Some(runner) = self.cpus[cpu].current else {
            return 0;
        };
        if self.units[runner].doing != Doing::Running {
            return 0;
        }
        self.burn(cpu, runner, now);
        credit - self.units[runner].credit
    }
}
