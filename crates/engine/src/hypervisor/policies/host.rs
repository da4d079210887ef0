//! The choice among hosts' schedulers, and what a host's spec means to the rest of the engine.

use super::super::{HostCount, HostScheduler, State};
use super::credit2::Credit2;
use super::fill::fill;
use super::linux::{due, Linux};
use crate::ids::{CoreId, PartitionId, VpId};
use crate::spec::{Policy, Processors, Spec};

/// A host's scheduler.
pub struct HostRoom(Box<dyn HostScheduler>);

impl HostRoom {
    /// The scheduler of a host, if the machine has one. A new one is a folder beside these and a
    /// line here.
    pub fn of(spec: &Spec, state: &State, replication: u64) -> Option<Self> {
        let scheduler: Box<dyn HostScheduler> = match spec.machine.hypervisor.policy {
            Policy::Linux => Box::new(Linux::new(spec, state, replication)),
            Policy::Credit2 => Box::new(Credit2::new(spec, state)),
            Policy::Phyp | Policy::Prsm | Policy::Dedicated => return None,
        };
        Some(Self(scheduler))
    }

    /// See [`HostScheduler::wake`].
    pub fn wake(&mut self, vp: VpId, waker: Option<CoreId>, now: u64) {
        self.0.wake(vp.into(), waker.map(u16::from), now);
    }

    /// See [`HostScheduler::sleep`].
    pub fn sleep(&mut self, vp: VpId, now: u64) {
        self.0.sleep(vp.into(), now);
    }

    /// See [`HostScheduler::look`].
    pub fn look(&mut self, core: CoreId, now: u64) {
        self.0.look(core.into(), now);
    }

    /// See [`HostScheduler::look_at`].
    pub fn look_at(&self, core: CoreId, now: u64) -> u64 {
        self.0.look_at(core.into(), now)
    }

    /// See [`HostScheduler::timer`].
    pub fn timer(&mut self, now: u64) {
        self.0.timer(now);
    }

    /// See [`HostScheduler::timer_at`].
    pub fn timer_at(&self) -> u64 {
        self.0.timer_at()
    }

    /// See [`HostScheduler::take_pending`].
    pub fn take_pending(&mut self) -> Option<CoreId> {
        self.0.take_pending().map(CoreId::from)
    }

    /// See [`HostScheduler::has_waiting`].
    pub fn has_waiting(&self, core: CoreId) -> bool {
        self.0.has_waiting(core.into())
    }

    /// See [`HostScheduler::pick`].
    pub fn pick(&mut self, core: CoreId, now: u64) -> Option<VpId> {
        self.0.pick(core.into(), now).map(VpId::from)
    }

    /// See [`HostScheduler::yield_to`].
    pub fn yield_to(&mut self, vp: VpId, sibling: VpId, now: u64) -> bool {
        self.0.yield_to(vp.into(), sibling.into(), now)
    }

    /// See [`HostScheduler::take_passed`].
    pub fn take_passed(&mut self, core: CoreId) -> impl Iterator<Item = VpId> {
        self.0.take_passed(core.into()).into_iter().map(VpId::from)
    }

    /// See [`HostScheduler::draw_to`].
    pub fn draw_to(&mut self, vp: VpId, cores: (CoreId, u16), now: u64) {
        self.0.draw_to(vp.into(), (cores.0.into(), cores.1), now);
    }

    /// See [`HostScheduler::counted`].
    pub fn counted(&self, partition: PartitionId, now: u64) -> HostCount {
        self.0.counted(partition.into(), now)
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
