//! Partitions, pools and dispatch: who may use a core, for how long, and which one.
//!
//! [`State`] holds what a hypervisor knows: virtual processors, cores, budgets and ready queues. A
//! [`Policy`] gets a read-only view of it and answers with a decision as data; the simulation
//! carries the decision out. Rules that all policies share (entitlement and its lending, pool
//! limits) are methods of the state.

mod average;
mod budget;
pub mod halt;
mod host;
mod idle;
mod ids;
mod limits;
pub mod numa;
mod places;
mod polarization;
pub mod policies;
mod queues;
mod state;

pub use average::RollingAverage;
pub use budget::{PoolBudget, Share};
pub use host::{HostCount, HostScheduler};
pub use idle::CoreSets;
pub use ids::{Capacity, CoreId, VpId, NO_CORE, NO_POOL, NO_VP};
pub use polarization::{entitlements, polarize, Kind, Split};
pub use queues::Queues;
pub use state::{Core, Mode, State, Vp};

/// What to do with a virtual processor that became ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Put it on this idle core.
    Run(CoreId),
    /// Throw the runner off this core and take it.
    Evict(CoreId),
    /// Queue it.
    Wait,
}

/// What to do with a virtual processor whose grant ended while it has work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewal {
    /// It goes on where it is.
    Stay,
    /// It moves to this idle core.
    Move(CoreId),
    /// It leaves the core to a waiting one and queues.
    Yield,
}

/// A dispatching policy.
pub trait Policy {
    /// Where a virtual processor that became ready goes.
    fn place(&self, state: &State, vp: VpId) -> Placement;

    /// Which waiting virtual processor a free core takes.
    fn next(&self, state: &State, core: CoreId) -> Option<VpId>;

    /// What becomes of a running virtual processor at the end of its slice or window.
    fn renew(&self, state: &State, vp: VpId) -> Renewal;

    /// The runner that can best spare its core for a virtual processor that needs all of the
    /// `left_ns` of this window, if any can.
    fn spare(&self, state: &State, vp: VpId, left_ns: u64) -> Option<CoreId>;

    /// An excess runner that should make room for a waiting partition that is behind in its share,
    /// if any.
    fn overdrawn(&self, state: &State) -> Option<CoreId>;
}
