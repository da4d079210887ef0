//! AIX: which logical processor a waking thread gets, which virtual processors are folded, and what
//! is charged to whom.

mod fill;
mod fold;
mod purr;
mod set;

pub use fill::{Cpu, RunQueues};
pub use fold::{needed_vps, FoldStep};
pub use purr::{charge, Charge};
pub use set::VpSet;
