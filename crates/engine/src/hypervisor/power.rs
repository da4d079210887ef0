//! What a partition could have had of the cores that it shares, beside what others used of them.
//!
//! z/VM expects so much of PR/SM, and unparks logical cores by it (US patent 9,557,793, IBM,
//! "Calculating expected maximum CPU power available for use"): capacity is shared out by weight,
//! where each other partition needs what it was seen to use, and the one that asks all that it
//! could get; what those leave that need less goes to the others by weight, until nothing is left.
//! So power that others use beyond their entitlement is there for whoever has a claim to part of
//! it. That limits of the partition bound it is not told there: PR/SM gives it no more.

use super::grants::{grants, Claim};
use super::pool::PoolBudget;
use super::share::Rule;
use super::state::State;
use super::windows::Windows;
use crate::ids::{GroupId, PartitionId};

impl Windows {
    /// What one could have had beyond its entitlement while each partition `used` so many cores;
    /// nothing with cores of its own [cores].
    pub fn could_exceed(
        &self,
        state: &State,
        asking: PartitionId,
        used: impl Fn(PartitionId) -> f64,
        window_ns: u64,
    ) -> f64 {
        let Some(pool) = self.shares[asking].claim().map(|claim| claim.pool) else {
            return 0.0;
        };
        let need = |at: PartitionId| {
            let vps = f64::from(self.shares[at].vps);
            let wants = if at == asking { vps } else { used(at) };
            self.need(at, wants, window_ns)
        };
        let shares = |at: &PartitionId| {
            let claim = self.shares[*at].claim();
            *at != asking && claim.is_some_and(|claim| claim.pool == pool)
        };
        let own = need(asking);
        let others = self.shares.ids().filter(shares).map(need);
        let claims: Vec<Claim> = std::iter::once(own).chain(others).collect();
        let limits: Vec<f64> = self.groups.iter().map(|of| self.most(of)).collect();
        let cores = f64::from(self.cores_of_pool(state, pool));
        (grants(&claims, cores, &limits)[0] - own.entitled).max(0.0)
    }

    /// What a partition may have that wants so many cores.
    fn need(&self, at: PartitionId, wants: f64, window_ns: u64) -> Claim {
        let share = &self.shares[at];
        let claim = self.claim(at);
        let entitled = share.entitled_ns as f64 / window_ns as f64;
        let weight = if claim.capped {
            entitled
        } else {
            f64::INFINITY
        };
        let (own, group) = match &share.rule {
            Rule::Slices(of) => (self.most(&of.limit), of.group),
            Rule::Lending(_) | Rule::Own(_) => (f64::INFINITY, None),
        };
        Claim {
            wants,
            entitled,
            limit: own.min(weight),
            weight: claim.weight,
            group: group.map(GroupId::index),
            ..Claim::default()
        }
    }

    /// The cores that a budget is worth; no end of them without a limit.
    fn most(&self, budget: &PoolBudget) -> f64 {
        let cores = |ns: u64| ns as f64 / self.capacity_ns as f64;
        budget.maximum_ns.map_or(f64::INFINITY, cores)
    }
}
