//! What a control group keeps of its quota.

use super::ids::{CgroupId, QueueId};
use crate::kernel::When;
use crate::spec::Cgroup;

/// Quota of a group.
#[derive(Clone, Debug)]
pub struct Bandwidth {
    /// Time per period [ns].
    pub quota: u64,
    /// Period [ns].
    pub period: u64,
    /// Time that may be saved up [ns].
    pub burst: u64,
    /// Where the grid of its periods starts [ns].
    pub phase: u64,
    /// Left in the pool [ns].
    pub pool: u64,
    /// When the period ends [ns]; never while nobody uses it.
    pub period_end: When,
    /// When quota that was given back is dealt out [ns]; never while there is none.
    pub slack_at: When,
    /// Whether nobody took any since the period began.
    pub unused: bool,
    /// Groups that it holds for: its own and all beneath.
    pub within: Vec<CgroupId>,
    /// Throttled queues, longest first.
    pub throttled: Vec<QueueId>,
    /// Periods that have ended since the start.
    pub periods: u64,
    /// Those in which a queue was throttled.
    pub throttled_periods: u64,
    /// Time that queues were throttled, all together [ns].
    pub throttled_ns: u64,
}

impl Bandwidth {
    /// Quota of a control group; none = it has none.
    pub fn new(group: &Cgroup, phase: u64) -> Option<Self> {
        let quota = group.quota_ns?;
        Some(Self {
            quota,
            period: group.period_ns,
            burst: group.burst_ns,
            phase,
            // Filled when the quota is set and again when the burst is.
            pool: (2 * quota).min(quota + group.burst_ns),
            period_end: When::NEVER,
            slack_at: When::NEVER,
            unused: false,
            within: Vec::new(),
            throttled: Vec::new(),
            periods: 0,
            throttled_periods: 0,
            throttled_ns: 0,
        })
    }

    /// Takes quota from the pool. Its timer runs from the first use on, on the grid of periods.
    pub(super) fn take(&mut self, wanted: u64, now: u64) -> u64 {
        if !self.period_end.is_set() {
            let periods = now.saturating_sub(self.phase) / self.period;
            let since = now >= self.phase;
            let ends = self.phase + (periods + u64::from(since)) * self.period;
            self.period_end = When::at(ends);
        }
        let amount = wanted.min(self.pool);
        if amount > 0 {
            self.pool -= amount;
            self.unused = false;
        }
        amount
    }
}
