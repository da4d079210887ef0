//! What a host's columns say of a partition.

use crate::hypervisor::{HostCount, HostScheduler};
use crate::sim::world::World;

impl World {
    /// Switches of its threads, what its quota or cap did, and what KVM did for it; all 0 where no
    /// host's scheduler decides.
    pub fn read_host(&self, partition: usize) -> [i64; 11] {
        let meter = &self.meters.partitions[partition];
        let host = self.host.as_ref();
        let count = host.map_or(HostCount::default(), |host| {
            host.room.counted(partition as u16, self.now)
        });
        let guest = host.is_some_and(|host| host.guests[partition].is_some());
        [
            meter.nvcsw,
            meter.nivcsw,
            count.migrations,
            if host.is_some() {
                meter.halt_poll_ns
            } else {
                0
            },
            if guest { meter.ready_ns } else { 0 },
            count.periods,
            count.throttled_periods,
            count.throttled_ns,
            meter.pause_exits,
            meter.directed_yields,
            meter.numa_bytes,
        ]
        .map(|n| n as i64)
    }
}
