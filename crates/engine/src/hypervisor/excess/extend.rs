//! Extended slices: who has fallen behind keeps its core though entitled ones wait.
//!
//! PHYP may lengthen a slice by capacity that nobody uses or that active partitions do not need for
//! what they are entitled to (lparcfg.5 of powerpc-utils). Usually what is entitled is served
//! first, and a slice that ends goes on only when nobody waits for that. A partition with few
//! virtual processors can't make up for the wait: it would get less than its weight says, however
//! much that is. Hence one that is behind by more than a window may go on at once, as long as what
//! is left is enough for all that is entitled.

use crate::hypervisor::pool::LEAST_LOAN_NS;
use crate::hypervisor::share::Rule;
use crate::hypervisor::state::{Mode, State};
use crate::hypervisor::windows::Windows;
use crate::ids::{PartitionId, PoolId, VpId};

impl Windows {
    /// With `left_ns` of the window to go, what partitions that are behind need of a limit that
    /// they share is kept for them, as far as their virtual processors can use it beside their
    /// entitlement.
    pub fn keep_for_those_behind(&mut self, state: &State, left_ns: u64) {
        for at in self.shares.ids() {
            let Some(limit) = self.contests[at].limit else {
                continue;
            };
            let (share, contest) = (&self.shares[at], &self.contests[at]);
            let had_ns = share.claim().map_or(0.0, |claim| {
                claim.weight.max(1.0) * (claim.excess_age - contest.began_at)
            });
            let behind = contest.extension_ns.saturating_sub(had_ns as u64);
            let wanted = behind.min(self.could_use_ns(state, at, left_ns));
            let budget = if self.masks.is_empty() {
                self.pools.iter_mut().nth(limit)
            } else {
                self.groups.iter_mut().nth(limit)
            };
            if let Some(budget) = budget {
                budget.keep(&mut self.contests[at].kept_ns, wanted);
            }
        }
    }

    /// What a partition's virtual processors with work can use beside their entitlement, as far as
    /// a limit of its own leaves it [ns].
    fn could_use_ns(&self, state: &State, at: PartitionId, left_ns: u64) -> u64 {
        let share = &self.shares[at];
        if let Rule::Slices(of) = &share.rule {
            let vps = state.vps_of[at].into_iter();
            let busy = vps.filter(|vp| state.vps[*vp].mode != Mode::Inactive);
            let beside = |vp| {
                let left = left_ns.saturating_sub(self.slices[vp].slice_ns);
                left.min(share.may_use_ns(state.vps[vp].index))
            };
            let could: u64 = busy.map(beside).sum();
            return could.min(of.limit.left_for(true, 0));
        }
        (u64::from(share.active_vps) * left_ns).saturating_sub(share.entitled_ns)
    }

    /// Whether a partition's slices can be extended.
    #[inline]
    pub fn is_behind(&self, partition: PartitionId) -> bool {
        self.contests[partition].extension_ns >= LEAST_LOAN_NS
    }

    /// For how long a runner on excess keeps its core though entitled ones wait: what its partition
    /// is behind, as far as the pool's own cores have enough for them besides; a lent one is not
    /// theirs. Smaller pieces would only cost switches [ns].
    pub fn extension_ns(&self, state: &State, vp: VpId, left_ns: u64) -> u64 {
        let partition = state.vps[vp].partition;
        if !self.is_behind(partition) {
            return 0;
        }
        let lent = |core| self.owner(core).is_some();
        let slack = if state.vps[vp].core.is_some_and(lent) {
            left_ns
        } else {
            let slack = self.slack_ns(state, self.claim(partition).pool, left_ns);
            slack.unwrap_or(0)
        };
        let most = slack
            .min(self.contests[partition].extension_ns)
            .min(left_ns);
        if most < LEAST_LOAN_NS {
            0
        } else {
            most
        }
    }

    /// A runner's slice is extended by what it was granted.
    pub fn extend(&mut self, partition: PartitionId, vp: VpId) {
        let slice = &mut self.slices[vp];
        slice.extended = true;
        let left_ns = &mut self.contests[partition].extension_ns;
        *left_ns = left_ns.saturating_sub(slice.grant_ns);
    }

    /// What a pool's own cores have to give in the `left_ns` of this window besides what is
    /// entitled and what extended slices were promised; none if that is too much for them [ns].
    pub fn slack_ns(&self, state: &State, pool: PoolId, left_ns: u64) -> Option<u64> {
        let apart = !self.masks.is_empty();
        let is_of = |at: PartitionId| {
            let own = self.shares[at].claim().map(|claim| claim.pool);
            own.is_some_and(|own| !apart || own == pool)
        };
        let those = self.shares.ids().filter(|at| is_of(*at));
        let owed: u64 = those.map(|at| self.owed_ns(state, at, left_ns)).sum();
        let own = state.active().into_iter().filter(|core| {
            let lot = &self.lots[*core];
            lot.owner.is_none() && (!apart || lot.pool == Some(pool))
        });
        let (mut has, mut promised) = (0_u64, 0);
        for core in own {
            has += left_ns;
            let extended = state.cores[core]
                .running
                .filter(|vp| self.slices[*vp].extended);
            promised += extended.map_or(0, |vp| self.slices[vp].grant_ns.min(left_ns));
        }
        has.checked_sub(owed + promised)
    }

    /// What a partition's virtual processors can still use of its entitlement in the `left_ns` of
    /// this window. Where it is lent among siblings, those without work may wake and have it too;
    /// PR/SM gives who wakes no more than what is left of the window has for all [ns].
    fn owed_ns(&self, state: &State, at: PartitionId, left_ns: u64) -> u64 {
        let share = &self.shares[at];
        let vps = state.vps_of[at].into_iter();
        let busy = vps.filter(|vp| state.vps[*vp].mode != Mode::Inactive);
        let slices: u64 = busy.map(|vp| self.slices[vp].slice_ns.min(left_ns)).sum();
        match &share.rule {
            Rule::Lending(of) => slices + of.ceded_ns.min(u64::from(share.vps) * left_ns),
            _ => slices,
        }
    }
}
