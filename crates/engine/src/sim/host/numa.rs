//! NUMA balancing: memory moves to the threads, threads move to the memory.
//!
//! A guest's memory is one address space of which `scan_bytes` are made to fault a scan; of plain
//! processes each has its own. Nodes are memory domains. What the threads do when they fault is in
//! [`drawn`](super::drawn).
//!
//! A thread asks for a scan whenever it has run for the time between two, and an address space is
//! scanned once in that time at most (`task_tick_numa`, `numa_next_scan`):
//!
//! ```text
//! scans in that time = min(address spaces, processors used meanwhile)
//! ```
//! So those that do nothing are never scanned, and one that works for a hundredth of its time is
//! after a hundred of them. Whoever runs has its first scan by the clock: a run begins as on a host
//! that has been up for long. ESXi looks by the clock.

use super::state::Host;
use super::Alarm;
use crate::hypervisor::numa::{move_common, move_own, next_period_ns};
use crate::ids::{ById, CoreId, MemoryId, PartitionId};
use crate::kernel::When;
use crate::sim::world::World;
use crate::spec::{NumaBalancing, Policy};

/// Mean number of busy cores from which on a partition is taken to run at all: below it nothing
/// touches its memory. Assumed, 0.001 to 0.05.
const RUNS_AT_ALL: f64 = 0.01;

impl World<Host> {
    /// Sets the first scans.
    pub fn start_numa(&mut self) {
        let Some(numa) = self.spec.machine.hypervisor.linux.numa_balancing else {
            return;
        };
        for partition in self.partitions() {
            if self.sys.memories[partition].is_some() {
                self.ask_at(self.now + numa.scan_delay_ns, Alarm::Numa(partition));
            }
        }
    }

    /// A partition's memory is scanned if that is due, and what the faults say is done.
    pub fn scan_memory(&mut self, partition: PartitionId) {
        let Some(numa) = self.spec.machine.hypervisor.linux.numa_balancing else {
            return;
        };
        let used = self.domain_use(partition);
        let (scans, mut period_ns) = self.scans_due(partition, used.iter().sum());
        if scans > 0.0 {
            let bytes = scans * numa.scan_bytes as f64;
            period_ns = self.balance_memory(partition, &used, (bytes, &numa));
            self.mark_pages(partition, bytes);
            self.draw_threads(partition);
        }
        self.ask_at(self.now + period_ns, Alarm::Numa(partition));
    }

    /// How many of a partition's address spaces its threads have run long enough to have scanned,
    /// since they last asked: none, or one and more; and the time between two scans [ns].
    fn scans_due(&mut self, partition: PartitionId, used: f64) -> (f64, u64) {
        for vp in self.at.vps_of[partition] {
            if let Some(core) = self.vp(vp).core {
                self.settle(core);
            }
        }
        let busy_ns = self.meters.partitions[partition].busy_ns;
        let by_clock = self.spec.machine.hypervisor.policy == Policy::Esxi;
        let memory = self.sys.memories[partition].as_mut();
        let memory = memory.expect("memory that is balanced");
        let ran = busy_ns.saturating_sub(memory.asked_at_ns.unwrap_or(0)) as f64;
        let asked = match ran / memory.period_ns as f64 {
            _ if by_clock => f64::INFINITY,
            asked if memory.asked_at_ns.is_none() => asked.max(1.0),
            asked => asked,
        };
        if asked < 1.0 || used <= RUNS_AT_ALL {
            return (0.0, memory.period_ns);
        }
        memory.asked_at_ns = Some(busy_ns);
        (asked.min(f64::from(memory.spaces)), memory.period_ns)
    }

    /// Cores that a partition keeps busy beside each memory domain.
    fn domain_use(&self, partition: PartitionId) -> ById<MemoryId, f64> {
        let tree = &self.at.tree;
        let mut used = ById::of(0.0, tree.domains().len());
        for load in self.loads_of(partition) {
            let cores = self.table.spreads[load.index()].cores();
            for (chip, cores) in cores.entries() {
                used[tree.domain_of(chip)] += cores;
            }
        }
        used
    }

    /// Moves pages and charges the faults of so many bytes that are scanned; the time to the next
    /// scan [ns].
    fn balance_memory(
        &mut self,
        partition: PartitionId,
        used: &ById<MemoryId, f64>,
        (bytes, numa): (f64, &NumaBalancing),
    ) -> u64 {
        let part = self.spec_of(partition);
        let (data, page) = (part.data_bytes as f64, part.page_bytes.max(1) as f64);
        let private = part.profile.private_data;
        let memory = self.sys.memories[partition].as_mut();
        let memory = memory.expect("memory that is balanced");
        let scanned = (bytes / data).min(1.0);
        let all: f64 = used.iter().sum();
        let shares: ById<MemoryId, f64> = used.iter().map(|cores| cores / all).collect();
        let pairs = shares.iter().zip(&memory.placed.common);
        let local: f64 = pairs.map(|(share, there)| share * there).sum();
        let mut moved = (1.0 - private) * move_common(&mut memory.placed.common, &shares, scanned);
        for (domain, share) in shares.entries().filter(|(_, share)| **share > 0.0) {
            let own = memory.placed.own_on(domain);
            moved += private * share * move_own(own, domain, scanned);
        }
        memory.period_ns = next_period_ns(numa, memory.period_ns, local, private);
        let period_ns = memory.period_ns;
        if moved > 0.0 {
            let reads = memory.placed.reads(&self.at.tree);
            for load in self.loads_of(partition) {
                self.table.spreads[load.index()].set_memory(reads.clone());
            }
            self.meters.partitions[partition].numa_bytes += (moved * data).round() as u64;
        }
        let faults = scanned * data / page * numa.fault_ns as f64;
        let moves = moved * data / page * numa.move_ns as f64;
        self.delay_runners(partition, (faults + moves).min(period_ns as f64));
        period_ns
    }

    /// Kernel time that a partition's runners share.
    fn delay_runners(&mut self, partition: PartitionId, ns: f64) {
        let siblings = self.at.vps_of[partition].into_iter();
        let runners: Vec<CoreId> = siblings.filter_map(|vp| self.vp(vp).core).collect();
        let each = (ns / runners.len().max(1) as f64) as u64;
        for core in runners {
            self.settle(core);
            let on = &mut self.at.cores[core];
            if !on.stall_until.is_set() {
                continue; // It spins on a lock meanwhile.
            }
            on.stall_until = on.stall_until.max(When::at(self.now)) + each;
            on.spin_from = on.stall_until;
            self.plan(core);
        }
    }
}
