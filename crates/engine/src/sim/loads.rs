//! What of the loads of partitions is asked, and counted: by partition, and by load where a
//! partition has several.

use super::meters::PartitionMeter;
use super::system::System;
use super::world::World;
use crate::ids::{LoadId, PartitionId};
use crate::kernel::Time;
use crate::spec::{Profile, Workload};

impl<S: System> World<S> {
    /// The loads of a partition, in their order; they are not borrowed.
    pub fn loads_of(&self, partition: PartitionId) -> impl Iterator<Item = LoadId> {
        std::iter::once(partition.into()).chain(self.guests[partition].beside)
    }

    /// Whose a load is, for its jobs.
    #[inline]
    pub fn owner(&self, load: LoadId) -> (PartitionId, LoadId) {
        (self.loads[load].partition, load)
    }

    /// What a load does.
    #[inline]
    pub fn workload(&self, load: LoadId) -> &Workload {
        let of = &self.loads[load];
        self.spec_of(of.partition).load(of.place).1
    }

    /// How it behaves on a processor.
    #[inline]
    pub fn profile(&self, load: LoadId) -> &Profile {
        let of = &self.loads[load];
        self.spec_of(of.partition).load(of.place).2
    }

    /// A transaction comes inside.
    pub fn arrived(&mut self, load: LoadId) -> &mut PartitionMeter {
        let of = &mut self.loads[load];
        if let Some(meter) = &mut of.meter {
            meter.tx_arrived += 1;
            meter.inside += 1;
        }
        let meter = self.meters.integrate(of.partition, self.now);
        meter.tx_arrived += 1;
        meter.inside += 1;
        meter
    }

    /// A transaction is done, and the counts have been integrated.
    pub fn done(&mut self, load: LoadId, response_ns: u64) {
        let of = &mut self.loads[load];
        let partition = of.partition;
        if let Some(meter) = &mut of.meter {
            meter.inside -= 1;
            meter.done(response_ns);
        }
        let meter = &mut self.meters.partitions[partition];
        meter.tx_done += 1;
        meter.inside -= 1;
        meter.response_ns += response_ns;
        self.meters.responses[partition].record(Time::from_ns(response_ns));
    }

    /// A transaction is done, and its thread goes on with the next one.
    pub fn goes_on_with_next(&mut self, load: LoadId, response_ns: u64) {
        let of = &mut self.loads[load];
        let partition = of.partition;
        if let Some(meter) = &mut of.meter {
            meter.tx_arrived += 1;
            meter.done(response_ns);
        }
        let meter = &mut self.meters.partitions[partition];
        meter.tx_arrived += 1;
        meter.tx_done += 1;
        meter.response_ns += response_ns;
        self.meters.responses[partition].record(Time::from_ns(response_ns));
    }

    /// A loop of a load ended after so long.
    pub fn loop_done(&mut self, load: LoadId, elapsed_ns: u64) {
        let of = &mut self.loads[load];
        if let Some(meter) = &mut of.meter {
            meter.finished.add(elapsed_ns);
        }
        self.meters.finish_loop(of.partition, elapsed_ns);
    }
}
