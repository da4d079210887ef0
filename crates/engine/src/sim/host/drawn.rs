//! NUMA balancing, the threads' side: each goes to where its memory is.
//!
//! A partition's threads prefer the domain that holds most of what they share; where they are more
//! than its processors, they are dealt out by what each domain holds. A thread tries to get there
//! when it touches a page that a scan has made to fault, if its last attempt is a while ago
//! (`task_numa_fault`, `numa_migrate_preferred`):
//!
//! ```text
//! scan       marks part of the memory
//! runs       finds a page of its own that is marked, the first time that it runs since the scan,
//!            and others as long as lines from memory have not been of all of them
//! is away    tries to go home, at once or when a sixteenth of the time between two scans is over
//! ```
//! So one that hardly ever runs tries when it does, and one that always runs a few times after each
//! scan. That each finds a page of its own is assumed: of a stack, or what its processor keeps.

use super::state::{Drawn, Host, Marked};
use super::Alarm;
use crate::cost::Source;
use crate::hypervisor::Mode;
use crate::ids::{CoreId, MemoryId, PartitionId, Span, VpId};
use crate::sim::world::World;
use crate::spec::{Policy, Processors};

/// Attempts in the time between two scans, and the longest time between them [ns].
const RETRIES: u64 = 16;
const LONGEST_RETRY: u64 = 1_000_000_000;

impl World<Host> {
    /// Each of a partition's threads prefers the processors beside most of its memory from now on,
    /// and those that run go there.
    pub(super) fn draw_threads(&mut self, partition: PartitionId) {
        if self.spec.machine.hypervisor.policy != Policy::Linux {
            return;
        }
        for (vp, domain) in self.preferred(partition) {
            let cores = self.cores_beside(domain);
            self.sys.room.prefer(vp, cores);
            let retry_at = self.sys.drawn[vp].map_or(0, |before| before.retry_at);
            self.sys.drawn[vp] = Some(Drawn {
                cores,
                retry_at,
                has_run: false,
            });
            if self.vp(vp).mode == Mode::Running {
                self.faults(vp);
                self.serve();
            }
        }
    }

    /// A thread runs: if it meets a page that was made to fault, and has not tried for a while, it
    /// goes to its memory as far as it can. Whoever calls serves the processors afterwards.
    pub(super) fn faults(&mut self, vp: VpId) {
        let Some(drawn) = &mut self.sys.drawn[vp] else {
            return;
        };
        let v = &self.at.vps[vp];
        if v.mask == 0 {
            return; // It polls, and touches nothing.
        }
        let has_run = std::mem::replace(&mut drawn.has_run, true);
        let is_home = v.core.is_some_and(|core| drawn.cores.contains(core));
        let (partition, mut retry_at) = (v.partition, drawn.retry_at);
        if is_home || (has_run && !self.has_marks(partition)) {
            return;
        }
        if retry_at <= self.now {
            retry_at = self.now + self.retry_ns(partition);
            if let Some(drawn) = &mut self.sys.drawn[vp] {
                drawn.retry_at = retry_at;
            }
            self.sys.room.draw_home(vp, self.now);
        }
        self.retries(partition, retry_at);
    }

    /// Sees to it that runners try again.
    fn retries(&mut self, partition: PartitionId, at: u64) {
        let memory = self.sys.memories[partition].as_mut();
        let memory = memory.expect("memory that is balanced");
        if !std::mem::replace(&mut memory.retries, true) {
            self.ask_at(at, Alarm::Retry(partition));
        }
    }

    /// Runners that are still away from their memory try again.
    pub(super) fn try_again_home(&mut self, partition: PartitionId) {
        if let Some(memory) = &mut self.sys.memories[partition] {
            memory.retries = false;
        }
        for vp in self.at.vps_of[partition] {
            if self.vp(vp).mode == Mode::Running {
                self.faults(vp);
                self.serve();
            }
        }
    }

