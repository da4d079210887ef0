//! Donation: idle dedicated cores go to the pool, and come back when their owner needs them.

use super::Partitions;
use crate::hypervisor::Rule;
use crate::ids::{CoreId, PartitionId, VpId};
use crate::sim::meters::Reason;
use crate::sim::window::SECOND_NS;
use crate::sim::world::World;
use crate::spec::Processors;

impl World<Partitions> {
    /// At the start, donors lend what nobody uses yet.
    pub(super) fn lend_idle_cores(&mut self) {
        for partition in self.partitions() {
            if self.sys.windows.shares[partition].donates() {
                self.own_cores(partition)
                    .for_each(|core| self.hand_on(core));
            }
        }
    }

    /// Dedicated cores of a partition.
    fn own_cores(&self, partition: PartitionId) -> impl Iterator<Item = CoreId> {
        let vps = self.at.vps_of[partition].into_iter();
        let own: Vec<CoreId> = vps.filter_map(|vp| self.sys.windows.own_core(vp)).collect();
        own.into_iter()
    }

    /// A donating partition lends idle cores while it is less busy than its threshold.
    pub(super) fn decide_donation(&mut self, partition: PartitionId) {
        let Processors::Dedicated {
            donating: true,
            donate_threshold_pct,
            cores,
        } = &self.spec_of(partition).processors
        else {
            return;
        };
        let (capacity, threshold) = (cores.len() as f64 * SECOND_NS as f64, *donate_threshold_pct);
        let all = self.meters.partitions[partition].busy_ns;
        let busy = all - std::mem::replace(&mut self.sys.donated_from[partition], all);
        let lends = 100.0 * busy as f64 / capacity < threshold;
        let Rule::Own(own) = &mut self.sys.windows.shares[partition].rule else {
            return;
        };
        if std::mem::replace(&mut own.donating, lends) != lends {
            self.own_cores(partition)
                .for_each(|core| self.relend(core, lends));
        }
    }

    /// Puts a dedicated core into the pool or takes it back.
    fn relend(&mut self, core: CoreId, lends: bool) {
        let (on, lot) = (&self.at.cores[core], &self.sys.windows.lots[core]);
        let (chip, runner) = (on.chip, on.running);
        if runner == lot.owner {
            return;
        }
        match runner {
            _ if lends => self.hand_on(core),
            None => {
                self.sys.windows.sets.take_idle(chip, core);
                self.sys.windows.lots[core].pooled = false;
            }
            Some(guest) => self.expel(guest),
        }
    }

    /// Takes a guest of a lent core off it, because its owner lends no longer.
    fn expel(&mut self, vp: VpId) {
        let core = self.preempt(vp, Reason::Reclaimed);
        self.hand_on(core);
        self.make_ready(vp);
        self.lost_core(vp);
    }
}
