//! What cores were idle for while somebody had wanted it earlier in the window.
//!
//! Who runs in the first part of a window and no more, since a cap or a pool's maximum ends it then,
//! leaves to the others all cores of the second part. Who has fewer virtual processors than that
//! can't use them, and has waited before. Yet it is offered its part by weight of all that is not
//! needed for what active partitions are entitled to, and its slices may be extended for that
//! (lparcfg.5 of powerpc-utils). So what it lacks of its part, and cores were idle for, extends its
//! slices in later windows, like those of one that is behind others.

use crate::hypervisor::grants::{grants_by_level, Claim};
use crate::hypervisor::pool::{PoolBudget, LEAST_LOAN_NS};
use crate::hypervisor::share::Rule;
use crate::hypervisor::state::{Mode, State};
use crate::hypervisor::windows::Windows;
use crate::ids::{PartitionId, PoolId};
use crate::kernel::real;

impl Windows {
    /// A window is over: what each lacks of its part, where cores were idle.
    pub(super) fn note_lack(&mut self, state: &State) {
        let apart = !self.masks.is_empty();
        for pool in self.pools.ids().take(if apart { usize::MAX } else { 1 }) {
            let those = self.shares.ids().filter(|at| {
                let own = self.shares[*at].claim().map(|claim| claim.pool);
                own.is_some_and(|own| !apart || own == pool)
            });
            let those: Vec<PartitionId> = those.collect();
            let idle_ns = self.idle_ns(state, apart.then_some(pool));
            let lacks = |at: &PartitionId| {
                let of = &self.contests[*at];
                of.lacks_ns > 0.0 || of.waited && of.always_competes() && idle_ns >= LEAST_LOAN_NS
            };
            if those.iter().any(lacks) {
                self.compare_with_parts(state, &those, real(idle_ns));
            }
        }
        self.lent_ns = 0;
    }

    /// For how long cores of a pool, or of all, were idle in the window that ends [ns].
    fn idle_ns(&self, state: &State, pool: Option<PoolId>) -> u64 {
        let (cores, used_ns) = match pool {
            Some(pool) => (self.cores_of_pool(state, pool), self.pools[pool].used_ns),
            None => (
                self.pool_cores(state),
                self.pools.iter().map(|pool| pool.used_ns).sum(),
            ),
        };
        let has_ns = u64::from(cores) * self.capacity_ns + self.lent_ns;
        has_ns.saturating_sub(used_ns)
    }

    /// What each of these lacks of its part of what was left, where it had cores been idle for so
    /// long.
    fn compare_with_parts(&mut self, state: &State, those: &[PartitionId], idle_ns: f64) {
        let window = real(self.capacity_ns);
        let claims = those.iter().map(|at| self.claim_to_excess(state, *at));
        let claims: Vec<Claim> = claims.collect();
        let had = |claims: &[Claim]| claims.iter().map(|claim| claim.entitled).sum::<f64>();
        let all = had(&claims) + idle_ns / window;
        let limits = self.limits_of_excess(&claims);
        let own = self.has_levels.then(|| self.own_of_pools());
        let mut asked = claims.clone();
        for (at, claim) in those.iter().zip(&mut asked) {
            if self.contests[*at].always_competes() {
                claim.entitled = 0.0;
            }
        }
        let parts = grants_by_level(&asked, all, &limits, &own.unwrap_or_default());
        for ((at, claim), part) in those.iter().zip(&claims).zip(parts) {
            let lack_ns = (part - claim.entitled) * window;
            self.contests[*at].lack(&self.shares[*at], lack_ns.min(idle_ns), self.capacity_ns);
        }
    }

    /// What a partition has had of what others left in the window that ends, as what it is entitled
    /// to, and how much it could have used [cores].
    fn claim_to_excess(&self, state: &State, at: PartitionId) -> Claim {
        let (claim, contest) = (self.claim(at), &self.contests[at]);
        let window = real(self.capacity_ns);
        let weight = claim.weight.max(1.0);
        let had_ns = (weight * (claim.excess_age - contest.began_at)).max(0.0);
        let more_ns = if contest.always_competes() {
            self.beside_entitled_ns(state, at, had_ns)
        } else {
            0.0
        };
        Claim {
            wants: more_ns.max(had_ns) / window,
            entitled: had_ns / window,
            limit: f64::INFINITY,
            weight,
            group: contest.limit,
            pool: claim.pool.index(),
            soft: claim.soft_cap,
        }
    }

    /// What a partition's virtual processors with work could have used in the window that ends
    /// beside what they are entitled to, of which it had so much [ns].
    fn beside_entitled_ns(&self, state: &State, at: PartitionId, had_ns: f64) -> f64 {
        let share = &self.shares[at];
        let all_ns = u64::from(share.active_vps) * self.capacity_ns;
        let Rule::Slices(of) = &share.rule else {
            return real(all_ns.saturating_sub(share.entitled_ns));
        };
        let vps = state.vps_of[at].into_iter();
        let busy = vps.filter(|vp| state.vps[*vp].mode != Mode::Inactive);
        let (mut own_ns, mut left_ns) = (0, 0_u64);
        for index in busy.map(|vp| state.vps[vp].index) {
            own_ns += share.slice_ns(index);
            left_ns = left_ns.saturating_add(share.may_use_ns(index));
        }
        let left_ns = left_ns.min(of.limit.left_for(true, 0));
        let beside_ns = all_ns.saturating_sub(own_ns);
        real(beside_ns).min(had_ns + real(left_ns.min(beside_ns)))
    }

    /// What partitions could have had beyond their entitlement under each limit that they share, of
    /// which they had so much [cores].
    fn limits_of_excess(&self, claims: &[Claim]) -> Vec<f64> {
        let kept = |at: usize| {
            let of = self.contests.iter().filter(|of| of.limit == Some(at));
            of.map(|of| of.kept_ns).sum::<u64>()
        };
        let had = |at: usize| {
            let of = claims.iter().filter(|claim| claim.group == Some(at));
            of.map(|claim| claim.entitled).sum::<f64>()
        };
        let left = |(at, of): (usize, &PoolBudget)| match of.maximum_ns {
            Some(_) => {
                had(at)
                    + real(of.left_for(true, kept(at)).min(i64::MAX as u64))
                        / real(self.capacity_ns)
            }
            None => f64::INFINITY,
        };
        if self.masks.is_empty() {
            self.pools.iter().enumerate().map(left).collect()
        } else {
            self.groups.iter().enumerate().map(left).collect()
        }
    }

    /// What each pool was entitled to itself and its partitions left as such [cores].
    fn own_of_pools(&self) -> Vec<f64> {
        let own = |pool: &PoolBudget| {
            let as_entitled = pool.used_ns - pool.excess_ns;
            real(pool.entitled_ns.saturating_sub(as_entitled)) / real(self.capacity_ns)
        };
        self.pools.iter().map(own).collect()
    }
}
