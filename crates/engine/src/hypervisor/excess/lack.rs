//! What somebody lacks of its part of what was left, while cores were idle.
//!
//! Who runs in the first part of a window and no more, as a cap or a pool's maximum ends it then,
//! leaves to the others all cores of the second part. Who has fewer virtual processors than that
//! can't use them, and has waited before. Yet it is offered its part by weight of all that is not
//! needed for what active partitions are entitled to, and its slices may be extended for that
//! (lparcfg.5 of powerpc-utils). So what it lacks of its part, and cores were idle for, extends its
//! slices in later windows, like those of one that is behind others.

use crate::hypervisor::grants::{grants_by_level, Claim, Room};
use crate::hypervisor::pool::{PoolBudget, LEAST_LOAN_NS};
use crate::hypervisor::share::Rule;
use crate::hypervisor::state::{Mode, State};
use crate::hypervisor::windows::Windows;
use crate::ids::{PartitionId, PoolId};
use crate::kernel::real;

impl Windows {
    /// A window is over: what each lacks of its part, where cores were idle.
    pub(super) fn note_lack(&mut self, state: &State) {
        if self.masks.is_empty() {
            self.note_lack_in(state, None);
        } else {
            let pools = self.pools.ids();
            pools.for_each(|pool| self.note_lack_in(state, Some(pool)));
        }
        self.lent_ns = 0;
    }

    /// The same among those of a pool with cores of its own, or of all.
    fn note_lack_in(&mut self, state: &State, pool: Option<PoolId>) {
        let idle_ns = self.idle_ns(state, pool);
        let lacks = |at: PartitionId| {
            let of = &self.contests[at];
            of.lacks_ns > 0.0 || of.waited && of.always_competes() && idle_ns >= LEAST_LOAN_NS
        };
        if self.sharing(pool).any(lacks) {
            let mut room = std::mem::take(&mut self.room);
            self.compare_with_parts((state, pool), real(idle_ns), &mut room);
            self.room = room;
        }
    }

    /// Partitions that share the cores of a pool, or of all.
    fn sharing(&self, pool: Option<PoolId>) -> impl Iterator<Item = PartitionId> + '_ {
        let own = |at: PartitionId| self.shares[at].claim().map(|claim| claim.pool);
        let those = self.shares.ids().filter_map(move |at| Some((at, own(at)?)));
        let those = those.filter(move |(_, own)| pool.is_none_or(|pool| pool == *own));
        those.map(|(at, _)| at)
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
    fn compare_with_parts(
        &mut self,
        (state, pool): (&State, Option<PoolId>),
        idle_ns: f64,
        room: &mut Room,
    ) {
        let window = real(self.capacity_ns);
        let claims = self.sharing(pool);
        room.claims.clear();
        room.claims
            .extend(claims.map(|at| self.claim_to_excess(state, at)));
        room.limits.clear();
        room.limits.extend(self.limits_of_excess());
        room.own.clear();
        if self.has_levels {
            room.own.extend(self.own_of_pools());
        }
        let had: f64 = self.sharing(pool).map(|at| self.had_ns(at)).sum();
        let all = (had + idle_ns) / window;
        let parts = grants_by_level(&room.claims, all, &room.limits, &room.own);
        let mut parts = parts.into_iter();
        for at in self.shares.ids() {
            let own = self.shares[at].claim().map(|claim| claim.pool);
            if own.is_none_or(|own| pool.is_some_and(|pool| pool != own)) {
                continue;
            }
            let part_ns = parts.next().unwrap_or_default() * window;
            let lack_ns = (part_ns - self.had_ns(at)).min(idle_ns);
            self.contests[at].lack(&self.shares[at], lack_ns, self.capacity_ns);
        }
    }

    /// What a partition has had of what others left in the window that ends [ns].
    fn had_ns(&self, at: PartitionId) -> f64 {
        let (claim, contest) = (self.claim(at), &self.contests[at]);
        (claim.weight.max(1.0) * (claim.excess_age - contest.began_at)).max(0.0)
    }

    /// What a partition could have had of that: one that did not compete all the time, what it had
    /// [cores].
    fn claim_to_excess(&self, state: &State, at: PartitionId) -> Claim {
        let (claim, contest) = (self.claim(at), &self.contests[at]);
        let (window, had_ns) = (real(self.capacity_ns), self.had_ns(at));
        let (wants_ns, entitled_ns) = if contest.always_competes() {
            (self.beside_entitled_ns(state, at, had_ns), 0.0)
        } else {
            (had_ns, had_ns)
        };
        Claim {
            wants: wants_ns.max(had_ns) / window,
            entitled: entitled_ns / window,
            limit: f64::INFINITY,
            weight: claim.weight.max(1.0),
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

    /// What partitions could have had beyond their entitlement under each limit that they share
    /// [cores].
    fn limits_of_excess(&self) -> impl Iterator<Item = f64> + '_ {
        self.limits().map(|limit| {
            let under = |at: &PartitionId| self.contests[*at].limit == Some(limit);
            let members = || self.shares.ids().filter(under);
            let Some(of) = self.budget(limit).filter(|of| of.maximum_ns.is_some()) else {
                return f64::INFINITY;
            };
            let kept_ns = members().map(|at| self.contests[at].kept_ns).sum();
            let had_ns: f64 = members().map(|at| self.had_ns(at)).sum();
            (had_ns + real(of.left_for(true, kept_ns))) / real(self.capacity_ns)
        })
    }

    /// What each pool was entitled to itself and its partitions left as such [cores].
    fn own_of_pools(&self) -> impl Iterator<Item = f64> + '_ {
        let own = move |pool: &PoolBudget| {
            let as_entitled = pool.used_ns - pool.excess_ns;
            real(pool.entitled_ns.saturating_sub(as_entitled)) / real(self.capacity_ns)
        };
        self.pools.iter().map(own)
    }
}
