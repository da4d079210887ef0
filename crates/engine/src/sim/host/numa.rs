//! NUMA balancing: memory moves to the threads, threads move to the memory.
//!
//! A guest's memory is one address space of which `scan_bytes` are made to fault a scan; of plain
//! processes each has its own. Nodes are memory domains. What the threads do when they fault is in
//! [`drawn`](super::drawn). An address space is scanned when its threads have run for as long as
//! the time between two scans (`task_tick_numa`), though no sooner than that by the clock
//! (`numa_next_scan`):
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
/// Looks at whether a thread has run for long enough in the time between two scans: the kernel
/// looks at each tick.
const LOOKS: u64 = 16;

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

    /// A partition's memory is scanned, and what the faults say is done.
    pub fn scan_memory(&mut self, partition: PartitionId) {
        let Some(numa) = self.spec.machine.hypervisor.linux.numa_balancing else {
            return;
        };
        let used = self.domain_use(partition);
        let next_ns = match self.scans_due(partition, &numa) {
            Ok(scans) if used.iter().sum::<f64>() > 0.0 => {
                let bytes = scans * numa.scan_bytes as f64;
                let period_ns = self.balance_memory(partition, &used, (bytes, &numa));
                self.mark_pages(partition, bytes);
                self.draw_threads(partition);
                period_ns
            }
            Ok(_) => numa.scan_period_min_ns,
            Err(wait_ns) => wait_ns,
        };
        self.ask_at(self.now + next_ns, Alarm::Numa(partition));
    }

    /// How many of a partition's address spaces its threads have run long enough to have scanned
    /// since they last were, but for a tick; else after what time to look again [ns].
    fn scans_due(&mut self, partition: PartitionId, numa: &NumaBalancing) -> Result<f64, u64> {
        for vp in self.at.vps_of[partition] {
            self.settle_vp(vp);
        }
        let hypervisor = &self.spec.machine.hypervisor;
        let (now, tick_ns) = (self.now, hypervisor.linux.tick_ns);
        let by_clock = hypervisor.policy != Policy::Linux;
        let busy_ns = self.meters.partitions[partition].busy_ns;
        let memory = self.sys.memories[partition].as_mut();
        let memory = memory.expect("memory that is balanced");
        let ran_ns = busy_ns - memory.ran_ns;
        let is_first = memory.scanned_at == 0;
        let due_ns = if is_first {
            numa.scan_delay_ns
        } else {
            memory.period_ns
        };
        let needs_ns = if by_clock || is_first {
            (RUNS_AT_ALL * (now - memory.scanned_at) as f64) as u64 + 1
        } else {
            due_ns.saturating_sub(tick_ns)
        };
        if ran_ns >= needs_ns {
            (memory.ran_ns, memory.scanned_at) = (busy_ns, now);
            let spaces = f64::from(memory.spaces);
            let asked = ran_ns as f64 / due_ns.max(1) as f64;
            return Ok(if by_clock {
                spaces
            } else {
                asked.clamp(1.0, spaces)
            });
        }
        let pace = ran_ns as f64 / (now - memory.scanned_at).max(1) as f64;
        let about = ((needs_ns - ran_ns) as f64 / pace.max(1e-9)) as u64;
        Err(about.clamp(due_ns / LOOKS, due_ns).max(1))
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
