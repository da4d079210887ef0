//! Dispatching policies, one file each, named as the literature names them, and the choice among
//! them.

mod dedicated;
mod phyp;

pub use dedicated::Dedicated;
pub use phyp::Phyp;

use super::{CoreId, Placement, Policy, Renewal, State, VpId};
use crate::spec::{self, Hypervisor};

/// The policy of a machine.
#[derive(Clone, Copy, Debug)]
pub enum Dispatcher {
    /// PowerVM's hypervisor.
    Phyp(Phyp),
    /// Cores of one's own, for good.
    Dedicated(Dedicated),
}

impl Dispatcher {
    /// The policy that a machine names.
    pub fn of(policy: spec::Policy) -> Self {
        match policy {
            spec::Policy::Phyp => Self::Phyp(Phyp),
            spec::Policy::Dedicated => Self::Dedicated(Dedicated),
        }
    }
}

impl Policy for Dispatcher {
    #[inline]
    fn place(&self, state: &State, vp: VpId) -> Placement {
        match self {
            Self::Phyp(policy) => policy.place(state, vp),
            Self::Dedicated(policy) => policy.place(state, vp),
        }
    }

    #[inline]
    fn next(&self, state: &State, core: CoreId) -> Option<VpId> {
        match self {
            Self::Phyp(policy) => policy.next(state, core),
            Self::Dedicated(policy) => policy.next(state, core),
        }
    }

    #[inline]
    fn renew(&self, state: &State, vp: VpId) -> Renewal {
        match self {
            Self::Phyp(policy) => policy.renew(state, vp),
            Self::Dedicated(policy) => policy.renew(state, vp),
        }
    }

    fn spare(&self, state: &State, vp: VpId, left_ns: u64) -> Option<CoreId> {
        match self {
            Self::Phyp(policy) => policy.spare(state, vp, left_ns),
            Self::Dedicated(policy) => policy.spare(state, vp, left_ns),
        }
    }

    fn overdrawn(&self, state: &State) -> Option<CoreId> {
        match self {
            Self::Phyp(policy) => policy.overdrawn(state),
            Self::Dedicated(policy) => policy.overdrawn(state),
        }
    }
}

/// The hypervisor's constants as they take effect: without a dispatcher its calls take no time and
/// a window that ends switches nothing.
pub fn in_effect(hypervisor: &Hypervisor) -> Hypervisor {
    let mut effective = hypervisor.clone();
    if hypervisor.policy == spec::Policy::Dedicated {
        effective.dispatch_ns = 0;
        effective.cede_ns = 0;
        effective.prod_ns = 0;
        effective.confer_ns = 0;
        effective.phantom_ns = 0;
        effective.counts_redispatch = false;
    }
    effective
}
