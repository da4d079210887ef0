//! What a host's columns say of a partition.

use super::state::Host;
use crate::hypervisor::HomeCount;
use crate::ids::{ById, MemoryId, PartitionId};
use crate::sim::rows::Rows;
use crate::sim::system::HOST_COLUMNS;
use crate::sim::world::World;
use crate::spec::Processors;

impl World<Host> {
    /// Switches of its threads, what its quota or cap did, and what KVM did for it.
    pub(super) fn read_host(&self, partition: PartitionId) -> [i64; HOST_COLUMNS] {
        let meter = &self.meters.partitions[partition];
        let count = self.sys.room.counted(partition, self.now);
        let guest = self.sys.guests[partition].as_ref();
        let host_polls = guest.is_some_and(|guest| !guest.kvm.polls_in_guest);
        [
            meter.nvcsw,
            meter.nivcsw,
            count.migrations,
            if host_polls { meter.halt_poll_ns } else { 0 },
            if guest.is_some() { meter.ready_ns } else { 0 },
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

    /// Where each virtual machine is at home and its memory lies, where machines have homes and
    /// there are several nodes.
    pub(super) fn read_homes(&self, into: &mut Rows) {
        if !self.sys.has_several_nodes {
            return;
        }
        for partition in self.partitions() {
            let homes = self.sys.room.homes(partition);
            if !homes.is_empty() {
                into.extend(self.homes_of(partition, &homes));
            }
        }
    }

    /// A partition's rows, one a memory domain.
    fn homes_of(&self, partition: PartitionId, homes: &[HomeCount]) -> Vec<[i64; 6]> {
        let tree = &self.at.tree;
        let mut at_home: ById<MemoryId, [u64; 2]> = ById::of([0; 2], tree.domains().len());
        for home in homes {
            let domain = tree.domain_of(tree.chip_of(home.cores.at(0)));
            at_home[domain] = [home.vps, home.arrivals];
        }
        let vps = at_home.iter().map(|[vps, _]| *vps).sum::<u64>() as f64;
        let weight = at_home.iter().map(|[there, _]| *there as f64 / vps);
        let bytes = self.memory_of(partition, &weight.collect());
        let row = |(domain, [vps, arrivals]): (MemoryId, &[u64; 2])| {
            let held = bytes[domain].round() as i64;
            let (of, at) = (partition.into(), i64::from(u16::from(domain)));
            let counted = [*vps, *arrivals].map(|n| n as i64);
            [self.measured_ns(), of, at, counted[0], counted[1], held]
        };
        at_home.entries().map(row).collect()
    }

    /// Memory of a partition on each domain [bytes], given the share of its threads beside each.
    /// What nobody touches lies as what is touched.
    fn memory_of(
        &self,
        partition: PartitionId,
        weight: &ById<MemoryId, f64>,
    ) -> ById<MemoryId, f64> {
        let parts = &self.spec_of(partition).memory;
        if let Some(memory) = &self.sys.memories[partition] {
            let all: f64 = parts.iter().map(|part| part.bytes as f64).sum();
            let shares = memory.placed.shares(weight);
            return shares.iter().map(|share| share * all).collect();
        }
        let mut held = ById::of(0.0, weight.len());
        for part in parts {
            for domain in &part.domains {
                held[MemoryId::from(*domain)] += part.bytes as f64 / part.domains.len() as f64;
            }
        }
        held
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
