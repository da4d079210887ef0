//! What CP's own operations cost on a chip, refreshed once a window: locks, lines of dispatch
//! vectors, searches of a switch's list.

use super::seek::Looked;
use super::state::Cp;
use crate::cost::{Source, Table};
use crate::guest::zvm::ids::LpId;
use crate::guest::zvm::segment::EXTRA_BOOKS;
use crate::guest::zvm::sharing::Near;
use crate::ids::{ChipId, PartitionId};
use crate::kernel::Time;
use crate::sim::windows::Partitions;
use crate::sim::world::World;
use crate::spec::{Partition, Spec};

/// Sources of a segment's lines, by distance.
const CACHES: [Source; 3] = [Source::CacheChip, Source::CacheNear, Source::CacheFar];

impl World<Partitions> {
    /// A window ends: what was counted in it becomes what operations cost in the next.
    pub fn close_cp_window(&mut self, window_ns: f64) {
        for partition in self.partitions() {
            let Some(cp) = self.sys.cps[partition].as_deref_mut() else {
                continue;
            };
            let times = (Time::from_ns(self.now), window_ns);
            cp.close_window(&mut self.table, &self.spec, partition, times);
        }
    }

    /// Books the time that was not spent on instructions.
    pub fn book_beside(&mut self) {
        for partition in self.partitions() {
            let Some(cp) = self.sys.cps[partition].as_deref_mut() else {
                continue;
            };
            let meter = &mut self.meters.partitions[partition];
            let all = cp.beside.ids().zip(&mut cp.beside);
            for (chip, of) in all.filter(|(_, of)| of.ns > 0.0) {
                let of = std::mem::take(of);
                for (book, ns) in EXTRA_BOOKS.iter().zip(of.books) {
                    meter.books.add(*book, ns);
                }
                for (source, lines) in CACHES.iter().zip(of.lines) {
                    meter.lines.add(*source, lines);
                }
                cp.meter.spin_instructions += of.spin_instructions;
                meter.instructions += of.spin_instructions;
                let far = of.lines[2];
                self.table.linger(partition.into(), chip, of.ns, far);
            }
        }
    }
}

impl Cp {
    /// Costs on the chip of a logical processor.
    #[inline]
    pub fn near(&self, lp: LpId) -> &Near {
        &self.near[self.lps[lp].place.chip]
    }

    fn close_window(
        &mut self,
        table: &mut Table,
        spec: &Spec,
        partition: PartitionId,
        (now, window_ns): (Time, f64),
    ) {
        for chip in table.tree.chips() {
            if self.near[chip].kept {
                self.work_out(chip, partition, table, spec);
            }
        }
        let costs = self.mean_costs(table, &spec.partitions, partition);
        self.close_locks(costs, window_ns);
        self.price_frames(now, costs.0);
        for port in &mut self.ports {
            port.close_window(table, &self.near, costs.0, window_ns);
        }
        self.price_dispatches();
    }

    /// Works out what surrounds a chip in the window that begins.
    fn work_out(&mut self, chip: ChipId, partition: PartitionId, table: &mut Table, spec: &Spec) {
        let around = table.surroundings(&spec.partitions, partition.into(), chip);
        let profile = &spec.partitions[partition.index()].profile;
        let class = table.id(partition.into(), chip, 1);
        self.near[chip] = Near {
            others: self.others_from(chip),
            beyond: table.beyond(&spec.partitions, class),
            ..Near::of(around, profile, &spec.machine, &self.spec.locks)
        };
    }

    /// Unparked processors beside one of a chip, by distance; as many where that one is parked.
    fn others_from(&self, chip: ChipId) -> [f64; 3] {
        let mut others = [0.0; 3];
        let Some(of) = self.lps.iter().find(|lp| lp.place.chip == chip) else {
            return others;
        };
        let unparked = self.lps.ids().filter(|lp| self.vectors.is_unparked(*lp));
        for lp in unparked {
            others[of.place.distance(&self.lps[lp].place) as usize] += 1.0;
        }
        others[0] = (others[0] - 1.0_f64).max(0.0);
        others
    }

    /// Works out in what time the demand scan frees a frame: its path, on one processor. Not
    /// modelled: that it waits for a processor where none is idle.
    fn price_frames(&mut self, now: Time, instruction_ns: f64) {
        if let Some(pager) = &mut self.pager {
            pager.scans_in(now, self.spec.paths.page * instruction_ns);
        }
    }

    /// Works out what a dispatch costs on each chip: its path, and the scheduler's lock.
    fn price_dispatches(&mut self) {
        for near in self.near.iter_mut().filter(|near| near.kept) {
            let path = near.dispatching(&self.spec, &self.locks.scheduler);
            near.dispatch = (path, near.time_of(&path));
        }
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
                let near = &self.near[chip];
                let around = if near.kept {
                    near.around
                } else {
                    table.surroundings(all, partition.into(), chip)
                };
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

    /// Begins the segment of a logical processor with a dispatch, after what it has looked at;
    /// the time of both [ns].
    #[inline]
    pub fn dispatch_on(&mut self, lp: LpId, looked: &Looked) -> f64 {
        let of = &mut self.lps[lp];
        let near = &self.near[of.place.chip];
        let mut ns;
        (of.segment, ns) = near.dispatch;
        if self.spec.locks.dispatch > 0.0 {
            let vector = self.vectors.of(lp);
            let before = of.segment.extra.ns;
            self.locks
                .dispatch(vector, &self.spec.locks, near, &mut of.segment);
            ns += of.segment.extra.ns - before;
        }
        if looked.vectors == 0.0 {
            return ns;
        }
        let look = near.looking(&self.spec, looked.vectors, looked.lines);
        of.segment.follow(&look);
        ns + near.time_of(&look)
    }
}
