//! Whose use of what others left counts against whom.
//!
//! ```text
//! level 0  what a pool is entitled to and its partitions leave, its reserve with it: its own
//! level 1  the rest, and what dedicated partitions lend: by weight among all pools
//! ```
//! A partition's *age* is what it has used at level 1, by weight; what turns out to be level 0 when
//! the window is over is taken off again ([`own`]). Of those that wait the one of least age comes
//! first. When a window ends, ages are compared ([`level`]), and one that has fallen behind because
//! it had to wait for what others are entitled to has its slices extended ([`extend`]).

mod extend;
mod level;
mod own;

pub use level::Stand;

use super::pool::PoolBudget;
use super::share::{Claim, Rule, Share};
use super::windows::Windows;
use crate::ids::{ById, PoolId};

/// What a partition wanted of what others left, and what follows from the last window.
#[derive(Clone, Copy, Debug)]
pub struct Contest {
    /// Its age when the window began [ns].
    began_at: f64,
    /// What it has had of what its pool is entitled to, by weight [ns].
    own_age: f64,
    /// By how much it is behind in that [ns].
    own_behind_ns: f64,
    /// Whether it waited in this window.
    pub waited: bool,
    /// Whether one of its virtual processors ran out of work in this window.
    pub ceded: bool,
    /// Whether it competed in the window that ends: it has work, and used excess or waited for some.
    competes: bool,
    /// With whom it competes.
    field: usize,
    /// The limit that it is under together with others: PowerVM's pools are some, PR/SM's groups.
    limit: Option<usize>,
    /// By how much its slices may still be extended in this window, all together [ns].
    extension_ns: u64,
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
            waited: false,
            ceded: false,
            competes: false,
            field: field_of(share),
            limit,
            extension_ns: 0,
            kept_ns: 0,
        }
    }
}

/// Partitions compete with each other where pools have cores of their own (PR/SM), else all with
/// all, those with a soft cap after the others.
fn field_of(share: &Share) -> usize {
    match &share.rule {
        Rule::Slices(of) => of.claim.pool.index(),
        Rule::Lending(of) => usize::from(of.claim.soft_cap),
        Rule::Own(_) => 0,
    }
}

/// What of a pool one that may use excess has.
fn contender(share: &Share) -> Option<&Claim> {
    share.claim().filter(|claim| !claim.capped)
}

impl Windows {
    /// A window is over.
    pub fn close_excess(&mut self) {
        for (share, contest) in self.shares.iter().zip(&mut self.contests) {
            if std::mem::replace(&mut contest.field, field_of(share)) != contest.field {
                contest.began_at = share.excess_age();
            }
            let wanted = contest.waited || share.excess_age() > contest.began_at;
            contest.competes = wanted && share.active_vps > 0;
        }
        if self.has_levels {
            let pools = self.pools.ids();
            pools.for_each(|pool| self.give_own_excess_back(pool));
        }
        let fields = self.contests.iter().map(|contest| contest.field + 1);
        (0..fields.max().unwrap_or(0)).for_each(|field| self.level_ages(field));
        for (share, contest) in self.shares.iter().zip(&mut self.contests) {
            contest.began_at = share.excess_age();
            (contest.waited, contest.ceded) = (false, false);
        }
    }
}
