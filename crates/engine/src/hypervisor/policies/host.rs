//! The choice among hosts' schedulers, and what a host's spec means to the rest of the engine.

use super::super::{CoreId, HostCount, HostScheduler, State, VpId};
use super::credit2::Credit2;
use super::fill::fill;
use super::linux::{due, Linux};
use crate::spec::{Policy, Processors, Spec};

/// A host's scheduler.
#[derive(Clone, Debug)]
pub enum HostRoom {
    /// The Linux scheduler.
    Linux(Box<Linux>),
    /// Xen's credit2.
    Credit2(Box<Credit2>),
}

impl HostRoom {
    /// The scheduler of a host, if the machine has one.
    pub fn of(spec: &Spec, state: &State, replication: u64) -> Option<Self> {
        match spec.machine.hypervisor.policy {
            Policy::Linux => Some(Self::Linux(Box::new(Linux::new(spec, state, replication)))),
            Policy::Credit2 => Some(Self::Credit2(Box::new(Credit2::new(spec, state)))),
            _ => None,
        }
    }

    #[inline]
    fn inner(&self) -> &dyn HostScheduler {
        match self {
            Self::Linux(scheduler) => scheduler.as_ref(),
            Self::Credit2(scheduler) => scheduler.as_ref(),
        }
    }

    #[inline]
    fn inner_mut(&mut self) -> &mut dyn HostScheduler {
        match self {
            Self::Linux(scheduler) => scheduler.as_mut(),
            Self::Credit2(scheduler) => scheduler.as_mut(),
        }
    }
}

impl HostScheduler for HostRoom {
    fn wake(&mut self, vp: VpId, waker: Option<CoreId>, now: u64) {
        self.inner_mut().wake(vp, waker, now);
    }

    fn sleep(&mut self, vp: VpId, now: u64) {
        self.inner_mut().sleep(vp, now);
    }

    fn look(&mut self, core: CoreId, now: u64) {
        self.inner_mut().look(core, now);
    }

    fn look_at(&self, core: CoreId, now: u64) -> u64 {
        self.inner().look_at(core, now)
    }

    fn timer(&mut self, now: u64) {
        self.inner_mut().timer(now);
    }

    fn timer_at(&self) -> u64 {
        self.inner().timer_at()
    }

    fn take_pending(&mut self) -> Option<CoreId> {
        self.inner_mut().take_pending()
    }

    fn has_waiting(&self, core: CoreId) -> bool {
        self.inner().has_waiting(core)
    }

    fn pick(&mut self, core: CoreId, now: u64) -> Option<VpId> {
        self.inner_mut().pick(core, now)
    }

    fn yield_to(&mut self, vp: VpId, sibling: VpId, now: u64) -> bool {
        self.inner_mut().yield_to(vp, sibling, now)
    }

    fn take_passed(&mut self, core: CoreId) -> Vec<VpId> {
        self.inner_mut().take_passed(core)
    }

    fn draw_to(&mut self, vp: VpId, cores: (CoreId, u16), now: u64) {
        self.inner_mut().draw_to(vp, cores, now);
    }

    fn counted(&self, partition: u16, now: u64) -> HostCount {
        self.inner().counted(partition, now)
    }
}

/// Makes a host's constants what the rest of the engine goes by: a switch costs what the scheduler
/// says, and what every partition is entitled to is what it would get if all wanted all they can
/// have.
pub fn in_effect(spec: &mut Spec) {
    let hypervisor = &mut spec.machine.hypervisor;
    hypervisor.dispatch_ns = match hypervisor.policy {
        Policy::Credit2 => hypervisor.credit2.switch_ns,
        _ => hypervisor.linux.switch_ns,
    };
    let cores = f64::from(spec.machine.active_cores) * f64::from(hypervisor.siblings);
    let shares = if hypervisor.policy == Policy::Linux {
        due(spec, cores)
    } else {
        let wants = spec.partitions.iter().map(wants).collect::<Vec<_>>();
        fill(cores, &wants)
    };
    for (partition, cores) in spec.partitions.iter_mut().zip(shares) {
        if let Processors::Shared { entitlement, .. } = &mut partition.processors {
            *entitlement = cores;
        }
    }
}

/// Weight of a partition, and the most that it can use [cores].
fn wants(partition: &crate::spec::Partition) -> (f64, f64) {
    match &partition.processors {
        Processors::Shared {
            r#virtual,
            weight,
            host,
            ..
        } => {
            let most = f64::from(*r#virtual);
            (
                f64::from(*weight).max(1.0),
                most.min(host.cap.unwrap_or(most)),
            )
        }
        Processors::Dedicated { cores, .. } => (1.0, cores.len() as f64),
    }
}
