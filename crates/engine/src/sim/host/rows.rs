//! What a host's columns say of a partition.

use super::state::Host;
use crate::ids::PartitionId;
use crate::sim::system::HOST_COLUMNS;
use crate::sim::world::World;
use crate::spec::Processors;

impl World<Host> {
    /// Switches of its threads, what its quota or cap did, and what KVM did for it.
    pub(super) fn read_host(&self, partition: PartitionId) -> [i64; HOST_COLUMNS] {
        let meter = &self.meters.partitions[partition];
        let count = self.sys.room.counted(partition, self.now);
        let guest = self.sys.guests[partition].is_some();
        [
            meter.nvcsw,
            meter.nivcsw,
            count.migrations,
            meter.halt_poll_ns,
            if guest { meter.ready_ns } else { 0 },
            count.periods,
            count.throttled_periods,
            count.throttled_ns,
            count.costop_ns,
            count.charged_ns,
            meter.pause_exits,
            meter.directed_yields,
            meter.numa_bytes,
        ]
        .map(|n| n as i64)
    }

    /// What each pool's processors did so far.
    pub(super) fn read_pools(&self) -> Vec<Vec<i64>> {
        let cores = self.at.active().len() as i64;
        let all = self.spec.partitions.iter().zip(&self.meters.partitions);
        let shares = all.filter_map(|(partition, meter)| match &partition.processors {
            Processors::Shared {
                pool, entitlement, ..
            } => Some((usize::from(*pool), *entitlement, meter.busy_ns as i64)),
            Processors::Dedicated { .. } => None,
        });
        let shares: Vec<_> = shares.collect();
        let used = shares.iter().map(|(_, _, busy)| busy).sum::<i64>();
        let idle = cores * self.now as i64 - used - self.interrupted_ns();
        let window = self.spec.machine.hypervisor.window_ns as f64;
        let row = |(at, pool): (usize, &crate::spec::Pool)| {
            let of = || shares.iter().filter(|(of, ..)| *of == at);
            let in_window = |cores: f64| (cores * window).round() as i64;
            let entitled: i64 = of().map(|(_, cores, _)| in_window(*cores)).sum();
            let entitled = (in_window(pool.reserved) + entitled) * self.windows as i64;
            let busy = of().map(|(_, _, busy)| busy).sum();
            vec![
                self.measured_ns(),
                at as i64,
                cores,
                busy,
                idle,
                entitled,
                0,
            ]
        };
        self.spec.pools.iter().enumerate().map(row).collect()
    }
}
