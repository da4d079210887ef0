//! Dispatching policies, one file each, named as the literature names them, and the choice among
//! them.

#[cfg(test)]
mod bare;
mod credit2;
mod dedicated;
mod esxi;
mod fill;
mod host;
mod linux;
mod phyp;
mod prsm;
mod round_robin;

pub use credit2::{queue_of, Credit2};
pub use dedicated::Dedicated;
pub use fill::fill;
pub use host::{
    guest_switch_ns, hosts, in_effect as host_in_effect, scheduler, settings_of, HostChoice,
};
pub use linux::{group_weight, lax, quota, share_out, turn_ns, turns, Linux, Member, Turns, PAIR};
pub use phyp::Phyp;
pub use prsm::{run_time_ns, shared_cores, slice_is_over, Prsm};

use super::{entitlements, Placement, Policy, Renewal, View};
use crate::ids::{CoreId, VpId};
use crate::spec::{self, Hypervisor, Processors, Spec};

/// The policy of a machine.
#[derive(Clone, Copy, Debug)]
pub enum Dispatcher {
    /// PowerVM's hypervisor.
    Phyp(Phyp),
    /// IBM Z's hypervisor.
    Prsm(Prsm),
    /// Cores of one's own, for good.
    Dedicated(Dedicated),
}

impl Dispatcher {
    /// The policy that a machine names, if it is one of windows.
    pub fn of(policy: spec::Policy) -> Option<Self> {
        match policy {
            spec::Policy::Phyp => Some(Self::Phyp(Phyp)),
            spec::Policy::Prsm => Some(Self::Prsm(Prsm)),
            spec::Policy::Dedicated => Some(Self::Dedicated(Dedicated)),
            _ => None,
        }
    }
}

impl Policy for Dispatcher {
    #[inline]
    fn place(&self, view: View, vp: VpId) -> Placement {
        match self {
            Self::Phyp(policy) => policy.place(view, vp),
            Self::Prsm(policy) => policy.place(view, vp),
            Self::Dedicated(policy) => policy.place(view, vp),
        }
    }

    #[inline]
    fn next(&self, view: View, core: CoreId) -> Option<VpId> {
        match self {
            Self::Phyp(policy) => policy.next(view, core),
            Self::Prsm(policy) => policy.next(view, core),
            Self::Dedicated(policy) => policy.next(view, core),
        }
    }

    #[inline]
    fn renew(&self, view: View, vp: VpId) -> Renewal {
        match self {
            Self::Phyp(policy) => policy.renew(view, vp),
            Self::Prsm(policy) => policy.renew(view, vp),
            Self::Dedicated(policy) => policy.renew(view, vp),
        }
    }

    fn spare(&self, view: View, vp: VpId) -> Option<CoreId> {
        match self {
            Self::Phyp(policy) => policy.spare(view, vp),
            Self::Prsm(policy) => policy.spare(view, vp),
            Self::Dedicated(policy) => policy.spare(view, vp),
        }
    }

    fn overdrawn(&self, view: View) -> Option<CoreId> {
        match self {
            Self::Phyp(policy) => policy.overdrawn(view),
            Self::Prsm(policy) => policy.overdrawn(view),
            Self::Dedicated(policy) => policy.overdrawn(view),
        }
    }
}

/// Makes the hypervisor's constants what takes effect: without a dispatcher its calls take no time
/// and a window that ends switches nothing; with PR/SM the weights give the entitlements, and its
/// time slice is the window.
pub fn in_effect(spec: &mut Spec) {
    match spec.machine.hypervisor.policy {
        spec::Policy::Phyp => spec.machine.hypervisor.prsm = spec::PrSm::default(),
        spec::Policy::Dedicated => silence(&mut spec.machine.hypervisor),
        spec::Policy::Prsm => match run_time_ns(spec) {
            None => silence(&mut spec.machine.hypervisor),
            Some(ns) => {
                spec.machine.hypervisor.window_ns = ns;
                entitle(spec);
            }
        },
        _ => {
            silence(&mut spec.machine.hypervisor);
            host_in_effect(spec);
        }
    }
}

fn silence(hypervisor: &mut Hypervisor) {
    hypervisor.dispatch_ns = 0;
    hypervisor.cede_ns = 0;
    hypervisor.prod_ns = 0;
    hypervisor.confer_ns = 0;
    hypervisor.phantom_ns = 0;
    hypervisor.counts_redispatch = false;
    hypervisor.prsm.physical_ns = 0;
}

/// What each shared partition is entitled to by its weight, by partition [cores]; none for
/// dedicated ones.
pub fn by_weight(spec: &Spec) -> Vec<Option<f64>> {
    let mut all = vec![None; spec.partitions.len()];
    for of_pool in 0..spec.pools.len() {
        let member = |(at, partition): (usize, &spec::Partition)| match partition.processors {
            Processors::Shared {
                weight,
                r#virtual,
                pool,
                ..
            } if usize::from(pool) == of_pool => Some((at, (weight, r#virtual))),
            _ => None,
        };
        let (at, weights): (Vec<usize>, Vec<(u16, u16)>) = spec
            .partitions
            .iter()
            .enumerate()
            .filter_map(member)
            .unzip();
        let shares = entitlements(shared_cores(spec, of_pool), &weights);
        for (at, share) in at.into_iter().zip(shares) {
            all[at] = Some(share);
        }
    }
    all
}

/// Entitles every shared partition to what its weight gives it.
pub fn entitle(spec: &mut Spec) {
    for (at, share) in by_weight(spec).into_iter().enumerate() {
        if let (Processors::Shared { entitlement, .. }, Some(share)) =
            (&mut spec.partitions[at].processors, share)
        {
            *entitlement = share;
        }
    }
}
