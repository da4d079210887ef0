//! Rows of the table of pools.

use super::Partitions;
use crate::ids::PoolId;
use crate::sim::world::World;
use crate::spec::Policy;

impl World<Partitions> {
    /// PR/SM's own time on each shared core so far.
    fn physical_ns(&self) -> i64 {
        let hypervisor = &self.spec.machine.hypervisor;
        let own = hypervisor.prsm.physical_ns;
        let opened = self.window_end - hypervisor.window_ns;
        (self.windows.saturating_sub(1) * own + own.min(self.now - opened)) as i64
    }

    /// Core time used by the partitions of a pool; of all, if none is named [ns].
    fn busy_ns(&self, pool: Option<PoolId>) -> i64 {
        let all = self.sys.windows.shares.iter().zip(&self.meters.partitions);
        let claims = all.filter_map(|(share, meter)| Some((share.claim()?, meter)));
        claims
            .filter(|(claim, _)| pool.is_none_or(|pool| claim.pool == pool))
            .map(|(_, meter)| meter.busy_ns as i64)
            .sum()
    }

    /// What each pool's cores did so far.
    pub(super) fn read_pools(&self) -> Vec<Vec<i64>> {
        let windows = &self.sys.windows;
        let by_type = self.spec.machine.hypervisor.policy == Policy::Prsm;
        let meters = self.meters.partitions.iter();
        let donated: i64 = meters.map(|meter| meter.donated_ns as i64).sum();
        let all_cores = i64::from(windows.pool_cores(&self.at));
        let all_ns = all_cores * self.now as i64 + windows.cores_before_ns;
        let all_idle = all_ns + donated - self.busy_ns(None);
        let row = |pool: PoolId| {
            let budget = &windows.pools[pool];
            let entitled =
                budget.entitled_ns as i64 * self.windows as i64 + budget.entitled_before_ns;
            let busy = self.busy_ns(Some(pool));
            let (mut cores, mut idle, mut management) = (all_cores, all_idle, 0);
            if by_type {
                cores = i64::from(windows.cores_of_pool(&self.at, pool));
                management = cores * self.physical_ns();
                idle = cores * self.now as i64 - busy - management;
            }
            let time = self.measured_ns();
            vec![time, pool.into(), cores, busy, idle, entitled, management]
        };
        windows.pools.ids().map(row).collect()
    }
}