    /// Time after which a thread tries again (`numa_migrate_preferred`) [ns].
    fn retry_ns(&self, partition: PartitionId) -> u64 {
        let memory = self.sys.memories[partition].as_ref();
        memory.map_or(LONGEST_RETRY, |memory| {
            (memory.period_ns / RETRIES).min(LONGEST_RETRY)
        })
    }

    /// So many bytes of a partition's memory have been made to fault.
    pub(super) fn mark_pages(&mut self, partition: PartitionId, bytes: f64) {
        let left = self.marks(partition);
        let lines = self.lines_from_memory(partition);
        let all = self.pages(partition);
        let one = self.spec_of(partition);
        let new = bytes / one.data_bytes.max(1) as f64 * all;
        let memory = self.sys.memories[partition].as_mut();
        let memory = memory.expect("memory that is balanced");
        memory.marked = Marked {
            pages: (left + new).min(all),
            lines,
        };
    }

    /// Whether any of the pages that were made to fault has not been touched since.
    fn has_marks(&self, partition: PartitionId) -> bool {
        self.marks(partition) >= 1.0
    }

    /// How many of the pages that were made to fault have not been touched since: each line from
    /// memory is of any page. What the caches hold is of pages that were touched at once.
    fn marks(&self, partition: PartitionId) -> f64 {
        let Some(memory) = &self.sys.memories[partition] else {
            return 0.0;
        };
        let lines = self.lines_from_memory(partition) - memory.marked.lines;
        memory.marked.pages * (-lines / self.pages(partition)).exp()
    }

    fn lines_from_memory(&self, partition: PartitionId) -> f64 {
        let lines = &self.meters.partitions[partition].lines;
        let from = [Source::MemoryLocal, Source::MemoryNear, Source::MemoryFar];
        from.iter().map(|source| lines.of(*source)).sum()
    }

    /// Pages of a partition's data, as the host's tables have them.
    fn pages(&self, partition: PartitionId) -> f64 {
        let one = self.spec_of(partition);
        let page = match &one.processors {
            Processors::Shared { host, .. } => host.virtualized.as_ref().map(|by| by.page_bytes),
            Processors::Dedicated { .. } => None,
        };
        let page = page.unwrap_or(one.page_bytes).max(1);
        (one.data_bytes as f64 / page as f64).max(1.0)
    }

    /// Domain that each of a partition's threads prefers.
    fn preferred(&self, partition: PartitionId) -> Vec<(VpId, MemoryId)> {
        let Some(memory) = &self.sys.memories[partition] else {
            return Vec::new();
        };
        let common = &memory.placed.common;
        let threads: Vec<VpId> = self.at.vps_of[partition].into_iter().collect();
        let most = common
            .ids()
            .reduce(|a, b| if common[b] > common[a] { b } else { a })
            .unwrap_or(MemoryId::new(0));
        if threads.len() <= self.cores_beside(most).len() {
            return threads.into_iter().map(|vp| (vp, most)).collect();
        }
        let count = threads.len() as f64;
        let domain_at = |index: usize| {
            let place = (index as f64 + 0.5) / count;
            let mut sum = 0.0;
            let mut domains = common.entries();
            let found = domains.find(|(_, share)| {
                sum += **share;
                sum >= place
            });
            found.map_or(most, |(domain, _)| domain)
        };
        let dealt = threads.into_iter().enumerate();
        dealt.map(|(index, vp)| (vp, domain_at(index))).collect()
    }

    /// Processors beside a memory domain.
    fn cores_beside(&self, domain: MemoryId) -> Span<CoreId> {
        let tree = &self.at.tree;
        let chips = tree.chips_beside(domain).numbers();
        let each = usize::from(tree.cores_per_chip);
        let (first, count) = (chips.start * each, chips.len() * each);
        let there = usize::from(tree.active_cores).saturating_sub(first);
        Span::new(first, count.min(there))
    }
}
