//! Partitions, pools and dispatch: who may use a core, for how long, and which one.
//!
//! [`State`] says who is where, for every system. Systems that hand capacity out by window keep
//! budgets and ready queues beside it ([`Windows`]); a [`Policy`] of theirs gets a read-only
//! [`View`] of both and answers with a decision as data, which the simulation carries out. Rules
//! that such policies share (entitlement and its lending, pool limits) are methods of `Windows`. A
//! host's scheduler keeps all that it needs itself ([`HostScheduler`]).

mod average;
mod capacity;
pub(crate) mod check;
mod contest;
mod excess;
pub(crate) mod grants;
pub mod halt;
mod host;
mod idle;
mod limits;
pub mod numa;
mod places;
mod polarization;
pub mod policies;
mod policy;
mod pool;
mod power;
mod queues;
mod share;
mod stand;
mod state;
mod turns;
mod windows;

pub use average::RollingAverage;
pub use capacity::Capacity;
pub use host::{HomeCount, HostCount, HostPolicy, HostScheduler, Setting};
pub use idle::CoreSets;
pub use limits::LOOKS;
pub use polarization::{entitlements, polarize, Kind, Split};
pub use policy::{Placement, Policy, Renewal, View};
pub use pool::{PoolBudget, LEAST_LOAN_NS};
pub use queues::Queues;
pub use share::{Claim, Rule, Share};
pub use state::{masks_of, Core, Mode, State, Vp};
pub use windows::{Lot, Slice, Windows};
