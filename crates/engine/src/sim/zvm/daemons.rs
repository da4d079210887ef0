//! What the guests of virtual machines do by the clock, whatever they serve: timers and daemons,
//! how often they wake and how much that is each time.

use crate::cost::core_per_ns;
use crate::kernel::Stream;
use crate::spec::{Partition, Spec, Zvm};

/// Daemons of each virtual machine of a partition.
pub struct Daemons {
    /// Mean time between two wake-ups of a machine [ns]; nothing if they never wake.
    pub gap_ns: Option<f64>,
    /// What a guest executes each time.
    pub instructions: f64,
    /// When they wake, and on which virtual processor.
    pub chance: Stream,
}

impl Daemons {
    /// As a partition's z/VM tells.
    pub fn of(zvm: &Zvm, spec: &Spec, partition: &Partition, chance: Stream) -> Self {
        let wake = zvm.daemon_rate_per_s > 0.0 && zvm.daemon_ns > 0;
        let per_ns = core_per_ns(&spec.machine, &partition.profile);
        Self {
            gap_ns: wake.then(|| 1e9 / zvm.daemon_rate_per_s),
            instructions: zvm.daemon_ns as f64 * per_ns,
            chance,
        }
    }
}
