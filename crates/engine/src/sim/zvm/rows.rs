//! Readings of what only z/VM counts.

use super::port::Port;
use super::state::{Cp, Vm};
use crate::devices::{Pager, VolumeCounters};
use crate::guest::zvm::ids::LpId;
use crate::ids::PartitionId;
use crate::sim::meters::Purr;
use crate::sim::rows::{whole, Reading};
use crate::sim::system::GUEST_COLUMNS;
use crate::sim::windows::Partitions;
use crate::sim::world::World;
use crate::spec::Accounting;

impl World<Partitions> {
    /// What only z/VM counts of a partition; nothing of any other.
    pub fn read_cp(&self, partition: PartitionId) -> [i64; GUEST_COLUMNS] {
        let Some(cp) = self.sys.cps[partition].as_deref() else {
            return [0; GUEST_COLUMNS];
        };
        let busy = self.meters.partitions[partition].busy_ns as i64;
        let owners = whole(&cp.meter.owners, busy);
        let times = cp.processor_times(busy);
        let meter = &cp.meter;
        let parked_since = self.now - meter.unparked_to;
        let unparked = meter.unparked_ns + parked_since * u64::from(cp.unparked);
        let pages = cp.pager.as_ref().map(Pager::counters).unwrap_or_default();
        let spin = meter.spin_instructions.round() as i64;
        let [scheduler, vectors, locked] = cp.locks.readings();
        [
            owners[0],
            owners[1],
            owners[2],
            unparked as i64,
            pages.pages_in as i64,
            pages.pages_out as i64,
            pages.reads as i64,
            pages.writes as i64,
            spin,
            times[0],
            times[1],
            times[2],
            scheduler.0,
            scheduler.1,
            vectors.0,
            vectors.1,
            locked.0,
            locked.1,
        ]
    }

    /// User and kernel time of a logical processor [ns]; in z/VM that is the guests' own and CP's,
    /// where the machine charges threads by elapsed time.
    pub fn cp_user_and_sys(
        &self,
        partition: PartitionId,
        number: usize,
        purr: &Purr,
    ) -> (f64, f64) {
        let Some(cp) = self.sys.cps[partition].as_deref() else {
            return (purr.user, purr.sys);
        };
        if cp.smt > 1 && self.spec.machine.accounting != Accounting::Elapsed {
            return (purr.user, purr.sys);
        }
        let both = purr.user + purr.sys;
        let user = cp.lps[LpId::new(number)].guest_ns.min(both);
        (user, both - user)
    }

    /// Virtual machines, switches and paging volumes of all partitions.
    pub fn read_cp_tables(&self, into: &mut Reading) {
        let time = self.measured_ns();
        for (partition, cp) in self.sys.cps.entries() {
            let Some(cp) = cp else { continue };
            let row = |at: usize, values: Vec<i64>| {
                let mut row = vec![time, partition.into(), at as i64];
                row.extend(values);
                row
            };
            let machines = cp.vms.iter().enumerate();
            let machines = machines.map(|(at, vm)| row(at, vm.reading()));
            into.virtual_machines.extend(machines);
            let switches = cp.ports.iter().enumerate();
            let switches = switches.map(|(at, port)| row(at, port.reading()));
            into.switches.extend(switches);
            let volumes = cp.pager.iter().flat_map(Pager::volumes).enumerate();
            let volumes = volumes.map(|(at, volume)| row(at, of_volume(volume)));
            into.volumes.extend(volumes);
        }
    }
}

impl Cp {
    /// Time of busy threads, with one thread a core, and by cores [ns], given the core time.
    fn processor_times(&self, busy_ns: i64) -> [i64; 3] {
        if self.smt == 1 {
            return [busy_ns; 3];
        }
        let (threads, alone) = (self.meter.thread_ns, self.meter.mt1_ns);
        [threads.round() as i64, alone.round() as i64, busy_ns]
    }
}

fn of_volume(volume: &VolumeCounters) -> Vec<i64> {
    [
        volume.ios,
        volume.reads,
        volume.pages,
        volume.pend_ns,
        volume.disc_ns,
        volume.conn_ns,
        volume.queue_ns,
        volume.service_ns(),
        volume.hits,
    ]
    .map(|n| n as i64)
    .to_vec()
}

impl Vm {
    fn reading(&self) -> Vec<i64> {
        vec![
            self.guest_ns.round() as i64,
            self.chargeable_ns.round() as i64,
            self.dispatches as i64,
            self.wait_ns.round() as i64,
            self.page_wait_ns as i64,
            self.page_reads as i64,
            self.tx_done as i64,
            self.response_ns as i64,
            self.thread_ns.round() as i64,
        ]
    }
}

impl Port {
    fn reading(&self) -> Vec<i64> {
        let counters = self.counters();
        let (takes, spun) = self.lock_reading();
        vec![
            counters.frames as i64,
            counters.bytes as i64,
            counters.searches.round() as i64,
            counters.elements.round() as i64,
            counters.list_ns.round() as i64,
            counters.line_wait_ns.round() as i64,
            takes,
            spun,
        ]
    }
}
