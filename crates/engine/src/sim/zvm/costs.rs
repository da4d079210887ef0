//! What CP's own operations cost on a chip, refreshed once a window: locks, lines of dispatch
//! vectors, searches of a switch's list.

use super::sharing::{LockKind, Near, Sharing};
use super::state::Cp;
use crate::cost::Table;
use crate::guest::zvm::ids::LpId;
use crate::guest::zvm::segment::{Owner, Segment};
use crate::ids::{ChipId, PartitionId};
use crate::sim::windows::Partitions;
use crate::sim::world::World;
use crate::spec::{Partition, Spec};

impl World<Partitions> {
    /// A window ends: what was counted in it becomes what operations cost in the next.
    pub fn close_cp_window(&mut self, window_ns: f64) {
        for partition in self.partitions() {
            let Some(cp) = self.sys.cps[partition].as_deref_mut() else {
                continue;
            };
            cp.close_window(&mut self.table, &self.spec.partitions, partition, window_ns);
        }
    }
}

impl Cp {
    /// Costs on the chip of a logical processor.
    #[inline]
    pub fn near(&self, lp: LpId) -> &Near {
        &self.near[self.lps[lp].place.chip]
    }

    /// Sees to it that the costs on the chip of a logical processor are those of this window.
    #[inline]
    pub fn price(&mut self, lp: LpId, partition: PartitionId, table: &mut Table, spec: &Spec) {
        if !self.near(lp).known {
            self.work_out(self.lps[lp].place.chip, partition, table, spec);
        }
    }

    #[inline(never)]
    fn work_out(&mut self, chip: ChipId, partition: PartitionId, table: &mut Table, spec: &Spec) {
        let around = table.surroundings(&spec.partitions, partition.into(), chip);
        let profile = &spec.partitions[partition.index()].profile;
        let own = profile.footprint_bytes as f64 * (1.0 - profile.footprint_common);
        let line_bytes = f64::from(spec.machine.line_bytes);
        self.near[chip] = Near {
            known: true,
            sharing: Sharing {
                elsewhere: around.elsewhere,
                by: around.by,
                ns: around.cache_ns,
            },
            spin_per_ns: spec.machine.clock_hz * 1e-9 / self.spec.locks.spin_cpi,
            own_lines: (own / line_bytes).min(around.private_lines),
            around,
        };
        for port in &mut self.ports {
            port.price(table, chip, self.spec.paths.element);
        }
    }

    fn close_window(
        &mut self,
        table: &mut Table,
        partitions: &[Partition],
        partition: PartitionId,
        window_ns: f64,
    ) {
        let engaged = table.spreads[partition.index()].busy_cores();
        let (instruction_ns, transfer_ns) = self.mean_costs(table, partitions, partition);
        let locks = self.spec.locks;
        let more_lines = (locks.lines - 1.0).max(0.0);
        let first_line = locks.lines.min(1.0);
        let held = locks.hold * instruction_ns;
        for lock in &mut self.locks {
            let held = held + more_lines * transfer_ns;
            lock.close(engaged, held, first_line * transfer_ns, window_ns);
        }
        for port in &mut self.ports {
            port.close_window(table, &locks, instruction_ns, window_ns);
        }
        self.near.iter_mut().for_each(|near| near.known = false);
    }

    /// Time of an instruction and of a line of a lock, on the average busy core [ns].
    fn mean_costs(
        &self,
        table: &mut Table,
        all: &[Partition],
        partition: PartitionId,
    ) -> (f64, f64) {
        let (mut busy, mut instruction, mut transfer) = (0.0, 0.0, 0.0);
        for chip in table.tree.chips() {
            let cores = table.spreads[partition.index()].cores()[chip];
            if cores > 1e-6 {
                let around = table.surroundings(all, partition.into(), chip);
                busy += cores;
                instruction += cores * around.instruction_ns;
                transfer += cores * around.transfer_ns();
            }
        }
        if busy > 0.0 {
            (instruction / busy, transfer / busy)
        } else {
            (0.0, 0.0)
        }
    }

    /// Takes the dispatcher's lock for a dispatch on a logical processor.
    #[inline]
    pub fn take_dispatch(&mut self, lp: LpId, into: &mut Segment) {
        let locks = &self.spec.locks;
        let takes = (locks.dispatch, locks.lines);
        let near = &self.near[self.lps[lp].place.chip];
        let lock = &mut self.locks[LockKind::Dispatch as usize];
        lock.take(takes, Owner::System, &near.sharing, near, into);
    }

    /// An idle processor that was signalled so many times looks at all vectors in vain; the one
    /// that changed comes from elsewhere.
    pub fn look_in_vain(&self, times: f64, lp: LpId) -> Segment {
        let near = self.near(lp);
        let mut looks = Segment::default();
        let vectors = self.vectors.count() as f64;
        looks.execute(Owner::System, times * vectors * self.spec.paths.scan);
        let lines = times * near.sharing.elsewhere;
        let lines = near.sharing.by.map(|by| by * lines);
        looks.fetch(Owner::System, lines, near.sharing.ns);
        looks
    }
}
