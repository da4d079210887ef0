//! What CP's own operations cost on a chip, refreshed once a window: locks, lines of dispatch
//! vectors, searches of a switch's list.

use super::sharing::{LockKind, Near, Sharing, View, NEWEST};
use super::state::{Cp, Port};
use crate::cost::Table;
use crate::devices::Searching;
use crate::guest::zvm::ids::{LpId, SwitchId, VectorId};
use crate::guest::zvm::segment::{Owner, Segment};
use crate::ids::PartitionId;
use crate::machine::Topology;
use crate::sim::windows::Partitions;
use crate::sim::world::World;
use crate::spec::Partition;

impl World<Partitions> {
    /// Costs on the chip of a logical processor.
    pub fn near(&mut self, partition: PartitionId, chip: u16) -> Near {
        let at = partition;
        let cp = self.sys.cps[at]
            .as_deref_mut()
            .expect("a partition of z/VM");
        if let Some(near) = cp.near[usize::from(chip)] {
            return near;
        }
        let partitions = &self.spec.partitions;
        let around = self.table.surroundings(partitions, partition.into(), chip);
        let near = Near {
            sharing: Sharing {
                elsewhere: around.elsewhere,
                by: around.by,
                ns: around.cache_ns,
            },
            around,
            spin_per_ns: self.spec.machine.clock_hz * 1e-9 / cp.spec.locks.spin_cpi,
        };
        cp.near[usize::from(chip)] = Some(near);
        cp.price_switches(&self.table, chip);
        near
    }

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
            port.close_window(&table.tree, window_ns);
            let (users, transfer) = (port.users.busy_cores(), port.transfer_ns(table));
            let searching = locks.search * port.search_ns(instruction_ns);
            let held = held + searching + more_lines * transfer;
            port.lock
                .close(users, held, first_line * transfer, window_ns);
        }
        self.near.iter_mut().for_each(|near| *near = None);
    }

    /// Time of an instruction and of a line of a lock, on the average busy core [ns].
    fn mean_costs(
        &self,
        table: &mut Table,
        all: &[Partition],
        partition: PartitionId,
    ) -> (f64, f64) {
        let cores = table.spreads[partition.index()].cores().to_vec();
        let (mut busy, mut instruction, mut transfer) = (0.0, 0.0, 0.0);
        for (chip, cores) in cores.into_iter().enumerate().filter(|(_, n)| *n > 1e-6) {
            let around = table.surroundings(all, partition.into(), chip as u16);
            busy += cores;
            instruction += cores * around.instruction_ns;
            transfer += cores * around.transfer_ns();
        }
        if busy > 0.0 {
            (instruction / busy, transfer / busy)
        } else {
            (0.0, 0.0)
        }
    }

    /// What a search of each switch and its lock cost on a chip.
    fn price_switches(&mut self, table: &Table, chip: u16) {
        let element_instructions = self.spec.paths.element;
        for port in &mut self.ports {
            let sharing = port.sharing(table, chip);
            let view = &mut port.views[usize::from(chip)];
            view.sharing = sharing;
            if !port.switch.searches() {
                continue;
            }
            let pairs = sharing.by.iter().zip(sharing.ns);
            let transfer_ns = pairs.map(|(by, ns)| by * ns).sum();
            let searching = Searching {
                elements: port.switch.vnics(),
                processors: port.users.busy_cores().max(1.0),
                transfer_ns,
                outside_ns: port.outside_ns,
                element_instructions,
            };
            view.search = searching.search();
        }
    }

    /// Takes a lock of the whole system so many times.
    pub fn take(
        &mut self,
        lock: LockKind,
        times: f64,
        owner: Owner,
        near: &Near,
        into: &mut Segment,
    ) {
        let lines = self.spec.locks.lines;
        self.locks[lock as usize].take(times, lines, owner, &near.sharing, near, into);
    }

    /// Takes the lock of a switch so many times.
    pub fn take_port(
        &mut self,
        port: SwitchId,
        times: f64,
        chip: u16,
        near: &Near,
        into: &mut Segment,
    ) {
        let lines = self.spec.locks.lines;
        let port = &mut self.ports[port];
        let sharing = port.views[usize::from(chip)].sharing;
        let owner = Owner::Chargeable;
        port.lock.take(times, lines, owner, &sharing, near, into);
    }

    /// Adds what searches of a switch's list cost beside their instructions.
    pub fn search(
        &self,
        port: SwitchId,
        chip: u16,
        list_ns: f64,
        transfers: f64,
        into: &mut Segment,
    ) {
        let view = &self.ports[port].views[usize::from(chip)];
        let lines = view.sharing.by.map(|by| by * transfers);
        into.search(Owner::Chargeable, list_ns, lines);
    }

    /// An idle processor that was signalled so many times looks at all vectors in vain; the one
    /// that changed comes from elsewhere.
    pub fn look_in_vain(&self, times: f64, near: &Near, into: &mut Segment) {
        let vectors = self.vectors.count() as f64;
        into.execute(Owner::System, times * vectors * self.spec.paths.scan);
        let lines = times * near.sharing.elsewhere;
        into.fetch(
            Owner::System,
            near.sharing.by.map(|by| by * lines),
            near.sharing.ns,
        );
    }

    /// Looks at a dispatch vector: its line comes from whoever changed it since.
    pub fn look_at(
        &mut self,
        tree: &Topology,
        lp: LpId,
        vector: VectorId,
        near: &Near,
        into: &mut Segment,
    ) {
        into.execute(Owner::System, self.spec.paths.scan);
        let (changes, by) = self.vectors.changes(vector);
        let from = self.lps[by].place.chip;
        let own = &mut self.lps[lp];
        let seen = &mut own.seen[vector];
        if std::mem::replace(seen, changes) != changes && by != lp {
            let mut lines = [0.0; 3];
            lines[tree.distance(from, own.place.chip) as usize] = 1.0;
            into.fetch(Owner::System, lines, near.around.cache_ns);
        }
    }
}

