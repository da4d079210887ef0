//! What a partition wants of what others leave, and where it stands beside those that want it too.

use super::pool::PoolBudget;
use super::share::{Claim, Rule, Share};
use super::stand::Stand;
use crate::ids::{ById, PoolId};
use crate::kernel::real;

/// What a partition wanted of what others left, and what follows from the last window.
#[derive(Clone, Copy, Debug)]
pub struct Contest {
    /// Its age when the window began [ns].
    pub(super) began_at: f64,
    /// What it has had of what its pool is entitled to, by weight [ns].
    pub(super) own_age: f64,
    /// By how much it is behind in that [ns].
    pub(super) own_behind_ns: f64,
    /// What it lacks of its part of what others left, where cores were idle for that [ns].
    pub(super) lacks_ns: f64,
    /// Whether it waited in this window.
    pub waited: bool,
    /// Whether it waited for what it is entitled to, while others had theirs or more.
    pub delayed: bool,
    /// Whether one of its virtual processors ran out of work in this window.
    pub ceded: bool,
    /// Whether it competed in the window that ends: it has work, and used excess or waited for it.
    pub(super) competes: bool,
    /// With whom it competes.
    pub(super) field: usize,
    /// The limit that it is under together with others: PowerVM's pools are some, PR/SM's groups.
    pub(super) limit: Option<usize>,
    /// By how much its slices may still be extended in this window, all together [ns].
    pub(super) extension_ns: u64,
    /// What is kept for it of its limit in this window, since it is behind the others there [ns].
    pub(super) kept_ns: u64,
}

impl Contest {
    /// Of a partition that has not competed yet.
    pub fn of(share: &Share, pools: &ById<PoolId, PoolBudget>) -> Self {
        let pool = share.claim().map_or(PoolId::new(0), |claim| claim.pool);
        let limited = pools[pool].maximum_ns.is_some();
        let limit = match &share.rule {
            Rule::Slices(of) => of.group.map(|group| group.index()),
            _ => limited.then_some(pool.index()),
        };
        Self {
            began_at: share.excess_age(),
            own_age: 0.0,
            own_behind_ns: 0.0,
            lacks_ns: 0.0,
            waited: false,
            delayed: false,
            ceded: false,
            competes: false,
            field: field_of(share),
            limit,
            extension_ns: 0,
            kept_ns: 0,
        }
    }

    /// Where it stands, if it competes.
    pub(super) fn stand(&self, share: &Share) -> Option<Stand> {
        let claim = contender(share).filter(|_| self.competes)?;
        Some(Stand::of(claim, share.active_vps))
    }

    /// By how much a partition may be behind others, by weight: not at all if it does not compete
    /// [ns].
    pub(super) fn most_behind(&self, share: &Share, window_ns: u64) -> f64 {
        match self.stand(share) {
            Some(own) => own.most_behind(window_ns),
            None => 0.0,
        }
    }

    /// Whether it competed in all of the window that ends. One that has done its work now and then
    /// has had less because it wanted less.
    pub(super) fn always_competes(&self) -> bool {
        self.competes && !self.ceded
    }

    /// It had so much less than its part of what others left; two windows of its virtual processors
    /// with work are enough for all that can be extended.
    pub(super) fn lack(&mut self, share: &Share, lack_ns: f64, window_ns: u64) {
        let most = 2.0 * f64::from(share.active_vps) * real(window_ns);
        self.lacks_ns = match contender(share).filter(|_| self.always_competes()) {
            Some(_) => (self.lacks_ns + lack_ns).clamp(0.0, most),
            None => 0.0,
        };
    }

    /// What one that competes is behind this mean by more than a window of all its virtual
    /// processors with work is what its slices are extended by, in such a window at most.
    pub(super) fn extend(&mut self, share: &Share, mean: f64, window_ns: u64) {
        let window = f64::from(share.active_vps) * real(window_ns);
        let claim = contender(share).filter(|it| self.always_competes() && !it.soft_cap);
        let behind = claim.map_or(0.0, |it| {
            let of_all = it.weight.max(1.0) * (mean - it.excess_age);
            of_all.max(self.own_behind_ns).max(self.lacks_ns)
        });
        self.extension_ns = (behind - window).clamp(0.0, window) as u64;
    }
}

/// Partitions compete with each other where pools have cores of their own (PR/SM), else all with
/// all, those with a soft cap after the others.
pub(super) fn field_of(share: &Share) -> usize {
    match &share.rule {
        Rule::Slices(of) => of.claim.pool.index(),
        Rule::Lending(of) => usize::from(of.claim.soft_cap),
        Rule::Own(_) => 0,
    }
}

/// What one that may use excess has of its pool.
pub(super) fn contender(share: &Share) -> Option<&Claim> {
    share.claim().filter(|_| share.may_exceed())
}
