//! Configuration that changes while the partitions run.
//!
//! A change takes hold when a dispatch window begins, so that nobody looks for it at any event.
//! What a partition is entitled to and may use is known before that window is handed out. What goes
//! offline is cleared afterwards, as folding clears a virtual processor: it loses its software
//! threads to the others, cedes, and what it had left of the window goes to its siblings.
//!
//! Virtual processors and threads that come later have their place from the start, so that nobody's
//! number changes: with room for eight threads a core, SMT4 leaves out every second four.

use super::coming::apply;
use super::system::System;
use super::world::World;
use crate::guest::{filled, memory::place};
use crate::hypervisor::policies::entitle;
use crate::ids::PartitionId;
use crate::kernel::When;
use crate::spec::{Change, Policy};

impl<S: System> World<S> {
    /// Takes what is due before a window is handed out; which partitions it concerns.
    pub fn take_changes(&mut self) -> Vec<PartitionId> {
        let mut concerned: Vec<PartitionId> = Vec::new();
        // Whose cores change twice loses them first: the second change waits for the next window.
        let again = |change: &Change, known: &[PartitionId]| {
            change.cores.is_some() && known.contains(&change.partition.into())
        };
        while let Some(change) = self.changes.take(self.now, |next| !again(next, &concerned)) {
            let of = PartitionId::from(change.partition);
            apply(&change, &mut self.spec.partitions[of.index()]);
            if self.spec.machine.hypervisor.policy == Policy::Prsm {
                entitle(&mut self.spec);
            }
            S::reconfigure(self, of);
            if change.memory.is_some() {
                self.move_memory(of);
            }
            concerned.push(of);
            self.goes_on.extend(change.running.map(|runs| (of, runs)));
        }
        concerned
    }

    /// Its data lie where its memory is now.
    fn move_memory(&mut self, of: PartitionId) {
        for load in self.loads_of(of) {
            let alone = self.spec_of(of).with_load(self.loads[load].place);
            let reads = place(&self.spec.machine, &self.at.tree, &alone);
            self.table.spreads[load.index()].set_memory(reads);
        }
    }

    /// Has on, of these partitions, the virtual processors and threads that their configuration
    /// says. Those that go are off before others come, which may be given their cores.
    pub fn put_online(&mut self, partitions: &[PartitionId]) {
        let grows = |of: &PartitionId| {
            let had = i32::from(self.guests[*of].queues.online());
            i32::from(self.spec_of(*of).processors.count()) - had
        };
        let mut order: Vec<PartitionId> = partitions.to_vec();
        order.sort_by_key(grows);
        order.iter().for_each(|of| self.take_off(*of));
        order.iter().for_each(|of| S::online(self, *of));
        for of in order {
            for index in 0..self.guests[of].queues.unfolded() {
                self.draw_in(of, index);
            }
        }
    }

    /// Starts and stops what was asked for.
    pub fn start_and_stop(&mut self) {
        for (of, runs) in std::mem::take(&mut self.goes_on) {
            if runs == self.runs(of) {
                continue;
            }
            if runs {
                self.guests[of].runs_from = When::at(self.now);
                while self.guests[of].queues.unfold().is_some() {}
                self.start_work(of);
            } else {
                self.stop(of);
            }
        }
    }

    /// A partition ends with all that it had in hand. What sleeps is forgotten when it would wake.
    fn stop(&mut self, of: PartitionId) {
        let guest = &mut self.guests[of];
        guest.runs_from = When::NEVER;
        let (smt, cpus) = (
            guest.smt,
            self.at.vps_of[of].len() as u16 * u16::from(guest.smt),
        );
        for cpu in 0..cpus {
            while let Some(id) = self.take_at(of, cpu, 0) {
                self.jobs.remove(id);
            }
        }
        for vp in self.at.vps_of[of] {
            let jobs: Vec<_> = (0..smt)
                .filter_map(|thread| self.pull(vp, thread))
                .collect();
            jobs.into_iter().for_each(|id| self.jobs.remove(id));
            self.at.vps[vp].waits = 0;
            self.drained(vp);
        }
        for load in self.loads_of(of) {
            let mutex = self.loads[load].mutex.as_mut();
            for id in mutex.map(|mutex| mutex.forget()).into_iter().flatten() {
                self.jobs.remove(id);
            }
        }
        let meter = self.meters.integrate(of, self.now);
        (meter.runnable, meter.blocked, meter.inside) = (0, 0, 0);
        for load in self.loads_of(of) {
            self.loads[load]
                .meter
                .iter_mut()
                .for_each(|meter| meter.inside = 0);
        }
    }

    fn take_off(&mut self, of: PartitionId) {
        let (vps, smt) = (self.spec_of(of).processors.count(), self.spec_of(of).smt);
        let queues = &self.guests[of].queues;
        let (had, threads) = (queues.online(), queues.threads());
        if (had, threads) == (vps, smt) {
            return;
        }
        self.set_online(of, vps, smt);
        for index in vps..had {
            self.clear_threads(of, index, 0);
        }
        if smt < threads {
            (0..vps.min(had)).for_each(|index| self.clear_threads(of, index, smt));
        }
    }

    /// Notes how many virtual processors and threads a partition has from now on.
    pub fn set_online(&mut self, of: PartitionId, vps: u16, smt: u8) {
        if smt != self.guests[of].queues.threads() {
            let own = self.at.vps_of[of];
            own.into_iter().for_each(|vp| self.settle_vp(vp));
            self.meters.change_smt(of, self.at.vps.slice(own), smt);
        }
        let filled = filled(&self.spec_of(of).guest, smt, self.spec.machine.smt.parts);
        let (guest, now) = (&mut self.guests[of], self.now as i64);
        let online = |vps: u16, smt: u8| (i64::from(vps) * i64::from(smt), i64::from(vps));
        let was = online(guest.queues.online(), guest.queues.threads());
        let is = online(vps, smt);
        guest.before.cpus_ns += (was.0 - is.0) * now;
        guest.before.cores_ns += (was.1 - is.1) * now;
        guest.queues.set_online(vps, smt, filled);
    }
}