impl Port {
    /// Where its lines lie as seen from a chip.
    fn sharing(&self, table: &Table, chip: u16) -> Sharing {
        let sharers = self.users.sharers(&table.machine, &table.tree, chip);
        let node = usize::from(table.tree.node_of(chip));
        let ns = table.machine.cache_to_cache_ns;
        let link = table.occupancy.node_link_stretch[node];
        Sharing {
            elsewhere: sharers.elsewhere,
            by: sharers.by,
            ns: [ns.local, ns.near, ns.far * sharers.far_factor * link],
        }
    }

    /// Mean time of a search, over the processors that use it [ns].
    fn search_ns(&self, instruction_ns: f64) -> f64 {
        let all = self.users.busy_cores();
        let of = |(cores, view): (&f64, &View)| {
            let search = &view.search;
            let lines_ns = search.list_ns + search.line_wait_ns;
            cores * (search.instructions * instruction_ns + lines_ns)
        };
        let sum: f64 = self.users.cores().iter().zip(&self.views).map(of).sum();
        if all > 0.0 {
            sum / all
        } else {
            0.0
        }
    }

    /// Mean time of one of its lines, over the processors that use it [ns].
    fn transfer_ns(&self, table: &Table) -> f64 {
        let cores = self.users.cores().iter().enumerate();
        let all = self.users.busy_cores();
        cores
            .filter(|(_, cores)| **cores > 0.0)
            .map(|(chip, cores)| cores / all * self.sharing(table, chip as u16).transfer_ns())
            .sum()
    }

    /// Notes that a logical processor sent so many frames.
    pub fn used_on(&mut self, lp: LpId, frames: u64) {
        self.by_lp[lp] += frames as f64;
    }

    fn close_window(&mut self, tree: &Topology, window_ns: f64) {
        let all: f64 = self.by_lp.iter().sum();
        let squares: f64 = self.by_lp.iter().map(|n| n * n).sum();
        if squares > 0.0 {
            let processors = all * all / squares;
            let mut cores = vec![0.0; usize::from(tree.chips())];
            for (chip, frames) in self.chips.iter().zip(&self.by_lp) {
                cores[usize::from(*chip)] += processors * frames / all;
            }
            self.users.set_cores(tree, &cores);
            self.outside_ns = self.switch.close_window(window_ns, processors);
        }
        self.by_lp.iter_mut().for_each(|n| *n *= 1.0 - NEWEST);
    }
}
