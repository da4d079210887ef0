//! What devices ask of processors: interrupts, and threads of a host that do guests' I/O.

pub(in crate::steady) mod handling;
pub(in crate::steady) mod interrupted;
pub(in crate::steady) mod served;
mod waiting;
