//! Window boundaries: capacity is handed out anew, cost classes are refreshed, and once a second
//! guests fold.

use super::event::{Event, NEVER};
use super::meters::Reason;
use super::world::World;
use crate::hypervisor::{Capacity, CoreId, Mode, Share, VpId, NO_VP};
use crate::spec::Policy;

/// Time between two foldings and between two decisions to donate [ns].
const SECOND_NS: u64 = 1_000_000_000;

impl World {
    /// A dispatch window begins.
    pub fn open_window(&mut self) {
        let window = self.spec.machine.hypervisor.window_ns;
        self.settle_all();
        self.close_costs(window);
        self.close_cp_window(window as f64);
        self.windows += 1;
        self.window_end = self.now + window;
        self.schedule(self.window_end, Event::Window);
        if self.is_host() {
            self.host_window();
            return self.tick_second(window);
        }
        let waiting = self.hv.queues.drain();
        let exhausted = self.exhausted();
        self.manage();
        self.hand_out();
        self.hv.vps.iter_mut().for_each(|vp| vp.late = false);
        self.renew_running();
        for vp in waiting {
            self.hv.vps[vp as usize].slice_ns = self.slice_of(vp);
            self.seek_core(vp);
        }
        for vp in exhausted {
            let slice = self.slice_of(vp);
            let v = &mut self.hv.vps[vp as usize];
            let partition = usize::from(v.partition);
            self.meters.partitions[partition].exhausted_ns += self.now - v.ready_at;
            v.slice_ns = slice;
            self.make_ready(vp);
        }
        self.send_home();
        // Last, so that whoever is moved or woken runs on the new window's capacity.
        self.rouse_all();
        self.tick_second(window);
    }

    /// Once a second guests fold and donors decide.
    fn tick_second(&mut self, window: u64) {
        if self.now > 0 && self.now / SECOND_NS != (self.now - window) / SECOND_NS {
            self.every_second();
        }
    }

    /// Books the progress of every runner up to now.
    pub fn settle_all(&mut self) {
        for core in 0..self.hv.tree.active_cores {
            self.settle(core);
        }
    }

    /// Turns time spent in cost classes into books and instructions.
    pub fn settle_costs(&mut self) {
        let meters = &mut self.meters;
        self.table.settle(|partition, books, lines, instructions| {
            let meter = &mut meters.partitions[usize::from(partition)];
            meter.books.add_scaled(books, 1.0);
            meter.lines.add_scaled(lines, 1.0);
            meter.instructions += instructions;
        });
    }

    fn close_costs(&mut self, window: u64) {
        self.settle_costs();
        self.table.close_window(window as f64);
    }

    fn exhausted(&self) -> Vec<VpId> {
        (0..self.hv.vps.len() as VpId)
            .filter(|vp| self.vp(*vp).mode == Mode::Exhausted)
            .collect()
    }

    /// PR/SM's own time on the shared cores: nobody's progress until it is over.
    fn manage(&mut self) {
        let own = self.spec.machine.hypervisor.prsm.physical_ns;
        if own == 0 {
            return;
        }
        for core in 0..self.hv.tree.active_cores {
            if self.hv.cores[usize::from(core)].owner == NO_VP {
                let slot = &mut self.slots[usize::from(core)];
                slot.settled_at = self.now + own;
                if slot.spin_from != NEVER && slot.spin_from > self.now {
                    slot.spin_from += own;
                }
                slot.stall_until = slot.stall_until.max(self.now) + own;
            }
        }
    }

    /// Every partition gets its entitlement, every pool its limit.
    fn hand_out(&mut self) {
        if self.spec.machine.hypervisor.policy == Policy::Prsm {
            let (window, capacity) = (self.spec.machine.hypervisor.window_ns, self.hv.capacity_ns);
            self.hv.hand_out_by_weight(window, capacity);
        }
        let mut promised = vec![(0u64, 0u32); self.hv.pools.len()];
        for share in &mut self.hv.shares {
            share.open_window(share.active_vps);
            share.promised = share.active_vps > 0;
            if share.promised && !share.is_dedicated() {
                let pool = &mut promised[usize::from(share.pool)];
                pool.0 += share.entitled_ns;
                pool.1 += share.active_vps;
            }
        }
        for (pool, (ns, active)) in self.hv.pools.iter_mut().zip(promised) {
            pool.open_window(ns, active);
        }
        self.even_out_ages();
    }

    /// Who did not compete for excess lately starts level with the one that is furthest behind.
    /// With PR/SM that is so among those that share cores of one type, and who had to wait for
    /// a core competes.
    fn even_out_ages(&mut self) {
        if self.spec.machine.hypervisor.policy != Policy::Prsm {
            return self.level_ages(|_| true);
        }
        for pool in 0..self.hv.pools.len() {
            self.level_ages(|share| usize::from(share.pool) == pool);
        }
        for share in &mut self.hv.shares {
            share.waited = false;
        }
    }

    fn level_ages(&mut self, among: impl Fn(&Share) -> bool) {
        let shares = &self.hv.shares;
        let competing = |p: &usize| {
            let used = self.meters.partitions[*p].excess_ns > 0 && shares[*p].active_vps > 0;
            used || shares[*p].waited
        };
        let least = (0..shares.len())
            .filter(|p| among(&shares[*p]))
            .filter(competing)
            .map(|p| shares[p].excess_age)
            .fold(f64::INFINITY, f64::min);
        if least.is_finite() {
            for share in self.hv.shares.iter_mut().filter(|share| among(share)) {
                share.excess_age = share.excess_age.max(least);
            }
        }
    }

    fn slice_of(&self, vp: VpId) -> u64 {
        let v = self.vp(vp);
        self.hv.shares[usize::from(v.partition)].slice_ns(v.index)
    }

    /// Runners start the window on entitlement; those away from home go home where a core is idle.
    fn renew_running(&mut self) {
        for core in 0..self.hv.tree.active_cores {
            let vp = self.hv.cores[usize::from(core)].running;
            // One that has just moved to a higher core had its turn.
            if vp != NO_VP && (self.vp(vp).dispatched_at < self.now || self.now == 0) {
                self.renew_runner(vp, core);
            }
        }
    }

    fn renew_runner(&mut self, vp: VpId, core: CoreId) {
        let slice = self.slice_of(vp);
        let dedicated = self.hv.own_core(vp).is_some();
        let v = &mut self.hv.vps[vp as usize];
        v.grant_ns = 0;
        v.slice_ns = slice;
        if slice == 0 {
            self.end_grant(vp); // Entitled to nothing: it goes on if it may use excess.
        } else {
            v.capacity = Capacity::Entitled;
            if dedicated {
                self.grant(vp);
            } else {
                self.renew(vp, Reason::WindowEnd);
            }
        }
        if self.hv.cores[usize::from(core)].running == vp {
            self.plan(core);
        }
    }

    fn every_second(&mut self) {
        for partition in 0..self.guests.len() as u16 {
            let busy = self.busy_thread_ns(partition);
            self.fold(partition, busy, SECOND_NS as f64);
            self.decide_donation(partition);
        }
    }

    /// Thread time in which a partition's logical processors were busy [ns].
    fn busy_thread_ns(&mut self, partition: u16) -> f64 {
        let first = self.guests[usize::from(partition)].first_thread;
        let (first_vp, smt) = self.meters.layout(usize::from(partition));
        (0..u32::from(self.hv.shares[usize::from(partition)].vps))
            .flat_map(|vp| {
                self.meters.purr(
                    partition,
                    first_vp + vp,
                    first + vp as usize * usize::from(smt),
                )
            })
            .map(|purr| purr.busy_wall)
            .sum()
    }

    /// A donating partition lends idle cores while it is less busy than its threshold.
    fn decide_donation(&mut self, partition: u16) {
        let at = usize::from(partition);
        let crate::spec::Processors::Dedicated {
            donating: true,
            donate_threshold_pct,
            cores,
        } = &self.spec.partitions[at].processors
        else {
            return;
        };
        let capacity = cores.len() as f64 * SECOND_NS as f64;
        let cores = cores.clone();
        let busy = self.meters.partitions[at].busy_ns - self.donated_from[at];
        self.donated_from[at] = self.meters.partitions[at].busy_ns;
        let lends = 100.0 * busy as f64 / capacity < *donate_threshold_pct;
        if std::mem::replace(&mut self.hv.shares[at].donating, lends) != lends {
            cores.into_iter().for_each(|core| self.relend(core, lends));
        }
    }

    /// Puts a dedicated core into the pool or takes it back.
    pub fn relend(&mut self, core: CoreId, lends: bool) {
        let c = &self.hv.cores[usize::from(core)];
        let (chip, runner, owner) = (c.chip, c.running, c.owner);
        if runner == owner {
            return;
        }
        if lends {
            self.hand_on(core);
        } else if runner == NO_VP {
            self.hv.sets.take_idle(chip, core);
            self.hv.cores[usize::from(core)].pooled = false;
        } else {
            self.expel(runner);
        }
    }
}
